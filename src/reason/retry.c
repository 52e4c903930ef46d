/* What this machine's GPUs hold now, said before a retry: nothing is ended by us. */
#include "reason/propose.h"
#include "device/state.h"
#include <stdio.h>

enum { GPUS_TOLD = 3, HOLDERS_TOLD = 2 };

static void add(struct dg_judge *j, struct dg_buf *line) {
    if (line->failed) j->failed = true;
    if (line->len) dg_judge_add_text(j, &j->d->before_retry, dg_judge_say(j, "%s", line->ptr));
    dg_buf_clear(line);
}

static bool seen(const struct dg_device *d) { return dg_device_memory_known(d) || d->n_holders; }
static bool clean(const struct dg_device *d) { return !d->n_holders && dg_device_memory_is_free(d); }

/* All that are clean in one line, with the numbers of the fullest. */
static void tell_clean(struct dg_judge *j, const struct dg_devices *d, struct dg_buf *line) {
    const struct dg_device *least = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        if (!clean(&d->v[i])) continue;
        if (!least || d->v[i].memory_free < least->memory_free) least = &d->v[i];
        n++;
    }
    if (!n) return;
    if (n == 1)
        dg_buf_addf(line, "GPU %u: ", least->index);
    else
        dg_buf_addf(line, "%u %sGPUs: at least ", n, n < d->n ? "other " : "");
    dg_device_memory_add(line, least);
    dg_buf_addf(line, " now%s", d->holders_complete ? n == 1 ? ", nobody holds it" : ", nobody holds them" : "");
    add(j, line);
}

static void tell_held(struct dg_judge *j, const struct dg_device *d, struct dg_buf *line) {
    dg_buf_addf(line, "GPU %u: ", d->index);
    dg_device_memory_add(line, d);
    dg_buf_adds(line, d->n_holders ? " now, held by " : " now; who holds the rest is not seen from here");
    for (uint32_t i = 0; i < d->n_holders && i < HOLDERS_TOLD; i++) {
        dg_buf_adds(line, i ? "; " : "");
        dg_holder_add_text(line, &d->holders[i]);
    }
    if (d->n_holders > HOLDERS_TOLD) dg_buf_addf(line, "; and %u more", d->n_holders - HOLDERS_TOLD);
    add(j, line);
}

/* The look first, then what would end a leftover. */
static void tell_cleaning(struct dg_judge *j, const struct dg_devices *d, struct dg_buf *line) {
    struct dg_buf pids = DG_BUF_INIT(4096), leftovers = DG_BUF_INIT(4096);
    dg_devices_add_pids(&pids, d, false);
    dg_devices_add_pids(&leftovers, d, true);
    if (pids.len) dg_buf_addf(line, "look first:  ps -o pid,user,lstart,cmd -p%s", pids.ptr);
    add(j, line);
    if (leftovers.len) dg_buf_addf(line, "then, if it is a leftover:  kill%s", leftovers.ptr);
    add(j, line);
    if (dg_devices_held_elsewhere(d))
        dg_buf_adds(line, "in the other container, or on the host:  diagnose device --check");
    add(j, line);
    if (pids.failed || leftovers.failed) j->failed = true;
    dg_buf_release(&pids);
    dg_buf_release(&leftovers);
}

/* The GPUs that were looked at are the ones that a retry here would use, unless the log is shown to speak of others. */
bool dg_before_retry(struct dg_judge *j) {
    const struct dg_devices *d = j->opts->devices;
    struct dg_buf line = DG_BUF_INIT(1024);
    uint32_t told = 0, left = 0;
    bool known = false;
    if (!d || !d->looked || j->opts->device_stated || (j->d->devices != d->v && !dg_same_machine(j))) return false;
    for (uint32_t i = 0; i < d->n; i++) known = known || seen(&d->v[i]);
    if (!known) return false;
    for (uint32_t i = 0; i < d->n; i++) {
        if (!seen(&d->v[i]) || clean(&d->v[i])) continue;
        if (told++ < GPUS_TOLD)
            tell_held(j, &d->v[i], &line);
        else
            left++;
    }
    if (left) dg_buf_addf(&line, "%u more GPUs are not clean:  diagnose device --check", left);
    add(j, &line);
    tell_clean(j, d, &line);
    tell_cleaning(j, d, &line);
    dg_buf_release(&line);
    return true;
}
