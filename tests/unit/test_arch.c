#include "unit.h"
#include "arch/arch.h"
#include <stdio.h>

static struct dg_cc cc(const char *text) {
    struct dg_cc c = {0};
    assert_true(dg_cc_parse(dg_cstr(text), &c));
    return c;
}

/* ---- targets and sets ---- */

static void reads_targets(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned major, minor;
        char suffix;
    } good[] = {{"12.0", 12, 0, 0},      {"120", 12, 0, 0},       {"sm_120", 12, 0, 0},       {"SM120", 12, 0, 0},
                {"SM 120", 12, 0, 0},    {"90", 9, 0, 0},         {"compute_90a", 9, 0, 'a'}, {"121a", 12, 1, 'a'},
                {"sm_100f", 10, 0, 'f'}, {"12.0f", 12, 0, 'f'},   {" 8.9 ", 8, 9, 0},         {"sm-86", 8, 6, 0},
                {"10.10", 10, 10, 0},    {"sm_12.1a", 12, 1, 'a'}};
    for (size_t i = 0; i < DG_COUNT(good); i++) {
        struct dg_target t;
        assert_true(dg_target_parse(dg_cstr(good[i].text), &t));
        assert_int_equal(t.cc.major, good[i].major);
        assert_int_equal(t.cc.minor, good[i].minor);
        assert_int_equal(t.suffix, good[i].suffix);
    }
    static const char *const bad[] = {"",       "9",    "sm_", "sm_9", "1200", "12.",   ".5",     "12.0.1",
                                      "sm_90b", "90aa", "x90", "0.5",  "05",   "123.0", "12.123", "-90"};
    struct dg_cc c;
    for (size_t i = 0; i < DG_COUNT(bad); i++) assert_false(dg_cc_parse(dg_cstr(bad[i]), &c));
}

static void writes_targets(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(100);
    dg_cc_add(&b, cc("sm_103"));
    dg_buf_addc(&b, ' ');
    dg_target_add(&b, (struct dg_target){{9, 0}, 'a'});
    dg_buf_addc(&b, ' ');
    dg_target_add(&b, (struct dg_target){{12, 0}, 0});
    assert_string_equal(b.ptr, "10.3 sm_90a sm_120");
}

/* `text` becomes `shown`; of the capabilities below those in `has`, and no others, are in it. */
static void check_set(const struct dg_capset *set, const char *shown, const char *has) {
    static const char *const all[] = {"7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "12.0", "12.1", "13.0"};
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(200), in = DG_BUF_INIT(200);
    dg_capset_add(&b, set);
    assert_string_equal(b.ptr, shown);
    for (size_t i = 0; i < DG_COUNT(all); i++)
        if (dg_capset_has(set, cc(all[i]))) dg_buf_addf(&in, "%s%s", in.len ? " " : "", all[i]);
    assert_slice(dg_buf_slice(&in), has);
    struct dg_capset again;
    assert_int_equal(dg_capset_parse(dg_buf_slice(&b), &again, NULL), 0);
    assert_int_equal(again.n, set->n); /* what is written reads back */
    assert_memory_equal(again.r, set->r, sizeof(again.r));
}

static void reads_sets(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"9.0", "9.0", "9.0"},
        {"12.x", "12.x", "12.0 12.1"},
        {"8.0-8.9", "8.0-8.9", "8.0 8.6 8.9"},
        {">=8.9", ">=8.9", "8.9 9.0 10.0 10.3 12.0 12.1 13.0"},
        {">8.9", ">=8.10", "9.0 10.0 10.3 12.0 12.1 13.0"},
        {"<9.0", "<9.0", "7.5 8.0 8.6 8.9"},
        {"<=8.6", "<=8.6", "7.5 8.0 8.6"},
        {"12.x, 9.0,sm_100a", "9.0, 10.0, 12.x", "9.0 10.0 12.0 12.1"},
        {"8.0,8.9,8.0-8.6", "8.0-8.6, 8.9", "8.0 8.6 8.9"},
        {"8.x,9.x", "8.0-9.x", "8.0 8.6 8.9 9.0"},
        {"9.0-10.x", "9.0-10.x", "9.0 10.0 10.3"},
        {"10.0, 10.3, 9.0-10.x", "9.0-10.x", "9.0 10.0 10.3"},
        {"*", "*", "7.5 8.0 8.6 8.9 9.0 10.0 10.3 12.0 12.1 13.0"},
        {"<8.0,>=8.0", "*", "7.5 8.0 8.6 8.9 9.0 10.0 10.3 12.0 12.1 13.0"},
        {"none", "none", ""},
        {"sm_80-sm_90", "8.0-9.0", "8.0 8.6 8.9 9.0"},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        struct dg_capset set;
        assert_int_equal(dg_capset_parse(dg_cstr(rows[i][0]), &set, NULL), 0);
        check_set(&set, rows[i][1], rows[i][2]);
    }
}

static void refuses_other_sets(void **state) {
    (void)state;
    static const char *const bad[] = {"",   " ",      "9.0,",     ",9.0", "9",    "9.0-8.0", "x.x",
                                      ">=", "12.x.x", "none,9.0", "8.0-", "-8.0", ">=12.x",  "256.x"};
    struct dg_capset set = {.n = 7};
    struct dg_err e;
    for (size_t i = 0; i < DG_COUNT(bad); i++)
        assert_int_equal(dg_capset_parse(dg_cstr(bad[i]), &set, &e), -DG_E_SYNTAX);
    static const char many[] = "2.0,2.2,2.4,2.6,2.8,3.0,3.2,3.4,3.6,3.8,4.0,4.2,4.4,4.6,4.8,5.0";
    assert_int_equal(dg_capset_parse(DG_S(many), &set, &e), 0);
    assert_int_equal(set.n, 16);
    _cleanup_(dg_buf_release) struct dg_buf more = DG_BUF_INIT(200);
    dg_buf_addf(&more, "%s,5.2", many);
    assert_int_equal(dg_capset_parse(dg_buf_slice(&more), &set, &e), -DG_E_LIMIT);
    assert_int_equal(set.n, 16); /* untouched */
    dg_buf_clear(&more);
    dg_buf_addf(&more, "%s,1.0-9.0", many);
    assert_int_equal(dg_capset_parse(dg_buf_slice(&more), &set, &e), 0);
    assert_int_equal(set.n, 1);
}

static void finds_sets_in_messages(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.", "5.0, 6.0, 7.0, 7.5, 8.0, 8.6, 9.0"},
        {"[8.0, '9.0a']", "8.0, 9.0"},
        {"10.x or 12.0", "10.x, 12.0"},
        {"supported is (8.0) - (12.0)", "8.0-12.0"},
        {"compute_90a,sm_100f", "9.0, 10.0"},
        {"SM90/SM100", "9.0, 10.0"},
        {"sm_121a", "12.1"},
    };
    struct dg_capset set;
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        assert_true(dg_capset_scan(dg_cstr(rows[i][0]), &set));
        _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(200);
        dg_capset_add(&b, &set);
        assert_string_equal(b.ptr, rows[i][1]);
    }
    static const char *const none[] = {"", "no number", "sm_", "v1234", "a90", "90b"};
    for (size_t i = 0; i < DG_COUNT(none); i++) assert_false(dg_capset_scan(dg_cstr(none[i]), &set));
}

/* ---- what loads where: every target against every device ---- */

static const struct {
    const char *device, *cubins, *suffixed_ptx, *open;
} LOADS[] = {
    {"5.0", "50", "", ""},
    {"5.2", "50 52", "", ""},
    {"5.3", "53", "", ""},
    {"6.0", "60", "", ""},
    {"6.1", "60 61", "", ""},
    {"6.2", "62", "", ""},
    {"7.0", "70", "", ""},
    {"7.2", "72", "", ""},
    {"7.5", "70 75", "", ""},
    {"8.0", "80", "", ""},
    {"8.6", "80 86", "", ""},
    {"8.7", "87", "", ""},
    {"8.8", "88", "", ""},
    {"8.9", "80 86 89", "", ""},
    {"9.0", "90 90a", "90a", ""},
    {"10.0", "100 100a 100f", "100a 100f", ""},
    {"10.1", "101 101a 101f", "101a 101f", ""},
    {"10.3", "100 100f 103 103a 103f", "100f 103a 103f", ""},
    {"10.7", "100 100f 103 103f 107 107a 107f", "100f 103f 107a 107f", ""},
    {"11.0", "110 110a 110f", "110a 110f 101a 101f", "101 101a 101f"},
    {"12.0", "120 120a 120f", "120a 120f", ""},
    {"12.1", "120 120f 121 121a 121f", "120f 121a 121f", ""},
};

static bool listed(const char *list, const char *target) {
    struct dg_slice rest = dg_cstr(list), word;
    while (dg_slice_split(&rest, ' ', &word))
        if (dg_slice_is(word, target)) return true;
    return false;
}

static enum dg_load load(enum dg_code_kind kind, struct dg_target t, struct dg_cc device) {
    struct dg_code code = {.kind = kind, .target = t};
    return dg_arch_loads(&code, device, 0, NULL);
}

static void machine_code_loads_as_documented(void **state) {
    (void)state;
    static const char suffixes[] = {0, 'a', 'f'};
    size_t checked = 0;
    for (size_t d = 0; d < DG_COUNT(LOADS); d++)
        for (size_t t = 0; t < DG_COUNT(LOADS); t++)
            for (size_t s = 0; s < 3; s++, checked++) {
                struct dg_target target = {cc(LOADS[t].device), suffixes[s]};
                char text[16];
                snprintf(text, sizeof(text), "%u%u%.1s", target.cc.major, target.cc.minor, &suffixes[s]);
                if (target.suffix && target.cc.major < 9) continue; /* no such targets */
                if (target.suffix == 'f' && target.cc.major == 9) continue;
                enum dg_load want = listed(LOADS[d].open, text)     ? DG_LOAD_UNKNOWN
                                    : listed(LOADS[d].cubins, text) ? DG_LOAD_YES
                                                                    : DG_LOAD_NO;
                enum dg_load got = load(DG_CODE_CUBIN, target, cc(LOADS[d].device));
                if (got != want) fail_msg("sm_%s on %s: %d, not %d", text, LOADS[d].device, (int)got, (int)want);
            }
    assert_int_equal(checked, DG_COUNT(LOADS) * DG_COUNT(LOADS) * 3);
}

static void ptx_loads_as_documented(void **state) {
    (void)state;
    for (size_t d = 0; d < DG_COUNT(LOADS); d++)
        for (size_t t = 0; t < DG_COUNT(LOADS); t++) {
            struct dg_cc device = cc(LOADS[d].device), target = cc(LOADS[t].device);
            assert_int_equal(load(DG_CODE_PTX, (struct dg_target){target, 0}, device),
                             t <= d ? DG_LOAD_JIT : DG_LOAD_NO);
            for (const char *s = "af"; *s; s++) {
                char text[16];
                snprintf(text, sizeof(text), "%u%u%c", target.major, target.minor, *s);
                if (target.major < 9 || (*s == 'f' && target.major == 9)) continue;
                enum dg_load got = load(DG_CODE_PTX, (struct dg_target){target, *s}, device);
                if (got != (listed(LOADS[d].suffixed_ptx, text) ? DG_LOAD_JIT : DG_LOAD_NO))
                    fail_msg("compute_%s on %s: %d", text, LOADS[d].device, (int)got);
            }
            assert_int_equal(load(DG_CODE_LTO, (struct dg_target){target, 0}, device), DG_LOAD_NO);
        }
}

static void devices_newer_than_the_table_follow_the_rules(void **state) {
    (void)state;
    struct dg_cc device = {13, 2};
    assert_int_equal(load(DG_CODE_CUBIN, (struct dg_target){{13, 0}, 0}, device), DG_LOAD_YES);
    assert_int_equal(load(DG_CODE_CUBIN, (struct dg_target){{13, 0}, 'a'}, device), DG_LOAD_NO);
    assert_int_equal(load(DG_CODE_CUBIN, (struct dg_target){{13, 0}, 'f'}, device), DG_LOAD_YES);
    assert_int_equal(load(DG_CODE_CUBIN, (struct dg_target){{12, 0}, 0}, device), DG_LOAD_NO);
    assert_int_equal(load(DG_CODE_PTX, (struct dg_target){{12, 0}, 0}, device), DG_LOAD_JIT);
}

static void drivers_must_be_new_enough(void **state) {
    (void)state;
    static const struct {
        struct dg_code code;
        int cuda;
        enum dg_load load;
        int min;
    } rows[] = {
        {{DG_CODE_PTX, {{8, 0}, 0}, 90, 0}, 12080, DG_LOAD_NO, 13000},
        {{DG_CODE_PTX, {{8, 0}, 0}, 90, 0}, 13000, DG_LOAD_JIT, 13000},
        {{DG_CODE_PTX, {{8, 0}, 0}, 90, 0}, 0, DG_LOAD_JIT, 13000},
        {{DG_CODE_PTX, {{8, 0}, 0}, 86, 0}, 12060, DG_LOAD_NO, 12070},
        {{DG_CODE_PTX, {{8, 0}, 0}, 70, DG_COMPRESSION_ZSTD}, 12030, DG_LOAD_NO, 12040},
        {{DG_CODE_PTX, {{8, 0}, 0}, 99, 0}, 13000, DG_LOAD_UNKNOWN, 0},
        {{DG_CODE_CUBIN, {{9, 0}, 0}, 0, DG_COMPRESSION_ZSTD}, 12030, DG_LOAD_NO, 12040},
        {{DG_CODE_CUBIN, {{9, 0}, 0}, 0, DG_COMPRESSION_ZSTD}, 12040, DG_LOAD_YES, 12040},
        {{DG_CODE_CUBIN, {{9, 0}, 0}, 0, DG_COMPRESSION_LZ4}, 11040, DG_LOAD_YES, 0},
        {{DG_CODE_CUBIN, {{9, 0}, 0}, 0, 0}, 11040, DG_LOAD_YES, 0},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        int min = -1;
        assert_int_equal(dg_arch_loads(&rows[i].code, cc("9.0"), rows[i].cuda, &min), rows[i].load);
        assert_int_equal(min, rows[i].min);
    }
    struct dg_code zstd = {DG_CODE_CUBIN, {{9, 0}, 0}, 0, DG_COMPRESSION_ZSTD};
    assert_true(dg_arch_fits(&zstd, cc("9.0")));
    assert_false(dg_arch_fits(&zstd, cc("8.9")));
}

/* ---- the table ---- */

static void table_is_whole(void **state) {
    (void)state;
    size_t n = 0;
    for (const struct dg_arch *a; (a = dg_arch_at(n)) != NULL; n++) {
        assert_ptr_equal(dg_arch_find(a->cc), a);
        assert_true(a->first_cuda >= 6000 && a->ptx >= 40);
        assert_true(!a->last_cuda || a->last_cuda >= a->first_cuda);
        assert_true(dg_ptx_cuda(a->ptx) >= 6000);
    }
    assert_int_equal(n, DG_COUNT(LOADS));
    assert_null(dg_arch_find((struct dg_cc){13, 0}));
    const struct dg_arch *hopper = dg_arch_find(cc("9.0")), *volta = dg_arch_find(cc("7.0")),
                         *thor = dg_arch_find(cc("10.1"));
    assert_string_equal(hopper->name, "Hopper");
    assert_int_equal(hopper->first_cuda, 11080);
    assert_int_equal(hopper->first_cuda_a, 12000);
    assert_int_equal(hopper->first_cuda_f, 0);
    assert_int_equal(volta->last_branch, 580);
    assert_int_equal(volta->last_cuda, 12090);
    assert_int_equal(thor->renamed.major, 11);
    assert_true(thor->tegra);
    assert_true(thor->unified);
    assert_true(dg_arch_find((struct dg_cc){12, 1})->unified);
    assert_false(dg_arch_find((struct dg_cc){12, 0})->unified);
}

static void products_have_one_capability(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"RTX PRO 6000", "12.0"},
        {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "12.0"},
        {"rtx 6000 ada", "8.9"},
        {"NVIDIA RTX 6000 Ada Generation", "8.9"},
        {"Quadro RTX 6000", "7.5"},
        {"NVIDIA A100-SXM4-80GB", "8.0"},
        {"A10", "8.6"},
        {"NVIDIA A10G", "8.6"},
        {"NVIDIA H100 80GB HBM3", "9.0"},
        {"h200", "9.0"},
        {"Tesla V100-SXM2-32GB", "7.0"},
        {"Tesla T4", "7.5"},
        {"NVIDIA GeForce RTX 4090 Laptop GPU", "8.9"},
        {"RTX 5090", "12.0"},
        {"5090", "12.0"},
        {"NVIDIA GeForce RTX 2080 Ti", "7.5"},
        {"NVIDIA GB10", "12.1"},
        {"dgx spark", "12.1"},
        {"NVIDIA GB200", "10.0"},
        {"B300", "10.3"},
        {"Jetson Thor", "11.0"},
        {"Jetson AGX Orin", "8.7"},
        {"Hopper", "9.0"},
        {"TITAN RTX", "7.5"},
        {"NVIDIA L40S", "8.9"},
        {"L4", "8.9"},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        struct dg_cc got = {0};
        struct dg_err e = {0};
        if (dg_arch_product(dg_cstr(rows[i][0]), &got, &e)) fail_msg("%s: %s", rows[i][0], e.msg);
        if (dg_cc_cmp(got, cc(rows[i][1]))) fail_msg("%s is not %u.%u", rows[i][0], got.major, got.minor);
    }
    for (size_t i = 0; dg_arch_at(i); i++) /* each product finds itself */
        for (const char *const *p = dg_arch_at(i)->products; *p; p++) {
            struct dg_cc got = {0};
            if (dg_arch_product(dg_cstr(*p), &got, NULL) || dg_cc_cmp(got, dg_arch_at(i)->cc))
                fail_msg("%s is lost", *p);
        }
}

static void ambiguous_products_are_listed(void **state) {
    (void)state;
    struct dg_cc c = {1, 2};
    struct dg_err e;
    assert_int_equal(dg_arch_product(DG_S("RTX 6000"), &c, &e), -DG_E_SYNTAX);
    assert_non_null(strstr(e.msg, "Quadro RTX 6000 (7.5)"));
    assert_non_null(strstr(e.msg, "RTX 6000 Ada (8.9)"));
    assert_non_null(strstr(e.msg, "RTX PRO 6000 Blackwell (12.0)"));
    assert_int_equal(dg_arch_product(DG_S("Blackwell"), &c, &e), -DG_E_SYNTAX);
    assert_int_equal(dg_arch_product(DG_S("TITAN X"), &c, &e), -DG_E_SYNTAX);
    static const char *const none[] = {"", "NVIDIA", "Radeon", "A1000000", "GPU", "Instinct MI300X"};
    for (size_t i = 0; i < DG_COUNT(none); i++)
        assert_int_equal(dg_arch_product(dg_cstr(none[i]), &c, &e), -DG_E_NOTFOUND);
    assert_int_equal(c.major, 1);
    dg_mem_fail_after(1);
    assert_int_equal(dg_arch_product(DG_S("RTX 6000"), &c, &e), -DG_E_SYNTAX); /* without memory: without the list */
    dg_mem_fail_after(0);
}

static void versions_map_to_drivers(void **state) {
    (void)state;
    assert_int_equal(dg_cuda_parse(DG_S("13.0")), 13000);
    assert_int_equal(dg_cuda_parse(DG_S(" 12.8.93 ")), 12080);
    assert_int_equal(dg_cuda_parse(DG_S("12")), 0);
    assert_int_equal(dg_cuda_parse(DG_S("x.y")), 0);
    assert_int_equal(dg_driver_cuda(DG_S("580.95.05")), 13000);
    assert_int_equal(dg_driver_cuda(DG_S("550.163.01")), 12040);
    assert_int_equal(dg_driver_cuda(DG_S("535")), 12020);
    assert_int_equal(dg_driver_cuda(DG_S("999.1")), 13050);
    assert_int_equal(dg_driver_cuda(DG_S("390.1")), 0);
    assert_int_equal(dg_driver_cuda(DG_S("")), 0);
    assert_int_equal(dg_driver_cuda(DG_S("N/A")), 0);
    assert_string_equal(dg_cuda_driver(13000), "580.65.06");
    assert_string_equal(dg_cuda_driver(12040), "550.54.14");
    assert_string_equal(dg_cuda_driver(12070), "565");
    assert_null(dg_cuda_driver(99000));
    assert_int_equal(dg_ptx_cuda(90), 13000);
    assert_int_equal(dg_ptx_cuda(86), 12070);
    assert_int_equal(dg_ptx_cuda(99), 0);
    assert_true(dg_cuda_runs_on(12080, 12020) && dg_cuda_runs_on(11080, 13000) && dg_cuda_runs_on(0, 12000) &&
                dg_cuda_runs_on(13000, 0));
    assert_false(dg_cuda_runs_on(13000, 12090));
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(20);
    dg_cuda_add(&b, 12080);
    assert_string_equal(b.ptr, "12.8");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_targets),
        cmocka_unit_test(writes_targets),
        cmocka_unit_test(reads_sets),
        cmocka_unit_test(refuses_other_sets),
        cmocka_unit_test(finds_sets_in_messages),
        cmocka_unit_test(machine_code_loads_as_documented),
        cmocka_unit_test(ptx_loads_as_documented),
        cmocka_unit_test(devices_newer_than_the_table_follow_the_rules),
        cmocka_unit_test(drivers_must_be_new_enough),
        cmocka_unit_test(table_is_whole),
        cmocka_unit_test(products_have_one_capability),
        cmocka_unit_test(ambiguous_products_are_listed),
        cmocka_unit_test(versions_map_to_drivers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
