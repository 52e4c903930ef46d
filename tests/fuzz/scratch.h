/* A file in memory with the fuzzer's bytes, for what reads files only. */
#ifndef DG_TESTS_SCRATCH_H
#define DG_TESTS_SCRATCH_H

#include "base/file.h"
#include <stdio.h>
#include <stdlib.h>
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

#endif
