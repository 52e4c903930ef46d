#include "base/census.h"

enum { LANES = 16 };
typedef unsigned char lanes __attribute__((vector_size(LANES)));

/* A lane counts to 255 before it is added up, so the loop holds no wider sums. */
struct dg_census dg_census_plain(struct dg_slice s) {
    const lanes newline = (lanes){0} + '\n', esc = (lanes){0} + '\x1b';
    struct dg_census c = {0};
    lanes escapes = {0};
    size_t i = 0;
    while (s.len - i >= LANES) {
        lanes count = {0};
        size_t rounds = (s.len - i) / LANES < 255 ? (s.len - i) / LANES : 255;
#pragma GCC unroll 4
        for (size_t round = 0; round < rounds; round++, i += LANES) {
            lanes v;
            memcpy(&v, s.ptr + i, LANES);
            count -= (lanes)(v == newline);
            escapes |= (lanes)(v == esc);
        }
        for (int k = 0; k < LANES; k++) c.newlines += count[k];
    }
    for (; i < s.len; i++) {
        c.newlines += s.ptr[i] == '\n';
        c.escape |= s.ptr[i] == '\x1b';
    }
    for (int k = 0; k < LANES; k++) c.escape |= escapes[k] != 0;
    return c;
}

#ifdef __x86_64__
#include <immintrin.h>

/* Where 64 bytes are compared at once, newlines are bits to be counted. */
__attribute__((target("avx512f,avx512bw,popcnt"))) static struct dg_census census_wide(struct dg_slice s) {
    enum { WIDE = 64 };
    const __m512i newline = _mm512_set1_epi8('\n'), esc = _mm512_set1_epi8('\x1b');
    struct dg_census c = {0};
    __mmask64 escapes = 0;
#pragma GCC unroll 4
    for (size_t i = 0; i < s.len; i += WIDE) {
        __mmask64 within = s.len - i < WIDE ? (UINT64_C(1) << (s.len - i)) - 1 : UINT64_MAX;
        __m512i v = _mm512_maskz_loadu_epi8(within, s.ptr + i);
        c.newlines += (unsigned)__builtin_popcountll(_mm512_cmpeq_epi8_mask(v, newline));
        escapes |= _mm512_cmpeq_epi8_mask(v, esc);
    }
    c.escape = escapes != 0;
    return c;
}

struct dg_census dg_census(struct dg_slice s) {
    return __builtin_cpu_supports("avx512bw") ? census_wide(s) : dg_census_plain(s);
}
#else
struct dg_census dg_census(struct dg_slice s) {
    return dg_census_plain(s);
}
#endif
