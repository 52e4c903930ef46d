/* A strict reader of YAML maps into structs: a table of keys per struct. Private to this folder. */
#ifndef DG_CATALOG_SCHEMA_H
#define DG_CATALOG_SCHEMA_H

#include "base/yaml.h"

enum dg_field_type {
    DG_FIELD_TEXT,    /* struct dg_slice */
    DG_FIELD_TEXTS,   /* struct dg_slices */
    DG_FIELD_CAPS,    /* struct dg_capset */
    DG_FIELD_RANGE,   /* struct dg_slice, a version range; '*' when absent */
    DG_FIELD_BOOL,    /* bool */
    DG_FIELD_WORD,    /* struct dg_slice, one of `words` */
    DG_FIELD_STRUCTS, /* T *, with the count (uint32_t) at `count` */
    DG_FIELD_GROUPS   /* struct dg_cat_group *: a map of names to lists of globs; count at `count` */
};
struct dg_field {
    const char *key;
    enum dg_field_type type;
    size_t at, count; /* offsets in the struct */
    bool required;
    const char *words;         /* WORD: " a b c " */
    const struct dg_field *of; /* STRUCTS: the fields of an item, ended by a NULL key */
    size_t size;               /* STRUCTS: size of an item */
};

struct dg_schema {
    const char *file;
    struct dg_slice text; /* of the file, for snippets */
    struct dg_arena *arena;
    struct dg_problems *probs;
    unsigned faults;
    bool failed; /* out of memory */
};

/* Fill `out` (zeroed by the caller) from a map. Faults are counted and told. */
void dg_schema_read(struct dg_schema *s, const struct dg_yaml *map, const struct dg_field *fields, void *out);
void dg_schema_fault(struct dg_schema *s, const struct dg_yaml *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
