/* Stage 2: lines that hold literals, in file order, and between them the lines of records that are open. */
#include "match/engine.h"
#include "base/timex.h"

enum { OPENED_MAX = 256 << 10 };

/* ---- copies */

void kept_release(struct kept *k) {
    free(k->mem);
    *k = (struct kept){0};
}

static size_t cut_utf8(struct dg_slice s, size_t n) {
    while (n && ((unsigned char)s.ptr[n] & 0xc0) == 0x80) n--;
    return n;
}

static struct dg_slice put(char **at, struct dg_slice s) {
    struct dg_slice r = {*at, s.len};
    if (s.len) memcpy(*at, s.ptr, s.len);
    (*at)[s.len] = '\0';
    *at += s.len + 1;
    return r;
}

static const char ELLIPSIS[] = "\xe2\x80\xa6";

bool keep(struct kept *k, const struct dg_place *place, const struct dg_capture *caps, uint32_t n_caps) {
    bool cut = place->text.len > TEXT_MAX;
    struct dg_slice text = cut ? dg_slice_upto(place->text, cut_utf8(place->text, TEXT_MAX - 3)) : place->text;
    size_t need = n_caps * sizeof(*caps) + text.len + sizeof(ELLIPSIS) + place->label.len + place->unit.len + 3;
    for (uint32_t i = 0; i < n_caps; i++) need += caps[i].text.len + 1;
    if (need > k->cap) {
        char *mem = dg_malloc(need);
        if (!mem) return false;
        free(k->mem);
        k->mem = mem;
        k->cap = need;
    }
    k->caps = (struct dg_capture *)(void *)k->mem;
    k->n_caps = n_caps;
    k->place = *place;
    char *at = k->mem + n_caps * sizeof(*caps);
    k->place.text = put(&at, text);
    if (cut) {
        memcpy(at - 1, ELLIPSIS, sizeof(ELLIPSIS));
        at += sizeof(ELLIPSIS) - 1;
        k->place.text.len += sizeof(ELLIPSIS) - 1;
    }
    k->place.label = put(&at, place->label);
    k->place.unit = put(&at, place->unit);
    for (uint32_t i = 0; i < n_caps; i++)
        k->caps[i] = (struct dg_capture){caps[i].name, put(&at, caps[i].text), caps[i].type};
    return true;
}

struct dg_place place_in_arena(struct engine *e, const struct kept *k) {
    struct dg_place p = k->place;
    p.text = dg_arena_dup(e->arena, p.text);
    p.label = dg_arena_dup(e->arena, p.label);
    p.unit = dg_arena_dup(e->arena, p.unit);
    if (!p.text.ptr || !p.label.ptr || !p.unit.ptr) e->nomem = true;
    return p;
}

struct dg_capture *caps_in_arena(struct engine *e, const struct kept *k) {
    struct dg_capture *v = dg_arena_alloc(e->arena, k->n_caps * sizeof(*v));
    for (uint32_t i = 0; v && i < k->n_caps; i++) {
        v[i] = k->caps[i];
        v[i].text = dg_arena_dup(e->arena, v[i].text);
        if (!v[i].text.ptr) e->nomem = true;
    }
    if (!v) e->nomem = true;
    return v;
}

static struct dg_place place_at(const struct engine *e, const struct line *line, const struct msg *msg) {
    double time = msg->pre.boot_clock ? DG_TIME_NONE : msg->pre.time;
    return (struct dg_place){.source = e->source,
                             .line = line->raw,
                             .end_line = line->raw,
                             .seq = line->seq,
                             .time = time,
                             .boot = msg->pre.boot,
                             .year_missing = msg->pre.year_missing,
                             .level = msg->pre.level,
                             .rank = msg->pre.rank,
                             .pid = msg->pre.pid,
                             .label = msg->pre.label,
                             .unit = msg->pre.unit,
                             .text = msg->body};
}

struct dg_place place_of(struct engine *e, const struct line *line, const struct msg *msg) {
    struct dg_place place = place_at(e, line, msg);
    launch_time(e, &place);
    return place;
}

/* ---- one line */

static void open_text(struct engine *e, const struct dg_rule *rule, const struct line *outer, struct dg_slice text);

/* The message of the line that the sight's pattern matches, or NULL; stage 1 may have tried it. */
static const struct msg *match_of(struct engine *e, const struct hits *h, const struct sight *sight,
                                  const struct dg_pattern *p, size_t base, struct line *line, struct caps *caps) {
    if (sight->trial == TRIAL_NONE) return pattern_match(e, p, line, sight->at - base, caps);
    caps->n = sight->n_caps;
    if (caps->n) memcpy(caps->v, h->caps.v + sight->caps, caps->n * sizeof(*caps->v));
    return line_whole(e, line);
}

/* Is its rule to be heard here? */
static bool is_heard(const struct engine *e, const struct needle *n) {
    if (e->only && n->rule != e->only) return false;
    return !e->rules[n->number].off && n->kinds & DG_KIND_BIT(e->kind);
}

static void try_needle(struct engine *e, const struct hits *h, const struct sight *sight, const struct needle *n,
                       size_t base, struct line *line) {
    const struct dg_rule *rule = n->rule;
    struct rule_state *s = &e->rules[n->number];
    bool beside = out_of_turn(e, n) && !n->alone;
    if (beside || !is_heard(e, n)) return;
    if (s->last_seq == line->seq + 1 && !n->pattern->negative && !n->pattern->opens_end) { /* once per line */
        line->known |= n->knows;
        return;
    }
    struct caps caps;
    const struct msg *msg = match_of(e, h, sight, n->pattern, base, line, &caps);
    if (!msg) return;
    line->harmless |= n->harmless;
    if (n->knows) line->known = true;
    rule_hit(e, n->pattern, line, msg, &caps);
    if (rule->opens < DG_OPENS_TEXT || line->depth >= DEPTH_MAX) return;
    for (uint32_t i = 0; i < caps.n; i++)
        if (dg_slice_eq(caps.v[i].name, rule->opens_capture)) open_text(e, rule, line, caps.v[i].text);
}

/* All that the literal of the sight, one without a regex, forbids. */
static void forbid(struct engine *e, const struct sight *sight, size_t base, struct line *line) {
    const struct needle *needles = e->m->needles;
    struct caps caps;
    const struct msg *msg = pattern_match(e, needles[sight->needle].pattern, line, sight->at - base, &caps);
    if (!msg) return;
    struct dg_place place = place_of(e, line, msg);
    for (uint32_t i = sight->needle; i != DG_NONE; i = needles[i].same) {
        if (!is_heard(e, &needles[i])) continue;
        line->harmless |= needles[i].harmless;
        rule_forbid(e, needles[i].rule, &place);
    }
}

/* The needle of the sight, and all of its chain; guesses are each by itself by now. */
static void try_sight(struct engine *e, const struct hits *h, const struct sight *sight, size_t base,
                      struct line *line) {
    const struct needle *n = &e->m->needles[sight->needle];
    if (n->chain == CHAIN_NOTS) {
        forbid(e, sight, base, line);
        return;
    }
    try_needle(e, h, sight, n, base, line);
    while ((n->chain == CHAIN_STEPS || n->chain == CHAIN_GUESS_STEPS) && n->same != DG_NONE) {
        n = &e->m->needles[n->same];
        try_needle(e, h, sight, n, base, line);
    }
}

static bool is_built_in(const struct dg_matcher *m, uint32_t needle) { return needle >= m->bounds.lazy_to; }

/* The head of a record that the line holds, or SIGN_NONE. */
static enum sign head_on(const struct engine *e, const struct sight *sights, uint32_t n) {
    enum sign head = SIGN_NONE;
    for (uint32_t i = n; i-- > 0 && is_built_in(e->m, sights[i].needle);) {
        enum sign sign = (enum sign)e->m->needles[sights[i].needle].sign;
        if (sign == SIGN_TRACEBACK || sign == SIGN_TERMINATE) head = sign;
    }
    return head;
}

bool has_parts(struct dg_slice line) { return line.len && memchr(line.ptr, '\r', line.len - 1); }

static bool any_service(const struct dg_matcher *m, const struct hits *h, const struct hit_line *l) {
    for (uint32_t i = l->first; i < l->first + l->n; i++)
        if (is_service(m, h->sights[i].needle)) return true;
    return false;
}

/* The needles of line l, which begins at byte l->start of what the sights count in; those of rules come first. */
static void line_hits(struct engine *e, struct line *line, const struct hits *h, const struct hit_line *l) {
    const struct sight *sights = h->sights + l->first;
    uint32_t n = l->n;
    enum sign head = head_on(e, sights, n);
    line->parts = has_parts(line->text);
    bool read = !e->only && e->kind != DG_KIND_KERNEL && e->kind != DG_KIND_ENVIRONMENT;
    e->record = read && (head || e->n_records) ? record_feed(e, line, head) : NULL;
    uint32_t i = 0;
    for (; i < n && !is_built_in(e->m, sights[i].needle); i++)
        if (!line->known || e->only || !e->m->needles[sights[i].needle].guess)
            try_sight(e, h, &sights[i], l->start, line);
    for (; i < n && read && !e->record && !line->harmless; i++)
        if (fatal_line(e, line, (enum sign)e->m->needles[sights[i].needle].sign)) break;
    e->record = NULL;
}

/* Text that a wrapper carries is matched again, line by line, at the wrapper's place. */
static void open_text(struct engine *e, const struct dg_rule *rule, const struct line *outer, struct dg_slice text) {
    static const char PAD[DG_BLOCK_TAIL];
    _cleanup_(dg_buf_release) struct dg_buf buf = DG_BUF_INIT(OPENED_MAX), plain = DG_BUF_INIT(OPENED_MAX);
    struct dg_slice inner = unescape(text, rule->opens, &buf);
    struct record *record = e->record;
    struct hits hits;
    if (dg_buf_add_slice(&plain, inner) || dg_buf_add(&plain, PAD, sizeof(PAD))) return;
    if (hits_init(&hits, e->m)) {
        e->nomem = true;
        hits_release(&hits);
        return;
    }
    hits_find(&e->scanner, plain.ptr, inner.len, 0, 0, -1, &hits);
    for (uint32_t i = 0; i < hits.n_lines; i++) {
        const struct hit_line *h = &hits.lines[i];
        struct line line = {.text = dg_slice(plain.ptr + h->start, h->end - h->start),
                            .raw = outer->raw,
                            .seq = outer->seq,
                            .bol = true,
                            .eol = true,
                            .inside = rule,
                            .depth = outer->depth + 1};
        if (any_service(e->m, &hits, h)) quiet_settle(e); /* what was put off stands before it */
        line_hits(e, &line, &hits, h);
    }
    hits_release(&hits);
    e->record = record;
}

/* ---- one block */

struct line line_of(struct engine *e, const struct dg_block *b, size_t start, size_t end, uint32_t index) {
    struct line line = {.text = dg_slice(b->data + start, end - start),
                        .raw = b->line_map ? b->line_map[index] : b->first_line + index,
                        .seq = e->seq_base + index,
                        .bol = index || !b->continues,
                        .eol = end < b->len || !b->more};
    e->last_raw = line.raw;
    return line;
}

/* Feed the lines from c, the next that was not looked at, to byte `to` to the open records, as long as there are any.
 */
static void walk(struct engine *e, const struct dg_block *b, struct cursor *c, size_t to) {
    while (e->n_records && c->at < to) {
        const char *nl = memchr(b->data + c->at, '\n', b->len - c->at);
        size_t end = nl ? (size_t)(nl - b->data) : b->len;
        struct line line = line_of(e, b, c->at, end, c->index);
        record_feed(e, &line, SIGN_NONE);
        c->at = end + 1;
        c->index++;
    }
}

static void tail(struct engine *e, const struct dg_block *b, uint32_t lines) {
    size_t start[TAIL_MAX + 1], end = b->len;
    uint32_t n = 0;
    if (end && b->data[end - 1] == '\n') end--;
    start[0] = end + 1;
    while (n < TAIL_MAX && n < lines) {
        const char *nl = start[n] > 1 ? memrchr(b->data, '\n', start[n] - 1) : NULL;
        start[++n] = nl ? (size_t)(nl - b->data) + 1 : 0;
        if (!nl) break;
    }
    for (uint32_t i = n; i > 0; i--) {
        struct line line = line_of(e, b, start[i], start[i - 1] - 1, lines - i);
        const struct msg *m = line_whole(e, &line);
        struct dg_place place = place_at(e, &line, m);
        bool piece = e->n_tail && e->tail[(e->n_tail - 1) % TAIL_MAX].place.seq == place.seq; /* of a long line */
        if (piece || !dg_slice_trim(m->body).len) continue;
        if (!keep(&e->tail[e->n_tail++ % TAIL_MAX], &place, NULL, 0)) e->nomem = true;
    }
}

static void handle_line(struct engine *e, const struct dg_block *b, struct cursor *c, const struct hits *h,
                        const struct hit_line *l, const struct msg *tried) {
    e->quiet.known = (struct cursor){l->start, l->index};
    if (e->quiet.from < e->quiet.to && any_service(e->m, h, l)) quiet_settle(e);
    struct line line = line_of(e, b, l->start, l->end, l->index);
    if (tried) e->whole[0] = *tried;
    line.whole_ready = tried != NULL;
    line_hits(e, &line, h, l);
    *c = (struct cursor){l->end + 1, l->index + 1};
}

/* The murmurs from *i on before the line `to`, of those that cannot wait. */
static void handle_murmurs(struct engine *e, const struct dg_block *b, struct cursor *c, struct hits *h, uint32_t *i,
                           uint32_t to) {
    struct hit_line l;
    while (*i < to) {
        size_t start = line_begin(b, h->murmurs[*i]);
        walk(e, b, c, start);
        if (quiet_put_off(e, h, *i, to)) break;
        l = (struct hit_line){.start = (uint32_t)start, .index = line_index(&e->quiet.known, b, start)};
        *i = murmurs_to_line(&e->scanner, b->data, b->len, h, *i, h->n_hits, &l);
        if (l.n) handle_line(e, b, c, h, &l, NULL);
    }
    *i = to;
}

void engine_block(struct engine *e, struct scanner *s, const struct dg_block *b, struct hits *h) {
    struct cursor c = {0};
    for (;;) {
        uint32_t murmur = 0;
        e->quiet = (struct quiet){.block = b, .hits = h, .known = c, .serial = e->quiet.serial};
        for (uint32_t i = 0; i < h->n_lines; i++) {
            const struct hit_line *l = &h->lines[i];
            handle_murmurs(e, b, &c, h, &murmur, l->murmurs);
            walk(e, b, &c, l->start);
            handle_line(e, b, &c, h, l, l->tried ? &h->msgs[i] : NULL);
        }
        handle_murmurs(e, b, &c, h, &murmur, h->n_murmurs);
        bool whole = h->to >= b->len;
        e->quiet.known = whole ? (struct cursor){b->len, b->newlines} : (struct cursor){h->to, h->line_at_to};
        quiet_settle(e);
        if (whole) break;
        hits_find(s, b->data, b->len, h->to, h->line_at_to, e->only ? -1 : (int)e->kind, h);
    }
    walk(e, b, &c, b->len);
    bool open = b->len && b->data[b->len - 1] != '\n';
    uint32_t lines = b->newlines + open;
    tail(e, b, lines);
    e->seq_base += open && b->more ? lines - 1 : lines;
}

/* ---- sources */

static bool has_launches(enum dg_kind kind) { return kind == DG_KIND_SERVER || kind == DG_KIND_UNKNOWN; }

void engine_begin_source(struct engine *e, uint32_t source, enum dg_kind kind) {
    e->source = source;
    e->kind = kind;
    e->in_source = true;
    e->last_raw = 1;
    e->n_tail = 0;
    e->launch = DG_NONE;
    e->launch_found = 0;
    e->trouble = false;
    e->epoch_serial++;
    if (has_launches(kind) && !e->only) launch_open(e, 1);
}

/* The launch's last lines tell its times too. */
static void note_tail(struct engine *e) {
    uint64_t first = e->launches.v[e->launch].first_line;
    for (uint64_t i = e->n_tail < TAIL_MAX ? 0 : e->n_tail - TAIL_MAX; i < e->n_tail; i++) {
        const struct dg_place *p = &e->tail[i % TAIL_MAX].place;
        if (p->line >= first) launch_time(e, p);
    }
}

static void keep_tail(struct engine *e) {
    struct dg_tail t = {.n = (uint32_t)(e->n_tail < TAIL_MAX ? e->n_tail : TAIL_MAX)};
    t.v = dg_arena_alloc(e->arena, t.n * sizeof(*t.v));
    for (uint32_t i = 0; t.v && i < t.n; i++) t.v[i] = place_in_arena(e, &e->tail[(e->n_tail - t.n + i) % TAIL_MAX]);
    while (t.v && e->tails.n < e->source) /* sources without a line */
        if (!DG_VEC_PUSH(&e->tails, (struct dg_tail){0}, UINT32_MAX)) break;
    if (!t.v || !DG_VEC_PUSH(&e->tails, t, UINT32_MAX)) e->nomem = true;
}

void engine_end_source(struct engine *e) {
    if (!e->in_source) return;
    e->in_source = false;
    rules_flush(e);
    records_close(e);
    if (e->launch != DG_NONE) {
        e->launches.v[e->launch].last_line = e->last_raw;
        note_tail(e);
    }
    launch_close(e);
    keep_tail(e);
}
