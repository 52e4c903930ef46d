/* History when the disk or memory fails: every write, sync, truncation and allocation in turn. A recording is either
 * told to have failed or is there; the file stays sound; what was recorded before stays. */
#include "store_fixture.h"
#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

/* ---- system calls that fail at the n-th use */

static struct {
    const char *name;
    int left; /* 0: never */
    int error;
} fault;

static bool fails(const char *name) {
    if (!fault.left || strcmp(fault.name, name) != 0 || --fault.left) return false;
    errno = fault.error;
    return true;
}

static ssize_t fake_pwrite(int fd, const void *p, size_t n, off_t at) {
    return fails("pwrite") ? -1 : pwrite(fd, p, n, at);
}
static ssize_t fake_write(int fd, const void *p, size_t n) { return fails("write") ? -1 : write(fd, p, n); }
static int fake_fsync(int fd) { return fails("fsync") ? -1 : fsync(fd); }
static int fake_ftruncate(int fd, off_t n) { return fails("ftruncate") ? -1 : ftruncate(fd, n); }

static void set_calls(bool fake) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    const struct {
        const char *name;
        sqlite3_syscall_ptr call;
    } calls[] = {{"pwrite", (sqlite3_syscall_ptr)fake_pwrite},
                 {"pwrite64", (sqlite3_syscall_ptr)fake_pwrite},
                 {"write", (sqlite3_syscall_ptr)fake_write},
                 {"fsync", (sqlite3_syscall_ptr)fake_fsync},
                 {"ftruncate", (sqlite3_syscall_ptr)fake_ftruncate}};
    for (size_t i = 0; i < DG_COUNT(calls); i++) vfs->xSetSystemCall(vfs, calls[i].name, fake ? calls[i].call : NULL);
}

/* ---- allocations of SQLite that fail at the n-th */

static sqlite3_mem_methods real_memory;
static int memory_left;

static void *failing_malloc(int n) { return memory_left && !--memory_left ? NULL : real_memory.xMalloc(n); }
static void *failing_realloc(void *p, int n) {
    return memory_left && !--memory_left ? NULL : real_memory.xRealloc(p, n);
}

/* ---- */

static int record(const char *key, struct dg_err *err) {
    struct dg_store *s = NULL;
    int r = dg_store_open(store_path(), DG_STORE_WRITE, &s, err);
    struct dg_store_entry e = store_entry(key, "x", "fails");
    int64_t id;
    if (!r) r = dg_store_record(s, &e, &id, err);
    dg_store_close(s);
    return r;
}

static int64_t count_sound(void) {
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    store_assert_sound(s);
    int64_t attempts = store_number(s, "SELECT count(*) FROM attempts");
    assert_int_equal(attempts, store_number(s, "SELECT count(*) FROM diagnoses"));
    dg_store_close(s);
    return attempts;
}

/* What was said to be recorded is there; what failed may be there (a failing last sync), never half. */
static void check(int r, const struct dg_err *err, int64_t *known) {
    int64_t now = count_sound();
    if (r) {
        assert_true(err->msg[0]);
        assert_true(now == *known || now == *known + 1);
    } else {
        assert_int_equal(now, *known + 1);
    }
    *known = now;
}

static void test_failing_calls(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int error;
    } kinds[] = {{"pwrite", ENOSPC}, {"pwrite", EIO}, {"write", ENOSPC}, {"fsync", EIO}, {"ftruncate", EIO}};
    int64_t known = 0;
    unsigned failures = 0;
    for (size_t k = 0; k < DG_COUNT(kinds); k++) {
        bool reached = true;
        for (int n = 1; reached && n < 200; n++) {
            char key[64];
            struct dg_err err = {0};
            snprintf(key, sizeof(key), "%zu-%d", k, n);
            set_calls(true);
            fault.name = kinds[k].name;
            fault.error = kinds[k].error;
            fault.left = n;
            int r = record(key, &err);
            reached = fault.left == 0;
            fault.left = 0;
            set_calls(false);
            failures += r != 0;
            check(r, &err, &known);
        }
    }
    assert_true(failures > 5);
}

static void test_no_memory(void **state) {
    (void)state;
    int64_t known = 0;
    unsigned failures = 0;
    sqlite3_shutdown();
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory), SQLITE_OK);
    sqlite3_mem_methods failing = real_memory;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing), SQLITE_OK);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
    bool reached = true;
    for (int n = 1; reached; n += n < 200 ? 1 : 7) {
        char key[64];
        struct dg_err err = {0};
        snprintf(key, sizeof(key), "m%d", n);
        memory_left = n;
        int r = record(key, &err);
        reached = memory_left == 0;
        memory_left = 0;
        if (r) assert_true(r == -DG_E_NOMEM || r == -DG_E_IO || r == -DG_E_SYNTAX);
        failures += r != 0;
        check(r, &err, &known);
    }
    assert_true(failures > 50);
    sqlite3_shutdown();
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &real_memory), SQLITE_OK);
}

/* Our own allocations. */
static int record_once(void *arg) {
    (void)arg;
    struct dg_err err = {0};
    return record("own", &err);
}

static void test_no_memory_of_ours(void **state) {
    (void)state;
    assert_true(unit_fail_each(record_once, NULL) >= 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_failing_calls), TEST(test_no_memory), TEST(test_no_memory_of_ours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
