/* What a regex needs at least: never denied to a text that it matches, and found missing where that is easily told. */
#include "match_fixture.h"
#include "match/engine.h"

static bool met(struct dg_slice re, struct dg_slice lit, struct dg_slice text) {
    struct need needs[NEEDS_MAX];
    static struct grams grams;
    grams_of(text, &grams);
    return needs_met(needs, needs_of(re, lit, needs), &grams);
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
    {"lib(?:GL|SM|)", "lib"},
    {"lib(?:GL|SM)?\\.so", "lib.so"},
    {"abc(?:def(?:ghi)?|jkl)", "abcjkl"},
    {"abc(?:(?:def)ghi)?jkl", "abcjkl"},
    {"abc(?<x>(?:def|ghi)jkl)*mno", "abcmno"},
    {"abc(?=def(?:ghi))def", "abcdefghi"},
    {"(?:abc|def)(?:ghi|jkl)", "defjkl"},
    {"abc|(?:def)", "def"},
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

/* A regex made by chance, and a text that it matches. */
struct made {
    char re[4096], text[4096];
    size_t n_re, n_text;
};

static void add(struct made *m, const char *re, const char *text) {
    m->n_re += (size_t)snprintf(m->re + m->n_re, sizeof(m->re) - m->n_re, "%s", re);
    m->n_text += (size_t)snprintf(m->text + m->n_text, sizeof(m->text) - m->n_text, "%s", text);
}

/* Behind an item whose text begins at `from`: how often it may stand there, and does. */
static void quantify(struct made *m, size_t from) {
    static const struct {
        const char *re;
        unsigned least, most;
    } TIMES[] = {{"", 1, 1},  {"", 1, 1},    {"", 1, 1},      {"?", 0, 1},    {"*", 0, 2},
                 {"+", 1, 2}, {"{2}", 2, 2}, {"{0,2}", 0, 2}, {"{1,}?", 1, 2}};
    uint32_t i = (uint32_t)unit_any(DG_COUNT(TIMES));
    unsigned times = TIMES[i].least + (unsigned)unit_any(TIMES[i].most - TIMES[i].least + 1);
    char one[sizeof(m->text)];
    snprintf(one, sizeof(one), "%s", m->text + from);
    m->text[m->n_text = from] = '\0';
    add(m, TIMES[i].re, "");
    for (; times && m->n_text + strlen(one) < sizeof(m->text) / 4; times--) add(m, "", one);
    if (times) m->n_re = sizeof(m->re); /* too long: another */
}

static void make(struct made *m, unsigned depth);

static void make_group(struct made *m, unsigned depth) {
    static unsigned named;
    char opens[32] = "(?:";
    size_t from = m->n_text, taken = unit_any(3);
    if (!unit_any(3)) snprintf(opens, sizeof(opens), "(?<name%u>", named++ % 10000);
    add(m, opens, "");
    for (size_t i = 0; i < 3; i++) {
        struct made *other = calloc(1, sizeof(*other));
        if (i) add(m, "|", "");
        if (unit_any(8)) make(other, depth + 1);
        add(m, other->re, i == taken ? other->text : "");
        free(other);
        if (i == taken && !unit_any(2)) break;
    }
    add(m, ")", "");
    quantify(m, from);
}

static void make(struct made *m, unsigned depth) {
    for (size_t items = 1 + unit_any(4); items && m->n_re < sizeof(m->re) / 8; items--) {
        size_t from = m->n_text;
        char plain[2] = {(char)('a' + unit_any(4)), '\0'};
        switch (unit_any(depth < 4 ? 10 : 7)) {
        default:
            add(m, plain, plain);
            if (!unit_any(6)) quantify(m, from);
            break;
        case 6:
            add(m, "[a-d]", plain);
            quantify(m, from);
            break;
        case 8:
        case 9: make_group(m, depth); break;
        }
    }
}

static void what_matches_is_met(void **state) {
    (void)state;
    struct made *m = malloc(sizeof(*m));
    size_t tried = 0;
    for (int i = 0; i < 30000; i++) {
        *m = (struct made){.n_re = 0};
        make(m, 0);
        if (m->n_re >= sizeof(m->re) / 2) continue;
        struct dg_slice re = dg_slice(m->re, m->n_re), text = dg_slice(m->text, m->n_text);
        size_t from = unit_any(text.len + 1), n = unit_any(text.len - from + 1);
        struct dg_slice lit = dg_slice(text.ptr + from, n < 8 ? n : 8);
        if (!met(re, lit, text)) fail_msg("/%s/ is denied to '%s' that holds '%.*s'", m->re, m->text, DG_FMT(lit));
        if (i % 16) continue;
        tried++;
        if (!matches(re, text)) fail_msg("/%s/ does not match '%s'", m->re, m->text);
    }
    free(m);
    assert_true(tried > 500);
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
        {"lib(?:GL|SM|uct)\\.so", "\\.so", "libcuda.so"},
        {"(?<library>lib(?:torch|c10)\\.so)", "lib", "libcudart.so"},
        {"(?:no kernel|not built)|too large", "x", "x is fine"},
        {"(?:RuntimeError|ValueError): (?<what>.*) is too large", "Error", "RuntimeError: it is too small"},
    };
    for (size_t i = 0; i < DG_COUNT(MISSING); i++)
        if (met(dg_cstr(MISSING[i].re), dg_cstr(MISSING[i].lit), dg_cstr(MISSING[i].text)))
            fail_msg("/%s/: nothing is found missing", MISSING[i].re);
}

static void expect_met(const struct dg_pattern *p, const struct dg_rule *rule, struct dg_slice text, size_t *told) {
    if (!p->re.len || dg_slice_find(text, p->lit) < 0 || !matches(p->re, text)) return;
    if (!met(p->re, p->lit, text)) fail_msg("%s: /%.*s/ is denied to an example", rule->id.ptr, DG_FMT(p->re));
    struct need needs[NEEDS_MAX];
    *told += needs_of(p->re, p->lit, needs) > 0;
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
        cmocka_unit_test(no_form_is_denied),      cmocka_unit_test(what_matches_is_met),
        cmocka_unit_test(no_regex_needs_nothing), cmocka_unit_test(what_is_missing_is_told),
        cmocka_unit_test(shipped_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
