/* The `engine:` files of the rule folders -> struct dg_catalog. */
#include "catalog/catalog.h"
#include "catalog/schema.h"
#include "base/file.h"
#include <fcntl.h>
#include <unistd.h>

#define MAX_FILE (1u << 20)
#define MAX_DEPTH 4u

#define TEXT(T, k, m)                                                                                                  \
    { .key = (k), .type = DG_FIELD_TEXT, .at = offsetof(struct T, m) }
#define NAME(T, k, m)                                                                                                  \
    { .key = (k), .type = DG_FIELD_TEXT, .at = offsetof(struct T, m), .required = true }
#define TEXTS(T, k, m)                                                                                                 \
    { .key = (k), .type = DG_FIELD_TEXTS, .at = offsetof(struct T, m) }
#define CAPS(T, k, m)                                                                                                  \
    { .key = (k), .type = DG_FIELD_CAPS, .at = offsetof(struct T, m) }
#define RANGE(T, m)                                                                                                    \
    { .key = "versions", .type = DG_FIELD_RANGE, .at = offsetof(struct T, m) }
#define WORD(T, k, m, w)                                                                                               \
    { .key = (k), .type = DG_FIELD_WORD, .at = offsetof(struct T, m), .words = (w), .required = true }
#define STRUCTS(T, k, m, c, I, f)                                                                                      \
    {                                                                                                                  \
        .key = (k), .type = DG_FIELD_STRUCTS, .at = offsetof(struct T, m), .count = offsetof(struct T, c), .of = (f),  \
        .size = sizeof(struct I)                                                                                       \
    }
#define GROUPS(T, k, m, c)                                                                                             \
    { .key = (k), .type = DG_FIELD_GROUPS, .at = offsetof(struct T, m), .count = offsetof(struct T, c) }
#define END                                                                                                            \
    { 0 }

static const struct dg_field BAD[] = {WORD(dg_cat_bad, "kind", kind, " crash garbage slow hang "),
                                      CAPS(dg_cat_bad, "on", on),
                                      RANGE(dg_cat_bad, versions),
                                      TEXT(dg_cat_bad, "quant", quant),
                                      TEXT(dg_cat_bad, "model", model),
                                      NAME(dg_cat_bad, "what", what),
                                      NAME(dg_cat_bad, "source", source),
                                      TEXT(dg_cat_bad, "checked", checked),
                                      END};
static const struct dg_field CHOICE[] = {
    NAME(dg_cat_choice, "name", name),
    {.key = "archs", .type = DG_FIELD_CAPS, .at = offsetof(struct dg_cat_choice, archs), .required = true},
    TEXT(dg_cat_choice, "build", build),
    RANGE(dg_cat_choice, versions),
    TEXTS(dg_cat_choice, "needs", needs),
    TEXTS(dg_cat_choice, "quants", quants),
    {.key = "weight_shuffle", .type = DG_FIELD_BOOL, .at = offsetof(struct dg_cat_choice, weight_shuffle)},
    STRUCTS(dg_cat_choice, "known_bad", bad, n_bad, dg_cat_bad, BAD),
    WORD(dg_cat_choice, "evidence", evidence, " verified documented expected "),
    TEXT(dg_cat_choice, "note", note),
    TEXT(dg_cat_choice, "source", source),
    TEXT(dg_cat_choice, "checked", checked),
    END};
static const struct dg_field SPELLING[] = {RANGE(dg_cat_spelling, versions), TEXT(dg_cat_spelling, "flag", flag),
                                           TEXT(dg_cat_spelling, "env", env), END};
static const struct dg_field ORDER[] = {
    CAPS(dg_cat_order, "on", on),       TEXT(dg_cat_order, "quant", quant),   RANGE(dg_cat_order, versions),
    TEXT(dg_cat_order, "model", model), TEXTS(dg_cat_order, "order", names),  TEXTS(dg_cat_order, "never", never),
    TEXTS(dg_cat_order, "with", with),  TEXT(dg_cat_order, "source", source), END};
static const struct dg_field AUTO[] = {CAPS(dg_cat_auto, "on", on),         TEXT(dg_cat_auto, "quant", quant),
                                       RANGE(dg_cat_auto, versions),        TEXT(dg_cat_auto, "model", model),
                                       NAME(dg_cat_auto, "gives", gives),   TEXT(dg_cat_auto, "trap", trap),
                                       TEXT(dg_cat_auto, "source", source), END};
static const struct dg_field AXIS[] = {
    NAME(dg_cat_axis, "axis", name),
    TEXTS(dg_cat_axis, "args", args),
    STRUCTS(dg_cat_axis, "spellings", spellings, n_spellings, dg_cat_spelling, SPELLING),
    STRUCTS(dg_cat_axis, "choices", choices, n_choices, dg_cat_choice, CHOICE),
    STRUCTS(dg_cat_axis, "orders", orders, n_orders, dg_cat_order, ORDER),
    STRUCTS(dg_cat_axis, "autos", autos, n_autos, dg_cat_auto, AUTO),
    END};
static const struct dg_field ENGINE[] = {NAME(dg_cat_engine, "engine", name),
                                         NAME(dg_cat_engine, "title", title),
                                         NAME(dg_cat_engine, "checked", checked),
                                         GROUPS(dg_cat_engine, "models", models, n_models),
                                         GROUPS(dg_cat_engine, "quants", quants, n_quants),
                                         STRUCTS(dg_cat_engine, "axes", axes, n_axes, dg_cat_axis, AXIS),
                                         END};

/* Names that orders and autos use must be choices of their axis, and groups must exist: a typing error would say
 * nothing. */
static void check_names(struct dg_schema *s, const struct dg_yaml *root, const struct dg_cat_axis *a,
                        const struct dg_slices *names) {
    for (uint32_t i = 0; i < names->n; i++)
        if (!dg_catalog_choice(a, names->v[i]))
            dg_schema_fault(s, root, "axis '%.*s' has no choice '%.*s'", DG_FMT(a->name), DG_FMT(names->v[i]));
}

static void check_axis(struct dg_schema *s, const struct dg_yaml *root, const struct dg_cat_axis *a) {
    for (uint32_t i = 0; i < a->n_orders; i++) {
        check_names(s, root, a, &a->orders[i].names);
        check_names(s, root, a, &a->orders[i].never);
    }
    for (uint32_t i = 0; i < a->n_choices; i++)
        for (uint32_t k = 0; k < i; k++)
            if (dg_slice_eq(a->choices[i].name, a->choices[k].name))
                dg_schema_fault(s, root, "axis '%.*s' has '%.*s' twice", DG_FMT(a->name), DG_FMT(a->choices[i].name));
}

static struct dg_cat_engine *find(const struct dg_catalog *c, struct dg_slice name) {
    for (uint32_t i = 0; i < c->n_engines; i++)
        if (dg_slice_eq(c->engines[i].name, name)) return &c->engines[i];
    return NULL;
}

/* A later file of the same engine replaces the axes that it has, and adds the others. */
static void merge(struct dg_catalog *c, const struct dg_cat_engine *from) {
    struct dg_cat_engine *to = find(c, from->name);
    if (!to) to = &c->engines[c->n_engines++]; /* there is room for one of each file */
    struct dg_cat_engine old = *to;
    *to = *from;
    to->axes = dg_arena_alloc(c->arena, (old.n_axes + from->n_axes) * sizeof(*to->axes));
    to->n_axes = 0;
    if (!to->axes) {
        c->failed = true;
        return;
    }
    for (uint32_t i = 0; i < old.n_axes; i++)
        if (!dg_catalog_axis(from, old.axes[i].name)) to->axes[to->n_axes++] = old.axes[i];
    for (uint32_t i = 0; i < from->n_axes; i++) to->axes[to->n_axes++] = from->axes[i];
    if (!from->n_models) to->models = old.models, to->n_models = old.n_models;
    if (!from->n_quants) to->quants = old.quants, to->n_quants = old.n_quants;
}

static void read_file(struct dg_catalog *c, const struct dg_cat_file *f) {
    _cleanup_(dg_buf_release) struct dg_buf text = DG_BUF_INIT(MAX_FILE);
    struct dg_err err = {0};
    struct dg_cat_engine read = {0};
    struct dg_yaml *root = NULL;
    int r = dg_file_read(f->path.ptr, &text, &err);
    if (r && r != -DG_E_NOMEM) dg_problems_add(c->probs, f->path.ptr, 0, 0, NULL, 0, "%s", err.msg);
    struct dg_schema s = {.file = f->path.ptr, .text = dg_buf_slice(&text), .arena = c->arena, .probs = c->probs};
    if (!r) r = dg_yaml_parse(s.file, s.text, s.arena, c->probs, &root, &err);
    c->failed = c->failed || r == -DG_E_NOMEM;
    if (r || !root) return;
    dg_schema_read(&s, root, ENGINE, &read);
    for (uint32_t i = 0; i < read.n_axes && !s.faults; i++) check_axis(&s, root, &read.axes[i]);
    c->failed = c->failed || s.failed;
    if (!s.faults && !c->failed) merge(c, &read);
}

static void read_engine(struct dg_catalog *c, struct dg_slice name) {
    for (uint32_t i = 0; i < c->n_files; i++) {
        struct dg_cat_file *f = &c->files[i];
        if (f->read || !dg_slice_eq(f->engine, name)) continue;
        f->read = true;
        read_file(c, f);
    }
}

const struct dg_cat_engine *dg_catalog_engine(struct dg_catalog *c, struct dg_slice name) {
    read_engine(c, name);
    return find(c, name);
}

int dg_catalog_all(struct dg_catalog *c) {
    for (uint32_t i = 0; i < c->n_files; i++) read_engine(c, c->files[i].engine);
    return c->failed ? -DG_E_NOMEM : 0;
}

/* The engine's name when the first key of the file is `engine`; comments may stand before it. */
static bool engine_of(struct dg_slice text, struct dg_slice *ret) {
    struct dg_slice line;
    while (dg_slice_split(&text, '\n', &line)) {
        line = dg_slice_trim(line);
        if (!line.len || *line.ptr == '#') continue;
        if (!dg_slice_starts(line, DG_S("engine:"))) return false;
        *ret = dg_slice_trim(dg_slice_from(line, 7));
        if (ret->len >= 2 && (*ret->ptr == '\'' || *ret->ptr == '"')) *ret = dg_slice(ret->ptr + 1, ret->len - 2);
        return true;
    }
    return false;
}

static void note_file(struct dg_catalog *c, const char *path) {
    char head[4096];
    struct dg_slice engine;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));
    dg_closep(&fd);
    if (n <= 0 || !engine_of(dg_slice(head, (size_t)n), &engine) || c->n_files == DG_CATALOG_FILES) return;
    struct dg_cat_file f = {.path = dg_arena_dup(c->arena, dg_cstr(path)), .engine = dg_arena_dup(c->arena, engine)};
    c->failed = c->failed || !f.path.ptr || !f.engine.ptr;
    c->files[c->n_files++] = f;
}

static void find_files(struct dg_catalog *c, const char *path, bool guarded, unsigned depth) {
    char **names = NULL;
    size_t n = 0;
    if (guarded && dg_path_is_open(path)) return;
    if (!dg_path_is_dir(path)) {
        note_file(c, path);
        return;
    }
    if (dg_dir_list(path, NULL, &names, &n, NULL) == -DG_E_NOMEM) c->failed = true;
    for (size_t i = 0; i < n && !c->failed; i++) {
        _cleanup_(dg_buf_release) struct dg_buf full = DG_BUF_INIT(4096);
        if (dg_path_join(&full, path, names[i])) continue;
        bool yaml = dg_slice_ends(dg_buf_slice(&full), DG_S(".yaml")) && !dg_path_is_special(full.ptr);
        if (yaml || (depth < MAX_DEPTH && dg_path_is_dir(full.ptr))) find_files(c, full.ptr, guarded, depth + 1);
    }
    dg_names_free(names, n);
}

struct dg_catalog *dg_catalog_load(const char *const *paths, size_t n, struct dg_problems *probs) {
    struct dg_arena *arena = dg_arena_new(64u << 20);
    struct dg_catalog *c = arena ? dg_arena_alloc(arena, sizeof(*c)) : NULL;
    if (c) {
        c->arena = arena;
        c->probs = probs;
        c->files = dg_arena_alloc(arena, DG_CATALOG_FILES * sizeof(*c->files));
        c->engines = dg_arena_alloc(arena, DG_CATALOG_FILES * sizeof(*c->engines));
        c->failed = !c->files || !c->engines;
        for (size_t i = 0; i < n && !c->failed; i++) find_files(c, paths[i], false, 0);
    }
    if (c && !c->failed) return c;
    dg_arena_free(arena);
    return NULL;
}

int dg_catalog_add(struct dg_catalog *c, const char *path, bool guarded) {
    find_files(c, path, guarded, 0);
    return c->failed ? -DG_E_NOMEM : 0;
}

void dg_catalog_free(struct dg_catalog *c) {
    if (c) dg_arena_free(c->arena);
}
