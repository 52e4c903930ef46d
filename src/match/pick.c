/* Where in a block a literal may stand: the part of the search that touches each byte. First the places where a gram
 * may begin, then those of them with the right flanks. For any processor, and again for those with AVX-512 VBMI2
 * (Intel's since Ice Lake, AMD's since Zen 4), which look up 64 bytes, or the flanks of eight places, at once. */
#include "match/engine.h"

#define MARK_FACTOR UINT32_C(0x9e3779b1)

enum {
    SIZE = DG_RARE_SIZE,
    LANE = 16,
    BYTES = 128,
    WIDE = 64,
    MARK = 3, /* bytes that make a mark: one of 32, by their hash */
    MARK_BITS = 5
};
_Static_assert((int)DG_RARE_FAMILIES == LANE && SIZE * LANE == 64, "a bit of 64 for each family and place");

static unsigned index_of(char c) { return (unsigned char)c & (BYTES - 1); }

void families_see(struct families *f) {
#ifdef __x86_64__
    f->wide = __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vbmi") &&
              __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#else
    f->wide = false;
#endif
}

void families_init(struct families *f) {
    memset(f, 0, sizeof(*f)); /* padding too: it is kept as bytes */
    memset(f->lacks, 0xff, sizeof(f->lacks));
    families_see(f);
}

void families_add(struct families *f, unsigned family, const char *gram) {
    for (unsigned k = 0; k < SIZE; k++) {
        f->lacks[index_of(gram[k])] &= ~(UINT64_C(1) << (LANE * k + family));
        f->has[family / 8][k][index_of(gram[k])] |= (uint8_t)(1 << family % 8);
    }
}

/* What the families lack of the last bytes, with one more. Lane k: those that the last k + 1 bytes do not fit. */
static inline uint64_t with(const struct families *f, uint64_t lacks, char c) {
    return lacks << LANE | f->lacks[index_of(c)];
}

static inline bool some_fit(uint64_t lacks) { return lacks >> (64 - LANE) != UINT16_MAX; }

static uint32_t pick_plain(const struct families *f, const char *data, size_t at, size_t n, uint32_t *out) {
    uint64_t lacks = UINT64_MAX;
    uint32_t found = 0;
    for (size_t i = 0; i < n + SIZE - 1; i++) {
        lacks = with(f, lacks, data[at + i]);
        out[found] = (uint32_t)(at + i - (SIZE - 1));
        found += some_fit(lacks);
    }
    return found;
}

static uint32_t mark(const char *p) { return UINT32_C(1) << ((gram_load(p) << 8) * MARK_FACTOR >> (32 - MARK_BITS)); }

static uint32_t mark_in(struct dg_slice text, size_t at) {
    char bytes[SIZE] = {0};
    memcpy(bytes, text.ptr + at, MARK);
    return mark(bytes);
}

/* Bytes behind the gram are more telling than those before it. All marks, where there are too few of either. */
void flanks_add(struct flanks *f, struct dg_slice text, size_t at) {
    if (at + SIZE + MARK <= text.len)
        f->behind |= mark_in(text, at + SIZE);
    else if (at >= MARK)
        f->before |= mark_in(text, at - MARK);
    else
        f->behind = UINT32_MAX;
}

static uint32_t sift_plain(const struct sieve *s, const char *data, size_t from, uint32_t *places, uint32_t n) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        const char *p = data + places[i], *before = places[i] >= from + MARK ? p - MARK : p;
        const struct flanks *f = &s->flanks[gram_index(p, s->shift)];
        places[kept] = places[i];
        kept += ((f->behind & mark(p + SIZE)) | (f->before & mark(before))) != 0;
    }
    return kept;
}

/* Two halves at once, as each step has to wait for the one before it. n is even. */
static uint32_t pick_halves(const struct families *f, const char *data, size_t at, size_t n, uint32_t *out) {
    size_t half = n / 2;
    uint64_t lacks[] = {UINT64_MAX, UINT64_MAX};
    uint32_t found[] = {0, 0}, *later = out + half + 1;
    for (size_t i = 0; i < half + SIZE - 1; i++) {
        lacks[0] = with(f, lacks[0], data[at + i]);
        lacks[1] = with(f, lacks[1], data[at + half + i]);
        out[found[0]] = (uint32_t)(at + i - (SIZE - 1));
        later[found[1]] = (uint32_t)(at + half + i - (SIZE - 1));
        found[0] += some_fit(lacks[0]);
        found[1] += some_fit(lacks[1]);
    }
    memmove(out + found[0], later, found[1] * sizeof(*out));
    return found[0] + found[1];
}

#ifdef __x86_64__
#include <immintrin.h>

#define WITH_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")))

/* What eight families have at each place: two halves of 64 bytes each. Copied, as it stays in registers then. */
struct eight {
    __m512i v[SIZE][2];
};
WITH_AVX512 static inline struct eight eight_of(const uint8_t has[SIZE][BYTES]) {
    struct eight e;
#pragma GCC unroll 4
    for (int k = 0; k < SIZE; k++) {
        e.v[k][0] = _mm512_loadu_si512(has[k]);
        e.v[k][1] = _mm512_loadu_si512(has[k] + WIDE);
    }
    return e;
}

/* Those of the eight families that have the bytes at p, at p + 1 and so on, for 64 places p. */
WITH_AVX512 static inline __m512i have(const struct eight *e, const char *p) {
    __m512i all = _mm512_set1_epi8(-1);
#pragma GCC unroll 4
    for (int k = 0; k < SIZE; k++)
        all = _mm512_and_si512(all, _mm512_permutex2var_epi8(e->v[k][0], _mm512_loadu_si512(p + k), e->v[k][1]));
    return all;
}

/* base + p for each of 16 bytes p. */
WITH_AVX512 static inline void store_places(uint32_t *out, __m128i p, size_t base) {
    _mm512_storeu_si512(out, _mm512_add_epi32(_mm512_cvtepu8_epi32(p), _mm512_set1_epi32((int)base)));
}

/* n is a multiple of WIDE. */
WITH_AVX512 static uint32_t pick_wide(const struct families *f, const char *data, size_t at, size_t n, uint32_t *out) {
    static const uint8_t COUNT[WIDE] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                        32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                        48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const __m512i count = _mm512_loadu_si512(COUNT);
    const struct eight low = eight_of(f->has[0]), high = eight_of(f->has[1]);
    uint32_t found = 0;
    for (size_t end = at + n; at < end; at += WIDE) {
        __m512i any = _mm512_or_si512(have(&low, data + at), have(&high, data + at));
        __mmask64 fit = _mm512_test_epi8_mask(any, any);
        __m512i places = _mm512_maskz_compress_epi8(fit, count);
        unsigned fits = (unsigned)__builtin_popcountll(fit);
        store_places(out + found, _mm512_castsi512_si128(places), at);
        if (__builtin_expect(fits > 16, 0)) {
            store_places(out + found + 16, _mm512_extracti32x4_epi32(places, 1), at);
            store_places(out + found + 32, _mm512_extracti32x4_epi32(places, 2), at);
            store_places(out + found + 48, _mm512_extracti32x4_epi32(places, 3), at);
        }
        found += fits;
    }
    return found;
}

/* The low halves of eight times 64 bits: gram_index() of each. */
WITH_AVX512 static inline __m512i indices_of(__m512i grams, unsigned shift) {
    __m512i hashes = _mm512_slli_epi64(_mm512_mul_epu32(grams, _mm512_set1_epi64(GRAM_FACTOR)), 32);
    return _mm512_srl_epi64(hashes, _mm_cvtsi32_si128(32 + (int)shift));
}

/* The marks of 16 times three bytes. */
WITH_AVX512 static inline __m512i marks_of(__m512i bytes) {
    __m512i hashes = _mm512_mullo_epi32(_mm512_slli_epi32(bytes, 8), _mm512_set1_epi32((int)MARK_FACTOR));
    return _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_srli_epi32(hashes, 32 - MARK_BITS));
}

/* Each place is MARK bytes or more behind where data may be read. */
WITH_AVX512 static uint32_t sift_wide(const struct sieve *s, const char *data, uint32_t *places, uint32_t n) {
    enum { AT_ONCE = 8, BEHIND = 0xaaaa };
    const __m512i zero = _mm512_setzero_si512();
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i += AT_ONCE) {
        __mmask8 within = (__mmask8)(n - i < AT_ONCE ? (1u << (n - i)) - 1 : UINT8_MAX);
        __m256i at = _mm256_maskz_loadu_epi32(within, places + i);
        __m512i gram_and_behind = _mm512_mask_i32gather_epi64(zero, within, at, data, 1);
        __m256i before = _mm256_mmask_i32gather_epi32(_mm256_setzero_si256(), within, at, data - MARK, 1);
        __m512i around = _mm512_mask_blend_epi32(BEHIND, _mm512_cvtepu32_epi64(before), gram_and_behind);
        __m512i index = indices_of(gram_and_behind, s->shift);
        __m512i flanks = _mm512_mask_i64gather_epi64(zero, within, index, s->flanks, sizeof(*s->flanks));
        __mmask8 fit = _mm512_test_epi64_mask(marks_of(around), flanks);
        _mm256_storeu_si256((__m256i *)(void *)(places + kept), _mm256_maskz_compress_epi32(fit, at));
        kept += (uint32_t)__builtin_popcount(fit);
    }
    return kept;
}
#else
static uint32_t sift_wide(const struct sieve *s, const char *data, uint32_t *places, uint32_t n) {
    return sift_plain(s, data, 0, places, n);
}
static uint32_t pick_wide(const struct families *f, const char *data, size_t at, size_t n, uint32_t *out) {
    return pick_halves(f, data, at, n, out);
}
#endif

uint32_t families_pick(const struct families *f, const char *data, size_t at, size_t n, uint32_t *out) {
    size_t most = n - n % WIDE;
    uint32_t found = (f->wide ? pick_wide : pick_halves)(f, data, at, most, out);
    return found + pick_plain(f, data, at + most, n - most, out + found);
}

uint32_t flanks_sift(const struct sieve *s, const char *data, size_t from, uint32_t *places, uint32_t n) {
    if (s->families.wide && n && places[0] >= from + MARK) return sift_wide(s, data, places, n);
    return sift_plain(s, data, from, places, n);
}
