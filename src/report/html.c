/* The report as one page without scripts, links or other files. */
#include "report/report.h"
#include "report/view.h"
#include "base/utf8.h"

enum { ROOM = 1 << 20 };

/* Empty or release a text that was built for `out`; what it lacks, `out` lacks. */
static void again(struct dg_buf *out, struct dg_buf *b) {
    out->failed |= b->failed;
    dg_buf_clear(b);
}
static void drop(struct dg_buf *out, struct dg_buf *b) {
    again(out, b);
    dg_buf_release(b);
}

static const char STYLE[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 "
    "1em;color:#1a1a1a;background:#fff}"
    "h1{font-size:1.3em}h2{font-size:1.05em;margin:1.4em 0 .3em}code,pre{font:13px/1.4 ui-monospace,monospace}"
    "pre{background:#f4f4f4;padding:.7em;overflow-x:auto}small{color:#666}.failure{border-left:4px solid "
    "#c0392b;padding-left:.6em}"
    ".healthy{border-left:4px solid #27ae60;padding-left:.6em}.inconclusive,.unrecognised{border-left:4px solid "
    "#d68910;padding-left:.6em}";

static void add(struct dg_buf *out, struct dg_slice text) {
    struct dg_buf safe = DG_BUF_INIT(ROOM);
    dg_utf8_add_shown(&safe, text, true);
    for (size_t i = 0; i < safe.len; i++) {
        switch (safe.ptr[i]) {
        case '<': dg_buf_adds(out, "&lt;"); break;
        case '>': dg_buf_adds(out, "&gt;"); break;
        case '&': dg_buf_adds(out, "&amp;"); break;
        case '"': dg_buf_adds(out, "&quot;"); break;
        default: dg_buf_addc(out, safe.ptr[i]);
        }
    }
    drop(out, &safe);
}

static void add_in(struct dg_buf *out, const char *before, struct dg_slice text, const char *after) {
    if (!text.len) return;
    dg_buf_adds(out, before);
    add(out, text);
    dg_buf_adds(out, after);
}

static void add_proposal(struct dg_buf *out, const json_t *p) {
    struct dg_buf b = DG_BUF_INIT(ROOM);
    const json_t *caution;
    add_in(out, "<li>", dg_cstr(dg_view_str(p, "action")), "\n");
    dg_view_settings(p, &b);
    add_in(out, "<pre>", dg_buf_slice(&b), "</pre>");
    again(out, &b);
    dg_view_tag(p, &b);
    add_in(out, "<br>", dg_cstr(dg_view_str(p, "reason")), "");
    add_in(out, "<br><small>", dg_buf_slice(&b), "</small>");
    DG_VIEW_EACH(i, caution, dg_view_get(p, "cautions"))
    add_in(out, "<br>Caution: ", dg_cstr(dg_view_text(caution)), "");
    dg_buf_adds(out, "</li>\n");
    drop(out, &b);
}

static void add_pairs(struct dg_buf *out, const json_t *list, const char *before, const char *key) {
    const json_t *item;
    DG_VIEW_EACH(i, item, list) {
        dg_buf_addf(out, "<li>%s", before);
        add(out, dg_cstr(dg_view_str(item, key)));
        add_in(out, ": ", dg_cstr(dg_view_str(item, "reason")), "");
        dg_buf_adds(out, "</li>\n");
    }
}

static void add_next(struct dg_buf *out, const json_t *report) {
    const json_t *item;
    dg_buf_adds(out, "<h2>What to try</h2>\n");
    add_in(out, "<p>First: ", dg_cstr(dg_view_str(report, "free_first")), "</p>\n");
    dg_buf_adds(out, "<ol>\n");
    DG_VIEW_EACH(i, item, dg_view_get(report, "proposals")) add_proposal(out, item);
    dg_buf_adds(out, "</ol>\n<ul>\n");
    add_pairs(out, dg_view_get(report, "avoid"), "Not: ", "action");
    dg_buf_adds(out, "</ul>\n");
}

static void add_evidence(struct dg_buf *out, const json_t *report) {
    const json_t *e;
    dg_buf_adds(out, "<h2>Evidence</h2>\n<pre>");
    DG_VIEW_EACH(i, e, dg_view_get(dg_view_cause(report, 0), "evidence")) {
        struct dg_buf b = DG_BUF_INIT(ROOM);
        dg_view_place(e, &b);
        add(out, dg_buf_slice(&b));
        add_in(out, "  ", dg_cstr(dg_view_str(e, "text")), "");
        add_in(out, "  (", dg_cstr(dg_view_str(e, "note")), ")");
        dg_buf_addc(out, '\n');
        drop(out, &b);
    }
    dg_buf_adds(out, "</pre>\n");
}

static void add_reasoning(struct dg_buf *out, const json_t *report) {
    const json_t *item;
    struct dg_buf b = DG_BUF_INIT(ROOM);
    struct dg_slice line;
    dg_buf_adds(out, "<h2>What else was looked at</h2>\n<ul>\n");
    DG_VIEW_EACH(i, item, dg_view_get(report, "joins")) add_in(out, "<li>", dg_cstr(dg_view_text(item)), "</li>\n");
    add_pairs(out, dg_view_get(report, "ruled_out"), "Not ", "class");
    dg_view_unchecked(report, &b);
    for (struct dg_slice rest = dg_buf_slice(&b); rest.len && dg_slice_split(&rest, '\n', &line);)
        add_in(out, "<li>Unchecked: ", line, "</li>\n");
    dg_buf_adds(out, "</ul>\n");
    drop(out, &b);
}

int dg_report_html(const json_t *report, struct dg_buf *out) {
    struct dg_buf b = DG_BUF_INIT(ROOM);
    dg_view_verdict(report, &b);
    dg_buf_addf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><style>%s</style>", STYLE);
    add_in(out, "<title>", dg_buf_slice(&b), "</title></head>\n");
    dg_buf_adds(out, "<body><h1 class=\"");
    add(out, dg_cstr(dg_view_str(report, "status")));
    add_in(out, "\">", dg_buf_slice(&b), "</h1>\n");
    again(out, &b);
    dg_view_context(report, &b);
    add_in(out, "<p>", dg_buf_slice(&b), "</p>\n");
    add_next(out, report);
    add_evidence(out, report);
    add_reasoning(out, report);
    add_in(out, "<h2>A rule to start from</h2>\n<pre>", dg_cstr(dg_view_str(report, "stub")), "</pre>\n");
    add_in(out, "<p><small>diagnose ", dg_cstr(dg_view_str(dg_view_get(report, "tool"), "version")), "");
    add_in(out, ", fingerprint ", dg_cstr(dg_view_str(report, "fingerprint")), "");
    dg_buf_adds(out, "</small></p></body></html>\n");
    drop(out, &b);
    return out->failed ? -DG_E_NOMEM : 0;
}
