/* AMD: GPUs from the KFD topology in sysfs (drivers/gpu/drm/amd/amdkfd/kfd_topology.c). */
#ifndef DG_DEVICE_KFD_H
#define DG_DEVICE_KFD_H
#include "model/device.h"
/* Append the AMD GPUs found under root/sys/class/kfd. False when out of memory. */
bool dg_kfd_read(const char *root, struct dg_devices *d);
#endif
