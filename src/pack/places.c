/* Folders and files of packs: which are read, in which order, and what each file is. */
#include "pack/pack_internal.h"
#include "pack/read.h"
#include "base/file.h"
#include <errno.h>
#include <sys/stat.h>

enum { FILE_MAX = 1 << 20, FILES_MAX = 4096, DEPTH_MAX = 8 };

struct file {
    char *path;
    struct dg_buf text;
    struct dg_yaml *root;
};
struct files {
    struct file *v;
    size_t n, cap;
};

static void files_release(struct files *f) {
    for (size_t i = 0; i < f->n; i++) {
        free(f->v[i].path);
        dg_buf_release(&f->v[i].text);
    }
    free(f->v);
}

static int add_file(struct files *files, const char *path) {
    struct dg_buf name = DG_BUF_INIT(1 << 16);
    dg_buf_adds(&name, path);
    struct file f = {.path = dg_buf_take(&name)};
    dg_buf_init(&f.text, FILE_MAX);
    if (f.path && DG_VEC_PUSH(files, f, FILES_MAX)) return 0;
    free(f.path);
    return -DG_E_NOMEM;
}

/* A folder that everybody may write to would let everybody speak in the report. */
static bool trusted(const struct dg_pack_place *place, const char *path, struct dg_problems *probs) {
    if (!place->user || !dg_path_is_open(path)) return true;
    dg_problems_add(probs, path, 0, 0, NULL, 0, "everybody may write here%s",
                    place->named ? "" : ": its rules are not used");
    return place->named;
}

/* All *.yaml below `dir`, in sorted order, folders after the files beside them. */
static int add_dir(struct files *files, const struct dg_pack_place *place, const char *dir, int depth,
                   struct dg_problems *probs, struct dg_err *err) {
    char **names;
    size_t n;
    int r = dg_dir_list(dir, NULL, &names, &n, err);
    if (r) return r;
    for (int folders = 0; folders < 2; folders++)
        for (size_t i = 0; i < n && !r; i++) {
            _cleanup_(dg_buf_release) struct dg_buf path = DG_BUF_INIT(1 << 16);
            if (dg_path_join(&path, dir, names[i]))
                r = dg_err_nomem(err);
            else if (dg_path_is_dir(path.ptr)) {
                bool below = folders && depth < DEPTH_MAX && names[i][0] != '.' && trusted(place, path.ptr, probs);
                if (below) r = add_dir(files, place, path.ptr, depth + 1, probs, err);
            } else if (!folders && dg_slice_ends(dg_cstr(names[i]), DG_S(".yaml"))) {
                if (dg_path_is_special(path.ptr))
                    dg_problems_add(probs, path.ptr, 0, 0, NULL, 0, "this is no file");
                else if (add_file(files, path.ptr))
                    r = dg_err_nomem(err);
            }
        }
    dg_names_free(names, n);
    return r;
}

static void read_rules(struct reader *r, const struct dg_yaml *n, struct dg_slice pack, struct dg_pack *p,
                       size_t place) {
    DG_YAML_EACH(it, n) {
        struct dg_rule rule;
        if (!read_rule(r, it, pack, &rule)) {
            p->set.n_rejected++;
            continue;
        }
        int code = pack_add(p, &rule, place);
        if (code == -DG_E_BUSY) {
            reader_fault(r, it->line, it->col, "the rule '%.*s' stands twice in this folder", DG_FMT(rule.id));
            p->set.n_rejected++;
        } else if (code) {
            r->nomem = true;
        }
    }
}

static void read_pack(struct reader *r, const struct dg_yaml *root, struct dg_pack *p, size_t place) {
    struct dg_slice name = {NULL, 0};
    const struct dg_yaml *rules = NULL;
    r->bad = false;
    DG_YAML_EACH(it, root) {
        if (dg_slice_is(it->key, "pack"))
            read_text(r, it, &name);
        else if (dg_slice_is(it->key, "rules"))
            rules = it;
        else
            reader_fault(r, it->key_line, it->key_col, "unknown key '%.*s' (allowed: pack, rules)", DG_FMT(it->key));
    }
    if (!rules || rules->type != DG_YAML_SEQ) reader_fault(r, root->line, root->col, "the pack has no list of rules");
    if (r->bad) {
        p->set.n_rejected++;
        return;
    }
    p->set.n_packs++;
    read_rules(r, rules, name, p, place);
}

/* `classes`: only the file of classes is read; else only the packs. Catalogs and the capability table are read by
 * others. */
static void read_file(struct reader *r, const struct file *f, bool classes, bool user, struct dg_pack *p,
                      size_t place) {
    if (!f->root) return;
    r->file = f->path;
    r->text = dg_buf_slice(&f->text);
    const struct dg_yaml *first = f->root->type == DG_YAML_MAP ? f->root->child : NULL;
    struct dg_slice what = first ? first->key : (struct dg_slice){NULL, 0};
    if (classes) {
        if (dg_slice_is(what, "classes") && !user) read_classes(r, f->root, &p->set);
    } else if (dg_slice_is(what, "pack")) {
        read_pack(r, f->root, p, place);
    } else if (user ? !dg_slice_is(what, "engine")
                    : !dg_slice_is(what, "engine") && !dg_slice_is(what, "arch") && !dg_slice_is(what, "classes")) {
        reader_fault(r, f->root->line, f->root->col, "the first key says what a file is: %s",
                     user ? "pack or engine" : "pack, engine, arch or classes");
        p->set.n_rejected++;
    }
}

static int parse_files(struct files *files, const struct dg_pack_place *place, struct dg_arena *arena,
                       struct dg_pack *p, struct dg_problems *probs, struct dg_err *err) {
    for (size_t i = 0; i < files->n; i++) {
        struct file *f = &files->v[i];
        struct dg_err why = {0};
        if (!trusted(place, f->path, probs)) continue;
        int r = dg_file_read(f->path, &f->text, &why);
        if (!r) {
            r = dg_yaml_parse(f->path, dg_buf_slice(&f->text), arena, probs, &f->root, &why);
            if (r) p->set.n_rejected++;
        } else if (r != -DG_E_NOMEM) {
            dg_problems_add(probs, f->path, 0, 0, NULL, 0, "%s", why.msg);
            if (r == -DG_E_LIMIT) p->set.n_rejected++;
        }
        if (r == -DG_E_NOMEM) return dg_err_nomem(err);
        if (r == -DG_E_IO && place->required) return dg_err_set(err, DG_E_IO, 0, "%s", why.msg);
    }
    return 0;
}

static int read_place(struct dg_pack *p, const struct dg_pack_place *place, size_t number, bool lint,
                      struct dg_problems *probs, struct dg_err *err) {
    _cleanup_(files_release) struct files files = {0};
    struct stat st;
    if (stat(place->path, &st)) {
        if (!place->required) return 0;
        return dg_err_set(err, DG_E_IO, errno, "cannot open '%s'", place->path);
    }
    if (!trusted(place, place->path, probs)) return 0;
    struct dg_err why = {0};
    int r = S_ISDIR(st.st_mode) ? add_dir(&files, place, place->path, 0, probs, &why) : add_file(&files, place->path);
    if (r == -DG_E_IO && !place->required) return 0;
    if (r) return dg_err_set(err, -r, 0, "%s", *why.msg ? why.msg : "out of memory");
    _cleanup_(dg_arena_freep) struct dg_arena *trees = dg_arena_new(0);
    if (!trees) return dg_err_nomem(err);
    r = parse_files(&files, place, trees, p, probs, err);
    if (r) return r;
    struct reader reader = {.arena = p->arena, .probs = probs, .set = &p->set, .lint = lint};
    for (int packs = 0; packs < 2; packs++)
        for (size_t i = 0; i < files.n; i++) read_file(&reader, &files.v[i], !packs, place->user, p, number);
    return reader.nomem ? dg_err_nomem(err) : 0;
}

int pack_read_places(struct dg_pack *p, const struct dg_pack_place *places, size_t n, size_t first_place, bool lint,
                     struct dg_problems *probs, struct dg_err *err) {
    for (size_t i = 0; i < n; i++) {
        int r = read_place(p, &places[i], first_place + i, lint, probs, err);
        if (r) return r;
    }
    return 0;
}
