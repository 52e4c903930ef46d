#include "unit.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

struct ints {
    int *v;
    size_t n, cap;
};

static void vec_grows_to_its_maximum(void **state) {
    (void)state;
    struct ints a = {0};
    for (int i = 0; i < 100; i++) assert_true(DG_VEC_PUSH(&a, i, 100));
    assert_false(DG_VEC_PUSH(&a, 100, 100));
    assert_int_equal(a.n, 100);
    for (int i = 0; i < 100; i++) assert_int_equal(a.v[i], i);
    free(a.v);
}

static void vec_stays_on_failure(void **state) {
    (void)state;
    struct ints a = {0};
    assert_true(DG_VEC_PUSH(&a, 7, 1000));
    int *before = a.v;
    dg_mem_fail_after(1);
    assert_false(dg_vec_reserve(&a.v, &a.cap, 500, sizeof(int), 1000));
    dg_mem_fail_after(0);
    assert_ptr_equal(a.v, before);
    assert_int_equal(a.v[0], 7);
    assert_false(dg_vec_reserve(&a.v, &a.cap, SIZE_MAX, sizeof(int), SIZE_MAX));
    free(a.v);
}

static void allocators_give_something_for_nothing(void **state) {
    (void)state;
    void *a = dg_malloc(0), *b = dg_calloc(0, 8), *c = dg_realloc_array(NULL, 0, 8);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    free(a);
    free(b);
    free(c);
    assert_null(dg_realloc_array(NULL, SIZE_MAX / 2, 3));
}

static void the_nth_allocation_fails_once(void **state) {
    (void)state;
    dg_mem_fail_after(3);
    for (int i = 1; i <= 5; i++) {
        void *p = dg_malloc(1);
        assert_true(i == 3 ? p == NULL : p != NULL);
        free(p);
    }
}

static void arena_items_are_zeroed_and_aligned(void **state) {
    (void)state;
    _cleanup_(dg_arena_freep) struct dg_arena *a = dg_arena_new(0);
    assert_non_null(a);
    for (size_t size = 0; size < 9000; size += 37) {
        unsigned char *p = dg_arena_alloc(a, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++) assert_int_equal(p[i], 0);
        memset(p, 0xff, size);
    }
}

static void arena_keeps_its_limit(void **state) {
    (void)state;
    _cleanup_(dg_arena_freep) struct dg_arena *a = dg_arena_new(100);
    assert_non_null(dg_arena_alloc(a, 60));
    assert_null(dg_arena_alloc(a, 41));
    assert_non_null(dg_arena_alloc(a, 40));
    assert_int_equal(dg_arena_used(a), 100);
    assert_null(dg_arena_alloc(a, SIZE_MAX));
    assert_null(dg_arena_alloc(a, 1));
}

static void arena_survives_failure(void **state) {
    (void)state;
    _cleanup_(dg_arena_freep) struct dg_arena *a = dg_arena_new(0);
    dg_mem_fail_after(1);
    assert_null(dg_arena_alloc(a, 1));
    dg_mem_fail_after(0);
    assert_null(dg_arena_alloc(a, SIZE_MAX - 8));
    assert_non_null(dg_arena_alloc(a, 1));
    dg_mem_fail_after(1);
    assert_null(dg_arena_new(0));
    dg_mem_fail_after(0);
    dg_arena_free(NULL);
}

static void arena_copies_end_in_nul(void **state) {
    (void)state;
    for (int debug = 0; debug < 2; debug++) {
        dg_arena_debug = debug;
        _cleanup_(dg_arena_freep) struct dg_arena *a = dg_arena_new(0);
        struct dg_slice s = dg_arena_dup(a, dg_slice("ab\0c", 4));
        assert_int_equal(s.len, 4);
        assert_memory_equal(s.ptr, "ab\0c", 5);
        struct dg_slice empty = dg_arena_dup(a, dg_slice(NULL, 0));
        assert_non_null(empty.ptr);
        assert_int_equal(empty.len, 0);
        assert_string_equal(dg_arena_str(a, DG_S("text")), "text");
        assert_slice(dg_arena_printf(a, "%d of %s", 3, "four"), "3 of four");
        dg_mem_fail_after(debug);
        if (debug) assert_null(dg_arena_dup(a, DG_S("x")).ptr);
        dg_mem_fail_after(0);
    }
    dg_arena_debug = false;
}

static void arena_copy_over_the_limit_is_null(void **state) {
    (void)state;
    _cleanup_(dg_arena_freep) struct dg_arena *a = dg_arena_new(4);
    struct dg_slice s = dg_arena_dup(a, DG_S("abcd"));
    assert_null(s.ptr);
    assert_int_equal(s.len, 0);
    assert_null(dg_arena_str(a, DG_S("abcd")));
    assert_null(dg_arena_printf(a, "%s", "abcd").ptr);
}

static void take_empties_the_variable(void **state) {
    (void)state;
    char *p = dg_malloc(4), *kept = p;
    _cleanup_(dg_freep) char *q = DG_TAKE(p);
    assert_null(p);
    assert_ptr_equal(q, kept);
}

static void closep_keeps_errno(void **state) {
    (void)state;
    int fd = open("/dev/null", O_RDONLY), copy = fd, none = -1;
    errno = 77;
    dg_closep(&fd);
    dg_closep(&none);
    assert_int_equal(errno, 77);
    assert_int_equal(fd, -1);
    assert_int_equal(close(copy), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vec_grows_to_its_maximum),
        cmocka_unit_test(vec_stays_on_failure),
        cmocka_unit_test(allocators_give_something_for_nothing),
        cmocka_unit_test(the_nth_allocation_fails_once),
        cmocka_unit_test(arena_items_are_zeroed_and_aligned),
        cmocka_unit_test(arena_keeps_its_limit),
        cmocka_unit_test(arena_survives_failure),
        cmocka_unit_test(arena_copies_end_in_nul),
        cmocka_unit_test(arena_copy_over_the_limit_is_null),
        cmocka_unit_test(take_empties_the_variable),
        cmocka_unit_test(closep_keeps_errno),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
