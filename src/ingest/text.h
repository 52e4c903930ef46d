/* Bytes of a text: counting newlines, removing terminal escapes, looking like text. */
#ifndef DG_INGEST_TEXT_H
#define DG_INGEST_TEXT_H

#include "base/slice.h"

/* Newlines in a text, and whether it holds an ESC byte; one pass. */
struct dg_census {
    uint64_t newlines;
    bool escape;
};
struct dg_census dg_text_census(struct dg_slice s);

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
