#include "folder_fixture.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(const char *name, const char *text, size_t len) {
    _cleanup_(dg_closep) int fd = open(folder_at(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(dg_fd_write(fd, text, len), 0);
}

static void reads_whole_files(void **state) {
    (void)state;
    size_t len = 300000;
    _cleanup_(dg_freep) char *text = dg_malloc(len);
    for (size_t i = 0; i < len; i++) text[i] = (char)(i * 31);
    put("big", text, len);
    struct dg_err e;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(len);
    assert_int_equal(dg_file_read(folder_at("big"), &b, &e), 0);
    assert_int_equal(b.len, len);
    assert_memory_equal(b.ptr, text, len);
    _cleanup_(dg_buf_release) struct dg_buf small = DG_BUF_INIT(len - 1);
    assert_int_equal(dg_file_read(folder_at("big"), &small, &e), -DG_E_LIMIT);
    assert_non_null(strstr(e.msg, "299999"));
}

static void tells_why_it_cannot_read(void **state) {
    (void)state;
    struct dg_err e;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(100);
    assert_int_equal(dg_file_read(folder_at("absent"), &b, &e), -DG_E_IO);
    assert_int_equal(e.sys, ENOENT);
    assert_int_equal(dg_file_read(folder, &b, &e), -DG_E_IO);
    assert_int_equal(e.sys, EISDIR);
    put("x", "x", 1);
    dg_mem_fail_after(1);
    int r = dg_file_read(folder_at("x"), &b, &e);
    dg_mem_fail_after(0);
    assert_int_equal(r, -DG_E_NOMEM);
}

static void writes_all_or_says_so(void **state) {
    (void)state;
    int p[2];
    assert_int_equal(pipe(p), 0);
    close(p[0]);
    errno = 0;
    assert_int_equal(dg_fd_write(-1, "x", 1), -DG_E_IO);
    assert_int_equal(errno, EBADF);
    _cleanup_(dg_closep) int full = open("/dev/full", O_WRONLY);
    assert_int_equal(dg_fd_write(full, "x", 1), -DG_E_IO);
    assert_int_equal(errno, ENOSPC);
    close(p[1]);
}

static void makes_folders(void **state) {
    (void)state;
    struct dg_err e;
    struct stat st;
    assert_int_equal(dg_dir_make(folder_at("a//b/c/"), 0700, &e), 0);
    assert_true(dg_path_is_dir(folder_at("a/b/c")));
    assert_int_equal(stat(folder_at("a/b"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(dg_dir_make(folder_at("a/b/c"), 0700, &e), 0);
    put("file", "", 0);
    assert_false(dg_path_is_dir(folder_at("file")));
    assert_int_equal(dg_dir_make(folder_at("file/x"), 0700, &e), -DG_E_IO);
    assert_int_equal(e.sys, ENOTDIR);
    assert_int_equal(dg_dir_make(folder_at("file"), 0700, &e), -DG_E_IO);
    assert_int_equal(e.sys, ENOTDIR);
    dg_mem_fail_after(1);
    int r = dg_dir_make(folder_at("z"), 0700, &e);
    dg_mem_fail_after(0);
    assert_int_equal(r, -DG_E_NOMEM);
}

static void joins_paths(void **state) {
    (void)state;
    static const char *const rows[][3] = {{"a", "b", "a/b"},   {"a/", "b", "a/b"}, {"a", "/b", "a/b"},
                                          {"a/", "/b", "a/b"}, {"/", "b", "/b"},   {"", "b", "b"}};
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(100);
        assert_int_equal(dg_path_join(&b, rows[i][0], rows[i][1]), 0);
        assert_string_equal(b.ptr, rows[i][2]);
    }
}

static void lists_sorted(void **state) {
    (void)state;
    char **names;
    size_t n;
    struct dg_err e;
    assert_int_equal(dg_dir_make(folder_at("list"), 0700, &e), 0);
    put("list/b.yaml", "", 0);
    put("list/a.yaml", "", 0);
    put("list/.c", "", 0);
    assert_int_equal(dg_dir_list(folder_at("list"), ".yaml", &names, &n, &e), 0);
    assert_int_equal(n, 2);
    assert_string_equal(names[0], "a.yaml");
    assert_string_equal(names[1], "b.yaml");
    dg_names_free(names, n);
    assert_int_equal(dg_dir_list(folder_at("list"), NULL, &names, &n, &e), 0);
    assert_int_equal(n, 3);
    assert_string_equal(names[0], ".c");
    dg_names_free(names, n);
    assert_int_equal(dg_dir_list(folder_at("list"), ".none", &names, &n, &e), 0);
    assert_int_equal(n, 0);
    dg_names_free(names, n);
    assert_int_equal(dg_dir_list(folder_at("absent"), NULL, &names, &n, &e), -DG_E_IO);
    assert_int_equal(e.sys, ENOENT);
}

static int list_once(void *arg) {
    char **names;
    size_t n;
    int r = dg_dir_list(arg, NULL, &names, &n, NULL);
    if (!r) dg_names_free(names, n);
    return r;
}

static void listing_survives_failing_allocations(void **state) {
    (void)state;
    char path[300];
    snprintf(path, sizeof(path), "%s/list", folder);
    assert_true(unit_fail_each(list_once, path) >= 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_whole_files),
        cmocka_unit_test(tells_why_it_cannot_read),
        cmocka_unit_test(writes_all_or_says_so),
        cmocka_unit_test(makes_folders),
        cmocka_unit_test(joins_paths),
        cmocka_unit_test(lists_sorted),
        cmocka_unit_test(listing_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
