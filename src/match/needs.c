/* What a text must hold for a regex to match it, as far as that is easily told. Most lines that hold a pattern's
 * literal hold nothing of what its regex seeks besides, and need not be searched for that.
 *
 * Read are the regex's plain characters, its groups and alternatives; what is optional, looked ahead or behind, or not
 * understood demands nothing. The longest texts that one of several alternatives demands stand for it. */
#include "match/engine.h"
#include <limits.h>

enum { RUN_MAX = 64, GRAM = 3, DEPTH = 16 };

/* Of the upper three bytes. */
static uint16_t gram_hash_of(uint32_t x) { return (uint16_t)(x * UINT32_C(0x9e3779b1) >> (32 - GRAMS_BITS)); }

static uint16_t gram_hash(const char *p) {
    char bytes[] = {0, p[0], p[1], p[2]};
    return gram_hash_of(gram_load(bytes));
}

/* One of these texts is demanded. */
struct demand {
    struct need v[NEEDS_MAX];
    unsigned n, shortest; /* n 0: nothing is */
};

struct parse {
    const char *p, *end;
    struct dg_slice lit;
    struct need *all; /* where all demands go */
    unsigned n_all;
    int depth;
    bool lost; /* something was met that may change the meaning of all */
};

/* Their room is large, and mostly left as it is. */
static void clear(struct demand *d) { d->n = d->shortest = 0; }

static void append(struct need *to, const struct demand *d) { memcpy(to, d->v, d->n * sizeof(*d->v)); }

/* The longer, thus rarer, one stands for its sequence. */
static void stand_for(const struct demand *d, struct demand *best) {
    if (d->shortest <= best->shortest) return;
    append(best->v, d);
    best->n = d->n;
    best->shortest = d->shortest;
}

/* All are demanded, too; what turns out to stand in one alternative of several is taken back. */
static void add_demand(struct parse *s, const struct demand *d, struct demand *best) {
    stand_for(d, best);
    if (!d->n || s->n_all + d->n > NEEDS_MAX) return;
    append(s->all + s->n_all, d);
    s->n_all += d->n;
    s->all[s->n_all - 1].last = true;
}

/* Plain characters in a row. */
struct run {
    char text[RUN_MAX];
    size_t n;
};

/* The last of them, which stand before each alternative of the group behind. */
static struct run tail_of(const struct run *r) {
    struct run tail = {.n = r->n < GRAM ? r->n : GRAM - 1};
    memcpy(tail.text, r->text + r->n - tail.n, tail.n);
    return tail;
}

static void add_text(struct parse *s, const char *p, size_t n, struct demand *best) {
    if (n < GRAM || dg_slice_find(s->lit, dg_slice(p, n)) >= 0) return;
    struct demand d;
    d.v[0] = (struct need){.grams = {gram_hash(p), gram_hash(p + (n - GRAM) / 2), gram_hash(p + n - GRAM)}};
    d.n = 1;
    d.shortest = (unsigned)n;
    add_demand(s, &d, best);
}

/* What is known to be there, as it is the literal, is left out. */
static void end_run(struct parse *s, struct run *r, struct demand *best) {
    ptrdiff_t lit = s->lit.len ? dg_slice_find(dg_slice(r->text, r->n), s->lit) : -1;
    size_t before = lit < 0 ? r->n : (size_t)lit, behind = lit < 0 ? r->n : before + s->lit.len;
    add_text(s, r->text, before, best);
    add_text(s, r->text + behind, r->n - behind, best);
    r->n = 0;
}

enum times { ONCE, REPEATED, OPTIONAL };

/* The quantifier behind an item, if there is one. */
static enum times quantifier(struct parse *s) {
    enum times times = ONCE;
    if (s->p < s->end && strchr("?*+", *s->p)) {
        times = *s->p++ == '+' ? REPEATED : OPTIONAL;
    } else if (s->p + 1 < s->end && *s->p == '{' && (s->p[1] == ',' || (s->p[1] >= '0' && s->p[1] <= '9'))) {
        times = s->p[1] == '0' || s->p[1] == ',' ? OPTIONAL : REPEATED;
        s->p++;
        while (s->p < s->end && (*s->p == ',' || (*s->p >= '0' && *s->p <= '9'))) s->p++;
        s->lost |= s->p == s->end || *s->p != '}'; /* plain characters, then */
        s->p += !s->lost;
    }
    if (times != ONCE && s->p < s->end && (*s->p == '?' || *s->p == '+')) s->p++; /* lazy or possessive */
    return times;
}

/* The end of a class or group; a regex without is none. */
static void closing(struct parse *s) {
    if (s->p < s->end)
        s->p++;
    else
        s->lost = true;
}

static void skip_class(struct parse *s) {
    if (s->p < s->end && *s->p == '^') s->p++;
    if (s->p < s->end && *s->p == ']') s->p++;
    while (s->p < s->end && *s->p != ']') {
        s->lost |= *s->p == '['; /* [:alpha:], perhaps */
        s->p += *s->p == '\\' && s->p + 1 < s->end ? 2 : 1;
    }
    closing(s);
}

static void alternatives(struct parse *s, struct run before, struct demand *ret);

enum group { PLAIN_GROUP, LOOKING, OTHER_GROUP };

/* Which kind of group begins, behind its '(' and what follows that. */
static enum group group_kind(struct parse *s) {
    size_t left = (size_t)(s->end - s->p);
    if (left && *s->p == '*') return OTHER_GROUP;
    if (!left || *s->p != '?') return PLAIN_GROUP;
    if (left > 2 && s->p[1] == ':') return s->p += 2, PLAIN_GROUP;
    if (left > 2 && (s->p[1] == '=' || s->p[1] == '!')) return s->p += 2, LOOKING;
    if (left > 3 && s->p[1] == '<' && (s->p[2] == '=' || s->p[2] == '!')) return s->p += 3, LOOKING;
    const char *name = left > 3 && s->p[1] == '<' ? memchr(s->p, '>', left) : NULL;
    if (!name) return OTHER_GROUP;
    s->p = name + 1;
    return PLAIN_GROUP;
}

static void group(struct parse *s, struct run before, struct demand *best) {
    struct demand inner;
    unsigned demanded = s->n_all;
    enum group kind = group_kind(s);
    if (kind == OTHER_GROUP || ++s->depth > DEPTH) {
        s->lost = true;
        return;
    }
    alternatives(s, before, &inner);
    s->depth--;
    closing(s);
    if (quantifier(s) == OPTIONAL || kind != PLAIN_GROUP)
        s->n_all = demanded;
    else if (s->n_all > demanded)
        stand_for(&inner, best);
    else
        add_demand(s, &inner, best);
}

/* One character, or a class. Is it a plain one? */
static bool character(struct parse *s, char *ret) {
    *ret = *s->p++;
    if (*ret == '[') return skip_class(s), false;
    if (*ret == '\\') {
        if (s->p == s->end) return false;
        *ret = *s->p++;
        s->lost |= strchr("QEpPxocukgNGCXR0", *ret) != NULL;
        return !((*ret >= 'a' && *ret <= 'z') || (*ret >= 'A' && *ret <= 'Z') || (*ret >= '0' && *ret <= '9'));
    }
    return !strchr(".^$", *ret) && (unsigned char)*ret < 0x80;
}

/* Up to the next '|' or ')' of this depth. */
static void sequence(struct parse *s, struct run run, struct demand *best) {
    while (s->p < s->end && *s->p != '|' && *s->p != ')' && !s->lost) {
        char c;
        if (*s->p == '(') {
            struct run before = tail_of(&run);
            s->p++;
            end_run(s, &run, best);
            group(s, before, best);
            continue;
        }
        bool plain = character(s, &c);
        enum times times = quantifier(s);
        if (!plain || times == OPTIONAL || run.n == RUN_MAX) end_run(s, &run, best);
        if (plain && times != OPTIONAL) run.text[run.n++] = c;
        if (times == REPEATED) end_run(s, &run, best);
    }
    end_run(s, &run, best);
}

/* One of them is demanded: nothing is where one of them demands nothing. */
static void alternatives(struct parse *s, struct run before, struct demand *ret) {
    unsigned demanded = s->n_all, shortest = UINT_MAX;
    bool none = false, several = false;
    clear(ret);
    for (bool more = true; more && !s->lost;) {
        struct demand one;
        clear(&one);
        sequence(s, before, &one);
        none |= !one.n || ret->n + one.n > NEEDS_MAX;
        if (!none) append(ret->v + ret->n, &one);
        if (!none) ret->n += one.n;
        if (one.shortest < shortest) shortest = one.shortest;
        more = s->p < s->end && *s->p == '|';
        several |= more;
        s->p += more;
    }
    if (several) s->n_all = demanded;
    ret->shortest = shortest;
    if (none) clear(ret);
}

unsigned needs_of(struct dg_slice re, struct dg_slice lit, struct need *ret) {
    struct demand whole, best;
    if (!re.len) return 0;
    struct parse s = {.p = re.ptr, .end = re.ptr + re.len, .lit = lit, .all = ret};
    clear(&best);
    alternatives(&s, (struct run){.n = 0}, &whole);
    if (!s.n_all) add_demand(&s, &whole, &best);
    return s.lost || s.p != s.end ? 0 : s.n_all;
}

void grams_of(struct dg_slice text, struct grams *ret) {
    size_t i = 0;
    if (!++ret->now) *ret = (struct grams){.now = 1};
    for (; i + sizeof(uint32_t) <= text.len; i += 2) {
        uint32_t two = gram_load(text.ptr + i);
        ret->held[gram_hash_of(two << 8)] = ret->held[gram_hash_of(two & ~UINT32_C(0xff))] = ret->now;
    }
    for (; i + GRAM <= text.len; i++) ret->held[gram_hash(text.ptr + i)] = ret->now;
}

static bool holds(const struct grams *g, const struct need *n) {
    return g->held[n->grams[0]] == g->now && g->held[n->grams[1]] == g->now && g->held[n->grams[2]] == g->now;
}

bool needs_met(const struct need *v, unsigned n, const struct grams *g) {
    bool met = false;
    for (unsigned i = 0; i < n; i++) {
        met = met || holds(g, &v[i]);
        if (!v[i].last) continue;
        if (!met) return false;
        met = false;
    }
    return true;
}
