/* Memory: cleanup attributes, growing arrays, an arena.
 *
 * Ownership: locals are freed by _cleanup_; hand a pointer over with DG_TAKE(). A rule pack and a scan each
 * own one arena that is freed at once. With dg_arena_debug each item is malloced by itself, so that the
 * sanitizers see each overrun. All destructors accept NULL. */
#ifndef DG_BASE_MEM_H
#define DG_BASE_MEM_H

#include "base/slice.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define DG_TAKE(p)                                                                                                     \
    __extension__({                                                                                                    \
        __typeof__(p) dg_t_ = (p);                                                                                     \
        (p) = NULL;                                                                                                    \
        dg_t_;                                                                                                         \
    })
#define DG_COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define DG_ALWAYS(x) (x)
#define DG_NEVER(x) (x)

static inline void dg_freep(void *p) { free(*(void **)p); }
void dg_closep(int *fd); /* closes *fd when >= 0, keeps errno */

/* Allocation goes through these, so that fault tests can fail each one in turn. NULL on failure; size 0 gives a
 * non-NULL pointer. dg_realloc_array checks the product for overflow. */
void *dg_malloc(size_t size);
/* The same for megabytes that are filled at once: in large pages, where the system has them, as hundreds of page faults
 * take longer than the copying. */
void *dg_malloc_large(size_t size);
void *dg_calloc(size_t n, size_t size);
void *dg_realloc_array(void *p, size_t n, size_t size);
/* Fault tests: fail the n-th allocation from now (0: never). Counts down for all of the above and the arena. */
void dg_mem_fail_after(uint64_t n);

/* A growing array is `T *v; size_t n, cap;`. DG_VEC_PUSH returns false when out of memory or at `max`. */
bool dg_vec_reserve(void *v_ptr, size_t *cap, size_t need, size_t item, size_t max);
#define DG_VEC_PUSH(vec, item, max)                                                                                    \
    (dg_vec_reserve(&(vec)->v, &(vec)->cap, (vec)->n + 1, sizeof(*(vec)->v), (max))                                    \
         ? ((vec)->v[(vec)->n++] = (item), true)                                                                       \
         : false)

struct dg_arena;
/* `limit` bytes in all (0: none). NULL when out of memory. */
struct dg_arena *dg_arena_new(size_t limit);
void dg_arena_free(struct dg_arena *a);
static inline void dg_arena_freep(struct dg_arena **a) { dg_arena_free(*a); }
/* Zeroed, aligned to 16. NULL when out of memory or over the limit. */
void *dg_arena_alloc(struct dg_arena *a, size_t size);
size_t dg_arena_used(const struct dg_arena *a);
extern bool dg_arena_debug;
/* Copies; the result has a NUL after its last byte. A failed copy is {NULL, 0}; an empty one has a non-NULL ptr. */
struct dg_slice dg_arena_dup(struct dg_arena *a, struct dg_slice s);
char *dg_arena_str(struct dg_arena *a, struct dg_slice s);
struct dg_slice dg_arena_printf(struct dg_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
