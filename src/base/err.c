#include "base/err.h"
#include "base/buf.h"
#include "base/mem.h"
#include <stdarg.h>
#include <stdio.h>

enum { PROBLEMS_MAX = 1000, SNIPPET_MAX = 512 };

__attribute__((format(printf, 4, 0))) static void start(struct dg_err *err, int code, int sys, const char *fmt,
                                                        va_list ap) {
    *err = (struct dg_err){.code = code, .sys = sys};
    vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
}

int dg_err_set(struct dg_err *err, int code, int sys, const char *fmt, ...) {
    if (!err) return -code;
    va_list ap;
    va_start(ap, fmt);
    start(err, code, sys, fmt, ap);
    va_end(ap);
    if (sys) {
        char text[128];
        size_t n = strlen(err->msg);
        snprintf(err->msg + n, sizeof(err->msg) - n, ": %s", strerror_r(sys, text, sizeof(text)));
    }
    return -code;
}

int dg_err_at(struct dg_err *err, int code, const char *file, unsigned line, unsigned col, const char *fmt, ...) {
    if (!err) return -code;
    va_list ap;
    va_start(ap, fmt);
    start(err, code, 0, fmt, ap);
    va_end(ap);
    err->line = line;
    err->col = col;
    if (file) snprintf(err->file, sizeof(err->file), "%s", file);
    return -code;
}

int dg_err_nomem(struct dg_err *err) { return dg_err_set(err, DG_E_NOMEM, 0, "out of memory"); }

void dg_err_format(const struct dg_err *err, char *out, size_t size) {
    char place[32] = "";
    if (err->line && err->col)
        snprintf(place, sizeof(place), "%u:%u: ", err->line, err->col);
    else if (err->line)
        snprintf(place, sizeof(place), "%u: ", err->line);
    snprintf(out, size, "%s%s%s%s", err->file, *err->file ? (*place ? ":" : ": ") : "", place, err->msg);
}

static char *copy(const char *ptr, size_t len) {
    char *s = dg_malloc(len + 1);
    if (!s) return NULL;
    memcpy(s, ptr, len);
    s[len] = '\0';
    return s;
}

static void problem_release(struct dg_problem *p) {
    free(p->file);
    free(p->msg);
    free(p->snippet);
}

void dg_problems_add(struct dg_problems *probs, const char *file, unsigned line, unsigned col, const char *snippet,
                     size_t snippet_len, const char *fmt, ...) {
    if (!probs) return;
    char msg[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    struct dg_problem p = {.line = line, .col = col};
    if (!file) file = "";
    if (snippet_len > SNIPPET_MAX) snippet_len = SNIPPET_MAX;
    p.file = copy(file, strlen(file));
    p.msg = copy(msg, strlen(msg));
    if (snippet) p.snippet = copy(snippet, snippet_len);
    if (!p.file || !p.msg || (snippet && !p.snippet) || !DG_VEC_PUSH(probs, p, PROBLEMS_MAX)) problem_release(&p);
}

void dg_problems_release(struct dg_problems *probs) {
    if (!probs) return;
    for (size_t i = 0; i < probs->n; i++) problem_release(&probs->v[i]);
    free(probs->v);
    *probs = (struct dg_problems){0};
}
