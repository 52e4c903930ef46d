/* The two clocks of a kernel log: lines that show seconds since boot and wall time at once tell when the machine
 * booted. */
#ifndef DG_INGEST_CLOCK_H
#define DG_INGEST_CLOCK_H

#include "base/slice.h"

enum dg_anchor {
    DG_ANCHOR_NONE,
    DG_ANCHOR_STAMPED, /* a syslog time in front of the seconds: local time, and late for what was printed before syslog
                          ran */
    DG_ANCHOR_EXACT    /* the kernel says the epoch itself: rtc_cmos, audit(EPOCH…), a machine check's TIME */
};
/* What one line of a kernel log says about the epoch of the boot. */
enum dg_anchor dg_clock_anchor(struct dg_slice line, double *ret_boot);

enum { DG_CLOCK_KEPT = 32 };
/* The first and the last anchors of a log; starts as zero. */
struct dg_clock {
    double first[DG_CLOCK_KEPT], last[DG_CLOCK_KEPT];
    unsigned long n;
};
void dg_clock_add(struct dg_clock *c, double boot);
/* Median, and how far the anchors lie apart. false: there is none. */
bool dg_clock_settle(const struct dg_clock *c, double *ret_boot, double *ret_spread);

#endif
