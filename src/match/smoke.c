#include "match/smoke.h"
#include "base/json.h"
#include "base/mem.h"
#include "match/engine.h"
#include "match/salad.h"
#include <ctype.h>
#include <stdio.h>
#include <utf8proc.h>

/* ---- taking the text out of an API's answer
 * ------------------------------------------------------------------------------ */

static void add_string(const json_t *v, struct dg_buf *out) {
    if (json_is_string(v)) dg_buf_add(out, json_string_value(v), json_string_length(v));
}

/* Strings under the names that APIs use for generated text, at any depth; other members (ids, models, roles) are passed
 * over. */
static bool collect(const json_t *v, int depth, struct dg_buf *out) {
    static const char *const TEXT[] = {"content",           "text",        "generated_text", "response",
                                       "reasoning_content", "output_text", "completion"};
    static const char *const INSIDE[] = {"choices", "message", "delta",   "content",   "data",
                                         "output",  "outputs", "results", "output_ids"};
    bool found = false;
    size_t i;
    json_t *item;
    if (depth > 8) return false;
    if (json_is_array(v)) {
        json_array_foreach(v, i, item) found = collect(item, depth + 1, out) || found;
        return found;
    }
    for (i = 0; i < DG_COUNT(TEXT); i++)
        if (json_is_string(item = json_object_get(v, TEXT[i]))) {
            add_string(item, out);
            found = true;
        }
    for (i = 0; i < DG_COUNT(INSIDE); i++) {
        item = json_object_get(v, INSIDE[i]);
        if (json_is_array(item) || json_is_object(item)) found = collect(item, depth + 1, out) || found;
    }
    return found;
}

/* "data: {…}" lines of a stream, pieces joined. */
static bool collect_events(struct dg_slice body, struct dg_buf *out) {
    struct dg_slice line;
    bool found = false;
    while (dg_slice_split(&body, '\n', &line)) {
        line = dg_slice_trim(line);
        if (!dg_slice_starts(line, DG_S("data:"))) continue;
        _cleanup_(dg_json_decrefp) json_t *v = dg_json_parse(dg_slice_trim(dg_slice_from(line, 5)), NULL);
        if (v) found = collect(v, 0, out) || found;
    }
    return found;
}

bool dg_smoke_answer(struct dg_slice body, struct dg_buf *out) {
    struct dg_slice t = dg_slice_trim(body);
    if (dg_slice_starts(t, DG_S("data:"))) return collect_events(t, out);
    if (t.len && (*t.ptr == '{' || *t.ptr == '[')) {
        _cleanup_(dg_json_decrefp) json_t *v = dg_json_parse(t, NULL);
        if (json_is_object(v) || (json_is_array(v) && json_is_object(json_array_get(v, 0)))) return collect(v, 0, out);
    }
    dg_buf_add_slice(out, body);
    return true;
}

/* ---- characters
 * ------------------------------------------------------------------------------------------------------------ */

enum script { NONE, LATIN, GREEK, CYRILLIC, HEBREW, ARABIC, INDIC, THAI, HANGUL, CJK, OTHER, N_SCRIPTS };

static enum script script_of(int32_t c) {
    static const struct {
        int32_t from, to;
        enum script script;
    } RANGES[] = {{0x41, 0x24f, LATIN},     {0x370, 0x3ff, GREEK},    {0x400, 0x52f, CYRILLIC},
                  {0x590, 0x5ff, HEBREW},   {0x600, 0x77f, ARABIC},   {0x900, 0xdff, INDIC},
                  {0xe00, 0xe7f, THAI},     {0x1100, 0x11ff, HANGUL}, {0x1e00, 0x1eff, LATIN},
                  {0x1f00, 0x1fff, GREEK},  {0x3040, 0x30ff, CJK},    {0x3400, 0x9fff, CJK},
                  {0xac00, 0xd7af, HANGUL}, {0xfb50, 0xfdff, ARABIC}, {0x20000, 0x2ffff, CJK}};
    utf8proc_category_t cat = utf8proc_category(c);
    if (cat < UTF8PROC_CATEGORY_LU || cat > UTF8PROC_CATEGORY_LO) return NONE;
    for (size_t i = 0; i < DG_COUNT(RANGES); i++)
        if (c >= RANGES[i].from && c <= RANGES[i].to) return RANGES[i].script;
    return OTHER;
}

static bool is_space(int32_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0xa0 || c == 0x3000; }

/* What lines are drawn with. */
static bool draws(int32_t c) { return c > 0 && c < 0x80 && strchr("-=_*.~#|+", c); }

struct counts {
    size_t chars, visible, bad, letters;
    size_t switches, bare; /* from one script to another; without a sign between the two */
    size_t per_script[N_SCRIPTS];
    int32_t run_char; /* of the longest run of one visible character, white space between counts as part */
    size_t run;
    bool only_one; /* the whole text is one character over and over */
};

/* Is it made of a handful of characters, though it is long? Not of digits, of which a number is, nor of lines drawn. */
static bool few_characters(struct dg_slice t, size_t visible) {
    enum { MANY = 32, FEW = 4 };
    bool seen[256] = {false};
    size_t n = 0;
    if (visible < MANY) return false;
    for (size_t i = 0; i < t.len; i++) {
        unsigned char c = (unsigned char)t.ptr[i];
        if (c >= 0x80 || isdigit(c) || draws(c)) return false;
        n += !isspace(c) && !seen[c];
        seen[c] = true;
    }
    return n <= FEW;
}

/* The first tokens of many vocabularies are the signs of ASCII in their order: what comes out when all are as likely.
 */
static bool signs_at_random(struct dg_slice t, const struct counts *k) {
    enum { MANY = 40, KINDS = 5 };
    static const char SIGNS[] = "!#$%&'*+";
    size_t kinds = 0, n = 0;
    for (size_t s = 0; s < sizeof(SIGNS) - 1; s++) {
        size_t before = n;
        for (size_t i = 0; i < t.len; i++) n += t.ptr[i] == SIGNS[s];
        kinds += n > before;
    }
    return k->visible >= MANY && kinds >= KINDS && n * 6 >= k->visible && k->letters * 5 < k->visible;
}

static struct counts count(struct dg_slice t) {
    struct counts k = {.only_one = true};
    enum script last = NONE;
    int32_t first = -1, current = -1;
    size_t run = 0;
    bool sign = false;
    for (size_t at = 0; at < t.len;) {
        int32_t c;
        utf8proc_ssize_t n = utf8proc_iterate((const uint8_t *)t.ptr + at, (utf8proc_ssize_t)(t.len - at), &c);
        if (n <= 0) {
            n = 1;
            c = 0xfffd;
        }
        at += (size_t)n;
        k.chars++;
        if (is_space(c)) {
            current = -1;
            continue;
        }
        k.visible++;
        k.bad += c == 0xfffd;
        if (first < 0) first = c;
        if (c != first) k.only_one = false;
        run = c == current ? run + 1 : 1;
        current = c;
        if (run > k.run) k.run = run, k.run_char = c;
        enum script s = script_of(c);
        if (s == NONE) {
            sign = true;
            continue;
        }
        k.letters++;
        k.per_script[s]++;
        k.switches += last != NONE && s != last;
        k.bare += last != NONE && s != last && !sign;
        last = s;
        sign = false;
    }
    return k;
}

/* ---- repetition
 * ------------------------------------------------------------------------------------------------------------- */

/* How often the last `p` bytes stand one after the other at the end of the text. */
static size_t repeats_at_end(struct dg_slice t, size_t p) {
    size_t k = 1;
    while ((k + 1) * p <= t.len && !memcmp(t.ptr + t.len - p, t.ptr + t.len - (k + 1) * p, p)) k++;
    return k;
}

/* A loop that the answer ends in (the last round may be cut): its period, rounds, and whether it fills most of the
 * text. */
static bool ends_in_loop(struct dg_slice t, struct dg_slice *ret_phrase, size_t *ret_rounds) {
    enum { LONGEST = 400 };
    for (size_t cut = 0; cut < LONGEST && cut < t.len; cut++) {
        struct dg_slice head = dg_slice_upto(t, t.len - cut);
        for (size_t p = 1; p <= LONGEST && p * 4 <= head.len; p++) {
            if (head.ptr[head.len - 1] != head.ptr[head.len - 1 - p]) continue;
            size_t rounds = repeats_at_end(head, p);
            if (rounds < 4 || cut > p || rounds * p * 2 < t.len) continue;
            *ret_phrase = dg_slice(head.ptr + head.len - p, p);
            *ret_rounds = rounds;
            return true;
        }
        if (cut >= 64 && cut * 8 > t.len) break; /* a cut round is no longer than a round */
    }
    return false;
}

/* Rows of a list, a table or a drawing repeat on purpose: whole lines, and not without end. */
static bool on_purpose(struct dg_slice phrase, size_t rounds) {
    bool whole_lines = dg_slice_find_ch(phrase, '\n') >= 0;
    bool rule = true; /* ----, ====, .... */
    for (size_t i = 0; i < phrase.len; i++) rule = rule && (draws(phrase.ptr[i]) || is_space(phrase.ptr[i]));
    return (whole_lines && rounds <= 40) || (rule && rounds <= 200) || phrase.len * rounds < 40;
}

/* The share of the commonest word among all, and the number of words. */
static double commonest(struct dg_slice t, struct dg_slice *ret_word, size_t *ret_words) {
    enum { SLOTS = 512 };
    struct {
        struct dg_slice word;
        size_t n;
    } seen[SLOTS] = {{{NULL, 0}, 0}};
    size_t words = 0, best = 0;
    for (size_t i = 0; i < t.len;) {
        while (i < t.len && is_space((unsigned char)t.ptr[i])) i++;
        size_t from = i;
        while (i < t.len && !is_space((unsigned char)t.ptr[i])) i++;
        if (i == from) break;
        struct dg_slice w = dg_slice(t.ptr + from, i - from);
        words++;
        size_t slot = 0; /* words past the table are counted, not kept: a text with that many is no loop */
        while (slot < SLOTS && seen[slot].n && !dg_slice_eq(seen[slot].word, w)) slot++;
        if (slot == SLOTS) continue;
        seen[slot].word = w;
        if (++seen[slot].n > best) best = seen[slot].n, *ret_word = w;
    }
    *ret_words = words;
    return words ? (double)best / (double)words : 0;
}

static bool is_nan_word(struct dg_slice w) {
    return (w.len == 3 && !strncasecmp(w.ptr, "nan", 3)) || (w.len == 4 && !strncasecmp(w.ptr, "nan,", 4)) ||
           (w.len == 5 && !strncasecmp(w.ptr, "[nan]", 5));
}

/* ---- the judgement
 * ------------------------------------------------------------------------------------------------------------ */

static bool scripts_at_random(const struct counts *k) {
    size_t used = 0, others = k->letters - k->per_script[LATIN];
    for (size_t s = LATIN; s < N_SCRIPTS; s++) used += k->per_script[s] * 50 >= k->letters && k->per_script[s] > 0;
    if (k->letters < 12 || used < 3) return false;
    if (used >= 4 && (k->switches * 6 >= k->letters || (k->bare >= 4 && others * 4 >= k->letters))) return true;
    return k->switches * 3 >= k->letters;
}

static void show_char(int32_t c, char *out, size_t size) {
    uint8_t raw[8] = {0};
    if (c < 0x21 || c == 0x7f || (c >= 0x80 && c < 0xa0))
        snprintf(out, size, "U+%04X", (unsigned)c);
    else
        snprintf(out, size, "%.*s", (int)utf8proc_encode_char(c, raw), (const char *)raw);
}

static bool one_character(const struct counts *k, struct dg_slice t) {
    return k->only_one && k->visible >= 4 && !script_of(k->run_char) && !draws(k->run_char) &&
           (k->visible > 40 || dg_slice_find_ch(t, '\n') < 0);
}

/* What is wrong with its characters. */
static bool garbled(const struct counts *k, struct dg_slice t, char *reason, size_t size) {
    char shown[16];
    show_char(k->run_char, shown, sizeof(shown));
    if (!k->visible)
        snprintf(reason, size, "the answer is empty");
    else if (k->bad >= 2 && k->bad * 50 >= k->visible)
        snprintf(reason, size, "%zu of %zu characters are replacement characters or broken UTF-8", k->bad, k->visible);
    else if (one_character(k, t))
        snprintf(reason, size, "one character, %s, %zu times", shown, k->visible);
    else if (k->run >= 16 && k->run * 2 >= k->visible && !draws(k->run_char))
        snprintf(reason, size, "%s %zu times in a row", shown, k->run);
    else if (signs_at_random(t, k))
        snprintf(reason, size, "%zu characters of which hardly one is a letter", k->visible);
    else if (few_characters(t, k->visible))
        snprintf(reason, size, "%zu characters of four kinds at most", k->visible);
    else
        return false;
    return true;
}

/* What is wrong with its words. */
static bool repeats(struct dg_slice t, char *reason, size_t size) {
    struct dg_slice phrase = {NULL, 0}, word = {NULL, 0};
    size_t rounds = 0, words = 0;
    double share = commonest(t, &word, &words);
    if (share >= 0.5 && is_nan_word(word))
        snprintf(reason, size, "the answer says NaN");
    else if (ends_in_loop(t, &phrase, &rounds) && !on_purpose(phrase, rounds))
        snprintf(reason, size, "it ends in a loop: %zu bytes repeated %zu times", phrase.len, rounds);
    else if (words >= 12 && share >= 0.6 && dg_slice_find_ch(t, '\n') < 0)
        snprintf(reason, size, "one word makes up most of it");
    else
        return false;
    return true;
}

enum dg_smoke dg_smoke_judge(struct dg_slice text, char *reason, size_t size) {
    struct dg_slice t = dg_slice_trim(text);
    if (!text.len) {
        snprintf(reason, size, "nothing came");
        return DG_SMOKE_NOTHING;
    }
    struct counts k = count(t);
    if (garbled(&k, t, reason, size) || repeats(t, reason, size)) return DG_SMOKE_GARBAGE;
    const char *fault = scripts_at_random(&k) ? "letters of several scripts mixed at random" : dg_salad(t);
    snprintf(reason, size, "%s", fault ? fault : "nothing speaks against it");
    return fault ? DG_SMOKE_GARBAGE : DG_SMOKE_PLAUSIBLE;
}

/* ---- an answer as a log quotes it
 * ----------------------------------------------------------------------------------------------------------------- */

/* Without the last character, which may be cut. */
static size_t whole_characters(struct dg_slice s) {
    while (s.len && ((unsigned char)s.ptr[s.len - 1] & 0xc0) == 0x80) s.len--;
    return s.len ? s.len - 1 : 0;
}

bool dg_smoke_quoted(struct dg_slice quoted) {
    enum { LOOKED_AT = 1024, LEAST = 16 };
    char reason[256];
    _cleanup_(dg_buf_release) struct dg_buf buf = DG_BUF_INIT(2 * LOOKED_AT);
    struct dg_slice text = unescape(dg_slice_upto(quoted, 2 * LOOKED_AT), DG_OPENS_JSON_STR, &buf);
    if (text.len >= LOOKED_AT) text.len = whole_characters(dg_slice_upto(text, LOOKED_AT));
    return text.len >= LEAST && dg_smoke_judge(text, reason, sizeof(reason)) == DG_SMOKE_GARBAGE;
}
