/* A log of anything, and a kernel's log behind its first form feed, judged by the shipped rules for a GPU that is
 * stated or none: each form of the report is made, is clean, and holds no secret that would be masked again. */
#include "fuzz.h"
#include "scratch.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/job.h"
#include "report/report.h"

enum { ROOM = 64 << 20, ROWS = 24, COLUMNS = 80 };

static void load(struct dg_app *app) {
    static const char *engines[] = {DG_RULES "/engines"};
    struct dg_pack_place rules = {.path = DG_RULES, .required = true};
    struct dg_problems problems = {0};
    if (dg_pack_load(&rules, 1, false, &problems, &app->pack, NULL) || problems.n) abort();
    if (dg_matcher_new(dg_pack_rules(app->pack), &app->matcher, NULL)) abort();
    if (!(app->catalog = dg_catalog_load(engines, 1, &problems)) || problems.n) abort();
}

/* The program with its rules, once for each way to call it; the second borrows the rules of the first. */
static struct dg_app *app_for(char *path, bool stated) {
    static struct dg_app none, device;
    static char name[] = "diagnose", silent[] = "--no-record", db[] = "--db", nowhere[] = "/dev/null/none",
                refuse[] = "--no-device", state[] = "--device", gpu[] = "12.0", command[] = "--command",
                line[] = "python -m sglang.launch_server --model-path nvidia/x-FP4 --moe-runner-backend auto";
    char *first[] = {name, silent, db, nowhere, refuse, path, NULL};
    char *second[] = {name, silent, db, nowhere, state, gpu, command, line, path, NULL};
    if (none.pack) return stated ? &device : &none;
    if (dg_app_init(&none, 6, first, NULL) || dg_app_init(&device, 9, second, NULL)) abort();
    load(&none);
    device.pack = none.pack;
    device.catalog = none.catalog;
    device.matcher = none.matcher;
    none.width = device.width = COLUMNS;
    return stated ? &device : &none;
}

static void check_clean(struct dg_slice s) {
    int32_t cp;
    for (size_t n; s.len; s = dg_slice_from(s, n)) {
        n = dg_utf8_next(s, &cp);
        if (cp == DG_UTF8_BAD || (cp != '\n' && cp != '\t' && dg_utf8_hidden(cp))) abort();
    }
}

static void check_screen(struct dg_slice s) {
    struct dg_slice line;
    for (int rows = 0; dg_slice_split(&s, '\n', &line) && s.ptr; rows++)
        if (rows == ROWS || dg_utf8_width(line) > COLUMNS) abort();
}

static void check_masked(const json_t *report) {
    json_t *again = dg_mask_json_secrets(report);
    if (!again || !json_equal(report, again)) abort();
    json_decref(again);
}

static void render(const struct dg_app *app, enum dg_form form, const json_t *report) {
    struct dg_buf out = DG_BUF_INIT(ROOM);
    if (dg_job_render(app, form, report, &out)) abort();
    check_clean(dg_buf_slice(&out));
    if (form == DG_FORM_TEXT && !app->verbose) check_screen(dg_buf_slice(&out));
    if (form == DG_FORM_JSON) {
        json_t *parsed = dg_json_parse(dg_buf_slice(&out), NULL);
        if (!parsed || !json_equal(parsed, report)) abort();
        json_decref(parsed);
    }
    dg_buf_release(&out);
}

static void render_all(struct dg_app *app, const json_t *report) {
    for (int form = DG_FORM_TEXT; form <= DG_FORM_HTML; form++) render(app, (enum dg_form)form, report);
    app->verbose = true;
    render(app, DG_FORM_TEXT, report);
    app->verbose = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct scratch file;
    struct dg_slice log = dg_slice((const char *)data, size);
    ptrdiff_t cut = dg_slice_find_ch(log, '\f');
    struct dg_slice kernel = cut < 0 ? dg_slice(NULL, 0) : dg_slice_from(log, (size_t)cut + 1);
    if (cut >= 0) log = dg_slice_upto(log, (size_t)cut);
    scratch_fill(&file, log.ptr, log.len);
    struct dg_app *app = app_for(file.path, size % 2);
    struct dg_job job;
    struct dg_err err = {0};
    int r = dg_job_init(&job, app, &err);
    if (!r && kernel.len) r = dg_job_add_text(&job, "kernel", DG_KIND_KERNEL, kernel);
    if (!r) r = dg_job_scan(&job, &err);
    if (!r) r = dg_job_judge(&job, &err);
    if (!r) r = dg_job_report(&job, &err);
    if (r && r != -DG_E_NOTFOUND) abort();
    if (!r) {
        check_masked(job.report);
        render_all(app, job.report);
    }
    dg_job_release(&job);
    return 0;
}
