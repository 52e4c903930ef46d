#include "base/mem.h"
#include "ingest/form.h"
#include "ingest/prefix.h"

static void set_boot(struct scan *s, int seconds, const char *frac) {
    int micro = 0;
    for (int i = 0; i < 6; i++) micro = micro * 10 + (frac[i] - '0');
    s->out->boot = seconds + micro * 1e-6;
    if (dg_time_known(s->out->time)) return;
    s->out->time = s->out->boot;
    s->out->boot_clock = true;
}

/* Behind "[  199.234935] ": "[   T1946] ", "[    C12] ". */
static const char *caller(struct scan *s, const char *p) {
    const char *q = byte(s, p, '[');
    if (!q) return p;
    q = blanks(s, q);
    bool task = q < s->end && *q == 'T';
    int id;
    q = task || byte(s, q, 'C') ? byte(s, number(s, q + 1, 1, 9, &id), ']') : NULL;
    q = blank_or_end(s, q);
    if (!q) return p;
    if (task) s->out->pid = id;
    return q;
}

/* "[  199.234935] msg", with "<    0.000012>" behind the seconds (dmesg -d), with a caller. */
const char *dg_form_boot_seconds(struct scan *s, const char *p) {
    int seconds, micro;
    const char *frac = byte(s, number(s, blanks(s, p + 1), 1, 9, &seconds), '.');
    const char *q = number(s, frac, 6, 6, &micro);
    if (!q) return NULL;
    if (text(s, q, DG_S(" <"))) {
        const char *close = find(s, q, 24, '>');
        q = close ? close + 1 : NULL;
    }
    q = blank_or_end(s, byte(s, q, ']'));
    if (!q) return NULL;
    set_boot(s, seconds, frac);
    s->forms |= DG_FORM_KERNEL;
    q = caller(s, q);
    const char *host = name(s, q, ""); /* journalctl -o short-monotonic */
    const char *tag = host && text(s, host, DG_S(" kernel: ")) ? dg_scan_syslog_tag(s, q - 1, true) : NULL;
    return tag ? tag : q;
}

/* "[  +0.000127] " of dmesg -H and "[<    0.000127>] ": a distance to the line before, so no time by itself. */
const char *dg_form_kernel_delta(struct scan *s, const char *p) {
    const char *q = blanks(s, p + 1);
    bool angle = byte(s, q, '<');
    if (angle) q = blanks(s, q + 1);
    if (byte(s, q, '+'))
        q++;
    else if (!angle)
        return NULL;
    int seconds, micro;
    q = number(s, byte(s, number(s, q, 1, 9, &seconds), '.'), 6, 6, &micro);
    if (angle) q = byte(s, q, '>');
    q = blank_or_end(s, byte(s, q, ']'));
    if (q) s->forms |= DG_FORM_KERNEL;
    return q;
}

/* "[Sun Feb 23 16:24:18 2025] " (dmesg -T, any language), "[May19 19:57] " (dmesg -H). */
const char *dg_form_kernel_date(struct scan *s, const char *p) {
    const char *close = find(s, p, 64, ']');
    const char *q = blank_or_end(s, close ? close + 1 : NULL);
    if (!q) return NULL;
    struct dg_slice inside = between(p + 1, close);
    struct dg_stamp st = {0};
    if (!dg_stamp_ctime(inside, &st)) {
        st = (struct dg_stamp){0};
        struct scan in = {.end = close};
        const char *day = p + 1;
        while (day < close && !dg_is_digit(*day) && *day != ' ') day++;
        const char *clock = byte(&in, number(&in, blanks(&in, day), 1, 2, &st.day), ' ');
        const char *min = byte(&in, number(&in, clock, 2, 2, &st.hour), ':');
        if (number(&in, min, 2, 2, &st.min) != close) return NULL;
        st.mon = dg_stamp_month(between(p + 1, day));
        if (!st.mon) return NULL;
    }
    dg_scan_time(s, &st);
    s->forms |= DG_FORM_KERNEL;
    return caller(s, q);
}

/* Priorities of syslog and the kernel: 0 is an emergency, 7 for debugging; the facility stands above. */
static char level_of_priority(int priority) { return "FFFEWIID"[priority & 7]; }

/* "<4>[  201.650000] msg" of pstore; "<6>" alone is not enough. */
const char *dg_form_priority(struct scan *s, const char *p) {
    int value;
    const char *q = byte(s, number(s, p + 1, 1, 3, &value), '>');
    if (!byte(s, q, '[')) return NULL;
    s->out->level = level_of_priority(value);
    return q;
}

/* "6,3964,206764307,-;msg" of /dev/kmsg. */
const char *dg_form_kmsg(struct scan *s, const char *p) {
    int value, sequence;
    p = byte(s, number(s, p, 1, 4, &value), ',');
    p = byte(s, number(s, p, 1, 9, &sequence), ',');
    if (!p) return NULL;
    double micro = 0;
    const char *q = p;
    for (; q < s->end && q - p < 18 && dg_is_digit(*q); q++) micro = micro * 10 + (*q - '0');
    if (q == p || !byte(s, q, ',')) return NULL;
    const char *body = find(s, q, DG_BRACKET_MAX, ';');
    if (!body) return NULL;
    s->out->boot = micro * 1e-6;
    if (!dg_time_known(s->out->time)) {
        s->out->time = s->out->boot;
        s->out->boot_clock = true;
    }
    s->out->level = level_of_priority(value);
    s->forms |= DG_FORM_KERNEL;
    return body + 1;
}

static const struct {
    struct dg_slice word;
    char level;
} kernel_levels[] = {
    {{"emerg", 5}, 'F'}, {{"alert", 5}, 'F'},  {{"crit", 4}, 'F'}, {{"err", 3}, 'E'},
    {{"warn", 4}, 'W'},  {{"notice", 6}, 'I'}, {{"info", 4}, 'I'}, {{"debug", 5}, 'D'},
};

static char kernel_level(struct dg_slice word) {
    for (size_t i = 0; i < DG_COUNT(kernel_levels); i++)
        if (dg_slice_starts(word, kernel_levels[i].word)) return kernel_levels[i].level;
    return 0;
}

/* "kern  :warn  : " of dmesg -x. */
const char *dg_form_facility(struct scan *s, const char *p) {
    static const char *const words[] = {"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "cron"};
    const char *q = name(s, p, ""), *word = q ? byte(s, blanks(s, q), ':') : NULL;
    if (!word || q - p > 6) return NULL;
    bool known = false;
    for (size_t i = 0; i < DG_COUNT(words); i++) known |= dg_slice_is(between(p, q), words[i]);
    q = known ? name(s, word, "") : NULL;
    char level = q ? kernel_level(between(word, q)) : 0;
    q = q ? byte(s, blanks(s, q), ':') : NULL;
    if (!level || !byte(s, q, ' ')) return NULL;
    s->out->level = level;
    s->forms |= DG_FORM_KERNEL;
    return q + 1;
}

/* "10.5.0.23: kern: warning: [2026-04-22T21:27:51.291882381Z]: msg" of talosctl dmesg. */
const char *dg_form_talos(struct scan *s, const char *p) {
    const char *host = name(s, p, ":");
    if (!host || host[-1] != ':' || !byte(s, host, ' ')) return NULL;
    const char *facility_end = name(s, host + 1, "");
    const char *word = facility_end ? byte(s, facility_end, ':') : NULL;
    if (!word) return NULL;
    word = blanks(s, word);
    const char *word_end = name(s, word, "");
    struct dg_stamp st = {0};
    const char *q = word_end ? text(s, word_end, DG_S(": [")) : NULL;
    q = text(s, q ? dg_stamp_iso(q, s->end, &st) : NULL, DG_S("]:"));
    if (!q) return NULL;
    s->out->host = between(p, host - 1);
    s->out->level = kernel_level(between(word, word_end));
    dg_scan_time(s, &st);
    s->forms |= DG_FORM_KERNEL;
    return one_blank(s, q);
}

/* "kernel: msg", and " kernel:[405108.698255] msg" of wall(1). */
const char *dg_form_bare_kernel(struct scan *s, const char *p) {
    const char *q = text(s, blanks(s, p), DG_S("kernel:"));
    if (!q || (q < s->end && *q != ' ' && *q != '[')) return NULL;
    s->out->label = dg_slice(q - 7, 6);
    s->out->syslog = true;
    s->forms |= DG_FORM_KERNEL;
    return one_blank(s, q);
}
