/* The forms of a report: the screen is never overrun, nothing hostile gets through, absent members harm nobody. */
#include "unit.h"
#include "report/report.h"
#include "base/json.h"
#include "base/utf8.h"
#include <stdlib.h>

static const char SAMPLE[] =
    "{'schema':1,'tool':{'version':'1','rules':{'packs':1,'active':412,'rejected':0}},'status':'failure',"
    "'inputs':[{'source':'server.log','kind':'server','lines':120},{'source':'dmesg.txt','kind':'kernel','lines':59,'"
    "host':'node-7'}],"
    "'launches':{'count':3,'judged':3,'list':[]},"
    "'attempt':{'engine':'sglang','engine_version':null,'model':'/models/"
    "GLM-5.1-NVFP4','tensor_parallel':8,'phase':'graph-capture','exit':null,"
    "'choices':{'attention-backend':'fa3'}},"
    "'devices':[{'index':0,'name':'X','compute_capability':'12.0','origin':'stated'}],"
    "'causes':[{'rank':1,'rule':'a/b','class':'arch-mismatch','subclass':'sm-guard','title':'t',"
    "'summary':'DeepGEMM has no paged-MQA routine for GPU 12.0','confidence':'certain','evidence':["
    "{'source':'server.log','line':72,'end_line':72,'count':1,'text':'RuntimeError: Unsupported "
    "architecture','role':'cause','note':null},"
    "{'source':'server.log','line':83,'end_line':114,'count':4,'text':'the same','role':'cause','note':'on TP1, "
    "TP7'}]}],"
    "'ruled_out':[{'class':'oom-host','reason':'dmesg.txt has no OOM line'},{'class':'comm','reason':'an echo (115)'}],"
    "'joins':[],'not_checked':['dmesg.txt ends 36 min before the death'],'free_first':'diagnose device --check',"
    "'proposals':[{'rank':1,'action':'choose another DSA backend','kind':'backend','flags':['--dsa-prefill-backend "
    "x','--dsa-decode-backend y'],"
    "'environment':{'A':'1'},'packages':[],'command':null,'reason':'r','evidence':'documented','scope':'launch','cost':"
    "null,'undo':null,"
    "'cautions':[]}],'avoid':[{'action':'--mem-fraction-static','reason':'memory has no part in it'}],'stub':null,"
    "'fingerprint':'0','recorded':{'id':41}}";

static json_t *parse(const char *text) {
    struct dg_buf b = DG_BUF_INIT(1 << 20);
    dg_buf_adds(&b, text);
    for (size_t i = 0; i < b.len; i++)
        if (b.ptr[i] == '\'') b.ptr[i] = '"';
    struct dg_err err = {0};
    json_t *j = dg_json_parse(dg_buf_slice(&b), &err);
    if (!j) fail_msg("%u:%u %s", err.line, err.col, err.msg);
    dg_buf_release(&b);
    return j;
}

static struct dg_buf text_of(const json_t *report, unsigned width, bool verbose) {
    struct dg_buf out = DG_BUF_INIT(1 << 22);
    struct dg_report_opts o = {.width = width, .verbose = verbose};
    assert_int_equal(dg_report_text(report, &o, &out), 0);
    return out;
}

static void test_shape(void **state) {
    (void)state;
    json_t *report = parse(SAMPLE);
    struct dg_buf out = text_of(report, 80, false);
    assert_string_equal(out.ptr, "arch-mismatch/sm-guard (certain): DeepGEMM has no paged-MQA routine for GPU 12.0\n"
                                 "  SGLang (version not in log), GLM-5.1-NVFP4, TP8, launch 3 of 3; died at CUDA\n"
                                 "  graph capture; GPU 12.0 (stated)\n"
                                 "Next\n"
                                 "  0 diagnose device --check\n"
                                 "  1 choose another DSA backend\n"
                                 "      --dsa-prefill-backend x  --dsa-decode-backend y  A=1  [documented]\n"
                                 "  x --mem-fraction-static: memory has no part in it\n"
                                 "Evidence\n"
                                 "  server.log:72      RuntimeError: Unsupported architecture\n"
                                 "  server.log:83-114  4 x the same  (on TP1, TP7)\n"
                                 "Not oom-host: dmesg.txt has no OOM line. Not comm: an echo (115)\n"
                                 "Unchecked: dmesg.txt ends 36 min before the death\n"
                                 "#41 | why: diagnose explain | paste: diagnose --last --format markdown\n");
    dg_buf_release(&out);
    json_decref(report);
}

/* A report with far too much of everything, in words that wrap badly. */
static json_t *huge_report(void) {
    json_t *report = parse(SAMPLE), *cause = json_array_get(json_object_get(report, "causes"), 0);
    char word[300];
    memset(word, 'w', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    json_object_set_new(cause, "summary", json_string(word));
    static const char *const lists[] = {"evidence", "ruled_out", "proposals", "avoid"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        json_t *list = json_object_get(i ? report : cause, lists[i]), *first = json_array_get(list, 0);
        json_object_set_new(first, i == 0 ? "text" : i == 1 ? "reason" : "action", json_string(word));
        for (int k = 0; k < 40; k++) json_array_append(list, first);
    }
    json_t *flags = json_object_get(json_array_get(json_object_get(report, "proposals"), 0), "flags");
    for (int k = 0; k < 20; k++) json_array_append_new(flags, json_string(word));
    for (int k = 0; k < 20; k++) json_array_append_new(json_object_get(report, "joins"), json_string(word));
    for (int k = 0; k < 20; k++) json_array_append_new(json_object_get(report, "not_checked"), json_string(word));
    return report;
}

static void test_fits_screen(void **state) {
    (void)state;
    json_t *report = huge_report();
    for (unsigned width = 40; width <= 200; width += 7) {
        struct dg_buf out = text_of(report, width, false);
        struct dg_slice rest = dg_buf_slice(&out), line;
        int lines = 0;
        while (rest.len && dg_slice_split(&rest, '\n', &line)) {
            lines++;
            bool footer = !rest.len;
            if (!footer && dg_utf8_width(line) > width) fail_msg("width %u: %.*s", width, DG_FMT(line));
        }
        if (lines > 24) fail_msg("width %u: %d lines\n%s", width, lines, out.ptr);
        assert_non_null(strstr(out.ptr, "more: --verbose)"));
        assert_non_null(strstr(out.ptr, "  1 "));
        dg_buf_release(&out);
    }
    struct dg_buf out = text_of(report, 80, true);
    assert_true(out.len > 10000);
    dg_buf_release(&out);
    json_decref(report);
}

/* Every text of the report becomes `evil`. */
static void poison(json_t *value, const char *evil) {
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_array(value)) json_array_foreach(value, i, item) {
            if (json_is_string(item))
                json_array_set_new(value, i, json_string(evil));
            else
                poison(item, evil);
        }
    if (json_is_object(value)) json_object_foreach(value, key, item) {
            if (json_is_string(item))
                json_object_set_new(value, key, json_string(evil));
            else
                poison(item, evil);
        }
}

static void test_hostile(void **state) {
    (void)state;
    static const char evil[] = "a\x1b[2Jb\x07\r\x08\xc2\x9b"
                               "31m\xe2\x80\xae<script>x</script>`````\n# head\n\x1b]8;;http://x\x07|y";
    json_t *report = parse(SAMPLE);
    poison(report, evil);
    struct dg_buf out[4] = {text_of(report, 80, false), text_of(report, 80, true), DG_BUF_INIT(1 << 20),
                            DG_BUF_INIT(1 << 20)};
    assert_int_equal(dg_report_markdown(report, &out[2]), 0);
    assert_int_equal(dg_report_html(report, &out[3]), 0);
    for (int i = 0; i < 4; i++) {
        for (size_t k = 0; k < out[i].len; k++)
            if ((unsigned char)out[i].ptr[k] < ' ' && out[i].ptr[k] != '\n')
                fail_msg("form %d: control byte %d", i, out[i].ptr[k]);
        assert_null(strstr(out[i].ptr, "\xc2\x9b"));
        assert_null(strstr(out[i].ptr, "\xe2\x80\xae"));
    }
    assert_null(strstr(out[2].ptr, "\n# head"));
    assert_null(strstr(out[3].ptr, "<script>"));
    for (int i = 0; i < 4; i++) dg_buf_release(&out[i]);
    json_decref(report);
}

/* The page: marks a reader steers by, sections that are not empty, how often a line came; Markdown: a caution is one
 * line, however many there are, and a tilde strikes nothing out. */
static void test_page(void **state) {
    (void)state;
    json_t *report = parse(SAMPLE), *proposal = json_array_get(json_object_get(report, "proposals"), 0);
    json_object_set_new(proposal, "cautions", json_pack("[s,s]", "needs ~nvcc~", "crash: seen"));
    json_object_set_new(report, "free_first", json_string("free them:  diagnose device --check"));
    struct dg_buf html = DG_BUF_INIT(1 << 20), markdown = DG_BUF_INIT(1 << 20), healthy = DG_BUF_INIT(1 << 20);
    assert_int_equal(dg_report_html(report, &html), 0);
    assert_int_equal(dg_report_markdown(report, &markdown), 0);
    static const char *const marks[] = {"<html lang=\"en\">",
                                        "default-src 'none'",
                                        "<title>arch-mismatch/sm-guard (certain): ",
                                        "<h1>DeepGEMM has no ",
                                        "<main>",
                                        "server.log:83-114, 4 times",
                                        "free them: <code>diagnose device --check</code>",
                                        "<li>crash: seen</li>"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
        if (!strstr(html.ptr, marks[i])) fail_msg("the page lacks %s", marks[i]);
    assert_non_null(strstr(markdown.ptr, "   - caution: needs \\~nvcc\\~; crash: seen\n"));
    assert_non_null(strstr(markdown.ptr, "`server.log`: server, 120 lines\n"));
    json_t *empty = parse("{'status':'healthy','inputs':[{'source':'a','kind':'server','lines':1}]}");
    assert_int_equal(dg_report_html(empty, &healthy), 0);
    assert_non_null(strstr(healthy.ptr, "<p class=\"label\">healthy</p>"));
    assert_non_null(strstr(healthy.ptr, "server, 1 line<"));
    assert_null(strstr(healthy.ptr, "What to try"));
    assert_null(strstr(healthy.ptr, "Evidence"));
    dg_buf_release(&html);
    dg_buf_release(&markdown);
    dg_buf_release(&healthy);
    json_decref(empty);
    json_decref(report);
}

static void test_absent_members(void **state) {
    (void)state;
    static const char *const texts[] = {"{}", "{'status':'healthy'}", "{'status':'inconclusive','causes':[{}]}", "[]",
                                        "{'causes':{},'inputs':3,'proposals':[1,null],'attempt':[],'not_checked':[1]}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        json_t *report = parse(texts[i]);
        struct dg_buf out = text_of(report, 80, true);
        assert_int_equal(dg_report_markdown(report, &out), 0);
        assert_int_equal(dg_report_html(report, &out), 0);
        dg_buf_release(&out);
        json_decref(report);
    }
}

static void test_color(void **state) {
    (void)state;
    json_t *report = parse(SAMPLE);
    struct dg_buf plain = text_of(report, 80, false), colored = DG_BUF_INIT(1 << 20);
    struct dg_report_opts o = {.width = 80, .color = true};
    assert_int_equal(dg_report_text(report, &o, &colored), 0);
    size_t at = 0;
    for (size_t i = 0; i < colored.len;) { /* without its codes it is the plain report */
        if (colored.ptr[i] == '\x1b') {
            while (colored.ptr[i++] != 'm') continue;
        } else {
            assert_int_equal(colored.ptr[i++], plain.ptr[at++]);
        }
    }
    assert_int_equal(at, plain.len);
    assert_true(colored.len > plain.len);
    dg_buf_release(&plain);
    dg_buf_release(&colored);
    json_decref(report);
}

/* From a diagnosis to JSON: bytes that are no UTF-8, NUL, secrets, doubled and odd axis names. */
static void test_json(void **state) {
    (void)state;
    struct dg_source input = {
        .name = (char *)(uintptr_t) "a\xff.log", .kind = DG_KIND_SERVER, .lines = 3, .first_time = NAN, .last_time = 5};
    struct dg_evidence evidence = {
        .source = 0, .line = 2, .text = DG_S("bad \xff\0 byte password=hunter"), .role = DG_S("cause")};
    struct dg_cause cause = {.class = DG_S("config"), .confidence = DG_LIKELY, .evidence = &evidence, .n_evidence = 1};
    struct dg_choice choices[] = {
        {DG_S("a"), DG_S("1")}, {DG_S("a"), DG_S("2")}, {DG_S("b\x01"), DG_S("3")}, {DG_S("c"), DG_S("4")}};
    struct dg_diagnosis d = {
        .status = DG_STATUS_FAILURE,
        .inputs = &input,
        .n_inputs = 1,
        .causes = &cause,
        .n_causes = 1,
        .attempt = {.known = true, .exit_code = -1, .exit_signal = 9, .choices = choices, .n_choices = 4}};
    struct dg_buf out = DG_BUF_INIT(1 << 20);
    assert_int_equal(dg_report_json(&d, "1.2", &out), 0);
    struct dg_err err = {0};
    json_t *j = dg_json_parse(dg_buf_slice(&out), &err);
    if (!j) fail_msg("%s: %s", err.msg, out.ptr);
    json_t *e = json_array_get(json_object_get(json_array_get(json_object_get(j, "causes"), 0), "evidence"), 0);
    assert_string_equal(json_string_value(json_object_get(e, "source")), "a\xef\xbf\xbd.log");
    const char *text = json_string_value(json_object_get(e, "text"));
    assert_memory_equal(text, "bad \xef\xbf\xbd\xef\xbf\xbd byte password=<secret:", 33);
    json_t *attempt = json_object_get(j, "attempt");
    assert_int_equal(json_object_size(json_object_get(attempt, "choices")), 2);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(attempt, "exit"), "signal")), 9);
    assert_true(json_is_null(json_object_get(attempt, "engine")));
    json_t *in = json_array_get(json_object_get(j, "inputs"), 0);
    assert_true(json_is_null(json_object_get(in, "first_time")));
    assert_string_equal(json_string_value(json_object_get(in, "last_time")), "1970-01-01T00:00:05Z");
    assert_true(json_is_null(json_object_get(j, "recorded")));
    json_decref(j);
    dg_buf_release(&out);
}

/* Each allocation fails in turn: the failure is told, and no part of a report passes for the whole. */
struct fault {
    const json_t *report;
    int form;
};

static int render(void *arg) {
    struct fault *f = arg;
    struct dg_report_opts o = {.width = 80, .verbose = f->form == 1};
    struct dg_buf out = DG_BUF_INIT(1 << 20);
    struct dg_source input = {.name = (char *)(uintptr_t) "a.log", .first_time = 1, .last_time = 2};
    struct dg_diagnosis d = {.inputs = &input, .n_inputs = 1, .stub = DG_S("a: b")};
    int r = f->form == 4   ? dg_report_json(&d, "1", &out)
            : f->form == 3 ? dg_report_html(f->report, &out)
            : f->form == 2 ? dg_report_markdown(f->report, &out)
                           : dg_report_text(f->report, &o, &out);
    dg_buf_release(&out);
    return r;
}

static void test_no_memory(void **state) {
    (void)state;
    json_t *report = parse(SAMPLE);
    json_object_set_new(report, "stub", json_string("pack: mine"));
    for (int form = 0; form < 5; form++) {
        struct fault f = {report, form};
        assert_true(unit_fail_each(render, &f) > 3);
    }
    json_decref(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape),          cmocka_unit_test(test_fits_screen), cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_absent_members), cmocka_unit_test(test_color),       cmocka_unit_test(test_json),
        cmocka_unit_test(test_no_memory),      cmocka_unit_test(test_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
