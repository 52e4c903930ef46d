/* Rules from a text, logs from a text, cut into blocks of any size, and what came out as lines of text. */
#ifndef DG_TESTS_MATCH_FIXTURE_H
#define DG_TESTS_MATCH_FIXTURE_H

#include "unit.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/timex.h"
#include "ingest/ingest.h"
#include "match/match.h"
#include "pack/pack.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- packs */

struct fx_rules {
    struct dg_problems probs;
    struct dg_pack *pack;
    struct dg_matcher *matcher;
    char dir[64];
};

static inline void fx_write(const char *path, struct dg_slice text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text.ptr, 1, text.len, f), text.len);
    fclose(f);
}

/* The shipped pack, with its examples. */
static inline struct dg_pack *fx_shipped(void) {
    char path[1024];
    struct dg_err err = {0};
    struct dg_pack *pack;
    snprintf(path, sizeof(path), "%s/rules", getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".");
    const struct dg_pack_place place = {.path = path, .required = true};
    assert_int_equal(dg_pack_load(&place, 1, true, NULL, &pack, &err), 0);
    return pack;
}

/* A folder of its own with one pack "t" whose rules are `yaml`, a list. */
static inline void fx_folder(struct fx_rules *x, const char *yaml) {
    *x = (struct fx_rules){0};
    strcpy(x->dir, "/tmp/dg-match-XXXXXX");
    assert_non_null(mkdtemp(x->dir));
    struct dg_buf text = DG_BUF_INIT(1 << 24), path = DG_BUF_INIT(4096);
    dg_buf_adds(&text, "pack: t\nrules:\n");
    dg_buf_adds(&text, yaml);
    dg_path_join(&path, x->dir, "t.yaml");
    fx_write(path.ptr, dg_buf_slice(&text));
    dg_buf_release(&text);
    dg_buf_release(&path);
}

static inline void fx_load(struct fx_rules *x, const char *yaml, bool examples) {
    struct dg_err err = {0};
    fx_folder(x, yaml);
    struct dg_pack_place place = {.path = x->dir, .required = true};
    assert_int_equal(dg_pack_load(&place, 1, examples, &x->probs, &x->pack, &err), 0);
}

static inline void fx_rules(struct fx_rules *x, const char *yaml) {
    struct dg_err err = {0};
    fx_load(x, yaml, false);
    for (size_t i = 0; i < x->probs.n; i++)
        print_error("%u:%u: %s\n", x->probs.v[i].line, x->probs.v[i].col, x->probs.v[i].msg);
    assert_int_equal(x->probs.n, 0);
    assert_int_equal(dg_matcher_new(dg_pack_rules(x->pack), &x->matcher, &err), 0);
}

static inline void fx_done(struct fx_rules *x) {
    char path[128];
    snprintf(path, sizeof(path), "%s/t.yaml", x->dir);
    unlink(path);
    rmdir(x->dir);
    dg_matcher_free(x->matcher);
    dg_pack_free(x->pack);
    dg_problems_release(&x->probs);
}

/* ---- logs */

enum { FX_SOURCES = 4, FX_OVERLAP = 4096 };
struct fx_log {
    struct dg_source sources[FX_SOURCES];
    struct dg_slice texts[FX_SOURCES];
    uint32_t n;
    size_t block; /* bytes */
    bool mapped;  /* give line maps: raw numbers are 10, 20, … */
    uint32_t at_source;
    size_t at;
    uint64_t line;
    bool midline;
};
struct fx_block {
    struct dg_block b;
    char *mem;
    uint64_t *map;
};

/* Where the block that begins at `at` ends: behind the last newline that fits, else in the middle of a long line. */
static inline size_t fx_end(const struct fx_log *log, struct dg_slice t) {
    size_t end = log->at + log->block;
    if (end >= t.len) return t.len;
    const char *nl = memrchr(t.ptr + log->at, '\n', end - log->at);
    return nl ? (size_t)(nl - t.ptr) + 1 : end;
}

static inline int fx_next(void *in, struct dg_block **ret, struct dg_err *err) {
    struct fx_log *log = in;
    (void)err;
    if (log->at_source == log->n) return 0;
    struct dg_slice t = log->texts[log->at_source];
    size_t end = fx_end(log, t), back = log->midline ? (log->at < FX_OVERLAP ? log->at : FX_OVERLAP) : 0;
    size_t start = log->at - back, len = end - start;
    struct fx_block *k = calloc(1, sizeof(*k));
    k->mem = calloc(1, len + DG_BLOCK_TAIL);
    memcpy(k->mem, t.ptr + start, len);
    bool open = end > log->at && t.ptr[end - 1] != '\n';
    k->b = (struct dg_block){.data = k->mem,
                             .len = len,
                             .first_line = log->line,
                             .continues = log->midline,
                             .overlap = back,
                             .more = open && end < t.len,
                             .last = end == t.len,
                             .packed = log->at / log->block % 4 == 2, /* now and then: another thread searches it */
                             .source = log->at_source};
    uint64_t lines = 0;
    for (size_t i = log->at; i < end; i++) lines += t.ptr[i] == '\n';
    k->b.newlines = (uint32_t)lines;
    if (log->mapped) {
        k->map = calloc(lines + 1, sizeof(*k->map));
        for (uint64_t i = 0; i <= lines; i++) k->map[i] = 10 * (log->line + i);
        k->b.line_map = k->map;
    }
    log->line += lines;
    log->midline = k->b.more;
    log->at = end;
    if (k->b.last) {
        log->at_source++;
        log->at = 0;
        log->line = 1;
        log->midline = false;
    }
    *ret = &k->b;
    return 1;
}

static inline void fx_release(void *in, struct dg_block *b) {
    struct fx_block *k = (struct fx_block *)b;
    (void)in;
    free(k->map);
    free(k->mem);
    free(k);
}

static inline const struct dg_source *fx_sources(void *in, uint32_t *ret_n) {
    struct fx_log *log = in;
    *ret_n = log->n;
    return log->sources;
}

static inline void fx_add(struct fx_log *log, enum dg_kind kind, struct dg_slice text) {
    log->sources[log->n].kind = kind;
    log->texts[log->n++] = text;
    log->line = 1;
    if (!log->block) log->block = DG_BLOCK_SIZE;
}

static inline struct dg_scan *fx_scan(struct fx_rules *x, const struct fx_log *log, struct dg_arena *arena, bool plain,
                                      unsigned threads) {
    struct fx_log own = *log;
    struct dg_match_opts opts = {.next = fx_next,
                                 .release = fx_release,
                                 .sources = fx_sources,
                                 .in = &own,
                                 .split = dg_prefix_parse,
                                 .threads = threads,
                                 .plain = plain};
    struct dg_scan *scan = NULL;
    struct dg_err err = {0};
    assert_int_equal(dg_match_scan(x->matcher, &opts, arena, &scan, &err), 0);
    return scan;
}

/* ---- what came out */

static inline void fx_say_captures(struct dg_buf *out, const struct dg_capture *c, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        dg_buf_addf(out, " %.*s=%.*s", DG_FMT(c[i].name), DG_FMT(dg_slice_upto(c[i].text, 40)));
}

/* "rule first-last xCOUNT" and the rest only where it is not the plain case. */
static inline void fx_say_finding(struct dg_buf *out, const struct dg_finding *f) {
    dg_buf_addf(out, "%s %llu", f->rule->id.ptr + f->rule->pack.len + 1, (unsigned long long)f->first.line);
    if (f->last.line != f->first.line) dg_buf_addf(out, "-%llu", (unsigned long long)f->last.line);
    if (f->count != 1) dg_buf_addf(out, " x%llu", (unsigned long long)f->count);
    if (f->launch != UINT32_MAX && f->launch) dg_buf_addf(out, " launch %u", f->launch);
    if (f->epoch) dg_buf_addf(out, " epoch %u", f->epoch);
    if (f->ranks) dg_buf_addf(out, " ranks %llx", (unsigned long long)f->ranks);
    if (f->record_line != f->first.line || f->record_end != f->first.line)
        dg_buf_addf(out, " record %llu-%llu", (unsigned long long)f->record_line, (unsigned long long)f->record_end);
    for (uint32_t i = 0; i < f->n_decisive; i++)
        dg_buf_addf(out, "%s%llu", i ? "," : " parts ", (unsigned long long)f->decisive[i].line);
    if (f->inside)
        dg_buf_addf(out, " %s %s", f->virtual_record ? "opened" : "inside",
                    f->inside->id.ptr + f->inside->pack.len + 1);
    fx_say_captures(out, f->captures, f->n_captures);
    if (f->count > 1 && f->n_last_captures) {
        dg_buf_adds(out, " last");
        fx_say_captures(out, f->last_captures, f->n_last_captures);
    }
    dg_buf_addc(out, '\n');
}

static inline void fx_say_fatal(struct dg_buf *out, const struct dg_fatal *f) {
    static const char *const KINDS[] = {"traceback", "level", "exception", "abort", "other"};
    dg_buf_addf(out, "fatal %s %llu", KINDS[f->kind], (unsigned long long)f->place.line);
    if (f->record_line != f->place.line || f->record_end != f->place.line)
        dg_buf_addf(out, " record %llu-%llu", (unsigned long long)f->record_line, (unsigned long long)f->record_end);
    if (f->epoch) dg_buf_addf(out, " epoch %u", f->epoch);
    if (f->launch != UINT32_MAX && f->launch) dg_buf_addf(out, " launch %u", f->launch);
    if (f->exception.len) dg_buf_addf(out, " %.*s", DG_FMT(f->exception));
    dg_buf_addc(out, '\n');
}

static inline void fx_say_launch(struct dg_buf *out, const struct dg_launch *l) {
    dg_buf_addf(out, "launch %llu-%llu", (unsigned long long)l->first_line, (unsigned long long)l->last_line);
    if (l->begun) dg_buf_adds(out, " begun");
    if (l->epochs > 1) dg_buf_addf(out, " epochs %u", l->epochs);
    if (l->pulses) dg_buf_addf(out, " pulse %llu", (unsigned long long)l->last_pulse.line);
    dg_buf_addc(out, '\n');
}

enum fx_what { FX_FINDINGS = 1, FX_FATALS = 2, FX_LAUNCHES = 4, FX_TAILS = 8, FX_ALL = 15 };

static inline void fx_say(struct dg_buf *out, const struct dg_scan *s, unsigned what) {
    for (uint32_t i = 0; what & FX_LAUNCHES && i < s->n_launches; i++) fx_say_launch(out, &s->launches[i]);
    for (uint32_t i = 0; what & FX_FINDINGS && i < s->n_findings; i++) fx_say_finding(out, &s->findings[i]);
    for (uint32_t i = 0; what & FX_FATALS && i < s->n_fatals; i++) fx_say_fatal(out, &s->fatals[i]);
    for (uint32_t i = 0; what & FX_TAILS && i < s->n_sources; i++)
        for (uint32_t k = 0; k < s->tails[i].n; k++)
            dg_buf_addf(out, "tail %llu %.*s\n", (unsigned long long)s->tails[i].v[k].line,
                        DG_FMT(s->tails[i].v[k].text));
    if (s->dropped_findings) dg_buf_addf(out, "dropped %llu\n", (unsigned long long)s->dropped_findings);
    for (uint32_t i = 0; i < s->n_limits; i++)
        dg_buf_addf(out, "limit %s %.*s\n", s->limits[i].rule->id.ptr, DG_FMT(s->limits[i].why));
}

/* Scan in every way (fast and plain, one thread and two, blocks of every size in `blocks`, 0-ended): all must say the
 * same, and that is `want` (NULL: whatever the first said). */
static inline void fx_expect_log(struct fx_rules *x, struct fx_log *log, const size_t *blocks, unsigned what,
                                 const char *want) {
    struct dg_buf first = DG_BUF_INIT(1 << 24);
    for (size_t way = 0; blocks[way / 3]; way++) {
        struct dg_buf out = DG_BUF_INIT(1 << 24);
        struct dg_arena *arena = dg_arena_new(0);
        log->block = blocks[way / 3];
        fx_say(&out, fx_scan(x, log, arena, way % 3 == 1, way % 3 == 2 ? 2 : 1), what);
        struct dg_slice got = dg_buf_slice(&out),
                        expected = way || want ? want ? dg_cstr(want) : dg_buf_slice(&first) : got;
        if (!dg_slice_eq(got, expected))
            print_error("blocks of %zu, %s:\n%.*s---- not\n%.*s", log->block,
                        way % 3 == 1   ? "plain"
                        : way % 3 == 2 ? "two threads"
                                       : "one thread",
                        DG_FMT(got), DG_FMT(expected));
        assert_true(dg_slice_eq(got, expected));
        if (!way) dg_buf_add_slice(&first, got);
        dg_arena_free(arena);
        dg_buf_release(&out);
    }
    dg_buf_release(&first);
}

static inline void fx_expect(struct fx_rules *x, const char *text, unsigned what, const char *want) {
    static const size_t BLOCKS[] = {DG_BLOCK_SIZE, 300, 9000, 0};
    struct fx_log log = {0};
    fx_add(&log, DG_KIND_SERVER, dg_cstr(text));
    fx_expect_log(x, &log, BLOCKS, what, want);
}

#endif
