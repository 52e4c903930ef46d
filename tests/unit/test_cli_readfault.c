/* A history that cannot be read: each call that SQLite reads with fails in turn, under each command. A diagnosis is
 * printed all the same, with the same status; a question is answered in full or not at all; what was recorded stays. */
#include "unit.h"
#include "base/buf.h"
#include "base/file.h"
#include "cli/app.h"
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORD(literal) ((char[]){literal})

enum { CALLS_MAX = 400 };

static char dir[] = "/tmp/dg-readfault-XXXXXX", db[64], log_path[64], rules[64];

static const char RULES[] = "pack: t\nrules:\n"
                            "- id: broken\n  title: it broke\n  role: cause\n  class: config/unsupported-combination\n"
                            "  match: {lit: 'a peculiar failure'}\n  summary: this broke\n  why: It did.\n"
                            "  actions:\n  - {do: 'mend it', kind: setting, because: 'it helps'}\n"
                            "  checked: 2026-11-29\n  status: stable\n"
                            "  examples: [{text: 'a peculiar failure'}]\n  near: ['a failure']\n";

static void put(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(dg_fd_write(fd, text, strlen(text)), 0);
    close(fd);
}

static int setup(void **state) {
    (void)state;
    if (!mkdtemp(dir) || setenv("HOME", dir, 1)) return -1;
    snprintf(db, sizeof(db), "%s/history.db", dir);
    snprintf(log_path, sizeof(log_path), "%s/server.log", dir);
    snprintf(rules, sizeof(rules), "%s/t.yaml", dir);
    put(log_path, "INFO 03-07 10:00:00 [api_server.py:1] vLLM API server version 0.11.0\n"
                  "RuntimeError: a peculiar failure\n");
    put(rules, RULES);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    char cmd[64];
    snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
    return system(cmd);
}

/* ---- calls that fail at the n-th use */

static struct {
    const char *name;
    int left;  /* 0: never */
    int error; /* 0: nothing is read, as at the end of a file */
} fault;

static bool fails(const char *name) {
    if (!fault.left || strcmp(fault.name, name) != 0 || --fault.left) return false;
    errno = fault.error;
    return true;
}

static int fake_open(const char *path, int flags, int mode) { return fails("open") ? -1 : open(path, flags, mode); }
static ssize_t fake_read(int fd, void *p, size_t n) { return fails("read") ? -!!fault.error : read(fd, p, n); }
static ssize_t fake_pread(int fd, void *p, size_t n, off_t at) {
    return fails("pread") ? -!!fault.error : pread(fd, p, n, at);
}
static int fake_fstat(int fd, struct stat *st) { return fails("fstat") ? -1 : fstat(fd, st); }
static int fake_stat(const char *path, struct stat *st) { return fails("stat") ? -1 : stat(path, st); }
static int fake_access(const char *path, int mode) { return fails("access") ? -1 : access(path, mode); }
static void *fake_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at) {
    return fails("mmap") ? MAP_FAILED : mmap(p, n, prot, flags, fd, at);
}
static int fake_fcntl(int fd, int command, void *arg) { return fails("fcntl") ? -1 : fcntl(fd, command, arg); }

static void set_calls(bool fake) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    const struct {
        const char *name;
        sqlite3_syscall_ptr call;
    } calls[] = {{"open", (sqlite3_syscall_ptr)fake_open},     {"read", (sqlite3_syscall_ptr)fake_read},
                 {"pread", (sqlite3_syscall_ptr)fake_pread},   {"pread64", (sqlite3_syscall_ptr)fake_pread},
                 {"fstat", (sqlite3_syscall_ptr)fake_fstat},   {"stat", (sqlite3_syscall_ptr)fake_stat},
                 {"access", (sqlite3_syscall_ptr)fake_access}, {"mmap", (sqlite3_syscall_ptr)fake_mmap},
                 {"fcntl", (sqlite3_syscall_ptr)fake_fcntl}};
    for (size_t i = 0; i < DG_COUNT(calls); i++) vfs->xSetSystemCall(vfs, calls[i].name, fake ? calls[i].call : NULL);
}

/* ---- the program, with what it says */

struct said {
    int status;
    struct dg_buf out, err;
};

static int redirect(int fd, const char *name) {
    int kept = dup(fd), to = memfd_create(name, MFD_CLOEXEC);
    assert_true(kept >= 0 && to >= 0);
    assert_true(dup2(to, fd) >= 0);
    close(to);
    return kept;
}

static void restore(int fd, int kept, struct dg_buf *ret) {
    char path[32];
    *ret = (struct dg_buf)DG_BUF_INIT(1 << 20);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    assert_int_equal(dg_file_read(path, ret, NULL), 0);
    dup2(kept, fd);
    close(kept);
}

static struct said run(char *const *words) {
    char *argv[16] = {WORD("diagnose")};
    int n = 1;
    for (; words[n - 1]; n++) argv[n] = words[n - 1];
    argv[n++] = WORD("--db");
    argv[n++] = db;
    struct said s;
    fflush(stdout);
    int out = redirect(1, "out"), err = redirect(2, "err");
    s.status = dg_cli_main(n, argv, NULL);
    restore(2, err, &s.err);
    restore(1, out, &s.out);
    return s;
}

static void forget(struct said *s) {
    dg_buf_release(&s->out);
    dg_buf_release(&s->err);
}

/* How many diagnoses there are, in a file that is sound; `kept`: the texts of those up to the number `last`. */
static int64_t count_sound(int64_t last, int64_t *kept) {
    sqlite3 *h;
    sqlite3_stmt *st;
    assert_int_equal(sqlite3_open_v2(db, &h, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(h, "PRAGMA integrity_check", -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(st, 0), "ok");
    sqlite3_finalize(st);
    assert_int_equal(sqlite3_prepare_v2(h,
                                        "SELECT count(*), sum(length(report)) FILTER (WHERE id <= ?1) FROM diagnoses"
                                        " WHERE json_valid(report)",
                                        -1, &st, NULL),
                     SQLITE_OK);
    sqlite3_bind_int64(st, 1, last);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(st, 0);
    *kept = sqlite3_column_int64(st, 1);
    sqlite3_finalize(st);
    assert_int_equal(sqlite3_close(h), SQLITE_OK);
    return n;
}

static const struct {
    const char *name;
    int error;
} KINDS[] = {{"open", EACCES},   {"open", EMFILE}, {"read", EIO},        {"pread", EIO},
             {"pread", 0},       {"fstat", EIO},   {"fstat", EOVERFLOW}, {"stat", EIO},
             {"access", EACCES}, {"mmap", ENOMEM}, {"fcntl", ENOLCK}};

/* The command with the n-th call of a kind failing; false when it makes fewer. */
static bool run_failing(size_t kind, int n, char *const *words, struct said *ret) {
    set_calls(true);
    fault.name = KINDS[kind].name;
    fault.error = KINDS[kind].error;
    fault.left = n;
    *ret = run(words);
    bool reached = !fault.left;
    fault.left = 0;
    set_calls(false);
    return reached;
}

static char *const DIAGNOSE[] = {WORD("--no-device"), WORD("--rules-only"), rules, log_path, NULL};

static void test_diagnosis(void **state) {
    (void)state;
    struct said s = run(DIAGNOSE);
    int want = s.status;
    int64_t kept, known = count_sound(0, &kept);
    assert_int_equal(known, 1);
    forget(&s);
    unsigned failures = 0;
    for (size_t k = 0; k < DG_COUNT(KINDS); k++) {
        bool reached = true;
        for (int n = 1; reached && n < CALLS_MAX; n++) {
            int64_t before, after;
            count_sound(known, &before);
            reached = run_failing(k, n, DIAGNOSE, &s);
            assert_int_equal(s.status, want);
            assert_non_null(strstr(s.out.ptr, "this broke"));
            int64_t now = count_sound(known, &after);
            assert_int_equal(after, before);
            bool told = s.err.len && strstr(s.err.ptr, "not recorded: ");
            if (now != known + 1 && !(told && now == known))
                fail_msg("%s %d: %lld of %lld: %s", KINDS[k].name, n, (long long)now, (long long)known + 1, s.err.ptr);
            failures += told;
            known = now;
            forget(&s);
        }
        assert_false(reached);
    }
    print_message("%u of %lld not recorded\n", failures, (long long)known - 1 + failures);
    assert_true(failures > 20);
}

static char *const QUESTIONS[][4] = {{WORD("history")},
                                     {WORD("--last")},
                                     {WORD("history"), WORD("--export"), WORD("-")},
                                     {WORD("matrix")},
                                     {WORD("history"), WORD("--class"), WORD("config")}};

static void test_questions(void **state) {
    (void)state;
    unsigned failures = 0;
    for (size_t q = 0; q < DG_COUNT(QUESTIONS); q++) {
        struct said whole = run(QUESTIONS[q]), s;
        for (size_t k = 0; k < DG_COUNT(KINDS); k++) {
            bool reached = true;
            for (int n = 1; reached && n < CALLS_MAX; n++) {
                reached = run_failing(k, n, QUESTIONS[q], &s);
                bool same = s.status == whole.status && dg_slice_eq(dg_buf_slice(&s.out), dg_buf_slice(&whole.out));
                if (!same && (s.status < 2 || s.status > 4 || s.out.len || !s.err.len))
                    fail_msg("%s: %s %d: status %d: %s%s", QUESTIONS[q][0], KINDS[k].name, n, s.status,
                             s.out.len ? s.out.ptr : "", s.err.len ? s.err.ptr : "");
                failures += !same;
                forget(&s);
            }
            assert_false(reached);
        }
        forget(&whole);
    }
    print_message("%u not answered\n", failures);
    assert_true(failures > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_diagnosis), cmocka_unit_test(test_questions)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
