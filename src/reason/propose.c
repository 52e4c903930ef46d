/* Proposals of the first cause: the rule's actions with the catalog's choices in their place, cleaned of what is known
 * to fail; the plausible things that will not help; the check that comes before all. */
#include "reason/propose.h"

struct dg_slice dg_history_of(const struct dg_proposals *ps, struct dg_slice axis, struct dg_slice value,
                              double *ret_age) {
    const struct dg_history_view *h = ps->j->opts->history;
    const struct dg_tried *best = NULL;
    for (uint32_t i = 0; h && i < h->n; i++) {
        const struct dg_tried *t = &h->v[i];
        if (!t->same_key || !dg_slice_eq(t->axis, axis) || !dg_slice_eq(t->value, value)) continue;
        if (!best || t->age_days < best->age_days) best = t; /* the newest word counts */
    }
    *ret_age = best ? best->age_days : 0;
    return best ? best->outcome : (struct dg_slice){NULL, 0};
}

static bool same_strs(const struct dg_strs *a, const struct dg_strs *b) {
    if (a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!dg_slice_eq(a->v[i], b->v[i])) return false;
    return true;
}

static bool same_deed(const struct dg_proposal *a, const struct dg_proposal *b) {
    if (a->axis.len && dg_slice_eq(a->axis, b->axis) && dg_slice_eq(a->value, b->value)) return true;
    if (a->packages.n && !a->flags.n && dg_slice_eq(a->kind, b->kind) && same_strs(&a->packages, &b->packages))
        return true;
    return dg_slice_eq(a->action, b->action) || (a->flags.n && same_strs(&a->flags, &b->flags));
}

/* Is the flag ("--x y", or a switch "--x") what this launch ran with? */
static bool is_set(const struct dg_diagnosis *d, struct dg_slice flag) {
    while (flag.len && *flag.ptr == '-') flag = dg_slice_from(flag, 1);
    ptrdiff_t gap = dg_slice_find_ch(flag, ' ');
    struct dg_slice now = dg_facts_get(&d->attempt.facts, gap < 0 ? flag : dg_slice_upto(flag, (size_t)gap));
    if (gap < 0) return dg_slice_is(now, "True") || dg_slice_is(now, "true");
    return now.len && dg_slice_eq(now, dg_slice_trim(dg_slice_from(flag, (size_t)gap)));
}

/* What is so already has not helped. */
static bool is_so(const struct dg_diagnosis *d, const struct dg_proposal *p) {
    for (uint32_t i = 0; i < p->flags.n; i++)
        if (!is_set(d, p->flags.v[i])) return false;
    return p->flags.n > 0;
}

void dg_proposal_add(struct dg_proposals *ps, struct dg_proposal p) {
    struct dg_diagnosis *d = ps->j->d;
    double age;
    struct dg_slice seen = p.axis.len ? dg_history_of(ps, p.axis, p.value, &age) : (struct dg_slice){NULL, 0};
    if (dg_slice_is(seen, "fails") || dg_slice_is(seen, "garbage") || is_so(d, &p)) return;
    for (uint32_t i = 0; i < d->n_proposals; i++)
        if (same_deed(&d->proposals[i], &p)) return;
    if (d->n_proposals < DG_MAX_PROPOSALS) DG_LIST_ADD(ps->j, d->proposals, d->n_proposals, p);
}

/* The axis that the cause blames: what is proposed or rejected on it. */
static struct dg_slice blamed_axis(const struct dg_rule *r) {
    for (uint32_t i = 0; i < r->n_actions; i++)
        if (r->actions[i].propose.len) return r->actions[i].propose;
    return r->n_rejects ? r->rejects[0].axis : (struct dg_slice){NULL, 0};
}

/* What worked here for this very model and version comes before all advice. */
static void way_back(struct dg_proposals *ps, struct dg_slice axis_name) {
    struct dg_judge *j = ps->j;
    const struct dg_history_view *h = j->opts->history;
    const struct dg_cat_axis *axis = ps->engine && axis_name.len ? dg_catalog_axis(ps->engine, axis_name) : NULL;
    const struct dg_cat_spelling *s = axis ? dg_catalog_spelling(axis, j->d->attempt.engine_version) : NULL;
    for (uint32_t i = 0; h && s && s->flag.len && i < h->n; i++) {
        const struct dg_tried *t = &h->v[i];
        double age;
        if (!dg_slice_eq(t->axis, axis->name) || !dg_slice_is(dg_history_of(ps, axis->name, t->value, &age), "works"))
            continue;
        if (dg_slice_eq(t->value, dg_facts_get(&j->d->attempt.facts, axis->name))) continue;
        struct dg_proposal p = {.kind = DG_S("backend"),
                                .axis = axis->name,
                                .value = t->value,
                                .scope = DG_S("launch"),
                                .evidence = DG_S("verified-here")};
        p.action = dg_judge_say(j, "Go back to %.*s %.*s", DG_FMT(s->flag), DG_FMT(t->value));
        p.reason = dg_judge_say(j, "it worked here %.0f days ago", age);
        dg_judge_add_text(j, &p.flags, dg_judge_say(j, "%.*s %.*s", DG_FMT(s->flag), DG_FMT(t->value)));
        dg_proposal_add(ps, p);
    }
}

/* What deletes, kills or resets, and what the whole machine pays for. */
static bool drastic(const struct dg_proposal *p) {
    bool machine = dg_slice_is(p->scope, "host") || dg_slice_is(p->scope, "fleet");
    return dg_slice_is(p->kind, "cleanup") || (machine && p->cost.len && !dg_slice_is(p->cost, "none"));
}

/* Never the first thing said: where there is nothing else, the look at the machine comes before it. */
static void cleanup_not_first(struct dg_diagnosis *d) {
    for (uint32_t i = 1; i < d->n_proposals && drastic(&d->proposals[0]); i++) {
        if (drastic(&d->proposals[i])) continue;
        struct dg_proposal first = d->proposals[i];
        memmove(d->proposals + 1, d->proposals, i * sizeof(*d->proposals));
        d->proposals[0] = first;
    }
    if (d->n_proposals && drastic(&d->proposals[0])) d->free_first = DG_S("look first:  diagnose device --check");
}

static void actions(struct dg_proposals *ps, const struct dg_rule *r) {
    for (uint32_t i = 0; i < r->n_actions; i++) {
        struct dg_proposal p;
        if (r->actions[i].propose.len)
            dg_axis_expand(ps, &r->actions[i]);
        else if (dg_action_fill(ps, &r->actions[i], &p))
            dg_proposal_add(ps, p);
    }
}

static void from_rule(struct dg_proposals *ps, const struct dg_rule *r) {
    way_back(ps, blamed_axis(r));
    actions(ps, r);
    if (ps->j->d->n_proposals < 2 && !ps->j->d->attempt.engine.len) {
        ps->any_engine = true;
        actions(ps, r);
        ps->any_engine = false;
    }
    for (uint32_t i = 0; i < r->n_rejects; i++) dg_axis_expand(ps, &(struct dg_action){.propose = r->rejects[i].axis});
    cleanup_not_first(ps->j->d);
}

static void add_avoid(struct dg_judge *j, struct dg_slice action, struct dg_slice reason) {
    struct dg_avoid a = {action, reason};
    if (action.len && reason.ptr && j->d->n_avoid < 5) DG_LIST_ADD(j, j->d->avoid, j->d->n_avoid, a);
}

/* The choices beside the failed one that a person would try next, and that cannot work here. */
static void avoid_axis(struct dg_proposals *ps, struct dg_slice axis_name) {
    struct dg_judge *j = ps->j;
    const struct dg_cat_axis *axis = ps->engine && axis_name.len ? dg_catalog_axis(ps->engine, axis_name) : NULL;
    const struct dg_cat_order *order = axis ? dg_catalog_order(ps->engine, axis, &ps->key) : NULL;
    const struct dg_cat_spelling *s = axis ? dg_catalog_spelling(axis, j->d->attempt.engine_version) : NULL;
    struct dg_slice flag = s ? s->flag : (struct dg_slice){NULL, 0};
    for (uint32_t i = 0; order && i < order->never.n && i < 3; i++) {
        const struct dg_cat_choice *c = dg_catalog_choice(axis, order->never.v[i]);
        const struct dg_cat_bad *b = c ? dg_catalog_bad(ps->engine, c, &ps->key, 0) : NULL;
        if (b) add_avoid(j, dg_judge_say(j, "%.*s %.*s", DG_FMT(flag), DG_FMT(c->name)), b->what);
    }
}

static void avoid(struct dg_proposals *ps, const struct dg_rule *r) {
    struct dg_scope scope = {.d = ps->j->d, .finding = ps->finding};
    for (uint32_t i = 0; i < r->n_avoid; i++)
        add_avoid(ps->j, dg_template_fill(ps->j, &scope, r->avoid[i].text),
                  dg_template_fill(ps->j, &scope, r->avoid[i].because));
    avoid_axis(ps, blamed_axis(r));
}

/* A launch that got as far as the GPU may have left workers that still hold its memory. */
static void check_free(struct dg_diagnosis *d) {
    static const char *const early[] = {"arguments", "model-config"};
    bool gpu = d->attempt.phase.len > 0;
    for (size_t i = 0; i < DG_COUNT(early); i++) gpu = gpu && !dg_slice_is(d->attempt.phase, early[i]);
    if (gpu && d->n_proposals) d->free_first = DG_S("free the GPUs first:  diagnose device --check");
}

/* The state itself says more than the advice to look at it. */
static void tell_state(struct dg_proposals *ps, const struct dg_cause *c) {
    bool matters = ps->j->d->free_first.len || dg_slice_is(c->class, "oom-device");
    if (matters && dg_before_retry(ps->j)) ps->j->d->free_first = (struct dg_slice){NULL, 0};
}

static void add_plain(struct dg_proposals *ps, const char *kind, struct dg_slice action, struct dg_slice command,
                      const char *because) {
    struct dg_proposal p = {.kind = dg_cstr(kind),
                            .action = action,
                            .command = command,
                            .reason = dg_cstr(because),
                            .evidence = DG_S("documented"),
                            .scope = DG_S("launch")};
    dg_proposal_add(ps, p);
}

/* The rule speaks of what ran out; the numbers say that others had it. */
static void who_holds(struct dg_proposals *ps) {
    add_plain(ps, "command", DG_S("See who holds the GPU: diagnose device --check"), DG_S("diagnose device --check"),
              "what others hold is missing here, whatever the settings are");
}

/* The launch before the judged one says why it failed: the next try most likely fails alike. */
static void failed_before(struct dg_proposals *ps) {
    const struct dg_diagnosis *d = ps->j->d;
    uint32_t i = d->judged && d->judged <= d->n_launches ? d->judged - 1 : 0;
    while (i && !(dg_slice_is(d->launches[i - 1].outcome, "failure") && d->launches[i - 1].summary.len)) i--;
    if (!i) return;
    struct dg_slice why = d->launches[i - 1].summary;
    ptrdiff_t colon = dg_slice_find_ch(why, ':');
    if (colon > 0) why.len = (size_t)colon;
    add_plain(ps, "command",
              dg_judge_say(ps->j, "See launch %u of this log, which failed (%.*s): --launch %u", i, DG_FMT(why), i),
              (struct dg_slice){NULL, 0}, "a start that is tried again mostly ends as the one before");
}

/* No cause is known: how to get what would decide. */
static void without_cause(struct dg_proposals *ps) {
    const struct dg_diagnosis *d = ps->j->d;
    failed_before(ps);
    if (d->status == DG_STATUS_INCONCLUSIVE && !dg_ending_seen(ps->j))
        add_plain(ps, "command",
                  DG_S("Get the log from its start to its end: kubectl logs --previous POD, docker logs CONTAINER"),
                  DG_S("docker logs CONTAINER > server.log 2>&1"), "the part that decides is not in what was given");
    if (!dg_judge_has_kind(ps->j, DG_KIND_KERNEL))
        add_plain(ps, "command",
                  DG_S("Get the kernel log of that minute: dmesg -T > dmesg.txt, then --kernel-log dmesg.txt"),
                  DG_S("dmesg -T > dmesg.txt"), "it alone settles kills and GPU faults");
    if (d->status == DG_STATUS_UNRECOGNISED)
        add_plain(ps, "report", DG_S("Report it with this output: diagnose --last --format markdown"),
                  DG_S("diagnose --last --format markdown"), "secrets, hosts and paths are masked in it");
}

int dg_propose(const struct dg_reason_opts *opts, struct dg_arena *arena, struct dg_diagnosis *d) {
    struct dg_judge j = {.opts = opts, .scan = opts->scan, .arena = arena, .d = d};
    struct dg_proposals ps = {.j = &j, .key = dg_judge_key(&j)};
    if (opts->catalog) ps.engine = dg_catalog_engine(opts->catalog, d->attempt.engine);
    d->proposals = NULL;
    d->avoid = NULL;
    d->n_proposals = d->n_avoid = 0;
    d->free_first = (struct dg_slice){NULL, 0};
    d->before_retry = (struct dg_strs){0};
    const struct dg_cause *c = d->n_causes ? &d->causes[0] : NULL;
    if (c && c->rule) {
        ps.finding = c->finding;
        if (!dg_slice_eq(c->subclass, c->rule->subclass)) who_holds(&ps);
        from_rule(&ps, c->rule);
        avoid(&ps, c->rule);
        check_free(d);
        tell_state(&ps, c);
    } else if (c) {
        without_cause(&ps);
    }
    for (uint32_t i = 0; i < d->n_proposals; i++)
        if (!d->proposals[i].command.len) d->proposals[i].command = dg_relaunch(&j, opts->command, &d->proposals[i]);
    return j.failed || (opts->catalog && opts->catalog->failed) ? -DG_E_NOMEM : 0;
}
