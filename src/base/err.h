/* Errors: a code returned, and (where the caller wants to tell a person) a struct dg_err filled.
 *
 * Functions return 0 or one of the negative codes below; outputs are untouched on failure unless a header
 * says otherwise. Filling a dg_err needs no memory, so -DG_E_NOMEM can always be told. Add context once,
 * where the name of the file or rule is known; do not re-wrap. */
#ifndef DG_BASE_ERR_H
#define DG_BASE_ERR_H

#include <stddef.h>

enum dg_e {
    DG_E_NOMEM = 1,   /* out of memory */
    DG_E_IO,          /* a system call failed: dg_err.sys is errno */
    DG_E_SYNTAX,      /* the input is malformed: file:line:col */
    DG_E_LIMIT,       /* a documented limit was exceeded */
    DG_E_UNSUPPORTED, /* a format, version or feature that this build does not have */
    DG_E_NOTFOUND,    /* no such thing */
    DG_E_BUSY,        /* locked by somebody else, or the deadline passed */
    DG_E_INTERNAL     /* our own fault */
};

/* Invariants: `msg` and `file` end in NUL and may be cut; line and col are 1-based, 0 when unknown. */
struct dg_err {
    int code; /* one of enum dg_e, 0 when nothing is wrong */
    int sys;  /* errno, or 0 */
    unsigned line, col;
    char file[256];
    char msg[512]; /* lower case, no full stop */
};

/* Fill *err (may be NULL) and return -code. `fmt` as printf; where sys != 0, ": strerror" is appended. */
int dg_err_set(struct dg_err *err, int code, int sys, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The same with a place. `file` may be NULL. */
int dg_err_at(struct dg_err *err, int code, const char *file, unsigned line, unsigned col, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* -DG_E_NOMEM, with a constant message. */
int dg_err_nomem(struct dg_err *err);

/* "file:line:col: msg" into `out` (always NUL-terminated); parts that are unknown are left out. */
void dg_err_format(const struct dg_err *err, char *out, size_t size);

/* A growing list of problems, for callers that report all faults of a file instead of the first. */
struct dg_problem {
    char *file, *msg, *snippet; /* owned; snippet is the offending line or NULL */
    unsigned line, col;
};
struct dg_problems {
    struct dg_problem *v;
    size_t n, cap;
};
/* Append; NULL probs is allowed (nothing happens). `snippet` is <ptr,len>, may be NULL/0. Out of memory drops the item.
 */
void dg_problems_add(struct dg_problems *probs, const char *file, unsigned line, unsigned col, const char *snippet,
                     size_t snippet_len, const char *fmt, ...) __attribute__((format(printf, 7, 8)));
void dg_problems_release(struct dg_problems *probs);

#endif
