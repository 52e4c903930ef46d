/* The raw log of a run: a file that keeps the beginning and the end, in a folder whose files are kept for 30 days; or,
 * where there is no folder to write to, the same in memory. */
#ifndef DG_CLI_RUNLOG_H
#define DG_CLI_RUNLOG_H

#include "base/buf.h"
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

enum { DG_RUNLOG_DAYS = 30 };

/* Bytes: of the beginning and of the end that are kept, and of all logs in a folder. */
struct dg_runlog_room {
    uint64_t head, tail, folder;
};
extern const struct dg_runlog_room dg_runlog_disk;   /* 512 MiB, 512 MiB, 4 GiB */
extern const struct dg_runlog_room dg_runlog_memory; /* 8 MiB, 8 MiB, 64 MiB: also of a folder in memory */

struct dg_runlog {
    struct dg_runlog_room room;
    int fd;      /* -1: in memory */
    char *bytes; /* in memory: head and tail; else NULL */
    char path[4096];
    uint64_t written; /* bytes given to it */
};

/* Create `path` with 0600; NULL: in memory. An existing file is emptied; with `fresh` it is an error. */
int dg_runlog_open(struct dg_runlog *l, const char *path, bool fresh, const struct dg_runlog_room *room,
                   struct dg_err *err);
/* Same shape as dg_supervise_opts.log. Past head + tail the tail is overwritten in a circle. -DG_E_IO with errno kept.
 */
int dg_runlog_write(void *log, const void *ptr, size_t len);
/* Put the end in order: "head, one line that says how much is missing, tail". In memory: appended to `out`. */
int dg_runlog_close(struct dg_runlog *l, struct dg_buf *out, struct dg_err *err);
/* Remove logs of ours ("run-*.log") over the folder's caps, oldest first; never the path `keep`. */
void dg_runlog_prune(const char *folder, const char *keep, const struct dg_runlog_room *room);

#endif
