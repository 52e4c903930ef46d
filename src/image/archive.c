/* Static libraries (ar, GNU and BSD names) and wheels (zip). */
#include "image/collect.h"
#include <stdio.h>

enum { NAME_MAX_BYTES = 512, ARCHIVE_MEMBERS_MAX = 1 << 20 };

/* ---- ar ---- */

enum { AR_HEADER = 60 };

/* "name/", "/123" (an offset into the member "//"), "#1/20" (the name's length; it comes first in the member). */
static void ar_name(struct dg_slice field, struct source names, struct source *bytes, char *out) {
    uint64_t n;
    size_t len = 0;
    field = dg_slice_trim(field);
    if (dg_slice_starts(field, DG_S("#1/")) && dg_slice_u64(dg_slice_from(field, 3), &n)) {
        len = source_some(*bytes, 0, out, n < NAME_MAX_BYTES ? (size_t)n : NAME_MAX_BYTES - 1);
        *bytes = source_part(*bytes, n, bytes->size);
    } else if (field.len > 1 && *field.ptr == '/' && dg_slice_u64(dg_slice_from(field, 1), &n)) {
        len = source_some(names, n, out, NAME_MAX_BYTES - 1);
        ptrdiff_t end = dg_slice_find_ch(dg_slice(out, len), '\n');
        if (end >= 0) len = (size_t)end;
    } else {
        len = field.len;
        memcpy(out, field.ptr, len);
    }
    if (len && out[len - 1] == '/') len--;
    out[len] = '\0';
}

void ar_read(struct source bytes, archive_member *each, void *arg, struct collector *faults) {
    char h[AR_HEADER], name[NAME_MAX_BYTES];
    struct source names = source_part(bytes, 0, 0);
    uint64_t at = 8, size;
    for (int n = 0; n < ARCHIVE_MEMBERS_MAX && source_get(bytes, at, h, AR_HEADER); n++) {
        struct dg_slice field = dg_slice(h, 16), digits = dg_slice_trim(dg_slice(h + 48, 10));
        if (h[58] != '`' || h[59] != '\n' || !dg_slice_u64(digits, &size)) {
            collect_fault(faults, "the archive is damaged at byte %llu", (unsigned long long)at);
            return;
        }
        struct source member = source_part(bytes, at + AR_HEADER, size);
        if (member.size < size) collect_fault(faults, "the archive is cut");
        if (dg_slice_starts(field, DG_S("// ")))
            names = member;
        else if (!dg_slice_starts(field, DG_S("/ ")) && !dg_slice_starts(field, DG_S("/SYM64/ "))) {
            ar_name(field, names, &member, name);
            each(arg, member, name);
        }
        at += AR_HEADER + size + size % 2;
    }
}

/* ---- zip ---- */

enum {
    END = 22,
    END64_LOCATOR = 20,
    END64 = 56,
    CENTRAL = 46,
    LOCAL = 30,
    STORED = 0,
    DEFLATED = 8,
    TAIL = 65535 + END
};
static const uint64_t UNPACKED_MAX = UINT64_C(4) << 30;

/* Where the central directory is: told at the end of the file, before a comment of any length. */
static bool zip_directory(struct source s, char *tail, uint64_t *ret_at, uint64_t *ret_n) {
    static const char end_magic[] = "PK\5\6";
    unsigned char h[END64];
    uint64_t from = s.size > TAIL ? s.size - TAIL : 0;
    size_t len = source_some(s, from, tail, TAIL), i = len;
    while (i && (i + END > len + 1 || memcmp(tail + i - 1, end_magic, 4) != 0)) i--;
    if (!i) return false;
    const unsigned char *e = (const unsigned char *)tail + i - 1;
    uint64_t end = from + i - 1;
    *ret_n = le16(e + 10);
    *ret_at = le32(e + 16);
    if (*ret_at != 0xffffffff && *ret_n != 0xffff) return true;
    if (end < END64_LOCATOR || !source_get(s, end - END64_LOCATOR, h, END64_LOCATOR) || memcmp(h, "PK\6\7", 4))
        return true;
    if (!source_get(s, le64(h + 8), h, END64) || memcmp(h, "PK\6\6", 4)) return false;
    *ret_n = le64(h + 32);
    *ret_at = le64(h + 48);
    return true;
}

struct zip_entry {
    unsigned flags, method;
    uint64_t packed, unpacked, local, length; /* length: of the record in the directory */
    char name[NAME_MAX_BYTES];
};

/* Sizes that do not fit 32 bits are in an extra field, in this order, each only when its place holds all ones. */
static void zip64_sizes(struct source extra, struct zip_entry *e) {
    unsigned char h[4], v[8];
    uint64_t *const wide[] = {&e->unpacked, &e->packed, &e->local};
    for (uint64_t at = 0; source_get(extra, at, h, 4); at += 4 + (uint64_t)le16(h + 2)) {
        if (le16(h) != 1) continue;
        struct source field = source_part(extra, at + 4, le16(h + 2));
        uint64_t k = 0;
        for (size_t i = 0; i < 3; i++)
            if (*wide[i] == 0xffffffff && source_get(field, 8 * k++, v, 8)) *wide[i] = le64(v);
        return;
    }
}

static bool zip_entry(struct source s, uint64_t at, struct zip_entry *e) {
    unsigned char h[CENTRAL];
    if (!source_get(s, at, h, CENTRAL) || memcmp(h, "PK\1\2", 4)) return false;
    unsigned name = le16(h + 28), extra = le16(h + 30), comment = le16(h + 32);
    e->flags = le16(h + 8);
    e->method = le16(h + 10);
    e->packed = le32(h + 20);
    e->unpacked = le32(h + 24);
    e->local = le32(h + 42);
    e->length = CENTRAL + name + extra + comment;
    size_t len = source_some(s, at + CENTRAL, e->name, name < NAME_MAX_BYTES ? name : NAME_MAX_BYTES - 1);
    e->name[len] = '\0';
    zip64_sizes(source_part(s, at + CENTRAL + name, extra), e);
    return true;
}

static void zip_member(struct source s, const struct zip_entry *e, archive_member *each, void *arg,
                       struct collector *faults) {
    unsigned char h[LOCAL];
    if (!e->unpacked || (e->flags & 1)) return; /* empty, or encrypted */
    if (!source_get(s, e->local, h, LOCAL) || memcmp(h, "PK\3\4", 4)) {
        collect_fault(faults, "the zip file is damaged: no member at byte %llu", (unsigned long long)e->local);
        return;
    }
    struct source packed = source_part(s, e->local + LOCAL + le16(h + 26) + le16(h + 28), e->packed);
    _cleanup_(store_closep) struct store *store = NULL;
    if (e->method == STORED) {
        each(arg, packed, e->name);
    } else if (e->method == DEFLATED && e->unpacked <= UNPACKED_MAX) {
        if (store_open_inflate(packed, e->unpacked, &store))
            faults->reading->result = -DG_E_NOMEM;
        else
            each(arg, source_all(store), e->name);
    } else {
        collect_fault(faults, "a member is compressed in a way that is not read, or larger than 4 GiB");
    }
}

void zip_read(struct source s, archive_member *each, void *arg, struct collector *faults) {
    uint64_t at, n;
    struct zip_entry e;
    _cleanup_(dg_freep) char *tail = dg_malloc(TAIL);
    if (!tail) {
        faults->reading->result = -DG_E_NOMEM;
        return;
    }
    if (!zip_directory(s, tail, &at, &n)) {
        collect_fault(faults, "the zip file is cut: it has no directory at its end");
        return;
    }
    if (n > ARCHIVE_MEMBERS_MAX) n = ARCHIVE_MEMBERS_MAX;
    for (uint64_t i = 0; i < n && !faults->reading->result; i++, at += e.length) {
        if (!zip_entry(s, at, &e)) {
            collect_fault(faults, "the zip file's directory is damaged");
            return;
        }
        zip_member(s, &e, each, arg, faults);
    }
}
