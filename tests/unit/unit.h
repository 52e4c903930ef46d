/* What every unit test includes: cmocka and a few helpers. */
#ifndef DG_TESTS_UNIT_H
#define DG_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"

#define assert_slice(s, text)                                                                                          \
    do {                                                                                                               \
        struct dg_slice unit_s_ = (s), unit_t_ = dg_cstr(text);                                                        \
        assert_int_equal(unit_s_.len, unit_t_.len);                                                                    \
        assert_memory_equal(unit_s_.ptr ? unit_s_.ptr : "", unit_t_.ptr, unit_t_.len);                                 \
    } while (0)

/* By chance, the same in each run: below n. */
static inline uint32_t unit_any(uint32_t n) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % n;
}

/* Run `body` with its first, second, … allocation failing, until it runs through. Each failure must be -DG_E_NOMEM;
 * returns how many there were. */
static inline unsigned unit_fail_each(int (*body)(void *), void *arg) {
    for (unsigned n = 1;; n++) {
        dg_mem_fail_after(n);
        int r = body(arg);
        dg_mem_fail_after(0);
        if (!r) return n - 1;
        assert_int_equal(r, -DG_E_NOMEM);
    }
}

#endif
