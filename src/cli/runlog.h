/* The raw log of a run: a file of at most 1 GiB that keeps the beginning and the end, in a folder of at most 4 GiB and
 * 30 days. */
#ifndef DG_CLI_RUNLOG_H
#define DG_CLI_RUNLOG_H

#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

#ifndef DG_RUNLOG_HEAD /* a test has smaller ones */
#define DG_RUNLOG_HEAD (UINT64_C(512) << 20)
#define DG_RUNLOG_TAIL (UINT64_C(512) << 20)
#define DG_RUNLOG_FOLDER (UINT64_C(4) << 30)
#endif
#define DG_RUNLOG_DAYS 30

struct dg_runlog {
    int fd;
    char path[4096];
    uint64_t written; /* bytes given to it */
};

/* Create `path` with 0600. An existing file is emptied; with `fresh` it is an error. */
int dg_runlog_open(struct dg_runlog *l, const char *path, bool fresh, struct dg_err *err);
/* Same shape as dg_supervise_opts.log. Past head + tail the tail is overwritten in a circle. */
int dg_runlog_write(void *log, const void *ptr, size_t len);
/* Put the end in order: "head, one line that says how much is missing, tail". */
int dg_runlog_close(struct dg_runlog *l, struct dg_err *err);
/* Remove logs of ours ("run-*.log") over the folder's caps, oldest first; never the path `keep`. */
void dg_runlog_prune(const char *folder, const char *keep);

#endif
