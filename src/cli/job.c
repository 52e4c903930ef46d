#include "cli/job.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/trace.h"
#include "cli/devices.h"
#include "cli/silence.h"
#include "report/report.h"
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { HEAD_BYTES = 64 << 10, REPORT_ROOM = 8 << 20, SOURCES_MAX = 65536 };
static const size_t ARENA_LIMIT = 64 << 20;

struct dg_head {
    uint32_t source;
    size_t n;
    char bytes[HEAD_BYTES];
};

/* ---- reading */

/* The first Ctrl-C while a pipe is read goes to its writer as well: read to the end, then report. The second one ends
 * us. */
static volatile int interrupted;
static void on_interrupt(int sig) {
    (void)sig;
    interrupted = 1;
}

/* Standard input may then be read for days. */
static bool is_piped(void) {
    struct stat st;
    return fstat(STDIN_FILENO, &st) || !S_ISREG(st.st_mode);
}

static void expect_interrupt(void) {
    if (!is_piped()) return;
    struct sigaction act = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
}

/* Progress goes to a terminal only, after a second, and is wiped before anything else is said. */
struct progress {
    bool on, shown;
    double started, told;
};
static struct progress progress;

static void tell_progress(void *ctx, uint64_t bytes, uint64_t total) {
    (void)ctx;
    double now = dg_time_mono();
    if (!progress.on || now - progress.started < 1 || now - progress.told < 0.2) return;
    char line[80];
    if (total)
        snprintf(line, sizeof(line), "\rread %llu of %llu MB", (unsigned long long)(bytes >> 20),
                 (unsigned long long)(total >> 20));
    else
        snprintf(line, sizeof(line), "\rread %llu MB", (unsigned long long)(bytes >> 20));
    if (write(STDERR_FILENO, line, strlen(line)) < 0) progress.on = false;
    progress.told = now;
    progress.shown = true;
}

static void wipe_progress(void) {
    static const char wipe[] = "\r\x1b[K";
    if (progress.shown && write(STDERR_FILENO, wipe, sizeof(wipe) - 1) < 0) progress.on = false;
    progress.shown = false;
}

static int close_head(struct dg_job *job) {
    struct dg_head *h = job->head;
    if (!dg_vec_reserve(&job->heads, &job->cap_heads, h->source + 1, sizeof(*job->heads), SOURCES_MAX))
        return -DG_E_NOMEM;
    while (job->n_heads <= h->source) job->heads[job->n_heads++] = 0;
    job->heads[h->source] = XXH3_64bits(h->bytes, h->n);
    return 0;
}

/* The start of each source is part of what tells one launch from another. Blocks come in source order. */
static int note_head(struct dg_job *job, const struct dg_block *b) {
    struct dg_head *h = job->head;
    int r = 0;
    if (b->source != h->source) {
        r = close_head(job);
        h->source = b->source;
        h->n = 0;
    }
    size_t n = b->len < HEAD_BYTES - h->n ? b->len : HEAD_BYTES - h->n;
    memcpy(h->bytes + h->n, b->data, n);
    h->n += n;
    for (size_t i = 0; i < b->len && !job->any_text; i++) job->any_text = !isspace((unsigned char)b->data[i]);
    return r;
}

static int next_block(void *ctx, struct dg_block **ret, struct dg_err *err) {
    struct dg_job *job = ctx;
    int r = dg_ingest_next(job->ingest, ret, err);
    if (r == 1) dg_silence_note(job->silence, dg_slice((*ret)->data, (*ret)->len));
    return r == 1 && note_head(job, *ret) ? dg_err_nomem(err) : r;
}
static bool silent_second(void *ctx) { return dg_silence_over(((struct dg_job *)ctx)->silence, interrupted); }
static void release_block(void *ctx, struct dg_block *b) { dg_ingest_release(((struct dg_job *)ctx)->ingest, b); }
static const struct dg_source *sources(void *ctx, uint32_t *ret_n) {
    return dg_ingest_sources(((struct dg_job *)ctx)->ingest, ret_n);
}

static int add_kernel_log(struct dg_job *job, const char *path) {
    if (strcmp(path, "auto") != 0) return dg_ingest_add(job->ingest, path, DG_KIND_KERNEL);
    struct dg_buf text = DG_BUF_INIT(64 << 20);
    struct dg_err err = {0};
    int r = 0;
    if (dg_kmsg_read(&text, &err))
        dg_msg("%s", err.msg);
    else
        r = dg_ingest_add_text(job->ingest, "kernel ring buffer", DG_KIND_KERNEL, dg_buf_slice(&text));
    dg_buf_release(&text);
    return r;
}

int dg_job_add_text(struct dg_job *job, const char *name, enum dg_kind kind, struct dg_slice text) {
    if (job->n_texts == DG_COUNT(job->texts)) return -DG_E_LIMIT;
    job->texts[job->n_texts++] = (struct dg_job_text){name, kind, text};
    return 0;
}

static int add_file(struct dg_job *job, const char *path) {
    if (!strcmp(path, "-") && is_piped() && dg_pack_detach(job->app->pack)) return -DG_E_NOMEM;
    return dg_ingest_add(job->ingest, path, DG_KIND_UNKNOWN);
}

static int add_inputs(struct dg_job *job, struct dg_err *err) {
    const struct dg_args *a = &job->app->args;
    const char *path;
    int r = 0;
    for (size_t i = 0; !r && (path = dg_args_nth(a, DG_OPT_KERNEL_LOG, i)); i++) r = add_kernel_log(job, path);
    for (size_t i = 0; !r && i < job->n_files; i++) r = add_file(job, job->files[i]);
    for (size_t i = 0; !r && i < job->n_texts; i++)
        r = dg_ingest_add_text(job->ingest, job->texts[i].name, job->texts[i].kind, job->texts[i].text);
    bool named = job->n_files || job->n_texts || dg_args_has(a, DG_OPT_KERNEL_LOG);
    if (!r && !named) r = add_file(job, "-");
    return r ? dg_err_nomem(err) : 0;
}

/* Each input that could not be read is named; it is an error only when nothing else is there. */
static int check_inputs(struct dg_job *job) {
    const struct dg_scan *s = job->scan;
    uint32_t readable = 0;
    for (uint32_t i = 0; i < s->n_sources; i++) {
        if (s->sources[i].error) dg_msg("%s", s->sources[i].error);
        readable += !s->sources[i].error || s->sources[i].bytes;
    }
    if (job->any_text || job->exit_code >= 0 || job->exit_signal >= 0) return 0; /* silent, but its end was seen */
    if (readable || !s->n_sources) dg_msg("nothing to judge: the input is empty");
    return -DG_E_NOTFOUND;
}

int dg_job_scan(struct dg_job *job, struct dg_err *err) {
    const struct dg_args *a = &job->app->args;
    progress = (struct progress){.on = isatty(STDERR_FILENO), .started = dg_time_mono()};
    struct dg_ingest_opts in = {.tee_fd = dg_args_has(a, DG_OPT_TEE) ? STDOUT_FILENO : -1,
                                .idle = silent_second,
                                .progress = tell_progress,
                                .ctx = job,
                                .interrupted = &interrupted};
    expect_interrupt();
    job->ingest = dg_ingest_new(&in);
    int r = job->ingest ? add_inputs(job, err) : dg_err_nomem(err);
    if (r) return r;
    struct dg_match_opts match = {.next = next_block,
                                  .release = release_block,
                                  .sources = sources,
                                  .in = job,
                                  .split = dg_prefix_parse,
                                  .threads = 2};
    r = dg_match_scan(job->app->matcher, &match, job->arena, &job->scan, err);
    wipe_progress();
    dg_trace("phase", "read and matched");
    if (!r && close_head(job)) r = dg_err_nomem(err);
    return r ? r : check_inputs(job);
}

/* ---- judging */

int dg_job_init(struct dg_job *job, struct dg_app *app, struct dg_err *err) {
    *job = (struct dg_job){.app = app,
                           .exit_code = -1,
                           .exit_signal = -1,
                           .files = app->args.operands,
                           .n_files = app->args.n_operands,
                           .command = dg_cstr(dg_args_value(&app->args, DG_OPT_COMMAND))};
    int r = dg_app_rules(app, err);
    if (!r) r = dg_app_matcher(app, err);
    if (r) return r;
    dg_trace("phase", "rules loaded");
    job->arena = dg_arena_new(ARENA_LIMIT);
    job->head = dg_calloc(1, sizeof(*job->head));
    job->silence = dg_calloc(1, sizeof(*job->silence));
    if (!job->arena || !job->head || !job->silence) return dg_err_nomem(err);
    job->silence->matcher = app->matcher;
    const char *spec;
    bool stated = dg_args_has(&app->args, DG_OPT_DEVICE), refused = dg_args_has(&app->args, DG_OPT_NO_DEVICE);
    if (!stated && !refused) r = dg_devices_look(app, false, &job->look, err); /* it looks while we read */
    for (size_t i = 0; !r && (spec = dg_args_nth(&app->args, DG_OPT_DEVICE, i)); i++)
        r = dg_devices_state(dg_cstr(spec), &job->devices, err);
    return r;
}

static int join_look(struct dg_job *job, struct dg_err *err) {
    struct dg_look *look = DG_TAKE(job->look);
    return look ? dg_device_join(look, &job->devices, err) : 0;
}

void dg_job_release(struct dg_job *job) {
    (void)join_look(job, NULL);
    json_decref(job->report);
    dg_store_close(job->history.store);
    dg_ingest_free(job->ingest);
    dg_devices_release(&job->devices);
    dg_arena_free(job->arena);
    free(job->head);
    free(job->silence);
    free(job->heads);
}

static int launch_number(const struct dg_args *a, uint32_t *ret, struct dg_err *err) {
    const char *word = dg_args_value(a, DG_OPT_LAUNCH);
    uint64_t n = 0;
    *ret = 0;
    if (!word || !strcmp(word, "list")) return 0;
    if (!dg_slice_u64(dg_cstr(word), &n) || !n || n > UINT32_MAX)
        return dg_err_set(err, DG_E_SYNTAX, 0, "'--launch %s' is no number of a launch", word);
    *ret = (uint32_t)n;
    return 0;
}

static int what_was_tried(struct dg_job *job, struct dg_history_view *ret, struct dg_err *err) {
    struct dg_buf cc_set = DG_BUF_INIT(1024);
    struct dg_store *store = dg_args_has(&job->app->args, DG_OPT_NO_RECORD) ? NULL : dg_history_open(job);
    dg_history_devices(job->d->devices, job->d->n_devices, NULL, &cc_set);
    int r = dg_history_view(job->app, store, &job->d->attempt, dg_buf_slice(&cc_set), job->arena, ret, err);
    dg_buf_release(&cc_set);
    return r;
}

int dg_job_judge(struct dg_job *job, struct dg_err *err) {
    const struct dg_app *app = job->app;
    struct dg_reason_opts opts = {.rules = dg_pack_rules(app->pack),
                                  .catalog = app->catalog,
                                  .scan = job->scan,
                                  .devices = &job->devices,
                                  .device_stated = dg_args_has(&app->args, DG_OPT_DEVICE),
                                  .device_refused = dg_args_has(&app->args, DG_OPT_NO_DEVICE),
                                  .engine = dg_cstr(dg_args_value(&app->args, DG_OPT_ENGINE)),
                                  .command = job->command,
                                  .exit_code = job->exit_code,
                                  .exit_signal = job->exit_signal,
                                  .was_ready = job->was_ready};
    struct dg_history_view view = {0};
    int r = launch_number(&app->args, &opts.launch, err);
    if (!r) r = join_look(job, err);
    dg_trace("phase", "devices known: %u", job->devices.n);
    if (!r) r = dg_reason(&opts, job->arena, &job->d, err);
    if (!r) r = what_was_tried(job, &view, err);
    dg_trace("phase", "judged; %u choices were tried before", view.n);
    opts.history = &view;
    if (!r && dg_propose(&opts, job->arena, job->d)) r = dg_err_nomem(err);
    if (!r && dg_job_libraries(job)) r = dg_err_nomem(err);
    return r;
}

/* ---- the report */

int dg_job_report(struct dg_job *job, struct dg_err *err) {
    struct dg_buf text = DG_BUF_INIT(REPORT_ROOM);
    int64_t id = 0;
    int r = dg_report_json(job->d, DG_VERSION, &text);
    if (r) r = dg_err_set(err, r == -DG_E_NOMEM ? DG_E_NOMEM : DG_E_INTERNAL, 0, "the report cannot be made");
    if (!r && !dg_args_has(&job->app->args, DG_OPT_NO_RECORD)) {
        struct dg_err why = {0};
        if (dg_history_record(job, dg_buf_slice(&text), &id, &why)) dg_msg("not recorded: %s", why.msg);
    }
    if (!r) job->report = dg_json_parse(dg_buf_slice(&text), err);
    if (!r && !job->report) r = -DG_E_INTERNAL;
    if (!r && id && json_object_set_new(job->report, "recorded", json_pack("{s:I}", "id", (json_int_t)id)))
        r = dg_err_nomem(err);
    dg_buf_release(&text);
    dg_trace("phase", "reported, attempt %lld", (long long)id);
    return r;
}

int dg_job_render(const struct dg_app *app, enum dg_form form, const json_t *report, struct dg_buf *out) {
    struct dg_report_opts o = {.color = app->color, .verbose = app->verbose, .width = app->width};
    if (form == DG_FORM_TEXT) return dg_report_text(report, &o, out);
    if (form == DG_FORM_JSON || form == DG_FORM_JSONL) return dg_report_dump(report, form == DG_FORM_JSON, out);
    json_t *masked = dg_mask_json(report, app->unmask);
    if (!masked) return -DG_E_NOMEM;
    int r = form == DG_FORM_HTML ? dg_report_html(masked, out) : dg_report_markdown(masked, out);
    json_decref(masked);
    return r;
}

int dg_job_status(const json_t *report) {
    const char *status = json_string_value(json_object_get(report, "status"));
    const json_t *cause = json_array_get(json_object_get(report, "causes"), 0);
    const char *confidence = json_string_value(json_object_get(cause, "confidence"));
    if (status && !strcmp(status, "healthy")) return DG_EXIT_HEALTHY;
    bool sure = confidence && (!strcmp(confidence, "certain") || !strcmp(confidence, "likely"));
    return status && !strcmp(status, "failure") && sure ? DG_EXIT_FAILURE : DG_EXIT_LOOK;
}
