/* Words on what the GPUs hold now: for `diagnose device`, and for what comes before a retry. */
#ifndef DG_DEVICE_STATE_H
#define DG_DEVICE_STATE_H

#include "base/buf.h"
#include "model/device.h"

bool dg_device_memory_known(const struct dg_device *d);
/* A GPU with nobody on it still shows what the driver keeps for itself. */
bool dg_device_memory_is_free(const struct dg_device *d);
/* "94.9 of 95.6 GiB free"; '?' for what is not known. */
void dg_device_memory_add(struct dg_buf *out, const struct dg_device *d);
/* "4242 sglang::schedul, 39.1 GiB, looks like part of an LLM server" */
void dg_holder_add_text(struct dg_buf *out, const struct dg_holder *h);
/* " 4242 4243" into an empty buffer: the holders that a person may look at, each once. `leftovers`: only what looks
 * like part of an LLM server, which is all that anybody should think of ending. The MPS server is not among them. */
void dg_devices_add_pids(struct dg_buf *out, const struct dg_devices *d, bool leftovers);
/* Is there a holder without a name here? Its number is of another pid namespace. */
bool dg_devices_held_elsewhere(const struct dg_devices *d);

#endif
