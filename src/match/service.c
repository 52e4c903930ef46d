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

/* The same of all murmurs of the block. */
static bool forbids_nothing(const struct engine *e, const struct hits *h) {
    for (uint32_t i = 0; i < h->n_said; i++) {
        const uint32_t *first = e->m->sieve.literals[h->said[i]].needles;
        if (!chain_forbids_nothing(e, first[CHAIN_NONE]) || !chain_forbids_nothing(e, first[CHAIN_NOTS])) return false;
    }
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
    uint32_t left; /* needles not found yet */
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

static void look_at(struct look *k, const struct murmur *u) {
    struct engine *e = k->e;
    struct line line = {.text = {NULL, 0}}; /* made when a needle is sought */
    size_t start = 0;
    uint64_t now;
    for (uint32_t i = e->m->sieve.literals[u->literal].needles[CHAIN_NONE]; i != DG_NONE; i = e->m->needles[i].same) {
        uint64_t *done = sought(k, i, &now);
        struct caps caps;
        if (!done) continue;
        if (!line.text.ptr) line = line_around(e, u->at, &start);
        const struct dg_pattern *p = e->m->needles[i].pattern;
        const struct msg *msg = pattern_match(e, p, &line, u->at - start, &caps);
        if (!msg) continue;
        *done = now;
        k->left--;
        rule_hit(e, p, &line, msg, &caps);
    }
}

static struct look look(struct engine *e, bool first) {
    struct look k = {e, first, 0};
    const struct hits *h = e->quiet.hits;
    uint64_t now;
    for (uint32_t i = 0; i < h->n_said; i++)
        for (uint32_t n = e->m->sieve.literals[h->said[i]].needles[CHAIN_NONE]; n != DG_NONE; n = e->m->needles[n].same)
            k.left += sought(&k, n, &now) != NULL;
    return k;
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
    struct look k = look(e, true);
    for (uint32_t i = from; i < to && k.left; i++) look_at(&k, &q->hits->murmurs[i]);
    q->known = known;
    k = look(e, false);
    for (uint32_t i = to; i-- > from && k.left;) look_at(&k, &q->hits->murmurs[i]);
    q->known = known;
    e->last_raw = raw;
    e->whole[0] = whole;
}

void trouble_begins(struct engine *e) {
    if (e->trouble) return;
    quiet_settle(e);
    e->trouble = true;
}
