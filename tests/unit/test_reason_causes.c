/* How the cause is chosen: design.md's nine points, on scans built by hand. */
#include "reason_fixture.h"

static struct dg_rule *cause(struct fx *x, const char *id, const char *class, const char *sub) {
    return fx_rule(x, id, DG_ROLE_CAUSE, class, sub);
}

static void test_the_earliest_wins(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/first", "config", "bad-argument"), 0, 100, "first");
    fx_find(x, cause(x, "a/second", "comm", "p2p"), 0, 200, "second");
    fx_fatal(x, 100, DG_FATAL_TRACEBACK, "ValueError", "first");
    fx_judge(x);
    fx_top(x, "a/first");
    assert_int_equal(x->d->status, DG_STATUS_FAILURE);
    assert_int_equal(x->d->n_causes, 2);
    fx_free(x);
}

static void test_refines_and_explains_beat_order(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_rule *general = cause(x, "a/general", "kernel-fault", "launch-failure"),
                   *early = cause(x, "a/early", "comm", "p2p");
    struct dg_rule *special = cause(x, "a/special", "arch-mismatch", "sm-guard");
    fx_list(x, &special->refines, "a/general");
    fx_list(x, &special->explains, "class:comm");
    fx_find(x, early, 0, 50, "nccl");
    fx_find(x, general, 0, 100, "a line");
    fx_find(x, special, 0, 100, "a line");
    fx_judge(x);
    fx_top(x, "a/special");
    assert_int_equal(x->d->n_causes, 1);
    fx_free(x);
}

static void test_what_the_device_contradicts_yields(void **state) {
    (void)state;
    for (int fits = 0; fits < 2; fits++) {
        struct fx *x = fx_server();
        struct dg_rule *general = cause(x, "a/general", "kernel-fault", "launch-failure"),
                       *special = cause(x, "a/special", "arch-mismatch", "sm-guard");
        fx_list(x, &special->refines, "a/general");
        special->has_contradicts = true;
        special->contradicts = (struct dg_cond){DG_S("device.cc"), fits ? DG_S("'9.0'") : DG_S("'10.0'"), DG_OP_EQ};
        fx_stated_device(x, 10, 0);
        fx_find(x, general, 0, 100, "a line");
        fx_find(x, special, 0, 100, "a line");
        fx_judge(x);
        fx_top(x, fits ? "a/special" : "a/general");
        fx_free(x);
    }
}

static void test_refines_only_on_the_same_record(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_rule *general = cause(x, "a/general", "kernel-fault", "launch-failure"),
                   *special = cause(x, "a/special", "arch-mismatch", "sm-guard");
    fx_list(x, &special->refines, "a/general");
    fx_find(x, general, 0, 100, "one");
    fx_find(x, special, 0, 300, "another");
    fx_judge(x);
    fx_top(x, "a/general");
    fx_free(x);
}

static void test_a_line_yields_to_what_ended_a_process(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/line", "driver", "forward-compat"), 0, 100, "a banner");
    fx_find(x, cause(x, "a/exception", "loader", "undefined-symbol"), 0, 200, "ImportError: foo");
    fx_fatal(x, 200, DG_FATAL_TRACEBACK, "ImportError", "ImportError: foo");
    fx_judge(x);
    fx_top(x, "a/exception");
    assert_int_equal(x->d->n_causes, 1);
    fx_free(x);
}

static void test_a_warning_yields_to_an_error(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/warning", "limits", "memlock"), 0, 100, "foo")->last.level = 'W';
    fx_find(x, cause(x, "a/error", "oom-device", "kv-cache"), 0, 200, "bar")->first.level = 'E';
    fx_judge(x);
    fx_top(x, "a/error");
    fx_free(x);
}

static void test_an_error_yields_to_no_later_one(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/error", "limits", "memlock"), 0, 100, "foo")->last.level = 'E';
    fx_find(x, cause(x, "a/later", "oom-device", "kv-cache"), 0, 200, "bar")->first.level = 'E';
    fx_judge(x);
    fx_top(x, "a/error");
    fx_free(x);
}

static void test_a_rule_on_trial_yields_to_a_stable_one(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_rule *trial = cause(x, "a/trial", "limits", "memlock"), *guess = cause(x, "a/guess", "config", "refused");
    trial->status = guess->status = DG_S("experimental");
    guess->symptom = true;
    fx_find(x, guess, 0, 50, "it looks so");
    fx_find(x, trial, 0, 100, "on trial");
    fx_judge(x);
    fx_top(x, "a/trial");
    fx_find(x, cause(x, "a/stable", "oom-device", "kv-cache"), 0, 200, "known");
    fx_judge(x);
    fx_top(x, "a/stable");
    fx_free(x);
}

/* "infinity | RuntimeError: …", then "api | ConnectError: …" of another container that waits for it. */
static void test_a_symptom_stands_before_another_process_trouble(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_rule *symptom = cause(x, "a/symptom", "package", "version-conflict");
    symptom->symptom = true;
    fx_find(x, symptom, 0, 100, "RuntimeError: foo")->first.label = DG_S("infinity-1");
    fx_find(x, cause(x, "a/other", "model-files", "missing"), 0, 200, "ConnectError: bar")->first.label = DG_S("api-1");
    fx_fatal(x, 100, DG_FATAL_TRACEBACK, "RuntimeError", "RuntimeError: foo");
    fx_fatal(x, 200, DG_FATAL_TRACEBACK, "ConnectError", "ConnectError: bar");
    fx_judge(x);
    fx_top(x, "a/symptom");
    fx_free(x);
}

/* "AssertionError: …", then Ctrl-C by whoever read it. */
static void test_a_guess_stands_before_a_stop(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_rule *guess = cause(x, "a/guess", "config", "refused");
    guess->symptom = true;
    guess->status = DG_S("experimental");
    fx_find(x, guess, 0, 100, "AssertionError: foo");
    fx_find(x, cause(x, "a/stop", "stopped", "interrupt"), 0, 200, "Gracefully stopping...");
    fx_fatal(x, 100, DG_FATAL_TRACEBACK, "AssertionError", "AssertionError: foo");
    fx_judge(x);
    fx_top(x, "a/guess");
    fx_free(x);
}

static void test_a_symptom_yields(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_rule *timeout = cause(x, "a/timeout", "comm", "nccl-timeout");
    timeout->symptom = true;
    fx_find(x, timeout, 0, 100, "watchdog");
    fx_find(x, cause(x, "a/real", "model-files", "missing"), 0, 200, "no such file");
    fx_judge(x);
    fx_top(x, "a/real");
    fx_free(x);
}

static void test_service_after_an_error_recovers_it(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/fell-back", "package", "missing-module"), 0, 100, "no module");
    x->launches[0].epochs = 2;
    x->launches[0].pulses = 5;
    x->launches[0].last_pulse = fx_place(x, 0, 900, "200 OK");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_HEALTHY);
    assert_int_equal(x->d->n_causes, 0);
    assert_int_equal(dg_reason_exit(x->d), 0);
    fx_free(x);
}

static void test_service_does_not_excuse_wrong_numbers(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/nan", "numerics", "nan-logits"), 0, 100, "NaN");
    x->launches[0].epochs = 2;
    x->launches[0].pulses = 5;
    x->launches[0].last_pulse = fx_place(x, 0, 900, "200 OK");
    fx_judge(x);
    fx_top(x, "a/nan");
    fx_free(x);
}

static void test_an_announced_fallback_recovers(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_rule *fallback = fx_rule(x, "a/fallback", DG_ROLE_RECOVERED, "", "");
    fx_list(x, &fallback->recovers, "a/import");
    struct dg_finding *f = fx_find(x, cause(x, "a/import", "package", "missing-module"), 0, 100, "no module");
    struct dg_finding *r = fx_find(x, fallback, 0, 110, "falling back");
    f->first.rank = f->last.rank = 3;
    r->first.rank = r->last.rank = 3;
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    r->first.rank = r->last.rank = 4; /* another process' fallback is not this one's */
    fx_judge(x);
    fx_top(x, "a/import");
    fx_free(x);
}

static void test_noise_on_the_record_voids(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/oom-words", "oom-device", "activation"), 0, 100, "a prompt that quotes out of memory");
    fx_find(x, fx_rule(x, "a/prompt", DG_ROLE_NOISE, "", ""), 0, 100, "a prompt that quotes out of memory");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    fx_free(x);
}

static void test_rules_of_another_engine_or_version_do_not_count(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_rule *r = cause(x, "a/old", "config", "bad-argument");
    struct dg_for f = {DG_S("sglang"), DG_S("<0.5")};
    r->fors = (struct dg_fors){&f, 1};
    fx_fact(x, 1, "engine", "sglang");
    fx_fact(x, 2, "engine_version", "0.5.9");
    fx_find(x, r, 0, 100, "text");
    fx_judge(x);
    assert_int_equal(x->d->n_causes, 1);
    assert_null(x->d->causes[0].rule);
    fx_free(x);
}

static void test_unrecognised_gives_the_innermost_exception_and_a_stub(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, fx_rule(x, "w/core", DG_ROLE_WRAPPER, "", ""), 0, 300, "Engine core initialization failed");
    fx_fatal(x, 200, DG_FATAL_TRACEBACK, "FooError", "FooError: the frobnicator refused 17 knobs");
    fx_fatal(x, 300, DG_FATAL_TRACEBACK, "RuntimeError", "Engine core initialization failed");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_UNRECOGNISED);
    assert_int_equal(x->d->causes[0].evidence[0].line, 200);
    assert_true(dg_slice_find(x->d->stub, DG_S("the frobnicator refused")) > 0);
    assert_int_equal(dg_reason_exit(x->d), 3);
    assert_int_equal(strlen(x->d->fingerprint), 32);
    fx_free(x);
}

static void test_only_echoes_are_inconclusive(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_fact(x, 1, "engine", "vllm");
    fx_find(x, fx_rule(x, "w/core", DG_ROLE_CONSEQUENCE, "", ""), 0, 300, "worker died");
    fx_fatal(x, 300, DG_FATAL_ERROR_LEVEL, "", "worker died");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    assert_true(fx_says(&x->d->not_checked, "dmesg"));
    assert_true(x->d->n_proposals > 0);
    fx_free(x);
}

static void test_a_wrapper_covers_nothing_of_what_it_carries(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, fx_rule(x, "w/hit", DG_ROLE_WRAPPER, "", ""), 0, 300, "hit an exception: Traceback");
    fx_fatal(x, 320, DG_FATAL_TRACEBACK, "FooError", "FooError: no such knob");
    x->fatals[0].record_line = 300;
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_UNRECOGNISED);
    assert_int_equal(x->d->causes[0].evidence[0].line, 320);
    fx_free(x);
}

static void test_a_death_after_service_is_not_healthy(void **state) {
    (void)state;
    struct fx *x = fx_server();
    x->launches[0].pulses = 5;
    x->launches[0].last_pulse = fx_place(x, 0, 500, "200 OK");
    fx_find(x, fx_rule(x, "w/killed", DG_ROLE_CONSEQUENCE, "", ""), 0, 900, "Killed");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    fx_free(x);
}

static void test_a_health_check_after_the_death_excuses_nothing(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_finding *f =
        fx_find(x, cause(x, "a/assert", "kernel-fault", "device-assert"), 0, 880, "device-side assert");
    x->launches[0].epochs = 2;
    x->launches[0].pulses = 5;
    x->launches[0].last_pulse = fx_place(x, 0, 890, "GET /health 200 OK");
    fx_find(x, fx_rule(x, "w/dead", DG_ROLE_CONSEQUENCE, "", ""), 0, 900, "engine is dead")->epoch = 1;
    fx_judge(x);
    fx_top(x, "a/assert");
    assert_int_equal(x->d->causes[0].confidence, DG_LIKELY);
    f->first = f->last = fx_place(x, 0, 100, "device-side assert"); /* long ago: service disproved it */
    f->record_line = f->record_end = 100;
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    fx_free(x);
}

static void test_an_unknown_exception_before_it_casts_doubt(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/nccl", "comm", "p2p"), 0, 200, "nccl");
    fx_fatal(x, 100, DG_FATAL_TRACEBACK, "FooError", "FooError: who knows");
    fx_judge(x);
    fx_top(x, "a/nccl");
    assert_int_equal(x->d->causes[0].confidence, DG_POSSIBLE);
    fx_free(x);
}

static void phase(struct fx *x, uint64_t line, const char *name) { fx_fact(x, line, "phase", name); }

static void test_what_the_launch_outlived_did_not_kill_it(void **state) {
    (void)state;
    struct fx *x = fx_server();
    phase(x, 1, "arguments");
    fx_find(x, cause(x, "a/warning", "model-files", "missing"), 0, 50, "no generation_config.json");
    phase(x, 100, "weights");
    fx_find(x, cause(x, "a/real", "oom-device", "kv-cache"), 0, 300, "no memory for the KV cache");
    fx_fatal(x, 300, DG_FATAL_TRACEBACK, "ValueError", "no memory for the KV cache");
    fx_judge(x);
    fx_top(x, "a/real");
    assert_int_equal(x->d->n_causes, 1);
    fx_list(x, &x->rules[1].explains, "a/real"); /* known to bring it about */
    fx_judge(x);
    fx_top(x, "a/warning");
    assert_int_equal(x->d->causes[0].confidence, DG_LIKELY);
    fx_free(x);
}

static void test_a_warning_in_a_log_that_stops_is_no_cause(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/warning", "model-files", "missing"), 0, 50, "no generation_config.json");
    phase(x, 100, "weights");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    fx_find(x, fx_rule(x, "w/died", DG_ROLE_CONSEQUENCE, "", ""), 0, 300, "scheduler died"); /* it may have been that */
    fx_judge(x);
    fx_top(x, "a/warning");
    assert_int_equal(x->d->causes[0].confidence, DG_POSSIBLE);
    fx_fatal(x, 200, DG_FATAL_TRACEBACK, "FooError", "FooError: nobody knows");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_UNRECOGNISED);
    fx_free(x);
}

static void test_a_clean_stop_is_healthy(void **state) {
    (void)state;
    struct fx *x = fx_server();
    x->launches[0].pulses = 5;
    x->launches[0].last_pulse = fx_place(x, 0, 500, "200 OK");
    fx_rule(x, "f/stop", DG_ROLE_FACT, "", "")->ends = DG_ENDS_CLEAN;
    fx_find(x, &x->rules[0], 0, 900, "SIGTERM received");
    fx_find(x, fx_rule(x, "w/killed", DG_ROLE_CONSEQUENCE, "", ""), 0, 950, "killing children");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_HEALTHY);
    fx_free(x);
}

static void test_what_died_before_the_stop_is_not_healthy(void **state) {
    (void)state;
    struct fx *x = fx_server();
    x->launches[0].pulses = 5;
    x->launches[0].last_pulse = fx_place(x, 0, 500, "200 OK");
    fx_find(x, fx_rule(x, "w/dead", DG_ROLE_CONSEQUENCE, "", ""), 0, 850, "EngineDeadError");
    struct dg_rule *stop = fx_rule(x, "f/stop", DG_ROLE_FACT, "", "");
    stop->ends = DG_ENDS_CLEAN;
    fx_find(x, stop, 0, 900, "Shutting down");
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    fx_free(x);
}

static void test_what_could_not_be_read_is_never_healthy(void **state) {
    (void)state;
    struct fx *x = fx_new();
    fx_source(x, DG_KIND_KERNEL, "dmesg.txt", 1000, 2000);
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_HEALTHY);
    fx_source(x, DG_KIND_SERVER, "server.log", NAN, NAN);
    x->sources[1].error = (char *)(uintptr_t) "permission denied";
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    assert_int_equal(dg_reason_exit(x->d), 3);
    fx_free(x);
}

static void test_evidence_names_the_other_ranks(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_finding *f = fx_find(x, cause(x, "a/x", "arch-mismatch", "sm-guard"), 0, 72, "Unsupported architecture");
    f->first.rank = 5;
    f->last = fx_place(x, 0, 114, "Unsupported architecture");
    f->count = 5;
    f->ranks = 1u << 5 | 1u << 1 | 1u << 7;
    fx_judge(x);
    assert_int_equal(x->d->causes[0].evidence[0].line, 72);
    assert_int_equal(x->d->causes[0].evidence[0].count, 5);
    assert_int_equal(x->d->causes[0].n_evidence, 1); /* the echo is a count */
    assert_slice(x->d->causes[0].evidence[0].note, "the same on TP1, TP7");
    f->ranks = 0xff;
    f->last.text = DG_S("Unsupported architecture on rank 7");
    f->first.text = DG_S("Unsupported architecture on rank 5");
    fx_judge(x);
    assert_int_equal(x->d->causes[0].n_evidence, 1);
    assert_slice(x->d->causes[0].evidence[0].note, "and 7 more ranks");
    f->last.text = DG_S("Unsupported architecture, then told otherwise");
    fx_judge(x);
    assert_int_equal(x->d->causes[0].n_evidence, 2);
    assert_int_equal(x->d->causes[0].evidence[1].line, 114);
    fx_free(x);
}

static void test_two_findings_in_the_same_words_are_one_piece(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/x", "driver", "forward-compat"), 0, 20, "RuntimeError: error 804");
    fx_find(x, cause(x, "a/y", "driver", "not-loaded"), 0, 50, "RuntimeError: error 804");
    fx_find(x, cause(x, "a/z", "driver", "not-loaded"), 0, 60, "RuntimeError: error 803");
    fx_judge(x);
    assert_int_equal(x->d->causes[0].n_evidence, 2);
    assert_int_equal(x->d->causes[0].evidence[1].line, 60);
    fx_free(x);
}

static void test_a_warning_is_shown_where_it_became_fatal(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_finding *f = fx_find(x, cause(x, "a/x", "driver", "forward-compat"), 0, 20, "UserWarning: error 804");
    f->last = fx_place(x, 0, 90, "error 804");
    f->count = 3;
    fx_fatal(x, 57, DG_FATAL_TRACEBACK, "RuntimeError", "error 804");
    fx_fatal(x, 90, DG_FATAL_TRACEBACK, "RuntimeError", "error 804");
    fx_judge(x);
    assert_int_equal(x->d->causes[0].evidence[0].line, 57);
    assert_int_equal(x->d->causes[0].evidence[1].line, 20);
    fx_free(x);
}

static void test_not_what_it_looks_like(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_rule *killed = fx_rule(x, "w/killed", DG_ROLE_CONSEQUENCE, "", "");
    fx_list(x, &killed->suggests, "oom-host");
    killed->but = DG_S("printed for every dead child");
    fx_fact(x, 61, "free_at_capture", "23.9 GB");
    fx_find(x, cause(x, "a/x", "arch-mismatch", "sm-guard"), 0, 72, "Unsupported architecture");
    fx_find(x, killed, 0, 119, "exit code: -9");
    fx_judge(x);
    assert_int_equal(x->d->n_ruled_out, 2);
    assert_slice(x->d->ruled_out[0].class, "oom-host");
    assert_slice(x->d->ruled_out[0].reason, "printed for every dead child (line 119)");
    assert_slice(x->d->ruled_out[1].class, "oom-device");
    assert_slice(x->d->ruled_out[1].reason, "23.9 GB free when capture began (line 61)");
    fx_free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_earliest_wins),
        cmocka_unit_test(test_refines_and_explains_beat_order),
        cmocka_unit_test(test_what_the_device_contradicts_yields),
        cmocka_unit_test(test_refines_only_on_the_same_record),
        cmocka_unit_test(test_a_line_yields_to_what_ended_a_process),
        cmocka_unit_test(test_a_warning_yields_to_an_error),
        cmocka_unit_test(test_an_error_yields_to_no_later_one),
        cmocka_unit_test(test_a_rule_on_trial_yields_to_a_stable_one),
        cmocka_unit_test(test_a_symptom_stands_before_another_process_trouble),
        cmocka_unit_test(test_a_guess_stands_before_a_stop),
        cmocka_unit_test(test_a_symptom_yields),
        cmocka_unit_test(test_service_after_an_error_recovers_it),
        cmocka_unit_test(test_service_does_not_excuse_wrong_numbers),
        cmocka_unit_test(test_an_announced_fallback_recovers),
        cmocka_unit_test(test_noise_on_the_record_voids),
        cmocka_unit_test(test_rules_of_another_engine_or_version_do_not_count),
        cmocka_unit_test(test_unrecognised_gives_the_innermost_exception_and_a_stub),
        cmocka_unit_test(test_only_echoes_are_inconclusive),
        cmocka_unit_test(test_a_wrapper_covers_nothing_of_what_it_carries),
        cmocka_unit_test(test_a_death_after_service_is_not_healthy),
        cmocka_unit_test(test_a_health_check_after_the_death_excuses_nothing),
        cmocka_unit_test(test_an_unknown_exception_before_it_casts_doubt),
        cmocka_unit_test(test_what_the_launch_outlived_did_not_kill_it),
        cmocka_unit_test(test_a_warning_in_a_log_that_stops_is_no_cause),
        cmocka_unit_test(test_a_clean_stop_is_healthy),
        cmocka_unit_test(test_what_died_before_the_stop_is_not_healthy),
        cmocka_unit_test(test_what_could_not_be_read_is_never_healthy),
        cmocka_unit_test(test_evidence_names_the_other_ranks),
        cmocka_unit_test(test_two_findings_in_the_same_words_are_one_piece),
        cmocka_unit_test(test_a_warning_is_shown_where_it_became_fatal),
        cmocka_unit_test(test_not_what_it_looks_like),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
