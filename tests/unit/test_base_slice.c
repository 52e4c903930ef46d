#include "unit.h"

static void finds(void **state) {
    (void)state;
    struct dg_slice s = DG_S("abcabc"), none = {NULL, 0};
    assert_int_equal(dg_slice_find(s, DG_S("ca")), 2);
    assert_int_equal(dg_slice_find(s, DG_S("cc")), -1);
    assert_int_equal(dg_slice_find(s, DG_S("")), 0);
    assert_int_equal(dg_slice_find(none, DG_S("")), 0);
    assert_int_equal(dg_slice_find(none, DG_S("a")), -1);
    assert_int_equal(dg_slice_find(DG_S("ab"), DG_S("abc")), -1);
    assert_int_equal(dg_slice_find_ch(s, 'c'), 2);
    assert_int_equal(dg_slice_rfind_ch(s, 'a'), 3);
    assert_int_equal(dg_slice_find_ch(none, 'a'), -1);
    assert_int_equal(dg_slice_rfind_ch(none, 'a'), -1);
    assert_int_equal(dg_slice_find(dg_slice("a\0b", 3), dg_slice("\0b", 2)), 1);
}

static void cuts(void **state) {
    (void)state;
    assert_slice(dg_slice_trim(DG_S(" \t\r\n\v\fa b \n")), "a b");
    assert_slice(dg_slice_trim(DG_S("  ")), "");
    assert_slice(dg_slice_from(DG_S("abc"), 1), "bc");
    assert_slice(dg_slice_from(DG_S("abc"), 9), "");
    assert_slice(dg_slice_from(dg_slice(NULL, 0), 1), "");
    assert_slice(dg_slice_upto(DG_S("abc"), 2), "ab");
    assert_slice(dg_slice_upto(DG_S("abc"), 9), "abc");
}

static void splits(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *parts[4];
    } rows[] = {{"a,b", {"a", "b"}}, {"", {""}}, {",", {"", ""}}, {"a,,b", {"a", "", "b"}}};
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        struct dg_slice rest = dg_cstr(rows[i].text), part;
        size_t n = 0;
        while (dg_slice_split(&rest, ',', &part)) {
            assert_non_null(rows[i].parts[n]);
            assert_slice(part, rows[i].parts[n]);
            n++;
        }
        assert_null(rows[i].parts[n]);
    }
}

static void compares(void **state) {
    (void)state;
    assert_true(dg_slice_cmp(DG_S("a"), DG_S("b")) < 0);
    assert_true(dg_slice_cmp(DG_S("ab"), DG_S("a")) > 0);
    assert_true(dg_slice_cmp(DG_S("\xff"), DG_S("a")) > 0); /* bytes are unsigned */
    assert_int_equal(dg_slice_cmp(DG_S(""), (struct dg_slice){NULL, 0}), 0);
    assert_true(dg_slice_eq(DG_S(""), (struct dg_slice){NULL, 0}));
    assert_true(dg_slice_is(DG_S("abc"), "abc"));
    assert_false(dg_slice_is(DG_S("abc"), "ab"));
    assert_true(dg_slice_starts(DG_S("abc"), DG_S("ab")) && dg_slice_ends(DG_S("abc"), DG_S("bc")));
    assert_false(dg_slice_starts(DG_S("a"), DG_S("ab")) || dg_slice_ends(DG_S("c"), DG_S("bc")));
}

static void reads_integers(void **state) {
    (void)state;
    uint64_t u = 5;
    int64_t i = 5;
    assert_true(dg_slice_u64(DG_S("18446744073709551615"), &u));
    assert_true(u == UINT64_MAX);
    static const char *const bad[] = {"",   "18446744073709551616", "99999999999999999999", "1 ", "-1", "+1", "0x1",
                                      "1.0"};
    for (size_t k = 0; k < DG_COUNT(bad); k++) assert_false(dg_slice_u64(dg_cstr(bad[k]), &u));
    assert_true(u == UINT64_MAX);                                 /* untouched */
    assert_true(dg_slice_u64(dg_slice("123", 2), &u) && u == 12); /* never past the end */
    assert_true(dg_slice_i64(DG_S("-9223372036854775808"), &i) && i == INT64_MIN);
    assert_true(dg_slice_i64(DG_S("9223372036854775807"), &i) && i == INT64_MAX);
    assert_false(dg_slice_i64(DG_S("-9223372036854775809"), &i));
    assert_false(dg_slice_i64(DG_S("9223372036854775808"), &i));
    assert_false(dg_slice_i64(DG_S("-"), &i));
    assert_false(dg_slice_i64(DG_S("--1"), &i));
}

static void reads_decimals(void **state) {
    (void)state;
    double d = 0;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0.85", 0.85}, {"-1.5e3", -1500}, {".5", .5}, {"5.", 5}, {"+2", 2}, {"1E-2", 0.01}};
    for (size_t k = 0; k < DG_COUNT(good); k++) {
        assert_true(dg_slice_double(dg_cstr(good[k].text), &d));
        assert_true(d == good[k].value);
    }
    static const char *const bad[] = {"", ".", "-", "1e", "1e+", "nan", "inf", "0x1p3", "1,5", "1 ", " 1", "1.2.3"};
    for (size_t k = 0; k < DG_COUNT(bad); k++) assert_false(dg_slice_double(dg_cstr(bad[k]), &d));
    char longest[200];
    memset(longest, '1', sizeof(longest));
    assert_false(dg_slice_double(dg_slice(longest, sizeof(longest)), &d));
    assert_true(dg_slice_double(dg_slice("1.234", 3), &d) && d == 1.2);
}

static void reads_sizes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool si;
        uint64_t value;
    } good[] = {
        {"1024", false, 1024},
        {"512.00 MiB", false, 512u << 20},
        {"23.9 GB", false, 25662429594},
        {"23.9 GB", true, 23900000000},
        {"47.47GiB", true, 50970524385},
        {"80G", false, 80ull << 30},
        {"80G", true, 80000000000},
        {"4kB", false, 4096},
        {"4k", true, 4000},
        {"1 B", false, 1},
        {"7 bytes", false, 7},
        {" 2 TiB ", false, 2ull << 40},
        {"18446744073709551615", false, UINT64_MAX},
        {"0.5KiB", false, 512},
    };
    uint64_t v;
    for (size_t k = 0; k < DG_COUNT(good); k++) {
        assert_true(dg_slice_bytes(dg_cstr(good[k].text), good[k].si, &v));
        assert_int_equal(v, good[k].value);
    }
    static const char *const bad[] = {"", "GB", "-1 GB", "1 XB", "1 GBs", "1 Gib", "17E9 EB", "99999999999 GB", "1 iB"};
    for (size_t k = 0; k < DG_COUNT(bad); k++) assert_false(dg_slice_bytes(dg_cstr(bad[k]), false, &v));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds),       cmocka_unit_test(cuts),           cmocka_unit_test(splits),
        cmocka_unit_test(compares),    cmocka_unit_test(reads_integers), cmocka_unit_test(reads_decimals),
        cmocka_unit_test(reads_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
