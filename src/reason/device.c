/* Which devices are judged for (stated, else the log's own lines, else live), and whether they agree with a rule. */
#include "reason/judge.h"
#include "arch/arch.h"
#include <stdio.h>

static void copy(char *to, size_t size, struct dg_slice from) { snprintf(to, size, "%.*s", DG_FMT(from)); }

/* One device, as many times as the tensor-parallel size says, out of the lines of the log. */
static void from_log(struct dg_judge *j) {
    struct dg_device dev = {
        .memory_total = UINT64_MAX, .memory_free = UINT64_MAX, .compute_mode = -1, .origin = DG_ORIGIN_LOG};
    struct dg_slice name = dg_fact(j, "gpu");
    copy(dev.name, sizeof(dev.name), name);
    copy(dev.driver, sizeof(dev.driver), dg_fact(j, "driver"));
    if (!dg_cc_parse(dg_fact(j, "gpu_cc"), &dev.cc) && name.len) dg_arch_product(name, &dev.cc, NULL);
    uint64_t bytes;
    if (dg_slice_bytes(dg_fact(j, "gpu_memory"), false, &bytes)) dev.memory_total = bytes;
    if (!dev.name[0] && !dg_cc_known(dev.cc)) return;
    int64_t count = j->d->attempt.tensor_parallel;
    if (count < 1 || count > 64) count = 1;
    struct dg_device *v = dg_judge_alloc(j, (size_t)count * sizeof(*v));
    for (int64_t i = 0; v && i < count; i++) {
        v[i] = dev;
        v[i].index = (unsigned)i;
    }
    j->d->devices = v;
    j->d->n_devices = v ? (uint32_t)count : 0;
}

void dg_devices_settle(struct dg_judge *j) {
    const struct dg_devices *given = j->opts->devices;
    if (!j->opts->device_stated) from_log(j);
    if (j->d->n_devices || !given || !given->n) return;
    j->d->devices = given->v;
    j->d->n_devices = given->n;
}

struct dg_cc dg_judge_cc(const struct dg_judge *j) {
    return j->d->n_devices ? j->d->devices[0].cc : (struct dg_cc){0, 0};
}

/* Whoever saw it end is on its machine; else host name or GPU name say so. */
bool dg_same_machine(const struct dg_judge *j) {
    struct dg_slice host = dg_fact(j, "host"), gpu = dg_fact(j, "gpu");
    const struct dg_devices *live = j->opts->devices;
    if (dg_ending_seen(j)) return true;
    for (uint32_t i = 0; i < j->scan->n_sources && !host.len; i++) host = dg_cstr(j->scan->sources[i].hostname);
    if (host.len && dg_slice_is(host, live->hostname)) return true;
    for (uint32_t i = 0; i < live->n; i++)
        if (gpu.len && dg_slice_find(dg_cstr(live->v[i].name), gpu) >= 0) return true;
    return false;
}

static bool any_holds(const struct dg_judge *j, const struct dg_finding *f, const struct dg_device *v, uint32_t n,
                      const struct dg_cond *c, bool all) {
    uint32_t held = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct dg_scope scope = {.d = j->d, .finding = f, .device = &v[i]};
        held += dg_cond_eval(&scope, c) == 1;
    }
    return all ? n && held == n : held > 0;
}

/* One device that fits confirms; only all of them together contradict. */
static enum dg_check check(const struct dg_judge *j, const struct dg_finding *f, const struct dg_device *v,
                           uint32_t n) {
    if (f->rule->has_confirms && any_holds(j, f, v, n, &f->rule->confirms, false)) return DG_CHECK_CONFIRMS;
    if (f->rule->has_contradicts && any_holds(j, f, v, n, &f->rule->contradicts, true)) return DG_CHECK_CONTRADICTS;
    return DG_CHECK_NONE;
}

/* `ret_foreign`: the GPUs of this machine were asked, and are not those of the log. */
static enum dg_check ask(const struct dg_judge *j, const struct dg_finding *f, bool *ret_foreign) {
    const struct dg_devices *given = j->opts->devices;
    enum dg_check judged = check(j, f, j->d->devices, j->d->n_devices);
    bool live = given && given->n && !j->opts->device_stated;
    *ret_foreign = false;
    if (!live) return judged;
    enum dg_check seen = check(j, f, given->v, given->n);
    if (j->d->devices == given->v) judged = DG_CHECK_NONE; /* the log names no device of its own */
    *ret_foreign = seen == DG_CHECK_CONTRADICTS && !dg_same_machine(j);
    return seen != DG_CHECK_NONE && !*ret_foreign ? seen : judged;
}

enum dg_check dg_device_check(struct dg_judge *j, const struct dg_finding *f) {
    bool foreign = false;
    enum dg_check answer = f ? ask(j, f, &foreign) : DG_CHECK_NONE;
    if (foreign)
        dg_judge_add_text(j, &j->d->not_checked,
                          DG_S("the GPUs of this machine do not fit: this log is of another machine"));
    return answer;
}

bool dg_device_denies(const struct dg_judge *j, const struct dg_finding *f) {
    bool foreign;
    return ask(j, f, &foreign) == DG_CHECK_CONTRADICTS;
}
