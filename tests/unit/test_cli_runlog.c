/* The raw log of a run: its caps, made small. */
#include "folder_fixture.h"
#include "base/file.h"
#include "cli/runlog.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { HEAD = 100, TAIL = 64 };
static const struct dg_runlog_room small = {HEAD, TAIL, 3000};

static char text[2000];

/* Write `total` bytes in pieces, to a file or to memory, and compare what is kept. */
static void keeps(const char *path, size_t total, size_t piece) {
    struct dg_runlog l;
    struct dg_buf want = DG_BUF_INIT(4096), got = DG_BUF_INIT(4096);
    assert_int_equal(dg_runlog_open(&l, path, false, &small, NULL), 0);
    for (size_t i = 0; i < total; i += piece)
        assert_int_equal(dg_runlog_write(&l, text + i, piece < total - i ? piece : total - i), 0);
    assert_int_equal(dg_runlog_close(&l, &got, NULL), 0);
    bool cut = total > HEAD + TAIL;
    dg_buf_add(&want, text, cut ? HEAD : total);
    if (cut) {
        dg_buf_addf(&want, "\n[diagnose run: %zu bytes left out here]\n", total - HEAD - TAIL);
        dg_buf_add(&want, text + total - TAIL, TAIL);
    }
    if (path) {
        assert_int_equal(got.len, 0);
        assert_int_equal(dg_file_read(path, &got, NULL), 0);
    }
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.ptr ? got.ptr : "", want.ptr ? want.ptr : "", want.len);
    dg_buf_release(&want);
    dg_buf_release(&got);
}

static void keeps_beginning_and_end(void **state) {
    (void)state;
    static const size_t PIECES[] = {1, 7, 64, 100, 165, 2000};
    for (size_t i = 0; i < sizeof(text); i++) text[i] = (char)('!' + i * 7 % 90);
    for (size_t total = 0; total <= 400; total++)
        for (size_t i = 0; i < DG_COUNT(PIECES); i++) {
            keeps(folder_at("log"), total, PIECES[i]);
            keeps(NULL, total, PIECES[i]);
        }
    keeps(folder_at("log"), 2000, 333);
}

static void an_old_file_is_emptied(void **state) {
    (void)state;
    keeps(folder_at("log"), 400, 10);
    keeps(folder_at("log"), 5, 10);
}

static void says_what_it_cannot_write(void **state) {
    (void)state;
    struct dg_runlog l;
    struct dg_err err = {0};
    assert_int_equal(dg_runlog_open(&l, folder_at("no/such/folder/log"), false, &small, &err), -DG_E_IO);
    assert_non_null(strstr(err.msg, "cannot write"));
    assert_int_equal(symlink("/etc/passwd", folder_at("link")), 0);
    assert_int_equal(dg_runlog_open(&l, folder_at("link"), false, &small, &err),
                     -DG_E_IO); /* a link that somebody laid there */
    assert_int_equal(dg_runlog_open(&l, folder_at("log"), true, &small, &err), -DG_E_IO); /* it is there already */
}

static void make(const char *name, size_t size) {
    _cleanup_(dg_closep) int fd = open(folder_at(name), O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
}

static bool is_there(const char *name) { return access(folder_at(name), F_OK) == 0; }

static void the_folder_has_a_cap(void **state) {
    (void)state;
    make("run-1.log", 1500);
    make("run-2.log", 1500);
    make("run-3.log", 1400);
    make("other.log", 9000);
    char newest[300];
    snprintf(newest, sizeof(newest), "%s", folder_at("run-3.log"));
    dg_runlog_prune(folder, newest, &small);
    assert_false(is_there("run-1.log")); /* the oldest goes */
    assert_true(is_there("run-2.log"));
    assert_true(is_there("run-3.log"));
    assert_true(is_there("other.log"));
    make("run-3.log", 4000); /* alone over the cap: it is what is judged */
    dg_runlog_prune(folder, newest, &small);
    assert_false(is_there("run-2.log"));
    assert_true(is_there("run-3.log"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_beginning_and_end),
        cmocka_unit_test(an_old_file_is_emptied),
        cmocka_unit_test(says_what_it_cannot_write),
        cmocka_unit_test(the_folder_has_a_cap),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
