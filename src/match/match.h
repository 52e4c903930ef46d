/* Matching: blocks in, findings out. One literal pass over each block for all rules, PCRE2 only where a literal
 * hit, records built only around hits. engineering.md's engine section is the shape. */
#ifndef DG_MATCH_H
#define DG_MATCH_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "model/finding.h"

/* The literals of a ruleset, made ready to be sought. Read-only, shared by threads. The rules must outlive it. 0 or
 * -DG_E_NOMEM. */
struct dg_matcher;
int dg_matcher_new(const struct dg_ruleset *rules, struct dg_matcher **ret, struct dg_err *err);
/* The same as bytes (base/frozen.h) that lie at address `at`, while the rules lie where they lie now; added to `out`.
 * 0, -DG_E_NOMEM, -DG_E_INTERNAL. */
int dg_matcher_freeze(const struct dg_matcher *m, uintptr_t at, struct dg_buf *out, struct dg_err *err);
/* What was frozen, which is read where it lies and outlives it. 0; -DG_E_NOMEM; -DG_E_UNSUPPORTED: of another build, or
 * it or the rules lie elsewhere. */
int dg_matcher_thaw(const struct dg_ruleset *rules, struct dg_slice bytes, struct dg_matcher **ret, struct dg_err *err);
void dg_matcher_free(struct dg_matcher *m);
static inline void dg_matcher_freep(struct dg_matcher **m) { dg_matcher_free(*m); }

struct dg_match_opts {
    /* Where blocks come from: as dg_ingest_next / dg_ingest_release / dg_ingest_sources. `next` and `sources` are
     * called by one thread at a time, `release` by any. */
    int (*next)(void *in, struct dg_block **ret, struct dg_err *err);
    void (*release)(void *in, struct dg_block *block);
    const struct dg_source *(*sources)(void *in, uint32_t *ret_n);
    void *in;
    void (*split)(struct dg_slice line, enum dg_kind kind, struct dg_prefix *ret); /* dg_prefix_parse */
    unsigned threads; /* 1: all by the caller; 2: from the second block on others call `next`, and scan */
    bool plain;       /* no literal pass: rule by rule, line by line. Same results; for tests */
};
/* Scan everything. 0: *ret lives in `arena`. -DG_E_NOMEM, or what `next` returned. */
int dg_match_scan(const struct dg_matcher *m, const struct dg_match_opts *opts, struct dg_arena *arena,
                  struct dg_scan **ret, struct dg_err *err);

/* Does one rule match this text (newline-separated messages, prefixes stripped by `split`)? For `rules test`. Captures
 * of the match are put into `arena`. Returns 1, 0 or -DG_E_NOMEM. Lines are numbered from 1. */
int dg_match_rule(const struct dg_matcher *m, const struct dg_rule *rule, struct dg_slice text,
                  const struct dg_match_opts *opts, struct dg_arena *arena, struct dg_finding *ret);

#endif
