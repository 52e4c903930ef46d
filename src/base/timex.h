/* Wall-clock times as seconds since the epoch (double; NaN is unknown). */
#ifndef DG_BASE_TIMEX_H
#define DG_BASE_TIMEX_H

#include "base/buf.h"
#include <math.h>

#define DG_TIME_NONE ((double)NAN)
static inline bool dg_time_known(double t) { return !isnan(t); }
double dg_time_now(void);
double dg_time_mono(void); /* CLOCK_MONOTONIC, for deadlines */
double dg_time_cpu(void);  /* of this thread: what others do on the machine does not count */
/* RFC 3339 in UTC with a Z, fraction only when not whole ("2026-05-22T09:20:44Z"); nothing for NaN or years
 * outside 1..9999. */
int dg_time_add_rfc3339(struct dg_buf *out, double t);
/* Civil date and time in UTC -> epoch seconds; NaN when out of range. */
double dg_time_utc(int year, int mon, int day, int hour, int min, double sec);
/* The same read as local time of TZ (mktime). */
double dg_time_local(int year, int mon, int day, int hour, int min, double sec);

#endif
