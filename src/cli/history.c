/* A diagnosis as a row of history, and history as what was tried. */
#include "cli/job.h"
#include "arch/arch.h"
#include "base/json.h"
#include "report/report.h"
#include "base/timex.h"
#include <stdio.h>
#include <xxhash.h>

enum { TEXT_ROOM = 1 << 20 };

/* ---- recording */

static void add_part(struct dg_buf *out, struct dg_slice s) {
    dg_buf_add_slice(out, s);
    dg_buf_addc(out, '\0');
}

static const struct dg_launch *judged_launch(const struct dg_job *job) {
    const struct dg_launch_line *line = job->d->judged ? &job->d->launches[job->d->judged - 1] : NULL;
    for (uint32_t i = 0; line && i < job->scan->n_launches; i++) {
        const struct dg_launch *l = &job->scan->launches[i];
        if (l->source == line->source && l->first_line == line->first_line) return l;
    }
    return NULL;
}

/* The same launch has the same key however it was given (a file, a pipe, with or without a kernel log): its arguments,
 * the time it started or else the line, and how its source begins. */
static void make_key(const struct dg_job *job, char out[33]) {
    const struct dg_diagnosis *d = job->d;
    const struct dg_launch_line *line = d->judged ? &d->launches[d->judged - 1] : NULL;
    const struct dg_launch *launch = judged_launch(job);
    struct dg_buf parts = DG_BUF_INIT(TEXT_ROOM);
    for (uint32_t i = 0; i < d->attempt.n_choices; i++) {
        add_part(&parts, d->attempt.choices[i].axis);
        add_part(&parts, d->attempt.choices[i].value);
    }
    if (job->started > 0) /* seen by `run`: two runs are two attempts, however alike their output */
        dg_buf_addf(&parts, "run %.6f", job->started);
    else if (launch && dg_time_known(launch->first_time))
        dg_buf_addf(&parts, "at %.3f", launch->first_time);
    else if (line)
        dg_buf_addf(&parts, "line %llu", (unsigned long long)line->first_line);
    uint32_t source = line ? line->source : 0;
    if (source < job->n_heads) dg_buf_add(&parts, &job->heads[source], sizeof(job->heads[source]));
    XXH128_hash_t hash = XXH3_128bits(dg_buf_slice(&parts).ptr, parts.len);
    dg_buf_release(&parts);
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

static const char *outcome_of(const struct dg_diagnosis *d) {
    const struct dg_cause *c = d->n_causes ? &d->causes[0] : NULL;
    if (d->status == DG_STATUS_HEALTHY) return d->judged ? "started" : "unknown";
    if (d->status == DG_STATUS_INCONCLUSIVE) return "unknown";
    return c && dg_slice_is(c->class, "stopped") ? "stopped" : "fails";
}

void dg_history_devices(const struct dg_device *v, uint32_t n, struct dg_buf *line, struct dg_buf *cc_set) {
    for (uint32_t i = 0; i < n;) {
        const struct dg_device *g = &v[i];
        uint32_t same = 1;
        while (i + same < n && !strcmp(v[i + same].name, g->name) && !dg_cc_cmp(v[i + same].cc, g->cc)) same++;
        struct dg_buf cc = DG_BUF_INIT(64);
        if (dg_cc_known(g->cc))
            dg_cc_add(&cc, g->cc);
        else
            dg_buf_adds(&cc, *g->gfx ? g->gfx : "?");
        if (line)
            dg_buf_addf(line, "%s%u x %s%s%s", line->len ? ", " : "", same, dg_buf_slice(&cc).ptr, *g->name ? " " : "",
                        g->name);
        if (cc_set && dg_slice_find(dg_buf_slice(cc_set), dg_buf_slice(&cc)) < 0)
            dg_buf_addf(cc_set, "%s%s", cc_set->len ? "," : "", dg_buf_slice(&cc).ptr);
        dg_buf_release(&cc);
        i += same;
    }
}

static struct dg_slice choice_of(const struct dg_attempt *a, struct dg_slice axis) {
    for (uint32_t i = 0; i < a->n_choices; i++)
        if (dg_slice_eq(a->choices[i].axis, axis)) return a->choices[i].value;
    return (struct dg_slice){NULL, 0};
}

/* What the cause proves not to work: this attempt's choice on the axes that its rule rejects, when the cause is more
 * than possible. */
static void add_rejects(const struct dg_diagnosis *d, struct dg_buf *out) {
    struct dg_json j;
    dg_json_init(&j, out, false);
    dg_json_begin_array(&j);
    const struct dg_cause *c = d->n_causes ? &d->causes[0] : NULL;
    for (uint32_t i = 0; c && c->rule && c->confidence != DG_POSSIBLE && i < c->rule->n_rejects; i++) {
        const struct dg_reject *reject = &c->rule->rejects[i];
        struct dg_slice own = choice_of(&d->attempt, reject->axis);
        if (!own.len || (!dg_slice_is(reject->value, "fact") && !dg_slice_eq(reject->value, own))) continue;
        dg_json_begin_object(&j);
        dg_json_kv_slice(&j, "axis", reject->axis);
        dg_json_kv_slice(&j, "value", own);
        dg_json_end(&j);
    }
    dg_json_end(&j);
}

static void dump_member(const json_t *report, const char *object, const char *key, struct dg_buf *out) {
    const json_t *value = json_object_get(json_object_get(report, object), key);
    if (value) dg_report_dump(value, false, out);
}

struct dg_store *dg_history_open(struct dg_job *job) {
    struct dg_job_history *h = &job->history;
    if (!h->store && !h->why.code) dg_app_store(job->app, DG_STORE_WRITE, &h->store, &h->why);
    return h->store;
}

int dg_history_record(struct dg_job *job, struct dg_slice report, int64_t *ret_id, struct dg_err *err) {
    const struct dg_diagnosis *d = job->d;
    const struct dg_attempt *a = &d->attempt;
    const struct dg_cause *c = d->n_causes ? &d->causes[0] : NULL;
    struct dg_store *store = dg_history_open(job);
    if (!store) {
        *err = job->history.why;
        return -err->code;
    }
    struct dg_buf line = DG_BUF_INIT(TEXT_ROOM), set = DG_BUF_INIT(TEXT_ROOM), choices = DG_BUF_INIT(TEXT_ROOM),
                  rejects = DG_BUF_INIT(TEXT_ROOM);
    /* Out of the report, where secrets are masked already. */
    json_t *parsed = dg_json_parse(report, err);
    dump_member(parsed, "attempt", "choices", &choices);
    const char *model = json_string_value(json_object_get(json_object_get(parsed, "attempt"), "model"));
    dg_history_devices(d->devices, d->n_devices, &line, &set);
    add_rejects(d, &rejects);
    char key[33];
    make_key(job, key);
    const struct dg_launch *launch = judged_launch(job);
    struct dg_store_entry e = {.key = dg_cstr(key),
                               .time = job->started > 0 ? job->started
                                       : launch         ? launch->first_time
                                                        : DG_TIME_NONE,
                               .recorded = DG_TIME_NONE,
                               .engine = a->engine,
                               .engine_version = a->engine_version,
                               .model = dg_cstr(model),
                               .model_family = a->model_family,
                               .quantization = a->quantization,
                               .devices = dg_buf_slice(&line),
                               .cc_set = dg_buf_slice(&set),
                               .choices = dg_slice_trim(dg_buf_slice(&choices)),
                               .rejects = dg_buf_slice(&rejects),
                               .outcome = dg_cstr(outcome_of(d)),
                               .status = dg_cstr(dg_status_name(d->status)),
                               .fingerprint = dg_cstr(d->fingerprint),
                               .version = DG_S(DG_VERSION),
                               .report = report};
    if (c) {
        e.class = c->class;
        e.subclass = c->subclass;
        e.rule = c->rule_id;
        e.confidence = dg_cstr(dg_confidence_name(c->confidence));
    }
    int r = parsed ? dg_store_record(store, &e, ret_id, err) : -DG_E_INTERNAL;
    json_decref(parsed);
    dg_buf_release(&line);
    dg_buf_release(&set);
    dg_buf_release(&choices);
    dg_buf_release(&rejects);
    return r;
}

/* ---- what was tried */

struct viewer {
    const struct dg_attempt *a;
    struct dg_arena *arena;
    struct dg_tried *v;
    size_t n, cap;
    bool failed;
};

static void add_tried(struct viewer *w, const struct dg_history_row *row, const char *axis, const char *value,
                      const char *outcome) {
    struct dg_tried t = {.axis = dg_arena_dup(w->arena, dg_cstr(axis)),
                         .value = dg_arena_dup(w->arena, dg_cstr(value)),
                         .outcome = dg_arena_dup(w->arena, dg_cstr(outcome)),
                         .engine_version = dg_arena_dup(w->arena, row->engine_version),
                         .age_days = (dg_time_now() - row->time) / 86400,
                         .same_key = dg_slice_eq(row->engine_version, w->a->engine_version)};
    if (!t.axis.ptr || !t.value.ptr || !t.outcome.ptr || !DG_VEC_PUSH(w, t, 65536)) w->failed = true;
}

/* `garbage` condemns a combination. It speaks on an axis when all else is as in the attempt at hand. */
static void add_garbage(struct viewer *w, const struct dg_history_row *row, json_t *choices) {
    const char *axis, *differs = NULL;
    json_t *value;
    size_t n = 0;
    json_object_foreach(choices, axis, value) {
        const char *text = json_string_value(value);
        if (text && !dg_slice_is(choice_of(w->a, dg_cstr(axis)), text)) {
            differs = axis;
            n++;
        }
    }
    if (n == 1) add_tried(w, row, differs, json_string_value(json_object_get(choices, differs)), "garbage");
}

static void add_works(struct viewer *w, const struct dg_history_row *row, json_t *choices) {
    const char *axis;
    json_t *value;
    char outcome[16];
    snprintf(outcome, sizeof(outcome), "%.*s", DG_FMT(row->outcome));
    json_object_foreach(choices, axis, value) if (json_is_string(value))
        add_tried(w, row, axis, json_string_value(value), outcome);
}

/* Of a failure only what its cause proved counts: a port in use bans no backend. */
static void add_failed(struct viewer *w, const struct dg_history_row *row, const json_t *rejects) {
    for (size_t i = 0; i < json_array_size(rejects); i++) {
        const json_t *r = json_array_get(rejects, i);
        const char *axis = json_string_value(json_object_get(r, "axis")),
                   *value = json_string_value(json_object_get(r, "value"));
        if (axis && value) add_tried(w, row, axis, value, "fails");
    }
}

static bool view_row(void *ctx, const struct dg_history_row *row) {
    struct viewer *w = ctx;
    json_t *choices = dg_json_parse(row->choices, NULL), *rejects = dg_json_parse(row->rejects, NULL);
    if (dg_slice_is(row->outcome, "garbage"))
        add_garbage(w, row, choices);
    else if (dg_slice_is(row->outcome, "works") || dg_slice_is(row->outcome, "started") ||
             dg_slice_is(row->outcome, "slow"))
        add_works(w, row, choices);
    else
        add_failed(w, row, rejects);
    json_decref(choices);
    json_decref(rejects);
    return !w->failed;
}

int dg_history_view(struct dg_app *app, struct dg_store *store, const struct dg_attempt *a, struct dg_slice cc_set,
                    struct dg_arena *arena, struct dg_history_view *ret, struct dg_err *err) {
    _cleanup_(dg_store_closep) struct dg_store *own = NULL;
    struct dg_err why = {0};
    *ret = (struct dg_history_view){0};
    if (!a->engine.len) return 0;
    if (!store && dg_app_store(app, DG_STORE_READ, &own, &why)) {
        if (why.code != DG_E_NOTFOUND) dg_msg("%s", why.msg);
        return 0;
    }
    struct viewer w = {.a = a, .arena = arena};
    struct dg_store_like like = {cc_set, a->engine, a->model_family, a->quantization};
    if (dg_store_tried(store ? store : own, &like, view_row, &w, &why)) dg_msg("%s", why.msg);
    if (w.n && (ret->v = dg_arena_alloc(arena, w.n * sizeof(*w.v)))) {
        memcpy(ret->v, w.v, w.n * sizeof(*w.v));
        ret->n = (uint32_t)w.n;
    }
    free(w.v);
    return w.failed || ret->n < w.n ? dg_err_nomem(err) : 0;
}
