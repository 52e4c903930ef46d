/* Packs: YAML to rules, with a place for every fault; folders, precedence, advice. */
#include "match_fixture.h"
#include <math.h>

static const char FULL[] =
    "- id: full\n"
    "  title: Everything at once\n"
    "  role: cause\n"
    "  class: oom-device/weights\n"
    "  in: [server, kernel]\n"
    "  for: {sglang: '>=0.5.2,<0.6', vllm: '*'}\n"
    "  match:\n"
    "    sequence:\n"
    "    - {lit: 'load begin', re: 'mem=(?<free>[0-9.]+ GB)'}\n"
    "    - {lit: 'out of memory', long: true}\n"
    "    not: [{lit: 'load end'}]\n"
    "    within: {lines: 50, seconds: 1.5, same: process}\n"
    "    at: first\n"
    "  captures: {free: bytes}\n"
    "  key: [free, other]\n"
    "  confirms: 'device.major not-in [9, 10]'\n"
    "  contradicts: \"free > '5 GB'\"\n"
    "  rejects: [{axis: moe, value: fact, on: '12.x', how: crash}]\n"
    "  refines: [t/a]\n"
    "  explains: ['t/*', 'class:comm']\n"
    "  summary: 'only {free} left'\n"
    "  why: because\n"
    "  actions:\n"
    "  - {propose: moe}\n"
    "  - do: Lower it\n"
    "    kind: setting\n"
    "    flags: ['--x {value}', -y]\n"
    "    value: 'round(1, 2)'\n"
    "    environment: {A: '1', B: ''}\n"
    "    packages: p\n"
    "    if: ['fact.phase == graph-capture', 'fact.x != null']\n"
    "    for: {sglang: '*'}\n"
    "    cautions: [slow]\n"
    "  avoid: [{do: nothing, because: no}]\n"
    "  set: {phase: weights}\n"
    "  parse: {free: key-value}\n"
    "  checked: 2026-11-29\n"
    "  refs: [a/b#1]\n"
    "  status: stable\n"
    "  examples:\n"
    "  - {text: \"load begin mem=1 GB\\nout of memory\", captures: {free: 1 GB, list: [1, 2]}, device: '12.0', expect: confirms, in: kernel}\n"
    "  near: [load end]\n"
    "  known_gap: [gap]\n";

static void a_rule_is_read_whole(void **state) {
    (void)state;
    struct fx_rules x;
    fx_load(&x, FULL, true);
    const struct dg_ruleset *set = dg_pack_rules(x.pack);
    assert_int_equal(set->n_rules, 1);
    const struct dg_rule *r = dg_ruleset_find(set, DG_S("t/full"));
    assert_non_null(r);
    assert_slice(r->class, "oom-device");
    assert_slice(r->subclass, "weights");
    assert_int_equal(r->kinds, DG_KIND_BIT(DG_KIND_SERVER) | DG_KIND_BIT(DG_KIND_KERNEL));
    assert_int_equal(r->fors.n, 2);
    assert_slice(r->fors.v[0].range, ">=0.5.2,<0.6");
    assert_int_equal(r->mode, DG_MATCH_SEQUENCE);
    assert_true(r->n_patterns == 3 && r->n_positive == 2 && r->at_first && r->within_process);
    assert_true(r->patterns[1].long_window && r->patterns[2].negative);
    assert_true(r->within_lines == 50 && r->within_seconds == 1.5);
    assert_true(r->n_captures == 2 && r->captures[0].type == DG_CAP_BYTES && r->captures[0].key && r->captures[1].key);
    assert_slice(r->confirms.right, "[9, 10]");
    assert_int_equal(r->confirms.op, DG_OP_NOT_IN);
    assert_slice(r->contradicts.right, "'5 GB'");
    assert_slice(r->rejects[0].how, "crash");
    assert_slice(r->explains.v[1], "class:comm");
    assert_int_equal(r->n_actions, 2);
    assert_slice(r->actions[0].propose, "moe");
    assert_slice(r->actions[1].flags.v[1], "-y");
    assert_slice(r->actions[1].env[1].name, "B");
    assert_int_equal(r->actions[1].when.n, 2);
    assert_slice(r->actions[1].packages.v[0], "p");
    assert_slice(r->set[0].value, "weights");
    assert_int_equal(r->parse[0].as, DG_PARSE_KEY_VALUE);
    assert_slice(r->examples[0].captures[1].value, "1, 2");
    assert_int_equal(r->examples[0].kind, DG_KIND_KERNEL);
    assert_slice(r->near.v[0], "load end");
    assert_int_equal(set->n_patterns, 3);
    for (uint32_t i = 0; i < 3; i++) assert_true(set->patterns[i]->id == i && set->patterns[i]->rule == 0);
    fx_done(&x);
}

static void what_is_left_out_has_a_default(void **state) {
    (void)state;
    struct fx_rules x;
    fx_rules(&x, "- {id: a, title: x, role: fact, match: {lit: 'abcdef'}}\n");
    const struct dg_rule *r = dg_pack_rules(x.pack)->rules;
    assert_true(r->mode == DG_MATCH_ANY && r->within_lines == 200 && isnan(r->within_seconds) && !r->within_process);
    assert_false(r->kinds & (DG_KIND_BIT(DG_KIND_KERNEL) | DG_KIND_BIT(DG_KIND_ENVIRONMENT)));
    assert_true(r->kinds & DG_KIND_BIT(DG_KIND_UNKNOWN) && r->kinds & DG_KIND_BIT(DG_KIND_LOADER));
    fx_done(&x);
}

/* Texts longer than any literal and any regex may be. */
#define X10 "xxxxxxxxxx"
#define X100 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10
#define X1000 X100 X100 X100 X100 X100 X100 X100 X100 X100 X100
#define PATTERN "{lit: 'abcdef'}"
#define PATTERNS PATTERN "," PATTERN "," PATTERN "," PATTERN "," PATTERN "," PATTERN

/* One fault each; `@` marks where it must be told. */
static const struct {
    const char *yaml, *msg;
} FAULTS[] = {
    {"- {id: a, title: x, role: fact, @sumary: x, match: {lit: 'abcdef'}}",
     "unknown key 'sumary' (allowed: id, title,"},
    {"- {id: @A, title: x, role: fact, match: {lit: 'abcdef'}}", "ids are made of"},
    {"- {id: a, title: x, role: @reason, match: {lit: 'abcdef'}}", "'reason' is no role (allowed: cause, wrapper"},
    {"- @{id: a, role: fact, match: {lit: 'abcdef'}}", "the rule has no title"},
    {"- @{id: a, title: x, role: fact}", "the rule has no match"},
    {"- @{id: a, title: x, match: {lit: 'abcdef'}}", "the rule has no role"},
    {"- @{id: a, title: x, role: cause, match: {lit: 'abcdef'}}", "a cause needs a class"},
    {"- {id: a, title: x, role: fact, @class: a/b, match: {lit: 'abcdef'}}", "only a cause has a class"},
    {"- {id: a, title: x, role: cause, class: @oom, match: {lit: 'abcdef'}}", "class/subclass is expected"},
    {"- {id: a, title: x, role: fact, in: [server, @web], match: {lit: 'abcdef'}}", "'web' is no kind of source"},
    {"- {id: a, title: x, role: fact, for: {vllm: @'~1'}, match: {lit: 'abcdef'}}", "is no range of versions"},
    {"- {id: a, title: x, role: fact, match: {lit: @'abc'}}", "lit has 3 bytes, 6 at least"},
    {"- {id: a, title: x, role: fact, match: {lit: @\"abc\\ndef\"}}", "lit holds a line break"},
    {"- {id: a, title: x, role: fact, match: {lit: @\"abc\\rdef\"}}", "lit holds a line break"},
    {"- {id: a, title: x, role: fact, match: {lit: @'" X1000 "'}}", "lit has 1000 bytes, 512 at most"},
    {"- {id: a, title: x, role: fact, match: @{re: 'abcdef'}}", "a pattern needs lit"},
    {"- {id: a, title: x, role: fact, match: @{lit: 'abcdef', garbage: true}}", "a group that is named answer"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: 'a@|b'}}", "a '|' outside of groups"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: 'a@(?=b)'}}", "look-around"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: '(a)@\\1'}}", "a back-reference"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: '@(?i)a'}}", "an inline flag"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: '@(*ACCEPT)a'}}", "a (*VERB)"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: 'a@(?R)'}}", "recursion"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: 'a@(?C1)'}}", "a callout"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: 'a@(?1)'}}", "recursion"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: '(?<n>a)@\\k<n>'}}", "a back-reference"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: '(a)@\\g1'}}", "a back-reference"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: 'a@\\C'}}", "\\C"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: 'a@\\Kb'}}", "\\K"},
    {"- {id: a, title: x, role: fact, match: {all: @[" PATTERNS "," PATTERNS "," PATTERNS "]}}",
     "1 to 16 patterns are expected here"},
    {"- {id: a, title: x, role: fact, match: {any: @[" PATTERN "], not: [" PATTERNS "," PATTERNS "," PATTERNS "]}}",
     "and 16 under not at most"},
    {"- {id: a, title: x, role: fact, captures: @[a], match: {lit: 'abcdef'}}", "a map NAME: TYPE is expected"},
    {"- {id: a, title: x, role: fact, parse: @[a], match: {lit: 'abcdef'}}", "a map CAPTURE: FORM is expected"},
    {"- {id: a, title: x, role: fact, for: @[vllm], match: {lit: 'abcdef'}}", "a map NAME: VALUE"},
    {"- {id: a, title: x, role: fact, set: {a: @[b]}, match: {lit: 'abcdef'}}", "one text is expected"},
    {"- {id: a, title: x, role: fact, ends: @soon, match: {lit: 'abcdef'}}", "'soon' is no end"},
    {"- {id: a, title: x, role: fact, pulse: @[true], match: {lit: 'abcdef'}}", "true or false is expected"},
    {"- {id: a, title: x, role: fact, status: @[stable], match: {lit: 'abcdef'}}", "'a list or map' is no status"},
    {"- {id: a, title: x, role: fact, opens: @{capture: c}, match: {lit: 'abcdef'}}", "opens is {until, lines} or"},
    {"- {id: a, title: x, role: fact, opens: @{as: text}, match: {lit: 'abcdef'}}", "opens is {until, lines} or"},
    {"- {id: a, title: x, role: fact, rejects: [{axis: a, value: b, how: @badly}], match: {lit: 'abcdef'}}",
     "'badly' is no kind of failure"},
    {"- {id: a, title: x, role: fact, confirms: @'a ~ b', match: {lit: 'abcdef'}}",
     "a condition is OPERAND OP OPERAND"},
    {"- {id: a, title: x, role: fact, confirms: @'a ==', match: {lit: 'abcdef'}}", "a condition is OPERAND OP OPERAND"},
    {"- {id: a, title: x, role: fact, confirms: @\"a == 'b\", match: {lit: 'abcdef'}}",
     "a condition is OPERAND OP OPERAND"},
    {"- {id: a, title: x, role: fact, examples: [{text: x, captures: @[a]}], match: {lit: 'abcdef'}}",
     "a map NAME: TEXT"},
    {"- {id: a, title: x, role: fact, match: @{any: [{lit: 'abcdef'}], all: [{lit: 'abcdef'}]}}",
     "match is one pattern, or one of"},
    {"- {id: a, title: x, role: fact, match: {all: @[{lit: 'abcdef'}]}}", "all needs two patterns"},
    {"- {id: a, title: x, role: fact, match: {any: @[]}}", "1 to 128 patterns"},
    {"- {id: a, title: x, role: fact, match: {any: [{lit: 'abcdef'}], within: {lines: @0}}}", "a whole number above 0"},
    {"- {id: a, title: x, role: fact, match: {any: [{lit: 'abcdef'}], within: {seconds: @x}}}", "a number of seconds"},
    {"- {id: a, title: x, role: fact, match: {any: [{lit: 'abcdef'}], within: {lines: @[1]}}}",
     "a whole number above 0"},
    {"- {id: a, title: x, role: fact, match: {any: [{lit: 'abcdef'}], within: {lines: @100000001}}}",
     "a whole number above 0"},
    {"- {id: a, title: x, role: fact, match: {any: [{lit: 'abcdef'}], within: {seconds: @-1}}}", "a number of seconds"},
    {"- {id: a, title: x, role: fact, match: {any: [{lit: 'abcdef'}], within: {seconds: @[1]}}}",
     "a number of seconds"},
    {"- {id: a, title: x, role: fact, match: {any: [{lit: 'abcdef'}], within: {same: @host}}}", "'host' is no scope"},
    {"- {id: a, title: x, role: fact, match: {any: [{lit: 'abcdef'}], at: @end}}", "'end' is no place"},
    {"- {id: a, title: x, role: fact, captures: {a: @number}, match: {lit: 'abcdef'}}",
     "'number' is no type of capture"},
    {"- {id: a, title: x, role: fact, confirms: @'a b', match: {lit: 'abcdef'}}", "a condition is OPERAND OP OPERAND"},
    {"- {id: a, title: x, role: fact, confirms: @'a == b c', match: {lit: 'abcdef'}}",
     "a condition is OPERAND OP OPERAND"},
    {"- {id: a, title: x, role: fact, rejects: [@{axis: a}], match: {lit: 'abcdef'}}", "rejects needs axis and value"},
    {"- {id: a, title: x, role: fact, opens: @{until: {lit: 'abcdef'}, as: text}, match: {lit: 'abcdef'}}",
     "opens is {until, lines} or"},
    {"- {id: a, title: x, role: fact, begins: @day, match: {lit: 'abcdef'}}", "'day' is no thing that begins"},
    {"- {id: a, title: x, role: fact, pulse: @often, match: {lit: 'abcdef'}}", "true or false is expected"},
    {"- {id: a, title: x, role: fact, parse: {a: @xml}, match: {lit: 'abcdef'}}", "'xml' is no form of dump"},
    {"- {id: a, title: x, role: fact, checked: @today, match: {lit: 'abcdef'}}", "a date is written YYYY-MM-DD"},
    {"- {id: a, title: x, role: fact, status: @good, match: {lit: 'abcdef'}}", "'good' is no status"},
    {"- {id: a, title: x, role: fact, actions: [@{kind: setting}], match: {lit: 'abcdef'}}",
     "an action needs do, propose or flag"},
    {"- {id: a, title: x, role: fact, actions: [{do: x, kind: @magic}], match: {lit: 'abcdef'}}",
     "'magic' is no kind of action"},
    {"- {id: a, title: x, role: fact, actions: [{do: x, environment: @y}], match: {lit: 'abcdef'}}",
     "a map NAME: VALUE"},
    {"- {id: a, title: x, role: fact, examples: [@{in: server}], match: {lit: 'abcdef'}}", "an example needs text"},
    {"- {id: a, title: x, role: fact, why: @'', match: {lit: 'abcdef'}}", "this text is empty"},
    {"- {id: a, title: @[x], role: fact, match: {lit: 'abcdef'}}", "one text is expected"},
    {"- @x", "a map of keys is expected"},
    {"- {id: a, title: x, role: fact, match: {lit: 'abcdef'}}\n- @{id: a, title: x, role: fact, match: {lit: 'abcdef'}}",
     "stands twice in this folder"},
};

static void each_fault_is_told_where_it_is(void **state) {
    (void)state;
    for (size_t i = 0; i < DG_COUNT(FAULTS); i++) {
        char yaml[2048];
        const char *mark = strchr(FAULTS[i].yaml, '@');
        size_t n = (size_t)(mark - FAULTS[i].yaml);
        snprintf(yaml, sizeof(yaml), "%.*s%s\n", (int)n, FAULTS[i].yaml, mark + 1);
        unsigned line = 3, col = 1;
        for (size_t k = 0; k < n; k++) {
            col = yaml[k] == '\n' ? 1 : col + 1;
            line += yaml[k] == '\n';
        }
        struct fx_rules x;
        fx_load(&x, yaml, false);
        const struct dg_problem *p = x.probs.n ? x.probs.v : &(struct dg_problem){.msg = (char *)(uintptr_t) "nothing"};
        if (x.probs.n != 1 || p->line != line || p->col != col || !strstr(p->msg, FAULTS[i].msg))
            fail_msg("%s\n%zu problems, %u:%u %s", yaml, x.probs.n, p->line, p->col, p->msg);
        assert_non_null(p->snippet);
        assert_int_equal(dg_pack_rules(x.pack)->n_rejected, 1);
        fx_done(&x);
    }
}

static void a_regex_has_a_limit(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct fx_rules x;
        struct dg_buf yaml = DG_BUF_INIT(1 << 16);
        dg_buf_adds(&yaml, "- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: '");
        for (int i = 0; i < 4096 + more; i++) dg_buf_addc(&yaml, 'x');
        dg_buf_adds(&yaml, "'}}\n");
        fx_load(&x, yaml.ptr, false);
        assert_int_equal(x.probs.n, more);
        if (more) assert_string_equal(x.probs.v[0].msg, "the regex has 4097 bytes, 4096 at most");
        dg_buf_release(&yaml);
        fx_done(&x);
    }
}

static void one_faulty_rule_loses_itself_only(void **state) {
    (void)state;
    struct fx_rules x;
    fx_load(&x,
            "- {id: a, title: x, role: fact, match: {lit: 'abcdef'}}\n"
            "- {id: b, title: x, role: none, sumary: x, match: {lit: 'abc'}}\n"
            "- {id: c, title: x, role: fact, match: {lit: 'abcdef'}}\n",
            false);
    assert_int_equal(dg_pack_rules(x.pack)->n_rules, 2);
    assert_int_equal(dg_pack_rules(x.pack)->n_rejected, 1);
    assert_int_equal(x.probs.n, 3); /* all its faults are told */
    fx_done(&x);
}

static void what_is_allowed_in_a_regex(void **state) {
    (void)state;
    struct fx_rules x;
    fx_rules(
        &x,
        "- {id: a, title: x, role: fact, match: {lit: 'abcdef', re: '(?:a|b)[|(?=\\]] \\| \\(\\* [[:alpha:]|] (?<n>x|y) (?>a|b)'}}\n"
        "- {id: b, title: x, role: fact, match: {lit: 'abcdef', re: '[^]|(?=] []|] (?P<m>x) [a[:digit:]|] (?>x) \\(?x \\\\'}}\n");
    fx_done(&x);
}

/* ---- advice */

static const struct {
    const char *yaml, *msg;
} ADVICE[] = {
    {"summary: '{nothing} is left'", "{nothing} is neither a capture nor"},
    {"captures: {x: int}", "no pattern captures 'x'"},
    {"key: [y]", "no pattern captures 'y'"},
    {"confirms: 'x == y'", "confirms compares no capture"},
    {"actions: [{do: 'a', kind: cleanup, cost: c, undo: u}, {do: b, kind: setting}]",
     "a clean-up is never the first action"},
    {"actions: [{do: 'a', kind: install, scope: host}]", "says its cost and undo"},
    {"actions: [{do: 'a'}]", "the action has no kind"},
    {"actions: [{do: 'it {nought}', kind: setting}]", "{nought} is neither"},
    {"opens: {capture: c, as: text}", "opens names a capture that no pattern makes"},
    {"parse: {c: json}", "parse names a capture that no pattern makes"},
    {"recovers: [t/a]", "recovers belongs to the role recovered"},
    {"match: {lit: 'abcdef', re: 'a[b'}", "does not compile"},
    {"actions: [{do: '" X100 X10 "', kind: setting}]", "the action has 110 characters, 100 at most"},
    {"actions: [{do: a, kind: cleanup, scope: host, cost: c}]", "says its cost and undo"},
    {"avoid: [{do: 'not {nought}', because: x}]", "{nought} is neither"},
    {"title: 'A title that is far too long for one line of a report that must fit into eighty columns'",
     "characters, 72 at most"},
};

static bool told(const struct dg_problems *probs, const char *msg) {
    for (size_t i = 0; i < probs->n; i++)
        if (strstr(probs->v[i].msg, msg)) return true;
    return false;
}

static void advice_is_given_to_lint_only(void **state) {
    (void)state;
    static const char *const KEYS[] = {"title: x", "match: {lit: 'abcdef'}"};
    for (size_t i = 0; i < DG_COUNT(ADVICE); i++) {
        char yaml[1024];
        int n = snprintf(yaml, sizeof(yaml), "- {id: a, role: fact, %s", ADVICE[i].yaml);
        for (size_t k = 0; k < DG_COUNT(KEYS); k++)
            if (strncmp(ADVICE[i].yaml, KEYS[k], 5)) n += snprintf(yaml + n, sizeof(yaml) - (size_t)n, ", %s", KEYS[k]);
        snprintf(yaml + n, sizeof(yaml) - (size_t)n, "}\n");
        struct fx_rules x;
        fx_load(&x, yaml, true);
        if (!told(&x.probs, ADVICE[i].msg)) fail_msg("%s is not told: %s", ADVICE[i].msg, yaml);
        assert_int_equal(dg_pack_rules(x.pack)->n_rules, 1);
        fx_done(&x);
        fx_load(&x, yaml, false);
        assert_int_equal(x.probs.n, 0);
        fx_done(&x);
    }
}

static void names_behind_which_nothing_stands(void **state) {
    (void)state;
    struct fx_rules x;
    fx_load(&x, "- {id: a, title: x, role: fact, refines: [t/b], explains: [t/a, 'u/*'], match: {lit: 'abcdef'}}\n",
            false);
    dg_pack_lint(x.pack, &x.probs);
    assert_int_equal(x.probs.n, 2);
    assert_true(told(&x.probs, "refines names no rule: 't/b'") && told(&x.probs, "explains names no rule: 'u/*'"));
    fx_done(&x);
}

/* ---- folders */

struct tree {
    char dir[64];
    char path[8][160];
    int n;
};

static void tree_make(struct tree *t) {
    memset(t, 0, sizeof(*t));
    strcpy(t->dir, "/tmp/dg-pack-XXXXXX");
    assert_non_null(mkdtemp(t->dir));
}

static const char *tree_add(struct tree *t, const char *name, const char *text) {
    char *path = t->path[t->n++];
    strcat(strcat(strcpy(path, t->dir), "/"), name);
    if (text)
        fx_write(path, dg_cstr(text));
    else
        assert_int_equal(mkdir(path, 0755), 0);
    return path;
}

static void tree_free(struct tree *t) {
    while (t->n--) remove(t->path[t->n]);
    rmdir(t->dir);
}

#define FACT(id, title) "- {id: " id ", title: " title ", role: fact, match: {lit: 'abcdef'}}\n"
#define CAUSE(class) "pack: p\nrules:\n- {id: a, title: x, role: cause, class: " class ", match: {lit: 'abcdef'}}\n"
static const char CLASSES[] =
    "classes:\n- {name: comm, title: x, explain: y, subclasses: [{name: peer}, {name: late, symptom: true}]}\n";

static struct dg_pack *load(const struct dg_pack_place *places, size_t n, struct dg_problems *probs, int want) {
    struct dg_pack *p = NULL;
    struct dg_err err = {0};
    assert_int_equal(dg_pack_load(places, n, false, probs, &p, &err), want);
    return p;
}

static void later_places_replace_rules(void **state) {
    (void)state;
    struct tree t;
    struct dg_problems probs = {0};
    tree_make(&t);
    const char *one = tree_add(&t, "one.yaml", "pack: p\nrules:\n" FACT("a", "first") FACT("b", "first"));
    const char *two = tree_add(&t, "two.yaml", "pack: p\nrules:\n" FACT("a", "second") FACT("c", "second"));
    const struct dg_pack_place places[] = {
        {.path = one, .required = true}, {.path = two, .user = true}, {.path = "/nonexistent"}};
    struct dg_pack *p = load(places, 3, &probs, 0);
    const struct dg_ruleset *set = dg_pack_rules(p);
    assert_int_equal(set->n_rules, 3);
    assert_slice(set->rules[0].title, "second");
    assert_slice(set->rules[2].id, "p/c");
    assert_int_equal(set->n_packs, 2);
    assert_int_equal(probs.n, 0);
    dg_pack_free(p);
    dg_problems_release(&probs);
    tree_free(&t);
}

static void classes_are_read_before_packs(void **state) {
    (void)state;
    struct tree t;
    struct dg_problems probs = {0};
    tree_make(&t);
    tree_add(&t, "a.yaml", CAUSE("comm/late"));
    tree_add(&t, "classes.yaml", CLASSES);
    tree_add(&t, "engines", NULL);
    tree_add(&t, "engines/x.yaml", "engine: x\naxes: []\n");
    tree_add(&t, "notes.txt", "not YAML: [");
    const struct dg_pack_place place = {.path = t.dir, .required = true};
    struct dg_pack *p = load(&place, 1, &probs, 0);
    assert_int_equal(dg_pack_rules(p)->n_classes, 1);
    assert_true(dg_pack_rules(p)->rules[0].symptom);
    assert_int_equal(probs.n, 0);
    dg_pack_free(p);
    fx_write(t.path[0], DG_S(CAUSE("comm/early")));
    p = load(&place, 1, &probs, 0);
    assert_int_equal(dg_pack_rules(p)->n_rules, 0);
    assert_true(told(&probs, "no such subclass in classes.yaml: 'early'"));
    dg_pack_free(p);
    fx_write(t.path[0], DG_S(CAUSE("com/early")));
    p = load(&place, 1, &probs, 0);
    assert_true(told(&probs, "no such class in classes.yaml: 'com'"));
    dg_pack_free(p);
    dg_problems_release(&probs);
    tree_free(&t);
}

/* What a rule says of other rules and of classes must be there. */
static void names_of_classes_are_looked_up(void **state) {
    (void)state;
    struct tree t;
    struct dg_problems probs = {0};
    tree_make(&t);
    tree_add(&t, "classes.yaml", CLASSES);
    tree_add(
        &t, "a.yaml",
        "pack: p\nrules:\n- {id: a, title: x, role: cause, class: comm/late, match: {lit: 'abcdef'}, refines: ['q/*'],"
        " explains: ['class:comm', 'class:comm/peer', 'class:comm/never', 'class:none', 'class:none/x', 'p/*', p/a]}\n");
    const struct dg_pack_place place = {.path = t.dir, .required = true};
    struct dg_pack *p = load(&place, 1, &probs, 0);
    dg_pack_lint(p, &probs);
    static const char *const words[] = {"refines names no rule: 'q/*'", "explains names no class: 'class:comm/never'",
                                        "explains names no class: 'class:none'",
                                        "explains names no class: 'class:none/x'"};
    for (size_t i = 0; i < DG_COUNT(words); i++)
        if (!told(&probs, words[i])) fail_msg("%s is not told", words[i]);
    for (size_t i = 0; i < probs.n; i++)
        assert_false(strstr(probs.v[i].msg, ":comm'") || strstr(probs.v[i].msg, ":comm/peer'") ||
                     strstr(probs.v[i].msg, "'p/"));
    dg_pack_free(p);
    dg_problems_release(&probs);
    tree_free(&t);
}

/* A file over the limit leaves the others as they are. */
static void a_file_that_is_too_large(void **state) {
    (void)state;
    struct tree t;
    struct dg_problems probs = {0};
    struct dg_buf large = DG_BUF_INIT(2 << 20);
    tree_make(&t);
    dg_buf_adds(&large, "pack: p\nrules:\n");
    while (large.len <= 1 << 20) dg_buf_adds(&large, "# a remark that fills the file\n");
    tree_add(&t, "a.yaml", "pack: a\nrules:\n" FACT("a", "first"));
    tree_add(&t, "large.yaml", large.ptr);
    const struct dg_pack_place place = {.path = t.dir, .required = true};
    struct dg_pack *p = load(&place, 1, &probs, 0);
    assert_int_equal(dg_pack_rules(p)->n_rules, 1);
    assert_int_equal(dg_pack_rules(p)->n_rejected, 1);
    assert_int_equal(probs.n, 1);
    dg_pack_free(p);
    dg_problems_release(&probs);
    dg_buf_release(&large);
    tree_free(&t);
}

static void files_that_are_no_packs(void **state) {
    (void)state;
    static const struct {
        const char *text, *msg;
        bool user;
    } FILES[] = {{"rules: []\n", "the first key says what a file is: pack, engine, arch or classes", false},
                 {"- a\n", "the first key says what a file is", false},
                 {"classes: []\n", "the first key says what a file is: pack or engine", true},
                 {"pack: p\n", "the pack has no list of rules", false},
                 {"pack: p\nrule: []\n", "unknown key 'rule' (allowed: pack, rules)", false},
                 {"pack: p\nrules: [", "", false}};
    for (size_t i = 0; i < DG_COUNT(FILES); i++) {
        struct tree t;
        struct dg_problems probs = {0};
        tree_make(&t);
        const struct dg_pack_place place = {
            .path = tree_add(&t, "a.yaml", FILES[i].text), .required = true, .user = FILES[i].user};
        struct dg_pack *p = load(&place, 1, &probs, 0);
        assert_true(told(&probs, FILES[i].msg));
        assert_int_equal(dg_pack_rules(p)->n_rejected, 1);
        dg_pack_free(p);
        dg_problems_release(&probs);
        tree_free(&t);
    }
}

static void a_folder_that_everybody_may_write_to(void **state) {
    (void)state;
    struct tree t;
    tree_make(&t);
    tree_add(&t, "a.yaml", "pack: p\nrules:\n" FACT("a", "x"));
    assert_int_equal(chmod(t.dir, 0777), 0);
    for (int named = 0; named < 2; named++) {
        struct dg_problems probs = {0};
        const struct dg_pack_place place = {.path = t.dir, .user = true, .named = named};
        struct dg_pack *p = load(&place, 1, &probs, 0);
        assert_int_equal(dg_pack_rules(p)->n_rules, named);
        assert_true(told(&probs, "everybody may write here"));
        dg_pack_free(p);
        dg_problems_release(&probs);
    }
    tree_free(&t);
}

static void a_required_place_must_be_there(void **state) {
    (void)state;
    const struct dg_pack_place place = {.path = "/nonexistent", .required = true};
    load(&place, 1, NULL, -DG_E_IO);
}

static int load_once(void *arg) {
    struct dg_pack *p = NULL;
    struct dg_err err = {0};
    int r = dg_pack_load(arg, 1, true, NULL, &p, &err);
    dg_pack_free(p);
    return r;
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    struct fx_rules x;
    fx_folder(&x, FULL);
    struct dg_pack_place place = {.path = x.dir, .required = true};
    unsigned blocks = unit_fail_each(load_once, &place);
    assert_true(blocks > 20);
    dg_arena_debug = true; /* each text and list is an allocation of its own */
    assert_true(unit_fail_each(load_once, &place) > 5 * blocks);
    dg_arena_debug = false;
    fx_done(&x);
}

/* Faulty rules, too, are told of as far as memory reaches. */
static void faults_and_failing_allocations(void **state) {
    (void)state;
    struct fx_rules x;
    fx_folder(
        &x, "- {id: A, title: x, role: none, sumary: x, for: [a], in: [web], match: {lit: 'abc', re: '(?i)'},"
            " captures: [a], parse: [a], confirms: 'a', actions: [{kind: x}], class: a}\n"
            "- {id: a, title: x, role: wrapper, ends: death, parse: {c: json}, match: {lit: 'abcdef', re: 'a(?<c>b)'},"
            " opens: {until: {lit: 'abcdef'}, lines: 5}, set: {a: b}}\n"
            "- {id: a, title: x, role: fact, match: {lit: 'abcdef'}}\n");
    struct dg_pack_place place = {.path = x.dir, .required = true};
    dg_arena_debug = true;
    assert_true(unit_fail_each(load_once, &place) > 20);
    dg_arena_debug = false;
    fx_done(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_is_read_whole),
        cmocka_unit_test(what_is_left_out_has_a_default),
        cmocka_unit_test(each_fault_is_told_where_it_is),
        cmocka_unit_test(a_regex_has_a_limit),
        cmocka_unit_test(one_faulty_rule_loses_itself_only),
        cmocka_unit_test(what_is_allowed_in_a_regex),
        cmocka_unit_test(advice_is_given_to_lint_only),
        cmocka_unit_test(names_behind_which_nothing_stands),
        cmocka_unit_test(later_places_replace_rules),
        cmocka_unit_test(classes_are_read_before_packs),
        cmocka_unit_test(names_of_classes_are_looked_up),
        cmocka_unit_test(a_file_that_is_too_large),
        cmocka_unit_test(files_that_are_no_packs),
        cmocka_unit_test(a_folder_that_everybody_may_write_to),
        cmocka_unit_test(a_required_place_must_be_there),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(faults_and_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
