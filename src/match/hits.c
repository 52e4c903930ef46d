/* Stage 1: which lines of a block hold which literals. */
#include "match/engine.h"

int scanner_init(struct scanner *s, const struct dg_matcher *m, const struct dg_match_opts *opts) {
    *s = (struct scanner){.m = m, .opts = opts};
    s->seen = dg_calloc(m->n_needles, sizeof(*s->seen));
    s->run = dg_calloc(m->n_needles, sizeof(*s->run));
    s->matched = dg_calloc(m->rules->n_rules, sizeof(*s->matched));
    s->tried = dg_calloc(m->rules->n_patterns, sizeof(*s->tried));
    return s->seen && s->run && s->matched && s->tried ? pcre_init(&s->pcre) : -DG_E_NOMEM;
}

void scanner_release(struct scanner *s) {
    free(s->seen);
    free(s->run);
    free(s->matched);
    free(s->tried);
    pcre_release(&s->pcre);
    *s = (struct scanner){0};
}

static size_t room(const struct dg_matcher *m) { return m->n_needles > SIGHTS_MAX ? m->n_needles : SIGHTS_MAX; }

int hits_init(struct hits *h, const struct dg_matcher *m) {
    *h = (struct hits){.lines = dg_malloc(HITS_MAX * sizeof(*h->lines)),
                       .sights = dg_malloc(room(m) * sizeof(*h->sights))};
    return h->lines && h->sights ? 0 : -DG_E_NOMEM;
}

void hits_release(struct hits *h) {
    free(h->lines);
    free(h->sights);
    free(h->msgs);
    free(h->caps.v);
    *h = (struct hits){0};
}

/* Newlines in [p, p+n). The inner loop is one that compilers turn into vector instructions. */
size_t count_newlines(const char *p, size_t n) {
    typedef unsigned char v16 __attribute__((vector_size(16)));
    size_t total = 0;
    while (n >= 16) {
        size_t chunks = n / 16 < 255 ? n / 16 : 255;
        v16 sums = {0};
#pragma GCC unroll 4
        for (size_t i = 0; i < chunks; i++) {
            v16 x;
            memcpy(&x, p + 16 * i, 16);
            sums -= (v16)(x == '\n');
        }
        for (int i = 0; i < 16; i++) total += sums[i];
        p += 16 * chunks;
        n -= 16 * chunks;
    }
    while (n--) total += *p++ == '\n';
    return total;
}

struct pass {
    struct scanner *s;
    struct hits *h;
    const char *data; /* of the block */
    size_t len, from;
    size_t room;
    size_t counted; /* newlines before here are in `line` */
    uint32_t line;
    int kind;
    bool cut;
};

/* The needles of one literal are in order, so what is to be sorted is made of a few runs: merge each with those before
 * it, from its end. `own`: room for a run. */
static void sort_line(struct sight *v, uint32_t n, struct sight *own) {
    for (uint32_t end, at = 0; at < n; at = end) {
        for (end = at + 1; end < n && v[end - 1].needle < v[end].needle; end++) continue;
        if (!at || v[at - 1].needle < v[at].needle) continue;
        uint32_t k = end - at, i = at;
        memcpy(own, v + at, k * sizeof(*own));
        for (uint32_t to = end; k; to--) v[to - 1] = i && v[i - 1].needle > own[k - 1].needle ? v[--i] : own[--k];
    }
}

/* Close the line at hand: its needles in their order, and tried. One of which no hit is left is none. */
static void close_line(struct pass *p) {
    struct hits *h = p->h;
    if (!h->n_lines) return;
    struct hit_line *l = &h->lines[h->n_lines - 1];
    l->n = h->n_hits - l->first;
    sort_line(h->sights + l->first, l->n, p->s->run);
    if (p->kind < 0) return;
    trial_line(p->s, p->data, p->len, (enum dg_kind)p->kind, h, h->n_lines - 1);
    h->n_hits = l->first + l->n;
    if (!l->n) h->n_lines--;
}

/* Make the line around `at` the one at hand; a hit inside the last line changes nothing. */
static bool enter_line(struct pass *p, size_t at) {
    struct hits *h = p->h;
    size_t floor = h->n_lines ? h->lines[h->n_lines - 1].end : p->from;
    if (h->n_lines && at <= floor) return true;
    close_line(p);
    if (h->n_lines == HITS_MAX) return false;
    const char *nl = memrchr(p->data + floor, '\n', at - floor);
    size_t start = nl ? (size_t)(nl - p->data) + 1 : floor;
    nl = memchr(p->data + at, '\n', p->len - at);
    size_t end = nl ? (size_t)(nl - p->data) : p->len;
    if (h->n_lines && start == floor + 1)
        p->line++; /* the next line: in a log that is full of hits they all are */
    else
        p->line += (uint32_t)count_newlines(p->data + p->counted, start - p->counted);
    p->counted = start;
    p->s->serial++;
    h->lines[h->n_lines++] =
        (struct hit_line){.start = (uint32_t)start, .end = (uint32_t)end, .index = p->line, .first = h->n_hits};
    return true;
}

static bool add_hit(struct pass *p, uint32_t needle, size_t at) {
    if (p->s->seen[needle] == p->s->serial) return true;
    if (p->h->n_hits == p->room) return false;
    p->s->seen[needle] = p->s->serial;
    p->h->sights[p->h->n_hits++] = (struct sight){.needle = needle, .at = (uint32_t)at};
    return true;
}

/* Give the last, unfinished line back: the next pass begins with it. */
static void cut(struct pass *p) {
    struct hits *h = p->h;
    if (h->n_hits == p->room && h->n_lines > 1) {
        struct hit_line *l = &h->lines[--h->n_lines];
        h->n_hits = l->first;
        h->to = l->start;
        h->line_at_to = l->index;
    } else { /* no room for another line */
        h->to = h->lines[h->n_lines - 1].end + 1;
        h->line_at_to = h->lines[h->n_lines - 1].index + 1;
    }
    p->cut = true;
}

/* No literal holds a newline, so each lies within one line. */
static bool on_literal(void *ctx, const struct literal *l, size_t start) {
    struct pass *p = ctx;
    if (!enter_line(p, start + l->text.len)) return cut(p), false;
    for (uint32_t n = l->needles; n != DG_NONE; n = p->s->m->needles[n].same)
        if (!add_hit(p, n, start)) return cut(p), false;
    return true;
}

static void plain_line(struct pass *p, size_t start, size_t end) {
    const struct dg_matcher *m = p->s->m;
    for (uint32_t i = 0; i < m->n_needles && !p->cut; i++) {
        struct dg_slice lit = m->needles[i].lit;
        const char *at = memmem(p->data + start, end - start, lit.ptr, lit.len);
        if (at && (!enter_line(p, end) || !add_hit(p, i, (size_t)(at - p->data)))) cut(p);
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
                     .room = room(s->m),
                     .counted = from,
                     .line = line,
                     .kind = s->opts->plain ? -1 : kind};
    h->n_lines = h->n_hits = 0;
    h->caps.n = 0;
    h->to = len;
    s->serial++;
    if (s->opts->plain)
        plain_pass(&p);
    else
        sieve_seek(&s->m->sieve, data, from, len, on_literal, &p);
    if (p.cut) return;
    close_line(&p);
    h->line_at_to = p.line + (uint32_t)count_newlines(data + p.counted, len - p.counted);
}
