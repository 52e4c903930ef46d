/* The literals of a rule set: which texts are sought, as windows that libhs is fast with, and back to the patterns. */
#include "match/engine.h"
#include <stdio.h>
#include <xxhash.h>

enum { LAST = 4 }; /* the place of signs of service in the order of needles */

/* Texts that look fatal whether or not a rule knows them. */
static const struct {
    const char *lit;
    enum sign sign;
} BUILT_IN[] = {
    {"Traceback (most recent call last)", SIGN_TRACEBACK},
    {"ERROR", SIGN_LEVEL},
    {"CRITICAL", SIGN_LEVEL},
    {"FATAL", SIGN_LEVEL},
    {"Error:", SIGN_EXCEPTION},
    {"Exception:", SIGN_EXCEPTION},
    {"terminate called", SIGN_TERMINATE},
    {"Segmentation fault", SIGN_ABORT},
    {"core dumped", SIGN_ABORT},
    {"Fatal Python error", SIGN_ABORT},
    {"panicked at", SIGN_ABORT},
    {"Bus error", SIGN_ABORT},
    {"Illegal instruction", SIGN_ABORT},
    {"fatal", SIGN_OTHER},
    {"FAILED:", SIGN_OTHER},
    {"error:", SIGN_OTHER},
};

/* A sign of service that says nothing else may be looked at late, and not each time. */
static bool is_lazy(const struct dg_rule *r) {
    bool key = false;
    for (uint32_t i = 0; i < r->n_captures; i++) key = key || r->captures[i].key;
    return r->pulse && !key && r->mode == DG_MATCH_ANY && r->n_patterns == r->n_positive && r->role == DG_ROLE_FACT &&
           !r->ends && !r->opens;
}

/* Hits of one line are handled in this order: a launch begins before anything is counted in it, `not` is looked at
 * before what it forbids, a wrapper's end before what follows and the text that it carries before the line around it,
 * signs of service last. */
static int order_of(const struct dg_pattern *p, const struct dg_rule *rule) {
    if (rule->begins_episode) return 0;
    if (p->negative) return 1;
    if (p->opens_end || rule->opens >= DG_OPENS_TEXT) return 2;
    return is_lazy(rule) ? LAST : 3;
}

static bool twins(const struct needle *x, const struct needle *y) {
    return x->rule == y->rule && x->rule->mode == DG_MATCH_SEQUENCE && dg_slice_eq(x->lit, y->lit);
}

/* Of steps that seek the same literal the later one stands first, so that one line is not two steps. */
static void add_needle(struct dg_matcher *m, const struct dg_pattern *p) {
    uint32_t i = m->n_needles++;
    m->needles[i] = (struct needle){.lit = p->lit, .pattern = p, .rule = &m->rules->rules[p->rule]};
    for (; i && twins(&m->needles[i - 1], &m->needles[i]); i--) {
        struct needle t = m->needles[i];
        m->needles[i] = m->needles[i - 1];
        m->needles[i - 1] = t;
    }
}

bool literals_collect(struct dg_matcher *m) {
    const struct dg_ruleset *rs = m->rules;
    _cleanup_(dg_freep) uint8_t *order = dg_malloc(rs->n_patterns);
    m->needles = dg_calloc(rs->n_patterns + DG_COUNT(BUILT_IN), sizeof(*m->needles));
    if (!order || !m->needles) return false;
    for (uint32_t i = 0; i < rs->n_patterns; i++)
        order[i] = (uint8_t)order_of(rs->patterns[i], &rs->rules[rs->patterns[i]->rule]);
    for (int o = 0; o <= LAST; o++) {
        if (o == LAST) m->lazy_from = m->n_needles;
        for (uint32_t i = 0; i < rs->n_patterns; i++)
            if (order[i] == o) add_needle(m, rs->patterns[i]);
    }
    m->lazy_to = m->n_needles;
    for (size_t i = 0; i < DG_COUNT(BUILT_IN); i++)
        m->needles[m->n_needles++] = (struct needle){.lit = dg_cstr(BUILT_IN[i].lit), .sign = BUILT_IN[i].sign};
    m->windows = dg_calloc(m->n_needles, sizeof(*m->windows));
    m->members = dg_calloc(m->n_needles, sizeof(*m->members));
    return m->windows && m->members;
}

static struct dg_slice window_of(const struct needle *n) { return dg_slice(n->lit.ptr + n->win_at, n->win_len); }

/* By window, then by literal, so that equal literals are compared once. */
static int by_window(const void *a, const void *b, void *ctx) {
    const struct needle *needles = ctx;
    const struct member *m = a, *n = b;
    const struct needle *x = &needles[m->needle], *y = &needles[n->needle];
    int d = dg_slice_cmp(window_of(x), window_of(y));
    if (!d) d = dg_slice_cmp(x->lit, y->lit);
    return d ? d : m->needle < n->needle ? -1 : m->needle > n->needle;
}

static struct member member_of(const struct needle *n, uint32_t i) {
    return (struct member){n->lit.ptr, i, (uint16_t)n->lit.len, n->win_at, n->lit.ptr[n->lit.len - 1], false};
}

bool literals_sort(struct dg_matcher *m) {
    for (uint32_t i = 0; i < m->n_needles; i++) m->members[i] = member_of(&m->needles[i], i);
    qsort_r(m->members, m->n_needles, sizeof(*m->members), by_window, m->needles);
    return literals_group(m);
}

bool literals_group(struct dg_matcher *m) {
    struct dg_slice before = {NULL, 0};
    m->n_windows = 0;
    for (uint32_t i = 0; i < m->n_needles; i++) {
        if (m->members[i].needle >= m->n_needles) return false;
        const struct needle *n = &m->needles[m->members[i].needle];
        struct dg_slice window = window_of(n);
        m->members[i] = member_of(n, m->members[i].needle);
        if (!i || !dg_slice_eq(window, m->windows[m->n_windows - 1].text))
            m->windows[m->n_windows++] = (struct window){.text = window, .first = i};
        else
            m->members[i].again = dg_slice_eq(n->lit, before) && n->win_at == m->members[i - 1].win_at;
        m->windows[m->n_windows - 1].n++;
        before = n->lit;
    }
    return true;
}

/* Sets win_at and win_len when one of the windows stands in the literal. */
static bool adopt_window(struct needle *n, const struct dg_slice *windows, uint32_t n_windows) {
    ptrdiff_t at = -1;
    uint32_t i = 0;
    while (i < n_windows && (at = dg_slice_find(n->lit, windows[i])) < 0) i++;
    n->win_at = (uint16_t)(at < 0 ? 0 : at);
    n->win_len = (uint16_t)(at < 0 ? 0 : windows[i].len);
    return at >= 0;
}

int literals_adopt(struct dg_matcher *m, const struct dg_slice *windows, uint32_t n, struct dg_err *err) {
    uint32_t bound = 0, k = 0;
    free(m->windows);
    m->windows = dg_calloc(n, sizeof(*m->windows));
    m->loose = dg_calloc(m->n_needles, sizeof(*m->loose));
    if (!m->windows || !m->loose) return dg_err_nomem(err);
    for (uint32_t i = 0; i < m->n_needles; i++)
        if (adopt_window(&m->needles[i], windows, n))
            m->members[bound++] = member_of(&m->needles[i], i);
        else
            m->loose[m->n_loose++] = i;
    if (m->n_loose > LOOSE_MAX)
        return dg_err_set(err, DG_E_LIMIT, 0, "this build takes %d literals of your own packs, and they have %u",
                          LOOSE_MAX, m->n_loose);
    qsort_r(m->members, bound, sizeof(*m->members), by_window, m->needles);
    m->n_windows = n; /* in order, like the members */
    for (uint32_t i = 0; i < n; i++) {
        struct window *w = &m->windows[i];
        w->first = k;
        for (; k < bound && dg_slice_eq(window_of(&m->needles[m->members[k].needle]), windows[i]); k++) w->n++;
        if (w->n) w->text = window_of(&m->needles[m->members[w->first].needle]);
    }
    return 0;
}

uint64_t literals_hash(const struct dg_matcher *m) {
    uint64_t h = 0;
    for (uint32_t i = 0; i < m->n_needles; i++)
        h = XXH3_64bits_withSeed(m->needles[i].lit.ptr, m->needles[i].lit.len, h);
    return h;
}
