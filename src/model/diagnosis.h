/* The outcome: attempt, causes, proposals, and all that a report prints. Made by reason (and the CLI's wiring), read by
 * report and store. Everything lives in the diagnosis' arena; unknown texts are {NULL,0}. Field names follow the JSON
 * of the report. */
#ifndef DG_MODEL_DIAGNOSIS_H
#define DG_MODEL_DIAGNOSIS_H

#include "model/device.h"
#include "model/finding.h"

enum dg_status { DG_STATUS_FAILURE, DG_STATUS_UNRECOGNISED, DG_STATUS_INCONCLUSIVE, DG_STATUS_HEALTHY };
const char *dg_status_name(enum dg_status s);
enum dg_confidence { DG_CERTAIN, DG_LIKELY, DG_POSSIBLE };
const char *dg_confidence_name(enum dg_confidence c);
enum dg_check { DG_CHECK_CONFIRMS, DG_CHECK_CONTRADICTS, DG_CHECK_NONE };
const char *dg_check_name(enum dg_check c); /* "confirms" "contradicts" "not-checked" */

struct dg_fact { /* everything known about the attempt: fact.NAME in rules */
    struct dg_slice name, value;
    uint32_t source;
    uint64_t line; /* 0: stated by the user */
};
struct dg_facts {
    struct dg_fact *v;
    uint32_t n;
};
/* Value of a fact; {NULL,0} when unknown. */
struct dg_slice dg_facts_get(const struct dg_facts *f, struct dg_slice name);

struct dg_choice {
    struct dg_slice axis, value;
};

struct dg_attempt {
    bool known; /* false: JSON null */
    struct dg_slice engine, engine_version, model, model_family, quantization, phase, command;
    int64_t tensor_parallel;    /* 0: unknown */
    int exit_code, exit_signal; /* -1: unknown */
    struct dg_choice *choices;
    uint32_t n_choices;
    struct dg_facts facts;
};

struct dg_evidence {
    uint32_t source; /* index into inputs; UINT32_MAX: none (device, history) */
    uint64_t line, end_line;
    uint64_t count; /* how often it stands there; 1 for once */
    struct dg_slice text;
    struct dg_slice role; /* role name, or "record" */
    struct dg_slice note; /* "the same on TP1, TP7", or empty */
};

struct dg_library { /* a file that the evidence names, as it is on this machine */
    struct dg_slice path;
    struct dg_strs architectures; /* "sm_90a", "ptx:90"; none: no GPU code */
    struct dg_slice verdict;      /* "does-not-load"; "unknown" without a GPU to judge for */
    struct dg_slice reason;
};

struct dg_cause {
    const struct dg_rule *rule; /* NULL: none (unrecognised, inconclusive) */
    struct dg_slice rule_id, class, subclass, title, summary;
    enum dg_confidence confidence;
    struct dg_evidence *evidence;
    uint32_t n_evidence;
    enum dg_check device_check;
    struct dg_slice *explains; /* rule ids of findings that it explains */
    uint32_t n_explains;
    struct dg_library *libraries;
    uint32_t n_libraries;
    const struct dg_finding *finding; /* the finding behind it, or NULL */
};

struct dg_proposal {
    struct dg_slice action; /* one imperative line, at most 100 characters */
    struct dg_slice kind, axis, value, command, reason, evidence, scope, cost, undo;
    struct dg_strs flags, packages, cautions;
    struct dg_set *environment;
    uint32_t n_environment;
};
struct dg_avoid {
    struct dg_slice action, reason;
};
struct dg_ruled_out {
    struct dg_slice class, reason;
};
struct dg_launch_line {
    uint32_t source;
    uint64_t first_line, last_line;
    struct dg_slice outcome; /* "failure" "unrecognised" "inconclusive" "healthy" "echo" */
    struct dg_slice summary; /* one line on it, or empty */
    bool passed_over;        /* an echo, or the first lines of a new start below a failure: not judged by itself */
};

struct dg_diagnosis {
    enum dg_status status;
    const struct dg_source *inputs;
    uint32_t n_inputs;
    uint32_t packs, rules_active, rules_rejected;
    struct dg_launch_line *launches;
    uint32_t n_launches, judged; /* judged: 1-based; 0: none */
    struct dg_attempt attempt;
    const struct dg_device *devices;
    uint32_t n_devices;
    struct dg_cause *causes;
    uint32_t n_causes;
    struct dg_ruled_out *ruled_out;
    uint32_t n_ruled_out;
    struct dg_strs not_checked;
    struct dg_strs joins;        /* how sources were joined, one line each */
    struct dg_slice free_first;  /* line 0 of Next: the check for what must be free; empty when that is known: */
    struct dg_strs before_retry; /* what the GPUs of this machine hold now; "sentence:  command" where there is one */
    struct dg_proposal *proposals;
    uint32_t n_proposals;
    struct dg_avoid *avoid;
    uint32_t n_avoid;
    struct dg_slice stub; /* ready-made rule stub when unrecognised, or empty */
    char fingerprint[33];
    int64_t recorded; /* id, 0: not recorded */
    const struct dg_scan *scan;
};

#endif
