#include "cli/app.h"
#include "base/mem.h"
#include "base/trace.h"
#include "report/report.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static int print_text(struct dg_app *app, void (*make)(struct dg_app *app, struct dg_buf *out)) {
    struct dg_buf out = DG_BUF_INIT(1 << 20);
    make(app, &out);
    int status = dg_put(1, "standard output", dg_buf_slice(&out), DG_EXIT_HEALTHY);
    dg_buf_release(&out);
    return status;
}

static void help(struct dg_app *app, struct dg_buf *out) { dg_help(app->args.cmd, out); }
static void version(struct dg_app *app, struct dg_buf *out) {
    (void)app;
    dg_buf_addf(out, "diagnose %s\n", DG_VERSION);
}

static int generate(struct dg_app *app, const char *what) {
    struct dg_buf out = DG_BUF_INIT(1 << 20);
    struct dg_err err = {0};
    bool words = !strncmp(what, "words:", 6);
    int status = DG_EXIT_USAGE;
    if (words && dg_words(app, what + 6, &out, &err))
        status = dg_msg_err(&err);
    else if (words || dg_generate(what, &out))
        status = dg_put(1, "standard output", dg_buf_slice(&out), DG_EXIT_HEALTHY);
    else
        dg_msg("nothing called '%s' can be generated", what);
    dg_buf_release(&out);
    return status;
}

static int run(struct dg_app *app) {
    static int (*const commands[DG_CMD_COUNT])(struct dg_app * app) = {
#define CMD(id, name, operands, brief, text) dg_cmd_##name,
#include "cli/commands.def"
#undef CMD
    };
    const char *what = dg_args_value(&app->args, DG_OPT_GENERATE);
    if (dg_args_has(&app->args, DG_OPT_HELP)) return print_text(app, help);
    if (dg_args_has(&app->args, DG_OPT_VERSION)) return print_text(app, version);
    return what ? generate(app, what) : commands[app->args.cmd](app);
}

/* A new file for us alone, or one that nobody else has a hand in. */
static int open_trace(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0 || errno != EEXIST) return fd;
    struct stat st;
    fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) return fd;
    if (S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1) return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* DIAGNOSE_TRACE: 1 is standard error, else a file. Returns what is to be closed, or -1. */
static int start_trace(const char *where) {
    bool own = where && strcmp(where, "1") != 0;
    int fd = own ? open_trace(where) : -1;
    if (own && fd < 0) dg_msg("no trace: cannot write '%s': %s", where, strerror(errno));
    if (where) dg_trace_start(own ? fd : STDERR_FILENO, dg_mask_secrets);
    return fd;
}

int dg_cli_main(int argc, char **argv, const struct dg_slice *built_in) {
    struct dg_app app;
    struct dg_err err = {0};
    /* Neither a broken pipe nor a limit on the size of files may end us before the diagnosis is recorded and printed.
     */
    signal(SIGPIPE, SIG_IGN); /* dg_put() ends us by it */
    signal(SIGXFSZ, SIG_IGN);
    int status, trace = -1;
    if (dg_app_init(&app, argc, argv, &err)) {
        status = dg_msg_err(&err);
        if (status == DG_EXIT_USAGE) dg_msg("see 'diagnose --help'");
    } else {
        app.built_in = built_in;
        trace = start_trace(app.env.trace);
        dg_trace("start", "diagnose %s, %s", DG_VERSION, dg_cmds[app.args.cmd].name);
        status = run(&app);
        dg_trace("end", "status %d", status);
        dg_trace_start(-1, NULL);
    }
    dg_closep(&trace);
    dg_app_release(&app);
    return status;
}
