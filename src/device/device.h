/* The machine's GPUs, looked at without creating anything on it.
 *
 * Passive stage first (sysfs, device nodes, procfs: opens nothing of the driver); only where a driver is loaded,
 * libcuda and libnvidia-ml are opened with dlopen in forked children, each under a deadline that restarts with every
 * progress marker. The parent never touches either library. No context is created: memory and holders come from NVML
 * and /proc. A child that cannot be ended (uninterruptible sleep in the driver) is left behind; it holds none of our
 * descriptors but the write end of its own pipe.
 *
 * Sources: NVIDIA driver API symbols and attribute numbers as in cuda.h 13.0; NVML layouts as in nvml.h 12.4; procfs
 * and sysfs names as in NVIDIA/open-gpu-kernel-modules nv-procfs.c and Linux Documentation/ABI; KFD topology as in
 * drivers/gpu/drm/amd/amdkfd. */
#ifndef DG_DEVICE_H
#define DG_DEVICE_H

#include "base/err.h"
#include "model/device.h"
#include "model/env.h"

struct dg_device_opts {
    double timeout;   /* seconds allowed after the last marker; 0: 2 s */
    bool per_gpu;     /* allow 5 s for each GPU that the passive stage counted plus 10 s instead (`diagnose device`) */
    const char *root; /* prefix of /sys, /proc and /dev; NULL or "": the real ones */
    const struct dg_env *env; /* may be NULL */
};

/* What the passive stage saw. */
enum dg_driver_state {
    DG_DRIVER_LOADED,       /* kernel module there, nodes can be opened */
    DG_DRIVER_NOT_LOADED,   /* NVIDIA GPU on the PCI bus, no kernel module */
    DG_DRIVER_NO_GPU,       /* no NVIDIA GPU, no module */
    DG_DRIVER_NO_NODE,      /* module loaded, no /dev/nvidiactl (a container without the GPU) */
    DG_DRIVER_NO_PERMISSION /* /dev/nvidiactl is there and cannot be opened by this user */
};
struct dg_passive {
    enum dg_driver_state state;
    char driver[32];   /* of the loaded kernel module; "" unknown */
    unsigned pci_gpus; /* NVIDIA display or 3D controllers on the bus */
    unsigned nodes;    /* /dev/nvidia0, 1, … */
    bool nvswitch;     /* an NVSwitch is on the bus: a fabric manager is needed */
    bool uvm;          /* /dev/nvidia-uvm is there */
    bool wsl, amd;
};
void dg_device_passive(const char *root, struct dg_passive *ret);

struct dg_look; /* a look under way */

/* Start looking: passive stage, then the children. Call before any thread exists. Costs less than a millisecond where
 * no driver is loaded. 0 or -DG_E_NOMEM; failures of the look itself become notes. */
int dg_device_start(const struct dg_device_opts *opts, struct dg_look **ret, struct dg_err *err);
/* Wait for the answer (deadline above), fill *ret (dg_devices_release) and free the look. Whatever went wrong is a
 * sentence in ret->notes. 0 or -DG_E_NOMEM. */
int dg_device_join(struct dg_look *look, struct dg_devices *ret, struct dg_err *err);

#endif
