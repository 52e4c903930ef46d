#include "ingest/decoder.h"
#include "base/mem.h"
#include "base/timex.h"

static double seconds(struct dg_slice micro) {
    uint64_t v;
    return dg_slice_u64(micro, &v) ? (double)v / 1e6 : DG_TIME_NONE;
}

/* A word as journalctl prints it: what would end it early becomes '_'. */
static void add_word(struct dg_buf *b, struct dg_slice word, const char *otherwise) {
    if (!word.len || word.len > 64) word = dg_cstr(otherwise);
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        dg_buf_addc(b, c == ' ' || c == ':' || c == '[' || c == '\n' ? '_' : c);
    }
}

/* As journalctl -o short-iso-precise prints it. */
void dg_decoder_journal(struct dg_decoder *d, uint64_t line, const struct dg_journal_entry *e) {
    _cleanup_(dg_buf_release) struct dg_buf front = DG_BUF_INIT(512);
    double wall = seconds(e->micro), mono = seconds(e->boot_micro);
    if (dg_time_known(wall)) {
        dg_time_add_rfc3339(&front, wall);
        if (front.len) front.len--;
        dg_buf_adds(&front, "+00:00 ");
        add_word(&front, e->host, "localhost");
        dg_buf_addc(&front, ' ');
        add_word(&front, e->kernel ? DG_S("kernel") : e->ident, "unknown");
        if (e->pid.len && !e->kernel) {
            dg_buf_addc(&front, '[');
            add_word(&front, e->pid, "0");
            dg_buf_addc(&front, ']');
        }
        dg_buf_adds(&front, ": ");
    }
    if (e->kernel && dg_time_known(wall - mono)) dg_clock_add(&d->exact, wall - mono);
    struct dg_slice text = e->message.ptr ? e->message : DG_S("");
    dg_decoder_emit(d, line, dg_buf_slice(&front),
                    dg_slice_ends(text, DG_S("\n")) ? dg_slice_upto(text, text.len - 1) : text);
}

/* --- journalctl -o export: NAME=text, or NAME, newline, 8 bytes of length, bytes, newline; an empty line ends the
 * entry --- */

static void end_entry(struct dg_decoder *d) {
    if (d->entry.line) {
        struct dg_journal_entry e = {
            .micro = dg_buf_slice(&d->entry.micro),
            .boot_micro = dg_buf_slice(&d->entry.boot_micro),
            .host = dg_buf_slice(&d->entry.host),
            .ident = dg_buf_slice(&d->entry.ident),
            .pid = dg_buf_slice(&d->entry.pid),
            .message = dg_buf_slice(&d->entry.message),
            .kernel = d->entry.kernel,
        };
        dg_decoder_journal(d, d->entry.line, &e);
    }
    struct dg_buf *const all[] = {&d->entry.micro, &d->entry.boot_micro, &d->entry.host,
                                  &d->entry.ident, &d->entry.pid,        &d->entry.message};
    for (size_t i = 0; i < DG_COUNT(all); i++) {
        d->failed |= all[i]->failed;
        dg_buf_clear(all[i]);
    }
    d->entry.kernel = false;
    d->entry.line = 0;
}

static void set_field(struct dg_decoder *d, uint64_t line, struct dg_slice name, struct dg_slice value) {
    const struct {
        struct dg_slice name;
        struct dg_buf *to;
    } fields[] = {
        {DG_S("MESSAGE"), &d->entry.message},
        {DG_S("__REALTIME_TIMESTAMP"), &d->entry.micro},
        {DG_S("__MONOTONIC_TIMESTAMP"), &d->entry.boot_micro},
        {DG_S("_HOSTNAME"), &d->entry.host},
        {DG_S("SYSLOG_IDENTIFIER"), &d->entry.ident},
        {DG_S("_PID"), &d->entry.pid},
    };
    for (size_t i = 0; i < DG_COUNT(fields); i++)
        if (dg_slice_eq(name, fields[i].name)) {
            dg_buf_clear(fields[i].to); /* of a field that occurs twice the last counts */
            dg_buf_add_slice(fields[i].to, value);
        }
    if (dg_slice_is(name, "MESSAGE")) d->entry.line = line;
    if (dg_slice_is(name, "_COMM") && !d->entry.ident.len) dg_buf_add_slice(&d->entry.ident, value);
    if (dg_slice_is(name, "_TRANSPORT")) d->entry.kernel = dg_slice_is(value, "kernel");
}

/* A field with a length: `in` begins at the length. Bytes used, 0: not all there. */
static size_t binary_field(struct dg_decoder *d, struct dg_slice in, uint64_t line, struct dg_slice name) {
    uint64_t size = 0;
    if (in.len < 8) return 0;
    for (int i = 7; i >= 0; i--) size = size << 8 | (unsigned char)in.ptr[i];
    if (size > DG_RECORD_MAX / 2) { /* an attached core or the like */
        d->entry.skip = size > UINT64_MAX - 1 ? size : size + 1;
        return 8;
    }
    if (in.len < 8 + size + 1) return 0;
    set_field(d, line, name, dg_slice(in.ptr + 8, (size_t)size));
    return 8 + (size_t)size + 1;
}

size_t dg_decode_export(struct dg_decoder *d, struct dg_slice in, uint64_t line, bool ended) {
    if (d->entry.skip) {
        size_t n = d->entry.skip < in.len ? (size_t)d->entry.skip : in.len;
        d->entry.skip -= n;
        return n;
    }
    struct dg_slice raw;
    size_t used;
    if (!dg_first_line(in, ended, &raw, &used)) return 0;
    ptrdiff_t equals = dg_slice_find_ch(raw, '=');
    if (!raw.len) {
        end_entry(d);
    } else if (equals >= 0) {
        set_field(d, line, dg_slice_upto(raw, (size_t)equals), dg_slice_from(raw, (size_t)equals + 1));
    } else {
        size_t more = binary_field(d, dg_slice_from(in, used), line, raw);
        if (!more && !ended) return 0;
        used = more ? used + more : in.len;
    }
    if (ended && used == in.len) end_entry(d);
    return used;
}
