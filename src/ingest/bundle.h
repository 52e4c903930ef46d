/* Bundles: tar and zip through libarchive, one member after the other. */
#ifndef DG_INGEST_BUNDLE_H
#define DG_INGEST_BUNDLE_H

#include "ingest/reader.h"

/* By the head of a stream (512 bytes decide). */
bool dg_bundle_detect(struct dg_slice head);

enum { DG_BUNDLE_ENTRIES = 4096 };
#define DG_BUNDLE_BYTES ((uint64_t)8 << 30)

struct dg_bundle;
/* Takes `reader`. 0; -DG_E_NOMEM; -DG_E_SYNTAX; what the reader said. */
int dg_bundle_open(struct dg_reader *reader, struct dg_bundle **ret, struct dg_err *err);
void dg_bundle_free(struct dg_bundle *b);

/* The next regular member that is not empty. 1: *ret_reader is the caller's to free, but reads from the bundle: use it
 * up before the next call; *ret_path is valid as long. 0: no more. -DG_E_SYNTAX: damaged or cut off; -DG_E_LIMIT: more
 * than DG_BUNDLE_ENTRIES entries; -DG_E_NOMEM; what the reader below said. Reading a member gives -DG_E_LIMIT when more
 * than DG_BUNDLE_BYTES came out of the bundle. After an error other than -DG_E_NOMEM no more comes. */
int dg_bundle_next(struct dg_bundle *b, const char **ret_path, struct dg_reader **ret_reader, struct dg_err *err);
/* Did what the bundle is read from end early? */
bool dg_bundle_truncated(const struct dg_bundle *b);

#endif
