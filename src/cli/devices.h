/* Which GPUs a diagnosis is for: those stated by --device, else none known yet. */
#ifndef DG_CLI_DEVICES_H
#define DG_CLI_DEVICES_H

#include "base/err.h"
#include "model/device.h"

/* Append what one --device says: "12.0", "sm_120", a product name whose matches all have one capability, or
 * "cc=12.0,name=…,memory=96GiB,count=8,driver=580.95". -DG_E_SYNTAX: err says what is wrong. -DG_E_LIMIT: more than
 * 1,024. */
int dg_devices_state(struct dg_slice spec, struct dg_devices *devices, struct dg_err *err);

#endif
