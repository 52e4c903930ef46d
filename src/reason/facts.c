/* Fact findings -> the attempt: engine, version, model, choices, phase. What the user states comes last and wins; a
 * command line comes first, because a server prints what it made of it. */
#include "reason/judge.h"
#include "base/dump.h"
#include <ctype.h>
#include <stdlib.h>

#define MAX_FACTS 2048u

static void add(struct dg_judge *j, struct dg_slice name, struct dg_slice value, const struct dg_place *at) {
    static const char *const nothing[] = {"None", "null", "none", "NULL"};
    struct dg_facts *f = &j->d->attempt.facts;
    value = dg_slice_trim(value);
    for (size_t i = 0; i < DG_COUNT(nothing); i++)
        if (dg_slice_is(value, nothing[i])) return;
    if (!value.len || !name.len || f->n >= MAX_FACTS) return;
    struct dg_fact fact = {name, value, at ? at->source : UINT32_MAX, at ? at->line : 0};
    DG_LIST_ADD(j, f->v, f->n, fact);
}

/* enable_hierarchical_cache and --enable-hierarchical-cache are one setting. */
static struct dg_slice flag_name(struct dg_judge *j, struct dg_slice name) {
    char *p = dg_judge_alloc(j, name.len + 1);
    if (!p) return (struct dg_slice){NULL, 0};
    for (size_t i = 0; i < name.len; i++) p[i] = name.ptr[i] == '_' ? '-' : name.ptr[i];
    return (struct dg_slice){p, name.len};
}

static struct dg_slice pair_get(const struct dg_pair *v, uint32_t n, struct dg_slice name) {
    for (uint32_t i = 0; i < n; i++)
        if (dg_slice_eq(v[i].name, name)) return v[i].value;
    return (struct dg_slice){NULL, 0};
}

/* Has a pattern of the rule a group of this name? Then a `set` that names it means the capture, also when nothing was
 * captured. */
static bool is_group(const struct dg_rule *rule, struct dg_slice name) {
    for (uint32_t i = 0; i < rule->n_captures; i++)
        if (dg_slice_eq(rule->captures[i].name, name)) return true;
    for (uint32_t i = 0; i < rule->n_patterns; i++) {
        struct dg_slice rest = rule->patterns[i].re;
        for (ptrdiff_t at; (at = dg_slice_find(rest, DG_S("(?<"))) >= 0;) {
            rest = dg_slice_from(rest, (size_t)at + 3);
            if (dg_slice_starts(rest, name) && rest.len > name.len && rest.ptr[name.len] == '>') return true;
        }
    }
    return false;
}

static const struct dg_capture *capture(const struct dg_capture *v, uint32_t n, struct dg_slice name) {
    for (uint32_t i = 0; i < n; i++)
        if (dg_slice_eq(v[i].name, name)) return &v[i];
    return NULL;
}

static void apply(struct dg_judge *j, const struct dg_rule *rule, const struct dg_place *at,
                  const struct dg_capture *caps, uint32_t n_caps) {
    struct dg_pair *args = NULL;
    uint32_t n_args = 0;
    for (uint32_t i = 0; i < rule->n_parse && !args; i++) {
        const struct dg_capture *c = capture(caps, n_caps, rule->parse[i].capture);
        if (c && dg_dump_parse(c->text, rule->parse[i].as, j->arena, &args, &n_args)) j->failed = true;
    }
    for (uint32_t i = 0; i < rule->n_set; i++) {
        struct dg_slice value = rule->set[i].value;
        const struct dg_capture *c = capture(caps, n_caps, value);
        if (dg_slice_is(value, "args.*")) {
            for (uint32_t k = 0; k < n_args; k++) add(j, flag_name(j, args[k].name), args[k].value, at);
        } else if (dg_slice_starts(value, DG_S("args."))) {
            add(j, rule->set[i].name, pair_get(args, n_args, dg_slice_from(value, 5)), at);
        } else if (c) {
            add(j, rule->set[i].name, c->text, at);
        } else if (!is_group(rule, value)) {
            add(j, rule->set[i].name, value, at);
        }
    }
}

struct item {
    const struct dg_finding *f;
    bool last;
    uint64_t seq;
};

static int by_seq(const void *a, const void *b) {
    uint64_t x = ((const struct item *)a)->seq, y = ((const struct item *)b)->seq;
    return (x > y) - (x < y);
}

/* The first and the last occurrence of each finding speak, in the order of the log. */
static void from_findings(struct dg_judge *j) {
    const struct dg_scan *s = j->scan;
    struct item *v = dg_judge_alloc(j, 2 * sizeof(*v) * (j->ep.n_f + 1));
    size_t n = 0;
    if (!v) return;
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &s->findings[i];
        if (!f->rule->n_set && !f->rule->n_parse) continue;
        v[n++] = (struct item){f, false, f->first.seq};
        if (f->count > 1) v[n++] = (struct item){f, true, f->last.seq};
    }
    if (n) qsort(v, n, sizeof(*v), by_seq);
    for (size_t i = 0; i < n; i++) {
        const struct dg_finding *f = v[i].f;
        struct dg_slice engine = j->opts->engine.len ? j->opts->engine : dg_fact(j, "engine");
        if (!dg_fors_admit(&f->rule->fors, engine, (struct dg_slice){NULL, 0}))
            continue; /* an environment lists the versions of other engines too */
        if (v[i].last)
            apply(j, f->rule, &f->last, f->last_captures, f->n_last_captures);
        else
            apply(j, f->rule, &f->first, f->captures, f->n_captures);
    }
}

static void from_command(struct dg_judge *j, struct dg_slice command) {
    struct dg_pair *args = NULL;
    uint32_t n = 0;
    if (!command.len) return;
    if (dg_dump_parse(command, DG_PARSE_ARGV, j->arena, &args, &n)) j->failed = true;
    for (uint32_t i = 0; i < n; i++)
        if (!isdigit((unsigned char)args[i].name.ptr[0])) add(j, flag_name(j, args[i].name), args[i].value, NULL);
}

static struct dg_slice first_known(const struct dg_judge *j, const char *const *names) {
    for (; *names; names++) {
        struct dg_slice v = dg_fact(j, *names);
        if (v.len) return v;
    }
    return (struct dg_slice){NULL, 0};
}

/* An axis' choice under the axis' own name, whatever the dump calls it; `auto` as the catalog resolves it. */
void dg_choices_settle(struct dg_judge *j) {
    struct dg_attempt *a = &j->d->attempt;
    const struct dg_cat_engine *e = j->opts->catalog ? dg_catalog_engine(j->opts->catalog, a->engine) : NULL;
    struct dg_cat_key key = dg_judge_key(j);
    if (j->opts->catalog && j->opts->catalog->failed) j->failed = true;
    for (uint32_t i = 0; e && i < e->n_axes; i++) {
        const struct dg_cat_axis *axis = &e->axes[i];
        struct dg_slice value = {NULL, 0}, given;
        for (uint32_t k = a->facts.n; k-- > 0 && !value.len;)
            if (dg_catalog_axis(e, a->facts.v[k].name) == axis) value = a->facts.v[k].value;
        if (!value.len) continue;
        given = dg_slice_is(value, "auto") ? dg_catalog_auto(e, axis, &key, NULL) : (struct dg_slice){NULL, 0};
        if (given.len) value = given;
        const struct dg_cat_choice *known = dg_catalog_choice(axis, value);
        if (known) value = known->name;
        add(j, axis->name, value, NULL);
        struct dg_choice choice = {axis->name, value};
        DG_LIST_ADD(j, a->choices, a->n_choices, choice);
    }
}

/* Words of a model's name that say its size or how it was quantized, and not what it is. */
static bool size_or_quant(struct dg_slice word) {
    static const char *const quants[] = {"fp8",  "fp4",     "nvfp4",    "mxfp4", "bf16",  "fp16", "awq",
                                         "gptq", "gguf",    "int4",     "int8",  "w4a16", "w8a8", "bnb",
                                         "exl3", "dynamic", "instruct", "4bit",  "8bit"};
    char low[16];
    if (!word.len || word.len >= sizeof(low)) return false;
    for (size_t i = 0; i < word.len; i++) low[i] = (char)tolower((unsigned char)word.ptr[i]);
    for (size_t i = 0; i < DG_COUNT(quants); i++)
        if (dg_slice_is(dg_slice(low, word.len), quants[i])) return true;
    bool digits = isdigit((unsigned char)low[0]) ||
                  ((low[0] == 'a' || low[0] == 'e') && word.len > 1 && isdigit((unsigned char)low[1]));
    return digits && (low[word.len - 1] == 'b' || low[word.len - 1] == 'e'); /* 70B, A3B, 16E */
}

static struct dg_slice family_of(struct dg_judge *j, struct dg_slice model) {
    ptrdiff_t slash = dg_slice_rfind_ch(model, '/');
    struct dg_slice rest = dg_slice_from(model, (size_t)(slash + 1)), word;
    char *out = dg_judge_alloc(j, rest.len + 1);
    size_t n = 0;
    while (out && dg_slice_split(&rest, '-', &word)) {
        if (size_or_quant(word)) continue;
        if (n) out[n++] = '-';
        memcpy(out + n, word.ptr, word.len);
        n += word.len;
    }
    return (struct dg_slice){out, n};
}

/* What is unsaid about the quantization the model's name may say. */
static struct dg_slice quant_of(struct dg_slice model) {
    static const char *const marks[][2] = {
        {"NVFP4", "nvfp4"}, {"nvfp4", "nvfp4"}, {"MXFP4", "mxfp4"}, {"mxfp4", "mxfp4"}, {"gpt-oss", "mxfp4"},
        {"FP8", "fp8"},     {"fp8", "fp8"},     {"AWQ", "awq"},     {"GPTQ", "gptq"},   {"-FP4", "nvfp4"}};
    for (size_t i = 0; i < DG_COUNT(marks); i++)
        if (dg_slice_find(model, dg_cstr(marks[i][0])) >= 0) return dg_cstr(marks[i][1]);
    return (struct dg_slice){NULL, 0};
}

static int number(struct dg_slice s) {
    int64_t v;
    return dg_slice_i64(s, &v) && v >= -1 && v <= 255 ? (int)v : -1;
}

void dg_facts_collect(struct dg_judge *j) {
    struct dg_attempt *a = &j->d->attempt;
    from_command(j, j->opts->command);
    from_findings(j);
    if (j->opts->engine.len) add(j, DG_S("engine"), j->opts->engine, NULL);
    a->engine = dg_fact(j, "engine");
    a->engine_version = dg_fact(j, "engine_version");
    a->model = first_known(j, (const char *const[]){"model", "model-path", "model-tag", NULL});
    a->quantization = dg_fact(j, "quantization");
    if (!a->quantization.len) a->quantization = quant_of(a->model);
    a->model_family = dg_fact(j, "architecture");
    if (!a->model_family.len) a->model_family = family_of(j, a->model);
    a->phase = dg_fact(j, "phase");
    a->command = j->opts->command.len ? j->opts->command : dg_fact(j, "command");
    struct dg_slice tp =
        first_known(j, (const char *const[]){"tensor_parallel", "tp-size", "tensor-parallel-size", "tp", NULL});
    if (!dg_slice_i64(tp, &a->tensor_parallel) || a->tensor_parallel < 0) a->tensor_parallel = 0;
    a->exit_code = j->opts->exit_code >= 0 ? j->opts->exit_code : number(dg_fact(j, "exit_code"));
    a->exit_signal = j->opts->exit_signal >= 0 ? j->opts->exit_signal : number(dg_fact(j, "exit_signal"));
    a->known = j->ep.any || a->engine.len;
}

struct dg_slice dg_fact(const struct dg_judge *j, const char *name) {
    return dg_facts_get(&j->d->attempt.facts, dg_cstr(name));
}
