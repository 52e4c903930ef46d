#include "unit.h"
#include "base/pep440.h"

static int sign(int v) { return (v > 0) - (v < 0); }

static void orders_versions(void **state) {
    (void)state;
    static const char *const rising[] = {
        /* each smaller than all after it */
        "0.1",
        "0.5.2.dev3",
        "0.5.2a1.dev1",
        "0.5.2a1",
        "0.5.2a2",
        "0.5.2b1",
        "0.5.2rc1.dev4",
        "0.5.2rc1",
        "0.5.2rc1.post1",
        "0.5.2",
        "0.5.2.post1.dev1",
        "0.5.2.post1",
        "0.5.2.post2",
        "0.5.10",
        "0.6.0",
        "1.0.0.0.1",
        "1.1",
        "99999999999999999999",
        "1!0.1",
    };
    for (size_t i = 0; i < DG_COUNT(rising); i++)
        for (size_t k = 0; k < DG_COUNT(rising); k++)
            assert_int_equal(sign(dg_pep440_cmp(dg_cstr(rising[i]), dg_cstr(rising[k]))), (i > k) - (i < k));
}

static void spellings_are_equal(void **state) {
    (void)state;
    static const char *const same[][2] = {
        {"1.0", "1.0.0"},         {"v1.0", "1.0"},
        {"1.0+cu130", "1.0"},     {"1.0-1", "1.0.post1"},
        {"1.0.r4", "1.0-post.4"}, {"1.0RC1", "1.0c1"},
        {"1.0alpha", "1.0a0"},    {"1.0-beta_2", "1.0b2"},
        {" 1.0\n", "1.0"},        {"1.0.preview3", "1.0rc3"},
        {"1.0dev", "1.0.dev0"},   {"0!1.0", "1.0"},
        {"01.02", "1.2"},         {"0.11.1rc6.dev210+gcfd3f2c3", "0.11.1rc6.dev210"},
    };
    for (size_t i = 0; i < DG_COUNT(same); i++)
        assert_int_equal(dg_pep440_cmp(dg_cstr(same[i][0]), dg_cstr(same[i][1])), 0);
}

static void other_texts_sort_by_leading_numbers(void **state) {
    (void)state;
    assert_true(dg_pep440_cmp(DG_S("0.5.2-nightly-2"), DG_S("0.5.1")) > 0);
    assert_int_equal(dg_pep440_cmp(DG_S("0.5.2-nightly-2"), DG_S("0.5.2")), 0);
    assert_int_equal(dg_pep440_cmp(DG_S("main"), DG_S("latest")), 0);
    assert_true(dg_pep440_cmp(DG_S("main"), DG_S("0.0.1")) < 0);
    assert_int_equal(dg_pep440_cmp(DG_S(""), DG_S("x")), 0);
}

static void ranges_hold(void **state) {
    (void)state;
    static const struct {
        const char *version, *range;
        bool in;
    } rows[] = {
        {"0.5.5", ">=0.5.2,<0.6", true},
        {"0.6", ">=0.5.2,<0.6", false},
        {"0.5.1", ">=0.5.2", false},
        {"0.9.7", "==0.9.*", true},
        {"0.9", "==0.9.*", true},
        {"0.9.0rc1", "==0.9.*", true},
        {"0.10", "==0.9.*", false},
        {"1!0.9.1", "==0.9.*", false},
        {"0.9.7", "!=0.9.*", false},
        {"0.10", "!=0.9.*", true},
        {"1.0", "!=1.0", false},
        {"1.0.0", "==1.0", true},
        {"0.5.16", "0.5.16", true},
        {"0.5.17", "0.5.16", false},
        {"1.4.5", "~=1.4.2", true},
        {"1.5.0", "~=1.4.2", false},
        {"1.4.1", "~=1.4.2", false},
        {"1.9", "~=1.4", true},
        {"2.0", "~=1.4", false},
        {"0.6rc1", "<0.6", true},
        {"1.0.post1", ">1.0", true},
        {"0.11.1rc6.dev210+gcfd3f2c3", "<0.11.1", true},
        {"2.9.1+cu130", "==2.9.1", true},
        {"", ">=99", true},
        {"  ", "<0", true},
        {"1.0", "*", true},
        {"0.5", " >= 0.4 , < 0.6 ", true},
        {"1.0", "", false},
        {"1.0", ">=1.0,", false},
        {"1.0", ">=x", false},
        {"main", ">=0.1", false},
        {"main", "*", true},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++)
        assert_int_equal(dg_pep440_in(dg_cstr(rows[i].version), dg_cstr(rows[i].range)), rows[i].in);
}

static void bad_ranges_are_told(void **state) {
    (void)state;
    static const char *const bad[] = {"",    " ",          ",",       ">=",  ">=1.0,,<2", "=1.0",    "=>1.0", ">=1.0.*",
                                      "~=1", "==1.0rc1.*", "1.0 2.0", "==*", "1.0+",      "1.0+a$b", "1..0"};
    static const char *const good[] = {"*", "1", "==1.*", "~=1.0", "<2,>=1", "!=1.0.post2", "1.0+cu128"};
    for (size_t i = 0; i < DG_COUNT(bad); i++) assert_false(dg_pep440_range_valid(dg_cstr(bad[i])));
    for (size_t i = 0; i < DG_COUNT(good); i++) assert_true(dg_pep440_range_valid(dg_cstr(good[i])));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_versions),
        cmocka_unit_test(spellings_are_equal),
        cmocka_unit_test(other_texts_sort_by_leading_numbers),
        cmocka_unit_test(ranges_hold),
        cmocka_unit_test(bad_ranges_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
