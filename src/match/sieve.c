/* The literal pass: which literals stand where in a block.
 *
 * Each literal is sought by four bytes of it, its gram (base/rare.h). A glance at all bytes leaves the places where one
 * may begin (pick.c); at each of those a table of what stands before and behind the grams is looked at; what is left is
 * proved by comparing whole literals. All but the last without a branch, for what processors cannot guess costs more.
 */
#include "match/engine.h"
#include <assert.h>
#include <xxhash.h>

enum {
    PLACES = 2048, /* bytes that are looked at in a row: with what is noted of them they stay in the nearest cache */
    BITS_MIN = 12,
};

static uint64_t load(const char *p) {
    uint64_t x;
    memcpy(&x, p, sizeof(x));
    return le64toh(x);
}

/* ---- making it */

/* The first or the last eight bytes of the literal; all, where it has no more. */
static void set_far(struct gram *g, struct dg_slice text) {
    char eight[8] = {0};
    size_t n = text.len < sizeof(eight) ? text.len : sizeof(eight);
    g->far_at = g->at < text.len / 2 ? (uint16_t)(text.len - n) : 0;
    g->far_shift = (uint8_t)(64 - 8 * n);
    memcpy(eight, text.ptr + g->far_at, n);
    g->far = load(eight) << g->far_shift;
}

static void add_literal(struct sieve *s, uint32_t literal) {
    const struct literal *l = &s->literals[literal];
    const char *gram = l->text.ptr + l->rare.at;
    uint32_t at = gram_index(gram, s->shift);
    struct gram *g = &s->grams[--s->lists[at]];
    families_add(&s->families, l->rare.family, gram);
    *g = (struct gram){.text = gram_load(gram), .literal = literal, .at = l->rare.at, .len = (uint16_t)l->text.len};
    set_far(g, l->text);
    flanks_add(&s->flanks[at], l->text, l->rare.at);
}

/* Grams of one hash lie together. */
static void add_literals(struct sieve *s) {
    size_t n_lists = (size_t)1 << (32 - s->shift);
    for (uint32_t i = 0; i < s->n_literals; i++)
        s->lists[gram_index(s->literals[i].text.ptr + s->literals[i].rare.at, s->shift)]++;
    for (size_t i = 1; i <= n_lists; i++) s->lists[i] += s->lists[i - 1];
    for (uint32_t i = 0; i < s->n_literals; i++) add_literal(s, i);
}

static unsigned bits_for(size_t n) {
    unsigned bits = BITS_MIN;
    while (bits < 31 && (size_t)1 << bits < n) bits++;
    return bits;
}

/* Sizes of the tables for n literals: roomy, as of different grams there are a third as many. */
static size_t lists_for(size_t n) { return (size_t)1 << bits_for(n); }
static size_t texts_for(size_t n) { return (size_t)1 << bits_for(2 * n); }

struct needle *sieve_room(struct sieve *s, uint32_t n) {
    size_t each = sizeof(*s->needles) + sizeof(*s->literals) + sizeof(*s->grams), lists = lists_for(n);
    *s = (struct sieve){0};
    s->memory = dg_malloc_large(n * each + lists * (sizeof(*s->flanks) + sizeof(*s->lists)) + sizeof(*s->lists) +
                                texts_for(n) * sizeof(*s->texts));
    if (!s->memory) return NULL;
    s->needles = s->memory;
    s->literals = (struct literal *)(void *)(s->needles + n);
    s->grams = (struct gram *)(void *)(s->literals + n);
    s->flanks = (struct flanks *)(void *)(s->grams + n);
    s->lists = (uint32_t *)(void *)(s->flanks + lists);
    s->texts = s->lists + lists + 1;
    return s->needles;
}

void sieve_release(struct sieve *s) {
    free(s->memory);
    *s = (struct sieve){0};
}

/* Each different text once, with the list of its needles in their order. */
static void gather(struct sieve *s, uint32_t n) {
    size_t size = texts_for(n);
    memset(s->texts, 0, size * sizeof(*s->texts));
    for (uint32_t i = n; i-- > 0;) { /* backwards, so that each list grows at its front */
        struct needle *needle = &s->needles[i];
        struct dg_slice lit = needle->lit;
        size_t at = XXH3_64bits(lit.ptr, lit.len) & (size - 1);
        while (s->texts[at] && !dg_slice_eq(s->literals[s->texts[at] - 1].text, lit)) at = (at + 1) & (size - 1);
        if (!s->texts[at]) {
            s->literals[s->n_literals] = (struct literal){.text = lit, .rare = needle->rare};
            for (int c = 0; c < CHAINS; c++) s->literals[s->n_literals].needles[c] = DG_NONE;
            s->texts[at] = ++s->n_literals;
        }
        uint32_t *list = &s->literals[s->texts[at] - 1].needles[needle->chain];
        needle->literal = s->texts[at] - 1;
        needle->same = *list;
        *list = i;
    }
}

void sieve_make(struct sieve *s, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        assert(s->needles[i].rare.at + (size_t)DG_RARE_SIZE <= s->needles[i].lit.len &&
               s->needles[i].lit.len <= UINT16_MAX);
    gather(s, n);
    s->shift = 32 - bits_for(s->n_literals);
    memset(s->flanks, 0, lists_of(s) * sizeof(*s->flanks));
    memset(s->lists, 0, (lists_of(s) + 1) * sizeof(*s->lists));
    families_init(&s->families);
    add_literals(s);
}

void sieve_quieten(struct sieve *s) {
    for (uint32_t i = 0; i < s->n_literals; i++) s->grams[i].murmurs = s->literals[s->grams[i].literal].murmurs;
}

/* ---- seeking */

struct search {
    const struct sieve *s;
    const char *data;
    size_t from, len;
    sieve_fn fn;
    sieve_quiet_fn quiet;
    void *ctx;
};

/* Does the gram g stand at `at`, and a part of its literal where that belongs? */
static inline bool stands(const struct search *q, const struct gram *g, uint32_t text, size_t at) {
    size_t start = at - g->at;
    bool within = (at - q->from >= g->at) & (start + g->len <= q->len);
    uint64_t far = load(q->data + (within ? start + g->far_at : at)) << g->far_shift;
    return within & (g->text == text) & (far == g->far);
}

/* Whole literals around the place `at`, of the list's grams from i on. */
static bool prove(const struct search *q, size_t at, uint32_t list, uint32_t i) {
    uint32_t text = gram_load(q->data + at);
    for (; i < q->s->lists[list + 1]; i++) {
        const struct gram *g = &q->s->grams[i];
        const struct literal *l = &q->s->literals[g->literal];
        if (!stands(q, g, text, at) || memcmp(q->data + at - g->at, l->text.ptr, g->len)) continue;
        if (!q->fn(q->ctx, l, at - g->at)) return false;
    }
    return true;
}

bool sieve_prove(const struct sieve *s, const char *data, size_t from, size_t len, size_t at, sieve_fn fn, void *ctx) {
    struct search q = {s, data, from, len, fn, NULL, ctx};
    uint32_t list = gram_index(data + at, s->shift);
    return prove(&q, at, list, s->lists[list]);
}

/* What a place of a gram comes to. */
static bool see(const struct search *q, size_t at) {
    uint32_t text = gram_load(q->data + at), list = gram_index(q->data + at, q->s->shift), first = DG_NONE;
    for (uint32_t i = q->s->lists[list]; i < q->s->lists[list + 1]; i++) {
        const struct gram *g = &q->s->grams[i];
        if (!stands(q, g, text, at)) continue;
        if (first == DG_NONE) first = i;
        if (!g->murmurs || !q->quiet) return prove(q, at, list, first);
    }
    return first == DG_NONE || q->quiet(q->ctx, at, list) || prove(q, at, list, first);
}

void sieve_seek(const struct sieve *s, const char *data, size_t from, size_t len, sieve_fn fn, sieve_quiet_fn quiet,
                void *ctx) {
    struct search q = {s, data, from, len, fn, quiet, ctx};
    uint32_t places[PLACES + PICK_SLACK];
    for (size_t at = from, n; at < len; at += n) {
        n = len - at < PLACES ? len - at : PLACES;
        uint32_t found = flanks_sift(s, data, from, places, families_pick(&s->families, data, at, n, places));
        for (uint32_t i = 0; i < found; i++)
            if (!see(&q, places[i])) return;
    }
}
