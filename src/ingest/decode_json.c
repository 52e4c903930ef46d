#include "ingest/decoder.h"
#include "base/json.h"
#include "base/mem.h"

/* Docker cuts a line after this many bytes; a record that long without a newline goes on. */
enum { DOCKER_PIECE = 16000 };

static struct dg_slice text_of(const json_t *v) {
    return json_is_string(v) ? dg_slice(json_string_value(v), json_string_length(v)) : dg_slice(NULL, 0);
}

/* The first of `keys` (NULL at the end) that holds a text. */
static struct dg_slice member(const json_t *object, const char *const *keys) {
    struct dg_slice s = {0};
    for (; *keys && !s.ptr; keys++) s = text_of(json_object_get(object, *keys));
    return s;
}

static const char *const time_keys[] = {"time", "timestamp", "ts", "@timestamp", "asctime", NULL};
static const char *const level_keys[] = {"level", "levelname", "severity", "lvl", NULL};
static const char *const text_keys[] = {"message", "msg", "textPayload", "event", NULL};
/* What loggers print beside the message and belongs to it: the traceback above all. */
static const char *const more_keys[] = {"exc_info",   "exception", "exc_text", "stack_trace",
                                        "stacktrace", "traceback", "error",    "err"};

static struct dg_slice logger_text(const json_t *o) {
    struct dg_slice text = member(o, text_keys);
    return text.ptr ? text : member(json_object_get(o, "fields"), text_keys);
}

static struct dg_slice without_newline(struct dg_slice s) {
    return dg_slice_ends(s, DG_S("\n")) ? dg_slice_upto(s, s.len - 1) : s;
}

/* The text of a record: <log, stream, time>. */
static void docker(struct dg_decoder *d, uint64_t line, struct dg_slice log, struct dg_slice stream,
                   struct dg_slice time) {
    bool whole = dg_slice_ends(log, DG_S("\n"));
    d->docker_newlines |= whole;
    if (!dg_slice_is(stream, "stderr")) stream = DG_S("stdout");
    char front[64 + sizeof(" stdout F ")];
    size_t n = time.len && time.len <= 64 ? time.len : 0;
    if (n) {
        memcpy(front, time.ptr, n);
        front[n++] = ' ';
        memcpy(front + n, stream.ptr, stream.len);
        memcpy(front + n + stream.len, " F ", 3);
        n += stream.len + 3;
    }
    dg_decoder_stream(d, line, dg_slice(front, n), stream, without_newline(log),
                      !whole && (d->docker_newlines || log.len >= DOCKER_PIECE));
}

/* Cut `c` and the blanks around it off the front of *s. */
static bool take(struct dg_slice *s, char c) {
    while (s->len && *s->ptr == ' ') *s = dg_slice_from(*s, 1);
    if (!s->len || *s->ptr != c) return false;
    do *s = dg_slice_from(*s, 1);
    while (s->len && *s->ptr == ' ');
    return true;
}

/* Cut a string off the front of *s: what stands between the quotes, escaped as it is. */
static bool take_string(struct dg_slice *s, struct dg_slice *ret) {
    if (!s->len || *s->ptr != '"') return false;
    const char *begin = s->ptr + 1, *end = s->ptr + s->len, *quote = begin;
    while ((quote = memchr(quote, '"', (size_t)(end - quote)))) {
        const char *p = quote;
        while (p > begin && p[-1] == '\\') p--;
        if ((quote - p) % 2 == 0) break; /* an odd number of backslashes escapes it */
        quote++;
    }
    if (!quote) return false;
    *ret = dg_slice(begin, (size_t)(quote - begin));
    *s = dg_slice(quote + 1, (size_t)(end - quote - 1));
    return true;
}

/* The byte that an escape at the front of `s` (behind the backslash) stands for, and its length; 0: it is left to the
 * parser. */
static size_t ascii_escape(struct dg_slice s, char *ret) {
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t", digits[] = "0123456789abcdef";
    const char *name = s.len && *s.ptr ? strchr(names, *s.ptr) : NULL;
    if (name) {
        *ret = bytes[name - names];
        return 1;
    }
    if (s.len < 5 || memcmp(s.ptr, "u00", 3) || s.ptr[3] < '0' || s.ptr[3] > '7') return 0;
    const char *low = s.ptr[4] ? strchr(digits, s.ptr[4]) : NULL;
    if (!low) return 0;
    *ret = (char)((s.ptr[3] - '0') << 4 | (low - digits));
    return 5;
}

static bool add_unescaped(struct dg_buf *b, struct dg_slice raw) {
    for (ptrdiff_t at; (at = dg_slice_find_ch(raw, '\\')) >= 0;) {
        char c;
        size_t n = ascii_escape(dg_slice_from(raw, (size_t)at + 1), &c);
        if (!n) return false;
        dg_buf_add_slice(b, dg_slice_upto(raw, (size_t)at));
        dg_buf_addc(b, c);
        raw = dg_slice_from(raw, (size_t)at + 1 + n);
    }
    return !dg_buf_add_slice(b, raw);
}

/* Docker's records without a parser: these logs are large, and a tree for each line costs ten times as much. false:
 * this line is not made of plain strings, so it is to be parsed. */
static bool docker_quickly(struct dg_decoder *d, uint64_t line, struct dg_slice raw) {
    struct dg_slice key, value, log = {0}, stream = {0}, time = {0}, rest = raw;
    if (!take(&rest, '{')) return false;
    do {
        if (!take_string(&rest, &key) || !take(&rest, ':') || !take_string(&rest, &value)) return false;
        if (dg_slice_is(key, "log"))
            log = value;
        else if (dg_slice_is(key, "stream"))
            stream = value;
        else if (dg_slice_is(key, "time"))
            time = value;
    } while (take(&rest, ','));
    dg_buf_clear(&d->text);
    if (!take(&rest, '}') || dg_slice_trim(rest).len || !log.ptr || !add_unescaped(&d->text, log)) return false;
    docker(d, line, dg_buf_slice(&d->text), stream, time);
    return true;
}

/* A text, or a list of bytes where the message is not UTF-8. */
static struct dg_slice journal_message(const json_t *v, struct dg_buf *bytes) {
    if (!json_is_array(v)) return text_of(v);
    size_t i;
    json_t *item;
    json_array_foreach(v, i, item) {
        if (!json_is_integer(item)) return text_of(item); /* a field that occurs twice */
        dg_buf_addc(bytes, (char)json_integer_value(item));
    }
    return dg_buf_slice(bytes);
}

static void journal(struct dg_decoder *d, uint64_t line, const json_t *o) {
    _cleanup_(dg_buf_release) struct dg_buf bytes = DG_BUF_INIT(DG_RECORD_MAX);
    static const char *const idents[] = {"SYSLOG_IDENTIFIER", "_COMM", NULL}, *const pids[] = {"_PID", "SYSLOG_PID",
                                                                                               NULL};
    struct dg_journal_entry e = {
        .micro = text_of(json_object_get(o, "__REALTIME_TIMESTAMP")),
        .boot_micro = text_of(json_object_get(o, "__MONOTONIC_TIMESTAMP")),
        .host = text_of(json_object_get(o, "_HOSTNAME")),
        .ident = member(o, idents),
        .pid = member(o, pids),
        .message = journal_message(json_object_get(o, "MESSAGE"), &bytes),
        .kernel = dg_slice_is(text_of(json_object_get(o, "_TRANSPORT")), "kernel"),
    };
    dg_decoder_journal(d, line, &e);
}

/* {"timestamp": "…", "level": "ERROR", "message": "…"} */
static void logger(struct dg_decoder *d, uint64_t line, const json_t *o) {
    _cleanup_(dg_buf_release) struct dg_buf front = DG_BUF_INIT(256);
    struct dg_slice time = member(o, time_keys), level = member(o, level_keys);
    if (time.len && time.len < 64 && *time.ptr >= '0' && *time.ptr <= '9') {
        dg_buf_add_slice(&front, time);
        dg_buf_addc(&front, ' ');
        for (size_t i = 0; i < level.len && level.len < 16; i++) dg_buf_addc(&front, (char)(level.ptr[i] & ~0x20));
        if (level.len && level.len < 16) dg_buf_addc(&front, ' ');
    }
    dg_decoder_emit(d, line, dg_buf_slice(&front), without_newline(logger_text(o)));
    for (size_t i = 0; i < DG_COUNT(more_keys); i++) {
        struct dg_slice more = text_of(json_object_get(o, more_keys[i]));
        if (more.len) dg_decoder_emit(d, line, dg_buf_slice(&front), without_newline(more));
    }
}

static json_t *parse_object(struct dg_slice line) {
    line = dg_slice_trim(line);
    if (line.len < 2 || *line.ptr != '{' || line.ptr[line.len - 1] != '}') return NULL;
    json_t *o = dg_json_parse(line, NULL);
    if (json_is_object(o)) return o;
    json_decref(o);
    return NULL;
}

static bool take_apart(struct dg_decoder *d, uint64_t line, const json_t *o) {
    struct dg_slice log = text_of(json_object_get(o, "log"));
    if (log.ptr)
        docker(d, line, log, text_of(json_object_get(o, "stream")), text_of(json_object_get(o, "time")));
    else if (json_object_get(o, "MESSAGE"))
        journal(d, line, o);
    else if (logger_text(o).ptr)
        logger(d, line, o);
    else
        return false;
    return true;
}

size_t dg_decode_json(struct dg_decoder *d, struct dg_slice in, uint64_t line, bool ended) {
    struct dg_slice raw;
    size_t used;
    if (!dg_first_line(in, ended, &raw, &used)) return 0;
    if (docker_quickly(d, line, raw)) return used;
    _cleanup_(dg_json_decrefp) json_t *o = parse_object(raw);
    if (!o || !take_apart(d, line, o)) dg_decoder_emit(d, line, DG_S(""), raw);
    return used;
}

bool dg_json_is_record(struct dg_slice line) {
    _cleanup_(dg_json_decrefp) json_t *o = parse_object(line);
    return o && (text_of(json_object_get(o, "log")).ptr || json_object_get(o, "MESSAGE") || logger_text(o).ptr);
}
