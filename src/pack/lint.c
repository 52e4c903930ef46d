/* Advice on rules that work: operands that do not exist, wordings that are too long, regexes that do not compile. */
#include "pack/pack_internal.h"
#include "pack/read.h"
#define PCRE2_CODE_UNIT_WIDTH 8
#include <ctype.h>
#include <fnmatch.h>
#include <pcre2.h>

enum { ACTION_MAX = 100 };

static bool captured(const struct dg_rule *rule, struct dg_slice name) {
    for (uint32_t i = 0; i < rule->n_positive; i++)
        if (regex_has_group(rule->patterns[i].re, name)) return true;
    return false;
}

static bool known_operand(const struct dg_rule *rule, struct dg_slice name) {
    static const char *const NAMES[] = {"device.cc",    "device.major",     "device.minor",
                                        "device.count", "device.memory",    "device.name",
                                        "message.flag", "message.variable", "message.option"};
    for (size_t i = 0; i < DG_COUNT(NAMES); i++)
        if (dg_slice_is(name, NAMES[i])) return true;
    return dg_slice_is(name, "value") || dg_slice_starts(name, DG_S("fact.")) || dg_slice_starts(name, DG_S("args.")) ||
           captured(rule, name);
}

static bool looks_like_name(struct dg_slice s) {
    if (!s.len || !(isalpha((unsigned char)*s.ptr) || *s.ptr == '_')) return false;
    for (size_t i = 0; i < s.len; i++)
        if (!isalnum((unsigned char)s.ptr[i]) && !memchr("_-.*", s.ptr[i], 4)) return false;
    return true;
}

/* {x} and {x|word} in a template. Braces around anything else (JSON, shell) are text. */
static void lint_template(struct reader *r, const struct dg_yaml *n, const struct dg_rule *rule, struct dg_slice text) {
    for (ptrdiff_t open; (open = dg_slice_find_ch(text, '{')) >= 0;) {
        text = dg_slice_from(text, (size_t)open + 1);
        ptrdiff_t close = dg_slice_find_ch(text, '}');
        if (close < 0) return;
        struct dg_slice name = dg_slice_upto(text, (size_t)close);
        ptrdiff_t bar = dg_slice_find_ch(name, '|');
        if (bar >= 0) name = dg_slice_upto(name, (size_t)bar);
        if (looks_like_name(name) && !known_operand(rule, name))
            reader_advise(r, n->line, n->col, "{%.*s} is neither a capture nor device.* nor fact.*", DG_FMT(name));
    }
}

static void lint_texts(struct reader *r, const struct dg_yaml *n, const struct dg_rule *rule) {
    if (n->type == DG_YAML_SCALAR) lint_template(r, n, rule, n->text);
    DG_YAML_EACH(it, n) lint_texts(r, it, rule);
}

static void lint_actions(struct reader *r, const struct dg_yaml *n, const struct dg_rule *rule) {
    if (!n) return;
    uint32_t count;
    const struct dg_yaml *it = read_items(n, &count);
    for (uint32_t i = 0; i < count && it; i++, it = it->next) {
        const struct dg_action *a = &rule->actions[i];
        bool rough = dg_slice_is(a->kind, "cleanup") || dg_slice_is(a->scope, "host") || dg_slice_is(a->scope, "fleet");
        lint_texts(r, it, rule);
        if (a->text.len > ACTION_MAX)
            reader_advise(r, it->line, it->col, "the action has %zu characters, %d at most", a->text.len, ACTION_MAX);
        if (dg_slice_is(a->kind, "cleanup") && i == 0 && count > 1)
            reader_advise(r, it->line, it->col, "a clean-up is never the first action");
        if (rough && (!a->cost.len || !a->undo.len))
            reader_advise(r, it->line, it->col, "a clean-up, or what changes the host, says its cost and undo");
        if (!a->propose.len && !a->kind.len) reader_advise(r, it->line, it->col, "the action has no kind");
    }
}

static void lint_captures(struct reader *r, const struct dg_yaml *n, const struct dg_rule *rule) {
    for (uint32_t i = 0; i < rule->n_captures; i++)
        if (!captured(rule, rule->captures[i].name)) {
            const struct dg_yaml *at = dg_yaml_get(n, rule->captures[i].key ? "key" : "captures");
            reader_advise(r, at ? at->line : n->line, at ? at->col : n->col, "no pattern captures '%.*s'",
                          DG_FMT(rule->captures[i].name));
        }
    if (rule->opens_capture.len && !captured(rule, rule->opens_capture))
        reader_advise(r, n->line, n->col, "opens names a capture that no pattern makes: '%.*s'",
                      DG_FMT(rule->opens_capture));
    for (uint32_t i = 0; i < rule->n_parse; i++)
        if (!captured(rule, rule->parse[i].capture))
            reader_advise(r, n->line, n->col, "parse names a capture that no pattern makes: '%.*s'",
                          DG_FMT(rule->parse[i].capture));
}

static void lint_regexes(struct reader *r, const struct dg_yaml *n, const struct dg_rule *rule) {
    for (uint32_t i = 0; i < rule->n_patterns; i++) {
        struct dg_slice re = rule->patterns[i].re;
        int code;
        size_t at;
        if (!re.len) continue;
        pcre2_code *c =
            pcre2_compile((PCRE2_SPTR)re.ptr, re.len, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &code, &at, NULL);
        if (!c) {
            unsigned char text[128];
            pcre2_get_error_message(code, text, sizeof(text));
            const struct dg_yaml *m = dg_yaml_get(n, "match");
            reader_advise(r, m->line, m->col, "the regex '%.*s' does not compile: %s (at %zu)", DG_FMT(re), text, at);
        }
        pcre2_code_free(c);
    }
}

static void lint_cond(struct reader *r, const struct dg_yaml *n, const char *key, const struct dg_rule *rule,
                      const struct dg_cond *c) {
    const struct dg_yaml *at = dg_yaml_get(n, key);
    if (!at || !looks_like_name(c->left)) return;
    if (!known_operand(rule, c->left) && (!looks_like_name(c->right) || !known_operand(rule, c->right)))
        reader_advise(r, at->line, at->col, "%s compares no capture, device.* or fact.*", key);
}

static void want(struct reader *r, const struct dg_yaml *n, const char *key) {
    if (!dg_yaml_get(n, key)) reader_advise(r, n->line, n->col, "the rule has no %s", key);
}

void lint_rule(struct reader *r, const struct dg_yaml *n, const struct dg_rule *rule) {
    static const char *const ALL[] = {"checked", "refs", "status", "examples", "near"};
    static const char *const CAUSE[] = {"summary", "why", "actions"};
    static const char *const TEMPLATES[] = {"summary", "but", "avoid"};
    for (size_t i = 0; i < DG_COUNT(ALL); i++) want(r, n, ALL[i]);
    for (size_t i = 0; rule->role == DG_ROLE_CAUSE && i < DG_COUNT(CAUSE); i++) want(r, n, CAUSE[i]);
    if (rule->role == DG_ROLE_CAUSE && rule->suggests.n)
        reader_advise(r, n->line, n->col, "a cause suggests nothing: it is the cause");
    if (rule->recovers.n && rule->role != DG_ROLE_RECOVERED)
        reader_advise(r, n->line, n->col, "recovers belongs to the role recovered");
    for (size_t i = 0; i < DG_COUNT(TEMPLATES); i++)
        if (dg_yaml_get(n, TEMPLATES[i])) lint_texts(r, dg_yaml_get(n, TEMPLATES[i]), rule);
    lint_actions(r, dg_yaml_get(n, "actions"), rule);
    lint_captures(r, n, rule);
    lint_regexes(r, n, rule);
    if (rule->has_confirms) lint_cond(r, n, "confirms", rule, &rule->confirms);
    if (rule->has_contradicts) lint_cond(r, n, "contradicts", rule, &rule->contradicts);
}

/* Is there a rule or class behind this item of refines, explains, recovers or suggests? */
static bool names_something(const struct dg_ruleset *set, struct dg_slice s) {
    const struct dg_strs one = {.v = &s, .n = 1};
    for (uint32_t i = 0; i < set->n_rules; i++)
        if (dg_rule_named(&one, &set->rules[i])) return true;
    return false;
}

static bool is_class(const struct dg_ruleset *set, struct dg_slice s) {
    ptrdiff_t slash = dg_slice_find_ch(s, '/');
    const struct dg_class *c = dg_ruleset_class(set, slash < 0 ? s : dg_slice_upto(s, (size_t)slash));
    if (!c || slash < 0) return c != NULL;
    for (uint32_t i = 0; i < c->n_sub; i++)
        if (dg_slice_eq(c->sub[i].name, dg_slice_from(s, (size_t)slash + 1))) return true;
    return false;
}

static void lint_list(const struct dg_ruleset *set, const struct dg_rule *rule, const char *key,
                      const struct dg_strs *list, bool classes, struct dg_problems *probs) {
    for (uint32_t i = 0; i < list->n; i++) {
        struct dg_slice s = list->v[i];
        bool class = classes || dg_slice_starts(s, DG_S("class:"));
        struct dg_slice name = dg_slice_starts(s, DG_S("class:")) ? dg_slice_from(s, 6) : s;
        if (class ? is_class(set, name) || !set->n_classes : names_something(set, s)) continue;
        dg_problems_add(probs, rule->file.ptr, rule->line, 0, NULL, 0, "%.*s: %s names no %s: '%.*s'", DG_FMT(rule->id),
                        key, class ? "class" : "rule", DG_FMT(s));
    }
}

void dg_pack_lint(const struct dg_pack *p, struct dg_problems *probs) {
    const struct dg_ruleset *set = &p->set;
    for (uint32_t i = 0; i < set->n_rules; i++) {
        const struct dg_rule *rule = &set->rules[i];
        lint_list(set, rule, "refines", &rule->refines, false, probs);
        lint_list(set, rule, "explains", &rule->explains, false, probs);
        lint_list(set, rule, "recovers", &rule->recovers, false, probs);
        lint_list(set, rule, "suggests", &rule->suggests, true, probs);
    }
}
