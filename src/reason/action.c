/* A rule's action -> a proposal. */
#include "reason/propose.h"

static struct dg_slice cut(struct dg_slice s, size_t max) {
    if (s.len <= max) return s;
    s.len = max;
    while (s.len && ((unsigned char)s.ptr[s.len] & 0xc0) == 0x80) s.len--; /* whole characters */
    return s;
}

/* False: an operand of one of the texts is missing. */
static bool fill_list(struct dg_judge *j, const struct dg_scope *scope, const struct dg_strs *from,
                      struct dg_strs *to) {
    for (uint32_t i = 0; i < from->n; i++) {
        struct dg_slice text = dg_template_fill(j, scope, from->v[i]);
        if (!text.ptr) return false;
        dg_judge_add_text(j, to, text);
    }
    return true;
}

static bool fill_env(struct dg_judge *j, const struct dg_scope *scope, const struct dg_action *a,
                     struct dg_proposal *p) {
    for (uint32_t i = 0; i < a->n_env; i++) {
        struct dg_set set = {a->env[i].name, dg_template_fill(j, scope, a->env[i].value)};
        if (!set.value.ptr) return false;
        DG_LIST_ADD(j, p->environment, p->n_environment, set);
    }
    return true;
}

static bool fill_lists(struct dg_judge *j, const struct dg_scope *scope, const struct dg_action *a,
                       struct dg_proposal *p) {
    return fill_list(j, scope, &a->flags, &p->flags) && fill_list(j, scope, &a->packages, &p->packages) &&
           fill_list(j, scope, &a->cautions, &p->cautions) && fill_env(j, scope, a, p);
}

static struct dg_slice kind_of(const struct dg_proposal *p) {
    if (p->flags.n) return DG_S("setting");
    if (p->n_environment) return DG_S("environment");
    if (p->packages.n) return DG_S("install");
    return DG_S("command");
}

/* "--moe-runner-backend marlin": an action that sets an axis of the catalog is known by it, so that history can speak
 * of it. */
static void name_axis(const struct dg_proposals *ps, struct dg_proposal *p) {
    for (uint32_t i = 0; i < p->flags.n && !p->axis.len && ps->engine; i++) {
        struct dg_slice flag = p->flags.v[i], name, value;
        while (flag.len && *flag.ptr == '-') flag = dg_slice_from(flag, 1);
        ptrdiff_t gap = dg_slice_find_ch(flag, ' ');
        if (gap < 0) continue;
        name = dg_slice_upto(flag, (size_t)gap);
        value = dg_slice_trim(dg_slice_from(flag, (size_t)gap));
        const struct dg_cat_axis *axis = dg_catalog_axis(ps->engine, name);
        if (!axis) continue;
        p->axis = axis->name;
        p->value = value;
    }
}

/* The engine that an action is for, whatever its version: empty when it is for certain versions only. */
static struct dg_slice for_engine(const struct dg_action *a) {
    for (uint32_t i = 0; i < a->fors.n; i++)
        if (dg_slice_is(a->fors.v[i].range, "*")) return a->fors.v[i].engine;
    return (struct dg_slice){NULL, 0};
}

/* What only another engine understands is no help. With the engine unknown, a remedy for one is the last resort. */
static bool for_this_engine(const struct dg_proposals *ps, const struct dg_action *a) {
    const struct dg_attempt *t = &ps->j->d->attempt;
    if (t->engine.len) return dg_fors_admit(&a->fors, t->engine, t->engine_version);
    return ps->any_engine ? for_engine(a).len > 0 : !a->fors.n;
}

bool dg_action_fill(struct dg_proposals *ps, const struct dg_action *a, struct dg_proposal *ret) {
    struct dg_judge *j = ps->j;
    struct dg_scope scope = {.d = j->d, .finding = ps->finding};
    struct dg_proposal p = {.kind = a->kind, .evidence = a->evidence, .axis = a->axis};
    if (!for_this_engine(ps, a) || !dg_conds_hold(&scope, &a->when)) return false;
    if (a->value.len) {
        scope.value = dg_value_eval(j, &scope, a->value);
        if (!scope.value.ptr) return false;
    }
    struct dg_slice text = dg_template_fill(j, &scope, a->text);
    if (ps->any_engine && text.len) text = dg_judge_say(j, "%.*s: %.*s", DG_FMT(for_engine(a)), DG_FMT(text));
    p.action = cut(text, DG_MAX_ACTION);
    if (!p.action.len || !fill_lists(j, &scope, a, &p)) return false;
    if (a->flag.len) dg_judge_add_text(j, &p.flags, dg_judge_say(j, "%.*s %.*s", DG_FMT(a->flag), DG_FMT(scope.value)));
    if (a->command.len && !(p.command = dg_template_fill(j, &scope, a->command)).ptr) return false;
    p.value = a->axis.len ? scope.value : (struct dg_slice){NULL, 0};
    p.reason = dg_template_fill(j, &scope, a->because);
    p.scope = a->scope.len ? a->scope : DG_S("launch");
    p.cost = dg_template_fill(j, &scope, a->cost);
    p.undo = dg_template_fill(j, &scope, a->undo);
    if (!p.kind.len) p.kind = kind_of(&p);
    if (!p.evidence.len) p.evidence = DG_S("expected");
    name_axis(ps, &p);
    if (p.axis.len && !dg_axis_admits(ps, &p)) return false;
    *ret = p;
    return true;
}
