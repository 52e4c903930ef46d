#include "report/report.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/timex.h"
#include <stdio.h>

enum { EVIDENCE_MAX = 2048 };

/* The writer and a buffer for the text at hand. */
struct writer {
    struct dg_json j;
    struct dg_buf text;
};

/* Every text of a report goes through here: secrets masked, NUL (which many readers of JSON refuse) as a bad byte. */
static void add_text(struct writer *w, struct dg_slice s) {
    if (!s.ptr) {
        dg_json_null(&w->j);
        return;
    }
    dg_buf_clear(&w->text);
    dg_mask_secrets(&w->text, s);
    for (char *nul; w->text.len && (nul = memchr(w->text.ptr, '\0', w->text.len));) *nul = '\xff';
    if (w->text.failed) w->j.out->failed = true;
    dg_json_slice(&w->j, dg_buf_slice(&w->text));
}

static void kv_text(struct writer *w, const char *key, struct dg_slice s) {
    dg_json_key(&w->j, key);
    add_text(w, s.len ? s : (struct dg_slice){NULL, 0});
}

static void kv_str(struct writer *w, const char *key, const char *s) { kv_text(w, key, dg_cstr(s)); }

static void kv_texts(struct writer *w, const char *key, const struct dg_slice *v, uint32_t n) {
    dg_json_key(&w->j, key);
    dg_json_begin_array(&w->j);
    for (uint32_t i = 0; i < n; i++) add_text(w, v[i]);
    dg_json_end(&w->j);
}

static void kv_time(struct writer *w, const char *key, double t) {
    struct dg_buf b = DG_BUF_INIT(64);
    dg_time_add_rfc3339(&b, t);
    kv_text(w, key, dg_buf_slice(&b));
    w->j.out->failed |= b.failed;
    dg_buf_release(&b);
}

static void kv_bytes(struct writer *w, const char *key, uint64_t bytes) {
    dg_json_key(&w->j, key);
    if (bytes == UINT64_MAX)
        dg_json_null(&w->j);
    else
        dg_json_uint(&w->j, bytes);
}

static struct dg_slice source_name(const struct dg_diagnosis *d, uint32_t source) {
    return source < d->n_inputs ? dg_cstr(d->inputs[source].name) : (struct dg_slice){NULL, 0};
}

static void add_tool(struct writer *w, const struct dg_diagnosis *d, const char *version) {
    dg_json_key(&w->j, "tool");
    dg_json_begin_object(&w->j);
    kv_str(w, "version", version);
    dg_json_key(&w->j, "rules");
    dg_json_begin_object(&w->j);
    dg_json_kv_uint(&w->j, "packs", d->packs);
    dg_json_kv_uint(&w->j, "active", d->rules_active);
    dg_json_kv_uint(&w->j, "rejected", d->rules_rejected);
    dg_json_end(&w->j);
    dg_json_end(&w->j);
}

static void add_inputs(struct writer *w, const struct dg_diagnosis *d) {
    dg_json_key(&w->j, "inputs");
    dg_json_begin_array(&w->j);
    for (uint32_t i = 0; i < d->n_inputs; i++) {
        const struct dg_source *s = &d->inputs[i];
        dg_json_begin_object(&w->j);
        kv_str(w, "source", s->name);
        kv_str(w, "kind", dg_kind_name(s->kind));
        dg_json_kv_uint(&w->j, "lines", s->lines);
        dg_json_kv_uint(&w->j, "bytes", s->bytes);
        dg_json_kv_bool(&w->j, "truncated", s->truncated);
        kv_time(w, "first_time", s->first_time);
        kv_time(w, "last_time", s->last_time);
        kv_str(w, "time_basis", dg_time_basis_name(s->time_basis));
        dg_json_kv_uint(&w->j, "long_lines", s->long_lines);
        kv_str(w, "host", s->hostname);
        kv_str(w, "error", s->error);
        dg_json_end(&w->j);
    }
    dg_json_end(&w->j);
}

static void add_launches(struct writer *w, const struct dg_diagnosis *d) {
    dg_json_key(&w->j, "launches");
    dg_json_begin_object(&w->j);
    dg_json_kv_uint(&w->j, "count", d->n_launches);
    dg_json_kv_uint(&w->j, "judged", d->judged);
    dg_json_key(&w->j, "list");
    dg_json_begin_array(&w->j);
    for (uint32_t i = 0; i < d->n_launches; i++) {
        const struct dg_launch_line *l = &d->launches[i];
        dg_json_begin_object(&w->j);
        kv_text(w, "source", source_name(d, l->source));
        dg_json_kv_uint(&w->j, "first_line", l->first_line);
        dg_json_kv_uint(&w->j, "last_line", l->last_line);
        kv_text(w, "outcome", l->outcome);
        kv_text(w, "summary", l->summary);
        dg_json_end(&w->j);
    }
    dg_json_end(&w->j);
    dg_json_end(&w->j);
}

static void add_exit(struct writer *w, const struct dg_attempt *a) {
    dg_json_key(&w->j, "exit");
    if (a->exit_code < 0 && a->exit_signal < 0) {
        dg_json_null(&w->j);
        return;
    }
    dg_json_begin_object(&w->j);
    if (a->exit_signal >= 0)
        dg_json_kv_int(&w->j, "signal", a->exit_signal);
    else
        dg_json_kv_int(&w->j, "code", a->exit_code);
    dg_json_end(&w->j);
}

/* Names come from a log: one that is no plain word, or was there before, would make JSON that readers refuse. */
static bool is_new_axis(const struct dg_attempt *a, uint32_t i) {
    struct dg_slice axis = a->choices[i].axis;
    for (size_t k = 0; k < axis.len; k++)
        if (axis.ptr[k] <= ' ' || axis.ptr[k] > '~') return false;
    for (uint32_t k = 0; k < i; k++)
        if (dg_slice_eq(a->choices[k].axis, axis)) return false;
    return axis.len > 0;
}

static void add_choices(struct writer *w, const struct dg_attempt *a) {
    dg_json_key(&w->j, "choices");
    dg_json_begin_object(&w->j);
    for (uint32_t i = 0; i < a->n_choices; i++) {
        if (!is_new_axis(a, i)) continue;
        dg_json_key_slice(&w->j, a->choices[i].axis);
        add_text(w, a->choices[i].value);
    }
    dg_json_end(&w->j);
}

/* A command that was read from a log is shown, but never made into one to run. */
static const char *command_origin(const struct dg_attempt *a) {
    if (!a->command.len) return NULL;
    return dg_slice_eq(a->command, dg_facts_get(&a->facts, DG_S("command"))) ? "log" : "stated";
}

static void add_attempt(struct writer *w, const struct dg_attempt *a) {
    dg_json_key(&w->j, "attempt");
    if (!a->known) {
        dg_json_null(&w->j);
        return;
    }
    dg_json_begin_object(&w->j);
    kv_text(w, "engine", a->engine);
    kv_text(w, "engine_version", a->engine_version);
    kv_text(w, "model", a->model);
    kv_text(w, "model_family", a->model_family);
    kv_text(w, "quantization", a->quantization);
    dg_json_key(&w->j, "tensor_parallel");
    if (a->tensor_parallel > 0)
        dg_json_int(&w->j, a->tensor_parallel);
    else
        dg_json_null(&w->j);
    kv_text(w, "phase", a->phase);
    add_exit(w, a);
    kv_text(w, "command", a->command);
    kv_str(w, "command_origin", command_origin(a));
    add_choices(w, a);
    dg_json_end(&w->j);
}

static void add_devices(struct writer *w, const struct dg_diagnosis *d) {
    dg_json_key(&w->j, "devices");
    dg_json_begin_array(&w->j);
    for (uint32_t i = 0; i < d->n_devices; i++) {
        const struct dg_device *g = &d->devices[i];
        char cc[16] = "";
        if (g->cc.major) snprintf(cc, sizeof(cc), "%u.%u", g->cc.major, g->cc.minor);
        dg_json_begin_object(&w->j);
        dg_json_kv_uint(&w->j, "index", g->index);
        kv_str(w, "name", g->name);
        kv_str(w, "compute_capability", cc);
        kv_str(w, "gfx", g->gfx);
        kv_bytes(w, "memory_total", g->memory_total);
        kv_bytes(w, "memory_free", g->memory_free);
        kv_str(w, "driver", g->driver);
        kv_str(w, "origin", dg_origin_name(g->origin));
        dg_json_end(&w->j);
    }
    dg_json_end(&w->j);
}

static struct dg_slice cut(struct dg_slice s, char room[EVIDENCE_MAX + 4]) {
    if (s.len <= EVIDENCE_MAX) return s;
    size_t n = EVIDENCE_MAX;
    while (n && (s.ptr[n] & 0xc0) == 0x80) n--; /* at the start of a character */
    memcpy(room, s.ptr, n);
    memcpy(room + n, "…", strlen("…"));
    return dg_slice(room, n + strlen("…"));
}

static void add_evidence(struct writer *w, const struct dg_diagnosis *d, const struct dg_cause *c) {
    dg_json_key(&w->j, "evidence");
    dg_json_begin_array(&w->j);
    for (uint32_t i = 0; i < c->n_evidence; i++) {
        const struct dg_evidence *e = &c->evidence[i];
        char room[EVIDENCE_MAX + 4];
        dg_json_begin_object(&w->j);
        kv_text(w, "source", source_name(d, e->source));
        dg_json_kv_uint(&w->j, "line", e->line);
        dg_json_kv_uint(&w->j, "end_line", e->end_line > e->line ? e->end_line : e->line);
        dg_json_kv_uint(&w->j, "count", e->count ? e->count : 1);
        dg_json_key(&w->j, "text");
        add_text(w, cut(e->text.ptr ? e->text : DG_S(""), room));
        kv_text(w, "role", e->role);
        kv_text(w, "note", e->note);
        dg_json_end(&w->j);
    }
    dg_json_end(&w->j);
}

static void add_libraries(struct writer *w, const struct dg_cause *c) {
    dg_json_key(&w->j, "libraries");
    dg_json_begin_array(&w->j);
    for (uint32_t i = 0; i < c->n_libraries; i++) {
        const struct dg_library *l = &c->libraries[i];
        dg_json_begin_object(&w->j);
        kv_text(w, "path", l->path);
        kv_texts(w, "architectures", l->architectures.v, l->architectures.n);
        kv_text(w, "verdict", l->verdict);
        kv_text(w, "reason", l->reason);
        dg_json_end(&w->j);
    }
    dg_json_end(&w->j);
}

static void add_causes(struct writer *w, const struct dg_diagnosis *d) {
    dg_json_key(&w->j, "causes");
    dg_json_begin_array(&w->j);
    for (uint32_t i = 0; i < d->n_causes; i++) {
        const struct dg_cause *c = &d->causes[i];
        dg_json_begin_object(&w->j);
        dg_json_kv_uint(&w->j, "rank", i + 1);
        kv_text(w, "rule", c->rule_id);
        kv_text(w, "class", c->class);
        kv_text(w, "subclass", c->subclass);
        kv_text(w, "title", c->title);
        kv_text(w, "summary", c->summary);
        kv_str(w, "confidence", dg_confidence_name(c->confidence));
        add_evidence(w, d, c);
        kv_str(w, "device_check", dg_check_name(c->device_check));
        kv_texts(w, "explains", c->explains, c->n_explains);
        add_libraries(w, c);
        dg_json_end(&w->j);
    }
    dg_json_end(&w->j);
}

static void add_proposal(struct writer *w, const struct dg_proposal *p, uint32_t rank) {
    dg_json_begin_object(&w->j);
    dg_json_kv_uint(&w->j, "rank", rank);
    kv_text(w, "action", p->action);
    kv_text(w, "kind", p->kind);
    kv_text(w, "axis", p->axis);
    kv_text(w, "value", p->value);
    kv_texts(w, "flags", p->flags.v, p->flags.n);
    dg_json_key(&w->j, "environment");
    dg_json_begin_object(&w->j);
    for (uint32_t i = 0; i < p->n_environment; i++) {
        dg_json_key_slice(&w->j, p->environment[i].name);
        add_text(w, p->environment[i].value);
    }
    dg_json_end(&w->j);
    kv_texts(w, "packages", p->packages.v, p->packages.n);
    kv_text(w, "command", p->command);
    kv_text(w, "reason", p->reason);
    kv_text(w, "evidence", p->evidence);
    kv_text(w, "scope", p->scope);
    kv_text(w, "cost", p->cost);
    kv_text(w, "undo", p->undo);
    kv_texts(w, "cautions", p->cautions.v, p->cautions.n);
    dg_json_end(&w->j);
}

/* Arrays of two-text objects: ruled_out, avoid. */
static void begin_pairs(struct writer *w, const char *key) {
    dg_json_key(&w->j, key);
    dg_json_begin_array(&w->j);
}
static void add_pair(struct writer *w, const char *key, struct dg_slice value, struct dg_slice reason) {
    dg_json_begin_object(&w->j);
    kv_text(w, key, value);
    kv_text(w, "reason", reason);
    dg_json_end(&w->j);
}

static void add_advice(struct writer *w, const struct dg_diagnosis *d) {
    begin_pairs(w, "ruled_out");
    for (uint32_t i = 0; i < d->n_ruled_out; i++) add_pair(w, "class", d->ruled_out[i].class, d->ruled_out[i].reason);
    dg_json_end(&w->j);
    kv_texts(w, "joins", d->joins.v, d->joins.n);
    kv_texts(w, "not_checked", d->not_checked.v, d->not_checked.n);
    kv_text(w, "free_first", d->free_first);
    kv_texts(w, "before_retry", d->before_retry.v, d->before_retry.n);
    dg_json_key(&w->j, "proposals");
    dg_json_begin_array(&w->j);
    for (uint32_t i = 0; i < d->n_proposals; i++) add_proposal(w, &d->proposals[i], i + 1);
    dg_json_end(&w->j);
    begin_pairs(w, "avoid");
    for (uint32_t i = 0; i < d->n_avoid; i++) add_pair(w, "action", d->avoid[i].action, d->avoid[i].reason);
    dg_json_end(&w->j);
}

/* Does a text behind the verdict hold one? The stub quotes a piece of it, in which it could not be told any more. */
static bool holds_secret(struct writer *w, const struct dg_diagnosis *d) {
    const struct dg_cause *c = d->n_causes ? &d->causes[0] : NULL;
    for (uint32_t i = 0; c && i < c->n_evidence; i++) {
        dg_buf_clear(&w->text);
        dg_mask_secrets(&w->text, c->evidence[i].text);
        if (!dg_slice_eq(dg_buf_slice(&w->text), c->evidence[i].text)) return true;
    }
    return false;
}

int dg_report_json(const struct dg_diagnosis *d, const char *version, struct dg_buf *out) {
    struct writer w = {.text = DG_BUF_INIT(out->max)};
    dg_json_init(&w.j, out, false);
    dg_json_begin_object(&w.j);
    dg_json_kv_int(&w.j, "schema", 1);
    add_tool(&w, d, version);
    kv_str(&w, "status", dg_status_name(d->status));
    add_inputs(&w, d);
    add_launches(&w, d);
    add_attempt(&w, &d->attempt);
    add_devices(&w, d);
    add_causes(&w, d);
    add_advice(&w, d);
    kv_text(&w, "stub", holds_secret(&w, d) ? (struct dg_slice){NULL, 0} : d->stub);
    kv_str(&w, "fingerprint", d->fingerprint);
    dg_json_key(&w.j, "recorded");
    dg_json_null(&w.j);
    dg_json_end(&w.j);
    dg_buf_release(&w.text);
    if (!out->failed) return 0;
    return out->len >= out->max ? -DG_E_LIMIT : -DG_E_NOMEM;
}

static int dump_to_buf(const char *p, size_t n, void *ctx) { return dg_json_add_dumped(ctx, dg_slice(p, n)); }

int dg_report_dump(const json_t *value, bool indent, struct dg_buf *out) {
    if (json_dump_callback(value, dump_to_buf, out, indent ? JSON_INDENT(2) : JSON_COMPACT)) return -DG_E_NOMEM;
    return dg_buf_addc(out, '\n');
}
