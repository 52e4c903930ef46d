#include "cli/cgroup.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_ROOM = 4352 };

/* "0::/system.slice/x.scope" is the version 2 line. */
static bool own_path(char *out, size_t size) {
    char line[4096];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f) return false;
    while (!found && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "0::", 3) != 0) continue;
        snprintf(out, size, "/sys/fs/cgroup%s", strcmp(line + 3, "/") ? line + 3 : "");
        found = true;
    }
    fclose(f);
    return found;
}

static bool read_line(const char *folder, const char *file, const char *key, uint64_t *ret) {
    char path[PATH_ROOM + 32], line[256];
    size_t n = strlen(key);
    bool found = false;
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    FILE *f = fopen(path, "re");
    if (!f) return false;
    while (!found && fgets(line, sizeof(line), f)) {
        if (strncmp(line, key, n) != 0 || (n && line[n] != ' ')) continue;
        *ret = strncmp(line + n, "max", 3) ? strtoull(line + n, NULL, 10) : UINT64_MAX;
        found = true;
    }
    fclose(f);
    return found;
}

void dg_cgroup_memory(struct dg_cgroup_memory *ret) {
    char folder[PATH_ROOM];
    *ret = (struct dg_cgroup_memory){.max = UINT64_MAX};
    if (!own_path(folder, sizeof(folder))) return;
    ret->known = read_line(folder, "memory.events", "oom_kill", &ret->oom_kill);
    read_line(folder, "memory.max", "", &ret->max);
    read_line(folder, "memory.peak", "", &ret->peak);
}

void dg_cgroup_events(const struct dg_cgroup_memory *before, const struct dg_cgroup_memory *after, struct dg_buf *out) {
    if (!before->known || !after->known || after->oom_kill <= before->oom_kill) return;
    uint64_t kills = after->oom_kill - before->oom_kill;
    dg_buf_addf(out, "low 0\nhigh 0\nmax 0\noom %" PRIu64 "\noom_kill %" PRIu64 "\noom_group_kill 0\n", kills, kills);
}
