/* The shipped rules, each by its examples, on the fast and the plain way, wherever a block may end; and mixtures of the
 * fixtures. */
#include "match_fixture.h"
#include <dirent.h>

static struct fx_rules shipped;

static int load_shipped(void **state) {
    (void)state;
    struct dg_err err = {0};
    shipped.pack = fx_shipped();
    assert_true(dg_pack_rules(shipped.pack)->n_rules > 300);
    assert_int_equal(dg_matcher_new(dg_pack_rules(shipped.pack), &shipped.matcher, &err), 0);
    return 0;
}

static int free_shipped(void **state) {
    (void)state;
    dg_matcher_free(shipped.matcher);
    dg_pack_free(shipped.pack);
    return 0;
}

static enum dg_kind kind_of(const struct dg_rule *rule, const struct dg_example *ex) {
    if (ex->kind >= 0) return (enum dg_kind)ex->kind;
    if (rule->kinds & DG_KIND_BIT(DG_KIND_SERVER)) return DG_KIND_SERVER;
    enum dg_kind k = DG_KIND_UNKNOWN;
    while (!(rule->kinds & DG_KIND_BIT(k))) k++;
    return k;
}

/* Where the rule's first finding stands, relative to the example's first line; -1: nowhere. */
static long place_in(const struct dg_rule *rule, enum dg_kind kind, struct dg_slice text, size_t block, bool plain,
                     uint64_t first_line) {
    struct fx_log log = {.block = block};
    struct dg_arena *arena = dg_arena_new(0);
    fx_add(&log, kind, text);
    const struct dg_scan *s = fx_scan(&shipped, &log, arena, plain, 1);
    long at = -1;
    for (uint32_t i = 0; i < s->n_findings && at < 0; i++)
        if (s->findings[i].rule == rule) at = (long)(s->findings[i].first.line - first_line);
    dg_arena_free(arena);
    return at;
}

static void expect_place(const struct dg_rule *rule, const struct dg_example *ex, struct dg_slice text, size_t block,
                         bool plain, uint64_t line, long want, const char *how) {
    long got = place_in(rule, kind_of(rule, ex), text, block, plain, line);
    if (got != want) fail_msg("%s: line %ld, not %ld, %s (%s)", rule->id.ptr, got, want, how, plain ? "plain" : "fast");
}

static void filler(struct dg_buf *b, size_t n, char last) {
    for (size_t i = 0; i + 1 < n; i++) dg_buf_addc(b, i % 64 == 63 && last == '\n' ? '\n' : '.');
    if (n) dg_buf_addc(b, last);
}

static void at_the_start(const struct dg_rule *rule, const struct dg_example *ex, bool plain, long want) {
    expect_place(rule, ex, ex->text, DG_BLOCK_SIZE, plain, 1, want, "at the start");
}

/* The example begins on the last byte of a block of 4,096, then across its end. */
static void at_the_end_of_a_block(const struct dg_rule *rule, const struct dg_example *ex, bool plain, long want) {
    static const size_t BEFORE[] = {1, 17, 40};
    for (size_t i = 0; i < DG_COUNT(BEFORE); i++) {
        struct dg_buf text = DG_BUF_INIT(1 << 20);
        filler(&text, 4096 - BEFORE[i], '\n');
        uint64_t line = 1;
        for (size_t k = 0; k < text.len; k++) line += text.ptr[k] == '\n';
        dg_buf_add_slice(&text, ex->text);
        dg_buf_addc(&text, '\n');
        filler(&text, 9000, '\n');
        expect_place(rule, ex, dg_buf_slice(&text), 4096, plain, line, want, "at the end of a block");
        dg_buf_release(&text);
    }
}

/* A line of one long word stands before it. */
static void after_a_long_line(const struct dg_rule *rule, const struct dg_example *ex, bool plain, long want) {
    struct dg_buf text = DG_BUF_INIT(1 << 20);
    filler(&text, 70000, '.');
    dg_buf_addc(&text, '\n');
    dg_buf_add_slice(&text, ex->text);
    expect_place(rule, ex, dg_buf_slice(&text), 16384, plain, 2, want, "after a long line");
    dg_buf_release(&text);
}

static void each_example_is_found_everywhere(void **state) {
    (void)state;
    const struct dg_ruleset *set = dg_pack_rules(shipped.pack);
    for (uint32_t i = 0; i < set->n_rules; i++)
        for (uint32_t k = 0; k < set->rules[i].n_examples; k++) {
            const struct dg_rule *rule = &set->rules[i];
            const struct dg_example *ex = &rule->examples[k];
            long want = place_in(rule, kind_of(rule, ex), ex->text, DG_BLOCK_SIZE, true, 1);
            if (want < 0) continue; /* rules test says so */
            at_the_start(rule, ex, false, want);
            at_the_end_of_a_block(rule, ex, false, want);
            after_a_long_line(rule, ex, false, want);
        }
}

/* ---- guesses */

static bool guessed(const char *text, bool plain) {
    struct fx_log log = {.block = DG_BLOCK_SIZE};
    struct dg_arena *arena = dg_arena_new(0);
    bool any = false;
    fx_add(&log, DG_KIND_SERVER, dg_cstr(text));
    const struct dg_scan *s = fx_scan(&shipped, &log, arena, plain, 1);
    for (uint32_t i = 0; i < s->n_findings; i++) any = any || dg_rule_guesses(s->findings[i].rule);
    dg_arena_free(arena);
    return any;
}

static void a_line_that_a_rule_knows_is_not_guessed_at(void **state) {
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        assert_true(guessed("RuntimeError: foo_gemm: got sm_75 where 80 is the least\n", plain));
        assert_false(guessed("RuntimeError: CUDA error: an illegal memory access was encountered\n", plain));
        assert_true(guessed("RuntimeError: CUDA error: an illegal memory access was encountered\n"
                            "RuntimeError: foo_gemm: got sm_75 where 80 is the least\n",
                            plain));
    }
}

/* ---- mixtures */

struct texts {
    struct dg_buf v[1024];
    size_t n;
};

static void read_folder(struct texts *t, const char *dir) {
    char **names = NULL;
    size_t n = 0;
    struct dg_err err = {0};
    if (dg_dir_list(dir, NULL, &names, &n, &err)) return;
    for (size_t i = 0; i < n && t->n < DG_COUNT(t->v); i++) {
        struct dg_buf path = DG_BUF_INIT(4096);
        dg_path_join(&path, dir, names[i]);
        if (dg_path_is_dir(path.ptr)) {
            read_folder(t, path.ptr);
        } else if (!dg_slice_ends(dg_cstr(names[i]), DG_S(".json"))) {
            dg_buf_init(&t->v[t->n], 1 << 20);
            if (!dg_file_read(path.ptr, &t->v[t->n], &err)) t->n++;
        }
        dg_buf_release(&path);
    }
    dg_names_free(names, n);
}

/* Runs of lines of a few texts, one after the other, some of them cut or joined in the middle of a line. */
static void mix(const struct texts *t, struct dg_buf *out) {
    for (uint32_t parts = 2 + unit_any(12); parts; parts--) {
        struct dg_slice s = dg_buf_slice(&t->v[unit_any((uint32_t)t->n)]);
        if (!s.len) continue;
        size_t from = unit_any((uint32_t)s.len), len = 1 + unit_any(6000);
        if (unit_any(4)) {
            ptrdiff_t nl = dg_slice_find_ch(dg_slice_from(s, from), '\n');
            from += nl < 0 ? 0 : (size_t)nl + 1;
        }
        dg_buf_add_slice(out, dg_slice_upto(dg_slice_from(s, from), len));
        if (unit_any(3)) dg_buf_addc(out, unit_any(8) ? '\n' : '\r');
    }
}

static void mixtures_give_the_same_on_every_way(void **state) {
    (void)state;
    static const enum dg_kind KINDS[] = {DG_KIND_SERVER, DG_KIND_SERVER, DG_KIND_KERNEL, DG_KIND_CONTAINER};
    char path[1024];
    struct texts *t = calloc(1, sizeof(*t));
    snprintf(path, sizeof(path), "%s/fixtures/logs", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".");
    read_folder(t, path);
    const struct dg_ruleset *set = dg_pack_rules(shipped.pack);
    for (uint32_t i = 0; i < set->n_rules && t->n < DG_COUNT(t->v); i += 3) /* examples make it richer */
        if (set->rules[i].n_examples) {
            dg_buf_init(&t->v[t->n], 1 << 20);
            dg_buf_add_slice(&t->v[t->n++], set->rules[i].examples[0].text);
        }
    assert_true(t->n > 50);
    for (int i = 0; i < 200; i++) {
        size_t blocks[] = {DG_BLOCK_SIZE, 0};
        struct fx_log log = {0};
        struct dg_buf text = DG_BUF_INIT(1 << 20);
        mix(t, &text);
        fx_add(&log, KINDS[unit_any(DG_COUNT(KINDS))], dg_buf_slice(&text));
        fx_expect_log(&shipped, &log, blocks, FX_ALL, NULL);
        dg_buf_release(&text);
    }
    for (size_t i = 0; i < t->n; i++) dg_buf_release(&t->v[i]);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_example_is_found_everywhere),
        cmocka_unit_test(a_line_that_a_rule_knows_is_not_guessed_at),
        cmocka_unit_test(mixtures_give_the_same_on_every_way),
    };
    return cmocka_run_group_tests(tests, load_shipped, free_shipped);
}
