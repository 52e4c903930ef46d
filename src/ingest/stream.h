/* One source while it is read: a reader's bytes become blocks (struct dg_block) that end at line ends. */
#ifndef DG_INGEST_STREAM_H
#define DG_INGEST_STREAM_H

#include "ingest/reader.h"
#include "ingest/text.h"
#include <stdatomic.h>

/* A block and its memory. */
struct dg_buffer {
    struct dg_block block;      /* first: a block that is given back is its buffer */
    char *memory, *start;       /* start: page-aligned, where reads go; in front of it room for what is carried over */
    char hidden[DG_BLOCK_TAIL]; /* what the zero bytes behind the block stand in place of */
    uint64_t *map;              /* line numbers: of the lines in the headroom, then of the block's */
    size_t map_cap, map_head, map_lines;
    atomic_bool held; /* by the caller; may be given back from another thread */
};

/* Four blocks may be held, and the block before the next one must stay for what is carried over. */
enum { DG_BUFFERS = 5 };
struct dg_pool {
    struct dg_buffer *buffers[DG_BUFFERS];
};
void dg_pool_release(struct dg_pool *p);

struct dg_stream {
    struct dg_reader *reader;  /* owned: where the bytes of blocks come from */
    struct dg_reader *records; /* the same when it is a decoder of records, else NULL */
    struct dg_reader *raw;     /* gives the text as it is in the file */
    struct dg_escapes escapes;
    struct dg_buffer *before; /* the block before, or NULL */
    size_t rest;              /* bytes behind it that begin the next one */
    bool inside;              /* it ended within a line */
    bool packed;              /* what is read was decompressed */
    bool ended;
    int failed; /* why it ended: 0, or what the reader said, told by `err` */
    struct dg_err err;
    uint64_t next_line, long_line, long_lines;
    bool unterminated; /* the last line has no newline */
};
/* Takes `reader`, which is `raw` or stands on it; `records`: it is a decoder of records. */
void dg_stream_start(struct dg_stream *s, struct dg_reader *reader, struct dg_reader *raw, bool records);
void dg_stream_stop(struct dg_stream *s);

/* The next block, in a buffer of `pool` that is then held. 1; 0: the stream holds not a byte, or its last block was
 * given; -DG_E_NOMEM; -DG_E_LIMIT: all buffers are held. */
int dg_stream_next(struct dg_stream *s, struct dg_pool *pool, struct dg_buffer **ret, struct dg_err *err);
/* Raw lines so far. */
uint64_t dg_stream_lines(const struct dg_stream *s);

#endif
