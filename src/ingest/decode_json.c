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

/* {"log": "text\n", "stream": "stdout", "time": "2026-03-07T11:00:00.1Z"} */
static void docker(struct dg_decoder *d, uint64_t line, const json_t *o, struct dg_slice log) {
    struct dg_slice stream = text_of(json_object_get(o, "stream")), time = text_of(json_object_get(o, "time"));
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
        docker(d, line, o, log);
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
    _cleanup_(dg_json_decrefp) json_t *o = parse_object(raw);
    if (!o || !take_apart(d, line, o)) dg_decoder_emit(d, line, DG_S(""), raw);
    return used;
}

bool dg_json_is_record(struct dg_slice line) {
    _cleanup_(dg_json_decrefp) json_t *o = parse_object(line);
    return o && (text_of(json_object_get(o, "log")).ptr || json_object_get(o, "MESSAGE") || logger_text(o).ptr);
}
