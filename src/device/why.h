/* Sentences: why the GPUs could not be seen, and what to type next. */
#ifndef DG_DEVICE_WHY_H
#define DG_DEVICE_WHY_H

#include "device/child.h"
#include "device/device.h"

void dg_why_passive(const struct dg_passive *p, char *out, size_t size);
/* False: nothing to say. `waited_long`: past the point where slow initialisation explains silence. */
bool dg_why_cuda(const struct dg_child *cuda, const struct dg_child *nvml, const struct dg_passive *p, bool waited_long,
                 char *out, size_t size);
bool dg_why_nvml(const struct dg_child *cuda, const struct dg_child *nvml, bool waited_long, char *out, size_t size);

#endif
