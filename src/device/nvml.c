/* NVML, in a child: free memory, processes, driver version, and what tells "not loaded" from "no permission". */
#include "device/probe.h"
#include "device/say.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *const LIBRARIES[] = {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1",
                                        "/run/opengl-driver/lib/libnvidia-ml.so.1",
                                        "/usr/local/nvidia/lib64/libnvidia-ml.so.1", NULL};

enum { INSUFFICIENT_SIZE = 7, MEMORY_V2 = 0x02000028, MAX_PROCESSES = 256 };

struct nvml_memory { /* nvmlMemory_t */
    uint64_t total, free, used;
};
struct nvml_memory2 { /* nvmlMemory_v2_t */
    uint32_t version, pad;
    uint64_t total, reserved, free, used;
};
struct nvml_process { /* nvmlProcessInfo_v2_t */
    uint32_t pid, pad;
    uint64_t memory; /* all ones: not available */
    uint32_t gpu_instance, compute_instance;
};
struct nvml_pci { /* nvmlPciInfo_t */
    char legacy[16];
    uint32_t domain, bus, device, id, subsystem;
    char bus_id[32];
};

struct nvml {
#define X(member, symbol, required, type) __typeof__(type) member;
#include "device/nvml_sym.def"
#undef X
};

static const char *resolve(void *lib, struct nvml *n) {
    const char *missing = NULL;
#define X(member, symbol, required, type)                                                                              \
    *(void **)&n->member = dlsym(lib, symbol);                                                                         \
    if ((required) && !n->member && !missing) missing = symbol;
#include "device/nvml_sym.def"
#undef X
    return missing;
}

/* v1 counts the driver's reserve as used; v2 tells it apart. */
static void memory_text(const struct nvml *n, void *dev, char *total, char *free, size_t size) {
    struct nvml_memory2 m2 = {.version = MEMORY_V2};
    struct nvml_memory m = {0};
    if (n->memory2 && !n->memory2(dev, &m2)) {
        snprintf(total, size, "%llu", (unsigned long long)m2.total);
        snprintf(free, size, "%llu", (unsigned long long)m2.free);
    } else if (n->memory && !n->memory(dev, &m)) {
        snprintf(total, size, "%llu", (unsigned long long)m.total);
        snprintf(free, size, "%llu", (unsigned long long)m.free);
    }
}

static void tell_processes(const struct nvml *n, void *dev, unsigned index, int fd) {
    struct nvml_process p[MAX_PROCESSES];
    unsigned count = MAX_PROCESSES;
    memset(p, 0, sizeof(p));
    dg_probe_say(fd, "M nvmlDeviceGetComputeRunningProcesses %u", index);
    if (!n->processes || n->processes(dev, &count, p)) return;
    if (count > MAX_PROCESSES) count = MAX_PROCESSES;
    for (unsigned i = 0; i < count; i++) {
        if (p[i].memory == UINT64_MAX)
            dg_probe_say(fd, "P %u %u -", index, p[i].pid);
        else
            dg_probe_say(fd, "P %u %u %llu", index, p[i].pid, (unsigned long long)p[i].memory);
    }
}

static void tell_device(const struct nvml *n, unsigned index, int fd) {
    void *dev = NULL;
    dg_probe_say(fd, "M nvmlDeviceGetHandleByIndex %u", index);
    int r = n->handle(index, &dev);
    if (r) {
        dg_probe_say(fd, "F %d nvmlDeviceGetHandleByIndex(%u)", r, index);
        return;
    }
    char name[96] = "", uuid[96] = "-", total[24] = "-", free[24] = "-", pci_text[33] = "-", cc[16] = "-";
    struct nvml_pci pci;
    int major = 0, minor = 0;
    unsigned mig = 0, pending = 0;
    memset(&pci, 0, sizeof(pci));
    dg_probe_say(fd, "M nvmlDeviceGetName %u", index);
    if (n->name && n->name(dev, name, sizeof(name) - 1)) name[0] = 0;
    if (n->uuid && n->uuid(dev, uuid, sizeof(uuid) - 1)) snprintf(uuid, sizeof(uuid), "-");
    if (n->pci && !n->pci(dev, &pci)) snprintf(pci_text, sizeof(pci_text), "%.32s", pci.bus_id);
    if (n->cc && !n->cc(dev, &major, &minor)) snprintf(cc, sizeof(cc), "%d.%d", major, minor);
    dg_probe_say(fd, "M nvmlDeviceGetMemoryInfo %u", index);
    memory_text(n, dev, total, free, sizeof(total));
    int has_mig = n->mig && !n->mig(dev, &mig, &pending);
    dg_probe_say(fd, "D %u %s %s %s -1 %s %s %s %s", index, cc, total, free, has_mig && mig ? "1" : "0", uuid,
                 pci_text[0] ? pci_text : "-", name);
    tell_processes(n, dev, index, fd);
}

void dg_probe_nvml(int fd, const void *unused) {
    (void)unused;
    char why[256] = "";
    struct nvml n;
    memset(&n, 0, sizeof(n));
    dg_probe_say(fd, "M dlopen(libnvidia-ml.so.1)");
    void *lib = dg_probe_open(LIBRARIES, why, sizeof(why));
    if (!lib) {
        dg_probe_say(fd, "F 0 %s", why[0] ? why : "libnvidia-ml.so.1 cannot be opened");
        return;
    }
    const char *missing = resolve(lib, &n);
    if (missing) {
        dg_probe_say(fd, "F 0 this libnvidia-ml.so.1 has no %s", missing);
        return;
    }
    dg_probe_say(fd, "M nvmlInit");
    int r = n.init();
    if (r) {
        dg_probe_say(fd, "F %d nvmlInit", r);
        return;
    }
    char driver[80] = "-";
    int cuda = 0;
    unsigned count = 0;
    if (n.driver && n.driver(driver, sizeof(driver) - 1)) snprintf(driver, sizeof(driver), "-");
    if (n.cuda && n.cuda(&cuda)) cuda = 0;
    dg_probe_say(fd, "V %d %s", cuda, driver[0] ? driver : "-");
    dg_probe_say(fd, "M nvmlDeviceGetCount");
    r = n.count(&count);
    if (r || count > DG_PROBE_GPUS) {
        dg_probe_say(fd, "F %d nvmlDeviceGetCount answered %u", r, count);
        return;
    }
    for (unsigned i = 0; i < count; i++) tell_device(&n, i, fd);
    dg_probe_say(fd, "E");
}
