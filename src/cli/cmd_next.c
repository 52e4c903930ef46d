/* diagnose next: the first proposal that history has not seen fail since. */
#include "cli/job.h"
#include "cli/rows.h"
#include "base/json.h"
#include "base/utf8.h"
#include "report/report.h"

enum { ROOM = 8 << 20 };
static const size_t ARENA_LIMIT = 64 << 20;

/* The attempt asked for, copied out of history. */
struct past {
    struct dg_arena *arena;
    struct dg_attempt attempt;
    struct dg_slice cc_set, outcome, report;
    int64_t id;
    bool found;
};

static void copy_choices(struct past *p, struct dg_slice text) {
    json_t *choices = dg_json_parse(text, NULL), *value;
    const char *axis;
    p->attempt.choices = dg_arena_alloc(p->arena, (json_object_size(choices) + 1) * sizeof(*p->attempt.choices));
    json_object_foreach(choices, axis, value) if (p->attempt.choices && json_is_string(value))
        p->attempt.choices[p->attempt.n_choices++] = (struct dg_choice){
        dg_arena_dup(p->arena, dg_cstr(axis)), dg_arena_dup(p->arena, dg_cstr(json_string_value(value)))};
    json_decref(choices);
}

static bool copy_row(void *ctx, const struct dg_history_row *r) {
    struct past *p = ctx;
    struct dg_attempt *a = &p->attempt;
    const struct dg_slice from[] = {r->engine,       r->engine_version, r->model,   r->model_family,
                                    r->quantization, r->cc_set,         r->outcome, r->report};
    struct dg_slice *const to[] = {&a->engine,       &a->engine_version, &a->model,   &a->model_family,
                                   &a->quantization, &p->cc_set,         &p->outcome, &p->report};
    for (size_t i = 0; i < DG_COUNT(to); i++)
        *to[i] = from[i].len ? dg_arena_dup(p->arena, from[i]) : (struct dg_slice){NULL, 0};
    copy_choices(p, r->choices);
    p->id = r->id;
    p->found = true;
    return false;
}

static int find(struct dg_app *app, struct past *p, struct dg_err *err) {
    struct dg_store *store = NULL;
    struct dg_history_filter f = {.since = DG_TIME_NONE, .limit = 1, .reports = true};
    int r = dg_app_id(app, 0, &f.id, err);
    if (!r) r = dg_app_store(app, DG_STORE_READ, &store, err);
    if (!r) r = dg_store_history(store, &f, copy_row, p, err);
    if (!r && !p->found && f.id)
        r = dg_err_set(err, DG_E_NOTFOUND, 0, "there is no attempt %lld in the history", (long long)f.id);
    if (!r && !p->found) r = dg_err_set(err, DG_E_NOTFOUND, 0, "the history is empty");
    dg_store_close(store);
    return r;
}

/* A server that runs and answers garbage left no cause in its log. Any axis may be to blame: the catalog orders the
 * choices on each. */
static int propose_for_garbage(struct dg_app *app, struct past *p, const struct dg_history_view *view, json_t **ret,
                               struct dg_err *err) {
    struct dg_attempt *a = &p->attempt;
    struct dg_action *actions = dg_arena_alloc(p->arena, (a->n_choices + 1) * sizeof(*actions));
    struct dg_fact *facts = dg_arena_alloc(p->arena, (a->n_choices + 1) * sizeof(*facts));
    if (!actions || !facts) return dg_err_nomem(err);
    for (uint32_t i = 0; i < a->n_choices; i++) {
        actions[i].propose = a->choices[i].axis;
        facts[i] = (struct dg_fact){.name = a->choices[i].axis, .value = a->choices[i].value};
    }
    struct dg_rule rule = {.id = DG_S("garbage"), .role = DG_ROLE_CAUSE, .actions = actions, .n_actions = a->n_choices};
    struct dg_finding finding = {.rule = &rule};
    struct dg_cause cause = {
        .rule = &rule, .finding = &finding, .class = DG_S("numerics"), .subclass = DG_S("garbage-tokens")};
    struct dg_device device = {.memory_total = UINT64_MAX, .memory_free = UINT64_MAX};
    struct dg_slice rest = p->cc_set, cc;
    struct dg_diagnosis d = {.status = DG_STATUS_FAILURE, .attempt = *a, .causes = &cause, .n_causes = 1};
    d.attempt.facts = (struct dg_facts){facts, a->n_choices};
    if (rest.len && dg_slice_split(&rest, ',', &cc) && dg_cc_parse(cc, &device.cc)) {
        d.devices = &device;
        d.n_devices = 1;
    }
    struct dg_scan scan = {0};
    struct dg_reason_opts opts = {
        .rules = dg_pack_rules(app->pack), .catalog = app->catalog, .scan = &scan, .history = view};
    if (dg_propose(&opts, p->arena, &d)) return dg_err_nomem(err);
    struct dg_buf text = DG_BUF_INIT(ROOM);
    if (!dg_report_json(&d, DG_VERSION, &text)) *ret = dg_json_parse(dg_buf_slice(&text), err);
    dg_buf_release(&text);
    return *ret ? 0 : -DG_E_INTERNAL;
}

/* The newest word of history on a choice. */
static bool seen_bad(const struct dg_history_view *view, const json_t *proposal) {
    struct dg_slice axis = dg_cstr(json_string_value(json_object_get(proposal, "axis")));
    struct dg_slice value = dg_cstr(json_string_value(json_object_get(proposal, "value")));
    const struct dg_tried *newest = NULL;
    for (uint32_t i = 0; axis.len && i < view->n; i++) {
        const struct dg_tried *t = &view->v[i];
        if (t->same_key && dg_slice_eq(t->axis, axis) && dg_slice_eq(t->value, value) &&
            (!newest || t->age_days < newest->age_days))
            newest = t;
    }
    return newest && (dg_slice_is(newest->outcome, "fails") || dg_slice_is(newest->outcome, "garbage"));
}

static const char *str(const json_t *object, const char *key) {
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

/* A command to run at once: the launch that was stated, with another setting; never a clean-up. */
static bool is_relaunch(const json_t *report, const json_t *proposal) {
    static const char *const kinds[] = {"backend", "setting", "environment"};
    bool ours =
        !strcmp(str(json_object_get(report, "attempt"), "command_origin"), "stated") && *str(proposal, "command");
    for (size_t i = 0; ours && i < DG_COUNT(kinds); i++)
        if (!strcmp(str(proposal, "kind"), kinds[i])) return true;
    return false;
}

/* What the action says already is not said again. */
static void add_each(struct dg_buf *out, const char *before, const json_t *texts, const char *action) {
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const char *text = json_string_value(json_array_get(texts, i));
        if (text && !strstr(action, text)) dg_buf_addf(out, "%s%s\n", before, text);
    }
}

/* For people: the action, what it sets, what to mind. */
static int put_text(const struct dg_app *app, const json_t *p) {
    struct dg_buf raw = DG_BUF_INIT(ROOM), out = DG_BUF_INIT(ROOM);
    const char *name;
    json_t *value;
    dg_buf_addf(&raw, "%s  [%s]\n", str(p, "action"), str(p, "evidence"));
    add_each(&raw, "  ", json_object_get(p, "flags"), str(p, "action"));
    json_object_foreach(json_object_get(p, "environment"), name, value) if (json_is_string(value))
        dg_buf_addf(&raw, "  %s=%s\n", name, json_string_value(value));
    add_each(&raw, "  ", json_object_get(p, "packages"), str(p, "action"));
    if (*str(p, "command")) dg_buf_addf(&raw, "  %s\n", str(p, "command"));
    if (*str(p, "reason")) dg_buf_addf(&raw, "  why: %s\n", str(p, "reason"));
    add_each(&raw, "  ! ", json_object_get(p, "cautions"), "");
    dg_utf8_add_shown(&out, dg_buf_slice(&raw), true);
    int status = dg_app_put(app, dg_buf_slice(&out), DG_EXIT_HEALTHY);
    dg_buf_release(&raw);
    dg_buf_release(&out);
    return status;
}

static int put(struct dg_app *app, const json_t *report, const struct dg_history_view *view) {
    bool command = dg_args_has(&app->args, DG_OPT_PRINT_COMMAND);
    const json_t *list = json_object_get(report, "proposals");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *p = json_array_get(list, i);
        if (seen_bad(view, p) || (command && !is_relaunch(report, p))) continue;
        if (!command && app->form == DG_FORM_TEXT) return put_text(app, p);
        if (!command) return dg_rows_put(app, "next", json_pack("[O]", p), NULL, 0, DG_EXIT_HEALTHY);
        struct dg_buf out = DG_BUF_INIT(ROOM);
        dg_buf_addf(&out, "%s\n", str(p, "command"));
        int status = dg_app_put(app, dg_buf_slice(&out), DG_EXIT_HEALTHY);
        dg_buf_release(&out);
        return status;
    }
    dg_msg(command ? "no command is known: say --command 'CMD' when you diagnose" : "nothing is left to propose");
    return DG_EXIT_LOOK;
}

int dg_cmd_next(struct dg_app *app) {
    struct dg_err err = {0};
    struct past p = {.arena = dg_arena_new(ARENA_LIMIT)};
    struct dg_history_view view = {0};
    json_t *report = NULL;
    int status, r = p.arena ? find(app, &p, &err) : dg_err_nomem(&err);
    if (!r) r = dg_app_rules(app, &err);
    if (!r) r = dg_history_view(app, NULL, &p.attempt, p.cc_set, p.arena, &view, &err);
    if (!r && dg_slice_is(p.outcome, "garbage"))
        r = propose_for_garbage(app, &p, &view, &report, &err);
    else if (!r && !(report = dg_json_parse(p.report, &err)))
        r = -DG_E_SYNTAX;
    status = r ? dg_msg_err(&err) : put(app, report, &view);
    json_decref(report);
    dg_arena_free(p.arena);
    return status;
}
