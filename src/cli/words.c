/* The words that completions offer: what the rules, the catalog and history know, one a line. */
#include "cli/app.h"
#include "base/mem.h"

static int classes(struct dg_app *app, struct dg_buf *out, struct dg_err *err) {
    int r = dg_app_rules(app, err);
    if (r) return r;
    const struct dg_ruleset *rules = dg_pack_rules(app->pack);
    for (uint32_t i = 0; i < rules->n_classes; i++) {
        const struct dg_class *c = &rules->classes[i];
        dg_buf_addf(out, "%.*s\n", DG_FMT(c->name));
        for (uint32_t k = 0; k < c->n_sub; k++)
            dg_buf_addf(out, "%.*s/%.*s\n", DG_FMT(c->name), DG_FMT(c->sub[k].name));
    }
    return 0;
}

static int rules(struct dg_app *app, struct dg_buf *out, struct dg_err *err) {
    int r = dg_app_rules(app, err);
    for (uint32_t i = 0; !r && i < dg_pack_rules(app->pack)->n_rules; i++)
        dg_buf_addf(out, "%.*s\n", DG_FMT(dg_pack_rules(app->pack)->rules[i].id));
    return r;
}

static int engines(struct dg_app *app, struct dg_buf *out, struct dg_err *err) {
    int r = dg_app_rules(app, err);
    for (uint32_t i = 0; !r && i < app->catalog->n_files; i++)
        dg_buf_addf(out, "%.*s\n", DG_FMT(app->catalog->files[i].engine));
    return r;
}

static bool add_attempt(void *out, const struct dg_history_row *row) {
    dg_buf_addf(out, "%lld\n", (long long)row->id);
    return true;
}

static int attempts(struct dg_app *app, struct dg_buf *out, struct dg_err *err) {
    struct dg_store *store = NULL;
    const struct dg_history_filter all = {.since = DG_TIME_NONE};
    int r = dg_app_store(app, DG_STORE_READ, &store, err);
    if (!r) r = dg_store_history(store, &all, add_attempt, out, err);
    dg_store_close(store);
    return r;
}

int dg_words(struct dg_app *app, const char *what, struct dg_buf *out, struct dg_err *err) {
    static const struct {
        const char *name;
        int (*add)(struct dg_app *app, struct dg_buf *out, struct dg_err *err);
    } KINDS[] = {{"classes", classes}, {"rules", rules}, {"engines", engines}, {"attempts", attempts}};
    for (size_t i = 0; i < DG_COUNT(KINDS); i++)
        if (!strcmp(what, KINDS[i].name)) return KINDS[i].add(app, out, err);
    return dg_err_set(err, DG_E_NOTFOUND, 0, "there are no words for '%s'", what);
}
