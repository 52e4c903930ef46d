/* families RULES TEXT…: print the table FAMILIES of src/base/rare.c, made for the rules in the folder RULES and for
 * texts like those: what healthy servers print, and prose. To be run again when much has been added to the rules:
 *
 *   build/release/families rules $(find fixtures/logs -path '*healthy*log.txt') README.md $(find man -name '*.[15]*')
 *
 * Of each literal one gram is put into one of the families, so that the texts hold few places that a family lets
 * through: one after the other, then again and again, given all others. */
#include "match/engine.h"
#include "base/file.h"
#include "base/rare.h"
#include "pack/pack.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    SIZE = DG_RARE_SIZE,
    CHARS = 128,
    PASSES = 4,
    TRIED = 120,          /* choices that look good at a glance */
    TEXT_LINES = 40,      /* of each text: all are heard */
    WORDS = 10000,        /* of those that are common */
    SAMPLE_MAX = 2000000, /* grams */
    ALL = (1 << SIZE) - 1
};

/* Different grams of the texts. */
static struct {
    uint8_t at[SIZE][SAMPLE_MAX], weight[SAMPLE_MAX];
    uint8_t fits[DG_RARE_FAMILIES][SAMPLE_MAX]; /* which of its bytes are the family's */
    size_t n;
    double share[CHARS];
} sample;
static uint32_t users[DG_RARE_FAMILIES][SIZE][CHARS]; /* grams of literals that need this */
static double sum[DG_RARE_FAMILIES][SIZE];            /* shares of a family's characters */

struct choice {
    double cost;
    size_t at;
    unsigned family;
};

static unsigned char of(struct dg_slice lit, size_t at) { return (unsigned char)lit.ptr[at] & (CHARS - 1); }

static void turn(unsigned family, int k, unsigned c, bool on) {
    sum[family][k] += on ? sample.share[c] : -sample.share[c];
    for (size_t i = 0; i < sample.n; i++)
        if (sample.at[k][i] == c) sample.fits[family][i] ^= (uint8_t)(1 << k);
}

static void put(struct dg_slice lit, const struct choice *c) {
    for (int k = 0; k < SIZE; k++)
        if (!users[c->family][k][of(lit, c->at + k)]++) turn(c->family, k, of(lit, c->at + k), true);
}

static void take(struct dg_slice lit, const struct choice *c) {
    for (int k = 0; k < SIZE; k++)
        if (!--users[c->family][k][of(lit, c->at + k)]) turn(c->family, k, of(lit, c->at + k), false);
}

/* What a family lets through, were the bytes of a text unrelated; with the gram of `lit` at `at`, if there is one. */
static double glance(unsigned family, const struct dg_slice *lit, size_t at) {
    double p = 1;
    for (int k = 0; k < SIZE; k++) {
        bool more = lit && !users[family][k][of(*lit, at + k)];
        p *= sum[family][k] + (more ? sample.share[of(*lit, at + k)] : 0);
    }
    return p;
}

/* What it does let through of the sample that it did not before; and again what holds the gram, for each place that
 * does is looked at once more for each literal. */
static uint32_t look(struct dg_slice lit, const struct choice *c) {
    const uint8_t *fits = sample.fits[c->family], *w = sample.weight;
    uint8_t byte[SIZE];
    uint32_t more = 0, holds = 0;
    for (int k = 0; k < SIZE; k++) byte[k] = of(lit, c->at + k);
    for (size_t i = 0; i < sample.n; i++) {
        uint8_t same = 0;
        for (int k = 0; k < SIZE; k++) same |= (uint8_t)((sample.at[k][i] == byte[k]) << k);
        more += (same | fits[i]) == ALL && fits[i] != ALL ? w[i] : 0;
        holds += same == ALL ? w[i] : 0;
    }
    return more + holds;
}

static int by_cost(const void *a, const void *b) {
    double x = ((const struct choice *)a)->cost, y = ((const struct choice *)b)->cost;
    return (x > y) - (x < y);
}

static struct choice best(struct dg_slice lit) {
    static struct choice all[UINT16_MAX];
    size_t n = 0;
    for (size_t at = 0; at + SIZE <= lit.len; at++)
        for (unsigned f = 0; f < DG_RARE_FAMILIES; f++)
            all[n++] = (struct choice){glance(f, &lit, at) - glance(f, NULL, 0), at, f};
    qsort(all, n, sizeof(*all), by_cost);
    if (n > TRIED) n = TRIED;
    for (size_t i = 0; i < n; i++) all[i].cost = look(lit, &all[i]);
    qsort(all, n, sizeof(*all), by_cost);
    return all[0];
}

/* ---- the texts */

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void add_text(struct dg_slice text, uint32_t *grams, size_t *n) {
    size_t lines = 0;
    for (size_t i = 0; i + SIZE <= text.len && lines < TEXT_LINES && *n < SAMPLE_MAX; i++) {
        uint32_t x = 0;
        for (int k = 0; k < SIZE; k++) x = x << 8 | of(text, i + k);
        grams[(*n)++] = x;
        lines += text.ptr[i] == '\n';
    }
}

/* Words that logs are full of, in any order. */
static void add_words(uint32_t *grams, size_t *n) {
    struct dg_buf text = DG_BUF_INIT(1 << 20);
    struct dg_slice common = dg_cstr(DG_RARE_COMMON);
    uint32_t random = 1;
    for (int i = 0; i < WORDS; i++) {
        random = random * 1664525 + 1013904223;
        struct dg_slice from = dg_slice_from(common, random % common.len);
        struct dg_slice word = dg_slice_from(from, (size_t)dg_slice_find(from, DG_S(" ")) + 1);
        dg_buf_add(&text, word.ptr, (size_t)(dg_slice_find(word, DG_S(" ")) + 1));
    }
    add_text(dg_buf_slice(&text), grams, n);
    dg_buf_release(&text);
}

static void make_sample(uint32_t *grams, size_t n) {
    qsort(grams, n, sizeof(*grams), by_value);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && j - i < UINT8_MAX && grams[j] == grams[i];) j++;
        for (int k = 0; k < SIZE; k++) sample.at[k][sample.n] = (uint8_t)(grams[i] >> 8 * (SIZE - 1 - k));
        sample.share[grams[i] >> 8 * (SIZE - 1)] += (double)(j - i) / (double)n;
        sample.weight[sample.n++] = (uint8_t)(j - i);
    }
}

static void print_table(void) {
    for (unsigned f = 0; f < DG_RARE_FAMILIES; f++) {
        printf("    {");
        for (int k = 0; k < SIZE; k++) {
            uint64_t low = 0, high = 0;
            for (unsigned c = 0; c < 64; c++) {
                if (users[f][k][c + ' ']) low |= UINT64_C(1) << c;
                if (c + ' ' + 64 < CHARS && users[f][k][c + ' ' + 64]) high |= UINT64_C(1) << c;
            }
            printf("{0x%016llx, 0x%08llx}%s", (unsigned long long)low, (unsigned long long)high,
                   k < SIZE - 1 ? ", " : "},\n");
        }
    }
}

int main(int argc, char **argv) {
    struct dg_err err = {0};
    struct dg_pack *pack;
    struct dg_matcher *m;
    static uint32_t grams[SAMPLE_MAX];
    size_t n = 0;
    if (argc < 3) return fprintf(stderr, "usage: families RULES TEXT...\n"), 2;
    struct dg_pack_place place = {.path = argv[1], .required = true};
    if (dg_pack_load(&place, 1, false, NULL, &pack, &err) || dg_matcher_new(dg_pack_rules(pack), &m, &err))
        return fprintf(stderr, "families: %s\n", err.msg), 1;
    for (int i = 2; i < argc; i++) {
        struct dg_buf text = DG_BUF_INIT(64 << 20);
        if (dg_file_read(argv[i], &text, &err)) return fprintf(stderr, "families: %s\n", err.msg), 1;
        add_text(dg_buf_slice(&text), grams, &n);
        dg_buf_release(&text);
    }
    add_words(grams, &n);
    make_sample(grams, n);
    struct choice *own = calloc(m->sieve.n_literals, sizeof(*own));
    if (!own) return 1;
    for (int pass = 0; pass < PASSES; pass++) {
        for (uint32_t q = 0; q < m->sieve.n_literals; q++) {
            uint32_t i = (uint32_t)((uint64_t)q * 2654435761u % m->sieve.n_literals); /* a prime: each once */
            struct dg_slice lit = m->sieve.literals[i].text;
            if (pass) take(lit, &own[i]);
            own[i] = best(lit);
            put(lit, &own[i]);
        }
    }
    print_table();
    free(own);
    dg_matcher_free(m);
    dg_pack_free(pack);
    return 0;
}
