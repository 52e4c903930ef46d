/* A history in a folder of its own, and rows to record in it. */
#ifndef DG_TESTS_STORE_FIXTURE_H
#define DG_TESTS_STORE_FIXTURE_H

#include "folder_fixture.h"
#include "base/timex.h"
#include "store/db.h"

/* In a folder that is not there yet. */
static inline const char *store_path(void) { return folder_at("state/diagnose/history.db"); }

static inline struct dg_store *store_opened(enum dg_store_mode mode) {
    struct dg_store *s = NULL;
    struct dg_err err = {0};
    if (dg_store_open(store_path(), mode, &s, &err)) fail_msg("%s", err.msg);
    return s;
}

/* Of an attempt whose launch began at the epoch's 1000th second; diagnosed now. */
static inline struct dg_store_entry store_entry(const char *key, const char *class, const char *outcome) {
    return (struct dg_store_entry){.key = dg_cstr(key),
                                   .time = 1000,
                                   .recorded = DG_TIME_NONE,
                                   .engine = DG_S("sglang"),
                                   .engine_version = DG_S("0.5.9"),
                                   .model = DG_S("GLM-5"),
                                   .model_family = DG_S("Glm"),
                                   .quantization = DG_S("modelopt_fp4"),
                                   .devices = DG_S("8 x 12.0"),
                                   .cc_set = DG_S("12.0"),
                                   .choices = DG_S("{\"a\":\"b\"}"),
                                   .outcome = dg_cstr(outcome),
                                   .status = DG_S("failure"),
                                   .class = dg_cstr(class),
                                   .subclass = DG_S("sm-guard"),
                                   .confidence = DG_S("certain"),
                                   .rule = DG_S("sglang/x"),
                                   .version = DG_S("1"),
                                   .report = DG_S("{\"r\":1}")};
}

static inline int64_t store_number(struct dg_store *s, const char *sql) {
    int64_t n = -1;
    struct dg_err err = {0};
    if (dg_db_int(s, sql, 0, &n, &err)) fail_msg("%s", err.msg);
    return n;
}

/* The file is sound, and an attempt and its diagnosis came together or not at all. */
static inline void store_assert_sound(struct dg_store *s) {
    _cleanup_(dg_db_finalizep) sqlite3_stmt *st = NULL;
    assert_int_equal(dg_db_prepare(s, "PRAGMA integrity_check", &st, NULL), 0);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    assert_true(dg_slice_is(dg_db_text(st, 0), "ok"));
    assert_int_equal(
        store_number(s, "SELECT count(*) FROM attempts WHERE id NOT IN (SELECT attempt_id FROM diagnoses)"), 0);
}

#endif
