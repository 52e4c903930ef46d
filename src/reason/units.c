/* The journal of a whole host holds lines of many services. Which are the server's own is told by what only a server
 * prints. Another one's line is no evidence, unless it speaks of the server, by name or pid, or comes from what watches
 * over all: systemd, a runtime of containers, an OOM daemon. Where nothing tells which service is the server, all are.
 */
#include "reason/judge.h"
#include <ctype.h>
#include <stdio.h>

enum { UNITS_MAX = 8, PIDS_MAX = 16 };

struct dg_units { /* of one source */
    struct dg_slice own[UNITS_MAX], others[UNITS_MAX];
    uint32_t n_own, n_others;
    long pids[PIDS_MAX];
    uint32_t n_pids;
};

static bool holds(const struct dg_slice *v, uint32_t n, struct dg_slice unit) {
    for (uint32_t i = 0; i < n; i++)
        if (dg_slice_eq(v[i], unit)) return true;
    return false;
}

static void add(struct dg_slice *v, uint32_t *n, struct dg_slice unit) {
    if (unit.len && *n < UNITS_MAX && !holds(v, *n, unit)) v[(*n)++] = unit;
}

static void add_pid(struct dg_units *u, long pid) {
    for (uint32_t i = 0; i < u->n_pids; i++)
        if (u->pids[i] == pid) return;
    if (pid > 1 && u->n_pids < PIDS_MAX) u->pids[u->n_pids++] = pid;
}

static bool watches(struct dg_slice unit) {
    static const char *const names[] = {"systemd", "kernel",  "docker", "containerd", "podman", "conmon",
                                        "crio",    "kubelet", "k3s",    "slurm",      "early",  "oom",
                                        "nohang",  "nvidia",  "nv-",    "dcgm",       "abrt",   "audit"};
    for (size_t i = 0; i < DG_COUNT(names); i++)
        if (dg_slice_starts(unit, dg_cstr(names[i]))) return true;
    return false;
}

/* The engine's name alone stands in what a watcher says of it too: in the image's. */
static bool only_a_server(const struct dg_rule *r, struct dg_slice unit) {
    bool named = false;
    for (uint32_t i = 0; i < r->n_set; i++) named = named || dg_slice_is(r->set[i].name, "engine");
    return r->role == DG_ROLE_FACT && (r->pulse || r->begins_episode || (named && !watches(unit)));
}

/* As a word of its own; the kernel cuts names at 15 bytes. */
static bool names(struct dg_slice text, struct dg_slice word) {
    for (ptrdiff_t at; word.len && (at = dg_slice_find(text, word)) >= 0; text = dg_slice_from(text, (size_t)at + 1)) {
        struct dg_slice behind = dg_slice_from(text, (size_t)at + word.len);
        bool begins = !at || !isalnum((unsigned char)text.ptr[at - 1]);
        if (begins && (!behind.len || !isalnum((unsigned char)*behind.ptr))) return true;
    }
    return false;
}

static bool names_pid(struct dg_slice text, long pid) {
    char word[24];
    snprintf(word, sizeof(word), "%ld", pid);
    return names(text, dg_cstr(word));
}

static bool speaks_of_own(const struct dg_units *u, struct dg_slice text) {
    for (uint32_t i = 0; i < u->n_own; i++)
        if (names(text, u->own[i])) return true;
    for (uint32_t i = 0; i < u->n_pids; i++)
        if (names_pid(text, u->pids[i])) return true;
    return false;
}

static bool speaks_of_another(const struct dg_units *u, struct dg_slice text) {
    for (uint32_t i = 0; i < u->n_others; i++)
        if (names(text, u->others[i])) return true;
    return false;
}

static void learn(struct dg_units *u, const struct dg_place *p, const struct dg_rule *rule) {
    if (p->unit.len && only_a_server(rule, p->unit)) {
        add(u->own, &u->n_own, p->unit);
        add_pid(u, p->pid);
    }
}

static void learn_others(struct dg_units *u, const struct dg_place *p) {
    if (u->n_own && !holds(u->own, u->n_own, p->unit) && !watches(p->unit)) add(u->others, &u->n_others, p->unit);
}

bool dg_units_learn(struct dg_judge *j) {
    const struct dg_scan *s = j->scan;
    j->units = dg_judge_alloc(j, (s->n_sources + 1) * sizeof(*j->units));
    if (!j->units) return false;
    for (uint32_t i = 0; i < s->n_findings; i++) {
        const struct dg_finding *f = &s->findings[i];
        learn(&j->units[f->first.source], &f->first, f->rule);
        learn(&j->units[f->first.source], &f->last, f->rule);
    }
    for (uint32_t i = 0; i < s->n_findings; i++)
        learn_others(&j->units[s->findings[i].first.source], &s->findings[i].first);
    for (uint32_t i = 0; i < s->n_fatals; i++) learn_others(&j->units[s->fatals[i].place.source], &s->fatals[i].place);
    return true;
}

bool dg_foreign(const struct dg_judge *j, const struct dg_place *p) {
    const struct dg_units *u = &j->units[p->source];
    if (!u->n_own || !p->unit.len || holds(u->own, u->n_own, p->unit)) return false;
    if (speaks_of_own(u, p->text)) return false;
    return !watches(p->unit) || speaks_of_another(u, p->text);
}
