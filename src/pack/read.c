#include "pack/read.h"
#include "base/buf.h"
#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 4, 0))) static void tell(struct reader *r, unsigned line, unsigned col, const char *fmt,
                                                       va_list ap) {
    char msg[512];
    vsnprintf(msg, sizeof(msg), fmt, ap);
    struct dg_slice snippet = dg_text_line(r->text, line);
    dg_problems_add(r->probs, r->file, line, col, snippet.ptr, snippet.len, "%s", msg);
}

void reader_fault(struct reader *r, unsigned line, unsigned col, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    tell(r, line, col, fmt, ap);
    va_end(ap);
    r->bad = true;
}

void reader_advise(struct reader *r, unsigned line, unsigned col, const char *fmt, ...) {
    if (!r->lint) return;
    va_list ap;
    va_start(ap, fmt);
    tell(r, line, col, fmt, ap);
    va_end(ap);
}

void *reader_alloc(struct reader *r, size_t n, size_t size) {
    size_t bytes;
    void *p = __builtin_mul_overflow(n, size, &bytes) ? NULL : dg_arena_alloc(r->arena, bytes);
    if (!p) r->nomem = true;
    return p;
}

static void unknown_key(struct reader *r, const struct dg_yaml *n, const struct field *fields, size_t n_fields) {
    _cleanup_(dg_buf_release) struct dg_buf known = DG_BUF_INIT(400);
    for (size_t i = 0; i < n_fields; i++) dg_buf_addf(&known, "%s%s", i ? ", " : "", fields[i].key);
    struct dg_slice names = dg_buf_slice(&known);
    reader_fault(r, n->key_line, n->key_col, "unknown key '%.*s' (allowed: %.*s)", DG_FMT(dg_slice_upto(n->key, 60)),
                 DG_FMT(names));
}

void read_map(struct reader *r, const struct dg_yaml *n, const struct field *fields, size_t n_fields, void *obj) {
    if (n->type != DG_YAML_MAP) {
        reader_fault(r, n->line, n->col, "a map of keys is expected here");
        return;
    }
    DG_YAML_EACH(it, n) {
        size_t i = 0;
        while (i < n_fields && !dg_slice_is(it->key, fields[i].key)) i++;
        if (i == n_fields)
            unknown_key(r, it, fields, n_fields);
        else
            fields[i].read(r, it, (char *)obj + fields[i].off);
    }
}

void read_words(struct reader *r, const struct dg_yaml *n, void *slice) {
    if (n->type != DG_YAML_SCALAR) {
        reader_fault(r, n->line, n->col, "one text is expected here");
        return;
    }
    struct dg_slice s = dg_arena_dup(r->arena, n->text);
    if (!s.ptr) r->nomem = true;
    *(struct dg_slice *)slice = s;
}

void read_text(struct reader *r, const struct dg_yaml *n, void *slice) {
    if (n->type == DG_YAML_SCALAR && !dg_slice_trim(n->text).len)
        reader_fault(r, n->line, n->col, "this text is empty");
    else
        read_words(r, n, slice);
}

const struct dg_yaml *read_items(const struct dg_yaml *n, uint32_t *ret_n) {
    *ret_n = n->type == DG_YAML_SEQ ? (uint32_t)n->n : 1;
    return n->type == DG_YAML_SEQ ? n->child : n;
}

void read_texts(struct reader *r, const struct dg_yaml *n, void *strs) {
    struct dg_strs *ret = strs;
    uint32_t count;
    const struct dg_yaml *it = read_items(n, &count);
    ret->v = reader_alloc(r, count, sizeof(*ret->v));
    if (!ret->v) return;
    for (uint32_t i = 0; i < count; i++, it = it->next) read_text(r, it, &ret->v[i]);
    ret->n = count;
}

void read_bool(struct reader *r, const struct dg_yaml *n, void *flag) {
    if (n->type != DG_YAML_SCALAR || !dg_yaml_bool(n, flag))
        reader_fault(r, n->line, n->col, "true or false is expected here");
}

struct dg_set *read_pairs(struct reader *r, const struct dg_yaml *n, uint32_t *ret_n) {
    if (n->type != DG_YAML_MAP) {
        reader_fault(r, n->line, n->col, "a map NAME: VALUE is expected here");
        return NULL;
    }
    struct dg_set *v = reader_alloc(r, n->n, sizeof(*v)), *at = v;
    if (!v) return NULL;
    DG_YAML_EACH(it, n) {
        at->name = dg_arena_dup(r->arena, it->key);
        if (!at->name.ptr) r->nomem = true;
        read_words(r, it, &at->value);
        at++;
    }
    *ret_n = (uint32_t)n->n;
    return v;
}

int read_word(struct reader *r, const struct dg_yaml *n, const char *const *names, size_t n_names, const char *what) {
    for (size_t i = 0; n->type == DG_YAML_SCALAR && i < n_names; i++)
        if (dg_slice_is(n->text, names[i])) return (int)i;
    _cleanup_(dg_buf_release) struct dg_buf known = DG_BUF_INIT(400);
    for (size_t i = 0; i < n_names; i++) dg_buf_addf(&known, "%s%s", i ? ", " : "", names[i]);
    struct dg_slice text = n->type == DG_YAML_SCALAR ? dg_slice_upto(n->text, 60) : DG_S("a list or map");
    reader_fault(r, n->line, n->col, "'%.*s' is no %s (allowed: %.*s)", DG_FMT(text), what,
                 DG_FMT(dg_buf_slice(&known)));
    return -1;
}
