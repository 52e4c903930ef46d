/* The literal pass: which literals stand where in a block.
 *
 * Of each literal a run of ten bytes is chosen that is rare in logs. Whatever the literal's place in the block, one of
 * the run's three 8-byte grams begins at a multiple of three; so only every third place is looked at. A table of bytes
 * by the gram's hash lets a few percent of the places through, another one fewer, both without a branch; what a place
 * means is then told by a table of grams, and proved by comparing whole literals. Shorter literals go the same way by
 * 4-byte grams. */
#include "match/engine.h"
#include <assert.h>
#include <endian.h>
#include <xxhash.h>

enum {
    STEP = 3,
    LONG = 8,
    SHORT = 4,
    LIT_MIN = SHORT + STEP - 2, /* the last gram of the shortest has one byte that may be any */
    GROUP = 8,                  /* places that are looked at in a row */
    PLACES = 2048,              /* as many bytes as stay in the nearest cache */
    BITS_MIN = 12,
    BITS_MAX = 19
};

/* Half bits of information of a printable character, and of a letter or space (27th) after a letter or space, 'A' being
 * none: counted over server logs and English prose. */
static const char ONE[] =
    "GWRQWUWSQQSUNMMNLNNPPPPQQQMUSQSWUQSQRQQRSPVUQSQQQVQQOSUTVTVQVRSQVKOLMINMMKTOLMJJMQKKJLPPROUVUVW";
static const char AFTER[27][28] = {
    "VKIKSNJUJVOHKGVJXGIFMMRQMUI", "GRNQGPQVHLXGQQJSXJMOFVYRIVM", "HTMSGTUGLYIKQXFQUMMIIOXWQWL",
    "IRRNEURSGUTOTRJTZNKQLSTXPZE", "LNJIMNPTPXUKLGSMKGIKNNOLRXF", "KVRUILSWGXYMXVFKYJOJFZWWNZF",
    "NQNTEUNGHVZLOLNOYHLPMUVRVSF", "GYTTDYUZHZWUSSIJWJRINZVZSZI", "KJHKLLKXWXQILEHNYMHGTMZRZNP",
    "HPONFTPSMRRMMNJOPOKRIPMUURL", "HRWUCVPRKUTQUNOKTSKQPPQYUTH", "ISTMFOSWGUTFMVIRZRKLMRTWKWG",
    "GLQPFWVVIXTNKQHGUSKSKUXVRXH", "KVKHHNGVJVNOTKKQZWHHNOWZNTF", "NOKIQINUNSILIFNKZFMKHMLUTVI",
    "HXLRHWRJIYSHPWHJYHKJHWWXHZM", "UVWVUWXSRTUQSWVVVTKSDWRVVWT", "HSKMERLUHZMNLMHQZMJJIMSYLXG",
    "JUMTGSOKIVPQQPJMVLJGKTSYNYF", "JWLQGSXFGYRPSUGNZJLMNYNVMWG", "MKLJGRIXMZTGLGSLZIGGWTZQVVJ",
    "GXQVCULZGYVJNTLTXROURWXVWWM", "FZRRHXVHEYTPTKIVVLMUVVKXXWJ", "JQHQGQROJVTQLVTHVUPGUTTNPSJ",
    "NRTRNURUOVXRMMHJXIJJUSRXWWD", "HTRSDSSPHQSNNTOTROPQOUTRPOK", "JLKMMKMOKVRMMNKLVMKHMPMXPZG"};

/* Words that logs are full of: what stands in them is common, however surprising its letters are. */
static const char COMMON[] =
    " the request requests process processes server client worker memory token tokens output input prompt cache cached "
    "batch prefill decode model engine loaded loading finished started starting running waiting generation throughput "
    "timeout default context length stream answer response value block table failed retry closed open opened connection "
    "received receive after before with from for and that not found file line text user usage used free total time "
    "version weight weights checkpoint shards safetensors tokenizer config device distributed initialized initializing "
    "graph capture attention backend support supported INFO:     \"POST /v1/chat/completions HTTP/1.1\" 200 OK GPU KV cuda graph: True ";

static uint64_t load(const char *p) {
    uint64_t x;
    memcpy(&x, p, sizeof(x));
    return le64toh(x);
}

/* Hashes of both grams that begin at a place: the upper bits are of eight bytes, those of the lower half of four. */
static uint64_t mix(uint64_t x) { return x * UINT64_C(0x9e3779b97f4a7c15); }
static uint64_t mix_again(uint64_t x) { return x * UINT64_C(0xff51afd7ed558ccd); }
static uint32_t hash_of(uint64_t mixed, bool is_short) { return (uint32_t)(is_short ? mixed : mixed >> 32); }

static int letter(unsigned char c) { return c >= 'a' && c <= 'z' ? c - 'a' : c == ' ' ? 26 : -1; }

/* How surprising byte i is after the one before it, in half bits. */
static unsigned surprise(struct dg_slice s, size_t i) {
    unsigned char c = (unsigned char)s.ptr[i];
    int a = i ? letter((unsigned char)s.ptr[i - 1]) : -1, b = letter(c);
    return (unsigned)((a >= 0 && b >= 0 ? AFTER[a][b] : c >= ' ' && c <= '~' ? ONE[c - ' '] : 'Z') - 'A');
}

/* Which grams of one size are common, by hash. */
struct common {
    size_t size;
    bool is[1 << BITS_MIN];
};

static bool *common_slot(struct common *c, const char *gram) {
    char text[LONG] = {0};
    memcpy(text, gram, c->size == LONG ? LONG : SHORT);
    return &c->is[hash_of(mix(load(text)), false) >> (32 - BITS_MIN)];
}

static void common_init(struct common *c, size_t size) {
    *c = (struct common){.size = size};
    for (size_t i = 0; i + size < sizeof(COMMON); i++) *common_slot(c, COMMON + i) = true;
}

/* Where the run of grams begins that logs hold least often. */
static uint16_t rarest_run(struct dg_slice lit, struct common *c) {
    unsigned bytes[LONG] = {0}, sum = 0;
    uint64_t often[STEP] = {0}, best = UINT64_MAX;
    size_t size = c->size, at = 0;
    for (size_t end = 1; end <= lit.len; end++) {
        unsigned *byte = &bytes[end & (size - 1)], now = surprise(lit, end - 1);
        sum += now - *byte; /* of the last `size` bytes */
        *byte = now;
        unsigned bits = (end >= size && *common_slot(c, lit.ptr + end - size) ? sum / 4 : sum) / 2;
        often[end % STEP] = UINT64_C(1) << (bits < 60 ? 60 - bits : 0);
        if (end < size + STEP - 1) continue;
        uint64_t all = 0;
        for (int i = 0; i < STEP; i++) all += often[i];
        if (all >= best) continue;
        best = all;
        at = end - (size + STEP - 1);
    }
    return (uint16_t)at;
}

/* ---- grams */

/* The gram, or the free place where it is to stand. */
static struct gram *find(const struct grams *g, uint64_t text, uint32_t hash) {
    for (uint32_t i = hash >> g->table_shift;; i = (i + 1) & g->table_mask)
        if (!g->table[i].uses || g->table[i].text == text) return &g->table[i];
}

static void add_gram(struct sieve *s, uint32_t literal, size_t at, const char text[LONG]) {
    struct literal *l = &s->literals[literal];
    struct grams *g = l->is_short ? &s->shorts : &s->longs;
    uint64_t x = load(text);
    uint32_t hash = hash_of(mix(x), l->is_short);
    struct gram *gram = find(g, x, hash);
    g->filter[hash >> g->filter_shift] = 1;
    g->second[hash_of(mix_again(x), l->is_short) >> g->second_shift] = 1;
    g->uses[++g->n_uses] = (struct gram_use){literal, gram->uses, (uint16_t)at, l->text.ptr[l->text.len - 1]};
    *gram = (struct gram){x, g->n_uses};
}

/* Later grams are met first, as they mean earlier places of their literal. */
static void add_literal(struct sieve *s, uint32_t literal) {
    const struct literal *l = &s->literals[literal];
    size_t size = l->is_short ? SHORT : LONG, end = l->run + STEP;
    for (size_t at = l->run; at < end; at++) {
        char text[LONG] = {0};
        bool whole = at + size <= l->text.len;
        memcpy(text, l->text.ptr + at, whole ? size : size - 1);
        for (int any = 0; any < (whole ? 1 : 256); any++) {
            if (!whole) text[size - 1] = (char)any;
            add_gram(s, literal, at, text);
        }
    }
}

static unsigned bits_for(size_t n, unsigned max) {
    unsigned bits = BITS_MIN;
    while (bits < max && (size_t)1 << bits < n) bits++;
    return bits;
}

static bool grams_init(struct grams *g, size_t uses) {
    unsigned filter = bits_for(32 * uses, BITS_MAX), second = bits_for(32 * uses, BITS_MAX),
             table = bits_for(2 * uses, 31);
    g->filter = dg_calloc((size_t)1 << filter, sizeof(*g->filter));
    g->second = dg_calloc((size_t)1 << second, sizeof(*g->second));
    g->table = dg_calloc((size_t)1 << table, sizeof(*g->table));
    g->uses = dg_calloc(uses + 1, sizeof(*g->uses));
    g->filter_shift = 32 - filter;
    g->second_shift = 32 - second;
    g->table_shift = 32 - table;
    g->table_mask = (UINT32_C(1) << table) - 1;
    return g->filter && g->second && g->table && g->uses;
}

static void grams_release(struct grams *g) {
    free(g->filter);
    free(g->second);
    free(g->table);
    free(g->uses);
}

/* Each different text once, with the list of its needles in their order. */
static bool gather(struct sieve *s, struct needle *needles, uint32_t n) {
    size_t size = (size_t)1 << bits_for(2 * (size_t)n, 31);
    _cleanup_(dg_freep) uint32_t *table = dg_calloc(size, sizeof(*table));
    struct common longs, shorts;
    common_init(&longs, LONG);
    common_init(&shorts, SHORT);
    s->literals = dg_calloc(n, sizeof(*s->literals));
    if (!table || !s->literals) return false;
    for (uint32_t i = n; i-- > 0;) { /* backwards, so that each list grows at its front */
        struct dg_slice lit = needles[i].lit;
        size_t at = XXH3_64bits(lit.ptr, lit.len) & (size - 1);
        while (table[at] && !dg_slice_eq(s->literals[table[at] - 1].text, lit)) at = (at + 1) & (size - 1);
        if (!table[at]) {
            bool is_short = lit.len < LONG + STEP - 1;
            s->literals[s->n_literals++] = (struct literal){.text = lit,
                                                            .needles = DG_NONE,
                                                            .is_short = is_short,
                                                            .run = rarest_run(lit, is_short ? &shorts : &longs)};
            table[at] = s->n_literals;
        }
        needles[i].same = s->literals[table[at] - 1].needles;
        s->literals[table[at] - 1].needles = i;
    }
    return true;
}

static size_t uses_of(const struct literal *l) { return l->text.len == LIT_MIN ? STEP - 1 + 256 : STEP; }

bool sieve_init(struct sieve *s, struct needle *needles, uint32_t n) {
    size_t longs = 0, shorts = 0;
    for (uint32_t i = 0; i < n; i++) assert(needles[i].lit.len >= LIT_MIN && needles[i].lit.len <= UINT16_MAX);
    if (!gather(s, needles, n)) return false;
    for (uint32_t i = 0; i < s->n_literals; i++)
        *(s->literals[i].is_short ? &shorts : &longs) += uses_of(&s->literals[i]);
    if (!grams_init(&s->longs, longs) || !grams_init(&s->shorts, shorts)) return false;
    for (uint32_t i = 0; i < s->n_literals; i++) add_literal(s, i);
    return true;
}

void sieve_release(struct sieve *s) {
    free(s->literals);
    grams_release(&s->longs);
    grams_release(&s->shorts);
    *s = (struct sieve){0};
}

/* ---- seeking */

/* The places among data[at, at + STEP * GROUP * n) that the filters let through. `out` has room for one more than
 * that. */
static uint32_t pick(const struct sieve *s, const char *data, size_t at, size_t n, uint32_t *out) {
    const uint8_t *longs = s->longs.filter, *shorts = s->shorts.filter;
    const unsigned by_long = 32 + s->longs.filter_shift, by_short = s->shorts.filter_shift;
    uint32_t found = 0;
    for (size_t i = 0; i < n; i++, at += STEP * GROUP)
#pragma GCC unroll 8
        for (size_t k = 0; k < GROUP; k++) {
            uint64_t y = mix(load(data + at + STEP * k));
            out[found] = (uint32_t)(at + STEP * k);
            found += longs[y >> by_long] | shorts[(uint32_t)y >> by_short];
        }
    return found;
}

/* Those of n places that the second filters let through as well. */
static uint32_t sift(const struct sieve *s, const char *data, uint32_t *places, uint32_t n) {
    const uint8_t *longs = s->longs.second, *shorts = s->shorts.second;
    const unsigned by_long = 32 + s->longs.second_shift, by_short = s->shorts.second_shift;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t y = mix_again(load(data + places[i]));
        places[kept] = places[i];
        kept += longs[y >> by_long] | shorts[(uint32_t)y >> by_short];
    }
    return kept;
}

/* Whole literals around the gram at `at`, all within data[from, len). */
static bool prove(const struct sieve *s, const struct grams *g, const struct gram *gram, const char *data, size_t from,
                  size_t len, size_t at, sieve_fn fn, void *ctx) {
    for (uint32_t i = gram->uses; i; i = g->uses[i].next) {
        const struct gram_use *u = &g->uses[i];
        const struct literal *l = &s->literals[u->literal];
        size_t start = at - u->at;
        if (at - from < u->at || len - start < l->text.len) continue;
        if (data[start + l->text.len - 1] != u->last || memcmp(data + start, l->text.ptr, l->text.len)) continue;
        if (!fn(ctx, l, start)) return false;
    }
    return true;
}

void sieve_seek(const struct sieve *s, const char *data, size_t from, size_t len, sieve_fn fn, void *ctx) {
    uint32_t places[PLACES + 1];
    for (size_t at = from; at < len;) {
        size_t groups = (len - at + STEP * GROUP - 1) / (STEP * GROUP);
        if (groups > PLACES / GROUP) groups = PLACES / GROUP;
        uint32_t n = sift(s, data, places, pick(s, data, at, groups, places));
        for (uint32_t i = 0; i < n && places[i] < len; i++) {
            uint64_t x = load(data + places[i]), y = mix(x);
            const struct gram *l = find(&s->longs, x, hash_of(y, false)),
                              *c = find(&s->shorts, x & UINT32_MAX, hash_of(y, true));
            if (!prove(s, &s->longs, l, data, from, len, places[i], fn, ctx) ||
                !prove(s, &s->shorts, c, data, from, len, places[i], fn, ctx))
                return;
        }
        at += groups * STEP * GROUP;
    }
}
