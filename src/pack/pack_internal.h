/* What the loaders of packs share. */
#ifndef DG_PACK_INTERNAL_H
#define DG_PACK_INTERNAL_H

#include "pack/pack.h"
#include "base/buf.h"
#include "base/map.h"

/* A rule set while it grows: rules by id, and the place each came from. */
struct dg_pack {
    struct dg_arena *arena;
    struct dg_ruleset set;   /* valid after pack_lay_out() and pack_number() */
    struct dg_slice bin;     /* packs.bin, when that was loaded; the set lies in it */
    bool of_file;            /* bin is mapped from there */
    struct dg_slice catalog; /* within bin */
    struct dg_slice tables;  /* within bin */
    struct {
        struct dg_rule *v;
        size_t n, cap;
    } rules;
    struct {
        size_t *v; /* place of rules.v[i] */
        size_t n, cap;
    } places;
    struct dg_map *ids; /* id -> index + 1, as a pointer */
};

struct dg_pack *pack_new(void);
/* Add, or replace the rule of the same id. 0, -DG_E_NOMEM, -DG_E_BUSY: this place has that id already. */
int pack_add(struct dg_pack *p, const struct dg_rule *rule, size_t place);
/* Read the places in order. As dg_pack_load. */
int pack_read_places(struct dg_pack *p, const struct dg_pack_place *places, size_t n, size_t first_place, bool lint,
                     struct dg_problems *probs, struct dg_err *err);
/* The rules that were added become the set. 0 or -DG_E_NOMEM. */
int pack_lay_out(struct dg_pack *p);
/* Number the patterns of the set. 0 or -DG_E_NOMEM. */
int pack_number(struct dg_pack *p);

#endif
