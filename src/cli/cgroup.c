#include "cli/cgroup.h"
#include "base/mem.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_ROOM = 4352 };

/* Where each version counts. `mark` stands before the path in /proc/self/cgroup. */
static const struct version {
    const char *mark, *mount, *events;
} VERSIONS[] = {
    {"0::", "/sys/fs/cgroup", "memory.events"},
    {":memory:", "/sys/fs/cgroup/memory", "memory.oom_control"},
};

/* The file that counts for us. A container may see its own cgroup as the root of the mount, and be told the host's
 * path. */
static bool own_file(const struct version *v, char *out, size_t size) {
    char line[4096];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f) return false;
    while (!found && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        const char *path = *v->mark == ':' ? strchr(line, ':') : line;
        if (!path || strncmp(path, v->mark, strlen(v->mark)) != 0) continue;
        snprintf(out, size, "%s%s/%s", v->mount, path + strlen(v->mark), v->events);
        found = true;
    }
    fclose(f);
    if (found && access(out, R_OK)) snprintf(out, size, "%s/%s", v->mount, v->events);
    return found;
}

static bool read_kills(const char *path, uint64_t *ret) {
    static const char key[] = "oom_kill ";
    char line[256];
    bool found = false;
    FILE *f = fopen(path, "re");
    if (!f) return false;
    while (!found && fgets(line, sizeof(line), f)) {
        found = !strncmp(line, key, sizeof(key) - 1);
        if (found) *ret = strtoull(line + sizeof(key) - 1, NULL, 10);
    }
    fclose(f);
    return found;
}

void dg_cgroup_memory(struct dg_cgroup_memory *ret) {
    char path[PATH_ROOM];
    *ret = (struct dg_cgroup_memory){0};
    for (size_t i = 0; i < DG_COUNT(VERSIONS) && !ret->known; i++)
        ret->known = own_file(&VERSIONS[i], path, sizeof(path)) && read_kills(path, &ret->oom_kill);
}

void dg_cgroup_events(const struct dg_cgroup_memory *before, const struct dg_cgroup_memory *after, struct dg_buf *out) {
    if (!before->known || !after->known || after->oom_kill <= before->oom_kill) return;
    uint64_t kills = after->oom_kill - before->oom_kill;
    dg_buf_addf(out, "low 0\nhigh 0\nmax 0\noom %" PRIu64 "\noom_kill %" PRIu64 "\noom_group_kill 0\n", kills, kills);
}
