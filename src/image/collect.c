#include "image/collect.h"
#include <stdarg.h>
#include <stdio.h>
#include <xxhash.h>

void collect_begin(struct collector *c, struct reading *r) {
    *c = (struct collector){.reading = r, .seen = dg_map_new(NULL)};
    if (!c->seen) r->result = -DG_E_NOMEM;
}

static int by_code(const void *a, const void *b) {
    const struct dg_code *x = a, *y = b;
    int c = dg_cc_cmp(x->target.cc, y->target.cc);
    if (!c) c = (int)x->kind - (int)y->kind;
    if (!c) c = x->target.suffix - y->target.suffix;
    if (!c) c = x->ptx - y->ptx;
    return c ? c : (int)x->compression - (int)y->compression;
}

static size_t sort_unique(struct dg_code *codes, size_t n) {
    size_t kept = 0;
    if (n) qsort(codes, n, sizeof(*codes), by_code);
    for (size_t i = 0; i < n; i++)
        if (!kept || by_code(&codes[kept - 1], &codes[i])) codes[kept++] = codes[i];
    return kept;
}

/* A hash over the codes, field by field as they have padding, is what tells modules apart. */
static XXH128_canonical_t fingerprint(const struct dg_code *codes, size_t n, bool relocatable) {
    int fields[MODULE_CODES_MAX][5];
    XXH128_canonical_t key;
    for (size_t i = 0; i < n; i++) {
        const struct dg_code *c = &codes[i];
        int f[5] = {(int)c->kind, c->target.cc.major << 8 | c->target.cc.minor, c->target.suffix, c->ptx,
                    (int)c->compression};
        memcpy(fields[i], f, sizeof(f));
    }
    XXH128_canonicalFromHash(&key, XXH3_128bits_withSeed(fields, n * sizeof(*fields), relocatable));
    return key;
}

static bool add_module(struct collector *c, struct dg_slice key, const struct dg_code *codes, size_t n,
                       bool relocatable) {
    struct dg_image_module m = {.n_codes = (uint32_t)n, .count = 1, .relocatable = relocatable};
    struct dg_arena *arena = c->reading->image->arena;
    size_t next = c->modules.n + 1; /* indexes are kept plus one, as NULL is "not there" */
    if (next > MODULES_MAX || dg_arena_used(arena) > MEMORY_MAX) {
        collect_fault(c, "too many different modules; the rest is left out");
        return true;
    }
    m.codes = dg_arena_alloc(arena, n * sizeof(*codes));
    if (!m.codes || !DG_VEC_PUSH(&c->modules, m, MODULES_MAX)) return false;
    memcpy(m.codes, codes, n * sizeof(*codes));
    return !dg_map_set(c->seen, key, (void *)(uintptr_t)next);
}

void collect_module(struct collector *c, struct dg_code *codes, size_t n, bool relocatable) {
    if (!n || c->reading->result) return;
    n = sort_unique(codes, n);
    XXH128_canonical_t hash = fingerprint(codes, n, relocatable);
    struct dg_slice key = dg_slice((const char *)hash.digest, sizeof(hash.digest));
    uintptr_t at = (uintptr_t)dg_map_get(c->seen, key);
    if (at)
        c->modules.v[at - 1].count++;
    else if (!add_module(c, key, codes, n, relocatable))
        c->reading->result = -DG_E_NOMEM;
}

void collect_fault(struct collector *c, const char *fmt, ...) {
    if (*c->fault) return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->fault, sizeof(c->fault), fmt, ap);
    va_end(ap);
}

/* The codes of all modules, each once. */
static bool sum_up(struct dg_image_member *m, struct dg_arena *arena) {
    struct {
        struct dg_code *v;
        size_t n, cap;
    } all = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < m->n_modules; i++) {
        for (uint32_t k = 0; ok && k < m->modules[i].n_codes; k++)
            ok = DG_VEC_PUSH(&all, m->modules[i].codes[k], SIZE_MAX / 64);
        if (all.n > 4096) all.n = sort_unique(all.v, all.n);
    }
    all.n = sort_unique(all.v, all.n);
    if (ok && all.n) {
        m->codes = dg_arena_alloc(arena, all.n * sizeof(*all.v));
        ok = m->codes != NULL;
        if (ok) memcpy(m->codes, all.v, all.n * sizeof(*all.v));
        m->n_codes = (uint32_t)all.n;
    }
    free(all.v);
    return ok;
}

static bool keep(struct collector *c, const char *path, const char *member) {
    struct dg_arena *arena = c->reading->image->arena;
    struct dg_image_member m = {
        .path = dg_arena_str(arena, dg_cstr(path)), .n_modules = (uint32_t)c->modules.n, .stubs = c->stubs};
    if (!m.path) return false;
    if (member && !(m.member = dg_arena_str(arena, dg_cstr(member)))) return false;
    if (*c->fault && !(m.fault = dg_arena_str(arena, dg_cstr(c->fault)))) return false;
    if (m.n_modules) {
        m.modules = dg_arena_alloc(arena, m.n_modules * sizeof(*m.modules));
        if (!m.modules) return false;
        memcpy(m.modules, c->modules.v, m.n_modules * sizeof(*m.modules));
    }
    return sum_up(&m, arena) && DG_VEC_PUSH(&c->reading->members, m, MEMBERS_MAX);
}

void collect_end(struct collector *c, const char *path, const char *member, bool always) {
    struct reading *r = c->reading;
    if (!r->result && (always || c->modules.n || *c->fault)) {
        if (r->members.n == MEMBERS_MAX || dg_arena_used(r->image->arena) > MEMORY_MAX)
            r->image->cut = true;
        else if (!keep(c, path, member))
            r->result = -DG_E_NOMEM;
    }
    free(c->modules.v);
    dg_map_free(c->seen);
}
