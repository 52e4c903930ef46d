/* Which kind of text this is, by content. */
#ifndef DG_INGEST_KIND_H
#define DG_INGEST_KIND_H

#include "ingest/ingest.h"

/* By the lines of `head` (plain lines, escapes removed): kernel where most lines are the kernel's, else server where a
 * server speaks, else what most lines with a known face are. DG_KIND_UNKNOWN: no line has one. */
enum dg_kind dg_kind_detect(struct dg_slice head);

#endif
