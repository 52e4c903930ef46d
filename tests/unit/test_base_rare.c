/* Which bytes of a literal are sought. */
#include "unit.h"
#include "base/rare.h"

static struct dg_slice gram_of(const char *text) {
    struct dg_slice s = dg_cstr(text);
    struct dg_rare rare = dg_rare_gram(s);
    assert_true(rare.at + (size_t)DG_RARE_SIZE <= s.len && rare.family < DG_RARE_FAMILIES);
    return dg_slice_upto(dg_slice_from(s, rare.at), DG_RARE_SIZE);
}

static void test_words_of_every_log_are_not_sought(void **state) {
    (void)state;
    assert_true(dg_slice_find(DG_S("the server failed to load model weights of "),
                              gram_of("the server failed to load model weights of xqzj")) < 0);
    assert_true(dg_slice_find(DG_S(" the request failed"), gram_of("NVRM: the request failed")) < 0);
}

static void test_short_texts_fit(void **state) {
    (void)state;
    char text[64];
    memset(text, 'a', sizeof(text));
    for (size_t n = DG_RARE_SIZE; n < sizeof(text); n++)
        assert_true(dg_rare_gram(dg_slice(text, n)).at + (size_t)DG_RARE_SIZE <= n);
    for (size_t n = 0; n < DG_RARE_SIZE; n++) assert_int_equal(dg_rare_gram(dg_slice(text, n)).at, 0);
}

static void test_any_bytes(void **state) {
    (void)state;
    const char bytes[] = "\xff\xfe\0\x1b\n\r\t\x80\xc3\xa4";
    assert_true(dg_rare_gram(dg_slice(bytes, sizeof(bytes) - 1)).at <= sizeof(bytes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_of_every_log_are_not_sought),
        cmocka_unit_test(test_short_texts_fit),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
