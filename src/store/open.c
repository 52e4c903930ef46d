#include "store/db.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { BUSY_MS = 5000 };
static const int64_t SIZE_MAX_BYTES = 256 << 20;

/* WAL needs shared memory between all who open the file, which network file systems do not give; some lie about it, so
 * what SQLite answers is not enough alone. Numbers from linux/magic.h, those missing there from the file systems' own
 * headers. */
static bool is_network_fs(const char *path) {
    static const unsigned long types[] = {
        0x6969,     /* NFS */
        0x517B,     /* SMB */
        0xFE534D42, /* SMB2 */
        0xFF534D42, /* CIFS */
        0x0BD00BD0, /* Lustre */
        0x47504653, /* GPFS */
        0x00C36400, /* Ceph */
        0x5346414F, /* AFS */
        0x65735546, /* FUSE: sshfs, s3fs, GlusterFS and others */
        0x01021997, /* 9p */
        0x19830326, /* BeeGFS */
        0xAAD7AAEA, /* PanFS */
    };
    struct statfs fs;
    if (statfs(path, &fs)) return true;
    for (size_t i = 0; i < DG_COUNT(types); i++)
        if ((unsigned long)fs.f_type == types[i]) return true;
    return false;
}

/* SQLite would make the file readable for all. It is made here first, and its folder too. */
static int make_file(const char *path, struct dg_err *err) {
    const char *slash = strrchr(path, '/');
    if (slash && slash != path) {
        _cleanup_(dg_freep) char *dir = strndup(path, (size_t)(slash - path));
        if (!dir) return dg_err_nomem(err);
        int r = dg_dir_make(dir, 0700, err);
        if (r) return r;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return dg_err_set(err, DG_E_IO, errno, "cannot write history '%s'", path);
    close(fd);
    return 0;
}

/* SQLite keeps its rollback journal where it finds that WAL does not work, and says so; in WAL mode a crash of the
 * machine may lose the last diagnosis, never the file, so one fsync less is right. */
static int journal(struct dg_store *s, struct dg_err *err) {
    _cleanup_(dg_db_finalizep) sqlite3_stmt *st = NULL;
    const char *sql = is_network_fs(s->path) ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL";
    int r = dg_db_prepare(s, sql, &st, err);
    if (r) return r;
    int rc = sqlite3_step(st);
    if (rc != SQLITE_ROW) return dg_db_fail(s->db, s->path, rc, "write", err);
    return dg_slice_is(dg_db_text(st, 0), "wal") ? dg_db_exec(s, "PRAGMA synchronous = NORMAL", "write", err) : 0;
}

static int settings(struct dg_store *s, enum dg_store_mode mode, struct dg_err *err) {
    sqlite3_busy_timeout(s->db, BUSY_MS);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (mode == DG_STORE_READ) return dg_db_exec(s, "PRAGMA query_only = 1", "read", err);
    int r = dg_db_exec(s, "PRAGMA foreign_keys = 1", "write", err);
    if (!r) r = journal(s, err);
    if (r) return r;
    int64_t page = 4096, was;
    char sql[64];
    r = dg_db_int(s, "PRAGMA page_size", page, &page, err);
    if (r) return r;
    snprintf(sql, sizeof(sql), "PRAGMA max_page_count = %lld", (long long)(SIZE_MAX_BYTES / page));
    return dg_db_int(s, sql, 0, &was, err);
}

static int check_version(struct dg_store *s, int64_t *ret, struct dg_err *err) {
    int r = dg_db_int(s, "PRAGMA user_version", 0, ret, err);
    if (r || (*ret >= 0 && *ret <= dg_store_version)) return r;
    return dg_err_set(err, DG_E_UNSUPPORTED, 0,
                      "history '%s' was made by a newer diagnose (schema %lld, this one knows %d)", s->path,
                      (long long)*ret, dg_store_version);
}

/* All steps in one transaction: a killed migration leaves the old schema. Looked at again under the lock, since another
 * process may have migrated meanwhile. */
static int migrate(struct dg_store *s, struct dg_err *err) {
    int64_t version;
    int r = check_version(s, &version, err);
    if (r || version == dg_store_version) return r;
    r = dg_db_exec(s, "BEGIN IMMEDIATE", "write", err);
    if (r) return r;
    r = check_version(s, &version, err);
    for (; !r && version < dg_store_version; version++) r = dg_db_exec(s, dg_store_steps[version], "migrate", err);
    char sql[64];
    snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", dg_store_version);
    if (!r) r = dg_db_exec(s, sql, "migrate", err);
    if (!r) r = dg_db_exec(s, "COMMIT", "migrate", err);
    if (r) dg_db_rollback(s);
    return r;
}

/* A reader does not migrate by itself: it opens the file for writing once, where that is allowed. */
static int check_readable(struct dg_store *s, struct dg_err *err) {
    int64_t version;
    int r = check_version(s, &version, err);
    if (r || version == dg_store_version) return r;
    struct dg_store *writer = NULL;
    r = dg_store_open(s->path, DG_STORE_WRITE, &writer, err);
    dg_store_close(writer);
    if (!r) return 0;
    return dg_err_set(err, DG_E_UNSUPPORTED, 0, "history '%s' is of an older diagnose and cannot be migrated", s->path);
}

int dg_store_open(const char *path, enum dg_store_mode mode, struct dg_store **ret, struct dg_err *err) {
    if (mode == DG_STORE_READ && access(path, F_OK)) {
        if (errno != ENOENT && errno != ENOTDIR)
            return dg_err_set(err, DG_E_IO, errno, "cannot open history '%s'", path);
        return dg_err_set(err, DG_E_NOTFOUND, 0, "nothing is recorded yet in '%s'; diagnose a log first", path);
    }
    if (mode == DG_STORE_WRITE) {
        int made = make_file(path, err);
        if (made) return made;
    }
    _cleanup_(dg_store_closep) struct dg_store *s = dg_calloc(1, sizeof(*s));
    if (s) s->path = strdup(path);
    if (!s || !s->path) return dg_err_nomem(err);
    int flags = mode == DG_STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int rc = sqlite3_open_v2(path, &s->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (rc != SQLITE_OK) return dg_db_fail(s->db, path, rc, "open", err);
    int r = settings(s, mode, err);
    if (!r) r = mode == DG_STORE_READ ? check_readable(s, err) : migrate(s, err);
    if (r) return r;
    *ret = DG_TAKE(s);
    return 0;
}

void dg_store_close(struct dg_store *s) {
    if (!s) return;
    sqlite3_close_v2(s->db);
    free(s->path);
    free(s);
}
