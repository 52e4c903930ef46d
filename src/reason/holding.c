/* GPU memory ran out: did somebody else hold it? The numbers of the log say so, or the processes that this machine
 * shows now and that ran before the launch began. */
#include "reason/judge.h"
#include <stdio.h>

#define GIB (UINT64_C(1) << 30)
#define LEAST (4 * GIB) /* a desktop, or contexts of the engine's own helpers, take less */

struct claim {
    uint64_t held, total;
    const struct dg_fact *fact; /* where the log says it, or NULL */
    const char *when;
    struct dg_slice who; /* of the live processes, when they are what says it */
};

static const struct dg_fact *first_fact(const struct dg_judge *j, const char *name) {
    const struct dg_facts *v = &j->d->attempt.facts;
    for (uint32_t i = 0; i < v->n; i++)
        if (dg_slice_is(v->v[i].name, name)) return &v->v[i];
    return NULL;
}

static uint64_t bytes_of(const struct dg_fact *f) {
    uint64_t bytes;
    return f && dg_slice_bytes(f->value, false, &bytes) ? bytes : UINT64_MAX;
}

static uint64_t captured(const struct dg_finding *f, const char *name) {
    const struct dg_capture *c = dg_finding_capture(f, name);
    uint64_t bytes;
    return c && dg_slice_bytes(c->text, false, &bytes) ? bytes : UINT64_MAX;
}

/* The live GPUs, when they are those of the log. */
static const struct dg_devices *here(const struct dg_judge *j) {
    const struct dg_devices *live = j->opts->devices;
    return live && live->looked && live->n && !j->opts->device_stated && dg_same_machine(j) ? live : NULL;
}

/* The message that tells of the failure: all but what is free and what this process has. What nobody but the others
 * could have given must have been enough, else they are not what it died of. */
static bool by_message(const struct dg_judge *j, const struct dg_finding *f, struct claim *ret) {
    const struct dg_fact *at = first_fact(j, "oom_own");
    uint64_t own = bytes_of(at), total = bytes_of(first_fact(j, "oom_total")),
             free = bytes_of(first_fact(j, "oom_free"));
    if (own == UINT64_MAX || total == UINT64_MAX || free == UINT64_MAX || own + free > total) return false;
    uint64_t held = total - own - free, want = captured(f, "want");
    *ret = (struct claim){.held = held, .total = total, .fact = at, .when = ""};
    return held >= total / 20 && (want == UINT64_MAX || want <= free + held);
}

/* What was free before anything was loaded. A part goes to contexts and to buffers of the communication. */
static bool at_start(const struct dg_judge *j, struct claim *ret) {
    static const char *const totals[] = {"oom_total", "gpu_memory"};
    const struct dg_devices *live = here(j);
    const struct dg_fact *at = first_fact(j, "free_at_start");
    if (!at) at = first_fact(j, "gpu_free");
    uint64_t free = bytes_of(at), total = UINT64_MAX;
    for (size_t i = 0; i < DG_COUNT(totals) && total == UINT64_MAX; i++) total = bytes_of(first_fact(j, totals[i]));
    if (total == UINT64_MAX && live) total = live->v[0].memory_total;
    if (free == UINT64_MAX || total == UINT64_MAX || free > total) return false;
    *ret = (struct claim){.held = total - free, .total = total, .fact = at, .when = " at the start"};
    return ret->held >= total / 100 * 15;
}

/* Processes that hold a GPU now, and did so when the launch began. */
static bool by_holders(struct dg_judge *j, struct claim *ret) {
    const struct dg_devices *live = here(j);
    for (uint32_t i = 0; live && i < live->n; i++) {
        const struct dg_device *d = &live->v[i];
        struct claim c = {.total = d->memory_total, .when = " since before this launch"};
        for (uint32_t k = 0; k < d->n_holders; k++) {
            const struct dg_holder *h = &d->holders[k];
            if (h->memory == UINT64_MAX || !(h->started < j->ep.first_time - 1)) continue;
            c.held += h->memory;
            c.who = dg_judge_say(j, "%.*s%s%ld %s (%.1f GiB)", DG_FMT(c.who), c.who.len ? ", " : "", h->pid, h->name,
                                 (double)h->memory / GIB);
        }
        *ret = c;
        if (c.total != UINT64_MAX && c.held >= LEAST && c.held <= c.total) return true;
    }
    return false;
}

static void note(struct dg_judge *j, struct dg_evidence *e, struct dg_slice text) {
    e->note = e->note.len ? dg_judge_say(j, "%.*s; %.*s", DG_FMT(text), DG_FMT(e->note)) : text;
}

/* The line with the numbers, which may be among the evidence already. */
static void prove(struct dg_judge *j, struct dg_cause *c, const struct claim *claim, struct dg_slice text) {
    struct dg_evidence e = {.source = UINT32_MAX, .count = 1, .role = DG_S("record")};
    if (!claim->fact) {
        e.text = dg_judge_say(j, "holding GPU memory now and before this launch: %.*s", DG_FMT(claim->who));
        DG_LIST_ADD(j, c->evidence, c->n_evidence, e);
        return;
    }
    for (uint32_t i = 0; i < c->n_evidence; i++)
        if (c->evidence[i].source == claim->fact->source && c->evidence[i].line == claim->fact->line) {
            note(j, &c->evidence[i], text);
            return;
        }
    DG_EACH_FINDING(j, i) {
        const struct dg_place *p = &j->scan->findings[i].first;
        if (e.text.ptr || p->source != claim->fact->source || p->line != claim->fact->line) continue;
        e = dg_evidence_at(p, dg_cstr(dg_role_name(j->scan->findings[i].rule->role)));
        e.note = text;
        DG_LIST_ADD(j, c->evidence, c->n_evidence, e);
    }
}

/* Where GPU and host share one memory, what is not free is mostly the page cache. */
static bool shared_memory(struct dg_cc cc) {
    const struct dg_arch *arch = dg_arch_find(cc);
    return arch && arch->unified;
}

void dg_holding_settle(struct dg_judge *j) {
    struct dg_cause *c = j->d->n_causes ? &j->d->causes[0] : NULL;
    struct claim claim;
    if (!c || !c->finding || !dg_slice_is(c->class, "oom-device") || dg_slice_is(c->subclass, "other-process")) return;
    if (shared_memory(dg_judge_cc(j))) return;
    if (!by_message(j, c->finding, &claim) && !at_start(j, &claim) && !by_holders(j, &claim)) return;
    if (claim.held < LEAST) return;
    struct dg_slice text = dg_judge_say(j, "others held %.1f of %.1f GiB%s", (double)claim.held / GIB,
                                        (double)claim.total / GIB, claim.when);
    c->subclass = DG_S("other-process");
    c->summary = dg_judge_say(j, "%.*s; %.*s", DG_FMT(text), DG_FMT(c->summary));
    prove(j, c, &claim, text);
}
