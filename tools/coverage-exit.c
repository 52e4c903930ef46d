/* Of a build for gcov alone: _exit() that writes the counters first, as exit() does. Where tests let allocations fail,
 * those for that do not. */
#include <unistd.h>

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
__attribute__((weak)) void failmalloc_end(void);

__attribute__((destructor)) static void end(void) {
    if (failmalloc_end) failmalloc_end();
}

_Noreturn void __wrap__exit(int status) {
    end();
    __gcov_dump();
    __real__exit(status);
}
