/* Which kind of text this is, by content. */
#ifndef DG_INGEST_KIND_H
#define DG_INGEST_KIND_H

#include "ingest/ingest.h"

/* The journal of a whole host holds the kernel's lines and a server's: one of them is read by itself, beside the source
 * that `head` begins. */
enum dg_aside { DG_ASIDE_NONE, DG_ASIDE_KERNEL, DG_ASIDE_OTHERS };

/* By the lines of `head` (plain lines, escapes removed): kernel where most lines are the kernel's, else server where a
 * server speaks, else what most lines with a known face are. DG_KIND_UNKNOWN: no line has one. DG_ASIDE_KERNEL: the
 * kind of the others. */
enum dg_kind dg_kind_detect(struct dg_slice head, enum dg_aside *ret_side);

#endif
