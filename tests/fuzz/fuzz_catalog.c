/* A file of the catalog, asked about each of its axes and choices. */
#include "fuzz.h"
#include "scratch.h"
#include "base/mem.h"
#include "catalog/catalog.h"
#include <stdlib.h>

static void ask(const struct dg_cat_engine *e, const struct dg_cat_axis *a, const struct dg_cat_key *key) {
    struct dg_slice trap;
    dg_catalog_auto(e, a, key, &trap);
    dg_catalog_order(e, a, key);
    dg_catalog_spelling(a, key->version);
    if (dg_catalog_axis(e, a->name) == NULL) abort();
    for (uint32_t i = 0; i < a->n_choices; i++) {
        const struct dg_cat_choice *c = &a->choices[i];
        dg_catalog_runs(e, c, key);
        for (uint32_t k = 0; dg_catalog_bad(e, c, key, k); k++)
            if (k >= c->n_bad) abort();
        if (dg_catalog_choice(a, c->name) == NULL) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct dg_cat_key keys[] = {
        {.version = {"0.5.3", 5}, .cc = {12, 0}, .quant = {"nvfp4", 5}, .family = {"Qwen3MoeForCausalLM", 19}},
        {.cc = {9, 0}},
        {.version = {"1.0rc1", 6}}};
    struct dg_problems problems = {0};
    static struct scratch file;
    scratch_fill(&file, data, size);
    const char *const paths[] = {file.path};
    struct dg_catalog *c = dg_catalog_load(paths, 1, &problems);
    if (!c || dg_catalog_all(c)) abort();
    for (uint32_t i = 0; i < c->n_engines; i++)
        for (uint32_t k = 0; k < c->engines[i].n_axes; k++)
            for (size_t n = 0; n < DG_COUNT(keys); n++) ask(&c->engines[i], &c->engines[i].axes[k], &keys[n]);
    dg_catalog_free(c);
    dg_problems_release(&problems);
    return 0;
}
