#include "ingest_fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

enum { MIB = 1 << 20 };

/* Lines of many lengths, so that block ends fall anywhere; no escapes in it. */
static struct dg_buf many_lines(size_t size, unsigned seed) {
    struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    while (b.len < size) {
        seed = seed * 1103515245 + 12345;
        unsigned n = seed / 65536 % 400;
        for (unsigned i = 0; i < n; i++) dg_buf_addc(&b, (char)('a' + (seed + i * 7) % 26));
        if (seed % 9 == 0) dg_buf_addc(&b, '\r');
        if (seed % 31 == 0) dg_buf_addc(&b, '\0');
        dg_buf_addc(&b, '\n');
    }
    assert_false(b.failed);
    return b;
}

static uint64_t newlines(struct dg_slice s) {
    uint64_t n = 0;
    for (size_t i = 0; i < s.len; i++) n += s.ptr[i] == '\n';
    return n;
}

static void assert_text(const struct got *g, struct dg_slice want) {
    assert_int_equal(g->text.len, want.len);
    if (want.len) assert_memory_equal(g->text.ptr, want.ptr, want.len);
}

static void assert_consecutive(const struct got *g) {
    for (size_t i = 0; i < g->lines.n; i++) assert_int_equal(g->lines.v[i], i + 1);
}

static void gives_a_file_as_it_is(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 63, 64, 4096, 65535, 65536, 65537, 917504, MIB - 1, MIB, MIB + 1, 5 * MIB + 77};
    for (size_t i = 0; i < DG_COUNT(sizes); i++) {
        struct dg_buf b = many_lines(sizes[i], (unsigned)i);
        struct dg_slice cut = dg_slice_upto(dg_buf_slice(&b), sizes[i]); /* mostly without a newline at the end */
        struct dg_ingest *in;
        struct got g = read_bytes(cut, &in);
        assert_int_equal(g.result, 0);
        assert_text(&g, cut);
        assert_consecutive(&g);
        const struct dg_source *s = source_at(in, 0);
        assert_int_equal(s->bytes, cut.len);
        assert_int_equal(s->lines, newlines(cut) + (cut.ptr[cut.len - 1] != '\n'));
        assert_int_equal(s->lines, g.lines.n);
        assert_int_equal(s->long_lines, 0);
        assert_false(s->truncated);
        assert_null(s->error);
        got_release(&g);
        dg_ingest_free(in);
        dg_buf_release(&b);
    }
}

static void several_sources_come_in_order(void **state) {
    (void)state;
    struct dg_buf b = many_lines(3 * MIB, 5);
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    assert_int_equal(dg_ingest_add(in, file_with(0, dg_buf_slice(&b)), DG_KIND_KERNEL), 0);
    assert_int_equal(dg_ingest_add_text(in, "t", DG_KIND_UNKNOWN, DG_S("one\ntwo")), 0);
    assert_int_equal(dg_ingest_add(in, file_with(1, DG_S("x\n")), DG_KIND_SERVER), 0);
    struct got g = read_source(in, 1);
    assert_text(&g, DG_S("one\ntwo"));
    assert_int_equal(n_sources(in), 3);
    assert_true(source_at(in, 0)->kind_stated && source_at(in, 0)->kind == DG_KIND_KERNEL);
    assert_false(source_at(in, 1)->kind_stated);
    assert_string_equal(source_at(in, 1)->name, "t");
    assert_int_equal(source_at(in, 2)->bytes, 2);
    got_release(&g);
    dg_ingest_free(in);
    dg_buf_release(&b);
}

static void empty_sources_have_no_bytes(void **state) {
    (void)state;
    struct dg_ingest *in;
    struct got g = read_bytes(DG_S(""), &in);
    assert_int_equal(g.blocks, 0);
    assert_int_equal(source_at(in, 0)->bytes, 0);
    assert_int_equal(source_at(in, 0)->lines, 0);
    assert_null(source_at(in, 0)->error);
    got_release(&g);
    dg_ingest_free(in);
}

static void unreadable_inputs_say_why(void **state) {
    (void)state;
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    assert_int_equal(dg_ingest_add(in, "does/not/exist.log", DG_KIND_UNKNOWN), 0);
    assert_int_equal(dg_ingest_add(in, "/", DG_KIND_UNKNOWN), 0);
    assert_int_equal(dg_ingest_add(in, "/proc/self/mem", DG_KIND_UNKNOWN), 0);
    assert_int_equal(dg_ingest_add_text(in, "t", DG_KIND_UNKNOWN, DG_S("x\n")), 0);
    struct got g = read_source(in, 3);
    assert_text(&g, DG_S("x\n"));
    assert_string_equal(source_at(in, 0)->error, "cannot open 'does/not/exist.log': No such file or directory");
    assert_string_equal(source_at(in, 1)->error, "'/': is a directory: name the files in it");
    assert_int_equal(source_at(in, 1)->bytes, 0);
    assert_string_equal(source_at(in, 2)->error, "cannot read '/proc/self/mem': Input/output error");
    got_release(&g);
    dg_ingest_free(in);
}

/* Up to half a block a line is whole; a longer one comes in pieces that overlap. */
static void long_lines_come_in_pieces(void **state) {
    (void)state;
    static const size_t lengths[] = {MIB / 2 - 9000, MIB, MIB + 1, 3 * MIB + 12345};
    for (size_t i = 0; i < DG_COUNT(lengths); i++) {
        _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
        dg_buf_adds(&b, "first\n");
        for (size_t k = 0; k < lengths[i]; k++) dg_buf_addc(&b, (char)('a' + k % 26 + (k / 4096 % 2)));
        dg_buf_adds(&b, "\nlast\n");
        struct dg_ingest *in;
        struct got g = read_bytes(dg_buf_slice(&b), &in);
        assert_text(&g, dg_buf_slice(&b));
        assert_consecutive(&g);
        assert_int_equal(g.lines.n, 3);
        assert_int_equal(g.pieces > 0, i > 0);
        assert_int_equal(source_at(in, 0)->long_lines, i > 0);
        assert_int_equal(source_at(in, 0)->lines, 3);
        got_release(&g);
        dg_ingest_free(in);
    }
}

static void one_line_of_200_mb(void **state) {
    (void)state;
    enum { LENGTH = 200 * MIB };
    const char *name = file_with(0, DG_S("start "));
    assert_int_equal(truncate(name, LENGTH), 0); /* the rest is NUL bytes */
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    dg_ingest_add(in, name, DG_KIND_UNKNOWN);
    struct dg_block *b;
    uint64_t total = 0, pieces = 0;
    bool last = false;
    while (dg_ingest_next(in, &b, NULL) == 1) {
        assert_int_equal(b->first_line, 1);
        assert_null(memchr(b->data, '\n', b->len));
        assert_int_equal(b->continues, total > 0);
        total += b->len - b->overlap;
        pieces++;
        last = b->last;
        assert_int_equal(b->more, !last);
        dg_ingest_release(in, b);
    }
    assert_true(last && total == LENGTH && pieces >= 200);
    assert_int_equal(source_at(in, 0)->lines, 1);
    assert_int_equal(source_at(in, 0)->long_lines, 1);
    dg_ingest_free(in);
}

static void four_blocks_may_be_held(void **state) {
    (void)state;
    struct dg_buf t = many_lines(8 * MIB, 3);
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    dg_ingest_add_text(in, "t", DG_KIND_UNKNOWN, dg_buf_slice(&t));
    struct dg_block *b[4], *more;
    struct dg_err err;
    size_t at = 0;
    for (int i = 0; i < 4; i++) assert_int_equal(dg_ingest_next(in, &b[i], &err), 1);
    for (int i = 0; i < 4; at += b[i++]->len) assert_memory_equal(b[i]->data, t.ptr + at, b[i]->len);
    dg_ingest_release(in, b[1]);
    assert_int_equal(dg_ingest_next(in, &more, &err), 1);
    assert_memory_equal(more->data, t.ptr + at, more->len);
    assert_memory_equal(more->data - more->headroom, t.ptr + at - more->headroom, more->headroom);
    dg_ingest_free(in); /* whoever frees it need not give back */
    dg_buf_release(&t);
}

static void a_file_that_shrinks_is_truncated(void **state) {
    (void)state;
    struct dg_buf t = many_lines(4 * MIB, 3);
    const char *name = file_with(0, dg_buf_slice(&t));
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    dg_ingest_add(in, name, DG_KIND_UNKNOWN);
    struct dg_block *b;
    assert_int_equal(dg_ingest_next(in, &b, NULL), 1);
    dg_ingest_release(in, b);
    assert_int_equal(truncate(name, 2 * MIB), 0);
    while (dg_ingest_next(in, &b, NULL) == 1) dg_ingest_release(in, b);
    assert_true(source_at(in, 0)->truncated);
    assert_int_equal(source_at(in, 0)->bytes, 2 * MIB);
    dg_ingest_free(in);
    dg_buf_release(&t);
}

static void a_file_that_grows_is_read_as_it_was(void **state) {
    (void)state;
    struct dg_buf t = many_lines(4 * MIB, 3);
    const char *name = file_with(0, dg_buf_slice(&t));
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    dg_ingest_add(in, name, DG_KIND_UNKNOWN);
    struct dg_block *b;
    uint64_t total = 0;
    while (dg_ingest_next(in, &b, NULL) == 1) {
        total += b->len;
        FILE *f = fopen(name, "ab");
        assert_int_equal(fwrite(t.ptr, 1, MIB, f), MIB);
        fclose(f);
        dg_ingest_release(in, b);
    }
    assert_int_equal(total, t.len);
    assert_false(source_at(in, 0)->truncated);
    dg_ingest_free(in);
    dg_buf_release(&t);
}

/* --- escapes, encodings, line ends --- */

static void removes_escapes(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
    } rows[] = {
        {"\x1b[1;31mred\x1b[0m\n", "red\n"},
        {"fatal error: \x1b[m\x1b[KPython.h\n", "fatal error: Python.h\n"},
        {"\x1b]0;title\aafter\n", "after\n"},
        {"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "link\n"},
        {"\x1bPq#0\x1b\\after\n", "after\n"},
        {"\x1b(Bplain\x1b=\n", "plain\n"},
        {"\x1b[38;5;196", ""},
        {"cut \x1b[1\nnext\x1b", "cut \nnext"},
        {"\x1b]open for ever\nnext\n", "\nnext\n"},
        {"\x1b\x1b[31mtwice\n", "twice\n"},
        {"\x1b[3\x1b[31mbroken\n", "broken\n"},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        struct dg_ingest *in;
        struct got g = read_text(dg_cstr(rows[i].from), DG_KIND_SERVER, &in);
        assert_text(&g, dg_cstr(rows[i].to));
        assert_int_equal(source_at(in, 0)->bytes, strlen(rows[i].from));
        got_release(&g);
        dg_ingest_free(in);
    }
}

/* A coloured log over many blocks is the plain one, with its line numbers. */
static void coloured_log_is_the_plain_one(void **state) {
    (void)state;
    struct dg_buf plain = many_lines(3 * MIB, 11), coloured = DG_BUF_INIT(SIZE_MAX / 4);
    struct dg_slice rest = dg_buf_slice(&plain), line;
    while (dg_slice_split(&rest, '\n', &line) && rest.ptr)
        dg_buf_addf(&coloured, "\x1b[3%zum", line.len % 8), dg_buf_add_slice(&coloured, line),
            dg_buf_adds(&coloured, "\x1b[0m\n");
    struct dg_ingest *in;
    struct got g = read_bytes(dg_buf_slice(&coloured), &in);
    assert_text(&g, dg_buf_slice(&plain));
    assert_consecutive(&g);
    got_release(&g);
    dg_ingest_free(in);
    dg_buf_release(&plain);
    dg_buf_release(&coloured);
}

static struct got read_utf16(bool big, const unsigned short *units, size_t n, struct dg_ingest **ret) {
    struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    for (size_t i = 0; i < n; i++) {
        dg_buf_addc(&b, (char)(big ? units[i] >> 8 : units[i] & 255));
        dg_buf_addc(&b, (char)(big ? units[i] & 255 : units[i] >> 8));
    }
    struct got g = read_bytes(dg_buf_slice(&b), ret);
    dg_buf_release(&b);
    return g;
}

static void reads_utf16(void **state) {
    (void)state;
    /* "é€😀", a lone high and a lone low surrogate, a line end of Windows */
    static const unsigned short units[] = {0xfeff, 'I',  'N',    0xe9, 0x20ac, 0xd83d, 0xde00,
                                           '\r',   '\n', 0xd83d, 'x',  0xde00, '\n',   0xd83d};
    for (int big = 0; big < 2; big++) {
        struct dg_ingest *in;
        struct got g = read_utf16(big, units, DG_COUNT(units), &in);
        assert_text(&g, DG_S("IN\303\251\342\202\254\360\237\230\200\r\n\357\277\275x\357\277\275\n\357\277\275"));
        assert_int_equal(source_at(in, 0)->lines, 3);
        got_release(&g);
        dg_ingest_free(in);
    }
    /* a byte too many, and over the inner buffers */
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4), want = DG_BUF_INIT(SIZE_MAX / 4);
    dg_buf_add(&b, "\xff\xfe", 2);
    for (int i = 0; i < 100000; i++) {
        dg_buf_add(&b, i % 50 ? "\xac\x20" : "\n\0", 2);
        dg_buf_adds(&want, i % 50 ? "\342\202\254" : "\n");
    }
    dg_buf_addc(&b, 'x');
    dg_buf_adds(&want, "\357\277\275");
    struct dg_ingest *in;
    struct got g = read_bytes(dg_buf_slice(&b), &in);
    assert_text(&g, dg_buf_slice(&want));
    got_release(&g);
    dg_ingest_free(in);
}

static void drops_the_utf8_mark(void **state) {
    (void)state;
    struct dg_ingest *in;
    struct got g = read_bytes(DG_S("\xef\xbb\xbf[2026-03-07 10:00:00 TP0] x\r\n"), &in);
    assert_text(&g, DG_S("[2026-03-07 10:00:00 TP0] x\r\n"));
    assert_int_equal(source_at(in, 0)->kind, DG_KIND_SERVER);
    got_release(&g);
    dg_ingest_free(in);
}

static void hostile_bytes_stay(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    unsigned seed = 7;
    for (int i = 0; i < 3 * MIB; i++) {
        seed = seed * 1103515245 + 12345;
        unsigned char c = (unsigned char)(seed >> 16);
        dg_buf_addc(&b, c == '\x1b' ? '\0' : (char)c);
    }
    struct dg_ingest *in;
    struct got g = read_bytes(dg_buf_slice(&b), &in);
    assert_text(&g, dg_buf_slice(&b));
    assert_consecutive(&g);
    got_release(&g);
    dg_ingest_free(in);
}

/* --- pipes --- */

int __real_pipe2(int fds[2], int flags);

struct writer {
    int fd;
    struct dg_slice text;
    size_t odd;               /* sizes of the pieces: 1..odd; 0: as much as the pipe takes */
    const pthread_t *alarmed; /* gets a signal before each piece; NULL: nobody does */
    int flags;                /* of the pipe */
    pthread_t thread;
};

static void *write_pieces(void *arg) {
    struct writer *w = arg;
    for (size_t at = 0, step = 1; at < w->text.len;) {
        size_t n = w->odd ? step++ % w->odd + 1 : w->text.len;
        if (n > w->text.len - at) n = w->text.len - at;
        if (w->alarmed) pthread_kill(*w->alarmed, SIGALRM);
        ssize_t written = write(w->fd, w->text.ptr + at, n);
        if (written < 0) break;
        at += (size_t)written;
    }
    close(w->fd);
    return NULL;
}

/* A pipe that gives `text`, as a path. Of *w `alarmed` and `flags` are read. */
static const char *pipe_with(struct writer *w, struct dg_slice text, size_t odd, int *ret_fd) {
    static char path[32];
    int fds[2];
    assert_int_equal(w->flags ? __real_pipe2(fds, w->flags) : pipe(fds), 0);
    w->fd = fds[1];
    w->text = text;
    w->odd = odd;
    *ret_fd = fds[0];
    snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
    assert_int_equal(pthread_create(&w->thread, NULL, write_pieces, w), 0);
    return path;
}

static void a_pipe_gives_what_a_file_gives(void **state) {
    (void)state;
    static const size_t odd[] = {0, 7, 4099, 65537};
    for (size_t i = 0; i < DG_COUNT(odd); i++) {
        struct dg_buf b = many_lines(odd[i] == 7 ? 300000 : 5 * MIB, (unsigned)i);
        dg_buf_adds(&b, "no newline at the end");
        struct writer w = {.alarmed = NULL};
        int fd;
        struct dg_ingest *in = dg_ingest_new(&plain_opts);
        dg_ingest_add(in, pipe_with(&w, dg_buf_slice(&b), odd[i], &fd), DG_KIND_UNKNOWN);
        struct got g = read_source(in, 0);
        assert_text(&g, dg_buf_slice(&b));
        assert_consecutive(&g);
        assert_int_equal(source_at(in, 0)->bytes, b.len);
        pthread_join(w.thread, NULL);
        close(fd);
        got_release(&g);
        dg_ingest_free(in);
        dg_buf_release(&b);
    }
}

/* Does `text` come through a pipe that is standard input as it is? That is as before then. */
static bool comes_through(struct writer *w, struct dg_slice text, size_t odd) {
    int fd, kept = dup(STDIN_FILENO);
    pipe_with(w, text, odd, &fd);
    dup2(fd, STDIN_FILENO);
    close(fd);
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    dg_ingest_add(in, "-", DG_KIND_UNKNOWN);
    size_t at = 0;
    bool same = true;
    for (struct dg_block *b; dg_ingest_next(in, &b, NULL) == 1; dg_ingest_release(in, b)) {
        same = same && b->len <= text.len - at && !memcmp(b->data, text.ptr + at, b->len);
        at += b->len;
    }
    pthread_join(w->thread, NULL);
    dg_ingest_free(in);
    dup2(kept, STDIN_FILENO);
    close(kept);
    return same && at == text.len;
}

/* Pipes go through a second one, by these: they are counted, and may fail. */
static struct {
    int pipes, splices;
    int no_pipe;        /* pipe2() fails with this error; 0: not */
    int failing, every; /* splice() fails with this error each `every`th time; 0: not */
} calls;

int __wrap_pipe2(int fds[2], int flags);
int __wrap_pipe2(int fds[2], int flags) {
    calls.pipes++;
    if (!calls.no_pipe) return __real_pipe2(fds, flags);
    errno = calls.no_pipe;
    return -1;
}

ssize_t __real_splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags);
ssize_t __wrap_splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags);
ssize_t __wrap_splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags) {
    calls.splices++;
    if (!calls.failing || calls.splices % calls.every) return __real_splice(from, from_at, to, to_at, n, flags);
    errno = calls.failing;
    return -1;
}

static void goes_through_a_second_pipe(void **state) {
    (void)state;
    struct dg_buf b = many_lines(3 * MIB, 5);
    struct writer w = {.alarmed = NULL};
    memset(&calls, 0, sizeof(calls));
    assert_true(comes_through(&w, dg_buf_slice(&b), 0));
    assert_int_equal(calls.pipes, 1);
    assert_true(calls.splices >= 3);
    dg_buf_release(&b);
}

static void or_not_where_there_is_none(void **state) {
    (void)state;
    struct dg_buf b = many_lines(3 * MIB, 5);
    struct writer w = {.alarmed = NULL};
    memset(&calls, 0, sizeof(calls));
    calls.no_pipe = EMFILE;
    assert_true(comes_through(&w, dg_buf_slice(&b), 0));
    assert_int_equal(calls.pipes, 1);
    assert_int_equal(calls.splices, 0);
    dg_buf_release(&b);
}

/* Some containers forbid it; some kernels find out late that they cannot. A signal and an empty pipe are no such. */
static void splice_may_fail(void **state) {
    (void)state;
    static const struct {
        int error, every;
        bool goes_on;
    } cases[] = {{ENOSYS, 1, false}, {EPERM, 1, false}, {EINVAL, 3, false}, {EINTR, 2, true}, {EAGAIN, 3, true}};
    struct dg_buf b = many_lines(3 * MIB, 6);
    for (size_t i = 0; i < DG_COUNT(cases); i++) {
        struct writer w = {.alarmed = NULL};
        memset(&calls, 0, sizeof(calls));
        calls.failing = cases[i].error;
        calls.every = cases[i].every;
        assert_true(comes_through(&w, dg_buf_slice(&b), 4099));
        if (!cases[i].goes_on) assert_int_equal(calls.splices, cases[i].every); /* never again after that */
        if (cases[i].goes_on) assert_true(calls.splices > 2 * cases[i].every);
    }
    memset(&calls, 0, sizeof(calls));
    dg_buf_release(&b);
}

/* A pipe in packet mode gives a packet a read, however many there are. */
static void packets_come_through(void **state) {
    (void)state;
    struct dg_buf b = many_lines(300000, 8);
    struct writer w = {.flags = O_DIRECT};
    assert_true(comes_through(&w, dg_buf_slice(&b), 700));
    dg_buf_release(&b);
}

static void on_alarm(int sig) { (void)sig; }

/* One before each write; they end what waits. */
static void signals_take_nothing_from_a_pipe(void **state) {
    (void)state;
    struct dg_buf b = many_lines(5 * MIB, 7);
    struct sigaction act = {.sa_handler = on_alarm}, was;
    pthread_t self = pthread_self();
    struct writer w = {.alarmed = &self};
    sigaction(SIGALRM, &act, &was);
    assert_true(comes_through(&w, dg_buf_slice(&b), 65537));
    sigaction(SIGALRM, &was, NULL);
    dg_buf_release(&b);
}

static void *read_standard_input(void *arg) {
    struct dg_block *b;
    while (dg_ingest_next(arg, &b, NULL) == 1) dg_ingest_release(arg, b);
    return NULL;
}

/* What was read is passed on at once, long before a block is full; and reading goes on when nobody takes it. */
static void tee_does_not_wait(void **state) {
    (void)state;
    int from[2], to[2], kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(from) || pipe(to), 0);
    dup2(from[0], STDIN_FILENO);
    close(from[0]);
    struct dg_ingest_opts opts = {.tee_fd = to[1]};
    struct dg_ingest *in = dg_ingest_new(&opts);
    dg_ingest_add(in, "-", DG_KIND_UNKNOWN);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_standard_input, in), 0);
    for (int i = 0; i < 20; i++) {
        char sent[32], got[32] = "";
        int n = snprintf(sent, sizeof(sent), i % 3 ? "part %d" : "line %d\n", i);
        assert_int_equal(write(from[1], sent, (size_t)n), n);
        struct pollfd p = {.fd = to[0], .events = POLLIN};
        assert_int_equal(poll(&p, 1, 20000), 1); /* before any more is written */
        assert_int_equal(read(to[0], got, sizeof(got)), n);
        assert_string_equal(got, sent);
    }
    close(to[0]);
    assert_int_equal(write(from[1], "unseen\n", 7), 7);
    assert_int_equal(write(from[1], "the end", 7), 7);
    close(from[1]);
    pthread_join(thread, NULL);
    assert_true(source_at(in, 0)->lines >= 3);
    assert_null(source_at(in, 0)->error);
    dg_ingest_free(in);
    close(to[1]);
    dup2(kept, STDIN_FILENO);
    close(kept);
}

static bool stop_at_once(void *ctx) {
    ++*(int *)ctx;
    return true;
}

/* A pipe that nobody closes: what came is given, and the caller decides. */
static void a_silent_pipe_asks(void **state) {
    (void)state;
    int fds[2], asked = 0;
    assert_int_equal(pipe(fds), 0);
    char path[32];
    snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
    assert_int_equal(write(fds[1], "Killed\nhalf", 11), 11);
    struct dg_ingest_opts opts = {.tee_fd = -1, .idle = stop_at_once, .ctx = &asked};
    struct dg_ingest *in = dg_ingest_new(&opts);
    dg_ingest_add(in, path, DG_KIND_UNKNOWN);
    struct got g = read_source(in, 0);
    assert_text(&g, DG_S("Killed\nhalf"));
    assert_int_equal(asked, 1);
    got_release(&g);
    dg_ingest_free(in);
    close(fds[0]);
    close(fds[1]);
}

static bool stop_in_the_end(void *ctx) { return ++*(int *)ctx >= 8; }

/* A block comes out of a silent pipe while it is open; when it ends thereafter, the last block is empty. */
static void a_silent_pipe_gives_whole_lines(void **state) {
    (void)state;
    int fds[2], asked = 0;
    assert_int_equal(pipe(fds), 0);
    char path[32];
    snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
    assert_int_equal(write(fds[1], "Starting\nhalf", 13), 13);
    struct dg_ingest_opts opts = {.tee_fd = -1, .idle = stop_in_the_end, .ctx = &asked};
    struct dg_ingest *in = dg_ingest_new(&opts);
    dg_ingest_add(in, path, DG_KIND_UNKNOWN);
    struct dg_block *b;
    assert_int_equal(dg_ingest_next(in, &b, NULL), 1);
    assert_slice(dg_slice(b->data, b->len), "Starting\n");
    assert_false(b->last || b->more);
    assert_int_equal(source_at(in, 0)->kind, DG_KIND_SERVER); /* its first lines say nothing yet */
    dg_ingest_release(in, b);
    assert_int_equal(write(fds[1], " and half\n", 10), 10);
    close(fds[1]);
    assert_int_equal(dg_ingest_next(in, &b, NULL), 1);
    assert_slice(dg_slice(b->data, b->len), "half and half\n");
    assert_int_equal(b->first_line, 2);
    assert_true(b->last);
    dg_ingest_release(in, b);
    assert_int_equal(dg_ingest_next(in, &b, NULL), 0);
    dg_ingest_free(in);
    close(fds[0]);
}

static void gives_up_when_told_twice(void **state) {
    (void)state;
    volatile int interrupted = 0;
    struct dg_buf t = many_lines(8 * MIB, 3);
    struct dg_ingest_opts opts = {.tee_fd = -1, .interrupted = &interrupted};
    struct dg_ingest *in = dg_ingest_new(&opts);
    const char *name = file_with(0, dg_buf_slice(&t));
    dg_ingest_add(in, name, DG_KIND_UNKNOWN);
    dg_ingest_add(in, name, DG_KIND_UNKNOWN);
    struct dg_block *b;
    assert_int_equal(dg_ingest_next(in, &b, NULL), 1);
    dg_ingest_release(in, b);
    interrupted = 1;
    assert_int_equal(dg_ingest_next(in, &b, NULL), 1);
    dg_ingest_release(in, b);
    interrupted = 2;
    while (dg_ingest_next(in, &b, NULL) == 1) dg_ingest_release(in, b);
    assert_int_equal(n_sources(in), 1);
    assert_true(source_at(in, 0)->bytes < t.len);
    dg_ingest_free(in);
    dg_buf_release(&t);
}

static uint64_t told, told_of;
static void note_progress(void *ctx, uint64_t bytes, uint64_t total) {
    (void)ctx;
    assert_true(bytes >= told);
    told = bytes;
    told_of = total;
}

static void tells_progress(void **state) {
    (void)state;
    struct dg_buf t = many_lines(3 * MIB, 3);
    struct dg_ingest_opts opts = {.tee_fd = -1, .progress = note_progress};
    struct dg_ingest *in = dg_ingest_new(&opts);
    dg_ingest_add(in, file_with(0, dg_buf_slice(&t)), DG_KIND_UNKNOWN);
    struct got g = read_source(in, 0);
    assert_int_equal(told, t.len);
    assert_int_equal(told_of, t.len);
    got_release(&g);
    dg_ingest_free(in);
    dg_buf_release(&t);
}

/* Standard input that is a file is read from where it stands. */
static void standard_input_may_be_a_file(void **state) {
    (void)state;
    int kept = dup(STDIN_FILENO), fd = open(file_with(0, DG_S("read before\nthis\n")), O_RDONLY);
    assert_true(fd >= 0 && lseek(fd, 12, SEEK_SET) == 12);
    dup2(fd, STDIN_FILENO);
    close(fd);
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    dg_ingest_add(in, "-", DG_KIND_UNKNOWN);
    struct got g = read_source(in, 0);
    assert_text(&g, DG_S("this\n"));
    got_release(&g);
    dg_ingest_free(in);
    dup2(kept, STDIN_FILENO);
    close(kept);
}

/* Whether it is allowed depends on where this runs: then there is text, else the sentence says what to type. */
static void reads_the_ring_buffer_or_says_how(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(1 << 20);
    struct dg_err err = {0};
    int r = dg_kmsg_read(&b, &err);
    if (r) {
        assert_int_equal(r, -DG_E_IO);
        assert_int_equal(err.code, DG_E_IO);
        assert_non_null(strstr(err.msg, "sudo dmesg | diagnose --kernel-log -"));
        assert_int_equal(b.len, 0);
    } else {
        assert_false(b.failed);
    }
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_a_file_as_it_is),
        cmocka_unit_test(several_sources_come_in_order),
        cmocka_unit_test(empty_sources_have_no_bytes),
        cmocka_unit_test(unreadable_inputs_say_why),
        cmocka_unit_test(long_lines_come_in_pieces),
        cmocka_unit_test(one_line_of_200_mb),
        cmocka_unit_test(four_blocks_may_be_held),
        cmocka_unit_test(a_file_that_shrinks_is_truncated),
        cmocka_unit_test(a_file_that_grows_is_read_as_it_was),
        cmocka_unit_test(removes_escapes),
        cmocka_unit_test(coloured_log_is_the_plain_one),
        cmocka_unit_test(reads_utf16),
        cmocka_unit_test(drops_the_utf8_mark),
        cmocka_unit_test(hostile_bytes_stay),
        cmocka_unit_test(a_pipe_gives_what_a_file_gives),
        cmocka_unit_test(goes_through_a_second_pipe),
        cmocka_unit_test(or_not_where_there_is_none),
        cmocka_unit_test(splice_may_fail),
        cmocka_unit_test(packets_come_through),
        cmocka_unit_test(signals_take_nothing_from_a_pipe),
        cmocka_unit_test(tee_does_not_wait),
        cmocka_unit_test(a_silent_pipe_asks),
        cmocka_unit_test(a_silent_pipe_gives_whole_lines),
        cmocka_unit_test(gives_up_when_told_twice),
        cmocka_unit_test(tells_progress),
        cmocka_unit_test(standard_input_may_be_a_file),
        cmocka_unit_test(reads_the_ring_buffer_or_says_how),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
