/* From findings to a diagnosis: launches, causes, device check, proposals. Pure: no I/O, no environment. */
#ifndef DG_REASON_H
#define DG_REASON_H

#include "catalog/catalog.h"
#include "model/diagnosis.h"

/* What history says that counts for this attempt (store makes it, the CLI hands it over). */
struct dg_tried {
    struct dg_slice axis, value;
    struct dg_slice outcome; /* works garbage fails slow started */
    struct dg_slice engine_version;
    double age_days;
    bool same_key; /* capability set, engine, version, model family, quantization agree */
};
struct dg_history_view {
    struct dg_tried *v;
    uint32_t n;
};

struct dg_reason_opts {
    const struct dg_ruleset *rules;
    struct dg_catalog *catalog; /* may be NULL: no backend proposals */
    const struct dg_scan *scan;
    const struct dg_devices *devices;      /* stated or live; may be NULL */
    bool device_stated, device_refused;    /* --device / --no-device */
    const struct dg_history_view *history; /* may be NULL; used by dg_propose */
    struct dg_slice engine, command;       /* stated by --engine, --command; or empty */
    int exit_code, exit_signal;            /* known from `run`; -1 */
    bool was_ready;                        /* `run` saw a line that says so, be it one that no rule knows */
    uint32_t launch;                       /* --launch N, 1-based; 0: choose */
};

/* Judge. 0: *ret lives in `arena`. -DG_E_NOMEM; -DG_E_NOTFOUND: no launch of that number. Proposals are not made yet.
 */
int dg_reason(const struct dg_reason_opts *opts, struct dg_arena *arena, struct dg_diagnosis **ret, struct dg_err *err);
/* Fill proposals, avoid and free_first of `d`, using opts->catalog and opts->history. 0 or -DG_E_NOMEM. */
int dg_propose(const struct dg_reason_opts *opts, struct dg_arena *arena, struct dg_diagnosis *d);
/* Absolute paths of shared libraries and wheels that the record of the first cause names: in its evidence, and in what
 * rules captured as `library` in its record or its native stack. Into `out`, at most `max`, each once; they live in
 * `arena`. Only for causes that such a file can explain; a path proves nothing about what is there. */
size_t dg_named_libraries(const struct dg_diagnosis *d, struct dg_arena *arena, const char **out, size_t max);
/* Exit status of a diagnosis (design.md section 3): 0, 1 or 3. */
int dg_reason_exit(const struct dg_diagnosis *d);

#endif
