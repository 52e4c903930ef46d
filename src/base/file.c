#include "base/file.h"
#include "base/mem.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 64 << 10, NAMES_MAX = 65536 };

int dg_file_read(const char *path, struct dg_buf *out, struct dg_err *err) {
    _cleanup_(dg_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return dg_err_set(err, DG_E_IO, errno, "cannot open '%s'", path);
    char step[READ_STEP];
    for (;;) {
        ssize_t n = read(fd, step, sizeof(step));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return dg_err_set(err, DG_E_IO, errno, "cannot read '%s'", path);
        if (!n) return 0;
        int r = dg_buf_add(out, step, (size_t)n);
        if (r == -DG_E_NOMEM) return dg_err_nomem(err);
        if (r) return dg_err_set(err, DG_E_LIMIT, 0, "'%s' is larger than %zu bytes", path, out->max);
    }
}

/* Somebody who shares the terminal or pipe may have made it non-blocking. */
static bool wait_for_room(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

int dg_fd_write(int fd, const void *ptr, size_t len) {
    const char *p = ptr;
    while (len) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EAGAIN && wait_for_room(fd)) continue;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -DG_E_IO;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

bool dg_path_is_dir(const char *path) {
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool dg_path_is_special(const char *path) {
    struct stat st;
    return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

bool dg_path_is_open(const char *path) {
    struct stat st;
    return !stat(path, &st) && (st.st_mode & S_IWOTH);
}

int dg_dir_make(const char *path, unsigned mode, struct dg_err *err) {
    _cleanup_(dg_freep) char *copy = dg_malloc(strlen(path) + 1);
    if (!copy) return dg_err_nomem(err);
    strcpy(copy, path);
    for (char *p = copy + (*copy == '/');; p++) {
        if (*p && *p != '/') continue;
        char kept = *p;
        *p = '\0';
        if (*copy && mkdir(copy, mode) && (errno != EEXIST || !dg_path_is_dir(copy)))
            return dg_err_set(err, DG_E_IO, errno == EEXIST ? ENOTDIR : errno, "cannot make folder '%s'", copy);
        if (!kept) return 0;
        *p = kept;
    }
}

int dg_path_join(struct dg_buf *out, const char *dir, const char *name) {
    dg_buf_adds(out, dir);
    size_t n = strlen(dir);
    if (n && dir[n - 1] != '/' && *name != '/') dg_buf_addc(out, '/');
    return dg_buf_adds(out, n && dir[n - 1] == '/' && *name == '/' ? name + 1 : name);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

void dg_names_free(char **names, size_t n) {
    for (size_t i = 0; i < n; i++) free(names[i]);
    free(names);
}

struct names {
    char **v;
    size_t n, cap;
};

static void names_release(struct names *names) { dg_names_free(names->v, names->n); }

static bool wanted(const char *name, const char *suffix) {
    if (!strcmp(name, ".") || !strcmp(name, "..")) return false;
    return !suffix || dg_slice_ends(dg_cstr(name), dg_cstr(suffix));
}

static int add_name(struct names *names, const char *name, const char *dir, struct dg_err *err) {
    if (names->n == NAMES_MAX) return dg_err_set(err, DG_E_LIMIT, 0, "more than %d names in '%s'", NAMES_MAX, dir);
    size_t size = strlen(name) + 1;
    char *copy = dg_malloc(size);
    if (!copy || !DG_VEC_PUSH(names, copy, NAMES_MAX)) {
        free(copy);
        return dg_err_nomem(err);
    }
    memcpy(copy, name, size);
    return 0;
}

static void closedirp(DIR **d) {
    if (*d) closedir(*d);
}

int dg_dir_list(const char *dir, const char *suffix, char ***ret_names, size_t *ret_n, struct dg_err *err) {
    _cleanup_(closedirp) DIR *d = opendir(dir);
    if (!d) return dg_err_set(err, DG_E_IO, errno, "cannot open '%s'", dir);
    _cleanup_(names_release) struct names names = {0};
    for (;;) {
        errno = 0;
        struct dirent *e = readdir(d);
        if (!e && errno) return dg_err_set(err, DG_E_IO, errno, "cannot read '%s'", dir);
        if (!e) break;
        int r = wanted(e->d_name, suffix) ? add_name(&names, e->d_name, dir, err) : 0;
        if (r) return r;
    }
    if (names.n) qsort(names.v, names.n, sizeof(*names.v), by_name);
    *ret_n = names.n;
    *ret_names = DG_TAKE(names.v);
    names.n = 0;
    return 0;
}
