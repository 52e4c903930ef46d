#include "store/db.h"
#include "base/timex.h"

enum { DEFAULT_LIMIT = 50, TRIED_LIMIT = 1000 };

/* Columns in the order of `fill`. The latest diagnosis of an attempt speaks for it. */
#define COLUMNS                                                                                                        \
    "SELECT a.id, a.time, a.outcome_stated, d.time, (SELECT count(*) FROM diagnoses WHERE attempt_id = a.id), a.key, " \
    "a.engine,"                                                                                                        \
    " a.engine_version, a.model, a.model_family, a.quantization, a.devices, a.cc_set, a.choices, a.rejects, "          \
    "a.outcome, a.note,"                                                                                               \
    " d.status, d.class, d.subclass, d.confidence, d.rule, d.fingerprint, d.version, "
#define TABLES                                                                                                         \
    " FROM attempts a JOIN diagnoses d ON d.id = (SELECT max(id) FROM diagnoses WHERE attempt_id = a.id) WHERE "

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

int dg_store_history(struct dg_store *s, const struct dg_history_filter *f, dg_history_fn *row, void *ctx,
                     struct dg_err *err) {
    _cleanup_(dg_db_finalizep) sqlite3_stmt *st = NULL;
    int r = dg_db_prepare(
        s,
        COLUMNS "iif(:reports, d.report, NULL)" TABLES "(:id = 0 OR a.id = :id)"
                " AND (:class IS NULL OR d.class = :class OR d.class || '/' || d.subclass = :class)"
                " AND (:engine IS NULL OR a.engine = :engine)"
                " AND (:model IS NULL OR instr(lower(a.model), lower(:model)))"
                " AND (:outcome IS NULL OR a.outcome = :outcome)"
                " AND (:rule IS NULL OR d.rule = :rule)"
                " AND (:text IS NULL OR instr(lower(d.report), lower(:text)) OR instr(lower(a.note), lower(:text)))"
                " AND a.time >= :since ORDER BY d.id DESC LIMIT :limit",
        &st, err);
    if (r) return r;
    dg_db_bind_int(st, ":reports", f->reports);
    dg_db_bind_int(st, ":id", f->id);
    bind_str(st, ":class", f->class);
    bind_str(st, ":engine", f->engine);
    bind_str(st, ":model", f->model);
    bind_str(st, ":outcome", f->outcome);
    bind_str(st, ":rule", f->rule);
    bind_str(st, ":text", f->text);
    dg_db_bind_double(st, ":since", dg_time_known(f->since) ? f->since : -HUGE_VAL);
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
                          " AND a.cc_set IS :cc_set ORDER BY d.id DESC LIMIT :limit",
                          &st, err);
    if (r) return r;
    dg_db_bind(st, ":engine", like->engine);
    dg_db_bind(st, ":model_family", like->model_family);
    dg_db_bind(st, ":quantization", like->quantization);
    dg_db_bind(st, ":cc_set", like->cc_set);
    dg_db_bind_int(st, ":limit", TRIED_LIMIT);
    return each_row(s, st, row, ctx, err);
}
