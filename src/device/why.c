#include "device/why.h"
#include <stdio.h>
#include <string.h>

void dg_why_passive(const struct dg_passive *p, char *out, size_t size) {
    switch (p->state) {
    case DG_DRIVER_NO_GPU:
        snprintf(
            out, size,
            "no NVIDIA GPU on this machine's PCI bus and no driver loaded (in a container: start it with --gpus all)");
        break;
    case DG_DRIVER_NOT_LOADED:
        snprintf(
            out, size,
            "%u NVIDIA GPU%s on the PCI bus, but the kernel module is not loaded: modprobe nvidia; dmesg | grep NVRM",
            p->pci_gpus, p->pci_gpus == 1 ? "" : "s");
        break;
    case DG_DRIVER_NO_NODE:
        snprintf(out, size,
                 "driver %s is loaded on the host, but /dev/nvidiactl is not here: start the container with --gpus all",
                 p->driver[0] ? p->driver : "(version unknown)");
        break;
    case DG_DRIVER_NO_PERMISSION:
        snprintf(out, size, "no permission on /dev/nvidiactl: ls -l /dev/nvidia*; join its group or run as root");
        break;
    case DG_DRIVER_LOADED: snprintf(out, size, "the driver is loaded"); break;
    }
}

/* What cuInit's code means (facts of cuda.h 13.0 and public reports), and the command that settles it. */
static const char *init_text(int code, const struct dg_passive *p) {
    switch (code) {
    case 3: return "CUDA is not initialised (3): another copy of the driver library is in the way, check LD_PRELOAD";
    case 34: return "libcuda.so.1 is the toolkit's stub (34): take .../stubs out of LD_LIBRARY_PATH";
    case 36:
    case 35: return "the driver is older than the program needs (35): upgrade the driver or take an older image";
    case 46:
        return "the GPU is busy or refuses new contexts (46): nvidia-smi -q -d COMPUTE; a MIG GPU without instances "
               "says this too";
    case 100:
        return "cuInit sees no GPU (100): check CUDA_VISIBLE_DEVICES, ls -l /dev/nvidia*, and --gpus for containers";
    case 101: return "CUDA_VISIBLE_DEVICES names a GPU that is not there (101)";
    case 304:
        return "an operating system call failed in cuInit (304): check permissions, cgroup device rules and memory "
               "limits";
    case 801: return "not supported on this platform (801): a restricted virtual GPU or platform";
    case 802:
        return p->nvswitch ? "NVSwitch machine, fabric not ready (802): systemctl status nvidia-fabricmanager; its "
                             "version must equal the driver's"
                           : "the system is not ready (802): systemctl status nvidia-fabricmanager; its version must "
                             "equal the driver's";
    case 803:
        return "libcuda and the loaded kernel module differ (803): reboot after the upgrade, or do not bring libcuda "
               "in the image";
    case 804:
        return "forward compatibility on a GPU that has none (804): take /usr/local/cuda/compat out of LD_LIBRARY_PATH";
    case 999:
        return p->uvm ? "unknown driver error (999): dmesg | grep -e NVRM -e Xid; a GPU may be lost"
                      : "unknown driver error (999) and no /dev/nvidia-uvm: nvidia-modprobe -u -c0, then try again";
    default: return NULL;
    }
}

static const char *nvml_text(int code) {
    switch (code) {
    case 4: return "NVML: no permission on the device nodes (4): ls -l /dev/nvidia*";
    case 9: return "NVML: the driver is not loaded (9)";
    case 15: return "NVML: a GPU is lost (15): dmesg | grep Xid; reset or reboot it";
    case 18:
        return "NVML: driver and library versions differ (18): reboot after the upgrade, or mount the host's library";
    default: return NULL;
    }
}

static void ended_badly(const struct dg_child *c, const char *what, bool waited_long, char *out, size_t size) {
    const char *where = c->marker[0] ? c->marker : "its start";
    if (c->end == DG_CHILD_DIED)
        snprintf(out, size, "%s crashed in %s (signal %d): look at dmesg and the driver installation", what, where,
                 c->signal);
    else if (c->end == DG_CHILD_DONE)
        snprintf(out, size, "%s gave no usable answer after %s: the library is damaged, or not a driver", what, where);
    else if (c->state == 'D')
        snprintf(out, size,
                 "%s hangs in %s, in uninterruptible sleep: the driver is wedged; dmesg | grep -e Xid -e NVRM", what,
                 where);
    else if (waited_long)
        snprintf(out, size, "%s does not come back from %s: dmesg | grep -e Xid -e NVRM; then reset the GPU or reboot",
                 what, where);
    else
        snprintf(out, size,
                 "%s is still initialising (%s): `diagnose device` waits longer; nvidia-persistenced makes it quick",
                 what, where);
}

static bool answered(const struct dg_answer *a) { return a->complete && !a->failed; }

/* cuInit's 100 and 999 hide why; NVML tells. */
static const char *deeper_text(const struct dg_child *cuda, const struct dg_child *nvml) {
    return cuda->answer.code == 100 || cuda->answer.code == 999 ? nvml_text(nvml->answer.code) : NULL;
}

bool dg_why_cuda(const struct dg_child *cuda, const struct dg_child *nvml, const struct dg_passive *p, bool waited_long,
                 char *out, size_t size) {
    const struct dg_answer *a = &cuda->answer;
    const char *text = init_text(a->code, p), *deeper = deeper_text(cuda, nvml);
    if (answered(a)) return false;
    if (!a->failed)
        ended_badly(cuda, "the CUDA driver", waited_long, out, size);
    else if (deeper)
        snprintf(out, size, "%s; %s", text, deeper);
    else if (text)
        snprintf(out, size, "%s", text);
    else if (a->code)
        snprintf(out, size, "%s failed with CUDA result %d", a->failure, a->code);
    else
        snprintf(out, size, "CUDA driver: %s", a->failure);
    return true;
}

bool dg_why_nvml(const struct dg_child *cuda, const struct dg_child *nvml, bool waited_long, char *out, size_t size) {
    const struct dg_answer *a = &nvml->answer;
    const char *text = nvml_text(a->code);
    if (answered(a) || (a->failed && deeper_text(cuda, nvml))) return false;
    if (!a->failed)
        ended_badly(nvml, "NVML", waited_long, out, size);
    else if (text)
        snprintf(out, size, "%s", text);
    else if (a->code)
        snprintf(out, size, "free memory not known: %s failed with NVML result %d", a->failure, a->code);
    else
        snprintf(out, size, "free memory not known: %s", a->failure);
    return true;
}
