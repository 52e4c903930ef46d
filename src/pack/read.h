/* Reading YAML nodes into structs, with a fault (file, line, column, snippet) for everything that does not fit. */
#ifndef DG_PACK_READ_H
#define DG_PACK_READ_H

#include "base/err.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "model/rule.h"

struct reader {
    const char *file;
    struct dg_slice text;         /* of the file, for snippets */
    struct dg_arena *arena;       /* everything that is read lives here */
    struct dg_problems *probs;    /* may be NULL */
    const struct dg_ruleset *set; /* the classes so far; n_classes 0: unknown, anything goes */
    bool lint;                    /* report advice too, keep examples */
    bool bad;                     /* a fault was found in the item being read */
    bool nomem;
};

/* A fault makes the rule unusable; advice is only told by lint. */
void reader_fault(struct reader *r, unsigned line, unsigned col, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void reader_advise(struct reader *r, unsigned line, unsigned col, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void *reader_alloc(struct reader *r, size_t n, size_t size); /* zeroed; NULL sets nomem */

/* One key of a map: `read` gets the value and obj + off. */
typedef void (*read_fn)(struct reader *r, const struct dg_yaml *n, void *field);
struct field {
    const char *key;
    read_fn read;
    size_t off;
};
/* Hand each member of `n` to its field; a key that is not among the n_fields is a fault that names those that are. */
void read_map(struct reader *r, const struct dg_yaml *n, const struct field *fields, size_t n_fields, void *obj);

void read_text(struct reader *r, const struct dg_yaml *n, void *slice);  /* struct dg_slice: not empty */
void read_words(struct reader *r, const struct dg_yaml *n, void *slice); /* the same, may be empty */
void read_texts(struct reader *r, const struct dg_yaml *n, void *strs);  /* struct dg_strs: one text or a list */
void read_bool(struct reader *r, const struct dg_yaml *n, void *flag);
/* Map NAME: text. Returns an array of n->n, or NULL. */
struct dg_set *read_pairs(struct reader *r, const struct dg_yaml *n, uint32_t *ret_n);
/* The items of a list, or the node itself when it is none; *ret_n counts them. */
const struct dg_yaml *read_items(const struct dg_yaml *n, uint32_t *ret_n);
/* Index of the word in `names`, or -1 and a fault that lists them. */
int read_word(struct reader *r, const struct dg_yaml *n, const char *const *names, size_t n_names, const char *what);
int read_kind(struct reader *r, const struct dg_yaml *n); /* enum dg_kind, or -1 and a fault */

void read_fors(struct reader *r, const struct dg_yaml *n, void *fors);   /* struct dg_fors */
void read_cond(struct reader *r, const struct dg_yaml *n, void *cond);   /* struct dg_cond */
void read_conds(struct reader *r, const struct dg_yaml *n, void *conds); /* struct dg_conds */
void read_actions(struct reader *r, const struct dg_yaml *n, void *obj); /* struct dg_rule */
void read_match(struct reader *r, const struct dg_yaml *n, void *obj);
void read_opens(struct reader *r, const struct dg_yaml *n, void *obj);
void read_examples(struct reader *r, const struct dg_yaml *n, void *obj);
bool read_rule(struct reader *r, const struct dg_yaml *n, struct dg_slice pack, struct dg_rule *ret);
void read_classes(struct reader *r, const struct dg_yaml *n, struct dg_ruleset *set);

/* Does group NAME stand in the regex? Also tells whether the regex uses what the language leaves out (a phrase, or
 * NULL). */
bool regex_has_group(struct dg_slice re, struct dg_slice name);
const char *regex_forbidden(struct dg_slice re, size_t *ret_at);
/* Next group name of `re` after *at; false at the end. */
bool regex_next_group(struct dg_slice re, size_t *at, struct dg_slice *ret_name);
/* Advice over the finished rule: operands of templates and conditions, wordings, limits (lint.c). */
void lint_rule(struct reader *r, const struct dg_yaml *n, const struct dg_rule *rule);

#endif
