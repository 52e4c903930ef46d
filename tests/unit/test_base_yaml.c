#include "unit.h"
#include "base/yaml.h"
#include <stdio.h>

static struct dg_arena *arena;

static int setup(void **state) {
    (void)state;
    arena = dg_arena_new(0);
    return arena ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    dg_arena_free(arena);
    return 0;
}

static struct dg_yaml *parse(const char *text) {
    struct dg_yaml *root = NULL;
    struct dg_err e = {0};
    assert_int_equal(dg_yaml_parse("t.yaml", dg_cstr(text), arena, NULL, &root, &e), 0);
    return root;
}

static void gives_a_tree_with_places(void **state) {
    (void)state;
    struct dg_yaml *root = parse("# note\na: 1\nlist:\n- x\n- {k: 'v w', e: }\n\"b\": |\n  two\n  lines\n");
    assert_int_equal(root->type, DG_YAML_MAP);
    assert_int_equal(root->n, 3);
    struct dg_yaml *list = dg_yaml_get(root, "list"), *item = list->child->next, *k = dg_yaml_get(item, "k");
    assert_int_equal(list->type, DG_YAML_SEQ);
    assert_int_equal(list->n, 2);
    assert_int_equal(list->key_line, 3);
    assert_int_equal(list->key_col, 1);
    assert_int_equal(list->line, 4);
    assert_slice(list->child->text, "x");
    assert_true(list->child->plain);
    assert_slice(k->text, "v w");
    assert_false(k->plain);
    assert_int_equal(k->line, 5);
    assert_int_equal(k->col, 7);
    assert_int_equal(k->key_col, 4);
    assert_slice(dg_yaml_get(root, "b")->text, "two\nlines\n");
    assert_true(dg_yaml_is_null(dg_yaml_get(item, "e")));
    assert_null(dg_yaml_get(root, "c"));
    assert_null(dg_yaml_get(list, "a"));
    assert_null(dg_yaml_get(NULL, "a"));
    size_t n = 0;
    DG_YAML_EACH(it, root) n++;
    assert_int_equal(n, 3);
    assert_null(parse(""));
    assert_null(parse("# nothing\n"));
    assert_slice(parse("just text")->text, "just text");
}

static void words_mean_what_the_core_schema_says(void **state) {
    (void)state;
    struct dg_yaml *l = parse("[true, False, 'true', yes, ~, null, 'null', [], {}]")->child;
    static const int want[] = {1, 0, -1, -1, -1, -1, -1, -1, -1}, nulls[] = {0, 0, 0, 0, 1, 1, 0, 0, 0};
    for (size_t i = 0; l; l = l->next, i++) {
        bool b;
        assert_int_equal(dg_yaml_bool(l, &b) ? b : -1, want[i]);
        assert_int_equal(dg_yaml_is_null(l), nulls[i]);
    }
    assert_false(dg_yaml_is_null(NULL));
}

static void refuses_with_a_place(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int code;
        unsigned line, col;
        const char *says;
    } rows[] = {
        {"a: 1\nb: 2\na: 3\n", DG_E_SYNTAX, 3, 1, "duplicate key 'a'"},
        {"x:\n  a: &n 1\n", DG_E_SYNTAX, 2, 6, "anchor"},
        {"a: *n\n", DG_E_SYNTAX, 1, 4, "alias"},
        {"a: !!str 1\n", DG_E_SYNTAX, 1, 4, "tag"},
        {"a: !x {b: 1}\n", DG_E_SYNTAX, 1, 4, "tag"},
        {"%TAG ! tag:x,2000:\n---\na: 1\n", DG_E_SYNTAX, 1, 1, "%TAG"},
        {"a: 1\n---\nb: 1\n", DG_E_SYNTAX, 2, 1, "second document"},
        {"{[a]: 1}\n", DG_E_SYNTAX, 1, 2, "scalar"},
        {"? {a: 1}\n: 2\n", DG_E_SYNTAX, 1, 3, "scalar"},
        {"a: \xff\n", DG_E_SYNTAX, 1, 4, "0xff"},
        {"a: [1, 2\nb: 3\n", DG_E_SYNTAX, 2, 2, ""},
        {"a: \"\\d\"\n", DG_E_SYNTAX, 1, 5, "escape"},
        {"\ta: 1\n", DG_E_SYNTAX, 1, 1, ""},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        struct dg_yaml *root = (struct dg_yaml *)&rows;
        struct dg_err e = {0};
        struct dg_problems probs = {0};
        int r = dg_yaml_parse("t.yaml", dg_cstr(rows[i].text), arena, &probs, &root, &e);
        assert_int_equal(r, -rows[i].code);
        assert_ptr_equal(root, &rows);
        assert_string_equal(e.file, "t.yaml");
        assert_int_equal(e.line, rows[i].line);
        assert_int_equal(e.col, rows[i].col);
        assert_non_null(strstr(e.msg, rows[i].says));
        assert_true(probs.n >= 1);
        assert_string_equal(probs.v[0].msg, e.msg);
        assert_slice(dg_text_line(dg_cstr(rows[i].text), e.line), probs.v[0].snippet);
        dg_problems_release(&probs);
    }
}

static void reports_all_faults(void **state) {
    (void)state;
    struct dg_yaml *root;
    struct dg_err e;
    struct dg_problems probs = {0};
    assert_int_equal(dg_yaml_parse("t", DG_S("a: &x 1\nb: !t 2\na: 3\na: 4\n"), arena, &probs, &root, &e),
                     -DG_E_SYNTAX);
    assert_int_equal(probs.n, 4);
    assert_int_equal(e.line, 1);
    assert_int_equal(probs.v[2].line, 3);
    assert_int_equal(probs.v[3].line, 4);
    dg_problems_release(&probs);
}

static int parse_nested(int depth) {
    char text[200];
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    struct dg_yaml *root;
    return dg_yaml_parse("t", dg_slice(text, 2 * (size_t)depth), arena, NULL, &root, NULL);
}

static void has_limits(void **state) {
    (void)state;
    assert_int_equal(parse_nested(32), 0);
    assert_int_equal(parse_nested(33), -DG_E_LIMIT);
    static char text[(1 << 20) + 1];
    struct dg_yaml *root;
    memset(text, '#', sizeof(text));
    assert_int_equal(dg_yaml_parse("t", dg_slice(text, sizeof(text) - 1), arena, NULL, &root, NULL), 0);
    assert_int_equal(dg_yaml_parse("t", dg_slice(text, sizeof(text)), arena, NULL, &root, NULL), -DG_E_LIMIT);
    memset(text, '[', sizeof(text));
    assert_int_equal(dg_yaml_parse("t", dg_slice(text, sizeof(text) - 1), arena, NULL, &root, NULL), -DG_E_LIMIT);
}

static void many_keys_are_no_trap(void **state) {
    (void)state;
    static char text[1 << 20];
    size_t n = 0, keys = 0;
    while (n + 20 < sizeof(text)) n += (size_t)snprintf(text + n, sizeof(text) - n, "k%zu:\n", keys++);
    struct dg_yaml *root;
    assert_int_equal(dg_yaml_parse("t", dg_slice(text, n), arena, NULL, &root, NULL), 0);
    assert_int_equal(root->n, keys);
}

static void finds_lines(void **state) {
    (void)state;
    struct dg_slice t = DG_S("one\r\ntwo\n\nfour");
    assert_slice(dg_text_line(t, 1), "one");
    assert_slice(dg_text_line(t, 2), "two");
    assert_slice(dg_text_line(t, 3), "");
    assert_slice(dg_text_line(t, 4), "four");
    assert_slice(dg_text_line(t, 5), "");
    assert_slice(dg_text_line(t, 0), "");
}

static int parse_once(void *arg) {
    (void)arg;
    dg_arena_debug = true; /* an allocation for each item */
    struct dg_arena *a = dg_arena_new(0);
    struct dg_yaml *root = NULL;
    struct dg_err e = {0};
    struct dg_problems probs = {0};
    int r = a ? dg_yaml_parse("t", DG_S("a: [1, 2, {b: c, d: e}]\nf: 'g'\n"), a, &probs, &root, &e) : -DG_E_NOMEM;
    assert_true((root != NULL) == !r);
    dg_problems_release(&probs);
    dg_arena_free(a);
    dg_arena_debug = false;
    return r;
}

static void survives_each_failing_allocation(void **state) {
    (void)state;
    assert_true(unit_fail_each(parse_once, NULL) > 15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gives_a_tree_with_places, setup, teardown),
        cmocka_unit_test_setup_teardown(words_mean_what_the_core_schema_says, setup, teardown),
        cmocka_unit_test_setup_teardown(refuses_with_a_place, setup, teardown),
        cmocka_unit_test_setup_teardown(reports_all_faults, setup, teardown),
        cmocka_unit_test_setup_teardown(has_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(many_keys_are_no_trap, setup, teardown),
        cmocka_unit_test(finds_lines),
        cmocka_unit_test(survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
