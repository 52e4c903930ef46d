/* Which launch is judged, and what is known about the attempt. */
#include "reason_fixture.h"

static struct dg_rule *cause(struct fx *x, const char *id, const char *class, const char *sub) {
    return fx_rule(x, id, DG_ROLE_CAUSE, class, sub);
}

/* One log with three launches, of 300 lines each. */
static struct fx *three(void) {
    struct fx *x = fx_new();
    fx_source(x, DG_KIND_SERVER, "server.log", 1000, 2000);
    for (uint64_t i = 0; i < 3; i++) fx_launch(x, 0, 1 + 300 * i, 300 + 300 * i);
    return x;
}

static void test_the_last_is_judged(void **state) {
    (void)state;
    struct fx *x = three();
    fx_find(x, cause(x, "a/one", "config", "bad-argument"), 0, 100, "one");
    fx_find(x, cause(x, "a/three", "config", "quantization"), 0, 700, "three");
    fx_judge(x);
    fx_top(x, "a/three");
    assert_int_equal(x->d->judged, 3);
    assert_int_equal(x->d->n_launches, 3);
    assert_slice(x->d->launches[0].outcome, "failure");
    assert_slice(x->d->launches[1].outcome, "inconclusive");
    fx_free(x);
}

static void test_an_echo_is_passed_over(void **state) {
    (void)state;
    struct fx *x = three();
    fx_find(x, cause(x, "a/real", "arch-mismatch", "sm-guard"), 0, 400, "real");
    fx_find(x, cause(x, "a/port", "comm", "port-in-use"), 0, 700, "address already in use");
    fx_judge(x);
    fx_top(x, "a/real");
    assert_int_equal(x->d->judged, 2);
    assert_slice(x->d->launches[2].outcome, "echo");
    fx_free(x);
}

static void test_a_port_in_use_without_a_failure_before_is_the_cause(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_find(x, cause(x, "a/port", "comm", "port-in-use"), 0, 700, "address already in use");
    fx_judge(x);
    fx_top(x, "a/port");
    fx_free(x);
}

static void test_the_first_lines_of_a_new_start_tell_nothing(void **state) {
    (void)state;
    struct fx *x = three();
    fx_find(x, cause(x, "a/real", "kernel-fault", "device-assert"), 0, 400, "real");
    fx_fact(x, 700, "phase", "arguments");
    fx_judge(x);
    fx_top(x, "a/real");
    assert_int_equal(x->d->judged, 2);
    assert_slice(x->d->launches[2].outcome, "inconclusive");
    fx_fact(x, 800, "phase", "weights"); /* it went on: why it stopped is a question of its own */
    fx_judge(x);
    assert_int_equal(x->d->judged, 3);
    fx_free(x);
}

static void test_a_file_without_a_start_is_no_server(void **state) {
    (void)state;
    struct fx *x = fx_new();
    fx_source(x, DG_KIND_SERVER, "server.log", 1000, 2000);
    fx_source(x, DG_KIND_UNKNOWN, "notes.txt", 90000, 90100);
    fx_launch(x, 0, 1, 1000);
    fx_launch(x, 1, 1, 1000)->begun = false;
    fx_find(x, cause(x, "a/real", "driver", "no-device"), 0, 800, "real");
    fx_judge(x);
    fx_top(x, "a/real");
    fx_free(x);
}

static void test_a_launch_can_be_asked_for(void **state) {
    (void)state;
    struct fx *x = three();
    struct dg_err err = {0};
    fx_find(x, cause(x, "a/one", "config", "bad-argument"), 0, 100, "one");
    x->opts.launch = 1;
    fx_judge(x);
    fx_top(x, "a/one");
    x->opts.launch = 4;
    assert_int_equal(dg_reason(&x->opts, x->arena, &x->d, &err), -DG_E_NOTFOUND);
    fx_free(x);
}

static void test_sources_that_overlap_are_one_launch(void **state) {
    (void)state;
    struct fx *x = fx_new();
    fx_source(x, DG_KIND_SERVER, "node0.log", 1000, 2000);
    fx_source(x, DG_KIND_SERVER, "node1.log", 1010, 2100);
    fx_launch(x, 0, 1, 1000);
    fx_launch(x, 1, 1, 1000);
    fx_find(x, cause(x, "a/node0", "comm", "p2p"), 0, 800, "node 0");
    fx_judge(x);
    fx_top(x, "a/node0");
    x->sources[1].first_time = x->launches[1].first_time = 5000; /* another day's log: the latest is judged */
    x->sources[1].last_time = x->launches[1].last_time = 6000;
    fx_judge(x);
    assert_int_equal(x->d->status, DG_STATUS_INCONCLUSIVE);
    fx_free(x);
}

static struct dg_rule *args_rule(struct fx *x) {
    struct dg_rule *r = fx_rule(x, "facts/args", DG_ROLE_FACT, "", "");
    static struct dg_parse parse = {DG_S_INIT("args"), DG_PARSE_PYTHON_KWARGS};
    static struct dg_set set[] = {{DG_S_INIT("engine"), DG_S_INIT("sglang")},
                                  {DG_S_INIT("model"), DG_S_INIT("args.model_path")},
                                  {DG_S_INIT("quantization"), DG_S_INIT("args.quantization")},
                                  {DG_S_INIT("choices"), DG_S_INIT("args.*")}};
    r->parse = &parse;
    r->n_parse = 1;
    r->set = set;
    r->n_set = DG_COUNT(set);
    return r;
}

static void test_an_argument_dump_makes_the_attempt(void **state) {
    (void)state;
    struct fx *x = fx_server();
    struct dg_finding *f = fx_find(x, args_rule(x), 0, 2, "server_args=…");
    fx_capture(x, f, "args", "model_path='org/Nice-70B-NVFP4', tp_size=8, quantization=None, mem_fraction_static=0.85",
               DG_CAP_TEXT);
    fx_fact(x, 10, "phase", "weights");
    fx_fact(x, 20, "phase", "graph-capture");
    fx_find(x, cause(x, "a/x", "oom-device", "graph-capture"), 0, 30, "out of memory");
    fx_judge(x);
    const struct dg_attempt *a = &x->d->attempt;
    assert_slice(a->engine, "sglang");
    assert_slice(a->model, "org/Nice-70B-NVFP4");
    assert_slice(a->model_family, "Nice");
    assert_slice(a->quantization, "nvfp4"); /* None in the dump; the name says it */
    assert_slice(a->phase, "graph-capture");
    assert_int_equal(a->tensor_parallel, 8);
    assert_slice(dg_facts_get(&a->facts, DG_S("mem-fraction-static")), "0.85");
    fx_free(x);
}

static void test_what_is_stated_wins(void **state) {
    (void)state;
    struct fx *x = fx_server();
    fx_fact(x, 1, "engine", "sglang");
    x->opts.engine = DG_S("vllm");
    x->opts.command = DG_S("vllm serve x/y --tensor-parallel-size 4");
    fx_judge(x);
    assert_slice(x->d->attempt.engine, "vllm");
    assert_int_equal(x->d->attempt.tensor_parallel, 4);
    assert_slice(x->d->attempt.command, "vllm serve x/y --tensor-parallel-size 4");
    fx_free(x);
}

/* Each allocation may fail; the answer is then -DG_E_NOMEM and nothing else. */
static int judge_all(void *arg) {
    struct fx *x = arg;
    struct dg_arena *arena = dg_arena_new(0);
    struct dg_diagnosis *d = NULL;
    if (!arena) return -DG_E_NOMEM;
    int r = dg_reason(&x->opts, arena, &d, NULL);
    if (!r) r = dg_propose(&x->opts, arena, d);
    dg_arena_free(arena);
    return r;
}

static void test_out_of_memory(void **state) {
    (void)state;
    struct fx *x = three();
    struct dg_rule *r = cause(x, "a/x", "oom-device", "graph-capture");
    static struct dg_slice less = {"--less 1", 8};
    static struct dg_action action = {.text = {"Take less", 9}, .flags = {&less, 1}};
    r->actions = &action;
    r->n_actions = 1;
    fx_find(x, r, 0, 700, "out of memory");
    fx_fatal(x, 700, DG_FATAL_TRACEBACK, "RuntimeError", "out of memory");
    dg_arena_debug = true;
    assert_true(unit_fail_each(judge_all, x) > 10);
    dg_arena_debug = false;
    fx_free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_is_judged),
        cmocka_unit_test(test_an_echo_is_passed_over),
        cmocka_unit_test(test_a_port_in_use_without_a_failure_before_is_the_cause),
        cmocka_unit_test(test_the_first_lines_of_a_new_start_tell_nothing),
        cmocka_unit_test(test_a_file_without_a_start_is_no_server),
        cmocka_unit_test(test_a_launch_can_be_asked_for),
        cmocka_unit_test(test_sources_that_overlap_are_one_launch),
        cmocka_unit_test(test_an_argument_dump_makes_the_attempt),
        cmocka_unit_test(test_what_is_stated_wins),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
