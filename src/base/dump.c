#include "base/dump.h"
#include "base/buf.h"
#include <ctype.h>
#include <stdio.h>

struct out {
    struct dg_arena *arena;
    struct dg_pair *v;
    uint32_t n;
    bool failed;
};

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.'; }

static void skip_space(struct dg_slice *s) {
    while (s->len && is_space(*s->ptr)) *s = dg_slice_from(*s, 1);
}

static void add(struct out *o, struct dg_slice name, struct dg_slice value) {
    if (o->failed || o->n == DG_DUMP_MAX_PAIRS) return;
    o->v[o->n].name = dg_arena_dup(o->arena, name);
    o->v[o->n].value = dg_arena_dup(o->arena, value);
    if (!o->v[o->n].name.ptr || !o->v[o->n].value.ptr)
        o->failed = true;
    else
        o->n++;
}

/* Length of the quoted string at the front, quotes included; all of `s` when it is not closed. */
static size_t quoted_length(struct dg_slice s) {
    for (size_t i = 1; i < s.len; i++) {
        if (s.ptr[i] == '\\')
            i++;
        else if (s.ptr[i] == s.ptr[0])
            return i + 1;
    }
    return s.len;
}

/* Length of a value: up to `end` (or a comma, when commas separate) outside quotes and brackets. */
static size_t value_length(struct dg_slice s, const char *ends) {
    int depth = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '\'' || c == '"') {
            i += quoted_length(dg_slice_from(s, i)) - 1;
        } else if (c == '(' || c == '[' || c == '{') {
            depth++;
        } else if (depth == 0 && strchr(ends, c) && c) {
            return i;
        } else if (c == ')' || c == ']' || c == '}') {
            if (depth == 0) return i;
            depth--;
        }
    }
    return s.len;
}

static char escape_of(char c) {
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    default: return c;
    }
}

/* Inside of a quoted string with simple escapes undone; anything else as it stands. */
static struct dg_slice unquote(struct dg_slice v, struct dg_buf *tmp) {
    v = dg_slice_trim(v);
    if (v.len < 2 || (v.ptr[0] != '\'' && v.ptr[0] != '"') || v.ptr[v.len - 1] != v.ptr[0]) return v;
    v = dg_slice(v.ptr + 1, v.len - 2);
    if (dg_slice_find_ch(v, '\\') < 0) return v;
    dg_buf_clear(tmp);
    for (size_t i = 0; i < v.len; i++) {
        char c = v.ptr[i];
        if (c == '\\' && i + 1 < v.len) c = escape_of(v.ptr[++i]);
        dg_buf_addc(tmp, c);
    }
    return tmp->failed ? v : dg_buf_slice(tmp);
}

/* NAME SEP VALUE, separated by `ends`; names may be quoted (JSON and Python dicts). */
static void parse_pairs(struct dg_slice s, char sep, const char *ends, struct out *o, struct dg_buf *tmp) {
    while (s.len && !o->failed) {
        skip_space(&s);
        if (!s.len) return;
        struct dg_slice name;
        if (*s.ptr == '"' || *s.ptr == '\'') {
            size_t n = quoted_length(s);
            name = n >= 2 ? dg_slice(s.ptr + 1, n - 2) : dg_slice(s.ptr, 0);
            s = dg_slice_from(s, n);
        } else {
            size_t n = 0;
            while (n < s.len && is_name(s.ptr[n])) n++;
            name = dg_slice_upto(s, n);
            s = dg_slice_from(s, n);
        }
        skip_space(&s);
        if (name.len && s.len && *s.ptr == sep) {
            s = dg_slice_from(s, 1);
            skip_space(&s);
            size_t n = value_length(s, ends);
            add(o, name, unquote(dg_slice_upto(s, n), tmp));
            s = dg_slice_from(s, n + 1);
        } else {
            s = dg_slice_from(s, name.len && s.len && !strchr(ends, *s.ptr) ? 0 : 1);
        }
    }
}

/* One word of a command line, quotes taken off. */
static bool next_word(struct dg_slice *s, struct dg_buf *word) {
    skip_space(s);
    dg_buf_clear(word);
    if (!s->len) return false;
    char quote = 0;
    size_t i = 0;
    for (; i < s->len; i++) {
        char c = s->ptr[i];
        if (quote) {
            if (c == quote)
                quote = 0;
            else if (c == '\\' && quote == '"' && i + 1 < s->len)
                dg_buf_addc(word, s->ptr[++i]);
            else
                dg_buf_addc(word, c);
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (is_space(c)) {
            break;
        } else if (c == '\\' && i + 1 < s->len) {
            if (s->ptr[++i] != '\n') dg_buf_addc(word, s->ptr[i]);
        } else {
            dg_buf_addc(word, c);
        }
    }
    *s = dg_slice_from(*s, i);
    return true;
}

static bool is_flag(struct dg_slice w) {
    return w.len >= 2 && w.ptr[0] == '-' && (w.ptr[1] == '-' || isalpha((unsigned char)w.ptr[1]));
}

static struct dg_slice undash(struct dg_slice w) {
    while (w.len && *w.ptr == '-') w = dg_slice_from(w, 1);
    return w;
}

static void add_position(struct out *o, unsigned at, struct dg_slice word) {
    char name[16];
    snprintf(name, sizeof(name), "%u", at);
    add(o, dg_cstr(name), word);
}

static void parse_argv(struct dg_slice s, struct out *o, struct dg_buf *word) {
    struct dg_slice flag = {NULL, 0};
    unsigned at = 0;
    while (!o->failed && next_word(&s, word)) {
        struct dg_slice w = dg_buf_slice(word);
        if (word->failed) {
            o->failed = true;
        } else if (is_flag(w)) {
            if (flag.ptr) add(o, flag, DG_S("true"));
            w = undash(w);
            ptrdiff_t eq = dg_slice_find_ch(w, '=');
            flag = (struct dg_slice){NULL, 0};
            if (eq > 0)
                add(o, dg_slice_upto(w, (size_t)eq), dg_slice_from(w, (size_t)eq + 1));
            else if (!(flag = dg_arena_dup(o->arena, w)).ptr)
                o->failed = true;
        } else if (flag.ptr) {
            add(o, flag, w);
            flag = (struct dg_slice){NULL, 0};
        } else {
            add_position(o, at++, w);
        }
    }
    if (flag.ptr) add(o, flag, DG_S("true"));
}

static struct dg_slice strip_braces(struct dg_slice s) {
    s = dg_slice_trim(s);
    if (s.len && (*s.ptr == '{' || *s.ptr == '(')) s = dg_slice_from(s, 1);
    return s;
}

int dg_dump_parse(struct dg_slice text, enum dg_parse_as as, struct dg_arena *arena, struct dg_pair **ret,
                  uint32_t *ret_n) {
    _cleanup_(dg_buf_release) struct dg_buf tmp = DG_BUF_INIT(DG_DUMP_MAX_BYTES);
    struct out o = {.arena = arena, .v = dg_arena_alloc(arena, DG_DUMP_MAX_PAIRS * sizeof(struct dg_pair))};
    if (!o.v) return -DG_E_NOMEM;
    text = dg_slice_upto(text, DG_DUMP_MAX_BYTES);
    switch (as) {
    case DG_PARSE_PYTHON_KWARGS: parse_pairs(strip_braces(text), '=', ",", &o, &tmp); break;
    case DG_PARSE_JSON: parse_pairs(strip_braces(text), ':', ",", &o, &tmp); break;
    case DG_PARSE_ARGV: parse_argv(text, &o, &tmp); break;
    case DG_PARSE_KEY_VALUE: parse_pairs(text, '=', ", ;\n", &o, &tmp); break;
    }
    if (o.failed) return -DG_E_NOMEM;
    *ret = o.v;
    *ret_n = o.n;
    return 0;
}
