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

/* The tables in one piece: the few large pages of it are had sooner than hundreds of small ones. */
static bool tables_init(struct sieve *s) {
    unsigned bits = bits_for(s->n_literals); /* of different grams there are a third as many */
    size_t n_lists = (size_t)1 << bits,
           size = (n_lists + 1) * (sizeof(*s->flanks) + sizeof(*s->lists)) + s->n_literals * sizeof(*s->grams);
    s->grams = dg_malloc_large(size);
    if (!s->grams) return false;
    memset(s->grams, 0, size);
    s->flanks = (struct flanks *)(void *)(s->grams + s->n_literals);
    s->lists = (uint32_t *)(void *)(s->flanks + n_lists);
    s->shift = 32 - bits;
    families_init(&s->families);
    return true;
}

/* Each different text once, with the list of its needles in their order. */
static bool gather(struct sieve *s, struct needle *needles, uint32_t n) {
    size_t size = (size_t)1 << bits_for(2 * (size_t)n);
    _cleanup_(dg_freep) uint32_t *table = dg_calloc(size, sizeof(*table));
    s->literals = dg_calloc(n, sizeof(*s->literals));
    if (!table || !s->literals) return false;
    for (uint32_t i = n; i-- > 0;) { /* backwards, so that each list grows at its front */
        struct dg_slice lit = needles[i].lit;
        size_t at = XXH3_64bits(lit.ptr, lit.len) & (size - 1);
        while (table[at] && !dg_slice_eq(s->literals[table[at] - 1].text, lit)) at = (at + 1) & (size - 1);
        if (!table[at]) {
            s->literals[s->n_literals] = (struct literal){.text = lit, .rare = needles[i].rare};
            for (int c = 0; c < CHAINS; c++) s->literals[s->n_literals].needles[c] = DG_NONE;
            s->n_literals++;
            table[at] = s->n_literals;
        }
        uint32_t *list = &s->literals[table[at] - 1].needles[needles[i].chain];
        needles[i].literal = table[at] - 1;
        needles[i].same = *list;
        *list = i;
    }
    return true;
}

bool sieve_init(struct sieve *s, struct needle *needles, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        assert(needles[i].rare.at + (size_t)DG_RARE_SIZE <= needles[i].lit.len && needles[i].lit.len <= UINT16_MAX);
    if (!gather(s, needles, n) || !tables_init(s)) return false;
    add_literals(s);
    return true;
}

void sieve_release(struct sieve *s) {
    free(s->literals);
    free(s->grams);
    *s = (struct sieve){0};
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
