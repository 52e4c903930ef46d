/* Candidates of the episode, and their order: what is recovered, harmless, refined or explained falls out; what is not
 * sure of itself, or ended no process, yields; else the earliest wins. */
#include "reason/judge.h"
#include "base/trace.h"
#include <math.h>
#include <stdlib.h>

bool dg_same_process(const struct dg_place *a, const struct dg_place *b) {
    if (a->source != b->source) return false;
    if (a->pid >= 0 && b->pid >= 0) return a->pid == b->pid;
    if (a->rank >= 0 && b->rank >= 0) return a->rank == b->rank;
    return !a->label.len || !b->label.len || dg_slice_eq(a->label, b->label);
}

static uint64_t first_line(const struct dg_finding *f) { return f->record_line ? f->record_line : f->first.line; }
static uint64_t last_line(const struct dg_finding *f) {
    return f->record_end > f->first.line ? f->record_end : f->first.end_line;
}

bool dg_same_record(const struct dg_finding *a, const struct dg_finding *b) {
    if (a->first.source != b->first.source) return false;
    if (a->first.line == b->first.line) return true;
    if (!dg_same_process(&a->first, &b->first)) return false;
    return first_line(a) <= last_line(b) && first_line(b) <= last_line(a);
}

int dg_doubtful(const struct dg_finding *f) { return 2 * f->rule->symptom + dg_rule_on_trial(f->rule); }

bool dg_service_followed(const struct dg_judge *j, const struct dg_finding *f) {
    if (f->launch >= j->scan->n_launches || dg_serves_in_spite_of(j, f)) return false;
    return f->epoch + 1 < j->scan->launches[f->launch].epochs;
}

static bool announced_recovery(const struct dg_judge *j, const struct dg_finding *f) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *r = &j->scan->findings[i];
        if (r->rule->role == DG_ROLE_RECOVERED && r->last.seq >= f->last.seq && dg_same_process(&r->last, &f->last) &&
            dg_rule_named(&r->rule->recovers, f->rule))
            return true;
    }
    return false;
}

/* A noise rule on the very line, or on the head of the record that holds it ("Exception in ASGI application"). Remarks
 * further down in a record (advice under an error) excuse nothing. */
static bool harmless(const struct dg_judge *j, const struct dg_finding *f) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *n = &j->scan->findings[i];
        if (n->rule->role != DG_ROLE_NOISE || n->first.source != f->first.source || n->count < f->count) continue;
        bool head = n->first.line == first_line(n) && n->first.line == first_line(f);
        if (n->first.line == f->first.line || (head && dg_same_record(n, f))) return true;
    }
    return false;
}

/* "Stopped from outside" is a failure of a server that had not served, or did not end in order. */
static bool only_a_stop(const struct dg_judge *j, const struct dg_finding *f) {
    return dg_slice_is(f->rule->class, "stopped") && dg_slice_is(f->rule->subclass, "sigterm") &&
           dg_ended_on_request(j);
}

static enum dg_fate fate_of(struct dg_judge *j, const struct dg_finding *f) {
    const struct dg_attempt *a = &j->d->attempt;
    if (f->rule->role != DG_ROLE_CAUSE) return DG_FATE_OTHER;
    if (!dg_fors_admit(&f->rule->fors, a->engine, a->engine_version)) return DG_FATE_ENGINE;
    if (dg_service_followed(j, f) || announced_recovery(j, f)) return DG_FATE_RECOVERED;
    if (harmless(j, f) || only_a_stop(j, f)) return DG_FATE_NOISE;
    return dg_outlived(j, f) ? DG_FATE_OUTLIVED : DG_FATE_OPEN;
}

/* An Xid that repeats what a kernel did wrong says nothing against the server's own words. */
static bool only_repeats(const struct dg_judge *j, const struct dg_finding *k, const struct dg_finding *server) {
    return j->ep.any && dg_kernel_side(j, k) && !dg_kernel_side(j, server) &&
           dg_slice_is(k->rule->class, "kernel-fault") && dg_slice_eq(k->rule->class, server->rule->class);
}

/* The front end may answer for a while after the engine's death (a health check is enough). When the launch did die and
 * nothing else tells why, an error close to the first word of the death is a candidate again. */
static void reopen_around_death(struct dg_judge *j) {
    const struct dg_finding *death = dg_death_echo(j);
    DG_EACH_FINDING(j, i) {
        if (j->fate[i] == DG_FATE_OPEN && !dg_kernel_side(j, &j->scan->findings[i])) return;
    }
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        if (!death) return;
        if (j->fate[i] != DG_FATE_RECOVERED || f->launch != death->launch || announced_recovery(j, f) || harmless(j, f))
            continue;
        double gap = dg_place_time(j, &death->first) - dg_place_time(j, &f->last);
        bool close = death->first.line <= f->last.line + 100 && f->first.line <= death->last.line + 100;
        if (dg_time_known(gap) ? fabs(gap) <= 60 : close) j->fate[i] = DG_FATE_OPEN;
    }
}

bool dg_explains_by_name(const struct dg_rule *rule, const struct dg_rule *other) {
    for (uint32_t i = 0; i < rule->explains.n; i++) {
        const struct dg_strs one = {&rule->explains.v[i], 1};
        if (!dg_slice_starts(*one.v, DG_S("class:")) && dg_rule_named(&one, other)) return true;
    }
    return false;
}

static bool explains_an_open_one(const struct dg_judge *j, const struct dg_rule *rule) {
    DG_EACH_FINDING(j, i) {
        if (j->fate[i] == DG_FATE_OPEN && dg_explains_by_name(rule, j->scan->findings[i].rule)) return true;
    }
    return false;
}

/* What the launch outlived is a candidate again when it is known to bring about what came later ("PyTorch has no code
 * for this GPU", and minutes later a kernel that cannot be loaded), or when the launch died and there is no other
 * explanation. */
static void reopen_outlived(struct dg_judge *j) {
    bool other = dg_unexplained(j) || !dg_death_echo(j);
    DG_EACH_FINDING(j, i) {
        other = other || (j->fate[i] == DG_FATE_OPEN && !dg_kernel_side(j, &j->scan->findings[i]));
    }
    DG_EACH_FINDING(j, k) {
        if (j->fate[k] == DG_FATE_OUTLIVED && (!other || explains_an_open_one(j, j->scan->findings[k].rule)))
            j->fate[k] = DG_FATE_OPEN;
    }
}

static void beat(struct dg_judge *j, uint32_t loser, uint32_t winner) {
    if (j->fate[winner] != DG_FATE_OPEN || j->fate[loser] != DG_FATE_OPEN || loser == winner) return;
    if (only_repeats(j, &j->scan->findings[winner], &j->scan->findings[loser])) return;
    j->fate[loser] = DG_FATE_ECHO;
    j->beaten_by[loser] = winner;
}

/* ---- which of two candidates is the cause */

/* Of what one record says, that which the GPUs contradict yields, however exact it is. */
static bool fits_the_device(const struct dg_judge *j, const struct dg_finding *f, const struct dg_finding *other) {
    return dg_same_record(f, other) && dg_device_denies(j, other) && !dg_device_denies(j, f);
}

static bool refines(const struct dg_judge *j, const struct dg_finding *f, const struct dg_finding *other) {
    (void)j;
    return dg_rule_named(&f->rule->refines, other->rule) && dg_same_record(f, other);
}

static bool explains(const struct dg_judge *j, const struct dg_finding *f, const struct dg_finding *other) {
    (void)j;
    return dg_rule_named(&f->rule->explains, other->rule);
}

static bool is_repeated_by(const struct dg_judge *j, const struct dg_finding *f, const struct dg_finding *other) {
    return only_repeats(j, other, f);
}

/* What ended a process outweighs a line of another kind before it that ended none. */
static bool ended_it(const struct dg_judge *j, const struct dg_finding *f, const struct dg_finding *other) {
    if (f->first.source != other->first.source || f->first.seq < other->first.seq) return false;
    if (f->launch != other->launch || dg_doubtful(f)) return false;
    if (dg_slice_eq(f->rule->class, other->rule->class) || dg_kernel_side(j, other)) return false;
    if (dg_in_fatal_record(j, &other->first) || dg_in_fatal_record(j, &other->last)) return false;
    bool error = f->first.level == 'E' || f->first.level == 'F';
    return dg_in_fatal_record(j, &f->first) || (error && dg_mild(j, other));
}

/* One yields to the earliest that is surer of itself. A rule on trial does not yield to one of its own class, which
 * bears it out; and nothing does of which another process had failed before, or any before it was stopped. */
static bool knows_better(const struct dg_judge *j, const struct dg_finding *f, const struct dg_finding *other) {
    bool same = dg_slice_eq(other->rule->class, f->rule->class);
    if (dg_doubtful(f) >= dg_doubtful(other) || (same && !other->rule->symptom)) return false;
    bool earlier = other->first.source == f->first.source && other->first.seq < f->first.seq;
    if (same || !earlier || !dg_in_fatal_record(j, &other->first)) return true;
    return dg_same_process(&other->first, &f->first) && !dg_slice_is(f->rule->class, "stopped");
}

typedef bool (*over_fn)(const struct dg_judge *j, const struct dg_finding *f, const struct dg_finding *other);

/* Two that beat each other: the earlier one wins, because it is looked at first. */
static void echoes(struct dg_judge *j, const uint32_t *c, uint32_t n) {
    static const over_fn WAYS[] = {fits_the_device, refines, explains, is_repeated_by, ended_it, knows_better};
    const struct dg_finding *f = j->scan->findings;
    for (size_t way = 0; way < DG_COUNT(WAYS); way++)
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++)
                if (WAYS[way](j, &f[c[a]], &f[c[b]])) beat(j, c[b], c[a]);
}

/* The kernel tells the reason of what the server saw (up to 5 s before), except where an Xid only repeats a kernel's
 * fault. */
static bool reason_of(const struct dg_judge *j, const struct dg_finding *k, const struct dg_finding *server) {
    if (dg_slice_is(k->rule->class, "kernel-fault") && dg_slice_eq(k->rule->class, server->rule->class)) return false;
    double at = dg_place_time(j, &server->first);
    if (!dg_time_known(k->first.time) || !dg_time_known(at)) return dg_slice_eq(k->rule->class, server->rule->class);
    return at >= k->first.time - 5;
}

static double clock_of(const struct dg_place *p) { return dg_time_known(p->time) ? p->time : p->boot; }

/* A kernel log by itself may span weeks: what it last tells of is asked about. Older than a quarter of an hour before
 * is another story. */
static bool old_story(const struct dg_judge *j, const struct dg_finding *f) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *g = &j->scan->findings[i];
        if (j->fate[i] == DG_FATE_OPEN && clock_of(&g->last) - clock_of(&f->last) > 900) return true;
    }
    return false;
}

/* Order of a candidate: where it stands; for the kernel's side, in front of the first of the server's that it may be
 * the reason of. */
static uint64_t position(const struct dg_judge *j, const struct dg_finding *f) {
    if (!j->ep.any && old_story(j, f)) return UINT64_MAX / 2 + f->first.seq;
    if (!j->ep.any || !dg_kernel_side(j, f)) return 2 * f->first.seq + 1;
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *s = &j->scan->findings[i];
        if (j->fate[i] == DG_FATE_OPEN && !dg_kernel_side(j, s) && reason_of(j, f, s)) return 2 * s->first.seq;
    }
    return UINT64_MAX;
}

struct ranked {
    uint32_t finding;
    uint64_t position;
};

static int by_position(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->position != y->position) return x->position < y->position ? -1 : 1;
    return x->finding < y->finding ? -1 : x->finding > y->finding;
}

/* What looks fatal by itself, and why each cause that was found is a candidate, or is none. */
static void tell(const struct dg_judge *j) {
    static const char *const words[] = {
        [DG_FATE_OTHER] = "another episode's",
        [DG_FATE_OPEN] = "a candidate",
        [DG_FATE_RECOVERED] = "recovered from",
        [DG_FATE_NOISE] = "known to be harmless here",
        [DG_FATE_ENGINE] = "a rule for another engine or version",
        [DG_FATE_UNRELATED] = "of another process or time",
        [DG_FATE_UNALIGNED] = "by a clock that cannot be aligned",
        [DG_FATE_OUTLIVED] = "outlived by the launch",
        [DG_FATE_ECHO] = "explained by",
    };
    DG_EACH_FATAL(j, i) {
        const struct dg_fatal *t = &j->scan->fatals[i];
        dg_trace("record", "input %u line %llu: %.*s", t->place.source, (unsigned long long)t->place.line,
                 DG_FMT(t->place.text));
    }
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        struct dg_slice by = j->beaten_by[i] == UINT32_MAX ? DG_S("") : j->scan->findings[j->beaten_by[i]].rule->id;
        if (f->rule->role == DG_ROLE_CAUSE)
            dg_trace("cause", "input %u line %llu: %.*s: %s %.*s", f->first.source, (unsigned long long)f->first.line,
                     DG_FMT(f->rule->id), words[j->fate[i]], DG_FMT(by));
    }
}

void dg_causes_rank(struct dg_judge *j) {
    const struct dg_scan *s = j->scan;
    if (!j->fate) {
        j->fate = dg_judge_alloc(j, (s->n_findings + 1) * sizeof(*j->fate));
        j->beaten_by = dg_judge_alloc(j, (s->n_findings + 1) * sizeof(*j->beaten_by));
        j->rank = dg_judge_alloc(j, DG_MAX_CANDIDATES * sizeof(*j->rank));
    }
    j->n_rank = 0;
    if (!j->fate || !j->beaten_by || !j->rank) return;
    struct ranked order[DG_MAX_CANDIDATES];
    uint32_t candidates[DG_MAX_CANDIDATES], n = 0;
    DG_EACH_FINDING(j, i) {
        j->fate[i] = fate_of(j, &s->findings[i]);
        j->beaten_by[i] = UINT32_MAX;
    }
    reopen_around_death(j);
    reopen_outlived(j);
    dg_kernel_join(j);
    DG_EACH_FINDING(j, i) {
        if (j->fate[i] == DG_FATE_OPEN && n < DG_MAX_CANDIDATES)
            order[n++] = (struct ranked){i, position(j, &s->findings[i])};
    }
    qsort(order, n, sizeof(*order), by_position);
    for (uint32_t i = 0; i < n; i++) candidates[i] = order[i].finding;
    echoes(j, candidates, n);
    for (uint32_t i = 0; i < n; i++)
        if (j->fate[candidates[i]] == DG_FATE_OPEN) j->rank[j->n_rank++] = candidates[i];
    if (j->telling) tell(j);
}
