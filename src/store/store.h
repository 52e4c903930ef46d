/* History in SQLite: attempts, diagnoses (the JSON of each report), causes, proposals, outcomes. */
#ifndef DG_STORE_H
#define DG_STORE_H

#include "base/buf.h"
#include "base/err.h"
#include "model/diagnosis.h"

struct dg_store;
enum dg_store_mode { DG_STORE_READ, DG_STORE_WRITE };

/* Open (WRITE: create with 0600 in a 0700 folder, migrate). -DG_E_NOTFOUND (READ, absent), -DG_E_UNSUPPORTED (made by a newer version),
 * -DG_E_IO, -DG_E_BUSY, -DG_E_SYNTAX (corrupt); err is a plain sentence. */
int dg_store_open(const char *path, enum dg_store_mode mode, struct dg_store **ret, struct dg_err *err);
void dg_store_close(struct dg_store *s);

/* One transaction: the attempt (found again by `key`, else new), one diagnosis with its report. *ret_id: the attempt's number. */
struct dg_store_entry {
    struct dg_slice key;    /* hash of arguments dump, start time, first 64 KiB: the same launch has the same key */
    double time;
    struct dg_slice devices; /* capability set and names, one line: "8 x 12.0 NVIDIA RTX PRO 6000" */
    struct dg_slice cc_set;  /* "12.0" or "8.6,12.0" */
    struct dg_slice outcome; /* fails started works garbage slow stopped unknown */
    struct dg_slice report;  /* JSON; its recorded.id is patched by the reader */
    struct dg_slice version; /* of the tool */
};
int dg_store_record(struct dg_store *s, const struct dg_diagnosis *d, const struct dg_store_entry *e, int64_t *ret_id, struct dg_err *err);

/* Latest report of attempt `id` (0: of the newest attempt), appended to `out`; *ret_id is its attempt. -DG_E_NOTFOUND. */
int dg_store_report(struct dg_store *s, int64_t id, struct dg_buf *out, int64_t *ret_id, struct dg_err *err);

struct dg_history_filter {
    const char *class, *engine, *model, *outcome, *rule, *text; /* NULL: any */
    double since;  /* epoch; NaN: any */
    int64_t limit; /* 0: 50; -1: all */
};
struct dg_history_row { /* texts live until the callback returns; empty when unknown */
    int64_t id, diagnoses;
    double time;
    struct dg_slice engine, engine_version, model, devices, class, subclass, confidence, outcome, choices_json;
};
/* Newest first. The callback returns false to stop. */
int dg_store_history(struct dg_store *s, const struct dg_history_filter *f, bool (*row)(void *ctx, const struct dg_history_row *r),
                     void *ctx, struct dg_err *err);
/* Set the outcome of attempt `id` (0: newest). *ret_id. -DG_E_NOTFOUND. */
int dg_store_outcome(struct dg_store *s, int64_t id, struct dg_slice outcome, struct dg_slice note, int64_t *ret_id, struct dg_err *err);

#endif
