/* Questions to a loaded catalog. */
#include "catalog/catalog.h"
#include "base/pep440.h"
#include <fnmatch.h>
#include <strings.h>

/* Dumps write moe_runner_backend, flags --moe-runner-backend. */
static bool same_name(struct dg_slice a, struct dg_slice b) {
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++)
        if (a.ptr[i] != b.ptr[i] && (a.ptr[i] != '-' || b.ptr[i] != '_') && (a.ptr[i] != '_' || b.ptr[i] != '-'))
            return false;
    return true;
}

const struct dg_cat_axis *dg_catalog_axis(const struct dg_cat_engine *e, struct dg_slice name) {
    for (uint32_t i = 0; i < e->n_axes; i++) {
        const struct dg_cat_axis *a = &e->axes[i];
        if (same_name(a->name, name)) return a;
        for (uint32_t k = 0; k < a->args.n; k++)
            if (same_name(a->args.v[k], name)) return a;
    }
    return NULL;
}

/* Logs shout what flags whisper: FLASHINFER_CUTLASS is flashinfer_cutlass. */
const struct dg_cat_choice *dg_catalog_choice(const struct dg_cat_axis *a, struct dg_slice name) {
    for (uint32_t i = 0; i < a->n_choices; i++) {
        struct dg_slice own = a->choices[i].name;
        if (own.len == name.len && !strncasecmp(own.ptr, name.ptr, own.len)) return &a->choices[i];
    }
    return NULL;
}

const struct dg_cat_spelling *dg_catalog_spelling(const struct dg_cat_axis *a, struct dg_slice version) {
    for (uint32_t i = 0; i < a->n_spellings; i++) /* newest first in the file */
        if (dg_pep440_in(version, a->spellings[i].versions)) return &a->spellings[i];
    return NULL;
}

static bool matches(const struct dg_cat_group *g, struct dg_slice text) {
    char name[256];
    if (!text.len || text.len >= sizeof(name)) return false;
    memcpy(name, text.ptr, text.len);
    name[text.len] = 0;
    for (uint32_t i = 0; i < g->globs.n; i++)
        if (!fnmatch(g->globs.v[i].ptr, name, FNM_NOESCAPE | FNM_CASEFOLD)) return true;
    return false;
}

struct dg_slice dg_catalog_quant(const struct dg_cat_engine *e, struct dg_slice quant) {
    for (uint32_t i = 0; i < e->n_quants; i++)
        if (matches(&e->quants[i], quant)) return e->quants[i].name;
    return quant.len ? quant : DG_S("none");
}

static bool model_in(const struct dg_cat_engine *e, struct dg_slice group, const struct dg_cat_key *key) {
    for (uint32_t i = 0; i < e->n_models; i++)
        if (dg_slice_eq(e->models[i].name, group))
            return matches(&e->models[i], key->family) || matches(&e->models[i], key->model);
    return false;
}

static bool fits(const struct dg_cat_engine *e, const struct dg_cat_key *key, const struct dg_capset *on,
                 struct dg_slice versions, struct dg_slice quant, struct dg_slice model) {
    if (!dg_capset_empty(on) && !dg_capset_has(on, key->cc)) return false;
    if (!dg_pep440_in(key->version, versions)) return false;
    if (quant.len && !dg_slice_eq(quant, dg_catalog_quant(e, key->quant))) return false;
    return !model.len || model_in(e, model, key);
}

struct dg_slice dg_catalog_auto(const struct dg_cat_engine *e, const struct dg_cat_axis *a,
                                const struct dg_cat_key *key, struct dg_slice *ret_trap) {
    for (uint32_t i = 0; i < a->n_autos; i++) {
        const struct dg_cat_auto *rule = &a->autos[i];
        if (!fits(e, key, &rule->on, rule->versions, rule->quant, rule->model)) continue;
        if (ret_trap) *ret_trap = rule->trap;
        return rule->gives;
    }
    return (struct dg_slice){NULL, 0};
}

const struct dg_cat_order *dg_catalog_order(const struct dg_cat_engine *e, const struct dg_cat_axis *a,
                                            const struct dg_cat_key *key) {
    for (uint32_t i = 0; i < a->n_orders; i++)
        if (fits(e, key, &a->orders[i].on, a->orders[i].versions, a->orders[i].quant, a->orders[i].model))
            return &a->orders[i];
    return NULL;
}

const struct dg_cat_bad *dg_catalog_bad(const struct dg_cat_engine *e, const struct dg_cat_choice *c,
                                        const struct dg_cat_key *key, uint32_t i) {
    for (uint32_t k = 0; k < c->n_bad; k++) {
        const struct dg_cat_bad *b = &c->bad[k];
        if (fits(e, key, &b->on, b->versions, b->quant, b->model) && !i--) return b;
    }
    return NULL;
}

static bool listed(const struct dg_slices *list, struct dg_slice name) {
    for (uint32_t i = 0; i < list->n; i++)
        if (dg_slice_eq(list->v[i], name)) return true;
    return false;
}

bool dg_catalog_runs(const struct dg_cat_engine *e, const struct dg_cat_choice *c, const struct dg_cat_key *key) {
    if (dg_cc_known(key->cc) ? !dg_capset_has(&c->archs, key->cc) : dg_capset_empty(&c->archs)) return false;
    if (!dg_pep440_in(key->version, c->versions)) return false;
    if (key->quant.len && c->quants.n && !listed(&c->quants, dg_catalog_quant(e, key->quant))) return false;
    const struct dg_cat_bad *b;
    for (uint32_t i = 0; (b = dg_catalog_bad(e, c, key, i)); i++) {
        bool certain = key->version.len || dg_slice_is(b->versions, "*"); /* of a version not known it may be true */
        if (certain && (dg_slice_is(b->kind, "crash") || dg_slice_is(b->kind, "hang"))) return false;
    }
    return true;
}
