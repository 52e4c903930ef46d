/* What can be known without opening the driver. */
#include "device/device.h"
#include "base/file.h"
#include "base/mem.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_MAX_HERE = 512 };

static void path_of(char *out, const char *root, const char *path) {
    snprintf(out, PATH_MAX_HERE, "%s%s", root ? root : "", path);
}

static bool exists(const char *root, const char *path) {
    char p[PATH_MAX_HERE];
    path_of(p, root, path);
    return access(p, F_OK) == 0;
}

/* First word of a small file into `out`. */
static bool read_word(const char *root, const char *path, char *out, size_t size) {
    char p[PATH_MAX_HERE];
    path_of(p, root, path);
    FILE *f = fopen(p, "re");
    if (!f) return false;
    bool ok = fgets(out, (int)size, f) != NULL;
    fclose(f);
    if (ok) out[strcspn(out, " \t\n")] = 0;
    return ok && out[0];
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  …" and the open module's like: the first word made of
 * digits and dots. */
static void version_from_proc(const char *root, char *out, size_t size) {
    char p[PATH_MAX_HERE], line[256];
    path_of(p, root, "/proc/driver/nvidia/version");
    FILE *f = fopen(p, "re");
    if (!f) return;
    if (fgets(line, sizeof(line), f))
        for (char *save = NULL, *w = strtok_r(line, " \t\n", &save); w; w = strtok_r(NULL, " \t\n", &save))
            if (strspn(w, "0123456789.") == strlen(w) && strchr(w, '.')) {
                snprintf(out, size, "%s", w);
                break;
            }
    fclose(f);
}

/* NVIDIA is vendor 0x10de; class 0x0300 VGA, 0x0302 3D controller; NVSwitch is a bridge, class 0x0680. */
static void scan_pci(const char *root, struct dg_passive *ret) {
    char dir[PATH_MAX_HERE];
    path_of(dir, root, "/sys/bus/pci/devices");
    DIR *d = opendir(dir);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        char path[PATH_MAX_HERE], vendor[16] = "", class[16] = "";
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.64s/vendor", e->d_name);
        if (!read_word(root, path, vendor, sizeof(vendor)) || strcmp(vendor, "0x10de") != 0) continue;
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.64s/class", e->d_name);
        if (!read_word(root, path, class, sizeof(class))) continue;
        if (!strncmp(class, "0x0300", 6) || !strncmp(class, "0x0302", 6)) ret->pci_gpus++;
        if (!strncmp(class, "0x0680", 6)) ret->nvswitch = true;
    }
    closedir(d);
}

/* "nvidia3": a container may hold that alone. */
static bool is_node(const char *name) {
    static const char PREFIX[] = "nvidia";
    if (strncmp(name, PREFIX, sizeof(PREFIX) - 1) != 0) return false;
    const char *number = name + sizeof(PREFIX) - 1;
    return *number && strspn(number, "0123456789") == strlen(number);
}

static unsigned count_nodes(const char *root) {
    unsigned n = 0;
    char dir[PATH_MAX_HERE];
    path_of(dir, root, "/dev");
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) n += is_node(e->d_name);
    if (d) closedir(d);
    return n;
}

void dg_device_passive(const char *root, struct dg_passive *ret) {
    *ret = (struct dg_passive){0};
    scan_pci(root, ret);
    ret->wsl = exists(root, "/dev/dxg");
    ret->amd = exists(root, "/sys/class/kfd/kfd/topology/nodes");
    ret->nodes = count_nodes(root);
    ret->uvm = exists(root, "/dev/nvidia-uvm");
    if (!read_word(root, "/sys/module/nvidia/version", ret->driver, sizeof(ret->driver)))
        version_from_proc(root, ret->driver, sizeof(ret->driver));
    bool tegra = exists(root, "/dev/nvhost-ctrl") || exists(root, "/dev/nvmap");
    bool module = ret->driver[0] || exists(root, "/sys/module/nvidia");
    char node[PATH_MAX_HERE];
    path_of(node, root, "/dev/nvidiactl");
    if (ret->wsl || tegra)
        ret->state = DG_DRIVER_LOADED;
    else if (!module)
        ret->state = ret->pci_gpus ? DG_DRIVER_NOT_LOADED : DG_DRIVER_NO_GPU;
    else if (access(node, F_OK) != 0)
        ret->state = DG_DRIVER_NO_NODE;
    else if (access(node, R_OK | W_OK) != 0)
        ret->state = DG_DRIVER_NO_PERMISSION;
    else
        ret->state = DG_DRIVER_LOADED;
}
