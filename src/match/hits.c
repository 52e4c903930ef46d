/* Stage 1: which lines of a block hold which literals. */
#include "base/census.h"
#include "match/engine.h"

/* ---- the needles of the line at hand: a set that gives them in order */

enum { WORD = 64 };

static bool on_line_init(struct on_line *o, uint32_t needles) {
    uint32_t words = needles / WORD + 1;
    o->n_top = words / WORD + 1;
    o->bits = dg_calloc(words, sizeof(*o->bits));
    o->top = dg_calloc(o->n_top, sizeof(*o->top));
    o->at = dg_calloc(needles, sizeof(*o->at));
    return o->bits && o->top && o->at;
}

/* The first time that it stands there counts. */
static inline void put_on_line(struct on_line *o, uint32_t needle, size_t at) {
    if (bit_of(o->bits, needle)) return;
    bit_set(o->bits, needle);
    bit_set(o->top, needle / WORD);
    o->at[needle] = (uint32_t)at;
    o->n++;
}

static uint32_t next_bit(uint64_t *word) {
    uint32_t bit = (uint32_t)__builtin_ctzll(*word);
    *word &= *word - 1;
    return bit;
}

/* All of them, in order, into `out`; none is left. */
static uint32_t take_off_line(struct on_line *o, struct sight *out) {
    uint32_t n = o->n;
    o->n = 0;
    for (uint32_t t = 0; t < o->n_top; t++)
        while (o->top[t]) {
            uint32_t word = t * WORD + next_bit(&o->top[t]);
            while (o->bits[word]) {
                uint32_t needle = word * WORD + next_bit(&o->bits[word]);
                *out++ = (struct sight){.needle = needle, .at = o->at[needle]};
            }
        }
    return n;
}

uint32_t spread_guesses(struct scanner *s, struct sight *v, uint32_t n) {
    const struct needle *needles = s->m->needles;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = v[i].needle;
        put_on_line(&s->on_line, k, v[i].at);
        while (needles[k].chain == CHAIN_GUESSES && (k = needles[k].same) != DG_NONE)
            put_on_line(&s->on_line, k, v[i].at);
    }
    return take_off_line(&s->on_line, v);
}

/* ---- means */

int scanner_init(struct scanner *s, const struct dg_matcher *m, const struct dg_match_opts *opts) {
    *s = (struct scanner){.m = m, .opts = opts};
    s->matched = dg_calloc(m->rules->n_rules, sizeof(*s->matched));
    s->tried = dg_calloc(m->rules->n_patterns, sizeof(*s->tried));
    s->said = dg_calloc(lists_of(&m->sieve) / 64, sizeof(*s->said));
    if (!on_line_init(&s->on_line, m->n_needles) || !s->matched || !s->tried || !s->said) return -DG_E_NOMEM;
    return pcre_init(&s->pcre);
}

void scanner_release(struct scanner *s) {
    free(s->on_line.bits);
    free(s->on_line.top);
    free(s->on_line.at);
    free(s->said);
    free(s->matched);
    free(s->tried);
    pcre_release(&s->pcre);
    *s = (struct scanner){0};
}

int hits_init(struct hits *h, const struct dg_matcher *m) {
    *h = (struct hits){.lines = dg_malloc(HITS_MAX * sizeof(*h->lines)),
                       .sights = dg_malloc((SIGHTS_MAX + 3 * (size_t)m->n_needles) * sizeof(*h->sights)),
                       .murmurs = dg_malloc(MURMURS_MAX * sizeof(*h->murmurs))};
    return h->lines && h->sights && h->murmurs ? 0 : -DG_E_NOMEM;
}

void hits_release(struct hits *h) {
    free(h->lines);
    free(h->sights);
    free(h->murmurs);
    free(h->msgs);
    free(h->caps.v);
    *h = (struct hits){0};
}

struct pass {
    struct scanner *s;
    struct hits *h;
    const char *data; /* of the block */
    size_t len, from;
    size_t counted; /* newlines before here are in `line` */
    uint32_t line;
    int kind;
    bool tries, cut;
    bool open; /* the last line is at hand */
};

/* One more murmur, if there is room for it. */
static bool murmur(struct pass *p, size_t at, uint32_t list) {
    struct hits *h = p->h;
    bool new = !bit_of(p->s->said, list);
    if ((new && h->n_said == SAID_MAX) || h->n_murmurs == MURMURS_MAX) return false;
    if (new) {
        bit_set(p->s->said, list);
        h->said[h->n_said++] = list;
    }
    h->murmurs[h->n_murmurs++] = (uint32_t)at;
    return true;
}

/* The same of a needle. */
static bool needle_murmurs(struct pass *p, const struct sight *v) {
    const struct sieve *s = &p->s->m->sieve;
    size_t at = v->at + s->literals[p->s->m->needles[v->needle].literal].rare.at;
    return murmur(p, at, gram_index(p->data + at, s->shift));
}

/* Is what is left of the line's hits no more than murmurs? They are taken as such, if there is room. */
static bool only_murmured(struct pass *p, const struct hit_line *l) {
    struct hits *h = p->h;
    const struct sight *v = h->sights + l->first;
    if (!only_murmurs(p->s->m, v, l->n)) return false;
    for (uint32_t i = 0; i < l->n; i++) {
        if (needle_murmurs(p, &v[i])) continue;
        h->n_murmurs = l->murmurs;
        return false;
    }
    return true;
}

/* Close the line at hand: its needles in their order, and tried; guesses each by itself, unless the trial found that
 * the line is known. One of which no hit is left is none. */
static void close_line(struct pass *p) {
    struct hits *h = p->h;
    if (!p->open) return;
    struct hit_line *l = &h->lines[h->n_lines - 1];
    p->open = false;
    l->n = take_off_line(&p->s->on_line, h->sights + l->first);
    if (p->tries) trial_line(p->s, p->data, p->len, (enum dg_kind)p->kind, h, h->n_lines - 1);
    if (!l->tried) l->n = spread_guesses(p->s, h->sights + l->first, l->n);
    if (p->tries && only_murmured(p, l)) {
        l->n = 0;
        h->n_lines--;
    }
    h->n_hits = l->first + l->n;
}

/* The needles of a literal that stands on the line at hand. */
static bool add_hits(void *ctx, const struct literal *l, size_t at) {
    struct scanner *s = ctx;
    for (uint32_t n = l->needles[CHAIN_NONE]; n != DG_NONE; n = s->m->needles[n].same) put_on_line(&s->on_line, n, at);
    for (int c = CHAIN_NONE + 1; c < CHAINS; c++)
        if (l->needles[c] != DG_NONE) put_on_line(&s->on_line, l->needles[c], at);
    return true;
}

/* What murmured on the line at hand before it said more. */
static void take_back(struct pass *p) {
    struct hits *h = p->h;
    uint32_t n = h->n_murmurs, end = n;
    while (n && h->murmurs[n - 1] >= h->lines[h->n_lines - 1].start) n--;
    h->lines[h->n_lines - 1].murmurs = h->n_murmurs = n;
    for (; n < end; n++) sieve_prove(&p->s->m->sieve, p->data, p->from, p->len, h->murmurs[n], add_hits, p->s);
}

static bool on_line(const struct pass *p, size_t at) { return p->open && at <= p->h->lines[p->h->n_lines - 1].end; }

/* Make the line around `at` the one at hand; a hit inside the last line changes nothing. False: there is no room for
 * another line. */
static bool enter_line(struct pass *p, size_t at) {
    struct hits *h = p->h;
    size_t floor = h->n_lines ? h->lines[h->n_lines - 1].end : p->from;
    if (on_line(p, at)) return true;
    close_line(p);
    if (h->n_lines == HITS_MAX || h->n_hits >= SIGHTS_MAX) return false;
    const char *nl = memrchr(p->data + floor, '\n', at - floor);
    size_t start = nl ? (size_t)(nl - p->data) + 1 : floor;
    nl = memchr(p->data + at, '\n', p->len - at);
    size_t end = nl ? (size_t)(nl - p->data) : p->len;
    if (h->n_lines && start == floor + 1)
        p->line++; /* the next line: in a log that is full of hits they all are */
    else
        p->line += (uint32_t)dg_census(dg_slice(p->data + p->counted, start - p->counted)).newlines;
    p->counted = start;
    p->s->serial++;
    h->lines[h->n_lines++] =
        (struct hit_line){.start = (uint32_t)start, .end = (uint32_t)end, .index = p->line, .first = h->n_hits};
    p->open = true;
    take_back(p);
    return true;
}

/* The next pass begins behind the last line. */
static void cut(struct pass *p) {
    struct hits *h = p->h;
    h->to = h->lines[h->n_lines - 1].end + 1;
    h->line_at_to = h->lines[h->n_lines - 1].index + 1;
    while (h->n_murmurs && h->murmurs[h->n_murmurs - 1] >= h->to) h->n_murmurs--;
    p->cut = true;
}

static bool on_quiet(void *ctx, size_t at, uint32_t list) {
    struct pass *p = ctx;
    if (on_line(p, at)) return false;
    close_line(p);
    return murmur(p, at, list);
}

/* No literal holds a newline, so each lies within one line. */
static bool on_literal(void *ctx, const struct literal *l, size_t start) {
    struct pass *p = ctx;
    if (enter_line(p, start + l->text.len)) return add_hits(p->s, l, start);
    cut(p);
    return false;
}

static void plain_line(struct pass *p, size_t start, size_t end) {
    const struct sieve *s = &p->s->m->sieve;
    for (uint32_t i = 0; i < s->n_literals && !p->cut; i++) {
        struct dg_slice lit = s->literals[i].text;
        const char *at = memmem(p->data + start, end - start, lit.ptr, lit.len);
        if (at) on_literal(p, &s->literals[i], (size_t)(at - p->data));
    }
}

static void plain_pass(struct pass *p) {
    for (size_t at = p->from, end; at < p->len && !p->cut; at = end + 1) {
        const char *nl = memchr(p->data + at, '\n', p->len - at);
        end = nl ? (size_t)(nl - p->data) : p->len;
        plain_line(p, at, end);
    }
}

void hits_find(struct scanner *s, const char *data, size_t len, size_t from, uint32_t line, int kind, struct hits *h) {
    struct pass p = {.s = s,
                     .h = h,
                     .data = data,
                     .len = len,
                     .from = from,
                     .counted = from,
                     .line = line,
                     .kind = kind,
                     .tries = kind >= 0 && !s->opts->plain};
    h->n_lines = h->n_hits = h->n_murmurs = h->n_said = 0;
    h->caps.n = 0;
    h->to = len;
    if (s->opts->plain)
        plain_pass(&p);
    else
        sieve_seek(&s->m->sieve, data, from, len, on_literal, kind >= 0 ? on_quiet : NULL, &p);
    if (!p.cut) close_line(&p);
    for (uint32_t i = 0; i < h->n_said; i++) bit_clear(s->said, h->said[i]);
}

uint32_t murmurs_to_line(struct scanner *s, const char *data, size_t len, struct hits *h, uint32_t i, uint32_t first,
                         struct hit_line *ret) {
    const char *nl = memchr(data + h->murmurs[i], '\n', len - h->murmurs[i]);
    ret->end = nl ? (uint32_t)(nl - data) : (uint32_t)len;
    ret->first = first;
    for (; i < h->n_murmurs && h->murmurs[i] <= ret->end; i++)
        sieve_prove(&s->m->sieve, data, 0, len, h->murmurs[i], add_hits, s);
    ret->n = take_off_line(&s->on_line, h->sights + first);
    return i;
}
