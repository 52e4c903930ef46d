/* Stage 1: which lines of a block hold which literals. */
#include "match/engine.h"

int scanner_init(struct scanner *s, const struct dg_matcher *m, bool plain) {
    *s = (struct scanner){.m = m, .plain = plain || !m->db};
    s->seen = dg_calloc(m->n_needles, sizeof(*s->seen));
    s->loose = dg_calloc(m->n_loose, sizeof(*s->loose));
    if (!s->seen || !s->loose || (!s->plain && hs_alloc_scratch(m->db, &s->scratch) != HS_SUCCESS)) return -DG_E_NOMEM;
    return 0;
}

void scanner_release(struct scanner *s) {
    free(s->seen);
    free(s->loose);
    hs_free_scratch(s->scratch);
    *s = (struct scanner){0};
}

static size_t room(const struct dg_matcher *m) { return m->n_needles > HITS_MAX ? m->n_needles : HITS_MAX; }

int hits_init(struct hits *h, const struct dg_matcher *m) {
    *h = (struct hits){.lines = dg_malloc(HITS_MAX * sizeof(*h->lines)),
                       .sights = dg_malloc(room(m) * sizeof(*h->sights))};
    return h->lines && h->sights ? 0 : -DG_E_NOMEM;
}

void hits_release(struct hits *h) {
    free(h->lines);
    free(h->sights);
    *h = (struct hits){0};
}

/* Newlines in [p, p+n). The inner loop is one that compilers turn into vector instructions. */
size_t count_newlines(const char *p, size_t n) {
    typedef unsigned char v16 __attribute__((vector_size(16)));
    size_t total = 0;
    while (n >= 16) {
        size_t chunks = n / 16 < 255 ? n / 16 : 255;
        v16 sums = {0};
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
    bool cut;
};

/* Close the line at hand: its needles in their order. */
static void sort_line(struct hits *h) {
    if (!h->n_lines) return;
    struct hit_line *l = &h->lines[h->n_lines - 1];
    struct sight *v = h->sights + l->first;
    l->n = h->n_hits - l->first;
    for (uint32_t i = 1; i < l->n; i++) {
        struct sight x = v[i];
        uint32_t k = i;
        for (; k && v[k - 1].needle > x.needle; k--) v[k] = v[k - 1];
        v[k] = x;
    }
}

/* Make the line around `at` the one at hand; a hit inside the last line changes nothing. */
static bool enter_line(struct pass *p, size_t at) {
    struct hits *h = p->h;
    size_t floor = h->n_lines ? h->lines[h->n_lines - 1].end : p->from;
    if (h->n_lines && at <= floor) return true;
    sort_line(h);
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
    p->h->sights[p->h->n_hits++] = (struct sight){needle, (uint32_t)at};
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

/* Loose needles: each knows where it stands next; they are handed in with what libhs finds, in the order of lines. */
static void seek_loose(struct pass *p, uint32_t i, size_t from) {
    struct dg_slice lit = p->s->m->needles[p->s->m->loose[i]].lit;
    p->s->loose[i] = from < p->len ? memmem(p->data + from, p->len - from, lit.ptr, lit.len) : NULL;
}

/* All that end by `end`. False: the pass is cut. */
static bool loose_upto(struct pass *p, size_t end) {
    const struct dg_matcher *m = p->s->m;
    for (;;) {
        uint32_t first = DG_NONE;
        for (uint32_t i = 0; i < m->n_loose; i++)
            if (p->s->loose[i] && (first == DG_NONE || p->s->loose[i] < p->s->loose[first])) first = i;
        if (first == DG_NONE) return true;
        size_t at = (size_t)(p->s->loose[first] - p->data), stop = at + m->needles[m->loose[first]].lit.len;
        if (stop > end) return true;
        if (!enter_line(p, stop) || !add_hit(p, m->loose[first], at)) return cut(p), false;
        seek_loose(p, first, p->h->lines[p->h->n_lines - 1].end);
    }
}

/* A window ends at `to`: the literals it stands for are proved here. No literal holds a newline, so each lies within
 * one line. */
static int on_window(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *ctx) {
    struct pass *p = ctx;
    const struct dg_matcher *m = p->s->m;
    (void)from, (void)flags;
    if (id >= m->n_windows || !m->windows[id].n) return 0; /* the dummy, or of a rule that was replaced */
    const struct window *w = &m->windows[id];
    size_t end = p->from + (size_t)to, start = end - w->text.len;
    bool there = false;
    if (m->n_loose && !loose_upto(p, end)) return 1;
    for (const struct member *i = m->members + w->first, *stop = i + w->n; i < stop; i++) {
        if (!i->again) {
            size_t before = start - p->from, after = p->len - start;
            const char *lit = p->data + start - i->win_at;
            there = before >= i->win_at && after + i->win_at >= i->len && lit[i->len - 1] == i->last &&
                    !memcmp(lit, i->lit, i->len);
        }
        if (there && (!enter_line(p, end) || !add_hit(p, i->needle, start - i->win_at))) return cut(p), 1;
    }
    return 0;
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

void hits_find(struct scanner *s, const char *data, size_t len, size_t from, uint32_t line, struct hits *h) {
    struct pass p = {
        .s = s, .h = h, .data = data, .len = len, .from = from, .room = room(s->m), .counted = from, .line = line};
    h->n_lines = h->n_hits = 0;
    h->to = len;
    s->serial++;
    if (s->plain) {
        plain_pass(&p);
    } else {
        for (uint32_t i = 0; i < s->m->n_loose; i++) seek_loose(&p, i, from);
        hs_error_t r = hs_scan(s->m->db, data + from, (unsigned)(len - from), 0, s->scratch, on_window, &p);
        if (r != HS_SUCCESS && r != HS_SCAN_TERMINATED) { /* never seen; the slow way still answers */
            s->plain = true;
            hits_find(s, data, len, from, line, h);
            return;
        }
        if (!p.cut) loose_upto(&p, len);
    }
    if (p.cut) return;
    sort_line(h);
    h->line_at_to = p.line + (uint32_t)count_newlines(data + p.counted, len - p.counted);
}
