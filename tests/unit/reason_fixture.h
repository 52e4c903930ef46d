/* A scan built by hand for the tests of reason: sources, launches, rules and findings in a few words each. */
#ifndef DG_TESTS_REASON_FIXTURE_H
#define DG_TESTS_REASON_FIXTURE_H

#include "unit.h"
#include "reason/reason.h"
#include <stdio.h>
#include <string.h>

enum { FX_MAX = 64 };

struct fx {
    struct dg_arena *arena;
    struct dg_source sources[8];
    struct dg_launch launches[8];
    struct dg_rule rules[FX_MAX];
    struct dg_finding findings[FX_MAX];
    struct dg_fatal fatals[FX_MAX];
    struct dg_tail tails[8];
    struct dg_device devices[2];
    struct dg_devices given;
    struct dg_ruleset set;
    struct dg_scan scan;
    struct dg_reason_opts opts;
    struct dg_diagnosis *d;
};

static inline struct fx *fx_new(void) {
    struct fx *x = calloc(1, sizeof(*x));
    x->arena = dg_arena_new(0);
    x->set = (struct dg_ruleset){.rules = x->rules};
    x->scan = (struct dg_scan){.sources = x->sources,
                               .launches = x->launches,
                               .findings = x->findings,
                               .fatals = x->fatals,
                               .tails = x->tails};
    x->opts = (struct dg_reason_opts){.rules = &x->set, .scan = &x->scan, .exit_code = -1, .exit_signal = -1};
    return x;
}

static inline void fx_free(struct fx *x) {
    dg_arena_free(x->arena);
    free(x);
}

static inline uint32_t fx_source(struct fx *x, enum dg_kind kind, const char *name, double first, double last) {
    struct dg_source s = {.name = (char *)(uintptr_t)name,
                          .kind = kind,
                          .lines = 1000,
                          .first_time = first,
                          .last_time = last,
                          .time_basis = DG_TIME_BASIS_STATED};
    x->sources[x->scan.n_sources] = s;
    return x->scan.n_sources++;
}

/* A launch over lines first..last of a source; its times are the source's. */
static inline struct dg_launch *fx_launch(struct fx *x, uint32_t source, uint64_t first, uint64_t last) {
    struct dg_launch *l = &x->launches[x->scan.n_launches++];
    *l = (struct dg_launch){.source = source,
                            .first_line = first,
                            .last_line = last,
                            .first_time = x->sources[source].first_time,
                            .last_time = x->sources[source].last_time,
                            .epochs = 1,
                            .begun = true};
    return l;
}

/* A server log of 1000 lines with one launch. */
static inline struct fx *fx_server(void) {
    struct fx *x = fx_new();
    fx_source(x, DG_KIND_SERVER, "server.log", 1000, 2000);
    fx_launch(x, 0, 1, 1000);
    return x;
}

static inline struct dg_rule *fx_rule(struct fx *x, const char *id, enum dg_role role, const char *class,
                                      const char *sub) {
    struct dg_rule *r = &x->rules[x->set.n_rules++];
    *r = (struct dg_rule){.id = dg_cstr(id),
                          .title = dg_cstr(id),
                          .class = dg_cstr(class),
                          .subclass = dg_cstr(sub),
                          .role = role,
                          .status = DG_S("stable")};
    return r;
}

static inline struct dg_place fx_place(struct fx *x, uint32_t source, uint64_t line, const char *text) {
    struct dg_place p = {.source = source,
                         .line = line,
                         .end_line = line,
                         .seq = source * 100000ull + line,
                         .boot = NAN,
                         .rank = -1,
                         .pid = -1,
                         .text = dg_cstr(text)};
    double span = x->sources[source].last_time - x->sources[source].first_time;
    p.time = x->sources[source].first_time + span * (double)line / (double)x->sources[source].lines;
    return p;
}

static inline uint32_t fx_launch_at(const struct fx *x, uint32_t source, uint64_t line) {
    for (uint32_t i = 0; i < x->scan.n_launches; i++)
        if (x->launches[i].source == source && line >= x->launches[i].first_line && line <= x->launches[i].last_line)
            return i;
    return UINT32_MAX;
}

/* One hit of the rule. Findings must be added in the order of their sources and lines. */
static inline struct dg_finding *fx_find(struct fx *x, const struct dg_rule *r, uint32_t source, uint64_t line,
                                         const char *text) {
    struct dg_finding *f = &x->findings[x->scan.n_findings++];
    struct dg_place p = fx_place(x, source, line, text);
    *f = (struct dg_finding){.rule = r,
                             .first = p,
                             .last = p,
                             .count = 1,
                             .launch = fx_launch_at(x, source, line),
                             .record_line = line,
                             .record_end = line};
    return f;
}

static inline void fx_capture(struct fx *x, struct dg_finding *f, const char *name, const char *text,
                              enum dg_cap_type type) {
    struct dg_capture *v = dg_arena_alloc(x->arena, (f->n_captures + 1) * sizeof(*v));
    if (f->n_captures) memcpy(v, f->captures, f->n_captures * sizeof(*v));
    v[f->n_captures] = (struct dg_capture){dg_cstr(name), dg_cstr(text), type};
    f->captures = f->last_captures = v;
    f->n_captures = ++f->n_last_captures;
}

static inline struct dg_strs *fx_list(struct fx *x, struct dg_strs *list, const char *text) {
    struct dg_slice *v = dg_arena_alloc(x->arena, (list->n + 1) * sizeof(*v));
    if (list->n) memcpy(v, list->v, list->n * sizeof(*v));
    v[list->n] = dg_cstr(text);
    *list = (struct dg_strs){v, list->n + 1};
    return list;
}

/* A fact finding that sets one fact to a literal. */
static inline void fx_fact(struct fx *x, uint64_t line, const char *name, const char *value) {
    struct dg_rule *r = fx_rule(x, "facts/set", DG_ROLE_FACT, "", "");
    r->set = dg_arena_alloc(x->arena, sizeof(*r->set));
    r->set[0] = (struct dg_set){dg_cstr(name), dg_cstr(value)};
    r->n_set = 1;
    fx_find(x, r, 0, line, "");
}

static inline void fx_fatal(struct fx *x, uint64_t line, enum dg_fatal_kind kind, const char *exception,
                            const char *text) {
    struct dg_fatal *f = &x->fatals[x->scan.n_fatals++];
    *f = (struct dg_fatal){.kind = kind,
                           .place = fx_place(x, 0, line, text),
                           .exception = dg_cstr(exception),
                           .launch = fx_launch_at(x, 0, line),
                           .record_line = line,
                           .record_end = line};
}

static inline void fx_stated_device(struct fx *x, unsigned major, unsigned minor) {
    x->devices[0] = (struct dg_device){.cc = {(uint8_t)major, (uint8_t)minor},
                                       .memory_total = UINT64_MAX,
                                       .memory_free = UINT64_MAX,
                                       .origin = DG_ORIGIN_STATED};
    x->given = (struct dg_devices){.v = x->devices, .n = 1};
    x->opts.devices = &x->given;
    x->opts.device_stated = true;
}

static inline struct dg_diagnosis *fx_judge(struct fx *x) {
    struct dg_err err = {0};
    assert_int_equal(dg_reason(&x->opts, x->arena, &x->d, &err), 0);
    assert_int_equal(dg_propose(&x->opts, x->arena, x->d), 0);
    return x->d;
}

static inline void fx_top(const struct fx *x, const char *rule) {
    assert_true(x->d->n_causes > 0);
    if (!dg_slice_is(x->d->causes[0].rule_id, rule))
        fail_msg("'%.*s', not '%s'", DG_FMT(x->d->causes[0].rule_id), rule);
}

static inline bool fx_says(const struct dg_strs *list, const char *part) {
    for (uint32_t i = 0; i < list->n; i++)
        if (dg_slice_find(list->v[i], dg_cstr(part)) >= 0) return true;
    return false;
}

#endif
