/* Which bytes of a literal are sought. */
#include "unit.h"
#include "base/rare.h"

/* The run's bytes, as far as the grams of the text reach. */
static struct dg_slice run_of(const char *text) {
    struct dg_slice s = dg_cstr(text);
    size_t size = dg_rare_is_short(s.len) ? DG_RARE_SHORT : DG_RARE_LONG, at = dg_rare_run(s);
    assert_true(at + size <= s.len || s.len < size);
    return dg_slice_upto(dg_slice_from(s, at), size + DG_RARE_STEP - 1);
}

static void test_words_of_every_log_are_not_sought(void **state) {
    (void)state;
    assert_true(dg_slice_find(run_of("the server failed to load model weights of xqzj"), DG_S("xqzj")) >= 0);
    assert_true(dg_slice_find(run_of("NVRM: the request failed"), DG_S("NVRM")) >= 0);
    assert_true(dg_slice_find(run_of("request timeout of the server: 0x7f"), DG_S("0x7f")) >= 0);
}

static void test_short_texts_fit(void **state) {
    (void)state;
    char text[64];
    memset(text, 'a', sizeof(text));
    for (size_t n = 0; n < sizeof(text); n++) {
        size_t size = dg_rare_is_short(n) ? DG_RARE_SHORT : DG_RARE_LONG, at = dg_rare_run(dg_slice(text, n));
        assert_true(at == 0 || at + size + DG_RARE_STEP - 1 <= n);
    }
}

static void test_any_bytes(void **state) {
    (void)state;
    const char bytes[] = "\xff\xfe\0\x1b\n\r\t\x80\xc3\xa4";
    assert_true(dg_rare_run(dg_slice(bytes, sizeof(bytes) - 1)) <= sizeof(bytes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_of_every_log_are_not_sought),
        cmocka_unit_test(test_short_texts_fit),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
