/* The shipped catalog: no faults, and what it says about the choices that people fall over most. */
#include "catalog/catalog.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct dg_catalog *catalog;

static int load(void **state) {
    (void)state;
    char path[4096];
    struct dg_problems probs = {0};
    snprintf(path, sizeof(path), "%s/rules", getenv("SOURCE_DIR"));
    const char *paths[] = {path};
    catalog = dg_catalog_load(paths, 1, &probs);
    if (!catalog || dg_catalog_all(catalog)) return 1;
    for (size_t i = 0; i < probs.n; i++) print_error("%s:%u: %s\n", probs.v[i].file, probs.v[i].line, probs.v[i].msg);
    return probs.n ? 1 : 0;
}

static int drop(void **state) {
    (void)state;
    dg_catalog_free(catalog);
    return 0;
}

static struct dg_cat_key key(const char *version, unsigned major, unsigned minor, const char *quant,
                             const char *model) {
    return (struct dg_cat_key){
        dg_cstr(version), {(uint8_t)major, (uint8_t)minor}, dg_cstr(quant), {NULL, 0}, dg_cstr(model)};
}

static const struct dg_cat_axis *axis(const char *engine, const char *name, const struct dg_cat_engine **ret) {
    *ret = dg_catalog_engine(catalog, dg_cstr(engine));
    assert_non_null(*ret);
    const struct dg_cat_axis *a = dg_catalog_axis(*ret, dg_cstr(name));
    assert_non_null(a);
    return a;
}

static bool runs(const char *engine, const char *axis_name, const char *choice, struct dg_cat_key k) {
    const struct dg_cat_engine *e;
    const struct dg_cat_axis *a = axis(engine, axis_name, &e);
    const struct dg_cat_choice *c = dg_catalog_choice(a, dg_cstr(choice));
    assert_non_null(c);
    return dg_catalog_runs(e, c, &k);
}

static void first_is(const char *engine, const char *axis_name, struct dg_cat_key k, const char *want) {
    const struct dg_cat_engine *e;
    const struct dg_cat_axis *a = axis(engine, axis_name, &e);
    const struct dg_cat_order *o = dg_catalog_order(e, a, &k);
    assert_non_null(o);
    assert_true(o->names.n > 0);
    if (!dg_slice_is(o->names.v[0], want)) fail_msg("%.*s, not %s", DG_FMT(o->names.v[0]), want);
}

static void test_all_engines_are_there(void **state) {
    (void)state;
    static const char *const names[] = {"sglang", "vllm", "tensorrt-llm", "llama.cpp"};
    for (size_t i = 0; i < DG_COUNT(names); i++) assert_non_null(dg_catalog_engine(catalog, dg_cstr(names[i])));
}

static void test_every_order_can_be_followed(void **state) {
    (void)state;
    for (uint32_t i = 0; i < catalog->n_engines; i++)
        for (uint32_t k = 0; k < catalog->engines[i].n_axes; k++) {
            const struct dg_cat_axis *a = &catalog->engines[i].axes[k];
            assert_true(a->n_spellings > 0);
            for (uint32_t n = 0; n < a->n_orders; n++) assert_true(a->orders[n].names.n > 0);
            for (uint32_t n = 0; n < a->n_choices; n++)
                for (uint32_t b = 0; b < a->choices[n].n_bad; b++) assert_true(a->choices[n].bad[b].source.len > 0);
        }
}

static void test_nvfp4_moe_on_workstation_blackwell(void **state) {
    (void)state;
    struct dg_cat_key k = key("0.5.16", 12, 0, "modelopt_fp4", "x/Y-NVFP4");
    assert_false(runs("sglang", "moe-runner-backend", "flashinfer_trtllm", k));
    assert_false(runs("sglang", "moe-runner-backend", "flashinfer_cutedsl", k));
    assert_true(runs("sglang", "moe-runner-backend", "flashinfer_cutlass", k));
    assert_true(runs("sglang", "moe-runner-backend", "marlin", k));
    first_is("sglang", "moe-runner-backend", k, "flashinfer_cutlass");
    first_is("sglang", "moe-runner-backend", key("0.5.16", 12, 1, "modelopt_fp4", ""), "marlin");
    first_is("sglang", "moe-runner-backend", key("0.5.16", 10, 0, "modelopt_fp4", ""), "flashinfer_trtllm");
    first_is("sglang", "moe-runner-backend", key("0.5.16", 10, 0, "modelopt_fp4", "org/MiniMax-M2.7-NVFP4"),
             "flashinfer_cutlass");
}

static void test_versions_decide(void **state) {
    (void)state;
    assert_false(runs("sglang", "moe-runner-backend", "marlin", key("0.5.9", 12, 0, "modelopt_fp4", "")));
    assert_true(runs("sglang", "moe-runner-backend", "cutlass", key("0.5.13", 12, 0, "modelopt_fp4", "")));
    assert_false(runs("sglang", "moe-runner-backend", "cutlass", key("0.5.16", 12, 0, "modelopt_fp4", "")));
    const struct dg_cat_engine *e;
    const struct dg_cat_axis *a = axis("vllm", "attention-backend", &e);
    assert_true(dg_slice_is(dg_catalog_spelling(a, DG_S("0.10.1"))->env, "VLLM_ATTENTION_BACKEND"));
    assert_true(dg_slice_is(dg_catalog_spelling(a, DG_S("0.18.0"))->flag, "--attention-backend"));
    a = axis("sglang", "nsa_prefill_backend", &e);
    assert_true(dg_slice_is(dg_catalog_spelling(a, DG_S("0.5.9"))->flag, "--nsa-prefill-backend"));
    assert_true(dg_slice_is(dg_catalog_spelling(a, DG_S("0.5.16"))->flag, "--dsa-prefill-backend"));
}

static void test_auto_is_resolved(void **state) {
    (void)state;
    const struct dg_cat_engine *e;
    const struct dg_cat_axis *a = axis("sglang", "moe-runner-backend", &e);
    struct dg_cat_key k = key("0.5.16", 12, 0, "modelopt_fp4", "");
    struct dg_slice trap = {NULL, 0};
    assert_true(dg_slice_is(dg_catalog_auto(e, a, &k, &trap), "flashinfer_cutlass"));
    assert_true(trap.len > 0);
    k = key("0.5.16", 10, 0, "fp8", "deepseek-ai/DeepSeek-V3.1");
    assert_true(dg_slice_is(dg_catalog_auto(e, a, &k, NULL), "flashinfer_trtllm"));
}

static void test_attention_of_hybrid_models(void **state) {
    (void)state;
    first_is("sglang", "attention-backend", key("0.5.9", 12, 0, "", "Qwen/Qwen3-Next-80B-A3B-Instruct"), "triton");
    first_is("vllm", "attention-backend", key("0.18", 12, 0, "mxfp4", "openai/gpt-oss-120b"), "TRITON_ATTN");
    first_is("sglang", "attention-backend", key("0.5.16", 12, 0, "", "deepseek-ai/DeepSeek-R1"), "triton");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_engines_are_there),
                                       cmocka_unit_test(test_every_order_can_be_followed),
                                       cmocka_unit_test(test_nvfp4_moe_on_workstation_blackwell),
                                       cmocka_unit_test(test_versions_decide),
                                       cmocka_unit_test(test_auto_is_resolved),
                                       cmocka_unit_test(test_attention_of_hybrid_models)};
    return cmocka_run_group_tests(tests, load, drop);
}
