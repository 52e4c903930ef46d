/* diagnose rules: look at packs, check them, prove them. */
#include "cli/rows.h"
#include "base/mem.h"
#include "cli/devices.h"
#include "ingest/ingest.h"
#include "match/ruletest.h"
#include "reason/reason.h"
#include <math.h>

static json_t *row_of(const struct dg_rule *r) {
    json_t *row = json_object();
    struct dg_buf class = DG_BUF_INIT(256);
    dg_buf_addf(&class, "%.*s%s%.*s", DG_FMT(r->class), r->subclass.len ? "/" : "", DG_FMT(r->subclass));
    dg_row_str(row, "id", r->id);
    dg_row_str(row, "pack", r->pack);
    dg_row_str(row, "title", r->title);
    dg_row_str(row, "class", dg_buf_slice(&class));
    dg_row_str(row, "role", dg_cstr(dg_role_name(r->role)));
    dg_row_str(row, "status", r->status);
    dg_row_str(row, "checked", r->checked);
    dg_row_str(row, "file", r->file);
    dg_buf_release(&class);
    return row;
}

static int list(struct dg_app *app) {
    static const struct dg_column columns[] = {{"id", "id"}, {"role", "role"}, {"class", "class"}, {"title", "title"}};
    const struct dg_ruleset *rules = dg_pack_rules(app->pack);
    json_t *rows = json_array();
    for (uint32_t i = 0; i < rules->n_rules; i++) json_array_append_new(rows, row_of(&rules->rules[i]));
    return dg_rows_put(app, "rules", rows, columns, DG_COUNT(columns), DG_EXIT_HEALTHY);
}

/* ripgrep joins patterns to one: a group's name may not come twice in that. */
static void add_regex(struct dg_buf *out, struct dg_slice re) {
    for (size_t i = 0; i < re.len; i++) {
        bool group = dg_slice_starts(dg_slice_from(re, i), DG_S("(?<")) && (!i || re.ptr[i - 1] != '\\');
        dg_buf_adds(out, group ? "(?:" : "");
        if (group)
            while (i < re.len && re.ptr[i] != '>') i++;
        else
            dg_buf_addc(out, re.ptr[i]);
    }
}

static void add_literal(struct dg_buf *out, struct dg_slice lit) {
    for (size_t i = 0; i < lit.len; i++) {
        if (strchr("\\.+*?()|[]{}^$", lit.ptr[i])) dg_buf_addc(out, '\\');
        dg_buf_addc(out, lit.ptr[i]);
    }
}

static int export_patterns(struct dg_app *app) {
    const struct dg_ruleset *rules = dg_pack_rules(app->pack);
    struct dg_buf out = DG_BUF_INIT(64 << 20);
    for (uint32_t i = 0; i < rules->n_patterns; i++) {
        const struct dg_pattern *p = rules->patterns[i];
        if (p->re.len)
            add_regex(&out, p->re);
        else
            add_literal(&out, p->lit);
        dg_buf_addc(&out, '\n');
    }
    int status = dg_app_put(app, dg_buf_slice(&out), DG_EXIT_HEALTHY);
    dg_buf_release(&out);
    return status;
}

static int put_faults(struct dg_app *app, const char *kind) {
    static const struct dg_column columns[] = {
        {"file", "file"}, {"line", "line"}, {"column", "column"}, {"message", "message"}};
    json_t *rows = json_array();
    const struct dg_problems *probs = &app->problems;
    for (size_t i = 0; i < probs->n; i++) {
        json_t *row = json_object();
        dg_row_str(row, "file", dg_cstr(probs->v[i].file));
        json_object_set_new(row, "line", json_integer(probs->v[i].line));
        json_object_set_new(row, "column", json_integer(probs->v[i].col));
        dg_row_str(row, "message", dg_cstr(probs->v[i].msg));
        json_array_append_new(rows, row);
    }
    int status = probs->n ? DG_EXIT_FAILURE : DG_EXIT_HEALTHY;
    if (app->form != DG_FORM_TEXT) return dg_rows_put(app, kind, rows, columns, DG_COUNT(columns), status);
    json_decref(rows);
    struct dg_buf out = DG_BUF_INIT(64 << 20);
    dg_problems_show(probs, &out);
    uint32_t n = dg_pack_rules(app->pack)->n_rules;
    dg_buf_addf(&out, "%u rule%s, %zu fault%s\n", n, n == 1 ? "" : "s", probs->n, probs->n == 1 ? "" : "s");
    status = dg_app_put(app, dg_buf_slice(&out), status);
    dg_buf_release(&out);
    return status;
}

/* What the rule's condition says of a device: the finding as the only one of a server's log, judged. */
static enum dg_check check_device(void *ctx, const struct dg_finding *found, struct dg_slice device) {
    struct dg_app *app = ctx;
    struct dg_finding f = *found;
    struct dg_source source = {
        .name = (char *)(uintptr_t) "example", .kind = DG_KIND_SERVER, .first_time = NAN, .last_time = NAN};
    struct dg_launch launch = {
        .first_line = 1, .last_line = f.first.end_line + 1, .first_time = NAN, .last_time = NAN, .epochs = 1};
    struct dg_tail tail = {0};
    struct dg_scan scan = {.sources = &source,
                           .n_sources = 1,
                           .launches = &launch,
                           .n_launches = 1,
                           .findings = &f,
                           .n_findings = 1,
                           .tails = &tail};
    struct dg_devices devices = {0};
    struct dg_diagnosis *d = NULL;
    struct dg_reason_opts opts = {.rules = dg_pack_rules(app->pack),
                                  .scan = &scan,
                                  .devices = &devices,
                                  .device_stated = true,
                                  .exit_code = -1,
                                  .exit_signal = -1};
    struct dg_arena *arena = dg_arena_new(0);
    f.launch = f.epoch = 0;
    f.inside = NULL;
    bool ok = arena && !dg_devices_state(device, &devices, NULL) && !dg_reason(&opts, arena, &d, NULL);
    enum dg_check check = ok && d->n_causes ? d->causes[0].device_check : DG_CHECK_NONE;
    dg_devices_release(&devices);
    dg_arena_free(arena);
    return check;
}

static int prove(struct dg_app *app, struct dg_err *err) {
    struct dg_ruletest_opts opts = {.split = dg_prefix_parse, .check = check_device, .ctx = app};
    struct dg_ruletest_result result;
    int r = dg_app_matcher(app, err);
    return r ? r : dg_ruletest(app->matcher, &opts, &app->problems, &result, err);
}

static int lint(struct dg_app *app, bool test) {
    const struct dg_args *a = &app->args;
    struct dg_err err = {0};
    int r = dg_app_rules_examples(app, a->operands + 1, a->n_operands - 1, &err);
    if (!r) dg_pack_lint(app->pack, &app->problems);
    if (!r && test) r = prove(app, &err);
    if (!r && test && a->n_operands == 1 && dg_app_packs_stale())
        dg_problems_add(&app->problems, "packs.bin", 0, 0, NULL, 0, "not made from the rules beside it: build again");
    return r ? dg_msg_err(&err) : put_faults(app, "rules");
}

static int show(struct dg_app *app) {
    const char *id = app->args.operands[1];
    if (!dg_ruleset_find(dg_pack_rules(app->pack), dg_cstr(id))) {
        dg_msg("there is no rule '%s'; 'diagnose rules list' shows them", id);
        return DG_EXIT_USAGE;
    }
    struct dg_app shown = *app;
    shown.args.operands = app->args.operands + 1;
    shown.args.n_operands = 1;
    return dg_cmd_explain(&shown);
}

int dg_cmd_rules(struct dg_app *app) {
    const struct dg_args *a = &app->args;
    struct dg_err err = {0};
    const char *what = a->n_operands ? a->operands[0] : "";
    if (!strcmp(what, "lint") || !strcmp(what, "test")) return lint(app, *what == 't');
    if (dg_app_rules(app, &err)) return dg_msg_err(&err);
    if (!strcmp(what, "list") && a->n_operands == 1) return list(app);
    if (!strcmp(what, "show") && a->n_operands == 2) return show(app);
    if (!strcmp(what, "export") && a->n_operands == 1 && dg_args_has(a, DG_OPT_PATTERNS)) return export_patterns(app);
    dg_msg("say list, show RULE, lint [PATH...], test [PATH...] or export --patterns");
    return DG_EXIT_USAGE;
}
