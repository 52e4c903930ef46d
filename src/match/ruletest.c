#include "match/ruletest.h"
#include "base/buf.h"
#include "match/engine.h"
#include <ctype.h>

/* ---- a text as the only source */

struct text_input {
    struct dg_source source;
    struct dg_block block;
    bool given;
};

static int next_text(void *in, struct dg_block **ret, struct dg_err *err) {
    struct text_input *t = in;
    (void)err;
    if (t->given) return 0;
    t->given = true;
    *ret = &t->block;
    return 1;
}

static void release_text(void *in, struct dg_block *b) { (void)in, (void)b; }

static const struct dg_source *text_source(void *in, uint32_t *ret_n) {
    *ret_n = 1;
    return &((struct text_input *)in)->source;
}

int dg_match_text(const struct dg_matcher *m, struct dg_slice text, enum dg_kind kind, bool plain,
                  void (*split)(struct dg_slice line, enum dg_kind kind, struct dg_prefix *ret), struct dg_arena *arena,
                  struct dg_scan **ret, struct dg_err *err) {
    struct text_input *in = dg_arena_alloc(arena, sizeof(*in));
    char *data = dg_arena_alloc(arena, text.len + DG_BLOCK_TAIL);
    if (!in || !data) return dg_err_nomem(err);
    if (text.len) memcpy(data, text.ptr, text.len);
    in->source.kind = kind;
    in->block = block_of(data, text.len);
    struct dg_match_opts opts = {.next = next_text,
                                 .release = release_text,
                                 .sources = text_source,
                                 .in = in,
                                 .split = split,
                                 .threads = 1,
                                 .plain = plain};
    return dg_match_scan(m, &opts, arena, ret, err);
}

/* ---- tests */

struct test {
    const struct dg_matcher *m;
    const struct dg_ruletest_opts *opts;
    struct dg_problems *probs;
    struct dg_ruletest_result *ret;
    const struct dg_rule *rule;
    struct dg_arena *arena; /* of one rule */
    struct dg_err *err;
};

static void fault(struct test *t, const char *what, struct dg_slice text) {
    dg_problems_add(t->probs, t->rule->file.ptr, t->rule->line, 0, NULL, 0, "%.*s: %s: %.*s%s", DG_FMT(t->rule->id),
                    what, DG_FMT(dg_slice_upto(text, 120)), text.len > 120 ? "…" : "");
    t->ret->faults++;
}

static enum dg_kind kind_of(const struct dg_rule *rule, int stated) {
    if (stated >= 0) return (enum dg_kind)stated;
    if (rule->kinds & DG_KIND_BIT(DG_KIND_SERVER)) return DG_KIND_SERVER;
    enum dg_kind k = DG_KIND_UNKNOWN;
    while (k < DG_KIND_COUNT - 1 && !(rule->kinds & DG_KIND_BIT(k))) k++;
    return k;
}

/* 1: the rule fires on the text, *ret is set. 0: it does not. */
static int fires(struct test *t, struct dg_slice text, enum dg_kind kind, struct dg_finding *ret) {
    struct text_input in = {.source.kind = kind};
    struct dg_match_opts opts = {.sources = text_source, .in = &in, .split = t->opts->split, .threads = 1};
    return dg_match_rule(t->m, t->rule, text, &opts, t->arena, ret);
}

/* Equal texts; lists also when they differ in brackets and spaces only. */
static bool same_value(const struct dg_capture *c, struct dg_slice want) {
    if (dg_slice_eq(c->text, want)) return true;
    if (c->type != DG_CAP_INT_LIST && c->type != DG_CAP_CC_SET) return false;
    size_t i = 0, k = 0;
    for (;;) {
        while (i < c->text.len && memchr("[](){} ", c->text.ptr[i], 7)) i++;
        while (k < want.len && memchr("[](){} ", want.ptr[k], 7)) k++;
        if (i == c->text.len || k == want.len) return i == c->text.len && k == want.len;
        if (c->text.ptr[i++] != want.ptr[k++]) return false;
    }
}

static void test_captures(struct test *t, const struct dg_example *ex, const struct dg_finding *f) {
    for (uint32_t i = 0; i < ex->n_captures; i++) {
        const struct dg_capture *c = dg_finding_capture(f, ex->captures[i].name.ptr);
        if (!c)
            fault(t, "the example does not make the capture", ex->captures[i].name);
        else if (!same_value(c, ex->captures[i].value))
            fault(t, "a capture differs",
                  dg_arena_printf(t->arena, "%.*s is '%.*s'", DG_FMT(ex->captures[i].name), DG_FMT(c->text)));
    }
}

static void test_device(struct test *t, const struct dg_example *ex, const struct dg_finding *f) {
    if (!ex->device.len || !ex->expect.len || !t->opts->check) return;
    const char *got = dg_check_name(t->opts->check(t->opts->ctx, f, ex->device));
    if (!dg_slice_is(ex->expect, got))
        fault(t, got,
              dg_arena_printf(t->arena, "on device %.*s, expected: %.*s", DG_FMT(ex->device), DG_FMT(ex->expect)));
}

static bool beats_directly(const struct dg_rule *a, const struct dg_rule *b) {
    return dg_rule_named(&a->refines, b) || dg_rule_named(&a->explains, b);
}

/* Is there a way from a to b over refines and explains? A symptom yields to what is none without being named. */
static bool beats(const struct dg_ruleset *set, const struct dg_rule *a, const struct dg_rule *b, int depth) {
    if (beats_directly(a, b) || (!depth && b->symptom && !a->symptom)) return true;
    for (uint32_t i = 0; depth < 4 && i < a->refines.n; i++) {
        const struct dg_rule *mid = dg_ruleset_find(set, a->refines.v[i]);
        if (mid && mid != a && beats(set, mid, b, depth + 1)) return true;
    }
    return false;
}

static bool same_record(const struct dg_finding *a, const struct dg_finding *b) {
    return a->first.line == b->first.line || (a->record_line <= b->record_end && b->record_line <= a->record_end);
}

/* The example under all rules: who else claims its record? Sets *shadowed when a rule stands there that beats this one.
 */
static int test_rivals(struct test *t, struct dg_slice text, enum dg_kind kind, bool *shadowed) {
    struct dg_scan *scan;
    int r = dg_match_text(t->m, text, kind, false, t->opts->split, t->arena, &scan, t->err);
    if (r) return r;
    const struct dg_finding *own = NULL;
    for (uint32_t i = 0; i < scan->n_findings && !own; i++)
        if (scan->findings[i].rule == t->rule) own = &scan->findings[i];
    if (!own) {
        fault(t, "the example fires alone but not among all rules", text);
        return 0;
    }
    for (uint32_t i = 0; i < scan->n_findings; i++) {
        const struct dg_finding *f = &scan->findings[i];
        if (f->rule == t->rule || f->rule->role != DG_ROLE_CAUSE || !same_record(own, f)) continue;
        if (beats(t->m->rules, f->rule, t->rule, 0))
            *shadowed = true;
        else if (!beats(t->m->rules, t->rule, f->rule, 0))
            fault(t, "another cause claims the example, and neither refines the other", f->rule->id);
    }
    return 0;
}

static int test_examples(struct test *t) {
    bool always_shadowed = t->rule->n_examples > 0;
    for (uint32_t i = 0; i < t->rule->n_examples; i++) {
        const struct dg_example *ex = &t->rule->examples[i];
        enum dg_kind kind = kind_of(t->rule, ex->kind);
        struct dg_finding f;
        bool shadowed = false;
        int r = fires(t, ex->text, kind, &f);
        if (r < 0) return r;
        t->ret->examples++;
        if (!r) {
            fault(t, "the example does not fire", ex->text);
            continue;
        }
        test_captures(t, ex, &f);
        test_device(t, ex, &f);
        if (t->rule->role != DG_ROLE_CAUSE) continue;
        r = test_rivals(t, ex->text, kind, &shadowed);
        if (r) return r;
        always_shadowed = always_shadowed && shadowed;
    }
    if (t->rule->role == DG_ROLE_CAUSE && always_shadowed) {
        dg_problems_add(t->probs, t->rule->file.ptr, t->rule->line, 0, NULL, 0,
                        "%.*s: another rule takes each of its examples", DG_FMT(t->rule->id));
        t->ret->shadowed++;
    }
    return 0;
}

static int test_misses(struct test *t) {
    struct dg_finding f;
    for (uint32_t i = 0; i < t->rule->near.n; i++) {
        int r = fires(t, t->rule->near.v[i], kind_of(t->rule, -1), &f);
        if (r < 0) return r;
        t->ret->near++;
        if (r) fault(t, "a near miss fires", t->rule->near.v[i]);
    }
    for (uint32_t i = 0; i < t->rule->known_gap.n; i++) {
        int r = fires(t, t->rule->known_gap.v[i], kind_of(t->rule, -1), &f);
        if (r < 0) return r;
        if (r) fault(t, "a known gap is closed: make it an example", t->rule->known_gap.v[i]);
    }
    return 0;
}

int dg_ruletest(const struct dg_matcher *m, const struct dg_ruletest_opts *opts, struct dg_problems *probs,
                struct dg_ruletest_result *ret, struct dg_err *err) {
    *ret = (struct dg_ruletest_result){0};
    for (uint32_t i = 0; i < m->rules->n_rules; i++) {
        const struct dg_rule *rule = &m->rules->rules[i];
        if (opts->pack.len && !dg_slice_eq(opts->pack, rule->pack)) continue;
        _cleanup_(dg_arena_freep) struct dg_arena *arena = dg_arena_new(0);
        struct test t = {m, opts, probs, ret, rule, arena, err};
        ret->rules++;
        if (!arena || test_examples(&t) || test_misses(&t)) return dg_err_nomem(err);
    }
    return 0;
}
