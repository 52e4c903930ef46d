/* A stand-in for libcuda.so.1 and libnvidia-ml.so.1, scripted by the environment (one source, both sonames):
 *   FAKE_GPUS     "8x12.0:NVIDIA RTX PRO 6000 Blackwell Server Edition,1x8.6:NVIDIA A10"   (default: none)
 *   FAKE_CUDA_GPUS  the same for libcuda alone
 *   FAKE_INIT     result of cuInit;  FAKE_NVML_INIT  of nvmlInit_v2
 *   FAKE_HANG     name of a function that never returns;  FAKE_CRASH  one that raises SIGSEGV
 *   FAKE_FLOOD    name of a function that writes garbage to every descriptor it may have until its pipe closes
 *   FAKE_FAIL     names of functions that fail with code 3
 *   FAKE_SLOW     seconds that cuDeviceGet takes for each GPU
 *   FAKE_COUNT    count to claim, whatever FAKE_GPUS says
 *   FAKE_FREE_MB  free memory of each GPU (default: all but 1 GiB);  FAKE_PIDS  "123:40960,456:100" process ids and MiB
 * on GPU 0 (0 MiB: not told);  FAKE_PROCESSES  count of them to claim;  FAKE_MIG  the mode;
 *   FAKE_RESERVED_MB  memory that the driver keeps for itself. Built with -DFAKE_OLD it lacks cuDeviceGetAttribute,
 * like no driver that is usable. Every GPU has 96 GiB. */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { MAX = 64 };
static const uint64_t TOTAL = UINT64_C(96) << 30;

struct gpu {
    int major, minor;
    char name[100];
};

static int env_int(const char *name, int otherwise) {
    const char *v = getenv(name);
    return v && *v ? atoi(v) : otherwise;
}

static int gpus(struct gpu *out) {
    const char *v = NULL;
    char text[2048];
#ifdef FAKE_CUDA
    v = getenv("FAKE_CUDA_GPUS");
#endif
    if (!v) v = getenv("FAKE_GPUS");
    int n = 0;
    snprintf(text, sizeof(text), "%s", v ? v : "");
    for (char *save = NULL, *part = strtok_r(text, ",", &save); part; part = strtok_r(NULL, ",", &save)) {
        struct gpu g;
        int count = 0;
        if (sscanf(part, "%dx%d.%d:%99[^\n]", &count, &g.major, &g.minor, g.name) != 4) continue;
        while (count-- > 0 && n < MAX) out[n++] = g;
    }
    return n;
}

static void flood(void) {
    char junk[4096];
    memset(junk, 'D', sizeof(junk));
    for (int fd = 3; fd < 64; fd++)
        while (write(fd, junk, sizeof(junk)) > 0) continue;
    for (;;) pause();
}

enum { FAILED = 3 };

/* Whether `function` fails. */
static int act(const char *function) {
    const char *v;
    if ((v = getenv("FAKE_HANG")) && !strcmp(v, function))
        for (;;) pause();
    if ((v = getenv("FAKE_CRASH")) && !strcmp(v, function)) raise(SIGSEGV);
    if ((v = getenv("FAKE_FLOOD")) && !strcmp(v, function)) flood();
    v = getenv("FAKE_FAIL");
    for (size_t n = strlen(function); v && (v = strstr(v, function)); v++)
        if (!v[n] || v[n] == ' ') return 1; /* else the beginning of a longer name */
    return 0;
}

#ifdef FAKE_CUDA
EXPORT int cuInit(unsigned flags) {
    (void)flags;
    if (act("cuInit")) return FAILED;
    return env_int("FAKE_INIT", 0);
}
EXPORT int cuDriverGetVersion(int *v) {
    if (act("cuDriverGetVersion")) return FAILED;
    *v = env_int("FAKE_CUDA_VERSION", 13000);
    return 0;
}
EXPORT int cuDeviceGetCount(int *n) {
    struct gpu g[MAX];
    if (act("cuDeviceGetCount")) return FAILED;
    *n = env_int("FAKE_COUNT", gpus(g));
    return 0;
}
EXPORT int cuDeviceGet(int *dev, int ordinal) {
    if (act("cuDeviceGet")) return FAILED;
    if (getenv("FAKE_SLOW")) usleep((useconds_t)(1e6 * atof(getenv("FAKE_SLOW"))));
    *dev = ordinal;
    return 0;
}
#ifndef FAKE_OLD
EXPORT int cuDeviceGetAttribute(int *v, int attribute, int dev) {
    struct gpu g[MAX];
    if (act("cuDeviceGetAttribute")) return FAILED;
    if (dev < 0 || dev >= gpus(g)) return 101;
    switch (attribute) {
    case 20: *v = env_int("FAKE_COMPUTE_MODE", 0); return 0;
    case 75: *v = g[dev].major; return 0;
    case 76: *v = g[dev].minor; return 0;
    default: return 1;
    }
}
#endif
EXPORT int cuDeviceGetName(char *name, int len, int dev) {
    struct gpu g[MAX];
    if (act("cuDeviceGetName")) return FAILED;
    if (dev < 0 || dev >= gpus(g)) return 101;
    snprintf(name, (size_t)len, "%s", g[dev].name);
    return 0;
}
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int dev) {
    (void)dev;
    if (act("cuDeviceTotalMem_v2")) return FAILED;
    *bytes = TOTAL;
    return 0;
}
EXPORT int cuDeviceGetUuid(unsigned char *uuid, int dev) {
    if (act("cuDeviceGetUuid")) return FAILED;
    memset(uuid, 0xab, 16);
    uuid[15] = (unsigned char)dev;
    return 0;
}
EXPORT int cuDeviceGetPCIBusId(char *pci, int len, int dev) {
    if (act("cuDeviceGetPCIBusId")) return FAILED;
    snprintf(pci, (size_t)len, "0000:%02x:00.0", 0x10 + dev);
    return 0;
}
#endif

#ifdef FAKE_NVML
static int index_of(void *dev) { return (int)((intptr_t)dev - 1); }
EXPORT int nvmlInit_v2(void) {
    if (act("nvmlInit_v2")) return FAILED;
    return env_int("FAKE_NVML_INIT", 0);
}
EXPORT int nvmlSystemGetDriverVersion(char *v, unsigned len) {
    const char *driver = getenv("FAKE_DRIVER");
    if (act("nvmlSystemGetDriverVersion")) return FAILED;
    snprintf(v, len, "%s", driver ? driver : "580.95.05");
    return 0;
}
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *v) {
    if (act("nvmlSystemGetCudaDriverVersion_v2")) return FAILED;
    *v = env_int("FAKE_CUDA_VERSION", 13000);
    return 0;
}
EXPORT int nvmlDeviceGetCount_v2(unsigned *n) {
    struct gpu g[MAX];
    if (act("nvmlDeviceGetCount_v2")) return FAILED;
    *n = (unsigned)env_int("FAKE_COUNT", gpus(g));
    return 0;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **dev) {
    if (act("nvmlDeviceGetHandleByIndex_v2")) return FAILED;
    *dev = (void *)((intptr_t)index + 1);
    return 0;
}
EXPORT int nvmlDeviceGetName(void *dev, char *name, unsigned len) {
    struct gpu g[MAX];
    if (act("nvmlDeviceGetName")) return FAILED;
    if (index_of(dev) >= gpus(g)) return 2;
    snprintf(name, len, "%s", g[index_of(dev)].name);
    return 0;
}
EXPORT int nvmlDeviceGetUUID(void *dev, char *uuid, unsigned len) {
    if (act("nvmlDeviceGetUUID")) return FAILED;
    snprintf(uuid, len, "GPU-abababab-abab-abab-abab-ababababab%02x", (unsigned)index_of(dev));
    return 0;
}
EXPORT int nvmlDeviceGetPciInfo_v3(void *dev, void *info) {
    if (act("nvmlDeviceGetPciInfo_v3")) return FAILED;
    memset(info, 0, 68);
    snprintf((char *)info + 36, 32, "00000000:%02X:00.0", 0x10 + index_of(dev));
    return 0;
}
EXPORT int nvmlDeviceGetCudaComputeCapability(void *dev, int *major, int *minor) {
    struct gpu g[MAX];
    if (act("nvmlDeviceGetCudaComputeCapability") || index_of(dev) >= gpus(g)) return 2;
    *major = g[index_of(dev)].major;
    *minor = g[index_of(dev)].minor;
    return 0;
}
EXPORT int nvmlDeviceGetMemoryInfo(void *dev, void *memory) {
    uint64_t m[3] = {TOTAL, 0, 0};
    (void)dev;
    if (act("nvmlDeviceGetMemoryInfo")) return FAILED;
    m[1] = (uint64_t)env_int("FAKE_FREE_MB", 95 * 1024) << 20;
    m[2] = m[0] - m[1];
    memcpy(memory, m, sizeof(m));
    return 0;
}
EXPORT int nvmlDeviceGetMemoryInfo_v2(void *dev, void *memory) {
    uint64_t m[5] = {0, TOTAL, 0, 0, 0}; /* version, total, reserved, free, used */
    (void)dev;
    if (!getenv("FAKE_RESERVED_MB") || act("nvmlDeviceGetMemoryInfo_v2")) return FAILED;
    m[2] = (uint64_t)env_int("FAKE_RESERVED_MB", 0) << 20;
    m[3] = TOTAL - m[2];
    memcpy(memory, m, sizeof(m));
    return 0;
}
EXPORT int nvmlDeviceGetMigMode(void *dev, unsigned *mode, unsigned *pending) {
    (void)dev;
    *mode = *pending = (unsigned)env_int("FAKE_MIG", 0);
    return getenv("FAKE_MIG") ? 0 : FAILED;
}
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *dev, unsigned *count, void *infos) {
    const char *v = getenv("FAKE_PIDS");
    unsigned n = 0;
    if (act("nvmlDeviceGetComputeRunningProcesses_v3")) return FAILED;
    for (const char *p = v; p && index_of(dev) == 0 && n < *count; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        unsigned pid = 0;
        unsigned long long mib = 0;
        if (sscanf(p, "%u:%llu", &pid, &mib) < 2) break;
        mib = mib ? mib << 20 : UINT64_MAX; /* not told */
        char *info = (char *)infos + (size_t)n++ * 24;
        memcpy(info, &pid, sizeof(pid));
        memcpy(info + 8, &mib, sizeof(mib));
    }
    *count = (unsigned)env_int("FAKE_PROCESSES", (int)n);
    return 0;
}
#endif
