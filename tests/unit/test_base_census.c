/* What is counted in a text is what a plain loop counts, wherever it begins and ends. */
#include "unit.h"
#include "base/census.h"

static void is(struct dg_slice s, uint64_t newlines, bool escape) {
    struct dg_census c[] = {dg_census(s), dg_census_plain(s)};
    for (int i = 0; i < 2; i++) assert_true(c[i].newlines == newlines && c[i].escape == escape);
}

static void newlines(void **state) {
    (void)state;
    static char text[70000];
    for (size_t i = 0; i < sizeof(text); i++) text[i] = unit_any(3) ? 'x' : '\n';
    for (size_t from = 0; from < 40; from++)
        for (size_t n = 0; from + n <= sizeof(text); n += n < 600 ? 1 : 9973) {
            size_t want = 0;
            for (size_t i = 0; i < n; i++) want += text[from + i] == '\n';
            is(dg_slice(text + from, n), want, false);
        }
    memset(text, '\n', sizeof(text));
    is(dg_slice(text, sizeof(text)), sizeof(text), false);
}

static void escapes(void **state) {
    (void)state;
    char text[300];
    memset(text, 'x', sizeof(text));
    for (size_t at = 0; at < sizeof(text); at++) {
        text[at] = '\x1b';
        for (size_t n = 0; n <= sizeof(text); n++) is(dg_slice(text, n), 0, at < n);
        text[at] = 'x';
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newlines),
        cmocka_unit_test(escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
