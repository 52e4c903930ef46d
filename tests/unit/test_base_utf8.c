#include "unit.h"
#include "base/utf8.h"

#define BAD "\xef\xbf\xbd"

static void knows_what_is_valid(void **state) {
    (void)state;
    static const char *const good[] = {"", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {
        "\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "a\xf0\x9f\x98"};
    for (size_t i = 0; i < DG_COUNT(good); i++) assert_true(dg_utf8_valid(dg_cstr(good[i])));
    for (size_t i = 0; i < DG_COUNT(bad); i++) assert_false(dg_utf8_valid(dg_cstr(bad[i])));
    assert_true(dg_utf8_valid(dg_slice("a\0b", 3)));
    assert_false(dg_utf8_valid(dg_slice("\xe2\x82\xac", 2))); /* never past the end */
}

static void mends(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(1000);
    assert_int_equal(dg_utf8_add_valid(&b, DG_S("a\xff\xe2\x82\xac\xe2\x82 \x1b\xc3")), 0);
    assert_string_equal(b.ptr, "a" BAD "\xe2\x82\xac" BAD BAD " \x1b" BAD);
    _cleanup_(dg_buf_release) struct dg_buf small = DG_BUF_INIT(4);
    assert_int_equal(dg_utf8_add_valid(&small, DG_S("\xff\xff")), -DG_E_LIMIT);
    assert_int_equal(small.len, 3);
}

static void shows_what_hides(void **state) {
    (void)state;
    static const struct {
        struct dg_slice in;
        bool keep_nl;
        const char *out;
    } rows[] = {
        {{"\x1b[31mred\x07", 9}, false, "\\x1b[31mred\\x07"},
        {{"a\tb\nc", 5}, false, "a\tb\\x0ac"},
        {{"a\tb\nc\r", 6}, true, "a\tb\nc\\x0d"},
        {{"\x7f\b", 2}, false, "\\x7f\\x08"},
        {{"\xc2\x9b"
          "31m",
          5},
         false,
         "\\x9b31m"},
        {{"\x9b", 1}, false, BAD},
        {{"\xe2\x80\xae"
          "fdp",
          6},
         false,
         "\\u202efdp"},
        {{"\xe2\x80\x8b\xef\xbb\xbf", 6}, false, "\\u200b\\ufeff"},
        {{"\xe2\x80\xa8", 3}, false, "\\u2028"},
        {{"\xf3\xa0\x80\x81", 4}, false, "\\U000e0001"},
        {{"\xe2\x82\xac\xe4\xb8\xad\xcc\x81", 8}, false, "\xe2\x82\xac\xe4\xb8\xad\xcc\x81"},
        {{"\0", 1}, false, "\\x00"},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(1000);
        assert_int_equal(dg_utf8_add_shown(&b, rows[i].in, rows[i].keep_nl), 0);
        assert_string_equal(b.ptr, rows[i].out);
    }
}

static void measures(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t width;
    } rows[] = {{"", 0},     {"abc", 3},      {"\xe4\xb8\xad\xe6\x96\x87", 4}, {"e\xcc\x81", 1},
                {"a\tb", 3}, {"\xff\xff", 2}, {"\xf0\x9f\x98\x80", 2}};
    for (size_t i = 0; i < DG_COUNT(rows); i++) assert_int_equal(dg_utf8_width(dg_cstr(rows[i].text)), rows[i].width);
}

static void fits(void **state) {
    (void)state;
    struct dg_slice wide = DG_S("a\xe4\xb8\xad\xe6\x96\x87");
    assert_int_equal(dg_utf8_fit(wide, 0), 0);
    assert_int_equal(dg_utf8_fit(wide, 1), 1);
    assert_int_equal(dg_utf8_fit(wide, 2), 1);
    assert_int_equal(dg_utf8_fit(wide, 3), 4);
    assert_int_equal(dg_utf8_fit(wide, 99), 7);
    assert_int_equal(dg_utf8_fit(DG_S("e\xcc\x81x"), 1), 3); /* the accent stays with its letter */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_is_valid),
        cmocka_unit_test(mends),
        cmocka_unit_test(shows_what_hides),
        cmocka_unit_test(measures),
        cmocka_unit_test(fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
