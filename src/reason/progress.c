/* Did the launch go on after an error? What it outlived did not kill it. */
#include "reason/judge.h"

/* Phases in the order in which a start passes them; compiling may happen at any time and shows nothing. 0: none of
 * them. */
static int phase_rank(struct dg_slice phase) {
    static const char *const order[] = {"arguments", "model-config",  "weights", "weight-shuffle",
                                        "kv-pool",   "graph-capture", "warm-up", "serving"};
    for (size_t i = 0; i < DG_COUNT(order); i++)
        if (dg_slice_is(phase, order[i])) return (int)i + 1;
    return 0;
}

static struct dg_slice set_by(const struct dg_rule *rule, const char *name) {
    for (uint32_t i = 0; i < rule->n_set; i++)
        if (dg_slice_is(rule->set[i].name, name)) return rule->set[i].value;
    return (struct dg_slice){NULL, 0};
}

static int phase_of(const struct dg_rule *rule) { return phase_rank(set_by(rule, "phase")); }

bool dg_in_fatal_record(const struct dg_judge *j, const struct dg_place *p) {
    DG_EACH_FATAL(j, i) {
        if (dg_record_holds(&j->scan->fatals[i], p)) return true;
    }
    return false;
}

bool dg_mild(const struct dg_judge *j, const struct dg_finding *f) {
    char l = f->last.level;
    return (l == 'W' || l == 'I' || l == 'D') && !dg_in_fatal_record(j, &f->first) && !dg_in_fatal_record(j, &f->last);
}

bool dg_only_begun(const struct dg_judge *j) {
    if (dg_ending_seen(j)) return false;
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        enum dg_role r = f->rule->role;
        bool ill = r == DG_ROLE_CAUSE || r == DG_ROLE_CONSEQUENCE || r == DG_ROLE_WRAPPER || r == DG_ROLE_TEARDOWN;
        bool pulse =
            f->rule->pulse && !f->rule->begins_episode; /* one that listens before it loads anything has only begun */
        bool on = phase_of(f->rule) > phase_rank(DG_S("arguments")) || pulse || f->rule->ends != DG_ENDS_NONE;
        if (f->launch != UINT32_MAX && (ill || on)) return false;
    }
    DG_EACH_FATAL(j, i) {
        if (j->scan->fatals[i].launch != UINT32_MAX) return false;
    }
    return true;
}

/* `set: {service: broken}`: what is said of no single request. */
bool dg_breaks_service(const struct dg_rule *rule) { return dg_slice_is(set_by(rule, "service"), "broken"); }

/* `set: {service: failing}`: the same where an error says it; a prompt may quote the words. */
static bool fails_service(const struct dg_judge *j, const struct dg_finding *f) {
    return dg_slice_is(set_by(f->rule, "service"), "failing") && dg_in_fatal_record(j, &f->last);
}

/* What keeps a server from its GPU, so that it answers by the CPU. */
static bool costs_the_gpu(const struct dg_judge *j, const struct dg_rule *rule) {
    bool may = dg_slice_is(rule->class, "driver") || dg_slice_is(rule->class, "jit-failure");
    return may && dg_fact(j, "runs_on_cpu").len && !dg_fact(j, "runs_on_gpu").len;
}

/* A server that answers wrongly goes on answering, one that cannot have its GPU may answer by the CPU, and there are
 * failures that each request meets anew while the server is up (`set: {service: broken}` or `failing`). */
bool dg_serves_in_spite_of(const struct dg_judge *j, const struct dg_finding *f) {
    return dg_breaks_service(f->rule) || fails_service(j, f) || dg_slice_is(f->rule->class, "numerics") ||
           costs_the_gpu(j, f->rule);
}

bool dg_outlived(const struct dg_judge *j, const struct dg_finding *f) {
    int before = 0;
    bool fatal = dg_in_fatal_record(j, &f->first);
    if (f->launch == UINT32_MAX || dg_serves_in_spite_of(j, f)) return false;
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *g = &j->scan->findings[i];
        int rank = g->launch == f->launch ? phase_of(g->rule) : 0;
        if (rank > before && g->first.seq < f->last.seq) before = rank;
        /* a rank that died does not stop the others at once: after a traceback only its own process' progress counts */
        bool counts = !fatal || (g->first.pid >= 0 && g->first.pid == f->last.pid) ||
                      (g->first.rank >= 0 && g->first.rank == f->last.rank);
        if (rank > before && g->first.seq > f->last.seq && counts) return true;
    }
    return false;
}
