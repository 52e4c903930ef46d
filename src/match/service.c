/* Signs of service. A healthy log is full of them, and only the first and the last of an epoch count. So lines that
 * only murmur (engine.h) are put off while there is no trouble, and looked at when the block ends or trouble begins:
 * the last of each needle and, once an epoch, the first. What is found does not depend on where blocks end. */
#include "base/census.h"
#include "match/engine.h"

bool is_service(const struct dg_matcher *m, uint32_t needle) { return needle >= m->lazy_from && needle < m->lazy_to; }

static bool is_not(const struct dg_matcher *m, uint32_t needle) { return needle >= m->not_from && needle < m->not_to; }

static bool may_wait(const struct dg_matcher *m, uint32_t needle) { return is_service(m, needle) || is_not(m, needle); }

bool murmurs(const struct dg_matcher *m, const struct literal *l) {
    if (l->needles[CHAIN_STEPS] != DG_NONE || l->needles[CHAIN_GUESS_STEPS] != DG_NONE) return false;
    for (uint32_t n = l->needles[CHAIN_NONE]; n != DG_NONE; n = m->needles[n].same)
        if (!may_wait(m, n)) return false;
    return true;
}

bool only_murmurs(const struct dg_matcher *m, const struct sight *v, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!may_wait(m, v[i].needle)) return false;
    return true;
}

size_t line_begin(const struct dg_block *b, size_t at) {
    const char *nl = memrchr(b->data, '\n', at);
    return nl ? (size_t)(nl - b->data) + 1 : 0;
}

uint32_t line_index(struct cursor *known, const struct dg_block *b, size_t start) {
    if (start >= known->at)
        known->index += (uint32_t)dg_census(dg_slice(b->data + known->at, start - known->at)).newlines;
    else
        known->index -= (uint32_t)dg_census(dg_slice(b->data + start, known->at - start)).newlines;
    known->at = start;
    return known->index;
}

/* Is there nothing that a `not` among these needles forbids? */
static bool chain_forbids_nothing(const struct engine *e, uint32_t first) {
    for (uint32_t n = first; n != DG_NONE; n = e->m->needles[n].same)
        if (is_not(e->m, n) && !rule_idle(e, e->m->needles[n].rule)) return false;
    return true;
}

static bool list_forbids_nothing(const struct engine *e, uint32_t list) {
    const struct sieve *s = &e->m->sieve;
    for (uint32_t i = s->lists[list]; i < s->lists[list + 1]; i++) {
        const uint32_t *first = s->literals[s->grams[i].literal].needles;
        if (!chain_forbids_nothing(e, first[CHAIN_NONE]) || !chain_forbids_nothing(e, first[CHAIN_NOTS])) return false;
    }
    return true;
}

/* The same of all murmurs of the block. */
static bool forbids_nothing(const struct engine *e, const struct hits *h) {
    for (uint32_t i = 0; i < h->n_said; i++)
        if (!list_forbids_nothing(e, h->said[i])) return false;
    return true;
}

bool quiet_put_off(struct engine *e, const struct hits *h, uint32_t from, uint32_t to) {
    if (e->trouble || e->n_records || e->only || !forbids_nothing(e, h)) return false;
    if (e->quiet.from == e->quiet.to) e->quiet.from = from;
    e->quiet.to = to;
    return true;
}

/* One way of looking through what was put off: for the first of each needle in the epoch, or for the last. */
struct look {
    struct engine *e;
    bool first;
    uint32_t left; /* needles of the lists that were heard and not found yet; some may not be there */
    size_t at;     /* the murmur that is looked at, */
    size_t start;  /* and its line, when a needle is sought on it */
    struct line line;
};

/* Where it is written down that the needle was found; NULL: it is not sought, or was. */
static uint64_t *sought(const struct look *k, uint32_t needle, uint64_t *ret_now) {
    struct engine *e = k->e;
    if (!is_service(e->m, needle)) return NULL;
    const struct needle *n = &e->m->needles[needle];
    struct service *s = &e->services[needle - e->m->lazy_from];
    uint64_t *done = k->first ? &s->first : &s->last;
    *ret_now = k->first ? e->epoch_serial : e->quiet.serial;
    if (*done == *ret_now || e->rules[n->pattern->rule].off || !(n->rule->kinds & DG_KIND_BIT(e->kind))) return NULL;
    return done;
}

static struct line line_around(struct engine *e, size_t at, size_t *ret_start) {
    const struct dg_block *b = e->quiet.block;
    size_t start = line_begin(b, at);
    const char *nl = memchr(b->data + at, '\n', b->len - at);
    size_t end = nl ? (size_t)(nl - b->data) : b->len;
    struct line line = line_of(e, b, start, end, line_index(&e->quiet.known, b, start));
    line.parts = memchr(line.text.ptr, '\r', line.text.len) != NULL;
    *ret_start = start;
    return line;
}

static bool on_literal(void *ctx, const struct literal *l, size_t start) {
    struct look *k = ctx;
    struct engine *e = k->e;
    uint64_t now;
    for (uint32_t i = l->needles[CHAIN_NONE]; i != DG_NONE; i = e->m->needles[i].same) {
        uint64_t *done = sought(k, i, &now);
        struct caps caps;
        if (!done) continue;
        if (!k->line.text.ptr) k->line = line_around(e, k->at, &k->start);
        const struct dg_pattern *p = e->m->needles[i].pattern;
        const struct msg *msg = pattern_match(e, p, &k->line, start - k->start, &caps);
        if (!msg) continue;
        *done = now;
        k->left--;
        rule_hit(e, p, &k->line, msg, &caps);
    }
    return true;
}

/* How many needles of the list are sought. */
static uint32_t sought_in(const struct look *k, uint32_t list) {
    const struct sieve *s = &k->e->m->sieve;
    uint32_t total = 0;
    uint64_t now;
    for (uint32_t i = s->lists[list]; i < s->lists[list + 1]; i++)
        for (uint32_t n = s->literals[s->grams[i].literal].needles[CHAIN_NONE]; n != DG_NONE;
             n = k->e->m->needles[n].same)
            total += sought(k, n, &now) != NULL;
    return total;
}

static void look_at(struct look *k, size_t at) {
    const struct dg_block *b = k->e->quiet.block;
    const struct sieve *s = &k->e->m->sieve;
    uint32_t list = gram_index(b->data + at, s->shift), left = k->left;
    if (!bit_of(k->e->worth, list)) return;
    k->at = at;
    k->line.text.ptr = NULL;
    sieve_prove(s, b->data, 0, b->len, at, on_literal, k);
    if (k->left < left && !sought_in(k, list)) bit_clear(k->e->worth, list);
}

/* Look through <v,n>: for the first of each needle from the front, for the last from behind. */
static void look(struct engine *e, bool first, const uint32_t *v, uint32_t n) {
    struct look k = {.e = e, .first = first};
    const struct hits *h = e->quiet.hits;
    for (uint32_t i = 0; i < h->n_said; i++) {
        uint32_t here = sought_in(&k, h->said[i]);
        if (here) bit_set(e->worth, h->said[i]);
        k.left += here;
    }
    for (uint32_t i = 0; i < n && k.left; i++) look_at(&k, first ? v[i] : v[n - 1 - i]);
    for (uint32_t i = 0; i < h->n_said; i++) bit_clear(e->worth, h->said[i]);
}

void quiet_settle(struct engine *e) {
    struct quiet *q = &e->quiet;
    uint64_t raw = e->last_raw;
    struct cursor known = q->known;
    struct msg whole = e->whole[0]; /* of the line whose hit asks for this; its other needles come after it */
    uint32_t from = q->from, to = q->to;
    if (from == to) return;
    q->from = q->to = 0;
    q->serial++;
    look(e, true, q->hits->murmurs + from, to - from);
    q->known = known;
    look(e, false, q->hits->murmurs + from, to - from);
    q->known = known;
    e->last_raw = raw;
    e->whole[0] = whole;
}

void trouble_begins(struct engine *e) {
    if (e->trouble) return;
    quiet_settle(e);
    e->trouble = true;
}
