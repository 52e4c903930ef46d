/* packs.bin: what is written is read again; what is damaged is refused. */
#include "match_fixture.h"
#include "base/frozen.h"

static const char RULES[] =
    "- id: a\n  title: T\n  role: cause\n  class: x/y\n  in: [kernel]\n  for: {vllm: '>=1'}\n"
    "  match: {sequence: [{lit: 'abcdef', re: '(?<n>\\d+)', long: true}, {lit: 'ghijkl', re: 'l(?<answer>.)', garbage: true}], not: [{lit: 'mnopqr'}], within: {lines: 7, seconds: 2, same: process}, at: first}\n"
    "  captures: {n: bytes}\n  key: [n]\n  confirms: 'n > 5'\n  contradicts: 'n < 5'\n"
    "  rejects: [{axis: a, value: v, on: '9.0', how: slow}]\n  refines: [t/b]\n  explains: ['t/*']\n  summary: S\n  why: W\n  but: B\n"
    "  actions: [{do: D, kind: setting, flags: [f, g], environment: {K: V}, packages: [p], if: ['n == 1'], for: {vllm: '*'}, cost: c, undo: u, cautions: [x]}]\n"
    "  avoid: [{do: no, because: why}]\n  set: {phase: weights}\n  parse: {n: json}\n  checked: 2026-01-01\n  refs: [r]\n  status: stable\n"
    "  examples: ['abcdef']\n  near: [x]\n"
    "- {id: b, title: T2, role: wrapper, opens: {until: {lit: 'the end'}, lines: 9}, match: {lit: 'begins'}}\n"
    "- {id: c, title: T3, role: fact, pulse: true, begins: episode, ends: death, suggests: [x], match: {lit: 'served'}}\n"
    "- {id: d, title: T4, role: recovered, recovers: [t/a], opens: {capture: m, as: json-str}, match: {lit: 'recovers', re: '(?<m>.*)'}}\n";

struct saved {
    struct fx_rules x;
    char path[128];
    struct dg_buf bytes;
};

static void save(struct saved *s) {
    struct dg_err err = {0};
    fx_rules(&s->x, RULES);
    snprintf(s->path, sizeof(s->path), "%s.bin", s->x.dir);
    assert_int_equal(dg_pack_save_bin(s->x.pack, DG_S("catalog"), DG_S("tables"), s->path, &err), 0);
    dg_buf_init(&s->bytes, 1 << 24);
    assert_int_equal(dg_file_read(s->path, &s->bytes, &err), 0);
}

static void done(struct saved *s) {
    unlink(s->path);
    dg_buf_release(&s->bytes);
    fx_done(&s->x);
}

static struct dg_pack *saved_and_loaded(struct saved *s) {
    struct dg_err err = {0};
    struct dg_pack *p = NULL;
    save(s);
    assert_int_equal(dg_pack_load_bin(s->path, NULL, 0, NULL, &p, &err), 0);
    return p;
}

static void what_is_written_is_read(void **state) {
    (void)state;
    struct saved s;
    struct dg_err err = {0};
    struct dg_pack *p = saved_and_loaded(&s);
    const struct dg_ruleset *a = dg_pack_rules(s.x.pack), *b = dg_pack_rules(p);
    assert_int_equal(b->n_rules, 4);
    assert_int_equal(b->n_patterns, a->n_patterns);
    const struct dg_rule *r = &b->rules[0];
    assert_true(r->kinds == a->rules[0].kinds && r->within_lines == 7 && r->within_seconds == 2 && r->within_process &&
                r->at_first);
    assert_true(r->patterns[0].long_window && r->patterns[1].garbage && r->patterns[2].negative && r->n_positive == 2);
    assert_true(r->captures[0].key && r->captures[0].type == DG_CAP_BYTES);
    assert_slice(r->contradicts.right, "5");
    assert_slice(r->actions[0].env[0].value, "V");
    assert_slice(r->actions[0].when.v[0].left, "n");
    assert_slice(r->avoid[0].because, "why");
    assert_int_equal(r->n_examples, 0);
    assert_slice(b->rules[1].opens_until->lit, "the end");
    assert_true(b->rules[2].pulse && b->rules[2].begins_episode && b->rules[2].ends == DG_ENDS_DEATH);
    assert_int_equal(b->rules[3].opens, DG_OPENS_JSON_STR);
    /* the whole of it: written again it is the same bytes */
    struct dg_buf again = DG_BUF_INIT(1 << 24);
    assert_int_equal(dg_pack_save_bin(p, dg_pack_catalog(p), DG_S("tables"), s.path, &err), 0);
    assert_int_equal(dg_file_read(s.path, &again, &err), 0);
    assert_true(dg_slice_eq(dg_buf_slice(&again), dg_buf_slice(&s.bytes)));
    dg_buf_release(&again);
    dg_pack_free(p);
    done(&s);
}

/* They are for the rules and the place that they were made for. */
static void tables_are_of_one_place(void **state) {
    (void)state;
    struct saved s;
    struct fx_rules more;
    struct dg_pack *first = saved_and_loaded(&s), *other = NULL;
    bool in_place = dg_pack_tables_at(first);
    assert_slice(dg_pack_tables(first), in_place ? "tables" : "");
    assert_int_equal(dg_pack_tables_at(first) % DG_FROZEN_ALIGN, 0);
    assert_int_equal(dg_pack_load_bin(s.path, NULL, 0, NULL, &other, NULL), 0); /* its place is taken */
    assert_slice(dg_pack_tables(other), "");
    assert_int_equal(dg_pack_tables_at(other), 0);
    assert_slice(dg_pack_rules(other)->rules[0].id, "t/a");
    dg_pack_free(other);
    dg_pack_free(first);
    fx_load(&more, "- {id: z, title: x, role: fact, match: {lit: 'zzzzzz'}}\n", false);
    const struct dg_pack_place place = {.path = more.dir, .user = true};
    assert_int_equal(dg_pack_load_bin(s.path, &place, 1, NULL, &other, NULL), 0);
    assert_slice(dg_pack_tables(other), "");
    dg_pack_free(other);
    assert_int_equal(dg_pack_load_memory(dg_buf_slice(&s.bytes), NULL, 0, NULL, &other, NULL), 0);
    assert_slice(dg_pack_tables(other), in_place ? "tables" : "");
    dg_pack_free(other);
    fx_done(&more);
    done(&s);
}

static void the_file_may_change_below_what_was_detached(void **state) {
    (void)state;
    struct saved s;
    struct dg_pack *p = saved_and_loaded(&s);
    assert_int_equal(dg_pack_detach(p), 0);
    assert_int_equal(truncate(s.path, 0), 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_slice(dg_pack_rules(p)->rules[i].id, dg_pack_rules(s.x.pack)->rules[i].id.ptr);
    if (dg_pack_tables_at(p)) assert_slice(dg_pack_tables(p), "tables");
    dg_pack_free(p);
    done(&s);
}

static void others_come_on_top(void **state) {
    (void)state;
    struct saved s;
    struct fx_rules more;
    struct dg_err err = {0};
    struct dg_pack *p = NULL;
    save(&s);
    assert_int_equal(dg_pack_load_memory(dg_buf_slice(&s.bytes), NULL, 0, NULL, &p, &err), 0); /* not from a file */
    assert_int_equal(dg_pack_rules(p)->n_rules, 4);
    assert_slice(dg_pack_catalog(p), "catalog");
    dg_pack_free(p);
    fx_load(
        &more,
        "- {id: a, title: x, role: fact, match: {lit: 'uvwxyz'}}\n- {id: z, title: x, role: fact, match: {lit: 'zzzzzz'}}\n",
        false);
    const struct dg_pack_place place = {.path = more.dir, .user = true};
    assert_int_equal(dg_pack_load_bin(s.path, &place, 1, NULL, &p, &err), 0);
    assert_int_equal(dg_pack_rules(p)->n_rules, 5);
    assert_slice(dg_ruleset_find(dg_pack_rules(p), DG_S("t/a"))->patterns[0].lit, "uvwxyz");
    dg_pack_free(p);
    fx_done(&more);
    done(&s);
}

static void refused(struct saved *s, struct dg_slice bytes) {
    struct dg_pack *p = NULL;
    struct dg_err err = {0};
    fx_write(s->path, bytes);
    assert_int_equal(dg_pack_load_bin(s->path, NULL, 0, NULL, &p, &err), -DG_E_UNSUPPORTED);
    assert_int_equal(dg_pack_load_memory(bytes, NULL, 0, NULL, &p, &err), -DG_E_UNSUPPORTED);
}

static void what_is_damaged_is_refused(void **state) {
    (void)state;
    struct saved s;
    struct dg_pack *p = NULL;
    struct dg_err err = {0};
    save(&s);
    for (size_t n = 0; n < s.bytes.len; n += n < 300 ? 1 : 97) refused(&s, dg_slice(s.bytes.ptr, n));
    for (size_t at = 0; at < s.bytes.len; at += at < 300 ? 1 : 97) {
        s.bytes.ptr[at] ^= 0x41;
        refused(&s, dg_buf_slice(&s.bytes));
        s.bytes.ptr[at] ^= 0x41;
    }
    unlink(s.path);
    assert_int_equal(dg_pack_load_bin(s.path, NULL, 0, NULL, &p, &err), -DG_E_UNSUPPORTED);
    done(&s);
}

static void it_is_written_whole_or_not_at_all(void **state) {
    (void)state;
    struct saved s;
    struct dg_err err = {0};
    save(&s);
    assert_int_equal(dg_pack_save_bin(s.x.pack, DG_S("catalog"), DG_S(""), "/nonexistent/packs.bin", &err), -DG_E_IO);
    done(&s);
}

static int load_once(void *arg) {
    struct dg_pack *p = NULL;
    struct dg_err err = {0};
    int r = dg_pack_load_bin(arg, NULL, 0, NULL, &p, &err);
    dg_pack_free(p);
    return r;
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    struct saved s;
    save(&s);
    assert_true(unit_fail_each(load_once, s.path) > 3);
    done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(tables_are_of_one_place),
        cmocka_unit_test(the_file_may_change_below_what_was_detached),
        cmocka_unit_test(others_come_on_top),
        cmocka_unit_test(what_is_damaged_is_refused),
        cmocka_unit_test(it_is_written_whole_or_not_at_all),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
