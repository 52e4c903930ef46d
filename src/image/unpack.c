#include "image/unpack.h"
#include <zstd.h>

/* A length of LZ4: a nibble, and where that is 15 bytes to be added until one is not 255. */
static bool lz4_length(const unsigned char **p, const unsigned char *end, size_t *len) {
    if (*len != 15) return true;
    unsigned char c;
    do {
        if (*p == end) return false;
        c = *(*p)++;
        *len += c;
    } while (c == 255);
    return true;
}

/* A raw LZ4 block: token, literals, offset of a match, … ending in literals. */
static bool unpack_lz4(struct dg_slice in, unsigned char *out, size_t size) {
    const unsigned char *p = (const unsigned char *)in.ptr, *end = p + in.len;
    size_t at = 0;
    while (p < end) {
        unsigned char token = *p++;
        size_t literals = token >> 4, match = token & 15;
        if (!lz4_length(&p, end, &literals) || literals > (size_t)(end - p) || literals > size - at) return false;
        memcpy(out + at, p, literals);
        at += literals;
        p += literals;
        if (p == end) break;
        if (end - p < 2) return false;
        size_t back = (size_t)(p[0] | p[1] << 8);
        p += 2;
        if (!lz4_length(&p, end, &match)) return false;
        match += 4;
        if (!back || back > at || match > size - at) return false;
        for (; match; match--, at++) out[at] = out[at - back]; /* may overlap: a repeated pattern */
    }
    return at == size;
}

bool dg_unpack(enum dg_compression how, struct dg_slice in, unsigned char *out, size_t size) {
    if (how == DG_COMPRESSION_LZ4) return unpack_lz4(in, out, size);
    if (how == DG_COMPRESSION_ZSTD) return ZSTD_decompress(out, size, in.ptr, in.len) == size;
    if (in.len != size) return false;
    memcpy(out, in.ptr, size);
    return true;
}
