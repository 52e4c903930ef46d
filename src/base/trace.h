/* A trace of the way of the data, for who asks why a report is as it is: what was read as what, what was found where,
 * what was decided. One line each, with the seconds since the start in front. Off until it is started; then written at
 * once, so that it also tells what came before a crash. From any thread. */
#ifndef DG_BASE_TRACE_H
#define DG_BASE_TRACE_H

#include "base/buf.h"

/* Write to `fd` (borrowed; -1: stop); `mask` appends a text without what must not leave the house. */
void dg_trace_start(int fd, int (*mask)(struct dg_buf *out, struct dg_slice text));
/* A line under `topic`, masked, control bytes made visible, at most 4 KiB. */
void dg_trace(const char *topic, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
