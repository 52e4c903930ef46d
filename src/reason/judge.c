#include "reason/judge.h"
#include <stdarg.h>
#include <stdio.h>

void *dg_judge_alloc(struct dg_judge *j, size_t size) {
    void *p = dg_arena_alloc(j->arena, size);
    if (!p) j->failed = true;
    return p;
}

struct dg_slice dg_judge_say(struct dg_judge *j, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n < 0 ? NULL : dg_judge_alloc(j, (size_t)n + 1);
    if (!p) {
        j->failed = true;
        return (struct dg_slice){NULL, 0};
    }
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return (struct dg_slice){p, (size_t)n};
}

bool dg_judge_grow(struct dg_judge *j, void *v_ptr, uint32_t n, size_t item) {
    if (n && (n < 4 || (n & (n - 1)))) return true; /* room is 4, 8, 16, … */
    void *old, *grown = dg_judge_alloc(j, (n ? 2 * (size_t)n : 4) * item);
    if (!grown) return false;
    memcpy(&old, v_ptr, sizeof(old)); /* a T ** may not be read as a void ** */
    if (n) memcpy(grown, old, n * item);
    memcpy(v_ptr, &grown, sizeof(grown));
    return true;
}

void dg_judge_add_text(struct dg_judge *j, struct dg_strs *list, struct dg_slice text) {
    if (!text.len) return;
    for (uint32_t i = 0; i < list->n; i++)
        if (dg_slice_eq(list->v[i], text)) return;
    DG_LIST_ADD(j, list->v, list->n, text);
}

const char *dg_judge_source(const struct dg_judge *j, uint32_t source) {
    const char *name = j->scan->sources[source].name;
    return strcmp(name, "-") ? name : "stdin";
}
