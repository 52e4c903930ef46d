/* Devices as data: what the machine, the user or the log says about GPUs. */
#ifndef DG_MODEL_DEVICE_H
#define DG_MODEL_DEVICE_H

#include "base/slice.h"

enum dg_origin { DG_ORIGIN_LIVE, DG_ORIGIN_STATED, DG_ORIGIN_LOG };
const char *dg_origin_name(enum dg_origin o);

struct dg_cc {
    uint8_t major, minor; /* 0.0: unknown */
};

struct dg_holder { /* a process that holds GPU memory or a device node */
    long pid;
    char name[64];
    uint64_t memory;      /* bytes; UINT64_MAX: not known */
    double started;       /* epoch; NaN: not known */
    bool server_leftover; /* looks like a worker of an LLM server */
    bool mps;             /* the MPS server: it holds memory for its clients */
};

struct dg_mps { /* NVIDIA's Multi-Process Service; pids 0: not seen */
    long control, server;
    char pipe[256]; /* the pipe directory with a control pipe in it; "": none */
};

struct dg_device {
    unsigned index;
    char name[128];
    struct dg_cc cc;
    char gfx[32];                       /* AMD target ("gfx942"), or empty */
    uint64_t memory_total, memory_free; /* bytes; UINT64_MAX: not known */
    char driver[32];                    /* "580.95.05" */
    int cuda;                           /* 1000*major + 10*minor that the driver supports; 0: not known */
    char uuid[64], pci[32];
    int compute_mode; /* -1: not known; 0 default, 2 prohibited, 3 exclusive process */
    bool mig;
    bool mps; /* an MPS server holds it */
    enum dg_origin origin;
    struct dg_holder *holders; /* owned by the device list */
    uint32_t n_holders;
};

struct dg_devices {
    struct dg_device *v; /* malloced */
    uint32_t n;
    char **notes; /* sentences for "not checked" / device output, malloced */
    uint32_t n_notes;
    char hostname[256];
    struct dg_mps mps;
    bool looked;           /* a live look was made */
    bool holders_complete; /* every process of the machine was seen: who is not listed holds nothing */
};
void dg_devices_release(struct dg_devices *d);

#endif
