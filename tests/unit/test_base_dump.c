#include "unit.h"
#include "base/buf.h"
#include "base/dump.h"

/* Pairs as "name=value|name=value|". */
static void check(const char *text, enum dg_parse_as as, const char *want) {
    struct dg_pair *v = NULL;
    uint32_t n = 0;
    _cleanup_(dg_arena_freep) struct dg_arena *arena = dg_arena_new(0);
    _cleanup_(dg_buf_release) struct dg_buf out = DG_BUF_INIT(1 << 20);
    assert_int_equal(dg_dump_parse(dg_cstr(text), as, arena, &v, &n), 0);
    for (uint32_t i = 0; i < n; i++) dg_buf_addf(&out, "%.*s=%.*s|", DG_FMT(v[i].name), DG_FMT(v[i].value));
    assert_string_equal(dg_buf_slice(&out).ptr, want);
}

static void reads_python_keywords(void **state) {
    (void)state;
    check("model_path='/m/Qwen3', tp_size=8, dtype=\"auto\", trust=True, x=None, f=0.85", DG_PARSE_PYTHON_KWARGS,
          "model_path=/m/Qwen3|tp_size=8|dtype=auto|trust=True|x=None|f=0.85|");
    check("a=[1, 'b, c'], d={'e': (1, 2)}, f=g(h=1, i=2), j=3", DG_PARSE_PYTHON_KWARGS,
          "a=[1, 'b, c']|d={'e': (1, 2)}|f=g(h=1, i=2)|j=3|");
    check("s='it\\'s', t='a\\nb\\\\c', u='', v='='", DG_PARSE_PYTHON_KWARGS, "s=it's|t=a\nb\\c|u=|v==|");
}

static void reads_json(void **state) {
    (void)state;
    check("{\"a\": 1, \"b\": \"x, y\", \"c\": {\"d\": [1, 2]}, \"e\": null}", DG_PARSE_JSON,
          "a=1|b=x, y|c={\"d\": [1, 2]}|e=null|");
    check("{'a': 'b', 'c': True}", DG_PARSE_JSON, "a=b|c=True|");
}

static void reads_command_lines(void **state) {
    (void)state;
    check("python -m sglang.launch_server --tp 8 --model='/m x' --trust-remote-code --port 30000", DG_PARSE_ARGV,
          "0=python|m=sglang.launch_server|tp=8|model=/m x|trust-remote-code=true|port=30000|");
    check("serve m --temperature -1 --flag", DG_PARSE_ARGV, "0=serve|1=m|temperature=-1|flag=true|");
    check("a \"b \\\"c\\\"\" d\\ e \\\n f", DG_PARSE_ARGV, "0=a|1=b \"c\"|2=d e|3=|4=f|");
}

static void reads_key_values(void **state) {
    (void)state;
    check("a=1 b=\"x y\";c=2\nd=e f", DG_PARSE_KEY_VALUE, "a=1|b=x y|c=2|d=e|");
}

static void takes_what_parses(void **state) {
    (void)state;
    static const char *const cut[] = {"",       "=",    ",,,",  "a",   "a=", "'",  "\"a",
                                      "{\"a\"", "((((", "))))", "a=[", "\\", "--", "-"};
    for (size_t i = 0; i < DG_COUNT(cut); i++)
        for (int as = DG_PARSE_PYTHON_KWARGS; as <= DG_PARSE_KEY_VALUE; as++) {
            struct dg_pair *v;
            uint32_t n = 99;
            _cleanup_(dg_arena_freep) struct dg_arena *arena = dg_arena_new(0);
            assert_int_equal(dg_dump_parse(dg_cstr(cut[i]), (enum dg_parse_as)as, arena, &v, &n), 0);
            assert_true(n <= 1);
        }
    check("a=1, b='cut off", DG_PARSE_PYTHON_KWARGS, "a=1|b='cut off|");
    check("a=1, ?!, b=2", DG_PARSE_PYTHON_KWARGS, "a=1|b=2|");
}

static void has_limits(void **state) {
    (void)state;
    struct dg_pair *v;
    uint32_t n;
    _cleanup_(dg_arena_freep) struct dg_arena *arena = dg_arena_new(0);
    _cleanup_(dg_buf_release) struct dg_buf many = DG_BUF_INIT(1 << 20);
    for (int i = 0; i < 2000; i++) dg_buf_addf(&many, "k%d=%d, ", i, i);
    assert_int_equal(dg_dump_parse(dg_buf_slice(&many), DG_PARSE_PYTHON_KWARGS, arena, &v, &n), 0);
    assert_int_equal(n, DG_DUMP_MAX_PAIRS);
    assert_slice(v[511].name, "k511");
}

static int parse_once(void *arg) {
    struct dg_pair *v;
    uint32_t n;
    dg_arena_debug = true;
    struct dg_arena *arena = dg_arena_new(0);
    int r = arena ? dg_dump_parse(dg_cstr(arg), DG_PARSE_ARGV, arena, &v, &n) : -DG_E_NOMEM;
    dg_arena_free(arena);
    dg_arena_debug = false;
    return r;
}

static void survives_each_failing_allocation(void **state) {
    (void)state;
    char text[] = "a --b c --d=e --f";
    assert_true(unit_fail_each(parse_once, text) > 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_python_keywords),
        cmocka_unit_test(reads_json),
        cmocka_unit_test(reads_command_lines),
        cmocka_unit_test(reads_key_values),
        cmocka_unit_test(takes_what_parses),
        cmocka_unit_test(has_limits),
        cmocka_unit_test(survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
