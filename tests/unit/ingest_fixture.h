/* Reading in tests of ingest: check what holds for every block, keep the text and the line numbers. */
#ifndef DG_TESTS_INGEST_FIXTURE_H
#define DG_TESTS_INGEST_FIXTURE_H

#include "unit.h"
#include "ingest/ingest.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct got {
    struct dg_buf text; /* of all blocks, what is repeated counted once */
    struct {
        uint64_t *v;
        size_t n, cap;
    } lines; /* raw line number of each line of `text` */
    unsigned blocks, pieces;
    int result; /* of the last dg_ingest_next() */
};

static inline void got_release(struct got *g) {
    dg_buf_release(&g->text);
    free(g->lines.v);
}

/* What holds for every block. */
static inline void check_block(const struct got *g, const struct dg_block *b, uint64_t newest) {
    assert_true(b->len <= DG_BLOCK_SIZE);
    assert_true(b->headroom <= DG_BLOCK_HEAD);
    assert_true(b->continues ? b->overlap > 0 : b->overlap == 0);
    for (unsigned i = 0; i < DG_BLOCK_TAIL; i++) assert_int_equal(b->data[b->len + i], 0);
    /* the headroom is the text before, as far as it goes; where a line goes on, before what is repeated */
    size_t before = g->text.len - b->overlap;
    assert_true(b->headroom == (before < DG_BLOCK_HEAD ? before : DG_BLOCK_HEAD));
    if (b->headroom) assert_memory_equal(b->data - b->headroom, g->text.ptr + before - b->headroom, b->headroom);
    if (b->overlap) assert_memory_equal(b->data, g->text.ptr + before, b->overlap);
    if (!b->last && !b->more) assert_true(b->len > 0 && b->data[b->len - 1] == '\n');
    if (b->more) assert_true(b->data[b->len - 1] != '\n');
    if (b->len) assert_true(b->first_line + b->continues >= newest);
}

/* Keep one block: text of one source only (of the one before nothing is kept). */
static inline void keep_block(struct got *g, const struct dg_block *b) {
    uint64_t newest = g->lines.n ? g->lines.v[g->lines.n - 1] : 0;
    check_block(g, b, newest);
    struct dg_slice text = dg_slice(b->data, b->len), line;
    size_t i = 0, known = g->lines.n;
    while (dg_slice_split(&text, '\n', &line)) {
        if (!text.ptr && !line.len) break; /* behind the last newline */
        uint64_t number = b->line_map ? b->line_map[i] : b->first_line + i;
        if (i == 0 && b->continues)
            assert_int_equal(number, newest);
        else
            assert_true(DG_VEC_PUSH(&g->lines, number, SIZE_MAX / 8));
        i++;
    }
    struct dg_slice head = dg_slice(b->data - b->headroom, b->headroom);
    for (size_t back = 1; b->line_map && back <= 100 && head.len;
         back++) { /* the numbers reach back as far as the text */
        ptrdiff_t newline = dg_slice_rfind_ch(head, '\n');
        if (newline < 0) break;
        assert_int_equal(b->line_map[-(ptrdiff_t)back], g->lines.v[known - back - b->continues]);
        head.len = (size_t)newline;
    }
    assert_int_equal(dg_buf_add(&g->text, b->data + b->overlap, b->len - b->overlap), 0);
    g->blocks++;
    g->pieces += b->more;
}

/* Read `in` to its end; the text is that of the source `wanted`. */
static inline struct got read_source(struct dg_ingest *in, uint32_t wanted) {
    struct got g = {.text = DG_BUF_INIT(SIZE_MAX / 4)};
    struct dg_block *b;
    struct dg_err err;
    bool last = false;
    while ((g.result = dg_ingest_next(in, &b, &err)) == 1) {
        if (b->source == wanted) {
            assert_false(last);
            keep_block(&g, b);
            last = b->last;
        }
        dg_ingest_release(in, b);
    }
    assert_true(g.result || last || !g.blocks);
    return g;
}

static const struct dg_ingest_opts plain_opts = {.tee_fd = -1};

static inline const struct dg_source *source_at(struct dg_ingest *in, uint32_t i) {
    uint32_t n;
    const struct dg_source *s = dg_ingest_sources(in, &n);
    assert_true(i < n);
    return &s[i];
}

static inline uint32_t n_sources(struct dg_ingest *in) {
    uint32_t n;
    dg_ingest_sources(in, &n);
    return n;
}

/* A file with these bytes; its name is valid until the next call with the same `slot`. */
static inline const char *file_with(int slot, struct dg_slice bytes) {
    static char names[4][64];
    snprintf(names[slot], sizeof(names[slot]), "ingest-%ld-%d.tmp", (long)getpid(), slot);
    FILE *f = fopen(names[slot], "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.ptr ? bytes.ptr : "", 1, bytes.len, f), bytes.len);
    assert_int_equal(fclose(f), 0);
    return names[slot];
}

static inline int remove_files(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof(name), "ingest-%ld-%d.tmp", (long)getpid(), i);
        unlink(name);
    }
    return 0;
}

/* The only source of a file with these bytes. */
static inline struct got read_bytes(struct dg_slice bytes, struct dg_ingest **ret) {
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    assert_non_null(in);
    assert_int_equal(dg_ingest_add(in, file_with(0, bytes), DG_KIND_UNKNOWN), 0);
    struct got g = read_source(in, 0);
    *ret = in;
    return g;
}

static inline struct got read_text(struct dg_slice text, enum dg_kind kind, struct dg_ingest **ret) {
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    assert_non_null(in);
    assert_int_equal(dg_ingest_add_text(in, "text", kind, text), 0);
    struct got g = read_source(in, 0);
    *ret = in;
    return g;
}

/* All of the file `path`, for unit_fail_each(), with a kernel log in memory and a file that is not there. */
static inline int read_all(void *path) {
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    if (!in) return -DG_E_NOMEM;
    struct dg_block *b;
    struct dg_err err;
    int r = dg_ingest_add(in, path, DG_KIND_UNKNOWN);
    if (!r)
        r = dg_ingest_add_text(in, "t", DG_KIND_KERNEL, DG_S("6,1,5000000,-;audit: audit(1762674003.5:1)\\x0amore\n"));
    if (!r) r = dg_ingest_add(in, "absent", DG_KIND_UNKNOWN);
    if (!r)
        while ((r = dg_ingest_next(in, &b, &err)) == 1) dg_ingest_release(in, b);
    dg_ingest_free(in);
    return r;
}

#endif
