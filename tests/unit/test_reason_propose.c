/* What to try next: the catalog's choices, history, order, relaunch. The catalog is the shipped one. */
#include "reason_fixture.h"
#include "shipped_catalog.h"

static struct dg_action propose_moe = {.propose = DG_S_INIT("moe-runner-backend")};

/* SGLang dies of its MoE backend. */
static struct fx *moe_failure(const char *version, unsigned major, unsigned minor) {
    struct fx *x = fx_server();
    fx_fact(x, 1, "engine", "sglang");
    if (version) fx_fact(x, 1, "engine_version", version);
    fx_fact(x, 1, "model", "org/Thing-A3B-NVFP4");
    fx_fact(x, 1, "quantization", "modelopt_fp4");
    fx_fact(x, 1, "moe-runner-backend", "flashinfer_trtllm");
    fx_fact(x, 5, "phase", "graph-capture");
    struct dg_rule *r = fx_rule(x, "a/moe", DG_ROLE_CAUSE, "arch-mismatch", "sm-guard");
    r->actions = &propose_moe;
    r->n_actions = 1;
    fx_find(x, r, 0, 100, "no kernel");
    fx_stated_device(x, major, minor);
    x->opts.catalog = catalog;
    return x;
}

static void proposes(const struct fx *x, uint32_t i, const char *value) {
    if (i >= x->d->n_proposals) fail_msg("only %u proposals", x->d->n_proposals);
    if (!dg_slice_is(x->d->proposals[i].value, value))
        fail_msg("%u: %.*s, not %s", i, DG_FMT(x->d->proposals[i].value), value);
}

static void test_workstation_blackwell(void **state) {
    (void)state;
    struct fx *x = moe_failure("0.5.16", 12, 0);
    fx_judge(x);
    assert_int_equal(x->d->n_proposals, 2);
    proposes(x, 0, "flashinfer_cutlass");
    proposes(x, 1, "marlin");
    assert_slice(x->d->proposals[0].action, "Take --moe-runner-backend flashinfer_cutlass");
    assert_slice(x->d->proposals[0].flags.v[0], "--moe-runner-backend flashinfer_cutlass");
    assert_true(x->d->n_avoid > 0);
    assert_slice(x->d->avoid[0].action, "--moe-runner-backend flashinfer_trtllm");
    assert_slice(x->d->free_first, "free the GPUs first:  diagnose device --check");
    assert_slice(x->d->attempt.choices[0].value, "flashinfer_trtllm");
    fx_free(x);
}

static void test_an_unknown_gpu_is_none_of_the_refused_choice(void **state) {
    (void)state;
    struct fx *x = moe_failure(NULL, 0, 0);
    fx_judge(x);
    assert_true(x->d->n_proposals >= 1);
    for (uint32_t i = 0; i < x->d->n_proposals;
         i++) { /* both run on 10.x alone, where flashinfer_trtllm would have run */
        assert_false(dg_slice_is(x->d->proposals[i].value, "flashinfer_trtllm_routed"));
        assert_false(dg_slice_is(x->d->proposals[i].value, "flashinfer_cutedsl"));
    }
    fx_free(x);
}

static void test_an_unknown_version_warns_of_wrong_output(void **state) {
    (void)state;
    struct fx *x = moe_failure(NULL, 12, 0);
    fx_judge(x);
    assert_true(x->d->n_proposals >= 1);
    const struct dg_proposal *first = &x->d->proposals[0];
    assert_slice(first->value, "flashinfer_cutlass"); /* wrong in old releases only: in its place, with the check */
    assert_true(fx_says(&first->cautions, "check the output"));
    assert_true(
        fx_says(&first->cautions, "check the output (diagnose smoke): in releases before 0.5.10 it was wrong: "));
    assert_true(fx_says(&first->cautions, "in releases before 0.5.10 it fails: "));
    assert_true(fx_says(&first->cautions, "it needs flashinfer-python; nvcc+ninja"));
    assert_true(fx_says(&first->cautions, "; nvcc >= 12.9")); /* needed on 12.x, which this is */
    for (uint32_t i = 0; i < x->d->n_proposals; i++)
        assert_false(dg_slice_is(x->d->proposals[i].value, "flashinfer_trtllm"));
    fx_free(x);
}

static void test_what_another_choice_needs_is_spelt_out(void **state) {
    (void)state;
    struct fx *x = moe_failure("0.5.16", 10, 0);
    fx_fact(x, 2, "model", "org/MiniMax-M2-NVFP4");
    fx_judge(x);
    proposes(x, 1, "flashinfer_trtllm_routed"); /* needs: as flashinfer_trtllm */
    assert_true(fx_says(&x->d->proposals[1].cautions, "it needs flashinfer-python; trtllm-gen cubins"));
    assert_true(fx_says(&x->d->proposals[1].cautions, "it rearranges the weights after loading"));
    fx_free(x);
}

static void test_datacenter_blackwell_has_another_order(void **state) {
    (void)state;
    struct fx *x = moe_failure("0.5.16", 10, 0);
    fx_judge(x);
    proposes(x, 0, "flashinfer_cutedsl"); /* flashinfer_trtllm is what failed */
    proposes(x, 1, "flashinfer_cutlass");
    fx_free(x);
}

static void test_history_decides(void **state) {
    (void)state;
    struct fx *x = moe_failure("0.5.16", 12, 0);
    struct dg_tried tried[] = {{.axis = DG_S("moe-runner-backend"),
                                .value = DG_S("flashinfer_cutlass"),
                                .outcome = DG_S("garbage"),
                                .age_days = 2,
                                .same_key = true},
                               {.axis = DG_S("moe-runner-backend"),
                                .value = DG_S("marlin"),
                                .outcome = DG_S("works"),
                                .age_days = 3,
                                .same_key = true}};
    struct dg_history_view view = {tried, 2};
    x->opts.history = &view;
    fx_judge(x);
    assert_int_equal(x->d->n_proposals, 1);
    proposes(x, 0, "marlin");
    assert_slice(x->d->proposals[0].evidence, "verified-here");
    tried[0].same_key = tried[1].same_key = false; /* another model's past says nothing */
    fx_judge(x);
    assert_int_equal(x->d->n_proposals, 2);
    fx_free(x);
}

static void test_cleanup_is_never_first(void **state) {
    (void)state;
    struct fx *x = fx_server();
    static struct dg_action actions[] = {
        {.text = DG_S_INIT("Kill the leftover"), .kind = DG_S_INIT("cleanup"), .command = DG_S_INIT("kill 1")},
        {.text = DG_S_INIT("See who holds it"),
         .kind = DG_S_INIT("command"),
         .command = DG_S_INIT("fuser -v /dev/nvidia0")}};
    struct dg_rule *r = fx_rule(x, "a/held", DG_ROLE_CAUSE, "oom-device", "other-process");
    r->actions = actions;
    r->n_actions = 2;
    fx_find(x, r, 0, 100, "out of memory");
    fx_judge(x);
    assert_slice(x->d->proposals[0].action, "See who holds it");
    assert_slice(x->d->proposals[1].action, "Kill the leftover");
    fx_free(x);
}

static void test_actions_are_filtered(void **state) {
    (void)state;
    struct fx *x = fx_server();
    static struct dg_for vllm = {DG_S_INIT("vllm"), DG_S_INIT("*")};
    static struct dg_cond capture = {DG_S_INIT("fact.phase"), DG_S_INIT("graph-capture"), DG_OP_EQ};
    static struct dg_slice less = DG_S_INIT("--mem-fraction-static {value}");
    static struct dg_action actions[] = {{.text = DG_S_INIT("For another engine"), .fors = {&vllm, 1}},
                                         {.text = DG_S_INIT("Lower it to {value}"),
                                          .flags = {&less, 1},
                                          .when = {&capture, 1},
                                          .value = DG_S_INIT("round(scale(fact.mem-fraction-static, 0.93), 0.01)")},
                                         {.text = DG_S_INIT("Needs {something}")}};
    struct dg_rule *r = fx_rule(x, "a/oom", DG_ROLE_CAUSE, "oom-device", "graph-capture");
    r->actions = actions;
    r->n_actions = 3;
    fx_fact(x, 1, "engine", "sglang");
    fx_fact(x, 2, "mem-fraction-static", "0.88");
    fx_fact(x, 3, "phase", "graph-capture");
    fx_find(x, r, 0, 100, "out of memory");
    fx_judge(x);
    assert_int_equal(x->d->n_proposals, 1);
    assert_slice(x->d->proposals[0].action, "Lower it to 0.82");
    assert_slice(x->d->proposals[0].flags.v[0], "--mem-fraction-static 0.82");
    assert_slice(x->d->proposals[0].kind, "setting");
    fx_free(x);
}

static void test_an_unknown_engine_is_named(void **state) {
    (void)state;
    struct fx *x = fx_server();
    static struct dg_for vllm = {DG_S_INIT("vllm"), DG_S_INIT("*")}, old = {DG_S_INIT("sglang"), DG_S_INIT("<0.4")};
    static struct dg_action actions[] = {{.text = DG_S_INIT("Lower the length"), .fors = {&vllm, 1}},
                                         {.text = DG_S_INIT("Only old ones"), .fors = {&old, 1}}};
    struct dg_rule *r = fx_rule(x, "a/oom", DG_ROLE_CAUSE, "oom-device", "kv-cache");
    r->actions = actions;
    r->n_actions = 2;
    fx_find(x, r, 0, 100, "no memory");
    fx_judge(x);
    assert_int_equal(x->d->n_proposals, 1);
    assert_slice(x->d->proposals[0].action, "vllm: Lower the length");
    fx_free(x);
}

static void relaunches(const char *command, const char *want) {
    struct fx *x = moe_failure("0.5.16", 12, 0);
    x->opts.command = dg_cstr(command);
    fx_judge(x);
    if (want)
        assert_slice(x->d->proposals[0].command, want);
    else
        assert_null(x->d->proposals[0].command.ptr);
    fx_free(x);
}

static void test_relaunch(void **state) {
    (void)state;
    relaunches("python -m sglang.launch_server --model-path /m/x --moe-runner-backend flashinfer_trtllm --tp 8",
               "python -m sglang.launch_server --model-path /m/x --tp 8 --moe-runner-backend flashinfer_cutlass");
    relaunches("sglang serve --moe-runner-backend=flashinfer_trtllm 'a b' \"it's\"",
               "sglang serve 'a b' 'it'\\''s' --moe-runner-backend flashinfer_cutlass");
    relaunches("sglang serve x; rm -rf /", NULL);
    relaunches("sglang serve $(id)", NULL);
    relaunches("sglang serve \"$(id)\"", NULL);
    relaunches("sglang serve x > log", NULL);
    relaunches("sglang serve 'unfinished", NULL);
    relaunches("", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_workstation_blackwell),
                                       cmocka_unit_test(test_an_unknown_version_warns_of_wrong_output),
                                       cmocka_unit_test(test_an_unknown_gpu_is_none_of_the_refused_choice),
                                       cmocka_unit_test(test_what_another_choice_needs_is_spelt_out),
                                       cmocka_unit_test(test_datacenter_blackwell_has_another_order),
                                       cmocka_unit_test(test_history_decides),
                                       cmocka_unit_test(test_cleanup_is_never_first),
                                       cmocka_unit_test(test_an_unknown_engine_is_named),
                                       cmocka_unit_test(test_actions_are_filtered),
                                       cmocka_unit_test(test_relaunch)};
    return cmocka_run_group_tests(tests, load, drop);
}
