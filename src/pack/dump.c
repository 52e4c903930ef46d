/* Argument dumps: ServerArgs(a=1, b='x'), JSON objects, command lines, "key: value" lists. Takes what parses and never
 * fails on the rest. */
#include "pack/pack.h"
#include <ctype.h>

enum { PAIRS_MAX = 512, DUMP_MAX = 64 << 10 };

struct dump {
    struct dg_arena *arena;
    struct dg_pair *v; /* room for PAIRS_MAX */
    uint32_t n;
    bool nomem;
};

static struct dg_slice keep_text(struct dump *d, struct dg_slice s) {
    struct dg_slice r = dg_arena_dup(d->arena, s);
    if (!r.ptr) d->nomem = true;
    return r;
}

static void add(struct dump *d, struct dg_slice name, struct dg_slice value) {
    if (name.len && d->n < PAIRS_MAX) d->v[d->n++] = (struct dg_pair){keep_text(d, name), keep_text(d, value)};
}

static size_t skip_space(struct dg_slice s, size_t at) {
    while (at < s.len && isspace((unsigned char)s.ptr[at])) at++;
    return at;
}

static bool quote(char c) { return c == '\'' || c == '"'; }

/* End of the quoted text that begins at `at` (behind its closing quote, or the end of s). */
static size_t skip_quoted(struct dg_slice s, size_t at) {
    char q = s.ptr[at++];
    while (at < s.len && s.ptr[at] != q) at += s.ptr[at] == '\\' ? 2 : 1;
    return at < s.len ? at + 1 : s.len;
}

/* End of the value that begins at `at`: the next one of `ends` outside of quotes and brackets. */
static size_t skip_value(struct dg_slice s, size_t at, const char *ends) {
    int depth = 0;
    while (at < s.len) {
        char c = s.ptr[at];
        if (depth <= 0 && c && strchr(ends, c)) return at;
        if (quote(c) && (!at || !isalnum((unsigned char)s.ptr[at - 1]))) {
            at = skip_quoted(s, at);
            continue;
        }
        if (c && strchr("([{<", c)) depth++;
        if (c && strchr(")]}>", c) && --depth < 0) return at;
        at++;
    }
    return s.len;
}

/* A value without the quotes around it and without their backslashes. */
static struct dg_slice unquoted(struct dump *d, struct dg_slice s) {
    s = dg_slice_trim(s);
    if (s.len < 2 || !quote(*s.ptr) || s.ptr[s.len - 1] != *s.ptr) return s;
    struct dg_slice in = dg_slice(s.ptr + 1, s.len - 2);
    if (dg_slice_find_ch(in, '\\') < 0) return in;
    char *out = dg_arena_alloc(d->arena, in.len + 1);
    size_t n = 0;
    if (!out) {
        d->nomem = true;
        return in;
    }
    for (size_t i = 0; i < in.len; i++) {
        if (in.ptr[i] == '\\' && i + 1 < in.len) i++;
        out[n++] = in.ptr[i];
    }
    return dg_slice(out, n);
}

static size_t skip_name(struct dg_slice s, size_t at) {
    while (at < s.len && (isalnum((unsigned char)s.ptr[at]) || memchr("_-.", s.ptr[at], 3))) at++;
    return at;
}

/* name<sep>value pairs with `between` between them; names may be quoted: Python keyword arguments and dicts, JSON, key:
 * value. */
static void parse_pairs(struct dump *d, struct dg_slice s, const char *sep, const char *between) {
    size_t at = skip_space(s, 0);
    if (at < s.len && strchr("{(", s.ptr[at])) at++;
    while (at < s.len && d->n < PAIRS_MAX) {
        size_t start = skip_space(s, at), end = start;
        if (start == s.len) return;
        end = quote(s.ptr[start]) ? skip_quoted(s, start) : skip_name(s, start);
        size_t colon = skip_space(s, end);
        if (end > start && colon < s.len && s.ptr[colon] && strchr(sep, s.ptr[colon])) {
            size_t value = skip_space(s, colon + 1), stop = skip_value(s, value, between);
            add(d, unquoted(d, dg_slice(s.ptr + start, end - start)),
                unquoted(d, dg_slice(s.ptr + value, stop - value)));
            at = stop + 1;
        } else {
            at = skip_value(s, start, between) + 1;
        }
    }
}

/* Words of a command line, or of a printed list of them: --name value, --name=value, --flag. */
static bool next_word(struct dump *d, struct dg_slice s, size_t *at, struct dg_slice *ret) {
    while (*at < s.len && (isspace((unsigned char)s.ptr[*at]) || memchr(",[]()", s.ptr[*at], 5))) ++*at;
    if (*at >= s.len) return false;
    size_t start = *at;
    if (quote(s.ptr[start])) {
        *at = skip_quoted(s, start);
    } else {
        while (*at < s.len && !isspace((unsigned char)s.ptr[*at]))
            *at = quote(s.ptr[*at]) || (*at > start && memchr("[{", s.ptr[*at], 2)) ? skip_value(s, *at, " ") : *at + 1;
    }
    *ret = unquoted(d, dg_slice(s.ptr + start, *at - start));
    if (ret->len && ret->ptr[ret->len - 1] == ',' && !quote(s.ptr[start])) ret->len--;
    return true;
}

static void parse_argv(struct dump *d, struct dg_slice s) {
    struct dg_slice word, name = {NULL, 0};
    for (size_t at = 0; d->n < PAIRS_MAX && next_word(d, s, &at, &word);) {
        bool option = word.len > 1 && *word.ptr == '-' && !isdigit((unsigned char)word.ptr[1]) && word.ptr[1] != '.';
        if (!option) {
            if (name.len) add(d, name, word);
            name.len = 0;
            continue;
        }
        if (name.len) add(d, name, DG_S("true"));
        while (word.len && *word.ptr == '-') word = dg_slice_from(word, 1);
        ptrdiff_t eq = dg_slice_find_ch(word, '=');
        name = eq < 0 ? word : (struct dg_slice){NULL, 0};
        if (eq >= 0) add(d, dg_slice_upto(word, (size_t)eq), unquoted(d, dg_slice_from(word, (size_t)eq + 1)));
    }
    if (name.len) add(d, name, DG_S("true"));
}

int dg_dump_parse(struct dg_slice text, enum dg_parse_as as, struct dg_arena *arena, struct dg_pair **ret,
                  uint32_t *ret_n) {
    struct dump d = {.arena = arena, .v = dg_arena_alloc(arena, PAIRS_MAX * sizeof(*d.v))};
    if (!d.v) return -DG_E_NOMEM;
    text = dg_slice_upto(text, DUMP_MAX);
    switch (as) {
    case DG_PARSE_PYTHON_KWARGS: /* a dict's repr counts as well */ parse_pairs(&d, text, "=:", ","); break;
    case DG_PARSE_JSON: parse_pairs(&d, text, ":", ","); break;
    case DG_PARSE_ARGV: parse_argv(&d, text); break;
    case DG_PARSE_KEY_VALUE: parse_pairs(&d, text, "=:", ",;|"); break;
    }
    if (d.nomem) return -DG_E_NOMEM;
    *ret = d.v;
    *ret_n = d.n;
    return 0;
}
