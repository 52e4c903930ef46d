/* What was missing, and the command that supplies it. */
#include "reason/judge.h"

static void say(struct dg_judge *j, struct dg_slice text) { dg_judge_add_text(j, &j->d->not_checked, text); }

bool dg_judge_has_kind(const struct dg_judge *j, enum dg_kind kind) {
    for (uint32_t i = 0; i < j->scan->n_sources; i++)
        if (j->scan->sources[i].kind == kind && !j->scan->sources[i].error) return true;
    return false;
}

static void inputs(struct dg_judge *j) {
    for (uint32_t i = 0; i < j->scan->n_sources; i++) {
        const struct dg_source *s = &j->scan->sources[i];
        if (s->error)
            say(j, dg_judge_say(j, "%s: %s", s->name, s->error));
        else if (s->truncated)
            say(j, dg_judge_say(j, "%s ends early: what was in the rest is not known", s->name));
    }
    for (uint32_t i = 0; i < j->scan->n_limits; i++)
        say(j, dg_judge_say(j, "rule %.*s was switched off: %.*s", DG_FMT(j->scan->limits[i].rule->id),
                            DG_FMT(j->scan->limits[i].why)));
}

/* A death by a signal, or one without a word, is settled by the kernel's log alone. */
static bool kernel_would_tell(const struct dg_judge *j) {
    if (j->d->status == DG_STATUS_HEALTHY || !j->ep.any) return false;
    if (j->d->status == DG_STATUS_INCONCLUSIVE) return true;
    if (!j->d->n_causes || j->d->causes[0].confidence == DG_CERTAIN) return false;
    struct dg_slice class = j->d->causes[0].class;
    return dg_slice_is(class, "kernel-fault") || dg_slice_is(class, "hang") || dg_slice_is(class, "comm") ||
           dg_slice_is(class, "oom-host") || dg_slice_is(class, "hardware");
}

static void kernel_log(struct dg_judge *j) {
    bool have = dg_judge_has_kind(j, DG_KIND_KERNEL);
    if (!have && kernel_would_tell(j))
        say(j, DG_S("no kernel log: dmesg -T > dmesg.txt on the host, then diagnose --kernel-log dmesg.txt LOG"));
    bool unaligned = false;
    DG_EACH_FINDING(j, i) unaligned = unaligned || j->fate[i] == DG_FATE_UNALIGNED;
    for (uint32_t i = 0; have && j->ep.any && i < j->scan->n_sources; i++) {
        const struct dg_source *s = &j->scan->sources[i];
        if (s->kind != DG_KIND_KERNEL) continue;
        double gap = j->ep.last_time - s->last_time;
        if (unaligned)
            say(j,
                dg_judge_say(
                    j, "%s has no clock in common with the server's log: give dmesg -T, or journalctl -k -o short-iso",
                    s->name));
        else if (gap > 30)
            say(j, dg_judge_say(j, "%s ends %.0f min before the server's log does", s->name, gap / 60));
    }
}

/* Why the cause is no more than possible. */
static void doubt(struct dg_judge *j) {
    const struct dg_cause *c = j->d->causes;
    const struct dg_fatal *f = j->d->n_causes && c->finding ? dg_doubt_on(j, c->finding) : NULL;
    if (!f) return;
    struct dg_slice what = f->exception.len ? f->exception : DG_S("error");
    say(j, dg_judge_say(j, "the %.*s at %s:%llu is known to no rule, and may be the true cause", DG_FMT(what),
                        dg_judge_source(j, f->place.source), (unsigned long long)f->place.line));
}

static void devices(struct dg_judge *j) {
    const struct dg_devices *d = j->opts->devices;
    for (uint32_t i = 0; d && i < d->n_notes; i++) say(j, dg_cstr(d->notes[i]));
    if (!j->d->n_devices && j->d->status != DG_STATUS_HEALTHY)
        say(j, DG_S("no GPU is known: run it on the machine, or say --device cc=12.0"));
}

static void rest_of_log(struct dg_judge *j) {
    if (j->d->status != DG_STATUS_INCONCLUSIVE || dg_ending_seen(j)) return;
    bool begun = j->ep.any && j->scan->launches[j->ep.main].begun;
    if (!begun)
        say(j, DG_S("the log from its start: kubectl logs --previous POD, or docker logs CONTAINER > server.log 2>&1"));
    if (!dg_judge_has_kind(j, DG_KIND_CONTAINER))
        say(j, DG_S("how the process ended: kubectl describe pod POD, or docker inspect CONTAINER, given as a further "
                    "file"));
}

void dg_not_checked(struct dg_judge *j) {
    inputs(j);
    doubt(j);
    kernel_log(j);
    rest_of_log(j);
    devices(j);
}
