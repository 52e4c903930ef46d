/* Running a command as if we were not there: its output passes through unchanged and at once while a copy goes to a
 * log, its signals and terminal work as without us, and its end is seen even when workers hold its output open.
 *
 * Without a pty the command stays in our foreground process group (so that it may read the terminal, and Ctrl-C reaches
 * it); with one it has its own session on the pty and we relay. Orphaned workers become our children
 * (PR_SET_CHILD_SUBREAPER). */
#ifndef DG_CLI_SUPERVISE_H
#define DG_CLI_SUPERVISE_H

#include "base/err.h"
#include "base/slice.h"
#include <stdint.h>
#include <sys/types.h>

struct dg_supervise_opts {
    char *const *argv; /* NULL-terminated; argv[0] is sought in PATH */
    bool pty;
    int (*log)(void *ctx, const void *ptr,
               size_t len); /* every byte of output, in order of arrival; its failure stops logging only */
    bool (*ready)(
        void *ctx,
        struct dg_slice line); /* does this output line (no newline, at most 64 KiB) say "ready"? May be NULL */
    void *ctx;
    double timeout_ready; /* seconds; 0: none. Past it the command gets SIGTERM, after 10 s SIGKILL */
    bool cleanup;         /* end leftovers too */
};

struct dg_leftover {
    pid_t pid;
    char name[64];
};

struct dg_supervised {
    int exit_code, exit_signal; /* of the main child; the other one is -1 */
    double started, ended;      /* epoch */
    uint64_t peak_rss;          /* bytes, largest single process of the command */
    bool was_ready, timed_out;
    struct dg_leftover leftovers[64];
    unsigned n_leftovers;
};

/* 0: *ret is filled. -DG_E_NOTFOUND: the command does not exist (status 127); -DG_E_IO: it cannot be started (126) or
 * supervised. */
int dg_supervise(const struct dg_supervise_opts *opts, struct dg_supervised *ret, struct dg_err *err);

#endif
