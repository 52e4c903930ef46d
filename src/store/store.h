/* History in SQLite: attempts (launches of a server), their diagnoses with the JSON of each report, and outcomes.
 *
 * One file; two tables, `attempts` and `diagnoses`. An attempt is found again by its key, so diagnosing one log twice
 * makes one attempt with two diagnoses. Caps: 100,000 attempts, 256 MiB, 2 years; the oldest go first. Every failure is
 * a code and one plain sentence: history never stops a diagnosis.
 *
 * LIMITATIONS: texts are stored as given; masking secrets is the caller's duty. Who writes waits five seconds for
 * another who does; a long batch makes the others fail with -DG_E_BUSY. */
#ifndef DG_STORE_H
#define DG_STORE_H

#include "base/buf.h"
#include "base/err.h"

struct dg_store;
enum dg_store_mode { DG_STORE_READ, DG_STORE_WRITE };

/* Open (WRITE: create with 0600 in a 0700 folder, migrate). -DG_E_NOTFOUND (READ, absent), -DG_E_UNSUPPORTED (made by a
 * newer version, or READ of an older one that cannot be migrated), -DG_E_IO, -DG_E_BUSY, -DG_E_SYNTAX (corrupt, or no
 * history at all). */
int dg_store_open(const char *path, enum dg_store_mode mode, struct dg_store **ret, struct dg_err *err);
void dg_store_close(struct dg_store *s); /* NULL is allowed */
static inline void dg_store_closep(struct dg_store **s) { dg_store_close(*s); }

/* What is recorded of one diagnosis. Borrowed; empty texts are stored as unknown. `choices` is a JSON object axis ->
 * value, `rejects` a JSON array of {"axis","value"}: the choices that the cause proves not to work. */
struct dg_store_entry {
    struct dg_slice key; /* hash of arguments, start time and first bytes: the same launch has the same key */
    double time;         /* start of the launch, epoch; NaN: now */
    double recorded;     /* when it was diagnosed, epoch; NaN: now */
    struct dg_slice engine, engine_version, model, model_family, quantization;
    struct dg_slice devices; /* one line: "8 x 12.0 NVIDIA RTX PRO 6000" */
    struct dg_slice cc_set;  /* "12.0" or "8.6,12.0" */
    struct dg_slice choices, rejects;
    struct dg_slice outcome; /* fails started works garbage slow stopped unknown */
    bool outcome_stated;     /* by a person: stands over what later diagnoses of this attempt say */
    struct dg_slice note;
    struct dg_slice status, class, subclass, confidence, rule, fingerprint;
    struct dg_slice version; /* of the tool */
    struct dg_slice report;  /* JSON */
};
/* One transaction: the attempt (found again by `key`, else new) and one diagnosis; then the caps are kept. *ret_id: the
 * attempt's number, never used twice. */
int dg_store_record(struct dg_store *s, const struct dg_store_entry *e, int64_t *ret_id, struct dg_err *err);

/* Many recordings in one transaction: all of them are there after the commit, none when a recording failed or the store
 * was closed before it. *ret_gone: attempts that went by the caps, new ones among them. */
int dg_store_begin(struct dg_store *s, struct dg_err *err);
int dg_store_commit(struct dg_store *s, int64_t *ret_gone, struct dg_err *err);

/* Latest report of attempt `id` (0: of the attempt diagnosed last), appended to `out`; *ret_id is its attempt.
 * -DG_E_NOTFOUND. */
int dg_store_report(struct dg_store *s, int64_t id, struct dg_buf *out, int64_t *ret_id, struct dg_err *err);

struct dg_history_filter {
    const char *class, *engine, *model, *outcome, *rule,
        *text;     /* NULL: any. class: "a" or "a/b"; model, text: part of it */
    double since;  /* epoch; NaN: any */
    int64_t id;    /* 0: any */
    int64_t limit; /* 0: 50; -1: all */
    bool reports;  /* fill `report` */
};
struct dg_history_row { /* texts live until the callback returns; empty when unknown */
    int64_t id, diagnoses;
    double time, recorded;
    bool outcome_stated;
    struct dg_slice key, engine, engine_version, model, model_family, quantization, devices, cc_set, choices, rejects,
        outcome, note;
    struct dg_slice status, class, subclass, confidence, rule, fingerprint, version,
        report; /* of the latest diagnosis */
};
typedef bool dg_history_fn(void *ctx, const struct dg_history_row *row); /* false: stop */
/* Attempts, the one diagnosed last first. */
int dg_store_history(struct dg_store *s, const struct dg_history_filter *f, dg_history_fn *row, void *ctx,
                     struct dg_err *err);

/* Attempts of the same capability set, engine, model family and quantization: what was tried already. Latest first,
 * 1,000 at most. */
struct dg_store_like {
    struct dg_slice cc_set, engine, model_family, quantization;
};
int dg_store_tried(struct dg_store *s, const struct dg_store_like *like, dg_history_fn *row, void *ctx,
                   struct dg_err *err);

/* A person's word on attempt `id` (0: the one diagnosed last). *ret_id. -DG_E_NOTFOUND. */
int dg_store_outcome(struct dg_store *s, int64_t id, struct dg_slice outcome, struct dg_slice note, int64_t *ret_id,
                     struct dg_err *err);

#endif
