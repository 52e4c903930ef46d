#include "catalog/schema.h"
#include "catalog/catalog.h"
#include "base/pep440.h"
#include <stdarg.h>
#include <stdio.h>

void dg_schema_fault(struct dg_schema *s, const struct dg_yaml *at, const char *fmt, ...) {
    char msg[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    struct dg_slice line = dg_text_line(s->text, at->line);
    dg_problems_add(s->probs, s->file, at->line, at->col, line.ptr, line.len, "%s", msg);
    s->faults++;
}

static void *take(struct dg_schema *s, size_t size) {
    void *p = dg_arena_alloc(s->arena, size);
    if (!p) s->failed = true;
    return p;
}

static void read_text(struct dg_schema *s, const struct dg_yaml *n, struct dg_slice *ret) {
    if (n->type == DG_YAML_SCALAR && n->text.len)
        *ret = n->text;
    else
        dg_schema_fault(s, n, "a text is wanted here");
}

static void read_texts(struct dg_schema *s, const struct dg_yaml *n, struct dg_slices *ret) {
    if (n->type != DG_YAML_SEQ) {
        dg_schema_fault(s, n, "a list is wanted here");
        return;
    }
    ret->v = take(s, n->n * sizeof(*ret->v));
    DG_YAML_EACH(item, n) {
        if (ret->v) read_text(s, item, &ret->v[ret->n++]);
    }
}

static void read_structs(struct dg_schema *s, const struct dg_yaml *n, const struct dg_field *f, char *out) {
    if (n->type != DG_YAML_SEQ) {
        dg_schema_fault(s, n, "a list is wanted here");
        return;
    }
    char *v = take(s, n->n * f->size);
    uint32_t count = 0;
    DG_YAML_EACH(item, n) {
        if (v) dg_schema_read(s, item, f->of, v + f->size * count++);
    }
    memcpy(out + f->at, &v, sizeof(v));
    memcpy(out + f->count, &count, sizeof(count));
}

static void read_groups(struct dg_schema *s, const struct dg_yaml *n, const struct dg_field *f, char *out) {
    if (n->type != DG_YAML_MAP) {
        dg_schema_fault(s, n, "a map of names to lists is wanted here");
        return;
    }
    struct dg_cat_group *v = take(s, n->n * sizeof(*v));
    uint32_t count = 0;
    DG_YAML_EACH(item, n) {
        if (!v) break;
        v[count].name = item->key;
        read_texts(s, item, &v[count++].globs);
    }
    memcpy(out + f->at, &v, sizeof(v));
    memcpy(out + f->count, &count, sizeof(count));
}

static void read_caps(struct dg_schema *s, const struct dg_yaml *n, struct dg_capset *ret) {
    struct dg_err err = {0};
    if (n->type != DG_YAML_SCALAR)
        dg_schema_fault(s, n, "a set of capabilities is wanted here");
    else if (dg_capset_parse(n->text, ret, &err))
        dg_schema_fault(s, n, "%s", err.msg);
}

static void read_word(struct dg_schema *s, const struct dg_yaml *n, const struct dg_field *f, struct dg_slice *ret) {
    char spaced[64];
    read_text(s, n, ret);
    int len = snprintf(spaced, sizeof(spaced), " %.*s ", DG_FMT(*ret));
    if (ret->len && (len >= (int)sizeof(spaced) || !strstr(f->words, spaced)))
        dg_schema_fault(s, n, "'%.*s' is not one of%s", DG_FMT(*ret), f->words);
}

static void read_field(struct dg_schema *s, const struct dg_yaml *n, const struct dg_field *f, char *out) {
    void *at = out + f->at;
    switch (f->type) {
    case DG_FIELD_TEXT: read_text(s, n, at); break;
    case DG_FIELD_TEXTS: read_texts(s, n, at); break;
    case DG_FIELD_CAPS: read_caps(s, n, at); break;
    case DG_FIELD_WORD: read_word(s, n, f, at); break;
    case DG_FIELD_STRUCTS: read_structs(s, n, f, out); break;
    case DG_FIELD_GROUPS: read_groups(s, n, f, out); break;
    case DG_FIELD_BOOL:
        if (!dg_yaml_bool(n, at)) dg_schema_fault(s, n, "true or false is wanted here");
        break;
    case DG_FIELD_RANGE:
        read_text(s, n, at);
        if (n->text.len && !dg_pep440_range_valid(n->text)) dg_schema_fault(s, n, "this is no range of versions");
        break;
    }
}

void dg_schema_read(struct dg_schema *s, const struct dg_yaml *map, const struct dg_field *fields, void *out) {
    if (map->type != DG_YAML_MAP) {
        dg_schema_fault(s, map, "a map is wanted here");
        return;
    }
    DG_YAML_EACH(n, map) {
        const struct dg_field *f = fields;
        while (f->key && !dg_slice_is(n->key, f->key)) f++;
        if (f->key)
            read_field(s, n, f, out);
        else
            dg_schema_fault(s, n, "unknown key '%.*s'", DG_FMT(n->key));
    }
    for (const struct dg_field *f = fields; f->key; f++) {
        bool absent = !dg_yaml_get(map, f->key);
        if (absent && f->required) dg_schema_fault(s, map, "'%s' is missing", f->key);
        if (absent && f->type == DG_FIELD_RANGE) *(struct dg_slice *)(void *)((char *)out + f->at) = DG_S("*");
    }
}
