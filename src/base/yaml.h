/* Strict YAML on libyaml's event parser: a tree with a place on every node.
 *
 * Refused, each with file:line:col: duplicate keys, aliases, anchors, tags, depth over 32, text over 1 MiB, several
 * documents, bytes that are not UTF-8. Scalars stay text: what a value means (number, boolean) is decided by the schema
 * that reads it. */
#ifndef DG_BASE_YAML_H
#define DG_BASE_YAML_H

#include "base/err.h"
#include "base/mem.h"

enum dg_yaml_type { DG_YAML_SCALAR, DG_YAML_SEQ, DG_YAML_MAP };

/* Lives in the arena given to dg_yaml_parse. */
struct dg_yaml {
    enum dg_yaml_type type;
    bool plain;                 /* scalar without quotes: null, true, 1.5 may be meant */
    unsigned line, col;         /* 1-based, of the value */
    unsigned key_line, key_col; /* of the key, for members of a map */
    struct dg_slice key;        /* members of a map */
    struct dg_slice text;       /* scalars */
    struct dg_yaml *child;      /* first item or member */
    struct dg_yaml *next;       /* sibling */
    size_t n;                   /* number of children */
};

/* Parse `text`. All faults found go to `probs` (may be NULL), the first to err. 0; -DG_E_SYNTAX, -DG_E_LIMIT,
 * -DG_E_NOMEM. An empty document gives *ret = NULL and 0. */
int dg_yaml_parse(const char *file, struct dg_slice text, struct dg_arena *arena, struct dg_problems *probs,
                  struct dg_yaml **ret, struct dg_err *err);
/* Member `key` of a map, or NULL (also when `map` is NULL or no map). */
struct dg_yaml *dg_yaml_get(const struct dg_yaml *map, const char *key);
#define DG_YAML_EACH(it, parent) for (struct dg_yaml *it = (parent) ? (parent)->child : NULL; it; it = it->next)
/* true, false as YAML 1.2 core plain scalars; anything else: returns false. */
bool dg_yaml_bool(const struct dg_yaml *n, bool *ret);
/* Plain `null`, `~` or empty. */
bool dg_yaml_is_null(const struct dg_yaml *n);
/* The 1-based line `line` of `text`, for snippets under an error. */
struct dg_slice dg_text_line(struct dg_slice text, unsigned line);

#endif
