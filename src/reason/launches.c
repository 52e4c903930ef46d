/* Which launch is judged: the last that is not the echo of an earlier one, and that tells something; with several
 * server sources, those that ran together. */
#include "reason/judge.h"
#include "base/trace.h"
#include <stdlib.h>

/* Where one thing of the scan stands. */
struct spot {
    uint32_t launch;
    const struct dg_place *place;
};

/* Sort by launch, keeping the order: count, sum up, place. What other services printed is left out. */
static struct dg_by_launch sort_by_launch(struct dg_judge *j, uint32_t n,
                                          struct spot (*spot_of)(const struct dg_scan *, uint32_t)) {
    uint32_t buckets = j->scan->n_launches + 1;
    struct dg_by_launch by = {dg_judge_alloc(j, (buckets + 2) * sizeof(*by.from)),
                              dg_judge_alloc(j, (n + 1) * sizeof(*by.v))};
    if (!by.from || !by.v) return (struct dg_by_launch){0};
    for (int placing = 0; placing < 2; placing++) {
        for (uint32_t i = 0; i < n; i++) {
            struct spot spot = spot_of(j->scan, i);
            uint32_t b = spot.launch < j->scan->n_launches ? spot.launch : buckets - 1;
            if (dg_foreign(j, spot.place)) {
                if (placing)
                    dg_trace("cause", "input %u line %llu: of another service: %.*s", spot.place->source,
                             (unsigned long long)spot.place->line, DG_FMT(spot.place->unit));
                continue;
            }
            if (placing)
                by.v[by.from[b + 1]++] = i;
            else
                by.from[b + 2]++;
        }
        for (uint32_t b = 2; b <= buckets && !placing; b++) by.from[b] += by.from[b - 1];
    }
    return by;
}

static struct spot spot_of_finding(const struct dg_scan *s, uint32_t i) {
    return (struct spot){s->findings[i].launch, &s->findings[i].first};
}
static struct spot spot_of_fatal(const struct dg_scan *s, uint32_t i) {
    return (struct spot){s->fatals[i].launch, &s->fatals[i].place};
}

static int by_index(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* What the launches of the episode hold, and what no launch does, in the order of the scan. */
static uint32_t gather(const struct dg_judge *j, const struct dg_by_launch *by, uint32_t *out) {
    uint32_t n = 0;
    for (uint32_t l = 0; l <= j->scan->n_launches; l++) {
        if (l < j->scan->n_launches && !j->ep.in[l]) continue;
        for (uint32_t i = by->from[l]; i < by->from[l + 1]; i++) out[n++] = by->v[i];
    }
    qsort(out, n, sizeof(*out), by_index);
    return n;
}

static void fill_episode(struct dg_judge *j) {
    j->ep.n_f = gather(j, &j->findings, j->ep.f);
    j->ep.n_t = gather(j, &j->fatals, j->ep.t);
}

static bool index_scan(struct dg_judge *j) {
    const struct dg_scan *s = j->scan;
    j->ep.in = dg_judge_alloc(j, s->n_launches + 1);
    j->ep.f = dg_judge_alloc(j, (s->n_findings + 1) * sizeof(*j->ep.f));
    j->ep.t = dg_judge_alloc(j, (s->n_fatals + 1) * sizeof(*j->ep.t));
    if (!dg_units_learn(j)) return false;
    j->findings = sort_by_launch(j, s->n_findings, spot_of_finding);
    j->fatals = sort_by_launch(j, s->n_fatals, spot_of_fatal);
    return !j->failed;
}

bool dg_kernel_side(const struct dg_judge *j, const struct dg_finding *f) {
    enum dg_kind k = j->scan->sources[f->first.source].kind;
    return k == DG_KIND_KERNEL || k == DG_KIND_CONTAINER || k == DG_KIND_SCHEDULER;
}

static void set_episode(struct dg_judge *j, uint32_t main) {
    j->ep.main = main;
    j->ep.any = main != UINT32_MAX;
    for (uint32_t i = 0; i < j->scan->n_launches; i++) j->ep.in[i] = i == main;
    j->ep.first_time = j->ep.any ? j->scan->launches[main].first_time : DG_TIME_NONE;
    j->ep.last_time = j->ep.any ? j->scan->launches[main].last_time : DG_TIME_NONE;
    fill_episode(j);
}

/* Is the launch's own cause that somebody else still holds a port or the memory? */
static bool blocked_by_other(const struct dg_judge *j) {
    if (!j->n_rank) return false;
    const struct dg_rule *r = j->scan->findings[j->rank[0]].rule;
    return (dg_slice_is(r->class, "comm") && dg_slice_is(r->subclass, "port-in-use")) ||
           (dg_slice_is(r->class, "oom-device") && dg_slice_is(r->subclass, "other-process"));
}

static struct dg_slice outcome(struct dg_judge *j, bool after_failure) {
    enum dg_status s = dg_launch_status(j);
    if (after_failure && s == DG_STATUS_FAILURE && blocked_by_other(j)) return DG_S("echo");
    return dg_cstr(dg_status_name(s));
}

static void list_launches(struct dg_judge *j) {
    const struct dg_scan *s = j->scan;
    bool failed_before = false;
    for (uint32_t i = 0; i < s->n_launches; i++) {
        const struct dg_launch *l = &s->launches[i];
        if (i && s->launches[i - 1].source != l->source) failed_before = false;
        set_episode(j, i);
        dg_causes_rank(j);
        struct dg_launch_line line = {.source = l->source, .first_line = l->first_line, .last_line = l->last_line};
        line.outcome = outcome(j, failed_before);
        line.passed_over = dg_slice_is(line.outcome, "echo") || (failed_before && dg_only_begun(j));
        if (j->n_rank) {
            const struct dg_rule *r = s->findings[j->rank[0]].rule;
            line.summary = dg_judge_say(j, "%.*s/%.*s: %.*s", DG_FMT(r->class), DG_FMT(r->subclass), DG_FMT(r->title));
        }
        if (!line.passed_over)
            failed_before = dg_slice_is(line.outcome, "failure") || dg_slice_is(line.outcome, "unrecognised");
        DG_LIST_ADD(j, j->d->launches, j->d->n_launches, line);
    }
}

/* The last launch of the source that is judged by itself. */
static uint32_t last_of(const struct dg_judge *j, uint32_t source) {
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < j->d->n_launches; i++)
        if (j->d->launches[i].source == source && !j->d->launches[i].passed_over) last = i;
    return last;
}

static bool overlap(const struct dg_launch *a, const struct dg_launch *b) {
    if (!dg_time_known(a->first_time) || !dg_time_known(b->first_time)) return true;
    return a->first_time <= b->last_time && b->first_time <= a->last_time;
}

/* A file in which nothing starts and nothing fails is no server's log, whatever the time. */
static bool tells(const struct dg_judge *j, uint32_t i) {
    return j->scan->launches[i].begun || !dg_slice_is(j->d->launches[i].outcome, "inconclusive");
}

static bool later(const struct dg_launch *a, const struct dg_launch *b) {
    if (!dg_time_known(a->last_time) || !dg_time_known(b->last_time)) return a->source > b->source;
    return a->last_time > b->last_time || (a->last_time == b->last_time && a->source > b->source);
}

/* Join the other sources' launches that ran at the same time: ranks and nodes write logs of their own. */
static void join_sources(struct dg_judge *j) {
    const struct dg_launch *l = j->scan->launches;
    for (uint32_t s = 0; s < j->scan->n_sources; s++) {
        uint32_t i = last_of(j, s);
        if (i == UINT32_MAX || i == j->ep.main || l[i].source == l[j->ep.main].source ||
            !overlap(&l[i], &l[j->ep.main]))
            continue;
        j->ep.in[i] = true;
        if (!(l[i].first_time >= j->ep.first_time)) j->ep.first_time = l[i].first_time;
        if (!(l[i].last_time <= j->ep.last_time)) j->ep.last_time = l[i].last_time;
    }
    fill_episode(j);
}

int dg_launches_choose(struct dg_judge *j, struct dg_err *err) {
    const struct dg_scan *s = j->scan;
    uint32_t main = UINT32_MAX;
    if (!index_scan(j)) return dg_err_nomem(err);
    list_launches(j);
    if (j->failed) return dg_err_nomem(err);
    if (j->opts->launch > s->n_launches)
        return dg_err_set(err, DG_E_NOTFOUND, 0, "there is no launch %u; the input holds %u", j->opts->launch,
                          s->n_launches);
    if (j->opts->launch) {
        main = j->opts->launch - 1;
    } else {
        for (uint32_t src = 0; src < s->n_sources; src++) {
            uint32_t i = last_of(j, src);
            if (i == UINT32_MAX) continue;
            if (main == UINT32_MAX ||
                (tells(j, i) == tells(j, main) ? later(&s->launches[i], &s->launches[main]) : tells(j, i)))
                main = i;
        }
    }
    set_episode(j, main);
    if (main != UINT32_MAX && !j->opts->launch) join_sources(j);
    j->d->judged = main == UINT32_MAX ? 0 : main + 1;
    return 0;
}
