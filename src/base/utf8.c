#include "base/utf8.h"
#include "base/err.h"
#include <utf8proc.h>

size_t dg_utf8_next(struct dg_slice s, int32_t *ret_cp) {
    unsigned char first = (unsigned char)*s.ptr;
    if (first < 0x80) {
        *ret_cp = first;
        return 1;
    }
    utf8proc_int32_t cp;
    size_t look = s.len < 4 ? s.len : 4;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)s.ptr, (utf8proc_ssize_t)look, &cp);
    *ret_cp = n > 0 ? cp : DG_UTF8_BAD;
    return n > 0 ? (size_t)n : 1;
}

bool dg_utf8_valid(struct dg_slice s) {
    int32_t cp;
    while (s.len) {
        s = dg_slice_from(s, dg_utf8_next(s, &cp));
        if (cp == DG_UTF8_BAD) return false;
    }
    return true;
}

int dg_utf8_add_valid(struct dg_buf *out, struct dg_slice s) {
    int r = 0;
    while (s.len && !r) {
        size_t n = 0;
        int32_t cp = 0;
        while (n < s.len) { /* a run of good characters in one go */
            size_t step = dg_utf8_next(dg_slice_from(s, n), &cp);
            if (cp == DG_UTF8_BAD) break;
            n += step;
        }
        r = dg_buf_add(out, s.ptr, n);
        if (!r && n < s.len) r = dg_buf_adds(out, DG_UTF8_REPLACEMENT);
        s = dg_slice_from(s, n + 1);
    }
    return r;
}

bool dg_utf8_hidden(int32_t cp) {
    if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0)) return true;
    utf8proc_category_t category = utf8proc_category(cp);
    return category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

int dg_utf8_add_shown(struct dg_buf *out, struct dg_slice s, bool keep_nl) {
    int r = 0;
    while (s.len && !r) {
        int32_t cp;
        size_t n = dg_utf8_next(s, &cp);
        if (cp == DG_UTF8_BAD)
            r = dg_buf_adds(out, DG_UTF8_REPLACEMENT);
        else if (cp == '\t' || (cp == '\n' && keep_nl) || !dg_utf8_hidden(cp))
            r = dg_buf_add(out, s.ptr, n);
        else
            r = dg_buf_addf(out, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)cp);
        s = dg_slice_from(s, n);
    }
    return r;
}

static size_t char_width(int32_t cp) {
    if (cp == '\t' || cp == DG_UTF8_BAD) return 1;
    int w = utf8proc_charwidth(cp);
    return w > 0 ? (size_t)w : 0;
}

size_t dg_utf8_width(struct dg_slice s) {
    size_t cols = 0;
    int32_t cp;
    for (; s.len; cols += char_width(cp)) s = dg_slice_from(s, dg_utf8_next(s, &cp));
    return cols;
}

size_t dg_utf8_fit(struct dg_slice s, size_t cols) {
    size_t at = 0;
    while (at < s.len) {
        int32_t cp;
        size_t n = dg_utf8_next(dg_slice_from(s, at), &cp), w = char_width(cp);
        if (w > cols) break;
        cols -= w;
        at += n;
    }
    return at;
}
