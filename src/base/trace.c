#include "base/trace.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/timex.h"
#include "base/utf8.h"
#include <stdarg.h>
#include <stdio.h>

enum { LINE = 4096 };

static struct {
    int fd;
    int (*mask)(struct dg_buf *out, struct dg_slice text);
    double started;
} trace = {.fd = -1};

void dg_trace_start(int fd, int (*mask)(struct dg_buf *out, struct dg_slice text)) {
    trace.fd = fd;
    trace.mask = mask;
    trace.started = dg_time_mono();
}

void dg_trace(const char *topic, const char *fmt, ...) {
    if (trace.fd < 0) return;
    char text[LINE];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    _cleanup_(dg_buf_release) struct dg_buf masked = DG_BUF_INIT(SIZE_MAX), out = DG_BUF_INIT(SIZE_MAX);
    dg_buf_addf(&out, "%9.4f %-8s ", dg_time_mono() - trace.started, topic);
    trace.mask(&masked, dg_cstr(text));
    dg_utf8_add_shown(&out, dg_buf_slice(&masked), false);
    dg_buf_addc(&out, '\n');
    if (!masked.failed && !out.failed) dg_fd_write(trace.fd, out.ptr, out.len); /* else one line less */
}
