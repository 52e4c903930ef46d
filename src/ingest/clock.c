#include "ingest/clock.h"
#include "base/mem.h"
#include "ingest/ingest.h"

#define EPOCH_MIN 1e9 /* 2001: smaller numbers are no epoch */
#define EPOCH_MAX 1e10

/* The number behind `key` in `s`: digits and at most one point. NaN: none. */
static double number_behind(struct dg_slice s, struct dg_slice key) {
    ptrdiff_t at = dg_slice_find(s, key);
    if (at < 0) return DG_TIME_NONE;
    struct dg_slice rest = dg_slice_from(s, (size_t)at + key.len);
    size_t n = 0;
    while (n < rest.len && ((rest.ptr[n] >= '0' && rest.ptr[n] <= '9') || rest.ptr[n] == '.')) n++;
    double v;
    return dg_slice_double(dg_slice_upto(rest, n), &v) && v > EPOCH_MIN && v < EPOCH_MAX ? v : DG_TIME_NONE;
}

/* The epoch that the kernel itself states in a message. */
static double stated_epoch(struct dg_slice body) {
    if (dg_slice_find(body, DG_S("setting system clock to ")) >= 0) return number_behind(body, DG_S(" UTC ("));
    if (dg_slice_starts(body, DG_S("audit: "))) return number_behind(body, DG_S(" audit("));
    if (dg_slice_find(body, DG_S("PROCESSOR ")) >= 0) return number_behind(body, DG_S(" TIME "));
    return DG_TIME_NONE;
}

enum dg_anchor dg_clock_anchor(struct dg_slice line, double *ret_boot) {
    struct dg_prefix p;
    dg_prefix_parse(line, DG_KIND_KERNEL, &p);
    if (!dg_time_known(p.boot)) return DG_ANCHOR_NONE;
    double epoch = stated_epoch(p.body);
    enum dg_anchor kind = dg_time_known(epoch) ? DG_ANCHOR_EXACT : DG_ANCHOR_STAMPED;
    if (kind == DG_ANCHOR_STAMPED) epoch = p.boot_clock ? DG_TIME_NONE : p.time;
    if (!dg_time_known(epoch)) return DG_ANCHOR_NONE;
    *ret_boot = epoch - p.boot;
    return kind;
}

void dg_clock_add(struct dg_clock *c, double boot) {
    double *slot = c->n < DG_CLOCK_KEPT ? &c->first[c->n] : &c->last[c->n % DG_CLOCK_KEPT];
    *slot = boot;
    c->n++;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool dg_clock_settle(const struct dg_clock *c, double *ret_boot, double *ret_spread) {
    double all[2 * DG_CLOCK_KEPT];
    size_t first = c->n < DG_CLOCK_KEPT ? c->n : DG_CLOCK_KEPT;
    size_t last = c->n - first < DG_CLOCK_KEPT ? c->n - first : DG_CLOCK_KEPT, n = first + last;
    if (!n) return false;
    memcpy(all, c->first, first * sizeof(*all));
    memcpy(all + first, c->last, last * sizeof(*all));
    qsort(all, n, sizeof(*all), by_value);
    *ret_boot = n % 2 ? all[n / 2] : (all[n / 2 - 1] + all[n / 2]) / 2;
    *ret_spread = all[n - 1] - all[0];
    return true;
}
