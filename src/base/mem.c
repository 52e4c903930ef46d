#include "base/mem.h"
#include "base/err.h"
#include <sys/mman.h>
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

void dg_closep(int *fd) {
    int kept = errno;
    if (*fd >= 0) close(*fd);
    *fd = -1;
    errno = kept;
}

static _Atomic uint64_t fail_countdown;

void dg_mem_fail_after(uint64_t n) { atomic_store(&fail_countdown, n); }

static bool must_fail(void) {
    uint64_t n = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    while (n)
        if (atomic_compare_exchange_weak(&fail_countdown, &n, n - 1)) return n == 1;
    return false;
}

void *dg_malloc(size_t size) { return must_fail() ? NULL : malloc(size ? size : 1); }

void *dg_malloc_large(size_t size) {
    enum { LARGE_PAGE = 2 << 20 };
    size_t pages = size / LARGE_PAGE + 1;
    if (size < LARGE_PAGE / 4) return dg_malloc(size);
    if (must_fail()) return NULL;
    void *p = aligned_alloc(LARGE_PAGE, pages * LARGE_PAGE);
    if (p) madvise(p, pages * LARGE_PAGE, MADV_HUGEPAGE); /* a wish */
    return p;
}

void *dg_calloc(size_t n, size_t size) {
    if (must_fail()) return NULL;
    return n && size ? calloc(n, size) : calloc(1, 1);
}

void *dg_realloc_array(void *p, size_t n, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || must_fail()) return NULL;
    return realloc(p, bytes ? bytes : 1);
}

bool dg_vec_reserve(void *v_ptr, size_t *cap, size_t need, size_t item, size_t max) {
    if (need <= *cap) return true;
    if (need > max) return false;
    size_t want = *cap < 4 ? 8 : *cap + *cap / 2;
    if (want < need) want = need;
    if (want > max) want = max;
    void *old, *grown;
    memcpy(&old, v_ptr, sizeof(old)); /* a T ** may not be read as a void ** */
    grown = dg_realloc_array(old, want, item);
    if (!grown) return false;
    memcpy(v_ptr, &grown, sizeof(grown));
    *cap = want;
    return true;
}

/* Blocks are chained, newest first. A block's data begins 16-aligned after its header. */
struct block {
    struct block *next;
    size_t size, used;
    _Alignas(16) unsigned char data[];
};

struct dg_arena {
    struct block *blocks;
    size_t used, limit, next_size;
};

bool dg_arena_debug;

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct dg_arena *dg_arena_new(size_t limit) {
    struct dg_arena *a = dg_calloc(1, sizeof(*a));
    if (!a) return NULL;
    a->limit = limit ? limit : SIZE_MAX;
    a->next_size = FIRST_BLOCK;
    return a;
}

void dg_arena_free(struct dg_arena *a) {
    if (!a) return;
    for (struct block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

static struct block *add_block(struct dg_arena *a, size_t size) {
    if (size > SIZE_MAX - sizeof(struct block)) return NULL;
    struct block *b = dg_malloc(sizeof(*b) + size);
    if (!b) return NULL;
    b->next = a->blocks;
    b->size = size;
    b->used = 0;
    a->blocks = b;
    return b;
}

void *dg_arena_alloc(struct dg_arena *a, size_t size) {
    if (size > a->limit - a->used) return NULL;
    size_t take = size ? size : 1, rounded = (take + 15) & ~(size_t)15;
    if (rounded < take) return NULL;
    struct block *b = a->blocks;
    if (dg_arena_debug) {
        b = add_block(a, take); /* the exact size, so that one byte more is seen */
        rounded = take;
    } else if (!b || b->size - b->used < rounded) {
        b = add_block(a, rounded > a->next_size ? rounded : a->next_size);
        if (b && a->next_size < LARGEST_BLOCK) a->next_size *= 2;
    }
    if (!b) return NULL;
    void *p = b->data + b->used;
    b->used += rounded;
    a->used += size;
    return memset(p, 0, take);
}

size_t dg_arena_used(const struct dg_arena *a) { return a->used; }

char *dg_arena_str(struct dg_arena *a, struct dg_slice s) {
    if (s.len == SIZE_MAX) return NULL;
    char *p = dg_arena_alloc(a, s.len + 1);
    if (p && s.len) memcpy(p, s.ptr, s.len);
    return p;
}

struct dg_slice dg_arena_dup(struct dg_arena *a, struct dg_slice s) {
    char *p = dg_arena_str(a, s);
    return dg_slice(p, p ? s.len : 0);
}

struct dg_slice dg_arena_printf(struct dg_arena *a, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n < 0 ? NULL : dg_arena_alloc(a, (size_t)n + 1);
    if (p) vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return dg_slice(p, p ? (size_t)n : 0);
}
