/* What the patterns of a rule add up to: any, all, sequence, not, within. */
#include "match/engine.h"
#include "base/timex.h"

enum { INSTS_MAX = 64, PENDING_MAX = 64 };

/* Same pid, else same rank, else the same source: an unprefixed line may be anybody's. */
bool same_process(long pid_a, int rank_a, long pid_b, int rank_b) {
    if (pid_a >= 0 && pid_b >= 0) return pid_a == pid_b;
    return rank_a < 0 || rank_b < 0 || rank_a == rank_b;
}

static bool within(const struct dg_rule *rule, const struct dg_place *a, const struct dg_place *b) {
    uint64_t lines = a->line < b->line ? b->line - a->line : a->line - b->line;
    if (lines > rule->within_lines) return false;
    if (rule->within_process && !same_process(a->pid, a->rank, b->pid, b->rank)) return false;
    if (!dg_time_known(rule->within_seconds)) return true;
    return dg_time_known(a->time) && dg_time_known(b->time) && fabs(a->time - b->time) <= rule->within_seconds;
}

static struct rule_state *state_of(struct engine *e, const struct dg_rule *rule) {
    return &e->rules[rule - e->m->rules->rules];
}

static void fire(struct engine *e, const struct hit *hit, uint64_t seq) {
    struct rule_state *s = state_of(e, hit->rule);
    if (s->last_seq == seq + 1) return;
    s->last_seq = seq + 1;
    found_add(e, hit);
}

/* ---- any with not: a match waits until its window is over */

static void settle(struct engine *e, struct rule_state *s, const struct dg_rule *rule, uint32_t i) {
    struct pending *p = &s->pending[i];
    struct caps caps = {.n = p->hit.n_caps};
    if (caps.n) memcpy(caps.v, p->hit.caps, caps.n * sizeof(*caps.v));
    found_add(e, &(struct hit){.rule = rule,
                               .place = &p->hit.place,
                               .caps = &caps,
                               .launch = p->launch,
                               .epoch = p->epoch,
                               .opened = p->opened,
                               .inside = p->inside});
}

static void drop(struct rule_state *s, uint32_t i) {
    struct pending gone = s->pending[i];
    s->n_pending--;
    memmove(&s->pending[i], &s->pending[i + 1], (s->n_pending - i) * sizeof(gone));
    s->pending[s->n_pending] = gone; /* its memory is used again */
}

/* Decide what waits, seen from `place`: `refuted` when a `not` stands there, else only what is out of its window. */
static void decide(struct engine *e, const struct dg_rule *rule, const struct dg_place *place, bool refuted) {
    struct rule_state *s = state_of(e, rule);
    for (uint32_t i = 0; i < s->n_pending;) {
        bool near = within(rule, &s->pending[i].hit.place, place);
        if (near && !refuted) {
            i++;
            continue;
        }
        if (!near) settle(e, s, rule, i);
        drop(s, i);
    }
}

static void wait_for_not(struct engine *e, const struct hit *hit) {
    struct rule_state *s = state_of(e, hit->rule);
    bit_set(e->begun, (uint32_t)(s - e->rules));
    if (!s->pending && !(s->pending = dg_calloc(PENDING_MAX, sizeof(*s->pending)))) {
        e->nomem = true;
        return;
    }
    decide(e, hit->rule, hit->place, false);
    if (hit->rule->role == DG_ROLE_CAUSE) trouble_begins(e); /* a sign of service may come before it is settled */
    if (s->n_pending == PENDING_MAX) { /* so many alike within one window: the first of them goes early */
        settle(e, s, hit->rule, 0);
        drop(s, 0);
    }
    struct pending *p = &s->pending[s->n_pending++];
    if (!keep(&p->hit, hit->place, hit->caps->v, hit->caps->n)) e->nomem = true;
    p->launch = hit->launch;
    p->epoch = hit->epoch;
    p->opened = hit->opened;
    p->inside = hit->inside;
}

/* ---- all and sequence */

static uint32_t kept_of(const struct dg_rule *rule) {
    return rule->mode == DG_MATCH_SEQUENCE ? rule->n_positive * (rule->n_positive + 1) / 2 : rule->n_positive;
}

static void inst_clear(struct inst *in, const struct dg_rule *rule) {
    memset(in->have, 0, rule->n_positive * sizeof(*in->have));
}

/* Instances are few; when there are too many the one that was quiet longest is given up. */
static struct inst *inst_new(struct engine *e, const struct dg_rule *rule, const struct dg_place *place) {
    struct rule_state *s = state_of(e, rule);
    struct inst *in = NULL;
    bit_set(e->begun, (uint32_t)(s - e->rules));
    if (!s->insts) s->insts = dg_calloc(rule->within_process ? INSTS_MAX : 1, sizeof(*s->insts));
    if (s->insts && s->n_insts < (rule->within_process ? INSTS_MAX : 1)) {
        in = &s->insts[s->n_insts];
        in->n_kept = kept_of(rule);
        in->kept = dg_calloc(in->n_kept, sizeof(*in->kept));
        in->have = dg_calloc(rule->n_positive, sizeof(*in->have));
        s->n_insts++;
        if (!in->kept || !in->have) {
            s->n_insts--;
            free(in->kept);
            free(in->have);
            in = NULL;
        }
    } else if (s->insts) {
        in = s->insts;
        for (uint32_t i = 1; i < s->n_insts; i++)
            if (s->insts[i].used < in->used) in = &s->insts[i];
        inst_clear(in, rule);
    }
    if (!in) {
        e->nomem = true;
        return NULL;
    }
    in->pid = rule->within_process ? place->pid : -1;
    in->rank = rule->within_process ? place->rank : -1;
    return in;
}

/* Where a first part goes: its own process's instance, or (all) the latest one that may be of its process. */
static struct inst *inst_for(struct engine *e, const struct dg_rule *rule, const struct dg_place *place, bool exact) {
    struct rule_state *s = state_of(e, rule);
    struct inst *best = NULL;
    for (uint32_t i = 0; i < s->n_insts; i++) {
        struct inst *in = &s->insts[i];
        bool same = !rule->within_process || (exact ? in->pid == place->pid && in->rank == place->rank
                                                    : same_process(in->pid, in->rank, place->pid, place->rank));
        if (same && (!best || in->used > best->used)) best = in;
    }
    return best ? best : inst_new(e, rule, place);
}

static void fire_parts(struct engine *e, const struct dg_rule *rule, const struct kept *parts,
                       const struct line *line) {
    const struct kept *first = parts, *last = parts;
    struct caps caps = {.n = 0};
    for (uint32_t i = 0; i < rule->n_positive; i++) {
        if (parts[i].place.seq < first->place.seq) first = &parts[i];
        if (parts[i].place.seq >= last->place.seq) last = &parts[i];
        for (uint32_t k = 0; k < parts[i].n_caps; k++) { /* a later part's capture of the same name wins */
            uint32_t at = 0;
            while (at < caps.n && !dg_slice_eq(caps.v[at].name, parts[i].caps[k].name)) at++;
            if (at < CAPS_MAX) caps.v[at] = parts[i].caps[k];
            if (at == caps.n && at < CAPS_MAX) caps.n++;
        }
    }
    const struct kept *at = rule->at_first ? first : last;
    fire(e,
         &(struct hit){.rule = rule,
                       .place = &at->place,
                       .caps = &caps,
                       .parts = parts,
                       .n_parts = rule->n_positive,
                       .record = at->place.seq == line->seq ? e->record : NULL,
                       .launch = e->launch,
                       .epoch = launch_epoch(e),
                       .opened = line->depth > 0,
                       .inside = line->inside},
         line->seq);
}

static bool keep_part(struct engine *e, struct kept *k, const struct dg_place *place, const struct dg_capture *caps,
                      uint32_t n) {
    if (keep(k, place, caps, n)) return true;
    e->nomem = true;
    return false;
}

static void all_part(struct engine *e, const struct dg_rule *rule, const struct dg_pattern *p, const struct line *line,
                     const struct dg_place *place, const struct caps *caps) {
    struct inst *in = inst_for(e, rule, place, false);
    if (!in || !keep_part(e, &in->kept[p->part], place, caps->v, caps->n)) return;
    in->have[p->part] = true;
    in->used = line->seq;
    for (uint32_t i = 0; i < rule->n_positive; i++)
        if (!in->have[i] || !within(rule, &in->kept[i].place, place)) return;
    fire_parts(e, rule, in->kept, line);
}

static struct kept *chain(const struct inst *in, uint32_t k) { return in->kept + k * (k + 1) / 2; }

/* Part k > 0 continues the chain that began last, of those that it may continue. */
static struct inst *chain_before(struct engine *e, const struct dg_rule *rule, uint32_t k,
                                 const struct dg_place *place) {
    struct rule_state *s = state_of(e, rule);
    struct inst *best = NULL;
    for (uint32_t i = 0; i < s->n_insts; i++) {
        struct inst *in = &s->insts[i];
        const struct kept *c = chain(in, k - 1);
        if (!in->have[k - 1] || !within(rule, &c->place, place)) continue;
        if (!best || c->place.seq > chain(best, k - 1)->place.seq) best = in;
    }
    return best;
}

bool out_of_turn(const struct engine *e, const struct needle *n) {
    if (!n->later) return false;
    if (!bit_of(e->begun, n->number)) return true;
    const struct rule_state *s = &e->rules[n->number];
    for (uint32_t i = 0; i < s->n_insts; i++)
        if (s->insts[i].have[n->pattern->part - 1]) return false;
    return true;
}

bool rule_idle(const struct engine *e, const struct dg_rule *rule) {
    const struct rule_state *s = &e->rules[rule - e->m->rules->rules];
    for (uint32_t i = 0; i < s->n_insts; i++)
        if (memchr(s->insts[i].have, 1, rule->n_positive * sizeof(*s->insts[i].have))) return false;
    return !s->n_pending;
}

static void sequence_part(struct engine *e, const struct dg_rule *rule, const struct dg_pattern *p,
                          const struct line *line, const struct dg_place *place, const struct caps *caps) {
    uint32_t k = p->part;
    struct inst *in = k ? chain_before(e, rule, k, place) : inst_for(e, rule, place, true);
    if (!in) return;
    for (uint32_t i = 0; i < k; i++) {
        const struct kept *from = &chain(in, k - 1)[i];
        if (!keep_part(e, &chain(in, k)[i], &from->place, from->caps, from->n_caps)) return;
    }
    if (!keep_part(e, &chain(in, k)[k], place, caps->v, caps->n)) return;
    in->have[k] = true;
    in->used = line->seq;
    if (k == rule->n_positive - 1) fire_parts(e, rule, chain(in, k), line);
}

void rule_forbid(struct engine *e, const struct dg_rule *rule, const struct dg_place *place) {
    struct rule_state *s = state_of(e, rule);
    s->not_seq = place->seq + 1;
    if (rule->mode == DG_MATCH_ANY && s->n_pending) decide(e, rule, place, true);
    for (uint32_t i = 0; i < s->n_insts; i++)
        if (!rule->within_process || same_process(s->insts[i].pid, s->insts[i].rank, place->pid, place->rank))
            inst_clear(&s->insts[i], rule);
}

void rule_hit(struct engine *e, const struct dg_pattern *p, const struct line *line, const struct msg *msg,
              const struct caps *caps) {
    const struct dg_rule *rule = &e->m->rules->rules[p->rule];
    struct rule_state *s = state_of(e, rule);
    struct dg_place place = place_of(e, line, msg);
    if (p->opens_end) {
        span_close(e, rule, &place);
    } else if (p->negative) {
        rule_forbid(e, rule, &place);
    } else if (s->not_seq == line->seq + 1) {
        return;
    } else if (rule->mode == DG_MATCH_ALL) {
        all_part(e, rule, p, line, &place, caps);
    } else if (rule->mode == DG_MATCH_SEQUENCE) {
        sequence_part(e, rule, p, line, &place, caps);
    } else {
        if (rule->begins_episode && !line->depth) launch_begin(e, &place);
        struct hit hit = {.rule = rule,
                          .place = &place,
                          .caps = caps,
                          .record = e->record,
                          .launch = e->launch,
                          .epoch = launch_epoch(e),
                          .opened = line->depth > 0,
                          .inside = line->inside};
        if (rule->n_patterns > rule->n_positive)
            wait_for_not(e, &hit);
        else
            fire(e, &hit, line->seq);
    }
}

void rules_flush(struct engine *e) {
    for (uint32_t r = 0; r < e->m->rules->n_rules; r++) {
        if (!bit_of(e->begun, r)) continue;
        const struct dg_rule *rule = &e->m->rules->rules[r];
        struct rule_state *s = &e->rules[r];
        for (uint32_t i = 0; i < s->n_pending; i++) settle(e, s, rule, i);
        s->n_pending = 0;
        for (uint32_t i = 0; i < s->n_insts; i++) inst_clear(&s->insts[i], rule);
    }
}

void rule_state_release(struct rule_state *s) {
    for (uint32_t i = 0; i < s->n_insts; i++) {
        for (uint32_t k = 0; k < s->insts[i].n_kept; k++) kept_release(&s->insts[i].kept[k]);
        free(s->insts[i].kept);
        free(s->insts[i].have);
    }
    for (uint32_t i = 0; s->pending && i < PENDING_MAX; i++) kept_release(&s->pending[i].hit);
    free(s->insts);
    free(s->pending);
}
