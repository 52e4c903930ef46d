/* Value expressions: calls of round floor scale sub div clamp min max over operands and numbers. Total: what is missing
 * or no number gives nothing, never NaN. */
#include "reason/judge.h"
#include <stdio.h>

#define MAX_ARGS 4u
#define MAX_DEPTH 8u

struct parser {
    const struct dg_scope *scope;
    struct dg_slice rest;
};

static void skip_space(struct parser *p) {
    while (p->rest.len && (*p->rest.ptr == ' ' || *p->rest.ptr == '\t')) p->rest = dg_slice_from(p->rest, 1);
}

static bool eat(struct parser *p, char c) {
    skip_space(p);
    if (!p->rest.len || *p->rest.ptr != c) return false;
    p->rest = dg_slice_from(p->rest, 1);
    return true;
}

static double fn_round(const double *a) { return floor(a[0] + 0.5); }
static double fn_round_to(const double *a) { return a[1] > 0 ? floor(a[0] / a[1] + 0.5) * a[1] : NAN; }
static double fn_floor(const double *a) { return floor(a[0]); }
static double fn_floor_to(const double *a) { return a[1] > 0 ? floor(a[0] / a[1]) * a[1] : NAN; }
static double fn_scale(const double *a) { return a[0] * a[1]; }
static double fn_sub(const double *a) { return a[0] - a[1]; }
static double fn_div(const double *a) { return a[1] != 0 ? a[0] / a[1] : NAN; }
static double fn_clamp(const double *a) { return a[1] <= a[2] ? fmin(fmax(a[0], a[1]), a[2]) : NAN; }
static double fn_min(const double *a) { return fmin(a[0], a[1]); }
static double fn_max(const double *a) { return fmax(a[0], a[1]); }

static const struct function {
    const char *name;
    unsigned args;
    double (*call)(const double *a);
} FUNCTIONS[] = {{"round", 1, fn_round}, {"round", 2, fn_round_to}, {"floor", 1, fn_floor}, {"floor", 2, fn_floor_to},
                 {"scale", 2, fn_scale}, {"sub", 2, fn_sub},        {"div", 2, fn_div},     {"clamp", 3, fn_clamp},
                 {"min", 2, fn_min},     {"max", 2, fn_max}};

static double apply(struct dg_slice fn, const double *a, unsigned n) {
    for (size_t i = 0; i < DG_COUNT(FUNCTIONS); i++)
        if (FUNCTIONS[i].args == n && dg_slice_is(fn, FUNCTIONS[i].name)) return FUNCTIONS[i].call(a);
    return NAN;
}

static double operand_number(const struct parser *p, struct dg_slice word) {
    double v;
    uint64_t bytes;
    char buf[64];
    if (dg_slice_double(word, &v)) return v;
    struct dg_operand o = dg_operand_find(p->scope, word, buf);
    if (!o.known) return NAN;
    if (o.type != DG_CAP_BYTES && dg_slice_double(o.text, &v)) return v;
    return dg_slice_bytes(o.text, false, &bytes) ? (double)bytes : NAN;
}

static double parse(struct parser *p, unsigned depth) {
    skip_space(p);
    size_t n = 0;
    while (n < p->rest.len && !memchr("(), ", p->rest.ptr[n], 4)) n++;
    struct dg_slice word = dg_slice_upto(p->rest, n);
    p->rest = dg_slice_from(p->rest, n);
    if (!word.len || depth > MAX_DEPTH) return NAN;
    if (!eat(p, '(')) return operand_number(p, word);
    double a[MAX_ARGS];
    unsigned args = 0;
    do {
        if (args == MAX_ARGS) return NAN;
        a[args] = parse(p, depth + 1);
        if (!isfinite(a[args++])) return NAN;
    } while (eat(p, ','));
    return eat(p, ')') ? apply(word, a, args) : NAN;
}

struct dg_slice dg_value_eval(struct dg_judge *j, const struct dg_scope *s, struct dg_slice expr) {
    if (dg_slice_find_ch(expr, '(') < 0) return dg_template_fill(j, s, expr); /* a plain value */
    struct parser p = {s, expr};
    double v = parse(&p, 0);
    skip_space(&p);
    if (!isfinite(v) || p.rest.len || fabs(v) > 1e15) return (struct dg_slice){NULL, 0};
    char text[64];
    int n = snprintf(text, sizeof(text), "%.4f", v);
    while (n > 0 && text[n - 1] == '0') n--;
    if (n > 0 && text[n - 1] == '.') n--;
    return dg_judge_say(j, "%.*s", n, text);
}
