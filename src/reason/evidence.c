/* The lines that prove a cause, root first: the decisive places, what another source says of it, what agrees. The same
 * words elsewhere (another rank's echo) are a count, not a second piece. */
#include "reason/judge.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#define SAME_EVENT 60.0 /* seconds between kernel lines on one event */

struct dg_evidence dg_evidence_at(const struct dg_place *p, struct dg_slice role) {
    return (struct dg_evidence){
        .source = p->source, .line = p->line, .end_line = p->end_line, .count = 1, .text = p->text, .role = role};
}

/* The piece of evidence that says it already, in the same source. */
static struct dg_evidence *said(const struct dg_cause *c, const struct dg_place *p) {
    for (uint32_t i = 0; i < c->n_evidence; i++) {
        struct dg_evidence *e = &c->evidence[i];
        if (e->source == p->source && (e->line == p->line || dg_slice_eq(e->text, p->text))) return e;
    }
    return NULL;
}

static void add(struct dg_judge *j, struct dg_cause *c, const struct dg_place *p, const struct dg_rule *rule,
                uint64_t count) {
    struct dg_evidence *same = said(c, p);
    if (same && same->count < count) same->count = count;
    if (same || c->n_evidence >= DG_MAX_EVIDENCE) return;
    struct dg_evidence e = dg_evidence_at(p, dg_cstr(dg_role_name(rule->role)));
    e.count = count;
    DG_LIST_ADD(j, c->evidence, c->n_evidence, e);
}

/* "the same on TP1, TP7"; of more than three, how many. */
static struct dg_slice ranks_note(struct dg_judge *j, const struct dg_finding *f) {
    uint64_t others = f->ranks;
    if (f->first.rank >= 0 && f->first.rank < 64) others &= ~(1ull << f->first.rank);
    char text[64];
    size_t n = 0;
    unsigned ranks = 0;
    for (unsigned r = 0; r < 64; r++) {
        if (!(others >> r & 1)) continue;
        if (ranks++ < 3) n += (size_t)snprintf(text + n, sizeof(text) - n, "%sTP%u", n ? ", " : "", r);
    }
    if (ranks > 3) return dg_judge_say(j, "and %u more ranks", ranks);
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
    if (fatal) add(j, c, fatal, f->rule, 1);
    add(j, c, &f->first, f->rule, f->count);
    for (uint32_t i = 0; i < f->n_decisive; i++) add(j, c, &f->decisive[i], f->rule, 1);
}

static bool same_event(const struct dg_judge *j, const struct dg_finding *f, const struct dg_finding *g) {
    const struct dg_capture *a = dg_finding_capture(f, "pid"), *b = dg_finding_capture(g, "pid");
    double apart = fabs(dg_place_time(j, &f->first) - dg_place_time(j, &g->first));
    return (!a || !b || dg_slice_eq(a->text, b->text)) && !(apart > SAME_EVENT);
}

/* A confirmation speaks for the classes that it names; one that names none, for what its own side of the evidence says:
 * a kernel line on some other process proves nothing about a server's traceback. */
bool dg_confirms(const struct dg_judge *j, const struct dg_finding *f, const struct dg_finding *g) {
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
        bool agrees = dg_confirms(j, f, g);
        if (g == f || (g->first.source != f->first.source) != other_source || !(cause || agrees)) continue;
        add(j, c, &g->first, g->rule, g->count);
    }
}

/* A death that the server's own log tells of, when the cause stands in another source. */
static void death(struct dg_judge *j, struct dg_cause *c, const struct dg_finding *f) {
    if (!j->ep.any || !dg_kernel_side(j, f)) return;
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *g = &j->scan->findings[i];
        if (g->rule->role == DG_ROLE_CONSEQUENCE) {
            add(j, c, &g->first, g->rule, g->count);
            return;
        }
    }
}

/* Equal but for numbers: ranks, devices, pids, addresses. */
static bool same_words(struct dg_slice a, struct dg_slice b) {
    size_t i = 0, k = 0;
    while (i < a.len && k < b.len) {
        bool number = isdigit((unsigned char)a.ptr[i]) && isdigit((unsigned char)b.ptr[k]);
        if (!number && a.ptr[i] != b.ptr[k]) return false;
        i++;
        k++;
        while (number && i < a.len && isxdigit((unsigned char)a.ptr[i])) i++;
        while (number && k < b.len && isxdigit((unsigned char)b.ptr[k])) k++;
    }
    return i == a.len && k == b.len;
}

void dg_evidence_collect(struct dg_judge *j, struct dg_cause *c) {
    const struct dg_finding *f = c->finding;
    own_places(j, c, f);
    if (c->n_evidence) c->evidence[0].note = ranks_note(j, f);
    others(j, c, f, true);
    if (f->count > 1 && !same_words(f->first.text, f->last.text)) add(j, c, &f->last, f->rule, 1);
    death(j, c, f);
    others(j, c, f, false);
}
