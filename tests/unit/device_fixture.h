/* Trees that stand in for /sys, /proc and /dev, and what looks at them. */
#ifndef DG_TESTS_DEVICE_FIXTURE_H
#define DG_TESTS_DEVICE_FIXTURE_H

#include "folder_fixture.h"
#include "base/file.h"
#include "device/child.h"
#include "device/device.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

/* ---- trees */

static inline void put(const char *name, const char *text) {
    char path[400];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    *strrchr(path, '/') = '\0';
    assert_int_equal(dg_dir_make(path, 0755, NULL), 0);
    _cleanup_(dg_closep) int fd = open(folder_at(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(dg_fd_write(fd, text, strlen(text)), 0);
}

static inline void put_link(const char *name, const char *target) {
    put(name, "");
    assert_int_equal(unlink(folder_at(name)), 0);
    assert_int_equal(symlink(target, folder_at(name)), 0);
}

static inline void put_gpu(const char *address, const char *vendor, const char *class) {
    char name[128];
    snprintf(name, sizeof(name), "sys/bus/pci/devices/%s/vendor", address);
    put(name, vendor);
    snprintf(name, sizeof(name), "sys/bus/pci/devices/%s/class", address);
    if (*class) put(name, class);
}

static inline void put_driver(void) {
    put_gpu("0000:10:00.0", "0x10de\n", "0x030200\n");
    put("sys/module/nvidia/version", "580.95.05\n");
    put("dev/nvidiactl", "");
    put("dev/nvidia0", "");
    put("dev/nvidia-uvm", "");
}

static inline void put_process(long pid, const char *comm, const char *cmdline, const char *stat, const char *opens) {
    char name[128];
    snprintf(name, sizeof(name), "proc/%ld/comm", pid);
    put(name, comm);
    snprintf(name, sizeof(name), "proc/%ld/cmdline", pid);
    put(name, cmdline);
    snprintf(name, sizeof(name), "proc/%ld/stat", pid);
    if (*stat) put(name, stat);
    snprintf(name, sizeof(name), "proc/%ld/fd/7", pid);
    put_link(name, opens);
    snprintf(name, sizeof(name), "proc/%ld/fd/8", pid);
    put_link(name, "/dev/nvidiactl");
}

struct script {
    const char *text;
    int then; /* 0: end; a signal; -1: stay */
};

static inline void play(int fd, const void *ctx) {
    const struct script *s = ctx;
    (void)dg_fd_write(fd, s->text, strlen(s->text));
    if (s->then > 0) raise(s->then);
    while (s->then < 0) pause();
}

static inline struct dg_devices look(const struct dg_env *env) {
    struct dg_device_opts opts = {.timeout = 10, .root = folder, .env = env};
    struct dg_look *l = NULL;
    struct dg_devices d = {0};
    assert_int_equal(dg_device_start(&opts, &l, NULL), 0);
    assert_int_equal(dg_device_join(l, &d, NULL), 0);
    assert_true(d.looked && *d.hostname);
    return d;
}

static inline bool noted(const struct dg_devices *d, const char *words) {
    for (uint32_t i = 0; i < d->n_notes; i++)
        if (strstr(d->notes[i], words)) return true;
    return false;
}

static inline int device_set_up(void **state) {
    static const char *const all[] = {"FAKE_GPUS", "FAKE_FAIL", "FAKE_COUNT", "FAKE_MIG",      "FAKE_RESERVED_MB",
                                      "FAKE_PIDS", "FAKE_INIT", "FAKE_CRASH", "FAKE_NVML_INIT"};
    for (size_t i = 0; i < DG_COUNT(all); i++) unsetenv(all[i]);
    setenv("FAKE_GPUS", "2x12.0:NVIDIA RTX PRO 6000", 1);
    return folder_make(state);
}

#endif
