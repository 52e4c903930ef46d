/* The literal pass finds what a plain search finds: each literal, wherever it stands. */
#include "match_fixture.h"
#include "match/engine.h"

enum { AFTER = 32, NEEDLES_MAX = 4096, FOUND_AT_MOST = 1 << 16 };

struct place {
    uint32_t needle;
    size_t at;
};
struct places {
    struct place v[FOUND_AT_MOST];
    size_t n, most;
    const struct needle *needles;
};

static bool on_literal(void *ctx, const struct literal *l, size_t start) {
    struct places *p = ctx;
    for (uint32_t i = l->needles[CHAIN_NONE]; i != DG_NONE; i = p->needles[i].same) {
        assert_true(p->n < FOUND_AT_MOST);
        p->v[p->n++] = (struct place){i, start};
    }
    return p->n < p->most;
}

static int by_place(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->needle != y->needle) return x->needle < y->needle ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void seek_plainly(const struct needle *needles, uint32_t n, struct dg_slice text, size_t from,
                         struct places *out) {
    out->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct dg_slice lit = needles[i].lit;
        const char *end = text.ptr + text.len, *at = text.ptr + from;
        while ((at = memmem(at, (size_t)(end - at), lit.ptr, lit.len))) {
            assert_true(out->n < FOUND_AT_MOST);
            out->v[out->n++] = (struct place){i, (size_t)(at++ - text.ptr)};
        }
    }
}

/* All searches of text[from, len) find the same; how many places that is. Behind the text as little can be read as is
 * promised, and what stands there would complete its last literal. */
static size_t same(const struct needle *needles, uint32_t n, struct dg_slice text, size_t from) {
    static struct places want, got;
    struct sieve sieve;
    char *data = malloc(text.len + AFTER);
    assert_non_null(data);
    if (text.len) memcpy(data, text.ptr, text.len);
    memset(data + text.len, 'x', AFTER);
    struct needle *own = sieve_room(&sieve, n);
    assert_non_null(own);
    if (n) memcpy(own, needles, n * sizeof(*own));
    for (uint32_t i = 0; i < n; i++) own[i].rare = dg_rare_gram(own[i].lit);
    sieve_make(&sieve, n);
    seek_plainly(own, n, dg_slice(data, text.len), from, &want);
    qsort(want.v, want.n, sizeof(*want.v), by_place);
    for (int wide = sieve.families.wide; wide >= 0; wide--) {
        sieve.families.wide = wide;
        got = (struct places){.needles = own, .most = SIZE_MAX};
        sieve_seek(&sieve, data, from, text.len, on_literal, NULL, &got);
        qsort(got.v, got.n, sizeof(*got.v), by_place);
        assert_int_equal(got.n, want.n);
        for (size_t i = 0; i < got.n; i++)
            assert_true(got.v[i].needle == want.v[i].needle && got.v[i].at == want.v[i].at);
    }
    sieve_release(&sieve);
    free(data);
    return want.n;
}

static size_t same_of(const char *const *lits, uint32_t n, struct dg_slice text, size_t from) {
    static struct needle needles[NEEDLES_MAX];
    for (uint32_t i = 0; i < n; i++) needles[i] = (struct needle){.lit = dg_cstr(lits[i])};
    return same(needles, n, text, from);
}

static const char *const LITS[] = {
    "fatal",     "sixsix",     "seven77",     "eight888",
    "nine 9999", "ten 101010", "eleven 1111", "no kernel image is available for execution on the device"};

static void each_length_at_each_place(void **state) {
    (void)state;
    for (size_t i = 0; i < DG_COUNT(LITS); i++)
        for (size_t before = 0; before < 30; before++)
            for (size_t behind = 0; behind < 30; behind++) {
                struct dg_buf text = DG_BUF_INIT(4096);
                for (size_t k = 0; k < before; k++) dg_buf_addc(&text, '.');
                dg_buf_adds(&text, LITS[i]);
                for (size_t k = 0; k < behind; k++) dg_buf_addc(&text, '.');
                assert_int_equal(same_of(LITS, DG_COUNT(LITS), dg_buf_slice(&text), 0), 1);
                if (before) assert_int_equal(same_of(LITS, DG_COUNT(LITS), dg_buf_slice(&text), before), 1);
                assert_int_equal(same_of(LITS, DG_COUNT(LITS), dg_buf_slice(&text), before + 1), 0);
                dg_buf_release(&text);
            }
}

static void not_beyond_the_end(void **state) {
    (void)state;
    static const char *const LONGER[] = {"edge-xx", "edge of the text-x", "ge-xxxxxxxx", "edgex"};
    assert_int_equal(same_of(LONGER, DG_COUNT(LONGER), DG_S("here is the edge"), 0), 0);
    assert_int_equal(same_of(LONGER, DG_COUNT(LONGER), DG_S("here is the edge-xx"), 0), 1);
    assert_int_equal(same_of(LONGER, DG_COUNT(LONGER), DG_S("edge-x"), 0), 0);
    assert_int_equal(same_of(LONGER, DG_COUNT(LONGER), DG_S("x"), 0), 0);
    assert_int_equal(same_of(LONGER, DG_COUNT(LONGER), DG_S(""), 0), 0);
}

static void small_sets(void **state) {
    (void)state;
    struct dg_slice text = DG_S("one literal, two literals, three literals");
    assert_int_equal(same_of(NULL, 0, text, 0), 0);
    assert_int_equal(same_of((const char *const[]){"literal"}, 1, text, 0), 3);
    assert_int_equal(same_of((const char *const[]){"two literals"}, 1, text, 0), 1);
    assert_int_equal(same_of((const char *const[]){"literals", "three"}, 2, text, 0), 3);
    assert_int_equal(same_of((const char *const[]){"literal", "literal"}, 2, text, 0), 6);
}

static void overlapping(void **state) {
    (void)state;
    static const char *const OVER[] = {"aaaaa",       "aaaaaa",        "aaaaaaaa",      "aaaaaaaaaaaa",
                                       "abababab",    "babababab",     "ababababababa", "CUDA out of memory",
                                       "CUDA out of", "out of memory", "of memory"};
    struct dg_buf text = DG_BUF_INIT(1 << 16);
    for (int i = 0; i < 100; i++) dg_buf_addc(&text, 'a');
    for (int i = 0; i < 100; i++) dg_buf_adds(&text, "ab");
    dg_buf_adds(&text, "CUDA out of memory");
    assert_true(same_of(OVER, DG_COUNT(OVER), dg_buf_slice(&text), 0) > 300);
    dg_buf_release(&text);
}

static void in_a_long_line(void **state) {
    (void)state;
    struct dg_buf text = DG_BUF_INIT(1 << 20);
    for (int i = 0; i < 70001; i++) dg_buf_addc(&text, "abc efg\t\xff\xc3\0"[i % 11]);
    for (size_t i = 0; i < DG_COUNT(LITS); i++) dg_buf_adds(&text, LITS[i]);
    assert_int_equal(same_of(LITS, DG_COUNT(LITS), dg_buf_slice(&text), 0), DG_COUNT(LITS));
    dg_buf_release(&text);
}

/* Literals cut out of a text of few letters: they share grams, and stand in it everywhere. */
static void literals_out_of_the_text(void **state) {
    (void)state;
    static struct needle needles[NEEDLES_MAX];
    static char text[6200];
    for (int round = 0; round < 60; round++) {
        uint32_t letters = 2 + unit_any(20), n = 1 + unit_any(round % 8 ? 60 : 3000), len = 100 + unit_any(6000);
        for (uint32_t i = 0; i < len; i++) text[i] = unit_any(80) ? (char)('a' + unit_any(letters)) : '\n';
        for (uint32_t i = 0; i < n; i++) {
            uint32_t size = 5 + unit_any(unit_any(2) ? 6 : 40);
            needles[i] = (struct needle){.lit = dg_slice(text + unit_any(len - size), size)};
        }
        assert_true(same(needles, n, dg_slice(text, len), unit_any(20)) > 0);
    }
}

static void it_stops_when_told(void **state) {
    (void)state;
    static struct places got;
    struct sieve sieve;
    char data[256] = "literal literal other literal other";
    struct needle *needles = sieve_room(&sieve, 2);
    assert_non_null(needles);
    needles[0] = (struct needle){.lit = DG_S("literal")};
    needles[1] = (struct needle){.lit = DG_S("other")};
    sieve_make(&sieve, 2);
    for (size_t most = 1; most <= 5; most++) {
        got = (struct places){.needles = needles, .most = most};
        sieve_seek(&sieve, data, 0, strlen(data), on_literal, NULL, &got);
        assert_int_equal(got.n, most);
    }
    sieve_release(&sieve);
}

/* They are written down, as reckoning them takes its time; another list of families changes them. */
static void built_in_grams_are_the_rarest(void **state) {
    (void)state;
    struct fx_rules x;
    fx_rules(&x, "- {id: a, title: x, role: fact, match: {lit: 'first of it'}}\n");
    uint32_t n = 0;
    for (uint32_t i = x.matcher->bounds.lazy_to; i < x.matcher->n_needles; i++, n++) {
        const struct needle *needle = &x.matcher->needles[i];
        struct dg_rare rare = dg_rare_gram(needle->lit);
        if (rare.at != needle->rare.at || rare.family != needle->rare.family)
            fail_msg("'%.*s' is best sought by {%u, %u}", DG_FMT(needle->lit), rare.at, rare.family);
    }
    assert_true(n > 10);
    fx_done(&x);
}

/* Of the hits on a line the first place of each literal is told, in the order of needles, in both ways. */
static void lines_as_plain(void **state) {
    (void)state;
    struct fx_rules x;
    struct scanner quick, plain;
    struct hits a, b;
    fx_rules(
        &x,
        "- {id: a, title: x, role: fact, match: {lit: 'first of it'}}\n"
        "- {id: b, title: x, role: fact, match: {lit: 'second'}}\n- {id: c, title: x, role: fact, match: {lit: 'of it and'}}\n");
    const struct dg_match_opts quickly = {.plain = false}, plainly = {.plain = true};
    assert_int_equal(scanner_init(&quick, x.matcher, &quickly), 0);
    assert_int_equal(scanner_init(&plain, x.matcher, &plainly), 0);
    assert_int_equal(hits_init(&a, x.matcher), 0);
    assert_int_equal(hits_init(&b, x.matcher), 0);
    static const char *const WORDS[] = {"first of it", " and ", "second", "ERROR", "fatal",
                                        "Error: ",     "\n",    "\n\n",   "x"};
    static char text[5000 + AFTER];
    for (int round = 0; round < 200; round++) {
        size_t len = 0;
        while (len < 4900 - 100 * (size_t)(round % 40)) len += (size_t)sprintf(text + len, "%s", WORDS[unit_any(9)]);
        hits_find(&quick, text, len, 0, 0, -1, &a);
        hits_find(&plain, text, len, 0, 0, -1, &b);
        assert_true(a.n_lines == b.n_lines && a.n_hits == b.n_hits && a.line_at_to == b.line_at_to);
        assert_memory_equal(a.lines, b.lines, a.n_lines * sizeof(*a.lines));
        assert_memory_equal(a.sights, b.sights, a.n_hits * sizeof(*a.sights));
    }
    hits_release(&a);
    hits_release(&b);
    scanner_release(&quick);
    scanner_release(&plain);
    fx_done(&x);
}

static int make_one(void *arg) {
    struct sieve sieve;
    bool made = sieve_room(&sieve, 2);
    sieve_release(&sieve);
    (void)arg;
    return made ? 0 : -DG_E_NOMEM;
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    assert_int_equal(unit_fail_each(make_one, NULL), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_length_at_each_place),
        cmocka_unit_test(not_beyond_the_end),
        cmocka_unit_test(small_sets),
        cmocka_unit_test(overlapping),
        cmocka_unit_test(in_a_long_line),
        cmocka_unit_test(literals_out_of_the_text),
        cmocka_unit_test(it_stops_when_told),
        cmocka_unit_test(built_in_grams_are_the_rarest),
        cmocka_unit_test(lines_as_plain),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
