#include "store/db.h"

/* A step never changes once it was released: a new one is added below it. */
const char *const dg_store_steps[] = {
    "CREATE TABLE attempts("
    " id INTEGER PRIMARY KEY AUTOINCREMENT," /* a pruned number is not given again */
    " key TEXT NOT NULL UNIQUE,"
    " time REAL NOT NULL,"
    " engine TEXT, engine_version TEXT, model TEXT, model_family TEXT, quantization TEXT,"
    " devices TEXT, cc_set TEXT,"
    " choices TEXT NOT NULL DEFAULT '{}',"
    " rejects TEXT NOT NULL DEFAULT '[]',"
    " outcome TEXT NOT NULL,"
    " outcome_stated INTEGER NOT NULL DEFAULT 0,"
    " note TEXT"
    ") STRICT;"
    "CREATE TABLE diagnoses("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " attempt_id INTEGER NOT NULL REFERENCES attempts(id) ON DELETE CASCADE,"
    " time REAL NOT NULL,"
    " status TEXT NOT NULL,"
    " class TEXT, subclass TEXT, confidence TEXT, rule TEXT, fingerprint TEXT,"
    " version TEXT NOT NULL,"
    " report TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX diagnoses_attempt ON diagnoses(attempt_id);",

    "CREATE INDEX attempts_tried ON attempts(engine, model_family, quantization, cc_set);",
};
const int dg_store_version = DG_COUNT(dg_store_steps);
