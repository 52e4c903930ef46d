/* What a rule's patterns add up to. */
#include "match_fixture.h"

#define RULE(id, role, rest) "- {id: " id ", title: x, role: " role ", " rest "}\n"
#define CAUSE(id, rest) RULE(id, "consequence", rest)

static void check(const char *yaml, const char *text, const char *want) {
    struct fx_rules x;
    fx_rules(&x, yaml);
    fx_expect(&x, text, FX_FINDINGS, want);
    fx_done(&x);
}

static void literal_and_regex_must_both_hold(void **state) {
    (void)state;
    static const char RULES[] = CAUSE("a", "match: {lit: 'out of memory', re: 'allocate (?<want>[0-9]+) MiB'}")
        CAUSE("b", "match: {lit: 'out of memory'}");
    check(RULES, "out of memory: cannot allocate 12 MiB\nallocate 13 MiB\nout of memory\n", "a 1 want=12\nb 1-3 x2\n");
}

static void any_takes_the_first_that_matches(void **state) {
    (void)state;
    static const char RULES[] =
        CAUSE("a", "match: {any: [{lit: 'alphaX', re: 'alphaX (?<v>\\d+)'}, {lit: 'betaXX', re: '(?<v>\\w+)$'}]}");
    check(RULES, "alphaX 7 betaXX\nbetaXX tail\nalphaX none\n", "a 1-2 x2 v=7 last v=tail\n");
}

static void all_in_any_order_within_lines(void **state) {
    (void)state;
    static const char RULES[] = CAUSE("a", "match: {all: [{lit: 'alphaX'}, {lit: 'betaXX'}], within: {lines: 2}}")
        CAUSE("first", "match: {all: [{lit: 'alphaX'}, {lit: 'betaXX'}], within: {lines: 2}, at: first}");
    check(RULES, "betaXX\n\nalphaX\n", "first 1 parts 3,1\na 3 parts 3,1\n");
    check(RULES, "betaXX\n\n\nalphaX\n", "");
    check(RULES, "alphaX betaXX\n", "a 1 parts 1,1\nfirst 1 parts 1,1\n");
}

static void sequence_one_after_the_other(void **state) {
    (void)state;
    static const char RULES[] = CAUSE(
        "a",
        "match: {sequence: [{lit: 'alphaX', re: 'alphaX (?<n>\\d+)'}, {lit: 'betaXX'}, {lit: 'gammaX', re: 'gammaX (?<m>\\d+)'}], within: {lines: 5}}");
    check(RULES, "alphaX 1\nbetaXX\nx\ngammaX 2\n", "a 4 parts 1,2,4 n=1 m=2\n");
    check(RULES, "betaXX\nalphaX 1\ngammaX 2\n", "");
    check(RULES, "alphaX 1\n\n\nalphaX 3\nbetaXX\n\n\n\ngammaX 2\n", "a 9 parts 4,5,9 n=3 m=2\n");
    check(RULES, "alphaX 1\nbetaXX\n\n\n\n\n\ngammaX 2\n", "");
    check(RULES, "alphaX 1 betaXX gammaX 2\n", "a 1 parts 1,1,1 n=1 m=2\n");
}

static void a_new_beginning_does_not_break_a_chain(void **state) {
    (void)state;
    static const char RULES[] =
        CAUSE("a", "match: {sequence: [{lit: 'alphaX'}, {lit: 'betaXX'}, {lit: 'gammaX'}], within: {lines: 5}}");
    check(RULES, "alphaX\nbetaXX\nalphaX\ngammaX\n", "a 4 parts 1,2,4\n");
}

static void the_same_literal_twice_needs_two_lines(void **state) {
    (void)state;
    static const char RULES[] = CAUSE("a", "match: {sequence: [{lit: 'retry now'}, {lit: 'retry now', re: 'last'}]}");
    check(RULES, "retry now last\n", "");
    check(RULES, "retry now\nretry now last\n", "a 2 parts 1,2\n");
}

static void not_between_first_and_last(void **state) {
    (void)state;
    static const char RULES[] =
        CAUSE("a", "match: {sequence: [{lit: 'load begin'}, {lit: 'out of memory'}], not: [{lit: 'load end'}]}");
    check(RULES, "load begin\nout of memory\n", "a 2 parts 1,2\n");
    check(RULES, "load begin\nload end\nout of memory\n", "");
    check(RULES, "load end\nload begin\nout of memory\nload end\n", "a 3 parts 2,3\n");
    check(RULES, "load begin\nload end out of memory\n", "");
}

static void not_after_a_single_match(void **state) {
    (void)state;
    static const char RULES[] = CAUSE(
        "a",
        "match: {any: [{lit: 'retrying', re: 'retrying (?<n>\\d)'}], not: [{lit: 'connected'}], within: {lines: 3}}");
    check(RULES, "retrying 1\n\nconnected\n\n\nretrying 2\n", "a 6 n=2\n");
    check(RULES, "retrying 1\n\n\n\nconnected\nretrying 2\nconnected\n", "a 1 n=1\n");
    check(RULES, "retrying 1 connected\n", "");
    check(RULES, "connected\nretrying 1\n", "a 2 n=1\n");
}

static void many_that_wait_are_all_counted(void **state) {
    (void)state;
    static const char RULES[] = CAUSE("a", "match: {any: [{lit: 'retrying'}], not: [{lit: 'connected'}]}");
    struct dg_buf text = DG_BUF_INIT(1 << 20);
    for (int i = 0; i < 150; i++) dg_buf_addf(&text, "retrying\n");
    check(RULES, text.ptr, "a 1-150 x150\n");
    dg_buf_release(&text);
}

static void within_seconds_needs_both_times(void **state) {
    (void)state;
    static const char RULES[] =
        CAUSE("a", "match: {sequence: [{lit: 'alphaX'}, {lit: 'betaXX'}], within: {seconds: 10}}");
    check(RULES, "[2026-05-22 09:20:00] alphaX\n[2026-05-22 09:20:09] betaXX\n", "a 2 parts 1,2\n");
    check(RULES, "[2026-05-22 09:20:00] alphaX\n[2026-05-22 09:20:11] betaXX\n", "");
    check(RULES, "[2026-05-22 09:20:00] alphaX\nbetaXX\n", "");
}

static void same_process_by_rank_or_pid(void **state) {
    (void)state;
    static const char RULES[] =
        CAUSE("a", "match: {sequence: [{lit: 'alphaX'}, {lit: 'betaXX'}], within: {same: process}}");
    check(RULES, "[2026-05-22 09:20:00 TP0] alphaX\n[2026-05-22 09:20:01 TP1] betaXX\n", "");
    check(RULES,
          "[2026-05-22 09:20:00 TP0] alphaX\n[2026-05-22 09:20:01 TP1] alphaX\n[2026-05-22 09:20:02 TP0] betaXX\n",
          "a 3 ranks 1 parts 1,3\n");
    check(RULES, "[2026-05-22 09:20:00 TP0] alphaX\nbetaXX\n",
          "a 2 parts 1,2\n"); /* an unprefixed line may be anybody's */
    check(RULES, "(Worker_TP0 pid=7) alphaX\n(Worker_TP1 pid=8) betaXX\n(Worker_TP0 pid=7) betaXX\n",
          "a 3 ranks 1 parts 1,3\n");
}

static void not_counts_for_its_own_process(void **state) {
    (void)state;
    static const char RULES[] = CAUSE(
        "a", "match: {sequence: [{lit: 'alphaX'}, {lit: 'betaXX'}], not: [{lit: 'gammaX'}], within: {same: process}}");
    check(RULES,
          "[2026-05-22 09:20:00 TP0] alphaX\n[2026-05-22 09:20:00 TP1] gammaX\n[2026-05-22 09:20:00 TP0] betaXX\n",
          "a 3 ranks 1 parts 1,3\n");
    check(RULES,
          "[2026-05-22 09:20:00 TP0] alphaX\n[2026-05-22 09:20:00 TP0] gammaX\n[2026-05-22 09:20:00 TP0] betaXX\n", "");
}

static void keys_tell_findings_apart(void **state) {
    (void)state;
    static const char RULES[] =
        CAUSE("a", "key: [dev], match: {lit: 'Xid (PCI', re: 'PCI:(?<dev>\\w+)\\): (?<n>\\d+)'}");
    check(RULES, "Xid (PCI:a): 1\nXid (PCI:b): 2\nXid (PCI:a): 3\n",
          "a 1-3 x2 dev=a n=1 last dev=a n=3\na 2 dev=b n=2\n");
}

static void a_rule_counts_once_per_line(void **state) {
    (void)state;
    static const char RULES[] = CAUSE("a", "match: {any: [{lit: 'alphaX'}, {lit: 'betaXX'}]}");
    check(RULES, "alphaX alphaX betaXX alphaX\n", "a 1\n");
}

static void rules_read_their_kinds_only(void **state) {
    (void)state;
    static const size_t BLOCKS[] = {DG_BLOCK_SIZE, 0};
    struct fx_rules x;
    fx_rules(&x, CAUSE("a", "match: {lit: 'alphaX'}") CAUSE("k", "in: [kernel], match: {lit: 'alphaX'}"));
    struct fx_log log = {0};
    fx_add(&log, DG_KIND_SERVER, DG_S("alphaX\n"));
    fx_add(&log, DG_KIND_KERNEL, DG_S("[    1.0] alphaX\n"));
    fx_expect_log(&x, &log, BLOCKS, FX_FINDINGS, "a 1\nk 1\n");
    fx_done(&x);
}

static void windows_and_sequences_end_with_the_source(void **state) {
    (void)state;
    static const size_t BLOCKS[] = {DG_BLOCK_SIZE, 0};
    struct fx_rules x;
    fx_rules(&x, CAUSE("a", "match: {sequence: [{lit: 'alphaX'}, {lit: 'betaXX'}]}"));
    struct fx_log log = {0};
    fx_add(&log, DG_KIND_SERVER, DG_S("alphaX\n"));
    fx_add(&log, DG_KIND_SERVER, DG_S("betaXX\n"));
    fx_expect_log(&x, &log, BLOCKS, FX_FINDINGS, "");
    fx_done(&x);
}

static void one_rule_alone(void **state) {
    (void)state;
    struct fx_rules x;
    struct dg_arena *arena = dg_arena_new(0);
    struct dg_finding f;
    struct dg_match_opts opts = {.split = dg_prefix_parse};
    fx_rules(&x, CAUSE("a", "match: {lit: 'alphaX', re: 'alphaX (?<n>\\d+)'}") CAUSE("b", "match: {lit: 'betaXX'}"));
    const struct dg_rule *rules = dg_pack_rules(x.pack)->rules;
    assert_int_equal(
        dg_match_rule(x.matcher, &rules[0], DG_S("x\n[2026-05-22 09:20:00 TP2] alphaX 5"), &opts, arena, &f), 1);
    assert_int_equal(f.first.line, 2);
    assert_int_equal(f.first.rank, 2);
    assert_slice(f.first.text, "alphaX 5");
    assert_slice(dg_finding_capture(&f, "n")->text, "5");
    assert_int_equal(dg_match_rule(x.matcher, &rules[1], DG_S("alphaX 5"), &opts, arena, &f), 0);
    assert_int_equal(dg_match_rule(x.matcher, &rules[1], DG_S(""), &opts, arena, &f), 0);
    dg_arena_free(arena);
    fx_done(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_and_regex_must_both_hold),
        cmocka_unit_test(any_takes_the_first_that_matches),
        cmocka_unit_test(all_in_any_order_within_lines),
        cmocka_unit_test(sequence_one_after_the_other),
        cmocka_unit_test(a_new_beginning_does_not_break_a_chain),
        cmocka_unit_test(the_same_literal_twice_needs_two_lines),
        cmocka_unit_test(not_between_first_and_last),
        cmocka_unit_test(not_after_a_single_match),
        cmocka_unit_test(many_that_wait_are_all_counted),
        cmocka_unit_test(within_seconds_needs_both_times),
        cmocka_unit_test(same_process_by_rank_or_pid),
        cmocka_unit_test(not_counts_for_its_own_process),
        cmocka_unit_test(keys_tell_findings_apart),
        cmocka_unit_test(a_rule_counts_once_per_line),
        cmocka_unit_test(rules_read_their_kinds_only),
        cmocka_unit_test(windows_and_sequences_end_with_the_source),
        cmocka_unit_test(one_rule_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
