/* Operands and templates of rules: {capture}, {fact.NAME}, {device.cc}, {message.option}, {value}, {x|default}. */
#include "reason/judge.h"
#include "base/buf.h"
#include <stdio.h>

static struct dg_operand text_operand(struct dg_slice text, enum dg_cap_type type) {
    return (struct dg_operand){text, type, text.ptr != NULL};
}

static struct dg_operand number_operand(double v, enum dg_cap_type type, char buf[64]) {
    int n = v == (double)(int64_t)v ? snprintf(buf, 64, "%lld", (long long)v) : snprintf(buf, 64, "%.2f", v);
    return text_operand(dg_slice(buf, n > 0 ? (size_t)n : 0), type);
}

static struct dg_operand device_operand(const struct dg_scope *s, struct dg_slice name, char buf[64]) {
    const struct dg_device *dev = s->device ? s->device : s->d->n_devices ? s->d->devices : NULL;
    if (!dev) return (struct dg_operand){0};
    bool cc = dev->cc.major != 0;
    if (dg_slice_is(name, "cc") && cc) {
        int n = snprintf(buf, 64, "%u.%u", dev->cc.major, dev->cc.minor);
        return text_operand(dg_slice(buf, (size_t)n), DG_CAP_CC);
    }
    if (dg_slice_is(name, "major") && cc) return number_operand(dev->cc.major, DG_CAP_INT, buf);
    if (dg_slice_is(name, "minor") && cc) return number_operand(dev->cc.minor, DG_CAP_INT, buf);
    if (dg_slice_is(name, "count")) return number_operand(s->d->n_devices, DG_CAP_INT, buf);
    if (dg_slice_is(name, "memory") && dev->memory_total != UINT64_MAX) {
        int n = snprintf(buf, 64, "%.1f GiB", (double)dev->memory_total / (double)(1u << 30));
        return text_operand(dg_slice(buf, (size_t)n), DG_CAP_BYTES);
    }
    if (dg_slice_is(name, "name") && dev->name[0]) return text_operand(dg_cstr(dev->name), DG_CAP_TEXT);
    if (dg_slice_is(name, "driver") && dev->driver[0]) return text_operand(dg_cstr(dev->driver), DG_CAP_VERSION);
    return (struct dg_operand){0};
}

static const struct dg_capture *capture_in(const struct dg_capture *v, uint32_t n, struct dg_slice name) {
    for (uint32_t i = 0; i < n; i++)
        if (dg_slice_eq(v[i].name, name)) return &v[i];
    return NULL;
}

static enum dg_cap_type fact_type(struct dg_slice name) {
    static const char *const versions[] = {"engine_version", "torch", "cuda", "driver"};
    for (size_t i = 0; i < DG_COUNT(versions); i++)
        if (dg_slice_is(name, versions[i])) return DG_CAP_VERSION;
    return DG_CAP_TEXT;
}

struct dg_operand dg_operand_find(const struct dg_scope *s, struct dg_slice name, char buf[64]) {
    if (dg_slice_is(name, "value")) return text_operand(s->value, DG_CAP_TEXT);
    if (dg_slice_starts(name, DG_S("fact."))) {
        struct dg_slice key = dg_slice_from(name, 5);
        return text_operand(dg_facts_get(&s->d->attempt.facts, key), fact_type(key));
    }
    if (dg_slice_starts(name, DG_S("device."))) return device_operand(s, dg_slice_from(name, 7), buf);
    if (dg_slice_starts(name, DG_S("message.")))
        return text_operand(dg_named_in(s->finding, dg_slice_from(name, 8), buf), DG_CAP_TEXT);
    if (!s->finding) return (struct dg_operand){0};
    const struct dg_capture *c = capture_in(s->finding->captures, s->finding->n_captures, name);
    if (!c) c = capture_in(s->finding->last_captures, s->finding->n_last_captures, name);
    return c ? text_operand(c->text, c->type) : (struct dg_operand){0};
}

static bool name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
}

/* Is `s` the inside of a placeholder? Braces of shell and JSON texts ({}, ${X}, {"a": 1}) are not. */
static bool placeholder(struct dg_slice s, struct dg_slice *ret_name, struct dg_slice *ret_default) {
    ptrdiff_t bar = dg_slice_find_ch(s, '|');
    *ret_name = bar < 0 ? s : dg_slice_upto(s, (size_t)bar);
    *ret_default = bar < 0 ? (struct dg_slice){NULL, 0} : dg_slice_from(s, (size_t)bar + 1);
    for (size_t i = 0; i < ret_name->len; i++)
        if (!name_char(ret_name->ptr[i])) return false;
    return ret_name->len && (ret_name->ptr[0] < '0' || ret_name->ptr[0] > '9');
}

struct dg_slice dg_template_fill(struct dg_judge *j, const struct dg_scope *s, struct dg_slice text) {
    struct dg_buf out = DG_BUF_INIT(16u << 10);
    struct dg_slice ret = {NULL, 0};
    bool missing = false;
    for (size_t i = 0; i < text.len && !missing; i++) {
        struct dg_slice rest = dg_slice_from(text, i + 1), name, fallback;
        ptrdiff_t end = text.ptr[i] == '{' && (!i || text.ptr[i - 1] != '$') ? dg_slice_find_ch(rest, '}') : -1;
        if (end < 0 || !placeholder(dg_slice_upto(rest, (size_t)end), &name, &fallback)) {
            dg_buf_addc(&out, text.ptr[i]);
            continue;
        }
        char buf[64];
        struct dg_operand v = dg_operand_find(s, name, buf);
        missing = !v.known && !fallback.ptr;
        dg_buf_add_slice(&out, v.known ? v.text : fallback);
        i += (size_t)end + 1;
    }
    if (!missing && text.ptr) {
        ret = dg_arena_dup(j->arena, dg_buf_slice(&out));
        if (!ret.ptr) j->failed = true;
    }
    dg_buf_release(&out);
    return ret;
}
