/* The catalog: engines, axes, choices: where each works, how its kernels come to be, what it needs. Data from rules/engines/ YAML files. */
#ifndef DG_CATALOG_H
#define DG_CATALOG_H

#include "base/err.h"
#include "base/mem.h"
#include "arch/arch.h"

struct dg_cat_bad { /* a known fault */
    struct dg_slice kind; /* crash garbage slow hang */
    struct dg_capset on;
    struct dg_slice versions, quant, what, source, checked;
};
struct dg_cat_choice {
    struct dg_slice name;
    struct dg_capset archs;
    struct dg_slice build;   /* aot jit-nvcc jit-triton jit-cute library cubin, joined by + */
    struct dg_slice versions; /* engine versions that have it ('*') */
    struct dg_slice *needs, *quants;
    uint32_t n_needs, n_quants;
    bool weight_shuffle;
    struct dg_cat_bad *bad;
    uint32_t n_bad;
    struct dg_slice evidence; /* verified documented expected */
    struct dg_slice note, source, checked;
};
struct dg_cat_spelling { /* how this axis is written in a range of versions */
    struct dg_slice versions, flag, env;
};
struct dg_cat_order { /* what to try first, by capability and quantization */
    struct dg_capset on;
    struct dg_slice quant, versions;
    struct dg_slice *names;
    uint32_t n_names;
    struct dg_slice *never;
    uint32_t n_never;
};
struct dg_cat_auto { /* what `auto` resolves to */
    struct dg_capset on;
    struct dg_slice quant, versions, gives, trap;
};
struct dg_cat_axis {
    struct dg_slice name; /* flag without dashes in front */
    struct dg_slice *args; /* names seen in argument dumps */
    uint32_t n_args;
    struct dg_cat_spelling *spellings;
    uint32_t n_spellings;
    struct dg_cat_choice *choices;
    uint32_t n_choices;
    struct dg_cat_order *orders;
    uint32_t n_orders;
    struct dg_cat_auto *autos;
    uint32_t n_autos;
};
struct dg_cat_engine {
    struct dg_slice name, title;
    struct dg_cat_axis *axes;
    uint32_t n_axes;
    struct dg_slice file;
};
struct dg_catalog {
    struct dg_arena *arena;
    struct dg_cat_engine *engines;
    uint32_t n_engines;
};

/* Load every file whose first key is `engine` below the folders given, later ones replacing an engine's axis of the same name. Faults go to probs;
 * the file is then left out. NULL only when out of memory. */
struct dg_catalog *dg_catalog_load(const char *const *paths, size_t n, struct dg_problems *probs);
void dg_catalog_free(struct dg_catalog *c);
/* NULL: no such engine / axis / choice. An axis is found by its name or any of its args. */
const struct dg_cat_engine *dg_catalog_engine(const struct dg_catalog *c, struct dg_slice name);
const struct dg_cat_axis *dg_catalog_axis(const struct dg_cat_engine *e, struct dg_slice name);
const struct dg_cat_choice *dg_catalog_choice(const struct dg_cat_axis *a, struct dg_slice name);
/* How the axis is written for this engine version (unknown: the newest). flag or env may be empty. NULL: this version does not have it. */
const struct dg_cat_spelling *dg_catalog_spelling(const struct dg_cat_axis *a, struct dg_slice version);

#endif
