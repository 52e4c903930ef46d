/* packc RULES_DIR OUT: the build step that compiles the shipped rules and catalog to packs.bin (OUT is an absolute
 * path). Every fault is told; any makes it fail. */
#include "catalog/catalog.h"
#include "match/match.h"
#include "pack/pack.h"
#include <stdio.h>
#include <unistd.h>

enum { PART_MAX = 16 << 20 };

static void print_problems(const struct dg_problems *probs) {
    for (size_t i = 0; i < probs->n; i++) {
        const struct dg_problem *p = &probs->v[i];
        fprintf(stderr, "%s:%u:%u: %s\n", p->file, p->line, p->col, p->msg);
        if (p->snippet && p->col) fprintf(stderr, "  %s\n  %*s^\n", p->snippet, (int)p->col - 1, "");
    }
}

/* The matcher's tables of the rules as they lie in the file so far, which is then written with these behind. */
static int add_tables(const struct dg_pack *pack, struct dg_slice catalog, const char *out, struct dg_err *err) {
    _cleanup_(dg_buf_release) struct dg_buf frozen = DG_BUF_INIT(PART_MAX);
    _cleanup_(dg_pack_freep) struct dg_pack *saved = NULL;
    _cleanup_(dg_matcher_freep) struct dg_matcher *matcher = NULL;
    int r = dg_pack_load_bin(out, NULL, 0, NULL, &saved, err);
    if (r) return r;
    if (!dg_pack_tables_at(saved)) {
        fprintf(stderr,
                "packc: the address is taken that packs.bin is made for: no tables, so that each start takes longer\n");
        return 0;
    }
    r = dg_matcher_new(dg_pack_rules(saved), &matcher, err);
    if (!r) r = dg_matcher_freeze(matcher, dg_pack_tables_at(saved), &frozen, err);
    return r ? r : dg_pack_save_bin(pack, catalog, dg_buf_slice(&frozen), out, err);
}

static int save(const struct dg_pack *pack, struct dg_catalog *catalog, const char *out, struct dg_err *err) {
    _cleanup_(dg_buf_release) struct dg_buf frozen = DG_BUF_INIT(PART_MAX);
    int r = dg_catalog_freeze(catalog, dg_pack_catalog_at(), &frozen, err);
    if (!r) r = dg_pack_save_bin(pack, dg_buf_slice(&frozen), DG_S(""), out, err);
    return r ? r : add_tables(pack, dg_buf_slice(&frozen), out, err);
}

/* Rules are told to be from rules/…, seen from the folder above: the path to that is nobody's but the builder's. */
static const char *enter_above(char *rules) {
    char *slash = strrchr(rules, '/');
    if (!slash) return rules;
    *slash = '\0';
    return chdir(rules) ? NULL : slash + 1;
}

int main(int argc, char **argv) {
    _cleanup_(dg_pack_freep) struct dg_pack *pack = NULL;
    _cleanup_(dg_catalog_freep) struct dg_catalog *catalog = NULL;
    struct dg_problems probs = {0};
    struct dg_err err = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: packc RULES_DIR OUT\n");
        return 2;
    }
    struct dg_pack_place place = {.path = enter_above(argv[1]), .required = true};
    if (!place.path) {
        fprintf(stderr, "packc: there is no folder '%s'\n", argv[1]);
        return 1;
    }
    int r = dg_pack_load(&place, 1, false, &probs, &pack, &err);
    catalog = dg_catalog_load(&place.path, 1, &probs);
    if (!catalog || dg_catalog_all(catalog)) r = dg_err_nomem(&err);
    if (!r && !probs.n) r = save(pack, catalog, argv[2], &err);
    print_problems(&probs);
    if (r) fprintf(stderr, "packc: %s\n", err.msg);
    if (!r && probs.n) fprintf(stderr, "packc: the rules have %zu fault%s\n", probs.n, probs.n == 1 ? "" : "s");
    r = r || probs.n;
    dg_problems_release(&probs);
    return r;
}
