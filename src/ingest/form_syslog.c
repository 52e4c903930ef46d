#include "ingest/form.h"
#include "ingest/prefix.h"

struct tag {
    struct dg_slice label;
    int pid; /* -1: none */
    bool kernel;
};

/* "ident[pid]: ", "ident: "; behind the kernel's the blank may be missing. */
static const char *take_tag(const struct scan *s, const char *p, struct tag *ret) {
    const char *q = p, *stop = s->end - p > DG_NAME_MAX ? p + DG_NAME_MAX : s->end;
    while (q < stop && *q != ' ' && *q != ':' && *q != '[') q++;
    *ret = (struct tag){between(p, q), -1, dg_slice_is(between(p, q), "kernel")};
    if (byte(s, q, '[')) q = byte(s, number(s, q + 1, 1, 9, &ret->pid), ']');
    q = byte(s, q, ':');
    bool ends = q == s->end || byte(s, q, ' ') || (ret->kernel && byte(s, q, '['));
    return q && ret->label.len && ends ? one_blank(s, q) : NULL;
}

const char *dg_scan_syslog_tag(struct scan *s, const char *p, bool strict) {
    const char *host = byte(s, p, ' '), *host_end = host ? name(s, host, "") : NULL;
    if (!byte(s, host_end, ' ')) host_end = NULL;
    struct tag tag;
    const char *q = host ? take_tag(s, host_end ? host_end + 1 : host, &tag) : NULL;
    bool sure = q && (tag.kernel || tag.pid >= 0);
    if (!q || (strict && !host_end) || (!sure && (strict || !host_end))) return NULL;
    s->out->host = between(host, host_end ? host_end : host);
    s->out->label = tag.label;
    if (!s->out->unit.len) s->out->unit = tag.label;
    s->out->pid = tag.pid;
    s->out->syslog = true;
    s->forms |= DG_FORM_SYSLOG | (tag.kernel ? DG_FORM_KERNEL : 0);
    return q;
}

/* "Mar 07 11:00:00 host ident[pid]: ". */
const char *dg_form_syslog_line(struct scan *s, const char *p) {
    struct dg_stamp st = {0};
    const char *q = dg_stamp_syslog(p, s->end, &st);
    if (!q) return NULL;
    const char *rest = dg_scan_syslog_tag(s, q, false);
    if (!rest) rest = blank_or_end(s, q);
    if (rest) dg_scan_time(s, &st);
    return rest;
}

/* "Fri 2026-03-07 11:00:00 UTC host ident[pid]: " of journalctl -o short-full. */
const char *dg_form_full_line(struct scan *s, const char *p) {
    if (s->end - p < 24 || p[3] != ' ' || !dg_is_digit(p[4])) return NULL;
    struct dg_stamp st = {0};
    const char *q = dg_stamp_iso(p + 4, s->end, &st);
    const char *zone = byte(s, q, ' ');
    q = zone ? name(s, zone, "+") : NULL;
    if (!q) return NULL;
    if (dg_slice_is(between(zone, q), "UTC")) st.zoned = true;
    q = dg_scan_syslog_tag(s, q, false);
    if (q) dg_scan_time(s, &st);
    return q;
}

/* "1741345200.123456 host ident[pid]: " of journalctl -o short-unix. */
const char *dg_form_unix_line(struct scan *s, const char *p) {
    int seconds[2], micro;
    if (s->end - p < 20 || p[10] != '.') return NULL;
    const char *q = number(s, byte(s, p + 10, '.'), 6, 6, &micro);
    if (!dg_stamp_number(p, p + 5, 5, 5, &seconds[0]) || !dg_stamp_number(p + 5, p + 10, 5, 5, &seconds[1]) || !q)
        return NULL;
    q = dg_scan_syslog_tag(s, q, false);
    if (!q) return NULL;
    if (!dg_time_known(s->out->time)) {
        s->out->time = seconds[0] * 1e5 + seconds[1] + micro * 1e-6;
        s->out->zone_stated = true;
    }
    return q;
}
