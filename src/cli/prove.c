#include "cli/prove.h"
#include "cli/devices.h"
#include "ingest/ingest.h"
#include "reason/reason.h"

static const size_t ARENA_LIMIT = 256 << 20;

struct prover {
    struct dg_app *app;
    const struct dg_rule *rule;
    bool nomem;
};

static void fault(struct prover *p, const char *what, struct dg_slice text, struct dg_slice more) {
    dg_problems_add(&p->app->problems, p->rule->file.ptr, p->rule->line, 1, NULL, 0, "%.*s: %s: %.*s%s%.*s",
                    DG_FMT(p->rule->id), what, DG_FMT(dg_slice_upto(text, 160)), more.len ? ": " : "", DG_FMT(more));
}

static enum dg_kind kind_of(const struct dg_rule *rule, int stated) {
    if (stated >= 0) return (enum dg_kind)stated;
    for (int k = DG_KIND_SERVER; k < DG_KIND_COUNT; k++)
        if (rule->kinds & DG_KIND_BIT(k)) return (enum dg_kind)k;
    return DG_KIND_UNKNOWN;
}

/* 1, 0; out of memory is noted. */
static int match(struct prover *p, struct dg_slice text, bool plain, struct dg_arena *arena, struct dg_finding *ret) {
    struct dg_match_opts opts = {.split = dg_prefix_parse, .threads = 1, .plain = plain};
    int r = dg_match_rule(p->app->matcher, p->rule, text, &opts, arena, ret);
    if (r < 0) p->nomem = true;
    return r > 0;
}

static void check_captures(struct prover *p, const struct dg_example *e, const struct dg_finding *f) {
    for (uint32_t i = 0; i < e->n_captures; i++) {
        const struct dg_capture *got = NULL;
        for (uint32_t k = 0; k < f->n_captures && !got; k++)
            if (dg_slice_eq(f->captures[k].name, e->captures[i].name)) got = &f->captures[k];
        if (!got)
            fault(p, "the example lacks a capture", e->captures[i].name, e->text);
        else if (!dg_slice_eq(dg_slice_trim(got->text), dg_slice_trim(e->captures[i].value)))
            fault(p, "a capture of the example is another", e->captures[i].name, got->text);
    }
}

static int next(void *in, struct dg_block **ret, struct dg_err *err) { return dg_ingest_next(in, ret, err); }
static void release(void *in, struct dg_block *b) { dg_ingest_release(in, b); }
static const struct dg_source *sources(void *in, uint32_t *ret_n) { return dg_ingest_sources(in, ret_n); }

/* The whole way, from text to verdict, on the device that the example names. */
static int reason(struct prover *p, const struct dg_example *e, struct dg_arena *arena, enum dg_check *ret,
                  bool *found) {
    struct dg_ingest_opts in = {.tee_fd = -1};
    struct dg_ingest *ingest = dg_ingest_new(&in);
    struct dg_match_opts opts = {
        .next = next, .release = release, .sources = sources, .in = ingest, .split = dg_prefix_parse, .threads = 1};
    struct dg_devices devices = {0};
    struct dg_scan *scan = NULL;
    struct dg_diagnosis *d = NULL;
    int r = ingest ? dg_ingest_add_text(ingest, "example", kind_of(p->rule, e->kind), e->text) : -DG_E_NOMEM;
    if (!r) r = dg_devices_state(e->device, &devices, NULL);
    if (!r) r = dg_match_scan(p->app->matcher, &opts, arena, &scan, NULL);
    struct dg_reason_opts why = {.rules = dg_pack_rules(p->app->pack),
                                 .catalog = p->app->catalog,
                                 .scan = scan,
                                 .devices = &devices,
                                 .device_stated = true,
                                 .exit_code = -1,
                                 .exit_signal = -1};
    if (!r) r = dg_reason(&why, arena, &d, NULL);
    for (uint32_t i = 0; !r && i < d->n_causes; i++)
        if (d->causes[i].rule == p->rule) {
            *ret = d->causes[i].device_check;
            *found = true;
        }
    dg_devices_release(&devices);
    dg_ingest_free(ingest);
    return r;
}

static void check_device(struct prover *p, const struct dg_example *e, struct dg_arena *arena) {
    enum dg_check got = DG_CHECK_NONE;
    bool found = false;
    int r = reason(p, e, arena, &got, &found);
    if (r == -DG_E_NOMEM)
        p->nomem = true;
    else if (r || !found)
        fault(p, "the example is no cause on its device", e->text, e->device);
    else if (!dg_slice_is(e->expect, dg_check_name(got)))
        fault(p, "the device says otherwise than the example", e->expect, dg_cstr(dg_check_name(got)));
}

static void check_example(struct prover *p, const struct dg_example *e) {
    struct dg_arena *arena = dg_arena_new(ARENA_LIMIT);
    struct dg_finding fast = {0}, slow = {0};
    p->nomem |= !arena;
    if (!arena) return;
    int by_pass = match(p, e->text, false, arena, &fast), plainly = match(p, e->text, true, arena, &slow);
    if (by_pass != plainly)
        fault(p, by_pass ? "only the literal pass finds the example" : "the literal pass does not find the example",
              e->text, (struct dg_slice){NULL, 0});
    else if (!by_pass)
        fault(p, "the example does not match", e->text, (struct dg_slice){NULL, 0});
    else
        check_captures(p, e, &fast);
    if (by_pass && e->expect.len && e->device.len) check_device(p, e, arena);
    dg_arena_free(arena);
}

static void check_other(struct prover *p, struct dg_slice text, const char *what) {
    struct dg_arena *arena = dg_arena_new(ARENA_LIMIT);
    struct dg_finding f = {0};
    p->nomem |= !arena;
    if (arena && (match(p, text, false, arena, &f) || match(p, text, true, arena, &f)))
        fault(p, what, text, (struct dg_slice){NULL, 0});
    dg_arena_free(arena);
}

int dg_rules_prove(struct dg_app *app, struct dg_err *err) {
    int r = dg_app_matcher(app, err);
    if (r) return r;
    const struct dg_ruleset *rules = dg_pack_rules(app->pack);
    struct prover p = {.app = app};
    for (uint32_t i = 0; i < rules->n_rules && !p.nomem; i++) {
        const struct dg_rule *rule = p.rule = &rules->rules[i];
        if (!rule->n_examples) fault(&p, "no example fires it", rule->title, (struct dg_slice){NULL, 0});
        for (uint32_t k = 0; k < rule->n_examples; k++) check_example(&p, &rule->examples[k]);
        for (uint32_t k = 0; k < rule->near.n; k++) check_other(&p, rule->near.v[k], "a near miss matches");
        for (uint32_t k = 0; k < rule->known_gap.n; k++)
            check_other(&p, rule->known_gap.v[k], "a known gap is closed: make it an example");
    }
    return p.nomem ? dg_err_nomem(err) : 0;
}
