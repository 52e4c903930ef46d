#include "image/collect.h"
#include "image/elf.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_DEPTH = 32, FILES_MAX = 200000 };

/* What is being read: a file, or a member of an archive in it. `named`: the user asked for this file itself. */
struct place {
    struct reading *reading;
    const char *path, *member;
    bool named;
    int depth; /* of archives in archives */
};

static void read_any(struct place at, struct source bytes);

static void read_member(void *arg, struct source bytes, const char *name) {
    const struct place *outer = arg;
    char inner[1200];
    snprintf(inner, sizeof(inner), outer->member ? "%s(%s)" : "%s%s", outer->member ? outer->member : "", name);
    read_any((struct place){outer->reading, outer->path, inner, false, outer->depth + 1}, bytes);
}

typedef void archive_reader(struct source bytes, archive_member *each, void *arg, struct collector *faults);

/* The archive itself is a member only when it is damaged. */
static void read_archive(struct place at, struct source bytes, archive_reader *read) {
    struct collector faults;
    size_t before = at.reading->members.n;
    collect_begin(&faults, at.reading);
    read(bytes, read_member, &at, &faults);
    collect_end(&faults, at.path, at.member, at.named && at.reading->members.n == before);
}

static void read_any(struct place at, struct source bytes) {
    unsigned char h[20] = {0};
    struct collector c;
    if (at.reading->result) return;
    size_t n = source_some(bytes, 0, h, sizeof(h));
    bool elf = n == sizeof(h) && !memcmp(h, "\177ELF", 4), text = !memcmp(h, "//", 2) || *h == '.';
    if (at.depth < 2 && !memcmp(h, "!<arch>\n", 8)) {
        read_archive(at, bytes, ar_read);
        return;
    }
    if (at.depth < 1 && (!memcmp(h, "PK\3\4", 4) || !memcmp(h, "PK\5\6", 4))) {
        read_archive(at, bytes, zip_read);
        return;
    }
    collect_begin(&c, at.reading);
    if (elf && le16(h + 18) == ELF_MACHINE_CUDA) {
        if (!cubin_collect(&c, bytes)) collect_fault(&c, "a cubin that cannot be read");
    } else if (!memcmp(h, "\x50\xed\x55\xba", 4)) {
        fatbin_scan(&c, bytes, false, true);
    } else if (elf || !memcmp(h, "MZ", 2)) {
        host_collect(&c, bytes);
    } else if (!(text && ptx_collect(&c, bytes)) && at.named) {
        fatbin_scan(&c, bytes, false, false);
    }
    collect_end(&c, at.path, at.member, at.named);
}

/* ---- files and folders ---- */

static int open_file(const char *path, int *ret_fd, struct dg_err *err) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return dg_err_set(err, DG_E_IO, errno, "cannot open '%s'", path);
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        dg_closep(&fd);
        return dg_err_set(err, DG_E_IO, 0, "'%s' is no regular file", path);
    }
    *ret_fd = fd;
    return 0;
}

static int read_fd(struct reading *r, int fd, const char *path, bool named, struct dg_err *err) {
    _cleanup_(store_closep) struct store *store = NULL;
    if (store_open_fd(fd, &store)) return dg_err_nomem(err);
    read_any((struct place){r, path, NULL, named, 0}, source_all(store));
    return r->result ? dg_err_nomem(err) : 0;
}

static int read_file(struct reading *r, const char *path, bool named, struct dg_err *err) {
    _cleanup_(dg_closep) int fd = -1;
    int e = open_file(path, &fd, err);
    return e ? e : read_fd(r, fd, path, named, err);
}

/* Opening a device or a FIFO may already do something, and opening anew by name may find another file: so the place is
 * taken without opening it, looked at, and opened through itself. */
static int open_strangers(const char *path, int *ret_fd, struct dg_err *err) {
    _cleanup_(dg_closep) int at = open(path, O_PATH | O_CLOEXEC);
    char self[64];
    struct stat st;
    if (at < 0) return dg_err_set(err, DG_E_IO, errno, "cannot open '%s'", path);
    if (fstat(at, &st) || !S_ISREG(st.st_mode))
        return dg_err_set(err, DG_E_UNSUPPORTED, 0, "'%s' is no regular file", path);
    snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
    return open_file(self, ret_fd, err);
}

static bool known_format(int fd) {
    static const char *const magics[] = {"\177ELF", "!<arch>\n", "PK\3\4"};
    char h[8] = {0};
    ssize_t n = pread(fd, h, sizeof(h), 0);
    for (size_t i = 0; i < DG_COUNT(magics); i++)
        if (n == sizeof(h) && !memcmp(h, magics[i], strlen(magics[i]))) return true;
    return false;
}

struct walk {
    struct reading *reading;
    unsigned files;
};

static int walk_folder(struct walk *w, const char *path, int depth, struct dg_err *err);

static int walk_entry(struct walk *w, const char *path, int depth, struct dg_err *err) {
    struct stat st;
    if (lstat(path, &st)) return 0; /* gone meanwhile */
    if (S_ISDIR(st.st_mode)) return walk_folder(w, path, depth + 1, err);
    if (!S_ISREG(st.st_mode)) return 0;
    if (w->files++ == FILES_MAX) w->reading->image->cut = true;
    if (w->files > FILES_MAX) return 0;
    int r = read_file(w->reading, path, false, err);
    return r == -DG_E_IO ? 0 : r; /* what cannot be opened is not the folder's fault */
}

static int walk_folder(struct walk *w, const char *path, int depth, struct dg_err *err) {
    char **names;
    size_t n;
    if (depth > FOLDER_DEPTH) {
        w->reading->image->cut = true;
        return 0;
    }
    int r = dg_dir_list(path, NULL, &names, &n, err);
    if (r == -DG_E_IO && depth) return 0;
    if (r) return r;
    for (size_t i = 0; i < n && !r; i++) {
        _cleanup_(dg_buf_release) struct dg_buf below = DG_BUF_INIT(1 << 16);
        r = dg_path_join(&below, path, names[i]) ? dg_err_nomem(err) : walk_entry(w, below.ptr, depth, err);
    }
    dg_names_free(names, n);
    return r;
}

/* ---- the image ---- */

static int begin_reading(struct reading *r, struct dg_err *err) {
    *r = (struct reading){.image = dg_calloc(1, sizeof(struct dg_image))};
    if (!r->image) return dg_err_nomem(err);
    r->image->arena = dg_arena_new(0);
    if (r->image->arena) return 0;
    free(r->image);
    return dg_err_nomem(err);
}

static int end_reading(struct reading *r, int result, struct dg_image **ret) {
    r->image->v = r->members.v;
    r->image->n = (uint32_t)r->members.n;
    if (result)
        dg_image_free(r->image);
    else
        *ret = r->image;
    return result;
}

int dg_image_read(const char *path, struct dg_image **ret, struct dg_err *err) {
    struct reading r;
    int e = begin_reading(&r, err);
    if (e) return e;
    struct walk walk = {.reading = &r};
    e = dg_path_is_dir(path) ? walk_folder(&walk, path, 0, err) : read_file(&r, path, true, err);
    return end_reading(&r, e, ret);
}

int dg_image_read_strangers(const char *path, struct dg_image **ret, struct dg_err *err) {
    _cleanup_(dg_closep) int fd = -1;
    struct reading r;
    int e = open_strangers(path, &fd, err);
    if (e) return e;
    if (!known_format(fd)) return dg_err_set(err, DG_E_UNSUPPORTED, 0, "'%s' is no library, archive or wheel", path);
    e = begin_reading(&r, err);
    return e ? e : end_reading(&r, read_fd(&r, fd, path, true, err), ret);
}

int dg_image_read_bytes(const char *name, struct dg_slice bytes, struct dg_image **ret, struct dg_err *err) {
    struct reading r;
    int e = begin_reading(&r, err);
    if (e) return e;
    read_any((struct place){&r, name, NULL, true, 0}, source_bytes(bytes));
    return end_reading(&r, r.result ? dg_err_nomem(err) : 0, ret);
}

void dg_image_free(struct dg_image *image) {
    if (!image) return;
    dg_arena_free(image->arena);
    free(image->v);
    free(image);
}
