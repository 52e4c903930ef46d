/* diagnose [FILE...]: the main use. */
#include "cli/job.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/rows.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 64 << 20 };

static size_t count_dashes(const struct dg_args *a) {
    size_t dashes = 0;
    const char *path;
    for (size_t i = 0; i < a->n_operands; i++) dashes += !strcmp(a->operands[i], "-");
    for (size_t i = 0; (path = dg_args_nth(a, DG_OPT_KERNEL_LOG, i)); i++) dashes += !strcmp(path, "-");
    return dashes;
}

/* Combinations that mean nothing are refused before anything is read. */
static int check_options(const struct dg_app *app, struct dg_err *err) {
    const struct dg_args *a = &app->args;
    bool last = dg_args_has(a, DG_OPT_LAST), show = dg_args_has(a, DG_OPT_SHOW), tee = dg_args_has(a, DG_OPT_TEE);
    bool inputs = a->n_operands || dg_args_has(a, DG_OPT_KERNEL_LOG), recorded = last || show;
    size_t dashes = count_dashes(a);
    const struct {
        bool wrong;
        const char *why;
    } checks[] = {
        {recorded && (inputs || tee), "a recorded report is printed without reading anything"},
        {last && show, "--last or --show, not both"},
        {dashes > 1, "standard input can be read once only"},
        {tee && app->form != DG_FORM_TEXT && !dg_args_has(a, DG_OPT_REPORT),
         "with --tee, --format needs --report FILE"},
        {tee && inputs && !dashes, "--tee copies standard input, which is not read here"},
        {dg_args_has(a, DG_OPT_DEVICE) && dg_args_has(a, DG_OPT_NO_DEVICE), "--device or --no-device, not both"},
        {!recorded && !inputs && isatty(STDIN_FILENO), "no file is named, and standard input is a terminal"},
    };
    for (size_t i = 0; i < DG_COUNT(checks); i++)
        if (checks[i].wrong) return dg_err_set(err, DG_E_SYNTAX, 0, "%s", checks[i].why);
    return 0;
}

static int put_report_file(const struct dg_app *app, const char *path, const json_t *report, int status) {
    struct dg_buf out = DG_BUF_INIT(ROOM);
    struct dg_app plain = *app;
    plain.color = false;
    if (dg_job_render(&plain, app->form, report, &out)) {
        dg_msg("out of memory");
        status = DG_EXIT_INTERNAL;
    } else {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0) {
            dg_msg("cannot write '%s': %s", path, strerror(errno));
            status = DG_EXIT_INTERNAL;
        } else {
            status = dg_put(fd, path, dg_buf_slice(&out), status);
            if (close(fd)) {
                dg_msg("cannot write '%s': %s", path, strerror(errno));
                status = DG_EXIT_INTERNAL;
            }
        }
    }
    dg_buf_release(&out);
    return status;
}

int dg_put_report(const struct dg_app *app, const json_t *report) {
    int status = dg_job_status(report);
    const char *file = dg_args_value(&app->args, DG_OPT_REPORT);
    if (file) status = put_report_file(app, file, report, status);
    if (app->quiet || status == DG_EXIT_INTERNAL) return status;
    struct dg_buf out = DG_BUF_INIT(ROOM);
    if (dg_job_render(app, file ? DG_FORM_TEXT : app->form, report, &out)) {
        dg_msg("out of memory");
        status = DG_EXIT_INTERNAL;
    } else if (app->args.cmd == DG_CMD_RUN || dg_args_has(&app->args, DG_OPT_TEE)) {
        status = dg_put(STDERR_FILENO, "standard error", dg_buf_slice(&out), status);
    } else {
        status = dg_app_put(app, dg_buf_slice(&out), status);
    }
    dg_buf_release(&out);
    return status;
}

static int put_launches(const struct dg_job *job) {
    static const struct dg_column columns[] = {{"launch", "launch"}, {"source", "source"},   {"first_line", "from"},
                                               {"last_line", "to"},  {"outcome", "outcome"}, {"summary", ""}};
    const struct dg_diagnosis *d = job->d;
    json_t *rows = json_array();
    for (uint32_t i = 0; i < d->n_launches; i++) {
        const struct dg_launch_line *l = &d->launches[i];
        json_t *row = json_object();
        json_object_set_new(row, "launch", json_integer(i + 1));
        dg_row_str(row, "source", dg_cstr(l->source < d->n_inputs ? d->inputs[l->source].name : NULL));
        json_object_set_new(row, "first_line", json_integer((json_int_t)l->first_line));
        json_object_set_new(row, "last_line", json_integer((json_int_t)l->last_line));
        dg_row_str(row, "outcome", l->outcome);
        dg_row_str(row, "summary", l->summary);
        json_array_append_new(rows, row);
    }
    return dg_rows_put(job->app, "launches", rows, columns, DG_COUNT(columns), DG_EXIT_HEALTHY);
}

static int scan(struct dg_app *app, struct dg_err *err) {
    struct dg_job job;
    const char *launch = dg_args_value(&app->args, DG_OPT_LAUNCH);
    bool list = launch && !strcmp(launch, "list");
    int status = DG_EXIT_USAGE, r = dg_job_init(&job, app, err);
    if (!r) r = dg_job_scan(&job, err);
    if (!r) r = dg_job_judge(&job, err);
    if (!r && list)
        status = put_launches(&job);
    else if (!r && !(r = dg_job_report(&job, err)))
        status = dg_put_report(app, job.report);
    if (r && err->code) status = dg_msg_err(err);
    dg_job_release(&job);
    return status;
}

static int replay(struct dg_app *app, struct dg_err *err) {
    struct dg_store *store = NULL;
    struct dg_buf text = DG_BUF_INIT(ROOM);
    const char *word = dg_args_value(&app->args, DG_OPT_SHOW);
    int64_t id = 0;
    json_t *report = NULL;
    int r = 0, status = DG_EXIT_USAGE;
    if (word && (!dg_slice_i64(dg_cstr(*word == '#' ? word + 1 : word), &id) || id <= 0))
        r = dg_err_set(err, DG_E_SYNTAX, 0, "'%s' is no attempt's number", word);
    if (!r) r = dg_app_store(app, DG_STORE_READ, &store, err);
    if (!r) r = dg_store_report(store, id, &text, &id, err);
    if (!r && !(report = dg_json_parse(dg_buf_slice(&text), err))) r = -DG_E_SYNTAX;
    if (!r) {
        json_object_set_new(report, "recorded", json_pack("{s:I}", "id", (json_int_t)id));
        status = dg_put_report(app, report);
    }
    if (r) status = dg_msg_err(err);
    json_decref(report);
    dg_store_close(store);
    dg_buf_release(&text);
    return status;
}

int dg_cmd_scan(struct dg_app *app) {
    struct dg_err err = {0};
    if (check_options(app, &err)) {
        int status = dg_msg_err(&err);
        dg_msg("see 'diagnose --help'");
        return status;
    }
    bool recorded = dg_args_has(&app->args, DG_OPT_LAST) || dg_args_has(&app->args, DG_OPT_SHOW);
    return recorded ? replay(app, &err) : scan(app, &err);
}
