/* Launches, epochs, signs of service, wrappers' spans and opened text, limits. */
#include "match_fixture.h"
#include "base/timex.h"

static const char RULES[] =
    "- {id: begin, title: x, role: fact, begins: episode, match: {lit: 'server_args=', re: '(?<args>.*)'}}\n"
    "- {id: other-begin, title: x, role: fact, begins: episode, match: {lit: 'engine config'}}\n"
    "- {id: ready, title: x, role: fact, pulse: true, match: {lit: 'ready to roll'}}\n"
    "- {id: batch, title: x, role: fact, pulse: true, match: {lit: 'Decode batch', re: 'run: (?<n>\\d+)'}}\n"
    "- {id: stop, title: x, role: teardown, ends: clean, match: {lit: 'shut down'}}\n"
    "- {id: oom, title: x, role: cause, class: a/b, match: {lit: 'out of memory'}}\n"
    "- {id: odd, title: x, role: cause, class: a/b, match: {any: [{lit: 'odd value'}], not: [{lit: 'was refused'}], within: {lines: 2}}}\n"
    "- {id: wrap, title: x, role: wrapper, opens: {until: {lit: 'output ends'}, lines: 5}, match: {lit: 'output begins'}}\n"
    "- {id: repr, title: x, role: wrapper, opens: {capture: msg, as: python-str}, match: {lit: 'worker said', re: \"said '(?<msg>.*)'\"}}\n";

static void check(unsigned what, const char *text, const char *want) {
    struct fx_rules x;
    fx_rules(&x, RULES);
    fx_expect(&x, text, what, want);
    fx_done(&x);
}

static void without_a_beginning_there_is_one(void **state) {
    (void)state;
    check(FX_LAUNCHES, "a\nb\nc\n", "launch 1-3\n");
    check(FX_LAUNCHES, "a\nb\nserver_args=1\nc\n", "launch 1-4 begun\n");
}

static void a_beginning_after_an_end_is_another_launch(void **state) {
    (void)state;
    check(
        FX_LAUNCHES | FX_FINDINGS, "server_args=1\nout of memory\nshut down\nserver_args=1\nout of memory\n",
        "launch 1-3 begun\nlaunch 4-5 begun\nbegin 1 args=server_args=1\noom 2\nstop 3\nbegin 4 launch 1 args=server_args=1\noom 5 launch 1\n");
    check(FX_LAUNCHES, "server_args=1\nTraceback (most recent call last):\n  File\nValueError: x\nserver_args=1\n",
          "launch 1-4 begun\nlaunch 5-5 begun\n");
}

static void dumps_of_other_ranks_begin_nothing(void **state) {
    (void)state;
    check(FX_LAUNCHES, "server_args=1\nserver_args=2\n", "launch 1-2 begun\n");
    check(
        FX_LAUNCHES,
        "[2026-05-22 09:20:00] server_args=1\n[2026-05-22 09:20:04] server_args=2\n[2026-05-22 10:20:00] server_args=1\n",
        "launch 1-3 begun\n");
    check(FX_LAUNCHES, "[2026-05-22 09:20:00] server_args=1\n[2026-05-22 09:21:00] server_args=2\n",
          "launch 1-1 begun\nlaunch 2-2 begun\n");
}

static void the_end_of_another_launch_may_stand_first(void **state) {
    (void)state;
    check(FX_LAUNCHES, "ready to roll\nserver_args=1\n", "launch 1-1 pulse 1\nlaunch 2-2 begun\n");
    check(FX_LAUNCHES, "Traceback (most recent call last):\n  File\nValueError: x\nserver_args=1\n",
          "launch 1-3\nlaunch 4-4 begun\n");
}

static void a_sign_of_service_after_an_error_is_an_epoch(void **state) {
    (void)state;
    check(
        FX_LAUNCHES | FX_FINDINGS,
        "ready to roll\nout of memory\nDecode batch, run: 3\nDecode batch, run: 4\nDecode batch, run: 5\nout of memory\n",
        "launch 1-6 epochs 2 pulse 5\nready 1\noom 2\nbatch 3-5 epoch 1 n=3\noom 6 epoch 1\n");
}

static void a_cause_that_waits_is_cleared_too(void **state) {
    (void)state;
    check(FX_LAUNCHES | FX_FINDINGS, "ready to roll\nodd value\nready to roll\n",
          "launch 1-3 epochs 2 pulse 3\nready 1\nodd 2\nready 3 epoch 1\n");
}

static void earlier_epochs_are_one_finding(void **state) {
    (void)state;
    check(FX_LAUNCHES | FX_FINDINGS,
          "out of memory\nready to roll\nout of memory\nready to roll\nout of memory\nready to roll\nout of memory\n",
          "launch 1-7 epochs 4 pulse 6\noom 1-5 x3 epoch 2\nready 2-4 epoch 2\nready 6 epoch 3\noom 7 epoch 3\n");
}

static void a_sign_that_does_not_match_is_none(void **state) {
    (void)state;
    check(FX_LAUNCHES | FX_FINDINGS, "Decode batch, run: none\nDecode batch, run: 1\nDecode batch, run: none\n",
          "launch 1-3 pulse 2\nbatch 2 n=1\n");
}

static void signs_on_lines_that_say_more(void **state) {
    (void)state;
    check(
        FX_LAUNCHES | FX_FINDINGS,
        "Decode batch, run: 1\nready to roll Decode batch, run: 2\nout of memory Decode batch, run: 3\nDecode batch, run: 4\n",
        "launch 1-4 epochs 2 pulse 4\nbatch 1-2 n=1\nready 2\nbatch 3-4 epoch 1 n=3\noom 3\n");
}

/* Signs are told by parts of theirs until one is looked at: each byte counts all the same. */
static void what_only_looks_like_a_sign_is_none(void **state) {
    (void)state;
    static const char SIGN[] = "#7 and all other workers of this group are up %Q";
    enum { BYTES = sizeof(SIGN) - 1 };
    struct dg_buf rules = DG_BUF_INIT(1 << 16), text = DG_BUF_INIT(1 << 16), want = DG_BUF_INIT(1 << 16);
    dg_buf_addf(&rules, "%s- {id: up, title: x, role: fact, pulse: true, match: {lit: '%s'}}\n", RULES, SIGN);
    for (size_t i = 0; i < BYTES; i++) {
        char line[sizeof(SIGN)];
        memcpy(line, SIGN, sizeof(SIGN));
        line[i] = '_';
        dg_buf_addf(&text, "%s\n", line);
    }
    dg_buf_addf(&want, "launch 1-%d\n", BYTES);
    struct fx_rules x;
    fx_rules(&x, rules.ptr);
    fx_expect(&x, text.ptr, FX_LAUNCHES | FX_FINDINGS, want.ptr);
    dg_buf_addf(&text, "%s, out of memory\n", SIGN);
    dg_buf_release(&want);
    dg_buf_addf(&want, "launch 1-%d epochs 2 pulse %d\noom %d\nup %d epoch 1\n", BYTES + 1, BYTES + 1, BYTES + 1,
                BYTES + 1);
    fx_expect(&x, text.ptr, FX_LAUNCHES | FX_FINDINGS, want.ptr);
    dg_buf_release(&rules);
    dg_buf_release(&text);
    dg_buf_release(&want);
    fx_done(&x);
}

/* What a scan of 10,000 signs takes that stand `between` each other; none matches but the last. */
static double cost_of_signs(const char *between) {
    struct dg_buf text = DG_BUF_INIT(4 << 20);
    struct fx_rules x;
    struct fx_log log = {0};
    for (int i = 0; i < 10000; i++) dg_buf_addf(&text, "Decode batch, none%s", between);
    dg_buf_adds(&text, "\nDecode batch, run: 1\n");
    fx_rules(&x, RULES);
    fx_add(&log, DG_KIND_SERVER, dg_buf_slice(&text));
    struct dg_arena *arena = dg_arena_new(0);
    double began = dg_time_cpu();
    const struct dg_scan *scan = fx_scan(&x, &log, arena, false, 1);
    double cost = dg_time_cpu() - began;
    assert_int_equal(scan->n_findings, 1);
    dg_arena_free(arena);
    dg_buf_release(&text);
    fx_done(&x);
    return cost;
}

static void a_line_of_signs_is_looked_at_once(void **state) {
    (void)state;
    struct dg_buf text = DG_BUF_INIT(4 << 20);
    for (int i = 0; i < 30000; i++) dg_buf_adds(&text, i % 2 ? "Decode batch, none\r" : "Decode batch, none ");
    dg_buf_adds(&text, "\nDecode batch, run: 1\n");
    check(FX_LAUNCHES | FX_FINDINGS, text.ptr, "launch 1-2 pulse 2\nbatch 2 n=1\n");
    dg_buf_release(&text);
    assert_true(cost_of_signs("\r") < 20 * cost_of_signs("\n"));
}

static void the_first_pattern_of_a_sign_counts(void **state) {
    (void)state;
    struct fx_rules x;
    fx_rules(&x,
             "- {id: two, title: x, role: fact, pulse: true, match: {any: [{lit: 'one of', re: 'one of (?<n>\\d)'}, "
             "{lit: 'all of', re: 'all of (?<n>\\d)'}]}}\n"
             "- {id: odd, title: x, role: cause, class: a/b, match: {lit: 'odd value'}}\n");
    fx_expect(&x, "all of 3, one of 1\n", FX_FINDINGS, "two 1 n=1\n");
    fx_expect(&x, "all of 3, one of 1, odd value\n", FX_FINDINGS, "two 1 epoch 1 n=1\nodd 1\n");
    fx_done(&x);
}

static void a_sign_in_opened_text_comes_after_those_before(void **state) {
    (void)state;
    check(FX_FINDINGS, "ready to roll\nworker said 'ready\\x20to roll'\n", "ready 1-2\nrepr 2 msg=ready\\x20to roll\n");
}

static void what_a_long_line_forbids_it_forbids_to_its_end(void **state) {
    (void)state;
    struct dg_buf text = DG_BUF_INIT(1 << 20);
    dg_buf_adds(&text, "it was refused ");
    for (int i = 0; i < 20000; i++) dg_buf_adds(&text, "and ");
    dg_buf_adds(&text, " an odd value\n3\n4\n5\n");
    check(FX_FINDINGS, text.ptr, "");
    dg_buf_release(&text);
}

/* The time of its first line that has one, wherever blocks end and whatever is looked at first. */
static void a_launch_begins_with_its_first_line(void **state) {
    (void)state;
    static const size_t BLOCKS[] = {DG_BLOCK_SIZE, 4096};
    struct dg_buf text = DG_BUF_INIT(1 << 20);
    struct fx_rules x;
    struct fx_log log = {0};
    dg_buf_adds(&text, "[2026-05-22 09:20:00] ready to roll\n");
    for (int i = 0; i < 2000; i++) dg_buf_addf(&text, "[2026-05-22 09:30:%02d] step\n", i % 60);
    dg_buf_adds(&text, "[2026-05-22 09:40:00] out of memory\n");
    fx_rules(&x, RULES);
    fx_add(&log, DG_KIND_SERVER, dg_buf_slice(&text));
    for (size_t i = 0; i < 2 * DG_COUNT(BLOCKS); i++) {
        struct dg_arena *arena = dg_arena_new(0);
        log.block = BLOCKS[i / 2];
        const struct dg_scan *scan = fx_scan(&x, &log, arena, i % 2, 1);
        assert_true(scan->launches[0].last_time - scan->launches[0].first_time == 20 * 60);
        dg_arena_free(arena);
    }
    dg_buf_release(&text);
    fx_done(&x);
}

/* More of them in a block, and of more kinds, than are put off. */
static void a_flood_of_signs(void **state) {
    (void)state;
    enum { KINDS = 40, LINES = 80000 };
    static const size_t BLOCKS[] = {DG_BLOCK_SIZE, 9000, 0};
    struct dg_buf rules = DG_BUF_INIT(1 << 16), text = DG_BUF_INIT(4 << 20), want = DG_BUF_INIT(1 << 16);
    struct fx_rules x;
    struct fx_log log = {0};
    dg_buf_adds(&rules, RULES);
    dg_buf_addf(&want, "launch 1-%d epochs 2 pulse %d\n", KINDS + LINES + 2, KINDS + LINES + 2);
    for (int i = 0; i < KINDS; i++) {
        dg_buf_addf(&rules, "- {id: s%d, title: x, role: fact, pulse: true, match: {lit: 'sign %02d of'}}\n", i, i);
        dg_buf_addf(&text, "sign %02d of\n", i);
        dg_buf_addf(&want, "s%d %d\n", i, i + 1);
    }
    for (int i = 0; i < LINES; i++) dg_buf_adds(&text, "ready to roll\n");
    dg_buf_adds(&text, "out of memory\nready to roll\n");
    dg_buf_addf(&want, "ready %d-%d\noom %d\nready %d epoch 1\n", KINDS + 1, KINDS + LINES, KINDS + LINES + 1,
                KINDS + LINES + 2);
    fx_rules(&x, rules.ptr);
    fx_add(&log, DG_KIND_SERVER, dg_buf_slice(&text));
    fx_expect_log(&x, &log, BLOCKS, FX_LAUNCHES | FX_FINDINGS, want.ptr);
    dg_buf_release(&rules);
    dg_buf_release(&text);
    dg_buf_release(&want);
    fx_done(&x);
}

static void a_span_ends_with_its_text_or_its_lines(void **state) {
    (void)state;
    check(FX_FINDINGS, "output begins\nout of memory\noutput ends\nout of memory\n",
          "wrap 1\noom 2-4 x2 inside wrap\n");
    check(FX_FINDINGS, "output begins\noutput ends\nout of memory\n", "wrap 1\noom 3\n");
    check(FX_FINDINGS, "output begins\n2\n3\n4\n5\nout of memory\n", "wrap 1\noom 6 inside wrap\n");
    check(FX_FINDINGS, "output begins\n2\n3\n4\n5\n6\nout of memory\n", "wrap 1\noom 7\n");
}

static void escaped_text_is_opened(void **state) {
    (void)state;
    check(FX_FINDINGS, "worker said 'Traceback:\\n  File\\nout of memory\\n'\n",
          "oom 1 opened repr\nrepr 1 msg=Traceback:\\n  File\\nout of memory\\n\n");
    check(FX_FINDINGS, "worker said 'out of\\tmemory'\n", "repr 1 msg=out of\\tmemory\n");
    check(FX_FINDINGS, "worker said 'worker said \\'out of memory\\''\n",
          "oom 1 opened repr\nrepr 1 msg=worker said \\'out of memory\\'\n");
}

static void tails_hold_the_last_messages(void **state) {
    (void)state;
    struct fx_rules x;
    struct dg_buf text = DG_BUF_INIT(1 << 16), want = DG_BUF_INIT(1 << 16);
    fx_rules(&x, RULES);
    for (int i = 1; i <= 300; i++) {
        dg_buf_addf(&text, "message %d\n\n", i);
        if (i > 280) dg_buf_addf(&want, "tail %d message %d\n", 2 * i - 1, i);
    }
    static const size_t BLOCKS[] = {DG_BLOCK_SIZE, 0};
    struct fx_log log = {0};
    fx_add(&log, DG_KIND_SERVER, dg_buf_slice(&text));
    fx_expect_log(&x, &log, BLOCKS, FX_TAILS, want.ptr);
    dg_buf_release(&text);
    dg_buf_release(&want);
    fx_done(&x);
}

static void too_many_tuples_are_counted(void **state) {
    (void)state;
    struct fx_rules x;
    struct dg_buf text = DG_BUF_INIT(1 << 20);
    struct dg_arena *arena = dg_arena_new(0);
    struct fx_log log = {0};
    fx_rules(&x, "- {id: a, title: x, role: noise, key: [n], match: {lit: 'number', re: 'number (?<n>\\d+)'}}\n");
    for (int i = 0; i < 100; i++) dg_buf_addf(&text, "number %d\n", i);
    fx_add(&log, DG_KIND_SERVER, dg_buf_slice(&text));
    struct dg_scan *s = fx_scan(&x, &log, arena, false, 1);
    assert_int_equal(s->n_findings, 64);
    assert_int_equal(s->dropped_findings, 36);
    dg_arena_free(arena);
    dg_buf_release(&text);
    fx_done(&x);
}

static void old_launches_make_room(void **state) {
    (void)state;
    struct fx_rules x;
    struct dg_buf text = DG_BUF_INIT(8 << 20);
    struct dg_arena *arena = dg_arena_new(0);
    struct fx_log log = {0};
    fx_rules(&x, RULES);
    for (int i = 0; i < 9000; i++) dg_buf_addf(&text, "server_args=%d\nout of memory\nshut down\n", i);
    fx_add(&log, DG_KIND_SERVER, dg_buf_slice(&text));
    struct dg_scan *s = fx_scan(&x, &log, arena, false, 1);
    assert_int_equal(s->n_launches, 9000);
    assert_true(s->n_findings <= 16384 + 4096 && s->dropped_findings > 0);
    assert_int_equal(s->findings[s->n_findings - 1].launch, 8999);
    assert_int_equal(s->dropped_findings + s->n_findings, 27000);
    dg_arena_free(arena);
    dg_buf_release(&text);
    fx_done(&x);
}

static void a_slow_regex_is_switched_off(void **state) {
    (void)state;
    struct fx_rules x;
    struct dg_buf text = DG_BUF_INIT(1 << 20);
    struct dg_arena *arena = dg_arena_new(0);
    struct fx_log log = {0};
    fx_rules(&x, "- {id: a, title: x, role: noise, match: {lit: 'aaaaaaaa', re: '^(?:a+)+(?:a+)+b$'}}\n");
    for (int i = 0; i < 50; i++) {
        for (int k = 0; k < 3000; k++) dg_buf_addc(&text, 'a');
        dg_buf_adds(&text, "b!\n");
    }
    fx_add(&log, DG_KIND_SERVER, dg_buf_slice(&text));
    double began = dg_time_mono();
    struct dg_scan *s = fx_scan(&x, &log, arena, false, 1);
    assert_true(dg_time_mono() - began < 60);
    assert_int_equal(s->n_limits, 1);
    assert_string_equal(s->limits[0].rule->id.ptr, "t/a");
    dg_arena_free(arena);
    dg_buf_release(&text);
    fx_done(&x);
}

static int scan_once(void *arg) {
    struct fx_rules *x = arg;
    static const char TEXT[] =
        "server_args=1\nTraceback (most recent call last):\n  File\nValueError: out of memory\n"
        "ready to roll\nout of memory\nworker said 'out of memory'\noutput begins\nshut down\nserver_args=2\n";
    struct fx_log log = {.block = 40};
    fx_add(&log, DG_KIND_SERVER, DG_S(TEXT));
    struct dg_arena *arena = dg_arena_new(0);
    struct dg_match_opts opts = {.next = fx_next,
                                 .release = fx_release,
                                 .sources = fx_sources,
                                 .in = &log,
                                 .split = dg_prefix_parse,
                                 .threads = 1};
    struct dg_scan *scan;
    struct dg_err err = {0};
    int r = arena ? dg_match_scan(x->matcher, &opts, arena, &scan, &err) : -DG_E_NOMEM;
    dg_arena_free(arena);
    return r;
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    struct fx_rules x;
    fx_rules(&x, RULES);
    assert_true(unit_fail_each(scan_once, &x) > 20);
    fx_done(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_beginning_there_is_one),
        cmocka_unit_test(a_beginning_after_an_end_is_another_launch),
        cmocka_unit_test(dumps_of_other_ranks_begin_nothing),
        cmocka_unit_test(the_end_of_another_launch_may_stand_first),
        cmocka_unit_test(a_sign_of_service_after_an_error_is_an_epoch),
        cmocka_unit_test(a_cause_that_waits_is_cleared_too),
        cmocka_unit_test(earlier_epochs_are_one_finding),
        cmocka_unit_test(a_sign_that_does_not_match_is_none),
        cmocka_unit_test(signs_on_lines_that_say_more),
        cmocka_unit_test(what_only_looks_like_a_sign_is_none),
        cmocka_unit_test(a_line_of_signs_is_looked_at_once),
        cmocka_unit_test(the_first_pattern_of_a_sign_counts),
        cmocka_unit_test(a_sign_in_opened_text_comes_after_those_before),
        cmocka_unit_test(what_a_long_line_forbids_it_forbids_to_its_end),
        cmocka_unit_test(a_launch_begins_with_its_first_line),
        cmocka_unit_test(a_flood_of_signs),
        cmocka_unit_test(a_span_ends_with_its_text_or_its_lines),
        cmocka_unit_test(escaped_text_is_opened),
        cmocka_unit_test(tails_hold_the_last_messages),
        cmocka_unit_test(too_many_tuples_are_counted),
        cmocka_unit_test(old_launches_make_room),
        cmocka_unit_test(a_slow_regex_is_switched_off),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
