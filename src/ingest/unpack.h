/* Single compressed streams: gzip, xz, zstd, bzip2. A stream that is cut off is read as far as it goes. */
#ifndef DG_INGEST_UNPACK_H
#define DG_INGEST_UNPACK_H

#include "ingest/reader.h"

enum dg_packing { DG_PACKING_NONE, DG_PACKING_GZIP, DG_PACKING_XZ, DG_PACKING_ZSTD, DG_PACKING_BZIP2 };

/* By the first bytes of a stream (14 decide). */
enum dg_packing dg_packing_detect(struct dg_slice head);

/* A reader of what `inner` holds compressed; takes `inner`. Concatenated members are read one after the other; what
 * follows the last one and is none is ignored, as gzip does. Errors: -DG_E_SYNTAX damaged; -DG_E_LIMIT a window above
 * 128 MiB, or more than DG_UNPACK_FREE bytes that are more than DG_UNPACK_RATIO times the input. NULL: out of memory.
 */
#define DG_UNPACK_FREE ((uint64_t)1 << 30)
enum { DG_UNPACK_RATIO = 1000 };
struct dg_reader *dg_reader_unpack(struct dg_reader *inner, enum dg_packing packing);

#endif
