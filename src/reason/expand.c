/* {propose: AXIS}: the catalog's choices that run on this GPU, quantization and version, best first. */
#include "reason/propose.h"
#include "base/pep440.h"
#include <stdlib.h>

struct option {
    const struct dg_cat_choice *choice;
    unsigned merit; /* smaller is better */
};

static int by_merit(const void *a, const void *b) {
    const struct option *x = a, *y = b;
    if (x->merit != y->merit) return x->merit < y->merit ? -1 : 1;
    return x->choice < y->choice ? -1 : x->choice > y->choice;
}

static bool in_list(const struct dg_slices *list, struct dg_slice name, uint32_t *ret_at) {
    for (uint32_t i = 0; i < list->n; i++)
        if (dg_slice_eq(list->v[i], name)) {
            *ret_at = i;
            return true;
        }
    return false;
}

/* `listed`: the order for this GPU and quantization names it, with such faults in mind; one of some versions is then a
 * caution, no verdict, while the version is not known. */
static bool wrong_output(const struct dg_proposals *ps, const struct dg_cat_choice *c, bool listed) {
    const struct dg_cat_bad *b;
    for (uint32_t i = 0; (b = dg_catalog_bad(ps->engine, c, &ps->key, i)); i++)
        if (dg_slice_is(b->kind, "garbage") && (!listed || ps->key.version.len || dg_slice_is(b->versions, "*")))
            return true;
    return false;
}

/* What worked here, then the order's list, then what is verified, documented, expected; wrong output is named last. */
static unsigned merit_of(const struct dg_proposals *ps, const struct dg_cat_axis *axis,
                         const struct dg_cat_order *order, const struct dg_cat_choice *c) {
    double age;
    uint32_t at;
    unsigned merit = 200 + (dg_slice_is(c->evidence, "verified") ? 0 : dg_slice_is(c->evidence, "documented") ? 1 : 2);
    bool listed = order && in_list(&order->names, c->name, &at);
    if (listed) merit = 100 + (at < 50 ? at : 50);
    if (wrong_output(ps, c, listed)) merit += 1000;
    if (dg_slice_is(dg_history_of(ps, axis->name, c->name, &age), "works")) merit = 0;
    return merit;
}

/* The rule itself knows that this choice does not work here. */
static bool rejected(const struct dg_proposals *ps, const struct dg_cat_axis *axis, const struct dg_cat_choice *c) {
    const struct dg_rule *r = ps->finding ? ps->finding->rule : NULL;
    for (uint32_t i = 0; r && i < r->n_rejects; i++) {
        struct dg_capset on;
        bool here =
            !r->rejects[i].on.len || dg_capset_parse(r->rejects[i].on, &on, NULL) || dg_capset_has(&on, ps->key.cc);
        if (here && dg_slice_eq(r->rejects[i].axis, axis->name) && dg_slice_eq(r->rejects[i].value, c->name))
            return true;
    }
    return false;
}

/* The GPU is not known, but it is none that the refused choice runs on: what runs on no other is refused as well. */
static bool shares_fate(const struct dg_proposals *ps, const struct dg_cat_axis *axis, const struct dg_cat_choice *c) {
    const struct dg_rule *r = ps->finding ? ps->finding->rule : NULL;
    if (dg_cc_known(ps->key.cc) || !r || !dg_slice_is(r->class, "arch-mismatch")) return false;
    const struct dg_cat_choice *refused = dg_catalog_choice(axis, dg_facts_get(&ps->j->d->attempt.facts, axis->name));
    if (!refused || dg_capset_empty(&refused->archs) || dg_capset_empty(&c->archs)) return false;
    for (uint8_t i = 0; i < c->archs.n; i++)
        if (!dg_capset_has(&refused->archs, c->archs.r[i].lo) || !dg_capset_has(&refused->archs, c->archs.r[i].hi))
            return false;
    return true;
}

static bool candidate(const struct dg_proposals *ps, const struct dg_cat_axis *axis, const struct dg_cat_order *order,
                      const struct dg_cat_choice *c) {
    uint32_t at;
    double age;
    if (dg_slice_is(c->name, "auto") || dg_slice_eq(c->name, dg_facts_get(&ps->j->d->attempt.facts, axis->name)))
        return false;
    if ((order && in_list(&order->never, c->name, &at)) || rejected(ps, axis, c) || shares_fate(ps, axis, c))
        return false;
    struct dg_slice seen = dg_history_of(ps, axis->name, c->name, &age);
    if (dg_slice_is(seen, "fails") || dg_slice_is(seen, "garbage")) return false;
    if (order && order->names.n && !in_list(&order->names, c->name, &at) && !dg_slice_is(seen, "works")) return false;
    return dg_catalog_runs(ps->engine, c, &ps->key);
}

/* "12.x: nvcc >= 12.9" is a need there only: false elsewhere, else without the set. */
static bool needed_here(const struct dg_proposals *ps, struct dg_slice *need) {
    struct dg_capset on;
    ptrdiff_t colon = dg_slice_find(*need, DG_S(": "));
    if (colon <= 0 || dg_capset_parse(dg_slice_upto(*need, (size_t)colon), &on, NULL)) return true;
    *need = dg_slice_from(*need, (size_t)colon + 2);
    return dg_capset_has(&on, ps->key.cc);
}

/* "as marlin": what that one needs. */
static const struct dg_slices *needs_of(const struct dg_cat_axis *axis, const struct dg_cat_choice *c) {
    const struct dg_cat_choice *other = NULL;
    if (c->needs.n == 1 && dg_slice_starts(c->needs.v[0], DG_S("as ")))
        other = dg_catalog_choice(axis, dg_slice_from(c->needs.v[0], 3));
    return other ? &other->needs : &c->needs;
}

static void caution_needs(struct dg_proposals *ps, const struct dg_slices *needs, struct dg_proposal *p) {
    struct dg_slice all = {NULL, 0};
    for (uint32_t i = 0; i < needs->n; i++) {
        struct dg_slice need = needs->v[i];
        if (needed_here(ps, &need))
            all = dg_judge_say(ps->j, "%.*s%s%.*s", DG_FMT(all), all.len ? "; " : "it needs ", DG_FMT(need));
    }
    if (all.len) dg_judge_add_text(ps->j, &p->cautions, all);
}

/* "in releases before 0.5.13 ", "from release 0.5.16 on "; nothing when all are meant. */
static struct dg_slice in_releases(struct dg_judge *j, struct dg_slice versions) {
    bool one = dg_slice_find_ch(versions, ',') < 0;
    if (!versions.len || dg_slice_is(versions, "*")) return DG_S("");
    if (one && dg_slice_starts(versions, DG_S(">=")))
        return dg_judge_say(j, "from release %.*s on ", DG_FMT(dg_slice_from(versions, 2)));
    if (one && dg_slice_starts(versions, DG_S("<")) && !dg_slice_starts(versions, DG_S("<=")))
        return dg_judge_say(j, "in releases before %.*s ", DG_FMT(dg_slice_from(versions, 1)));
    return dg_judge_say(j, "in releases %.*s ", DG_FMT(versions));
}

static void caution_bad(struct dg_judge *j, const struct dg_cat_bad *b, struct dg_proposal *p) {
    static const char *const verbs[][2] = {{"crash", "it fails"}, {"hang", "it hangs"}, {"slow", "it is slow"}};
    bool garbage = dg_slice_is(b->kind, "garbage");
    struct dg_slice when = in_releases(j, b->versions);
    const char *verb = garbage ? when.len ? "it was wrong" : "" : "it has a fault";
    for (size_t i = 0; i < DG_COUNT(verbs); i++)
        if (dg_slice_is(b->kind, verbs[i][0])) verb = verbs[i][1];
    dg_judge_add_text(j, &p->cautions,
                      dg_judge_say(j, "%s%.*s%s%s%.*s (%.*s)", garbage ? "check the output (diagnose smoke): " : "",
                                   DG_FMT(when), verb, *verb ? ": " : "", DG_FMT(b->what), DG_FMT(b->source)));
}

static void add_cautions(struct dg_proposals *ps, const struct dg_cat_axis *axis, const struct dg_cat_order *order,
                         const struct dg_cat_choice *c, struct dg_proposal *p) {
    struct dg_judge *j = ps->j;
    const struct dg_cat_bad *b;
    for (uint32_t i = 0; (b = dg_catalog_bad(ps->engine, c, &ps->key, i)); i++) caution_bad(j, b, p);
    for (uint32_t i = 0; order && i < order->with.n; i++)
        dg_judge_add_text(j, &p->cautions, dg_judge_say(j, "it goes with %.*s", DG_FMT(order->with.v[i])));
    caution_needs(ps, needs_of(axis, c), p);
    if (c->weight_shuffle)
        dg_judge_add_text(j, &p->cautions,
                          DG_S("it rearranges the weights after loading, which takes more GPU memory for a while"));
}

/* "--flag value", "--flag" for a switch, VAR=value where the axis is an environment variable. */
static void spell(struct dg_judge *j, const struct dg_cat_spelling *s, struct dg_slice value, struct dg_proposal *p) {
    if (s->flag.len && dg_slice_is(value, "true")) {
        dg_judge_add_text(j, &p->flags, s->flag);
        p->action = dg_judge_say(j, "Add %.*s", DG_FMT(s->flag));
    } else if (s->flag.len && dg_slice_is(value, "false")) {
        p->action = dg_judge_say(j, "Leave %.*s out", DG_FMT(s->flag));
    } else if (s->flag.len) {
        dg_judge_add_text(j, &p->flags, dg_judge_say(j, "%.*s %.*s", DG_FMT(s->flag), DG_FMT(value)));
        p->action = dg_judge_say(j, "Take %.*s %.*s", DG_FMT(s->flag), DG_FMT(value));
    } else {
        struct dg_set set = {s->env, value};
        DG_LIST_ADD(j, p->environment, p->n_environment, set);
        p->action = dg_judge_say(j, "Set %.*s=%.*s", DG_FMT(s->env), DG_FMT(value));
    }
}

/* A rule writes the axis as its newest release does: here as this one does, or not at all. */
static bool respell(struct dg_proposals *ps, const struct dg_cat_axis *axis, struct dg_proposal *p) {
    const struct dg_cat_spelling *s = dg_catalog_spelling(axis, ps->key.version);
    if (!s) return false;
    if (p->flags.n != 1 || (s->flag.len && dg_slice_starts(p->flags.v[0], s->flag))) return true;
    p->flags = (struct dg_strs){0};
    spell(ps->j, s, p->value, p);
    return true;
}

bool dg_axis_admits(struct dg_proposals *ps, struct dg_proposal *p) {
    const struct dg_cat_axis *axis = ps->engine ? dg_catalog_axis(ps->engine, p->axis) : NULL;
    if (axis && !respell(ps, axis, p)) return false;
    const struct dg_cat_choice *c = axis ? dg_catalog_choice(axis, p->value) : NULL;
    if (!c) return true; /* the catalog does not know it: the rule does */
    const struct dg_cat_order *order = dg_catalog_order(ps->engine, axis, &ps->key);
    uint32_t at;
    if ((order && in_list(&order->never, c->name, &at)) || rejected(ps, axis, c)) return false;
    if (!dg_catalog_runs(ps->engine, c, &ps->key)) return false;
    add_cautions(ps, axis, order, c, p);
    return true;
}

static struct dg_slice reason_for(struct dg_proposals *ps, const struct dg_cat_axis *axis,
                                  const struct dg_cat_choice *c, struct dg_slice *ret_evidence) {
    double age = 0;
    struct dg_judge *j = ps->j;
    *ret_evidence = c->evidence;
    if (dg_slice_is(dg_history_of(ps, axis->name, c->name, &age), "works")) {
        *ret_evidence = DG_S("verified-here");
        return dg_judge_say(j, "it worked here %.0f days ago", age);
    }
    struct dg_slice quant = {NULL, 0};
    if (ps->key.quant.len) quant = dg_catalog_quant(ps->engine, ps->key.quant);
    if (!dg_cc_known(ps->key.cc))
        return dg_judge_say(j, "the catalog knows nothing against it (%.*s)", DG_FMT(c->build));
    return dg_judge_say(j, "it runs on %u.%u%s%.*s (kernels: %.*s)", ps->key.cc.major, ps->key.cc.minor,
                        quant.len ? " with " : "", DG_FMT(quant), DG_FMT(c->build));
}

void dg_axis_expand(struct dg_proposals *ps, const struct dg_action *a) {
    struct dg_judge *j = ps->j;
    struct dg_scope scope = {.d = j->d, .finding = ps->finding};
    const struct dg_attempt *t = &j->d->attempt;
    const struct dg_cat_axis *axis = ps->engine ? dg_catalog_axis(ps->engine, a->propose) : NULL;
    if (!axis || !dg_fors_admit(&a->fors, t->engine, t->engine_version) || !dg_conds_hold(&scope, &a->when)) return;
    const struct dg_cat_spelling *s = dg_catalog_spelling(axis, t->engine_version);
    const struct dg_cat_order *order = dg_catalog_order(ps->engine, axis, &ps->key);
    struct option *v = dg_judge_alloc(j, (axis->n_choices + 1) * sizeof(*v));
    uint32_t n = 0;
    for (uint32_t i = 0; s && v && i < axis->n_choices; i++)
        if (candidate(ps, axis, order, &axis->choices[i]))
            v[n++] = (struct option){&axis->choices[i], merit_of(ps, axis, order, &axis->choices[i])};
    if (n) qsort(v, n, sizeof(*v), by_merit);
    for (uint32_t i = 0; i < n; i++) {
        const struct dg_cat_choice *c = v[i].choice;
        struct dg_proposal p = {.kind = DG_S("backend"), .axis = axis->name, .value = c->name, .scope = DG_S("launch")};
        spell(j, s, c->name, &p);
        p.reason = reason_for(ps, axis, c, &p.evidence);
        add_cautions(ps, axis, order, c, &p);
        dg_proposal_add(ps, p);
    }
}
