#include "ingest/decoder.h"
#include "base/mem.h"
#include "ingest/prefix.h"
#include "ingest/stamp.h"
#include "ingest/text.h"
#include <stdio.h>

/* Add a line, or the several that `text` holds, and look what it says about the clocks. */
static void add(struct dg_decoder *d, uint64_t line, struct dg_slice front, struct dg_slice text) {
    size_t from = d->out.len;
    dg_decoder_emit(d, line, front, text);
    struct dg_slice first = dg_slice_from(dg_buf_slice(&d->out), from);
    ptrdiff_t end = dg_slice_find_ch(first, '\n');
    double boot;
    enum dg_anchor kind = end < 0 ? DG_ANCHOR_NONE : dg_clock_anchor(dg_slice_upto(first, (size_t)end), &boot);
    if (kind == DG_ANCHOR_EXACT) dg_clock_add(&d->exact, boot);
    if (kind == DG_ANCHOR_STAMPED) dg_clock_add(&d->stamped, boot);
}

static int hex(char c) {
    if (dg_is_digit(c)) return c - '0';
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* "\x0a" at the front of `s`; *ret is untouched when something else is. */
static bool escaped(struct dg_slice s, char *ret) {
    int high = s.len > 3 && s.ptr[0] == '\\' && s.ptr[1] == 'x' ? hex(s.ptr[2]) : -1,
        low = high < 0 ? -1 : hex(s.ptr[3]);
    if (low >= 0) *ret = (char)(high * 16 + low);
    return low >= 0;
}

/* "6,3964,206764307,-;msg\x0amore" -> "<6>[  206.764307] msg", "<6>[  206.764307] more". */
static bool kmsg(struct dg_decoder *d, uint64_t line, struct dg_slice raw) {
    struct dg_prefix p;
    if (!raw.len || !dg_is_digit(*raw.ptr)) return false;
    ptrdiff_t comma = dg_slice_find_ch(dg_slice_upto(raw, 8), ','),
              end = dg_slice_find_ch(dg_slice_upto(raw, 256), ';');
    uint64_t priority;
    if (comma < 0 || end < 0 || !dg_slice_u64(dg_slice_upto(raw, (size_t)comma), &priority)) return false;
    dg_prefix_parse(dg_slice_upto(raw, (size_t)end + 1), DG_KIND_KERNEL, &p);
    if (!p.boot_clock || p.body.len) return false;
    char front[64];
    int n = snprintf(front, sizeof(front), "<%u>[%12.6f] ", (unsigned)(priority & 0xff), p.time);
    _cleanup_(dg_buf_release) struct dg_buf text = DG_BUF_INIT(DG_RECORD_MAX);
    for (size_t i = (size_t)end + 1, n_used; i < raw.len; i += n_used) {
        char c = raw.ptr[i];
        n_used = escaped(dg_slice_from(raw, i), &c) ? 4 : 1;
        dg_buf_addc(&text, c);
    }
    d->failed |= text.failed;
    add(d, line, dg_slice(front, (size_t)n), dg_buf_slice(&text));
    return true;
}

/* "[May19 19:57]": the minute that the distances behind it count from. */
static bool set_minute(struct dg_decoder *d, struct dg_slice inside) {
    const char *p = inside.ptr, *end = p + inside.len, *day = p;
    while (day < end && !dg_is_digit(*day) && *day != ' ') day++;
    int mon = dg_stamp_month(dg_slice(p, (size_t)(day - p))), number, hour, min;
    while (day < end && *day == ' ') day++;
    const char *clock = dg_stamp_number(day, end, 1, 2, &number);
    if (!mon || !clock || end - clock != 6 || *clock != ' ' || clock[3] != ':' ||
        !dg_stamp_number(clock + 1, clock + 3, 2, 2, &hour) || !dg_stamp_number(clock + 4, end, 2, 2, &min))
        return false;
    d->minute.mon = mon;
    d->minute.day = number;
    d->minute.min = hour * 60 + min;
    d->minute.sec = 0;
    return true;
}

/* "[May19 19:57] msg" and then "[  +0.000127] msg" of dmesg -H -> "May 19 19:57:00.000127 kernel: msg". */
static bool distance(struct dg_decoder *d, uint64_t line, struct dg_slice raw) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    ptrdiff_t close = dg_slice_find_ch(dg_slice_upto(raw, 32), ']');
    if (close < 2 || *raw.ptr != '[') return false;
    struct dg_slice inside = dg_slice_trim(dg_slice(raw.ptr + 1, (size_t)close - 1));
    double step;
    if (d->minute.mon && inside.len && *inside.ptr == '+' && dg_slice_double(dg_slice_from(inside, 1), &step))
        d->minute.sec += step;
    else if (!set_minute(d, inside))
        return false;
    double min = d->minute.min + floor(d->minute.sec / 60);
    if (min >= 24 * 60) return false; /* into the next day; a line with its date is near */
    char front[64];
    int n = snprintf(front, sizeof(front), "%.3s %2d %02d:%02d:%09.6f kernel: ", names + 3 * (d->minute.mon - 1),
                     d->minute.day, (int)min / 60, (int)min % 60, fmod(d->minute.sec, 60));
    struct dg_slice text = dg_slice_from(raw, (size_t)close + 1);
    add(d, line, dg_slice(front, (size_t)n), dg_slice_from(text, dg_slice_starts(text, DG_S(" "))));
    return true;
}

/* "Mar 07 11:00:00 host kernel: msg#012more": syslog's way to write a newline. */
static void syslog(struct dg_decoder *d, uint64_t line, struct dg_slice raw) {
    struct dg_prefix p;
    dg_prefix_parse(raw, DG_KIND_KERNEL, &p);
    struct dg_slice front = dg_slice(raw.ptr, (size_t)(p.body.ptr - raw.ptr));
    _cleanup_(dg_buf_release) struct dg_buf text = DG_BUF_INIT(DG_RECORD_MAX);
    for (ptrdiff_t at; (at = dg_slice_find(p.body, DG_S("#012"))) >= 0;
         p.body = dg_slice_from(p.body, (size_t)at + 4)) {
        dg_buf_add_slice(&text, dg_slice_upto(p.body, (size_t)at));
        dg_buf_addc(&text, '\n');
    }
    dg_buf_add_slice(&text, p.body);
    d->failed |= text.failed;
    add(d, line, front, dg_buf_slice(&text));
}

/* `raw` without escapes: `raw` itself, or a copy in `plain`. */
static struct dg_slice without_colour(struct dg_slice raw, struct dg_buf *plain) {
    if (dg_slice_find_ch(raw, '\x1b') < 0 || dg_buf_add_slice(plain, raw)) return raw;
    struct dg_escapes e = {0};
    return dg_slice(plain->ptr, dg_text_strip(&e, plain->ptr, plain->len));
}

size_t dg_decode_kernel(struct dg_decoder *d, struct dg_slice in, uint64_t line, bool ended) {
    struct dg_slice raw;
    size_t used;
    if (!dg_first_line(in, ended, &raw, &used)) return 0;
    _cleanup_(dg_buf_release) struct dg_buf plain = DG_BUF_INIT(DG_RECORD_MAX);
    raw = without_colour(raw, &plain);
    d->failed |= plain.failed;
    if (dg_slice_find(raw, DG_S("#012")) >= 0)
        syslog(d, line, raw);
    else if (!kmsg(d, line, raw) && !distance(d, line, raw))
        add(d, line, DG_S(""), raw);
    return used;
}
