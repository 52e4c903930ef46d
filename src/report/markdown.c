/* The report to paste into an issue or a chat: everything, in sections, with the evidence as code. */
#include "report/report.h"
#include "report/view.h"
#include "base/utf8.h"

enum { ROOM = 1 << 20 };

/* Prose: characters that Markdown or HTML in it would act on are escaped. */
static void add_prose(struct dg_buf *out, struct dg_slice text) {
    struct dg_buf safe = DG_BUF_INIT(ROOM);
    dg_utf8_add_shown(&safe, text, false);
    for (size_t i = 0; i < safe.len; i++) {
        if (strchr("\\`*_~[]<>|#&", safe.ptr[i])) dg_buf_addc(out, '\\');
        dg_buf_addc(out, safe.ptr[i] == '\t' ? ' ' : safe.ptr[i]);
    }
    dg_view_drop(&out->failed, &safe);
}

static size_t longest_run(struct dg_slice s, char c) {
    size_t best = 0, run = 0;
    for (size_t i = 0; i < s.len; i++) {
        run = s.ptr[i] == c ? run + 1 : 0;
        if (run > best) best = run;
    }
    return best;
}

/* `code`; a fence longer than any run of backticks inside cannot be left. */
static void add_code(struct dg_buf *out, struct dg_slice text) {
    struct dg_buf safe = DG_BUF_INIT(ROOM);
    dg_utf8_add_shown(&safe, text, false);
    size_t fence = longest_run(dg_buf_slice(&safe), '`') + 1;
    for (size_t i = 0; i < fence; i++) dg_buf_addc(out, '`');
    const char *space = fence > 1 ? " " : "";
    dg_buf_addf(out, "%s%s%s", space, dg_buf_slice(&safe).ptr, space);
    for (size_t i = 0; i < fence; i++) dg_buf_addc(out, '`');
    dg_view_drop(&out->failed, &safe);
}

static void add_block(struct dg_buf *out, const char *language, struct dg_slice shown) {
    size_t fence = longest_run(shown, '`') + 1;
    if (fence < 3) fence = 3;
    for (size_t i = 0; i < fence; i++) dg_buf_addc(out, '`');
    dg_buf_addf(out, "%s\n", language);
    dg_buf_add_slice(out, shown);
    for (size_t i = 0; i < fence; i++) dg_buf_addc(out, '`');
    dg_buf_adds(out, "\n");
}

static void add_field(struct dg_buf *out, const char *label, const char *text) {
    if (!*text) return;
    dg_buf_addf(out, "   - %s: ", label);
    add_prose(out, dg_cstr(text));
    dg_buf_addc(out, '\n');
}

static void add_proposal(struct dg_buf *out, const json_t *p, size_t rank) {
    struct dg_buf b = DG_BUF_INIT(ROOM);
    struct dg_slice rest, line;
    const json_t *caution;
    dg_buf_addf(out, "%zu. ", rank);
    add_prose(out, dg_cstr(dg_view_str(p, "action")));
    dg_buf_addc(out, '\n');
    dg_view_settings(p, &b);
    for (rest = dg_buf_slice(&b); rest.len && dg_slice_split(&rest, '\n', &line);) {
        dg_buf_adds(out, "   - ");
        add_code(out, line);
        dg_buf_addc(out, '\n');
    }
    dg_view_again(&out->failed, &b);
    dg_view_tag(p, &b);
    add_field(out, "why", dg_view_str(p, "reason"));
    add_field(out, "evidence", dg_buf_slice(&b).ptr);
    dg_view_again(&out->failed, &b);
    DG_VIEW_EACH(i, caution, dg_view_get(p, "cautions")) dg_buf_addf(&b, "%s%s", i ? "; " : "", dg_view_text(caution));
    add_field(out, "caution", dg_buf_slice(&b).ptr);
    dg_view_drop(&out->failed, &b);
}

enum { PROPOSALS_SHOWN = 4 }; /* an issue has room for what is likely */

static void add_next(struct dg_buf *out, const json_t *report) {
    const json_t *item, *proposals = dg_view_get(report, "proposals"), *avoid = dg_view_get(report, "avoid");
    struct dg_buf first = DG_BUF_INIT(ROOM);
    struct dg_slice line;
    dg_view_first(report, &first);
    if (!first.len && !json_array_size(proposals) && !json_array_size(avoid)) {
        dg_view_drop(&out->failed, &first);
        return;
    }
    dg_buf_adds(out, "\n#### What to try\n\n");
    for (struct dg_slice rest = dg_buf_slice(&first); rest.len && dg_slice_split(&rest, '\n', &line);) {
        dg_buf_adds(out, line.ptr == first.ptr ? "0. " : "   - ");
        add_prose(out, line);
        dg_buf_addc(out, '\n');
    }
    dg_view_drop(&out->failed, &first);
    DG_VIEW_EACH(i, item, proposals) {
        if (i < PROPOSALS_SHOWN) add_proposal(out, item, i + 1);
    }
    if (json_array_size(proposals) > PROPOSALS_SHOWN)
        dg_buf_addf(out, "- %zu more: `diagnose --last --verbose`\n", json_array_size(proposals) - PROPOSALS_SHOWN);
    DG_VIEW_EACH(i, item, avoid) {
        dg_buf_adds(out, "- Not: ");
        add_prose(out, dg_cstr(dg_view_str(item, "action")));
        if (*dg_view_str(item, "reason")) dg_buf_adds(out, ": ");
        add_prose(out, dg_cstr(dg_view_str(item, "reason")));
        dg_buf_addc(out, '\n');
    }
}

static void add_libraries(struct dg_buf *out, const json_t *report) {
    struct dg_buf list = DG_BUF_INIT(ROOM);
    struct dg_slice line;
    dg_view_libraries(report, &list);
    for (struct dg_slice rest = dg_buf_slice(&list); rest.len && dg_slice_split(&rest, '\n', &line);) {
        dg_buf_adds(out, "\n- ");
        add_prose(out, line);
        dg_buf_addc(out, '\n');
    }
    dg_view_drop(&out->failed, &list);
}

static void add_evidence(struct dg_buf *out, const json_t *cause) {
    const json_t *e, *list = dg_view_get(cause, "evidence");
    struct dg_buf raw = DG_BUF_INIT(ROOM), shown = DG_BUF_INIT(ROOM);
    if (!json_array_size(list)) return;
    DG_VIEW_EACH(i, e, list) {
        dg_view_place(e, &raw);
        if (raw.len && raw.ptr[raw.len - 1] != '\n') dg_buf_adds(&raw, "  ");
        int64_t count = dg_view_int(e, "count");
        if (count > 1) dg_buf_addf(&raw, "%lld x ", (long long)count);
        const char *note = dg_view_str(e, "note");
        dg_buf_addf(&raw, "%s%s%s%s", dg_view_str(e, "text"), *note ? "  (" : "", note, *note ? ")" : "");
        dg_utf8_add_shown(&shown, dg_buf_slice(&raw), false);
        dg_buf_addc(&shown, '\n');
        dg_view_again(&out->failed, &raw);
    }
    dg_buf_adds(out, "\n#### Evidence\n\n");
    add_block(out, "", dg_buf_slice(&shown));
    dg_view_drop(&out->failed, &raw);
    dg_view_drop(&out->failed, &shown);
}

static void add_pairs(struct dg_buf *out, const json_t *list, const char *before, const char *key) {
    const json_t *item;
    DG_VIEW_EACH(i, item, list) {
        dg_buf_addf(out, "- %s", before);
        add_prose(out, dg_cstr(dg_view_str(item, key)));
        dg_buf_adds(out, ": ");
        add_prose(out, dg_cstr(dg_view_str(item, "reason")));
        dg_buf_addc(out, '\n');
    }
}

static void add_reasoning(struct dg_buf *out, const json_t *report) {
    const json_t *item, *joins = dg_view_get(report, "joins"), *ruled_out = dg_view_get(report, "ruled_out");
    struct dg_buf list = DG_BUF_INIT(ROOM);
    struct dg_slice line;
    dg_view_unchecked(report, &list);
    if (!json_array_size(joins) && !json_array_size(ruled_out) && !list.len) return;
    dg_buf_adds(out, "\n#### What else was looked at\n\n");
    DG_VIEW_EACH(i, item, joins) {
        dg_buf_adds(out, "- ");
        add_prose(out, dg_cstr(dg_view_text(item)));
        dg_buf_addc(out, '\n');
    }
    add_pairs(out, ruled_out, "Not ", "class");
    for (struct dg_slice rest = dg_buf_slice(&list); rest.len && dg_slice_split(&rest, '\n', &line);) {
        dg_buf_adds(out, "- Unchecked: ");
        add_prose(out, line);
        dg_buf_addc(out, '\n');
    }
    dg_view_drop(&out->failed, &list);
}

static void add_inputs(struct dg_buf *out, const json_t *report) {
    const json_t *item;
    struct dg_buf size = DG_BUF_INIT(ROOM);
    dg_buf_adds(out, "\n<details><summary>Inputs and settings</summary>\n\n");
    DG_VIEW_EACH(i, item, dg_view_get(report, "inputs")) {
        dg_buf_adds(out, "- ");
        add_code(out, dg_cstr(dg_view_str(item, "source")));
        dg_buf_adds(out, ": ");
        dg_view_size(item, &size);
        add_prose(out, dg_buf_slice(&size));
        dg_buf_addc(out, '\n');
        dg_view_again(&out->failed, &size);
    }
    const char *axis;
    json_t *value;
    json_object_foreach((json_t *)dg_view_get(dg_view_get(report, "attempt"), "choices"), axis, value) {
        struct dg_buf b = DG_BUF_INIT(ROOM);
        dg_buf_addf(&b, "%s = %s", axis, dg_view_text(value));
        dg_buf_adds(out, "- ");
        add_code(out, dg_buf_slice(&b));
        dg_buf_addc(out, '\n');
        dg_view_drop(&out->failed, &b);
    }
    dg_buf_adds(out, "- diagnose ");
    add_prose(out, dg_cstr(dg_view_str(dg_view_get(report, "tool"), "version")));
    dg_buf_adds(out, ", fingerprint ");
    add_prose(out, dg_cstr(dg_view_str(report, "fingerprint")));
    dg_buf_adds(out, "\n\n</details>\n");
    dg_view_drop(&out->failed, &size);
}

int dg_report_markdown(const json_t *report, struct dg_buf *out) {
    struct dg_buf b = DG_BUF_INIT(ROOM);
    dg_view_verdict(report, &b);
    dg_buf_adds(out, "### ");
    add_prose(out, dg_buf_slice(&b));
    dg_buf_addc(out, '\n');
    dg_view_again(&out->failed, &b);
    dg_view_context(report, &b);
    if (b.len) {
        dg_buf_addc(out, '\n');
        add_prose(out, dg_buf_slice(&b));
        dg_buf_addc(out, '\n');
    }
    dg_view_drop(&out->failed, &b);
    add_next(out, report);
    add_evidence(out, dg_view_cause(report, 0));
    add_libraries(out, report);
    add_reasoning(out, report);
    if (*dg_view_str(report, "stub")) {
        struct dg_buf shown = DG_BUF_INIT(ROOM);
        dg_utf8_add_shown(&shown, dg_cstr(dg_view_str(report, "stub")), true);
        dg_buf_adds(out, "\n#### A rule to start from\n\n");
        add_block(out, "yaml", dg_buf_slice(&shown));
        dg_view_drop(&out->failed, &shown);
    }
    add_inputs(out, report);
    return out->failed ? -DG_E_NOMEM : 0;
}
