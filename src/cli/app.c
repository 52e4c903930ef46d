#include "cli/app.h"
#include "base/file.h"
#include "base/mem.h"
#include "report/report.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, WIDTH_DEFAULT = 80, WIDTH_MIN = 40, WIDTH_MAX = 500 };

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static struct dg_env read_environment(void) {
    return (struct dg_env){
        .home = variable("HOME"),
        .xdg_state_home = variable("XDG_STATE_HOME"),
        .xdg_config_home = variable("XDG_CONFIG_HOME"),
        .xdg_runtime_dir = variable("XDG_RUNTIME_DIR"),
        .db = variable("DIAGNOSE_DB"),
        .trace = variable("DIAGNOSE_TRACE"),
        .no_color = variable("NO_COLOR"),
        .term = variable("TERM"),
        .columns = variable("COLUMNS"),
        .cuda_visible_devices = getenv("CUDA_VISIBLE_DEVICES"), /* empty means: none */
        .cuda_device_order = variable("CUDA_DEVICE_ORDER"),
        .ld_library_path = variable("LD_LIBRARY_PATH"),
        .cuda_mps_pipe_directory = variable("CUDA_MPS_PIPE_DIRECTORY"),
        .nvidia_visible_devices = variable("NVIDIA_VISIBLE_DEVICES"),
        .device_root = variable("DIAGNOSE_DEVICE_ROOT"),
    };
}

static int one_of(const char *option, const char *value, const char *const *words, size_t n, size_t *ret,
                  struct dg_err *err) {
    for (*ret = 0; *ret < n; ++*ret)
        if (!strcmp(value, words[*ret])) return 0;
    struct dg_buf list = DG_BUF_INIT(256);
    for (size_t i = 0; i < n; i++) dg_buf_addf(&list, "%s%s", i ? ", " : "", words[i]);
    int r = dg_err_set(err, DG_E_SYNTAX, 0, "'--%s %s' is none of %s", option, value, dg_buf_slice(&list).ptr);
    dg_buf_release(&list);
    return r;
}

static int settle_form(struct dg_app *app, struct dg_err *err) {
    static const char *const forms[] = {"text", "json", "jsonl", "markdown", "html"};
    const char *value = dg_args_value(&app->args, DG_OPT_FORMAT);
    size_t form = DG_FORM_TEXT;
    int r = value ? one_of("format", value, forms, DG_COUNT(forms), &form, err) : 0;
    app->form = (enum dg_form)form;
    bool reports = app->args.cmd == DG_CMD_SCAN || app->args.cmd == DG_CMD_RUN;
    if (!r && !reports && form > DG_FORM_JSONL)
        r = dg_err_set(err, DG_E_SYNTAX, 0, "'%s' has no %s form; it has text, json and jsonl",
                       dg_cmds[app->args.cmd].name, forms[form]);
    return r;
}

static int settle_color(struct dg_app *app, struct dg_err *err) {
    static const char *const when[] = {"auto", "always", "never"};
    const char *value = dg_args_value(&app->args, DG_OPT_COLOR);
    size_t w = 0;
    int r = value ? one_of("color", value, when, DG_COUNT(when), &w, err) : 0;
    bool terminal = isatty(STDOUT_FILENO) && !app->env.no_color && app->env.term && strcmp(app->env.term, "dumb") != 0;
    app->color = w == 1 || (w == 0 && terminal);
    return r;
}

static int settle_unmask(struct dg_app *app, enum dg_opt opt, struct dg_err *err) {
    static const char *const kinds[] = {"hosts", "addresses", "users", "paths", "prompts"};
    const char *value;
    for (size_t i = 0; (value = dg_args_nth(&app->args, opt, i)); i++) {
        struct dg_slice rest = dg_cstr(value), word;
        while (dg_slice_split(&rest, ',', &word)) {
            char name[32];
            size_t kind;
            if (word.len >= sizeof(name)) word.len = sizeof(name) - 1;
            memcpy(name, word.ptr, word.len);
            name[word.len] = '\0';
            int r = one_of("unmask", name, kinds, DG_COUNT(kinds), &kind, err);
            if (r) return r;
            app->unmask |= 1u << kind;
        }
    }
    return 0;
}

static unsigned terminal_width(const struct dg_env *env) {
    uint64_t n = 0;
    struct winsize ws;
    if (env->columns && dg_slice_u64(dg_cstr(env->columns), &n) && n)
        ;
    else if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_col)
        n = ws.ws_col;
    else
        n = WIDTH_DEFAULT;
    return (unsigned)(n < WIDTH_MIN ? WIDTH_MIN : n > WIDTH_MAX ? WIDTH_MAX : n);
}

/* A first operand that is neither a command nor a file may be a command's name with a slip in it. */
static int refuse_slip(const struct dg_args *a, struct dg_err *err) {
    const char *word = a->cmd == DG_CMD_SCAN && a->n_operands ? a->operands[0] : "";
    const char *meant = *word && access(word, F_OK) ? dg_cmd_near(word) : NULL;
    return meant ? dg_err_set(err, DG_E_SYNTAX, 0, "there is no file or command '%s'; is it '%s'?", word, meant) : 0;
}

int dg_app_init(struct dg_app *app, int argc, char **argv, struct dg_err *err) {
    *app = (struct dg_app){.env = read_environment()};
    int r = dg_args_parse(argc, argv, &app->args, err);
    if (r) return r;
    app->quiet = dg_args_has(&app->args, DG_OPT_QUIET);
    app->verbose = dg_args_has(&app->args, DG_OPT_VERBOSE);
    app->width = terminal_width(&app->env);
    r = refuse_slip(&app->args, err);
    if (!r) r = settle_form(app, err);
    if (!r) r = settle_color(app, err);
    if (!r) r = settle_unmask(app, DG_OPT_UNMASK, err);
    if (!r) r = settle_unmask(app, DG_OPT_EXPORT_UNMASK, err);
    return r;
}

void dg_app_release(struct dg_app *app) {
    dg_matcher_free(app->matcher);
    dg_catalog_free(app->catalog);
    dg_pack_free(app->pack);
    dg_problems_release(&app->problems);
    dg_args_release(&app->args);
}

/* ---- results */

int dg_put(int fd, const char *name, struct dg_slice text, int status) {
    if (!dg_fd_write(fd, text.ptr, text.len)) return status;
    if (errno == EPIPE) { /* whoever reads has gone: end as a program that never heard of SIGPIPE would */
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    dg_msg("cannot write to %s: %s", name, strerror(errno));
    return DG_EXIT_INTERNAL;
}

int dg_app_put(const struct dg_app *app, struct dg_slice text, int status) {
    return app->quiet ? status : dg_put(STDOUT_FILENO, "standard output", text, status);
}

/* ---- history */

/* Relative XDG folders are ignored, as their specification demands. */
static bool absolute(const char *path) { return path && *path == '/'; }

static int history_path(const struct dg_app *app, struct dg_buf *out, struct dg_err *err) {
    const struct dg_env *env = &app->env;
    const char *given = dg_args_value(&app->args, DG_OPT_DB);
    if (!given) given = env->db;
    if (given) {
        dg_buf_adds(out, given);
    } else if (absolute(env->xdg_state_home)) {
        dg_path_join(out, env->xdg_state_home, "diagnose/history.db");
    } else if (absolute(env->home) && env->home[1]) {
        dg_path_join(out, env->home, ".local/state/diagnose/history.db");
    } else {
        return dg_err_set(err, DG_E_NOTFOUND, 0, "no place for a history: HOME is not set; say --db FILE");
    }
    return out->failed ? dg_err_set(err, DG_E_LIMIT, 0, "the path of the history is too long") : 0;
}

int dg_app_store(struct dg_app *app, enum dg_store_mode mode, struct dg_store **ret, struct dg_err *err) {
    struct dg_buf path = DG_BUF_INIT(PATH_ROOM);
    int r = history_path(app, &path, err);
    if (!r) r = dg_store_open(path.ptr, mode, ret, err);
    dg_buf_release(&path);
    return r;
}

int dg_app_id(const struct dg_app *app, size_t i, int64_t *ret, struct dg_err *err) {
    *ret = 0;
    if (i >= app->args.n_operands) return 0;
    const char *word = app->args.operands[i];
    if (dg_slice_i64(dg_cstr(*word == '#' ? word + 1 : word), ret) && *ret > 0) return 0;
    return dg_err_set(err, DG_E_SYNTAX, 0, "'%s' is no attempt's number", word);
}
