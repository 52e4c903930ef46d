/* One pattern on one message: the literal, then the regex in a window around it. */
#include "match/engine.h"
#include "base/timex.h"
#include "match/smoke.h"

enum {
    LONG_WINDOW = 256 << 10,
    WINDOWS_TRIED = 8,
    PARTS_TRIED = 8,
    ERRORS_MAX = 3,
    JIT_STACK = 1 << 20,
    MATCH_LIMIT = 100000,
    OVECTOR = 64
};
static const double BUDGET = 1.0;

/* The JIT compiler of PCRE2 10.42 dies where memory that it asks for itself is refused (a segmentation fault in
 * pcre2_jit_compile): then it gets some of a reserve, which is not given back. */
static _Thread_local bool in_jit;
static _Alignas(16) char reserve[1 << 20];
static atomic_size_t reserved;

static void *take(size_t size, void *ctx) {
    (void)ctx;
    void *p = malloc(size);
    if (p || !in_jit) return p;
    size_t at = atomic_fetch_add(&reserved, (size + 15) / 16 * 16);
    return at < sizeof(reserve) && size <= sizeof(reserve) - at ? reserve + at : NULL;
}

static void give(void *p, void *ctx) {
    (void)ctx;
    if ((char *)p < reserve || (char *)p >= reserve + sizeof(reserve)) free(p);
}

pcre2_compile_context *regex_context(void) {
    pcre2_general_context *memory = pcre2_general_context_create(take, give, NULL);
    pcre2_compile_context *ret = memory ? pcre2_compile_context_create(memory) : NULL;
    pcre2_general_context_free(memory); /* it was copied */
    return ret;
}

int pcre_init(struct pcre *p) {
    p->data = pcre2_match_data_create(OVECTOR, NULL);
    p->context = pcre2_match_context_create(NULL);
    if (!p->data || !p->context) return -DG_E_NOMEM;
    pcre2_set_match_limit(p->context, MATCH_LIMIT);
    p->stack = pcre2_jit_stack_create(32 << 10, JIT_STACK, NULL); /* NULL where there is no JIT */
    if (p->stack) pcre2_jit_stack_assign(p->context, NULL, p->stack);
    return 0;
}

void pcre_release(struct pcre *p) {
    pcre2_match_data_free(p->data);
    pcre2_match_context_free(p->context);
    pcre2_jit_stack_free(p->stack);
}

void regex_free(struct regex *r) {
    if (!r || r == &REGEX_BAD) return;
    pcre2_code_free(r->code);
    free(r);
}

/* The name as it stands in the rule, which lives longer than the compiled code. */
static struct dg_slice name_in(struct dg_slice re, const char *name) {
    size_t n = strlen(name);
    for (size_t at = 0; at + n + 2 <= re.len; at++)
        if (re.ptr[at] == '<' && !memcmp(re.ptr + at + 1, name, n) && re.ptr[at + 1 + n] == '>')
            return dg_slice(re.ptr + at + 1, n);
    return (struct dg_slice){NULL, 0};
}

static enum dg_cap_type type_of(const struct dg_rule *rule, struct dg_slice name) {
    for (uint32_t i = 0; i < rule->n_captures; i++)
        if (dg_slice_eq(rule->captures[i].name, name)) return rule->captures[i].type;
    return DG_CAP_TEXT;
}

static void name_groups(struct regex *r, const struct dg_rule *rule, struct dg_slice re) {
    uint32_t n = 0, size = 0;
    PCRE2_SPTR table;
    pcre2_pattern_info(r->code, PCRE2_INFO_NAMECOUNT, &n);
    pcre2_pattern_info(r->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
    pcre2_pattern_info(r->code, PCRE2_INFO_NAMETABLE, &table);
    for (uint32_t i = 0; i < n && r->n_groups < CAPS_MAX; i++, table += size) {
        struct dg_slice name = name_in(re, (const char *)table + 2);
        if (name.len)
            r->groups[r->n_groups++] =
                (struct regex_group){(uint32_t)table[0] << 8 | table[1], name, type_of(rule, name)};
    }
}

static struct regex *compile(const struct dg_matcher *m, const struct dg_pattern *p) {
    int code;
    size_t at;
    struct regex *r = dg_calloc(1, sizeof(*r));
    if (!r) return NULL;
    r->code =
        pcre2_compile((PCRE2_SPTR)p->re.ptr, p->re.len, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &code, &at, m->context);
    if (!r->code) {
        free(r);
        return code == PCRE2_ERROR_HEAP_FAILED ? NULL : &REGEX_BAD;
    }
    name_groups(r, &m->rules->rules[p->rule], p->re);
    return r;
}

struct regex *regex_of(const struct dg_matcher *m, const struct dg_pattern *p) {
    _Atomic(struct regex *) *slot = &m->regexes[p->id];
    struct regex *r = atomic_load_explicit(slot, memory_order_acquire), *none = NULL;
    if (r) return r;
    r = compile(m, p);
    if (!r) return NULL;
    if (!atomic_compare_exchange_strong(slot, &none, r)) {
        regex_free(r);
        return none;
    }
    return r;
}

static void switch_off(struct engine *e, const struct dg_rule *rule, const char *why) {
    struct rule_state *s = &e->rules[rule - e->m->rules->rules];
    struct dg_limit_hit hit = {rule, dg_cstr(why)};
    s->off = true;
    if (!DG_VEC_PUSH(&e->limits, hit, UINT32_MAX)) e->nomem = true;
}

/* One of those who match compiles; the others go on without meanwhile, and all do where there is no JIT. */
static void compile_hot(struct regex *r) {
    int none = JIT_NOT_YET;
    if (atomic_load_explicit(&r->jit, memory_order_relaxed) != JIT_NOT_YET) return;
    if (!atomic_compare_exchange_strong(&r->jit, &none, JIT_COMPILING)) return;
    in_jit = true;
    if (!pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE))
        atomic_store_explicit(&r->jit, JIT_READY, memory_order_release);
    in_jit = false;
}

int regex_run(struct pcre *p, struct regex *r, uint64_t tried, struct dg_slice subject, size_t start,
              uint32_t options) {
    if (tried > JIT_AFTER) compile_hot(r);
    bool jit = atomic_load_explicit(&r->jit, memory_order_acquire) == JIT_READY;
    PCRE2_SPTR text = (PCRE2_SPTR)subject.ptr;
    return jit ? pcre2_jit_match(r->code, text, subject.len, start, options, p->data, p->context)
               : pcre2_match(r->code, text, subject.len, start, options | PCRE2_NO_JIT, p->data, p->context);
}

static int run(struct engine *e, struct regex *r, const struct dg_rule *rule, struct dg_slice subject, size_t start,
               uint32_t options) {
    struct rule_state *s = &e->rules[rule - e->m->rules->rules];
    bool timed = s->tried++ % TIMED == 0;
    double began = timed ? dg_time_cpu() : 0;
    int n = regex_run(&e->scanner.pcre, r, s->tried, subject, start, options);
    /* The first run warms caches and says nothing about the next ones. */
    if (timed) s->spent += (s->tried == 1 ? 1 : TIMED) * (dg_time_cpu() - began);
    if (n < PCRE2_ERROR_NOMATCH && ++s->errors == ERRORS_MAX) switch_off(e, rule, "its regex ran into the match limit");
    if (!s->off && s->spent > BUDGET && s->spent > SLOW_MICROSECONDS * 1e-6 * (double)s->tried)
        switch_off(e, rule, "its regex took too long");
    return n;
}

uint32_t regex_captures(const struct pcre *p, const struct regex *r, struct dg_slice subject, struct dg_capture *out) {
    const size_t *ov = pcre2_get_ovector_pointer(p->data);
    uint32_t pairs = pcre2_get_ovector_count(p->data), n = 0;
    for (uint32_t i = 0; i < r->n_groups; i++) {
        const struct regex_group *g = &r->groups[i];
        if (g->number >= pairs || ov[2 * g->number] == PCRE2_UNSET || ov[2 * g->number] >= ov[2 * g->number + 1])
            continue;
        struct dg_slice text = dg_slice(subject.ptr + ov[2 * g->number], ov[2 * g->number + 1] - ov[2 * g->number]);
        out[n++] = (struct dg_capture){g->name, dg_slice_upto(text, CAPTURE_MAX), g->type};
    }
    return n;
}

static struct dg_slice group_text(const struct pcre *p, const struct regex *r, struct dg_slice subject,
                                  struct dg_slice name) {
    const size_t *ov = pcre2_get_ovector_pointer(p->data);
    uint32_t pairs = pcre2_get_ovector_count(p->data);
    for (uint32_t i = 0; i < r->n_groups; i++) {
        size_t from = 2 * (size_t)r->groups[i].number;
        if (!dg_slice_eq(r->groups[i].name, name) || r->groups[i].number >= pairs || ov[from] == PCRE2_UNSET) continue;
        if (ov[from] < ov[from + 1]) return dg_slice(subject.ptr + ov[from], ov[from + 1] - ov[from]);
    }
    return (struct dg_slice){NULL, 0};
}

bool regex_counts(const struct pcre *p, const struct regex *r, const struct dg_pattern *of, struct dg_slice subject) {
    return !of->garbage || dg_smoke_quoted(group_text(p, r, subject, DG_S("answer")));
}

/* The regex sees the message whole when it is short, else a window around each of the first few places of the literal.
 */
static bool regex_match(struct engine *e, const struct dg_pattern *p, const struct msg *m, size_t lit_at,
                        struct caps *caps) {
    struct regex *r = regex_of(e->m, p);
    if (!r) e->nomem = true;
    if (!r || r == &REGEX_BAD) return false;
    const struct dg_rule *rule = &e->m->rules->rules[p->rule];
    size_t width = p->long_window ? LONG_WINDOW : WINDOW, start = 0, end = m->body.len;
    for (int tries = 0; tries < WINDOWS_TRIED; tries++) {
        if (m->body.len > width) {
            size_t before = p->long_window ? 4096 : width / 4;
            start = lit_at > before ? lit_at - before : 0;
            end = start + width < m->body.len ? start + width : m->body.len;
        }
        uint32_t options = (m->bol ? 0 : PCRE2_NOTBOL) | (m->eol && end == m->body.len ? 0 : PCRE2_NOTEOL);
        struct dg_slice subject = dg_slice_upto(m->body, end);
        int n = run(e, r, rule, subject, start, options);
        if (n >= 0 && !regex_counts(&e->scanner.pcre, r, p, subject)) return false;
        if (n >= 0) {
            caps->n = regex_captures(&e->scanner.pcre, r, subject, caps->v);
            return true;
        }
        if (end == m->body.len) return false;
        ptrdiff_t next = dg_slice_find(dg_slice_from(m->body, end), p->lit);
        if (next < 0) return false;
        lit_at = end + (size_t)next;
    }
    return false;
}

ptrdiff_t lit_in(const struct dg_pattern *p, const struct msg *m, const char *hint) {
    bool inside = hint >= m->body.ptr && hint + p->lit.len <= m->body.ptr + m->body.len;
    return inside ? hint - m->body.ptr : dg_slice_find(m->body, p->lit);
}

static bool match_message(struct engine *e, const struct dg_pattern *p, const struct msg *m, const char *hint,
                          struct caps *caps) {
    ptrdiff_t at = lit_in(p, m, hint);
    caps->n = 0;
    return at >= 0 && (!p->re.len || regex_match(e, p, m, (size_t)at, caps));
}

void msg_split(const struct dg_match_opts *opts, enum dg_kind kind, struct dg_slice text, struct msg *m) {
    if (text.len && text.ptr[text.len - 1] == '\r') text.len--;
    opts->split(text, kind, &m->pre);
    m->body = m->pre.body;
}

const struct msg *line_whole(struct engine *e, struct line *line) {
    struct msg *m = &e->whole[line->depth];
    if (!line->whole_ready) {
        line->whole_ready = true;
        m->bol = line->bol;
        m->eol = line->eol;
        msg_split(e->opts, e->kind, line->text, m);
    }
    return m;
}

/* The carriage-return part around byte `at`, with the line's own prefix where the part has none. */
static void part_at(struct engine *e, struct line *line, size_t at, struct msg *m, size_t *ret_end) {
    struct dg_slice t = line->text;
    const char *cr = memrchr(t.ptr, '\r', at), *next = memchr(t.ptr + at, '\r', t.len - at);
    size_t start = cr ? (size_t)(cr - t.ptr) + 1 : 0, end = next ? (size_t)(next - t.ptr) : t.len;
    msg_split(e->opts, e->kind, dg_slice(t.ptr + start, end - start), m);
    if (start && m->pre.rank < 0 && m->pre.pid < 0 && !m->pre.label.len) {
        struct dg_slice body = m->body;
        double time = m->pre.time;
        m->pre = line_whole(e, line)->pre;
        m->pre.body = body;
        if (dg_time_known(time)) m->pre.time = time;
    }
    m->bol = start || line->bol;
    m->eol = end < t.len || line->eol;
    *ret_end = end;
}

/* The last part of the line that matches: what a progress bar said before was overwritten. */
static const struct msg *match_parts(struct engine *e, const struct dg_pattern *p, struct line *line,
                                     struct caps *caps) {
    size_t at[PARTS_TRIED], n = 0;
    for (size_t from = 0; from < line->text.len;) {
        ptrdiff_t next = dg_slice_find(dg_slice_from(line->text, from), p->lit);
        if (next < 0) break;
        at[n++ % PARTS_TRIED] = from + (size_t)next;
        const char *cr = memchr(line->text.ptr + from + next, '\r', line->text.len - from - (size_t)next);
        if (!cr) break;
        from = (size_t)(cr - line->text.ptr);
    }
    for (size_t i = n; i > 0 && n - i < PARTS_TRIED; i--) {
        size_t end;
        part_at(e, line, at[(i - 1) % PARTS_TRIED], &e->part, &end);
        if (match_message(e, p, &e->part, line->text.ptr + at[(i - 1) % PARTS_TRIED], caps)) return &e->part;
    }
    return NULL;
}

const struct msg *pattern_match(struct engine *e, const struct dg_pattern *p, struct line *line, size_t lit_at,
                                struct caps *caps) {
    if (line->parts) return match_parts(e, p, line, caps);
    const struct msg *m = line_whole(e, line);
    return match_message(e, p, m, line->text.ptr + lit_at, caps) ? m : NULL;
}
