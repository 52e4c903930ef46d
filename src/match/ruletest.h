/* Rules prove themselves: examples fire, near misses do not, and no two causes claim one record. */
#ifndef DG_RULETEST_H
#define DG_RULETEST_H

#include "match/match.h"
#include "model/diagnosis.h"

struct dg_ruletest_opts {
    void (*split)(struct dg_slice line, enum dg_kind kind, struct dg_prefix *ret); /* dg_prefix_parse */
    /* What the rule's device condition says of a device ("12.0", "9.0"). NULL: expectations are not tested. */
    enum dg_check (*check)(void *ctx, const struct dg_finding *f, struct dg_slice device);
    void *ctx;
    struct dg_slice pack; /* only rules of this pack; empty: all */
};
struct dg_ruletest_result {
    uint32_t rules, examples, near;
    uint32_t faults;   /* told to probs, each with the rule's file and line */
    uint32_t shadowed; /* rules of which each example is taken by a rule that refines or explains them; told to probs as
                          well */
};
/* Test the rules of `m`, which were loaded with their examples. 0 (also when there are faults), -DG_E_NOMEM. */
int dg_ruletest(const struct dg_matcher *m, const struct dg_ruletest_opts *opts, struct dg_problems *probs,
                struct dg_ruletest_result *ret, struct dg_err *err);

/* Scan one text with all rules, as a source of its own kind. For tests of rules and of the engine. 0 or -DG_E_NOMEM. */
int dg_match_text(const struct dg_matcher *m, struct dg_slice text, enum dg_kind kind, bool plain,
                  void (*split)(struct dg_slice line, enum dg_kind kind, struct dg_prefix *ret), struct dg_arena *arena,
                  struct dg_scan **ret, struct dg_err *err);

#endif
