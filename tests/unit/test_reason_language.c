/* Templates, value expressions and conditions of rules. */
#include "reason_fixture.h"
#include "reason/judge.h"

struct talk {
    struct fx *x;
    struct dg_judge j;
    struct dg_scope s;
};

static struct talk begin(void) {
    struct talk t = {.x = fx_server()};
    struct dg_rule *r = fx_rule(t.x, "a/x", DG_ROLE_CAUSE, "config", "bad-argument");
    static struct dg_capdef defs[] = {{DG_S_INIT("majors"), DG_CAP_INT_LIST, false},
                                      {DG_S_INIT("absent"), DG_CAP_INT, false}};
    r->captures = defs;
    r->n_captures = 2;
    struct dg_finding *f = fx_find(t.x, r, 0, 10, "text");
    fx_capture(t.x, f, "majors", "9, 10", DG_CAP_INT_LIST);
    fx_capture(t.x, f, "want", "1.50 GiB", DG_CAP_BYTES);
    fx_capture(t.x, f, "arches", "sm_80 sm_90 sm_120", DG_CAP_TEXT);
    fx_capture(t.x, f, "need", "10.x", DG_CAP_CC_SET);
    fx_capture(t.x, f, "dev", "SM120", DG_CAP_CC);
    fx_capture(t.x, f, "ver", "0.5.10.post1", DG_CAP_VERSION);
    fx_fact(t.x, 1, "mem-fraction-static", "0.88");
    fx_fact(t.x, 1, "phase", "graph-capture");
    fx_stated_device(t.x, 12, 0);
    fx_judge(t.x);
    t.j = (struct dg_judge){.opts = &t.x->opts, .scan = &t.x->scan, .arena = t.x->arena, .d = t.x->d};
    t.s = (struct dg_scope){.d = t.x->d, .finding = f};
    return t;
}

/* `want` NULL: nothing. */
static void expect(struct dg_slice got, const char *want) {
    if (!want)
        assert_null(got.ptr);
    else
        assert_slice(got, want);
}

static void filled(struct talk *t, const char *template, const char *want) {
    struct dg_slice got = dg_template_fill(&t->j, &t->s, dg_cstr(template));
    expect(got, want);
}

static void test_templates(void **state) {
    (void)state;
    struct talk t = begin();
    filled(&t, "code for {majors} only; this GPU is {device.cc}", "code for 9, 10 only; this GPU is 12.0");
    filled(&t, "--mem {fact.mem-fraction-static}", "--mem 0.88");
    filled(&t, "{fact.model|the model}", "the model");
    filled(&t, "{nothing}", NULL);
    filled(&t, "{nothing|}", "");
    filled(&t, "fuser -v {} + ${HOME} {\"a\": 1} {", "fuser -v {} + ${HOME} {\"a\": 1} {");
    t.s.value = DG_S("3");
    filled(&t, "{value} of {device.count}", "3 of 1");
    fx_free(t.x);
}

static void named(const char *message, const char *what, const char *want) {
    struct dg_finding f = {.last.text = dg_cstr(message)};
    char buf[64];
    struct dg_slice got = dg_named_in(&f, dg_cstr(what), buf);
    expect(got, want);
}

static void test_named(void **state) {
    (void)state;
    named("ValueError: use --no-async-scheduling, or --foo", "flag", "--no-async-scheduling");
    named("ValueError: odd -- very odd --", "flag", NULL);
    named("set VLLM_USE_V1=0 or CUDA_HOME", "variable", "VLLM_USE_V1");
    named("CHECK_EQ failed: CUDA_ERROR_NO_DEVICE, X_Y, VLLM_", "variable", NULL);
    named("block_size (2096) must be <= max_num_batched_tokens (2048).", "option",
          "block_size or max_num_batched_tokens");
    named("max_num_seqs must be set. See max_num_seqs.", "option", "max_num_seqs");
    named("model.layers.gate_proj, /a/b_c, run_it() and torch.float8_e4m3fn of <x_y>", "option", NULL);
    named("  File \"/x/site_packages/foo_bar\", line 3", "option", NULL);
    named("a_b is too short, so is a plain word", "option", NULL);
    named("ValueError: foo_bar", "colour", NULL);
    assert_null(dg_named_in(NULL, DG_S("flag"), NULL).ptr);
}

static void value(struct talk *t, const char *expr, const char *want) {
    struct dg_slice got = dg_value_eval(&t->j, &t->s, dg_cstr(expr));
    expect(got, want);
}

static void test_values(void **state) {
    (void)state;
    struct talk t = begin();
    value(&t, "round(scale(fact.mem-fraction-static, 0.93), 0.01)", "0.82");
    value(&t, "div(want, 1073741824)", "1.5");
    value(&t, "floor(div(want, 1073741824))", "1");
    value(&t, "clamp(scale(2, 100), 1, 64)", "64");
    value(&t, "max(min(3, 4), sub(10, 9))", "3");
    value(&t, "floor(17, 5)", "15");
    value(&t, "div(1, 0)", NULL);
    value(&t, "div(1, nothing)", NULL);
    value(&t, "round(1, 2, 3, 4, 5)", NULL);
    value(&t, "round(1) extra", NULL);
    value(&t, "round(round(round(round(round(round(round(round(round(round(1))))))))))", NULL);
    value(&t, "evil(1)", NULL);
    value(&t, "scale(1e300, 1e300)", NULL);
    value(&t, "plain {device.cc}", "plain 12.0");
    fx_free(t.x);
}

static void cond(struct talk *t, const char *left, enum dg_op op, const char *right, int want) {
    struct dg_cond c = {dg_cstr(left), dg_cstr(right), op};
    int got = dg_cond_eval(&t->s, &c);
    if (got != want) fail_msg("%s %d %s is %d, not %d", left, (int)op, right, got, want);
}

static void test_conditions(void **state) {
    (void)state;
    struct talk t = begin();
    cond(&t, "device.major", DG_OP_NOT_IN, "majors", 1);
    cond(&t, "device.major", DG_OP_IN, "majors", 0);
    cond(&t, "device.cc", DG_OP_IN, "need", 0);
    cond(&t, "device.cc", DG_OP_EQ, "dev", 1);
    cond(&t, "device.cc", DG_OP_LT, "'9.0'", 0);
    cond(&t, "device.cc", DG_OP_IN, "'12.x'", 1);
    cond(&t, "arches", DG_OP_LOADS_ON, "device.cc", 1);
    cond(&t, "need", DG_OP_LOADS_ON, "device.cc", 0);
    cond(&t, "fact.phase", DG_OP_EQ, "graph-capture", 1);
    cond(&t, "fact.phase", DG_OP_NE, "'graph-capture'", 0);
    cond(&t, "fact.model", DG_OP_EQ, "null", 1);
    cond(&t, "fact.model", DG_OP_EQ, "x", -1);
    cond(&t, "absent", DG_OP_EQ, "1", -1);
    cond(&t, "absent", DG_OP_NE, "null", 0);
    cond(&t, "want", DG_OP_GT, "1000000000", 1);
    cond(&t, "ver", DG_OP_GE, "'0.5.9'", 1);
    cond(&t, "device.driver", DG_OP_LT, "'580'", -1);
    fx_free(t.x);
}

static void test_the_device_confirms_or_contradicts(void **state) {
    (void)state;
    struct talk t = begin();
    struct dg_rule *r = &t.x->rules[0];
    r->confirms = (struct dg_cond){DG_S("device.major"), DG_S("majors"), DG_OP_NOT_IN};
    r->contradicts = (struct dg_cond){DG_S("device.major"), DG_S("majors"), DG_OP_IN};
    r->has_confirms = r->has_contradicts = true;
    fx_fatal(t.x, 10, DG_FATAL_TRACEBACK, "RuntimeError", "text");
    fx_judge(t.x);
    assert_int_equal(t.x->d->causes[0].device_check, DG_CHECK_CONFIRMS);
    assert_int_equal(t.x->d->causes[0].confidence, DG_CERTAIN);
    t.x->devices[0].cc.major = 10;
    fx_judge(t.x);
    assert_int_equal(t.x->d->causes[0].device_check, DG_CHECK_CONTRADICTS);
    assert_int_equal(t.x->d->causes[0].confidence, DG_POSSIBLE);
    t.x->opts.device_stated = false; /* live, and nothing shows that the log is of this machine */
    t.x->devices[0].origin = DG_ORIGIN_LIVE;
    fx_judge(t.x);
    assert_int_equal(t.x->d->causes[0].device_check, DG_CHECK_NONE);
    assert_true(fx_says(&t.x->d->not_checked, "another machine"));
    fx_free(t.x);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_templates), cmocka_unit_test(test_named),
                                       cmocka_unit_test(test_values), cmocka_unit_test(test_conditions),
                                       cmocka_unit_test(test_the_device_confirms_or_contradicts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
