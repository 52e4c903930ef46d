/* diagnose matrix: the combinations that were tried, each with its latest outcome. */
#include "cli/rows.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/timex.h"

struct matrix {
    const char *device;
    struct dg_map *seen; /* combination -> its row, borrowed from rows */
    json_t *rows;
    bool failed;
};

static json_t *new_row(const struct dg_history_row *r) {
    json_t *row = json_object();
    dg_row_str(row, "engine", r->engine);
    dg_row_str(row, "engine_version", r->engine_version);
    dg_row_str(row, "model", r->model);
    dg_row_str(row, "devices", r->devices);
    json_object_set_new(row, "choices", dg_json_parse(r->choices, NULL));
    dg_row_str(row, "outcome", r->outcome);
    json_object_set_new(row, "age_days", json_integer((json_int_t)((dg_time_now() - r->time) / 86400)));
    json_object_set_new(row, "attempts", json_integer(0));
    return row;
}

/* Rows come latest first: the first of a combination gives its outcome and age. */
static bool add(void *ctx, const struct dg_history_row *r) {
    struct matrix *m = ctx;
    if (m->device && dg_slice_find(r->devices, dg_cstr(m->device)) < 0) return true;
    struct dg_buf key = DG_BUF_INIT(1 << 20);
    const struct dg_slice parts[] = {r->engine, r->engine_version, r->model, r->devices, r->choices};
    for (size_t i = 0; i < DG_COUNT(parts); i++) {
        dg_buf_add_slice(&key, parts[i]);
        dg_buf_addc(&key, '\n');
    }
    json_t *row = dg_map_get(m->seen, dg_buf_slice(&key));
    if (!row) {
        row = new_row(r);
        m->failed |= json_array_append_new(m->rows, row) || dg_map_set(m->seen, dg_buf_slice(&key), row);
    }
    if (!m->failed)
        json_object_set_new(row, "attempts", json_integer(json_integer_value(json_object_get(row, "attempts")) + 1));
    dg_buf_release(&key);
    return !m->failed;
}

int dg_cmd_matrix(struct dg_app *app) {
    static const struct dg_column columns[] = {
        {"outcome", "outcome"},        {"age_days", "days"}, {"attempts", "n"},      {"engine", "engine"},
        {"engine_version", "version"}, {"/model", "model"},  {"choices", "choices"}, {"devices", "devices"}};
    struct dg_err err = {0};
    struct dg_store *store = NULL;
    struct matrix m = {
        .device = dg_args_value(&app->args, DG_OPT_BY_DEVICE), .seen = dg_map_new(NULL), .rows = json_array()};
    struct dg_history_filter f = {.engine = dg_args_value(&app->args, DG_OPT_BY_ENGINE),
                                  .model = dg_args_value(&app->args, DG_OPT_MODEL),
                                  .since = DG_TIME_NONE,
                                  .limit = -1};
    int r = m.seen && m.rows ? 0 : dg_err_nomem(&err);
    if (!r && app->args.n_operands) r = dg_err_set(&err, DG_E_SYNTAX, 0, "'matrix' takes no operands");
    if (!r) r = dg_app_store(app, DG_STORE_READ, &store, &err);
    if (!r) r = dg_store_history(store, &f, add, &m, &err);
    if (!r && m.failed) r = dg_err_nomem(&err);
    if (r == -DG_E_NOTFOUND) r = 0;
    dg_store_close(store);
    dg_map_free(m.seen);
    if (!r) return dg_rows_put(app, "matrix", m.rows, columns, DG_COUNT(columns), DG_EXIT_HEALTHY);
    json_decref(m.rows);
    return dg_msg_err(&err);
}
