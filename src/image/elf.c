#include "image/elf.h"

enum { HEADER = 64, SECTION = 64, SECTIONS_MAX = 1 << 20 };

static void read_section(const unsigned char *h, struct source file, struct elf_section *ret) {
    *ret = (struct elf_section){.type = le32(h + 4),
                                .flags = le64(h + 8),
                                .at = le64(h + 24),
                                .size = le64(h + 32),
                                .entry_size = le64(h + 56)};
    ret->bytes = source_part(file, ret->at, ret->size);
}

/* The table of sections, when it is inside the file. Counts that do not fit the header are in the first section. */
static void open_table(struct elf *e, const unsigned char *h) {
    unsigned char first[SECTION];
    uint64_t table = le64(h + 40), n = le16(h + 60);
    uint32_t names = le16(h + 62);
    struct elf_section section;
    if (!table || le16(h + 58) != SECTION || !source_get(e->bytes, table, first, SECTION)) return;
    if (!n) n = le64(first + 32);
    if (names == 0xffff) names = le32(first + 40);
    if (!n || n > SECTIONS_MAX || n * SECTION > e->bytes.size - table) return;
    e->table = table;
    e->n_sections = (uint32_t)n;
    if (elf_section(e, names, &section)) e->names = section.bytes;
}

bool elf_open(struct source bytes, struct elf *ret) {
    unsigned char h[HEADER];
    if (!source_get(bytes, 0, h, HEADER) || memcmp(h, "\177ELF\2\1", 6)) return false;
    struct elf e = {.bytes = bytes,
                    .names = source_part(bytes, 0, 0),
                    .abi_version = h[8],
                    .type = le16(h + 16),
                    .machine = le16(h + 18),
                    .flags = le32(h + 48)};
    open_table(&e, h);
    *ret = e;
    return true;
}

bool elf_section(const struct elf *e, uint32_t i, struct elf_section *ret) {
    unsigned char h[SECTION];
    if (i >= e->n_sections || !source_get(e->bytes, e->table + (uint64_t)i * SECTION, h, SECTION)) return false;
    read_section(h, e->bytes, ret);
    source_some(e->names, le32(h), ret->name, sizeof(ret->name) - 1);
    return true;
}

/* ---- cubins ---- */

enum { SYMBOL = 24, FUNCTION = 2, KERNEL = 0x10, SYMTAB = 2 };

static bool has_kernel(const struct elf_section *symbols) {
    unsigned char s[SYMBOL];
    for (uint64_t at = 0; source_get(symbols->bytes, at, s, SYMBOL); at += SYMBOL)
        if ((s[4] & 15) == FUNCTION && (s[5] & KERNEL)) return true;
    return false;
}

/* Attribute 9 of .nv.compat is 1 for `a` targets. Records: format, attribute, u16 (a value, or the size of what
 * follows). */
static bool is_accelerated(const struct elf_section *compat) {
    unsigned char r[4];
    for (uint64_t at = 0; source_get(compat->bytes, at, r, 4); at += 4 + (r[0] == 4 ? le16(r + 2) : 0))
        if (r[1] == 9 && r[0] != 4) return (r[0] == 2 ? r[2] : le16(r + 2)) == 1;
    return false;
}

/* The options of ptxas are kept as text: "-arch sm_100f -m 64". */
static bool is_family(const struct elf_section *note) {
    char text[2048];
    struct dg_slice s = dg_slice(text, source_some(note->bytes, 0, text, sizeof(text)));
    ptrdiff_t at = dg_slice_find(s, DG_S("-arch sm_"));
    if (at < 0) return false;
    s = dg_slice_from(s, (size_t)at + 9);
    while (s.len && *s.ptr >= '0' && *s.ptr <= '9') s = dg_slice_from(s, 1);
    return s.len && *s.ptr == 'f';
}

bool cubin_read(struct source bytes, struct cubin *ret) {
    struct elf e;
    struct elf_section s;
    if (!elf_open(bytes, &e) || e.machine != ELF_MACHINE_CUDA) return false;
    bool old = e.abi_version < 8;
    unsigned sm = old ? e.flags & 0xff : e.flags >> 8 & 0xff;
    struct cubin c = {.relocatable = e.type == ELF_RELOCATABLE, .target.cc = {(uint8_t)(sm / 10), (uint8_t)(sm % 10)}};
    if (old && (e.flags & 0x800)) c.target.suffix = 'a';
    for (uint32_t i = 0; i < e.n_sections && elf_section(&e, i, &s); i++) {
        if (s.type == SYMTAB && !c.kernels) c.kernels = has_kernel(&s);
        if (!old && !strcmp(s.name, ".nv.compat") && is_accelerated(&s)) c.target.suffix = 'a';
        if (!old && !strcmp(s.name, ".note.nv.tkinfo") && is_family(&s)) c.target.suffix = 'f';
    }
    if (!c.target.cc.major) return false;
    *ret = c;
    return true;
}
