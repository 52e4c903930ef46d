/* The report for a terminal: verdict, context, what to type, evidence, joins, what it is not, what was not checked,
 * where it is kept. Each part is a section of items; where the whole is over 24 lines, items go from the ends of
 * sections, least wanted first. */
#include "report/report.h"
#include "report/view.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <stdio.h>

enum { ITEMS_MAX = 32, SCREEN_LINES = 24, LABEL_MAX = 24, ROOM = 1 << 20 };
enum { HEAD, NEXT, EVIDENCE, CAUSES, JOINS, NOT, UNCHECKED, SECTIONS };

/* Invariants: `text` holds n items one after the other, each of whole lines; ends[i] and lines[i] are the bytes and
 * lines up to the end of item i. */
struct section {
    const char *heading; /* a line of its own, or NULL */
    struct dg_buf text;
    size_t ends[ITEMS_MAX], lines[ITEMS_MAX];
    size_t n, total; /* shown; there are */
};

struct page {
    const struct dg_report_opts *o;
    struct section sections[SECTIONS];
    struct dg_buf line; /* the text at hand, escaped */
    bool failed;        /* a text could not be built whole */
};

static size_t lines_of(const struct section *s) { return s->n ? s->lines[s->n - 1] + (s->heading != NULL) : 0; }

static size_t count_lines(const char *p, size_t n) {
    size_t lines = 0;
    for (size_t i = 0; i < n; i++) lines += p[i] == '\n';
    return lines;
}

/* Items are written to s->text, then closed with this. */
static void end_item(struct section *s) {
    s->total++;
    if (s->n == ITEMS_MAX) return;
    s->ends[s->n] = s->text.len;
    s->lines[s->n] = count_lines(dg_buf_slice(&s->text).ptr, s->text.len);
    s->n++;
}

/* A text from a log or a stored report, made safe; a line break or tab in it is a space. */
static struct dg_slice shown(struct page *p, struct dg_slice text) {
    dg_view_again(&p->failed, &p->line);
    dg_utf8_add_shown(&p->line, text, true);
    for (size_t i = 0; i < p->line.len; i++)
        if (p->line.ptr[i] == '\n' || p->line.ptr[i] == '\t') p->line.ptr[i] = ' ';
    return dg_buf_slice(&p->line);
}

static void add_cut(struct dg_buf *out, struct dg_slice s, size_t cols) {
    if (dg_utf8_width(s) <= cols) {
        dg_buf_add_slice(out, s);
        return;
    }
    dg_buf_add_slice(out, dg_slice_upto(s, dg_utf8_fit(s, cols ? cols - 1 : 0)));
    if (cols) dg_buf_adds(out, "…");
}

static void pad(struct dg_buf *out, size_t cols) {
    for (size_t i = 0; i < cols; i++) dg_buf_addc(out, ' ');
}

/* Where to break `s` so that its first part fits: after the last space within `cols`, but in a word that would leave
 * two thirds of the line empty. */
static size_t break_at(struct dg_slice s, size_t cols) {
    size_t fit = dg_utf8_fit(s, cols);
    if (fit == s.len) return fit;
    size_t at = fit;
    while (at && s.ptr[at] != ' ') at--;
    return at > fit / 3 ? at : fit ? fit : s.len;
}

/* `first` and then `s`, wrapped; further lines are indented by `hang`. The last of `max` lines is cut. */
static void add_wrapped(const struct page *p, struct dg_buf *out, const char *first, struct dg_slice s, size_t hang,
                        size_t max) {
    size_t used = dg_utf8_width(dg_cstr(first));
    dg_buf_adds(out, first);
    for (size_t line = 1;; line++) {
        size_t cols = p->o->width > used + 8 ? p->o->width - used : 8;
        size_t n = line == max ? s.len : break_at(s, cols);
        if (line == max)
            add_cut(out, s, cols);
        else
            dg_buf_add_slice(out, dg_slice_upto(s, n));
        dg_buf_addc(out, '\n');
        s = dg_slice_trim(dg_slice_from(s, n));
        if (!s.len) return;
        pad(out, hang);
        used = hang;
    }
}

/* Of lines or columns. */
static size_t limit(const struct page *p, size_t n) { return p->o->verbose ? SIZE_MAX : n; }

static void add_item(struct page *p, struct section *s, const char *first, struct dg_slice text, size_t hang,
                     size_t max) {
    add_wrapped(p, &s->text, first, shown(p, text), hang, limit(p, max));
    end_item(s);
}

/* The lines of a view's list; `rest` starts as the whole. */
static bool next_line(struct dg_slice *rest, struct dg_slice *ret) {
    return rest->len && dg_slice_split(rest, '\n', ret);
}

static void make_head(struct page *p, const json_t *report) {
    struct section *s = &p->sections[HEAD];
    struct dg_buf b = DG_BUF_INIT(ROOM);
    dg_view_verdict(report, &b);
    add_item(p, s, "", dg_buf_slice(&b), 2, 2);
    dg_view_again(&p->failed, &b);
    dg_view_context(report, &b);
    if (b.len) add_item(p, s, "  ", dg_buf_slice(&b), 2, 2);
    dg_view_again(&p->failed, &b);
    dg_view_libraries(report, &b);
    for (struct dg_slice rest = dg_buf_slice(&b), part; next_line(&rest, &part);) add_item(p, s, "  ", part, 4, 2);
    dg_view_drop(&p->failed, &b);
}

/* Parts of a proposal: as many on a line as fit. */
struct flow {
    struct dg_buf line;
    size_t lines, max;
};

static void flow_end(struct page *p, struct section *s, struct flow *f) {
    if (f->line.len && f->lines < f->max) {
        const char *margin = f->lines ? "      " : "";
        add_wrapped(p, &s->text, margin, shown(p, dg_buf_slice(&f->line)), f->lines ? 8 : 6, limit(p, 2));
    }
    f->lines++;
    dg_view_again(&p->failed, &f->line);
}

static void flow_add(struct page *p, struct section *s, struct flow *f, struct dg_slice part) {
    size_t used = dg_utf8_width(dg_buf_slice(&f->line)) + (f->lines ? 6 : 0);
    if (f->line.len && used + 2 + dg_utf8_width(part) > p->o->width) flow_end(p, s, f);
    dg_buf_adds(&f->line, f->line.len ? "  " : "");
    dg_buf_add_slice(&f->line, part);
}

/* The action, what it sets, and in brackets its evidence, cost and undo. */
static void add_proposal(struct page *p, struct section *s, const json_t *proposal, size_t rank) {
    struct dg_buf list = DG_BUF_INIT(ROOM), tag = DG_BUF_INIT(ROOM);
    struct flow f = {.line = DG_BUF_INIT(ROOM), .max = limit(p, 3)};
    struct dg_slice part;
    const json_t *caution;
    dg_view_settings(proposal, &list);
    dg_view_tag(proposal, &tag);
    dg_buf_addf(&f.line, "  %zu %s", rank, dg_view_str(proposal, "action"));
    if (list.len) flow_end(p, s, &f);
    for (struct dg_slice rest = dg_buf_slice(&list); next_line(&rest, &part);) flow_add(p, s, &f, part);
    if (tag.len) {
        struct dg_buf bracket = DG_BUF_INIT(ROOM);
        dg_buf_addf(&bracket, "[%s]", tag.ptr);
        flow_add(p, s, &f, dg_buf_slice(&bracket));
        dg_view_drop(&p->failed, &bracket);
    }
    flow_end(p, s, &f);
    DG_VIEW_EACH(i, caution, dg_view_get(proposal, "cautions"))
    if (!i || p->o->verbose)
        add_wrapped(p, &s->text, "      ! ", shown(p, dg_cstr(dg_view_text(caution))), 8, limit(p, 2));
    if (p->o->verbose && *dg_view_str(proposal, "reason"))
        add_wrapped(p, &s->text, "      why: ", shown(p, dg_cstr(dg_view_str(proposal, "reason"))), 8, SIZE_MAX);
    end_item(s);
    dg_view_drop(&p->failed, &list);
    dg_view_drop(&p->failed, &tag);
    dg_view_drop(&p->failed, &f.line);
}

static void add_avoid(struct page *p, struct section *s, const json_t *avoid) {
    const char *reason = dg_view_str(avoid, "reason");
    struct dg_buf b = DG_BUF_INIT(ROOM);
    dg_buf_addf(&b, "%s%s%s", dg_view_str(avoid, "action"), *reason ? ": " : "", reason);
    add_item(p, s, "  x ", dg_buf_slice(&b), 6, 2);
    dg_view_drop(&p->failed, &b);
}

/* What must be free first: one item, as no line of it makes sense without the others. */
static void add_first(struct page *p, struct section *s, const json_t *report) {
    struct dg_buf list = DG_BUF_INIT(ROOM);
    struct dg_slice part;
    dg_view_first(report, &list);
    for (struct dg_slice rest = dg_buf_slice(&list); next_line(&rest, &part);)
        add_wrapped(p, &s->text, part.ptr == list.ptr ? "  0 " : "    ", shown(p, part), 6, limit(p, 2));
    if (list.len) end_item(s);
    dg_view_drop(&p->failed, &list);
}

/* The first thing not to do has its place after two proposals: one that takes the blame wrongly costs a day. */
static void make_next(struct page *p, const json_t *report) {
    struct section *s = &p->sections[NEXT];
    const json_t *item, *proposals = dg_view_get(report, "proposals"), *avoid = dg_view_get(report, "avoid");
    s->heading = "Next";
    add_first(p, s, report);
    DG_VIEW_EACH(i, item, proposals) {
        if (i == 2 && json_array_size(avoid)) add_avoid(p, s, json_array_get(avoid, 0));
        add_proposal(p, s, item, i + 1);
    }
    DG_VIEW_EACH(i, item, avoid)
    if (i || json_array_size(proposals) <= 2) add_avoid(p, s, item);
}

/* "server.log:72"; of a long path only the file's name, unless everything is wanted. */
static void add_place(struct page *p, const json_t *e, struct dg_buf *out) {
    struct dg_buf place = DG_BUF_INIT(ROOM);
    dg_view_place(e, &place);
    struct dg_slice s = dg_buf_slice(&place);
    ptrdiff_t slash = dg_slice_rfind_ch(s, '/');
    bool cut = slash > 0 && !p->o->verbose && dg_utf8_width(s) > LABEL_MAX;
    dg_buf_adds(out, cut ? "…" : "");
    dg_buf_add_slice(out, dg_slice_from(s, cut ? (size_t)slash : 0));
    dg_view_drop(&p->failed, &place);
}

static void add_evidence(struct page *p, struct section *s, const json_t *e, size_t label_width) {
    struct dg_buf label = DG_BUF_INIT(ROOM), body = DG_BUF_INIT(ROOM), tail = DG_BUF_INIT(ROOM);
    const char *text = dg_view_str(e, "text"), *note = dg_view_str(e, "note");
    int64_t count = dg_view_int(e, "count");
    add_place(p, e, &label);
    struct dg_slice place = shown(p, dg_buf_slice(&label));
    dg_buf_adds(&s->text, "  ");
    add_cut(&s->text, place, limit(p, LABEL_MAX * 2));
    size_t used = dg_utf8_width(place);
    pad(&s->text, used < label_width ? label_width - used + 2 : 2);
    if (count > 1) dg_buf_addf(&body, "%lld x ", (long long)count);
    while (*text == ' ' || *text == '\t') text++;
    dg_buf_adds(&body, text);
    if (*note) dg_buf_addf(&tail, *text ? "  (%s)" : "%s", note);
    if (used < label_width) used = label_width;
    size_t room = p->o->width > used + 12 ? p->o->width - used - 4 : 8, noted = dg_utf8_width(dg_buf_slice(&tail));
    if (room < 2 * noted) noted = 0; /* no room for it beside the text */
    add_cut(&s->text, shown(p, dg_buf_slice(&body)), limit(p, room - noted));
    if (noted) dg_buf_add_slice(&s->text, shown(p, dg_buf_slice(&tail)));
    dg_buf_addc(&s->text, '\n');
    end_item(s);
    dg_view_drop(&p->failed, &label);
    dg_view_drop(&p->failed, &body);
    dg_view_drop(&p->failed, &tail);
}

static void make_evidence(struct page *p, const json_t *report) {
    struct section *s = &p->sections[EVIDENCE];
    const json_t *e, *list = dg_view_get(dg_view_cause(report, 0), "evidence");
    size_t width = 0;
    s->heading = "Evidence";
    DG_VIEW_EACH(i, e, list) {
        struct dg_buf label = DG_BUF_INIT(ROOM);
        add_place(p, e, &label);
        size_t w = dg_utf8_width(shown(p, dg_buf_slice(&label)));
        if (w > width && w <= LABEL_MAX) width = w;
        dg_view_drop(&p->failed, &label);
    }
    DG_VIEW_EACH(i, e, list) add_evidence(p, s, e, width);
}

/* Is the reason of item i said by an earlier one already? */
static bool reason_repeats(const json_t *list, size_t i) {
    const char *reason = dg_view_str(json_array_get(list, i), "reason");
    for (size_t k = 0; k < i; k++)
        if (!strcmp(dg_view_str(json_array_get(list, k), "reason"), reason)) return true;
    return false;
}

/* "Not a, b: why" for all that have one reason. */
static void add_not(struct dg_buf *out, const json_t *list, size_t i) {
    const char *reason = dg_view_str(json_array_get(list, i), "reason");
    dg_buf_addf(out, "Not %s", dg_view_str(json_array_get(list, i), "class"));
    for (size_t k = i + 1; k < json_array_size(list); k++)
        if (!strcmp(dg_view_str(json_array_get(list, k), "reason"), reason))
            dg_buf_addf(out, ", %s", dg_view_str(json_array_get(list, k), "class"));
    dg_buf_addf(out, ": %s", reason);
}

/* Packed into as few lines as they take. */
static void make_not(struct page *p, const json_t *report) {
    struct section *s = &p->sections[NOT];
    const json_t *list = dg_view_get(report, "ruled_out");
    struct dg_buf line = DG_BUF_INIT(ROOM), one = DG_BUF_INIT(ROOM);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (reason_repeats(list, i)) continue;
        dg_view_again(&p->failed, &one);
        add_not(&one, list, i);
        bool fits = dg_utf8_width(dg_buf_slice(&line)) + 2 + dg_utf8_width(dg_buf_slice(&one)) <= p->o->width;
        if (line.len && !fits) {
            add_item(p, s, "", dg_buf_slice(&line), 2, 2);
            dg_view_again(&p->failed, &line);
        }
        dg_buf_addf(&line, "%s%s", line.len ? ". " : "", dg_buf_slice(&one).ptr);
    }
    if (line.len) add_item(p, s, "", dg_buf_slice(&line), 2, 2);
    dg_view_drop(&p->failed, &line);
    dg_view_drop(&p->failed, &one);
}

static void make_joins(struct page *p, const json_t *report) {
    const json_t *item;
    DG_VIEW_EACH(i, item, dg_view_get(report, "joins"))
    add_item(p, &p->sections[JOINS], "", dg_cstr(dg_view_text(item)), 2, 2);
}

static void make_unchecked(struct page *p, const json_t *report) {
    struct dg_buf list = DG_BUF_INIT(ROOM);
    struct dg_slice part;
    dg_view_unchecked(report, &list);
    for (struct dg_slice rest = dg_buf_slice(&list); next_line(&rest, &part);)
        add_item(p, &p->sections[UNCHECKED], "Unchecked: ", part, 2, 2);
    dg_view_drop(&p->failed, &list);
}

static void make_causes(struct page *p, const json_t *report) {
    struct section *s = &p->sections[CAUSES];
    const json_t *cause;
    s->heading = "Other causes";
    for (size_t i = 1; (cause = dg_view_cause(report, i)); i++) {
        struct dg_buf b = DG_BUF_INIT(ROOM);
        const char *text = dg_view_str(cause, "summary");
        dg_buf_addf(&b, "%s/%s (%s): %s", dg_view_str(cause, "class"), dg_view_str(cause, "subclass"),
                    dg_view_str(cause, "confidence"), *text ? text : dg_view_str(cause, "title"));
        add_item(p, s, "  ", dg_buf_slice(&b), 4, 2);
        dg_view_drop(&p->failed, &b);
    }
}

/* Drop items until the page fits. With every section at its last minimum it always does. */
static void fit_screen(struct page *p) {
    static const struct {
        unsigned char section, min;
    } order[] = {{JOINS, 2},    {NOT, 3},      {EVIDENCE, 5}, {NEXT, 5},     {UNCHECKED, 2}, {NOT, 2},
                 {EVIDENCE, 4}, {NEXT, 4},     {JOINS, 1},    {EVIDENCE, 3}, {UNCHECKED, 1}, {NOT, 1},
                 {NEXT, 3},     {EVIDENCE, 2}, {NEXT, 2},     {EVIDENCE, 1}, {NEXT, 1}};
    size_t total = 1;
    for (size_t i = 0; i < SECTIONS; i++) total += lines_of(&p->sections[i]);
    for (size_t i = 0; i < DG_COUNT(order) && total > SCREEN_LINES; i++) {
        struct section *s = &p->sections[order[i].section];
        while (total > SCREEN_LINES && s->n > order[i].min) {
            total -= lines_of(s);
            s->n--;
            total += lines_of(s);
        }
    }
}

static const char *verdict_color(const json_t *report) {
    return dg_view_is(report, "failure") ? "\x1b[1;31m" : dg_view_is(report, "healthy") ? "\x1b[1;32m" : "\x1b[1;33m";
}

static void put_section(const struct page *p, const struct section *s, struct dg_buf *out) {
    if (!s->n) return;
    if (s->heading) {
        dg_buf_addf(out, "%s%s%s", p->o->color ? "\x1b[1m" : "", s->heading, p->o->color ? "\x1b[0m" : "");
        if (s->n < s->total) dg_buf_addf(out, " (%zu more: --verbose)", s->total - s->n);
        dg_buf_addc(out, '\n');
    }
    dg_buf_add(out, s->text.ptr, s->ends[s->n - 1]);
}

static void put_head(const struct page *p, const json_t *report, struct dg_buf *out) {
    const struct section *s = &p->sections[HEAD];
    if (p->o->color) dg_buf_adds(out, verdict_color(report));
    dg_buf_add(out, s->text.ptr, s->ends[0]);
    if (p->o->color) dg_buf_adds(out, "\x1b[0m");
    dg_buf_add(out, s->text.ptr + s->ends[0], s->text.len - s->ends[0]);
}

static void put_footer(const json_t *report, struct dg_buf *out) {
    int64_t id = dg_view_int(dg_view_get(report, "recorded"), "id");
    if (id)
        dg_buf_addf(out, "#%lld | why: diagnose explain | paste: diagnose --last --format markdown\n", (long long)id);
    else
        dg_buf_adds(out, "not recorded | more: --verbose | paste: --format markdown\n");
}

int dg_report_text(const json_t *report, const struct dg_report_opts *o, struct dg_buf *out) {
    struct page p = {.o = o, .line = DG_BUF_INIT(ROOM)};
    for (size_t i = 0; i < SECTIONS; i++) p.sections[i].text.max = ROOM;
    make_head(&p, report);
    make_next(&p, report);
    make_evidence(&p, report);
    if (o->verbose) make_causes(&p, report);
    make_joins(&p, report);
    make_not(&p, report);
    make_unchecked(&p, report);
    if (!o->verbose) fit_screen(&p);
    put_head(&p, report, out);
    for (size_t i = NEXT; i < SECTIONS; i++) put_section(&p, &p.sections[i], out);
    if (o->verbose && *dg_view_str(report, "stub")) {
        dg_buf_adds(out, "A rule to start from\n");
        dg_utf8_add_shown(out, dg_cstr(dg_view_str(report, "stub")), true);
    }
    put_footer(report, out);
    for (size_t i = 0; i < SECTIONS; i++) dg_view_drop(&p.failed, &p.sections[i].text);
    dg_view_drop(&p.failed, &p.line);
    return out->failed || p.failed ? -DG_E_NOMEM : 0;
}
