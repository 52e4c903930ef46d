/* When no rule names a cause: healthy, unrecognised or inconclusive, and the best evidence there is. */
#include "reason/judge.h"
#include <ctype.h>
#include <stdio.h>

bool dg_record_holds(const struct dg_fatal *f, const struct dg_place *p) {
    if (p->source != f->place.source) return false;
    return p->line == f->place.line || (f->record_line && p->line >= f->record_line && p->line <= f->record_end);
}

static bool says_the_same(const struct dg_place *p, const struct dg_fatal *f) {
    return dg_record_holds(f, p) || (p->source == f->place.source && dg_slice_eq(p->text, f->place.text));
}

/* Does the finding say what the record is? A cause or a consequence may stand anywhere in it; what is harmless or
 * recovered, on its head as well. A wrapper over it ("hit an exception: Traceback"), and the notes and the advice that
 * are printed under any exception, say nothing of the one that they belong to. */
static bool tells_of(const struct dg_finding *g, const struct dg_place *p, const struct dg_fatal *f) {
    enum dg_role r = g->rule->role;
    if (!says_the_same(p, f)) return false;
    if (r == DG_ROLE_CAUSE || r == DG_ROLE_CONSEQUENCE || !dg_record_holds(f, p)) return true;
    return p->line == f->place.line || (p->line == f->record_line && r != DG_ROLE_WRAPPER);
}

/* Is the record explained by a rule? */
static bool covered(const struct dg_judge *j, const struct dg_fatal *f) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *g = &j->scan->findings[i];
        if (g->rule->role == DG_ROLE_FACT || dg_rule_guesses(g->rule)) continue;
        if (g->rule->role == DG_ROLE_CAUSE && j->fate[i] == DG_FATE_ENGINE) continue;
        if (tells_of(g, &g->first, f) || tells_of(g, &g->last, f)) return true;
    }
    return false;
}

static bool still_open(const struct dg_judge *j, const struct dg_fatal *f) {
    bool bare = f->kind == DG_FATAL_ERROR_LEVEL || f->kind == DG_FATAL_OTHER; /* words that any text may hold */
    if (bare && !j->d->attempt.engine.len && j->scan->sources[f->place.source].kind == DG_KIND_UNKNOWN) return false;
    if (f->launch == UINT32_MAX) return true;
    const struct dg_launch *l = &j->scan->launches[f->launch];
    if (f->epoch + 1 < l->epochs || (l->pulses && f->place.seq < l->last_pulse.seq)) return false;
    return f->kind != DG_FATAL_ERROR_LEVEL || !l->pulses; /* an error level while serving is no death */
}

/* Exceptions that only say that somebody else failed. */
static bool carrier(struct dg_slice exception) {
    static const char *const names[] = {"CalledProcessError", "ChildFailedError", "RayTaskError", "BrokenProcessPool",
                                        "ProcessExitedException"};
    for (size_t i = 0; i < DG_COUNT(names); i++)
        if (dg_slice_ends(exception, dg_cstr(names[i]))) return true;
    return false;
}

/* The earliest record that looks fatal and that nothing explains; one that only carries another's failure when there is
 * no better. */
static const struct dg_fatal *best_fatal(const struct dg_judge *j) {
    const struct dg_fatal *second = NULL;
    DG_EACH_FATAL(j, i) {
        const struct dg_fatal *f = &j->scan->fatals[i];
        if (!still_open(j, f) || covered(j, f)) continue;
        if (f->kind != DG_FATAL_ERROR_LEVEL && !carrier(f->exception)) return f;
        if (!second) second = f;
    }
    return second;
}

bool dg_unexplained(const struct dg_judge *j) { return best_fatal(j) != NULL; }

/* The best one, when it is an exception or an abort of its own. */
static const struct dg_fatal *unknown_exception(const struct dg_judge *j) {
    const struct dg_fatal *f = best_fatal(j);
    bool own = f && f->kind != DG_FATAL_ERROR_LEVEL && f->kind != DG_FATAL_OTHER && !carrier(f->exception);
    return own ? f : NULL;
}

static bool stands_between(const struct dg_place *p, uint32_t source, uint64_t from, uint64_t to) {
    return p->source == source && p->line >= from && p->line <= to;
}

/* Does a rule know the exception on line `from`, the message of which goes on to `to`? */
static bool known_between(const struct dg_judge *j, uint32_t source, uint64_t from, uint64_t to) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *g = &j->scan->findings[i];
        enum dg_role r = g->rule->role;
        uint64_t end = r == DG_ROLE_CAUSE || r == DG_ROLE_CONSEQUENCE ? to : from; /* below it stand notes and advice */
        bool here = stands_between(&g->first, source, from, end) || stands_between(&g->last, source, from, end);
        if (here && r != DG_ROLE_FACT && !dg_rule_guesses(g->rule)) return true;
    }
    return false;
}

/* The traceback that holds the place among its frames, or with what was raised over its exception, while no rule knows
 * the exception itself. */
static const struct dg_fatal *unknown_around(const struct dg_judge *j, const struct dg_place *p) {
    DG_EACH_FATAL(j, i) {
        const struct dg_fatal *t = &j->scan->fatals[i];
        if (t->kind != DG_FATAL_TRACEBACK || !dg_record_holds(t, p)) continue;
        uint64_t end = t->chained ? t->chained : t->record_end;
        bool by = stands_between(p, t->place.source, t->place.line, end);
        return by || known_between(j, t->place.source, t->place.line, end) ? NULL : t;
    }
    return NULL;
}

/* The same of all places of a cause that stand in a traceback. */
static const struct dg_fatal *unknown_beside(const struct dg_judge *j, const struct dg_finding *cause) {
    const struct dg_fatal *t = unknown_around(j, &cause->first);
    if (dg_in_fatal_record(j, &cause->last) && !unknown_around(j, &cause->last)) return NULL;
    for (uint32_t i = 0; i < cause->n_decisive; i++)
        if (!unknown_around(j, &cause->decisive[i])) return NULL;
    return t;
}

/* Before it stands another failure. One in another source counts only against "stopped": what was ended from outside
 * had failed by itself. */
static bool stands_before(const struct dg_judge *j, const struct dg_fatal *f, const struct dg_finding *cause) {
    if (says_the_same(&cause->first, f)) return false;
    if (f->place.source == cause->first.source) return f->record_line < cause->first.line;
    return dg_slice_is(cause->rule->class, "stopped") && dg_place_time(j, &f->place) < dg_place_time(j, &cause->first);
}

const struct dg_fatal *dg_doubt_on(const struct dg_judge *j, const struct dg_finding *cause) {
    const struct dg_fatal *f = unknown_exception(j);
    if (f && stands_before(j, f, cause)) return f;
    if (j->ep.any && dg_kernel_side(j, cause)) return NULL;
    bool fatal = dg_in_fatal_record(j, &cause->first) || dg_in_fatal_record(j, &cause->last);
    return f && !fatal && f->place.source == cause->first.source ? f : unknown_beside(j, cause);
}

struct life {
    bool served, clean, dead;
    const struct dg_finding *echo; /* the first that tells of the death */
};

/* Where the finding first stands after the last sign of service. */
static uint64_t seq_after(const struct dg_finding *f, uint64_t pulse) {
    return f->first.seq >= pulse ? f->first.seq : f->last.seq;
}

/* The front end may answer what it had begun for a while after the engine's death. */
static bool answered_late(const struct dg_judge *j, const struct dg_finding *f) {
    const struct dg_launch *l = &j->scan->launches[f->launch];
    if (!j->ep.in[f->launch] || !l->pulses || !dg_breaks_service(f->rule)) return false;
    double gap = dg_place_time(j, &l->last_pulse) - dg_place_time(j, &f->last);
    return dg_time_known(gap) ? gap <= 60 : l->last_pulse.line <= f->last.line + 100;
}

/* What dies while it is stopped on request says much; what had died before the stop did not end cleanly. */
static struct life life_of(const struct dg_judge *j) {
    struct life life = {.served = j->opts->was_ready};
    uint64_t last_pulse = 0, stopped = UINT64_MAX, died = UINT64_MAX;
    for (uint32_t i = 0; i < j->scan->n_launches; i++) {
        const struct dg_launch *l = &j->scan->launches[i];
        if (!j->ep.in[i] || !l->pulses) continue;
        life.served = true;
        if (l->last_pulse.seq > last_pulse) last_pulse = l->last_pulse.seq;
    }
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        enum dg_role r = f->rule->role;
        if (f->launch == UINT32_MAX || (f->last.seq < last_pulse && !answered_late(j, f))) continue;
        uint64_t at = seq_after(f, last_pulse);
        if (f->rule->ends == DG_ENDS_CLEAN && at < stopped) stopped = at;
        if (r != DG_ROLE_CONSEQUENCE && r != DG_ROLE_WRAPPER && f->rule->ends != DG_ENDS_DEATH) continue;
        if (!life.echo) life.echo = f;
        if (at < died) died = at;
    }
    DG_EACH_FATAL(j, i) {
        const struct dg_fatal *f = &j->scan->fatals[i];
        bool broke = f->kind == DG_FATAL_TRACEBACK || f->kind == DG_FATAL_ABORT;
        if (broke && f->place.seq < died && still_open(j, f) && !covered(j, f)) died = f->place.seq;
    }
    life.dead = life.echo != NULL;
    life.clean = stopped < died;
    return life;
}

bool dg_ended_on_request(const struct dg_judge *j) {
    struct life life = life_of(j);
    return life.served && life.clean;
}

const struct dg_finding *dg_death_echo(const struct dg_judge *j) {
    struct life life = life_of(j);
    return life.clean ? NULL : life.echo;
}

/* A kernel log by itself is healthy when it holds no line of a fault, nor one that only goes with a fault. */
static bool quiet_kernel(const struct dg_judge *j) {
    for (uint32_t i = 0; i < j->scan->n_sources; i++)
        if (j->scan->sources[i].kind != DG_KIND_KERNEL || j->scan->sources[i].error) return false;
    DG_EACH_FINDING(j, i) {
        enum dg_role r = j->scan->findings[i].rule->role;
        if (r == DG_ROLE_CONFIRMATION || r == DG_ROLE_CONSEQUENCE) return false;
    }
    return j->scan->n_sources > 0;
}

enum dg_status dg_launch_status(struct dg_judge *j) {
    if (j->n_rank) return DG_STATUS_FAILURE;
    if (!j->ep.any && quiet_kernel(j)) return DG_STATUS_HEALTHY;
    struct life life = life_of(j);
    enum dg_status seen;
    if (dg_ending_status(j, life.served, &seen)) return seen;
    if (life.served && life.clean) return DG_STATUS_HEALTHY;
    if (best_fatal(j)) return DG_STATUS_UNRECOGNISED;
    return life.served && !life.dead && !dg_ending_bad(j) ? DG_STATUS_HEALTHY : DG_STATUS_INCONCLUSIVE;
}

/* Words of the message that do not vary: the longest run without digits, quotes, slashes and brackets. */
static struct dg_slice steady_part(struct dg_slice s) {
    struct dg_slice best = {s.ptr, 0};
    size_t from = 0;
    for (size_t i = 0; i <= s.len; i++) {
        if (i < s.len && !isdigit((unsigned char)s.ptr[i]) && !strchr("'\"/\\[]{}<>=", s.ptr[i]) && s.ptr[i] >= ' ')
            continue;
        struct dg_slice run = dg_slice_trim(dg_slice(s.ptr + from, i - from));
        if (run.len > best.len) best = run;
        from = i + 1;
    }
    return dg_slice_upto(best, 120);
}

static struct dg_slice stub_for(struct dg_judge *j, const struct dg_fatal *f) {
    struct dg_slice lit = steady_part(f->place.text);
    if (lit.len < 6) return (struct dg_slice){NULL, 0};
    return dg_judge_say(j,
                        "pack: mine\nrules:\n- id: new-rule\n  title: what this means, in one line\n  role: cause\n"
                        "  class: config/unsupported-combination   # diagnose rules list shows others\n"
                        "  match: {lit: '%.*s'}\n  actions:\n  - {do: 'what helps', kind: setting, because: 'why'}\n"
                        "  examples: [{text: '%.*s'}]\n  near: ['a text that looks alike and is something else']\n",
                        DG_FMT(lit), DG_FMT(lit));
}

static void tail_evidence(struct dg_judge *j, struct dg_cause *c, uint32_t source) {
    if (source >= j->scan->n_sources || !j->scan->tails || !j->scan->tails[source].n) return;
    const struct dg_tail *t = &j->scan->tails[source];
    struct dg_evidence e = dg_evidence_at(&t->v[t->n - 1], DG_S("record"));
    if (c->n_evidence && c->evidence[0].source == e.source && c->evidence[0].line == e.line) return;
    DG_LIST_ADD(j, c->evidence, c->n_evidence, e);
}

static void unrecognised(struct dg_judge *j, struct dg_cause *c, const struct dg_fatal *f) {
    c->title = DG_S("a failure that no rule knows");
    c->summary = f->exception.len ? dg_judge_say(j, "no rule knows this %.*s", DG_FMT(f->exception)) : c->title;
    struct dg_evidence e = dg_evidence_at(&f->place, DG_S("record"));
    DG_LIST_ADD(j, c->evidence, c->n_evidence, e);
    j->d->stub = stub_for(j, f);
}

static void inconclusive(struct dg_judge *j, struct dg_cause *c) {
    struct life life = life_of(j);
    c->title = DG_S("what would decide is not in the log");
    if (life.echo) {
        c->summary = dg_judge_say(j, "only echoes of a death: %.*s", DG_FMT(life.echo->rule->title));
        struct dg_evidence e = dg_evidence_at(&life.echo->first, dg_cstr(dg_role_name(life.echo->rule->role)));
        DG_LIST_ADD(j, c->evidence, c->n_evidence, e);
    } else if (!j->ep.any || !j->d->attempt.engine.len) {
        c->summary = DG_S("nothing of a server was recognised");
    } else {
        char how[64] = "the log stops";
        if (j->opts->exit_code >= 0) snprintf(how, sizeof(how), "it ended with status %d", j->opts->exit_code);
        c->summary = dg_judge_say(j, "%s%s%.*s and does not say why", how, j->d->attempt.phase.len ? " at " : "",
                                  DG_FMT(j->d->attempt.phase));
    }
    tail_evidence(j, c, j->ep.any ? j->scan->launches[j->ep.main].source : 0);
}

void dg_fallback(struct dg_judge *j) {
    struct dg_cause c = {.confidence = DG_POSSIBLE, .device_check = DG_CHECK_NONE};
    const struct dg_fatal *f = best_fatal(j);
    if (j->d->status == DG_STATUS_HEALTHY) return;
    if (j->d->status == DG_STATUS_UNRECOGNISED && f)
        unrecognised(j, &c, f);
    else if (dg_ending_cause(j, &c))
        tail_evidence(j, &c, j->ep.any ? j->scan->launches[j->ep.main].source : 0);
    else
        inconclusive(j, &c);
    DG_LIST_ADD(j, j->d->causes, j->d->n_causes, c);
}
