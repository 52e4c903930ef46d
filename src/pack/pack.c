/* The set of rules while it is put together. */
#include "pack/pack_internal.h"
#include <sys/mman.h>

enum { RULES_MAX = 20000, ARENA_MAX = 256 << 20 };

struct dg_pack *pack_new(void) {
    struct dg_pack *p = dg_calloc(1, sizeof(*p));
    if (!p) return NULL;
    p->arena = dg_arena_new(ARENA_MAX);
    p->ids = dg_map_new(NULL);
    if (p->arena && p->ids) return p;
    dg_pack_free(p);
    return NULL;
}

void dg_pack_free(struct dg_pack *p) {
    if (!p) return;
    dg_arena_free(p->arena);
    dg_map_free(p->ids);
    if (p->bin.len) munmap((void *)(uintptr_t)p->bin.ptr, p->bin.len);
    free(p->rules.v);
    free(p->places.v);
    free(p);
}

int pack_add(struct dg_pack *p, const struct dg_rule *rule, size_t place) {
    size_t at = (size_t)dg_map_get(p->ids, rule->id);
    if (at) {
        if (p->places.v[at - 1] == place) return -DG_E_BUSY;
        p->rules.v[at - 1] = *rule;
        p->places.v[at - 1] = place;
        return 0;
    }
    if (!DG_VEC_PUSH(&p->rules, *rule, RULES_MAX)) return -DG_E_NOMEM;
    if (DG_VEC_PUSH(&p->places, place, RULES_MAX) && !dg_map_set(p->ids, rule->id, (void *)p->rules.n)) return 0;
    p->rules.n--;
    return -DG_E_NOMEM;
}

/* Nothing is written over what says the same: it may be mapped, and a written page is a copy. */
static void number(struct dg_ruleset *set, struct dg_pattern *p, uint32_t rule) {
    if (p->rule != rule) p->rule = rule;
    if (p->id != set->n_patterns) p->id = set->n_patterns;
    set->patterns[set->n_patterns++] = p;
}

int pack_lay_out(struct dg_pack *p) {
    p->set.n_rules = (uint32_t)p->rules.n;
    p->set.rules = dg_arena_alloc(p->arena, p->rules.n * sizeof(*p->set.rules));
    if (!p->set.rules) return -DG_E_NOMEM;
    if (p->rules.n) memcpy(p->set.rules, p->rules.v, p->rules.n * sizeof(*p->set.rules));
    return 0;
}

int pack_number(struct dg_pack *p) {
    struct dg_ruleset *set = &p->set;
    size_t patterns = 0;
    for (uint32_t i = 0; i < set->n_rules; i++)
        patterns += set->rules[i].n_patterns + (set->rules[i].opens_until != NULL);
    set->patterns = dg_arena_alloc(p->arena, patterns * sizeof(struct dg_pattern *));
    if (!set->patterns) return -DG_E_NOMEM;
    set->n_patterns = 0;
    for (uint32_t i = 0; i < set->n_rules; i++) {
        struct dg_rule *rule = &set->rules[i];
        for (uint32_t k = 0; k < rule->n_patterns; k++) number(set, &rule->patterns[k], i);
        if (rule->opens_until) number(set, rule->opens_until, i);
    }
    return 0;
}

const struct dg_ruleset *dg_pack_rules(const struct dg_pack *p) { return &p->set; }

struct dg_slice dg_pack_catalog(const struct dg_pack *p) {
    return p->catalog;
}
struct dg_slice dg_pack_tables(const struct dg_pack *p) {
    return p->tables;
}

int dg_pack_load(const struct dg_pack_place *places, size_t n, bool keep_examples, struct dg_problems *probs,
                 struct dg_pack **ret, struct dg_err *err) {
    _cleanup_(dg_pack_freep) struct dg_pack *p = pack_new();
    if (!p) return dg_err_nomem(err);
    int r = pack_read_places(p, places, n, 0, keep_examples, probs, err);
    if (r) return r;
    if (pack_lay_out(p) || pack_number(p)) return dg_err_nomem(err);
    *ret = DG_TAKE(p);
    return 0;
}
