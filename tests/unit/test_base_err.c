#include "unit.h"
#include <errno.h>

static void codes_differ(void **state) {
    (void)state;
    static const int codes[] = {DG_E_NOMEM,       DG_E_IO,       DG_E_SYNTAX, DG_E_LIMIT,
                                DG_E_UNSUPPORTED, DG_E_NOTFOUND, DG_E_BUSY,   DG_E_INTERNAL};
    for (size_t i = 0; i < DG_COUNT(codes); i++) {
        assert_true(codes[i] > 0);
        for (size_t k = 0; k < i; k++) assert_int_not_equal(codes[i], codes[k]);
    }
}

static void carries_the_system_error(void **state) {
    (void)state;
    struct dg_err e;
    assert_int_equal(dg_err_set(&e, DG_E_IO, ENOENT, "cannot open '%s'", "x"), -DG_E_IO);
    assert_int_equal(e.code, DG_E_IO);
    assert_int_equal(e.sys, ENOENT);
    assert_string_equal(e.msg, "cannot open 'x': No such file or directory");
    assert_int_equal(dg_err_set(NULL, DG_E_BUSY, 0, "x"), -DG_E_BUSY);
    assert_int_equal(dg_err_at(NULL, DG_E_LIMIT, "f", 1, 1, "x"), -DG_E_LIMIT);
    assert_int_equal(dg_err_nomem(NULL), -DG_E_NOMEM);
}

static void cuts_what_is_too_long(void **state) {
    (void)state;
    struct dg_err e;
    char longest[2000];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    dg_err_set(&e, DG_E_IO, EACCES, "%s", longest);
    assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
    dg_err_at(&e, DG_E_SYNTAX, longest, 1, 2, "%s", longest);
    assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
    assert_int_equal(strlen(e.file), sizeof(e.file) - 1);
}

static void formats_what_is_known(void **state) {
    (void)state;
    struct dg_err e;
    char out[100];
    static const struct {
        const char *file;
        unsigned line, col;
        const char *text;
    } rows[] = {{"f", 2, 3, "f:2:3: bad"},
                {"f", 2, 0, "f:2: bad"},
                {"f", 0, 0, "f: bad"},
                {NULL, 2, 3, "2:3: bad"},
                {NULL, 0, 5, "bad"}};
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        dg_err_at(&e, DG_E_SYNTAX, rows[i].file, rows[i].line, rows[i].col, "%s", "bad");
        dg_err_format(&e, out, sizeof(out));
        assert_string_equal(out, rows[i].text);
    }
    dg_err_format(&e, out, 3);
    assert_string_equal(out, "ba");
}

static void problems_grow_and_own_their_text(void **state) {
    (void)state;
    struct dg_problems p = {0};
    char line[] = "key: [";
    dg_problems_add(&p, "a.yaml", 3, 6, line, 4, "no %s", "end");
    line[0] = '?';
    dg_problems_add(&p, NULL, 0, 0, NULL, 0, "other");
    assert_int_equal(p.n, 2);
    assert_string_equal(p.v[0].file, "a.yaml");
    assert_string_equal(p.v[0].msg, "no end");
    assert_string_equal(p.v[0].snippet, "key:");
    assert_int_equal(p.v[0].line, 3);
    assert_int_equal(p.v[0].col, 6);
    assert_string_equal(p.v[1].file, "");
    assert_null(p.v[1].snippet);
    dg_problems_add(NULL, "a", 1, 1, NULL, 0, "nothing happens");
    dg_problems_release(&p);
    assert_int_equal(p.n, 0);
    dg_problems_release(NULL);
}

static void problems_drop_what_does_not_fit(void **state) {
    (void)state;
    struct dg_problems p = {0};
    for (unsigned n = 1; n <= 4; n++) { /* file, message, snippet, list */
        dg_mem_fail_after(n);
        dg_problems_add(&p, "f", 1, 1, "s", 1, "m");
        dg_mem_fail_after(0);
        assert_int_equal(p.n, 0);
    }
    for (int i = 0; i < 2000; i++) dg_problems_add(&p, "f", 1, 1, NULL, 0, "m");
    assert_int_equal(p.n, 1000);
    dg_problems_release(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_differ),
        cmocka_unit_test(carries_the_system_error),
        cmocka_unit_test(cuts_what_is_too_long),
        cmocka_unit_test(formats_what_is_known),
        cmocka_unit_test(problems_grow_and_own_their_text),
        cmocka_unit_test(problems_drop_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
