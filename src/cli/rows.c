#include "cli/rows.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "report/report.h"
#include <unistd.h>

enum { ROOM = 256 << 20, CELL_ROOM = 64 << 10, COLUMNS_MAX = 16, GAP = 2, REASON_MIN = 20 };

void dg_row_str(json_t *row, const char *key, struct dg_slice text) {
    struct dg_buf valid = DG_BUF_INIT(CELL_ROOM * 16);
    dg_utf8_add_valid(&valid, text);
    json_object_set_new(row, key,
                        text.len && !valid.failed ? json_stringn(dg_buf_slice(&valid).ptr, valid.len) : json_null());
    dg_buf_release(&valid);
}

static void add_value(struct dg_buf *out, const json_t *value, const char *between) {
    const char *key;
    json_t *item;
    if (json_is_string(value))
        dg_utf8_add_shown(out, dg_cstr(json_string_value(value)), false);
    else if (json_is_integer(value))
        dg_buf_addf(out, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        dg_buf_addf(out, "%.1f", json_real_value(value));
    else if (json_is_boolean(value))
        dg_buf_adds(out, json_is_true(value) ? "yes" : "no");
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (i) dg_buf_adds(out, between);
        add_value(out, json_array_get(value, i), ",");
    }
    size_t n = 0;
    if (json_is_object(value)) json_object_foreach((json_t *)value, key, item) {
            dg_buf_adds(out, n++ ? between : "");
            dg_utf8_add_shown(out, dg_cstr(key), false);
            dg_buf_addc(out, '=');
            add_value(out, item, ",");
        }
}

static struct dg_slice cell(struct dg_buf *room, const json_t *row, const char *key) {
    bool last_part = *key == '/';
    dg_buf_clear(room);
    add_value(room, json_object_get(row, key + last_part), " ");
    for (size_t i = 0; i < room->len; i++)
        if (room->ptr[i] == '\t') room->ptr[i] = ' ';
    struct dg_slice text = dg_buf_slice(room);
    ptrdiff_t slash = last_part ? dg_slice_rfind_ch(text, '/') : -1;
    if (slash >= 0 && (size_t)slash + 1 < text.len) text = dg_slice_from(text, (size_t)slash + 1);
    return text.len ? text : DG_S("-");
}

static void add_cell(struct dg_buf *out, struct dg_slice text, size_t width, bool last) {
    dg_buf_add_slice(out, text);
    for (size_t w = dg_utf8_width(text); !last && w < width + GAP; w++) dg_buf_addc(out, ' ');
}

/* A line that is too wide is broken under its last column, or with no `hang` cut. */
static void put_line(struct dg_buf *out, struct dg_slice text, size_t limit, size_t hang, bool mark) {
    size_t used = 0;
    while (hang && used + dg_utf8_width(text) > limit) {
        size_t fit = dg_utf8_fit(text, limit - used), at = fit;
        while (at > fit / 2 && text.ptr[at] != ' ') at--;
        if (at == fit / 2) at = fit;
        dg_buf_add(out, text.ptr, at);
        dg_buf_addf(out, "\n%*s", (int)hang, "");
        text = dg_slice_trim(dg_slice_from(text, at));
        used = hang;
    }
    bool over = used + dg_utf8_width(text) > limit;
    if (over) text = dg_slice_upto(text, dg_utf8_fit(text, limit - 1));
    bool between = text.len && text.ptr[text.len - 1] == ' '; /* the cut harms no cell's text */
    while (text.len && text.ptr[text.len - 1] == ' ') text.len--;
    dg_buf_add_slice(out, text);
    dg_buf_adds(out, !over || !mark ? "\n" : between ? " …\n" : "…\n");
}

/* A table that people read is cut to their terminal; one that goes into a pipe is whole. */
static void add_table(const struct dg_app *app, const json_t *rows, const struct dg_column *columns, size_t n,
                      struct dg_buf *out) {
    size_t width[COLUMNS_MAX], limit = isatty(STDOUT_FILENO) || app->env.columns ? app->width : SIZE_MAX;
    struct dg_buf room = DG_BUF_INIT(CELL_ROOM), line = DG_BUF_INIT(CELL_ROOM * COLUMNS_MAX);
    for (size_t c = 0; c < n; c++) {
        width[c] = strlen(columns[c].heading);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            size_t w = dg_utf8_width(cell(&room, json_array_get(rows, i), columns[c].key));
            if (w > width[c]) width[c] = w;
        }
    }
    size_t hang = 0; /* reasons are sentences: they are read to their end */
    if (!strcmp(columns[n - 1].key, "reason"))
        for (size_t c = 0; c + 1 < n; c++) hang += width[c] + GAP;
    if (hang + REASON_MIN > limit) hang = 0;
    for (size_t i = 0; i <= json_array_size(rows); i++) {
        dg_buf_clear(&line);
        for (size_t c = 0; c < n; c++) {
            struct dg_slice text =
                i ? cell(&room, json_array_get(rows, i - 1), columns[c].key) : dg_cstr(columns[c].heading);
            add_cell(&line, text, width[c], c + 1 == n);
        }
        put_line(out, dg_buf_slice(&line), app->verbose ? SIZE_MAX : limit, i ? hang : 0, i != 0);
    }
    dg_buf_release(&room);
    dg_buf_release(&line);
}

static void add_json(const struct dg_app *app, const char *kind, json_t *rows, struct dg_buf *out) {
    if (app->form == DG_FORM_JSONL) {
        for (size_t i = 0; i < json_array_size(rows); i++) dg_report_dump(json_array_get(rows, i), false, out);
        return;
    }
    json_t *all = json_pack("{s:i,s:s,s:O}", "schema", 1, "kind", kind, "rows", rows);
    if (!all || dg_report_dump(all, true, out)) out->failed = true;
    json_decref(all);
}

int dg_rows_put(const struct dg_app *app, const char *kind, json_t *rows, const struct dg_column *columns, size_t n,
                int status) {
    struct dg_buf out = DG_BUF_INIT(ROOM);
    if (!rows)
        out.failed = true;
    else if (app->form != DG_FORM_TEXT)
        add_json(app, kind, rows, &out);
    else if (json_array_size(rows))
        add_table(app, rows, columns, n, &out);
    if (out.failed) {
        dg_msg("out of memory");
        status = DG_EXIT_INTERNAL;
    } else {
        status = dg_app_put(app, dg_buf_slice(&out), status);
    }
    json_decref(rows);
    dg_buf_release(&out);
    return status;
}
