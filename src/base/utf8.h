/* UTF-8 (utf8proc inside): validity, display width, and making hostile text safe to show. */
#ifndef DG_BASE_UTF8_H
#define DG_BASE_UTF8_H

#include "base/buf.h"

#define DG_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define DG_UTF8_BAD (-1)

/* The first character of `s` (not empty): its length in bytes, its code point in *ret_cp. A byte that begins no
 * character (overlong forms, surrogates and cut sequences too) has length 1 and is DG_UTF8_BAD. */
size_t dg_utf8_next(struct dg_slice s, int32_t *ret_cp);
bool dg_utf8_valid(struct dg_slice s);
/* Append `s` with each bad byte as U+FFFD. Nothing else is changed. */
int dg_utf8_add_valid(struct dg_buf *out, struct dg_slice s);
/* C0, DEL, C1, bidi controls, zero-width and other format characters: what must not reach a terminal. */
bool dg_utf8_hidden(int32_t cp);
/* Append `s` safe for a terminal: each bad byte as U+FFFD; hidden characters (but for \t, and \n when keep_nl)
 * become visible escapes such as \x1b or \u202e. */
int dg_utf8_add_shown(struct dg_buf *out, struct dg_slice s, bool keep_nl);
/* Columns that shown text takes (wide characters 2, combining 0; tab counts 1). */
size_t dg_utf8_width(struct dg_slice s);
/* Longest prefix of `s` (whole characters) at most `cols` columns wide; its byte length. */
size_t dg_utf8_fit(struct dg_slice s, size_t cols);

#endif
