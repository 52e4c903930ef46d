#include "cli/runlog.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/timex.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPY = 1 << 20 };

int dg_runlog_open(struct dg_runlog *l, const char *path, bool fresh, struct dg_err *err) {
    int how = fresh ? O_EXCL : O_TRUNC | O_NOFOLLOW;
    *l = (struct dg_runlog){.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | how, 0600)};
    if (l->fd < 0) return dg_err_set(err, DG_E_IO, errno, "cannot write '%s'", path);
    snprintf(l->path, sizeof(l->path), "%s", path);
    return 0;
}

static int write_at(int fd, const char *p, size_t len, uint64_t at) {
    while (len) {
        ssize_t n = pwrite(fd, p, len, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -DG_E_IO;
        p += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return 0;
}

/* Where byte number `n` of the output stands in the file. */
static uint64_t place(uint64_t n) {
    return n < DG_RUNLOG_HEAD ? n : DG_RUNLOG_HEAD + (n - DG_RUNLOG_HEAD) % DG_RUNLOG_TAIL;
}

static uint64_t room(uint64_t n) {
    return n < DG_RUNLOG_HEAD ? DG_RUNLOG_HEAD - n : DG_RUNLOG_TAIL - (n - DG_RUNLOG_HEAD) % DG_RUNLOG_TAIL;
}

int dg_runlog_write(void *log, const void *ptr, size_t len) {
    struct dg_runlog *l = log;
    const char *p = ptr;
    while (len) {
        size_t n = room(l->written) < len ? (size_t)room(l->written) : len;
        int rc = write_at(l->fd, p, n, place(l->written));
        if (rc) return rc;
        l->written += n;
        p += n;
        len -= n;
    }
    return 0;
}

static int copy(int from, int to, uint64_t at, uint64_t len, uint64_t *out_at, char *buf) {
    while (len) {
        ssize_t n = pread(from, buf, len < COPY ? (size_t)len : COPY, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0 || write_at(to, buf, (size_t)n, *out_at)) return -DG_E_IO;
        at += (uint64_t)n;
        len -= (uint64_t)n;
        *out_at += (uint64_t)n;
    }
    return 0;
}

/* The circle is read from its oldest byte on, behind the head, into a new file that takes the old one's place. */
static int straighten(struct dg_runlog *l, struct dg_err *err) {
    char path[sizeof(l->path) + 8], gap[96];
    _cleanup_(dg_freep) char *buf = dg_malloc(COPY);
    uint64_t at = 0, start = place(l->written);
    if (!buf) return dg_err_nomem(err);
    snprintf(path, sizeof(path), "%s.tmp", l->path);
    _cleanup_(dg_closep) int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (to < 0) return dg_err_set(err, DG_E_IO, errno, "cannot write '%s'", path);
    int n = snprintf(gap, sizeof(gap), "\n[diagnose run: %llu bytes left out here]\n",
                     (unsigned long long)(l->written - DG_RUNLOG_HEAD - DG_RUNLOG_TAIL));
    int rc = copy(l->fd, to, 0, DG_RUNLOG_HEAD, &at, buf);
    if (!rc) rc = write_at(to, gap, (size_t)n, at);
    at += (uint64_t)n;
    if (!rc) rc = copy(l->fd, to, start, DG_RUNLOG_HEAD + DG_RUNLOG_TAIL - start, &at, buf);
    if (!rc) rc = copy(l->fd, to, DG_RUNLOG_HEAD, start - DG_RUNLOG_HEAD, &at, buf);
    if (!rc && rename(path, l->path)) rc = -DG_E_IO;
    if (rc) {
        int e = errno;
        unlink(path);
        return dg_err_set(err, DG_E_IO, e, "cannot put '%s' in order", l->path);
    }
    return 0;
}

int dg_runlog_close(struct dg_runlog *l, struct dg_err *err) {
    int rc = l->fd >= 0 && l->written > DG_RUNLOG_HEAD + DG_RUNLOG_TAIL ? straighten(l, err) : 0;
    dg_closep(&l->fd);
    return rc;
}

/* Names hold the start time, so their order is their age. */
void dg_runlog_prune(const char *folder, const char *keep) {
    char **names = NULL;
    size_t n = 0;
    uint64_t total = 0;
    if (dg_dir_list(folder, ".log", &names, &n, NULL)) return;
    for (size_t i = n; i-- > 0;) {
        _cleanup_(dg_buf_release) struct dg_buf path = DG_BUF_INIT(8192);
        struct stat st;
        if (strncmp(names[i], "run-", 4) != 0 || dg_path_join(&path, folder, names[i]) || stat(path.ptr, &st)) continue;
        total += (uint64_t)st.st_size;
        bool old = dg_time_now() - (double)st.st_mtime > DG_RUNLOG_DAYS * 86400.0;
        if ((old || total > DG_RUNLOG_FOLDER) && strcmp(path.ptr, keep) != 0) unlink(path.ptr);
    }
    dg_names_free(names, n);
}
