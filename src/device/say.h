/* Writing one protocol line from a probe child. */
#ifndef DG_DEVICE_SAY_H
#define DG_DEVICE_SAY_H
void dg_probe_say(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* dlopen one of the names, in order; NULL-terminated list. The last dlerror() text is kept in `why`. */
void *dg_probe_open(const char *const *names, char *why, unsigned long size);
#endif
