#include "ingest/records.h"
#include "base/census.h"
#include "base/mem.h"
#include "ingest/decoder.h"
#include "ingest/prefix.h"
#include "ingest/text.h"

enum {
    OUT_ENOUGH = 64 << 10,
    LINES_ENOUGH = 16 << 10,
    LINES_MAX = 1 << 24,
    HEAD_LINES = 200,
    MESSAGE_MAX = 64 << 20,
    ASIDE_MAX = 16 << 20
};

struct records {
    struct dg_reader base;
    dg_decode *decode;
    struct dg_decoder d;
    size_t out_at;
    uint64_t line;           /* raw line that in[at] is on */
    const uint64_t *numbers; /* what came from elsewhere: the raw line there of each of its lines; or NULL */
    bool in_ended;
    bool passing; /* in the middle of a line that is too long to decode */
    bool unended; /* what was used up last did not end in a newline */
    size_t at, len;
    char in[DG_RECORD_MAX];
};

/* --- what decoders add --- */

static void add_number(struct dg_decoder *d, uint64_t line) {
    if (line > d->newest) d->newest = line;
    if (!DG_VEC_PUSH(&d->lines, d->newest, LINES_MAX)) d->failed = true;
}

/* The older half goes. */
static void make_room(struct dg_decoder *d) {
    size_t n = d->aside.lines.n / 2, bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += (size_t)dg_slice_find_ch(dg_slice_from(dg_buf_slice(&d->aside.text), bytes), '\n') + 1;
    d->aside.text.len -= bytes;
    memmove(d->aside.text.ptr, d->aside.text.ptr + bytes, d->aside.text.len);
    d->aside.lines.n -= n;
    memmove(d->aside.lines.v, d->aside.lines.v + n, d->aside.lines.n * sizeof(*d->aside.lines.v));
    d->aside.cut = true;
}

/* Is the decoded line at `from` one that is set aside? Then it is, and is no part of what is given. */
static bool set_aside(struct dg_decoder *d, size_t from, uint64_t line) {
    struct dg_slice text = dg_slice_from(dg_buf_slice(&d->out), from);
    struct dg_prefix p;
    unsigned forms = dg_prefix_scan(dg_slice_upto(text, text.len - 1), DG_KIND_UNKNOWN, &p).forms;
    bool kernel = dg_prefix_kernel(&p, forms);
    if (kernel || (forms & DG_FORM_SYSLOG)) d->aside.last = kernel == (d->side == DG_ASIDE_KERNEL);
    if (!d->aside.last) return false;
    if (d->aside.lines.n > 1 && d->aside.text.len + text.len > ASIDE_MAX) make_room(d);
    dg_buf_add_slice(&d->aside.text, text);
    if (!DG_VEC_PUSH(&d->aside.lines, line, SIZE_MAX / 16) || d->aside.text.failed) d->failed = true;
    d->out.len = from;
    return true;
}

void dg_decoder_emit(struct dg_decoder *d, uint64_t line, struct dg_slice front, struct dg_slice text) {
    struct dg_slice part;
    for (int i = 0; dg_slice_split(&text, '\n', &part); i++) {
        size_t from = d->out.len;
        if (i < DG_FRONTS_MAX) dg_buf_add_slice(&d->out, front);
        dg_buf_add_slice(&d->out, part);
        if (!dg_buf_addc(&d->out, '\n') && d->side && set_aside(d, from, line)) continue;
        add_number(d, line);
    }
}

static void end_part(struct dg_decoder *d, struct dg_part *part) {
    if (part->open) dg_decoder_emit(d, part->line, DG_S(""), dg_buf_slice(&part->text));
    d->failed |= part->text.failed;
    dg_buf_clear(&part->text);
    part->open = false;
}

void dg_decoder_stream(struct dg_decoder *d, uint64_t line, struct dg_slice front, struct dg_slice stream,
                       struct dg_slice text, bool partial) {
    struct dg_part *part = &d->parts[dg_slice_is(stream, "stderr")];
    if (!part->open && !partial) {
        dg_decoder_emit(d, line, front, text);
        return;
    }
    if (!part->open) {
        dg_buf_add_slice(&part->text, front);
        part->line = line;
        part->open = true;
    }
    dg_buf_add_slice(&part->text, text);
    if (!partial || part->text.len > DG_RECORD_MAX) end_part(d, part);
}

void dg_decoder_finish(struct dg_decoder *d) {
    for (size_t i = 0; i < DG_COUNT(d->parts); i++) end_part(d, &d->parts[i]);
}

bool dg_first_line(struct dg_slice in, bool ended, struct dg_slice *ret, size_t *ret_used) {
    ptrdiff_t newline = dg_slice_find_ch(in, '\n');
    if (newline < 0 && !ended) return false;
    *ret = newline < 0 ? in : dg_slice_upto(in, (size_t)newline);
    *ret_used = ret->len + (newline >= 0);
    return true;
}

size_t dg_decode_cri(struct dg_decoder *d, struct dg_slice in, uint64_t line, bool ended) {
    struct dg_slice raw;
    size_t used;
    struct dg_cri cri;
    if (!dg_first_line(in, ended, &raw, &used)) return 0;
    if (!dg_cri_parse(raw, &cri)) {
        dg_decoder_emit(d, line, DG_S(""), raw);
        return used;
    }
    char front[64 + sizeof("stdout F ")];
    size_t n = cri.front.len < 64 ? cri.front.len : 64;
    memcpy(front, cri.front.ptr, n);
    memcpy(front + n, cri.stream.ptr, 6);
    memcpy(front + n + 6, " F ", 3);
    dg_decoder_stream(d, line, dg_slice(front, n + 9), cri.stream, cri.text, cri.partial);
    return used;
}

size_t dg_decode_lines(struct dg_decoder *d, struct dg_slice in, uint64_t line, bool ended) {
    struct dg_slice raw;
    size_t used;
    if (!dg_first_line(in, ended, &raw, &used)) return 0;
    dg_decoder_emit(d, line, DG_S(""), raw);
    return used;
}

enum dg_records dg_records_detect(struct dg_slice head) {
    if (dg_slice_starts(head, DG_S("__CURSOR=")) || dg_slice_starts(head, DG_S("__REALTIME_TIMESTAMP=")))
        return DG_RECORDS_EXPORT;
    struct dg_slice line;
    size_t used;
    unsigned lines = 0, cri = 0, json = 0;
    for (; head.len && lines < HEAD_LINES && dg_first_line(head, lines == 0, &line, &used);
         head = dg_slice_from(head, used)) {
        struct dg_cri ignored;
        if (!dg_slice_trim(line).len) continue;
        lines++;
        if (dg_cri_parse(line, &ignored))
            cri++;
        else if (dg_json_is_record(line))
            json++;
    }
    /* what is no record goes through as it is, so that a part of the lines is enough */
    if (!lines || 4 * (cri > json ? cri : json) < lines) return DG_RECORDS_NONE;
    return cri > json ? DG_RECORDS_CRI : DG_RECORDS_JSON;
}

/* --- the reader --- */

static void forget_taken(struct dg_decoder *d) {
    if (!d->taken) return;
    memmove(d->lines.v, d->lines.v + d->taken, (d->lines.n - d->taken) * sizeof(*d->lines.v));
    d->lines.n -= d->taken;
    d->taken = 0;
}

/* Pass on a piece of a line that does not fit into `in`, up to its newline. */
static void pass(struct records *r) {
    struct dg_slice waiting = dg_slice(r->in + r->at, r->len - r->at);
    ptrdiff_t newline = dg_slice_find_ch(waiting, '\n');
    struct dg_slice piece = newline < 0 ? waiting : dg_slice_upto(waiting, (size_t)newline + 1);
    if (!r->passing) add_number(&r->d, r->line);
    dg_buf_add_slice(&r->d.out, piece);
    r->at += piece.len;
    r->line += newline >= 0;
    r->passing = r->unended = newline < 0;
}

/* Decode what waits in `in` until enough came out; false: it holds no whole record. */
static bool decode_some(struct records *r) {
    struct dg_decoder *d = &r->d;
    size_t lines = d->lines.n;
    while (r->at < r->len && d->out.len < OUT_ENOUGH && d->lines.n - lines < LINES_ENOUGH) {
        bool full = !r->at && r->len == sizeof(r->in);
        struct dg_slice waiting = dg_slice(r->in + r->at, r->len - r->at);
        size_t used = r->passing ? 0 : r->decode(d, waiting, r->line, r->in_ended);
        if (used) {
            r->line += dg_census(dg_slice_upto(waiting, used)).newlines;
            r->at += used;
            r->unended = r->in[r->at - 1] != '\n';
        } else if (r->passing || full) {
            pass(r);
        } else {
            return false;
        }
    }
    return r->at < r->len;
}

/* Read more into `in`. 0, or what the inner reader said. */
static int fill(struct records *r, struct dg_err *err) {
    memmove(r->in, r->in + r->at, r->len - r->at);
    r->len -= r->at;
    r->at = 0;
    if (r->len == sizeof(r->in)) return 0;
    ptrdiff_t n = dg_reader_read(r->base.inner, r->in + r->len, sizeof(r->in) - r->len, err);
    if (n < 0) return (int)n;
    r->in_ended = !n;
    r->len += (size_t)n;
    return 0;
}

static ptrdiff_t read_records(struct dg_reader *base, char *to, size_t size, struct dg_err *err) {
    struct records *r = (struct records *)base;
    struct dg_decoder *d = &r->d;
    while (r->out_at == d->out.len) {
        dg_buf_clear(&d->out);
        r->out_at = 0;
        forget_taken(d);
        if (r->in_ended && r->at == r->len) return 0;
        if (!decode_some(r) && !d->out.len) {
            int failed = fill(r, err);
            if (failed) return failed;
        }
        if (r->in_ended && r->at == r->len) dg_decoder_finish(d);
        if (d->failed || d->out.failed) return dg_err_nomem(err);
    }
    size_t n = d->out.len - r->out_at < size ? d->out.len - r->out_at : size;
    memcpy(to, d->out.ptr + r->out_at, n);
    r->out_at += n;
    return (ptrdiff_t)n;
}

static void free_records(struct dg_reader *base) {
    struct records *r = (struct records *)base;
    struct dg_decoder *d = &r->d;
    dg_buf_release(&d->out);
    dg_buf_release(&d->text);
    free(d->lines.v);
    dg_buf_release(&d->aside.text);
    free(d->aside.lines.v);
    for (size_t i = 0; i < DG_COUNT(d->parts); i++) dg_buf_release(&d->parts[i].text);
    dg_buf_release(&d->entry.message);
    dg_buf_release(&d->entry.host);
    dg_buf_release(&d->entry.ident);
    dg_buf_release(&d->entry.pid);
    dg_buf_release(&d->entry.micro);
    dg_buf_release(&d->entry.boot_micro);
    free(r);
}

struct dg_reader *dg_reader_records(struct dg_reader *inner, enum dg_records records, enum dg_aside aside) {
    static dg_decode *const decoders[] = {[DG_RECORDS_CRI] = dg_decode_cri,
                                          [DG_RECORDS_JSON] = dg_decode_json,
                                          [DG_RECORDS_EXPORT] = dg_decode_export,
                                          [DG_RECORDS_KERNEL] = dg_decode_kernel,
                                          [DG_RECORDS_LINES] = dg_decode_lines};
    struct records *r = inner ? dg_calloc(1, sizeof(*r)) : NULL;
    if (!r) return dg_reader_free(inner);
    r->base = (struct dg_reader){.read = read_records, .free = free_records, .inner = inner};
    r->decode = decoders[records];
    r->d.side = aside;
    r->line = 1;
    struct dg_buf *const bufs[] = {&r->d.out,           &r->d.text,        &r->d.parts[0].text,   &r->d.parts[1].text,
                                   &r->d.entry.message, &r->d.aside.text,  &r->d.entry.host,      &r->d.entry.ident,
                                   &r->d.entry.pid,     &r->d.entry.micro, &r->d.entry.boot_micro};
    for (size_t i = 0; i < DG_COUNT(bufs); i++) dg_buf_init(bufs[i], MESSAGE_MAX);
    return &r->base;
}

void dg_records_take(struct dg_reader *base, uint64_t *to, size_t n) {
    struct dg_decoder *d = &((struct records *)base)->d;
    const uint64_t *numbers = ((struct records *)base)->numbers;
    for (size_t i = 0; i < n; i++) {
        to[i] = d->taken < d->lines.n ? d->lines.v[d->taken++] : d->newest;
        if (numbers && to[i]) to[i] = numbers[to[i] - 1];
    }
}

void dg_records_aside(struct dg_reader *base, struct dg_set_aside *ret) {
    struct dg_decoder *d = &((struct records *)base)->d;
    *ret = (struct dg_set_aside){.len = d->aside.text.len, .cut = d->aside.cut};
    if (!ret->len) return;
    ret->text = dg_buf_take(&d->aside.text);
    ret->numbers = DG_TAKE(d->aside.lines.v);
    d->aside.lines.n = d->aside.lines.cap = 0;
}

struct dg_reader *dg_reader_aside(const struct dg_set_aside *lines, enum dg_records records) {
    struct dg_reader *r = dg_reader_records(dg_reader_text(dg_slice(lines->text, lines->len)), records, DG_ASIDE_NONE);
    if (r) ((struct records *)r)->numbers = lines->numbers;
    return r;
}

uint64_t dg_records_raw(const struct dg_reader *base) {
    const struct records *r = (const struct records *)base;
    return r->line - 1 + r->unended;
}

enum dg_anchor dg_records_boot(const struct dg_reader *base, double *ret_boot, double *ret_spread) {
    const struct dg_decoder *d = &((const struct records *)base)->d;
    if (dg_clock_settle(&d->exact, ret_boot, ret_spread)) return DG_ANCHOR_EXACT;
    return dg_clock_settle(&d->stamped, ret_boot, ret_spread) ? DG_ANCHOR_STAMPED : DG_ANCHOR_NONE;
}
