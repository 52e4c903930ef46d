/* diagnose explain: a rule, a class, or the reasoning of the last report. */
#include "cli/rows.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "report/report.h"

enum { ROOM = 8 << 20 };

static void add_line(struct dg_buf *out, const char *label, struct dg_slice text) {
    if (text.len) dg_buf_addf(out, "%s%.*s\n", label, DG_FMT(text));
}

static void add_list(struct dg_buf *out, const char *label, const struct dg_strs *list) {
    for (uint32_t i = 0; i < list->n; i++) dg_buf_addf(out, "%s%.*s", i ? ", " : label, DG_FMT(list->v[i]));
    if (list->n) dg_buf_addc(out, '\n');
}

static void add_patterns(struct dg_buf *out, const struct dg_rule *r) {
    static const char *const modes[] = {
        [DG_MATCH_ANY] = "any of", [DG_MATCH_ALL] = "all of", [DG_MATCH_SEQUENCE] = "one after the other"};
    dg_buf_addf(out, "looks for%s%s\n", r->n_positive > 1 ? " " : "", r->n_positive > 1 ? modes[r->mode] : "");
    for (uint32_t i = 0; i < r->n_patterns; i++) {
        const struct dg_pattern *p = &r->patterns[i];
        dg_buf_addf(out, "  %s%.*s", p->negative ? "but not: " : "", DG_FMT(p->lit));
        if (p->re.len) dg_buf_addf(out, "   /%.*s/", DG_FMT(p->re));
        dg_buf_addc(out, '\n');
    }
}

static void explain_rule(const struct dg_rule *r, struct dg_buf *out) {
    dg_buf_addf(out, "%.*s: %.*s\n", DG_FMT(r->id), DG_FMT(r->title));
    if (r->class.len)
        dg_buf_addf(out, "%s of class %.*s/%.*s\n", dg_role_name(r->role), DG_FMT(r->class), DG_FMT(r->subclass));
    else
        dg_buf_addf(out, "%s\n", dg_role_name(r->role));
    add_line(out, "", r->why);
    add_patterns(out, r);
    for (uint32_t i = 0; i < r->n_rejects; i++)
        dg_buf_addf(out, "rejects %.*s on %.*s (%.*s)\n", DG_FMT(r->rejects[i].axis), DG_FMT(r->rejects[i].on),
                    DG_FMT(r->rejects[i].how));
    for (uint32_t i = 0; i < r->n_actions; i++) {
        const struct dg_action *a = &r->actions[i];
        if (a->propose.len)
            dg_buf_addf(out, "  try: another choice of %.*s that the catalog knows to run\n", DG_FMT(a->propose));
        else
            add_line(out, "  try: ", a->text);
    }
    for (uint32_t i = 0; i < r->n_avoid; i++) add_line(out, "  not: ", r->avoid[i].text);
    add_list(out, "makes into echoes: ", &r->explains);
    add_list(out, "more special than: ", &r->refines);
    add_list(out, "sources: ", &r->refs);
    add_line(out, "checked ", r->checked);
    dg_buf_addf(out, "%.*s:%u\n", DG_FMT(r->file), r->line);
}

static void explain_class(const struct dg_ruleset *rules, const struct dg_class *c, struct dg_slice sub,
                          struct dg_buf *out) {
    dg_buf_addf(out, "%.*s: %.*s\n", DG_FMT(c->name), DG_FMT(c->title));
    add_line(out, "", c->explain);
    for (uint32_t i = 0; i < c->n_sub; i++) {
        const struct dg_subclass *s = &c->sub[i];
        if (sub.len && !dg_slice_eq(sub, s->name)) continue;
        dg_buf_addf(out, "  %.*s%s%.*s%s\n", DG_FMT(s->name), s->title.len ? ": " : "", DG_FMT(s->title),
                    s->symptom ? " (a symptom: yields to any deeper cause)" : "");
    }
    for (uint32_t i = 0; sub.len && i < rules->n_rules; i++)
        if (dg_slice_eq(rules->rules[i].class, c->name) && dg_slice_eq(rules->rules[i].subclass, sub))
            dg_buf_addf(out, "  rule %.*s: %.*s\n", DG_FMT(rules->rules[i].id), DG_FMT(rules->rules[i].title));
}

static bool explain_name(const struct dg_ruleset *rules, struct dg_slice name, struct dg_buf *out) {
    const struct dg_rule *rule = dg_ruleset_find(rules, name);
    ptrdiff_t slash = dg_slice_find_ch(name, '/');
    struct dg_slice sub = slash >= 0 ? dg_slice_from(name, (size_t)slash + 1) : (struct dg_slice){NULL, 0};
    const struct dg_class *class = dg_ruleset_class(rules, slash >= 0 ? dg_slice_upto(name, (size_t)slash) : name);
    bool known = !sub.len;
    for (uint32_t i = 0; class && i < class->n_sub; i++) known |= dg_slice_eq(class->sub[i].name, sub);
    if (rule)
        explain_rule(rule, out);
    else if (class && known)
        explain_class(rules, class, sub, out);
    return rule || (class && known);
}

static const char *str(const json_t *object, const char *key) {
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

static void add_confidence(const json_t *cause, struct dg_buf *out) {
    static const char *const words[][2] = {{"certain", "the program states it, and a second fact agrees"},
                                           {"likely", "the program states it; nothing else confirms it"},
                                           {"possible", "inferred; no line states it"}};
    static const char *const checks[][2] = {{"confirms", "the device confirms it"},
                                            {"contradicts", "the device contradicts it"}};
    for (size_t i = 0; i < DG_COUNT(words); i++)
        if (!strcmp(str(cause, "confidence"), words[i][0]))
            dg_buf_addf(out, "confidence %s: %s\n", words[i][0], words[i][1]);
    for (size_t i = 0; i < DG_COUNT(checks); i++)
        if (!strcmp(str(cause, "device_check"), checks[i][0])) dg_buf_addf(out, "%s\n", checks[i][1]);
}

/* The last report in full, then what its rule says of itself. */
static int explain_last(struct dg_app *app, struct dg_buf *out, struct dg_err *err) {
    struct dg_store *store = NULL;
    struct dg_buf text = DG_BUF_INIT(ROOM);
    int64_t id = 0;
    json_t *report = NULL;
    int r = dg_app_store(app, DG_STORE_READ, &store, err);
    if (!r) r = dg_store_report(store, 0, &text, &id, err);
    if (!r && !(report = dg_json_parse(dg_buf_slice(&text), err))) r = -DG_E_SYNTAX;
    if (!r) {
        const json_t *cause = json_array_get(json_object_get(report, "causes"), 0);
        struct dg_report_opts o = {.verbose = true, .width = app->width};
        json_object_set_new(report, "recorded", json_pack("{s:I}", "id", (json_int_t)id));
        dg_report_text(report, &o, out);
        if (*str(cause, "class")) add_confidence(cause, out);
        const char *rule = str(cause, "rule");
        if (*rule) dg_buf_addc(out, '\n');
        if (*rule && !explain_name(dg_pack_rules(app->pack), dg_cstr(rule), out))
            dg_buf_addf(out, "rule %s is not active any more\n", rule);
    }
    json_decref(report);
    dg_store_close(store);
    dg_buf_release(&text);
    return r;
}

/* Prose for people: long lines are broken at spaces. What goes on of an indented line is indented further. */
static void wrap(struct dg_slice text, size_t width, struct dg_buf *out) {
    struct dg_slice line;
    while (text.len && dg_slice_split(&text, '\n', &line)) {
        size_t indent = 0;
        while (indent < line.len && line.ptr[indent] == ' ') indent++;
        size_t hang = indent ? indent + 2 : 0, used = 0;
        while (used + dg_utf8_width(line) > width) {
            size_t at = dg_utf8_fit(line, width - used);
            while (at > indent && line.ptr[at] != ' ') at--;
            if (at <= indent) break; /* a word that is longer than a line */
            dg_buf_add(out, line.ptr, at);
            dg_buf_addf(out, "\n%*s", (int)hang, "");
            line = dg_slice_trim(dg_slice_from(line, at));
            used = hang;
            indent = 0;
        }
        dg_buf_add_slice(out, line);
        dg_buf_addc(out, '\n');
    }
}

int dg_cmd_explain(struct dg_app *app) {
    struct dg_err err = {0};
    struct dg_buf out = DG_BUF_INIT(ROOM);
    const struct dg_args *a = &app->args;
    int status = DG_EXIT_HEALTHY, r = a->n_operands > 1 ? dg_err_set(&err, DG_E_SYNTAX, 0, "say one rule or class") : 0;
    if (!r) r = dg_app_rules(app, &err);
    if (!r && !a->n_operands) r = explain_last(app, &out, &err);
    if (!r && a->n_operands && !explain_name(dg_pack_rules(app->pack), dg_cstr(a->operands[0]), &out))
        r = dg_err_set(&err, DG_E_NOTFOUND, 0, "there is no rule or class '%s'; 'diagnose rules list' shows them",
                       a->operands[0]);
    if (r) {
        status = dg_msg_err(&err);
    } else if (app->form == DG_FORM_TEXT) {
        struct dg_buf shown = DG_BUF_INIT(ROOM * 4), wrapped = DG_BUF_INIT(ROOM * 4);
        dg_utf8_add_shown(&shown, dg_buf_slice(&out), true);
        wrap(dg_buf_slice(&shown), app->width, &wrapped);
        status = dg_app_put(app, dg_buf_slice(&wrapped), status);
        dg_buf_release(&shown);
        dg_buf_release(&wrapped);
    } else {
        json_t *row = json_object();
        dg_row_str(row, "id", a->n_operands ? dg_cstr(a->operands[0]) : DG_S("last"));
        dg_row_str(row, "text", dg_buf_slice(&out));
        status = dg_rows_put(app, "explain", json_pack("[o]", row), NULL, 0, status);
    }
    dg_buf_release(&out);
    return status;
}
