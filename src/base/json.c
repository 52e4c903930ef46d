#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>

enum { DEPTH_MAX = 64 };

void dg_json_init(struct dg_json *j, struct dg_buf *out, bool pretty) {
    *j = (struct dg_json){.out = out, .pretty = pretty};
}

static bool in_array(const struct dg_json *j) { return j->depth && (j->array_bits >> (j->depth - 1) & 1); }

static void newline(struct dg_json *j) {
    if (!j->pretty) return;
    dg_buf_addc(j->out, '\n');
    for (int i = 0; i < j->depth; i++) dg_buf_adds(j->out, "  ");
}

/* What stands before a value or a key. */
static void separate(struct dg_json *j) {
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->need_comma) dg_buf_addc(j->out, ',');
    if (j->depth) newline(j);
}

static void before_value(struct dg_json *j) {
    assert(j->after_key || in_array(j) || (!j->depth && !j->need_comma));
    separate(j);
    j->need_comma = true;
}

static void begin(struct dg_json *j, char c, bool array) {
    assert(j->depth < DEPTH_MAX);
    before_value(j);
    dg_buf_addc(j->out, c);
    uint64_t bit = UINT64_C(1) << j->depth++;
    j->array_bits = array ? j->array_bits | bit : j->array_bits & ~bit;
    j->need_comma = false;
}

void dg_json_begin_object(struct dg_json *j) { begin(j, '{', false); }
void dg_json_begin_array(struct dg_json *j) { begin(j, '[', true); }

void dg_json_end(struct dg_json *j) {
    assert(j->depth && !j->after_key);
    char c = in_array(j) ? ']' : '}';
    j->depth--;
    if (j->need_comma) newline(j);
    dg_buf_addc(j->out, c);
    j->need_comma = true;
}

/* As UTF-16, which may take two escapes. */
static int add_escape(struct dg_buf *out, uint32_t cp) {
    if (cp < 0x10000) return dg_buf_addf(out, "\\u%04x", cp);
    cp -= 0x10000;
    return dg_buf_addf(out, "\\u%04x\\u%04x", 0xd800 + (cp >> 10), 0xdc00 + (cp & 0x3ff));
}

int dg_json_add_dumped(struct dg_buf *out, struct dg_slice s) {
    size_t kept = 0;
    for (size_t at = 0, n; at < s.len; at += n) {
        int32_t cp = (unsigned char)s.ptr[at];
        n = cp < 0x7f ? 1 : dg_utf8_next(dg_slice_from(s, at), &cp);
        if (cp < 0x7f || !dg_utf8_hidden(cp)) continue;
        dg_buf_add(out, s.ptr + kept, at - kept);
        add_escape(out, (uint32_t)cp);
        kept = at + n;
    }
    return dg_buf_add(out, s.ptr + kept, s.len - kept);
}

static void add_string(struct dg_buf *out, struct dg_slice s) {
    dg_buf_addc(out, '"');
    while (s.len) {
        int32_t cp;
        size_t n = dg_utf8_next(s, &cp);
        if (cp == DG_UTF8_BAD)
            dg_buf_adds(out, DG_UTF8_REPLACEMENT);
        else if (cp == '"' || cp == '\\')
            dg_buf_addf(out, "\\%c", (char)cp);
        else if (dg_utf8_hidden(cp))
            add_escape(out, (uint32_t)cp);
        else
            dg_buf_add(out, s.ptr, n);
        s = dg_slice_from(s, n);
    }
    dg_buf_addc(out, '"');
}

void dg_json_key_slice(struct dg_json *j, struct dg_slice key) {
    assert(j->depth && !in_array(j) && !j->after_key);
    separate(j);
    add_string(j->out, key);
    dg_buf_adds(j->out, j->pretty ? ": " : ":");
    j->after_key = true;
}

void dg_json_key(struct dg_json *j, const char *key) { dg_json_key_slice(j, dg_cstr(key)); }

static void word(struct dg_json *j, const char *text) {
    before_value(j);
    dg_buf_adds(j->out, text);
}

void dg_json_null(struct dg_json *j) { word(j, "null"); }
void dg_json_bool(struct dg_json *j, bool v) { word(j, v ? "true" : "false"); }

void dg_json_slice(struct dg_json *j, struct dg_slice s) {
    if (!s.ptr) {
        dg_json_null(j);
        return;
    }
    before_value(j);
    add_string(j->out, s);
}

void dg_json_str(struct dg_json *j, const char *s) { dg_json_slice(j, dg_cstr(s)); }

void dg_json_int(struct dg_json *j, int64_t v) {
    before_value(j);
    dg_buf_addf(j->out, "%lld", (long long)v);
}

void dg_json_uint(struct dg_json *j, uint64_t v) {
    before_value(j);
    dg_buf_addf(j->out, "%llu", (unsigned long long)v);
}

/* The shortest of 15 or 17 digits that reads back as the same number; the point is a point in every locale. */
void dg_json_double(struct dg_json *j, double v) {
    if (!isfinite(v)) {
        dg_json_null(j);
        return;
    }
    char text[40];
    snprintf(text, sizeof(text), "%.15g", v);
    if (strtod(text, NULL) != v) snprintf(text, sizeof(text), "%.17g", v);
    text[strcspn(text, ",")] = strchr(text, ',') ? '.' : '\0';
    word(j, text);
}

void dg_json_kv_slice(struct dg_json *j, const char *key, struct dg_slice s) {
    dg_json_key(j, key);
    dg_json_slice(j, s);
}

void dg_json_kv_str(struct dg_json *j, const char *key, const char *s) { dg_json_kv_slice(j, key, dg_cstr(s)); }

void dg_json_kv_int(struct dg_json *j, const char *key, int64_t v) {
    dg_json_key(j, key);
    dg_json_int(j, v);
}

void dg_json_kv_uint(struct dg_json *j, const char *key, uint64_t v) {
    dg_json_key(j, key);
    dg_json_uint(j, v);
}

void dg_json_kv_bool(struct dg_json *j, const char *key, bool v) {
    dg_json_key(j, key);
    dg_json_bool(j, v);
}

static json_t *load(struct dg_slice text, json_error_t *e) {
    return json_loadb(text.len ? text.ptr : "", text.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, e);
}

json_t *dg_json_parse(struct dg_slice text, struct dg_err *err) {
    json_error_t e;
    json_t *root = load(text, &e);
    if (!root && !dg_utf8_valid(text)) {
        _cleanup_(dg_buf_release) struct dg_buf mended = DG_BUF_INIT(SIZE_MAX / 4);
        if (dg_utf8_add_valid(&mended, text)) {
            dg_err_nomem(err);
            return NULL;
        }
        root = load(dg_buf_slice(&mended), &e);
    }
    if (root) return root;
    if (json_error_code(&e) == json_error_out_of_memory)
        dg_err_nomem(err);
    else
        dg_err_at(err, DG_E_SYNTAX, NULL, e.line > 0 ? (unsigned)e.line : 0, e.column > 0 ? (unsigned)e.column : 0,
                  "%s", e.text);
    return NULL;
}
