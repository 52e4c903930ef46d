#include "store/db.h"
#include "base/timex.h"

enum { DEFAULT_LIMIT = 50, TRIED_LIMIT = 300 };

/* Columns in the order of `fill`. The latest diagnosis of an attempt speaks for it. */
#define COLUMNS                                                                                                        \
    "SELECT a.id, a.time, a.outcome_stated, d.time, a.diagnoses, a.key, "                                              \
    "a.engine,"                                                                                                        \
    " a.engine_version, a.model, a.model_family, a.quantization, a.devices, a.cc_set, a.choices, a.rejects, "          \
    "a.outcome, a.note,"                                                                                               \
    " d.status, d.class, d.subclass, d.confidence, d.rule, d.fingerprint, d.version, "
#define TABLES " FROM attempts a JOIN diagnoses d ON d.id = a.latest WHERE "

static void fill(sqlite3_stmt *st, struct dg_history_row *row) {
    *row = (struct dg_history_row){.id = sqlite3_column_int64(st, 0),
                                   .time = sqlite3_column_double(st, 1),
                                   .outcome_stated = sqlite3_column_int(st, 2) != 0,
                                   .recorded = sqlite3_column_double(st, 3),
                                   .diagnoses = sqlite3_column_int64(st, 4)};
    struct dg_slice *const texts[] = {&row->key,          &row->engine,       &row->engine_version, &row->model,
                                      &row->model_family, &row->quantization, &row->devices,        &row->cc_set,
                                      &row->choices,      &row->rejects,      &row->outcome,        &row->note,
                                      &row->status,       &row->class,        &row->subclass,       &row->confidence,
                                      &row->rule,         &row->fingerprint,  &row->version,        &row->report};
    for (size_t i = 0; i < DG_COUNT(texts); i++) *texts[i] = dg_db_text(st, 5 + (int)i);
}

static int each_row(struct dg_store *s, sqlite3_stmt *st, dg_history_fn *row, void *ctx, struct dg_err *err) {
    int rc;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        struct dg_history_row r;
        fill(st, &r);
        if (!row(ctx, &r)) return 0;
    }
    return rc == SQLITE_DONE ? 0 : dg_db_fail(s->db, s->path, rc, "read", err);
}

static void bind_str(sqlite3_stmt *st, const char *name, const char *text) { dg_db_bind(st, name, dg_cstr(text)); }

/* Only the conditions that are asked for, so that SQLite sees which index serves them. */
static void add_where(const struct dg_history_filter *f, struct dg_buf *sql) {
    const char *slash = f->class ? strchr(f->class, '/') : NULL;
    dg_buf_adds(sql, COLUMNS);
    dg_buf_adds(sql, f->reports ? "d.report" TABLES "true" : "NULL" TABLES "true");
    if (f->id) dg_buf_adds(sql, " AND a.id = :id");
    if (slash)
        dg_buf_adds(
            sql, " AND a.class = substr(:class, 1, instr(:class, '/') - 1) AND a.class || '/' || a.subclass = :class");
    if (f->class && !slash) dg_buf_adds(sql, " AND a.class = :class");
    if (f->engine) dg_buf_adds(sql, " AND a.engine = :engine");
    if (f->model) dg_buf_adds(sql, " AND instr(lower(a.model), lower(:model))");
    if (f->outcome) dg_buf_adds(sql, " AND a.outcome = :outcome");
    if (f->rule) dg_buf_adds(sql, " AND a.rule = :rule");
    if (f->text) dg_buf_adds(sql, " AND (instr(lower(d.report), lower(:text)) OR instr(lower(a.note), lower(:text)))");
    if (dg_time_known(f->since)) dg_buf_adds(sql, " AND a.time >= :since");
    dg_buf_adds(sql, " ORDER BY a.latest DESC LIMIT :limit");
}

int dg_store_history(struct dg_store *s, const struct dg_history_filter *f, dg_history_fn *row, void *ctx,
                     struct dg_err *err) {
    _cleanup_(dg_db_finalizep) sqlite3_stmt *st = NULL;
    _cleanup_(dg_buf_release) struct dg_buf sql = DG_BUF_INIT(8192);
    add_where(f, &sql);
    int r = sql.failed ? dg_err_nomem(err) : dg_db_prepare(s, sql.ptr, &st, err);
    if (r) return r;
    if (f->id) dg_db_bind_int(st, ":id", f->id);
    if (f->class) bind_str(st, ":class", f->class);
    if (f->engine) bind_str(st, ":engine", f->engine);
    if (f->model) bind_str(st, ":model", f->model);
    if (f->outcome) bind_str(st, ":outcome", f->outcome);
    if (f->rule) bind_str(st, ":rule", f->rule);
    if (f->text) bind_str(st, ":text", f->text);
    if (dg_time_known(f->since)) dg_db_bind_double(st, ":since", f->since);
    dg_db_bind_int(st, ":limit", f->limit ? f->limit : DEFAULT_LIMIT);
    return each_row(s, st, row, ctx, err);
}

int dg_store_tried(struct dg_store *s, const struct dg_store_like *like, dg_history_fn *row, void *ctx,
                   struct dg_err *err) {
    _cleanup_(dg_db_finalizep) sqlite3_stmt *st = NULL;
    int r = dg_db_prepare(s,
                          COLUMNS
                          "NULL" TABLES
                          "a.engine = :engine AND a.model_family IS :model_family AND a.quantization IS :quantization"
                          " AND a.cc_set IS :cc_set ORDER BY a.latest DESC LIMIT :limit",
                          &st, err);
    if (r) return r;
    dg_db_bind(st, ":engine", like->engine);
    dg_db_bind(st, ":model_family", like->model_family);
    dg_db_bind(st, ":quantization", like->quantization);
    dg_db_bind(st, ":cc_set", like->cc_set);
    dg_db_bind_int(st, ":limit", TRIED_LIMIT);
    return each_row(s, st, row, ctx, err);
}
