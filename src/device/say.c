#include "device/say.h"
#include "device/probe.h"
#include "base/file.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>

void dg_probe_say(int fd, const char *fmt, ...) {
    char line[DG_PROBE_LINE];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
    va_end(ap);
    if (n < 0) return;
    if (n > (int)sizeof(line) - 2) n = (int)sizeof(line) - 2;
    for (int i = 0; i < n; i++)
        if (line[i] == '\n') line[i] = ' ';
    line[n] = '\n';
    (void)dg_fd_write(fd, line, (size_t)n + 1);
}

void *dg_probe_open(const char *const *names, char *why, unsigned long size) {
    for (; *names; names++) {
        void *lib = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (lib) return lib;
        const char *text = dlerror();
        if (text && !*why) snprintf(why, size, "%s", text);
    }
    return NULL;
}
