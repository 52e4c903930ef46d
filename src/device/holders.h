/* Who holds the GPUs: NVML's list of processes, completed from /proc; the MPS daemon among them. */
#ifndef DG_DEVICE_HOLDERS_H
#define DG_DEVICE_HOLDERS_H

#include "model/device.h"
#include "model/env.h"

/* Fill the rest of a holder whose pid is set, from /proc/PID (under `root`). */
void dg_holder_describe(const char *root, struct dg_holder *h);
/* Processes that have /dev/nvidiaN open: appended to the device with that minor number (order of the list), unless NVML
 * named them. NULL: all processes of the machine were seen; else why "nobody" is unproved, and what would tell. */
const char *dg_holders_from_proc(const char *root, struct dg_devices *d);
/* The MPS daemon and server in /proc, and the pipe directory: that of `env` (may be NULL), else the usual one. */
void dg_mps_find(const char *root, const struct dg_env *env, struct dg_mps *ret);
/* Append one; false when out of memory. */
bool dg_holder_add(struct dg_device *d, const struct dg_holder *h);

#endif
