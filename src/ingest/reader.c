#include "ingest/reader.h"
#include "base/file.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SILENCE_MS = 1000, PATIENCE = 5, PIPE_SIZE = 1 << 20 };

ptrdiff_t dg_reader_read(struct dg_reader *r, char *to, size_t size, struct dg_err *err) {
    ptrdiff_t n = r->read(r, to, size, err);
    if (n > 0) r->bytes += (uint64_t)n;
    return n;
}

struct dg_reader *dg_reader_free(struct dg_reader *r) {
    while (r) {
        struct dg_reader *inner = r->inner;
        r->free(r);
        r = inner;
    }
    return NULL;
}

bool dg_reader_truncated(const struct dg_reader *r) {
    for (; r; r = r->inner)
        if (r->truncated) return true;
    return false;
}

static void free_plain(struct dg_reader *r) { free(r); }

/* --- a descriptor --- */

struct fd_reader {
    struct dg_reader base;
    int fd;
    const char *name;
    const struct dg_ingest_opts *opts;
    off_t at, end; /* regular files */
    int own[2];    /* pipes: one of our own that it goes through, or -1 */
    bool tee, stopped;
};

static int interrupts(const struct fd_reader *f) { return f->opts->interrupted ? *f->opts->interrupted : 0; }

static void copy_out(struct fd_reader *f, const char *ptr, size_t len) {
    if (f->tee && dg_fd_write(f->opts->tee_fd, ptr, len)) f->tee = false; /* nobody reads it any more: go on */
}

static void tell_progress(struct fd_reader *f, uint64_t bytes) {
    if (f->opts->progress) f->opts->progress(f->opts->ctx, bytes, (uint64_t)f->end);
}

static ptrdiff_t read_file(struct dg_reader *r, char *to, size_t size, struct dg_err *err) {
    struct fd_reader *f = (struct fd_reader *)r;
    if (f->at >= f->end || interrupts(f) >= 2) return 0;
    if ((uint64_t)(f->end - f->at) < size) size = (size_t)(f->end - f->at);
    ssize_t n;
    do n = pread(f->fd, to, size, f->at);
    while (n < 0 && errno == EINTR);
    if (n < 0) return dg_err_set(err, DG_E_IO, errno, "cannot read '%s'", f->name);
    if (!n) {
        r->truncated = true; /* it shrank */
        f->end = f->at;
    }
    f->at += n;
    copy_out(f, to, (size_t)n);
    tell_progress(f, (uint64_t)f->at);
    return n;
}

/* Wait for data: 1 there is some (or the end), 0 a silent second, -1 failed. */
static int wait_for_data(const struct fd_reader *f) {
    struct pollfd p = {.fd = f->fd, .events = POLLIN};
    int n = poll(&p, 1, SILENCE_MS);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
    return n;
}

/* Larger than a pipe is by itself, for fewer switches. False: refused. */
static bool widen(int fd) { return fcntl(fd, F_SETPIPE_SZ, PIPE_SIZE) >= PIPE_SIZE; }

static void drop_own(struct fd_reader *f) {
    for (int i = 0; i < 2; i++) dg_closep(&f->own[i]);
}

static void make_own(struct fd_reader *f) {
    if (!pipe2(f->own, O_CLOEXEC) && !widen(f->own[1])) drop_own(f);
}

/* The n bytes that our own pipe holds: a read ends with each packet, where the writer's pipe has such. */
static ssize_t empty_own(const struct fd_reader *f, char *to, size_t n) {
    for (size_t got = 0; got < n;) {
        ssize_t k = read(f->own[0], to + got, n - got);
        if (!k) errno = EIO; /* it holds less than it took */
        if (k <= 0) return -1;
        got += (size_t)k;
    }
    return (ssize_t)n;
}

/* What is there, as read() gives it. A writer waits while its pipe is read from; so the pages are moved to a pipe of
 * our own, where that is allowed, and the writer goes on while they are copied. Our own is empty before and after. */
static ssize_t pull(struct fd_reader *f, char *to, size_t size) {
    if (f->own[0] < 0) return read(f->fd, to, size);
    ssize_t n = splice(f->fd, NULL, f->own[1], NULL, size, 0);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        drop_own(f);
        return read(f->fd, to, size);
    }
    return n > 0 ? empty_own(f, to, (size_t)n) : n;
}

static ptrdiff_t read_pipe(struct dg_reader *r, char *to, size_t size, struct dg_err *err) {
    struct fd_reader *f = (struct fd_reader *)r;
    if (f->stopped || interrupts(f) >= 2) return 0;
    int ready = wait_for_data(f);
    ssize_t n = ready > 0 ? pull(f, to, size) : ready;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) ready = 0;
    if (!ready) {
        f->stopped = f->opts->idle && f->opts->idle(f->opts->ctx);
        return f->stopped ? 0 : -DG_E_BUSY;
    }
    if (n < 0) return dg_err_set(err, DG_E_IO, errno, "cannot read '%s'", f->name);
    copy_out(f, to, (size_t)n);
    tell_progress(f, r->bytes + (uint64_t)n);
    return n;
}

static void free_fd(struct dg_reader *r) {
    struct fd_reader *f = (struct fd_reader *)r;
    if (f->fd != STDIN_FILENO) close(f->fd);
    drop_own(f);
    free(f);
}

struct dg_reader *dg_reader_fd(int fd, const char *name, const struct dg_ingest_opts *opts) {
    struct fd_reader *f = dg_calloc(1, sizeof(*f));
    if (!f) {
        if (fd != STDIN_FILENO) close(fd);
        return NULL;
    }
    f->fd = fd;
    f->own[0] = f->own[1] = -1;
    f->name = name;
    f->opts = opts;
    f->tee = fd == STDIN_FILENO && opts->tee_fd >= 0;
    f->base.free = free_fd;
    struct stat st = {0};
    off_t at = lseek(fd, 0, SEEK_CUR);
    /* files of /proc and /sys have no size: read those like a pipe */
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && at >= 0) {
        f->base.read = read_file;
        f->at = at;
        f->end = st.st_size;
        posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    } else {
        f->base.read = read_pipe;
        if (S_ISFIFO(st.st_mode) && widen(fd)) make_own(f);
    }
    return &f->base;
}

/* --- a text --- */

struct text_reader {
    struct dg_reader base;
    struct dg_slice rest;
};

static ptrdiff_t read_text(struct dg_reader *r, char *to, size_t size, struct dg_err *err) {
    (void)err;
    struct text_reader *t = (struct text_reader *)r;
    struct dg_slice part = dg_slice_upto(t->rest, size);
    if (part.len) memcpy(to, part.ptr, part.len);
    t->rest = dg_slice_from(t->rest, part.len);
    return (ptrdiff_t)part.len;
}

struct dg_reader *dg_reader_text(struct dg_slice text) {
    struct text_reader *t = dg_calloc(1, sizeof(*t));
    if (!t) return NULL;
    t->base.read = read_text;
    t->base.free = free_plain;
    t->rest = text;
    return &t->base;
}

/* --- a look ahead --- */

struct head_reader {
    struct dg_reader base;
    size_t len, at;
    int failed; /* what the inner reader said while the head was filled */
    struct dg_err err;
    char head[DG_HEAD_MAX];
};

static ptrdiff_t read_head(struct dg_reader *r, char *to, size_t size, struct dg_err *err) {
    struct head_reader *h = (struct head_reader *)r;
    if (h->at < h->len) {
        size_t n = h->len - h->at < size ? h->len - h->at : size;
        memcpy(to, h->head + h->at, n);
        h->at += n;
        return (ptrdiff_t)n;
    }
    if (h->failed) {
        if (err) *err = h->err;
        return h->failed;
    }
    return dg_reader_read(r->inner, to, size, err);
}

struct dg_reader *dg_reader_head(struct dg_reader *inner) {
    struct head_reader *h = inner ? dg_malloc(sizeof(*h)) : NULL;
    if (!h) return dg_reader_free(inner);
    h->base = (struct dg_reader){.read = read_head, .free = free_plain, .inner = inner};
    h->len = h->at = 0;
    h->failed = 0;
    return &h->base;
}

int dg_reader_peek(struct dg_reader *head, struct dg_slice *ret, bool *ret_whole, struct dg_err *err) {
    struct head_reader *h = (struct head_reader *)head;
    ptrdiff_t n = 1;
    for (int silent = 0; n && h->len < DG_HEAD_MAX && !(h->len && silent >= PATIENCE);) {
        n = dg_reader_read(h->base.inner, h->head + h->len, DG_HEAD_MAX - h->len, &h->err);
        if (n < 0 && n != -DG_E_BUSY) break;
        silent = n > 0 ? 0 : silent + 1;
        if (n > 0) h->len += (size_t)n;
    }
    *ret = dg_slice(h->head, h->len);
    *ret_whole = n != -DG_E_BUSY;
    h->failed = n < 0 && n != -DG_E_BUSY ? (int)n : 0;
    if (h->failed && err) *err = h->err;
    return h->failed;
}

/* --- byte-order marks --- */

enum { UTF16_STEP = 4096 };
struct utf16_reader {
    struct dg_reader base;
    bool big, ended;
    unsigned high; /* high surrogate that waits for its low one, or 0 */
    bool odd;      /* in[0] is half a unit */
    size_t at, len;
    unsigned char in[UTF16_STEP];
    char out[UTF16_STEP / 2 * 3 + 6]; /* a unit makes three bytes at most, and each end may add a lone surrogate */
};

static void put_utf8(struct utf16_reader *u, unsigned c) {
    unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    u->out[u->len++] = (char)(lead[more] | c >> (6 * more));
    while (more--) u->out[u->len++] = (char)(0x80 | (c >> (6 * more) & 63));
}

static void put_unit(struct utf16_reader *u, unsigned unit) {
    bool low = unit >= 0xdc00 && unit < 0xe000;
    unsigned high = u->high;
    u->high = 0;
    if (low && high) {
        put_utf8(u, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
        return;
    }
    if (high) put_utf8(u, 0xfffd);
    if (unit >= 0xd800 && unit < 0xdc00)
        u->high = unit;
    else
        put_utf8(u, low ? 0xfffd : unit);
}

/* Transcode the next piece into `out`. 0, or what the inner reader said. */
static int more_utf16(struct utf16_reader *u, struct dg_err *err) {
    ptrdiff_t n = dg_reader_read(u->base.inner, (char *)u->in + u->odd, sizeof(u->in) - u->odd, err);
    if (n < 0) return (int)n;
    u->at = u->len = 0;
    size_t len = (size_t)n + u->odd, i = 0;
    for (; i + 1 < len; i += 2) put_unit(u, u->big ? u->in[i] << 8 | u->in[i + 1] : u->in[i + 1] << 8 | u->in[i]);
    u->odd = i < len;
    if (u->odd) u->in[0] = u->in[i];
    u->ended = !n;
    if (u->ended && (u->odd || u->high)) put_utf8(u, 0xfffd);
    return 0;
}

static ptrdiff_t read_utf16(struct dg_reader *r, char *to, size_t size, struct dg_err *err) {
    struct utf16_reader *u = (struct utf16_reader *)r;
    while (u->at == u->len && !u->ended) {
        int failed = more_utf16(u, err);
        if (failed) return failed;
    }
    size_t n = u->len - u->at < size ? u->len - u->at : size;
    memcpy(to, u->out + u->at, n);
    u->at += n;
    return (ptrdiff_t)n;
}

struct dg_reader *dg_reader_utf16(struct dg_reader *inner, struct dg_slice head) {
    bool big = dg_slice_starts(head, DG_S("\xfe\xff")), little = dg_slice_starts(head, DG_S("\xff\xfe"));
    size_t mark = big || little ? 2 : dg_slice_starts(head, DG_S("\xef\xbb\xbf")) ? 3 : 0;
    char skipped[3];
    if (mark) dg_reader_read(inner, skipped, mark, NULL); /* from the head: all at once */
    if (!big && !little) return inner;
    struct utf16_reader *u = dg_calloc(1, sizeof(*u));
    if (!u) return dg_reader_free(inner);
    u->base = (struct dg_reader){.read = read_utf16, .free = free_plain, .inner = inner};
    u->big = big;
    return &u->base;
}
