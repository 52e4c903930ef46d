#include "store/db.h"

static int code_of(int rc) {
    switch (rc & 0xff) {
    case SQLITE_NOMEM: return DG_E_NOMEM;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return DG_E_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return DG_E_SYNTAX;
    case SQLITE_FULL:
    case SQLITE_TOOBIG: return DG_E_LIMIT;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_IOERR: return DG_E_IO;
    default: return DG_E_INTERNAL;
    }
}

/* SQLite's own words are right but terse; these say what a person can do about it. */
static const char *reason_of(sqlite3 *db, int rc) {
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "another diagnose holds it";
    case SQLITE_CORRUPT: return "the file is damaged";
    case SQLITE_NOTADB: return "the file is no history of diagnose";
    case SQLITE_READONLY: return "it is read-only";
    case SQLITE_FULL: return "the disk or its size limit is full";
    default: return db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
    }
}

int dg_db_fail(sqlite3 *db, const char *path, int rc, const char *doing, struct dg_err *err) {
    int code = code_of(rc);
    if (code == DG_E_NOMEM) return dg_err_nomem(err);
    int sys = code == DG_E_IO && db ? sqlite3_system_errno(db) : 0;
    if (sys) return dg_err_set(err, code, sys, "cannot %s history '%s'", doing, path);
    return dg_err_set(err, code, 0, "cannot %s history '%s': %s", doing, path, reason_of(db, rc));
}

int dg_db_exec(struct dg_store *s, const char *sql, const char *doing, struct dg_err *err) {
    int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : dg_db_fail(s->db, s->path, rc, doing, err);
}

int dg_db_prepare(struct dg_store *s, const char *sql, sqlite3_stmt **ret, struct dg_err *err) {
    int rc = sqlite3_prepare_v2(s->db, sql, -1, ret, NULL);
    return rc == SQLITE_OK ? 0 : dg_db_fail(s->db, s->path, rc, "read", err);
}

int dg_db_int(struct dg_store *s, const char *sql, int64_t otherwise, int64_t *ret, struct dg_err *err) {
    _cleanup_(dg_db_finalizep) sqlite3_stmt *st = NULL;
    int r = dg_db_prepare(s, sql, &st, err);
    if (r) return r;
    int rc = sqlite3_step(st);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) return dg_db_fail(s->db, s->path, rc, "read", err);
    *ret = rc == SQLITE_ROW ? sqlite3_column_int64(st, 0) : otherwise;
    return 0;
}

void dg_db_bind(sqlite3_stmt *st, const char *name, struct dg_slice text) {
    int at = sqlite3_bind_parameter_index(st, name);
    if (text.len) sqlite3_bind_text64(st, at, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

void dg_db_bind_int(sqlite3_stmt *st, const char *name, int64_t v) {
    sqlite3_bind_int64(st, sqlite3_bind_parameter_index(st, name), v);
}

void dg_db_bind_double(sqlite3_stmt *st, const char *name, double v) {
    sqlite3_bind_double(st, sqlite3_bind_parameter_index(st, name), v);
}

struct dg_slice dg_db_text(sqlite3_stmt *st, int column) {
    const void *text = sqlite3_column_text(st, column);
    return dg_slice(text, text ? (size_t)sqlite3_column_bytes(st, column) : 0);
}

void dg_db_rollback(struct dg_store *s) { sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); }
