/* Stage 1, second half: regexes on the lines that hold literals. Most hits are of literals that many rules share, and
 * end here. */
#include "match/engine.h"
#include "base/timex.h"

struct line_trial { /* one line */
    struct scanner *s;
    enum dg_kind kind;
    struct hits *h;
    const struct msg *msg;
    bool known;   /* a rule knows it: nothing is to be guessed */
    bool counted; /* its grams are */
};

/* NULL: out of memory. */
static const struct needs *needs_for(const struct dg_matcher *m, uint32_t needle) {
    struct needs *known = atomic_load_explicit(&m->needs[needle], memory_order_acquire), *none = NULL;
    if (known) return known;
    struct need v[NEEDS_MAX];
    unsigned n = needs_of(m->needles[needle].pattern->re, m->needles[needle].lit, v);
    struct needs *made = dg_malloc(sizeof(*made) + n * sizeof(*v));
    if (!made) return NULL;
    made->n = n;
    memcpy(made->v, v, n * sizeof(*v));
    if (atomic_compare_exchange_strong(&m->needs[needle], &none, made)) return made;
    free(made);
    return none;
}

/* Does the message hold what the needle's regex, if any, needs at least? */
static bool may_match(struct line_trial *t, uint32_t needle) {
    const struct needs *n = needs_for(t->s->m, needle);
    if (!n || !n->n) return true;
    if (!t->counted) grams_of(t->msg->body, &t->s->grams);
    t->counted = true;
    return needs_met(n->v, n->n, &t->s->grams);
}

/* The regex's answer; every so often it is timed. */
static int run(struct line_trial *t, struct regex *r, const struct dg_pattern *p) {
    uint32_t tried = t->s->tried[p->id]++;
    bool timed = tried && tried % TIMED == 0; /* not the first run, which warms caches */
    double began = timed ? dg_time_cpu() : 0;
    int n = regex_run(&t->s->pcre, r, tried, t->msg->body, 0, 0);
    if (timed && dg_time_cpu() - began > SLOW_MICROSECONDS * 1e-6)
        atomic_store_explicit(&r->slow, true, memory_order_relaxed);
    return n;
}

/* Room for the captures of one more match? */
static bool room(struct hits *h) {
    enum { AT_MOST = 1 << 17 };
    if (h->caps.n + CAPS_MAX <= h->caps.cap) return true;
    size_t cap = h->caps.cap ? 2 * h->caps.cap : 16 * CAPS_MAX;
    struct dg_capture *v = cap <= AT_MOST ? dg_realloc_array(h->caps.v, cap, sizeof(*v)) : NULL;
    if (!v) return false;
    h->caps.v = v;
    h->caps.cap = cap;
    return true;
}

static enum trial by_regex(struct line_trial *t, struct sight *sight, const struct dg_pattern *p) {
    struct regex *r = regex_of(t->s->m, p);
    if (!r || r == &REGEX_BAD || atomic_load_explicit(&r->slow, memory_order_relaxed) || !room(t->h)) return TRIAL_NONE;
    int n = run(t, r, p);
    if (n < 0) return n == PCRE2_ERROR_NOMATCH ? TRIAL_FAILED : TRIAL_NONE;
    if (!regex_counts(&t->s->pcre, r, p, t->msg->body)) return TRIAL_FAILED;
    sight->caps = (uint32_t)t->h->caps.n;
    sight->n_caps = (uint16_t)regex_captures(&t->s->pcre, r, t->msg->body, t->h->caps.v + t->h->caps.n);
    t->h->caps.n += sight->n_caps;
    return TRIAL_MATCHES;
}

/* What fails most often, and takes a look at the least memory, comes first. */
static enum trial try(struct line_trial *t, struct sight *sight, const char *lit) {
    const struct dg_matcher *m = t->s->m;
    if (sight->needle >= m->bounds.lazy_from) return TRIAL_NONE; /* a sign of service may wait */
    if (t->known && sight->needle >= m->bounds.guess_from) return TRIAL_FAILED;
    const struct needle *n = &m->needles[sight->needle];
    if (n->chain != CHAIN_NONE && n->chain != CHAIN_GUESSES) return TRIAL_NONE;
    if (!(n->kinds & DG_KIND_BIT(t->kind))) return TRIAL_FAILED;
    if (n->later || (t->known && n->guess)) return TRIAL_NONE;
    if (!may_match(t, sight->needle)) return TRIAL_FAILED;
    const struct dg_pattern *p = n->pattern;
    uint64_t *matched = &t->s->matched[n->number];
    if (n->once && *matched == t->s->serial) return TRIAL_FAILED;
    if (lit_in(p, t->msg, lit) < 0) return TRIAL_FAILED;
    enum trial v = p->re.len ? by_regex(t, sight, p) : TRIAL_MATCHES;
    if (v != TRIAL_MATCHES) return v;
    if (n->once) *matched = t->s->serial;
    t->known |= n->knows;
    return v;
}

static bool is_guess(const struct dg_matcher *m, uint32_t needle) {
    return needle >= m->bounds.guess_from && needle < m->bounds.lazy_from;
}

static bool common(const char *data, size_t len, const struct hit_line *l) {
    size_t n = l->end - l->start;
    return n && n <= WINDOW && l->start && l->end < len && !has_parts(dg_slice(data + l->start, n));
}

/* Member by member, as they were written just now: a processor waits before it reads several writes as one. */
static void move(struct sight *to, const struct sight *from) {
    to->needle = from->needle;
    to->at = from->at;
    to->caps = from->caps;
    to->n_caps = from->n_caps;
    to->trial = from->trial;
}

void trial_line(struct scanner *s, const char *data, size_t len, enum dg_kind kind, struct hits *h, uint32_t line) {
    struct hit_line *l = &h->lines[line];
    if (!common(data, len, l)) return;
    if (!h->msgs) h->msgs = dg_malloc(HITS_MAX * sizeof(*h->msgs));
    if (!h->msgs) return;
    struct msg *msg = &h->msgs[line];
    struct line_trial t = {.s = s, .kind = kind, .h = h, .msg = msg};
    msg->bol = msg->eol = true;
    msg_split(s->opts, kind, dg_slice(data + l->start, l->end - l->start), msg);
    l->tried = true;
    struct sight *v = h->sights + l->first;
    uint32_t kept = 0;
    bool spread = false;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!spread && !t.known && is_guess(s->m, v[i].needle)) {
            l->n = i + spread_guesses(s, v + i, l->n - i);
            spread = true;
        }
        v[i].trial = (uint16_t)try(&t, &v[i], data + v[i].at);
        if (v[i].trial == TRIAL_FAILED) continue;
        if (i != kept) move(&v[kept], &v[i]);
        kept++;
    }
    l->n = kept;
}
