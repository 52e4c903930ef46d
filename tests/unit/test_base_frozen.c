#include "unit.h"
#include "base/frozen.h"

struct leaf {
    struct dg_slice name;
    double number;
    bool flag;
};
struct tree {
    struct dg_slice title;
    struct leaf *leaves;
    uint32_t n_leaves, extra;
    struct leaf *best;
    struct dg_slice *words;
    uint32_t n_words;
    char *scratch;
};
DG_FROZEN_TYPE(LEAF, leaf, DG_TEXT(leaf, name), DG_PLAIN(leaf, number), DG_PLAIN(leaf, flag));
DG_FROZEN_TYPE(TREE, tree, DG_TEXT(tree, title), DG_LIST(tree, leaves, n_leaves, LEAF), DG_PLAIN(tree, extra),
               DG_ONE(tree, best, LEAF), DG_LIST(tree, words, n_words, dg_frozen_slice), DG_NOT(tree, scratch));
DG_FROZEN_TYPE(FORGETFUL, tree, DG_TEXT(tree, title), DG_LIST(tree, leaves, n_leaves, LEAF), DG_PLAIN(tree, extra),
               DG_LIST(tree, words, n_words, dg_frozen_slice), DG_NOT(tree, scratch));

static struct leaf leaves[] = {{{"one", 3}, 1.5, true}, {{"two", 3}, -2, false}, {{NULL, 0}, 0, false}};
static struct leaf best = {{"", 0}, 7, true};
static struct dg_slice words[] = {{"one", 3}, {"a\0b", 3}};
static char scratch;
static const struct tree OAK = {{"oak", 3}, leaves, 3, 42, &best, words, 2, &scratch};

/* As a file would have it: in memory of its own, of just that size. */
static void *copy_of(const struct dg_buf *b) {
    void *p = malloc(b->len);
    assert_non_null(p);
    return memcpy(p, b->ptr, b->len);
}

static void what_was_frozen_is_thawed(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(1 << 20);
    assert_int_equal(dg_freeze(&TREE, &OAK, 0, &b, NULL), 0);
    _cleanup_(dg_freep) void *bytes = copy_of(&b);
    const struct tree *t = dg_thaw(&TREE, bytes, b.len);
    assert_non_null(t);
    assert_slice(t->title, "oak");
    assert_int_equal(t->title.ptr[3], 0);
    assert_int_equal(t->n_leaves, 3);
    assert_int_equal(t->extra, 42);
    assert_slice(t->leaves[1].name, "two");
    assert_true(t->leaves[0].number == 1.5 && t->leaves[0].flag && t->leaves[1].number == -2 && !t->leaves[1].flag);
    assert_null(t->leaves[2].name.ptr);
    assert_true(t->best->number == 7 && t->best->name.ptr && !t->best->name.len);
    assert_ptr_equal(t->words[0].ptr, t->leaves[0].name.ptr); /* equal texts are one */
    assert_true(t->words[1].len == 3 && !memcmp(t->words[1].ptr, "a\0b", 4));
    assert_null(t->scratch);
}

static void what_lies_where_it_was_to_lie_is_not_written(void **state) {
    (void)state;
    _cleanup_(dg_freep) void *bytes = malloc(1 << 16);
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(1 << 16);
    assert_int_equal(dg_freeze(&TREE, &OAK, (uintptr_t)bytes, &b, NULL), 0);
    memcpy(bytes, b.ptr, b.len);
    const struct tree *t = dg_thaw(&TREE, bytes, b.len);
    assert_memory_equal(bytes, b.ptr, b.len);
    assert_slice(t->leaves[1].name, "two");
    _cleanup_(dg_freep) void *elsewhere = copy_of(&b);
    const struct tree *u = dg_thaw(&TREE, elsewhere, b.len);
    memset(bytes, 0, b.len);
    assert_slice(u->leaves[1].name, "two");
}

static void nothing_is_frozen_too(void **state) {
    (void)state;
    static const struct tree BARE;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(1 << 20);
    assert_int_equal(dg_freeze(&TREE, &BARE, 0, &b, NULL), 0);
    _cleanup_(dg_freep) void *bytes = copy_of(&b);
    const struct tree *t = dg_thaw(&TREE, bytes, b.len);
    assert_non_null(t);
    assert_null(t->leaves);
    assert_null(t->best);
}

static void a_member_in_no_field_is_told(void **state) {
    (void)state;
    struct dg_err err = {0};
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(1 << 20);
    assert_int_equal(dg_freeze(&FORGETFUL, &OAK, 0, &b, &err), -DG_E_INTERNAL);
}

static void another_layout_and_cut_bytes_are_refused(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(1 << 20);
    assert_int_equal(dg_freeze(&TREE, &OAK, 0, &b, NULL), 0);
    _cleanup_(dg_freep) void *bytes = copy_of(&b);
    assert_null(dg_thaw(&LEAF, bytes, b.len));
    for (size_t n = 0; n + DG_FROZEN_ALIGN <= b.len; n++) {
        _cleanup_(dg_freep) void *cut = malloc(n + 1);
        memcpy(cut, b.ptr, n);
        assert_null(dg_thaw(&TREE, cut, n));
    }
}

static int freeze_once(void *arg) {
    (void)arg;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(1 << 20);
    return dg_freeze(&TREE, &OAK, 0, &b, NULL);
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    assert_true(unit_fail_each(freeze_once, NULL) > 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_frozen_is_thawed),
        cmocka_unit_test(what_lies_where_it_was_to_lie_is_not_written),
        cmocka_unit_test(nothing_is_frozen_too),
        cmocka_unit_test(a_member_in_no_field_is_told),
        cmocka_unit_test(another_layout_and_cut_bytes_are_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
