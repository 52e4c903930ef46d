/* Inputs: files, pipes, compressed streams and bundles become blocks of messages with a map to raw lines. */
#ifndef DG_INGEST_H
#define DG_INGEST_H

#include "base/buf.h"
#include "model/log.h"

struct dg_ingest;

struct dg_ingest_opts {
    int tee_fd; /* copy what is read from standard input here as each read returns; -1: no */
    bool (*idle)(
        void *ctx); /* called about once a second while a pipe is silent; true: stop reading, report now. May be NULL */
    void (*progress)(void *ctx, uint64_t bytes, uint64_t total); /* total 0: unknown. May be NULL */
    void *ctx;
    const volatile int *interrupted; /* >= 1: read what is there to EOF, then end; >= 2: give up. May be NULL */
};

/* NULL: out of memory. */
struct dg_ingest *dg_ingest_new(const struct dg_ingest_opts *opts);
void dg_ingest_free(struct dg_ingest *in);

/* Add an input: a path, or "-" for standard input. Opening happens when its turn comes. `kind` DG_KIND_UNKNOWN: detect
 * by content. A bundle (tar, zip) adds one source per member that is text. 0 or -DG_E_NOMEM. */
int dg_ingest_add(struct dg_ingest *in, const char *path, enum dg_kind kind);
/* A text already in memory (kernel ring buffer, a test). The text is copied. */
int dg_ingest_add_text(struct dg_ingest *in, const char *name, enum dg_kind kind, struct dg_slice text);

/* Next block, in source order; sources are appended as they are opened. 1: *ret is set, valid until
 * dg_ingest_release(); several blocks may be held at once (up to 4). 0: no more. Unreadable inputs are no failure here:
 * their source has `error`. -DG_E_NOMEM, -DG_E_IO (a pipe that breaks in the middle is recorded in the source, not
 * returned). */
int dg_ingest_next(struct dg_ingest *in, struct dg_block **ret, struct dg_err *err);
void dg_ingest_release(struct dg_ingest *in, struct dg_block *block);

/* Sources so far; grows during reading, strings stay where they are. Borrowed. Kinds are settled before a source's
 * first block. */
const struct dg_source *dg_ingest_sources(const struct dg_ingest *in, uint32_t *ret_n);

/* Split a line (no newline; may hold \r) into prefix and message. `kind` of its source; pure. Never fails: an unknown
 * form is all body. */
void dg_prefix_parse(struct dg_slice line, enum dg_kind kind, struct dg_prefix *ret);

/* Read this machine's kernel ring buffer (/dev/kmsg, else klogctl) as raw kmsg text. -DG_E_IO: not permitted or absent;
 * err says what to type instead. Never blocks. */
int dg_kmsg_read(struct dg_buf *out, struct dg_err *err);

#endif
