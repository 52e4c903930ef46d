/* Conditions of rules: OPERAND OP OPERAND. */
#include "reason/judge.h"
#include "arch/arch.h"
#include "base/pep440.h"

/* A literal, or what dg_operand_find knows. A bare word that names nothing stands for itself (fact.phase ==
 * graph-capture). */
static struct dg_operand side(const struct dg_scope *s, struct dg_slice text, char buf[64]) {
    text = dg_slice_trim(text);
    double number;
    if (text.len >= 2 && (text.ptr[0] == '\'' || text.ptr[0] == '"') && text.ptr[text.len - 1] == text.ptr[0])
        return (struct dg_operand){dg_slice(text.ptr + 1, text.len - 2), DG_CAP_TEXT, true};
    if (dg_slice_is(text, "null")) return (struct dg_operand){0};
    if (dg_slice_double(text, &number)) return (struct dg_operand){text, DG_CAP_FLOAT, true};
    struct dg_operand o = dg_operand_find(s, text, buf);
    if (o.known || dg_slice_starts(text, DG_S("fact.")) || dg_slice_starts(text, DG_S("device.")) ||
        dg_slice_starts(text, DG_S("message.")))
        return o;
    if (s->finding)
        for (uint32_t i = 0; i < s->finding->rule->n_captures; i++)
            if (dg_slice_eq(s->finding->rule->captures[i].name, text)) return o; /* declared, not captured: unknown */
    return (struct dg_operand){text, DG_CAP_TEXT, true};
}

static bool number_of(const struct dg_operand *o, double *ret) {
    uint64_t bytes;
    if (o->type == DG_CAP_BYTES) {
        if (!dg_slice_bytes(o->text, false, &bytes)) return false;
        *ret = (double)bytes;
        return true;
    }
    return dg_slice_double(o->text, ret);
}

/* <0, 0, >0 in *ret. False: the two have no order. */
static bool compare(const struct dg_operand *a, const struct dg_operand *b, int *ret) {
    struct dg_cc x, y;
    double v, w;
    if (a->type == DG_CAP_CC || b->type == DG_CAP_CC) {
        if (!dg_cc_parse(a->text, &x) || !dg_cc_parse(b->text, &y)) return false;
        *ret = dg_cc_cmp(x, y);
    } else if (a->type == DG_CAP_VERSION || b->type == DG_CAP_VERSION) {
        *ret = dg_pep440_cmp(a->text, b->text);
    } else if (number_of(a, &v) && number_of(b, &w)) {
        *ret = (v > w) - (v < w);
    } else {
        *ret = dg_slice_cmp(a->text, b->text);
    }
    return true;
}

static bool word_char(char c) { return !memchr(" ,;[](){}'\"\t", c, 12); }

static bool next_word(struct dg_slice *rest, struct dg_slice *ret) {
    while (rest->len && !word_char(*rest->ptr)) *rest = dg_slice_from(*rest, 1);
    size_t n = 0;
    while (n < rest->len && word_char(rest->ptr[n])) n++;
    *ret = dg_slice_upto(*rest, n);
    *rest = dg_slice_from(*rest, n);
    return n > 0;
}

static bool member(const struct dg_operand *item, const struct dg_operand *list) {
    struct dg_capset set;
    struct dg_cc cc;
    if (item->type == DG_CAP_CC)
        return dg_cc_parse(item->text, &cc) &&
               (!dg_capset_parse(list->text, &set, NULL) || dg_capset_scan(list->text, &set)) &&
               dg_capset_has(&set, cc);
    struct dg_slice rest = list->text, word;
    double v, w;
    while (next_word(&rest, &word))
        if (dg_slice_eq(word, item->text) || (dg_slice_double(word, &v) && number_of(item, &w) && v == w)) return true;
    return false;
}

/* Does any of the targets that `list` names run on the device, now or with a newer driver? */
static bool loads_on(const struct dg_operand *list, const struct dg_operand *device) {
    struct dg_slice rest = list->text, word;
    struct dg_cc cc;
    if (!dg_cc_parse(device->text, &cc)) return false;
    while (next_word(&rest, &word)) {
        bool ptx = dg_slice_starts(word, DG_S("compute_"));
        struct dg_code code = {.kind = ptx ? DG_CODE_PTX : DG_CODE_CUBIN};
        if (dg_target_parse(word, &code.target) && dg_arch_fits(&code, cc)) return true;
    }
    return false;
}

int dg_cond_eval(const struct dg_scope *s, const struct dg_cond *c) {
    char left_buf[64], right_buf[64];
    struct dg_operand a = side(s, c->left, left_buf), b = side(s, c->right, right_buf);
    if (dg_slice_is(dg_slice_trim(c->right), "null"))
        return c->op == DG_OP_EQ ? !a.known : c->op == DG_OP_NE ? a.known : -1;
    if (!a.known || !b.known) return -1;
    switch (c->op) {
    case DG_OP_IN: return member(&a, &b);
    case DG_OP_NOT_IN: return !member(&a, &b);
    case DG_OP_LOADS_ON: return loads_on(&a, &b);
    default: break;
    }
    int order;
    if (!compare(&a, &b, &order)) return -1;
    switch (c->op) {
    case DG_OP_EQ: return order == 0;
    case DG_OP_NE: return order != 0;
    case DG_OP_LT: return order < 0;
    case DG_OP_LE: return order <= 0;
    case DG_OP_GT: return order > 0;
    default: return order >= 0;
    }
}

bool dg_conds_hold(const struct dg_scope *s, const struct dg_conds *c) {
    for (uint32_t i = 0; i < c->n; i++)
        if (dg_cond_eval(s, &c->v[i]) != 1) return false;
    return true;
}
