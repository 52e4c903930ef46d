/* Preloaded: allocations of the process fail, counted from 1; counting begins before main, after the constructors of
 * the libraries. FAIL_COUNT=FILE: none fails, and their number is written there at exit. FAIL_EACH=FILE: the program
 * runs once for each number N in it, and its N-th allocation fails, once; a run that ends by a signal, after more than
 * 60 seconds or with another status than 0 to 4 is a line on descriptor 3. What gcov allocates behind the program's end
 * is left alone. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 60, STATUS_MAX = 4, FAULTS = 3, NUMBERS = 1 << 20 };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static atomic_ulong count;
static unsigned long nth;
static pid_t counting;
static int ended;
void failmalloc_end(void);
void failmalloc_end(void) { ended = 1; }

static void wait_for(pid_t pid, unsigned long n) {
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) abort();
    if (WIFSIGNALED(status)) dprintf(FAULTS, "allocation %lu: signal %d\n", n, WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) > STATUS_MAX)
        dprintf(FAULTS, "allocation %lu: status %d\n", n, WEXITSTATUS(status));
}

/* Each run is a fork of this process, which saves what the dynamic linker does; only runs return. The list is closed
 * before: a run's exit would move our place in it. */
static void run_each(const char *path) {
    static unsigned long list[NUMBERS];
    size_t n = 0;
    FILE *f = fopen(path, "r");
    while (f && n < NUMBERS && fscanf(f, "%lu", &list[n]) == 1) n++;
    if (!n || n == NUMBERS) abort();
    fclose(f);
    for (size_t i = 0; i < n; i++) {
        pid_t pid = fork();
        if (!pid) {
            nth = list[i];
            alarm(SECONDS);
            return;
        }
        wait_for(pid, list[i]);
    }
    _exit(0);
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAIL_EACH");
    if (path) run_each(path);
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
    if (!counting || ended || atomic_fetch_add(&count, 1) + 1 != nth) return 0;
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
