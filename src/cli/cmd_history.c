/* diagnose history: attempts as rows, and out to and in from JSON lines. */
#include "cli/rows.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/timex.h"
#include "report/report.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 256 << 20, NAME_MAX_BYTES = 64 };

/* ---- --since */

static bool date(struct dg_slice s, double *ret) {
    uint64_t part[3];
    struct dg_slice word;
    for (int i = 0; i < 3; i++)
        if (!dg_slice_split(&s, '-', &word) || !dg_slice_u64(word, &part[i]) || part[i] > 9999) return false;
    *ret = s.ptr && s.len ? DG_TIME_NONE : dg_time_local((int)part[0], (int)part[1], (int)part[2], 0, 0, 0);
    return dg_time_known(*ret);
}

static bool age(struct dg_slice s, double *ret) {
    static const struct {
        char unit;
        double seconds;
    } units[] = {{'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
    uint64_t n;
    if (s.len < 2 || !dg_slice_u64(dg_slice_upto(s, s.len - 1), &n)) return false;
    for (size_t i = 0; i < DG_COUNT(units); i++)
        if (s.ptr[s.len - 1] == units[i].unit) {
            *ret = dg_time_now() - (double)n * units[i].seconds;
            return true;
        }
    return false;
}

static int read_filter(const struct dg_args *a, struct dg_history_filter *f, struct dg_err *err) {
    const char *since = dg_args_value(a, DG_OPT_SINCE), *limit = dg_args_value(a, DG_OPT_LIMIT);
    *f = (struct dg_history_filter){.class = dg_args_value(a, DG_OPT_CLASS),
                                    .engine = dg_args_value(a, DG_OPT_BY_ENGINE),
                                    .model = dg_args_value(a, DG_OPT_MODEL),
                                    .outcome = dg_args_value(a, DG_OPT_OUTCOME),
                                    .rule = dg_args_value(a, DG_OPT_RULE),
                                    .text = dg_args_value(a, DG_OPT_TEXT),
                                    .since = DG_TIME_NONE};
    if (since && !date(dg_cstr(since), &f->since) && !age(dg_cstr(since), &f->since))
        return dg_err_set(err, DG_E_SYNTAX, 0, "'--since %s' is neither a date (2026-03-07) nor an age (3d, 12h)",
                          since);
    if (limit && (!dg_slice_i64(dg_cstr(limit), &f->limit) || f->limit < 0))
        return dg_err_set(err, DG_E_SYNTAX, 0, "'--limit %s' is no number", limit);
    if (limit && !f->limit) f->limit = -1;
    return 0;
}

/* ---- rows */

static void set_time(json_t *row, const char *key, double t) {
    struct dg_buf b = DG_BUF_INIT(64);
    dg_time_add_rfc3339(&b, t);
    dg_row_str(row, key, dg_buf_slice(&b));
    dg_buf_release(&b);
}

static json_t *row_of(const struct dg_history_row *r) {
    json_t *row = json_object();
    json_object_set_new(row, "id", json_integer(r->id));
    set_time(row, "time", r->time);
    dg_row_str(row, "engine", r->engine);
    dg_row_str(row, "engine_version", r->engine_version);
    dg_row_str(row, "model", r->model);
    dg_row_str(row, "devices", r->devices);
    dg_row_str(row, "class", r->class);
    dg_row_str(row, "subclass", r->subclass);
    dg_row_str(row, "confidence", r->confidence);
    dg_row_str(row, "outcome", r->outcome);
    json_object_set_new(row, "diagnoses", json_integer(r->diagnoses));
    return row;
}

static bool add_row(void *ctx, const struct dg_history_row *r) { return !json_array_append_new(ctx, row_of(r)); }

static int list(struct dg_app *app, struct dg_store *store, const struct dg_history_filter *f, struct dg_err *err) {
    static const struct dg_column columns[] = {{"id", "id"},        {"time", "time"},         {"outcome", "outcome"},
                                               {"class", "class"},  {"subclass", "subclass"}, {"engine", "engine"},
                                               {"/model", "model"}, {"devices", "devices"}};
    json_t *rows = json_array();
    int r = store ? dg_store_history(store, f, add_row, rows, err) : 0;
    if (!r && app->form == DG_FORM_TEXT && !app->quiet && !json_array_size(rows))
        dg_msg(store ? "no attempt in the history matches" : "nothing is recorded yet; diagnose a log first");
    if (!r) return dg_rows_put(app, "history", rows, columns, DG_COUNT(columns), DG_EXIT_HEALTHY);
    json_decref(rows);
    return dg_msg_err(err);
}

/* ---- JSON lines */

struct exporter {
    const struct dg_app *app;
    struct dg_buf out;
};

static const char *const TEXTS[] = {"key",    "model_family", "quantization", "cc_set", "note",
                                    "status", "rule",         "fingerprint",  "version"};

static bool export_row(void *ctx, const struct dg_history_row *r) {
    struct exporter *x = ctx;
    const struct dg_slice texts[] = {r->key,    r->model_family, r->quantization, r->cc_set, r->note,
                                     r->status, r->rule,         r->fingerprint,  r->version};
    json_t *row = row_of(r);
    for (size_t i = 0; i < DG_COUNT(texts); i++) dg_row_str(row, TEXTS[i], texts[i]);
    json_object_set_new(row, "outcome_stated", json_boolean(r->outcome_stated));
    set_time(row, "recorded", r->recorded);
    json_object_set_new(row, "choices", dg_json_parse(r->choices, NULL));
    json_object_set_new(row, "rejects", dg_json_parse(r->rejects, NULL));
    json_object_set_new(row, "report", dg_json_parse(r->report, NULL));
    json_t *masked = dg_mask_json(row, x->app->unmask);
    if (!masked || dg_report_dump(masked, false, &x->out)) x->out.failed = true;
    json_decref(masked);
    json_decref(row);
    return !x->out.failed;
}

static int export_to(struct dg_app *app, struct dg_store *store, struct dg_history_filter *f, const char *path,
                     struct dg_err *err) {
    struct exporter x = {.app = app, .out = DG_BUF_INIT(ROOM)};
    f->reports = true;
    if (!dg_args_has(&app->args, DG_OPT_LIMIT)) f->limit = -1;
    int status = DG_EXIT_HEALTHY, fd = -1, r = store ? dg_store_history(store, f, export_row, &x, err) : 0;
    if (r)
        status = dg_msg_err(err);
    else if (x.out.failed)
        status = dg_msg_err(&(struct dg_err){.code = DG_E_LIMIT, .msg = "the export is too large"});
    else if (!strcmp(path, "-"))
        status = dg_app_put(app, dg_buf_slice(&x.out), status);
    else if ((fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) < 0 ||
             dg_fd_write(fd, x.out.ptr, x.out.len) || close(fd))
        status = dg_msg_err(&(struct dg_err){.code = DG_E_IO, .msg = "the export cannot be written"});
    dg_buf_release(&x.out);
    return status;
}

static struct dg_slice text_of(const json_t *row, const char *key) {
    return dg_slice(json_string_value(json_object_get(row, key)), json_string_length(json_object_get(row, key)));
}

static double time_of(const json_t *row, const char *key) {
    int y, mo, d, h, mi;
    double s;
    const char *text = json_string_value(json_object_get(row, key));
    return text && sscanf(text, "%4d-%2d-%2dT%2d:%2d:%lf", &y, &mo, &d, &h, &mi, &s) == 6
               ? dg_time_utc(y, mo, d, h, mi, s)
               : DG_TIME_NONE;
}

static int import_row(struct dg_store *store, const json_t *row, struct dg_err *err) {
    struct dg_buf choices = DG_BUF_INIT(ROOM), rejects = DG_BUF_INIT(ROOM), report = DG_BUF_INIT(ROOM);
    const json_t *parts[] = {json_object_get(row, "choices"), json_object_get(row, "rejects"),
                             json_object_get(row, "report")};
    struct dg_buf *const texts[] = {&choices, &rejects, &report};
    bool whole = json_is_object(parts[0]) && json_is_array(parts[1]) && json_is_object(parts[2]) &&
                 text_of(row, "key").len && text_of(row, "status").len;
    for (size_t i = 0; whole && i < DG_COUNT(parts); i++) dg_report_dump(parts[i], false, texts[i]);
    struct dg_store_entry e = {.key = text_of(row, "key"),
                               .time = time_of(row, "time"),
                               .recorded = time_of(row, "recorded"),
                               .engine = text_of(row, "engine"),
                               .engine_version = text_of(row, "engine_version"),
                               .model = text_of(row, "model"),
                               .model_family = text_of(row, "model_family"),
                               .quantization = text_of(row, "quantization"),
                               .devices = text_of(row, "devices"),
                               .cc_set = text_of(row, "cc_set"),
                               .choices = dg_slice_trim(dg_buf_slice(&choices)),
                               .rejects = dg_slice_trim(dg_buf_slice(&rejects)),
                               .outcome = text_of(row, "outcome"),
                               .outcome_stated = json_is_true(json_object_get(row, "outcome_stated")),
                               .note = text_of(row, "note"),
                               .status = text_of(row, "status"),
                               .class = text_of(row, "class"),
                               .subclass = text_of(row, "subclass"),
                               .confidence = text_of(row, "confidence"),
                               .rule = text_of(row, "rule"),
                               .fingerprint = text_of(row, "fingerprint"),
                               .version = text_of(row, "version").len ? text_of(row, "version") : DG_S("unknown"),
                               .report = dg_slice_trim(dg_buf_slice(&report))};
    int64_t id;
    int r = whole ? dg_store_record(store, &e, &id, err) : dg_err_set(err, DG_E_SYNTAX, 0, "no exported attempt");
    dg_buf_release(&choices);
    dg_buf_release(&rejects);
    dg_buf_release(&report);
    return r;
}

static int import_line(struct dg_store *store, struct dg_slice line, struct dg_err *err) {
    if (!dg_slice_trim(line).len) return 0;
    if (line.len > ROOM) return -DG_E_SYNTAX;
    _cleanup_(dg_json_decrefp) json_t *given = dg_json_parse(line, err);
    if (!given) return err->code == DG_E_NOMEM ? -DG_E_NOMEM : -DG_E_SYNTAX;
    _cleanup_(dg_json_decrefp) json_t *row = dg_mask_json_secrets(given);
    return row ? import_row(store, row, err) : dg_err_nomem(err);
}

/* All lines, or none when one is at fault: taken twice, an attempt would count twice. Line by line, since an export may
 * be larger than memory. */
static int import_lines(struct dg_store *store, FILE *f, const char *path, struct dg_err *err) {
    _cleanup_(dg_freep) char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int r = 0;
    for (unsigned at = 1; !r && (n = getline(&line, &room, f)) >= 0; at++) {
        r = import_line(store, dg_slice(line, (size_t)n), err);
        if (r == -DG_E_SYNTAX) r = dg_err_at(err, DG_E_SYNTAX, path, at, 1, "no exported attempt; nothing was taken");
    }
    return r || feof(f) ? r : dg_err_set(err, DG_E_IO, errno, "cannot read '%s'", path);
}

static int import_from(struct dg_store *store, const char *path, struct dg_err *err) {
    bool own = strcmp(path, "-") != 0;
    FILE *f = own ? fopen(path, "re") : stdin;
    int64_t gone;
    if (!f) return dg_err_set(err, DG_E_IO, errno, "cannot open '%s'", path);
    int r = dg_store_begin(store, err);
    if (!r) r = import_lines(store, f, path, err);
    if (!r) r = dg_store_commit(store, &gone, err);
    if (!r && gone)
        dg_msg("attempts that went by the limits of the history (age, number, size): %lld", (long long)gone);
    if (own) fclose(f);
    return r;
}

int dg_cmd_history(struct dg_app *app) {
    struct dg_err err = {0};
    struct dg_history_filter f;
    struct dg_store *store = NULL;
    const char *to = dg_args_value(&app->args, DG_OPT_EXPORT), *from = dg_args_value(&app->args, DG_OPT_IMPORT);
    int status, r = read_filter(&app->args, &f, &err);
    if (!r && app->args.n_operands) r = dg_err_set(&err, DG_E_SYNTAX, 0, "'history' takes no operands");
    if (!r) r = dg_app_store(app, from ? DG_STORE_WRITE : DG_STORE_READ, &store, &err);
    if (r == -DG_E_NOTFOUND && !from) r = 0; /* nothing was recorded yet */
    if (r)
        status = dg_msg_err(&err);
    else if (from)
        status = import_from(store, from, &err) ? dg_msg_err(&err) : DG_EXIT_HEALTHY;
    else
        status = to ? export_to(app, store, &f, to, &err) : list(app, store, &f, &err);
    dg_store_close(store);
    return status;
}
