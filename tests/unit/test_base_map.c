#include "unit.h"
#include "base/map.h"
#include <stdio.h>

static int freed;
static void count_free(void *p) {
    freed++;
    free(p);
}

static void keys_are_bytes(void **state) {
    (void)state;
    struct dg_map *m = dg_map_new(NULL);
    int a = 1, b = 2, c = 3;
    assert_int_equal(dg_map_set(m, dg_slice("k\0x", 3), &a), 0);
    assert_int_equal(dg_map_set(m, dg_slice("k\0y", 3), &b), 0);
    assert_int_equal(dg_map_set(m, dg_slice(NULL, 0), &c), 0);
    assert_ptr_equal(dg_map_get(m, dg_slice("k\0x", 3)), &a);
    assert_ptr_equal(dg_map_get(m, dg_slice("k\0y", 3)), &b);
    assert_ptr_equal(dg_map_get(m, DG_S("")), &c);
    assert_null(dg_map_get(m, DG_S("k")));
    assert_int_equal(dg_map_count(m), 3);
    dg_map_free(m);
    dg_map_free(NULL);
}

static void keeps_the_order_of_insertion(void **state) {
    (void)state;
    struct dg_map *m = dg_map_new(free);
    char key[16];
    for (int i = 0; i < 1000; i++) {
        int *v = dg_malloc(sizeof(*v));
        *v = i;
        snprintf(key, sizeof(key), "%d", i * 7919);
        assert_int_equal(dg_map_set(m, dg_cstr(key), v), 0);
    }
    void *it = NULL, *value;
    struct dg_slice k;
    for (int i = 0; i < 1000; i++) {
        assert_true(dg_map_next(m, &it, &k, &value));
        snprintf(key, sizeof(key), "%d", i * 7919);
        assert_slice(k, key);
        assert_int_equal(*(int *)value, i);
    }
    assert_false(dg_map_next(m, &it, NULL, NULL));
    dg_map_free(m);
}

static void replacing_frees_the_old_value(void **state) {
    (void)state;
    freed = 0;
    struct dg_map *m = dg_map_new(count_free);
    void *same = dg_malloc(1);
    assert_int_equal(dg_map_set(m, DG_S("a"), dg_malloc(1)), 0);
    assert_int_equal(dg_map_set(m, DG_S("a"), same), 0);
    assert_int_equal(freed, 1);
    assert_int_equal(dg_map_set(m, DG_S("a"), same), 0);
    assert_int_equal(freed, 1);
    assert_int_equal(dg_map_set(m, DG_S("b"), NULL), 0);
    assert_int_equal(dg_map_count(m), 2);
    dg_map_free(m);
    assert_int_equal(freed, 2);
}

static int fill(void *arg) {
    (void)arg;
    struct dg_map *m = dg_map_new(count_free);
    if (!m) return -DG_E_NOMEM;
    char key[16];
    int r = 0;
    size_t put = 0;
    for (int i = 0; i < 2000 && !r; i++) { /* enough for the table to grow several times */
        void *v = malloc(1);
        snprintf(key, sizeof(key), "key %d", i);
        r = dg_map_set(m, dg_cstr(key), v);
        if (r)
            free(v); /* it stays the caller's */
        else
            put++;
        assert_int_equal(dg_map_count(m), put);
        assert_true((dg_map_get(m, dg_cstr(key)) != NULL) == !r);
    }
    freed = 0;
    dg_map_free(m);
    assert_int_equal(freed, put);
    return r;
}

static void survives_each_failing_allocation(void **state) {
    (void)state;
    assert_true(unit_fail_each(fill, NULL) > 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_bytes),
        cmocka_unit_test(keeps_the_order_of_insertion),
        cmocka_unit_test(replacing_frees_the_old_value),
        cmocka_unit_test(survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
