/* Where rules come from, in rising precedence: shipped (or built in), the machine's, the user's, --rules. */
#include "cli/app.h"
#include "base/file.h"
#include "base/trace.h"
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { PLACES_MAX = 64, PATH_ROOM = 4096 };

struct places {
    struct dg_pack_place v[PLACES_MAX];
    size_t n, shipped;               /* the first `shipped` came with the program */
    const struct dg_slice *built_in; /* a packs.bin that comes before the first; NULL: none */
    char rules[PATH_ROOM], packs[PATH_ROOM], user[PATH_ROOM];
};

/* The folder that this program lies in; "" when that cannot be told. */
static void own_folder(char out[PATH_ROOM]) {
    ssize_t n = readlink("/proc/self/exe", out, PATH_ROOM - 1);
    const char *exec = (const char *)getauxval(AT_EXECFN);
    if (n > 0)
        out[n] = '\0';
    else /* no /proc */
        snprintf(out, PATH_ROOM, "%s", exec && *exec == '/' ? exec : "");
    char *slash = strrchr(out, '/');
    if (slash) *slash = '\0';
}

static void shipped(struct places *p, const struct dg_slice *built_in) {
    char own[PATH_ROOM];
    own_folder(own);
    if (!strcmp(own, DG_BUILD_DIR)) {
        snprintf(p->rules, PATH_ROOM, "%s", DG_RULES_SOURCE_DIR);
        snprintf(p->packs, PATH_ROOM, "%s/packs.bin", DG_BUILD_DIR);
    } else {
        int n = snprintf(p->rules, PATH_ROOM, "%s/%s", own, DG_RULES_RELATIVE_DIR);
        bool beside = n < PATH_ROOM && dg_path_is_dir(p->rules);
        if (!beside && built_in) {
            p->built_in = built_in;
            return;
        }
        if (!beside) snprintf(p->rules, PATH_ROOM, "%s", DG_RULES_INSTALL_DIR);
        n = snprintf(p->packs, PATH_ROOM, "%s/../packs.bin", p->rules);
        if (n >= PATH_ROOM) p->packs[0] = '\0';
    }
    p->v[p->n++] = (struct dg_pack_place){.path = p->rules, .required = true};
    p->shipped = p->n;
}

static int named(struct places *p, const struct dg_args *args, enum dg_opt opt, struct dg_err *err) {
    const char *path;
    for (size_t i = 0; (path = dg_args_nth(args, opt, i)); i++) {
        if (p->n == PLACES_MAX) return dg_err_set(err, DG_E_LIMIT, 0, "more than %d places for rules", PLACES_MAX);
        p->v[p->n++] = (struct dg_pack_place){.path = path, .required = true, .user = true, .named = true};
    }
    return 0;
}

static void add_user(struct places *p, const char *path) {
    if (!access(path, F_OK)) p->v[p->n++] = (struct dg_pack_place){.path = path, .user = true};
}

static int find_places(const struct dg_app *app, struct places *p, struct dg_err *err) {
    if (dg_args_has(&app->args, DG_OPT_RULES_ONLY)) return named(p, &app->args, DG_OPT_RULES_ONLY, err);
    shipped(p, app->built_in);
    add_user(p, "/etc/diagnose/rules");
    const char *config = app->env.xdg_config_home, *home = app->env.home;
    int n = 0;
    if (config && *config == '/')
        n = snprintf(p->user, PATH_ROOM, "%s/diagnose/rules", config);
    else if (home && *home == '/')
        n = snprintf(p->user, PATH_ROOM, "%s/.config/diagnose/rules", home);
    if (n > 0 && n < PATH_ROOM) add_user(p, p->user);
    return named(p, &app->args, DG_OPT_RULES, err);
}

/* packs.bin holds the shipped rules as they were built; damaged or of another version, the YAML is read instead. */
static int load_packs(struct dg_app *app, const struct places *p, struct dg_err *err) {
    if (p->built_in) return dg_pack_load_memory(*p->built_in, p->v, p->n, &app->problems, &app->pack, err);
    if (p->shipped) {
        int r = dg_pack_load_bin(p->packs, p->v + p->shipped, p->n - p->shipped, &app->problems, &app->pack, err);
        if (r != -DG_E_UNSUPPORTED && r != -DG_E_IO) return r;
        if (err) *err = (struct dg_err){0};
        dg_problems_release(&app->problems);
    }
    return dg_pack_load(p->v, p->n, false, &app->problems, &app->pack, err);
}

/* What packs.bin brings was made of the places that came with the program. */
static int load_catalog(struct dg_app *app, const struct places *p, struct dg_err *err) {
    app->catalog = dg_catalog_load(NULL, 0, &app->problems);
    if (!app->catalog) return dg_err_nomem(err);
    struct dg_slice frozen = dg_pack_catalog(app->pack);
    bool thawed = frozen.len && !dg_catalog_add_frozen(app->catalog, frozen, NULL);
    for (size_t i = thawed ? p->shipped : 0; i < p->n; i++) {
        const struct dg_pack_place *place = &p->v[i];
        if (dg_catalog_add(app->catalog, place->path, place->user && !place->named)) return dg_err_nomem(err);
    }
    return 0;
}

int dg_app_rules(struct dg_app *app, struct dg_err *err) {
    if (app->pack) return 0;
    struct places p = {.n = 0};
    int r = find_places(app, &p, err);
    if (!r) r = load_packs(app, &p, err);
    if (!r) r = load_catalog(app, &p, err);
    if (r) return r;
    const struct dg_ruleset *rules = dg_pack_rules(app->pack);
    for (size_t i = 0; i < app->problems.n; i++) { /* of a folder or a whole file */
        const struct dg_problem *problem = &app->problems.v[i];
        if (!problem->line) dg_msg("%s: %s", problem->file, problem->msg);
    }
    if (rules->n_rejected)
        dg_msg("%u of %u rules active: see diagnose rules lint", rules->n_rules, rules->n_rules + rules->n_rejected);
    return 0;
}

int dg_app_rules_examples(struct dg_app *app, char *const *paths, size_t n, struct dg_err *err) {
    struct places p = {.n = 0};
    int r = 0;
    if (!n) r = find_places(app, &p, err);
    if (!r && p.built_in)
        r = dg_err_set(err, DG_E_NOTFOUND, 0,
                       "the rules inside this program are without examples: name packs, or lay "
                       "the rules at " DG_RULES_RELATIVE_DIR " from it");
    for (size_t i = 0; i < n && i < PLACES_MAX; i++)
        p.v[p.n++] = (struct dg_pack_place){.path = paths[i], .required = true, .user = true, .named = true};
    if (!r) r = dg_pack_load(p.v, p.n, true, &app->problems, &app->pack, err);
    if (!r) r = load_catalog(app, &p, err);
    if (!r && dg_catalog_all(app->catalog)) r = dg_err_nomem(err);
    return r;
}

static bool same_strs(const struct dg_strs *a, const struct dg_strs *b) {
    bool same = a->n == b->n;
    for (uint32_t i = 0; same && i < a->n; i++) same = dg_slice_eq(a->v[i], b->v[i]);
    return same;
}

static bool same_rule(const struct dg_rule *a, const struct dg_rule *b) {
    bool same = dg_slice_eq(a->id, b->id) && dg_slice_eq(a->summary, b->summary) && dg_slice_eq(a->why, b->why) &&
                a->role == b->role && a->n_patterns == b->n_patterns && a->n_actions == b->n_actions &&
                same_strs(&a->refines, &b->refines) && same_strs(&a->explains, &b->explains);
    for (uint32_t i = 0; same && i < a->n_patterns; i++)
        same = dg_slice_eq(a->patterns[i].lit, b->patterns[i].lit) && dg_slice_eq(a->patterns[i].re, b->patterns[i].re);
    for (uint32_t i = 0; same && i < a->n_actions; i++)
        same = dg_slice_eq(a->actions[i].text, b->actions[i].text) &&
               dg_slice_eq(a->actions[i].propose, b->actions[i].propose);
    return same;
}

bool dg_app_packs_stale(void) {
    struct places p = {.n = 0};
    _cleanup_(dg_pack_freep) struct dg_pack *bin = NULL;
    _cleanup_(dg_pack_freep) struct dg_pack *yaml = NULL;
    shipped(&p, NULL);
    if (access(p.packs, F_OK) || dg_pack_load(p.v, p.n, false, NULL, &yaml, NULL))
        return false; /* nothing to compare */
    if (dg_pack_load_bin(p.packs, NULL, 0, NULL, &bin, NULL)) return true;
    const struct dg_ruleset *a = dg_pack_rules(bin), *b = dg_pack_rules(yaml);
    bool same = a->n_rules == b->n_rules;
    for (uint32_t i = 0; same && i < a->n_rules; i++) same = same_rule(&a->rules[i], &b->rules[i]);
    return !same;
}

int dg_app_matcher(struct dg_app *app, struct dg_err *err) {
    if (app->matcher) return 0;
    const struct dg_ruleset *rules = dg_pack_rules(app->pack);
    struct dg_slice tables = dg_pack_tables(app->pack);
    struct dg_err why = {.msg = "there are no tables of these rules"};
    if (tables.len && !dg_matcher_thaw(rules, tables, &app->matcher, &why)) return 0;
    dg_trace("phase", "the matcher is made anew: %s", why.msg);
    return dg_matcher_new(rules, &app->matcher, err);
}
