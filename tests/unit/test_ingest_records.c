#include "ingest_fixture.h"
#include <time.h>

static void assert_lines(const struct got *g, const uint64_t *want, size_t n) {
    assert_int_equal(g->lines.n, n);
    for (size_t i = 0; i < n; i++) assert_int_equal(g->lines.v[i], want[i]);
}
#define LINES(...) ((const uint64_t[]){__VA_ARGS__}), sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

/* Text of a kind in, text out, raw line numbers. */
static void check_as(enum dg_kind kind, const char *from, const char *to, const uint64_t *lines, size_t n) {
    struct dg_ingest *in;
    struct got g = read_text(dg_cstr(from), kind, &in);
    assert_slice(dg_buf_slice(&g.text), to);
    assert_lines(&g, lines, n);
    assert_int_equal(source_at(in, 0)->bytes, strlen(from));
    got_release(&g);
    dg_ingest_free(in);
}

static void check(const char *from, const char *to, const uint64_t *lines, size_t n) {
    check_as(DG_KIND_UNKNOWN, from, to, lines, n);
}

#define T "2026-03-07T11:00:00.000000001Z "

static void joins_parts_of_cri_records(void **state) {
    (void)state;
    check(T "stdout P one "
            "\n" T "stdout P two "
            "\n" T "stdout F three"
            "\n" T "stdout F next\n",
          T "stdout F one two three\n" T "stdout F next\n", LINES(1, 4));
    /* the streams are cut apart; numbers never go back */
    check(T "stdout P a1 \n" T "stderr F err\n" T "stdout F a2\n" T "stdout F b\n",
          T "stderr F err\n" T "stdout F a1 a2\n" T "stdout F b\n", LINES(2, 2, 4));
    /* a part whose rest is missing, more tags, lines of others, no newline at the end */
    check(T "stderr P only a part\n", T "stderr F only a part\n", LINES(1));
    check(T "stdout F:x tagged\n" T "stdout F\nnot a record\n" T "stdout F end",
          T "stdout F tagged\n" T "stdout F \nnot a record\n" T "stdout F end\n", LINES(1, 2, 3, 4));
    check(T "stdout F crlf\r\n", T "stdout F crlf\r\n", LINES(1));
    check(T "stdout F \x1b[31mred\x1b[0m\n", T "stdout F red\n", LINES(1));
}

static void decodes_docker_json(void **state) {
    (void)state;
    check(
        "{\"log\":\"say \\\"hi\\\" \\u003c\\u00e9\\u003e\\n\",\"stream\":\"stderr\",\"time\":\"2026-03-07T11:00:00.000000001Z\"}\n"
        "{\"log\":\"\\n\",\"stream\":\"stdout\",\"time\":\"2026-03-07T11:00:00.000000001Z\"}\n",
        T "stderr F say \"hi\" <\303\251>\n" T "stdout F \n", LINES(1, 2));
    /* a line that was cut in pieces; without a newline only a piece when others have one */
    check("{\"log\":\"a\\n\",\"stream\":\"stdout\",\"time\":\"2026-03-07T11:00:00.000000001Z\"}\n"
          "{\"log\":\"first \",\"stream\":\"stdout\",\"time\":\"2026-03-07T11:00:00.000000001Z\"}\n"
          "{\"log\":\"second\\n\",\"stream\":\"stdout\",\"time\":\"2026-03-07T11:00:00.000000001Z\"}\n",
          T "stdout F a\n" T "stdout F first second\n", LINES(1, 2));
    check("{\"log\":\"a\",\"stream\":\"stdout\"}\n{\"log\":\"b\",\"stream\":\"stdout\"}\n", "a\nb\n", LINES(1, 2));
    /* every escape, and keys in another order than Docker's */
    check(
        "{\"log\":\"\\\\ \\/ \\b\\f\\t\\r\\n\",\"stream\":\"stdout\",\"time\":\"2026-03-07T11:00:00.000000001Z\"}\r\n"
        "{\"time\":\"2026-03-07T11:00:00.000000001Z\",\"log\":\"\\ud83d\\ude00\\n\",\"stream\":\"stderr\",\"attrs\":{\"a\":\"b\"}}\n",
        T "stdout F \\ / \b\f\t\r\n" T "stderr F \360\237\230\200\n", LINES(1, 2));
    /* several lines in one record; broken and foreign ones stay */
    check(
        "{\"log\":\"a\\nb\\n\",\"stream\":\"stdout\",\"time\":\"2026-03-07T11:00:00.000000001Z\"}\n{\"log\":\"cut\n{\"other\":1}\nplain\n{\"log\":\"\\tend\\n\"}",
        T "stdout F a\n" T "stdout F b\n{\"log\":\"cut\n{\"other\":1}\nplain\n\tend\n", LINES(1, 1, 2, 3, 4, 5));
}

/* What Docker never writes and others may: the parser takes it, or it stays as it is. */
static void odd_json_is_taken_as_far_as_it_goes(void **state) {
    (void)state;
    check("{ \"log\" : \"a\\u0041\\u007e\\n\" , \"stream\" : \"stdout\" }\n", "aA~\n", LINES(1));
    check("{\"log\":\"\\u0080\\u00E9\\n\"}\n{\"log\":\"\\u00fg\\n\"}\n{\"log\":\"\\u00\"}\n{\"log\":\"\\q\"}\n",
          "\302\200\303\251\n{\"log\":\"\\u00fg\\n\"}\n{\"log\":\"\\u00\"}\n{\"log\":\"\\q\"}\n", LINES(1, 2, 3, 4));
    check("{\"log\":\"even \\\\\\\\\",\"stream\":\"stdout\"}\n{\"log\":\"odd \\\\\\\"\",\"stream\":\"stdout\"}\n",
          "even \\\\\nodd \\\"\n", LINES(1, 2));
    check(
        "{\"log\":\"a\\n\",\"n\":1}\n{\"log\":\"a\\n\",\"n\":1}\n{\"log\":\"b\\n\",\"n\"}\n{\"log\" \"c\"}\n{\"log\":\"d\\n\"} x\n{log:1}\n{}\n[{\"log\":\"e\"}]\n",
        "a\na\n{\"log\":\"b\\n\",\"n\"}\n{\"log\" \"c\"}\n{\"log\":\"d\\n\"} x\n{log:1}\n{}\n[{\"log\":\"e\"}]\n",
        LINES(1, 2, 3, 4, 5, 6, 7, 8));
    /* a time that is too long for one, a level that is too long for one, and a time that is none */
    check(
        "{\"log\":\"x\\n\",\"time\":\"2026-03-07T11:00:00.0000000000000000000000000000000000000000000000000000000000000001Z\"}\n"
        "{\"log\":\"y\\n\",\"time\":\"\"}\n",
        "x\ny\n", LINES(1, 2));
    check(
        "{\"time\":\"2026-03-07T11:00:00Z\",\"level\":\"a level of many words\",\"msg\":\"m\"}\n"
        "{\"time\":\"2026-03-07T11:00:00Z\",\"msg\":\"no level\"}\n{\"time\":\"yesterday\",\"level\":\"info\",\"msg\":\"n\"}\n",
        "2026-03-07T11:00:00Z m\n2026-03-07T11:00:00Z no level\nn\n", LINES(1, 2, 3));
    /* words that would end a journal's front early, one that is too long for it, a message of no kind, an empty list */
    check_as(
        DG_KIND_SERVER,
        "{\"__REALTIME_TIMESTAMP\":\"1772881200000000\",\"_HOSTNAME\":\"a b\",\"SYSLOG_IDENTIFIER\":\"c:d[e\",\"_PID\":\"1\",\"MESSAGE\":\"m\\n\"}\n"
        "{\"__REALTIME_TIMESTAMP\":\"x\",\"MESSAGE\":\"no time\"}\n"
        "{\"__REALTIME_TIMESTAMP\":\"1772881200000000\",\"SYSLOG_IDENTIFIER\":\"0123456789012345678901234567890123456789012345678901234567890123456789\",\"MESSAGE\":[]}\n",
        "2026-03-07T11:00:00+00:00 a_b c_d_e[1]: m\nno time\n2026-03-07T11:00:00+00:00 localhost unknown: \n",
        LINES(1, 2, 3));
}

static void decodes_loggers(void **state) {
    (void)state;
    check(
        "{\"timestamp\":\"2026-03-07T11:00:00.5Z\",\"level\":\"error\",\"message\":\"dead\",\"exc_info\":\"Traceback (most recent call last):\\n  File\\nValueError: x\"}\n"
        "{\"message\":\"no time\",\"level\":\"info\"}\n{\"time\":\"2026-03-07T11:00:00Z\",\"level\":\"INFO\",\"fields\":{\"message\":\"deep\"}}\n{\"msg\":\"m\",\"err\":\"why\"}\n",
        "2026-03-07T11:00:00.5Z ERROR dead\n2026-03-07T11:00:00.5Z ERROR Traceback (most recent call last):\n2026-03-07T11:00:00.5Z ERROR   File\n"
        "2026-03-07T11:00:00.5Z ERROR ValueError: x\nno time\n2026-03-07T11:00:00Z INFO deep\nm\nwhy\n",
        LINES(1, 1, 1, 1, 2, 3, 4, 4));
}

static void json_that_is_no_log_stays(void **state) {
    (void)state;
    check("[\n {\n  \"Id\": \"abc\",\n  \"State\": {\"OOMKilled\": true}\n }\n]\n",
          "[\n {\n  \"Id\": \"abc\",\n  \"State\": {\"OOMKilled\": true}\n }\n]\n", LINES(1, 2, 3, 4, 5, 6));
}

static void decodes_journal_json(void **state) {
    (void)state;
    static const char text[] =
        "{\"__REALTIME_TIMESTAMP\":\"1772881200500000\",\"__MONOTONIC_TIMESTAMP\":\"100500000\",\"_HOSTNAME\":\"node-3\",\"SYSLOG_IDENTIFIER\":\"python3\",\"_PID\":\"42\",\"MESSAGE\":\"a\\nb\"}\n"
        "{\"__REALTIME_TIMESTAMP\":\"1772881201000000\",\"_HOSTNAME\":\"node-3\",\"_TRANSPORT\":\"kernel\",\"_PID\":\"1\",\"MESSAGE\":\"NVRM: Xid\"}\n"
        "{\"__REALTIME_TIMESTAMP\":\"1772881201000000\",\"_COMM\":\"my tool\",\"MESSAGE\":[104,105,255]}\n{\"MESSAGE\":null}\n{\"MESSAGE\":[\"two\",\"texts\"]}\n[1]\n";
    check_as(
        DG_KIND_SERVER, text,
        "2026-03-07T11:00:00.5+00:00 node-3 python3[42]: a\n2026-03-07T11:00:00.5+00:00 node-3 python3[42]: b\n"
        "2026-03-07T11:00:01+00:00 node-3 kernel: NVRM: Xid\n2026-03-07T11:00:01+00:00 localhost my_tool: hi\xff\n\ntwo\n[1]\n",
        LINES(1, 1, 2, 3, 4, 5, 6));
    struct dg_prefix p; /* and the front is one that is understood */
    dg_prefix_parse(DG_S("2026-03-07T11:00:00.5+00:00 node-3 python3[42]: a"), DG_KIND_SERVER, &p);
    assert_slice(p.body, "a");
    assert_slice(p.host, "node-3");
    assert_true(p.pid == 42 && p.zone_stated && p.syslog);
}

/* The journal of a whole host: the kernel's lines are a source of the same name behind the others, with their numbers.
 */
static void check_aside(const char *from, enum dg_kind kind, const char *text, enum dg_kind aside_kind,
                        const char *aside, const uint64_t *lines, size_t n) {
    for (uint32_t source = 0; source < 2; source++) {
        struct dg_ingest *in = dg_ingest_new(&plain_opts);
        assert_non_null(in);
        assert_int_equal(dg_ingest_add(in, file_with(0, dg_cstr(from)), DG_KIND_UNKNOWN), 0);
        struct got g = read_source(in, source);
        assert_int_equal(n_sources(in), aside ? 2 : 1);
        const struct dg_source *s = source_at(in, source && aside);
        assert_int_equal(s->kind, source && aside ? aside_kind : kind);
        assert_string_equal(s->name, source_at(in, 0)->name);
        assert_int_equal(s->bytes, strlen(from));
        assert_int_equal(s->lines, source_at(in, 0)->lines);
        assert_slice(dg_buf_slice(&g.text), !source ? text : aside ? aside : "");
        if (source && aside) assert_lines(&g, lines, n);
        got_release(&g);
        dg_ingest_free(in);
    }
}

#define K(text) "Mar 07 11:00:00 h kernel: " text "\n"
#define O(text) "Mar 07 11:00:00 h ollama[9]: time=2024-03-07T10:00:00Z level=INFO source=a.go:1 msg=" text "\n"
#define S(text) "Mar 07 11:00:00 h systemd[1]: " text "\n"

static void sets_the_kernel_aside(void **state) {
    (void)state;
    check_aside(K("a") O("x") "\tgoes on\n" K("b") "\tgoes on\n" S("y") K("c#012d"), DG_KIND_SERVER,
                O("x") "\tgoes on\n" S("y"), DG_KIND_KERNEL, K("a") K("b") "\tgoes on\n" K("c") K("d"),
                LINES(1, 4, 5, 7, 7));
    check_aside(O("x") S("y"), DG_KIND_SERVER, O("x") S("y"), 0, NULL, NULL, 0);
    check_aside(O("x") O("y"), DG_KIND_SERVER, O("x") O("y"), 0, NULL, NULL, 0);
    /* nobody known speaks beside the kernel: what does later is known by then, as what it is */
    check_aside(K("a") K("b") S("y"), DG_KIND_KERNEL, K("a") K("b"), DG_KIND_SCHEDULER, S("y"), LINES(3));
    check_aside(K("a") K("b") "Mar 07 11:00:00 h sshd[4]: x\n", DG_KIND_KERNEL, K("a") K("b"), DG_KIND_KERNEL,
                "Mar 07 11:00:00 h sshd[4]: x\n", LINES(3));
    check_aside(S("x") S("y") K("a"), DG_KIND_SCHEDULER, S("x") S("y") K("a"), 0, NULL, NULL, 0);
    check_aside(
        "{\"__REALTIME_TIMESTAMP\":\"1772881200000000\",\"_TRANSPORT\":\"kernel\",\"MESSAGE\":\"NVRM: x\"}\n"
        "{\"__REALTIME_TIMESTAMP\":\"1772881200000000\",\"SYSLOG_IDENTIFIER\":\"v\",\"MESSAGE\":\"vllm serve x\"}\n",
        DG_KIND_SERVER, "2026-03-07T11:00:00+00:00 localhost v: vllm serve x\n", DG_KIND_KERNEL,
        "2026-03-07T11:00:00+00:00 localhost kernel: NVRM: x\n", LINES(1));
}

/* The year that only the others' lines state counts for the kernel's as well. */
static void aside_has_the_same_year(void **state) {
    (void)state;
    struct dg_ingest *in;
    struct got g = read_text(DG_S(O("x") K("a")), DG_KIND_UNKNOWN, &in);
    assert_int_equal(n_sources(in), 2);
    double now = source_at(in, 0)->first_time;
    assert_true(fabs(now - dg_time_utc(2024, 3, 7, 11, 0, 0)) < 14 * 3600);
    assert_true(source_at(in, 1)->first_time == now);
    got_release(&g);
    dg_ingest_free(in);
}

/* Of so much that memory would not hold it the end is kept. */
static void aside_has_a_limit(void **state) {
    (void)state;
    enum { N = 300000 };
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    dg_buf_adds(&b, O("x"));
    for (int i = 0; i < N; i++) dg_buf_addf(&b, "Mar 07 11:00:00 h kernel: a line that is one of very many: %07d\n", i);
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    assert_int_equal(dg_ingest_add_text(in, "t", DG_KIND_UNKNOWN, dg_buf_slice(&b)), 0);
    struct got g = read_source(in, 1);
    assert_false(source_at(in, 0)->truncated);
    assert_true(source_at(in, 1)->truncated);
    assert_true(g.text.len > 7 << 20 && g.text.len <= 16 << 20);
    for (size_t i = 0; i < g.lines.n; i++) assert_int_equal(g.lines.v[i], N + 1 - (g.lines.n - 1 - i));
    assert_true(dg_slice_ends(dg_buf_slice(&g.text), DG_S(": 0299999\n")));
    got_release(&g);
    dg_ingest_free(in);
}

/* One field with a length and a newline in it, a field that is too large, an entry without an end. */
static void decodes_journal_export(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    dg_buf_adds(&b,
                "__CURSOR=s=1\n__REALTIME_TIMESTAMP=1772881200000000\n_HOSTNAME=h\n_COMM=python3\n_PID=7\nMESSAGE\n");
    dg_buf_add(&b,
               "\x03\0\0\0\0\0\0\0"
               "x\ny\n",
               12);
    dg_buf_adds(&b, "\n");
    dg_buf_adds(
        &b, "__CURSOR=s=2\n__REALTIME_TIMESTAMP=1772881201000000\n_TRANSPORT=kernel\nMESSAGE=NVRM: Xid\nCOREDUMP\n");
    dg_buf_add(&b, "\x80\x1a\x06\0\0\0\0\0", 8);
    for (int i = 0; i < 400000; i++) dg_buf_addc(&b, i % 100 ? 'c' : '\n');
    dg_buf_adds(&b, "\n\n__CURSOR=s=3\n__REALTIME_TIMESTAMP=1772881202000000\nSYSLOG_IDENTIFIER=vllm\nMESSAGE=last");
    struct dg_ingest *in;
    struct got g = read_bytes(dg_buf_slice(&b), &in);
    assert_slice(
        dg_buf_slice(&g.text),
        "2026-03-07T11:00:00+00:00 h python3[7]: x\n2026-03-07T11:00:00+00:00 h python3[7]: y\n"
        "2026-03-07T11:00:01+00:00 localhost kernel: NVRM: Xid\n2026-03-07T11:00:02+00:00 localhost vllm: last\n");
    assert_lines(&g, LINES(6, 6, 13, 4020));
    assert_int_equal(source_at(in, 0)->lines, 4020);
    got_release(&g);
    dg_ingest_free(in);
}

static void check_kernel(const char *from, const char *to, const uint64_t *lines, size_t n) {
    struct dg_ingest *in;
    struct got g = read_text(dg_cstr(from), DG_KIND_KERNEL, &in);
    assert_slice(dg_buf_slice(&g.text), to);
    assert_lines(&g, lines, n);
    got_release(&g);
    dg_ingest_free(in);
}

static void decodes_kernel_records(void **state) {
    (void)state;
    check_kernel(
        "6,3964,206764307,-;NVRM: API mismatch\\x0aNVRM: version\\x5c\n SUBSYSTEM=pci\n3,1,5,c,x=1;last\n",
        "<6>[  206.764307] NVRM: API mismatch\n<6>[  206.764307] NVRM: version\\\n SUBSYSTEM=pci\n<3>[    0.000005] last\n",
        LINES(1, 1, 2, 3));
    check_kernel(
        "Mar  7 10:00:00 h kernel: [  199.234935] NVRM: one#012NVRM: two#012three\nMar  7 10:00:01 h kernel: x\n",
        "Mar  7 10:00:00 h kernel: [  199.234935] NVRM: one\nMar  7 10:00:00 h kernel: [  199.234935] NVRM: two\n"
        "Mar  7 10:00:00 h kernel: [  199.234935] three\nMar  7 10:00:01 h kernel: x\n",
        LINES(1, 1, 1, 2));
    check_kernel(
        "[Mar07 19:57] first\n[  +0.000127] second\n[ +61.500000] third\n[Mar 8 00:01] next day\n[  +1.000000] fourth\n",
        "Mar  7 19:57:00.000000 kernel: first\nMar  7 19:57:00.000127 kernel: second\nMar  7 19:58:01.500127 kernel: third\n"
        "Mar  8 00:01:00.000000 kernel: next day\nMar  8 00:01:01.000000 kernel: fourth\n",
        LINES(1, 2, 3, 4, 5));
    check_kernel("[  +0.000127] no date yet\n[    1.000000] a\n              b\n",
                 "[  +0.000127] no date yet\n[    1.000000] a\n              b\n", LINES(1, 2, 3));
}

/* Records over several blocks: numbers go with the lines, also backwards into the headroom (the fixture checks it). */
static void numbers_go_over_blocks(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf from = DG_BUF_INIT(SIZE_MAX / 4), to = DG_BUF_INIT(SIZE_MAX / 4);
    for (int i = 0; i < 60000; i++) {
        dg_buf_addf(&from, T "stdout %c line %d of many ones\n", i % 3 ? 'F' : 'P', i);
        if (i % 3 == 0)
            dg_buf_addf(&to, T "stdout F line %d of many ones", i);
        else if (i % 3 == 1)
            dg_buf_addf(&to, "line %d of many ones\n", i);
        else
            dg_buf_addf(&to, T "stdout F line %d of many ones\n", i);
    }
    struct dg_ingest *in;
    struct got g = read_bytes(dg_buf_slice(&from), &in);
    assert_int_equal(g.text.len, to.len);
    assert_memory_equal(g.text.ptr, to.ptr, to.len);
    assert_int_equal(g.lines.n, 40000);
    for (size_t i = 0; i < g.lines.n; i++) assert_int_equal(g.lines.v[i], i / 2 * 3 + 1 + i % 2 * 2);
    assert_true(g.blocks > 2);
    assert_int_equal(source_at(in, 0)->lines, 60000);
    got_release(&g);
    dg_ingest_free(in);
}

/* One record of very many lines, and raw lines that are too long to decode. */
static void large_records_pass(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf from = DG_BUF_INIT(SIZE_MAX / 4), to = DG_BUF_INIT(SIZE_MAX / 4);
    dg_buf_adds(&from, "{\"log\":\"begin\\n\"}\n{\"log\":\"");
    dg_buf_adds(&to, "begin\n");
    for (int i = 0; i < 200000; i++) dg_buf_adds(&from, "\\n");
    dg_buf_adds(&from, "\",\"stream\":\"stdout\"}\n");
    for (int i = 0; i < 200000; i++) dg_buf_addc(&to, '\n');
    dg_buf_adds(&from, "{\"log\":\"");
    size_t start = from.len - 8;
    for (int i = 0; i < 3 << 20; i++) dg_buf_addc(&from, 'a');
    dg_buf_adds(&from, "\"}\n");
    dg_buf_add_slice(&to, dg_slice_from(dg_buf_slice(&from), start));
    dg_buf_adds(&from, "{\"log\":\"end\\n\"}\n");
    dg_buf_adds(&to, "end\n");
    struct dg_ingest *in;
    struct got g = read_bytes(dg_buf_slice(&from), &in);
    assert_int_equal(g.text.len, to.len);
    assert_memory_equal(g.text.ptr, to.ptr, to.len);
    assert_int_equal(g.lines.n, 200003);
    assert_int_equal(g.lines.v[200000], 2);
    assert_int_equal(g.lines.v[200001], 3);
    assert_int_equal(g.lines.v[200002], 4);
    assert_int_equal(source_at(in, 0)->lines, 4);
    assert_int_equal(source_at(in, 0)->long_lines, 1);
    got_release(&g);
    dg_ingest_free(in);
}

/* Records that come through a pipe in odd pieces are cut where lines end, not where reads do: the text is decoded in
 * any pieces. */
static void cuts_do_not_matter(void **state) {
    (void)state;
    static const char text[] = T "stdout P one \n" T "stdout F two\nplain\n" T "stderr F x\n";
    for (size_t n = 1; n < sizeof(text); n++) {
        struct dg_ingest *in;
        struct got g = read_text(dg_slice(text, n), DG_KIND_UNKNOWN, &in);
        assert_int_equal(source_at(in, 0)->bytes, n);
        for (size_t i = 0; i < g.lines.n; i++)
            assert_true(g.lines.v[i] >= 1 && g.lines.v[i] <= source_at(in, 0)->lines);
        got_release(&g);
        dg_ingest_free(in);
    }
}

/* Each kind of record, and what is set aside, with the first, second, … allocation failing. */
static void survives_lack_of_memory(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"__REALTIME_TIMESTAMP\":\"1772881200000000\",\"_TRANSPORT\":\"kernel\",\"MESSAGE\":\"NVRM: x\"}\n"
        "{\"__REALTIME_TIMESTAMP\":\"1772881200000000\",\"SYSLOG_IDENTIFIER\":\"v\",\"MESSAGE\":[118,108,108,109]}\n",
        "__REALTIME_TIMESTAMP=1772881200000000\n_HOSTNAME=h\nSYSLOG_IDENTIFIER=v\n_PID=7\nMESSAGE=vllm serve x\n\n"
        "__REALTIME_TIMESTAMP=1772881200000000\n_TRANSPORT=kernel\nMESSAGE=NVRM: x\n\n",
        O("x") K("a") S("y") K("b#012c"),
        K("a") "\x1b[31m" K("b") S("x"),
        "[Mar07 11:00] a\n[  +0.5] b\n",
        "\xff\xfe"
        "a\0\n\0",
        "{\"timestamp\":\"2026-03-07T11:00:00Z\",\"level\":\"error\",\"message\":\"dead\",\"exc_info\":\"Traceback\"}\n",
    };
    for (size_t i = 0; i < DG_COUNT(texts); i++) {
        size_t n = *texts[i] == '\xff' ? 6 : strlen(texts[i]);
        char name[64];
        snprintf(name, sizeof(name), "%s", file_with(0, dg_slice(texts[i], n)));
        assert_true(unit_fail_each(read_all, name) > 10);
    }
}

int main(void) {
    setenv("TZ", "UTC", 1);
    tzset();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_parts_of_cri_records),
        cmocka_unit_test(decodes_docker_json),
        cmocka_unit_test(odd_json_is_taken_as_far_as_it_goes),
        cmocka_unit_test(decodes_loggers),
        cmocka_unit_test(json_that_is_no_log_stays),
        cmocka_unit_test(decodes_journal_json),
        cmocka_unit_test(sets_the_kernel_aside),
        cmocka_unit_test(aside_has_the_same_year),
        cmocka_unit_test(aside_has_a_limit),
        cmocka_unit_test(decodes_journal_export),
        cmocka_unit_test(decodes_kernel_records),
        cmocka_unit_test(numbers_go_over_blocks),
        cmocka_unit_test(large_records_pass),
        cmocka_unit_test(cuts_do_not_matter),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
