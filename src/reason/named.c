/* What the cause's own message names: {message.flag}, {message.variable}, {message.option}. */
#include "reason/judge.h"
#include <ctype.h>
#include <stdio.h>

enum { OPTIONS_TOLD = 2 };

static bool word_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-'; }

/* The next word of letters, digits, _ and -, with what stands on both sides of it; 0 beyond the text. */
static bool next_word(struct dg_slice text, size_t *at, struct dg_slice *ret, char *before, char *behind) {
    while (*at < text.len && !word_char(text.ptr[*at])) ++*at;
    size_t from = *at;
    while (*at < text.len && word_char(text.ptr[*at])) ++*at;
    *ret = dg_slice(text.ptr + from, *at - from);
    *before = from ? text.ptr[from - 1] : 0;
    *behind = *at < text.len ? text.ptr[*at] : 0;
    return ret->len > 0;
}

static bool is_flag(struct dg_slice w) {
    return w.len > 4 && dg_slice_starts(w, DG_S("--")) && islower((unsigned char)w.ptr[2]) && w.ptr[w.len - 1] != '-';
}

/* VLLM_USE_V1: of a program that reads such, and no name of an error. */
static bool is_variable(struct dg_slice w) {
    static const char *const OWNERS[] = {
        "VLLM_",    "SGLANG_",  "SGL_", "FLASHINFER_", "LMCACHE_", "TRTLLM_", "TLLM_", "NCCL_", "CUDA_", "TORCH_",
        "PYTORCH_", "HF_",      "RAY_", "OLLAMA_",     "GGML_",    "LLAMA_",  "HIP_",  "HSA_",  "ROCR_", "TRITON_",
        "GLOO_",    "NVSHMEM_", "UCX_", "OMPI_",       "XLA_",     "JAX_",    "MC_",   "DG_"};
    for (size_t i = 0; i < w.len; i++)
        if (!isupper((unsigned char)w.ptr[i]) && !isdigit((unsigned char)w.ptr[i]) && w.ptr[i] != '_') return false;
    if (dg_slice_find(w, DG_S("_ERROR")) >= 0 || dg_slice_find(w, DG_S("_STATUS")) >= 0) return false;
    for (size_t i = 0; i < DG_COUNT(OWNERS); i++)
        if (dg_slice_starts(w, dg_cstr(OWNERS[i])) && w.len > strlen(OWNERS[i])) return true;
    return false;
}

/* max_num_seqs; no data type such as float8_e4m3fn. */
static bool is_option(struct dg_slice w) {
    for (size_t i = 0; i < w.len; i++)
        if (!islower((unsigned char)w.ptr[i]) && !isdigit((unsigned char)w.ptr[i]) && w.ptr[i] != '_') return false;
    bool type = dg_slice_find(w, DG_S("float")) >= 0 || dg_slice_find(w, DG_S("_e4m3")) >= 0 ||
                dg_slice_find(w, DG_S("_e5m2")) >= 0;
    return !type && islower((unsigned char)*w.ptr) && dg_slice_find_ch(w, '_') > 1 && w.ptr[w.len - 1] != '_';
}

/* a.b, a/b and a() are parts of a program, not options. */
static bool stands_alone(char before, char behind, struct dg_slice rest) {
    bool ends_sentence = behind == '.' && (rest.len < 2 || isspace((unsigned char)rest.ptr[1]));
    return before != '.' && before != '/' && before != '<' && behind != '/' && behind != '(' &&
           (behind != '.' || ends_sentence);
}

struct search {
    bool (*is)(struct dg_slice word);
    bool alone;
    unsigned most;
    struct dg_slice found[OPTIONS_TOLD];
    unsigned n;
};

static void seek(struct search *s, struct dg_slice text) {
    struct dg_slice w;
    char before, behind;
    if (dg_slice_starts(dg_slice_trim(text), DG_S("File \""))) return; /* a frame */
    for (size_t at = 0; s->n < s->most && next_word(text, &at, &w, &before, &behind);) {
        if (!s->is(w) || (s->alone && !stands_alone(before, behind, dg_slice_from(text, at)))) continue;
        if (!s->n || !dg_slice_eq(s->found[0], w)) s->found[s->n++] = w;
    }
}

static struct dg_slice result(const struct search *s, char buf[64]) {
    if (!s->n) return (struct dg_slice){NULL, 0};
    if (s->n == 1) return s->found[0];
    int n = snprintf(buf, 64, "%.*s or %.*s", DG_FMT(s->found[0]), DG_FMT(s->found[1]));
    return n < 64 ? dg_slice(buf, (size_t)n) : s->found[0];
}

struct dg_slice dg_named_in(const struct dg_finding *f, struct dg_slice what, char buf[64]) {
    struct search s = {.most = 1};
    if (dg_slice_is(what, "flag")) s.is = is_flag;
    if (dg_slice_is(what, "variable")) s.is = is_variable;
    if (dg_slice_is(what, "option")) s = (struct search){.is = is_option, .alone = true, .most = OPTIONS_TOLD};
    if (!f || !s.is) return (struct dg_slice){NULL, 0};
    seek(&s, f->last.text);
    if (!s.n) seek(&s, f->first.text);
    for (uint32_t i = 0; i < f->n_decisive && !s.n; i++) seek(&s, f->decisive[i].text);
    return result(&s, buf);
}
