#include "image/collect.h"
#include "image/elf.h"
#include "image/unpack.h"

enum { CONTAINER = 16, ENTRY = 64, KIND_PTX = 1, KIND_CUBIN = 2, KIND_LTO = 8 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, FLAG_A = 0x100000, FLAG_F = 0x200000 };
static const char MAGIC[] = "\x50\xed\x55\xba";

/* Only code this small is looked into for kernels: what the device link leaves empty has 2 KiB. */
enum { SMALL = 16 << 10 };

struct entry {
    unsigned kind;
    struct dg_code code;
    struct source payload;
    uint64_t packed, unpacked; /* sizes; equal when not compressed */
    uint64_t total;            /* with the header */
};

static bool read_entry(struct source container, uint64_t at, struct entry *ret) {
    unsigned char h[ENTRY];
    if (!source_get(container, at, h, ENTRY)) return false;
    uint64_t header = le32(h + 4), stored = le64(h + 8), flags = le64(h + 40), left = container.size - at;
    uint32_t packed = le32(h + 16), arch = le32(h + 28);
    if (header < ENTRY || header % 8 || header > left || stored > left - header || packed > stored || arch > 2559)
        return false;
    struct entry e = {
        .kind = le16(h), .total = header + stored, .payload = source_part(container, at + header, stored)};
    e.code.target.cc = (struct dg_cc){(uint8_t)(arch / 10), (uint8_t)(arch % 10)};
    if (flags & FLAG_A) e.code.target.suffix = 'a';
    if (flags & FLAG_F) e.code.target.suffix = 'f';
    if (flags & FLAG_LZ4) e.code.compression = DG_COMPRESSION_LZ4;
    if (flags & FLAG_ZSTD) e.code.compression = DG_COMPRESSION_ZSTD;
    e.packed = e.code.compression ? packed : stored;
    e.unpacked = e.code.compression ? le64(h + 56) : stored;
    if (e.kind == KIND_PTX) e.code.ptx = 10 * le16(h + 26) + le16(h + 24);
    e.code.kind = e.kind == KIND_PTX ? DG_CODE_PTX : e.kind == KIND_CUBIN ? DG_CODE_CUBIN : DG_CODE_LTO;
    *ret = e;
    return true;
}

/* Does unpacked code define a kernel? What cannot be read is given the benefit of the doubt. */
static bool text_has_kernel(unsigned kind, struct dg_slice text) {
    if (kind == KIND_PTX) return dg_slice_find(text, DG_S(".entry")) >= 0;
    struct cubin cubin;
    return !cubin_read(source_bytes(text), &cubin) || cubin.kernels;
}

static bool has_kernel(const struct entry *e) {
    unsigned char packed[SMALL], text[SMALL];
    if (e->packed > SMALL || e->unpacked > SMALL || !e->unpacked ||
        !source_get(e->payload, 0, packed, (size_t)e->packed))
        return true;
    struct dg_slice in = dg_slice((const char *)packed, (size_t)e->packed);
    if (!dg_unpack(e->code.compression, in, text, (size_t)e->unpacked)) return true;
    return text_has_kernel(e->kind, dg_slice((const char *)text, (size_t)e->unpacked));
}

/* The entries of a container, which fill it. Objects for the device linker may hold functions alone, so only others are
 * asked for kernels. */
static void read_container(struct collector *c, struct source container, bool relocatable) {
    struct dg_code codes[MODULE_CODES_MAX];
    struct entry e;
    size_t n = 0;
    bool kernels = relocatable;
    for (uint64_t at = 0; at < container.size; at += e.total) {
        if (!read_entry(container, at, &e)) {
            collect_fault(c, "a container of GPU code is damaged at byte %llu of the file",
                          (unsigned long long)(container.base + at));
            break;
        }
        if (++c->reading->entries > ENTRIES_MAX) {
            collect_fault(c, "more than %d pieces of GPU code; the rest is left out", ENTRIES_MAX);
            break;
        }
        if (e.kind != KIND_PTX && e.kind != KIND_CUBIN && e.kind != KIND_LTO) continue;
        if (!kernels) kernels = e.kind == KIND_LTO || has_kernel(&e);
        if (n < MODULE_CODES_MAX)
            codes[n++] = e.code;
        else
            collect_fault(c, "a container holds more than %d pieces of GPU code", MODULE_CODES_MAX);
    }
    if (kernels)
        collect_module(c, codes, n, relocatable);
    else if (n)
        c->stubs++;
}

/* A container begins at `at`: its whole length, 0 when it is none. */
static uint64_t try_container(struct collector *c, struct source s, uint64_t at, bool relocatable, bool strict) {
    unsigned char h[CONTAINER];
    struct entry first;
    if (!source_get(s, at, h, CONTAINER)) return 0;
    uint64_t size = le64(h + 8);
    struct source container = source_part(s, at + CONTAINER, size);
    bool whole = le16(h + 4) == 1 && le16(h + 6) == CONTAINER && container.size == size;
    if (!whole || (!strict && !read_entry(container, 0, &first))) {
        if (strict)
            collect_fault(c, "a container of GPU code is damaged or cut at byte %llu of the file",
                          (unsigned long long)(s.base + at));
        return 0;
    }
    read_container(c, container, relocatable);
    return CONTAINER + size;
}

void fatbin_scan(struct collector *c, struct source s, bool relocatable, bool strict) {
    char block[64 << 10];
    uint64_t at = 0;
    while (!c->reading->result && c->reading->entries <= ENTRIES_MAX) {
        struct dg_slice bytes = dg_slice(block, source_some(s, at, block, sizeof(block)));
        if (bytes.len < sizeof(MAGIC) - 1) return;
        ptrdiff_t hit = dg_slice_find(bytes, dg_slice(MAGIC, 4));
        if (hit < 0) {
            at += bytes.len - 3; /* the magic may lie across the end */
            continue;
        }
        at += (uint64_t)hit;
        uint64_t length = try_container(c, s, at, relocatable, strict);
        at += length ? length : 4;
    }
}

bool cubin_collect(struct collector *c, struct source bytes) {
    struct cubin cubin;
    if (!cubin_read(bytes, &cubin)) return false;
    struct dg_code code = {.kind = DG_CODE_CUBIN, .target = cubin.target};
    if (cubin.kernels || cubin.relocatable)
        collect_module(c, &code, 1, cubin.relocatable);
    else
        c->stubs++;
    return true;
}
