#include "ingest/form.h"
#include "ingest/prefix.h"

/* " host ident[pid]: ", " host kernel: ", " ident[pid]: ", at the blank behind a time. */
const char *dg_scan_syslog_tag(struct scan *s, const char *p, bool strict) {
    const char *host = byte(s, p, ' ');
    if (!host || host == s->end || !(dg_is_letter(*host) || dg_is_digit(*host) || *host == '(')) return NULL;
    const char *host_end = name(s, host, "");
    const char *ident = host;
    if (host_end && host_end < s->end && *host_end == ' ')
        ident = host_end + 1;
    else
        host_end = host;
    const char *q = ident, *stop = s->end - ident > DG_NAME_MAX ? ident + DG_NAME_MAX : s->end;
    while (q < stop && *q != ' ' && *q != ':' && *q != '[') q++;
    struct dg_slice label = between(ident, q);
    int pid = -1;
    const char *after = byte(s, q, '[') ? byte(s, number(s, q + 1, 1, 9, &pid), ']') : q;
    after = byte(s, after, ':');
    bool kernel = dg_slice_is(label, "kernel");
    if (!after || !label.len || (after < s->end && *after != ' ' && !(kernel && *after == '['))) return NULL;
    if (host_end == host ? strict || (pid < 0 && !kernel) : strict && pid < 0 && !kernel) return NULL;
    s->out->host = between(host, host_end);
    s->out->label = label;
    s->out->pid = pid;
    s->out->syslog = true;
    s->forms |= DG_FORM_SYSLOG | (kernel ? DG_FORM_KERNEL : 0);
    return one_blank(s, after);
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
