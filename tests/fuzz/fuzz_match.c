/* A pack, a NUL, and a log: the literal pass and the plain way find the same. */
#include "fuzz.h"
#include "scratch.h"
#include "ingest/ingest.h"
#include "match/match.h"
#include "pack/pack.h"

static int next(void *in, struct dg_block **ret, struct dg_err *err) { return dg_ingest_next(in, ret, err); }
static void release(void *in, struct dg_block *b) { dg_ingest_release(in, b); }
static const struct dg_source *sources(void *in, uint32_t *ret_n) { return dg_ingest_sources(in, ret_n); }

static struct dg_ingest *read_text(struct dg_slice text) {
    struct dg_ingest_opts opts = {.tee_fd = -1};
    struct dg_ingest *in = dg_ingest_new(&opts);
    if (!in || dg_ingest_add_text(in, "x", DG_KIND_SERVER, text)) abort();
    return in;
}

static const struct dg_scan *scan(const struct dg_matcher *m, struct dg_ingest *in, bool plain,
                                  struct dg_arena *arena) {
    struct dg_match_opts opts = {.next = next,
                                 .release = release,
                                 .sources = sources,
                                 .in = in,
                                 .split = dg_prefix_parse,
                                 .threads = 1,
                                 .plain = plain};
    struct dg_scan *s = NULL;
    if (dg_match_scan(m, &opts, arena, &s, NULL)) abort();
    return s;
}

static void compare(const struct dg_scan *a, const struct dg_scan *b) {
    if (a->n_findings != b->n_findings || a->n_launches != b->n_launches) abort();
    for (uint32_t i = 0; i < a->n_findings; i++) {
        const struct dg_finding *f = &a->findings[i], *g = &b->findings[i];
        if (f->rule != g->rule || f->first.line != g->first.line || f->count != g->count) abort();
    }
}

static void match(const struct dg_ruleset *rules, struct dg_slice text) {
    struct dg_matcher *m = NULL;
    if (dg_matcher_new(rules, (struct dg_slice){NULL, 0}, &m, NULL)) return; /* too much, which it says */
    struct dg_ingest *one = read_text(text), *two = read_text(text);
    struct dg_arena *arena = dg_arena_new(0);
    if (!arena) abort();
    compare(scan(m, one, false, arena), scan(m, two, true, arena));
    dg_arena_free(arena);
    dg_ingest_free(one);
    dg_ingest_free(two);
    dg_matcher_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct scratch file;
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    struct dg_problems problems = {0};
    struct dg_pack *pack = NULL;
    if (!nul) return 0;
    scratch_fill(&file, data, (size_t)(nul - data));
    struct dg_pack_place place = {.path = file.path, .required = true, .user = true, .named = true};
    if (dg_pack_load(&place, 1, false, &problems, &pack, NULL)) abort();
    match(dg_pack_rules(pack), dg_slice((const char *)nul + 1, size - (size_t)(nul - data) - 1));
    dg_pack_free(pack);
    dg_problems_release(&problems);
    return 0;
}
