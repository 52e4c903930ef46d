/* Text inside text: the escaped message that a wrapper carries. */
#include "match/engine.h"
#include <utf8proc.h>

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The number in the `n` hex digits at `s`; -1 when they are not all digits. */
static long hex_number(struct dg_slice s, size_t n) {
    long v = 0;
    for (size_t i = 0; i < n; i++) {
        int d = i < s.len ? hex(s.ptr[i]) : -1;
        if (d < 0) return -1;
        v = v << 4 | d;
    }
    return v;
}

static void add_char(struct dg_buf *out, long v) {
    utf8proc_uint8_t raw[4];
    dg_buf_add(out, raw, (size_t)utf8proc_encode_char((utf8proc_int32_t)v, raw));
}

/* JSON writes what is beyond 16 bits as two halves; `rest` begins behind the first, v. 0: they make no pair. */
static long pair(long v, struct dg_slice rest) {
    long low = dg_slice_starts(rest, DG_S("\\u")) ? hex_number(dg_slice_from(rest, 2), 4) : -1;
    bool halves = v >= 0xd800 && v < 0xdc00 && low >= 0xdc00 && low < 0xe000;
    return halves ? 0x10000 + ((v - 0xd800) << 10 | (low - 0xdc00)) : 0;
}

/* One escape at s (which begins with a backslash); returns its length. An unknown one stays as it is. */
static size_t add_escape(struct dg_buf *out, struct dg_slice s) {
    static const char FROM[] = "nrtbfav\\'\"/", TO[] = "\n\r\t\b\f\a\v\\'\"/";
    char c = s.len > 1 ? s.ptr[1] : '\0';
    const char *at = c ? strchr(FROM, c) : NULL;
    if (at) {
        dg_buf_addc(out, TO[at - FROM]);
        return 2;
    }
    size_t n = c == 'x' ? 2 : c == 'u' ? 4 : 0;
    long v = n ? hex_number(dg_slice_from(s, 2), n) : -1;
    if (v < 0) {
        dg_buf_addc(out, '\\');
        return 1;
    }
    long both = n == 4 ? pair(v, dg_slice_from(s, 6)) : 0;
    add_char(out, both ? both : v);
    return both ? 12 : 2 + n;
}

/* `text` as it was before repr() or JSON quoted it. Text of DG_OPENS_TEXT is returned as it is. */
struct dg_slice unescape(struct dg_slice text, enum dg_opens_as as, struct dg_buf *out) {
    if (as == DG_OPENS_TEXT) return text;
    for (size_t i = 0; i < text.len;) {
        if (text.ptr[i] == '\\')
            i += add_escape(out, dg_slice_from(text, i));
        else
            dg_buf_addc(out, text.ptr[i++]);
    }
    return dg_buf_slice(out);
}
