/* diagnose run: start the command, keep its log, see its end, judge, record. */
#include "cli/cgroup.h"
#include "cli/job.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/runlog.h"
#include "cli/supervise.h"
#include "report/report.h"
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    KERNEL_ROOM = 64 << 20,
    LOG_ROOM = 32 << 20,
    COMMAND_ROOM = 256 << 10,
    READY_MOST = 1000000,
    OWN_FAILURE = 125,
    CANNOT_RUN = 126,
    NOT_FOUND = 127
};

struct watch { /* what the supervisor's callbacks need */
    struct dg_app *app;
    struct dg_runlog log;
    struct dg_buf text; /* the log, when no file holds it */
    bool own_folder;    /* the log is where ours are kept, and pruned */
    int cannot_keep;    /* errno of its first write that failed; 0 */
    pcre2_code *regex;  /* of --ready; NULL: what the rules know */
    pcre2_match_data *data;
};

/* ---- readiness */

static bool says_serving(const struct dg_rule *rule) {
    for (uint32_t i = 0; i < rule->n_set; i++)
        if (dg_slice_is(rule->set[i].name, "phase") && dg_slice_is(rule->set[i].value, "serving")) return rule->pulse;
    return false;
}

static bool holds_literal(const struct dg_rule *rule, struct dg_slice line) {
    for (uint32_t i = 0; i < rule->n_positive; i++)
        if (dg_slice_find(line, rule->patterns[i].lit) >= 0) return true;
    return false;
}

static bool rule_matches(const struct dg_app *app, const struct dg_rule *rule, struct dg_slice line) {
    struct dg_match_opts opts = {.split = dg_prefix_parse, .threads = 1};
    struct dg_finding f;
    struct dg_arena *arena = dg_arena_new(1 << 20);
    bool yes = arena && dg_match_rule(app->matcher, rule, line, &opts, arena, &f) == 1;
    dg_arena_free(arena);
    return yes;
}

/* The engines' own lines of readiness are rules: facts that pulse and set the phase to serving. */
static bool ready(void *ctx, struct dg_slice line) {
    struct watch *w = ctx;
    const struct dg_ruleset *rules = dg_pack_rules(w->app->pack);
    if (w->regex) return pcre2_match(w->regex, (PCRE2_SPTR)line.ptr, line.len, 0, 0, w->data, NULL) >= 0;
    for (uint32_t i = 0; i < rules->n_rules; i++) {
        const struct dg_rule *r = &rules->rules[i];
        if (says_serving(r) && holds_literal(r, line) && rule_matches(w->app, r, line)) return true;
    }
    return false;
}

static int compile_ready(struct watch *w, struct dg_err *err) {
    const char *text = dg_args_value(&w->app->args, DG_OPT_READY);
    int code;
    PCRE2_SIZE at;
    PCRE2_UCHAR why[128];
    if (!text) return 0;
    w->regex =
        pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &code, &at, NULL);
    if (!w->regex) {
        pcre2_get_error_message(code, why, sizeof(why));
        return dg_err_set(err, DG_E_SYNTAX, 0, "--ready: column %zu: %s", (size_t)at + 1, (const char *)why);
    }
    w->data = pcre2_match_data_create_from_pattern(w->regex, NULL);
    return w->data ? 0 : dg_err_nomem(err);
}

static int keep(void *ctx, const void *ptr, size_t len) {
    struct watch *w = ctx;
    int r = dg_runlog_write(&w->log, ptr, len);
    if (r) w->cannot_keep = errno;
    return r;
}

/* ---- the log */

static bool state_folder(const struct dg_env *env, struct dg_buf *out) {
    if (env->xdg_state_home && *env->xdg_state_home == '/')
        return !dg_path_join(out, env->xdg_state_home, "diagnose/logs");
    return env->home && *env->home == '/' && env->home[1] &&
           !dg_path_join(out, env->home, ".local/state/diagnose/logs");
}

/* The folder of the session, which lies in memory: only where it is as its specification demands, ours alone. */
static bool session_folder(const struct dg_env *env, struct dg_buf *out) {
    const char *dir = env->xdg_runtime_dir;
    struct stat st;
    return dir && *dir == '/' && !lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 0777) == 0700 && !dg_path_join(out, dir, "diagnose");
}

/* run-TIME-PID.log in the folder. */
static int open_in(struct watch *w, const char *folder, const struct dg_runlog_room *room) {
    char path[sizeof(w->log.path)];
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    int n = snprintf(path, sizeof(path), "%s/run-%04d%02d%02dT%02d%02d%02dZ-%d.log", folder, tm.tm_year + 1900,
                     tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)getpid());
    if (n >= (int)sizeof(path)) return -DG_E_LIMIT;
    int r = dg_dir_make(folder, 0700, NULL);
    if (!r) r = dg_runlog_open(&w->log, path, true, room, NULL);
    w->own_folder = !r;
    return r;
}

/* --log, else the state folder, else the session's, else (no home, or none that can be written to) memory: never where
 * others may write. */
static int open_log(struct watch *w, struct dg_err *err) {
    const struct dg_env *env = &w->app->env;
    const char *given = dg_args_value(&w->app->args, DG_OPT_LOG);
    if (given) return dg_runlog_open(&w->log, given, false, &dg_runlog_disk, err);
    struct dg_buf state = DG_BUF_INIT(4096), session = DG_BUF_INIT(4096);
    bool open = (state_folder(env, &state) && !open_in(w, state.ptr, &dg_runlog_disk)) ||
                (session_folder(env, &session) && !open_in(w, session.ptr, &dg_runlog_memory));
    dg_buf_release(&state);
    dg_buf_release(&session);
    if (open) return 0;
    dg_msg("no folder of ours can be written to: the log is not kept, its first and last 8 MiB are judged; "
           "--log FILE keeps it");
    return dg_runlog_open(&w->log, NULL, true, &dg_runlog_memory, err);
}

static void close_log(struct watch *w) {
    struct dg_err why = {0};
    if (w->cannot_keep) dg_msg("the log ends early: %s", strerror(w->cannot_keep));
    if (dg_runlog_close(&w->log, &w->text, &why)) dg_msg("%s", why.msg);
    if (!w->own_folder) return;
    char folder[sizeof(w->log.path)];
    memcpy(folder, w->log.path, sizeof(folder));
    *strrchr(folder, '/') = '\0';
    dg_runlog_prune(folder, w->log.path, &w->log.room);
}

/* ---- what was run, as one line that a shell would take */

/* Variables that choose backends or say how GPUs talk to each other; those that hold secrets are masked with the
 * report. */
static bool chooses(const char *variable) {
    static const char *const PREFIXES[] = {"SGLANG_", "SGL_",    "VLLM_", "FLASHINFER_", "TRTLLM_", "TLLM_",
                                           "NCCL_",   "CUDA_",   "TORCH", "PYTORCH_",    "TRITON_", "GLOO_",
                                           "GGML_",   "OLLAMA_", "RAY_",  "MAX_JOBS="};
    for (size_t i = 0; i < DG_COUNT(PREFIXES); i++)
        if (!strncmp(variable, PREFIXES[i], strlen(PREFIXES[i]))) return true;
    return false;
}

static void add_command(struct dg_buf *out, char *const *argv) {
    for (char **e = environ; *e; e++)
        if (chooses(*e)) dg_buf_add_word(out, dg_cstr(*e));
    for (; *argv; argv++) dg_buf_add_word(out, dg_cstr(*argv));
}

/* ---- after the end */

static void tell_end(const struct dg_supervised *s, const char *log) {
    char how[64];
    if (s->exit_signal >= 0)
        snprintf(how, sizeof(how), "was ended by signal %d", s->exit_signal);
    else
        snprintf(how, sizeof(how), "ended with status %d", s->exit_code);
    dg_msg("the command %s after %.0f s (peak %.1f GiB in one process)%s%s", how, s->ended - s->started,
           (double)s->peak_rss / (1 << 30), *log ? "; log: " : "", log);
    if (s->timed_out)
        dg_msg(
            "it was not ready in time and was ended; where it hung: py-spy dump --pid PID, before the next time-out");
    for (unsigned i = 0; i < s->n_leftovers; i++)
        dg_msg("left behind: %d %s%s", (int)s->leftovers[i].pid, s->leftovers[i].name,
               i ? "" : " (--cleanup ends such)");
}

/* What the kernel had counted and said before the start, so that what it adds to it can be told. */
struct kernel_side {
    struct dg_cgroup_memory memory;
    struct dg_buf said; /* its log */
};

static void kernel_before(struct kernel_side *k) {
    *k = (struct kernel_side){.said = DG_BUF_INIT(KERNEL_ROOM)};
    dg_cgroup_memory(&k->memory);
    (void)dg_kmsg_read(&k->said, NULL); /* not permitted: it will not be afterwards either */
}

/* Each line of the kernel is one of a kind: what stands behind the last one from before is new. */
static struct dg_slice said_since(const struct kernel_side *k, struct dg_slice now) {
    struct dg_slice before = dg_slice_trim(dg_buf_slice(&k->said));
    const char *newline = before.len ? memrchr(before.ptr, '\n', before.len) : NULL;
    struct dg_slice last = newline ? dg_slice_from(before, (size_t)(newline + 1 - before.ptr)) : before;
    ptrdiff_t at = last.len ? dg_slice_find(now, last) : -1;
    return at < 0 ? now : dg_slice_from(now, (size_t)at + last.len);
}

static int add_kernel_side(struct dg_job *job, const struct kernel_side *before, struct dg_buf *events,
                           struct dg_buf *kernel) {
    struct dg_cgroup_memory after;
    int r = 0;
    dg_cgroup_memory(&after);
    dg_cgroup_events(&before->memory, &after, events);
    if (events->len) r = dg_job_add_text(job, "memory.events", DG_KIND_CONTAINER, dg_buf_slice(events));
    if (!r && !dg_kmsg_read(kernel, NULL)) /* that it said nothing is worth knowing, too */
        r = dg_job_add_text(job, "kernel ring buffer", DG_KIND_KERNEL,
                            dg_slice_trim(said_since(before, dg_buf_slice(kernel))));
    return r;
}

static int judge(struct watch *w, const struct dg_supervised *s, const struct kernel_side *before, struct dg_err *err) {
    struct dg_job job;
    struct dg_buf command = DG_BUF_INIT(COMMAND_ROOM), events = DG_BUF_INIT(4096), kernel = DG_BUF_INIT(KERNEL_ROOM);
    int r = dg_job_init(&job, w->app, err);
    char *log = w->log.path;
    add_command(&command, w->app->args.operands);
    job.files = &log;
    job.n_files = *log != '\0';
    job.exit_code = s->exit_code;
    job.exit_signal = s->exit_signal;
    job.started = s->started;
    job.was_ready = s->was_ready;
    job.command = dg_buf_slice(&command);
    if (!r && !*log) r = dg_job_add_text(&job, "output", DG_KIND_UNKNOWN, dg_buf_slice(&w->text));
    if (!r && add_kernel_side(&job, before, &events, &kernel)) r = dg_err_nomem(err);
    if (!r) r = dg_job_scan(&job, err);
    if (!r) r = dg_job_judge(&job, err);
    if (!r) r = dg_job_report(&job, err);
    if (!r) (void)dg_put_report(w->app, job.report);
    dg_job_release(&job);
    dg_buf_release(&command);
    dg_buf_release(&events);
    dg_buf_release(&kernel);
    return r;
}

static int settle_pty(const struct dg_args *a, bool *ret, struct dg_err *err) {
    const char *when = dg_args_value(a, DG_OPT_PTY);
    bool automatic = !when || !strcmp(when, "auto");
    if (!automatic && strcmp(when, "always") && strcmp(when, "never"))
        return dg_err_set(err, DG_E_SYNTAX, 0, "'--pty %s' is none of auto, always, never", when);
    *ret = automatic ? isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) : !strcmp(when, "always");
    return 0;
}

static int settle_limit(const struct dg_args *a, double *ret, struct dg_err *err) {
    const char *limit = dg_args_value(a, DG_OPT_TIMEOUT_READY);
    if (limit && (!dg_slice_double(dg_cstr(limit), ret) || !(*ret > 0) || *ret > READY_MOST))
        return dg_err_set(err, DG_E_SYNTAX, 0, "'--timeout-ready %s' is no number of seconds", limit);
    return 0;
}

static int settle(struct watch *w, struct dg_supervise_opts *o, struct dg_err *err) {
    const struct dg_args *a = &w->app->args;
    int r = a->n_operands ? 0 : dg_err_set(err, DG_E_SYNTAX, 0, "name the command to run, after --");
    if (!r) r = settle_pty(a, &o->pty, err);
    if (!r) r = settle_limit(a, &o->timeout_ready, err);
    if (!r) r = compile_ready(w, err);
    if (!r) r = dg_app_rules(w->app, err);
    if (!r && dg_pack_detach(w->app->pack)) r = dg_err_nomem(err);
    if (!r) r = dg_app_matcher(w->app, err);
    if (!r) r = open_log(w, err);
    o->cleanup = dg_args_has(a, DG_OPT_CLEANUP);
    o->argv = a->operands; /* room is one more than what was typed, and zeroed */
    o->log = keep;
    if (o->timeout_ready > 0 || dg_args_has(a, DG_OPT_READY))
        o->ready = ready; /* else the log will tell, soon enough */
    o->ctx = w;
    return r;
}

static int status_of(const struct dg_supervised *s) {
    return s->exit_signal >= 0 ? 128 + s->exit_signal : s->exit_code;
}

int dg_cmd_run(struct dg_app *app) {
    struct watch w = {.app = app, .log = {.fd = -1}, .text = DG_BUF_INIT(LOG_ROOM)};
    struct dg_supervise_opts o = {0};
    struct dg_supervised s;
    struct kernel_side before = {0};
    struct dg_err err = {0}, why = {0};
    int status = OWN_FAILURE, r = settle(&w, &o, &err);
    if (!r) {
        kernel_before(&before);
        r = dg_supervise(&o, &s, &err);
        if (r) status = r == -DG_E_NOTFOUND ? NOT_FOUND : CANNOT_RUN;
    }
    if (r) {
        dg_msg("%s", err.msg);
    } else {
        status = status_of(&s);
        close_log(&w);
        if (!app->quiet) tell_end(&s, w.log.path);
        if (judge(&w, &s, &before, &why) && why.code) dg_msg("%s", why.msg);
    }
    dg_buf_release(&before.said);
    dg_buf_release(&w.text);
    free(w.log.bytes);
    dg_closep(&w.log.fd);
    pcre2_match_data_free(w.data);
    pcre2_code_free(w.regex);
    return status;
}
