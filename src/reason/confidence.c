/* Confidence is what was seen: stated by the program, and does a second fact agree? */
#include "reason/judge.h"

static bool lists(const struct dg_strs *list, struct dg_slice word) {
    for (uint32_t i = 0; i < list->n; i++)
        if (dg_slice_eq(list->v[i], word)) return true;
    return false;
}

/* Another rule, or another source, says the same class at another place. `elsewhere`: only another source counts. */
static bool second_finding(const struct dg_judge *j, const struct dg_finding *f, bool elsewhere) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *g = &j->scan->findings[i];
        bool same_source = g->first.source == f->first.source;
        if (g == f || (same_source && (elsewhere || g->rule == f->rule))) continue;
        if (dg_confirms(j, f, g)) return true;
        bool counts = (j->fate[i] == DG_FATE_OPEN || j->fate[i] == DG_FATE_ECHO) && !dg_rule_guesses(g->rule);
        if (g->rule->role == DG_ROLE_CAUSE && counts && dg_slice_eq(g->rule->class, f->rule->class) &&
            !dg_same_record(f, g))
            return true;
    }
    return false;
}

static bool exit_agrees(const struct dg_judge *j, const struct dg_finding *f) {
    const struct dg_attempt *a = &j->d->attempt;
    int sig = a->exit_signal > 0 ? a->exit_signal : a->exit_code > 128 ? a->exit_code - 128 : 0;
    if (dg_slice_is(f->rule->class, "oom-host")) return sig == 9;
    if (dg_slice_is(f->rule->class, "stopped")) return sig == 15 || sig == 2 || sig == 1;
    return false;
}

/* Does the log show that this launch died at all? A warning in a log that goes on proves nothing yet. */
static bool death_shown(const struct dg_judge *j) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        enum dg_role r = f->rule->role;
        if (dg_kernel_side(j, f) && (j->fate[i] == DG_FATE_OPEN || j->fate[i] == DG_FATE_ECHO)) return true;
        if (r == DG_ROLE_CONSEQUENCE || r == DG_ROLE_WRAPPER || r == DG_ROLE_TEARDOWN || f->rule->ends == DG_ENDS_DEATH)
            return true;
    }
    if (j->ep.any || j->ep.n_t) return j->ep.n_t > 0;
    /* no launch: what a compiler or anybody prints may be a warning */
    for (uint32_t i = 0; i < j->scan->n_sources; i++) {
        enum dg_kind k = j->scan->sources[i].kind;
        if (k == DG_KIND_BUILD || k == DG_KIND_UNKNOWN || k == DG_KIND_ENVIRONMENT) return false;
    }
    return true;
}

static bool needs_version(const struct dg_fors *f) {
    for (uint32_t i = 0; i < f->n; i++)
        if (!dg_slice_is(f->v[i].range, "*")) return true;
    return false;
}

/* A general rule that another class' rule refines or explains by its own name leaves open which of the two it is. */
static bool leaves_open(const struct dg_judge *j, const struct dg_rule *rule) {
    const struct dg_ruleset *rs = j->opts->rules;
    for (uint32_t i = 0; rs && i < rs->n_rules; i++) {
        const struct dg_rule *r = &rs->rules[i];
        if (r->role == DG_ROLE_CAUSE && r != rule && !dg_slice_eq(r->class, rule->class) &&
            (lists(&r->refines, rule->id) || lists(&r->explains, rule->id)))
            return true;
    }
    return false;
}

static bool beats_another(const struct dg_judge *j, const struct dg_finding *f) {
    DG_EACH_FINDING(j, i) {
        if (j->fate[i] == DG_FATE_ECHO && j->beaten_by[i] == f - j->scan->findings) return true;
    }
    return false;
}

/* Another failure, of another class, for which it does not account. */
static bool has_rival(const struct dg_judge *j, const struct dg_finding *f) {
    for (uint32_t i = 0; i < j->n_rank; i++) {
        const struct dg_finding *g = &j->scan->findings[j->rank[i]];
        if (!dg_doubtful(g) && !dg_slice_eq(g->rule->class, f->rule->class)) return true;
    }
    return false;
}

/* Only inferred: clocks without a common time, a log that shows no death, another failure in front of it or beside it,
 * a launch that went on; what only debug lines say, however much agrees. */
static bool inferred(const struct dg_judge *j, const struct dg_finding *f, bool kernel) {
    if (j->fate[f - j->scan->findings] == DG_FATE_UNALIGNED || dg_doubt_on(j, f) || has_rival(j, f)) return true;
    if (f->first.level == 'D' && f->last.level == 'D') return true;
    return !kernel && (!death_shown(j) || (dg_outlived(j, f) && !beats_another(j, f)));
}

/* Nothing is certain of a version not known, of a rule on trial, of clocks put right by guess, of a server that went on
 * serving. */
static bool may_be_certain(const struct dg_judge *j, const struct dg_finding *f, bool kernel, bool timed) {
    if (kernel && (j->zoned || j->guessed || !timed)) return false;
    if (needs_version(&f->rule->fors) && !j->d->attempt.engine_version.len) return false;
    return !dg_service_followed(j, f) && !dg_rule_on_trial(f->rule);
}

enum dg_confidence dg_confidence_of(struct dg_judge *j, const struct dg_finding *f, enum dg_check check) {
    bool kernel = j->ep.any && dg_kernel_side(j, f);
    bool timed = dg_time_known(f->first.time) && dg_time_known(j->ep.last_time);
    bool vague = f->rule->symptom || leaves_open(j, f->rule);
    bool elsewhere = vague && !dg_slice_is(f->rule->class, "stopped");
    if (check == DG_CHECK_CONTRADICTS || dg_rule_guesses(f->rule) || inferred(j, f, kernel)) return DG_POSSIBLE;
    bool agrees =
        check == DG_CHECK_CONFIRMS || (kernel && timed) || second_finding(j, f, elsewhere) || exit_agrees(j, f);
    if (!agrees && !kernel && dg_mild(j, f)) return DG_POSSIBLE;
    if (vague || dg_rule_on_trial(f->rule)) return agrees ? DG_LIKELY : DG_POSSIBLE;
    return agrees && may_be_certain(j, f, kernel, timed) ? DG_CERTAIN : DG_LIKELY;
}
