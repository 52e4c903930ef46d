/* diagnose outcome: a person's word on an attempt. */
#include "cli/rows.h"
#include "base/mem.h"
#include "report/report.h"

int dg_cmd_outcome(struct dg_app *app) {
    static const char *const words[] = {"works", "garbage", "fails", "slow"};
    static const struct dg_column columns[] = {{"id", "id"}, {"outcome", "outcome"}};
    const struct dg_args *a = &app->args;
    struct dg_err err = {0};
    struct dg_store *store = NULL;
    struct dg_buf note = DG_BUF_INIT(64 << 10);
    int64_t id;
    bool known = false;
    for (size_t i = 0; a->n_operands && i < DG_COUNT(words); i++) known |= !strcmp(a->operands[0], words[i]);
    int r = dg_app_id(app, 1, &id, &err);
    if (!known || a->n_operands > 2)
        r = dg_err_set(&err, DG_E_SYNTAX, 0, "say one of works, garbage, fails, slow, and perhaps an attempt's number");
    if (!r) r = dg_app_store(app, DG_STORE_WRITE, &store, &err);
    if (!r && dg_mask_secrets(&note, dg_cstr(dg_args_value(a, DG_OPT_NOTE)))) r = dg_err_nomem(&err);
    if (!r) r = dg_store_outcome(store, id, dg_cstr(a->operands[0]), dg_buf_slice(&note), &id, &err);
    dg_store_close(store);
    dg_buf_release(&note);
    if (r) return dg_msg_err(&err);
    json_t *row = json_pack("{s:I,s:s}", "id", (json_int_t)id, "outcome", a->operands[0]);
    return dg_rows_put(app, "outcome", json_pack("[o]", row), columns, DG_COUNT(columns), DG_EXIT_HEALTHY);
}
