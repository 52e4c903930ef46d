/* What is proposed on each axis, for each GPU generation and quantization, and in which order: tests/golden/ENGINE.tsv.
 * A row: axis, engine version, capability, quantization, model, the choices best first; '-' where nothing is stated. */
#include "reason_fixture.h"
#include "shipped_catalog.h"

enum column { AXIS, VERSION, CAPABILITY, QUANT, MODEL, CHOICES, N_COLUMNS };

static void state_fact(struct fx *x, const char *name, const char *value) {
    if (strcmp(value, "-")) fx_fact(x, 1, name, value);
}

/* The values that a cause which blames the axis brings, in one line. */
static void propose(const char *engine, char *const *cell, char *ret, size_t size) {
    struct fx *x = fx_server();
    unsigned major, minor;
    if (sscanf(cell[CAPABILITY], "%u.%u", &major, &minor) != 2) fail_msg("no capability: %s", cell[CAPABILITY]);
    fx_fact(x, 1, "engine", engine);
    state_fact(x, "engine_version", cell[VERSION]);
    state_fact(x, "quantization", cell[QUANT]);
    state_fact(x, "model", cell[MODEL]);
    struct dg_action action = {.propose = dg_cstr(cell[AXIS])};
    struct dg_rule *r = fx_rule(x, "golden/axis", DG_ROLE_CAUSE, "arch-mismatch", "sm-guard");
    r->actions = &action;
    r->n_actions = 1;
    fx_find(x, r, 0, 100, "no kernel");
    fx_stated_device(x, major, minor);
    x->opts.catalog = catalog;
    fx_judge(x);
    size_t n = 0;
    for (uint32_t i = 0; i < x->d->n_proposals && n < size; i++)
        n += (size_t)snprintf(ret + n, size - n, "%s%.*s", i ? " " : "", DG_FMT(x->d->proposals[i].value));
    if (!n) snprintf(ret, size, "-");
    fx_free(x);
}

static void check(const char *engine) {
    char path[4096], line[4096], got[1024];
    unsigned rows = 0, faults = 0;
    snprintf(path, sizeof(path), "%s/tests/golden/%s.tsv", getenv("SOURCE_DIR"), engine);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        char *cell[N_COLUMNS], *rest = line;
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#') continue;
        for (int i = 0; i < N_COLUMNS; i++)
            if (!(cell[i] = strsep(&rest, "\t"))) fail_msg("%s: too few columns after '%s'", path, line);
        propose(engine, cell, got, sizeof(got));
        rows++;
        if (!strcmp(got, cell[CHOICES])) continue;
        print_error("%s %s %s on %s, %s, %s:\n  want %s\n  got  %s\n", engine, cell[VERSION], cell[AXIS],
                    cell[CAPABILITY], cell[QUANT], cell[MODEL], cell[CHOICES], got);
        faults++;
    }
    fclose(f);
    assert_true(rows > 100);
    assert_int_equal(faults, 0);
}

static void test_sglang(void **state) {
    (void)state;
    check("sglang");
}

static void test_vllm(void **state) {
    (void)state;
    check("vllm");
}

/* A rule's own flag on an axis, with an engine of that version. */
static struct fx *with_flag(const char *engine, const char *version, struct dg_action *action) {
    struct fx *x = fx_server();
    fx_fact(x, 1, "engine", engine);
    fx_fact(x, 1, "engine_version", version);
    struct dg_rule *r = fx_rule(x, "golden/flag", DG_ROLE_CAUSE, "arch-mismatch", "sm-guard");
    r->actions = action;
    r->n_actions = 1;
    fx_find(x, r, 0, 100, "no kernel");
    fx_stated_device(x, 12, 0);
    x->opts.catalog = catalog;
    fx_judge(x);
    return x;
}

static void test_a_rule_is_spelled_as_the_release_does(void **state) {
    (void)state;
    struct dg_slice attention = DG_S("--attention-backend TRITON_ATTN"), gemm = DG_S("--fp4-gemm-backend marlin");
    struct dg_action take = {.text = DG_S("Take it"), .flags = {&attention, 1}};
    struct fx *x = with_flag("vllm", "0.17.1", &take);
    assert_int_equal(x->d->n_proposals, 1);
    assert_slice(x->d->proposals[0].flags.v[0], "--attention-backend TRITON_ATTN");
    fx_free(x);
    x = with_flag("vllm", "0.11.2", &take);
    assert_int_equal(x->d->n_proposals, 1);
    assert_int_equal(x->d->proposals[0].flags.n, 0);
    assert_slice(x->d->proposals[0].environment[0].name, "VLLM_ATTENTION_BACKEND");
    assert_slice(x->d->proposals[0].environment[0].value, "TRITON_ATTN");
    fx_free(x);
    take.flags.v = &gemm;
    x = with_flag("sglang", "0.5.18", &take);
    assert_int_equal(x->d->n_proposals, 1);
    fx_free(x);
    x = with_flag("sglang", "0.5.3", &take); /* it has no such flag yet */
    assert_int_equal(x->d->n_proposals, 0);
    fx_free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sglang), cmocka_unit_test(test_vllm),
                                       cmocka_unit_test(test_a_rule_is_spelled_as_the_release_does)};
    return cmocka_run_group_tests(tests, load, drop);
}
