/* What the parts of reason share while one diagnosis is made. Private to this folder.
 *
 * Memory comes from the diagnosis' arena. A failed allocation sets `failed` and yields NULL, {NULL,0} or a list that
 * does not grow; dg_reason() looks at `failed` once at its end. */
#ifndef DG_REASON_JUDGE_H
#define DG_REASON_JUDGE_H

#include "reason/reason.h"
#include "base/mem.h"

#define DG_MAX_CAUSES 4u
#define DG_MAX_CANDIDATES 256u
#define DG_MAX_EVIDENCE 12u
#define DG_MAX_PROPOSALS 8u

/* Why a cause finding is no candidate, or how it came to be one. */
enum dg_fate {
    DG_FATE_OTHER,     /* no cause, or not of this episode */
    DG_FATE_OPEN,      /* a candidate */
    DG_FATE_RECOVERED, /* a sign of service, or a fallback, followed */
    DG_FATE_NOISE,     /* the same record is known to be harmless */
    DG_FATE_ENGINE,    /* the rule is for another engine or version */
    DG_FATE_UNRELATED, /* kernel side: another process or another time */
    DG_FATE_UNALIGNED, /* kernel side: its clock cannot be brought to the server's */
    DG_FATE_OUTLIVED,  /* the launch went on after it: a candidate when nothing else is */
    DG_FATE_ECHO       /* a better candidate refines or explains it */
};

/* The launches that are judged together (one, or one of each server source), and what their findings are worth. */
struct dg_episode {
    bool *in;        /* per launch of the scan */
    uint32_t *f, *t; /* its findings and its fatal records, with those of sources that have no launch; in order */
    uint32_t n_f, n_t;
    uint32_t main; /* the launch it is named after; UINT32_MAX: there is none */
    bool any;      /* a launch belongs to it */
    double first_time, last_time;
};

/* Which findings (fatal records) belong to which launch: those of launch i are v[from[i]] to v[from[i + 1] - 1], in
 * order; the last bucket is of no launch. */
struct dg_by_launch {
    uint32_t *from, *v;
};

struct dg_judge {
    const struct dg_reason_opts *opts;
    const struct dg_scan *scan;
    struct dg_arena *arena;
    struct dg_diagnosis *d;
    struct dg_episode ep;
    struct dg_by_launch findings, fatals;
    struct dg_units *units; /* per source: whose lines are the server's own */
    enum dg_fate *fate;     /* per finding */
    uint32_t *beaten_by;    /* per finding: the candidate that makes it an echo; UINT32_MAX */
    uint32_t *rank;         /* candidates, best first */
    uint32_t n_rank;
    bool telling; /* the judged episode is at work: say how sources were joined */
    bool zoned;   /* a join holds only if the clocks are whole half hours apart */
    bool guessed; /* a join holds by a name, within a long silence */
    bool failed;
};

/* Over the findings (fatal records) of the judged episode; not to be nested in one function. */
#define DG_EACH_FINDING(j, i)                                                                                          \
    for (uint32_t at_##i = 0, i = 0; at_##i < (j)->ep.n_f && (i = (j)->ep.f[at_##i], true); at_##i++)
#define DG_EACH_FATAL(j, i)                                                                                            \
    for (uint32_t at_##i = 0, i = 0; at_##i < (j)->ep.n_t && (i = (j)->ep.t[at_##i], true); at_##i++)

/* judge.c: memory and texts */
void *dg_judge_alloc(struct dg_judge *j, size_t size);
struct dg_slice dg_judge_say(struct dg_judge *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool dg_judge_grow(struct dg_judge *j, void *v_ptr, uint32_t n, size_t item);
/* Append to a list of the diagnosis: its room is the next power of two, so no capacity is kept. */
#define DG_LIST_ADD(j, v, n, item)                                                                                     \
    do {                                                                                                               \
        if (dg_judge_grow((j), &(v), (n), sizeof(*(v)))) (v)[(n)++] = (item);                                          \
    } while (0)
void dg_judge_add_text(struct dg_judge *j, struct dg_strs *list, struct dg_slice text); /* once each */
const char *dg_judge_source(const struct dg_judge *j, uint32_t source);                 /* its name in a sentence */

/* template.c: operands, templates, value functions and conditions of rules */
struct dg_scope {
    const struct dg_diagnosis *d;
    const struct dg_finding *finding; /* captures; NULL: none */
    const struct dg_device *device;   /* NULL: the first of the diagnosis */
    struct dg_slice value;            /* {value} */
};
struct dg_operand {
    struct dg_slice text;
    enum dg_cap_type type;
    bool known;
};
struct dg_operand dg_operand_find(const struct dg_scope *s, struct dg_slice name, char buf[64]);
/* What the finding's message names, of `what`: "flag" (--max-num-seqs), "variable" (VLLM_USE_V1) or "option"
 * (max_num_seqs, the first two). {NULL,0}: nothing. Points into the finding or into buf. */
struct dg_slice dg_named_in(const struct dg_finding *f, struct dg_slice what, char buf[64]);
/* Filled template; {NULL,0} when an operand without a default is unknown. */
struct dg_slice dg_template_fill(struct dg_judge *j, const struct dg_scope *s, struct dg_slice text);
/* Result of a value expression as text; {NULL,0} when an operand is missing or the result is no number. */
struct dg_slice dg_value_eval(struct dg_judge *j, const struct dg_scope *s, struct dg_slice expr);
/* 1 it holds, 0 it does not, -1 an operand is unknown. */
int dg_cond_eval(const struct dg_scope *s, const struct dg_cond *c);
bool dg_conds_hold(const struct dg_scope *s, const struct dg_conds *c);

/* facts.c */
void dg_facts_collect(struct dg_judge *j);
void dg_choices_settle(struct dg_judge *j); /* after the devices: what `auto` means depends on them */
struct dg_cat_key dg_judge_key(const struct dg_judge *j);
struct dg_cc dg_judge_cc(const struct dg_judge *j);
struct dg_slice dg_fact(const struct dg_judge *j, const char *name);
/* launches.c */
int dg_launches_choose(struct dg_judge *j, struct dg_err *err); /* fills ep, d->launches, d->judged */
bool dg_kernel_side(const struct dg_judge *j, const struct dg_finding *f);
/* units.c */
bool dg_units_learn(struct dg_judge *j);                             /* false: no memory */
bool dg_foreign(const struct dg_judge *j, const struct dg_place *p); /* printed by another service of the host? */
/* causes.c */
void dg_causes_rank(struct dg_judge *j);
bool dg_service_followed(const struct dg_judge *j, const struct dg_finding *f);
bool dg_same_process(const struct dg_place *a, const struct dg_place *b);
/* How unsure of itself its rule is: one that tells what it looks like, more than one on trial; 0: neither. */
int dg_doubtful(const struct dg_finding *f);
bool dg_same_record(const struct dg_finding *a, const struct dg_finding *b);
/* Does the rule name the other one itself as its echo, not only its class? */
bool dg_explains_by_name(const struct dg_rule *rule, const struct dg_rule *other);
/* progress.c */
bool dg_in_fatal_record(const struct dg_judge *j, const struct dg_place *p);
bool dg_breaks_service(const struct dg_rule *rule);
bool dg_serves_in_spite_of(const struct dg_judge *j, const struct dg_finding *f);
bool dg_outlived(const struct dg_judge *j, const struct dg_finding *f);
/* Does the program itself call it less than an error? */
bool dg_mild(const struct dg_judge *j, const struct dg_finding *f);
/* Does the episode show no more than the first lines of a start: no trouble, and no phase behind the arguments? */
bool dg_only_begun(const struct dg_judge *j);
/* kernel.c */
void dg_kernel_join(struct dg_judge *j);
double dg_place_time(const struct dg_judge *j, const struct dg_place *p);
/* device.c */
void dg_devices_settle(struct dg_judge *j);
enum dg_check dg_device_check(struct dg_judge *j, const struct dg_finding *f); /* says so where it cannot tell */
bool dg_device_denies(const struct dg_judge *j, const struct dg_finding *f);   /* the same, silently */
bool dg_same_machine(const struct dg_judge *j); /* did the machine with the live GPUs write the log? */
/* holding.c: the first cause is other-process where the numbers say so */
void dg_holding_settle(struct dg_judge *j);
/* confidence.c */
enum dg_confidence dg_confidence_of(struct dg_judge *j, const struct dg_finding *f, enum dg_check check);
/* evidence.c */
bool dg_confirms(const struct dg_judge *j, const struct dg_finding *f,
                 const struct dg_finding *g); /* is g a confirmation of cause f? */
void dg_evidence_collect(struct dg_judge *j, struct dg_cause *c);
struct dg_evidence dg_evidence_at(const struct dg_place *p, struct dg_slice role);
/* fallback.c */
bool dg_ended_on_request(const struct dg_judge *j); /* it had served, and ended in order */
const struct dg_finding *dg_death_echo(
    const struct dg_judge *j); /* the first finding that tells of the death, or NULL */
bool dg_record_holds(const struct dg_fatal *f, const struct dg_place *p);
bool dg_unexplained(const struct dg_judge *j);       /* a fatal record that no rule explains */
enum dg_status dg_launch_status(struct dg_judge *j); /* of the launches in ep, after dg_causes_rank() */
/* The failure that no rule knows and that casts doubt on the cause: it stands before it, or it ended the launch and the
 * cause was only said in passing. NULL: none. */
const struct dg_fatal *dg_doubt_on(const struct dg_judge *j, const struct dg_finding *cause);
void dg_fallback(struct dg_judge *j); /* the cause without a rule: best evidence, stub */
/* ending.c: false when the ending says nothing, or nobody saw it */
bool dg_ending_status(const struct dg_judge *j, bool served, enum dg_status *ret);
bool dg_ending_cause(struct dg_judge *j, struct dg_cause *c);
bool dg_ending_seen(const struct dg_judge *j); /* by `run`, which also has the whole log */
/* It ended with a status, or by a signal, that no stop on request leaves. */
bool dg_ending_bad(const struct dg_judge *j);
/* ruledout.c, notchecked.c, fingerprint.c */
bool dg_judge_has_kind(const struct dg_judge *j, enum dg_kind kind); /* was a source of this kind read? */
void dg_ruled_out(struct dg_judge *j);
void dg_not_checked(struct dg_judge *j);
void dg_fingerprint(struct dg_judge *j);

#endif
