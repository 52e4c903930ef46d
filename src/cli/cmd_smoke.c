/* diagnose smoke: is a server's answer language? */
#include "cli/rows.h"
#include "base/file.h"
#include "base/mem.h"
#include "match/smoke.h"

enum { ROOM = 64 << 20 };

int dg_cmd_smoke(struct dg_app *app) {
    static const struct dg_column columns[] = {{"verdict", "verdict"}, {"reason", "reason"}};
    static const int statuses[] = {[DG_SMOKE_PLAUSIBLE] = DG_EXIT_HEALTHY,
                                   [DG_SMOKE_GARBAGE] = DG_EXIT_FAILURE,
                                   [DG_SMOKE_NOTHING] = DG_EXIT_USAGE};
    struct dg_err err = {0};
    struct dg_buf body = DG_BUF_INIT(ROOM), answer = DG_BUF_INIT(ROOM);
    char reason[256] = "";
    int r = 0, status;
    if (app->args.n_operands != 1) r = dg_err_set(&err, DG_E_SYNTAX, 0, "say one file, or - for standard input");
    if (!r) r = dg_file_read(strcmp(app->args.operands[0], "-") ? app->args.operands[0] : "/dev/stdin", &body, &err);
    if (!r && !dg_smoke_answer(dg_buf_slice(&body), &answer))
        r = dg_err_set(&err, DG_E_SYNTAX, 0, "the server sent no answer but an error");
    enum dg_smoke verdict = r ? DG_SMOKE_NOTHING : dg_smoke_judge(dg_buf_slice(&answer), reason, sizeof(reason));
    if (!r && verdict == DG_SMOKE_NOTHING) r = dg_err_set(&err, DG_E_SYNTAX, 0, "nothing came");
    if (r) {
        status = dg_msg_err(&err);
    } else {
        json_t *row = json_pack("{s:s}", "verdict", verdict == DG_SMOKE_GARBAGE ? "garbage" : "plausible");
        dg_row_str(row, "reason", dg_cstr(reason));
        status = dg_rows_put(app, "smoke", json_pack("[o]", row), columns, DG_COUNT(columns), statuses[verdict]);
    }
    dg_buf_release(&body);
    dg_buf_release(&answer);
    return status;
}
