/* What to try next: shared by the parts of dg_propose(). Private to this folder. */
#ifndef DG_REASON_PROPOSE_H
#define DG_REASON_PROPOSE_H

#include "reason/judge.h"

#define DG_MAX_ACTION 100u

struct dg_proposals {
    struct dg_judge *j;
    const struct dg_finding *finding;   /* of the first cause */
    const struct dg_cat_engine *engine; /* NULL: unknown, or no catalog */
    struct dg_cat_key key;
    bool any_engine; /* the engine is unknown and too little else is left: take what is for one, and say for which */
};

/* Add unless it does the same as one that is there already, or as what history saw fail. */
void dg_proposal_add(struct dg_proposals *ps, struct dg_proposal p);
/* What history says of a choice for the same key: its outcome, or empty. *ret_age: days. */
struct dg_slice dg_history_of(const struct dg_proposals *ps, struct dg_slice axis, struct dg_slice value,
                              double *ret_age);
/* action.c: one action of a rule, filled. False: it does not apply, or an operand is missing. */
bool dg_action_fill(struct dg_proposals *ps, const struct dg_action *a, struct dg_proposal *ret);
/* expand.c: the catalog's choices on an axis, best first. */
void dg_axis_expand(struct dg_proposals *ps, const struct dg_action *a);
/* What a rule proposes on an axis of the catalog: false when the catalog rules it out for this GPU, version and
 * quantization; else its cautions are added. */
bool dg_axis_admits(struct dg_proposals *ps, struct dg_proposal *p);
/* retry.c: what the live GPUs hold. False: not known, or the log is of other GPUs. */
bool dg_before_retry(struct dg_judge *j);
/* relaunch.c: `command` with the proposal's flags and environment in it, each word quoted; {NULL,0} when it is no plain
 * command. */
struct dg_slice dg_relaunch(struct dg_judge *j, struct dg_slice command, const struct dg_proposal *p);

#endif
