/* Byte-string keys to pointers (uthash inside). Keys are copied. Insertion order is kept for iteration. */
#ifndef DG_BASE_MAP_H
#define DG_BASE_MAP_H

#include "base/slice.h"

struct dg_map;
struct dg_map *dg_map_new(void (*free_value)(void *)); /* free_value may be NULL. NULL: out of memory */
void dg_map_free(struct dg_map *m);
/* Value of `key`, or NULL. */
void *dg_map_get(const struct dg_map *m, struct dg_slice key);
/* Sets (replacing and freeing an old value). 0 or -DG_E_NOMEM; on failure `value` stays the caller's. */
int dg_map_set(struct dg_map *m, struct dg_slice key, void *value);
size_t dg_map_count(const struct dg_map *m);
/* Iterate: `*it` starts NULL; false at the end. The map must not change meanwhile. */
bool dg_map_next(const struct dg_map *m, void **it, struct dg_slice *ret_key, void **ret_value);

#endif
