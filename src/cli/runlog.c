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

const struct dg_runlog_room dg_runlog_disk = {UINT64_C(512) << 20, UINT64_C(512) << 20, UINT64_C(4) << 30};
const struct dg_runlog_room dg_runlog_memory = {8 << 20, 8 << 20, 64 << 20};

int dg_runlog_open(struct dg_runlog *l, const char *path, bool fresh, const struct dg_runlog_room *room,
                   struct dg_err *err) {
    int how = fresh ? O_EXCL : O_TRUNC | O_NOFOLLOW;
    *l = (struct dg_runlog){.room = *room, .fd = -1};
    if (!path) {
        l->bytes = dg_malloc(room->head + room->tail);
        return l->bytes ? 0 : dg_err_nomem(err);
    }
    l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | how, 0600);
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

/* Where byte number `n` of the output stands, and how many have room from there on. */
static uint64_t place(const struct dg_runlog *l, uint64_t n) {
    return n < l->room.head ? n : l->room.head + (n - l->room.head) % l->room.tail;
}

static uint64_t room_at(const struct dg_runlog *l, uint64_t n) {
    return (n < l->room.head ? l->room.head : l->room.head + l->room.tail) - place(l, n);
}

int dg_runlog_write(void *log, const void *ptr, size_t len) {
    struct dg_runlog *l = log;
    const char *p = ptr;
    while (len) {
        uint64_t at = place(l, l->written), left = room_at(l, l->written);
        size_t n = left < len ? (size_t)left : len;
        if (l->bytes)
            memcpy(l->bytes + at, p, n);
        else if (write_at(l->fd, p, n, at))
            return -DG_E_IO;
        l->written += n;
        p += n;
        len -= n;
    }
    return 0;
}

/* "[diagnose run: … left out here]": between the beginning and the end. */
static void add_gap(const struct dg_runlog *l, struct dg_buf *out) {
    dg_buf_addf(out, "\n[diagnose run: %llu bytes left out here]\n",
                (unsigned long long)(l->written - l->room.head - l->room.tail));
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
    char path[sizeof(l->path) + 8];
    _cleanup_(dg_buf_release) struct dg_buf gap = DG_BUF_INIT(96);
    _cleanup_(dg_freep) char *buf = dg_malloc(COPY);
    uint64_t at = 0, head = l->room.head, start = place(l, l->written);
    add_gap(l, &gap);
    if (!buf || gap.failed) return dg_err_nomem(err);
    snprintf(path, sizeof(path), "%s.tmp", l->path);
    _cleanup_(dg_closep) int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (to < 0) return dg_err_set(err, DG_E_IO, errno, "cannot write '%s'", path);
    int rc = copy(l->fd, to, 0, head, &at, buf);
    if (!rc) rc = write_at(to, gap.ptr, gap.len, at);
    at += gap.len;
    if (!rc) rc = copy(l->fd, to, start, head + l->room.tail - start, &at, buf);
    if (!rc) rc = copy(l->fd, to, head, start - head, &at, buf);
    if (!rc && rename(path, l->path)) rc = -DG_E_IO;
    if (rc) {
        int e = errno;
        unlink(path);
        return dg_err_set(err, DG_E_IO, e, "cannot put '%s' in order", l->path);
    }
    return 0;
}

static int take_out(const struct dg_runlog *l, struct dg_buf *out, struct dg_err *err) {
    uint64_t head = l->room.head, start = place(l, l->written);
    if (l->written <= head + l->room.tail) {
        dg_buf_add(out, l->bytes, l->written);
    } else {
        dg_buf_add(out, l->bytes, head);
        add_gap(l, out);
        dg_buf_add(out, l->bytes + start, head + l->room.tail - start);
        dg_buf_add(out, l->bytes + head, start - head);
    }
    return out->failed ? dg_err_nomem(err) : 0;
}

int dg_runlog_close(struct dg_runlog *l, struct dg_buf *out, struct dg_err *err) {
    int rc = 0;
    if (l->bytes)
        rc = take_out(l, out, err);
    else if (l->fd >= 0 && l->written > l->room.head + l->room.tail)
        rc = straighten(l, err);
    free(DG_TAKE(l->bytes));
    dg_closep(&l->fd);
    return rc;
}

/* Names hold the start time, so their order is their age. */
void dg_runlog_prune(const char *folder, const char *keep, const struct dg_runlog_room *room) {
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
        if ((old || total > room->folder) && strcmp(path.ptr, keep) != 0) unlink(path.ptr);
    }
    dg_names_free(names, n);
}
