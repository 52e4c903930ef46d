/* Lines: carriage returns, long lines in pieces, block edges, line maps, passes that are cut. */
#include "match_fixture.h"

static const char RULES[] =
    "- {id: oom, title: x, role: cause, class: a/b, match: {lit: 'out of memory', re: '(?:free (?<free>\\d+).*)?out of memory'}}\n"
    "- {id: start, title: x, role: noise, match: {lit: 'at the start', re: '^at the start'}}\n"
    "- {id: end, title: x, role: noise, match: {lit: 'at the end', re: 'at the end$'}}\n"
    "- {id: long, title: x, role: noise, match: {lit: 'args=(', re: 'args=\\((?<args>.*)\\)', long: true}}\n";

static void check(const char *text, const char *want) {
    struct fx_rules x;
    fx_rules(&x, RULES);
    fx_expect(&x, text, FX_FINDINGS, want);
    fx_done(&x);
}

static void the_last_carriage_return_part_counts(void **state) {
    (void)state;
    check("loading 1%\rloading 2%\rfree 1 out of memory\rfree 2 out of memory\r\n", "oom 1 free=2\n");
    check("x at the start\rat the start\r\n", "start 1\n");
    check("at the end\rx\n", "end 1\n");
    check("at the end\r\n", "end 1\n");
    check("at the end x\r\n", "");
}

static void a_part_has_the_prefix_of_its_line(void **state) {
    (void)state;
    check("[2026-05-22 09:20:44 TP3] loading\rout of memory\n", "oom 1 ranks 8\n");
}

static void a_line_map_gives_the_numbers(void **state) {
    (void)state;
    static const size_t BLOCKS[] = {DG_BLOCK_SIZE, 20, 0};
    struct fx_rules x;
    struct fx_log log = {.mapped = true};
    fx_rules(&x, RULES);
    fx_add(&log, DG_KIND_SERVER, DG_S("a\nout of memory\nb\nat the end\n"));
    fx_expect_log(&x, &log, BLOCKS, FX_FINDINGS, "oom 20\nend 40\n");
    fx_done(&x);
}

static void no_newline_at_the_end(void **state) {
    (void)state;
    check("a\nout of memory", "oom 2\n");
    check("", "");
    check("\n\n", "");
}

static void fill(struct dg_buf *b, size_t n) {
    for (size_t i = 0; i < n; i++) dg_buf_addc(b, "abcdefgh "[i % 9]);
}

static void a_long_line_is_one_line(void **state) {
    (void)state;
    static const size_t BLOCKS[] = {DG_BLOCK_SIZE, 70000, 20000, 9000, 0};
    struct fx_rules x;
    struct fx_log log = {0};
    struct dg_buf text = DG_BUF_INIT(1 << 22);
    fx_rules(&x, RULES);
    dg_buf_adds(&text, "first\nat the start ");
    fill(&text, 70000);
    dg_buf_adds(&text, " out of memory ");
    fill(&text, 50000);
    dg_buf_adds(&text, "at the start out of memory at the end\nlast out of memory\n");
    fx_add(&log, DG_KIND_SERVER, dg_buf_slice(&text));
    fx_expect_log(&x, &log, BLOCKS, FX_FINDINGS, "oom 2-3 x2\nstart 2\nend 2\n");
    dg_buf_release(&text);
    fx_done(&x);
}

static void a_literal_across_the_edge_of_a_piece(void **state) {
    (void)state;
    struct fx_rules x;
    fx_rules(&x, RULES);
    for (size_t before = 8990; before < 9010; before++) {
        size_t blocks[] = {9000, 0};
        struct fx_log log = {0};
        struct dg_buf text = DG_BUF_INIT(1 << 22);
        fill(&text, before);
        dg_buf_adds(&text, "out of memory");
        fill(&text, 12000);
        fx_add(&log, DG_KIND_SERVER, dg_buf_slice(&text));
        fx_expect_log(&x, &log, blocks, FX_FINDINGS, "oom 1\n");
        dg_buf_release(&text);
    }
    fx_done(&x);
}

static void a_regex_sees_a_window(void **state) {
    (void)state;
    struct dg_buf text = DG_BUF_INIT(1 << 20);
    dg_buf_adds(&text, "free 1 ");
    fill(&text, 9000);
    dg_buf_adds(&text, "free 2 out of memory\n");
    check(text.ptr, "oom 1 free=2\n");
    dg_buf_release(&text);
}

static void a_later_window_may_match(void **state) {
    (void)state;
    struct fx_rules x;
    struct dg_buf text = DG_BUF_INIT(1 << 20);
    fx_rules(&x, "- {id: a, title: x, role: noise, match: {lit: 'free memory', re: 'free memory (?<n>\\d+)'}}\n");
    dg_buf_adds(&text, "free memory none ");
    fill(&text, 9000);
    dg_buf_adds(&text, "free memory 7\n");
    fx_expect(&x, text.ptr, FX_FINDINGS, "a 1 n=7\n");
    dg_buf_release(&text);
    fx_done(&x);
}

static void a_long_window_sees_a_dump(void **state) {
    (void)state;
    struct fx_rules x;
    struct fx_log log = {0};
    struct dg_buf text = DG_BUF_INIT(1 << 20);
    struct dg_arena *arena = dg_arena_new(0);
    fx_rules(&x, RULES);
    dg_buf_adds(&text, "args=(");
    fill(&text, 50000);
    dg_buf_adds(&text, ")\n");
    fx_add(&log, DG_KIND_SERVER, dg_buf_slice(&text));
    struct dg_scan *s = fx_scan(&x, &log, arena, false, 1);
    assert_int_equal(s->n_findings, 1);
    assert_int_equal(s->findings[0].captures[0].text.len, 50000);
    assert_int_equal(s->findings[0].first.text.len, 2048); /* cut, with an ellipsis */
    assert_memory_equal(s->findings[0].first.text.ptr + 2045, "\xe2\x80\xa6", 3);
    dg_arena_free(arena);
    dg_buf_release(&text);
    fx_done(&x);
}

static void bytes_that_are_no_utf8_do_not_hide_a_match(void **state) {
    (void)state;
    check("\xff\xfe free 3 out of memory \xc3( \x80\n", "oom 1 free=3\n");
}

/* More hits than one pass holds: the block is searched in several passes. */
static void a_block_full_of_hits(void **state) {
    (void)state;
    struct fx_rules x;
    struct fx_log log = {0};
    struct dg_buf text = DG_BUF_INIT(1 << 22), rules = DG_BUF_INIT(1 << 20);
    for (int i = 0; i < 40; i++)
        dg_buf_addf(&rules, "- {id: r%d, title: x, role: noise, match: {lit: 'literal', re: 'literal.*%d'}}\n", i, i);
    fx_rules(&x, rules.ptr);
    for (int i = 0; i < 3000; i++) dg_buf_addf(&text, "literal %d\n", i % 40);
    static const size_t BLOCKS[] = {DG_BLOCK_SIZE, 5000, 0};
    fx_add(&log, DG_KIND_SERVER, dg_buf_slice(&text));
    fx_expect_log(&x, &log, BLOCKS, FX_FINDINGS, NULL);
    dg_buf_release(&text);
    dg_buf_release(&rules);
    fx_done(&x);
}

static void two_sources_do_not_mix(void **state) {
    (void)state;
    static const size_t BLOCKS[] = {DG_BLOCK_SIZE, 40, 0};
    struct fx_rules x;
    struct fx_log log = {0};
    fx_rules(&x, RULES);
    fx_add(&log, DG_KIND_SERVER, DG_S("Traceback (most recent call last):\n  File\n"));
    fx_add(&log, DG_KIND_CONTAINER, DG_S("ValueError: out of memory\n"));
    fx_add(&log, DG_KIND_SERVER, DG_S(""));
    fx_expect_log(&x, &log, BLOCKS, FX_ALL,
                  "launch 1-2\nlaunch 1-1\noom 1\nfatal traceback 1 record 1-2\nfatal exception 1 ValueError\n"
                  "tail 1 Traceback (most recent call last):\ntail 2   File\ntail 1 ValueError: out of memory\n");
    fx_done(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_carriage_return_part_counts),
        cmocka_unit_test(a_part_has_the_prefix_of_its_line),
        cmocka_unit_test(a_line_map_gives_the_numbers),
        cmocka_unit_test(no_newline_at_the_end),
        cmocka_unit_test(a_long_line_is_one_line),
        cmocka_unit_test(a_literal_across_the_edge_of_a_piece),
        cmocka_unit_test(a_regex_sees_a_window),
        cmocka_unit_test(a_later_window_may_match),
        cmocka_unit_test(a_long_window_sees_a_dump),
        cmocka_unit_test(bytes_that_are_no_utf8_do_not_hide_a_match),
        cmocka_unit_test(a_block_full_of_hits),
        cmocka_unit_test(two_sources_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
