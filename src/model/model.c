#include "model/diagnosis.h"
#include "model/rule.h"
#include "base/pep440.h"
#include <fnmatch.h>
#include <stdlib.h>

static const char *const KINDS[DG_KIND_COUNT] = {"unknown", "server",    "kernel",    "loader",
                                                 "build",   "container", "scheduler", "environment"};
static const char *const ROLES[DG_ROLE_COUNT] = {"cause",    "wrapper", "consequence", "confirmation",
                                                 "teardown", "noise",   "recovered",   "fact"};
static const char *const CAP_TYPES[DG_CAP_COUNT] = {"text",    "int", "float", "bytes", "cc",      "cc-set",
                                                    "version", "pid", "pci",   "path",  "int-list"};
static const char *const STATUSES[] = {"failure", "unrecognised", "inconclusive", "healthy"};
static const char *const CONFIDENCES[] = {"certain", "likely", "possible"};
static const char *const CHECKS[] = {"confirms", "contradicts", "not-checked"};
static const char *const ORIGINS[] = {"live", "stated", "log"};
static const char *const BASES[] = {NULL, "stated", "assumed", "boot"};

const char *dg_kind_name(enum dg_kind k) { return KINDS[k]; }
const char *dg_role_name(enum dg_role r) { return ROLES[r]; }
const char *dg_cap_type_name(enum dg_cap_type t) { return CAP_TYPES[t]; }
const char *dg_status_name(enum dg_status s) { return STATUSES[s]; }
const char *dg_confidence_name(enum dg_confidence c) { return CONFIDENCES[c]; }
const char *dg_check_name(enum dg_check c) { return CHECKS[c]; }
const char *dg_origin_name(enum dg_origin o) { return ORIGINS[o]; }
const char *dg_time_basis_name(enum dg_time_basis b) { return BASES[b]; }

bool dg_kind_parse(struct dg_slice name, enum dg_kind *ret) {
    for (int k = 0; k < DG_KIND_COUNT; k++)
        if (dg_slice_is(name, KINDS[k])) {
            *ret = (enum dg_kind)k;
            return true;
        }
    return false;
}

const struct dg_rule *dg_ruleset_find(const struct dg_ruleset *rs, struct dg_slice id) {
    for (uint32_t i = 0; i < rs->n_rules; i++)
        if (dg_slice_eq(rs->rules[i].id, id)) return &rs->rules[i];
    return NULL;
}

const struct dg_class *dg_ruleset_class(const struct dg_ruleset *rs, struct dg_slice name) {
    for (uint32_t i = 0; i < rs->n_classes; i++)
        if (dg_slice_eq(rs->classes[i].name, name)) return &rs->classes[i];
    return NULL;
}

/* Ids come from arenas that end each copy in NUL, so fnmatch may read them as strings. */
bool dg_rule_named(const struct dg_strs *list, const struct dg_rule *rule) {
    for (uint32_t i = 0; i < list->n; i++) {
        struct dg_slice s = list->v[i];
        if (dg_slice_starts(s, DG_S("class:"))) {
            struct dg_slice want = dg_slice_from(s, 6), sub = {NULL, 0};
            ptrdiff_t slash = dg_slice_find_ch(want, '/');
            if (slash >= 0) {
                sub = dg_slice_from(want, (size_t)slash + 1);
                want = dg_slice_upto(want, (size_t)slash);
            }
            if (dg_slice_eq(want, rule->class) && (slash < 0 || dg_slice_eq(sub, rule->subclass))) return true;
        } else if (dg_slice_eq(s, rule->id) ||
                   (dg_slice_find_ch(s, '*') >= 0 && !fnmatch(s.ptr, rule->id.ptr, FNM_NOESCAPE))) {
            return true;
        }
    }
    return false;
}

bool dg_fors_admit(const struct dg_fors *f, struct dg_slice engine, struct dg_slice version) {
    if (!f->n || !engine.len) return true;
    for (uint32_t i = 0; i < f->n; i++)
        if (dg_slice_eq(f->v[i].engine, engine)) return dg_pep440_in(version, f->v[i].range);
    return false;
}

const struct dg_capture *dg_finding_capture(const struct dg_finding *f, const char *name) {
    for (uint32_t i = 0; i < f->n_captures; i++)
        if (dg_slice_is(f->captures[i].name, name)) return &f->captures[i];
    return NULL;
}

struct dg_slice dg_facts_get(const struct dg_facts *f, struct dg_slice name) {
    for (uint32_t i = f->n; i-- > 0;)
        if (dg_slice_eq(f->v[i].name, name)) return f->v[i].value;
    return (struct dg_slice){NULL, 0};
}

void dg_devices_release(struct dg_devices *d) {
    for (uint32_t i = 0; i < d->n; i++) free(d->v[i].holders);
    for (uint32_t i = 0; i < d->n_notes; i++) free(d->notes[i]);
    free(d->v);
    free(d->notes);
    *d = (struct dg_devices){0};
}

bool dg_rule_on_trial(const struct dg_rule *rule) { return dg_slice_is(rule->status, "experimental"); }

bool dg_rule_guesses(const struct dg_rule *rule) {
    return rule->role == DG_ROLE_CAUSE && rule->symptom && dg_rule_on_trial(rule);
}
