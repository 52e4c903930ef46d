#include "ingest/prefix.h"
#include "base/mem.h"
#include "ingest/form.h"

enum { DEPTH_MAX = 12 };

const bool dg_name_bytes[256] = {
    ['-'] = 1, ['.'] = 1, ['_'] = 1, ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1,
    ['7'] = 1, ['8'] = 1, ['9'] = 1, ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1, ['G'] = 1,
    ['H'] = 1, ['I'] = 1, ['J'] = 1, ['K'] = 1, ['L'] = 1, ['M'] = 1, ['N'] = 1, ['O'] = 1, ['P'] = 1, ['Q'] = 1,
    ['R'] = 1, ['S'] = 1, ['T'] = 1, ['U'] = 1, ['V'] = 1, ['W'] = 1, ['X'] = 1, ['Y'] = 1, ['Z'] = 1, ['a'] = 1,
    ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1, ['i'] = 1, ['j'] = 1, ['k'] = 1,
    ['l'] = 1, ['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1,
    ['v'] = 1, ['w'] = 1, ['x'] = 1, ['y'] = 1, ['z'] = 1,
};

void dg_scan_time(struct scan *s, const struct dg_stamp *st) {
    if (dg_time_known(s->out->time)) {
        if (s->out->year_missing && st->year) s->dated = dg_stamp_epoch(st);
        return;
    }
    s->out->time = dg_stamp_epoch(st);
    s->out->zone_stated = st->zoned;
    s->out->year_missing = !st->year;
}

void dg_scan_process(struct scan *s, struct dg_slice label, long pid) {
    if (label.len) s->out->label = label;
    if (pid >= 0) s->out->pid = pid;
    if (label.len || pid >= 0) s->out->syslog = false;
}

void dg_scan_rank(struct scan *s, struct dg_slice label) {
    ptrdiff_t at = dg_slice_find(label, DG_S("TP"));
    int rank;
    if (at >= 0 && dg_stamp_number(label.ptr + at + 2, label.ptr + label.len, 1, 4, &rank)) s->out->rank = rank;
}

static const struct {
    struct dg_slice word;
    char level;
} levels[] = {
    {{"INFO", 4}, 'I'},   {{"WARNING", 7}, 'W'},  {{"ERROR", 5}, 'E'}, {{"DEBUG", 5}, 'D'},
    {{"WARN", 4}, 'W'},   {{"CRITICAL", 8}, 'F'}, {{"FATAL", 5}, 'F'}, {{"TRACE", 5}, 'D'},
    {{"NOTICE", 6}, 'I'}, {{"VERBOSE", 7}, 'D'},  {{"ERR", 3}, 'E'},
};

const char *dg_scan_level_word(const struct scan *s, const char *p, char *ret) {
    if (!p || p == s->end || *p < 'C' || *p > 'W') return NULL;
    for (size_t i = 0; i < DG_COUNT(levels); i++) {
        const char *q = text(s, p, levels[i].word);
        if (!q || (q < s->end && (dg_is_letter(*q) || *q == '_'))) continue;
        *ret = levels[i].level;
        return q;
    }
    return NULL;
}

char dg_scan_level_letter(char c) {
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

/* --- which forms may begin here --- */

static dg_form *const bracket_digit[] = {dg_form_boot_seconds, dg_form_bracket_time, dg_form_mpi_rank,
                                         dg_form_lost_escape,  dg_form_field,        NULL};
static dg_form *const bracket_blank[] = {dg_form_boot_seconds, dg_form_kernel_delta, NULL};
static dg_form *const bracket_sign[] = {dg_form_kernel_delta, NULL};
static dg_form *const bracket_word[] = {dg_form_torch_rank,  dg_form_bracket_glog, dg_form_field, dg_form_compose,
                                        dg_form_kernel_date, dg_form_pod,          dg_form_stage, NULL};
static dg_form *const digit[] = {dg_form_iso,        dg_form_kmsg,  dg_form_task_number, dg_form_talos,
                                 dg_form_unix_line,  dg_form_llama, dg_form_compose,     dg_form_nccl,
                                 dg_form_loader_pid, NULL};
static dg_form *const blank[] = {dg_form_level, dg_form_bare_kernel, dg_form_loader_pid, NULL};
static dg_form *const paren[] = {dg_form_process, NULL};
static dg_form *const angle[] = {dg_form_priority, NULL};
static dg_form *const bar[] = {dg_form_level, NULL};
/* a word, by what follows it */
static dg_form *const word_blank[] = {
    dg_form_level, dg_form_glog, dg_form_syslog_line, dg_form_full_line, dg_form_facility, dg_form_compose, NULL};
static dg_form *const word_colon[] = {dg_form_level,    dg_form_bare_kernel, dg_form_nccl,
                                      dg_form_facility, dg_form_talos,       NULL};
static dg_form *const word_equals[] = {dg_form_key_values, NULL};
static dg_form *const word_other[] = {dg_form_level, dg_form_syslog_line, dg_form_compose, NULL};

static dg_form *const *at_bracket(char next) {
    if (dg_is_digit(next)) return bracket_digit;
    if (next == ' ') return bracket_blank;
    return next == '+' || next == '<' ? bracket_sign : bracket_word;
}

static dg_form *const *at_word(const struct scan *s, const char *p) {
    const char *q = name(s, p, "");
    switch (q && q < s->end ? *q : 0) {
    case ' ': return word_blank;
    case ':': return word_colon;
    case '=': return word_equals;
    default: return word_other;
    }
}

static dg_form *const *forms_at(const struct scan *s, const char *p) {
    switch (*p) {
    case '[': return at_bracket(p + 1 < s->end ? p[1] : 0);
    case '(': return paren;
    case '<': return angle;
    case '|': return bar;
    case ' ': return blank;
    default: return dg_is_digit(*p) ? digit : at_word(s, p);
    }
}

static const char *take_one(struct scan *s, const char *p) {
    for (dg_form *const *form = forms_at(s, p); *form; form++) {
        const char *q = (*form)(s, p);
        if (q) return q;
    }
    return NULL;
}

enum { PADDED = 10 };

/* "ERROR:    msg" of uvicorn and those who write like it: the message begins in a fixed column, so that what is
 * indented stays so. "ERROR: pip failed" is a message and keeps its word. */
static const char *take_padded_level(struct scan *s, const char *p) {
    char letter;
    const char *colon = s->out->level ? NULL : byte(s, dg_scan_level_word(s, p, &letter), ':');
    if (!colon) return p;
    s->out->level = letter;
    if (!text(s, colon, DG_S("  ")) || blanks(s, colon) - p < PADDED) return p;
    s->forms |= DG_FORM_ENGINE;
    return p + PADDED;
}

struct dg_prefix_seen dg_prefix_scan(struct dg_slice line, enum dg_kind kind, struct dg_prefix *ret) {
    if (!line.ptr) line = DG_S("");
    while (line.len && line.ptr[line.len - 1] == '\r') line.len--;
    *ret = (struct dg_prefix){.time = DG_TIME_NONE, .boot = DG_TIME_NONE, .rank = -1, .pid = -1};
    struct scan s = {.end = line.ptr + line.len, .out = ret, .kind = kind, .dated = DG_TIME_NONE};
    const char *p = line.ptr;
    for (int depth = 0; depth < DEPTH_MAX && p < s.end; depth++) {
        const char *q = take_one(&s, p);
        if (!q) break;
        p = q;
        s.behind = s.leaves;
        s.leaves = DG_BEHIND_NOTHING;
    }
    p = take_padded_level(&s, p);
    ret->body = between(p, s.end);
    return (struct dg_prefix_seen){s.forms, s.dated};
}

void dg_prefix_parse(struct dg_slice line, enum dg_kind kind, struct dg_prefix *ret) {
    dg_prefix_scan(line, kind, ret);
}
