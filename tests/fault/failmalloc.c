/* Preloaded: the FAIL_NTH-th allocation of the process fails, once (0 or unset: none). With FAIL_COUNT=FILE the number
 * of allocations is written there at exit. Counting begins before main, after the constructors of the libraries. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static atomic_ulong count;
static unsigned long nth;
static pid_t counting;

__attribute__((constructor)) static void begin(void) {
    const char *word = getenv("FAIL_NTH");
    nth = word ? strtoul(word, NULL, 10) : 0;
    counting = getpid();
    atomic_store(&count, 0);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAIL_COUNT");
    unsigned long n = atomic_load(&count);
    FILE *f = path && getpid() == counting ? fopen(path, "w") : NULL;
    if (!f) return;
    fprintf(f, "%lu\n", n);
    fclose(f);
}

static int fails(void) {
    if (!counting || atomic_fetch_add(&count, 1) + 1 != nth) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t size) { return fails() ? NULL : __libc_realloc(p, size); }
void *memalign(size_t align, size_t size) { return fails() ? NULL : __libc_memalign(align, size); }
void *aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
int posix_memalign(void **ret, size_t align, size_t size) {
    void *p = memalign(align, size);
    if (p) *ret = p;
    return p ? 0 : ENOMEM;
}
