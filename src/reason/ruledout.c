/* What it is not, and why: each class that the text would make a reader suspect. */
#include "reason/judge.h"

static struct dg_slice class_of(struct dg_slice s) {
    ptrdiff_t slash = dg_slice_find_ch(s, '/');
    return slash < 0 ? s : dg_slice_upto(s, (size_t)slash);
}

static bool is_answer(const struct dg_judge *j, struct dg_slice class) {
    for (uint32_t i = 0; i < j->d->n_causes; i++)
        if (dg_slice_eq(j->d->causes[i].class, class)) return true;
    return false;
}

static void rule_out(struct dg_judge *j, struct dg_slice suspect, struct dg_slice reason) {
    struct dg_slice class = class_of(suspect);
    if (!reason.len || is_answer(j, class)) return;
    for (uint32_t i = 0; i < j->d->n_ruled_out; i++)
        if (dg_slice_eq(j->d->ruled_out[i].class, class)) return;
    struct dg_ruled_out r = {class, reason};
    DG_LIST_ADD(j, j->d->ruled_out, j->d->n_ruled_out, r);
}

/* A rule that is no cause says what its text suggests, and why that is wrong. */
static void from_rules(struct dg_judge *j, bool harmless) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        bool noise = f->rule->role == DG_ROLE_NOISE || f->rule->role == DG_ROLE_RECOVERED;
        if (!f->rule->suggests.n || f->rule->role == DG_ROLE_CONFIRMATION || noise != harmless) continue;
        struct dg_scope scope = {.d = j->d, .finding = f};
        struct dg_slice but = dg_template_fill(j, &scope, f->rule->but);
        for (uint32_t k = 0; k < f->rule->suggests.n && but.len; k++)
            rule_out(j, f->rule->suggests.v[k],
                     dg_judge_say(j, "%.*s (line %llu)", DG_FMT(but), (unsigned long long)f->first.line));
    }
}

/* Memory was free: the engines print how much at each step. */
static void free_memory(struct dg_judge *j) {
    static const char *const facts[][2] = {{"free_at_capture", "when capture began"},
                                           {"free_after_pool", "after the KV pool"},
                                           {"free_after_weights", "after the weights"}};
    const struct dg_facts *v = &j->d->attempt.facts;
    for (size_t k = 0; k < DG_COUNT(facts); k++)
        for (uint32_t i = v->n; i-- > 0;) {
            uint64_t bytes;
            if (!dg_slice_is(v->v[i].name, facts[k][0])) continue;
            if (dg_slice_bytes(v->v[i].value, false, &bytes) && bytes >= 2ull << 30)
                rule_out(j, DG_S("oom-device"),
                         dg_judge_say(j, "%.*s free %s (line %llu)", DG_FMT(v->v[i].value), facts[k][1],
                                      (unsigned long long)v->v[i].line));
            return;
        }
}

/* Kernel findings of another process or another time. */
static void unrelated(struct dg_judge *j) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        if (j->fate[i] != DG_FATE_UNRELATED) continue;
        const struct dg_capture *comm = dg_finding_capture(f, "comm");
        struct dg_slice who = comm ? comm->text : DG_S("it");
        rule_out(j, f->rule->class,
                 dg_judge_say(j, "%s:%llu is of another process or time (%.*s)", dg_judge_source(j, f->first.source),
                              (unsigned long long)f->first.line, DG_FMT(who)));
    }
}

/* A kernel line on another process misleads most, then echoes of the death, then what was harmless all along. Of a
 * healthy server nobody asks what it did not die of. */
void dg_ruled_out(struct dg_judge *j) {
    if (j->d->status == DG_STATUS_HEALTHY) return;
    unrelated(j);
    from_rules(j, false);
    if (j->d->status == DG_STATUS_FAILURE) free_memory(j);
    from_rules(j, true);
}
