/* Rules as data. Made by pack (from YAML or from packs.bin), read-only afterwards; everything lives in the pack set's
 * arena. The meaning of each field is told in rules/README.md. */
#ifndef DG_MODEL_RULE_H
#define DG_MODEL_RULE_H

#include "base/dump.h"
#include "base/rare.h"
#include "base/slice.h"
#include "model/log.h"

enum dg_role {
    DG_ROLE_CAUSE,
    DG_ROLE_WRAPPER,
    DG_ROLE_CONSEQUENCE,
    DG_ROLE_CONFIRMATION,
    DG_ROLE_TEARDOWN,
    DG_ROLE_NOISE,
    DG_ROLE_RECOVERED,
    DG_ROLE_FACT,
    DG_ROLE_COUNT
};
const char *dg_role_name(enum dg_role r);

enum dg_cap_type {
    DG_CAP_TEXT,
    DG_CAP_INT,
    DG_CAP_FLOAT,
    DG_CAP_BYTES,
    DG_CAP_CC,
    DG_CAP_CC_SET,
    DG_CAP_VERSION,
    DG_CAP_PID,
    DG_CAP_PCI,
    DG_CAP_PATH,
    DG_CAP_INT_LIST,
    DG_CAP_COUNT
};
const char *dg_cap_type_name(enum dg_cap_type t);

struct dg_strs { /* list of texts */
    struct dg_slice *v;
    uint32_t n;
};

/* A message matches when it contains `lit` and matches `re` (empty: no regex). `id` is unique over the whole set and
 * indexes the compiled patterns of match. */
struct dg_pattern {
    struct dg_slice lit, re;
    bool long_window;    /* regex sees 256 KiB instead of 4 KiB around the literal */
    bool garbage;        /* what the capture `answer` holds is no language (match/smoke.h) */
    struct dg_rare rare; /* by what `lit` is sought */
    uint32_t id;
    uint32_t rule;  /* index of its rule */
    uint8_t part;   /* position in the rule's list */
    bool negative;  /* from `not` */
    bool opens_end; /* from opens.until */
};

enum dg_match_mode { DG_MATCH_ANY, DG_MATCH_ALL, DG_MATCH_SEQUENCE };
enum dg_opens_as { DG_OPENS_NONE, DG_OPENS_UNTIL, DG_OPENS_TEXT, DG_OPENS_PYTHON_STR, DG_OPENS_JSON_STR };
enum dg_ends { DG_ENDS_NONE, DG_ENDS_CLEAN, DG_ENDS_DEATH };

struct dg_capdef {
    struct dg_slice name;
    enum dg_cap_type type;
    bool key;
};
struct dg_set { /* set: NAME: VALUE */
    struct dg_slice name, value;
};
struct dg_parse {
    struct dg_slice capture;
    enum dg_parse_as as;
};
enum dg_op { DG_OP_EQ, DG_OP_NE, DG_OP_LT, DG_OP_LE, DG_OP_GT, DG_OP_GE, DG_OP_IN, DG_OP_NOT_IN, DG_OP_LOADS_ON };
/* Operands stay text: NAME of a capture, device.X, fact.X, a number, 'text' in quotes, or null. */
struct dg_cond {
    struct dg_slice left, right;
    enum dg_op op;
};
struct dg_conds {
    struct dg_cond *v;
    uint32_t n;
};
struct dg_for { /* engine and version range ('*': any) */
    struct dg_slice engine, range;
};
struct dg_fors {
    struct dg_for *v;
    uint32_t n;
};
struct dg_reject {
    struct dg_slice axis, value, on, how;
};
struct dg_action {
    struct dg_slice propose; /* axis: ask the catalog; then only if/for count */
    struct dg_slice text, kind, flag, value, command, because, evidence, scope, cost, undo, axis;
    struct dg_strs flags, packages, cautions;
    struct dg_set *env;
    uint32_t n_env;
    struct dg_conds when;
    struct dg_fors fors;
};
struct dg_avoid_def {
    struct dg_slice text, because;
};
struct dg_example {
    struct dg_slice text, device, expect; /* device, expect: empty when not given */
    struct dg_set *captures;
    uint32_t n_captures;
    int kind; /* enum dg_kind or -1 */
};

struct dg_rule {
    struct dg_slice id;                           /* "pack/name" */
    struct dg_slice pack, title, class, subclass; /* class empty unless cause */
    enum dg_role role;
    bool symptom;   /* its subclass yields to any that does not */
    uint32_t kinds; /* DG_KIND_BITs that it reads */
    struct dg_fors fors;
    enum dg_match_mode mode;
    bool at_first;
    struct dg_pattern *patterns; /* positive ones first */
    uint32_t n_patterns, n_positive;
    uint32_t within_lines;
    double within_seconds; /* NaN: no limit */
    bool within_process;
    struct dg_capdef *captures;
    uint32_t n_captures;
    bool has_confirms, has_contradicts;
    struct dg_cond confirms, contradicts;
    struct dg_reject *rejects;
    uint32_t n_rejects;
    struct dg_strs refines, explains, recovers, suggests, refs;
    struct dg_slice but, summary, why, checked, status;
    struct dg_action *actions;
    uint32_t n_actions;
    struct dg_avoid_def *avoid;
    uint32_t n_avoid;
    enum dg_opens_as opens;
    struct dg_slice opens_capture;
    struct dg_pattern *opens_until;
    uint32_t opens_lines;
    bool begins_episode, pulse;
    enum dg_ends ends;
    struct dg_parse *parse;
    uint32_t n_parse;
    struct dg_set *set;
    uint32_t n_set;
    struct dg_example *examples; /* empty when loaded from packs.bin */
    uint32_t n_examples;
    struct dg_strs near, known_gap;
    struct dg_slice file; /* where it was read */
    unsigned line;
};

struct dg_subclass {
    struct dg_slice name, title;
    bool symptom;
};
struct dg_class {
    struct dg_slice name, title, explain;
    struct dg_subclass *sub;
    uint32_t n_sub;
};

/* All active rules, in load order. */
struct dg_ruleset {
    struct dg_rule *rules;
    uint32_t n_rules;
    uint32_t n_patterns; /* ids are 0..n_patterns-1 */
    struct dg_pattern **patterns;
    struct dg_class *classes;
    uint32_t n_classes;
    uint32_t n_packs, n_rejected; /* rejected: rules that could not be used */
};
/* Not stable yet: it proves nothing by itself. */
bool dg_rule_on_trial(const struct dg_rule *rule);
/* Does it go by words of a sentence that it does not know? A cause on trial whose subclass is a symptom. */
bool dg_rule_guesses(const struct dg_rule *rule);
/* NULL when there is no such rule / class. */
const struct dg_rule *dg_ruleset_find(const struct dg_ruleset *rs, struct dg_slice id);
const struct dg_class *dg_ruleset_class(const struct dg_ruleset *rs, struct dg_slice name);
/* Does `id` or class equal or match the glob / class:NAME list? (`refines`, `explains`, `recovers`) */
bool dg_rule_named(const struct dg_strs *list, const struct dg_rule *rule);
/* Does the list of engines and ranges admit this engine and version? Empty list: yes. Unknown engine or version: yes.
 */
bool dg_fors_admit(const struct dg_fors *f, struct dg_slice engine, struct dg_slice version);

#endif
