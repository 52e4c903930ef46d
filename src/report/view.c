#include "report/view.h"
#include "base/mem.h"
#include <stdio.h>

const json_t *dg_view_get(const json_t *object, const char *key) { return json_object_get(object, key); }

const char *dg_view_str(const json_t *object, const char *key) {
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

int64_t dg_view_int(const json_t *object, const char *key) { return json_integer_value(json_object_get(object, key)); }

const char *dg_view_text(const json_t *text) { return json_is_string(text) ? json_string_value(text) : ""; }

/* One line: a line break inside the text would make two. */
static void add_line(struct dg_buf *out, const char *text) {
    size_t start = out->len;
    dg_buf_adds(out, text);
    for (char *nl; out->len > start && (nl = memchr(out->ptr + start, '\n', out->len - start));) *nl = ' ';
    dg_buf_addc(out, '\n');
}

bool dg_view_is(const json_t *report, const char *status) { return !strcmp(dg_view_str(report, "status"), status); }

const json_t *dg_view_cause(const json_t *report, size_t rank) {
    return json_array_get(dg_view_get(report, "causes"), rank);
}

static bool has_kind(const json_t *report, const char *kind, bool other) {
    const json_t *input;
    DG_VIEW_EACH(i, input, dg_view_get(report, "inputs"))
    if (!strcmp(dg_view_str(input, "kind"), kind) != other) return true;
    return false;
}

static const char *default_sentence(const json_t *report) {
    if (dg_view_is(report, "healthy"))
        return has_kind(report, "kernel", true) ? "the server served, and no fault follows its last sign of service"
                                                : "no fault line in the kernel log";
    if (dg_view_is(report, "inconclusive")) return "the part of the log that would decide is missing";
    return "a failure that no rule knows; the evidence is the first fatal record";
}

const char *dg_view_summary(const json_t *report) {
    const json_t *cause = dg_view_cause(report, 0);
    const char *text = dg_view_str(cause, "summary");
    if (!*text) text = dg_view_str(cause, "title");
    return *text ? text : default_sentence(report);
}

void dg_view_label(const json_t *report, struct dg_buf *out) {
    const json_t *cause = dg_view_cause(report, 0);
    const char *class = dg_view_str(cause, "class"), *sub = dg_view_str(cause, "subclass");
    if (*class)
        dg_buf_addf(out, "%s%s%s (%s)", class, *sub ? "/" : "", sub, dg_view_str(cause, "confidence"));
    else
        dg_buf_adds(out, dg_view_str(report, "status"));
}

void dg_view_verdict(const json_t *report, struct dg_buf *out) {
    dg_view_label(report, out);
    dg_buf_addf(out, ": %s", dg_view_summary(report));
}

static const char *engine_title(const char *name) {
    static const char *const titles[][2] = {{"sglang", "SGLang"}, {"vllm", "vLLM"},    {"tensorrt-llm", "TensorRT-LLM"},
                                            {"ollama", "Ollama"}, {"tgi", "TGI"},      {"lmdeploy", "LMDeploy"},
                                            {"ray", "Ray"},       {"triton", "Triton"}};
    for (size_t i = 0; i < DG_COUNT(titles); i++)
        if (!strcmp(name, titles[i][0])) return titles[i][1];
    return name;
}

static const char *phase_words(const char *phase) {
    static const char *const words[][2] = {{"arguments", "while reading its arguments"},
                                           {"model-config", "while reading the model's config"},
                                           {"weights", "while loading weights"},
                                           {"weight-shuffle", "while rearranging weights"},
                                           {"kv-pool", "at KV cache allocation"},
                                           {"jit", "in JIT compilation"},
                                           {"graph-capture", "at CUDA graph capture"},
                                           {"warm-up", "at warm-up"},
                                           {"serving", "while serving"}};
    for (size_t i = 0; i < DG_COUNT(words); i++)
        if (!strcmp(phase, words[i][0])) return words[i][1];
    return phase;
}

static const char *basename_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void comma(struct dg_buf *out, size_t start) {
    if (out->len > start) dg_buf_adds(out, ", ");
}

static void add_engine(const json_t *attempt, struct dg_buf *out) {
    const char *engine = dg_view_str(attempt, "engine"), *version = dg_view_str(attempt, "engine_version");
    if (!*engine) return;
    dg_buf_addf(out, "%s %s", engine_title(engine), *version ? version : "(version not in log)");
}

static void add_phase(const json_t *report, const json_t *attempt, struct dg_buf *out) {
    const char *phase = dg_view_str(attempt, "phase");
    const json_t *ended = dg_view_get(attempt, "exit");
    if (*phase && !dg_view_is(report, "healthy"))
        dg_buf_addf(out, "; %s %s", dg_view_is(report, "inconclusive") ? "last seen" : "died", phase_words(phase));
    if (json_is_integer(dg_view_get(ended, "signal")))
        dg_buf_addf(out, "; signal %lld", (long long)dg_view_int(ended, "signal"));
    else if (json_is_integer(dg_view_get(ended, "code")))
        dg_buf_addf(out, "; exit code %lld", (long long)dg_view_int(ended, "code"));
}

static void add_gpu(const json_t *report, struct dg_buf *out) {
    const json_t *devices = dg_view_get(report, "devices"), *first = json_array_get(devices, 0);
    const char *cc = dg_view_str(first, "compute_capability"), *name = dg_view_str(first, "name");
    if (!*cc) cc = dg_view_str(first, "gfx");
    if (!*cc && !*name) return;
    size_t n = json_array_size(devices);
    dg_buf_adds(out, "; ");
    if (n > 1) dg_buf_addf(out, "%zu x ", n);
    dg_buf_addf(out, "GPU %s", *cc ? cc : name);
    if (strcmp(dg_view_str(first, "origin"), "live")) dg_buf_addf(out, " (%s)", dg_view_str(first, "origin"));
}

void dg_view_context(const json_t *report, struct dg_buf *out) {
    const json_t *attempt = dg_view_get(report, "attempt"), *launches = dg_view_get(report, "launches");
    size_t start = out->len;
    add_engine(attempt, out);
    const char *model = dg_view_str(attempt, "model");
    if (*model) {
        comma(out, start);
        dg_buf_adds(out, basename_of(model));
    }
    int64_t tp = dg_view_int(attempt, "tensor_parallel"), count = dg_view_int(launches, "count");
    if (tp) {
        comma(out, start);
        dg_buf_addf(out, "TP%lld", (long long)tp);
    }
    if (count > 1) {
        comma(out, start);
        dg_buf_addf(out, "launch %lld of %lld", (long long)dg_view_int(launches, "judged"), (long long)count);
    }
    size_t facts = out->len;
    add_phase(report, attempt, out);
    add_gpu(report, out);
    if (facts == start && out->len > start) { /* nothing before the first "; " */
        memmove(out->ptr + start, out->ptr + start + 2, out->len - start - 2);
        out->len -= 2;
        out->ptr[out->len] = '\0';
    }
}

void dg_view_place(const json_t *evidence, struct dg_buf *out) {
    const char *source = dg_view_str(evidence, "source");
    int64_t line = dg_view_int(evidence, "line"), end = dg_view_int(evidence, "end_line");
    if (!*source) return;
    dg_buf_adds(out, strcmp(source, "-") ? source : "stdin");
    if (line > 0) dg_buf_addf(out, ":%lld", (long long)line);
    if (line > 0 && end > line) dg_buf_addf(out, "-%lld", (long long)end);
}

void dg_view_size(const json_t *input, struct dg_buf *out) {
    int64_t lines = dg_view_int(input, "lines");
    dg_buf_addf(out, "%s, %lld line%s", dg_view_str(input, "kind"), (long long)lines, lines == 1 ? "" : "s");
}

static void add_unless_said(struct dg_buf *out, const char *action, const char *text) {
    if (*text && !strstr(action, text)) add_line(out, text);
}

void dg_view_libraries(const json_t *report, struct dg_buf *out) {
    const json_t *library, *target;
    const char *cc = dg_view_str(json_array_get(dg_view_get(report, "devices"), 0), "compute_capability");
    DG_VIEW_EACH(i, library, dg_view_get(dg_view_cause(report, 0), "libraries")) {
        const json_t *targets = dg_view_get(library, "architectures");
        dg_buf_addf(out, "%s here:", basename_of(dg_view_str(library, "path")));
        DG_VIEW_EACH(k, target, targets) dg_buf_addf(out, " %s", dg_view_text(target));
        if (*cc) dg_buf_addf(out, "; GPU %s: %s", cc, dg_view_str(library, "verdict"));
        dg_buf_addc(out, '\n');
    }
}

void dg_view_first(const json_t *report, struct dg_buf *out) {
    const json_t *item;
    if (*dg_view_str(report, "free_first")) add_line(out, dg_view_str(report, "free_first"));
    DG_VIEW_EACH(i, item, dg_view_get(report, "before_retry")) add_line(out, dg_view_text(item));
}

void dg_view_settings(const json_t *proposal, struct dg_buf *out) {
    const char *action = dg_view_str(proposal, "action"), *name;
    const json_t *item;
    json_t *value;
    DG_VIEW_EACH(i, item, dg_view_get(proposal, "flags")) add_unless_said(out, action, dg_view_text(item));
    json_object_foreach((json_t *)dg_view_get(proposal, "environment"), name, value) {
        char setting[512];
        snprintf(setting, sizeof(setting), "%s=%s", name, dg_view_text(value));
        add_unless_said(out, action, setting);
    }
    DG_VIEW_EACH(i, item, dg_view_get(proposal, "packages")) add_unless_said(out, action, dg_view_text(item));
    add_unless_said(out, action, dg_view_str(proposal, "command"));
}

static void add_part(struct dg_buf *out, size_t start, const char *name, const char *text) {
    if (!*text) return;
    if (out->len > start) dg_buf_adds(out, "; ");
    dg_buf_addf(out, "%s%s", name, text);
}

void dg_view_tag(const json_t *proposal, struct dg_buf *out) {
    size_t start = out->len;
    const char *scope = dg_view_str(proposal, "scope");
    add_part(out, start, "", dg_view_str(proposal, "evidence"));
    if (strcmp(scope, "launch")) add_part(out, start, "scope: ", scope);
    add_part(out, start, "cost: ", dg_view_str(proposal, "cost"));
    add_part(out, start, "undo: ", dg_view_str(proposal, "undo"));
}

void dg_view_unchecked(const json_t *report, struct dg_buf *out) {
    const json_t *item, *rules = dg_view_get(dg_view_get(report, "tool"), "rules");
    int64_t rejected = dg_view_int(rules, "rejected"), active = dg_view_int(rules, "active");
    if (rejected)
        dg_buf_addf(out, "%lld of %lld rules active (diagnose rules lint)\n", (long long)active,
                    (long long)active + (long long)rejected);
    DG_VIEW_EACH(i, item, dg_view_get(report, "not_checked")) add_line(out, dg_view_text(item));
}
