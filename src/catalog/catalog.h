/* The catalog: engines, axes, choices: where each works, how its kernels come to be, what it needs.
 * Data from the `engine:` files of the rule folders; rules/engines/README.md tells what each key means. */
#ifndef DG_CATALOG_H
#define DG_CATALOG_H

#include "arch/arch.h"
#include "base/err.h"
#include "base/mem.h"

struct dg_slices {
    struct dg_slice *v;
    uint32_t n;
};

/* Absent conditions hold for everything: `versions` is then '*', the others (`on` too) are empty. */
struct dg_cat_bad {       /* a known fault */
    struct dg_slice kind; /* crash garbage slow hang */
    struct dg_capset on;
    struct dg_slice versions, quant, model, what, source, checked;
};
struct dg_cat_choice {
    struct dg_slice name;
    struct dg_capset archs;         /* where the code can run; the empty set: on no NVIDIA GPU */
    struct dg_slice build;          /* aot jit-nvcc jit-triton jit-cute library cubin, joined by + */
    struct dg_slice versions;       /* engine versions that have it */
    struct dg_slices needs, quants; /* quants: none listed means any */
    bool weight_shuffle;
    struct dg_cat_bad *bad;
    uint32_t n_bad;
    struct dg_slice evidence; /* verified documented expected */
    struct dg_slice note, source, checked;
};
struct dg_cat_spelling { /* how this axis is written in a range of versions */
    struct dg_slice versions, flag, env;
};
struct dg_cat_order { /* what to try first; the first order that fits counts */
    struct dg_capset on;
    struct dg_slice quant, versions, model;
    struct dg_slices names, never, with; /* with: what else must be set for it */
    struct dg_slice source;
};
struct dg_cat_auto { /* what `auto` resolves to; the first rule that fits counts */
    struct dg_capset on;
    struct dg_slice quant, versions, model, gives, trap, source;
};
struct dg_cat_axis {
    struct dg_slice name;  /* flag without dashes in front */
    struct dg_slices args; /* other names of it in argument dumps; '_' and '-' are the same */
    struct dg_cat_spelling *spellings;
    uint32_t n_spellings;
    struct dg_cat_choice *choices;
    uint32_t n_choices;
    struct dg_cat_order *orders;
    uint32_t n_orders;
    struct dg_cat_auto *autos;
    uint32_t n_autos;
};
struct dg_cat_group { /* a named group, by globs: models, or quantization names of the engine */
    struct dg_slice name;
    struct dg_slices globs;
};
struct dg_cat_engine {
    struct dg_slice name, title, checked;
    struct dg_cat_axis *axes;
    uint32_t n_axes;
    struct dg_cat_group *models, *quants;
    uint32_t n_models, n_quants;
};
struct dg_cat_file { /* a file that holds (a part of) an engine */
    struct dg_slice path, engine;
    bool read;
};
enum { DG_CATALOG_FILES = 64 };
/* Files are found at once and read when their engine is first asked for: most runs need one engine or none. */
struct dg_catalog {
    struct dg_arena *arena;
    struct dg_cat_file *files; /* in order of precedence, later ones win */
    uint32_t n_files;
    struct dg_cat_engine *engines; /* those read so far; all after dg_catalog_all() */
    uint32_t n_engines;
    struct dg_problems *probs;
    bool failed; /* out of memory while reading an engine */
};

/* Find every file whose first key is `engine` below the folders (or files) given. NULL only when out of memory. `probs`
 * (may be NULL) must live as long as the catalog: faults go there when a file is read, and the file is then left out.
 */
struct dg_catalog *dg_catalog_load(const char *const *paths, size_t n, struct dg_problems *probs);
/* One more folder (or file), which wins over those before. `guarded`: what everybody may write to is passed over. 0 or
 * -DG_E_NOMEM. */
int dg_catalog_add(struct dg_catalog *c, const char *path, bool guarded);
/* All engines as bytes (base/frozen.h) that are to lie at address `at` (0: not known), added to `out`. 0, -DG_E_NOMEM,
 * -DG_E_INTERNAL. */
int dg_catalog_freeze(struct dg_catalog *c, uintptr_t at, struct dg_buf *out, struct dg_err *err);
/* Take what was frozen into a catalog that holds nothing yet; what is added later wins over it. `bytes` are writable,
 * aligned to 16, taken once, and outlive the catalog. 0; -DG_E_UNSUPPORTED: of another build. */
int dg_catalog_add_frozen(struct dg_catalog *c, struct dg_slice bytes, struct dg_err *err);
void dg_catalog_free(struct dg_catalog *c);
static inline void dg_catalog_freep(struct dg_catalog **c) { dg_catalog_free(*c); }
/* Read all that is not read yet. 0 or -DG_E_NOMEM. */
int dg_catalog_all(struct dg_catalog *c);

/* NULL: no such engine / axis / choice. A later file replaces an engine's axis of the same name. An axis is found by
 * its name or any of its args, with '_' for '-'; a choice whatever the case of its letters. */
const struct dg_cat_engine *dg_catalog_engine(struct dg_catalog *c, struct dg_slice name);
const struct dg_cat_axis *dg_catalog_axis(const struct dg_cat_engine *e, struct dg_slice name);
const struct dg_cat_choice *dg_catalog_choice(const struct dg_cat_axis *a, struct dg_slice name);
/* How the axis is written for this engine version (unknown: the newest). flag or env may be empty. NULL: this version
 * does not have it. */
const struct dg_cat_spelling *dg_catalog_spelling(const struct dg_cat_axis *a, struct dg_slice version);

/* What is asked about. Unknown parts are empty; an unknown capability is in no named set. */
struct dg_cat_key {
    struct dg_slice version;
    struct dg_cc cc;
    struct dg_slice quant, family,
        model; /* quant as the engine or the model's name has it; family: architecture class */
};
/* The catalog's name for a quantization ("modelopt_fp4" is nvfp4); as given when it has none, "none" when not known. */
struct dg_slice dg_catalog_quant(const struct dg_cat_engine *e, struct dg_slice quant);
/* What `auto` gives, or {NULL,0}. *ret_trap (may be NULL): what to beware of. */
struct dg_slice dg_catalog_auto(const struct dg_cat_engine *e, const struct dg_cat_axis *a,
                                const struct dg_cat_key *key, struct dg_slice *ret_trap);
/* The order that counts, or NULL. */
const struct dg_cat_order *dg_catalog_order(const struct dg_cat_engine *e, const struct dg_cat_axis *a,
                                            const struct dg_cat_key *key);
/* The i-th known fault of the choice that is true of `key`; NULL past the end. */
const struct dg_cat_bad *dg_catalog_bad(const struct dg_cat_engine *e, const struct dg_cat_choice *c,
                                        const struct dg_cat_key *key, uint32_t i);
/* Could the choice run: capability, version and quantization admit it, and nothing known stops it? Wrong output does
 * not stop it. */
bool dg_catalog_runs(const struct dg_cat_engine *e, const struct dg_cat_choice *c, const struct dg_cat_key *key);

#endif
