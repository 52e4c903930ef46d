/* A slice: bytes that somebody else owns. May hold NUL and bad UTF-8. Passed by value. */
#ifndef DG_BASE_SLICE_H
#define DG_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dg_slice {
    const char *ptr;
    size_t len;
};

#define DG_S(literal) ((struct dg_slice){(literal), sizeof(literal) - 1})
#define DG_S_INIT(literal)                                                                                             \
    { (literal), sizeof(literal) - 1 }                     /* the same, to initialise what is static */
#define DG_FMT(s) dg_slice_precision(s), dg_slice_chars(s) /* for "%.*s" */
static inline int dg_slice_precision(struct dg_slice s) { return s.len > 0x7fffffff ? 0x7fffffff : (int)s.len; }
static inline const char *dg_slice_chars(struct dg_slice s) { return s.ptr ? s.ptr : ""; }

static inline struct dg_slice dg_slice(const char *ptr, size_t len) { return (struct dg_slice){ptr, len}; }
static inline struct dg_slice dg_cstr(const char *s) { return (struct dg_slice){s, s ? strlen(s) : 0}; }
static inline struct dg_slice dg_slice_from(struct dg_slice s, size_t at) {
    if (at > s.len) at = s.len;
    return (struct dg_slice){at ? s.ptr + at : s.ptr, s.len - at}; /* NULL + 0 is undefined */
}
static inline struct dg_slice dg_slice_upto(struct dg_slice s, size_t n) {
    return (struct dg_slice){s.ptr, n < s.len ? n : s.len};
}
static inline bool dg_slice_eq(struct dg_slice a, struct dg_slice b) {
    return a.len == b.len && (!a.len || !memcmp(a.ptr, b.ptr, a.len));
}
static inline bool dg_slice_is(struct dg_slice a, const char *s) { return dg_slice_eq(a, dg_cstr(s)); }
static inline bool dg_slice_starts(struct dg_slice a, struct dg_slice pre) {
    return a.len >= pre.len && !memcmp(a.ptr, pre.ptr, pre.len);
}
static inline bool dg_slice_ends(struct dg_slice a, struct dg_slice suf) {
    return a.len >= suf.len && !memcmp(a.ptr + a.len - suf.len, suf.ptr, suf.len);
}
/* Position of the first `needle` in `s`, or -1. The empty needle is at 0. */
ptrdiff_t dg_slice_find(struct dg_slice s, struct dg_slice needle);
ptrdiff_t dg_slice_find_ch(struct dg_slice s, char c);
ptrdiff_t dg_slice_rfind_ch(struct dg_slice s, char c);
/* Without ASCII white space at both ends. */
struct dg_slice dg_slice_trim(struct dg_slice s);
/* Cut the first part before `sep` off *rest; false when *rest is exhausted (ptr NULL). "a,b" gives a, b. */
bool dg_slice_split(struct dg_slice *rest, char sep, struct dg_slice *ret_part);
int dg_slice_cmp(struct dg_slice a, struct dg_slice b); /* bytewise, as memcmp, shorter first */
/* Whole slice as a number. false: empty, other characters, overflow. Never reads past the end. */
bool dg_slice_u64(struct dg_slice s, uint64_t *ret);
bool dg_slice_i64(struct dg_slice s, int64_t *ret);
bool dg_slice_double(struct dg_slice s, double *ret); /* plain decimal, exponent allowed; locale-independent */
/* "23.9 GB", "512.00 MiB", "47.47GiB", "80G", "1024" in bytes; GB is 10^9 only for `strict_si`, else 2^30 as torch
 * prints it. */
bool dg_slice_bytes(struct dg_slice s, bool strict_si, uint64_t *ret);

#endif
