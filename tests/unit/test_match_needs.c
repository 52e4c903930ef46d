/* What a regex needs at least: never denied to a text that it matches, and found missing where that is easily told. */
#include "match_fixture.h"
#include "match/engine.h"

static bool met(struct dg_slice re, struct dg_slice lit, struct dg_slice text) {
    struct needs needs;
    struct grams grams;
    needs_of(re, lit, &needs);
    grams_of(text, &grams);
    return needs_met(&needs, &grams);
}

static bool matches(struct dg_slice re, struct dg_slice text) {
    int code;
    size_t at;
    pcre2_code *c = pcre2_compile((PCRE2_SPTR)re.ptr, re.len, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &code, &at, NULL);
    assert_non_null(c);
    pcre2_match_data *data = pcre2_match_data_create_from_pattern(c, NULL);
    int n = pcre2_match(c, (PCRE2_SPTR)text.ptr, text.len, 0, 0, data, NULL);
    pcre2_match_data_free(data);
    pcre2_code_free(c);
    return n > 0;
}

/* Each form of what a regex may hold, and a text that it matches. */
static const struct {
    const char *re, *text;
} FORMS[] = {
    {"plain text", "some plain text here"},
    {"colou?r of it", "color of it"},
    {"abcd*efg", "abcefg"},
    {"abc(?:def)?ghi", "abcghi"},
    {"abc(?:def)*ghi", "abcghi"},
    {"abc(?:def){0,3}ghi", "abcghi"},
    {"abcd{0}efg", "abcefg"},
    {"abc(?:def)+ghi", "abcdefdefghi"},
    {"abcd{2,3}efg", "abcddefg"},
    {"abc{2}", "abcc"},
    {"abc{x}", "abc{x}"},
    {"(?:abc{1 d|efgh}) ijk", "efgh} ijk"},
    {"abc{1,2,3} efg", "abc{1,2,3} efg"},
    {"abc{1", "abc{1"},
    {"one two|three four", "three four"},
    {"(?:one two|three four) five", "three four five"},
    {"(?:one two|) five", " five"},
    {"(?<name>one two|three) four", "three four"},
    {"(one two|three) four", "three four"},
    {"abc(?!def)ghi", "abcghi"},
    {"abc(?=ghi)ghi", "abcghi"},
    {"(?<!def)abc", "abc"},
    {"(?<=abc)def", "abcdef"},
    {"(?i)ABC def", "abc DEF"},
    {"(?i:ABC) def", "abc def"},
    {"abc(?#comment with words)def", "abcdef"},
    {"a b c(?x: d e f )", "a b cdef"},
    {"[abc]def[^]x]ghi", "bdefyghi"},
    {"[]abc]defg", "]defg"},
    {"[[:alpha:]abc]defg", "zdefg"},
    {"[\\]abc]defg", "]defg"},
    {"abc\\.so\\.12", "abc.so.12"},
    {"\\Qa.b.c\\Edef", "a.b.cdef"},
    {"\\x41bcdef", "Abcdef"},
    {"abc\\tdef", "abc\tdef"},
    {"(abc)\\1def", "abcabcdef"},
    {"\\d+abc\\w*def", "12abcxdef"},
    {"abc\\", "abc"}, /* is none: see below */
    {"abc.*?def", "abc def"},
    {"abc++def", "abccdef"},
    {"a\xc3\xa4?bcd", "abcd"},
    {"abc\xc3\xa4+def", "abc\xc3\xa4\xc3\xa4"
                        "def"},
    {"((?:(abc|def)ghi|jkl)mno|pqr)stu", "pqrstu"},
    {"((?:(abc|def)ghi|jkl)mno|pqr)stu", "defghimnostu"},
    {"(?|(abc)|(def))ghi", "defghi"},
    {"(?>abc|def)ghi", "defghi"},
    {"^abcdef$", "abcdef"},
    {"\\babcdef\\b", "abcdef"},
    {"", "anything"},
};

static void no_form_is_denied(void **state) {
    (void)state;
    static const char *const LITS[] = {"", "def", "abc", " f", "one two"};
    for (size_t i = 0; i < DG_COUNT(FORMS); i++) {
        struct dg_slice re = dg_cstr(FORMS[i].re), text = dg_cstr(FORMS[i].text);
        if (re.len && re.ptr[re.len - 1] != '\\') assert_true(matches(re, text));
        for (size_t k = 0; k < DG_COUNT(LITS); k++)
            if (dg_slice_find(text, dg_cstr(LITS[k])) >= 0 && !met(re, dg_cstr(LITS[k]), text))
                fail_msg("/%s/ is denied to '%s'", FORMS[i].re, FORMS[i].text);
    }
}

static void no_regex_needs_nothing(void **state) {
    (void)state;
    assert_true(met((struct dg_slice){NULL, 0}, DG_S("a literal"), DG_S("")));
}

static void what_is_missing_is_told(void **state) {
    (void)state;
    static const struct {
        const char *re, *lit, *text;
    } MISSING[] = {
        {"lib(?:nccl|rccl)\\.so[\\w.]*: cannot open", "cannot open", "libcudart.so.12: cannot open"},
        {"Error: .*(?:no kernel|not built)", "Error: ", "Error: out of memory"},
        {"^\\s*File \"[^\"]*/(?:vllm/lora/|sglang/srt/lora/)", "\", line ",
         "  File \"/app/vllm/worker.py\", line 5, in run"},
        {"(?:a|b)lpha+ beta", "x", "x alphabet"},
        {"(?:RuntimeError|ValueError): (?<what>.*) is too large", "Error", "RuntimeError: it is too small"},
    };
    for (size_t i = 0; i < DG_COUNT(MISSING); i++)
        if (met(dg_cstr(MISSING[i].re), dg_cstr(MISSING[i].lit), dg_cstr(MISSING[i].text)))
            fail_msg("/%s/: nothing is found missing", MISSING[i].re);
}

static void expect_met(const struct dg_pattern *p, const struct dg_rule *rule, struct dg_slice text, size_t *told) {
    if (!p->re.len || dg_slice_find(text, p->lit) < 0 || !matches(p->re, text)) return;
    if (!met(p->re, p->lit, text)) fail_msg("%s: /%.*s/ is denied to an example", rule->id.ptr, DG_FMT(p->re));
    struct needs needs;
    needs_of(p->re, p->lit, &needs);
    *told += needs.n > 0;
}

static void shipped_patterns(void **state) {
    (void)state;
    struct dg_pack *pack = fx_shipped();
    size_t told = 0;
    const struct dg_ruleset *rules = dg_pack_rules(pack);
    for (uint32_t r = 0; r < rules->n_rules; r++)
        for (uint32_t x = 0; x < rules->rules[r].n_examples; x++)
            for (uint32_t i = 0; i < rules->rules[r].n_patterns; i++)
                expect_met(&rules->rules[r].patterns[i], &rules->rules[r], rules->rules[r].examples[x].text, &told);
    assert_true(told > 1000); /* most of them need something */
    dg_pack_free(pack);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_form_is_denied),
        cmocka_unit_test(no_regex_needs_nothing),
        cmocka_unit_test(what_is_missing_is_told),
        cmocka_unit_test(shipped_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
