/* From findings to a diagnosis. The order of the steps is the order of this file's last function but one. */
#include "reason/judge.h"
#include "base/trace.h"

struct dg_cat_key dg_judge_key(const struct dg_judge *j) {
    const struct dg_attempt *a = &j->d->attempt;
    return (struct dg_cat_key){a->engine_version, dg_judge_cc(j), a->quantization, a->model_family, a->model};
}

static void explains(struct dg_judge *j, struct dg_cause *c, uint32_t self) {
    struct dg_strs ids = {0};
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        enum dg_role r = f->rule->role;
        bool echo = r == DG_ROLE_CONSEQUENCE || r == DG_ROLE_WRAPPER || r == DG_ROLE_TEARDOWN;
        if (ids.n < 16 && (echo || j->beaten_by[i] == self)) dg_judge_add_text(j, &ids, f->rule->id);
    }
    c->explains = ids.v;
    c->n_explains = ids.n;
}

static void add_cause(struct dg_judge *j, uint32_t finding) {
    const struct dg_finding *f = &j->scan->findings[finding];
    struct dg_scope scope = {.d = j->d, .finding = f};
    struct dg_cause c = {.rule = f->rule,
                         .rule_id = f->rule->id,
                         .class = f->rule->class,
                         .subclass = f->rule->subclass,
                         .title = f->rule->title,
                         .finding = f};
    c.summary = dg_template_fill(j, &scope, f->rule->summary);
    if (!c.summary.len) c.summary = c.title;
    c.device_check = dg_device_check(j, f);
    c.confidence = dg_confidence_of(j, f, c.device_check);
    dg_evidence_collect(j, &c);
    if (!j->d->n_causes) explains(j, &c, finding);
    dg_trace("verdict", "%.*s: %s, device check: %s", DG_FMT(c.rule_id), dg_confidence_name(c.confidence),
             dg_check_name(c.device_check));
    DG_LIST_ADD(j, j->d->causes, j->d->n_causes, c);
}

/* Kernel faults whose clock cannot be aligned say what may have been, when the server's log knows nothing deeper. */
static void promote_unaligned(struct dg_judge *j) {
    for (uint32_t i = 0; i < j->n_rank; i++)
        if (!j->scan->findings[j->rank[i]].rule->symptom) return;
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        if (j->fate[i] != DG_FATE_UNALIGNED || f->rule->symptom) continue;
        if (j->n_rank == DG_MAX_CANDIDATES) j->n_rank--;
        memmove(j->rank + 1, j->rank, j->n_rank++ * sizeof(*j->rank));
        j->rank[0] = i;
        return;
    }
}

static void settle_status(struct dg_judge *j) {
    struct dg_diagnosis *d = j->d;
    d->status = dg_launch_status(j);
    for (uint32_t i = 0; i < d->n_inputs && d->status == DG_STATUS_HEALTHY; i++)
        if (d->inputs[i].error) d->status = DG_STATUS_INCONCLUSIVE; /* what could not be read may hold the failure */
}

static void judge(struct dg_judge *j) {
    j->telling = true;
    dg_facts_collect(j);
    dg_devices_settle(j);
    dg_choices_settle(j);
    dg_causes_rank(j);
    if (!j->fate) return;
    promote_unaligned(j);
    settle_status(j);
    for (uint32_t i = 0; i < j->n_rank && i < DG_MAX_CAUSES; i++) add_cause(j, j->rank[i]);
    dg_holding_settle(j);
    if (!j->d->n_causes) dg_fallback(j);
    dg_ruled_out(j);
    dg_not_checked(j);
    dg_fingerprint(j);
}

int dg_reason(const struct dg_reason_opts *opts, struct dg_arena *arena, struct dg_diagnosis **ret,
              struct dg_err *err) {
    struct dg_judge j = {.opts = opts, .scan = opts->scan, .arena = arena};
    j.d = dg_arena_alloc(arena, sizeof(*j.d));
    if (!j.d) return dg_err_nomem(err);
    j.d->scan = opts->scan;
    j.d->inputs = opts->scan->sources;
    j.d->n_inputs = opts->scan->n_sources;
    if (opts->rules) {
        j.d->packs = opts->rules->n_packs;
        j.d->rules_active = opts->rules->n_rules;
        j.d->rules_rejected = opts->rules->n_rejected;
    }
    int r = dg_launches_choose(&j, err);
    if (r) return r;
    dg_trace("episode", "launch %u of %u is judged, with %u findings and %u fatal records", j.d->judged,
             j.d->n_launches, j.ep.n_f, j.ep.n_t);
    judge(&j);
    dg_trace("verdict", "%s", dg_status_name(j.d->status));
    if (j.failed) return dg_err_nomem(err);
    *ret = j.d;
    return 0;
}

int dg_reason_exit(const struct dg_diagnosis *d) {
    if (d->status == DG_STATUS_HEALTHY) return 0;
    return d->status == DG_STATUS_FAILURE && d->n_causes && d->causes[0].confidence != DG_POSSIBLE ? 1 : 3;
}
