/* Where a history may lie: network file systems, relative paths, places that cannot be; and what is asked of it. */
#include "store_fixture.h"
#include <errno.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static long fs_type; /* 0: the system's own word; -1: it cannot tell */

int statfs(const char *path, struct statfs *ret) {
    (void)path;
    *ret = (struct statfs){.f_type = (__typeof__(ret->f_type))fs_type};
    errno = ENOSYS;
    return fs_type < 0 ? -1 : 0;
}

static void assert_journal(const char *want) {
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    _cleanup_(dg_db_finalizep) sqlite3_stmt *st = NULL;
    assert_int_equal(dg_db_prepare(s, "PRAGMA journal_mode", &st, NULL), 0);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    assert_slice(dg_db_text(st, 0), want);
    sqlite3_finalize(DG_TAKE(st));
    struct dg_store_entry e = store_entry(want, "x", "fails");
    int64_t id;
    assert_int_equal(dg_store_record(s, &e, &id, NULL), 0);
    dg_store_close(s);
}

static void shared_memory_only_where_it_works(void **state) {
    (void)state;
    static const long network[] = {0x6969, 0xFF534D42L, 0x0BD00BD0, 0x65735546, -1};
    fs_type = 0xEF53;
    assert_journal("wal");
    for (size_t i = 0; i < DG_COUNT(network); i++) {
        fs_type = network[i];
        assert_journal("delete");
    }
    fs_type = 0xEF53;
    assert_journal("wal"); /* the same file, moved back */
}

static int code(const char *path, enum dg_store_mode mode, const char *words) {
    struct dg_store *s = NULL;
    struct dg_err err = {0};
    int r = dg_store_open(path, mode, &s, &err);
    dg_store_close(s);
    if (words && !strstr(err.msg, words)) fail_msg("%s: not %s", err.msg, words);
    return r;
}

static void paths_of_all_kinds(void **state) {
    (void)state;
    char here[400], longer[6000];
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(code("plain.db", DG_STORE_WRITE, NULL), 0);
    assert_int_equal(code("plain.db", DG_STORE_READ, NULL), 0);
    assert_int_equal(code("plain.db/under.db", DG_STORE_WRITE, "cannot make folder"), -DG_E_IO);
    assert_int_equal(code("plain.db/under.db", DG_STORE_READ, "nothing is recorded yet"), -DG_E_NOTFOUND);
    assert_int_equal(code("/proc/none.db", DG_STORE_WRITE, "cannot write history '/proc/none.db'"), -DG_E_IO);
    assert_int_equal(code("/none-such.db", DG_STORE_READ, "nothing is recorded yet"), -DG_E_NOTFOUND);
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(code(longer, DG_STORE_READ, "cannot open history"), -DG_E_IO);
    assert_int_equal(chdir(here), 0);
}

static void execute(const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(store_path(), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void schemas_that_do_not_fit(void **state) {
    (void)state;
    dg_store_close(store_opened(DG_STORE_WRITE));
    execute("PRAGMA user_version = -3");
    assert_int_equal(code(store_path(), DG_STORE_READ, "newer"), -DG_E_UNSUPPORTED);
    assert_int_equal(code(store_path(), DG_STORE_WRITE, "newer"), -DG_E_UNSUPPORTED);
    execute("PRAGMA user_version = 1"); /* a lie: the step to 2 finds its index there */
    assert_int_equal(code(store_path(), DG_STORE_WRITE, "cannot migrate history"), -DG_E_INTERNAL);
    assert_int_equal(code(store_path(), DG_STORE_READ, "of an older diagnose and cannot be migrated"),
                     -DG_E_UNSUPPORTED);
    execute("PRAGMA user_version = 3; DROP TABLE diagnoses");
    struct dg_store *s = store_opened(DG_STORE_READ);
    struct dg_err err = {0};
    struct dg_history_filter f = {.since = DG_TIME_NONE};
    struct dg_buf out = DG_BUF_INIT(100);
    int64_t id;
    assert_int_equal(dg_store_history(s, &f, NULL, NULL, &err), -DG_E_INTERNAL);
    assert_non_null(strstr(err.msg, "no such table"));
    assert_int_equal(dg_store_report(s, 0, &out, &id, &err), -DG_E_INTERNAL);
    assert_int_equal(dg_store_report(s, 1, &out, &id, &err), -DG_E_INTERNAL);
    assert_int_equal(dg_store_outcome(s, 1, DG_S("works"), DG_S(""), &id, &err), -DG_E_IO); /* opened to read */
    dg_store_close(s);
}

static void a_report_that_has_no_room(void **state) {
    (void)state;
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    struct dg_store_entry e = store_entry("k", "x", "fails");
    struct dg_err err = {0};
    int64_t id = 0;
    assert_int_equal(dg_store_record(s, &e, &id, NULL), 0);
    _cleanup_(dg_buf_release) struct dg_buf small = DG_BUF_INIT(4), some = DG_BUF_INIT(100);
    assert_int_equal(dg_store_report(s, id, &small, &id, &err), -DG_E_LIMIT);
    assert_non_null(strstr(err.msg, "too large"));
    dg_mem_fail_after(1);
    assert_int_equal(dg_store_report(s, id, &some, &id, &err), -DG_E_NOMEM);
    dg_mem_fail_after(0);
    dg_store_close(s);
}

/* A look at the limits is due within a batch after each megabyte. */
static void a_batch_keeps_within_the_limits(void **state) {
    (void)state;
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    _cleanup_(dg_freep) char *large = dg_malloc(300 << 10);
    memset(large, 'x', 300 << 10);
    assert_int_equal(store_number(s, "PRAGMA max_page_count = 2048"), 2048); /* 8 MiB */
    assert_int_equal(dg_store_begin(s, NULL), 0);
    for (int i = 0; i < 60; i++) {
        char key[16];
        snprintf(key, sizeof(key), "k%d", i);
        struct dg_store_entry e = store_entry(key, "x", "fails");
        struct dg_err err = {0};
        int64_t id;
        e.report = dg_slice(large, 300 << 10);
        if (dg_store_record(s, &e, &id, &err)) fail_msg("%d: %s", i, err.msg);
    }
    int64_t gone = 0;
    assert_int_equal(dg_store_commit(s, &gone, NULL), 0);
    assert_int_equal(store_number(s, "SELECT count(*) FROM attempts"), 60 - gone);
    assert_true(gone > 20 && gone < 59);
    store_assert_sound(s);
    dg_store_close(s);
}

static bool stop_at_once(void *ctx, const struct dg_history_row *row) {
    (void)row;
    ++*(int *)ctx;
    return false;
}

static void a_question_may_be_left(void **state) {
    (void)state;
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    int64_t id;
    int seen = 0;
    for (int i = 0; i < 3; i++) {
        char key[2] = {(char)('a' + i), '\0'};
        struct dg_store_entry e = store_entry(key, "x", "fails");
        assert_int_equal(dg_store_record(s, &e, &id, NULL), 0);
    }
    struct dg_history_filter f = {.since = DG_TIME_NONE, .outcome = "fails", .engine = "sglang"};
    assert_int_equal(dg_store_history(s, &f, stop_at_once, &seen, NULL), 0);
    assert_int_equal(seen, 1);
    f = (struct dg_history_filter){.since = DG_TIME_NONE, .id = 2};
    seen = 0;
    assert_int_equal(dg_store_history(s, &f, stop_at_once, &seen, NULL), 0);
    assert_int_equal(seen, 1);
    dg_store_close(s);
}

static void each_code_has_a_sentence(void **state) {
    (void)state;
    static const struct {
        int rc, code;
        const char *words;
    } codes[] = {{SQLITE_NOMEM, DG_E_NOMEM, "memory"},
                 {SQLITE_BUSY, DG_E_BUSY, "another diagnose holds it"},
                 {SQLITE_LOCKED, DG_E_BUSY, "holds it"},
                 {SQLITE_CORRUPT, DG_E_SYNTAX, "damaged"},
                 {SQLITE_NOTADB, DG_E_SYNTAX, "no history"},
                 {SQLITE_FULL, DG_E_LIMIT, "full"},
                 {SQLITE_TOOBIG, DG_E_LIMIT, "too big"},
                 {SQLITE_CANTOPEN, DG_E_IO, "unable to open"},
                 {SQLITE_READONLY, DG_E_IO, "read-only"},
                 {SQLITE_PERM, DG_E_IO, "permission"},
                 {SQLITE_AUTH, DG_E_IO, "auth"},
                 {SQLITE_IOERR, DG_E_IO, "I/O"},
                 {SQLITE_MISUSE, DG_E_INTERNAL, ""}};
    for (size_t i = 0; i < DG_COUNT(codes); i++) {
        struct dg_err err = {0};
        assert_int_equal(dg_db_fail(NULL, "x.db", codes[i].rc, "read", &err), -codes[i].code);
        if (!strstr(err.msg, codes[i].words)) fail_msg("%d: %s: not %s", codes[i].rc, err.msg, codes[i].words);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(shared_memory_only_where_it_works), TEST(paths_of_all_kinds),
        TEST(schemas_that_do_not_fit),           TEST(a_report_that_has_no_room),
        TEST(a_batch_keeps_within_the_limits),   TEST(a_question_may_be_left),
        TEST(each_code_has_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
