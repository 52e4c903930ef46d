/* Signs of service. A healthy log is full of them, and only the first and the last of an epoch count. So lines that
 * only murmur (engine.h) are put off while there is no trouble, and looked at when the block ends or trouble begins:
 * the last of each needle and, once an epoch, the first. What is found does not depend on where blocks end. */
#include "base/census.h"
#include "match/engine.h"

bool is_service(const struct dg_matcher *m, uint32_t needle) {
    return needle >= m->bounds.lazy_from && needle < m->bounds.lazy_to;
}

static bool is_not(const struct dg_matcher *m, uint32_t needle) {
    return needle >= m->bounds.not_from && needle < m->bounds.not_to;
}

static bool may_wait(const struct dg_matcher *m, uint32_t needle) { return is_service(m, needle) || is_not(m, needle); }

bool murmurs(const struct dg_matcher *m, const struct literal *l) {
    static const enum chain others[] = {CHAIN_STEPS, CHAIN_GUESS_STEPS, CHAIN_GUESSES};
    for (size_t i = 0; i < DG_COUNT(others); i++)
        if (l->needles[others[i]] != DG_NONE) return false;
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

/* Is none of these needles a `not` of a rule that has begun? */
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

/* Does the block end in a line of murmurs that goes on in the next? It is one line. */
static bool goes_on(const struct engine *e, const struct hits *h, uint32_t to) {
    const struct dg_block *b = e->quiet.block;
    return b->more && !memchr(b->data + h->murmurs[to - 1], '\n', b->len - h->murmurs[to - 1]);
}

/* Is there nothing among all murmurs of the block that a `not` forbids? */
static bool forbids_nothing(const struct engine *e, const struct hits *h) {
    for (uint32_t i = 0; i < h->n_said; i++)
        if (!list_forbids_nothing(e, h->said[i])) return false;
    return true;
}

bool quiet_put_off(struct engine *e, const struct hits *h, uint32_t from, uint32_t to) {
    if (e->trouble || e->n_records || e->only || goes_on(e, h, to) || !forbids_nothing(e, h)) return false;
    if (e->quiet.from == e->quiet.to) e->quiet.from = from;
    e->quiet.to = to;
    return true;
}

/* One way of looking through what was put off: for the first of each needle in the epoch, or for the last. */
struct look {
    struct engine *e;
    bool first;
    uint32_t from, to; /* murmurs that are left */
    uint32_t left;     /* needles of the lists that were heard and not found yet; some may not be there */
};

/* Where it is written down that the needle was found; NULL: it is not sought, or was. */
static uint64_t *sought(const struct look *k, uint32_t needle, uint64_t *ret_now) {
    struct engine *e = k->e;
    if (!is_service(e->m, needle)) return NULL;
    const struct needle *n = &e->m->needles[needle];
    struct service *s = &e->services[needle - e->m->bounds.lazy_from];
    uint64_t *done = k->first ? &s->first : &s->last;
    *ret_now = k->first ? e->epoch_serial : e->quiet.serial;
    if (*done == *ret_now || e->rules[n->pattern->rule].off || !(n->rule->kinds & DG_KIND_BIT(e->kind))) return NULL;
    return done;
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

/* Which of the lists that were heard are worth looking at. Returns how many needles are sought. */
static uint32_t weigh(const struct look *k) {
    struct engine *e = k->e;
    const struct hits *h = e->quiet.hits;
    uint32_t total = 0;
    for (uint32_t i = 0; i < h->n_said; i++) {
        uint32_t here = sought_in(k, h->said[i]);
        bit_clear(e->worth, h->said[i]);
        if (here) bit_set(e->worth, h->said[i]);
        total += here;
    }
    return total;
}

static bool is_worth(const struct engine *e, uint32_t murmur) {
    const char *gram = e->quiet.block->data + e->quiet.hits->murmurs[murmur];
    return bit_of(e->worth, gram_index(gram, e->m->sieve.shift));
}

/* The first murmur of that one's line. */
static uint32_t first_on_line(const struct look *k, uint32_t murmur) {
    const uint32_t *v = k->e->quiet.hits->murmurs;
    size_t start = line_begin(k->e->quiet.block, v[murmur]);
    while (murmur > k->from && v[murmur - 1] >= start) murmur--;
    return murmur;
}

/* As stage 2 does it elsewhere: one hit of a rule on a line, by its first needle that matches. Has this one? */
static bool try_sought(const struct look *k, const struct sight *v, size_t start, struct line *line) {
    struct engine *e = k->e;
    uint64_t now, *done = sought(k, v->needle, &now);
    struct caps caps;
    if (!done) return false;
    const struct dg_pattern *p = e->m->needles[v->needle].pattern;
    const struct msg *msg = pattern_match(e, p, line, v->at - start, &caps);
    if (!msg) return false;
    *done = now;
    if (e->rules[p->rule].last_seq != line->seq + 1) rule_hit(e, p, line, msg, &caps);
    return true;
}

/* All that the line of this murmur, its first, says. Returns the murmur behind it. */
static uint32_t look_at(struct look *k, uint32_t murmur) {
    struct engine *e = k->e;
    const struct dg_block *b = e->quiet.block;
    struct hits *h = e->quiet.hits;
    struct hit_line l = {.start = (uint32_t)line_begin(b, h->murmurs[murmur])};
    uint32_t behind = murmurs_to_line(&e->scanner, b->data, b->len, h, murmur, h->n_hits + e->m->n_needles, &l);
    struct line line = line_of(e, b, l.start, l.end, line_index(&e->quiet.known, b, l.start));
    line.parts = has_parts(line.text);
    bool found = false;
    for (uint32_t i = 0; i < l.n; i++) found |= try_sought(k, &h->sights[l.first + i], l.start, &line);
    if (found) k->left = weigh(k);
    return behind;
}

static void look(struct engine *e, bool first, uint32_t from, uint32_t to) {
    struct look k = {.e = e, .first = first, .from = from, .to = to};
    k.left = weigh(&k);
    while (k.from < k.to && k.left) {
        uint32_t next = first ? k.from : k.to - 1;
        bool worth = is_worth(e, next);
        if (worth) next = first_on_line(&k, next);
        uint32_t behind = worth ? look_at(&k, next) : next + 1;
        if (first)
            k.from = behind;
        else
            k.to = next;
    }
    for (uint32_t i = 0; i < e->quiet.hits->n_said; i++) bit_clear(e->worth, e->quiet.hits->said[i]);
}

void quiet_settle(struct engine *e) {
    struct quiet *q = &e->quiet;
    uint32_t from = q->from, to = q->to;
    if (from == to) return;
    uint64_t raw = e->last_raw;
    struct cursor known = q->known;
    struct msg whole = e->whole[0]; /* of the line whose hit asks for this; its other needles come after it */
    struct record *record = e->record;
    e->record = NULL;
    q->from = q->to = 0;
    q->serial++;
    look(e, true, from, to);
    q->known = known;
    look(e, false, from, to);
    q->known = known;
    e->last_raw = raw;
    e->whole[0] = whole;
    e->record = record;
}

void trouble_begins(struct engine *e) {
    if (e->trouble) return;
    quiet_settle(e);
    e->trouble = true;
}
