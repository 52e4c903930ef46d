/* The children that open the driver's libraries, and the lines they answer with.
 *
 * Protocol, one line each, at most DG_PROBE_LINE bytes, DG_PROBE_MAX in all; anything else is dropped:
 *   M WORD            a call is about to be made (progress marker)
 *   F CODE TEXT       the look failed: driver result code (0: none) and what was tried
 *   V CUDA DRIVER     versions (0 / - when unknown)
 *   D INDEX CC TOTAL FREE MODE MIG UUID PCI NAME   one device; - for unknown, memory in bytes
 *   P INDEX PID MEMORY                             one process on it
 *   E                 the answer is complete */
#ifndef DG_DEVICE_PROBE_H
#define DG_DEVICE_PROBE_H

#define DG_PROBE_LINE 512
#define DG_PROBE_MAX (256u << 10)
#define DG_PROBE_GPUS 64 /* more than any machine holds; a count above it is a lie */

/* Run in the child; write the protocol to `fd`. */
void dg_probe_cuda(int fd, const void *unused);
void dg_probe_nvml(int fd, const void *unused);

#endif
