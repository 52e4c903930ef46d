/* The report as one page without scripts, links or other files; light, dark and printed. */
#include "report/report.h"
#include "report/view.h"
#include "base/utf8.h"

enum { ROOM = 1 << 20 };

/* Colours are variables, so that the dark page is the same page. Log lines break anywhere: nothing scrolls sideways. */
static const char STYLE[] =
    ":root{color-scheme:light dark;--ink:#1c2024;--dim:#5b636b;--page:#fff;--box:#f3f4f6;--line:#d9dce0;"
    "--failure:#b42318;--healthy:#18794e;--unsure:#9a5b00}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e6e8ea;--dim:#a3abb3;--page:#15181b;--box:#1f2428;--line:#343b41;"
    "--failure:#ff8a7a;--healthy:#5fd39b;--unsure:#f0b45a}}\n"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:0 auto;padding:2rem 1rem;color:var(--ink);"
    "background:var(--page);overflow-wrap:anywhere}\n"
    "header{border-left:.3rem solid var(--unsure);padding-left:1rem}\n"
    "header.failure{border-color:var(--failure)}header.healthy{border-color:var(--healthy)}\n"
    ".label{margin:0;font-weight:600;color:var(--unsure)}\n"
    ".failure .label{color:var(--failure)}.healthy .label{color:var(--healthy)}\n"
    "h1{font-size:1.4rem;line-height:1.3;margin:.2rem 0 .5rem}header p{margin:0}\n"
    "h2{font-size:1.1rem;margin:2rem 0 .5rem;padding-bottom:.2rem;border-bottom:1px solid var(--line)}\n"
    "code,pre{font:.875em/1.5 ui-monospace,Menlo,Consolas,monospace}\n"
    "pre,dd code{display:block;margin:.3rem 0;padding:.5rem .75rem;border-radius:.3rem;background:var(--box);"
    "white-space:pre-wrap}\n"
    "ol,ul{padding-left:1.5rem}li{margin:.5rem 0}li p{margin:.2rem 0}dt{margin-top:.7rem}dd{margin:0}\n"
    ".dim,footer{color:var(--dim);font-size:.875rem}footer{margin-top:2rem}.caution{color:var(--unsure);font-weight:600}"
    "li ul{margin:0;font-size:.9375rem}li li{margin:.1rem 0}\n"
    "@media print{body{max-width:none;padding:0;font-size:11pt}h2{break-after:avoid}li,dd{break-inside:avoid}"
    "pre,dd code{border:1px solid var(--line)}}\n";

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
    dg_view_drop(&out->failed, &safe);
}

static void add_in(struct dg_buf *out, const char *before, struct dg_slice text, const char *after) {
    if (!text.len) return;
    dg_buf_adds(out, before);
    add(out, text);
    dg_buf_adds(out, after);
}

static void open_section(struct dg_buf *out, const char *id, const char *heading) {
    dg_buf_addf(out, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", id, id, heading);
}
static void close_section(struct dg_buf *out) { dg_buf_adds(out, "</section>\n"); }

static void add_proposal(struct dg_buf *out, const json_t *p) {
    struct dg_buf b = DG_BUF_INIT(ROOM);
    const json_t *item, *cautions = dg_view_get(p, "cautions");
    dg_buf_adds(out, "<li>");
    add_in(out, "<strong>", dg_cstr(dg_view_str(p, "action")), "</strong>");
    dg_view_settings(p, &b);
    add_in(out, "<pre>", dg_slice_trim(dg_buf_slice(&b)), "</pre>");
    dg_view_again(&out->failed, &b);
    dg_view_tag(p, &b);
    add_in(out, "<p>", dg_cstr(dg_view_str(p, "reason")), "</p>");
    add_in(out, "<p class=\"dim\">", dg_buf_slice(&b), "</p>");
    if (json_array_size(cautions)) dg_buf_adds(out, "<p class=\"caution\">Caution</p><ul>\n");
    DG_VIEW_EACH(i, item, cautions) add_in(out, "<li>", dg_cstr(dg_view_text(item)), "</li>\n");
    if (json_array_size(cautions)) dg_buf_adds(out, "</ul>\n");
    dg_buf_adds(out, "</li>\n");
    dg_view_drop(&out->failed, &b);
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

/* "free the GPUs first:  diagnose device --check": what follows two spaces is to be typed. */
static void add_first(struct dg_buf *out, struct dg_slice list) {
    struct dg_slice line;
    if (!list.len) return;
    dg_buf_adds(out, "<li>");
    while (list.len && dg_slice_split(&list, '\n', &line)) {
        ptrdiff_t gap = dg_slice_find(line, DG_S("  "));
        size_t end = gap < 0 ? line.len : (size_t)gap;
        add(out, dg_slice_upto(line, end));
        add_in(out, " <code>", dg_slice_trim(dg_slice_from(line, end)), "</code>");
        if (list.len) dg_buf_adds(out, "<br>");
    }
    dg_buf_adds(out, "</li>\n");
}

static void add_next(struct dg_buf *out, const json_t *report) {
    const json_t *item, *proposals = dg_view_get(report, "proposals"), *avoid = dg_view_get(report, "avoid");
    struct dg_buf first = DG_BUF_INIT(ROOM);
    dg_view_first(report, &first);
    if (!first.len && !json_array_size(proposals) && !json_array_size(avoid)) {
        dg_view_drop(&out->failed, &first);
        return;
    }
    open_section(out, "next", "What to try");
    if (first.len || json_array_size(proposals)) {
        dg_buf_addf(out, "<ol start=\"%d\">\n", first.len ? 0 : 1);
        add_first(out, dg_buf_slice(&first));
        DG_VIEW_EACH(i, item, proposals) add_proposal(out, item);
        dg_buf_adds(out, "</ol>\n");
    }
    dg_view_drop(&out->failed, &first);
    if (json_array_size(avoid)) {
        dg_buf_adds(out, "<ul>\n");
        add_pairs(out, avoid, "<strong>Not:</strong> ", "action");
        dg_buf_adds(out, "</ul>\n");
    }
    close_section(out);
}

static void add_evidence(struct dg_buf *out, const json_t *report) {
    const json_t *e, *list = dg_view_get(dg_view_cause(report, 0), "evidence");
    struct dg_buf place = DG_BUF_INIT(ROOM);
    if (!json_array_size(list)) return;
    open_section(out, "evidence", "Evidence");
    dg_buf_adds(out, "<dl>\n");
    DG_VIEW_EACH(i, e, list) {
        int64_t count = dg_view_int(e, "count");
        dg_view_place(e, &place);
        dg_buf_adds(out, "<dt>");
        add(out, place.len ? dg_buf_slice(&place) : DG_S("not in a file"));
        if (count > 1) dg_buf_addf(out, ", %lld times", (long long)count);
        dg_buf_adds(out, "</dt>\n<dd>");
        add_in(out, "<code>", dg_slice_trim(dg_cstr(dg_view_str(e, "text"))), "</code>");
        add_in(out, "<span class=\"dim\">", dg_cstr(dg_view_str(e, "note")), "</span>");
        dg_buf_adds(out, "</dd>\n");
        dg_view_again(&out->failed, &place);
    }
    dg_buf_adds(out, "</dl>\n");
    dg_view_libraries(report, &place);
    add_in(out, "<p>", dg_slice_trim(dg_buf_slice(&place)), "</p>\n");
    close_section(out);
    dg_view_drop(&out->failed, &place);
}

static void add_reasoning(struct dg_buf *out, const json_t *report) {
    const json_t *item, *joins = dg_view_get(report, "joins"), *ruled_out = dg_view_get(report, "ruled_out");
    struct dg_buf b = DG_BUF_INIT(ROOM);
    struct dg_slice line;
    dg_view_unchecked(report, &b);
    if (json_array_size(joins) || json_array_size(ruled_out) || b.len) {
        open_section(out, "reasoning", "What else was looked at");
        dg_buf_adds(out, "<ul>\n");
        DG_VIEW_EACH(i, item, joins) add_in(out, "<li>", dg_cstr(dg_view_text(item)), "</li>\n");
        add_pairs(out, ruled_out, "Not ", "class");
        for (struct dg_slice rest = dg_buf_slice(&b); rest.len && dg_slice_split(&rest, '\n', &line);)
            add_in(out, "<li>Unchecked: ", line, "</li>\n");
        dg_buf_adds(out, "</ul>\n");
        close_section(out);
    }
    dg_view_drop(&out->failed, &b);
}

static void add_inputs(struct dg_buf *out, const json_t *report) {
    const json_t *item, *inputs = dg_view_get(report, "inputs");
    const json_t *choices = dg_view_get(dg_view_get(report, "attempt"), "choices");
    struct dg_buf size = DG_BUF_INIT(ROOM);
    const char *axis;
    json_t *value;
    if (!json_array_size(inputs) && !json_object_size(choices)) return;
    open_section(out, "inputs", "Inputs and settings");
    dg_buf_adds(out, "<ul>\n");
    DG_VIEW_EACH(i, item, inputs) {
        dg_view_size(item, &size);
        add_in(out, "<li><code>", dg_cstr(dg_view_str(item, "source")), "</code>: ");
        add(out, dg_buf_slice(&size));
        dg_buf_adds(out, "</li>\n");
        dg_view_again(&out->failed, &size);
    }
    json_object_foreach((json_t *)choices, axis, value) {
        add_in(out, "<li><code>", dg_cstr(axis), " = ");
        add(out, dg_cstr(dg_view_text(value)));
        dg_buf_adds(out, "</code></li>\n");
    }
    dg_buf_adds(out, "</ul>\n");
    close_section(out);
    dg_view_drop(&out->failed, &size);
}

/* Nothing may be loaded or run, whatever a log line manages to be. */
static void add_head(struct dg_buf *out, const json_t *report) {
    struct dg_buf b = DG_BUF_INIT(ROOM);
    dg_view_verdict(report, &b);
    dg_buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                     "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    add_in(out, "<title>", dg_buf_slice(&b), "</title>\n");
    dg_buf_addf(out, "<style>\n%s</style>\n</head>\n", STYLE);
    dg_view_drop(&out->failed, &b);
}

static void add_verdict(struct dg_buf *out, const json_t *report) {
    struct dg_buf b = DG_BUF_INIT(ROOM);
    add_in(out, "<header class=\"", dg_cstr(dg_view_str(report, "status")), "\">\n<p class=\"label\">");
    dg_view_label(report, &b);
    add(out, dg_buf_slice(&b));
    add_in(out, "</p>\n<h1>", dg_cstr(dg_view_summary(report)), "</h1>\n");
    dg_view_again(&out->failed, &b);
    dg_view_context(report, &b);
    add_in(out, "<p>", dg_buf_slice(&b), "</p>\n");
    dg_buf_adds(out, "</header>\n");
    dg_view_drop(&out->failed, &b);
}

int dg_report_html(const json_t *report, struct dg_buf *out) {
    add_head(out, report);
    dg_buf_adds(out, "<body>\n");
    add_verdict(out, report);
    dg_buf_adds(out, "<main>\n");
    add_next(out, report);
    add_evidence(out, report);
    add_reasoning(out, report);
    if (*dg_view_str(report, "stub")) {
        open_section(out, "stub", "A rule to start from");
        add_in(out, "<pre>", dg_cstr(dg_view_str(report, "stub")), "</pre>\n");
        close_section(out);
    }
    add_inputs(out, report);
    dg_buf_adds(out, "</main>\n<footer>diagnose");
    add_in(out, " ", dg_cstr(dg_view_str(dg_view_get(report, "tool"), "version")), "");
    add_in(out, ", fingerprint ", dg_cstr(dg_view_str(report, "fingerprint")), "");
    dg_buf_adds(out, "</footer>\n</body>\n</html>\n");
    return out->failed ? -DG_E_NOMEM : 0;
}
