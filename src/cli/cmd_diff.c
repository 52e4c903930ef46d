/* diagnose diff: what changed since the same model last worked. */
#include "cli/rows.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/timex.h"
#include <stdio.h>

struct side {
    json_t *facts; /* name -> text */
    json_t *choices;
    char engine[64], model[1024];
    int64_t id;
};

struct finder {
    const struct side *now; /* NULL: take the row */
    struct side found;
};

static bool has_worked(struct dg_slice outcome) {
    return dg_slice_is(outcome, "works") || dg_slice_is(outcome, "started") || dg_slice_is(outcome, "slow");
}

/* The report names the driver; a row does not. */
static void add_driver(json_t *facts, struct dg_slice report) {
    json_t *whole = dg_json_parse(report, NULL);
    json_t *driver = json_object_get(json_array_get(json_object_get(whole, "devices"), 0), "driver");
    json_object_set(facts, "driver", driver ? driver : json_null());
    json_decref(whole);
}

static bool take(void *ctx, const struct dg_history_row *r) {
    struct finder *f = ctx;
    if (f->now && (r->id == f->now->id || !has_worked(r->outcome) || !dg_slice_is(r->engine, f->now->engine) ||
                   !dg_slice_is(r->model, f->now->model)))
        return true;
    f->found.id = r->id;
    snprintf(f->found.engine, sizeof(f->found.engine), "%.*s", DG_FMT(r->engine));
    snprintf(f->found.model, sizeof(f->found.model), "%.*s", DG_FMT(r->model));
    f->found.facts = json_object();
    dg_row_str(f->found.facts, "engine version", r->engine_version);
    dg_row_str(f->found.facts, "quantization", r->quantization);
    dg_row_str(f->found.facts, "devices", r->devices);
    add_driver(f->found.facts, r->report);
    f->found.choices = dg_json_parse(r->choices, NULL);
    return false;
}

static void release(struct side *s) {
    json_decref(s->facts);
    json_decref(s->choices);
}

static void compare(json_t *rows, const json_t *then, const json_t *now, bool absent_too) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)now, key, value) {
        json_t *old = json_object_get(then, key);
        if (!json_equal(old, value))
            json_array_append_new(rows, json_pack("{s:s,s:O?,s:O}", "what", key, "then", old, "now", value));
    }
    if (absent_too) json_object_foreach((json_t *)then, key, value) {
            if (!json_object_get(now, key))
                json_array_append_new(rows, json_pack("{s:s,s:O,s:n}", "what", key, "then", value, "now"));
        }
}

int dg_cmd_diff(struct dg_app *app) {
    static const struct dg_column columns[] = {{"what", "what"}, {"then", "then"}, {"now", "now"}};
    struct dg_err err = {0};
    struct dg_store *store = NULL;
    struct finder now = {0}, then = {.now = &now.found};
    struct dg_history_filter f = {.since = DG_TIME_NONE, .limit = 1, .reports = true};
    int status, r = dg_app_id(app, 0, &f.id, &err);
    if (!r) r = dg_app_store(app, DG_STORE_READ, &store, &err);
    if (!r) r = dg_store_history(store, &f, take, &now, &err);
    if (!r && !now.found.id) r = dg_err_set(&err, DG_E_NOTFOUND, 0, "there is no such attempt in the history");
    f.id = 0;
    f.limit = -1;
    if (!r) r = dg_store_history(store, &f, take, &then, &err);
    if (!r && !then.found.id)
        r = dg_err_set(&err, DG_E_NOTFOUND, 0, "no other attempt of this engine and model is known to have worked");
    if (r) {
        status = dg_msg_err(&err);
    } else {
        json_t *rows = json_array();
        compare(rows, then.found.facts, now.found.facts, false);
        compare(rows, then.found.choices, now.found.choices, true);
        status = json_array_size(rows) ? DG_EXIT_FAILURE : DG_EXIT_HEALTHY;
        if (app->form == DG_FORM_TEXT)
            dg_msg("attempt %lld worked; this is attempt %lld", (long long)then.found.id, (long long)now.found.id);
        status = dg_rows_put(app, "diff", rows, columns, DG_COUNT(columns), status);
    }
    release(&now.found);
    release(&then.found);
    dg_store_close(store);
    return status;
}
