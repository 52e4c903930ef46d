/* Finding secrets and private names in text. One pass from the left; a finder looks at each place where a word starts
 * and says how far the part to hide reaches. Hiding too much costs a reader a guess, hiding too little costs a key: in
 * doubt, hide. */
#include "report/report.h"
#include "report/mask.h"
#include "base/mem.h"
#include <ctype.h>
#include <xxhash.h>

enum { KEY_MAX = 64 };

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-'; }
static bool is_token(char c) { return is_word(c) || c == '.' || c == '+' || c == '/' || c == '=' || c == '~'; }

static char at_or_nul(struct dg_slice s, size_t at) { return at < s.len ? s.ptr[at] : '\0'; }

size_t dg_mask_word_end(struct dg_slice s, size_t at) {
    while (at < s.len && is_word(s.ptr[at])) at++;
    return at;
}

/* The n of "\n" before a word in escaped text is no part of it. */
static bool word_starts(struct dg_slice s, size_t at) {
    if (!is_word(s.ptr[at])) return false;
    if (!at || !is_word(s.ptr[at - 1])) return true;
    return at >= 2 && s.ptr[at - 2] == '\\' && strchr("nrt", s.ptr[at - 1]);
}

/* Length of a mask that stands here already, or 0. */
static size_t mask_at(struct dg_slice s, size_t at) {
    static const char *const kinds[] = {"<secret:", "<host:", "<address:", "<user:"};
    struct dg_slice here = dg_slice_from(s, at);
    for (size_t i = 0; i < DG_COUNT(kinds); i++) {
        size_t n = strlen(kinds[i]);
        if (dg_slice_starts(here, dg_cstr(kinds[i])) && here.len >= n + 5 && here.ptr[n + 4] == '>') return n + 5;
    }
    return dg_slice_starts(here, DG_S("<prompt>")) ? strlen("<prompt>") : 0;
}

static void add_mask(struct dg_buf *out, const char *kind, struct dg_slice hidden) {
    if (!strcmp(kind, "prompt"))
        dg_buf_adds(out, "<prompt>");
    else
        dg_buf_addf(out, "<%s:%04x>", kind, (unsigned)(XXH3_64bits(hidden.ptr, hidden.len) & 0xffff));
}

int dg_mask_with(struct dg_buf *out, struct dg_slice s, dg_mask_finder *find, const void *ctx) {
    size_t kept = 0;
    for (size_t at = 0; at < s.len;) {
        struct dg_mask_hit hit;
        size_t masked = s.ptr[at] == '<' ? mask_at(s, at) : 0;
        if (masked) {
            at += masked;
        } else if ((word_starts(s, at) || s.ptr[at] == '/') && find(ctx, s, at, &hit)) {
            dg_buf_add(out, s.ptr + kept, hit.from - kept);
            add_mask(out, hit.kind, dg_slice(s.ptr + hit.from, hit.to - hit.from));
            at = kept = hit.to;
        } else {
            at++;
        }
    }
    return dg_buf_add(out, s.ptr + kept, s.len - kept);
}

/* ---- JSON */

struct masker {
    dg_mask_text *mask;
    const void *ctx;
    struct dg_buf text; /* the one at hand */
};

static bool is_masked(struct masker *m, const char *key, struct dg_slice s) {
    dg_buf_clear(&m->text);
    m->mask(&m->text, key, s, m->ctx);
    return m->text.failed || !dg_slice_eq(dg_buf_slice(&m->text), s);
}

static json_t *copy_string(struct masker *m, json_t *value, const char *key) {
    if (!is_masked(m, key, dg_slice(json_string_value(value), json_string_length(value)))) return json_incref(value);
    return m->text.failed ? NULL : json_stringn(dg_buf_slice(&m->text).ptr, m->text.len);
}

static json_t *copy_value(struct masker *m, json_t *value, const char *key);

static bool set_copy(struct masker *m, json_t *copy, const char *name, json_t *item) {
    json_t *masked = copy_value(m, item, name);
    const char *shown = is_masked(m, "", dg_cstr(name)) ? dg_buf_slice(&m->text).ptr : name;
    if (!m->text.failed) return !json_object_set_new_nocheck(copy, shown, masked);
    json_decref(masked);
    return false;
}

static json_t *copy_value(struct masker *m, json_t *value, const char *key) {
    if (json_is_string(value)) return copy_string(m, value, key);
    if (!json_is_array(value) && !json_is_object(value)) return json_incref(value);
    bool ok = true;
    json_t *copy = json_is_array(value) ? json_array() : json_object();
    size_t i;
    const char *name;
    json_t *item;
    if (json_is_array(value)) {
        json_array_foreach(value, i, item) ok = ok && !json_array_append_new(copy, copy_value(m, item, key));
    } else {
        json_object_foreach(value, name, item) ok = ok && set_copy(m, copy, name, item);
    }
    if (ok) return copy;
    json_decref(copy);
    return NULL;
}

json_t *dg_mask_tree(const json_t *value, dg_mask_text *mask, const void *ctx) {
    struct masker m = {mask, ctx, DG_BUF_INIT(SIZE_MAX)};
    json_t *copy = copy_value(&m, (json_t *)value, "");
    dg_buf_release(&m.text);
    return copy;
}

/* Lower case, dashes as underscores, those in front dropped. false: too long for a key. */
static bool key_of(struct dg_slice word, char ret[KEY_MAX]) {
    while (word.len && *word.ptr == '-') word = dg_slice_from(word, 1);
    if (!word.len || word.len >= KEY_MAX) return false;
    for (size_t i = 0; i < word.len; i++) ret[i] = word.ptr[i] == '-' ? '_' : (char)tolower((unsigned char)word.ptr[i]);
    ret[word.len] = '\0';
    return true;
}

bool dg_mask_key_is(struct dg_slice word, const char *const *names, size_t n) {
    char key[KEY_MAX];
    if (!key_of(word, key)) return false;
    size_t len = strlen(key);
    for (size_t i = 0; i < n; i++) {
        const char *name = names[i];
        bool whole = *name == '=';
        if (whole) name++;
        size_t m = strlen(name);
        if (len >= m && !strcmp(key + len - m, name) && (len == m || (!whole && key[len - m - 1] == '_'))) return true;
    }
    return false;
}

static size_t skip(struct dg_slice s, size_t at, const char *set) {
    while (at < s.len && s.ptr[at] && strchr(set, s.ptr[at])) at++;
    return at;
}

/* \"…\" ends at the next \", "…" at a quote without one. */
static size_t quoted_end(struct dg_slice s, size_t from, char quote, bool escaped) {
    size_t to = from;
    while (to < s.len && (s.ptr[to] != quote || (s.ptr[to - 1] == '\\') != escaped)) to++;
    return to - (escaped && to < s.len && to > from);
}

static size_t list_end(struct dg_slice s, size_t from) {
    ptrdiff_t n = dg_slice_find_ch(dg_slice_from(s, from), s.ptr[from] == '[' ? ']' : '}');
    return n < 0 ? s.len : from + (size_t)n + 1;
}

static size_t bare_end(struct dg_slice s, size_t from) {
    size_t to = from;
    while (to < s.len && !isspace((unsigned char)s.ptr[to]) && !strchr(",;()[]{}&'\"<>|\\", s.ptr[to])) to++;
    return to;
}

/* Where the value after a key that ends at `at` begins, with its quotes; 0: nothing says that one follows. */
static size_t value_start(struct dg_slice s, size_t at, bool option) {
    size_t sep = skip(s, at, "\\'\"");
    if (option && (at_or_nul(s, sep) == ',' || at_or_nul(s, sep) == ' ')) return skip(s, sep, ", ");
    sep = skip(s, sep, " ");
    return at_or_nul(s, sep) == '=' || at_or_nul(s, sep) == ':' ? skip(s, sep + 1, " ") : 0;
}

bool dg_mask_value(struct dg_slice s, size_t at, bool option, struct dg_mask_value *ret) {
    size_t sep = value_start(s, at, option);
    if (!sep) return false;
    size_t from = skip(s, sep, "\\");
    char open = at_or_nul(s, from);
    if (!open) return false;
    bool quoted = open == '\'' || open == '"', list = open == '[' || open == '{';
    *ret = (struct dg_mask_value){.from = from + quoted, .quoted = quoted, .list = list};
    ret->to = quoted ? quoted_end(s, from + 1, open, from > sep) : list ? list_end(s, from) : bare_end(s, from);
    return ret->to > ret->from;
}

/* Prefixes of keys that services issue; what follows has at least `min` characters. */
static const struct {
    const char *prefix;
    size_t min;
} TOKENS[] = {{"hf_", 16},        {"sk-", 16},       {"ghp_", 20},     {"gho_", 20},  {"ghs_", 20},  {"ghu_", 20},
              {"ghr_", 20},       {"glpat-", 16},    {"glrt-", 16},    {"xoxb-", 10}, {"xoxp-", 10}, {"xoxa-", 10},
              {"xoxs-", 10},      {"xapp-", 10},     {"nvapi-", 20},   {"AIza", 30},  {"AKIA", 16},  {"ASIA", 16},
              {"ya29.", 20},      {"sk_live_", 16},  {"sk_test_", 16}, {"SG.", 40},   {"npm_", 36},  {"pypi-", 40},
              {"dop_v1_", 40},    {"dckr_pat_", 20}, {"r8_", 36},      {"gsk_", 30},  {"hvs.", 20},  {"rk_live_", 16},
              {"github_pat_", 20}};

/* The end of an issued key that begins at `at`, or 0. Some have dots in them. */
static size_t issued_end(struct dg_slice s, size_t at) {
    for (size_t i = 0; i < DG_COUNT(TOKENS); i++) {
        if (*TOKENS[i].prefix != s.ptr[at]) continue;
        if (!dg_slice_starts(dg_slice_from(s, at), dg_cstr(TOKENS[i].prefix))) continue;
        size_t from = at + strlen(TOKENS[i].prefix), end = from;
        bool dots = s.ptr[from - 1] == '.';
        while (end < s.len && (is_word(s.ptr[end]) || (dots && s.ptr[end] == '.'))) end++;
        if (end - from >= TOKENS[i].min) return end;
    }
    return 0;
}

/* header.payload.signature, each base64url; a JSON object starts with eyJ. */
static size_t jwt_end(struct dg_slice s, size_t at) {
    if (!dg_slice_starts(dg_slice_from(s, at), DG_S("eyJ"))) return 0;
    size_t end = at;
    int dots = 0;
    while (end < s.len && (is_word(s.ptr[end]) || s.ptr[end] == '.')) dots += s.ptr[end++] == '.';
    return dots >= 2 && end - at >= 30 ? end : 0;
}

static size_t private_key_end(struct dg_slice s, size_t at) {
    struct dg_slice here = dg_slice_from(s, at);
    if (!dg_slice_starts(here, DG_S("-----BEGIN ")) || dg_slice_find(dg_slice_upto(here, 64), DG_S("PRIVATE KEY")) < 0)
        return 0;
    ptrdiff_t end = dg_slice_find(here, DG_S("-----END "));
    if (end < 0) return s.len;
    ptrdiff_t close = dg_slice_find(dg_slice_from(here, (size_t)end + 9), DG_S("-----"));
    return close < 0 ? s.len : at + (size_t)end + 9 + (size_t)close + 5;
}

/* scheme://user:password@host: the part before the @. Of an address to post messages to, the path. */
static bool in_url(struct dg_slice s, size_t word_end, struct dg_mask_hit *ret) {
    static const struct dg_slice hook = {"hooks.slack.com/services/", 25};
    if (!dg_slice_starts(dg_slice_from(s, word_end), DG_S("://"))) return false;
    size_t from = word_end + 3, to = from;
    ptrdiff_t last = -1;
    if (dg_slice_starts(dg_slice_from(s, from), hook)) {
        *ret = (struct dg_mask_hit){from + hook.len, bare_end(s, from), "secret"};
        return ret->to > ret->from;
    }
    for (; to < s.len && !isspace((unsigned char)s.ptr[to]) && !strchr("/?#'\"<>", s.ptr[to]); to++)
        if (s.ptr[to] == '@') last = (ptrdiff_t)to;
    if (last <= (ptrdiff_t)from) return false;
    *ret = (struct dg_mask_hit){from, (size_t)last, "secret"};
    return true;
}

/* "Bearer XYZ": words of prose after it are no token. */
static bool after_scheme(struct dg_slice s, size_t at, size_t word_end, struct dg_mask_hit *ret) {
    struct dg_slice word = dg_slice(s.ptr + at, word_end - at);
    if (!dg_slice_is(word, "Bearer") && !dg_slice_is(word, "bearer")) return false;
    size_t from = skip(s, word_end, " "), to = from, digits = 0;
    for (; to < s.len && is_token(s.ptr[to]); to++) digits += isdigit((unsigned char)s.ptr[to]) != 0;
    if (from == word_end || to - from < 8 || (!digits && to - from < 20)) return false;
    *ret = (struct dg_mask_hit){from, to, "secret"};
    return true;
}

static bool has_digit_and_letter(struct dg_slice v) {
    bool digit = false, letter = false;
    for (size_t i = 0; i < v.len; i++) {
        digit |= isdigit((unsigned char)v.ptr[i]) != 0;
        letter |= isalpha((unsigned char)v.ptr[i]) != 0;
    }
    return digit && letter;
}

/* "login NAME password XYZ" of a netrc: a word of prose has no digit in it. */
static bool after_password(struct dg_slice s, size_t at, size_t word_end, struct dg_mask_hit *ret) {
    if (!dg_slice_is(dg_slice(s.ptr + at, word_end - at), "password")) return false;
    size_t from = skip(s, word_end, " "), to = bare_end(s, from);
    struct dg_slice value = dg_slice(s.ptr + from, to - from);
    *ret = (struct dg_mask_hit){from, to, "secret"};
    return from > word_end && value.len >= 6 && has_digit_and_letter(value);
}

/* "<token>", "<your-key>": where a person is to put theirs. */
static bool is_placeholder(struct dg_slice v) {
    if (v.len < 3 || v.ptr[0] != '<' || v.ptr[v.len - 1] != '>') return false;
    for (size_t i = 1; i + 1 < v.len; i++)
        if (!islower((unsigned char)v.ptr[i]) && !strchr("-_ ", v.ptr[i])) return false;
    return true;
}

/* A value that says "none was given", or the next word of a sentence about the option. */
static bool is_no_secret(struct dg_slice v, bool quoted) {
    static const char *const empty[] = {"None", "null", "True", "False", "true", "false", "***", "****", "NULL", "nil"};
    static const char *const prose[] = {"expected", "is",  "to",       "or",     "and", "must",
                                        "required", "not", "argument", "was",    "for", "with",
                                        "missing",  "in",  "invalid",  "option", "if",  "can"};
    for (size_t i = 0; i < DG_COUNT(empty); i++)
        if (dg_slice_is(v, empty[i])) return true;
    for (size_t i = 0; !quoted && i < DG_COUNT(prose); i++)
        if (dg_slice_is(v, prose[i])) return true;
    return is_placeholder(v) || dg_slice_starts(v, DG_S("<secret:")) || dg_slice_starts(v, DG_S("--"));
}

/* Does `word` name a secret? `weak`: or a count, or a switch. */
static bool names_secret(struct dg_slice word, bool *weak) {
    static const char *const keys[] = {"api_key",        "apikey",          "api_keys",      "password",
                                       "pgpassword",     "passwd",          "passphrase",    "secret",
                                       "secret_key",     "access_key",      "private_key",   "secrets",
                                       "access_token",   "auth_token",      "api_token",     "hf_token",
                                       "hub_token",      "hf_hub_token",    "refresh_token", "bearer_token",
                                       "github_token",   "gh_token",        "session_token", "security_token",
                                       "credential",     "signature",       "=sig",          "=pwd",
                                       "=authorization", "wandb_key",       "access_key_id", "account_key",
                                       "accountkey",     "sharedaccesskey", "=cookie",       "=set_cookie"};
    static const char *const maybe[] = {"=token", "=auth"};
    *weak = dg_mask_key_is(word, maybe, DG_COUNT(maybe));
    return *weak || dg_mask_key_is(word, keys, DG_COUNT(keys));
}

/* "token: 128" is a count. */
static bool is_secret(struct dg_slice value, bool weak, bool quoted) {
    return value.len && !is_no_secret(value, quoted) && !(weak && (value.len < 8 || !has_digit_and_letter(value)));
}

static bool after_key(struct dg_slice s, size_t at, size_t word_end, struct dg_mask_hit *ret) {
    struct dg_slice word = dg_slice(s.ptr + at, word_end - at);
    struct dg_mask_value v;
    bool weak, option = dg_slice_starts(word, DG_S("--"));
    if (!value_start(s, word_end, option) || !names_secret(word, &weak) || !dg_mask_value(s, word_end, option, &v))
        return false;
    struct dg_slice value = dg_slice(s.ptr + v.from, v.to - v.from);
    if (dg_slice_is(value, "Basic") || dg_slice_is(value, "Bearer") ||
        dg_slice_is(value, "Token")) { /* Authorization: Basic … */
        v.from = skip(s, v.to, " ");
        for (v.to = v.from; v.to < s.len && is_token(s.ptr[v.to]);) v.to++;
        value = dg_slice(s.ptr + v.from, v.to - v.from);
    }
    if (!is_secret(value, weak, v.quoted)) return false;
    *ret = (struct dg_mask_hit){v.from, v.to, "secret"};
    return true;
}

static bool find_secret(const void *ctx, struct dg_slice s, size_t at, struct dg_mask_hit *ret) {
    (void)ctx;
    if (s.ptr[at] == '/') return false;
    size_t word_end = dg_mask_word_end(s, at), end = private_key_end(s, at);
    if (!end) end = jwt_end(s, at);
    if (!end) end = issued_end(s, at);
    if (end) {
        *ret = (struct dg_mask_hit){at, end, "secret"};
        return true;
    }
    return in_url(s, word_end, ret) || after_scheme(s, at, word_end, ret) || after_password(s, at, word_end, ret) ||
           after_key(s, at, word_end, ret);
}

int dg_mask_secrets(struct dg_buf *out, struct dg_slice s) { return dg_mask_with(out, s, find_secret, NULL); }

/* A text of a JSON value: the name that it stands under is not in it. */
static int mask_member(struct dg_buf *out, const char *key, struct dg_slice s, const void *ctx) {
    (void)ctx;
    bool weak;
    if (!names_secret(dg_cstr(key), &weak) || !is_secret(s, weak, true)) return dg_mask_secrets(out, s);
    add_mask(out, "secret", s);
    return 0;
}

json_t *dg_mask_json_secrets(const json_t *value) { return dg_mask_tree(value, mask_member, NULL); }
