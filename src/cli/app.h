/* What every command shares: the command line as meant, the environment, the rules, where history is, how results
 * leave. */
#ifndef DG_CLI_APP_H
#define DG_CLI_APP_H

#include "catalog/catalog.h"
#include "cli/msgs.h"
#include "cli/options.h"
#include "match/match.h"
#include "model/env.h"
#include "pack/pack.h"
#include "store/store.h"

enum dg_form { DG_FORM_TEXT, DG_FORM_JSON, DG_FORM_JSONL, DG_FORM_MARKDOWN, DG_FORM_HTML };

struct dg_app {
    const struct dg_slice *built_in; /* a packs.bin inside the program, for when no rules lie beside it; NULL: none */
    struct dg_args args;
    struct dg_env env;
    enum dg_form form;
    bool quiet, verbose, color; /* color: of standard output */
    unsigned width;             /* columns of reports */
    unsigned unmask;            /* DG_UNMASK bits */
    struct dg_pack *pack;       /* after dg_app_rules() */
    struct dg_catalog *catalog;
    struct dg_matcher *matcher;  /* after dg_app_matcher() */
    struct dg_problems problems; /* of the packs */
};

/* Each command; the return value is the exit status. */
#define CMD(id, name, operands, brief, text) int dg_cmd_##name(struct dg_app *app);
#include "cli/commands.def"
#undef CMD

/* The program: parse, run the command, free everything. `built_in` may be NULL. */
int dg_cli_main(int argc, char **argv, const struct dg_slice *built_in);

/* Parse, read the environment, settle the options that all commands take. 0 or -DG_E_*. */
int dg_app_init(struct dg_app *app, int argc, char **argv, struct dg_err *err);
void dg_app_release(struct dg_app *app);

/* Load rules and catalog: packs.bin beside the shipped rules where it fits, else YAML (or what is built in, when no
 * rules lie beside the program); then those of the machine, of the user, of --rules. Rejected rules are said on
 * standard error once, as a count. */
int dg_app_rules(struct dg_app *app, struct dg_err *err);
/* Load rules with their examples, from `paths` alone when there are any. */
int dg_app_rules_examples(struct dg_app *app, char *const *paths, size_t n, struct dg_err *err);
/* Does packs.bin hold other rules than the shipped YAML that it was made from? */
bool dg_app_packs_stale(void);
/* Make the rules' literals ready to be sought. */
int dg_app_matcher(struct dg_app *app, struct dg_err *err);

/* Open history. -DG_E_NOTFOUND: there is none, or no place for one (err says which). */
int dg_app_store(struct dg_app *app, enum dg_store_mode mode, struct dg_store **ret, struct dg_err *err);
/* The operand `i` as an attempt's number; 0 when there is none. */
int dg_app_id(const struct dg_app *app, size_t i, int64_t *ret, struct dg_err *err);

/* What completions offer: "classes", "rules", "engines", "attempts", one a line. */
int dg_words(struct dg_app *app, const char *what, struct dg_buf *out, struct dg_err *err);

/* Write a result to standard output, unless --quiet. `status` when that went well; 4 when it could not be written; a
 * broken pipe ends us by SIGPIPE. */
int dg_app_put(const struct dg_app *app, struct dg_slice text, int status);
/* The same to descriptor `fd`; `name` for the message. */
int dg_put(int fd, const char *name, struct dg_slice text, int status);

#endif
