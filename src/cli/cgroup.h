/* The memory accounting of our own cgroup (version 2, else 1): what `run` compares before and after. */
#ifndef DG_CLI_CGROUP_H
#define DG_CLI_CGROUP_H

#include "base/buf.h"

struct dg_cgroup_memory {
    bool known;
    uint64_t oom_kill; /* processes killed in it, and below it, so far */
};
void dg_cgroup_memory(struct dg_cgroup_memory *ret);
/* The events between the two looks, as memory.events prints them; nothing when nobody was killed. */
void dg_cgroup_events(const struct dg_cgroup_memory *before, const struct dg_cgroup_memory *after, struct dg_buf *out);

#endif
