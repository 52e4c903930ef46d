/* Files in memory with the fuzzer's bytes, for what reads files only. */
#ifndef DG_TESTS_SCRATCH_H
#define DG_TESTS_SCRATCH_H

#include "base/file.h"
#include "base/mem.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct scratch {
    int fd;
    char path[64];
};

static inline void scratch_fill(struct scratch *s, const void *data, size_t size) {
    if (!s->path[0]) {
        s->fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(s->path, sizeof(s->path), "/proc/self/fd/%d", s->fd);
    }
    if (s->fd < 0 || ftruncate(s->fd, 0) || lseek(s->fd, 0, SEEK_SET) || dg_fd_write(s->fd, data, size)) abort();
    if (lseek(s->fd, 0, SEEK_SET)) abort();
}

/* A folder for a history, which must have a name; in memory where that can be, as a disk is waited for. */
struct scratch_history {
    char dir[32], db[48]; /* db: the path of the history */
};

static inline void scratch_history_make(struct scratch_history *h, const void *data, size_t size) {
    strcpy(h->dir, access("/dev/shm", W_OK) ? "/tmp/dg-fuzz-XXXXXX" : "/dev/shm/dg-fuzz-XXXXXX");
    if (!mkdtemp(h->dir)) abort();
    snprintf(h->db, sizeof(h->db), "%s/history.db", h->dir);
    int fd = open(h->db, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || dg_fd_write(fd, data, size) || close(fd)) abort();
}

static inline void scratch_history_drop(const struct scratch_history *h) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < DG_COUNT(suffixes); i++) {
        char path[64];
        snprintf(path, sizeof(path), "%s%s", h->db, suffixes[i]);
        unlink(path);
    }
    if (rmdir(h->dir)) abort();
}

#endif
