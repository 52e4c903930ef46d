/* A growing byte buffer with a maximum given at init.
 * Invariants: ptr[len] is NUL whenever ptr != NULL; len <= max. After a failure (`failed` set: out of memory or over
 * max) further additions do nothing, so a long sequence of additions needs one check at its end. */
#ifndef DG_BASE_BUF_H
#define DG_BASE_BUF_H

#include "base/slice.h"

struct dg_buf {
    char *ptr;
    size_t len, cap, max;
    bool failed;
};

#define DG_BUF_INIT(maximum)                                                                                           \
    { .max = (maximum) }
void dg_buf_init(struct dg_buf *b, size_t max);
void dg_buf_release(struct dg_buf *b); /* frees; b is usable again with the same max */
void dg_buf_clear(struct dg_buf *b);   /* len = 0, failed = false; keeps the memory */
/* 0 or -DG_E_NOMEM / -DG_E_LIMIT. */
int dg_buf_add(struct dg_buf *b, const void *ptr, size_t len);
int dg_buf_adds(struct dg_buf *b, const char *s);
int dg_buf_add_slice(struct dg_buf *b, struct dg_slice s);
int dg_buf_addc(struct dg_buf *b, char c);
int dg_buf_addf(struct dg_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One more word of a command line, as a shell would take it back: a space before it unless the buffer is empty, quoted
 * where it must be. */
int dg_buf_add_word(struct dg_buf *b, struct dg_slice word);
static inline struct dg_slice dg_buf_slice(const struct dg_buf *b) {
    return (struct dg_slice){b->ptr ? b->ptr : "", b->len};
}
/* The string, owned by the caller now ("" allocated when empty; NULL when failed); b is empty again. */
char *dg_buf_take(struct dg_buf *b);

#endif
