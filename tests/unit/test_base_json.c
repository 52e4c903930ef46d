#include "unit.h"
#include "base/json.h"
#include <math.h>

static struct dg_buf out;
static struct dg_json j;

static void start(bool pretty) {
    dg_buf_release(&out);
    dg_buf_init(&out, 1 << 20);
    dg_json_init(&j, &out, pretty);
}

static int teardown(void **state) {
    (void)state;
    dg_buf_release(&out);
    return 0;
}

static void write_sample(void) {
    dg_json_begin_object(&j);
    dg_json_kv_int(&j, "i", INT64_MIN);
    dg_json_kv_uint(&j, "u", UINT64_MAX);
    dg_json_kv_bool(&j, "b", true);
    dg_json_kv_str(&j, "n", NULL);
    dg_json_key_slice(&j, DG_S("list"));
    dg_json_begin_array(&j);
    dg_json_begin_array(&j);
    dg_json_end(&j);
    dg_json_begin_object(&j);
    dg_json_end(&j);
    dg_json_double(&j, 0.1);
    dg_json_null(&j);
    dg_json_bool(&j, false);
    dg_json_end(&j);
    dg_json_kv_slice(&j, "s", DG_S("x"));
    dg_json_end(&j);
}

static void writes_compact(void **state) {
    (void)state;
    start(false);
    write_sample();
    assert_string_equal(out.ptr, "{\"i\":-9223372036854775808,\"u\":18446744073709551615,\"b\":true,\"n\":null,"
                                 "\"list\":[[],{},0.1,null,false],\"s\":\"x\"}");
}

static void writes_pretty(void **state) {
    (void)state;
    start(true);
    write_sample();
    assert_string_equal(out.ptr,
                        "{\n  \"i\": -9223372036854775808,\n  \"u\": 18446744073709551615,\n  \"b\": true,\n"
                        "  \"n\": null,\n  \"list\": [\n    [],\n    {},\n    0.1,\n    null,\n    false\n  ],\n"
                        "  \"s\": \"x\"\n}");
}

static void strings_are_always_valid(void **state) {
    (void)state;
    static const struct {
        struct dg_slice in;
        const char *out;
    } rows[] = {
        {{"a\"b\\c/", 6}, "\"a\\\"b\\\\c/\""},
        {{"\0\x1b\n\x7f", 4}, "\"\\u0000\\u001b\\u000a\\u007f\""},
        {{"\xc2\x9b", 2}, "\"\\u009b\""},
        {{"\xff\x9b", 2}, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {{"\xe2\x82", 2}, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {{"\xe2\x82\xac \xf0\x9f\x98\x80", 8}, "\"\xe2\x82\xac \xf0\x9f\x98\x80\""},
        {{"\xed\xa0\x80", 3}, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
        {{"", 0}, "\"\""},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        start(false);
        dg_json_slice(&j, rows[i].in);
        assert_string_equal(out.ptr, rows[i].out);
        json_t *back = dg_json_parse(dg_buf_slice(&out), NULL);
        assert_non_null(back);
        json_decref(back);
    }
}

static void numbers_read_back(void **state) {
    (void)state;
    static const double values[] = {0, -0.5, 0.1, 1.0 / 3, 1e300, 5e-324, 1764421244.25, 123456789012345680.0};
    for (size_t i = 0; i < DG_COUNT(values); i++) {
        start(false);
        dg_json_double(&j, values[i]);
        double d;
        assert_true(dg_slice_double(dg_buf_slice(&out), &d));
        assert_true(d == values[i]);
    }
    start(false);
    dg_json_double(&j, NAN);
    assert_string_equal(out.ptr, "null");
    start(false);
    dg_json_double(&j, -INFINITY);
    assert_string_equal(out.ptr, "null");
}

static void failure_sticks_in_the_buffer(void **state) {
    (void)state;
    dg_buf_release(&out);
    dg_buf_init(&out, 10);
    dg_json_init(&j, &out, false);
    write_sample();
    assert_true(out.failed);
}

static void parse_fails(const char *text, int code, unsigned line) {
    struct dg_err e = {0};
    assert_null(dg_json_parse(dg_cstr(text), &e));
    assert_int_equal(e.code, code);
    assert_int_equal(e.line, line);
}

static void parses_one_text(void **state) {
    (void)state;
    struct dg_err e = {0};
    _cleanup_(dg_json_decrefp) json_t *root = dg_json_parse(dg_slice("{\"a\": [1, \"x\xff\\u0000y\"]}??", 23), &e);
    assert_non_null(root);
    json_t *s = json_array_get(json_object_get(root, "a"), 1);
    assert_int_equal(json_string_length(s), 6);
    assert_memory_equal(json_string_value(s), "x\xef\xbf\xbd\0y", 6);
    _cleanup_(dg_json_decrefp) json_t *number = dg_json_parse(DG_S("12"), &e);
    assert_int_equal(json_integer_value(number), 12);
    parse_fails("{\"a\":1,\n\"a\":2}", DG_E_SYNTAX, 2);
    parse_fails("", DG_E_SYNTAX, 1);
    parse_fails("{\n\n]", DG_E_SYNTAX, 3);
    parse_fails("[1] 2", DG_E_SYNTAX, 1);
    assert_null(dg_json_parse(DG_S("["), NULL));
}

static void deep_text_is_refused(void **state) {
    (void)state;
    char deep[100000];
    memset(deep, '[', sizeof(deep));
    struct dg_err e;
    assert_null(dg_json_parse(dg_slice(deep, sizeof(deep)), &e));
    assert_int_equal(e.code, DG_E_SYNTAX);
}

static int mend(void *arg) {
    (void)arg;
    struct dg_err e = {0};
    _cleanup_(dg_json_decrefp) json_t *root = dg_json_parse(DG_S("\"\xff\""), &e);
    return root ? 0 : -e.code;
}

static void tells_when_memory_ends(void **state) {
    (void)state;
    assert_true(unit_fail_each(mend, NULL) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_compact),
        cmocka_unit_test(writes_pretty),
        cmocka_unit_test(strings_are_always_valid),
        cmocka_unit_test(numbers_read_back),
        cmocka_unit_test(failure_sticks_in_the_buffer),
        cmocka_unit_test(parses_one_text),
        cmocka_unit_test(deep_text_is_refused),
        cmocka_unit_test(tells_when_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
