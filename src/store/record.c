#include "store/db.h"
#include "base/timex.h"

static const int64_t ATTEMPTS_MAX = 100000;
static const double AGE_MAX_SECONDS = 2 * 365.25 * 86400;
static const int64_t PAGES_SPARE = 1024;   /* room that is made before the size limit is met */
static const size_t BATCH_BYTES = 1 << 20; /* reports between two looks at the caps: less than that room */

static int step_done(struct dg_store *s, sqlite3_stmt *st, const char *doing, struct dg_err *err) {
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW || rc == SQLITE_DONE) return 0;
    return dg_db_fail(s->db, s->path, rc, doing, err);
}

static void bind_attempt(sqlite3_stmt *st, const struct dg_store_entry *e) {
    dg_db_bind(st, ":key", e->key);
    dg_db_bind_double(st, ":time", dg_time_known(e->time) ? e->time : dg_time_now());
    dg_db_bind(st, ":engine", e->engine);
    dg_db_bind(st, ":engine_version", e->engine_version);
    dg_db_bind(st, ":model", e->model);
    dg_db_bind(st, ":model_family", e->model_family);
    dg_db_bind(st, ":quantization", e->quantization);
    dg_db_bind(st, ":devices", e->devices);
    dg_db_bind(st, ":cc_set", e->cc_set);
    dg_db_bind(st, ":choices", e->choices.len ? e->choices : DG_S("{}"));
    dg_db_bind(st, ":rejects", e->rejects.len ? e->rejects : DG_S("[]"));
    dg_db_bind(st, ":outcome", e->outcome.len ? e->outcome : DG_S("unknown"));
    dg_db_bind_int(st, ":stated", e->outcome_stated);
    dg_db_bind(st, ":note", e->note);
}

/* A later diagnosis may know more (a device, a version): what it does not know stays as it was, and so does a person's
 * word. */
static int put_attempt(struct dg_store *s, const struct dg_store_entry *e, int64_t *ret_id, struct dg_err *err) {
    _cleanup_(dg_db_finalizep) sqlite3_stmt *st = NULL;
    int r = dg_db_prepare(
        s,
        "INSERT INTO attempts(key, time, engine, engine_version, model, model_family, quantization, devices,"
        " cc_set, choices, rejects, outcome, outcome_stated, note)"
        " VALUES(:key, :time, :engine, :engine_version, :model, :model_family, :quantization, :devices,"
        " :cc_set, :choices, :rejects, :outcome, :stated, :note)"
        " ON CONFLICT(key) DO UPDATE SET"
        " engine = ifnull(excluded.engine, engine),"
        " engine_version = ifnull(excluded.engine_version, engine_version),"
        " model = ifnull(excluded.model, model), model_family = ifnull(excluded.model_family, model_family),"
        " quantization = ifnull(excluded.quantization, quantization),"
        " devices = ifnull(excluded.devices, devices), cc_set = ifnull(excluded.cc_set, cc_set),"
        " choices = excluded.choices, rejects = excluded.rejects,"
        " outcome = iif(outcome_stated AND NOT excluded.outcome_stated, outcome, excluded.outcome),"
        " outcome_stated = outcome_stated OR excluded.outcome_stated,"
        " note = ifnull(excluded.note, note)"
        " RETURNING id",
        &st, err);
    if (r) return r;
    bind_attempt(st, e);
    int rc = sqlite3_step(st);
    if (rc != SQLITE_ROW) return dg_db_fail(s->db, s->path, rc, "write", err);
    *ret_id = sqlite3_column_int64(st, 0);
    rc = sqlite3_step(st);
    return rc == SQLITE_DONE ? 0 : dg_db_fail(s->db, s->path, rc, "write", err);
}

static int put_diagnosis(struct dg_store *s, int64_t attempt, const struct dg_store_entry *e, struct dg_err *err) {
    _cleanup_(dg_db_finalizep) sqlite3_stmt *st = NULL;
    int r =
        dg_db_prepare(s,
                      "INSERT INTO diagnoses(attempt_id, time, status, class, subclass, confidence, rule, fingerprint,"
                      " version, report) VALUES(:attempt, :time, :status, :class, :subclass, :confidence, :rule,"
                      " :fingerprint, :version, :report)",
                      &st, err);
    if (r) return r;
    dg_db_bind_int(st, ":attempt", attempt);
    dg_db_bind_double(st, ":time", dg_time_known(e->recorded) ? e->recorded : dg_time_now());
    dg_db_bind(st, ":status", e->status);
    dg_db_bind(st, ":class", e->class);
    dg_db_bind(st, ":subclass", e->subclass);
    dg_db_bind(st, ":confidence", e->confidence);
    dg_db_bind(st, ":rule", e->rule);
    dg_db_bind(st, ":fingerprint", e->fingerprint);
    dg_db_bind(st, ":version", e->version);
    dg_db_bind(st, ":report", e->report);
    return step_done(s, st, "write", err);
}

/* Never the attempt that was recorded last. */
static int forget(struct dg_store *s, const char *sql, double before, struct dg_err *err) {
    _cleanup_(dg_db_finalizep) sqlite3_stmt *st = NULL;
    int r = dg_db_prepare(s, sql, &st, err);
    if (r) return r;
    dg_db_bind_int(st, ":keep", s->latest);
    dg_db_bind_double(st, ":before", before);
    r = step_done(s, st, "prune", err);
    if (!r) s->gone += sqlite3_changes(s->db);
    return r;
}

/* The oldest tenth goes until there is room to spare. */
static int keep_size(struct dg_store *s, struct dg_err *err) {
    int64_t pages = 0, max = 0, free_pages = 0, before;
    int r;
    do {
        before = s->gone;
        r = dg_db_int(s, "PRAGMA page_count", 0, &pages, err);
        if (!r) r = dg_db_int(s, "PRAGMA max_page_count", 0, &max, err);
        if (!r) r = dg_db_int(s, "PRAGMA freelist_count", 0, &free_pages, err);
        if (!r && pages - free_pages > max - PAGES_SPARE)
            r = forget(s,
                       "DELETE FROM attempts WHERE id <> :keep AND id IN (SELECT id FROM attempts ORDER BY id"
                       " LIMIT (SELECT count(*) / 10 + 1 FROM attempts))",
                       0, err);
    } while (!r && s->gone > before);
    return r;
}

/* Age by the day of the last diagnosis, not of the launch: an old log that is diagnosed today is wanted. */
static int keep_caps(struct dg_store *s, struct dg_err *err) {
    int64_t n = 0;
    s->grown = 0;
    int r =
        forget(s, "DELETE FROM attempts WHERE id <> :keep AND seen < :before", dg_time_now() - AGE_MAX_SECONDS, err);
    /* Numbers rise: their span bounds the count without counting. */
    if (!r)
        r = dg_db_int(s, "SELECT ifnull(max(id) - (SELECT min(id) FROM attempts) + 1, 0) FROM attempts", 0, &n, err);
    if (!r && n > ATTEMPTS_MAX) r = dg_db_int(s, "SELECT count(*) FROM attempts", 0, &n, err);
    if (!r && n > ATTEMPTS_MAX)
        r = forget(s,
                   "DELETE FROM attempts WHERE id <> :keep AND id IN (SELECT id FROM attempts ORDER BY id"
                   " LIMIT (SELECT count(*) FROM attempts) - CAST(:before AS INTEGER))",
                   (double)ATTEMPTS_MAX, err);
    return r ? r : keep_size(s, err);
}

int dg_store_begin(struct dg_store *s, struct dg_err *err) {
    int r = dg_db_exec(s, "BEGIN IMMEDIATE", "write", err);
    s->batch = !r;
    s->gone = s->latest = 0;
    return r;
}

static int leave(struct dg_store *s, int r) {
    if (r) dg_db_rollback(s);
    s->batch = false;
    return r;
}

int dg_store_commit(struct dg_store *s, int64_t *ret_gone, struct dg_err *err) {
    int r = keep_caps(s, err);
    if (!r) r = dg_db_exec(s, "COMMIT", "write", err);
    if (!r) *ret_gone = s->gone;
    return leave(s, r);
}

static int record(struct dg_store *s, const struct dg_store_entry *e, struct dg_err *err) {
    int r = put_attempt(s, e, &s->latest, err);
    if (!r) r = put_diagnosis(s, s->latest, e, err);
    s->grown += e->report.len;
    return r || s->grown < BATCH_BYTES ? r : keep_caps(s, err);
}

int dg_store_record(struct dg_store *s, const struct dg_store_entry *e, int64_t *ret_id, struct dg_err *err) {
    bool alone = !s->batch;
    int64_t gone;
    int r = alone ? dg_store_begin(s, err) : 0;
    if (r) return r;
    r = record(s, e, err);
    if (r) return leave(s, r);
    if (alone) r = dg_store_commit(s, &gone, err);
    if (!r) *ret_id = s->latest;
    return r;
}

static int latest(struct dg_store *s, int64_t id, int64_t *ret, struct dg_err *err) {
    if (id) {
        *ret = id;
        return 0;
    }
    int r = dg_db_int(s, "SELECT attempt_id FROM diagnoses ORDER BY id DESC LIMIT 1", 0, ret, err);
    if (!r && !*ret) return dg_err_set(err, DG_E_NOTFOUND, 0, "history '%s' is empty", s->path);
    return r;
}

int dg_store_outcome(struct dg_store *s, int64_t id, struct dg_slice outcome, struct dg_slice note, int64_t *ret_id,
                     struct dg_err *err) {
    int64_t attempt;
    int r = latest(s, id, &attempt, err);
    if (r) return r;
    _cleanup_(dg_db_finalizep) sqlite3_stmt *st = NULL;
    r = dg_db_prepare(
        s, "UPDATE attempts SET outcome = :outcome, outcome_stated = 1, note = ifnull(:note, note) WHERE id = :id", &st,
        err);
    if (r) return r;
    dg_db_bind(st, ":outcome", outcome);
    dg_db_bind(st, ":note", note);
    dg_db_bind_int(st, ":id", attempt);
    r = step_done(s, st, "write", err);
    if (r) return r;
    if (!sqlite3_changes(s->db))
        return dg_err_set(err, DG_E_NOTFOUND, 0, "there is no attempt %lld in the history", (long long)attempt);
    *ret_id = attempt;
    return 0;
}

int dg_store_report(struct dg_store *s, int64_t id, struct dg_buf *out, int64_t *ret_id, struct dg_err *err) {
    int64_t attempt;
    int r = latest(s, id, &attempt, err);
    if (r) return r;
    _cleanup_(dg_db_finalizep) sqlite3_stmt *st = NULL;
    r = dg_db_prepare(s, "SELECT report FROM diagnoses WHERE attempt_id = :id ORDER BY id DESC LIMIT 1", &st, err);
    if (r) return r;
    dg_db_bind_int(st, ":id", attempt);
    int rc = sqlite3_step(st);
    if (rc == SQLITE_DONE)
        return dg_err_set(err, DG_E_NOTFOUND, 0, "there is no attempt %lld in the history", (long long)attempt);
    if (rc != SQLITE_ROW) return dg_db_fail(s->db, s->path, rc, "read", err);
    r = dg_buf_add_slice(out, dg_db_text(st, 0));
    if (r == -DG_E_NOMEM) return dg_err_nomem(err);
    if (r) return dg_err_set(err, DG_E_LIMIT, 0, "the report of attempt %lld is too large", (long long)attempt);
    *ret_id = attempt;
    return 0;
}
