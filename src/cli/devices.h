/* Which GPUs a command is for: those stated by --device, else those of this machine. */
#ifndef DG_CLI_DEVICES_H
#define DG_CLI_DEVICES_H

#include "cli/app.h"
#include "device/device.h"

/* Append what one --device says: "12.0", "sm_120", a product name whose matches all have one capability, or
 * "cc=12.0,name=…,memory=96GiB,count=8,driver=580.95". -DG_E_SYNTAX: err says what is wrong. -DG_E_LIMIT: more than
 * 1,024. */
int dg_devices_state(struct dg_slice spec, struct dg_devices *devices, struct dg_err *err);

/* Start a look at this machine's GPUs (join with dg_device_join), with --device-timeout where it was given. `patient`:
 * wait as long as slow initialisation may take. Before any thread exists. -DG_E_SYNTAX: the time-out is no number.
 * -DG_E_NOMEM. */
int dg_devices_look(const struct dg_app *app, bool patient, struct dg_look **ret, struct dg_err *err);

#endif
