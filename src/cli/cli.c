#include "cli/app.h"
#include "base/mem.h"
#include <signal.h>

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

int dg_cli_main(int argc, char **argv, const struct dg_built_in *built_in) {
    struct dg_app app;
    struct dg_err err = {0};
    /* Neither a broken pipe nor a limit on the size of files may end us before the diagnosis is recorded and printed.
     */
    signal(SIGPIPE, SIG_IGN); /* dg_put() ends us by it */
    signal(SIGXFSZ, SIG_IGN);
    int status;
    if (dg_app_init(&app, argc, argv, &err)) {
        status = dg_msg_err(&err);
        if (status == DG_EXIT_USAGE) dg_msg("see 'diagnose --help'");
    } else {
        app.built_in = built_in;
        status = run(&app);
    }
    dg_app_release(&app);
    return status;
}
