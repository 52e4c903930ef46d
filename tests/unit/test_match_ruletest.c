/* What `rules test` finds in rules: each kind of fault, told once, and nothing in rules that are good. */
#include "match_fixture.h"
#include "match/engine.h"
#include "match/ruletest.h"

static enum dg_check check(void *ctx, const struct dg_finding *f, struct dg_slice device) {
    (void)ctx, (void)f;
    return dg_slice_is(device, "12.0") ? DG_CHECK_CONFIRMS : DG_CHECK_CONTRADICTS;
}

static struct dg_ruletest_result test(const char *yaml, const char *pack, struct dg_problems *probs) {
    struct fx_rules x;
    struct dg_err err = {0};
    struct dg_ruletest_result result;
    const struct dg_ruletest_opts opts = {.split = dg_prefix_parse, .check = check, .pack = dg_cstr(pack)};
    fx_load(&x, yaml, true);
    assert_int_equal(dg_pack_rules(x.pack)->n_rejected, 0); /* what lint advises is not asked for here */
    assert_int_equal(dg_matcher_new(dg_pack_rules(x.pack), &x.matcher, &err), 0);
    *probs = (struct dg_problems){0};
    assert_int_equal(dg_ruletest(x.matcher, &opts, probs, &result, &err), 0);
    fx_done(&x);
    return result;
}

/* Rules without a fault but the one that holds `words`; NULL: without any. */
static void expect(const char *yaml, const char *words) {
    struct dg_problems probs;
    struct dg_ruletest_result r = test(yaml, "", &probs);
    if (probs.n != (words != NULL) || (words && !strstr(probs.v[0].msg, words)))
        fail_msg("%s\n%zu problems: %s: not %s", yaml, probs.n, probs.n ? probs.v[0].msg : "", words ? words : "none");
    assert_int_equal(r.faults + r.shadowed, probs.n);
    dg_problems_release(&probs);
}

#define FACT(more) "- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: 'abcdef (?<n>.*)'}, " more "}\n"
#define CAUSE(id, lit, more)                                                                                           \
    "- {id: " id ", title: x, role: cause, class: comm/" id ", match: {lit: '" lit "'}, " more "}\n"

static void good_rules_pass(void **state) {
    (void)state;
    struct dg_problems probs;
    struct dg_ruletest_result r = test(
        FACT(
            "captures: {n: int-list}, examples: [{text: 'abcdef [1, 2]', captures: {n: "
            "[1, 2]}}, {text: 'abcdef 3', device: '12.0', expect: confirms}], "
            "near: ['abcde f', 'x'], known_gap: ['ABCDEF']") "- {id: k, title: x, role: fact, in: [kernel], match: {lit: 'in the kernel'}, "
                                                             "examples: [{text: 'in the kernel'}, {text: 'in the kernel', in: kernel}], near: []}\n",
        "", &probs);
    assert_true(r.rules == 2 && r.examples == 4 && r.near == 2 && !r.faults && !r.shadowed && !probs.n);
    dg_problems_release(&probs);
    r = test(FACT("examples: [{text: nothing}]"), "other", &probs); /* of one pack only */
    assert_true(!r.rules && !probs.n);
    dg_problems_release(&probs);
}

static void each_fault_is_told(void **state) {
    (void)state;
    expect(FACT("examples: [{text: 'abcdeg 1'}]"), "t/a: the example does not fire: abcdeg 1");
    expect(FACT("examples: [{text: 'abcdef 1'}], near: ['abcdef 2']"), "a near miss fires: abcdef 2");
    expect(FACT("examples: [{text: 'abcdef 1'}], known_gap: ['abcdef 2']"), "a known gap is closed");
    expect(FACT("examples: [{text: 'abcdef 1', captures: {m: 1}}]"), "the example does not make the capture: m");
    expect(FACT("examples: [{text: 'abcdef 1', captures: {n: 2}}]"), "a capture differs: n is '1'");
    expect(FACT("captures: {n: int-list}, examples: [{text: 'abcdef (1,2)', captures: {n: [1, 3]}}]"),
           "a capture differs");
    expect(FACT("captures: {n: cc-set}, examples: [{text: 'abcdef 9.0', captures: {n: '9.0,1'}}]"),
           "a capture differs");
    expect(FACT("examples: [{text: 'abcdef 1', device: '9.0', expect: confirms}]"),
           "contradicts: on device 9.0, expected: confirms");
    expect(FACT("examples: [{text: 'abcdef 1', device: '9.0'}, {text: 'abcdef 1', expect: confirms}]"), NULL);
    expect(
        FACT(
            "examples: [{text: 'a long example that does not fire and is cut where it would fill more than one line of "
            "the list of faults that is made of it'}]"),
        "…");
}

/* Two causes on one record: one of them must know of the other. */
static void rivals_must_know_each_other(void **state) {
    (void)state;
#define ONE "examples: [{text: 'first words and second words'}]"
    expect(CAUSE("one", "first words", ONE) CAUSE("two", "second words", "examples: [{text: 'second words'}]"),
           "another cause claims the example, and neither refines the other: t/two");
    expect(CAUSE("one", "first words", ONE ", refines: [t/two]")
               CAUSE("two", "second words", "examples: [{text: 'second words'}]"),
           NULL);
    expect(CAUSE("one", "first words", ONE ", explains: ['class:comm']")
               CAUSE("two", "second words", "examples: [{text: 'second words'}]"),
           NULL);
    /* by way of a third, whose own examples are nobody else's */
    expect(CAUSE("one", "first words", ONE ", refines: [t/mid]")
               CAUSE("mid", "middle words", "refines: [t/two], examples: [{text: 'middle words'}]")
                   CAUSE("two", "second words", "examples: [{text: 'second words'}]"),
           NULL);
    expect(CAUSE("one", "first words", ONE)
               CAUSE("two", "second words", "refines: [t/one], examples: [{text: 'second words'}]"),
           "t/one: another rule takes each of its examples");
    expect(CAUSE("one", "first words", "examples: [{text: 'first words and second words'}, {text: 'first words'}]")
               CAUSE("two", "second words", "refines: [t/one], examples: [{text: 'second words'}]"),
           NULL);
    /* in one record, though not in one line */
    expect(
        CAUSE(
            "one", "first words",
            "examples: [{text: \"Traceback (most recent call last):\\n  File \\\"x\\\", line 1\\n    second words\\nValueError: first "
            "words\"}]") CAUSE("two", "second words", "examples: [{text: 'second words'}]"),
        "another cause claims the example");
}

static struct fx_rules faulty;

static int test_once(void *arg) {
    const struct dg_ruletest_opts opts = {.split = dg_prefix_parse, .check = check};
    struct dg_ruletest_result result;
    struct dg_problems probs = {0};
    int r = dg_ruletest(arg, &opts, &probs, &result, NULL);
    dg_problems_release(&probs);
    return r;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    fx_load(&faulty,
            CAUSE("one", "first words", ONE)
                CAUSE("two", "second words", "examples: [{text: 'second words'}], near: [x]"),
            true);
    assert_int_equal(dg_matcher_new(dg_pack_rules(faulty.pack), &faulty.matcher, NULL), 0);
    dg_arena_debug = true;
    assert_true(unit_fail_each(test_once, faulty.matcher) > 20);
    dg_arena_debug = false;
    fx_done(&faulty);
}

/* ---- text that repr() or JSON quoted */

static void unescapes(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
    } texts[] = {{"plain", "plain"},
                 {"a\\nb\\r\\t\\b\\f\\a\\v\\\\\\'\\\"\\/", "a\nb\r\t\b\f\a\v\\'\"/"},
                 {"\\x41\\x7A\\xe9", "Az\303\251"},
                 {"\\u0041\\u00e9\\u20AC", "A\303\251\342\202\254"},
                 {"\\ud83d\\ude00\\uD83D\\uDE00", "\360\237\230\200\360\237\230\200"},
                 {"\\x4", "\\x4"},
                 {"\\xg1", "\\xg1"},
                 {"\\u12", "\\u12"},
                 {"\\q\\", "\\q\\"}};
    for (size_t i = 0; i < DG_COUNT(texts); i++) {
        struct dg_buf out = DG_BUF_INIT(100);
        assert_slice(unescape(dg_cstr(texts[i].from), DG_OPENS_PYTHON_STR, &out), texts[i].to);
        dg_buf_release(&out);
    }
    assert_slice(unescape(DG_S("a\\n"), DG_OPENS_TEXT, NULL), "a\\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_rules_pass),
        cmocka_unit_test(each_fault_is_told),
        cmocka_unit_test(rivals_must_know_each_other),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(unescapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
