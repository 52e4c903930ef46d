/* What keeps a cause from being more than possible, and a server from being called healthy: a failure that no rule
 * knows. */
#include "reason_fixture.h"

static struct dg_rule *cause(struct fx *x, const char *id, const char *class, const char *sub) {
    return fx_rule(x, id, DG_ROLE_CAUSE, class, sub);
}

static struct dg_fatal *traceback(struct fx *x, uint64_t first, uint64_t line, uint64_t last, const char *text) {
    fx_fatal(x, line, DG_FATAL_TRACEBACK, "FooError", text);
    struct dg_fatal *f = &x->fatals[x->scan.n_fatals - 1];
    f->record_line = first;
    f->record_end = last;
    return f;
}

static void confidence(struct fx *x, enum dg_confidence want, bool said) {
    fx_judge(x);
    assert_int_equal(x->d->causes[0].confidence, want);
    assert_int_equal(fx_says(&x->d->not_checked, "known to no rule"), said);
    fx_free(x);
}

static void test_a_failure_of_another_kind_beside_it(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/first", "driver", "mps"), 0, 50, "foo");
    fx_find(x, cause(x, "a/second", "comm", "p2p"), 0, 100, "bar");
    confidence(x, DG_POSSIBLE, false);
}

/* However much agrees: it is said of each platform that is looked for. */
static void test_debug_lines(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_finding *f = fx_find(x, cause(x, "a/debug", "driver", "mps"), 0, 50, "no NVML");
    f->first.level = f->last.level = 'D';
    fx_find(x, cause(x, "a/other", "driver", "mps"), 0, 100, "no NVML, in other words");
    fx_judge(x);
    fx_top(x, "a/debug");
    assert_int_equal(x->d->causes[0].confidence, DG_POSSIBLE);
    fx_free(x);
}

static void test_a_warning_by_itself(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/warning", "driver", "mps"), 0, 50, "foo")->last.level = 'W';
    confidence(x, DG_POSSIBLE, false);
}

static void test_a_warning_before_an_unknown_exception(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/warning", "driver", "mps"), 0, 50, "WARNING: foo");
    traceback(x, 80, 100, 100, "FooError: who knows");
    confidence(x, DG_POSSIBLE, true);
}

static void test_the_exception_itself(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/real", "driver", "mps"), 0, 100, "FooError: known");
    traceback(x, 80, 100, 100, "FooError: known");
    confidence(x, DG_LIKELY, false);
}

static void test_a_frame_of_an_unknown_exception(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/frame", "hang", "jit-lock"), 0, 90, "with FileLock(");
    traceback(x, 80, 100, 100, "FooError: who knows");
    confidence(x, DG_POSSIBLE, true);
}

static void test_a_frame_of_a_known_exception(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/frame", "driver", "mps"), 0, 90, "with FileLock(");
    fx_find(x, fx_rule(x, "a/echo", DG_ROLE_CONSEQUENCE, "", ""), 0, 100, "FooError: interrupted");
    traceback(x, 80, 100, 100, "FooError: interrupted");
    confidence(x, DG_LIKELY, false);
}

static void test_what_was_raised_over_an_unknown_exception(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, fx_rule(x, "a/note", DG_ROLE_WRAPPER, "", ""), 0, 101, "a note under any exception");
    fx_find(x, cause(x, "a/over", "oom-device", "activation"), 0, 120, "RuntimeError: not enough memory");
    traceback(x, 80, 100, 120, "FooError: who knows")->chained = 105;
    confidence(x, DG_POSSIBLE, true);
}

static void test_more_of_the_message(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/second-line", "config", "bad-argument"), 0, 101, "  Value error, foo");
    traceback(x, 80, 100, 120, "FooError: 1 validation error")->chained = 105;
    confidence(x, DG_LIKELY, false);
}

static void test_a_note_under_an_exception_does_not_explain_it(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, fx_rule(x, "a/note", DG_ROLE_WRAPPER, "", ""), 0, 101, "a note under any exception");
    traceback(x, 80, 100, 120, "FooError: who knows");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_UNRECOGNISED);
    fx_free(x);
}

static void test_stopped_after_it_had_failed(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_source(x, DG_KIND_CONTAINER, "pod.txt", 1000, 2000);
    fx_find(x, cause(x, "a/probe", "stopped", "probe"), 1, 500, "failed its probe");
    traceback(x, 300, 320, 320, "FooError: who knows");
    confidence(x, DG_POSSIBLE, true);
}

static void test_a_rule_on_trial(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_rule *r = cause(x, "a/trial", "driver", "mps");
    r->status = DG_S("experimental");
    fx_find(x, r, 0, 100, "FooError: on trial");
    fx_fatal(x, 100, DG_FATAL_TRACEBACK, "FooError", "FooError: on trial");
    fx_judge(x);
    assert_int_equal(x->d->causes[0].confidence, DG_POSSIBLE);
    fx_find(x, cause(x, "a/other", "driver", "mps"), 0, 200, "another says so too");
    fx_judge(x);
    assert_int_equal(x->d->causes[0].confidence, DG_LIKELY);
    r->symptom = true; /* general, too */
    fx_judge(x);
    fx_top(x, "a/other");
    fx_free(x);
}

static void test_a_confirmation_of_another_side(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_source(x, DG_KIND_KERNEL, "dmesg.txt", 1000, 2000);
    fx_find(x, cause(x, "a/real", "driver", "mps"), 0, 100, "FooError: known");
    fx_find(x, fx_rule(x, "a/reaped", DG_ROLE_CONFIRMATION, "", ""), 1, 500, "oom_reaper: reaped process");
    fx_fatal(x, 100, DG_FATAL_TRACEBACK, "FooError", "FooError: known");
    confidence(x, DG_LIKELY, false);
}

static void test_failed_before_it_was_stopped(void **state) {
    (void)state;
    struct fx *x = fx_server();
    x->launches[0].pulses = 1;
    x->launches[0].last_pulse = fx_place(x, 0, 100, "ready");
    struct dg_rule *stop = fx_rule(x, "a/stop", DG_ROLE_FACT, "", "");
    stop->ends = DG_ENDS_CLEAN;
    fx_find(x, stop, 0, 500, "Shutting down");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_HEALTHY);
    traceback(x, 600, 620, 620, "FooError: while it stops");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_HEALTHY);
    x->scan.n_fatals = 0;
    traceback(x, 300, 320, 320, "FooError: who knows");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_UNRECOGNISED);
    fx_free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_warning_before_an_unknown_exception),
        cmocka_unit_test(test_the_exception_itself),
        cmocka_unit_test(test_a_frame_of_an_unknown_exception),
        cmocka_unit_test(test_a_frame_of_a_known_exception),
        cmocka_unit_test(test_what_was_raised_over_an_unknown_exception),
        cmocka_unit_test(test_more_of_the_message),
        cmocka_unit_test(test_a_note_under_an_exception_does_not_explain_it),
        cmocka_unit_test(test_stopped_after_it_had_failed),
        cmocka_unit_test(test_a_rule_on_trial),
        cmocka_unit_test(test_a_failure_of_another_kind_beside_it),
        cmocka_unit_test(test_a_warning_by_itself),
        cmocka_unit_test(test_debug_lines),
        cmocka_unit_test(test_a_confirmation_of_another_side),
        cmocka_unit_test(test_failed_before_it_was_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
