/* archgen ARCH.YAML OUT.C: the architecture table as C, made while building. */
#include "base/buf.h"
#include "base/file.h"
#include "base/yaml.h"
#include <stdarg.h>
#include <stdio.h>

static int faults;
static const char *path;

__attribute__((format(printf, 2, 3))) static void fault(const struct dg_yaml *at, const char *fmt, ...) {
    char msg[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s:%u:%u: %s\n", path, at ? at->line : 1, at ? at->col : 1, msg);
    faults++;
}

/* "12.8" as two numbers; an absent node gives 0.0. */
static void read_pair(const struct dg_yaml *n, unsigned *major, unsigned *minor) {
    uint64_t a = 0, b = 0;
    *major = *minor = 0;
    if (!n) return;
    ptrdiff_t dot = dg_slice_find_ch(n->text, '.');
    if (dot < 0 || !dg_slice_u64(dg_slice_upto(n->text, (size_t)dot), &a) ||
        !dg_slice_u64(dg_slice_from(n->text, (size_t)dot + 1), &b) || !a || a > 99 || b > 99)
        fault(n, "'%.*s' is no version such as 12.8", DG_FMT(n->text));
    *major = (unsigned)a;
    *minor = (unsigned)b;
}

static unsigned read_version(const struct dg_yaml *n, unsigned times_major, unsigned times_minor) {
    unsigned major, minor;
    read_pair(n, &major, &minor);
    return major * times_major + minor * times_minor;
}

static unsigned read_cuda(const struct dg_yaml *n) { return read_version(n, 1000, 10); }
static unsigned read_ptx(const struct dg_yaml *n) { return read_version(n, 10, 1); }

static unsigned read_branch(const struct dg_yaml *n) {
    uint64_t v = 0;
    if (n && (!dg_slice_u64(n->text, &v) || v > 9999))
        fault(n, "'%.*s' is no driver branch such as 580", DG_FMT(n->text));
    return (unsigned)v;
}

static void check_keys(const struct dg_yaml *map, const char *const *known) {
    DG_YAML_EACH(it, map) {
        size_t i = 0;
        while (known[i] && !dg_slice_is(it->key, known[i])) i++;
        if (!known[i]) fault(it, "unknown key '%.*s'", DG_FMT(it->key));
    }
}

static struct dg_yaml *need(const struct dg_yaml *map, const char *key, enum dg_yaml_type type) {
    struct dg_yaml *n = dg_yaml_get(map, key);
    if (!n || n->type != type) {
        fault(n ? n : map, "key '%s' is missing or of the wrong kind", key);
        return NULL;
    }
    return n;
}

static void check_order(const struct dg_yaml *at, unsigned *last, unsigned now) {
    if (now <= *last) fault(at, "rows must be in rising order");
    *last = now;
}

static void add_products(struct dg_buf *out, const struct dg_yaml *row, unsigned i) {
    dg_buf_addf(out, "static const char *const products_%u[] = {", i);
    struct dg_yaml *products = need(row, "products", DG_YAML_SEQ);
    DG_YAML_EACH(p, products) {
        if (dg_slice_find_ch(p->text, '"') >= 0 || dg_slice_find_ch(p->text, '\\') >= 0)
            fault(p, "no quotes in a product");
        dg_buf_addf(out, "\"%.*s\", ", DG_FMT(p->text));
    }
    dg_buf_adds(out, "NULL};\n");
}

static bool flag(const struct dg_yaml *row, const char *key) {
    struct dg_yaml *v = dg_yaml_get(row, key);
    bool ret = false;
    if (v && !dg_yaml_bool(v, &ret)) fault(v, "it is true or false");
    return ret;
}

static void add_row(struct dg_buf *out, const struct dg_yaml *row, unsigned i, unsigned *last) {
    static const char *const known[] = {"cc",    "name",   "tegra",       "unified",   "renamed",
                                        "cuda",  "cuda_a", "cuda_f",      "last_cuda", "ptx",
                                        "ptx_a", "ptx_f",  "last_branch", "products",  NULL};
    unsigned major, minor, to_major, to_minor;
    bool tegra = flag(row, "tegra"), unified = tegra || flag(row, "unified");
    struct dg_yaml *cc = need(row, "cc", DG_YAML_SCALAR), *name = need(row, "name", DG_YAML_SCALAR);
    check_keys(row, known);
    read_pair(cc, &major, &minor);
    read_pair(dg_yaml_get(row, "renamed"), &to_major, &to_minor);
    check_order(row, last, major << 8 | minor);
    if (!cc || !name) return;
    dg_buf_addf(out, "    {{%u, %u}, \"%.*s\", %s, %s, {%u, %u}, %u, %u, %u, %u, %u, %u, %u, %u, products_%u},\n",
                major, minor, DG_FMT(name->text), tegra ? "true" : "false", unified ? "true" : "false", to_major,
                to_minor, read_cuda(dg_yaml_get(row, "cuda")), read_cuda(dg_yaml_get(row, "cuda_a")),
                read_cuda(dg_yaml_get(row, "cuda_f")), read_cuda(dg_yaml_get(row, "last_cuda")),
                read_ptx(dg_yaml_get(row, "ptx")), read_ptx(dg_yaml_get(row, "ptx_a")),
                read_ptx(dg_yaml_get(row, "ptx_f")), read_branch(dg_yaml_get(row, "last_branch")), i);
}

static void add_capabilities(struct dg_buf *out, const struct dg_yaml *rows) {
    unsigned i = 0, last = 0;
    DG_YAML_EACH(row, rows) add_products(out, row, i++);
    dg_buf_adds(out, "const struct dg_arch dg_arch_rows[] = {\n");
    i = 0;
    DG_YAML_EACH(row, rows) add_row(out, row, i++, &last);
    dg_buf_addf(out, "};\nconst size_t dg_arch_rows_n = %u;\n", i);
}

static void add_branches(struct dg_buf *out, const struct dg_yaml *rows) {
    static const char *const known[] = {"branch", "cuda", "first", NULL};
    unsigned n = 0, last = 0;
    dg_buf_adds(out, "const struct dg_arch_branch dg_arch_branches[] = {\n");
    DG_YAML_EACH(row, rows) {
        struct dg_yaml *branch = need(row, "branch", DG_YAML_SCALAR), *first = dg_yaml_get(row, "first");
        check_keys(row, known);
        check_order(row, &last, read_branch(branch));
        if (!first) first = branch;
        if (first)
            dg_buf_addf(out, "    {%u, %u, \"%.*s\"},\n", last, read_cuda(need(row, "cuda", DG_YAML_SCALAR)),
                        DG_FMT(first->text));
        n++;
    }
    dg_buf_addf(out, "};\nconst size_t dg_arch_branches_n = %u;\n", n);
}

static void add_ptx(struct dg_buf *out, const struct dg_yaml *map) {
    unsigned n = 0, last = 0;
    dg_buf_adds(out, "const struct dg_arch_ptx dg_arch_ptxs[] = {\n");
    DG_YAML_EACH(it, map) {
        struct dg_yaml key = {.line = it->key_line, .col = it->key_col, .text = it->key};
        check_order(it, &last, read_ptx(&key));
        dg_buf_addf(out, "    {%u, %u},\n", last, read_cuda(it));
        n++;
    }
    dg_buf_addf(out, "};\nconst size_t dg_arch_ptxs_n = %u;\n", n);
}

static int write_file(const char *name, struct dg_slice text) {
    FILE *f = fopen(name, "w");
    if (!f) return -1;
    bool ok = fwrite(text.ptr, 1, text.len, f) == text.len;
    return fclose(f) || !ok ? -1 : 0;
}

int main(int argc, char **argv) {
    static const char *const known[] = {"arch", "capabilities", "branches", "ptx_to_cuda", NULL};
    if (argc != 3) {
        fprintf(stderr, "usage: archgen ARCH.YAML OUT.C\n");
        return 2;
    }
    path = argv[1];
    struct dg_err err;
    struct dg_yaml *root = NULL;
    _cleanup_(dg_buf_release) struct dg_buf text = DG_BUF_INIT(1 << 20);
    _cleanup_(dg_buf_release) struct dg_buf out = DG_BUF_INIT(1 << 20);
    _cleanup_(dg_arena_freep) struct dg_arena *arena = dg_arena_new(0);
    if (!arena || dg_file_read(path, &text, &err) ||
        dg_yaml_parse(path, dg_buf_slice(&text), arena, NULL, &root, &err)) {
        char msg[1024] = "out of memory";
        if (arena) dg_err_format(&err, msg, sizeof(msg));
        fprintf(stderr, "%s\n", msg);
        return 1;
    }
    check_keys(root, known);
    dg_buf_addf(&out, "/* Made from rules/arch.yaml by archgen. */\n#include \"arch/table.h\"\n\n");
    add_capabilities(&out, need(root, "capabilities", DG_YAML_SEQ));
    add_branches(&out, need(root, "branches", DG_YAML_SEQ));
    add_ptx(&out, need(root, "ptx_to_cuda", DG_YAML_MAP));
    if (faults || out.failed) return 1;
    if (write_file(argv[2], dg_buf_slice(&out))) {
        perror(argv[2]);
        return 1;
    }
    return 0;
}
