#include "device/kfd.h"
#include "base/mem.h"
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool property(const char *path, const char *key, uint64_t *ret) {
    FILE *f = fopen(path, "re");
    char name[64];
    uint64_t value;
    bool found = false;
    if (!f) return false;
    while (!found && fscanf(f, "%63s %" SCNu64, name, &value) == 2)
        if (!strcmp(name, key)) {
            *ret = value;
            found = true;
        }
    fclose(f);
    return found;
}

/* gfx_target_version is major * 10000 + minor * 100 + stepping: 90402 is gfx942; minor and stepping are printed in hex.
 */
static void gfx_name(uint64_t v, char *out, size_t size) {
    snprintf(out, size, "gfx%" PRIu64 "%" PRIx64 "%" PRIx64, v / 10000, v / 100 % 100, v % 100);
}

static bool read_node(const char *root, const char *node, struct dg_devices *d) {
    char path[512];
    uint64_t gfx = 0, size = 0, type = 0;
    snprintf(path, sizeof(path), "%s/sys/class/kfd/kfd/topology/nodes/%.16s/properties", root, node);
    if (!property(path, "gfx_target_version", &gfx) || !gfx) return true; /* a CPU node */
    struct dg_device dev = {.index = d->n, .memory_total = UINT64_MAX, .memory_free = UINT64_MAX, .compute_mode = -1};
    gfx_name(gfx, dev.gfx, sizeof(dev.gfx));
    snprintf(dev.name, sizeof(dev.name), "AMD GPU");
    snprintf(path, sizeof(path), "%s/sys/class/kfd/kfd/topology/nodes/%.16s/mem_banks/0/properties", root, node);
    if (property(path, "heap_type", &type) && property(path, "size_in_bytes", &size)) dev.memory_total = size;
    struct dg_device *v = dg_realloc_array(d->v, d->n + 1, sizeof(*v));
    if (!v) return false;
    d->v = v;
    d->v[d->n++] = dev;
    return true;
}

bool dg_kfd_read(const char *root, struct dg_devices *d) {
    char dir[256];
    bool ok = true;
    if (!root) root = "";
    snprintf(dir, sizeof(dir), "%s/sys/class/kfd/kfd/topology/nodes", root);
    DIR *nodes = opendir(dir);
    if (!nodes) return true;
    for (struct dirent *e; ok && (e = readdir(nodes));)
        if (e->d_name[0] != '.') ok = read_node(root, e->d_name, d);
    closedir(nodes);
    return ok;
}
