/* The state of one scan: made, taken down, and turned into the scan that is handed out. */
#include "match/engine.h"

int engine_init(struct engine *e, const struct dg_matcher *m, const struct dg_match_opts *opts,
                struct dg_arena *arena) {
    *e = (struct engine){.m = m, .opts = opts, .arena = arena, .launch = DG_NONE};
    if (scanner_init(&e->scanner, m, opts)) return -DG_E_NOMEM;
    e->rules = dg_calloc(m->rules->n_rules, sizeof(*e->rules));
    e->begun = dg_calloc(m->rules->n_rules / 64 + 1, sizeof(*e->begun));
    e->services = dg_calloc(m->bounds.lazy_to - m->bounds.lazy_from, sizeof(*e->services));
    e->worth = dg_calloc(lists_of(&m->sieve) / 64, sizeof(*e->worth));
    e->now = dg_calloc(1, sizeof(*e->now));
    e->before = dg_calloc(1, sizeof(*e->before));
    return e->rules && e->begun && e->services && e->worth && e->now && e->before ? 0 : -DG_E_NOMEM;
}

static void fatals_release(struct fatals *f) {
    for (int i = 0; f && i < FATALS_MAX; i++) {
        kept_release(&f->first[i].at);
        kept_release(&f->last[i].at);
    }
    free(f);
}

void engine_release(struct engine *e) {
    scanner_release(&e->scanner);
    for (uint32_t i = 0; e->begun && i < e->m->rules->n_rules; i++)
        if (bit_of(e->begun, i)) rule_state_release(&e->rules[i]);
    for (uint32_t i = 0; e->records && i < RECORDS_MAX; i++) record_free(record_nth(e, i));
    for (size_t i = 0; i < e->found.n; i++) found_free(e->found.v[i]);
    for (size_t i = 0; i < e->fatals.n; i++) kept_release(&e->fatals.v[i].at);
    for (int i = 0; i < TAIL_MAX; i++) kept_release(&e->tail[i]);
    kept_release(&e->pulse);
    fatals_release(e->now);
    fatals_release(e->before);
    free(e->rules);
    free(e->begun);
    free(e->services);
    free(e->worth);
    free(e->records);
    free(e->launches.v);
    free(e->found.v);
    free(e->table);
    free(e->fatals.v);
    free(e->tails.v);
    free(e->limits.v);
}

/* ---- out */

static int by_place(const void *a, const void *b) {
    const struct dg_finding *x = a, *y = b;
    if (x->first.seq != y->first.seq) return x->first.seq < y->first.seq ? -1 : 1;
    if (x->rule != y->rule) return x->rule < y->rule ? -1 : 1;
    return x->epoch < y->epoch ? -1 : x->epoch > y->epoch;
}

static int by_seq(const void *a, const void *b) {
    const struct dg_fatal *x = a, *y = b;
    return x->place.seq < y->place.seq ? -1 : x->place.seq > y->place.seq;
}

static struct dg_finding finding_out(struct engine *e, const struct found *f) {
    struct dg_finding out = f->f;
    out.first = place_in_arena(e, &f->first);
    out.captures = caps_in_arena(e, &f->first);
    out.n_captures = f->first.n_caps;
    out.last = out.first;
    out.last_captures = out.captures;
    out.n_last_captures = out.n_captures;
    if (f->last.place.seq != f->first.place.seq) {
        out.last = place_in_arena(e, &f->last);
        out.last_captures = caps_in_arena(e, &f->last);
        out.n_last_captures = f->last.n_caps;
    }
    for (uint32_t i = 0; i < out.n_decisive; i++) out.decisive[i] = place_in_arena(e, &f->parts[i]);
    if (out.record_line) {
        out.first.end_line = out.first.line;
    } else {
        out.record_line = out.first.line;
        out.record_end = out.first.line;
    }
    return out;
}

static void findings_out(struct engine *e, struct dg_scan *s) {
    s->findings = dg_arena_alloc(e->arena, e->found.n * sizeof(*s->findings));
    if (!s->findings) {
        e->nomem = true;
        return;
    }
    for (size_t i = 0; i < e->found.n; i++) s->findings[s->n_findings++] = finding_out(e, e->found.v[i]);
    qsort(s->findings, s->n_findings, sizeof(*s->findings), by_place);
}

static void fatals_out(struct engine *e, struct dg_scan *s) {
    s->fatals = dg_arena_alloc(e->arena, e->fatals.n * sizeof(*s->fatals));
    if (!s->fatals) {
        e->nomem = true;
        return;
    }
    for (size_t i = 0; i < e->fatals.n; i++) {
        struct dg_fatal f = e->fatals.v[i].f;
        f.place = place_in_arena(e, &e->fatals.v[i].at);
        f.exception = dg_arena_dup(e->arena, e->fatals.v[i].at.caps[0].text);
        s->fatals[s->n_fatals++] = f;
    }
    qsort(s->fatals, s->n_fatals, sizeof(*s->fatals), by_seq);
}

static void *copy_out(struct engine *e, const void *v, size_t n, size_t size) {
    void *p = dg_arena_alloc(e->arena, n * size);
    if (p && n) memcpy(p, v, n * size);
    if (!p) e->nomem = true;
    return p;
}

/* What dg_line_epoch() says of the line, now that its source was read to the end and all its anchors are known. */
static void settle_place(struct dg_place *p, const struct dg_scan *s) {
    if (p->source >= s->n_sources) return;
    struct dg_prefix line = {.boot = p->boot, .time = p->time, .year_missing = p->year_missing};
    line.boot_clock = !dg_time_known(p->time) && dg_time_known(p->boot);
    p->time = dg_line_epoch(&line, &s->sources[p->source]);
}

static void settle_times(struct dg_scan *s) {
    for (uint32_t i = 0; i < s->n_findings; i++) {
        struct dg_finding *f = &s->findings[i];
        settle_place(&f->first, s);
        settle_place(&f->last, s);
        for (uint32_t k = 0; k < f->n_decisive; k++) settle_place(&f->decisive[k], s);
    }
    for (uint32_t i = 0; i < s->n_fatals; i++) settle_place(&s->fatals[i].place, s);
    for (uint32_t i = 0; i < s->n_launches; i++) {
        struct dg_launch *l = &s->launches[i];
        double shift = l->source < s->n_sources ? s->sources[l->source].year_shift : 0;
        l->first_time += l->first_year_missing ? shift : 0; /* NaN stays NaN */
        l->last_time += l->last_year_missing ? shift : 0;
        if (l->pulses) settle_place(&l->last_pulse, s);
    }
    for (uint32_t i = 0; s->tails && i < s->n_sources; i++)
        for (uint32_t k = 0; k < s->tails[i].n; k++) settle_place(&s->tails[i].v[k], s);
}

int engine_finish(struct engine *e, struct dg_scan **ret) {
    struct dg_scan *s = dg_arena_alloc(e->arena, sizeof(*s));
    uint32_t n = 0;
    if (!s || e->nomem) return -DG_E_NOMEM;
    findings_out(e, s);
    fatals_out(e, s);
    /* the list of sources grows while it is read but does not change afterwards */
    s->sources = e->opts->sources ? (struct dg_source *)(uintptr_t)e->opts->sources(e->opts->in, &n) : NULL;
    s->n_sources = n;
    while (!e->nomem && e->tails.n < n) /* the last sources may be without a line */
        if (!DG_VEC_PUSH(&e->tails, (struct dg_tail){0}, UINT32_MAX)) e->nomem = true;
    s->launches = copy_out(e, e->launches.v, e->launches.n, sizeof(*s->launches));
    s->n_launches = (uint32_t)e->launches.n;
    s->tails = copy_out(e, e->tails.v, e->tails.n, sizeof(*s->tails));
    s->limits = copy_out(e, e->limits.v, e->limits.n, sizeof(*s->limits));
    s->n_limits = (uint32_t)e->limits.n;
    s->dropped_findings = e->dropped;
    if (e->nomem) return -DG_E_NOMEM;
    settle_times(s);
    *ret = s;
    return 0;
}
