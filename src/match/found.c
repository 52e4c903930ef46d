/* Findings: equal matches collapsed, cut by launch and epoch. */
#include "match/engine.h"
#include "base/timex.h"
#include "base/trace.h"
#include <xxhash.h>

enum { TOTAL_MAX = 16384, LAUNCHES_MAX = 16384, NEAR_LINES = 50 };
static const double NEAR_SECONDS = 5.0;

void found_free(struct found *f) {
    if (!f) return;
    kept_release(&f->first);
    kept_release(&f->last);
    for (size_t i = 0; i < DG_COUNT(f->parts); i++) kept_release(&f->parts[i]);
    free(f);
}

/* ---- the table of tuples */

/* Of what is looked at the first and the last time only, services are not told apart. */
static uint64_t hash_of(const struct engine *e, const struct hit *hit) {
    uint32_t head[3] = {(uint32_t)(hit->rule - e->m->rules->rules), e->kind, hit->launch};
    struct dg_slice unit = is_lazy(hit->rule) ? DG_S("") : hit->place->unit;
    uint64_t h = XXH3_64bits_withSeed(head, sizeof(head), XXH3_64bits(unit.ptr ? unit.ptr : "", unit.len));
    for (uint32_t i = 0; i < hit->rule->n_captures; i++) {
        const struct dg_capdef *def = &hit->rule->captures[i];
        if (!def->key) continue;
        struct dg_slice text = {"", 0};
        for (uint32_t k = 0; k < hit->caps->n; k++)
            if (dg_slice_eq(hit->caps->v[k].name, def->name)) text = hit->caps->v[k].text;
        h = XXH3_64bits_withSeed(text.ptr, text.len, h);
    }
    return h;
}

static size_t slot_of(const struct engine *e, uint64_t hash) {
    size_t i = hash & (e->table_size - 1);
    while (e->table[i] && e->found.v[e->table[i] - 1]->hash != hash) i = (i + 1) & (e->table_size - 1);
    return i;
}

static bool rebuild(struct engine *e, size_t size) {
    uint32_t *table = dg_calloc(size, sizeof(*table));
    if (!table) return false;
    free(e->table);
    e->table = table;
    e->table_size = size;
    for (size_t i = 0; i < e->found.n; i++)
        if (e->found.v[i]->hash) e->table[slot_of(e, e->found.v[i]->hash)] = (uint32_t)i + 1;
    return true;
}

/* Over the total: the findings of older launches go, oldest first, until half are left. */
static void evict(struct engine *e) {
    uint32_t oldest = DG_NONE;
    size_t n = 0, drop = e->found.n / 2;
    for (size_t i = 0; i < e->found.n && i < drop; i++)
        if (e->found.v[i]->f.launch != DG_NONE) oldest = e->found.v[i]->f.launch;
    for (size_t i = 0; i < e->found.n; i++) {
        struct found *f = e->found.v[i];
        bool gone = f->f.launch != DG_NONE && f->f.launch <= oldest && f->f.launch != e->launch && oldest != DG_NONE;
        e->dropped += gone;
        if (gone)
            found_free(f);
        else
            e->found.v[n++] = f;
    }
    e->found.n = n;
    if (!rebuild(e, e->table_size)) e->nomem = true;
}

static struct found *found_new(struct engine *e) {
    if (e->found.n >= TOTAL_MAX) evict(e);
    if ((e->found.n + 1) * 2 > e->table_size && !rebuild(e, e->table_size ? e->table_size * 2 : 256)) return NULL;
    struct found *f = dg_calloc(1, sizeof(*f));
    if (f && DG_VEC_PUSH(&e->found, f, SIZE_MAX / sizeof(f))) return f;
    free(f);
    return NULL;
}

/* Room for one more tuple of this rule and in this launch? */
static bool room(struct engine *e, const struct hit *hit) {
    struct rule_state *s = &e->rules[hit->rule - e->m->rules->rules];
    if (s->tuples_launch != hit->launch) {
        s->tuples = 0;
        s->tuples_launch = hit->launch;
    }
    if (s->tuples >= TUPLES_MAX || e->launch_found >= FOUND_MAX || e->found.n >= TOTAL_MAX + FOUND_MAX) return false;
    s->tuples++;
    e->launch_found++;
    return true;
}

static const struct dg_rule *span_around(const struct engine *e, const struct dg_place *place) {
    for (uint32_t i = e->n_spans; i-- > 0;) {
        const struct span *s = &e->spans[i];
        if (place->seq > s->from && place->seq <= s->to && same_process(s->pid, s->rank, place->pid, place->rank))
            return s->rule;
    }
    return NULL;
}

static uint64_t rank_bit(int rank) { return rank >= 0 && rank < 64 ? UINT64_C(1) << rank : 0; }

static void fill(struct engine *e, struct found *f, const struct hit *hit) {
    bool good = keep(&f->first, hit->place, hit->caps->v, hit->caps->n) &&
                keep(&f->last, hit->place, hit->caps->v, hit->caps->n);
    f->f = (struct dg_finding){.rule = hit->rule,
                               .count = 1,
                               .ranks = rank_bit(hit->place->rank),
                               .launch = hit->launch,
                               .epoch = hit->epoch,
                               .virtual_record = hit->opened,
                               .inside = hit->inside ? hit->inside : span_around(e, hit->place)};
    for (uint32_t i = 0; i < hit->n_parts && i < DG_COUNT(f->parts); i++) {
        good = good && keep(&f->parts[i], &hit->parts[i].place, NULL, 0);
        f->f.n_decisive++;
    }
    f->record = 0;
    if (hit->record) {
        f->f.record_line = record_line(hit->record);
        record_holds(hit->record, f);
    }
    dg_trace("hit", "input %u line %llu: %.*s: %.*s", e->source, (unsigned long long)hit->place->line,
             DG_FMT(hit->rule->id), DG_FMT(hit->place->text));
    if (!good) e->nomem = true;
}

/* The tuple was last seen in an earlier epoch: that becomes, or joins, the one finding of earlier epochs. */
static bool age(struct engine *e, struct found *f) {
    if (!f->old) {
        struct found *old = found_new(e);
        if (!old) return false;
        *old = *f;
        old->hash = 0;
        *f = (struct found){.hash = f->hash, .old = old};
        return true;
    }
    struct kept last = f->old->last;
    f->old->last = f->last;
    f->last = last;
    if (!f->f.rule->pulse) f->old->f.count += f->f.count;
    f->old->f.ranks |= f->f.ranks;
    f->old->f.epoch = f->f.epoch;
    return true;
}

static void again(struct engine *e, struct found *f, const struct hit *hit) {
    if (!hit->rule->pulse) { /* signs of service are not counted: not each is looked at */
        f->f.count++;
        f->f.ranks |= rank_bit(hit->place->rank);
    } else if (hit->place->seq < f->last.place.seq) {
        return;
    }
    if (!keep(&f->last, hit->place, hit->caps->v, hit->caps->n)) e->nomem = true;
}

static void add(struct engine *e, const struct hit *hit) {
    uint64_t hash = hash_of(e, hit);
    hash += !hash; /* 0 marks what is not in the table */
    if (!e->table_size && !rebuild(e, 256)) {
        e->nomem = true;
        return;
    }
    uint32_t at = e->table[slot_of(e, hash)];
    struct found *f = at ? e->found.v[at - 1] : NULL;
    if (f && f->f.epoch >= hit->epoch) {
        again(e, f, hit);
        return;
    }
    if (f) {
        if (!age(e, f)) e->nomem = true;
    } else {
        if (!room(e, hit)) {
            e->dropped++;
            return;
        }
        f = found_new(e);
        if (!f) {
            e->nomem = true;
            return;
        }
        f->hash = hash;
        e->table[slot_of(e, hash)] = (uint32_t)e->found.n;
    }
    fill(e, f, hit);
}

void found_add(struct engine *e, const struct hit *hit) {
    const struct dg_rule *rule = hit->rule;
    struct hit h = *hit;
    if (rule->role == DG_ROLE_CAUSE) trouble_begins(e);
    if (rule->pulse && !hit->opened && hit->launch != DG_NONE) {
        launch_pulse(e, hit->place);
        h.epoch = launch_epoch(e);
    }
    add(e, &h);
    if (rule->ends && !hit->opened) e->launch_ended = true;
    if (rule->opens == DG_OPENS_UNTIL && !hit->opened) span_open(e, rule, hit->place);
    if (hit->record && (rule->role == DG_ROLE_NOISE || rule->role == DG_ROLE_RECOVERED)) record_harmless(hit->record);
}

/* ---- spans of wrappers */

void span_open(struct engine *e, const struct dg_rule *rule, const struct dg_place *place) {
    struct span span = {rule, place->seq, place->seq + rule->opens_lines, place->pid, place->rank};
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->n_spans; i++)
        if (e->spans[i].to > place->seq) e->spans[n++] = e->spans[i];
    if (n == SPANS_MAX) memmove(e->spans, e->spans + 1, --n * sizeof(*e->spans));
    e->spans[n++] = span;
    e->n_spans = n;
}

void span_close(struct engine *e, const struct dg_rule *rule, const struct dg_place *place) {
    for (uint32_t i = 0; i < e->n_spans; i++)
        if (e->spans[i].rule == rule && e->spans[i].to > place->seq) e->spans[i].to = place->seq;
}

/* ---- launches */

uint32_t launch_epoch(const struct engine *e) { return e->launch == DG_NONE ? 0 : e->launches.v[e->launch].epochs - 1; }

void launch_open(struct engine *e, uint64_t raw) {
    struct dg_launch l = {.source = e->source,
                          .first_line = raw,
                          .last_line = raw,
                          .first_time = DG_TIME_NONE,
                          .last_time = DG_TIME_NONE,
                          .epochs = 1};
    if (!DG_VEC_PUSH(&e->launches, l, LAUNCHES_MAX)) {
        e->nomem |= e->launches.n < LAUNCHES_MAX;
        return; /* so many launches: the last one takes what follows */
    }
    e->launch = (uint32_t)e->launches.n - 1;
    e->first_seq = UINT64_MAX;
    e->last_seq = 0;
    dg_trace("launch", "%zu opens: input %u line %llu", e->launches.n, e->source, (unsigned long long)raw);
    e->launch_ended = e->launch_broke = e->trouble = false;
    e->epoch_serial++;
    e->launch_found = 0;
}

/* Not all places are looked at, nor do they come in order: signs of service wait. Of two clocks, one without a year,
 * neither time is the later one. */
void launch_time(struct engine *e, const struct dg_place *place) {
    if (e->launch == DG_NONE || !dg_time_known(place->time)) return;
    struct dg_launch *l = &e->launches.v[e->launch];
    if (place->seq < e->first_seq) {
        e->first_seq = place->seq;
        l->first_time = place->time;
        l->first_year_missing = place->year_missing;
    }
    if (place->seq < e->last_seq) return;
    e->last_seq = place->seq;
    if (place->year_missing == l->last_year_missing && place->time < l->last_time) return;
    l->last_time = place->time;
    l->last_year_missing = place->year_missing;
}

void launch_close(struct engine *e) {
    fatals_flush(e);
    e->n_spans = 0;
    if (e->launch == DG_NONE) return;
    struct dg_launch *l = &e->launches.v[e->launch];
    if (l->pulses) l->last_pulse = place_in_arena(e, &e->pulse);
    e->launch = DG_NONE;
}

/* Is this begin mark said by the launch that is open: another rank's or another component's dump? */
static bool same_launch(const struct engine *e, const struct dg_place *place, uint64_t hash) {
    if (e->launch_ended || e->launch_broke) return false;
    const struct dg_launch *l = &e->launches.v[e->launch];
    if (!l->begun) return !l->pulses;
    if (e->begin_hash == hash) return true;
    if (dg_time_known(place->time) && dg_time_known(e->begin.time))
        return fabs(place->time - e->begin.time) <= NEAR_SECONDS;
    return place->line - e->begin.line <= NEAR_LINES;
}

void launch_begin(struct engine *e, const struct dg_place *place) {
    if (e->launch == DG_NONE) return;
    quiet_settle(e);
    records_end_before(e);
    uint64_t hash = XXH3_64bits(place->text.ptr, place->text.len);
    if (!same_launch(e, place, hash)) {
        e->launches.v[e->launch].last_line = place->line > 1 ? place->line - 1 : 1;
        uint32_t before = e->launch;
        launch_close(e);
        launch_open(e, place->line);
        if (e->launch == DG_NONE) e->launch = before;
        launch_time(e, place);
    }
    struct dg_launch *l = &e->launches.v[e->launch];
    if (l->begun) return;
    l->begun = true;
    e->begin_hash = hash;
    e->begin = *place;
    e->begin.text = e->begin.label = e->begin.unit = (struct dg_slice){NULL, 0};
}

void launch_pulse(struct engine *e, const struct dg_place *place) {
    struct dg_launch *l = &e->launches.v[e->launch];
    if (e->trouble) {
        l->epochs++;
        e->trouble = e->launch_broke = false;
        e->epoch_serial++;
        fatals_turn(e);
    } else if (l->pulses && place->seq < e->pulse.place.seq) {
        return; /* of those that were put off the last is looked at first */
    }
    l->pulses = 1;
    l->fatal_after_pulse = 0;
    if (!keep(&e->pulse, place, NULL, 0)) e->nomem = true;
}
