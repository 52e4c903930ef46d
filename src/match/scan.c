/* Blocks through the two stages. Each is read and taken through stage 1 by one thread, while it is in that processor's
 * cache; one thread reads at a time. Stage 1 is pure; stage 2 is done by the calling thread, in file order. A second
 * thread helps from the second block on, so that a pipe seldom waits for a scan. What has to be decompressed is read by
 * that one alone, and searched by the other: a decompressor is slower where its window is in another's cache. */
#include "base/census.h"
#include "match/engine.h"
#include <pthread.h>

enum { JOBS = 4 };

struct job {
    struct dg_block *block;
    enum dg_kind kind; /* of its source */
    struct hits hits;
    enum { READ, IN_STAGE_1, SCANNED } state;
};

struct pipeline {
    const struct dg_matcher *m;
    const struct dg_match_opts *opts;
    struct engine *engine;
    struct job jobs[JOBS];
    unsigned first, n, max; /* jobs[first % JOBS] is the oldest of n */
    bool reading;           /* a thread is */
    bool packed;            /* the last block that was read was decompressed */
    uint64_t blocks;        /* were read */
    bool ended;             /* no block comes any more: */
    int failed;             /* 0, or why, told by `err` */
    struct dg_err err;
    struct scanner worker_scanner;
    pthread_t worker;
    bool worker_runs, stop;
    pthread_mutex_t lock;
    pthread_cond_t change;
};

static struct job *nth(struct pipeline *p, unsigned i) { return &p->jobs[(p->first + i) % JOBS]; }

/* May another block be read now? */
static bool may_read(const struct pipeline *p) { return !p->reading && !p->ended && p->n < p->max; }

/* Called and returning with the lock held, as is the next. */
static void stage_1(struct pipeline *p, struct scanner *s, struct job *j) {
    j->state = IN_STAGE_1;
    pthread_mutex_unlock(&p->lock);
    hits_find(s, j->block->data, j->block->len, 0, 0, (int)j->kind, &j->hits);
    pthread_mutex_lock(&p->lock);
    j->state = SCANNED;
    pthread_cond_broadcast(&p->change);
}

/* The next block, and through stage 1 unless it is `left` to another; or the end. */
static void take_in(struct pipeline *p, struct scanner *s, bool left) {
    struct job *j = nth(p, p->n); /* it stays the same when older ones retire */
    uint32_t n;
    p->reading = true;
    pthread_mutex_unlock(&p->lock);
    int r = p->opts->next(p->opts->in, &j->block, &p->err);
    if (r > 0) j->kind = p->opts->sources(p->opts->in, &n)[j->block->source].kind;
    if (r > 0 && !j->hits.lines && hits_init(&j->hits, p->m)) {
        p->opts->release(p->opts->in, j->block);
        r = dg_err_nomem(&p->err);
    }
    pthread_mutex_lock(&p->lock);
    p->reading = false;
    if (r > 0) {
        j->state = READ;
        p->packed = j->block->packed;
        p->n++;
        p->blocks++;
    } else {
        p->ended = true;
        p->failed = r;
    }
    pthread_cond_broadcast(&p->change);
    if (r > 0 && !(left && p->packed)) stage_1(p, s, j);
}

static void *work(void *ctx) {
    struct pipeline *p = ctx;
    pthread_mutex_lock(&p->lock);
    while (!p->stop && !p->ended) {
        if (may_read(p))
            take_in(p, &p->worker_scanner, true);
        else
            pthread_cond_wait(&p->change, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Without it everything goes on, slower. */
static void start_worker(struct pipeline *p) {
    p->worker_runs = !scanner_init(&p->worker_scanner, p->m, p->opts) && !pthread_create(&p->worker, NULL, work, p);
    if (!p->worker_runs) p->max = 1;
}

/* The oldest block, through stage 1; NULL at the end. */
static struct job *next_job(struct pipeline *p) {
    struct job *j = NULL;
    pthread_mutex_lock(&p->lock);
    while (!j && (p->n || !p->ended)) {
        if (p->n && nth(p, 0)->state == SCANNED) {
            j = nth(p, 0);
        } else if (p->n && nth(p, 0)->state == READ) {
            stage_1(p, &p->engine->scanner, nth(p, 0));
        } else if (may_read(p) && !(p->packed && p->worker_runs)) {
            take_in(p, &p->engine->scanner, false);
            if (p->blocks == 2 && p->max > 1 && !p->worker_runs) start_worker(p);
        } else {
            pthread_cond_wait(&p->change, &p->lock);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return j;
}

static void retire(struct pipeline *p, struct job *j) {
    struct dg_block *b = j->block;
    pthread_mutex_lock(&p->lock);
    p->first++;
    p->n--;
    pthread_cond_broadcast(&p->change);
    pthread_mutex_unlock(&p->lock);
    p->opts->release(p->opts->in, b);
}

static void second_stage(struct pipeline *p, struct job *j) {
    struct engine *e = p->engine;
    const struct dg_block *b = j->block;
    if (!e->in_source || e->source != b->source) {
        engine_end_source(e);
        engine_begin_source(e, b->source, j->kind);
    }
    engine_block(e, &e->scanner, b, &j->hits);
    if (b->last) engine_end_source(e);
}

static int run(struct pipeline *p, struct dg_err *err) {
    struct job *j;
    while ((j = next_job(p))) {
        second_stage(p, j);
        retire(p, j);
        if (p->engine->nomem) return dg_err_nomem(err);
    }
    if (p->failed && err) *err = p->err;
    return p->failed;
}

static void take_down(struct pipeline *p) {
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->change);
    pthread_mutex_unlock(&p->lock);
    if (p->worker_runs) pthread_join(p->worker, NULL);
    while (p->n) retire(p, nth(p, 0));
    for (int i = 0; i < JOBS; i++) hits_release(&p->jobs[i].hits);
    scanner_release(&p->worker_scanner);
    pthread_cond_destroy(&p->change);
    pthread_mutex_destroy(&p->lock);
}

int dg_match_scan(const struct dg_matcher *m, const struct dg_match_opts *opts, struct dg_arena *arena,
                  struct dg_scan **ret, struct dg_err *err) {
    struct engine e;
    struct pipeline p = {.m = m,
                         .opts = opts,
                         .engine = &e,
                         .max = opts->threads > 1 ? JOBS : 1,
                         .lock = PTHREAD_MUTEX_INITIALIZER,
                         .change = PTHREAD_COND_INITIALIZER};
    int r = engine_init(&e, m, opts, arena);
    if (!r) r = run(&p, err);
    take_down(&p);
    if (!r) {
        engine_end_source(&e);
        r = engine_finish(&e, ret);
    }
    engine_release(&e);
    return r == -DG_E_NOMEM ? dg_err_nomem(err) : r;
}

/* ---- one rule on one text */

struct dg_block block_of(const char *data, size_t len) {
    return (struct dg_block){.data = data,
                             .len = len,
                             .newlines = (uint32_t)dg_census(dg_slice(data, len)).newlines,
                             .first_line = 1,
                             .last = true};
}

/* The text as one block with zeros behind it. */
static char *padded(struct dg_slice text) {
    char *p = dg_malloc(text.len + DG_BLOCK_TAIL);
    if (!p) return NULL;
    if (text.len) memcpy(p, text.ptr, text.len);
    memset(p + text.len, 0, DG_BLOCK_TAIL);
    return p;
}

static enum dg_kind kind_for(const struct dg_rule *rule, const struct dg_match_opts *opts) {
    uint32_t n = 0;
    const struct dg_source *s = opts->sources ? opts->sources(opts->in, &n) : NULL;
    if (s && n) return s[0].kind;
    if (rule->kinds & DG_KIND_BIT(DG_KIND_SERVER)) return DG_KIND_SERVER;
    enum dg_kind k = DG_KIND_UNKNOWN;
    while (k < DG_KIND_COUNT - 1 && !(rule->kinds & DG_KIND_BIT(k))) k++;
    return k;
}

int dg_match_rule(const struct dg_matcher *m, const struct dg_rule *rule, struct dg_slice text,
                  const struct dg_match_opts *opts, struct dg_arena *arena, struct dg_finding *ret) {
    struct engine e;
    struct hits hits = {0};
    struct dg_scan *scan = NULL;
    _cleanup_(dg_freep) char *data = padded(text);
    struct dg_match_opts own = *opts;
    own.sources = NULL;
    struct dg_block b = block_of(data, data ? text.len : 0);
    int r = engine_init(&e, m, &own, arena);
    if (!r) r = data && !hits_init(&hits, m) ? 0 : -DG_E_NOMEM;
    if (!r) {
        e.only = rule;
        engine_begin_source(&e, 0, kind_for(rule, opts));
        hits_find(&e.scanner, b.data, b.len, 0, 0, -1, &hits);
        engine_block(&e, &e.scanner, &b, &hits);
        engine_end_source(&e);
        r = engine_finish(&e, &scan);
    }
    hits_release(&hits);
    engine_release(&e);
    if (r) return r;
    if (scan->n_findings) *ret = scan->findings[0];
    return scan->n_findings > 0;
}
