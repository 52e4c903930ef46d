#include "base/slice.h"
#include <locale.h>
#include <stdlib.h>

ptrdiff_t dg_slice_find(struct dg_slice s, struct dg_slice needle) {
    if (!needle.len) return 0;
    if (needle.len > s.len) return -1;
    const char *at = memmem(s.ptr, s.len, needle.ptr, needle.len);
    return at ? at - s.ptr : -1;
}

ptrdiff_t dg_slice_find_ch(struct dg_slice s, char c) {
    const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;
    return at ? at - s.ptr : -1;
}

ptrdiff_t dg_slice_rfind_ch(struct dg_slice s, char c) {
    const char *at = s.len ? memrchr(s.ptr, c, s.len) : NULL;
    return at ? at - s.ptr : -1;
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct dg_slice dg_slice_trim(struct dg_slice s) {
    while (s.len && is_space(s.ptr[s.len - 1])) s.len--;
    while (s.len && is_space(*s.ptr)) s = dg_slice_from(s, 1);
    return s;
}

bool dg_slice_split(struct dg_slice *rest, char sep, struct dg_slice *ret_part) {
    if (!rest->ptr) return false;
    ptrdiff_t at = dg_slice_find_ch(*rest, sep);
    if (at < 0) {
        *ret_part = *rest;
        *rest = (struct dg_slice){NULL, 0};
    } else {
        *ret_part = dg_slice_upto(*rest, (size_t)at);
        *rest = dg_slice_from(*rest, (size_t)at + 1);
    }
    return true;
}

int dg_slice_cmp(struct dg_slice a, struct dg_slice b) {
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n ? memcmp(a.ptr, b.ptr, n) : 0;
    return c ? c : (a.len > b.len) - (a.len < b.len);
}

bool dg_slice_u64(struct dg_slice s, uint64_t *ret) {
    uint64_t v = 0;
    if (!s.len) return false;
    for (size_t i = 0; i < s.len; i++)
        if (!is_digit(s.ptr[i]) || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.ptr[i] - '0'), &v))
            return false;
    *ret = v;
    return true;
}

bool dg_slice_i64(struct dg_slice s, int64_t *ret) {
    bool minus = s.len && *s.ptr == '-';
    uint64_t v;
    if (!dg_slice_u64(minus ? dg_slice_from(s, 1) : s, &v) || v > (uint64_t)INT64_MAX + minus) return false;
    *ret = minus ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

/* The length of a plain decimal ("-1.5e3", ".5", "5.") at the start of `s`, or 0. */
static size_t decimal_len(struct dg_slice s) {
    size_t i = 0, digits = 0;
    if (i < s.len && (s.ptr[i] == '-' || s.ptr[i] == '+')) i++;
    for (; i < s.len && is_digit(s.ptr[i]); i++) digits++;
    if (i < s.len && s.ptr[i] == '.')
        for (i++; i < s.len && is_digit(s.ptr[i]); i++) digits++;
    if (!digits) return 0;
    if (i < s.len && (s.ptr[i] | 0x20) == 'e') {
        size_t e = i + 1;
        if (e < s.len && (s.ptr[e] == '-' || s.ptr[e] == '+')) e++;
        if (e < s.len && is_digit(s.ptr[e])) {
            while (e < s.len && is_digit(s.ptr[e])) e++;
            i = e;
        }
    }
    return i;
}

bool dg_slice_double(struct dg_slice s, double *ret) {
    static locale_t c_locale;
    char text[128];
    if (!s.len || s.len >= sizeof(text) || decimal_len(s) != s.len) return false;
    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    if (!c_locale) c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return false;
    *ret = strtod_l(text, NULL, c_locale);
    return true;
}

/* Powers of two that a unit stands for; *ret_binary when it has an i. */
static int unit_shift(struct dg_slice unit, bool *ret_binary) {
    static const char letters[] = "BKMGTPE";
    *ret_binary = false;
    if (!unit.len || dg_slice_is(unit, "bytes")) return 0;
    char first = *unit.ptr == 'k' ? 'K' : *unit.ptr;
    const char *at = memchr(letters, first, sizeof(letters) - 1);
    if (!at) return -1;
    struct dg_slice rest = dg_slice_from(unit, 1);
    if (at == letters) return rest.len ? -1 : 0;
    *ret_binary = dg_slice_is(rest, "iB") || dg_slice_is(rest, "i");
    if (rest.len && !*ret_binary && !dg_slice_is(rest, "B")) return -1;
    return 10 * (int)(at - letters);
}

bool dg_slice_bytes(struct dg_slice s, bool strict_si, uint64_t *ret) {
    s = dg_slice_trim(s);
    if (s.len && *s.ptr == '-') return false;
    size_t n = decimal_len(s);
    double v;
    bool binary;
    if (!n || !dg_slice_double(dg_slice_upto(s, n), &v)) return false;
    int shift = unit_shift(dg_slice_trim(dg_slice_from(s, n)), &binary);
    if (shift < 0) return false;
    if (!shift && dg_slice_u64(dg_slice_upto(s, n), ret)) return true; /* exact beyond 2^53 */
    for (int i = 0; i < shift; i += 10) v *= strict_si && !binary ? 1000.0 : 1024.0;
    if (!(v < 18446744073709551616.0)) return false;
    *ret = (uint64_t)(v + 0.5);
    return true;
}
