/* A probe child: started with fork (never exec: /proc/self/exe may not exist), read under a deadline, ended without
 * ever blocking. */
#ifndef DG_DEVICE_CHILD_H
#define DG_DEVICE_CHILD_H

#include "device/probe.h"
#include "model/device.h"
#include <sys/types.h>

struct dg_answer {
    struct dg_device v[DG_PROBE_GPUS];
    unsigned n;
    struct {
        unsigned index;
        long pid;
        uint64_t memory;
    } process[512];
    unsigned n_processes;
    int cuda; /* version the driver supports; 0 unknown */
    char driver[32];
    int code; /* of the first F line; 0 with an empty failure: none */
    char failure[DG_PROBE_LINE];
    bool failed, complete;
};

enum dg_child_end { DG_CHILD_NONE, DG_CHILD_DONE, DG_CHILD_DIED, DG_CHILD_LATE };
struct dg_child {
    pid_t pid; /* 0: not started */
    int fd;
    char *text; /* what it has said so far; malloced */
    size_t len;
    char marker[128]; /* last progress marker */
    enum dg_child_end end;
    int signal; /* that ended it */
    char state; /* of /proc/PID/stat when it was late; 0 unknown */
    struct dg_answer answer;
};

/* `probe` runs in the child, with `ctx`. On failure to fork, `end` is DG_CHILD_DIED with signal 0. */
typedef void dg_probe(int fd, const void *ctx);
void dg_child_start(struct dg_child *c, dg_probe *probe, const void *ctx);
/* Read both to their end, giving each `patience` seconds after its last line; parse what came. */
void dg_child_join2(struct dg_child *a, struct dg_child *b, double patience);
/* Read one to its end, for `seconds` in all, whatever it says; what came is in `text` (NULL: nothing). */
void dg_child_wait(struct dg_child *c, double seconds);
void dg_child_release(struct dg_child *c);

#endif
