/* Fatal records: tracebacks (chained, interleaved between ranks), aborts, and single lines that look fatal by
 * themselves.
 *
 * A record is opened by its first line, which a built-in literal finds, and then fed line by line until it closes. Its
 * lines either all carry the prefix of their process, or none but the first does ("bare"). */
#include "match/engine.h"
#include "base/timex.h"
#include <ctype.h>
#include <math.h>
#include <xxhash.h>

enum {
    HELD_MAX = 16,
    GUTTER_MAX = 16,
    LINES_MAX = 4096,
    IDLE_STACK = 512,
    IDLE_AFTER = 64,
    MESSAGE_MAX = 256,
    FOREIGN_MAX = 32
};

enum state {
    STACK,  /* frames; the first line without indent is the exception */
    AFTER,  /* the exception's message goes on, or a chain follows */
    CHAINED /* "During handling of …" was said: another traceback follows */
};

struct record {
    uint64_t serial, line, seq, end, before; /* raw lines, before: the end but for the latest; seq of the first */
    uint64_t chained;                        /* the line after which the exception is handled or wrapped; 0: none */
    long pid;
    int rank;
    uint64_t label;
    enum dg_fatal_kind kind;
    enum state state;
    bool bare, bare_known, timed, harmless, seen_exception;
    char level;
    double time;
    char gutter[GUTTER_MAX]; /* what stands before each line of an exception group */
    uint8_t n_gutter;
    uint32_t lines, idle, message, foreign;
    uint32_t launch, epoch;
    struct kept at; /* the innermost exception, or the first line */
    char exception[64];
    struct found *held[HELD_MAX];
    uint32_t n_held;
};

void record_free(struct record *r) { kept_release(&r->at); }
struct record *record_nth(const struct engine *e, uint32_t i) {
    return (struct record *)((char *)e->records + i * sizeof(struct record));
}
uint64_t record_line(const struct record *r) { return r->line; }
void record_harmless(struct record *r) { r->harmless = true; }

void record_holds(struct record *r, struct found *f) {
    f->record = r->serial;
    f->f.record_end = r->end;
    if (r->n_held < HELD_MAX) r->held[r->n_held++] = f;
}

/* ---- fatals of an epoch: the first and the last few */

static void fatal_add(struct engine *e, const struct dg_fatal *f, const struct dg_place *place) {
    trouble_begins(e);
    struct fatals *set = f->epoch == launch_epoch(e) || f->launch != e->launch ? e->now : e->before;
    struct fatal *to = set->n < FATALS_MAX ? &set->first[set->n] : &set->last[set->n % FATALS_MAX];
    struct dg_capture name = {.text = f->exception};
    set->n++;
    to->f = *f;
    if (!keep(&to->at, place, &name, 1)) e->nomem = true;
    if (e->launch != DG_NONE) {
        e->launches.v[e->launch].fatal_after_pulse++;
        if (f->kind == DG_FATAL_TRACEBACK || f->kind == DG_FATAL_ABORT) e->launch_broke = true;
    }
}

static void flush(struct engine *e, struct fatals *set) {
    uint64_t n = set->n < 2 * FATALS_MAX ? set->n : 2 * FATALS_MAX;
    for (uint64_t i = 0; i < n; i++) {
        struct fatal *f = i < FATALS_MAX ? &set->first[i] : &set->last[i - FATALS_MAX];
        if (DG_VEC_PUSH(&e->fatals, *f, SIZE_MAX / sizeof(*f)))
            *f = (struct fatal){0};
        else
            e->nomem = true;
    }
    set->n = 0;
}

enum { TOTAL_FATALS = 4096 };

void fatals_flush(struct engine *e) {
    flush(e, e->before);
    flush(e, e->now);
    if (e->fatals.n <= TOTAL_FATALS) return;
    size_t drop = e->fatals.n / 2; /* those of the oldest launches */
    for (size_t i = 0; i < drop; i++) kept_release(&e->fatals.v[i].at);
    e->fatals.n -= drop;
    memmove(e->fatals.v, e->fatals.v + drop, e->fatals.n * sizeof(*e->fatals.v));
}

void fatals_turn(struct engine *e) {
    struct fatals *old = e->before;
    e->before = e->now;
    e->now = old;
    old->n = 0;
}

/* ---- opening and closing */

static void record_close(struct engine *e, struct record *r) {
    for (uint32_t i = 0; i < r->n_held; i++)
        if (r->held[i]->record == r->serial) r->held[i]->f.record_end = r->end;
    bool group = dg_slice_ends(dg_cstr(r->exception), DG_S("ExceptionGroup")); /* its members say what happened */
    if (!r->harmless && !group)
        fatal_add(e,
                  &(struct dg_fatal){.kind = r->kind,
                                     .exception = dg_cstr(r->exception),
                                     .launch = r->launch,
                                     .epoch = r->epoch,
                                     .record_line = r->line,
                                     .record_end = r->end,
                                     .chained = r->chained},
                  &r->at.place);
    struct record *last = record_nth(e, --e->n_records);
    struct record gone = *r;
    *r = *last;
    *last = gone; /* its memory is used again */
}

void records_close(struct engine *e) {
    while (e->n_records) record_close(e, record_nth(e, 0));
    e->record = NULL;
}

/* The line at hand begins a launch: it is no part of the record that it was given to, and all are over. */
void records_end_before(struct engine *e) {
    if (e->record) e->record->end = e->record->before;
    records_close(e);
}

static bool is_bare(const struct dg_prefix *p) { return !p->level && p->rank < 0 && p->pid < 0 && !p->label.len; }
static uint64_t label_hash(struct dg_slice s) { return s.len ? XXH3_64bits(s.ptr, s.len) : 0; }

/* Only the characters that draw an exception group may stand before the heading; they then stand before each line. */
static void take_gutter(struct record *r, struct dg_slice before) {
    if (dg_slice_ends(before, DG_S("Exception Group "))) before.len -= strlen("Exception Group ");
    if (!before.len || before.len > GUTTER_MAX) return;
    for (size_t i = 0; i < before.len; i++)
        if (!memchr(" |+", before.ptr[i], 3)) return;
    for (size_t i = 0; i < before.len; i++) r->gutter[i] = before.ptr[i] == '+' ? '|' : before.ptr[i];
    r->n_gutter = (uint8_t)before.len;
}

static void put_at(struct engine *e, struct record *r, const struct line *line, const struct msg *m,
                   struct dg_slice body) {
    struct dg_place place = place_of(e, line, m);
    place.text = body;
    if (!keep(&r->at, &place, NULL, 0)) e->nomem = true;
}

static struct record *record_open(struct engine *e, const struct line *line, const struct msg *m,
                                  enum dg_fatal_kind kind) {
    trouble_begins(e);
    if (!e->records && !(e->records = dg_calloc(RECORDS_MAX, sizeof(struct record)))) {
        e->nomem = true;
        return NULL;
    }
    if (e->n_records == RECORDS_MAX) record_close(e, record_nth(e, 0));
    struct record *r = record_nth(e, e->n_records++);
    struct kept kept = r->at;
    *r = (struct record){.serial = ++e->record_serial,
                         .line = line->raw,
                         .end = line->raw,
                         .before = line->raw,
                         .seq = line->seq,
                         .pid = m->pre.pid,
                         .rank = m->pre.rank,
                         .label = label_hash(m->pre.label),
                         .level = m->pre.level,
                         .time = m->pre.time,
                         .timed = dg_time_known(m->pre.time),
                         .kind = kind,
                         .launch = e->launch,
                         .epoch = launch_epoch(e),
                         .at = kept};
    r->bare = r->bare_known = is_bare(&m->pre);
    put_at(e, r, line, m, m->body);
    return r;
}

/* ---- feeding */

static bool strip_gutter(const struct record *r, struct dg_slice *body) {
    if (!r->n_gutter) return true;
    if (!dg_slice_starts(*body, dg_slice(r->gutter, r->n_gutter))) return false;
    *body = dg_slice_from(*body, r->n_gutter);
    return true;
}

/* "RuntimeError: …", "torch.cuda.OutOfMemoryError" -> the name. */
static struct dg_slice exception_name(struct dg_slice body) {
    size_t n = 0;
    while (n < body.len && (isalnum((unsigned char)body.ptr[n]) || body.ptr[n] == '_' || body.ptr[n] == '.')) n++;
    bool good = n && n < 64 && !isdigit((unsigned char)*body.ptr) && (n == body.len || body.ptr[n] == ':');
    return good ? dg_slice_upto(body, n) : (struct dg_slice){NULL, 0};
}

static bool chains(struct dg_slice body) {
    return dg_slice_starts(body, DG_S("During handling of the above exception")) ||
           dg_slice_starts(body, DG_S("The above exception was the direct cause"));
}

static void take_exception(struct engine *e, struct record *r, const struct line *line, const struct msg *m,
                           struct dg_slice body, struct dg_slice name) {
    r->state = AFTER;
    r->message = 0;
    r->time = m->pre.time;
    r->timed = dg_time_known(m->pre.time);
    if (r->seen_exception) return;
    r->seen_exception = true;
    memcpy(r->exception, name.ptr, name.len < 63 ? name.len : 63);
    put_at(e, r, line, m, body);
}

enum verdict { OURS, FOREIGN, OVER };

static enum verdict in_stack(struct engine *e, struct record *r, const struct line *line, const struct msg *m,
                             struct dg_slice body) {
    if (!body.len || *body.ptr == ' ' || *body.ptr == '\t') return OURS;
    if (chains(body)) {
        r->state = CHAINED;
        return OURS;
    }
    struct dg_slice name = exception_name(body);
    if (!name.len) return ++r->foreign > FOREIGN_MAX ? OVER : FOREIGN;
    take_exception(e, r, line, m, body, name);
    return OURS;
}

static enum verdict in_message(struct engine *e, struct record *r, const struct line *line, const struct msg *m,
                               struct dg_slice body) {
    if (chains(body)) {
        r->state = CHAINED;
        if (!r->chained) r->chained = line->raw;
        return OURS;
    }
    bool same = r->bare ? dg_time_known(m->pre.time) == r->timed
                        : m->pre.level == r->level && !(fabs(m->pre.time - r->time) > 1.5);
    if (!same || ++r->message > MESSAGE_MAX) return OVER;
    if (r->kind == DG_FATAL_ABORT && !r->seen_exception && dg_slice_find(body, DG_S("what():")) >= 0) {
        r->seen_exception = true;
        put_at(e, r, line, m, body);
    }
    return OURS;
}

static enum verdict advance(struct engine *e, struct record *r, const struct line *line, const struct msg *m) {
    struct dg_slice body = m->body;
    if (!strip_gutter(r, &body)) return ++r->foreign > FOREIGN_MAX || r->state == AFTER ? OVER : FOREIGN;
    if (++r->lines > LINES_MAX) return OVER;
    switch (r->state) {
    case STACK: return in_stack(e, r, line, m, body);
    case AFTER: return in_message(e, r, line, m, body);
    default: return !dg_slice_trim(body).len ? OURS : ++r->foreign > FOREIGN_MAX ? OVER : FOREIGN;
    }
}

/* The record whose next line this may be: a bare line continues the bare record that was fed last. */
static struct record *record_for(struct engine *e, const struct msg *m) {
    bool bare = is_bare(&m->pre);
    uint64_t label = label_hash(m->pre.label);
    struct record *best = NULL;
    for (uint32_t i = 0; i < e->n_records; i++) {
        struct record *r = record_nth(e, i);
        bool mine = r->pid == m->pre.pid && r->rank == m->pre.rank && r->label == label && r->level == m->pre.level;
        bool fits = r->bare_known ? r->bare == bare && (bare || mine) : bare || mine;
        if (fits && (!best || r->idle < best->idle)) best = r;
    }
    return best;
}

/* Everybody waits one line longer; who waited too long is over. */
static void pass_time(struct engine *e) {
    for (uint32_t i = 0; i < e->n_records;) {
        struct record *r = record_nth(e, i);
        if (++r->idle > (r->state == STACK ? IDLE_STACK : IDLE_AFTER))
            record_close(e, r);
        else
            i++;
    }
}

/* The line's process has moved on to another entry: its bare record is over when that was complete. */
static void moved_on(struct engine *e, const struct msg *m) {
    if (is_bare(&m->pre)) return;
    for (uint32_t i = 0; i < e->n_records;) {
        struct record *r = record_nth(e, i);
        if (r->bare && r->state == AFTER && r->pid == m->pre.pid && r->rank == m->pre.rank && r->rank >= 0)
            record_close(e, r);
        else
            i++;
    }
}

static struct record *feed_open(struct engine *e, struct record *r, const struct line *line, const struct msg *m) {
    if (!r->bare_known) {
        r->bare = is_bare(&m->pre);
        r->bare_known = true;
    }
    enum verdict v = advance(e, r, line, m);
    if (v == OVER) record_close(e, r);
    if (v != OURS) return NULL;
    r->idle = 0;
    r->before = r->end;
    r->end = line->raw;
    return r;
}

static struct record *feed_head(struct engine *e, struct record *r, const struct line *line, const struct msg *m) {
    ptrdiff_t at = dg_slice_find(m->body, DG_S("Traceback (most recent call last)"));
    if (at < 0) return NULL;
    if (r && r->state == CHAINED) {
        r->state = STACK;
        r->idle = 0;
        r->end = line->raw;
        return r;
    }
    if (r) record_close(e, r);
    r = record_open(e, line, m, DG_FATAL_TRACEBACK);
    if (r) take_gutter(r, dg_slice_upto(m->body, (size_t)at));
    return r;
}

struct record *record_feed(struct engine *e, struct line *line, enum sign head) {
    if (!line->bol || line->depth) return NULL;
    const struct msg *m = line_whole(e, line);
    if (e->n_records) {
        pass_time(e);
        moved_on(e, m);
    }
    struct record *r = record_for(e, m);
    if (head == SIGN_TRACEBACK) return feed_head(e, r, line, m);
    if (head == SIGN_TERMINATE) {
        if (r) record_close(e, r);
        r = record_open(e, line, m, DG_FATAL_ABORT);
        if (r) r->state = AFTER;
        return r;
    }
    return r ? feed_open(e, r, line, m) : NULL;
}

/* ---- single lines */

static bool word_at(struct dg_slice body, size_t at, size_t n) {
    unsigned char before = at ? (unsigned char)body.ptr[at - 1] : ' ',
                  after = at + n < body.len ? (unsigned char)body.ptr[at + n] : ' ';
    return !isalnum(before) && !memchr("-_./", before, 4) && !isalnum(after) && !memchr("-_=./", after, 5);
}

static bool says_level(const struct msg *m) {
    static const char *const WORDS[] = {"ERROR", "CRITICAL", "FATAL"};
    if (m->pre.level) return m->pre.level == 'E' || m->pre.level == 'F' || m->pre.level == 'C';
    for (size_t i = 0; i < DG_COUNT(WORDS); i++) {
        ptrdiff_t at = dg_slice_find(m->body, dg_cstr(WORDS[i]));
        if (at >= 0 && at < 64 && word_at(m->body, (size_t)at, strlen(WORDS[i]))) return true;
    }
    return false;
}

/* The name in front of "Error:" or "Exception:", with its dots. */
static struct dg_slice named_error(struct dg_slice body) {
    static const char *const ENDS[] = {"Error:", "Exception:"};
    for (size_t i = 0; i < DG_COUNT(ENDS); i++) {
        ptrdiff_t at = dg_slice_find(body, dg_cstr(ENDS[i]));
        if (at < 0) continue;
        size_t start = (size_t)at, end = start + strlen(ENDS[i]) - 1;
        while (start && (isalnum((unsigned char)body.ptr[start - 1]) || memchr("_.", body.ptr[start - 1], 2))) start--;
        if (end - start < 64) return dg_slice(body.ptr + start, end - start);
    }
    return (struct dg_slice){NULL, 0};
}

static bool says_fatal(struct dg_slice body) {
    ptrdiff_t at = dg_slice_find(body, DG_S("fatal"));
    if (at >= 0 && word_at(body, (size_t)at, 5)) return true;
    at = dg_slice_find(body, DG_S("error:"));
    if (at >= 0 && (!at || memchr(" :)", body.ptr[at - 1], 3))) return true;
    return dg_slice_starts(body, DG_S("FAILED:"));
}

bool fatal_line(struct engine *e, struct line *line, enum sign sign) {
    if (e->kind == DG_KIND_KERNEL || e->kind == DG_KIND_ENVIRONMENT || line->depth || !line->bol) return false;
    const struct msg *m = line_whole(e, line);
    struct dg_slice name = {NULL, 0};
    struct dg_fatal f = {
        .launch = e->launch, .epoch = launch_epoch(e), .record_line = line->raw, .record_end = line->raw};
    bool mild = m->pre.level == 'D' || m->pre.level == 'I' || m->pre.level == 'W';
    if (sign == SIGN_LEVEL && says_level(m)) {
        f.kind = DG_FATAL_ERROR_LEVEL;
        name = named_error(m->body);
    } else if (sign == SIGN_EXCEPTION && !mild && (name = named_error(m->body)).len) {
        f.kind = DG_FATAL_EXCEPTION;
    } else if (sign == SIGN_ABORT) {
        f.kind = DG_FATAL_ABORT;
    } else if (sign == SIGN_OTHER && !mild && says_fatal(m->body)) {
        f.kind = DG_FATAL_OTHER;
    } else {
        return false;
    }
    f.exception = name;
    struct dg_place place = place_of(e, line, m);
    fatal_add(e, &f, &place);
    return true;
}
