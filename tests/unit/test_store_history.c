/* History: what is recorded comes back, caps hold, every kind of bad file is a sentence, and neither kill -9 nor a
 * crowd of writers harms it. */
#include "store_fixture.h"
#include "base/file.h"
#include "base/timex.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int64_t record(struct dg_store *s, const char *key, const char *class, const char *outcome) {
    struct dg_store_entry e = store_entry(key, class, outcome);
    int64_t id = 0;
    struct dg_err err = {0};
    if (dg_store_record(s, &e, &id, &err)) fail_msg("%s", err.msg);
    return id;
}

struct seen {
    int n;
    int64_t ids[8];
    char outcome[16], class[32], choices[32];
    int64_t diagnoses;
};

static bool see(void *ctx, const struct dg_history_row *r) {
    struct seen *s = ctx;
    if (s->n < 8) s->ids[s->n] = r->id;
    s->n++;
    snprintf(s->outcome, sizeof(s->outcome), "%.*s", DG_FMT(r->outcome));
    snprintf(s->class, sizeof(s->class), "%.*s", DG_FMT(r->class));
    snprintf(s->choices, sizeof(s->choices), "%.*s", DG_FMT(r->choices));
    s->diagnoses = r->diagnoses;
    return true;
}

static struct seen history(struct dg_store *s, struct dg_history_filter f) {
    struct seen seen = {0};
    struct dg_err err = {0};
    if (!f.since) f.since = DG_TIME_NONE;
    if (dg_store_history(s, &f, see, &seen, &err)) fail_msg("%s", err.msg);
    return seen;
}

static void test_round_trip(void **state) {
    (void)state;
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    assert_int_equal(record(s, "k1", "arch-mismatch", "fails"), 1);
    assert_int_equal(record(s, "k2", "oom-host", "fails"), 2);
    assert_int_equal(record(s, "k1", "arch-mismatch", "fails"), 1);
    dg_store_close(s);

    s = store_opened(DG_STORE_READ);
    struct seen all = history(s, (struct dg_history_filter){0});
    assert_int_equal(all.n, 2);
    assert_int_equal(all.ids[0], 1); /* diagnosed last */
    assert_int_equal(all.ids[1], 2);
    assert_int_equal(history(s, (struct dg_history_filter){.class = "arch-mismatch/sm-guard"}).diagnoses, 2);
    assert_int_equal(history(s, (struct dg_history_filter){.class = "arch-mismatch/other"}).n, 0);
    assert_int_equal(history(s, (struct dg_history_filter){.class = "oom-host"}).n, 1);
    assert_int_equal(history(s, (struct dg_history_filter){.model = "glm"}).n, 2);
    assert_int_equal(history(s, (struct dg_history_filter){.rule = "sglang/y"}).n, 0);
    assert_int_equal(history(s, (struct dg_history_filter){.text = "\"R\""}).n, 2);
    assert_int_equal(history(s, (struct dg_history_filter){.since = 1001}).n, 0);
    assert_int_equal(history(s, (struct dg_history_filter){.limit = 1}).n, 1);
    assert_string_equal(all.choices, "{\"a\":\"b\"}");

    struct dg_buf out = DG_BUF_INIT(1 << 20);
    int64_t id = 0;
    assert_int_equal(dg_store_report(s, 0, &out, &id, NULL), 0);
    assert_int_equal(id, 1);
    assert_string_equal(out.ptr, "{\"r\":1}");
    assert_int_equal(dg_store_report(s, 99, &out, &id, NULL), -DG_E_NOTFOUND);
    dg_buf_release(&out);

    struct seen tried = {0};
    struct dg_store_like like = {DG_S("12.0"), DG_S("sglang"), DG_S("Glm"), DG_S("modelopt_fp4")};
    assert_int_equal(dg_store_tried(s, &like, see, &tried, NULL), 0);
    assert_int_equal(tried.n, 2);
    like.cc_set = DG_S("9.0");
    tried.n = 0;
    assert_int_equal(dg_store_tried(s, &like, see, &tried, NULL), 0);
    assert_int_equal(tried.n, 0);
    dg_store_close(s);
}

static void test_outcome_stands(void **state) {
    (void)state;
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    int64_t id = 0;
    assert_int_equal(dg_store_outcome(s, 0, DG_S("works"), DG_S(""), &id, NULL), -DG_E_NOTFOUND);
    record(s, "k1", "none", "started");
    assert_int_equal(dg_store_outcome(s, 0, DG_S("garbage"), DG_S("prints !!!!"), &id, NULL), 0);
    assert_int_equal(id, 1);
    record(s, "k1", "none", "started"); /* the log again: a person's word stays */
    assert_string_equal(history(s, (struct dg_history_filter){0}).outcome, "garbage");
    assert_int_equal(dg_store_outcome(s, 7, DG_S("works"), DG_S(""), &id, NULL), -DG_E_NOTFOUND);
    dg_store_close(s);
}

static void test_permissions(void **state) {
    (void)state;
    umask(0);
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    record(s, "k", "x", "fails");
    struct stat st;
    assert_int_equal(stat(store_path(), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    char wal[320];
    snprintf(wal, sizeof(wal), "%s-wal", store_path());
    if (!stat(wal, &st)) assert_int_equal(st.st_mode & 0777, 0600);
    *strrchr(strcpy(wal, store_path()), '/') = '\0';
    assert_int_equal(stat(wal, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    dg_store_close(s);
}

static void write_file(const void *bytes, size_t n) {
    assert_int_equal(dg_dir_make(folder_at("state/diagnose"), 0700, NULL), 0);
    int fd = open(store_path(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(dg_fd_write(fd, bytes, n), 0);
    close(fd);
}

static int code_of_open(enum dg_store_mode mode, struct dg_err *err) {
    struct dg_store *s = NULL;
    *err = (struct dg_err){0};
    int r = dg_store_open(store_path(), mode, &s, err);
    assert_true(r == 0 || err->msg[0]);
    dg_store_close(s);
    return r;
}

static void test_bad_files(void **state) {
    (void)state;
    struct dg_err err;
    assert_int_equal(code_of_open(DG_STORE_READ, &err), -DG_E_NOTFOUND);

    static const char text[] =
        "this is a plain text, surely no database; it is long enough to be looked at as one, though.....";
    write_file(text, sizeof(text));
    assert_int_equal(code_of_open(DG_STORE_READ, &err), -DG_E_SYNTAX);
    assert_non_null(strstr(err.msg, "no history of diagnose"));
    assert_int_equal(code_of_open(DG_STORE_WRITE, &err), -DG_E_SYNTAX);

    write_file("", 0); /* an empty file is an empty database */
    assert_int_equal(code_of_open(DG_STORE_WRITE, &err), 0);

    sqlite3 *db;
    assert_int_equal(sqlite3_open(store_path(), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 999", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(code_of_open(DG_STORE_READ, &err), -DG_E_UNSUPPORTED);
    assert_int_equal(code_of_open(DG_STORE_WRITE, &err), -DG_E_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "newer"));

    assert_int_equal(unlink(store_path()), 0);
    assert_int_equal(mkdir(store_path(), 0700), 0);
    assert_int_not_equal(code_of_open(DG_STORE_WRITE, &err), 0);
}

/* A database of each earlier schema is brought to the newest, and keeps its rows. */
static void test_migrations(void **state) {
    (void)state;
    for (int from = 1; from <= dg_store_version; from++) {
        write_file("", 0);
        sqlite3 *db;
        assert_int_equal(sqlite3_open(store_path(), &db), SQLITE_OK);
        for (int i = 0; i < from; i++)
            assert_int_equal(sqlite3_exec(db, dg_store_steps[i], NULL, NULL, NULL), SQLITE_OK);
        char sql[256];
        snprintf(sql, sizeof(sql),
                 "PRAGMA user_version = %d; INSERT INTO attempts(key, time, outcome) VALUES('old', 5, 'works');"
                 "INSERT INTO diagnoses(attempt_id, time, status, version, report) VALUES(1, 6, 'healthy', '0', '{}')",
                 from);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        struct dg_store *s = store_opened(from % 2 ? DG_STORE_READ : DG_STORE_WRITE);
        int64_t version = 0;
        version = store_number(s, "PRAGMA user_version");
        assert_int_equal(version, dg_store_version);
        assert_string_equal(history(s, (struct dg_history_filter){0}).outcome, "works");
        dg_store_close(s);
        unlink(store_path());
    }
}

static void test_old_attempts_go(void **state) {
    (void)state;
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    record(s, "old", "x", "fails");
    assert_int_equal(dg_db_exec(s, "UPDATE attempts SET seen = 0", "write", NULL), 0);
    assert_int_equal(history(s, (struct dg_history_filter){0}).n, 1);
    assert_int_equal(record(s, "new", "x", "fails"), 2);
    struct seen left = history(s, (struct dg_history_filter){0});
    assert_int_equal(left.n, 1);
    assert_int_equal(left.ids[0], 2);
    int64_t orphans = store_number(s, "SELECT count(*) FROM diagnoses WHERE attempt_id = 1");
    assert_int_equal(orphans, 0);
    dg_store_close(s);
}

static void test_attempt_cap(void **state) {
    (void)state;
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    assert_int_equal(dg_db_exec(s,
                                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100003)"
                                " INSERT INTO attempts(key, time, outcome) SELECT 'k' || i, i, 'fails' FROM n",
                                "write", NULL),
                     0);
    record(s, "last", "x", "fails");
    int64_t n = store_number(s, "SELECT count(*) FROM attempts");
    int64_t lowest = store_number(s, "SELECT min(id) FROM attempts");
    assert_int_equal(n, 100000);
    assert_int_equal(lowest, 5);
    dg_store_close(s);
}

static void test_size_cap(void **state) {
    (void)state;
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    char large[20000];
    memset(large, 'x', sizeof(large));
    for (int i = 0; i < 21; i++) {
        char key[16], sql[64];
        int64_t id;
        snprintf(key, sizeof(key), "k%d", i);
        struct dg_store_entry e = store_entry(key, "x", "fails");
        e.report = dg_slice(large, sizeof(large));
        /* The last one comes as the file is near its limit. */
        snprintf(sql, sizeof(sql), "PRAGMA max_page_count = %d", (int)store_number(s, "PRAGMA page_count") + 1024 + 2);
        if (i == 20) assert_true(store_number(s, sql) > 0);
        assert_int_equal(dg_store_record(s, &e, &id, NULL), 0);
    }
    struct seen left = history(s, (struct dg_history_filter){.limit = -1});
    assert_int_equal(left.n, 21 - 3);
    assert_int_equal(left.ids[0], 21);
    dg_store_close(s);
}

static void test_batch(void **state) {
    (void)state;
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    int64_t gone = -1;
    assert_int_equal(dg_store_begin(s, NULL), 0);
    record(s, "given up", "x", "fails");
    dg_store_close(s); /* without a commit */

    s = store_opened(DG_STORE_WRITE);
    assert_int_equal(history(s, (struct dg_history_filter){0}).n, 0);
    assert_int_equal(dg_store_begin(s, NULL), 0);
    record(s, "a", "x", "fails");
    record(s, "b", "x", "fails");
    assert_int_equal(dg_db_exec(s, "UPDATE attempts SET seen = 0 WHERE key = 'a'", "write", NULL), 0);
    assert_int_equal(dg_store_commit(s, &gone, NULL), 0);
    assert_int_equal(gone, 1);
    assert_int_equal(history(s, (struct dg_history_filter){0}).n, 1);

    /* One that fails takes those before it along; the store is as it was. */
    assert_int_equal(dg_store_begin(s, NULL), 0);
    record(s, "c", "x", "fails");
    struct dg_store_entry bad = {.key = DG_S("d"), .time = DG_TIME_NONE, .recorded = DG_TIME_NONE};
    int64_t id = 0;
    struct dg_err err = {0};
    assert_int_not_equal(dg_store_record(s, &bad, &id, &err), 0);
    assert_non_null(strstr(err.msg, "cannot write history"));
    assert_int_equal(history(s, (struct dg_history_filter){0}).n, 1);
    record(s, "e", "x", "fails");
    assert_int_equal(history(s, (struct dg_history_filter){0}).n, 2);
    dg_store_close(s);
}

static void assert_sound(void) {
    struct dg_store *s = store_opened(DG_STORE_WRITE);
    store_assert_sound(s);
    dg_store_close(s);
}

/* A process that records on and on, and is killed after `delay` µs: from the opening to some recordings later. */
static void kill_a_writer(int number, useconds_t delay) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        struct dg_store *s;
        if (dg_store_open(store_path(), DG_STORE_WRITE, &s, NULL)) _exit(1);
        for (int k = 0;; k++) {
            char key[32];
            snprintf(key, sizeof(key), "%d-%d", number, k);
            record(s, key, "x", "fails");
        }
    }
    usleep(delay);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void test_killed_writers(void **state) {
    (void)state;
    int64_t n = 0;
    /* Some must be written before the kill, else nothing is tested: a busy machine needs longer. */
    for (int slow = 1; n <= 10 && slow <= 64; slow *= 4) {
        for (int i = 0; i < 200; i++) kill_a_writer(slow * 1000 + i, (useconds_t)(slow * (500 + i * 37 % 9000)));
        assert_sound();
        struct dg_store *s = store_opened(DG_STORE_READ);
        n = store_number(s, "SELECT count(*) FROM attempts");
        dg_store_close(s);
    }
    assert_true(n > 10);
}

/* Whoever is told that another holds the history tries again: how long is waited depends on the machine. */
static void write_attempts(int number, int n) {
    struct dg_store *s = NULL;
    int r = -DG_E_BUSY;
    while (r == -DG_E_BUSY) r = dg_store_open(store_path(), DG_STORE_WRITE, &s, NULL);
    for (int k = 0; !r && k < n; k++) {
        char key[32];
        int64_t id;
        snprintf(key, sizeof(key), "%d-%d", number, k);
        struct dg_store_entry e = store_entry(key, "x", "fails");
        do r = dg_store_record(s, &e, &id, NULL);
        while (r == -DG_E_BUSY);
    }
    dg_store_close(s);
    _exit(r ? 1 : 0);
}

static void test_crowd_of_writers(void **state) {
    (void)state;
    enum { WRITERS = 32, EACH = 32 }; /* a thousand attempts */
    pid_t pids[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (!pids[i]) write_attempts(i, EACH);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = -1;
        waitpid(pids[i], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_sound();
    struct dg_store *s = store_opened(DG_STORE_READ);
    int64_t n = store_number(s, "SELECT count(*) FROM attempts");
    assert_int_equal(n, WRITERS * EACH);
    dg_store_close(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip), TEST(test_outcome_stands),  TEST(test_permissions),      TEST(test_bad_files),
        TEST(test_migrations), TEST(test_old_attempts_go), TEST(test_attempt_cap),      TEST(test_size_cap),
        TEST(test_batch),      TEST(test_killed_writers),  TEST(test_crowd_of_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
