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

    /* What the latest diagnosis says stands with its attempt too, so that a question to a long history reads an index
     * in order and stops, and pruning by age reads nothing else. */
    "ALTER TABLE attempts ADD COLUMN latest INTEGER;"
    "ALTER TABLE attempts ADD COLUMN seen REAL;"
    "ALTER TABLE attempts ADD COLUMN diagnoses INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempts ADD COLUMN class TEXT;"
    "ALTER TABLE attempts ADD COLUMN subclass TEXT;"
    "ALTER TABLE attempts ADD COLUMN rule TEXT;"
    "UPDATE attempts SET (latest, diagnoses) = (SELECT max(id), count(*) FROM diagnoses WHERE attempt_id = attempts.id);"
    "UPDATE attempts SET (seen, class, subclass, rule) = (SELECT time, class, subclass, rule FROM diagnoses WHERE id = latest);"
    "CREATE TRIGGER diagnoses_insert AFTER INSERT ON diagnoses BEGIN"
    " UPDATE attempts SET latest = new.id, seen = new.time, diagnoses = diagnoses + 1, class = new.class,"
    " subclass = new.subclass, rule = new.rule WHERE id = new.attempt_id;"
    " END;"
    "DROP INDEX attempts_tried;"
    "CREATE INDEX attempts_tried ON attempts(engine, model_family, quantization, cc_set, latest);"
    "CREATE INDEX attempts_latest ON attempts(latest);"
    "CREATE INDEX attempts_seen ON attempts(seen);"
    "CREATE INDEX attempts_class ON attempts(class, latest);"
    "CREATE INDEX attempts_engine ON attempts(engine, latest);"
    "CREATE INDEX attempts_rule ON attempts(rule, latest);",
};
const int dg_store_version = DG_COUNT(dg_store_steps);
