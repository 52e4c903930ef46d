#include "ingest/prefix.h"
#include "base/mem.h"
#include "ingest/stamp.h"

enum { DEPTH_MAX = 12, NAME_MAX_LEN = 64, BRACKET_MAX = 128, FIELDS_MAX = 3 };

/* What stands directly in front of the place in hand: a level word or bracketed fields belong to the prefix only behind
 * a time that the same program printed. Behind a container's or the journal's front the message begins anew, so that it
 * reads the same in any clothes. */
enum behind { NOTHING, DATE_T, DATE, FIELD };

/* One line while it is taken apart. The functions below take the form that begins at `p`, note what it says in `out`
 * and return the place behind it, or NULL and note nothing when the form is another. */
struct scan {
    const char *end;
    struct dg_prefix *out;
    enum dg_kind kind;
    unsigned forms;
    double dated;               /* epoch of a time with a year behind one without */
    enum behind behind, leaves; /* what is in front; what the form taken will be for the next */
};

static const char *byte(const struct scan *s, const char *p, char c) {
    return p && p < s->end && *p == c ? p + 1 : NULL;
}

static const char *text(const struct scan *s, const char *p, struct dg_slice t) {
    return p && (size_t)(s->end - p) >= t.len && !memcmp(p, t.ptr, t.len) ? p + t.len : NULL;
}

static const char *number(const struct scan *s, const char *p, int min, int max, int *ret) {
    return p ? dg_stamp_number(p, s->end, min, max, ret) : NULL;
}

static const char *blanks(const struct scan *s, const char *p) {
    while (p < s->end && *p == ' ') p++;
    return p;
}

/* One blank, or the end of the line. */
static const char *blank_or_end(const struct scan *s, const char *p) {
    if (!p || p == s->end) return p;
    return *p == ' ' || *p == '\t' ? p + 1 : NULL;
}

static const char *one_blank(const struct scan *s, const char *p) { return p < s->end && *p == ' ' ? p + 1 : p; }

static bool in_name(char c) { return dg_is_letter(c) || dg_is_digit(c) || c == '.' || c == '_' || c == '-'; }

/* Letters, digits, '.', '_', '-', and those of `also`; NULL when there are none or too many. */
static const char *name(const struct scan *s, const char *p, const char *also) {
    const char *q = p;
    while (q < s->end && (in_name(*q) || (*q && strchr(also, *q)))) q++;
    return q > p && q - p <= NAME_MAX_LEN ? q : NULL;
}

static struct dg_slice between(const char *from, const char *to) { return dg_slice(from, (size_t)(to - from)); }

/* The outermost time is kept: the lines of one source then share one clock. */
static void set_time(struct scan *s, const struct dg_stamp *st) {
    if (dg_time_known(s->out->time)) {
        if (s->out->year_missing && st->year) s->dated = dg_stamp_epoch(st, 0);
        return;
    }
    s->out->time = dg_stamp_epoch(st, dg_time_now());
    s->out->zone_stated = st->zoned;
    s->out->year_missing = !st->year;
}

static void set_process(struct scan *s, struct dg_slice label, long pid) {
    if (label.len) s->out->label = label;
    if (pid >= 0) s->out->pid = pid;
    if (label.len || pid >= 0) s->out->syslog = false;
}

/* "TP3" within a label. */
static void set_rank_of(struct scan *s, struct dg_slice label) {
    ptrdiff_t at = dg_slice_find(label, DG_S("TP"));
    int rank;
    if (at >= 0 && dg_stamp_number(label.ptr + at + 2, label.ptr + label.len, 1, 4, &rank)) s->out->rank = rank;
}

/* --- levels --- */

static const struct {
    struct dg_slice word;
    char level;
} levels[] = {
    {{"INFO", 4}, 'I'},     {{"WARNING", 7}, 'W'}, {{"ERROR", 5}, 'E'}, {{"DEBUG", 5}, 'D'},
    {{"CRITICAL", 8}, 'F'}, {{"WARN", 4}, 'W'},    {{"FATAL", 5}, 'F'}, {{"TRACE", 5}, 'D'},
    {{"NOTICE", 6}, 'I'},   {{"VERBOSE", 7}, 'D'}, {{"ERR", 3}, 'E'},
};

static const char *level_word(const struct scan *s, const char *p, char *ret) {
    if (!p || p == s->end || *p < 'C' || *p > 'W') return NULL;
    for (size_t i = 0; i < DG_COUNT(levels); i++) {
        const char *q = text(s, p, levels[i].word);
        if (!q || (q < s->end && (dg_is_letter(*q) || *q == '_'))) continue;
        *ret = levels[i].level;
        return q;
    }
    return NULL;
}

static char level_letter(char c) {
    switch (c) {
    case 'I':
    case 'W':
    case 'E':
    case 'D':
    case 'F': return c;
    case 'C': return 'F';
    case 'V': return 'D';
    default: return 0;
    }
}

/* Priorities of syslog and the kernel, 0..7. */
static char level_of_priority(int priority) { return "FFFEWIID"[priority & 7]; }

/* --- pieces that several forms share --- */

/* "file.py:712", "src/server.rs:12", "real.py:203:fn", and what closes it: one of `close`. */
static const char *source_place(const struct scan *s, const char *p, const char *close) {
    if (!p) return NULL;
    const char *stop = s->end - p > BRACKET_MAX ? p + BRACKET_MAX : s->end;
    const char *line = NULL; /* its number */
    for (; p < stop && *p && *p != ' '; p++) {
        if (line && p > line && strchr(close, *p)) return p + 1;
        if (!line && *p == ':' && p + 1 < stop && dg_is_digit(p[1])) line = p + 1;
    }
    return NULL;
}

/* " host ident[pid]: ", " host kernel: ", " ident[pid]: ", at the blank behind a time. */
static const char *syslog_tag(struct scan *s, const char *p, bool strict) {
    const char *host = byte(s, p, ' ');
    if (!host || host == s->end || !(dg_is_letter(*host) || dg_is_digit(*host) || *host == '(')) return NULL;
    const char *host_end = name(s, host, "");
    const char *ident = host;
    if (host_end && host_end < s->end && *host_end == ' ')
        ident = host_end + 1;
    else
        host_end = host;
    const char *q = ident, *stop = s->end - ident > NAME_MAX_LEN ? ident + NAME_MAX_LEN : s->end;
    while (q < stop && *q != ' ' && *q != ':' && *q != '[') q++;
    struct dg_slice label = between(ident, q);
    int pid = -1;
    const char *after = byte(s, q, '[') ? byte(s, number(s, q + 1, 1, 9, &pid), ']') : q;
    after = byte(s, after, ':');
    bool kernel = dg_slice_is(label, "kernel");
    if (!after || !label.len || (after < s->end && *after != ' ' && !(kernel && *after == '['))) return NULL;
    if ((strict || host_end == host) && pid < 0 && !kernel) return NULL;
    s->out->host = between(host, host_end);
    s->out->label = label;
    s->out->pid = pid;
    s->out->syslog = true;
    s->forms |= DG_FORM_SYSLOG | (kernel ? DG_FORM_KERNEL : 0);
    return one_blank(s, after);
}

/* --- kernel --- */

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
static const char *boot_seconds(struct scan *s, const char *p) {
    int seconds, micro;
    const char *frac = byte(s, number(s, blanks(s, p + 1), 1, 9, &seconds), '.');
    const char *q = number(s, frac, 6, 6, &micro);
    if (!q) return NULL;
    if (text(s, q, DG_S(" <"))) {
        const char *close = memchr(q, '>', (size_t)(s->end - q > 24 ? 24 : s->end - q));
        q = close ? close + 1 : NULL;
    }
    q = blank_or_end(s, byte(s, q, ']'));
    if (!q) return NULL;
    set_boot(s, seconds, frac);
    s->forms |= DG_FORM_KERNEL;
    q = caller(s, q);
    const char *host = name(s, q, ""); /* journalctl -o short-monotonic */
    const char *tag = host && text(s, host, DG_S(" kernel: ")) ? syslog_tag(s, q - 1, true) : NULL;
    return tag ? tag : q;
}

/* "[  +0.000127] " of dmesg -H and "[<    0.000127>] ": a distance to the line before, so no time by itself. */
static const char *kernel_delta(struct scan *s, const char *p) {
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
static const char *kernel_date(struct scan *s, const char *p) {
    const char *close = memchr(p, ']', (size_t)(s->end - p > 64 ? 64 : s->end - p));
    const char *q = blank_or_end(s, close ? close + 1 : NULL);
    if (!q) return NULL;
    struct dg_slice inside = between(p + 1, close);
    struct dg_stamp st = {0};
    if (!dg_stamp_ctime(inside, &st)) {
        st = (struct dg_stamp){0};
        struct scan in = {.end = close};
        const char *day = p + 1;
        while (day < close && !dg_is_digit(*day) && *day != ' ') day++;
        st.mon = dg_stamp_month(between(p + 1, day));
        const char *clock = byte(&in, number(&in, blanks(&in, day), 1, 2, &st.day), ' ');
        const char *min = byte(&in, number(&in, clock, 2, 2, &st.hour), ':');
        if (!st.mon || number(&in, min, 2, 2, &st.min) != close) return NULL;
    }
    set_time(s, &st);
    s->forms |= DG_FORM_KERNEL;
    return caller(s, q);
}

/* "<4>[  201.650000] msg" of pstore; "<6>" alone is not enough. */
static const char *priority(struct scan *s, const char *p) {
    int value;
    const char *q = byte(s, number(s, p + 1, 1, 3, &value), '>');
    if (!byte(s, q, '[')) return NULL;
    s->out->level = level_of_priority(value);
    return q;
}

/* "6,3964,206764307,-;msg" of /dev/kmsg. */
static const char *kmsg(struct scan *s, const char *p) {
    int value, sequence;
    p = byte(s, number(s, p, 1, 4, &value), ',');
    p = byte(s, number(s, p, 1, 9, &sequence), ',');
    if (!p) return NULL;
    double micro = 0;
    const char *q = p;
    for (; q < s->end && q - p < 18 && dg_is_digit(*q); q++) micro = micro * 10 + (*q - '0');
    if (q == p || !byte(s, q, ',')) return NULL;
    const char *body = memchr(q, ';', (size_t)(s->end - q > BRACKET_MAX ? BRACKET_MAX : s->end - q));
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
static const char *facility(struct scan *s, const char *p) {
    static const char *const words[] = {"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "cron"};
    const char *q = name(s, p, "");
    if (!q || q - p > 6) return NULL;
    bool known = false;
    for (size_t i = 0; i < DG_COUNT(words); i++) known |= dg_slice_is(between(p, q), words[i]);
    const char *word = known ? byte(s, blanks(s, q), ':') : NULL;
    q = word ? name(s, word, "") : NULL;
    char level = q ? kernel_level(between(word, q)) : 0;
    q = q ? byte(s, blanks(s, q), ':') : NULL;
    if (!level || !byte(s, q, ' ')) return NULL;
    s->out->level = level;
    s->forms |= DG_FORM_KERNEL;
    return q + 1;
}

/* "10.5.0.23: kern: warning: [2026-04-22T21:27:51.291882381Z]: msg" of talosctl dmesg. */
static const char *talos(struct scan *s, const char *p) {
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
    set_time(s, &st);
    s->forms |= DG_FORM_KERNEL;
    return one_blank(s, q);
}

/* "kernel: msg", and " kernel:[405108.698255] msg" of wall(1). */
static const char *bare_kernel(struct scan *s, const char *p) {
    const char *q = text(s, blanks(s, p), DG_S("kernel:"));
    if (!q || (q < s->end && *q != ' ' && *q != '[')) return NULL;
    s->out->label = dg_slice(q - 7, 6);
    s->out->syslog = true;
    s->forms |= DG_FORM_KERNEL;
    return one_blank(s, q);
}

/* --- what container runtimes and launchers put in front --- */

bool dg_cri_parse(struct dg_slice line, struct dg_cri *ret) {
    struct scan s = {.end = line.ptr + line.len};
    struct dg_stamp st = {0};
    if (line.len < 20 || !dg_is_digit(*line.ptr) || line.ptr[10] != 'T') return false;
    const char *stream = byte(&s, dg_stamp_iso(line.ptr, s.end, &st), ' ');
    const char *q = text(&s, stream, DG_S("stdout "));
    if (!q) q = text(&s, stream, DG_S("stderr "));
    if (!q || q == s.end || (*q != 'F' && *q != 'P')) return false;
    const char *tag = q + 1;
    if (tag < s.end && *tag == ':') tag = memchr(tag, ' ', (size_t)(s.end - tag)); /* more tags may follow the first */
    const char *body = tag == s.end ? tag : byte(&s, tag, ' ');
    if (!body) return false;
    *ret = (struct dg_cri){between(line.ptr, stream), dg_slice(stream, 6), *q == 'P', between(body, s.end)};
    return true;
}

/* "vllm-1  | msg", "[sglang]     | msg" of docker compose. */
static const char *compose(struct scan *s, const char *p) {
    bool bracket = *p == '[';
    const char *from = p + bracket, *to = name(s, from, "@");
    const char *q = to && bracket ? byte(s, to, ']') : to;
    if (!q || !byte(s, q, ' ') || (!bracket && !text(s, q, DG_S("  ")))) return NULL;
    q = byte(s, blanks(s, q), '|');
    if (!q || (q < s->end && *q != ' ')) return NULL;
    s->out->label = between(from, to);
    return one_blank(s, q);
}

/* "3: msg" of srun -l. */
static const char *task_number(struct scan *s, const char *p) {
    int task;
    const char *q = byte(s, number(s, p, 1, 5, &task), ':');
    if (!q || (q < s->end && *q != ' ') || s->kind == DG_KIND_KERNEL || s->kind == DG_KIND_ENVIRONMENT) return NULL;
    s->out->rank = task;
    return one_blank(s, q);
}

/* "[1,0]<stdout>:msg" of mpirun. */
static const char *mpi_rank(struct scan *s, const char *p) {
    int job, rank;
    const char *q = byte(s, number(s, byte(s, number(s, p + 1, 1, 9, &job), ','), 1, 6, &rank), ']');
    const char *r = text(s, q, DG_S("<stdout>:"));
    if (!r) r = text(s, q, DG_S("<stderr>:"));
    if (!r) return NULL;
    s->out->rank = rank;
    s->forms |= DG_FORM_ENGINE;
    return text(s, r, DG_S("  ")) ? r : one_blank(s, r); /* more than one blank is the message's own */
}

/* "[rank3]: msg", "[rank3]:[E312 …", "[default0]:msg", "[trainer0]:msg" of torchrun. */
static const char *torch_rank(struct scan *s, const char *p) {
    static const struct dg_slice words[] = {{"rank", 4}, {"default", 7}, {"trainer", 7}};
    int rank;
    for (size_t i = 0; i < DG_COUNT(words); i++) {
        const char *q = byte(s, byte(s, number(s, text(s, p + 1, words[i]), 1, 6, &rank), ']'), ':');
        if (!q) continue;
        s->out->rank = rank;
        s->forms |= DG_FORM_ENGINE;
        return one_blank(s, q);
    }
    return NULL;
}

/* "(RayWorkerWrapper pid=123, ip=10.0.0.1) ", "(EngineCore_DP0 pid=339) ", "(VllmWorker rank=0 pid=625) ", "(raylet) ".
 */
static const char *process(struct scan *s, const char *p) {
    const char *close = memchr(p, ')', (size_t)(s->end - p > BRACKET_MAX ? BRACKET_MAX : s->end - p));
    const char *q = close ? close + 1 : NULL;
    if (!q || (q < s->end && *q != ' ' && *q != '[')) return NULL;
    struct dg_slice inside = between(p + 1, close), label = {0};
    int pid = -1, rank = -1;
    struct dg_slice ip = {0};
    for (const char *at = inside.ptr; at < close;) {
        const char *to = at;
        while (to < close && *to != ' ' && *to != ',') to++;
        struct dg_slice field = between(at, to);
        if (dg_slice_starts(field, DG_S("pid=")))
            dg_stamp_number(at + 4, to, 1, 9, &pid);
        else if (dg_slice_starts(field, DG_S("rank=")))
            dg_stamp_number(at + 5, to, 1, 6, &rank);
        else if (dg_slice_starts(field, DG_S("ip=")))
            ip = dg_slice_from(field, 3);
        else if (at == inside.ptr)
            label = field;
        for (at = to; at < close && (*at == ' ' || *at == ',');) at++;
    }
    if (pid < 0 && !dg_slice_is(label, "raylet") && !dg_slice_is(label, "autoscaler")) return NULL;
    set_process(s, label, pid);
    set_rank_of(s, label);
    if (rank >= 0) s->out->rank = rank;
    if (ip.len) s->out->host = ip;
    s->forms |= DG_FORM_ENGINE;
    return one_blank(s, q);
}

/* --- what servers and their libraries print --- */

/* "E0307 10:00:00.123456 12345 file.cc:33] msg" (glog, klog), "E312 08:09:53.122 TCPStore.cpp:106] msg" (torch). */
static const char *glog(struct scan *s, const char *p) {
    char level = level_letter(*p);
    int date, pid;
    struct dg_stamp st = {0};
    const char *q = level ? byte(s, number(s, p + 1, 3, 4, &date), ' ') : NULL;
    q = q ? byte(s, dg_stamp_clock(q, s->end, &st), ' ') : NULL;
    if (!q) return NULL;
    q = blanks(s, q);
    const char *after = byte(s, number(s, q, 1, 9, &pid), ' ');
    q = source_place(s, after ? after : q, "]");
    q = blank_or_end(s, q);
    if (!q) return NULL;
    st.mon = date / 100;
    st.day = date % 100;
    set_time(s, &st);
    s->out->level = level;
    if (after) set_process(s, (struct dg_slice){0}, pid);
    s->forms |= DG_FORM_ENGINE;
    return q;
}

/* Behind a level and a blank: "03-07 10:00:01 [core.py:843] ", "03-07 10:00:01 api_server.py:712] " of vLLM. */
static const char *vllm(struct scan *s, const char *p) {
    struct dg_stamp st = {0};
    const char *q = byte(s, number(s, p, 2, 2, &st.mon), '-');
    q = byte(s, number(s, q, 2, 2, &st.day), ' ');
    q = q ? byte(s, dg_stamp_clock(q, s->end, &st), ' ') : NULL;
    if (!q) return NULL;
    q = blank_or_end(s, source_place(s, q + (*q == '['), "]"));
    if (q) set_time(s, &st);
    return q;
}

/* Behind a level: ": ", "    ", " file.py:54: ", " worker.py:1673 -- ", "     | module:fn:12 - ", " name: file.rs:12:
 * ". */
static const char *after_level(const struct scan *s, const char *p) {
    if (byte(s, p, ':')) p++;
    const char *q = blanks(s, p);
    if (q == p && q < s->end) return NULL;
    if (text(s, q, DG_S("| "))) {
        const char *place = source_place(s, q + 2, "0123456789");
        while (place && place < s->end && dg_is_digit(*place)) place++;
        place = text(s, place, DG_S(" - "));
        return place ? place : q;
    }
    const char *place = source_place(s, q, ":]");
    if (place && blank_or_end(s, place)) return blank_or_end(s, place);
    const char *target = name(s, q, ":");
    place = target && target[-1] == ':' ? source_place(s, byte(s, target, ' '), ":") : NULL;
    if (place && blank_or_end(s, place)) return blank_or_end(s, place);
    const char *file = name(s, q, ":/");
    const char *dashes = file && dg_is_digit(file[-1]) ? text(s, file, DG_S(" -- ")) : NULL;
    return dashes ? dashes : q;
}

/* "ERROR 12-02 11:42:02 [core.py:843] "; behind a time also other levels. */
static const char *level(struct scan *s, const char *p) {
    char letter;
    const char *q = level_word(s, blanks(s, p), &letter);
    if (!q) return NULL;
    const char *rest = byte(s, q, ' ') ? vllm(s, q + 1) : NULL;
    if (!rest && (s->behind == DATE || (s->behind == DATE_T && !byte(s, q, ':')))) rest = after_level(s, q);
    if (!rest) return NULL;
    s->out->level = letter;
    s->forms |= DG_FORM_ENGINE;
    return rest;
}

/* Behind a time: " - name - ERROR - msg" of Python's logging. */
static const char *dashed(struct scan *s, const char *p) {
    for (int i = 0; i < FIELDS_MAX; i++) {
        p = text(s, p, DG_S(" - "));
        char letter;
        const char *q = level_word(s, p, &letter);
        if (q) {
            const char *rest = text(s, q, DG_S(" - "));
            if (!rest) rest = text(s, q, DG_S(": "));
            if (!rest && q < s->end) return NULL;
            s->out->level = letter;
            s->forms |= DG_FORM_ENGINE;
            return rest ? rest : q;
        }
        p = p ? name(s, p, ":/<>[]") : NULL;
        if (!p) return NULL;
    }
    return NULL;
}

/* Behind a time: ": W external/xla/x.cc:64] msg" of TensorFlow and XLA. */
static const char *tensorflow(struct scan *s, const char *p) {
    const char *q = text(s, p, DG_S(": "));
    char letter = q && q < s->end ? level_letter(*q) : 0;
    q = letter ? blank_or_end(s, source_place(s, byte(s, q + 1, ' '), "]")) : NULL;
    if (!q) return NULL;
    s->out->level = letter;
    s->forms |= DG_FORM_ENGINE;
    return q;
}

/* A line that begins with a full date. */
static const char *iso(struct scan *s, const char *p) {
    struct dg_stamp st = {0};
    const char *q = dg_stamp_iso(p, s->end, &st), *rest = NULL;
    if (!q) return NULL;
    struct dg_cri cri;
    if (dg_cri_parse(between(p, s->end), &cri)) {
        set_time(s, &st);
        return cri.text.ptr;
    }
    bool offset = st.zoned && q[-1] != 'Z';
    char letter;
    if (!level_word(s, byte(s, q, ' '), &letter)) /* "ERROR name: …" looks like "host ident: …" */
        rest = syslog_tag(s, q, !offset || st.fraction > 6);
    if (!rest) rest = dashed(s, q);
    if (!rest) rest = tensorflow(s, q);
    if (!rest) {
        rest = blank_or_end(s, q);
        if (!rest) return NULL;
        s->leaves = p[10] == 'T' ? DATE_T : DATE;
        /* dmesg --time-format iso */
        if (st.comma && st.fraction == 6 && p[10] == 'T' && offset) s->forms |= DG_FORM_KERNEL;
    }
    set_time(s, &st);
    return rest;
}

/* Inside of "[2026-05-22 09:20:44 DP0 TP5 EP5]" behind the time: a label, "+0000", "E 2190 2190" (Ray). */
static const char *bracket_tail(struct scan *s, const char *p) {
    const char *close = memchr(p, ']', (size_t)(s->end - p > NAME_MAX_LEN ? NAME_MAX_LEN : s->end - p));
    if (!close) return NULL;
    struct dg_slice tail = dg_slice_trim(between(p, close));
    if (!tail.len || *tail.ptr == '+' || *tail.ptr == '-') return close + 1;
    char letter = tail.len > 2 && tail.ptr[1] == ' ' ? level_letter(*tail.ptr) : 0;
    int pid;
    if (letter && dg_is_digit(tail.ptr[2])) {
        const char *blank = memchr(tail.ptr + 2, ' ', tail.len - 2);
        s->out->level = letter;
        if (dg_stamp_number(tail.ptr + 2, blank ? blank : close, 1, 9, &pid)) set_process(s, (struct dg_slice){0}, pid);
        return close + 1;
    }
    if (level_word(s, tail.ptr, &letter))
        s->out->level = letter;
    else
        set_process(s, tail, -1);
    set_rank_of(s, tail);
    return close + 1;
}

/* "[2026-05-22 09:20:44 TP5] ", "[12/02/2025-11:42:02] ". */
static const char *bracket_time(struct scan *s, const char *p) {
    struct dg_stamp st = {0};
    const char *q = dg_stamp_iso(p + 1, s->end, &st);
    if (!q) {
        st = (struct dg_stamp){0};
        q = byte(s, number(s, p + 1, 2, 2, &st.mon), '/');
        q = byte(s, number(s, q, 2, 2, &st.day), '/');
        q = byte(s, number(s, q, 4, 4, &st.year), '-');
        q = q ? dg_stamp_clock(q, s->end, &st) : NULL;
    }
    if (!q || q == s->end || (*q != ']' && *q != ' ')) return NULL;
    q = bracket_tail(s, q);
    if (!q) return NULL;
    if (byte(s, q, ':')) q++;
    set_time(s, &st);
    s->leaves = DATE;
    s->forms |= DG_FORM_ENGINE;
    return one_blank(s, q);
}

/* "[TRT-LLM] [E] ", "[TensorRT-LLM][ERROR] ", "[RANK 3] ", "[INFO] ", "[7] ", "[file.py:12:fn] ": only where a time or
 * another such field is in front, or a level behind. */
static const char *field(struct scan *s, const char *p) {
    const char *close = memchr(p, ']', (size_t)(s->end - p > BRACKET_MAX ? BRACKET_MAX : s->end - p));
    if (!close || close == p + 1) return NULL;
    struct dg_slice inside = between(p + 1, close);
    char letter = inside.len == 1 ? level_letter(*inside.ptr) : 0;
    struct scan in = {.end = close};
    bool is_level = letter || level_word(&in, p + 1, &letter) == close;
    bool trt = dg_slice_is(inside, "TRT-LLM") || dg_slice_is(inside, "TensorRT-LLM") || dg_slice_is(inside, "TRT");
    int value;
    if (s->behind != DATE && s->behind != FIELD && !(trt && byte(s, close + 1, '['))) return NULL;
    if (is_level)
        s->out->level = letter;
    else if (dg_slice_starts(inside, DG_S("RANK ")) && number(&in, p + 6, 1, 6, &value) == close)
        s->out->rank = value;
    else if (number(&in, p + 1, 1, 7, &value) == close && byte(s, close + 1, ' '))
        set_process(s, (struct dg_slice){0}, value);
    else if (!trt && source_place(s, p + 1, "]:") == NULL)
        return NULL;
    s->leaves = FIELD;
    s->forms |= DG_FORM_ENGINE;
    return one_blank(s, close + 1);
}

/* "host:123:456 [0] NCCL WARN msg", with a file in between; the message begins at NCCL. */
static const char *nccl(struct scan *s, const char *p) {
    const char *host = name(s, p, "");
    int pid, tid, device;
    const char *q = host ? byte(s, number(s, byte(s, host, ':'), 1, 9, &pid), ':') : NULL;
    q = text(s, number(s, q, 1, 9, &tid), DG_S(" ["));
    q = text(s, number(s, q, 1, 4, &device), DG_S("] "));
    if (!q) return NULL;
    struct dg_slice near = between(q, s->end - q > BRACKET_MAX ? q + BRACKET_MAX : s->end);
    ptrdiff_t at = dg_slice_find(near, DG_S("NCCL "));
    if (at < 0) return NULL;
    s->out->host = between(p, host);
    s->out->rank = device;
    set_process(s, (struct dg_slice){0}, pid);
    char letter;
    if (level_word(s, q + at + 5, &letter)) s->out->level = letter;
    s->forms |= DG_FORM_ENGINE;
    return q + at;
}

/* "time=2026-03-07T10:00:00.1Z level=ERROR source=server.go:421 msg=…" (Ollama), time="…" (logrus). The message begins
 * at msg=. */
static const char *key_values(struct scan *s, const char *p) {
    struct dg_stamp st = {0};
    const char *q = text(s, p, DG_S("time="));
    bool quoted = byte(s, q, '"');
    q = q ? dg_stamp_iso(q + quoted, s->end, &st) : NULL;
    if (quoted) q = byte(s, q, '"');
    const char *word = text(s, q, DG_S(" level="));
    const char *word_end = word ? name(s, word, "") : NULL;
    q = word_end ? byte(s, word_end, ' ') : NULL;
    if (!q) return NULL;
    if (text(s, q, DG_S("source="))) {
        const char *blank = memchr(q, ' ', (size_t)(s->end - q > BRACKET_MAX ? BRACKET_MAX : s->end - q));
        if (blank) q = blank + 1;
    }
    set_time(s, &st);
    s->out->level = level_letter((char)(*word & ~0x20));
    s->forms |= DG_FORM_ENGINE;
    return q;
}

/* "0.00.123.456 I msg" of llama.cpp with --log-timestamps. */
static const char *llama(struct scan *s, const char *p) {
    int v;
    const char *q = byte(s, number(s, byte(s, number(s, p, 1, 6, &v), '.'), 2, 2, &v), '.');
    q = byte(s, number(s, byte(s, number(s, q, 3, 3, &v), '.'), 3, 3, &v), ' ');
    char letter = q && q < s->end ? level_letter(*q) : 0;
    if (!letter || !byte(s, q + 1, ' ')) return NULL;
    s->out->level = letter;
    s->forms |= DG_FORM_ENGINE;
    return q + 2;
}

/* --- by the first byte --- */

/* "Mar 07 11:00:00 host ident[pid]: ". */
static const char *syslog_line(struct scan *s, const char *p) {
    struct dg_stamp st = {0};
    const char *q = dg_stamp_syslog(p, s->end, &st);
    if (!q) return NULL;
    const char *rest = syslog_tag(s, q, false);
    if (!rest) rest = blank_or_end(s, q);
    if (rest) set_time(s, &st);
    return rest;
}

/* "Fri 2026-03-07 11:00:00 UTC host ident[pid]: " of journalctl -o short-full. */
static const char *full_line(struct scan *s, const char *p) {
    if (s->end - p < 24 || p[3] != ' ' || !dg_is_digit(p[4])) return NULL;
    struct dg_stamp st = {0};
    const char *q = dg_stamp_iso(p + 4, s->end, &st);
    const char *zone = byte(s, q, ' ');
    q = zone ? name(s, zone, "+") : NULL;
    if (!q) return NULL;
    if (dg_slice_is(between(zone, q), "UTC")) st.zoned = true;
    q = syslog_tag(s, q, false);
    if (q) set_time(s, &st);
    return q;
}

/* "1741345200.123456 host ident[pid]: " of journalctl -o short-unix. */
static const char *unix_line(struct scan *s, const char *p) {
    int seconds[2], micro;
    if (s->end - p < 20 || p[10] != '.') return NULL;
    const char *q = number(s, byte(s, p + 10, '.'), 6, 6, &micro);
    if (!dg_stamp_number(p, p + 5, 5, 5, &seconds[0]) || !dg_stamp_number(p + 5, p + 10, 5, 5, &seconds[1]) || !q)
        return NULL;
    q = syslog_tag(s, q, false);
    if (!q) return NULL;
    if (!dg_time_known(s->out->time)) {
        s->out->time = seconds[0] * 1e5 + seconds[1] + micro * 1e-6;
        s->out->zone_stated = true;
    }
    return q;
}

/* "[0;36m", an escape whose ESC was lost on copying. */
static const char *lost_escape(struct scan *s, const char *p) {
    const char *q = p + 1;
    while (q < s->end && q - p < 16 && (dg_is_digit(*q) || *q == ';')) q++;
    q = byte(s, q, 'm');
    return q ? one_blank(s, q) : NULL;
}

/* "     48211:\tfind library=…" of LD_DEBUG. */
static const char *loader_pid(struct scan *s, const char *p) {
    int pid;
    const char *q = byte(s, byte(s, number(s, blanks(s, p), 1, 9, &pid), ':'), '\t');
    if (!q) return NULL;
    s->out->pid = pid;
    s->forms |= DG_FORM_LOADER;
    return q;
}

typedef const char *form(struct scan *s, const char *p);

static const char *first_of(struct scan *s, const char *p, form *const *forms) {
    for (; *forms; forms++) {
        const char *q = (*forms)(s, p);
        if (q) return q;
    }
    return NULL;
}

static const char *bracket_glog(struct scan *s, const char *p) { return glog(s, p + 1); }

/* "[pod/vllm-0/vllm] msg" of kubectl logs --prefix. */
static const char *pod(struct scan *s, const char *p) {
    const char *q = text(s, p, DG_S("[pod/"));
    const char *to = q ? name(s, q, "/") : NULL;
    q = to ? blank_or_end(s, byte(s, to, ']')) : NULL;
    if (q) s->out->label = between(p + 5, to);
    return q;
}

static form *const after_bracket_digit[] = {boot_seconds, bracket_time, mpi_rank, lost_escape, field, NULL};
static form *const after_bracket_blank[] = {boot_seconds, kernel_delta, NULL};
static form *const after_bracket_word[] = {torch_rank, bracket_glog, field, compose, kernel_date, pod, NULL};
static form *const after_bracket_sign[] = {kernel_delta, NULL};
static form *const at_digit[] = {iso, kmsg, task_number, talos, unix_line, llama, compose, nccl, loader_pid, NULL};
static form *const at_blank[] = {level, bare_kernel, loader_pid, NULL};
static form *const at_word[] = {level,      glog,    syslog_line, full_line, facility, bare_kernel,
                                key_values, compose, nccl,        talos,     NULL};
static form *const at_paren[] = {process, NULL};
static form *const at_angle[] = {priority, NULL};

static form *const *forms_at(const struct scan *s, const char *p) {
    char c = *p;
    if (c == '[') {
        char d = p + 1 < s->end ? p[1] : 0;
        if (dg_is_digit(d)) return after_bracket_digit;
        if (d == ' ') return after_bracket_blank;
        return d == '+' || d == '<' ? after_bracket_sign : after_bracket_word;
    }
    if (c == '(') return at_paren;
    if (dg_is_digit(c)) return at_digit;
    if (c == ' ') return at_blank;
    return c == '<' ? at_angle : at_word;
}

struct dg_prefix_seen dg_prefix_scan(struct dg_slice line, enum dg_kind kind, struct dg_prefix *ret) {
    if (!line.len) line = DG_S("");
    while (line.len && line.ptr[line.len - 1] == '\r') line.len--;
    *ret = (struct dg_prefix){.time = DG_TIME_NONE, .boot = DG_TIME_NONE, .rank = -1, .pid = -1};
    struct scan s = {.end = line.ptr + line.len, .out = ret, .kind = kind, .dated = DG_TIME_NONE};
    const char *p = line.ptr;
    for (int depth = 0; depth < DEPTH_MAX && p < s.end; depth++) {
        const char *q = first_of(&s, p, forms_at(&s, p));
        if (!q) break;
        p = q;
        s.behind = s.leaves;
        s.leaves = NOTHING;
    }
    ret->body = between(p, s.end);
    char letter;
    const char *colon =
        ret->level ? NULL : byte(&s, level_word(&s, p, &letter), ':'); /* "INFO:     Started …" of uvicorn */
    if (colon) ret->level = letter;
    if (colon && text(&s, colon, DG_S("   "))) s.forms |= DG_FORM_ENGINE;
    return (struct dg_prefix_seen){s.forms, s.dated};
}

void dg_prefix_parse(struct dg_slice line, enum dg_kind kind, struct dg_prefix *ret) {
    dg_prefix_scan(line, kind, ret);
}
