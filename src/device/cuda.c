/* The driver API, in a child. Symbols are resolved one by one, so that an old driver is told from a missing one. */
#include "device/probe.h"
#include "device/say.h"
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATTR_COMPUTE_MODE = 20, ATTR_CC_MAJOR = 75, ATTR_CC_MINOR = 76 };

/* cuda-compat and container hooks put the library where the default search does not look. */
static const char *const LIBRARIES[] = {"libcuda.so.1",
                                        "/usr/lib/wsl/lib/libcuda.so.1",
                                        "/run/opengl-driver/lib/libcuda.so.1",
                                        "/usr/local/nvidia/lib64/libcuda.so.1",
                                        "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1",
                                        "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1",
                                        NULL};

struct cuda {
#define X(member, symbol, required, type) __typeof__(type) member;
#include "device/cuda_sym.def"
#undef X
};

/* Name of the first required symbol that is missing, or NULL. */
static const char *resolve(void *lib, struct cuda *c) {
    const char *missing = NULL;
#define X(member, symbol, required, type)                                                                              \
    *(void **)&c->member = dlsym(lib, symbol);                                                                         \
    if ((required) && !c->member && !missing) missing = symbol;
#include "device/cuda_sym.def"
#undef X
    return missing;
}

static void uuid_text(const unsigned char *u, char *out, size_t size) {
    snprintf(out, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2],
             u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

static void tell_device(const struct cuda *c, int ordinal, int fd) {
    int dev = 0, major = 0, minor = 0, mode = -1;
    size_t total = 0;
    char name[128] = "", pci[32] = "-", uuid[64] = "-";
    unsigned char raw[16] = {0};
    dg_probe_say(fd, "M cuDeviceGet %d", ordinal);
    int r = c->get(&dev, ordinal);
    if (r) {
        dg_probe_say(fd, "F %d cuDeviceGet(%d)", r, ordinal);
        return;
    }
    dg_probe_say(fd, "M cuDeviceGetAttribute %d", ordinal);
    if (c->attribute(&major, ATTR_CC_MAJOR, dev)) major = 0;
    if (c->attribute(&minor, ATTR_CC_MINOR, dev)) minor = 0;
    if (c->attribute(&mode, ATTR_COMPUTE_MODE, dev)) mode = -1;
    dg_probe_say(fd, "M cuDeviceTotalMem %d", ordinal);
    char memory[24] = "-";
    if (c->total && !c->total(&total, dev)) snprintf(memory, sizeof(memory), "%zu", total);
    dg_probe_say(fd, "M cuDeviceGetUuid %d", ordinal);
    if (c->uuid && !c->uuid(raw, dev)) uuid_text(raw, uuid, sizeof(uuid));
    dg_probe_say(fd, "M cuDeviceGetPCIBusId %d", ordinal);
    if (!c->pci || c->pci(pci, sizeof(pci) - 1, dev)) snprintf(pci, sizeof(pci), "-");
    dg_probe_say(fd, "M cuDeviceGetName %d", ordinal);
    if (c->name(name, sizeof(name) - 1, dev)) name[0] = 0;
    dg_probe_say(fd, "D %d %d.%d %s - %d - %s %s %s", ordinal, major, minor, memory, mode, uuid, pci, name);
}

void dg_probe_cuda(int fd, const void *unused) {
    (void)unused;
    char why[256] = "";
    struct cuda c;
    memset(&c, 0, sizeof(c));
    dg_probe_say(fd, "M dlopen(libcuda.so.1)");
    void *lib = dg_probe_open(LIBRARIES, why, sizeof(why));
    if (!lib) {
        dg_probe_say(fd, "F 0 %s", why[0] ? why : "libcuda.so.1 cannot be opened");
        return;
    }
    const char *missing = resolve(lib, &c);
    if (missing) {
        dg_probe_say(fd, "F 0 this libcuda.so.1 has no %s: it is not a usable driver library", missing);
        return;
    }
    int version = 0, count = 0;
    dg_probe_say(fd, "M cuDriverGetVersion");
    if (!c.version(&version)) dg_probe_say(fd, "V %d -", version);
    dg_probe_say(fd, "M cuInit");
    int r = c.init(0);
    if (r) {
        dg_probe_say(fd, "F %d cuInit", r);
        return;
    }
    dg_probe_say(fd, "M cuDeviceGetCount");
    r = c.count(&count);
    if (r || count < 0 || count > DG_PROBE_GPUS) {
        dg_probe_say(fd, "F %d cuDeviceGetCount answered %d GPUs", r, count);
        return;
    }
    for (int i = 0; i < count; i++) tell_device(&c, i, fd);
    dg_probe_say(fd, "E");
}
