/* The matcher: the literals of all rules and the built-in ones, in the order in which they are handled. */
#include "match/engine.h"

struct regex REGEX_BAD;

/* Places in the order of needles: of `not`, of most, of guesses, of signs of service. */
enum { NOTS = 1, PLAIN = 3, GUESS, LAST };

/* Texts that look fatal whether or not a rule knows them, and what dg_rare_gram() says of them: it takes its time. */
static const struct {
    const char *lit;
    enum sign sign;
    struct dg_rare rare;
} BUILT_IN[] = {
    {"Traceback (most recent call last)", SIGN_TRACEBACK, {10, 5}},
    {"ERROR", SIGN_LEVEL, {1, 5}},
    {"CRITICAL", SIGN_LEVEL, {4, 4}},
    {"FATAL", SIGN_LEVEL, {1, 4}},
    {"Error:", SIGN_EXCEPTION, {2, 0}},
    {"Exception:", SIGN_EXCEPTION, {0, 8}},
    {"terminate called", SIGN_TERMINATE, {3, 15}},
    {"Segmentation fault", SIGN_ABORT, {2, 15}},
    {"core dumped", SIGN_ABORT, {5, 11}},
    {"Fatal Python error", SIGN_ABORT, {4, 6}},
    {"panicked at", SIGN_ABORT, {0, 0}},
    {"Bus error", SIGN_ABORT, {0, 10}},
    {"Illegal instruction", SIGN_ABORT, {1, 0}},
    {"fatal ", SIGN_OTHER, {0, 15}},
    {"fatal:", SIGN_OTHER, {0, 15}},
    {"FAILED:", SIGN_OTHER, {2, 3}},
    {"error:", SIGN_OTHER, {2, 0}},
};

bool is_lazy(const struct dg_rule *r) {
    bool key = false;
    for (uint32_t i = 0; i < r->n_captures; i++) key = key || r->captures[i].key;
    return r->pulse && !key && r->mode == DG_MATCH_ANY && r->n_patterns == r->n_positive && r->role == DG_ROLE_FACT &&
           !r->ends && !r->opens;
}

/* Hits of one line are handled in this order: a launch begins before anything is counted in it, `not` is looked at
 * before what it forbids, a wrapper's end before what follows and the text that it carries before the line around it,
 * guesses after all that know the line, signs of service last. */
static int order_of(const struct dg_pattern *p, const struct dg_rule *rule) {
    if (rule->begins_episode) return 0;
    if (p->negative) return NOTS;
    if (p->opens_end || rule->opens >= DG_OPENS_TEXT) return 2;
    if (dg_rule_guesses(rule)) return GUESS;
    return is_lazy(rule) ? LAST : PLAIN;
}

static bool twins(const struct needle *x, const struct needle *y) {
    return x->rule == y->rule && x->rule->mode == DG_MATCH_SEQUENCE && x->pattern->negative == y->pattern->negative &&
           dg_slice_eq(x->lit, y->lit);
}

static bool is_later(const struct dg_rule *rule, const struct dg_pattern *p) {
    return rule->mode == DG_MATCH_SEQUENCE && p->part && !p->negative && !p->opens_end;
}

static enum chain chain_of(const struct dg_rule *rule, const struct dg_pattern *p, int order) {
    if (order == NOTS && !p->re.len) return CHAIN_NOTS;
    if (order < PLAIN) return CHAIN_NONE;
    if (is_later(rule, p)) return order == GUESS ? CHAIN_GUESS_STEPS : CHAIN_STEPS;
    return order == GUESS ? CHAIN_GUESSES : CHAIN_NONE;
}

static struct needle needle_of(const struct dg_matcher *m, const struct dg_pattern *p, int order) {
    const struct dg_rule *rule = &m->rules->rules[p->rule];
    bool any = rule->mode == DG_MATCH_ANY;
    bool harmless = rule->role == DG_ROLE_NOISE || rule->role == DG_ROLE_RECOVERED || rule->role == DG_ROLE_FACT;
    return (struct needle){
        .lit = p->lit,
        .pattern = p,
        .rule = rule,
        .rare = p->rare,
        .kinds = rule->kinds,
        .number = p->rule,
        .later = is_later(rule, p),
        .once = any && rule->n_patterns == rule->n_positive && !p->opens_end,
        .chain = (uint8_t)chain_of(rule, p, order),
        .harmless = harmless,
        .alone = harmless || rule->opens >= DG_OPENS_TEXT,
        .guess = order == GUESS || (order < PLAIN && dg_rule_guesses(rule)),
        .knows = rule->role == DG_ROLE_CAUSE && any && !p->negative && !dg_rule_on_trial(rule),
    };
}

/* Of steps that seek the same literal the later one stands first, so that one line is not two steps. */
static void add_needle(struct dg_matcher *m, const struct dg_pattern *p, int order) {
    uint32_t i = m->n_needles++;
    m->needles[i] = needle_of(m, p, order);
    for (; i && twins(&m->needles[i - 1], &m->needles[i]); i--) {
        struct needle t = m->needles[i];
        m->needles[i] = m->needles[i - 1];
        m->needles[i - 1] = t;
    }
}

static bool collect(struct dg_matcher *m) {
    const struct dg_ruleset *rs = m->rules;
    _cleanup_(dg_freep) uint8_t *order = dg_malloc(rs->n_patterns);
    m->needles = sieve_room(&m->sieve, rs->n_patterns + DG_COUNT(BUILT_IN));
    if (!order || !m->needles) return false;
    for (uint32_t i = 0; i < rs->n_patterns; i++)
        order[i] = (uint8_t)order_of(rs->patterns[i], &rs->rules[rs->patterns[i]->rule]);
    for (int o = 0; o <= LAST; o++) {
        if (o == NOTS) m->bounds.not_from = m->n_needles;
        if (o == NOTS + 1) m->bounds.not_to = m->n_needles;
        if (o == GUESS) m->bounds.guess_from = m->n_needles;
        if (o == LAST) m->bounds.lazy_from = m->n_needles;
        for (uint32_t i = 0; i < rs->n_patterns; i++)
            if (order[i] == o) add_needle(m, rs->patterns[i], o);
    }
    m->bounds.lazy_to = m->n_needles;
    for (size_t i = 0; i < DG_COUNT(BUILT_IN); i++) {
        struct dg_slice lit = dg_cstr(BUILT_IN[i].lit);
        m->needles[m->n_needles++] =
            (struct needle){.lit = lit, .sign = (uint8_t)BUILT_IN[i].sign, .rare = BUILT_IN[i].rare};
    }
    return true;
}

struct dg_matcher *matcher_of(const struct dg_ruleset *rules) {
    struct dg_matcher *m = dg_calloc(1, sizeof(*m));
    if (!m) return NULL;
    m->rules = rules;
    m->regexes = dg_calloc(rules->n_patterns, sizeof(*m->regexes));
    m->context = regex_context();
    if (m->context && m->regexes) return m;
    dg_matcher_free(m);
    return NULL;
}

bool matcher_ready(struct dg_matcher *m) { return (m->needs = dg_calloc(m->n_needles, sizeof(*m->needs))); }

int dg_matcher_new(const struct dg_ruleset *rules, struct dg_matcher **ret, struct dg_err *err) {
    struct dg_matcher *m = matcher_of(rules);
    *ret = m; /* held by the caller meanwhile: who is killed now has lost nothing */
    if (!m || !collect(m) || !matcher_ready(m)) {
        dg_matcher_free(m);
        *ret = NULL;
        return dg_err_nomem(err);
    }
    sieve_make(&m->sieve, m->n_needles);
    for (uint32_t i = 0; i < m->sieve.n_literals; i++) m->sieve.literals[i].murmurs = murmurs(m, &m->sieve.literals[i]);
    sieve_quieten(&m->sieve);
    return 0;
}

void dg_matcher_free(struct dg_matcher *m) {
    if (!m) return;
    for (uint32_t i = 0; m->regexes && i < m->rules->n_patterns; i++) regex_free(atomic_load(&m->regexes[i]));
    for (uint32_t i = 0; m->needs && i < m->n_needles; i++) free(atomic_load(&m->needs[i]));
    free(m->regexes);
    free(m->needs);
    pcre2_compile_context_free(m->context);
    sieve_release(&m->sieve);
    free(m);
}
