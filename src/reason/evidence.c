/* The lines that prove a cause, root first: the decisive places, what another source says of it, the same on other
 * ranks, what agrees. */
#include "reason/judge.h"
#include <math.h>
#include <stdio.h>

#define SAME_EVENT 60.0 /* seconds between kernel lines on one event */

struct dg_evidence dg_evidence_at(const struct dg_place *p, struct dg_slice role) {
    return (struct dg_evidence){
        .source = p->source, .line = p->line, .end_line = p->end_line, .count = 1, .text = p->text, .role = role};
}

static void add(struct dg_judge *j, struct dg_cause *c, const struct dg_place *p, const struct dg_rule *rule,
                struct dg_slice note, uint64_t count) {
    for (uint32_t i = 0; i < c->n_evidence; i++)
        if (c->evidence[i].source == p->source && c->evidence[i].line == p->line) return;
    if (c->n_evidence >= DG_MAX_EVIDENCE) return;
    struct dg_evidence e = dg_evidence_at(p, dg_cstr(dg_role_name(rule->role)));
    e.note = note;
    e.count = count;
    DG_LIST_ADD(j, c->evidence, c->n_evidence, e);
}

static struct dg_slice ranks_note(struct dg_judge *j, const struct dg_finding *f) {
    uint64_t others = f->ranks;
    if (f->first.rank >= 0 && f->first.rank < 64) others &= ~(1ull << f->first.rank);
    char text[160];
    size_t n = 0;
    for (unsigned r = 0; r < 64 && n < sizeof(text) - 16; r++)
        if (others >> r & 1) n += (size_t)snprintf(text + n, sizeof(text) - n, "%sTP%u", n ? ", " : "", r);
    return n ? dg_judge_say(j, "the same on %.*s", (int)n, text) : (struct dg_slice){NULL, 0};
}

/* Where the same words became fatal, when they were first said outside of any failure (a warning at the top). */
static const struct dg_place *became_fatal(const struct dg_judge *j, const struct dg_finding *f) {
    const struct dg_place *at = NULL;
    DG_EACH_FATAL(j, i) {
        const struct dg_fatal *t = &j->scan->fatals[i];
        if (dg_record_holds(t, &f->first)) return NULL;
        if (!at && t->place.source == f->last.source && dg_slice_eq(t->place.text, f->last.text)) at = &t->place;
    }
    return at;
}

static void own_places(struct dg_judge *j, struct dg_cause *c, const struct dg_finding *f) {
    const struct dg_place *fatal = f->count > 1 ? became_fatal(j, f) : NULL;
    if (fatal) add(j, c, fatal, f->rule, (struct dg_slice){NULL, 0}, 1);
    add(j, c, &f->first, f->rule, (struct dg_slice){NULL, 0}, f->count);
    for (uint32_t i = 0; i < f->n_decisive; i++) add(j, c, &f->decisive[i], f->rule, (struct dg_slice){NULL, 0}, 1);
}

static bool same_event(const struct dg_judge *j, const struct dg_finding *f, const struct dg_finding *g) {
    const struct dg_capture *a = dg_finding_capture(f, "pid"), *b = dg_finding_capture(g, "pid");
    double apart = fabs(dg_place_time(j, &f->first) - dg_place_time(j, &g->first));
    return (!a || !b || dg_slice_eq(a->text, b->text)) && !(apart > SAME_EVENT);
}

/* A confirmation speaks for the classes that it names; one that names none, for what its own side of the evidence says:
 * a kernel line on some other process proves nothing about a server's traceback. */
static bool confirms(const struct dg_judge *j, const struct dg_finding *f, const struct dg_finding *g) {
    if (g->rule->role != DG_ROLE_CONFIRMATION) return false;
    for (uint32_t i = 0; i < g->rule->suggests.n; i++) {
        struct dg_slice s = g->rule->suggests.v[i];
        if (dg_slice_starts(s, f->rule->class) && (s.len == f->rule->class.len || s.ptr[f->rule->class.len] == '/'))
            return true;
    }
    bool kernel = dg_kernel_side(j, g);
    return !g->rule->suggests.n && kernel == dg_kernel_side(j, f) && (!kernel || same_event(j, f, g));
}

/* Other findings that speak of the same cause. */
static void others(struct dg_judge *j, struct dg_cause *c, const struct dg_finding *f, bool other_source) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *g = &j->scan->findings[i];
        bool cause = g->rule->role == DG_ROLE_CAUSE && (j->fate[i] == DG_FATE_OPEN || j->fate[i] == DG_FATE_ECHO) &&
                     (dg_slice_eq(g->rule->class, f->rule->class) || j->beaten_by[i] == f - j->scan->findings);
        bool agrees = confirms(j, f, g);
        if (g == f || (g->first.source != f->first.source) != other_source || !(cause || agrees)) continue;
        add(j, c, &g->first, g->rule, (struct dg_slice){NULL, 0}, g->count);
    }
}

/* A death that the server's own log tells of, when the cause stands in another source. */
static void death(struct dg_judge *j, struct dg_cause *c, const struct dg_finding *f) {
    if (!j->ep.any || !dg_kernel_side(j, f)) return;
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *g = &j->scan->findings[i];
        if (g->rule->role == DG_ROLE_CONSEQUENCE) {
            add(j, c, &g->first, g->rule, (struct dg_slice){NULL, 0}, g->count);
            return;
        }
    }
}

void dg_evidence_collect(struct dg_judge *j, struct dg_cause *c) {
    const struct dg_finding *f = c->finding;
    own_places(j, c, f);
    others(j, c, f, true);
    if (f->count > 1) add(j, c, &f->last, f->rule, ranks_note(j, f), 1);
    death(j, c, f);
    others(j, c, f, false);
}
