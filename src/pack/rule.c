/* One rule: YAML to struct dg_rule. */
#include "pack/read.h"
#include <ctype.h>
#include <math.h>

enum { LIT_MIN = 6, LIT_MAX = 512, RE_MAX = 4096, PARTS_MAX = 128, STEPS_MAX = 16, WITHIN_LINES = 200, TITLE_MAX = 72 };

static const char *const PARSERS[] = {"python-kwargs", "json", "argv", "key-value"};
static const char *const ENDS[] = {"clean", "death"};
static const char *const STATUSES[] = {"stable", "experimental"};
static const char *const HOWS[] = {"crash", "garbage", "slow", "hang"};

static void read_id(struct reader *r, const struct dg_yaml *n, void *id) {
    read_text(r, n, id);
    struct dg_slice s = *(struct dg_slice *)id;
    for (size_t i = 0; i < s.len; i++)
        if (!islower((unsigned char)s.ptr[i]) && !isdigit((unsigned char)s.ptr[i]) && s.ptr[i] != '-') {
            reader_fault(r, n->line, n->col + (unsigned)i, "ids are made of a-z, 0-9 and '-'");
            return;
        }
}

static void read_title(struct reader *r, const struct dg_yaml *n, void *title) {
    read_text(r, n, title);
    size_t chars = 0;
    struct dg_slice s = *(struct dg_slice *)title;
    for (size_t i = 0; i < s.len; i++) chars += ((unsigned char)s.ptr[i] & 0xc0) != 0x80;
    if (chars > TITLE_MAX)
        reader_advise(r, n->line, n->col, "the title has %zu characters, %d at most", chars, TITLE_MAX);
}

static void read_role(struct reader *r, const struct dg_yaml *n, void *role) {
    const char *names[DG_ROLE_COUNT];
    for (int i = 0; i < DG_ROLE_COUNT; i++) names[i] = dg_role_name((enum dg_role)i);
    int i = read_word(r, n, names, DG_COUNT(names), "role");
    if (i >= 0) *(enum dg_role *)role = (enum dg_role)i;
}

/* class/subclass out of the closed list, when that is known. */
static void read_class(struct reader *r, const struct dg_yaml *n, void *obj) {
    struct dg_rule *rule = obj;
    struct dg_slice both = {NULL, 0};
    read_text(r, n, &both);
    ptrdiff_t slash = dg_slice_find_ch(both, '/');
    if (!both.len) return;
    if (slash < 0) {
        reader_fault(r, n->line, n->col, "class/subclass is expected here");
        return;
    }
    rule->class = dg_arena_dup(r->arena, dg_slice_upto(both, (size_t)slash));
    rule->subclass = dg_arena_dup(r->arena, dg_slice_from(both, (size_t)slash + 1));
    if (!rule->class.ptr || !rule->subclass.ptr) r->nomem = true;
    if (!r->set->n_classes || r->nomem) return;
    const struct dg_class *c = dg_ruleset_class(r->set, rule->class);
    for (uint32_t i = 0; c && i < c->n_sub; i++)
        if (dg_slice_eq(c->sub[i].name, rule->subclass)) {
            rule->symptom = c->sub[i].symptom;
            return;
        }
    reader_fault(r, n->line, n->col + (c ? (unsigned)slash + 1 : 0), "no such %s in classes.yaml: '%.*s'",
                 c ? "subclass" : "class", DG_FMT(c ? rule->subclass : rule->class));
}

int read_kind(struct reader *r, const struct dg_yaml *n) {
    const char *names[DG_KIND_COUNT];
    for (int i = 0; i < DG_KIND_COUNT; i++) names[i] = dg_kind_name((enum dg_kind)i);
    return read_word(r, n, names, DG_COUNT(names), "kind of source");
}

static void read_in(struct reader *r, const struct dg_yaml *n, void *kinds) {
    uint32_t count, bits = 0;
    const struct dg_yaml *it = read_items(n, &count);
    for (uint32_t i = 0; i < count; i++, it = it->next) {
        int k = read_kind(r, it);
        if (k >= 0) bits |= DG_KIND_BIT(k);
    }
    *(uint32_t *)kinds = bits;
}

static void read_captures(struct reader *r, const struct dg_yaml *n, void *obj) {
    struct dg_rule *rule = obj;
    if (n->type != DG_YAML_MAP) {
        reader_fault(r, n->line, n->col, "a map NAME: TYPE is expected here");
        return;
    }
    const char *types[DG_CAP_COUNT];
    for (int i = 0; i < DG_CAP_COUNT; i++) types[i] = dg_cap_type_name((enum dg_cap_type)i);
    struct dg_capdef *v = reader_alloc(r, n->n, sizeof(*v));
    if (!v) return;
    rule->captures = v;
    DG_YAML_EACH(it, n) {
        v->name = dg_arena_dup(r->arena, it->key);
        if (!v->name.ptr) r->nomem = true;
        int t = read_word(r, it, types, DG_COUNT(types), "type of capture");
        if (t >= 0) v->type = (enum dg_cap_type)t;
        v++;
    }
    rule->n_captures = (uint32_t)n->n;
}

/* The captures of `key` are marked in the list of captures, where an undeclared one is added as text. */
static void settle_key(struct reader *r, const struct dg_yaml *n, struct dg_rule *rule) {
    struct dg_strs names = {0};
    if (!n) return;
    read_texts(r, n, &names);
    struct dg_capdef *v = reader_alloc(r, rule->n_captures + names.n, sizeof(*v));
    if (!v) return;
    if (rule->n_captures) memcpy(v, rule->captures, rule->n_captures * sizeof(*v));
    rule->captures = v;
    for (uint32_t i = 0; i < names.n; i++) {
        uint32_t at = 0;
        while (at < rule->n_captures && !dg_slice_eq(v[at].name, names.v[i])) at++;
        if (at == rule->n_captures) v[rule->n_captures++] = (struct dg_capdef){.name = names.v[i]};
        v[at].key = true;
    }
}

static void skip(struct reader *r, const struct dg_yaml *n, void *field) { (void)r, (void)n, (void)field; }

static void read_lit(struct reader *r, const struct dg_yaml *n, void *lit) {
    read_text(r, n, lit);
    struct dg_slice s = *(struct dg_slice *)lit;
    if (s.len && s.len < LIT_MIN) reader_fault(r, n->line, n->col, "lit has %zu bytes, %d at least", s.len, LIT_MIN);
    if (s.len > LIT_MAX) reader_fault(r, n->line, n->col, "lit has %zu bytes, %d at most", s.len, LIT_MAX);
    if (s.len && (memchr(s.ptr, '\n', s.len) || memchr(s.ptr, '\r', s.len)))
        reader_fault(r, n->line, n->col, "lit holds a line break: a message is one line");
}

static void read_re(struct reader *r, const struct dg_yaml *n, void *re) {
    read_text(r, n, re);
    struct dg_slice s = *(struct dg_slice *)re;
    size_t at;
    const char *what = regex_forbidden(s, &at);
    if (what) reader_fault(r, n->line, n->col + !n->plain + (unsigned)at, "a regex may not have %s", what);
    if (s.len > RE_MAX) reader_fault(r, n->line, n->col, "the regex has %zu bytes, %d at most", s.len, RE_MAX);
}

static void read_pattern(struct reader *r, const struct dg_yaml *n, struct dg_pattern *ret) {
    static const struct field FIELDS[] = {{"lit", read_lit, offsetof(struct dg_pattern, lit)},
                                          {"re", read_re, offsetof(struct dg_pattern, re)},
                                          {"long", read_bool, offsetof(struct dg_pattern, long_window)},
                                          {"garbage", read_bool, offsetof(struct dg_pattern, garbage)}};
    read_map(r, n, FIELDS, DG_COUNT(FIELDS), ret);
    if (ret->garbage && dg_slice_find(ret->re, DG_S("(?<answer>")) < 0)
        reader_fault(r, n->line, n->col, "garbage is judged of a group that is named answer");
    ret->rare = dg_rare_gram(ret->lit);
    if (n->type == DG_YAML_MAP && !dg_yaml_get(n, "lit")) reader_fault(r, n->line, n->col, "a pattern needs lit");
}

static void read_within(struct reader *r, const struct dg_yaml *n, void *obj);
static void read_at(struct reader *r, const struct dg_yaml *n, void *first) {
    static const char *const PLACES[] = {"first", "last"};
    *(bool *)first = read_word(r, n, PLACES, DG_COUNT(PLACES), "place") == 0;
}

/* The lists of patterns are put into one array, those of `not` behind the others. */
static void read_lists(struct reader *r, const struct dg_yaml *pos, const struct dg_yaml *neg, struct dg_rule *rule) {
    uint32_t n_pos, n_neg = 0;
    const struct dg_yaml *it = read_items(pos, &n_pos), *bad = neg ? read_items(neg, &n_neg) : NULL;
    uint32_t max = rule->mode == DG_MATCH_ANY ? PARTS_MAX : STEPS_MAX;
    if (!n_pos || n_pos > max || n_neg > STEPS_MAX) {
        reader_fault(r, pos->line, pos->col, "1 to %u patterns are expected here, and %d under not at most", max,
                     STEPS_MAX);
        return;
    }
    rule->patterns = reader_alloc(r, n_pos + n_neg, sizeof(*rule->patterns));
    if (!rule->patterns) return;
    for (uint32_t i = 0; i < n_pos + n_neg; i++) {
        struct dg_pattern *p = &rule->patterns[i];
        p->part = (uint8_t)i;
        p->negative = i >= n_pos;
        read_pattern(r, p->negative ? bad : it, p);
        if (p->negative)
            bad = bad->next;
        else
            it = it->next;
    }
    rule->n_patterns = n_pos + n_neg;
    rule->n_positive = n_pos;
}

void read_match(struct reader *r, const struct dg_yaml *n, void *obj) {
    static const struct field FIELDS[] = {
        {"any", skip, 0}, {"all", skip, 0},           {"sequence", skip, 0},
        {"not", skip, 0}, {"within", read_within, 0}, {"at", read_at, offsetof(struct dg_rule, at_first)}};
    static const char *const MODES[] = {"any", "all", "sequence"};
    struct dg_rule *rule = obj;
    if (dg_yaml_get(n, "lit") || dg_yaml_get(n, "re")) {
        read_lists(r, n, NULL, rule);
        return;
    }
    read_map(r, n, FIELDS, DG_COUNT(FIELDS), rule);
    const struct dg_yaml *list = NULL;
    unsigned lists = 0;
    for (int m = 0; m < 3; m++) {
        const struct dg_yaml *it = dg_yaml_get(n, MODES[m]);
        if (!it) continue;
        lists++;
        list = it;
        rule->mode = (enum dg_match_mode)m;
    }
    if (lists != 1)
        reader_fault(r, n->line, n->col, "match is one pattern, or one of any, all, sequence");
    else if (rule->mode != DG_MATCH_ANY && list->n < 2)
        reader_fault(r, list->line, list->col, "%s needs two patterns or more", MODES[rule->mode]);
    else
        read_lists(r, list, dg_yaml_get(n, "not"), rule);
}

static void read_count(struct reader *r, const struct dg_yaml *n, void *count) {
    uint64_t v;
    if (n->type == DG_YAML_SCALAR && dg_slice_u64(n->text, &v) && v && v <= 100 * 1000 * 1000)
        *(uint32_t *)count = (uint32_t)v;
    else
        reader_fault(r, n->line, n->col, "a whole number above 0 is expected here");
}

static void read_seconds(struct reader *r, const struct dg_yaml *n, void *seconds) {
    double v;
    if (n->type == DG_YAML_SCALAR && dg_slice_double(n->text, &v) && v > 0)
        *(double *)seconds = v;
    else
        reader_fault(r, n->line, n->col, "a number of seconds above 0 is expected here");
}

static void read_same(struct reader *r, const struct dg_yaml *n, void *process) {
    static const char *const SAME[] = {"source", "process"};
    *(bool *)process = read_word(r, n, SAME, DG_COUNT(SAME), "scope") == 1;
}

static void read_within(struct reader *r, const struct dg_yaml *n, void *obj) {
    static const struct field FIELDS[] = {{"lines", read_count, offsetof(struct dg_rule, within_lines)},
                                          {"seconds", read_seconds, offsetof(struct dg_rule, within_seconds)},
                                          {"same", read_same, offsetof(struct dg_rule, within_process)}};
    read_map(r, n, FIELDS, DG_COUNT(FIELDS), obj);
}

static void read_opens_as(struct reader *r, const struct dg_yaml *n, void *as) {
    static const char *const NAMES[] = {"text", "python-str", "json-str"};
    int i = read_word(r, n, NAMES, DG_COUNT(NAMES), "form of text");
    if (i >= 0) *(enum dg_opens_as *)as = DG_OPENS_TEXT + (enum dg_opens_as)i;
}

static void read_until(struct reader *r, const struct dg_yaml *n, void *until) {
    struct dg_pattern *p = reader_alloc(r, 1, sizeof(*p));
    if (!p) return;
    p->opens_end = true;
    read_pattern(r, n, p);
    *(struct dg_pattern **)until = p;
}

void read_opens(struct reader *r, const struct dg_yaml *n, void *obj) {
    static const struct field FIELDS[] = {{"until", read_until, offsetof(struct dg_rule, opens_until)},
                                          {"lines", read_count, offsetof(struct dg_rule, opens_lines)},
                                          {"capture", read_text, offsetof(struct dg_rule, opens_capture)},
                                          {"as", read_opens_as, offsetof(struct dg_rule, opens)}};
    struct dg_rule *rule = obj;
    read_map(r, n, FIELDS, DG_COUNT(FIELDS), rule);
    bool span = rule->opens_until || rule->opens_lines, text = rule->opens_capture.len || rule->opens;
    if (span == text || (text && !(rule->opens_capture.len && rule->opens)))
        reader_fault(r, n->line, n->col, "opens is {until, lines} or {capture, as}");
    if (span) {
        rule->opens = DG_OPENS_UNTIL;
        if (!rule->opens_lines) rule->opens_lines = WITHIN_LINES;
    }
}

static void read_begins(struct reader *r, const struct dg_yaml *n, void *begins) {
    static const char *const WHAT[] = {"episode"};
    *(bool *)begins = read_word(r, n, WHAT, DG_COUNT(WHAT), "thing that begins") == 0;
}

static void read_ends(struct reader *r, const struct dg_yaml *n, void *ends) {
    int i = read_word(r, n, ENDS, DG_COUNT(ENDS), "end");
    if (i >= 0) *(enum dg_ends *)ends = DG_ENDS_CLEAN + (enum dg_ends)i;
}

static void read_parse(struct reader *r, const struct dg_yaml *n, void *obj) {
    struct dg_rule *rule = obj;
    if (n->type != DG_YAML_MAP) {
        reader_fault(r, n->line, n->col, "a map CAPTURE: FORM is expected here");
        return;
    }
    struct dg_parse *v = reader_alloc(r, n->n, sizeof(*v));
    if (!v) return;
    rule->parse = v;
    DG_YAML_EACH(it, n) {
        v->capture = dg_arena_dup(r->arena, it->key);
        if (!v->capture.ptr) r->nomem = true;
        int i = read_word(r, it, PARSERS, DG_COUNT(PARSERS), "form of dump");
        if (i >= 0) v->as = (enum dg_parse_as)i;
        v++;
    }
    rule->n_parse = (uint32_t)n->n;
}

static void read_set(struct reader *r, const struct dg_yaml *n, void *obj) {
    struct dg_rule *rule = obj;
    rule->set = read_pairs(r, n, &rule->n_set);
}

static void read_cond_key(struct reader *r, const struct dg_yaml *n, void *obj) {
    struct dg_rule *rule = obj;
    bool confirms = dg_slice_is(n->key, "confirms");
    if (confirms)
        rule->has_confirms = true;
    else
        rule->has_contradicts = true;
    read_cond(r, n, confirms ? &rule->confirms : &rule->contradicts);
}

static void read_how(struct reader *r, const struct dg_yaml *n, void *how) {
    if (read_word(r, n, HOWS, DG_COUNT(HOWS), "kind of failure") >= 0) read_text(r, n, how);
}

static void read_rejects(struct reader *r, const struct dg_yaml *n, void *obj) {
    static const struct field FIELDS[] = {{"axis", read_text, offsetof(struct dg_reject, axis)},
                                          {"value", read_text, offsetof(struct dg_reject, value)},
                                          {"on", read_text, offsetof(struct dg_reject, on)},
                                          {"how", read_how, offsetof(struct dg_reject, how)}};
    struct dg_rule *rule = obj;
    const struct dg_yaml *it = read_items(n, &rule->n_rejects);
    rule->rejects = reader_alloc(r, rule->n_rejects, sizeof(*rule->rejects));
    for (uint32_t i = 0; rule->rejects && i < rule->n_rejects; i++, it = it->next) {
        read_map(r, it, FIELDS, DG_COUNT(FIELDS), &rule->rejects[i]);
        if (!rule->rejects[i].axis.len || !rule->rejects[i].value.len)
            reader_fault(r, it->line, it->col, "rejects needs axis and value");
    }
}

static void read_avoid(struct reader *r, const struct dg_yaml *n, void *obj) {
    static const struct field FIELDS[] = {{"do", read_text, offsetof(struct dg_avoid_def, text)},
                                          {"because", read_text, offsetof(struct dg_avoid_def, because)}};
    struct dg_rule *rule = obj;
    const struct dg_yaml *it = read_items(n, &rule->n_avoid);
    rule->avoid = reader_alloc(r, rule->n_avoid, sizeof(*rule->avoid));
    for (uint32_t i = 0; rule->avoid && i < rule->n_avoid; i++, it = it->next)
        read_map(r, it, FIELDS, DG_COUNT(FIELDS), &rule->avoid[i]);
}

static void read_date(struct reader *r, const struct dg_yaml *n, void *date) {
    read_text(r, n, date);
    struct dg_slice s = *(struct dg_slice *)date;
    static const char FORM[] = "dddd-dd-dd";
    bool good = s.len == sizeof(FORM) - 1;
    for (size_t i = 0; good && i < s.len; i++)
        good = FORM[i] == 'd' ? isdigit((unsigned char)s.ptr[i]) : s.ptr[i] == '-';
    if (!good) reader_fault(r, n->line, n->col, "a date is written YYYY-MM-DD");
}

static void read_status(struct reader *r, const struct dg_yaml *n, void *status) {
    if (read_word(r, n, STATUSES, DG_COUNT(STATUSES), "status") >= 0) read_text(r, n, status);
}

#define RULE(key, fn, member)                                                                                          \
    { key, fn, offsetof(struct dg_rule, member) }
static const struct field RULE_FIELDS[] = {
    RULE("id", read_id, id),
    RULE("title", read_title, title),
    RULE("role", read_role, role),
    {"class", read_class, 0},
    RULE("in", read_in, kinds),
    RULE("for", read_fors, fors),
    {"match", read_match, 0},
    {"captures", read_captures, 0},
    {"key", skip, 0},
    {"confirms", read_cond_key, 0},
    {"contradicts", read_cond_key, 0},
    {"rejects", read_rejects, 0},
    RULE("refines", read_texts, refines),
    RULE("explains", read_texts, explains),
    RULE("recovers", read_texts, recovers),
    RULE("suggests", read_texts, suggests),
    RULE("but", read_text, but),
    RULE("summary", read_text, summary),
    RULE("why", read_text, why),
    {"actions", read_actions, 0},
    {"avoid", read_avoid, 0},
    {"opens", read_opens, 0},
    RULE("begins", read_begins, begins_episode),
    RULE("ends", read_ends, ends),
    RULE("pulse", read_bool, pulse),
    {"parse", read_parse, 0},
    {"set", read_set, 0},
    RULE("checked", read_date, checked),
    RULE("refs", read_texts, refs),
    RULE("status", read_status, status),
    {"examples", read_examples, 0},
    RULE("near", read_texts, near),
    RULE("known_gap", read_texts, known_gap),
};

static void need(struct reader *r, const struct dg_yaml *n, const char *key) {
    if (!dg_yaml_get(n, key)) reader_fault(r, n->line, n->col, "the rule has no %s", key);
}

/* What must hold between the keys for the rule to be usable. */
static void settle(struct reader *r, const struct dg_yaml *n, struct dg_rule *rule) {
    need(r, n, "id");
    need(r, n, "title");
    need(r, n, "role");
    need(r, n, "match");
    const struct dg_yaml *class = dg_yaml_get(n, "class");
    bool cause = rule->role == DG_ROLE_CAUSE;
    if (cause && !class) reader_fault(r, n->line, n->col, "a cause needs a class");
    if (!cause && class) reader_fault(r, class->key_line, class->key_col, "only a cause has a class");
    settle_key(r, dg_yaml_get(n, "key"), rule);
    for (uint32_t i = 0; i < rule->n_patterns; i++) rule->patterns[i].rule = UINT32_MAX;
}

bool read_rule(struct reader *r, const struct dg_yaml *n, struct dg_slice pack, struct dg_rule *ret) {
    struct dg_rule rule = {.pack = pack,
                           .role = DG_ROLE_COUNT,
                           .kinds = ((1u << DG_KIND_COUNT) - 1) & ~DG_KIND_BIT(DG_KIND_KERNEL) &
                                    ~DG_KIND_BIT(DG_KIND_ENVIRONMENT),
                           .within_lines = WITHIN_LINES,
                           .within_seconds = NAN,
                           .line = n->line};
    r->bad = false;
    read_map(r, n, RULE_FIELDS, DG_COUNT(RULE_FIELDS), &rule);
    if (n->type != DG_YAML_MAP) return false;
    settle(r, n, &rule);
    rule.id = dg_arena_printf(r->arena, "%.*s/%.*s", DG_FMT(pack), DG_FMT(rule.id));
    rule.file = dg_arena_dup(r->arena, dg_cstr(r->file));
    if (!rule.id.ptr || !rule.file.ptr) r->nomem = true;
    if (r->bad || r->nomem) return false;
    if (r->lint) lint_rule(r, n, &rule);
    *ret = rule;
    return true;
}
