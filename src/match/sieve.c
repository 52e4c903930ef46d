/* The literal pass: which literals stand where in a block.
 *
 * Of each literal three grams are sought that follow one another and are rare in logs (base/rare.h). Whatever the
 * literal's place in the block, one of them begins at a multiple of three; so only every third place is looked at. A
 * table of bytes by the hash of four bytes lets a tenth of the places through, one by the hash of six bytes a fifth of
 * those, a glance at another part of the literal half of those, all without a branch. What is left is proved by
 * comparing whole literals. Literals too short for grams of six bytes have the first table, the glance and the proof.
 */
#include "match/engine.h"
#include <assert.h>
#include <endian.h>
#include <xxhash.h>

enum {
    STEP = DG_RARE_STEP,
    LIT_MIN = DG_RARE_SHORT + STEP - 2, /* the last gram of the shortest has one byte that may be any */
    GROUP = 8,                          /* places that are looked at in a row */
    PLACES = 2048,                      /* as many bytes as stay in the nearest cache */
    BITS_MIN = 12,
    FIRST_MAX = 18,
    TAG_BITS = 16 /* what the index leaves of a hash is its tag */
};

/* What a byte of the first table says of the grams that begin with these four bytes. */
enum { BY_LONG = 1, BY_SHORT = 2 };
/* An entry of the second table: the lower bits of the hash of the one gram that it stands for. */
enum { TAG_NONE = 0, TAG_MANY = 1, TAG_ONE = 2 };

static uint64_t load(const char *p) {
    uint64_t x;
    memcpy(&x, p, sizeof(x));
    return le64toh(x);
}

/* The first four and the first six of eight bytes; and hashes of those, good in their upper bits. */
static uint32_t short_gram(uint64_t x) { return (uint32_t)x; }
static uint64_t long_gram(uint64_t x) { return x << (64 - 8 * DG_RARE_LONG); }
static uint32_t short_hash(uint64_t x) { return short_gram(x) * UINT32_C(0x85ebca6b); }
static uint16_t tag(uint32_t hash) { return (uint16_t)(hash | TAG_ONE); }
static uint32_t long_hash(uint64_t x) { return (uint32_t)((long_gram(x) * UINT64_C(0xff51afd7ed558ccd)) >> 32); }

/* ---- making it */

/* The list of the grams that share a hash. */
static uint32_t *list_of(const struct sieve *s, uint64_t x, bool is_short) {
    return is_short ? &s->shorts[short_hash(x) >> s->shorts_shift] : &s->longs[long_hash(x) >> s->longs_shift];
}

static void add_tag(uint16_t *entry, uint16_t one) { *entry = *entry == TAG_NONE || *entry == one ? one : TAG_MANY; }

/* The first or the last eight bytes of the literal; all, where it has no more. */
static void set_far(struct gram *g, struct dg_slice text) {
    char eight[8] = {0};
    size_t n = text.len < sizeof(eight) ? text.len : sizeof(eight);
    g->far_at = g->at < text.len / 2 ? (uint16_t)(text.len - n) : 0;
    g->far_shift = (uint8_t)(64 - 8 * n);
    memcpy(eight, text.ptr + g->far_at, n);
    g->far = load(eight) << g->far_shift;
}

static void add_gram(struct sieve *s, uint32_t literal, size_t at, uint64_t x) {
    const struct literal *l = &s->literals[literal];
    uint32_t *list = list_of(s, x, l->is_short);
    s->first[short_hash(x) >> s->first_shift] |= l->is_short ? BY_SHORT : BY_LONG;
    if (!l->is_short) add_tag(&s->second[long_hash(x) >> s->second_shift], tag(long_hash(x)));
    s->grams[++s->n_grams] = (struct gram){.text = l->is_short ? short_gram(x) : long_gram(x),
                                           .literal = literal,
                                           .next = *list,
                                           .at = (uint16_t)at,
                                           .len = (uint16_t)l->text.len};
    set_far(&s->grams[s->n_grams], l->text);
    *list = s->n_grams;
}

/* Later grams are met first, as they mean earlier places of their literal. */
static void add_literal(struct sieve *s, uint32_t literal) {
    const struct literal *l = &s->literals[literal];
    size_t size = l->is_short ? DG_RARE_SHORT : DG_RARE_LONG;
    for (size_t at = l->run; at < (size_t)l->run + STEP; at++) {
        char text[8] = {0};
        bool whole = at + size <= l->text.len;
        memcpy(text, l->text.ptr + at, whole ? size : size - 1);
        for (int any = 0; any < (whole ? 1 : 256); any++) {
            if (!whole) text[size - 1] = (char)any;
            add_gram(s, literal, at, load(text));
        }
    }
}

static unsigned bits_for(size_t n, unsigned max) {
    unsigned bits = BITS_MIN;
    while (bits < max && (size_t)1 << bits < n) bits++;
    return bits;
}

/* All tables in one piece: the few large pages of it are had sooner than hundreds of small ones. */
static bool tables_init(struct sieve *s, size_t longs, size_t shorts) {
    unsigned first = bits_for(16 * (longs + shorts), FIRST_MAX), second = bits_for(4 * longs, TAG_BITS),
             by_long = bits_for(4 * longs, 31), by_short = bits_for(16 * shorts, 31);
    size_t n_grams = longs + shorts + 1, n_lists = ((size_t)1 << by_long) + ((size_t)1 << by_short);
    size_t size = n_grams * sizeof(*s->grams) + n_lists * sizeof(*s->longs) +
                  ((size_t)1 << second) * sizeof(*s->second) + ((size_t)1 << first);
    s->grams = dg_malloc_large(size);
    if (!s->grams) return false;
    memset(s->grams, 0, size);
    s->longs = (uint32_t *)(void *)(s->grams + n_grams);
    s->shorts = s->longs + ((size_t)1 << by_long);
    s->second = (uint16_t *)(void *)(s->longs + n_lists);
    s->first = (uint8_t *)(s->second + ((size_t)1 << second));
    s->first_shift = 32 - first;
    s->second_shift = 32 - second;
    s->longs_shift = 32 - by_long;
    s->shorts_shift = 32 - by_short;
    return true;
}

/* Each different text once, with the list of its needles in their order. */
static bool gather(struct sieve *s, struct needle *needles, uint32_t n) {
    size_t size = (size_t)1 << bits_for(2 * (size_t)n, 31);
    _cleanup_(dg_freep) uint32_t *table = dg_calloc(size, sizeof(*table));
    s->literals = dg_calloc(n, sizeof(*s->literals));
    if (!table || !s->literals) return false;
    for (uint32_t i = n; i-- > 0;) { /* backwards, so that each list grows at its front */
        struct dg_slice lit = needles[i].lit;
        size_t at = XXH3_64bits(lit.ptr, lit.len) & (size - 1);
        while (table[at] && !dg_slice_eq(s->literals[table[at] - 1].text, lit)) at = (at + 1) & (size - 1);
        if (!table[at]) {
            s->literals[s->n_literals++] = (struct literal){.text = lit,
                                                            .needles = DG_NONE,
                                                            .steps = DG_NONE,
                                                            .guess_steps = DG_NONE,
                                                            .is_short = dg_rare_is_short(lit.len),
                                                            .run = needles[i].rare};
            table[at] = s->n_literals;
        }
        struct literal *l = &s->literals[table[at] - 1];
        uint32_t *steps = needles[i].guess ? &l->guess_steps : &l->steps;
        uint32_t *list = needles[i].steps ? steps : &l->needles;
        needles[i].literal = table[at] - 1;
        needles[i].same = *list;
        *list = i;
    }
    return true;
}

static size_t grams_of(const struct literal *l) { return l->text.len == LIT_MIN ? STEP - 1 + 256 : STEP; }

bool sieve_init(struct sieve *s, struct needle *needles, uint32_t n) {
    size_t longs = 0, shorts = 0;
    for (uint32_t i = 0; i < n; i++) assert(needles[i].lit.len >= LIT_MIN && needles[i].lit.len <= UINT16_MAX);
    if (!gather(s, needles, n)) return false;
    for (uint32_t i = 0; i < s->n_literals; i++)
        *(s->literals[i].is_short ? &shorts : &longs) += grams_of(&s->literals[i]);
    if (!tables_init(s, longs, shorts)) return false;
    for (uint32_t i = 0; i < s->n_literals; i++) add_literal(s, i);
    return true;
}

void sieve_release(struct sieve *s) {
    free(s->literals);
    free(s->grams);
    *s = (struct sieve){0};
}

/* ---- seeking */

/* The places among data[at, at + STEP * GROUP * n) that the first table lets through. `out` has room for one more than
 * that. */
static uint32_t pick(const struct sieve *s, const char *data, size_t at, size_t n, uint32_t *out) {
    const uint8_t *first = s->first;
    const unsigned shift = s->first_shift;
    uint32_t found = 0;
    for (size_t i = 0; i < n; i++, at += STEP * GROUP)
#pragma GCC unroll 8
        for (size_t k = 0; k < GROUP; k++) {
            out[found] = (uint32_t)(at + STEP * k);
            found += first[short_hash(load(data + at + STEP * k)) >> shift] != 0;
        }
    return found;
}

/* Those of n places that may begin a long gram, or a short one. */
static uint32_t sift(const struct sieve *s, const char *data, uint32_t *places, uint32_t n) {
    const uint8_t *first = s->first;
    const uint16_t *second = s->second;
    const unsigned first_shift = s->first_shift, second_shift = s->second_shift;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t x = load(data + places[i]);
        places[kept] = places[i];
        uint32_t hash = long_hash(x);
        uint16_t entry = second[hash >> second_shift];
        kept += (entry == tag(hash)) | (entry == TAG_MANY) | (first[short_hash(x) >> first_shift] >= BY_SHORT);
    }
    return kept;
}

struct search {
    const struct sieve *s;
    const char *data;
    size_t from, len;
    sieve_fn fn;
    void *ctx;
};

/* Does gram g stand at `at`, and a part of its literal where that belongs? Without a branch, for it is a toss of a coin
 * that processors cannot guess. */
static inline bool stands(const struct search *q, const struct gram *g, uint64_t text, size_t at) {
    size_t start = at - g->at;
    bool within = (at - q->from >= g->at) & (start + g->len <= q->len);
    uint64_t far = load(q->data + (within ? start + g->far_at : at)) << g->far_shift;
    return within & (g->text == text) & (far == g->far);
}

/* Those of n places where one does, or more than one might. */
static uint32_t weigh(const struct search *q, uint32_t *places, uint32_t n) {
    const struct sieve *s = q->s;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t at = places[i];
        uint64_t x = load(q->data + at);
        const struct gram *by_long = &s->grams[*list_of(s, x, false)], *by_short = &s->grams[*list_of(s, x, true)];
        places[kept] = places[i];
        bool more = by_long->next | by_short->next;
        kept += more | stands(q, by_long, long_gram(x), at) | stands(q, by_short, short_gram(x), at);
    }
    return kept;
}

/* Whole literals around the gram `text` at `at`; `i` begins the list of its hash. */
static inline bool prove(const struct search *q, uint32_t i, uint64_t text, size_t at) {
    for (; i; i = q->s->grams[i].next) {
        const struct gram *g = &q->s->grams[i];
        const struct literal *l = &q->s->literals[g->literal];
        if (!stands(q, g, text, at) || memcmp(q->data + at - g->at, l->text.ptr, g->len)) continue;
        if (!q->fn(q->ctx, l, at - g->at)) return false;
    }
    return true;
}

void sieve_seek(const struct sieve *s, const char *data, size_t from, size_t len, sieve_fn fn, void *ctx) {
    struct search q = {s, data, from, len, fn, ctx};
    uint32_t places[PLACES + 1];
    for (size_t at = from; at < len;) {
        size_t groups = (len - at + STEP * GROUP - 1) / (STEP * GROUP);
        if (groups > PLACES / GROUP) groups = PLACES / GROUP;
        uint32_t n = weigh(&q, places, sift(s, data, places, pick(s, data, at, groups, places)));
        for (uint32_t i = 0; i < n && places[i] < len; i++) {
            uint64_t x = load(data + places[i]);
            if (!prove(&q, *list_of(s, x, false), long_gram(x), places[i]) ||
                !prove(&q, *list_of(s, x, true), short_gram(x), places[i]))
                return;
        }
        at += groups * STEP * GROUP;
    }
}
