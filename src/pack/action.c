/* Actions, conditions, versions and examples: the smaller parts of a rule. */
#include "pack/read.h"
#include "base/pep440.h"

static const char *const ACTION_KINDS[] = {"backend", "setting", "environment", "install",
                                           "upgrade", "cleanup", "command",     "report"};
static const char *const EVIDENCES[] = {"verified", "documented", "expected"};
static const char *const SCOPES[] = {"launch", "container", "host", "fleet"};
static const char *const EXPECTS[] = {"confirms", "contradicts"};

void read_fors(struct reader *r, const struct dg_yaml *n, void *fors) {
    struct dg_fors *ret = fors;
    struct dg_set *pairs = read_pairs(r, n, &ret->n);
    ret->v = pairs ? reader_alloc(r, ret->n, sizeof(*ret->v)) : NULL;
    if (!ret->v) {
        ret->n = 0;
        return;
    }
    uint32_t i = 0;
    DG_YAML_EACH(it, n) {
        ret->v[i] = (struct dg_for){pairs[i].name, pairs[i].value};
        if (!dg_pep440_range_valid(pairs[i].value))
            reader_fault(r, it->line, it->col, "'%.*s' is no range of versions ('>=0.5.2,<0.6' or '*')",
                         DG_FMT(pairs[i].value));
        i++;
    }
}

/* Longer operators stand before those that they begin with. */
static const struct {
    const char *text;
    enum dg_op op;
} OPS[] = {{"==", DG_OP_EQ},         {"!=", DG_OP_NE}, {"<=", DG_OP_LE},
           {">=", DG_OP_GE},         {"<", DG_OP_LT},  {">", DG_OP_GT},
           {"not-in", DG_OP_NOT_IN}, {"in", DG_OP_IN}, {"loads-on", DG_OP_LOADS_ON}};

/* Length of the operand at the front: 'quoted', a [list], or up to the next space. */
static size_t operand(struct dg_slice s) {
    if (s.len && strchr("'\"[", *s.ptr)) {
        ptrdiff_t end = dg_slice_find_ch(dg_slice_from(s, 1), *s.ptr == '[' ? ']' : *s.ptr);
        return end < 0 ? 0 : (size_t)end + 2;
    }
    ptrdiff_t space = dg_slice_find_ch(s, ' ');
    return space < 0 ? s.len : (size_t)space;
}

static bool parse_cond(struct dg_slice s, struct dg_cond *ret) {
    s = dg_slice_trim(s);
    size_t n = operand(s);
    ret->left = dg_slice_upto(s, n);
    s = dg_slice_trim(dg_slice_from(s, n));
    size_t op = operand(s), i = 0;
    while (i < DG_COUNT(OPS) && !dg_slice_is(dg_slice_upto(s, op), OPS[i].text)) i++;
    if (!n || i == DG_COUNT(OPS)) return false;
    ret->op = OPS[i].op;
    ret->right = dg_slice_trim(dg_slice_from(s, op));
    return ret->right.len && operand(ret->right) == ret->right.len;
}

void read_cond(struct reader *r, const struct dg_yaml *n, void *cond) {
    struct dg_cond *ret = cond;
    struct dg_slice text = {NULL, 0};
    read_text(r, n, &text);
    if (text.len && !parse_cond(text, ret))
        reader_fault(r, n->line, n->col,
                     "a condition is OPERAND OP OPERAND with one of == != < <= > >= in not-in loads-on");
    ret->left = dg_arena_dup(r->arena, ret->left);
    ret->right = dg_arena_dup(r->arena, ret->right);
    if (!ret->left.ptr || !ret->right.ptr) r->nomem = true;
}

void read_conds(struct reader *r, const struct dg_yaml *n, void *conds) {
    struct dg_conds *ret = conds;
    const struct dg_yaml *it = read_items(n, &ret->n);
    ret->v = reader_alloc(r, ret->n, sizeof(*ret->v));
    for (uint32_t i = 0; ret->v && i < ret->n; i++, it = it->next) read_cond(r, it, &ret->v[i]);
}

static void read_chosen(struct reader *r, const struct dg_yaml *n, void *slice, const char *const *names,
                        size_t n_names, const char *what) {
    if (read_word(r, n, names, n_names, what) >= 0) read_text(r, n, slice);
}

static void read_action_kind(struct reader *r, const struct dg_yaml *n, void *slice) {
    read_chosen(r, n, slice, ACTION_KINDS, DG_COUNT(ACTION_KINDS), "kind of action");
}

static void read_evidence(struct reader *r, const struct dg_yaml *n, void *slice) {
    read_chosen(r, n, slice, EVIDENCES, DG_COUNT(EVIDENCES), "evidence");
}

static void read_scope(struct reader *r, const struct dg_yaml *n, void *slice) {
    read_chosen(r, n, slice, SCOPES, DG_COUNT(SCOPES), "scope");
}

static void read_env(struct reader *r, const struct dg_yaml *n, void *obj) {
    struct dg_action *a = obj;
    a->env = read_pairs(r, n, &a->n_env);
}

#define ACTION(key, fn, member)                                                                                        \
    { key, fn, offsetof(struct dg_action, member) }
static const struct field ACTION_FIELDS[] = {
    ACTION("propose", read_text, propose),    ACTION("do", read_text, text),
    ACTION("kind", read_action_kind, kind),   ACTION("axis", read_text, axis),
    ACTION("flag", read_text, flag),          ACTION("flags", read_texts, flags),
    ACTION("value", read_text, value),        {"environment", read_env, 0},
    ACTION("packages", read_texts, packages), ACTION("command", read_text, command),
    ACTION("because", read_text, because),    ACTION("evidence", read_evidence, evidence),
    ACTION("scope", read_scope, scope),       ACTION("cost", read_text, cost),
    ACTION("undo", read_text, undo),          ACTION("cautions", read_texts, cautions),
    ACTION("if", read_conds, when),           ACTION("for", read_fors, fors),
};

void read_actions(struct reader *r, const struct dg_yaml *n, void *obj) {
    struct dg_rule *rule = obj;
    const struct dg_yaml *it = read_items(n, &rule->n_actions);
    rule->actions = reader_alloc(r, rule->n_actions, sizeof(*rule->actions));
    for (uint32_t i = 0; rule->actions && i < rule->n_actions; i++, it = it->next) {
        struct dg_action *a = &rule->actions[i];
        read_map(r, it, ACTION_FIELDS, DG_COUNT(ACTION_FIELDS), a);
        if (!a->propose.len && !a->text.len && !a->flag.len)
            reader_fault(r, it->line, it->col, "an action needs do, propose or flag");
    }
}

/* A list in an example's captures is kept as the text 'a, b'. */
static void read_captured(struct reader *r, const struct dg_yaml *n, struct dg_set *ret) {
    struct dg_strs items = {0};
    ret->name = dg_arena_dup(r->arena, n->key);
    if (n->type == DG_YAML_SCALAR) {
        read_words(r, n, &ret->value);
        return;
    }
    read_texts(r, n, &items);
    ret->value = items.n ? items.v[0] : dg_arena_dup(r->arena, DG_S(""));
    for (uint32_t i = 1; i < items.n; i++)
        ret->value = dg_arena_printf(r->arena, "%.*s, %.*s", DG_FMT(ret->value), DG_FMT(items.v[i]));
    if (!ret->name.ptr || !ret->value.ptr) r->nomem = true;
}

static void read_captureds(struct reader *r, const struct dg_yaml *n, void *obj) {
    struct dg_example *e = obj;
    if (n->type != DG_YAML_MAP) {
        reader_fault(r, n->line, n->col, "a map NAME: TEXT is expected here");
        return;
    }
    struct dg_set *at = e->captures = reader_alloc(r, n->n, sizeof(*e->captures));
    if (!at) return;
    DG_YAML_EACH(it, n) read_captured(r, it, at++);
    e->n_captures = (uint32_t)n->n;
}

static void read_example_kind(struct reader *r, const struct dg_yaml *n, void *kind) { *(int *)kind = read_kind(r, n); }

static void read_expect(struct reader *r, const struct dg_yaml *n, void *slice) {
    read_chosen(r, n, slice, EXPECTS, DG_COUNT(EXPECTS), "expectation");
}

void read_examples(struct reader *r, const struct dg_yaml *n, void *obj) {
    static const struct field FIELDS[] = {{"text", read_text, offsetof(struct dg_example, text)},
                                          {"captures", read_captureds, 0},
                                          {"device", read_text, offsetof(struct dg_example, device)},
                                          {"expect", read_expect, offsetof(struct dg_example, expect)},
                                          {"in", read_example_kind, offsetof(struct dg_example, kind)}};
    struct dg_rule *rule = obj;
    const struct dg_yaml *it = read_items(n, &rule->n_examples);
    rule->examples = reader_alloc(r, rule->n_examples, sizeof(*rule->examples));
    for (uint32_t i = 0; rule->examples && i < rule->n_examples; i++, it = it->next) {
        struct dg_example *e = &rule->examples[i];
        e->kind = -1;
        if (it->type == DG_YAML_SCALAR)
            read_text(r, it, &e->text);
        else
            read_map(r, it, FIELDS, DG_COUNT(FIELDS), e);
        if (!e->text.len) reader_fault(r, it->line, it->col, "an example needs text");
    }
}
