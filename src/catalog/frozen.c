/* The catalog as packs.bin has it. */
#include "catalog/catalog.h"
#include "base/frozen.h"

struct dg_cat_engines {
    struct dg_cat_engine *v;
    uint32_t n;
};

#define TEXTS(T, m) DG_LIST(T, m.v, m.n, dg_frozen_slice)

DG_FROZEN_TYPE(BAD, dg_cat_bad, DG_TEXT(dg_cat_bad, kind), DG_PLAIN(dg_cat_bad, on), DG_TEXT(dg_cat_bad, versions),
               DG_TEXT(dg_cat_bad, quant), DG_TEXT(dg_cat_bad, model), DG_TEXT(dg_cat_bad, what),
               DG_TEXT(dg_cat_bad, source), DG_TEXT(dg_cat_bad, checked));
DG_FROZEN_TYPE(CHOICE, dg_cat_choice, DG_TEXT(dg_cat_choice, name), DG_PLAIN(dg_cat_choice, archs),
               DG_TEXT(dg_cat_choice, build), DG_TEXT(dg_cat_choice, versions), TEXTS(dg_cat_choice, needs),
               TEXTS(dg_cat_choice, quants), DG_PLAIN(dg_cat_choice, weight_shuffle),
               DG_LIST(dg_cat_choice, bad, n_bad, BAD), DG_TEXT(dg_cat_choice, evidence), DG_TEXT(dg_cat_choice, note),
               DG_TEXT(dg_cat_choice, source), DG_TEXT(dg_cat_choice, checked));
DG_FROZEN_TYPE(SPELLING, dg_cat_spelling, DG_TEXT(dg_cat_spelling, versions), DG_TEXT(dg_cat_spelling, flag),
               DG_TEXT(dg_cat_spelling, env));
DG_FROZEN_TYPE(ORDER, dg_cat_order, DG_PLAIN(dg_cat_order, on), DG_TEXT(dg_cat_order, quant),
               DG_TEXT(dg_cat_order, versions), DG_TEXT(dg_cat_order, model), TEXTS(dg_cat_order, names),
               TEXTS(dg_cat_order, never), TEXTS(dg_cat_order, with), DG_TEXT(dg_cat_order, source));
DG_FROZEN_TYPE(AUTO, dg_cat_auto, DG_PLAIN(dg_cat_auto, on), DG_TEXT(dg_cat_auto, quant),
               DG_TEXT(dg_cat_auto, versions), DG_TEXT(dg_cat_auto, model), DG_TEXT(dg_cat_auto, gives),
               DG_TEXT(dg_cat_auto, trap), DG_TEXT(dg_cat_auto, source));
DG_FROZEN_TYPE(AXIS, dg_cat_axis, DG_TEXT(dg_cat_axis, name), TEXTS(dg_cat_axis, args),
               DG_LIST(dg_cat_axis, spellings, n_spellings, SPELLING), DG_LIST(dg_cat_axis, choices, n_choices, CHOICE),
               DG_LIST(dg_cat_axis, orders, n_orders, ORDER), DG_LIST(dg_cat_axis, autos, n_autos, AUTO));
DG_FROZEN_TYPE(GROUP, dg_cat_group, DG_TEXT(dg_cat_group, name), TEXTS(dg_cat_group, globs));
DG_FROZEN_TYPE(ENGINE, dg_cat_engine, DG_TEXT(dg_cat_engine, name), DG_TEXT(dg_cat_engine, title),
               DG_TEXT(dg_cat_engine, checked), DG_LIST(dg_cat_engine, axes, n_axes, AXIS),
               DG_LIST(dg_cat_engine, models, n_models, GROUP), DG_LIST(dg_cat_engine, quants, n_quants, GROUP));
DG_FROZEN_TYPE(ENGINES, dg_cat_engines, DG_LIST(dg_cat_engines, v, n, ENGINE));

int dg_catalog_freeze(struct dg_catalog *c, uintptr_t at, struct dg_buf *out, struct dg_err *err) {
    if (dg_catalog_all(c)) return dg_err_nomem(err);
    struct dg_cat_engines all = {c->engines, c->n_engines};
    return dg_freeze(&ENGINES, &all, at, out, err);
}

int dg_catalog_add_frozen(struct dg_catalog *c, struct dg_slice bytes, struct dg_err *err) {
    const struct dg_cat_engines *all = dg_thaw(&ENGINES, (char *)(uintptr_t)bytes.ptr, bytes.len);
    if (!all || all->n > DG_CATALOG_FILES - c->n_files)
        return dg_err_set(err, DG_E_UNSUPPORTED, 0, "the catalog is of another build");
    for (uint32_t i = 0; i < all->n; i++) {
        c->engines[c->n_engines++] = all->v[i];
        c->files[c->n_files++] = (struct dg_cat_file){.engine = all->v[i].name, .read = true};
    }
    return 0;
}
