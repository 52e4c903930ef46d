#include "ingest/unpack.h"
#include "base/mem.h"
#include <bzlib.h>
#include <inttypes.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { IN_SIZE = 128 << 10, MAGIC_MAX = 14, WINDOW_LOG_MAX = 27, XZ_OVERHEAD = 1 << 20 };

enum progress { MORE, MEMBER_END, DAMAGED, WINDOW_TOO_LARGE, NO_MEMORY };

struct unpacker {
    struct dg_reader base;
    const struct codec *codec;
    union {
        z_stream z;
        bz_stream bz;
        lzma_stream xz;
        ZSTD_DCtx *zstd;
    } s;
    bool open;     /* `s` is in use: inside a member */
    bool any;      /* a member was read before */
    bool full;     /* the last step filled its room: more may wait inside the codec */
    bool in_ended; /* `inner` has no more */
    int failed;    /* no more output: 0 the end, else an error that `err` tells */
    bool ended;
    struct dg_err err;
    size_t at, len; /* of what waits in `in` */
    unsigned char in[IN_SIZE];
};

struct codec {
    const char *name, *command; /* command: how a person unpacks it without our limits */
    enum progress (*start)(struct unpacker *u);
    /* Consume from in + at, produce into <to,size>. */
    enum progress (*step)(struct unpacker *u, char *to, size_t size, size_t *ret_made);
    void (*stop)(struct unpacker *u);
};

/* --- gzip --- */

static enum progress gzip_start(struct unpacker *u) {
    u->s.z = (z_stream){0};
    return inflateInit2(&u->s.z, 15 + 16) == Z_OK ? MORE : NO_MEMORY;
}

static enum progress gzip_step(struct unpacker *u, char *to, size_t size, size_t *ret_made) {
    z_stream *z = &u->s.z;
    uInt room = size > UINT32_MAX ? UINT32_MAX : (uInt)size;
    z->next_in = u->in + u->at;
    z->avail_in = (uInt)(u->len - u->at);
    z->next_out = (Bytef *)to;
    z->avail_out = room;
    int r = inflate(z, Z_SYNC_FLUSH);
    u->at = u->len - z->avail_in;
    *ret_made = room - z->avail_out;
    if (r == Z_STREAM_END) return MEMBER_END;
    if (r == Z_MEM_ERROR) return NO_MEMORY;
    return r == Z_OK || r == Z_BUF_ERROR ? MORE : DAMAGED;
}

static void gzip_stop(struct unpacker *u) { inflateEnd(&u->s.z); }

/* --- bzip2 --- */

static enum progress bzip2_start(struct unpacker *u) {
    u->s.bz = (bz_stream){0};
    return BZ2_bzDecompressInit(&u->s.bz, 0, 0) == BZ_OK ? MORE : NO_MEMORY;
}

static enum progress bzip2_step(struct unpacker *u, char *to, size_t size, size_t *ret_made) {
    bz_stream *b = &u->s.bz;
    unsigned room = size > UINT32_MAX ? UINT32_MAX : (unsigned)size;
    b->next_in = (char *)u->in + u->at;
    b->avail_in = (unsigned)(u->len - u->at);
    b->next_out = to;
    b->avail_out = room;
    int r = BZ2_bzDecompress(b);
    u->at = u->len - b->avail_in;
    *ret_made = room - b->avail_out;
    if (r == BZ_STREAM_END) return MEMBER_END;
    if (r == BZ_MEM_ERROR) return NO_MEMORY;
    return r == BZ_OK ? MORE : DAMAGED;
}

static void bzip2_stop(struct unpacker *u) { BZ2_bzDecompressEnd(&u->s.bz); }

/* --- xz --- */

static enum progress xz_start(struct unpacker *u) {
    u->s.xz = (lzma_stream)LZMA_STREAM_INIT;
    uint64_t limit = ((uint64_t)1 << WINDOW_LOG_MAX) + XZ_OVERHEAD;
    return lzma_stream_decoder(&u->s.xz, limit, 0) == LZMA_OK ? MORE : NO_MEMORY;
}

static enum progress xz_step(struct unpacker *u, char *to, size_t size, size_t *ret_made) {
    lzma_stream *x = &u->s.xz;
    x->next_in = u->in + u->at;
    x->avail_in = u->len - u->at;
    x->next_out = (uint8_t *)to;
    x->avail_out = size;
    lzma_ret r = lzma_code(x, LZMA_RUN);
    u->at = u->len - x->avail_in;
    *ret_made = size - x->avail_out;
    switch (r) {
    case LZMA_OK:
    case LZMA_BUF_ERROR: return MORE;
    case LZMA_STREAM_END: return MEMBER_END;
    case LZMA_MEMLIMIT_ERROR: return WINDOW_TOO_LARGE;
    case LZMA_MEM_ERROR: return NO_MEMORY;
    default: return DAMAGED;
    }
}

static void xz_stop(struct unpacker *u) { lzma_end(&u->s.xz); }

/* --- zstd --- */

static enum progress zstd_start(struct unpacker *u) {
    u->s.zstd = ZSTD_createDCtx();
    if (!u->s.zstd) return NO_MEMORY;
    ZSTD_DCtx_setParameter(u->s.zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    return MORE;
}

static enum progress zstd_step(struct unpacker *u, char *to, size_t size, size_t *ret_made) {
    ZSTD_inBuffer in = {u->in, u->len, u->at};
    ZSTD_outBuffer out = {to, size, 0};
    size_t r = ZSTD_decompressStream(u->s.zstd, &out, &in);
    u->at = in.pos;
    *ret_made = out.pos;
    if (!ZSTD_isError(r)) return r ? MORE : MEMBER_END;
    switch (ZSTD_getErrorCode(r)) {
    case ZSTD_error_frameParameter_windowTooLarge: return WINDOW_TOO_LARGE;
    case ZSTD_error_memory_allocation: return NO_MEMORY;
    default: return DAMAGED;
    }
}

static void zstd_stop(struct unpacker *u) { ZSTD_freeDCtx(u->s.zstd); }

static const struct codec codecs[] = {
    [DG_PACKING_GZIP] = {"gzip", "gzip -d", gzip_start, gzip_step, gzip_stop},
    [DG_PACKING_XZ] = {"xz", "xz -d", xz_start, xz_step, xz_stop},
    [DG_PACKING_ZSTD] = {"zstd", "zstd -d --long=31", zstd_start, zstd_step, zstd_stop},
    [DG_PACKING_BZIP2] = {"bzip2", "bzip2 -d", bzip2_start, bzip2_step, bzip2_stop},
};

enum dg_packing dg_packing_detect(struct dg_slice head) {
    const unsigned char *p = (const unsigned char *)head.ptr;
    if (dg_slice_starts(head, DG_S("\x1f\x8b\x08"))) return DG_PACKING_GZIP;
    if (dg_slice_starts(head, DG_S("\xfd"
                                   "7zXZ\0")))
        return DG_PACKING_XZ;
    if (dg_slice_starts(head, DG_S("\x28\xb5\x2f\xfd"))) return DG_PACKING_ZSTD;
    /* a skippable frame before the first one */
    if (head.len >= 4 && (p[0] & 0xf0) == 0x50 && !memcmp(p + 1, "\x2a\x4d\x18", 3)) return DG_PACKING_ZSTD;
    if (head.len >= 14 && !memcmp(p, "BZh", 3) && p[3] >= '1' && p[3] <= '9' &&
        (!memcmp(p + 4, "\x31\x41\x59\x26\x53\x59", 6) || !memcmp(p + 4, "\x17\x72\x45\x38\x50\x90", 6)))
        return DG_PACKING_BZIP2;
    return DG_PACKING_NONE;
}

/* Fill `in` until it holds `want` bytes or `inner` ends. 0, or what the inner reader said. */
static int fill(struct unpacker *u, size_t want, struct dg_err *err) {
    if (u->at) memmove(u->in, u->in + u->at, u->len - u->at);
    u->len -= u->at;
    u->at = 0;
    while (u->len < want && !u->in_ended) {
        ptrdiff_t n = dg_reader_read(u->base.inner, (char *)u->in + u->len, IN_SIZE - u->len, err);
        if (n < 0) return (int)n;
        u->in_ended = !n;
        u->len += (size_t)n;
    }
    return 0;
}

static void end(struct unpacker *u) {
    if (u->open) u->codec->stop(u);
    u->open = false;
    u->ended = true;
}

/* `made`: bytes of this call, not counted yet. */
static void fail(struct unpacker *u, enum progress why, size_t made) {
    const struct codec *c = u->codec;
    if (why == NO_MEMORY)
        u->failed = dg_err_nomem(&u->err);
    else if (why == WINDOW_TOO_LARGE)
        u->failed = dg_err_set(&u->err, DG_E_LIMIT, 0, "needs a window above 128 MiB to unpack: unpack it first (%s)",
                               c->command);
    else
        u->failed = dg_err_set(&u->err, DG_E_SYNTAX, 0, "the %s data is damaged after %" PRIu64 " bytes", c->name,
                               u->base.bytes + made);
    end(u);
}

/* Between members: begin the next one, or end. 0, or what the inner reader said. */
static int begin_member(struct unpacker *u, struct dg_err *err) {
    do {
        int r = fill(u, MAGIC_MAX, err);
        if (r) return r;
        if (u->any && u->codec == &codecs[DG_PACKING_XZ]) /* streams may be padded */
            while (u->at < u->len && !u->in[u->at]) u->at++;
    } while (u->at && u->len - u->at < MAGIC_MAX && !u->in_ended);
    enum dg_packing next = dg_packing_detect(dg_slice((char *)u->in + u->at, u->len - u->at));
    if (u->any && &codecs[next] != u->codec) {
        end(u);
        return 0;
    }
    enum progress p = u->codec->start(u);
    u->any = true;
    u->open = p == MORE;
    u->full = false;
    if (p != MORE) fail(u, p, 0);
    return 0;
}

/* Inside a member: bytes made, or what the inner reader said. */
static ptrdiff_t unpack_some(struct unpacker *u, char *to, size_t size, struct dg_err *err) {
    if (u->at == u->len && !u->full) {
        int r = fill(u, 1, err);
        if (r) return r;
        if (!u->len) {
            u->base.truncated = true;
            end(u);
            return 0;
        }
    }
    size_t before = u->at, made = 0;
    enum progress p = u->codec->step(u, to, size, &made);
    u->full = made == size;
    if (p == MORE && !made && u->at == before && before < u->len) p = DAMAGED; /* stuck */
    if (p == MEMBER_END) {
        u->codec->stop(u);
        u->open = false;
    } else if (p != MORE) {
        fail(u, p, made);
    }
    return (ptrdiff_t)made;
}

static ptrdiff_t read_unpacked(struct dg_reader *r, char *to, size_t size, struct dg_err *err) {
    struct unpacker *u = (struct unpacker *)r;
    ptrdiff_t n = 0;
    while (!n && !u->ended) n = u->open ? unpack_some(u, to, size, err) : begin_member(u, err);
    if (n < 0) return n;
    if (!n && u->failed) {
        if (err) *err = u->err;
        return u->failed;
    }
    uint64_t made = r->bytes + (uint64_t)n;
    if (!u->ended && made > DG_UNPACK_FREE && made / DG_UNPACK_RATIO > r->inner->bytes) {
        u->failed =
            dg_err_set(&u->err, DG_E_LIMIT, 0, "expands more than %d-fold: reading stopped after %" PRIu64 " bytes",
                       DG_UNPACK_RATIO, made);
        end(u);
    }
    return n;
}

static void free_unpacker(struct dg_reader *r) {
    end((struct unpacker *)r);
    free(r);
}

struct dg_reader *dg_reader_unpack(struct dg_reader *inner, enum dg_packing packing) {
    struct unpacker *u = inner ? dg_calloc(1, sizeof(*u)) : NULL;
    if (!u) return dg_reader_free(inner);
    u->base = (struct dg_reader){.read = read_unpacked, .free = free_unpacker, .inner = inner};
    u->codec = &codecs[packing];
    return &u->base;
}
