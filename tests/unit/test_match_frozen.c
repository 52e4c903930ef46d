/* The matcher as packs.bin has it: what is thawed is what was made, and finds the same. */
#include "match_fixture.h"
#include "base/frozen.h"
#include "match/engine.h"
#include "match/tables_id.h"
#include <sys/mman.h>

enum { ROOM = 4 << 20 };

struct twins {
    struct fx_rules made, thawed; /* of the same rules */
    char *place;                  /* where the tables lie */
    struct dg_buf bytes;
};

static void thaw_twin(struct twins *t) {
    struct dg_err err = {0};
    t->place = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(t->place, MAP_FAILED);
    dg_buf_init(&t->bytes, ROOM);
    assert_int_equal(dg_matcher_freeze(t->made.matcher, (uintptr_t)t->place, &t->bytes, &err), 0);
    memcpy(t->place, t->bytes.ptr, t->bytes.len);
    mprotect(t->place, ROOM, PROT_READ); /* nothing is written where it lies where it was to lie */
    t->thawed = (struct fx_rules){.pack = t->made.pack};
    assert_int_equal(
        dg_matcher_thaw(dg_pack_rules(t->made.pack), dg_slice(t->place, t->bytes.len), &t->thawed.matcher, &err), 0);
}

static void part(struct twins *t) {
    dg_matcher_free(t->thawed.matcher);
    dg_buf_release(&t->bytes);
    munmap(t->place, ROOM);
}

static void shipped(struct twins *t) {
    struct dg_err err = {0};
    *t = (struct twins){.made.pack = fx_shipped()};
    assert_int_equal(dg_matcher_new(dg_pack_rules(t->made.pack), &t->made.matcher, &err), 0);
    thaw_twin(t);
}

static void shipped_done(struct twins *t) {
    part(t);
    dg_matcher_free(t->made.matcher);
    dg_pack_free(t->made.pack);
}

/* Frozen once more it is the same bytes, whichever processor this is. */
static void it_is_all_there(void **state) {
    (void)state;
    struct twins t;
    struct dg_buf again = DG_BUF_INIT(ROOM);
    struct dg_err err = {0};
    shipped(&t);
    const struct dg_matcher *a = t.made.matcher, *b = t.thawed.matcher;
    assert_true(a->n_needles == b->n_needles && a->sieve.n_literals == b->sieve.n_literals);
    assert_true(a->n_needles > 5000 && b->sieve.n_literals > 5000);
    assert_int_equal(a->sieve.families.wide, b->sieve.families.wide);
    for (uint32_t i = 0; i < a->n_needles; i++)
        assert_true(a->needles[i].pattern == b->needles[i].pattern && a->needles[i].rule == b->needles[i].rule &&
                    dg_slice_eq(a->needles[i].lit, b->needles[i].lit));
    t.thawed.matcher->sieve.families.wide = !a->sieve.families.wide;
    assert_int_equal(dg_matcher_freeze(b, (uintptr_t)t.place, &again, &err), 0);
    assert_true(dg_slice_eq(dg_buf_slice(&again), dg_buf_slice(&t.bytes)));
    dg_buf_release(&again);
    shipped_done(&t);
}

static void expect_same(struct twins *t, struct dg_slice text) {
    struct dg_arena *arena = dg_arena_new(0);
    struct fx_log log = {.n = 1, .block = 1 << 20, .line = 1, .sources = {{.kind = DG_KIND_SERVER}}, .texts = {text}};
    const struct dg_scan *a = fx_scan(&t->made, &log, arena, false, 1), *b = fx_scan(&t->thawed, &log, arena, false, 1);
    assert_int_equal(a->n_findings, b->n_findings);
    assert_int_equal(a->n_fatals, b->n_fatals);
    for (uint32_t i = 0; i < a->n_findings; i++)
        assert_true(a->findings[i].rule == b->findings[i].rule &&
                    a->findings[i].first.line == b->findings[i].first.line);
    dg_arena_free(arena);
}

static void it_finds_the_same(void **state) {
    (void)state;
    struct twins t;
    shipped(&t);
    const struct dg_ruleset *rules = dg_pack_rules(t.made.pack);
    struct dg_buf all = DG_BUF_INIT(16 << 20);
    for (uint32_t i = 0; i < rules->n_rules; i++)
        for (uint32_t k = 0; k < rules->rules[i].n_examples; k++) {
            dg_buf_add_slice(&all, rules->rules[i].examples[k].text);
            dg_buf_addc(&all, '\n');
        }
    assert_true(all.len > 100000);
    expect_same(&t, dg_buf_slice(&all));
    dg_buf_release(&all);
    shipped_done(&t);
}

static const char RULES[] = "- {id: a, title: x, role: fact, match: {lit: 'first of it'}}\n"
                            "- {id: b, title: x, role: fact, match: {lit: 'second', re: 'second \\d+'}}\n";

static void small(struct twins *t) {
    *t = (struct twins){0};
    fx_rules(&t->made, RULES);
    thaw_twin(t);
}

static int thaw_once(void *arg) {
    struct twins *t = arg;
    struct dg_matcher *m = NULL;
    int r = dg_matcher_thaw(dg_pack_rules(t->made.pack), dg_slice(t->place, t->bytes.len), &m, NULL);
    dg_matcher_free(m);
    return r;
}

static void what_is_of_others_is_refused(void **state) {
    (void)state;
    static const uint64_t id = DG_TABLES_ID;
    struct twins t;
    struct fx_rules other;
    struct dg_matcher *m = NULL;
    small(&t);
    fx_rules(&other, "- {id: a, title: x, role: fact, match: {lit: 'first of it'}}\n");
    struct dg_slice bytes = dg_slice(t.place, t.bytes.len);
    assert_int_equal(dg_matcher_thaw(dg_pack_rules(other.pack), bytes, &m, NULL), -DG_E_UNSUPPORTED);
    assert_int_equal(thaw_once(&t), 0);
    for (size_t n = 0; n < bytes.len - DG_FROZEN_ALIGN; n++)
        assert_int_equal(dg_matcher_thaw(dg_pack_rules(t.made.pack), dg_slice_upto(bytes, n), &m, NULL),
                         -DG_E_UNSUPPORTED);
    assert_int_equal(dg_matcher_thaw(dg_pack_rules(t.made.pack), dg_buf_slice(&t.bytes), &m, NULL),
                     -DG_E_UNSUPPORTED); /* it lies elsewhere */
    mprotect(t.place, ROOM, PROT_READ | PROT_WRITE);
    t.place[0] ^= 1; /* the layout */
    assert_int_equal(thaw_once(&t), -DG_E_UNSUPPORTED);
    t.place[0] ^= 1;
    char *made_by = memmem(t.place, bytes.len, &id, sizeof(id));
    assert_non_null(made_by);
    *made_by ^= 1;
    assert_int_equal(thaw_once(&t), -DG_E_UNSUPPORTED);
    assert_null(m);
    fx_done(&other);
    part(&t);
    fx_done(&t.made);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    struct twins t;
    small(&t);
    assert_int_equal(unit_fail_each(thaw_once, &t), 3);
    part(&t);
    fx_done(&t.made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_all_there),
        cmocka_unit_test(it_finds_the_same),
        cmocka_unit_test(what_is_of_others_is_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
