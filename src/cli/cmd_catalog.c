/* diagnose catalog: what is known about backends. */
#include "cli/rows.h"
#include "base/mem.h"
#include "cli/devices.h"

static json_t *texts(const struct dg_slices *list) {
    json_t *v = json_array();
    for (uint32_t i = 0; i < list->n; i++) json_array_append_new(v, json_stringn(list->v[i].ptr, list->v[i].len));
    return v;
}

static json_t *faults(const struct dg_cat_choice *c) {
    json_t *v = json_array();
    for (uint32_t i = 0; i < c->n_bad; i++) {
        const struct dg_cat_bad *b = &c->bad[i];
        struct dg_buf text = DG_BUF_INIT(64 << 10), on = DG_BUF_INIT(1024);
        dg_capset_add(&on, &b->on);
        dg_buf_addf(&text, "%.*s on %s: %.*s", DG_FMT(b->kind), dg_capset_empty(&b->on) ? "any" : dg_buf_slice(&on).ptr,
                    DG_FMT(b->what));
        json_array_append_new(v, json_stringn(dg_buf_slice(&text).ptr, text.len));
        dg_buf_release(&text);
        dg_buf_release(&on);
    }
    return v;
}

static json_t *row_of(const struct dg_cat_engine *e, const struct dg_cat_axis *a, const struct dg_cat_choice *c) {
    json_t *row = json_object();
    struct dg_buf archs = DG_BUF_INIT(1024);
    dg_capset_add(&archs, &c->archs);
    dg_row_str(row, "engine", e->name);
    dg_row_str(row, "axis", a->name);
    dg_row_str(row, "choice", c->name);
    dg_row_str(row, "capabilities", dg_buf_slice(&archs));
    dg_row_str(row, "build", c->build);
    json_object_set_new(row, "needs", texts(&c->needs));
    json_object_set_new(row, "known_bad", faults(c));
    dg_row_str(row, "checked", c->checked.len ? c->checked : e->checked);
    dg_buf_release(&archs);
    return row;
}

static void add_axis(json_t *rows, const struct dg_cat_engine *e, const struct dg_cat_axis *a, struct dg_cc cc) {
    struct dg_cat_key key = {.cc = cc};
    for (uint32_t i = 0; i < a->n_choices; i++)
        if (!dg_cc_known(cc) || dg_catalog_runs(e, &a->choices[i], &key))
            json_array_append_new(rows, row_of(e, a, &a->choices[i]));
}

static int collect(const struct dg_app *app, struct dg_cc cc, json_t *rows, struct dg_err *err) {
    const struct dg_args *args = &app->args;
    const char *engine = args->n_operands > 0 ? args->operands[0] : NULL,
               *axis = args->n_operands > 1 ? args->operands[1] : NULL;
    if (args->n_operands > 2) return dg_err_set(err, DG_E_SYNTAX, 0, "say an engine and an axis at most");
    if (dg_catalog_all(app->catalog)) return dg_err_nomem(err);
    if (engine && !dg_catalog_engine(app->catalog, dg_cstr(engine)))
        return dg_err_set(err, DG_E_NOTFOUND, 0, "the catalog has no engine '%s'", engine);
    if (axis && !dg_catalog_axis(dg_catalog_engine(app->catalog, dg_cstr(engine)), dg_cstr(axis)))
        return dg_err_set(err, DG_E_NOTFOUND, 0, "the catalog has no axis '%s' for '%s'", axis, engine);
    for (uint32_t i = 0; i < app->catalog->n_engines; i++) {
        const struct dg_cat_engine *e = &app->catalog->engines[i];
        if (engine && !dg_slice_is(e->name, engine)) continue;
        for (uint32_t k = 0; k < e->n_axes; k++)
            if (!axis || &e->axes[k] == dg_catalog_axis(e, dg_cstr(axis))) add_axis(rows, e, &e->axes[k], cc);
    }
    return 0;
}

int dg_cmd_catalog(struct dg_app *app) {
    static const struct dg_column columns[] = {{"engine", "engine"},        {"axis", "axis"},     {"choice", "choice"},
                                               {"capabilities", "runs on"}, {"build", "kernels"}, {"needs", "needs"},
                                               {"known_bad", "known bad"}};
    struct dg_err err = {0};
    struct dg_devices devices = {0};
    const char *spec = dg_args_value(&app->args, DG_OPT_DEVICE);
    json_t *rows = json_array();
    int r = spec ? dg_devices_state(dg_cstr(spec), &devices, &err) : 0;
    if (!r) r = dg_app_rules(app, &err);
    if (!r) r = collect(app, devices.n ? devices.v[0].cc : (struct dg_cc){0}, rows, &err);
    dg_devices_release(&devices);
    if (!r) return dg_rows_put(app, "catalog", rows, columns, DG_COUNT(columns), DG_EXIT_HEALTHY);
    json_decref(rows);
    return dg_msg_err(&err);
}
