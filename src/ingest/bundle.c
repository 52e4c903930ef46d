#include "ingest/bundle.h"
#include "base/mem.h"
#include "ingest/libarchive.h"
#include "ingest/unpack.h"
#include <errno.h>
#include <stdio.h>

enum { TAR_HEADER = 512, STEP = 64 << 10, PADDING_STEPS = 16 };

struct dg_bundle {
    const struct dg_libarchive *la;
    struct archive *archive;
    struct dg_reader *reader;
    unsigned entries;
    uint64_t bytes; /* taken out of members so far */
    int failed;     /* what `reader` said last, told by `err` */
    struct dg_err err;
    bool drained, ended; /* `reader` has no more; nothing more comes out */
    bool damaged;        /* something was skipped */
    char number[32];     /* a path for members whose own cannot be read */
    char step[STEP];
};

struct member {
    struct dg_reader base;
    struct dg_bundle *bundle;
    const char *piece; /* of libarchive, `left` bytes; in front of it `hole` zero bytes */
    size_t left;
    uint64_t hole;
    la_int64_t offset; /* of what was given */
    int code;          /* what libarchive said last */
};

/* A tar header states the sum of its bytes, with blanks in place of the sum. */
static bool is_tar(struct dg_slice head) {
    if (head.len < TAR_HEADER || !*head.ptr) return false;
    unsigned long sum = 0, stated = 0;
    for (int i = 0; i < TAR_HEADER; i++) sum += i >= 148 && i < 156 ? ' ' : (unsigned char)head.ptr[i];
    int i = 148;
    while (i < 156 && head.ptr[i] == ' ') i++;
    int digits = i;
    for (; i < 156 && head.ptr[i] >= '0' && head.ptr[i] <= '7'; i++)
        stated = stated * 8 + (unsigned long)(head.ptr[i] - '0');
    return i > digits && sum == stated;
}

bool dg_bundle_detect(struct dg_slice head) {
    return dg_slice_starts(head, DG_S("PK\x03\x04")) || dg_slice_starts(head, DG_S("PK\x05\x06")) || is_tar(head);
}

static la_ssize_t feed(struct archive *a, void *ctx, const void **ret) {
    struct dg_bundle *b = ctx;
    ptrdiff_t n;
    do n = dg_reader_read(b->reader, b->step, sizeof(b->step), &b->err);
    while (n == -DG_E_BUSY);
    *ret = b->step;
    b->drained = !n;
    if (n >= 0) return n;
    b->failed = (int)n;
    b->la->archive_set_error(a, EIO, "%s", b->err.msg);
    return -1;
}

/* What libarchive's last failure means; `where` is the place for the sentence. */
static int explain(struct dg_bundle *b, const char *where, struct dg_err *err) {
    if (b->failed) {
        if (err) *err = b->err;
        return b->failed;
    }
    if (b->la->archive_errno(b->archive) == ENOMEM) return dg_err_nomem(err);
    const char *why = b->la->archive_error_string(b->archive);
    return dg_err_set(err, DG_E_SYNTAX, 0, "damaged %s: %s", where, why ? why : "no reason given");
}

int dg_bundle_open(struct dg_reader *reader, struct dg_bundle **ret, struct dg_err *err) {
    struct dg_bundle *b = reader ? dg_calloc(1, sizeof(*b)) : NULL;
    if (!b) {
        dg_reader_free(reader);
        return dg_err_nomem(err);
    }
    b->reader = reader;
    int r = dg_libarchive_load(&b->la, err);
    if (!r) b->archive = b->la->archive_read_new();
    if (!b->archive) {
        dg_bundle_free(b);
        return r ? r : dg_err_nomem(err);
    }
    b->la->archive_read_support_format_tar(b->archive);
    b->la->archive_read_support_format_zip(b->archive);
    b->la->archive_read_set_options(b->archive, "hdrcharset=BINARY"); /* paths as they are, whatever the locale */
    if (b->la->archive_read_open(b->archive, b, NULL, feed, NULL) != ARCHIVE_OK) {
        r = explain(b, "bundle", err);
        dg_bundle_free(b);
        return r;
    }
    *ret = b;
    return 0;
}

void dg_bundle_free(struct dg_bundle *b) {
    if (!b) return;
    if (b->archive) b->la->archive_read_free(b->archive);
    dg_reader_free(b->reader);
    free(b);
}

/* Too much came out: 0, or the error. */
static int check_limits(struct dg_bundle *b, struct dg_err *err) {
    if (b->bytes > DG_BUNDLE_BYTES)
        return dg_err_set(err, DG_E_LIMIT, 0, "the bundle holds more than 8 GiB: the rest was not read");
    if (b->bytes > DG_UNPACK_FREE && b->bytes / DG_UNPACK_RATIO > b->reader->bytes)
        return dg_err_set(err, DG_E_LIMIT, 0, "the bundle expands more than %d-fold: the rest was not read",
                          DG_UNPACK_RATIO);
    return 0;
}

/* The next piece of a member. archive_read_data() would throw away what it has when an error follows; so does this one
 * return data together with ARCHIVE_WARN. */
static void next_piece(struct member *m) {
    const void *piece = NULL;
    la_int64_t offset = m->offset;
    m->left = 0;
    do m->code = m->bundle->la->archive_read_data_block(m->bundle->archive, &piece, &m->left, &offset);
    while (m->code == ARCHIVE_RETRY);
    if (m->code != ARCHIVE_OK && m->code != ARCHIVE_WARN) m->left = 0;
    m->piece = piece;
    m->hole = m->left && offset > m->offset ? (uint64_t)(offset - m->offset) : 0;
    m->bundle->ended = m->code == ARCHIVE_FATAL;
}

/* Bytes of a hole in a sparse file, then of the piece behind it. */
static size_t copy_piece(struct member *m, char *to, size_t size) {
    size_t n = m->hole ? (m->hole < size ? (size_t)m->hole : size) : m->left < size ? m->left : size;
    if (m->hole) {
        memset(to, 0, n);
        m->hole -= n;
    } else {
        memcpy(to, m->piece, n);
        m->piece += n;
        m->left -= n;
    }
    m->offset += (la_int64_t)n;
    return n;
}

static ptrdiff_t read_member(struct dg_reader *r, char *to, size_t size, struct dg_err *err) {
    struct member *m = (struct member *)r;
    struct dg_bundle *b = m->bundle;
    while (!m->left && !m->hole && m->code == ARCHIVE_OK && !b->ended) next_piece(m);
    if (m->left || m->hole) {
        size_t n = copy_piece(m, to, size);
        b->bytes += n;
        int over = check_limits(b, err);
        b->ended = over;
        return over ? over : (ptrdiff_t)n;
    }
    if (m->code == ARCHIVE_OK || m->code == ARCHIVE_EOF) return 0;
    r->truncated = !b->failed && b->drained && m->code == ARCHIVE_FATAL;
    return r->truncated ? 0 : explain(b, "member", err);
}

static void free_member(struct dg_reader *r) { free(r); }

/* The next header that is a regular file with something in it: an ARCHIVE_ code, or -DG_E_LIMIT with err filled. */
static int next_file(struct dg_bundle *b, struct archive_entry **ret, struct dg_err *err) {
    for (;;) {
        int r = b->la->archive_read_next_header(b->archive, ret);
        b->damaged |= r == ARCHIVE_RETRY; /* a header that is none: others may follow */
        if (r == ARCHIVE_RETRY) continue;
        if (r != ARCHIVE_OK && r != ARCHIVE_WARN) return r;
        if (++b->entries > DG_BUNDLE_ENTRIES)
            return dg_err_set(err, DG_E_LIMIT, 0, "the bundle holds more than %d entries: the rest was not read",
                              DG_BUNDLE_ENTRIES);
        bool empty = b->la->archive_entry_size_is_set(*ret) && b->la->archive_entry_size(*ret) == 0;
        if (b->la->archive_entry_filetype(*ret) == AE_IFREG && !empty && !b->la->archive_entry_hardlink(*ret))
            return ARCHIVE_OK;
    }
}

/* A checksum may stand behind the end of the bundle: read the padding, so that it is looked at. */
static void read_padding(struct dg_bundle *b) {
    struct archive *a = b->archive;
    const void *ignored;
    for (int i = 0; i < PADDING_STEPS && !b->drained && !b->failed; i++) feed(a, b, &ignored);
}

int dg_bundle_next(struct dg_bundle *b, const char **ret_path, struct dg_reader **ret_reader, struct dg_err *err) {
    if (b->ended) return 0;
    struct archive_entry *entry;
    int r = next_file(b, &entry, err);
    if (r != ARCHIVE_OK) {
        b->ended = true;
        if (r == ARCHIVE_EOF) read_padding(b);
        if (r == ARCHIVE_EOF && !b->damaged && !b->failed) return 0;
        return r == -DG_E_LIMIT ? r : explain(b, "bundle", err);
    }
    struct member *m = dg_calloc(1, sizeof(*m));
    if (!m) return dg_err_nomem(err);
    m->base = (struct dg_reader){.read = read_member, .free = free_member};
    m->bundle = b;
    *ret_path = b->la->archive_entry_pathname(entry);
    if (!*ret_path) {
        snprintf(b->number, sizeof(b->number), "member %u", b->entries);
        *ret_path = b->number;
    }
    *ret_reader = &m->base;
    return 1;
}

bool dg_bundle_truncated(const struct dg_bundle *b) { return dg_reader_truncated(b->reader); }
