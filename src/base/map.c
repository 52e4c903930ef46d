#include "base/map.h"
#include "base/err.h"
#include "base/mem.h"

#define HASH_NONFATAL_OOM 1
#define uthash_malloc(size) dg_malloc(size)
#define uthash_nonfatal_oom(e) ((e)->key_len = SIZE_MAX) /* seen by dg_map_set */
#include <uthash.h>

struct entry {
    UT_hash_handle hh;
    void *value;
    size_t key_len;
    char key[];
};

struct dg_map {
    struct entry *entries;
    void (*free_value)(void *);
};

struct dg_map *dg_map_new(void (*free_value)(void *)) {
    struct dg_map *m = dg_calloc(1, sizeof(*m));
    if (m) m->free_value = free_value;
    return m;
}

static void drop_value(const struct dg_map *m, void *value) {
    if (m->free_value && value) m->free_value(value);
}

void dg_map_free(struct dg_map *m) {
    if (!m) return;
    struct entry *e, *next;
    HASH_ITER(hh, m->entries, e, next) {
        HASH_DEL(m->entries, e);
        drop_value(m, e->value);
        free(e);
    }
    free(m);
}

static struct entry *find(const struct dg_map *m, struct dg_slice key) {
    struct entry *e = NULL;
    const char *ptr = key.len ? key.ptr : "";
    HASH_FIND(hh, m->entries, ptr, key.len, e);
    return e;
}

void *dg_map_get(const struct dg_map *m, struct dg_slice key) {
    struct entry *e = find(m, key);
    return e ? e->value : NULL;
}

int dg_map_set(struct dg_map *m, struct dg_slice key, void *value) {
    struct entry *e = find(m, key);
    if (e) {
        if (e->value != value) drop_value(m, e->value);
        e->value = value;
        return 0;
    }
    if (key.len > UINT32_MAX) return -DG_E_NOMEM;
    e = dg_calloc(1, sizeof(*e) + key.len + 1);
    if (!e) return -DG_E_NOMEM;
    e->value = value;
    e->key_len = key.len;
    if (key.len) memcpy(e->key, key.ptr, key.len);
    HASH_ADD_KEYPTR(hh, m->entries, e->key, e->key_len, e);
    if (e->key_len == SIZE_MAX) {
        free(e);
        return -DG_E_NOMEM;
    }
    return 0;
}

size_t dg_map_count(const struct dg_map *m) { return HASH_COUNT(m->entries); }

bool dg_map_next(const struct dg_map *m, void **it, struct dg_slice *ret_key, void **ret_value) {
    struct entry *e = *it ? ((struct entry *)*it)->hh.next : m->entries;
    if (!e) return false;
    *it = e;
    if (ret_key) *ret_key = dg_slice(e->key, e->key_len);
    if (ret_value) *ret_value = e->value;
    return true;
}
