/* Which files does the evidence name? Paths come from a log, so anybody may have written them. */
#include "reason/judge.h"
#include <ctype.h>

enum { PATH_BYTES = 4095, STACK_LINES = 64 };

/* "libfoo.so", "libfoo.so.12.4", "x.whl" */
static bool library_name(struct dg_slice path) {
    if (dg_slice_ends(path, DG_S(".whl"))) return true;
    while (path.len && (isdigit((unsigned char)path.ptr[path.len - 1]) || path.ptr[path.len - 1] == '.')) path.len--;
    return dg_slice_ends(path, DG_S(".so"));
}

static bool acceptable(struct dg_slice path) {
    static const char *const not_files[] = {"/proc/", "/sys/", "/dev/"};
    for (size_t i = 0; i < DG_COUNT(not_files); i++)
        if (dg_slice_starts(path, dg_cstr(not_files[i]))) return false;
    return path.len > 1 && path.len <= PATH_BYTES && library_name(path);
}

struct list {
    struct dg_arena *arena;
    const char **v;
    size_t n, max;
};

static void add(struct list *l, struct dg_slice path) {
    while (path.len && path.ptr[path.len - 1] == '.') path.len--;
    if (!acceptable(path) || l->n == l->max) return;
    for (size_t i = 0; i < l->n; i++)
        if (dg_slice_is(path, l->v[i])) return;
    const char *copy = dg_arena_str(l->arena, path);
    if (copy) l->v[l->n++] = copy;
}

/* Every word of the text that begins with a slash. */
static void add_from(struct list *l, struct dg_slice text) {
    static const char ends[] = "\"'`()[]{}<>,;:=+|";
    for (size_t i = 0, end; i < text.len; i = end + 1) {
        for (end = i; end < text.len && text.ptr[end] > ' ' && !strchr(ends, text.ptr[end]);) end++;
        if (end > i && text.ptr[i] == '/') add(l, dg_slice(text.ptr + i, end - i));
    }
}

/* A native stack stands in the record of its error, or right behind it. */
static bool in_stack(const struct dg_finding *frame, const struct dg_finding *error) {
    uint64_t end = error->record_end > error->first.end_line ? error->record_end : error->first.end_line;
    return dg_same_process(&frame->first, &error->first) && frame->first.line >= error->first.line &&
           frame->first.line <= end + STACK_LINES;
}

size_t dg_named_libraries(const struct dg_diagnosis *d, struct dg_arena *arena, const char **out, size_t max) {
    const struct dg_cause *c = d->n_causes ? &d->causes[0] : NULL;
    struct list l = {.arena = arena, .v = out, .max = max};
    if (!c || !c->finding || !(dg_slice_is(c->class, "arch-mismatch") || dg_slice_is(c->class, "loader"))) return 0;
    for (uint32_t i = 0; i < c->n_evidence; i++) add_from(&l, c->evidence[i].text);
    for (uint32_t i = 0; i < d->scan->n_findings; i++) {
        const struct dg_finding *f = &d->scan->findings[i];
        const struct dg_capture *library = dg_finding_capture(f, "library");
        if (library && (dg_same_record(f, c->finding) || in_stack(f, c->finding))) add_from(&l, library->text);
    }
    return l.n;
}
