/* Bytes of a text: removing terminal escapes, looking like text. */
#ifndef DG_INGEST_TEXT_H
#define DG_INGEST_TEXT_H

#include "base/slice.h"

/* Where a removal of escapes stands between two pieces of one stream; starts as zero. */
struct dg_escapes {
    int state;
};
/* Remove escape sequences (CSI, OSC, DCS, two-byte ones) from <p,n> in place; the new length. No sequence goes over a
 * newline, and newlines always stay. */
size_t dg_text_strip(struct dg_escapes *e, char *p, size_t n);

/* The head of a file: text (also UTF-16 with a byte-order mark), or something binary? */
bool dg_text_plausible(struct dg_slice head);

#endif
