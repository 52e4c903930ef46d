/* Inside of store: the connection, statements, and how SQLite's failures are told. */
#ifndef DG_STORE_DB_H
#define DG_STORE_DB_H

#include "store/store.h"
#include "base/mem.h"
#include <sqlite3.h>

struct dg_store {
    sqlite3 *db;
    char *path;
    bool batch;     /* between dg_store_begin() and dg_store_commit() */
    int64_t gone;   /* attempts that the caps took since it began */
    int64_t latest; /* attempt recorded last */
    size_t grown;   /* bytes of reports since the caps were looked at */
};

/* Steps of the schema: step i brings a database of `user_version` i to i + 1. */
extern const char *const dg_store_steps[];
extern const int dg_store_version; /* number of steps */

/* The last failure of the connection as a code and a sentence: "cannot DO: reason". `rc` is what SQLite returned. */
int dg_db_fail(sqlite3 *db, const char *path, int rc, const char *doing, struct dg_err *err);
int dg_db_exec(struct dg_store *s, const char *sql, const char *doing, struct dg_err *err);
/* The first column of the first row; `otherwise` when there is none. */
int dg_db_int(struct dg_store *s, const char *sql, int64_t otherwise, int64_t *ret, struct dg_err *err);
int dg_db_prepare(struct dg_store *s, const char *sql, sqlite3_stmt **ret, struct dg_err *err);
static inline void dg_db_finalizep(sqlite3_stmt **st) { sqlite3_finalize(*st); }

/* Empty texts are bound as NULL. The bytes must live until the statement has run. */
void dg_db_bind(sqlite3_stmt *st, const char *name, struct dg_slice text);
void dg_db_bind_int(sqlite3_stmt *st, const char *name, int64_t v);
void dg_db_bind_double(sqlite3_stmt *st, const char *name, double v);
struct dg_slice dg_db_text(sqlite3_stmt *st, int column);

/* Leave a transaction that failed; its own failure does not matter. */
void dg_db_rollback(struct dg_store *s);

#endif
