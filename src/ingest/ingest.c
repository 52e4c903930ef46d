#include "ingest/ingest.h"
#include "base/mem.h"
#include "base/trace.h"
#include "ingest/bundle.h"
#include "ingest/kind.h"
#include "ingest/prefix.h"
#include "ingest/records.h"
#include "ingest/stamp.h"
#include "ingest/stream.h"
#include "ingest/unpack.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUTS_MAX = 1 << 16, SOURCES_MAX = 1 << 20, NESTING_MAX = 5, SENTENCE_MAX = 64 << 10, TIMED_LINES = 512 };

struct input {
    char *name;
    enum dg_kind kind;
    char *text; /* in memory: no file is opened */
    size_t text_len;
};

/* A bundle that is being read; `name` and `kind` are for its members. */
struct level {
    struct dg_bundle *bundle;
    char *name;
    enum dg_kind kind;
    int depth;      /* how many times what its members hold is packed */
    size_t sources; /* there were before it */
};

struct dg_ingest {
    struct dg_ingest_opts opts;
    struct {
        struct input *v;
        size_t n, cap;
    } inputs;
    size_t next_input;
    struct {
        struct dg_source *v;
        size_t n, cap;
    } sources;
    struct level levels[NESTING_MAX];
    int n_levels;
    struct dg_stream stream; /* of the last source, while `streaming` */
    bool streaming;
    bool fresh;                /* no block came out of it yet */
    bool kind_open;            /* its kind is settled by its first block */
    enum dg_aside side;        /* which lines of it are set aside for a source of their own */
    struct dg_set_aside aside; /* where the source is one of those: its lines */
    struct dg_prefix first;    /* of its first line that has a time; the slices are not kept */
    struct dg_pool pool;
};

struct dg_ingest *dg_ingest_new(const struct dg_ingest_opts *opts) {
    struct dg_ingest *in = dg_calloc(1, sizeof(*in));
    if (in) in->opts = *opts;
    return in;
}

static void close_level(struct dg_ingest *in) {
    struct level *l = &in->levels[--in->n_levels];
    dg_bundle_free(l->bundle);
    free(l->name);
}

static void close_stream(struct dg_ingest *in) {
    if (in->streaming) dg_stream_stop(&in->stream);
    in->streaming = false;
    free(in->aside.text);
    free(in->aside.numbers);
    in->aside = (struct dg_set_aside){0};
}

void dg_ingest_free(struct dg_ingest *in) {
    if (!in) return;
    close_stream(in); /* before the bundle that it may read from */
    while (in->n_levels) close_level(in);
    for (size_t i = 0; i < in->inputs.n; i++) {
        free(in->inputs.v[i].name);
        free(in->inputs.v[i].text);
    }
    for (size_t i = 0; i < in->sources.n; i++) {
        free(in->sources.v[i].name);
        free(in->sources.v[i].error);
        free(in->sources.v[i].hostname);
    }
    free(in->inputs.v);
    free(in->sources.v);
    dg_pool_release(&in->pool);
    free(in);
}

static char *copy(struct dg_slice s) {
    char *p = dg_malloc(s.len + 1);
    if (!p) return NULL;
    if (s.len) memcpy(p, s.ptr, s.len);
    p[s.len] = '\0';
    return p;
}

static int add_input(struct dg_ingest *in, const char *name, enum dg_kind kind, const struct dg_slice *text) {
    struct input new = {.name = copy(dg_cstr(name)), .kind = kind};
    if (text) {
        new.text = copy(*text);
        new.text_len = text->len;
    }
    if (new.name && (new.text || !text) && DG_VEC_PUSH(&in->inputs, new, INPUTS_MAX)) return 0;
    free(new.name);
    free(new.text);
    return -DG_E_NOMEM;
}

int dg_ingest_add(struct dg_ingest *in, const char *path, enum dg_kind kind) { return add_input(in, path, kind, NULL); }

int dg_ingest_add_text(struct dg_ingest *in, const char *name, enum dg_kind kind, struct dg_slice text) {
    return add_input(in, name, kind, &text);
}

const struct dg_source *dg_ingest_sources(const struct dg_ingest *in, uint32_t *ret_n) {
    *ret_n = (uint32_t)in->sources.n;
    return in->sources.v;
}

/* --- sources --- */

static struct dg_source *current(struct dg_ingest *in) { return &in->sources.v[in->sources.n - 1]; }

static int add_source(struct dg_ingest *in, const char *name, enum dg_kind kind, bool stated) {
    struct dg_source s = {.name = copy(dg_cstr(name)),
                          .kind = kind,
                          .kind_stated = stated,
                          .first_time = DG_TIME_NONE,
                          .last_time = DG_TIME_NONE,
                          .boot_epoch = DG_TIME_NONE,
                          .boot_spread = DG_TIME_NONE};
    if (s.name && DG_VEC_PUSH(&in->sources, s, SOURCES_MAX)) return 0;
    free(s.name);
    return -DG_E_NOMEM;
}

/* Why the current source could not be read. What system calls say names the file already. */
static int set_error(struct dg_ingest *in, const struct dg_err *why) {
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(SENTENCE_MAX);
    if (why->code != DG_E_IO) dg_buf_addf(&b, "'%s': ", current(in)->name);
    dg_buf_adds(&b, why->msg);
    free(current(in)->error);
    current(in)->error = dg_buf_take(&b);
    dg_trace("input", "%zu cannot be read: %s", in->sources.n - 1, why->msg);
    return current(in)->error ? 0 : -DG_E_NOMEM;
}

/* A source that only says why there is none. */
static int add_failed(struct dg_ingest *in, const char *name, enum dg_kind kind, const struct dg_err *why) {
    int r = why->code == DG_E_NOMEM ? -DG_E_NOMEM : add_source(in, name, kind, kind != DG_KIND_UNKNOWN);
    return r ? r : set_error(in, why);
}

/* --- times --- */

/* Host, year and first time of the current source by its first lines. */
static int note_first(struct dg_ingest *in, struct dg_slice text) {
    struct dg_source *s = current(in);
    struct dg_slice line;
    double undated = DG_TIME_NONE, dated = DG_TIME_NONE; /* a time that lacks the year, and one that has it */
    in->first.time = DG_TIME_NONE;
    for (int i = 0; i < TIMED_LINES && dg_slice_split(&text, '\n', &line); i++) {
        struct dg_prefix p;
        double inner = dg_prefix_scan(line, s->kind, &p).dated;
        if (!s->hostname && p.host.len && !(s->hostname = copy(p.host))) return -DG_E_NOMEM;
        if (isnan(in->first.time)) in->first = p;
        if (isnan(undated) && p.year_missing) undated = p.time;
        if (isnan(dated)) dated = inner;
        if (isnan(dated) && s->boot_exact) dated = s->boot_epoch + p.boot;
        if (isnan(dated) && !p.year_missing && !p.boot_clock) dated = p.time;
    }
    if (!isnan(undated) && !isnan(dated)) s->year_shift = dg_stamp_year_shift(undated, dated);
    if (in->aside.text && isnan(dated)) s->year_shift = s[-1].year_shift;
    return 0;
}

static double last_time(const struct dg_source *s, struct dg_slice text) {
    for (int i = 0; i < TIMED_LINES && text.len; i++) {
        text.len -= text.ptr[text.len - 1] == '\n';
        struct dg_slice line = dg_slice_from(text, (size_t)(dg_slice_rfind_ch(text, '\n') + 1));
        struct dg_prefix p;
        dg_prefix_parse(line, s->kind, &p);
        double t = dg_line_epoch(&p, s);
        if (!isnan(t)) return t;
        text.len -= line.len;
    }
    return DG_TIME_NONE;
}

/* What is known of the current source so far. */
static void count(struct dg_ingest *in) {
    struct dg_source *s = current(in);
    s->lines = dg_stream_lines(&in->stream);
    s->bytes = in->stream.raw->bytes;
    s->long_lines = in->stream.long_lines;
    s->truncated = dg_reader_truncated(in->stream.reader);
    if (in->aside.text) { /* another view of the source before */
        s->lines = s[-1].lines;
        s->bytes = s[-1].bytes;
        s->truncated = in->aside.cut;
    }
    if (in->stream.records)
        s->boot_exact = dg_records_boot(in->stream.records, &s->boot_epoch, &s->boot_spread) == DG_ANCHOR_EXACT;
}

/* The current source is read to its end. `last`: its last block, or NULL when it is empty. */
static int settle(struct dg_ingest *in, const struct dg_block *last) {
    struct dg_source *s = current(in);
    const struct dg_prefix *p = &in->first;
    if (last && !isnan(p->time)) {
        s->first_time = dg_line_epoch(p, s);
        s->last_time = last_time(s, dg_slice(last->data - last->headroom, last->headroom + last->len));
        s->time_basis = p->boot_clock || (s->boot_exact && !isnan(p->boot)) ? DG_TIME_BASIS_BOOT
                        : p->zone_stated                                    ? DG_TIME_BASIS_STATED
                                                                            : DG_TIME_BASIS_ASSUMED;
    }
    dg_trace("input", "%zu is '%s': %s, %llu lines, %llu bytes%s, %.3f to %.3f", in->sources.n - 1, s->name,
             dg_kind_name(s->kind), (unsigned long long)s->lines, (unsigned long long)s->bytes,
             s->truncated ? ", cut off" : "", s->first_time, s->last_time);
    return in->stream.failed ? set_error(in, &in->stream.err) : 0;
}

/* --- opening --- */

/* Files that are no logs, whatever sentences stand in them. */
#define UNPACK ", which is not read: unpack it first"
#define INSPECT ", a binary file and no log: 'diagnose inspect' tells what GPU code it holds"
#define BINARY ", a binary file and no log"
static const struct {
    struct dg_slice magic;
    const char *what;
} strangers[] = {
    {{"7z\xbc\xaf\x27\x1c", 6}, "a 7z archive" UNPACK},
    {{"Rar!\x1a\x07", 6}, "a rar archive" UNPACK},
    {{"\x04\x22\x4d\x18", 4}, "an lz4 file" UNPACK},
    {{"\x1f\x9d", 2}, "a file of compress" UNPACK},
    {{"LZIP", 4}, "an lzip file" UNPACK},
    {{"\x7f"
      "ELF",
      4},
     "an ELF file" INSPECT},
    {{"!<arch>\n", 8}, "an ar archive" INSPECT},
    {{"\x50\xed\x55\xba", 4}, "a fatbin" INSPECT},
    {{"\x89PNG\r\n", 6}, "a PNG image" BINARY},
    {{"\xff\xd8\xff", 3}, "a JPEG image" BINARY},
    {{"%PDF-", 5}, "a PDF document" BINARY},
    {{"GGUF", 4}, "a GGUF model" BINARY},
    {{"SQLite format 3", 16}, "an SQLite database" BINARY},
};

static const char *stranger(struct dg_slice head) {
    for (size_t i = 0; i < DG_COUNT(strangers); i++)
        if (dg_slice_starts(head, strangers[i].magic)) return strangers[i].what;
    return NULL;
}

/* The kind of a head that may be coloured, and what of it is set aside. */
static int kind_of(struct dg_slice head, enum dg_kind *ret, enum dg_aside *ret_side) {
    head = dg_slice_upto(head, DG_HEAD_MAX);
    bool coloured = dg_slice_find_ch(head, '\x1b') >= 0;
    _cleanup_(dg_freep) char *text = coloured ? copy(head) : NULL;
    if (coloured && !text) return -DG_E_NOMEM;
    struct dg_escapes e = {0};
    if (coloured) head = dg_slice(text, dg_text_strip(&e, text, head.len));
    *ret = dg_kind_detect(head, ret_side);
    return 0;
}

/* The same of records, when the head holds enough of them. */
static int kind_of_records(struct dg_slice head, enum dg_records records, enum dg_kind *ret, enum dg_aside *ret_side) {
    struct dg_reader *r = dg_reader_records(dg_reader_text(head), records, DG_ASIDE_NONE);
    _cleanup_(dg_freep) char *text = dg_malloc(DG_HEAD_MAX);
    size_t len = 0;
    ptrdiff_t n = text && r ? 1 : -DG_E_NOMEM;
    for (; n > 0 && len<DG_HEAD_MAX; len += n> 0 ? (size_t)n : 0)
        n = dg_reader_read(r, text + len, DG_HEAD_MAX - len, NULL);
    dg_reader_free(r);
    return n < 0 ? -DG_E_NOMEM : kind_of(dg_slice(text, len), ret, ret_side);
}

/* The reader that makes UTF-8 of the text of `raw`, and its head. NULL: out of memory; `raw` is freed. */
static struct dg_reader *as_utf8(struct dg_reader *raw, struct dg_slice *head, bool *whole) {
    struct dg_reader *reader = dg_reader_utf16(raw, *head);
    if (reader == raw && dg_slice_starts(*head, DG_S("\xef\xbb\xbf"))) *head = dg_slice_from(*head, 3);
    if (!reader || reader == raw) return reader;
    reader = dg_reader_head(reader);
    if (!reader || dg_reader_peek(reader, head, whole, NULL) != -DG_E_NOMEM) return reader;
    return dg_reader_free(reader);
}

static void start(struct dg_ingest *in, struct dg_reader *reader, struct dg_reader *raw, bool records) {
    dg_stream_start(&in->stream, reader, raw, records);
    in->streaming = in->fresh = true;
}

/* How a text is read. */
struct reading {
    enum dg_records records;
    enum dg_kind kind;
    enum dg_aside side;
};

/* By its head, but for the kind where that was stated. 0; -DG_E_NOMEM. */
static int recognise(struct dg_slice head, bool whole, struct reading *how) {
    bool stated = how->kind != DG_KIND_UNKNOWN;
    how->records = dg_records_detect(head);
    if (how->records) {
        bool journal = how->records == DG_RECORDS_JSON || how->records == DG_RECORDS_EXPORT;
        return journal && !stated ? kind_of_records(head, how->records, &how->kind, &how->side) : 0;
    }
    int r = stated ? 0 : kind_of(head, &how->kind, &how->side);
    /* a server is piped in, and its first lines say nothing yet */
    if (!how->kind && head.len && !whole) how->kind = DG_KIND_SERVER;
    how->records = how->kind == DG_KIND_KERNEL ? DG_RECORDS_KERNEL : how->side ? DG_RECORDS_LINES : DG_RECORDS_NONE;
    return r;
}

/* Begin to stream text. Takes `raw`. 0; -DG_E_NOMEM. */
static int begin_text(struct dg_ingest *in, struct dg_reader *raw, struct dg_slice head, bool whole, const char *name,
                      enum dg_kind kind) {
    struct reading how = {.kind = kind};
    bool member = in->n_levels > 0;
    const char *what = stranger(head);
    if (what || (member && (!head.len || !dg_text_plausible(head)))) {
        struct dg_err why;
        dg_reader_free(raw);
        if (member) return 0; /* a bundle holds what it holds */
        dg_err_set(&why, DG_E_UNSUPPORTED, 0, "%s", what);
        return add_failed(in, name, kind, &why);
    }
    struct dg_reader *reader = as_utf8(raw, &head, &whole);
    if (!reader) return -DG_E_NOMEM;
    int r = recognise(head, whole, &how);
    if (how.records) reader = dg_reader_records(reader, how.records, how.side);
    if (!r) r = reader ? add_source(in, name, how.kind, kind != DG_KIND_UNKNOWN) : -DG_E_NOMEM;
    if (r) {
        dg_reader_free(reader);
        return r;
    }
    start(in, reader, raw, how.records);
    in->kind_open = !how.kind && how.records;
    in->side = how.side;
    return 0;
}

/* What was set aside of the source that has ended (taken over) is a source of the same name. 0; -DG_E_NOMEM. */
static int begin_aside(struct dg_ingest *in, const struct dg_set_aside *a, bool kernel) {
    enum dg_kind kind = DG_KIND_KERNEL;
    enum dg_aside nothing;
    in->aside = *a;
    int r = kernel ? 0 : kind_of(dg_slice(a->text, a->len), &kind, &nothing);
    if (!kind) kind = DG_KIND_KERNEL; /* beside the kernel nobody known spoke */
    struct dg_reader *reader = dg_reader_aside(a, kernel ? DG_RECORDS_KERNEL : DG_RECORDS_LINES);
    if (!r) r = reader ? add_source(in, current(in)->name, kind, false) : -DG_E_NOMEM;
    if (r) {
        dg_reader_free(reader);
        return r;
    }
    start(in, reader, reader, true);
    in->kind_open = false;
    return 0;
}

/* Takes `reader`. 0; -DG_E_NOMEM. */
static int begin_bundle(struct dg_ingest *in, struct dg_reader *reader, const char *name, enum dg_kind kind,
                        int depth) {
    struct level l = {.kind = kind, .depth = depth, .sources = in->sources.n};
    struct dg_err why;
    if (dg_bundle_open(reader, &l.bundle, &why)) return add_failed(in, name, kind, &why);
    l.name = copy(dg_cstr(name));
    in->levels[in->n_levels++] = l;
    return l.name ? 0 : -DG_E_NOMEM;
}

/* Find out what `reader` gives, and begin to read it: text, or a bundle's members. Takes `reader`. 0; -DG_E_NOMEM. */
static int begin(struct dg_ingest *in, struct dg_reader *reader, const char *name, enum dg_kind kind, int depth) {
    for (bool packed = false;; depth++, packed = true) {
        struct dg_slice head = {0};
        struct dg_err why;
        bool whole = true;
        reader = dg_reader_head(reader);
        int failed = reader ? dg_reader_peek(reader, &head, &whole, &why) : dg_err_nomem(&why);
        enum dg_packing packing = dg_packing_detect(head);
        bool bundle = !packing && dg_bundle_detect(head), readable = !failed || head.len;
        if (readable && !packing && !bundle) {
            int r = begin_text(in, reader, head, whole, name, kind);
            in->stream.packed = packed;
            return r;
        }
        if (readable && depth == NESTING_MAX)
            dg_err_set(&why, DG_E_LIMIT, 0, "packed more than %d times over: unpack it first", NESTING_MAX);
        if (!readable || depth == NESTING_MAX) {
            dg_reader_free(reader);
            return add_failed(in, name, kind, &why);
        }
        if (bundle) return begin_bundle(in, reader, name, kind, depth + 1);
        reader = dg_reader_unpack(reader, packing);
    }
}

static int open_input(struct dg_ingest *in, const struct input *i) {
    if (i->text) return begin(in, dg_reader_text(dg_slice(i->text, i->text_len)), i->name, i->kind, 0);
    int fd = strcmp(i->name, "-") ? open(i->name, O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO;
    struct stat st;
    struct dg_err why = {0};
    if (fd < 0)
        dg_err_set(&why, DG_E_IO, errno, "cannot open '%s'", i->name);
    else if (!fstat(fd, &st) && S_ISDIR(st.st_mode))
        dg_err_set(&why, DG_E_UNSUPPORTED, 0, "is a directory: name the files in it");
    if (!why.code) return begin(in, dg_reader_fd(fd, i->name, &in->opts), i->name, i->kind, 0);
    if (fd > STDIN_FILENO) close(fd);
    return add_failed(in, i->name, i->kind, &why);
}

/* The next member of the innermost bundle, or its end. 0; -DG_E_NOMEM. */
static int next_member(struct dg_ingest *in) {
    struct level *l = &in->levels[in->n_levels - 1];
    const char *path;
    struct dg_reader *reader;
    struct dg_err why;
    int r = dg_bundle_next(l->bundle, &path, &reader, &why);
    if (r < 0) return add_failed(in, l->name, l->kind, &why);
    if (r) {
        _cleanup_(dg_buf_release) struct dg_buf name = DG_BUF_INIT(SENTENCE_MAX);
        if (dg_buf_addf(&name, "%s:%s", l->name, path)) return dg_reader_free(reader), -DG_E_NOMEM;
        return begin(in, reader, name.ptr, l->kind, l->depth);
    }
    bool none = in->sources.n == l->sources;
    if (none) {
        dg_err_set(&why, DG_E_NOTFOUND, 0, "no text in this bundle");
        r = add_failed(in, l->name, l->kind, &why);
    }
    if (!r) current(in)->truncated |= dg_bundle_truncated(l->bundle);
    close_level(in);
    return r;
}

/* --- blocks --- */

/* A block of the current source came: 0; -DG_E_NOMEM. */
static int take_in(struct dg_ingest *in, struct dg_block *block) {
    struct dg_source *s = current(in);
    struct dg_slice text = dg_slice(block->data, block->len);
    int r = 0;
    block->source = (uint32_t)in->sources.n - 1;
    count(in);
    enum dg_aside late; /* too late to set anything aside */
    if (in->fresh && in->kind_open) r = kind_of(text, &s->kind, &late);
    if (in->fresh && !r) r = note_first(in, text);
    in->fresh = false;
    if (!r && block->last) r = settle(in, block);
    return r;
}

/* The current source has no more blocks. 0; -DG_E_NOMEM. */
static int end_stream(struct dg_ingest *in) {
    struct dg_set_aside aside = {0};
    enum dg_aside side = in->side;
    int r = 0;
    if (in->fresh) {
        count(in);
        r = settle(in, NULL);
    }
    if (side) dg_records_aside(in->stream.records, &aside);
    close_stream(in);
    in->side = DG_ASIDE_NONE;
    if (!r && aside.text) return begin_aside(in, &aside, side == DG_ASIDE_KERNEL);
    free(aside.text);
    free(aside.numbers);
    return r;
}

int dg_ingest_next(struct dg_ingest *in, struct dg_block **ret, struct dg_err *err) {
    for (;;) {
        int r = 0;
        bool give_up = in->opts.interrupted && *in->opts.interrupted >= 2;
        if (in->streaming) {
            struct dg_buffer *b;
            r = dg_stream_next(&in->stream, &in->pool, &b, err);
            if (r < 0) return r;
            if (r) {
                *ret = &b->block;
                r = take_in(in, &b->block);
                if (r) dg_ingest_release(in, &b->block);
                return r ? dg_err_nomem(err) : 1;
            }
            r = end_stream(in);
        } else if (give_up) {
            return 0;
        } else if (in->n_levels) {
            r = next_member(in);
        } else if (in->next_input < in->inputs.n) {
            r = open_input(in, &in->inputs.v[in->next_input++]);
        } else {
            return 0;
        }
        if (r) return dg_err_nomem(err);
    }
}

void dg_ingest_release(struct dg_ingest *in, struct dg_block *block) {
    (void)in;
    atomic_store_explicit(&((struct dg_buffer *)block)->held, false, memory_order_release);
}
