#include "ingest/form.h"
#include "ingest/prefix.h"

/* "file.py:712", "src/server.rs:12", "real.py:203:fn", and what closes it: one of `close`. */
static const char *source_place(const struct scan *s, const char *p, const char *close) {
    if (!p) return NULL;
    const char *stop = s->end - p > DG_BRACKET_MAX ? p + DG_BRACKET_MAX : s->end;
    const char *line = NULL; /* its number */
    for (; p < stop && *p && *p != ' '; p++) {
        if (line && p > line && strchr(close, *p)) return p + 1;
        if (!line && *p == ':' && p + 1 < stop && dg_is_digit(p[1])) line = p + 1;
    }
    return NULL;
}

/* "E0307 10:00:00.123456 12345 file.cc:33] msg" (glog, klog), "E312 08:09:53.122 TCPStore.cpp:106] msg" (torch). */
const char *dg_form_glog(struct scan *s, const char *p) {
    char level = dg_scan_level_letter(*p);
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
    dg_scan_time(s, &st);
    s->out->level = level;
    if (after) dg_scan_process(s, (struct dg_slice){0}, pid);
    s->forms |= DG_FORM_ENGINE;
    return q;
}

const char *dg_form_bracket_glog(struct scan *s, const char *p) {
    return p + 1 < s->end ? dg_form_glog(s, p + 1) : NULL;
}

/* Behind a level and a blank: "03-07 10:00:01 [core.py:843] ", "03-07 10:00:01 api_server.py:712] " of vLLM. */
static const char *vllm(struct scan *s, const char *p) {
    struct dg_stamp st = {0};
    const char *q = byte(s, number(s, p, 2, 2, &st.mon), '-');
    q = byte(s, number(s, q, 2, 2, &st.day), ' ');
    q = q ? byte(s, dg_stamp_clock(q, s->end, &st), ' ') : NULL;
    if (!q) return NULL;
    q = blank_or_end(s, source_place(s, byte(s, q, '[') ? q + 1 : q, "]"));
    if (q) dg_scan_time(s, &st);
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
const char *dg_form_level(struct scan *s, const char *p) {
    char letter;
    const char *bar = s->behind == DG_BEHIND_DATE ? text(s, p, DG_S("| ")) : NULL;
    const char *q = dg_scan_level_word(s, blanks(s, bar ? bar : p), &letter);
    if (!q) return NULL;
    const char *rest = byte(s, q, ' ') ? vllm(s, q + 1) : NULL;
    if (!rest && (s->behind == DG_BEHIND_DATE || (s->behind == DG_BEHIND_DATE_T && !byte(s, q, ':'))))
        rest = after_level(s, q);
    if (!rest) return NULL;
    s->out->level = letter;
    s->forms |= DG_FORM_ENGINE;
    return rest;
}

enum { DASHED_FIELDS = 3 };

/* Behind a time: " - name - ERROR - msg" of Python's logging. */
static const char *dashed(struct scan *s, const char *p) {
    for (int i = 0; i < DASHED_FIELDS; i++) {
        p = text(s, p, DG_S(" - "));
        char letter;
        const char *q = dg_scan_level_word(s, p, &letter);
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
    char letter = q && q < s->end ? dg_scan_level_letter(*q) : 0;
    q = letter ? blank_or_end(s, source_place(s, byte(s, q + 1, ' '), "]")) : NULL;
    if (!q) return NULL;
    s->out->level = letter;
    s->forms |= DG_FORM_ENGINE;
    return q;
}

/* A line that begins with a full date. */
const char *dg_form_iso(struct scan *s, const char *p) {
    struct dg_stamp st = {0};
    const char *q = dg_stamp_iso(p, s->end, &st), *rest = NULL;
    if (!q) return NULL;
    struct dg_cri cri;
    if (dg_cri_parse(between(p, s->end), &cri)) {
        dg_scan_time(s, &st);
        return cri.text.ptr;
    }
    bool offset = st.zoned && q[-1] != 'Z';
    char letter;
    if (!dg_scan_level_word(s, byte(s, q, ' '), &letter)) /* "ERROR name: …" looks like "host ident: …" */
        rest = dg_scan_syslog_tag(s, q, !offset || st.fraction > 6);
    if (!rest) rest = dashed(s, q);
    if (!rest) rest = tensorflow(s, q);
    if (!rest) {
        rest = blank_or_end(s, q);
        if (!rest) return NULL;
        s->leaves = p[10] == 'T' ? DG_BEHIND_DATE_T : DG_BEHIND_DATE;
        /* dmesg --time-format iso */
        if (st.comma && st.fraction == 6 && p[10] == 'T' && offset) s->forms |= DG_FORM_KERNEL;
    }
    dg_scan_time(s, &st);
    return rest;
}

/* Inside of "[2026-05-22 09:20:44 DP0 TP5 EP5]" behind the time: a label, "+0000", "E 2190 2190" (Ray). */
static const char *bracket_tail(struct scan *s, const char *p) {
    const char *close = find(s, p, DG_NAME_MAX, ']');
    if (!close) return NULL;
    struct dg_slice tail = dg_slice_trim(between(p, close));
    if (!tail.len || *tail.ptr == '+' || *tail.ptr == '-') return close + 1;
    char letter = tail.len > 2 && tail.ptr[1] == ' ' ? dg_scan_level_letter(*tail.ptr) : 0;
    int pid;
    if (letter && dg_is_digit(tail.ptr[2])) {
        const char *blank = memchr(tail.ptr + 2, ' ', tail.len - 2);
        s->out->level = letter;
        if (dg_stamp_number(tail.ptr + 2, blank ? blank : close, 1, 9, &pid))
            dg_scan_process(s, (struct dg_slice){0}, pid);
        return close + 1;
    }
    if (dg_scan_level_word(s, tail.ptr, &letter))
        s->out->level = letter;
    else
        dg_scan_process(s, tail, -1);
    dg_scan_rank(s, tail);
    return close + 1;
}

/* "[2026-05-22 09:20:44 TP5] ", "[12/02/2025-11:42:02] ". */
const char *dg_form_bracket_time(struct scan *s, const char *p) {
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
    dg_scan_time(s, &st);
    s->leaves = DG_BEHIND_DATE;
    s->forms |= DG_FORM_ENGINE;
    return one_blank(s, q);
}

/* "[TRT-LLM] [E] ", "[TensorRT-LLM][ERROR] ", "[RANK 3] ", "[INFO] ", "[7] ", "[file.py:12:fn] ": only where a time or
 * another such field is in front, or a level behind. */
const char *dg_form_field(struct scan *s, const char *p) {
    const char *close = find(s, p, DG_BRACKET_MAX, ']');
    if (!close || close == p + 1) return NULL;
    struct dg_slice inside = between(p + 1, close);
    char letter = inside.len == 1 ? dg_scan_level_letter(*inside.ptr) : 0;
    struct scan in = {.end = close};
    bool is_level = letter || dg_scan_level_word(&in, p + 1, &letter) == close;
    bool trt = dg_slice_is(inside, "TRT-LLM") || dg_slice_is(inside, "TensorRT-LLM") || dg_slice_is(inside, "TRT");
    int value;
    if (s->behind != DG_BEHIND_DATE && s->behind != DG_BEHIND_FIELD && !(trt && byte(s, close + 1, '['))) return NULL;
    if (is_level)
        s->out->level = letter;
    else if (dg_slice_starts(inside, DG_S("RANK ")) && number(&in, p + 6, 1, 6, &value) == close)
        s->out->rank = value;
    else if (number(&in, p + 1, 1, 7, &value) == close && byte(s, close + 1, ' '))
        dg_scan_process(s, (struct dg_slice){0}, value);
    else if (!trt && source_place(s, p + 1, "]:") == NULL)
        return NULL;
    s->leaves = DG_BEHIND_FIELD;
    s->forms |= DG_FORM_ENGINE;
    return one_blank(s, close + 1);
}

/* "host:123:456 [0] NCCL WARN msg", with a file in between; the message begins at NCCL. */
const char *dg_form_nccl(struct scan *s, const char *p) {
    const char *host = name(s, p, "");
    int pid, tid, device;
    const char *q = host ? byte(s, number(s, byte(s, host, ':'), 1, 9, &pid), ':') : NULL;
    q = text(s, number(s, q, 1, 9, &tid), DG_S(" ["));
    q = text(s, number(s, q, 1, 4, &device), DG_S("] "));
    if (!q) return NULL;
    struct dg_slice near = between(q, s->end - q > DG_BRACKET_MAX ? q + DG_BRACKET_MAX : s->end);
    ptrdiff_t at = dg_slice_find(near, DG_S("NCCL "));
    if (at < 0) return NULL;
    s->out->host = between(p, host);
    s->out->rank = device;
    dg_scan_process(s, (struct dg_slice){0}, pid);
    char letter;
    if (dg_scan_level_word(s, q + at + 5, &letter)) s->out->level = letter;
    s->forms |= DG_FORM_ENGINE;
    return q + at;
}

/* "time=2026-03-07T10:00:00.1Z level=ERROR source=server.go:421 msg=…" (Ollama), time="…" (logrus). The message begins
 * at msg=. */
const char *dg_form_key_values(struct scan *s, const char *p) {
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
        const char *blank = find(s, q, DG_BRACKET_MAX, ' ');
        if (blank) q = blank + 1;
    }
    dg_scan_time(s, &st);
    s->out->level = dg_scan_level_letter((char)(*word & ~0x20));
    s->forms |= DG_FORM_ENGINE;
    return q;
}

/* "0.00.123.456 I msg" of llama.cpp with --log-timestamps. */
const char *dg_form_llama(struct scan *s, const char *p) {
    int v;
    const char *q = byte(s, number(s, byte(s, number(s, p, 1, 6, &v), '.'), 2, 2, &v), '.');
    q = byte(s, number(s, byte(s, number(s, q, 3, 3, &v), '.'), 3, 3, &v), ' ');
    char letter = q && q < s->end ? dg_scan_level_letter(*q) : 0;
    if (!letter || !byte(s, q + 1, ' ')) return NULL;
    s->out->level = letter;
    s->forms |= DG_FORM_ENGINE;
    return q + 2;
}
