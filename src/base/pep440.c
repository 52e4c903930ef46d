#include "base/pep440.h"

/* Where a part is absent its kind says how the absence sorts. */
enum { BEFORE_ALL = -1, PRE_A, PRE_B, PRE_RC, AFTER_ALL };

struct version {
    uint64_t epoch;
    struct dg_slice release; /* "1.2.3": digits and single dots */
    int pre_kind, post_kind, dev_kind;
    uint64_t pre, post, dev;
    bool valid; /* the whole text is a version */
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

/* Take the digits at the start of *s; a number too large is the largest one. */
static bool take_number(struct dg_slice *s, uint64_t *ret) {
    size_t n = 0;
    while (n < s->len && is_digit(s->ptr[n])) n++;
    if (!n) return false;
    if (!dg_slice_u64(dg_slice_upto(*s, n), ret)) *ret = UINT64_MAX;
    *s = dg_slice_from(*s, n);
    return true;
}

static bool take_word(struct dg_slice *s, const char *word) {
    size_t n = strlen(word);
    if (s->len < n) return false;
    for (size_t i = 0; i < n; i++)
        if (lower(s->ptr[i]) != word[i]) return false;
    *s = dg_slice_from(*s, n);
    return true;
}

static void skip_separator(struct dg_slice *s) {
    if (s->len && strchr(".-_", *s->ptr) && *s->ptr) *s = dg_slice_from(*s, 1);
}

/* "[sep]WORD[sep][N]" for one of the words (longest first); its index, or -1 and *s as it was. */
static int take_part(struct dg_slice *s, const char *const *words, uint64_t *ret_n) {
    struct dg_slice at = *s;
    skip_separator(&at);
    for (int i = 0; words[i]; i++) {
        if (!take_word(&at, words[i])) continue;
        *s = at;
        skip_separator(&at);
        if (take_number(&at, ret_n))
            *s = at;
        else
            *ret_n = 0;
        return i;
    }
    return -1;
}

static struct dg_slice take_release(struct dg_slice *s) {
    struct dg_slice all = *s;
    uint64_t n;
    if (!take_number(s, &n)) return dg_slice_upto(all, 0);
    while (s->len > 1 && *s->ptr == '.' && is_digit(s->ptr[1])) {
        *s = dg_slice_from(*s, 1);
        take_number(s, &n);
    }
    return dg_slice_upto(all, all.len - s->len);
}

static bool is_local(struct dg_slice s) {
    if (s.len < 2 || *s.ptr != '+') return false;
    for (size_t i = 1; i < s.len; i++)
        if (!is_digit(s.ptr[i]) && (lower(s.ptr[i]) < 'a' || lower(s.ptr[i]) > 'z') && !strchr(".-_", s.ptr[i]))
            return false;
    return memchr(s.ptr, '\0', s.len) == NULL;
}

static void take_suffixes(struct dg_slice *s, struct version *v) {
    static const char *const pre[] = {"alpha", "beta", "preview", "pre", "rc", "a", "b", "c", NULL};
    static const int pre_kinds[] = {PRE_A, PRE_B, PRE_RC, PRE_RC, PRE_RC, PRE_A, PRE_B, PRE_RC};
    static const char *const post[] = {"post", "rev", "r", NULL};
    static const char *const dev[] = {"dev", NULL};
    int kind = take_part(s, pre, &v->pre);
    if (kind >= 0) v->pre_kind = pre_kinds[kind];
    if (s->len > 1 && *s->ptr == '-' && is_digit(s->ptr[1])) {
        *s = dg_slice_from(*s, 1);
        take_number(s, &v->post);
        v->post_kind = AFTER_ALL;
    } else if (take_part(s, post, &v->post) >= 0) {
        v->post_kind = AFTER_ALL;
    }
    if (take_part(s, dev, &v->dev) >= 0) {
        v->dev_kind = BEFORE_ALL;
        if (v->pre_kind == AFTER_ALL && v->post_kind == BEFORE_ALL) v->pre_kind = BEFORE_ALL;
    }
}

static struct version parse(struct dg_slice s) {
    struct version v = {.pre_kind = AFTER_ALL, .post_kind = BEFORE_ALL, .dev_kind = AFTER_ALL};
    s = dg_slice_trim(s);
    take_word(&s, "v");
    struct dg_slice at = s;
    uint64_t epoch;
    if (take_number(&at, &epoch) && take_word(&at, "!")) {
        v.epoch = epoch;
        s = at;
    }
    v.release = take_release(&s);
    struct version bare = v;
    take_suffixes(&s, &v);
    v.valid = v.release.len && (!s.len || is_local(s));
    return v.valid ? v : bare;
}

static int cmp_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

/* Part by part, at most `parts` of them; what is missing is 0. */
static int cmp_release(struct dg_slice a, struct dg_slice b, size_t parts) {
    for (; parts && (a.len || b.len); parts--) {
        uint64_t x = 0, y = 0;
        take_number(&a, &x);
        take_number(&b, &y);
        if (x != y) return cmp_u64(x, y);
        a = dg_slice_from(a, 1);
        b = dg_slice_from(b, 1);
    }
    return 0;
}

static int cmp_part(int kind_a, uint64_t a, int kind_b, uint64_t b) {
    return kind_a != kind_b ? (kind_a > kind_b) - (kind_a < kind_b) : cmp_u64(a, b);
}

static int cmp(const struct version *a, const struct version *b) {
    int c = cmp_u64(a->epoch, b->epoch);
    if (!c) c = (a->release.len > 0) - (b->release.len > 0);
    if (!c) c = cmp_release(a->release, b->release, SIZE_MAX);
    if (!c) c = cmp_part(a->pre_kind, a->pre, b->pre_kind, b->pre);
    if (!c) c = cmp_part(a->post_kind, a->post, b->post_kind, b->post);
    if (!c) c = cmp_part(a->dev_kind, a->dev, b->dev_kind, b->dev);
    return c;
}

int dg_pep440_cmp(struct dg_slice a, struct dg_slice b) {
    struct version x = parse(a), y = parse(b);
    return cmp(&x, &y);
}

enum op { EQ, NE, GE, LE, GT, LT, COMPATIBLE };

struct comparison {
    enum op op;
    bool prefix;  /* "==1.2.*" */
    size_t parts; /* of the release, for prefix and ~= */
    struct version v;
};

static bool parse_comparison(struct dg_slice s, struct comparison *ret) {
    static const struct {
        const char *text;
        enum op op;
    } ops[] = {{"==", EQ}, {"!=", NE}, {">=", GE}, {"<=", LE}, {"~=", COMPATIBLE}, {">", GT}, {"<", LT}, {"", EQ}};
    size_t i = 0;
    s = dg_slice_trim(s);
    while (!dg_slice_starts(s, dg_cstr(ops[i].text))) i++;
    *ret = (struct comparison){.op = ops[i].op, .parts = 1};
    s = dg_slice_trim(dg_slice_from(s, strlen(ops[i].text)));
    ret->prefix = dg_slice_ends(s, DG_S(".*"));
    if (ret->prefix) s.len -= 2;
    ret->v = parse(s);
    for (size_t k = 0; k < ret->v.release.len; k++) ret->parts += ret->v.release.ptr[k] == '.';
    if (!ret->v.valid) return false;
    if (ret->prefix) /* a prefix of a release, nothing else */
        return (ret->op == EQ || ret->op == NE) && s.ptr + s.len == ret->v.release.ptr + ret->v.release.len;
    if (ret->op == COMPATIBLE) return ret->parts-- > 1;
    return true;
}

static bool same_prefix(const struct version *v, const struct comparison *c) {
    return v->epoch == c->v.epoch && !cmp_release(v->release, c->v.release, c->parts);
}

static bool holds(const struct version *v, const struct comparison *c) {
    if (c->prefix) return same_prefix(v, c) == (c->op == EQ);
    int order = cmp(v, &c->v);
    switch (c->op) {
    case EQ: return order == 0;
    case NE: return order != 0;
    case GE: return order >= 0;
    case LE: return order <= 0;
    case GT: return order > 0;
    case LT: return order < 0;
    case COMPATIBLE: return order >= 0 && same_prefix(v, c);
    }
    return false;
}

/* Is `v` in the range? A NULL `v` is in all that parse. */
static bool in_range(const struct version *v, struct dg_slice range) {
    struct dg_slice part;
    struct comparison c;
    bool in = true;
    range = dg_slice_trim(range);
    if (dg_slice_is(range, "*")) return true;
    if (!range.len) return false;
    while (dg_slice_split(&range, ',', &part)) {
        if (!parse_comparison(part, &c)) return false;
        if (v && !holds(v, &c)) in = false;
    }
    return in;
}

bool dg_pep440_range_valid(struct dg_slice range) { return in_range(NULL, range); }

bool dg_pep440_in(struct dg_slice version, struct dg_slice range) {
    version = dg_slice_trim(version);
    if (!version.len) return true;
    struct version v = parse(version);
    return in_range(&v, range);
}
