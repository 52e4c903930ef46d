/* Readers: streams of bytes, one on top of the other (file, decompressor, transcoder, decoder of records). */
#ifndef DG_INGEST_READER_H
#define DG_INGEST_READER_H

#include "base/err.h"
#include "ingest/ingest.h"

/* `read` gives 1..size bytes; 0 at the end; -DG_E_BUSY when a pipe was silent for a second (ask again); another -DG_E_*
 * with err filled when what follows cannot be read: all before it was given. `size` is at least 1. */
struct dg_reader {
    ptrdiff_t (*read)(struct dg_reader *r, char *to, size_t size, struct dg_err *err);
    void (*free)(struct dg_reader *r); /* of this one, not of `inner` */
    struct dg_reader *inner;           /* owned; NULL at the bottom */
    uint64_t bytes;                    /* given so far */
    bool truncated;                    /* ended before its format says so */
};
ptrdiff_t dg_reader_read(struct dg_reader *r, char *to, size_t size, struct dg_err *err);
/* Free it and all below. NULL is allowed. Always returns NULL. */
struct dg_reader *dg_reader_free(struct dg_reader *r);
/* Did this one or one below end early? */
bool dg_reader_truncated(const struct dg_reader *r);

/* All constructors: NULL when out of memory; what they take is freed then, too. */

/* An open descriptor, owned unless it is standard input. `name` is for messages and must outlive the reader; `opts` is
 * borrowed. A regular file is read by pread up to the size it has now; anything else as data comes, with opts->idle
 * asked in each silent second. */
struct dg_reader *dg_reader_fd(int fd, const char *name, const struct dg_ingest_opts *opts);
/* A text in memory, borrowed. */
struct dg_reader *dg_reader_text(struct dg_slice text);

/* A reader whose first bytes can be looked at before they are read. */
enum { DG_HEAD_MAX = 64 << 10 };
struct dg_reader *dg_reader_head(struct dg_reader *inner);
/* The first bytes: as many as there are up to DG_HEAD_MAX, or those that came before a pipe fell silent for five
 * seconds. Only before the first read. *ret_whole: silence did not cut it short. 0, or the error of the inner reader
 * (what came before it is in *ret). */
int dg_reader_peek(struct dg_reader *head, struct dg_slice *ret, bool *ret_whole, struct dg_err *err);

/* Over a head reader that was peeked into (`head`): UTF-16 with a byte-order mark becomes UTF-8, a UTF-8 mark is
 * dropped. `inner` itself when there is nothing to transcode. */
struct dg_reader *dg_reader_utf16(struct dg_reader *inner, struct dg_slice head);

#endif
