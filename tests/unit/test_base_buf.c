#include "unit.h"
#include "base/buf.h"

static void adds_and_ends_in_nul(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(1 << 20);
    assert_slice(dg_buf_slice(&b), "");
    assert_int_equal(dg_buf_adds(&b, "ab"), 0);
    assert_int_equal(dg_buf_addc(&b, 'c'), 0);
    assert_int_equal(dg_buf_add_slice(&b, DG_S("de")), 0);
    assert_int_equal(dg_buf_addf(&b, "%03d%s", 7, "x"), 0);
    assert_int_equal(dg_buf_add(&b, NULL, 0), 0);
    assert_string_equal(b.ptr, "abcde007x");
    for (int i = 0; i < 10000; i++) assert_int_equal(dg_buf_addf(&b, "%d", i % 10), 0);
    assert_int_equal(b.len, 10009);
    assert_int_equal(b.ptr[b.len], 0);
    dg_buf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_string_equal(b.ptr, "");
}

static void stops_at_its_maximum(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(4);
    assert_int_equal(dg_buf_adds(&b, "abcd"), 0);
    assert_int_equal(dg_buf_addc(&b, 'e'), -DG_E_LIMIT);
    assert_true(b.failed);
    assert_int_equal(dg_buf_add(&b, "", 0), -DG_E_LIMIT); /* it sticks */
    assert_string_equal(b.ptr, "abcd");
    dg_buf_clear(&b);
    assert_int_equal(dg_buf_addf(&b, "%s", "abcde"), -DG_E_LIMIT);
    assert_int_equal(b.len, 0);
    assert_null(dg_buf_take(&b));
    assert_false(b.failed);
    assert_int_equal(dg_buf_adds(&b, "ok"), 0); /* usable again */
}

static void nothing_fits_in_nothing(void **state) {
    (void)state;
    struct dg_buf b;
    dg_buf_init(&b, 0);
    assert_int_equal(dg_buf_add(&b, "", 0), 0);
    assert_int_equal(dg_buf_addc(&b, 'x'), -DG_E_LIMIT);
    dg_buf_release(&b);
}

static void hands_over_its_string(void **state) {
    (void)state;
    struct dg_buf b = DG_BUF_INIT(100);
    _cleanup_(dg_freep) char *empty = dg_buf_take(&b);
    assert_string_equal(empty, "");
    dg_buf_adds(&b, "text");
    _cleanup_(dg_freep) char *text = dg_buf_take(&b);
    assert_string_equal(text, "text");
    assert_null(b.ptr);
    assert_int_equal(b.max, 100);
}

static int fill(void *arg) {
    (void)arg;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(SIZE_MAX);
    int first = 0;
    for (int i = 0; i < 200; i++) {
        int r = i % 2 ? dg_buf_addf(&b, "%d", i) : dg_buf_adds(&b, "some text");
        if (r && !first) first = r;
    }
    assert_int_equal(b.failed, first != 0);
    _cleanup_(dg_freep) char *s = dg_buf_take(&b);
    assert_true((s == NULL) == (first != 0));
    return first;
}

static void tells_when_memory_ends(void **state) {
    (void)state;
    assert_true(unit_fail_each(fill, NULL) > 3);
    struct dg_buf b = DG_BUF_INIT(10);
    dg_mem_fail_after(1);
    assert_null(dg_buf_take(&b));
    dg_mem_fail_after(0);
}

static void test_words_are_quoted_for_a_shell(void **state) {
    (void)state;
    struct dg_buf b = DG_BUF_INIT(256);
    dg_buf_add_word(&b, DG_S("--tp=8"));
    dg_buf_add_word(&b, DG_S(""));
    dg_buf_add_word(&b, DG_S("it's a $HOME"));
    dg_buf_addc(&b, 0);
    assert_string_equal(b.ptr, "--tp=8 '' 'it'\\''s a $HOME'");
    dg_buf_release(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_quoted_for_a_shell),
        cmocka_unit_test(adds_and_ends_in_nul),
        cmocka_unit_test(stops_at_its_maximum),
        cmocka_unit_test(nothing_fits_in_nothing),
        cmocka_unit_test(hands_over_its_string),
        cmocka_unit_test(tells_when_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
