#include "match/smoke.h"
#include "base/mem.h"
#include "smoke_answers.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

static enum dg_smoke judge(const char *text, char *reason, size_t size) {
    return dg_smoke_judge(dg_cstr(text), reason, size);
}

/* At most one good answer may be called garbage. */
static void good_answers_pass(void **state) {
    unsigned wrong = 0;
    char reason[128];
    (void)state;
    for (size_t i = 0; i < DG_COUNT(GOOD); i++)
        if (judge(GOOD[i], reason, sizeof(reason)) != DG_SMOKE_PLAUSIBLE) {
            wrong++;
            print_message("good answer %zu called garbage: %s\n", i, reason);
        }
    assert_true(wrong <= 1);
}

static void bad_answers_are_caught(void **state) {
    unsigned caught = 0;
    char reason[128];
    (void)state;
    for (size_t i = 0; i < DG_COUNT(BAD); i++)
        if (judge(BAD[i], reason, sizeof(reason)) == DG_SMOKE_GARBAGE)
            caught++;
        else
            print_message("bad answer %zu passed\n", i);
    assert_true(caught >= 51);
}

static void nothing_is_not_garbage(void **state) {
    char reason[128];
    (void)state;
    assert_int_equal(judge("", reason, sizeof(reason)), DG_SMOKE_NOTHING);
    assert_int_equal(judge("  \n", reason, sizeof(reason)), DG_SMOKE_GARBAGE);
}

static void answers_are_taken_out(void **state) {
    static const struct {
        const char *body, *text;
    } CASES[] = {
        {"{\"id\":\"x\",\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"Paris\"}}]}", "Paris"},
        {"{\"choices\":[{\"text\":\"Paris\",\"logprobs\":null}]}", "Paris"},
        {"{\"text\":\"!!!!\",\"meta_info\":{\"id\":\"1\"}}", "!!!!"},
        {"[{\"generated_text\":\"Paris\"}]", "Paris"},
        {"{\"model\":\"m\",\"response\":\"Paris\",\"done\":true}", "Paris"},
        {"{\"content\":[{\"type\":\"text\",\"text\":\"Paris\"}]}", "Paris"},
        {"data: {\"choices\":[{\"delta\":{\"content\":\"Pa\"}}]}\n\ndata: "
         "{\"choices\":[{\"delta\":{\"content\":\"ris\"}}]}\n\ndata: [DONE]\n",
         "Paris"},
        {"plain text", "plain text"},
        {"[1, 2, 3]", "[1, 2, 3]"},
    };
    (void)state;
    for (size_t i = 0; i < DG_COUNT(CASES); i++) {
        _cleanup_(dg_buf_release) struct dg_buf out = DG_BUF_INIT(1024);
        assert_true(dg_smoke_answer(dg_cstr(CASES[i].body), &out));
        dg_buf_addc(&out, 0);
        assert_string_equal(out.ptr, CASES[i].text);
    }
    _cleanup_(dg_buf_release) struct dg_buf none = DG_BUF_INIT(1024);
    assert_false(dg_smoke_answer(DG_S("{\"error\":{\"code\":500}}"), &none));
}

static void quoted_answers_are_judged(void **state) {
    (void)state;
    assert_true(dg_smoke_quoted(DG_S("!!!!!!!!!!!!!!!!!!!!!!!!")));
    assert_true(dg_smoke_quoted(
        DG_S("\\u0021\\u0021\\u0021\\u0021\\u0021\\u0021\\u0021\\u0021\\u0021\\u0021\\u0021\\u0021\\u0021\\u0021"
             "\\u0021\\u0021\\u0021")));
    assert_false(dg_smoke_quoted(DG_S("It\\'s \\\"Paris\\\".\\nIt lies on the Seine. \\ud83d\\ude00")));
    assert_false(dg_smoke_quoted(DG_S("!!!!")));
    assert_false(dg_smoke_quoted(DG_S("")));
    assert_false(dg_smoke_quoted(DG_S("a cut escape, and one more word\\")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_answers_pass),         cmocka_unit_test(bad_answers_are_caught),
        cmocka_unit_test(nothing_is_not_garbage),    cmocka_unit_test(answers_are_taken_out),
        cmocka_unit_test(quoted_answers_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
