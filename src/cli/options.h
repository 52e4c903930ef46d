/* The command line: one table of commands (commands.def), one of options (options.def). They make the parser, the help
 * on the screen, the option lists of the manual and the completions, so these cannot disagree. */
#ifndef DG_CLI_OPTIONS_H
#define DG_CLI_OPTIONS_H

#include "base/buf.h"
#include "base/err.h"

enum dg_cmd {
#define CMD(id, name, operands, brief, text) DG_CMD_##id,
#include "cli/commands.def"
#undef CMD
    DG_CMD_COUNT
};

enum dg_opt {
#define OPT(id, letter, name, arg, type, commands, category, brief, text) DG_OPT_##id,
#include "cli/options.def"
#undef OPT
    DG_OPT_COUNT
};

enum dg_opt_type { DG_OPT_FLAG, DG_OPT_VALUE, DG_OPT_LIST };
enum dg_opt_category {
    DG_CAT_INPUT,
    DG_CAT_JUDGE,
    DG_CAT_OUTPUT,
    DG_CAT_HISTORY,
    DG_CAT_RULES,
    DG_CAT_ALWAYS,
    DG_CAT_HIDDEN
};

struct dg_cmd_row {
    const char *name, *operands, *brief, *text;
};
struct dg_opt_row {
    char letter;            /* 0: none */
    const char *name, *arg; /* arg NULL: a flag */
    enum dg_opt_type type;
    unsigned commands; /* bits of enum dg_cmd */
    enum dg_opt_category category;
    const char *brief, *text;
};
extern const struct dg_cmd_row dg_cmds[DG_CMD_COUNT];
extern const struct dg_opt_row dg_opts[DG_OPT_COUNT];
static inline bool dg_opt_of(enum dg_opt o, enum dg_cmd c) { return dg_opts[o].commands >> c & 1; }

/* What was typed. Texts are borrowed from argv. */
struct dg_args {
    enum dg_cmd cmd;
    struct dg_given {
        enum dg_opt opt;
        const char *value; /* NULL: a flag */
    } * given;
    size_t n_given;
    char **operands; /* ends in NULL */
    size_t n_operands;
};

/* No abbreviations; --opt=v and --opt v; options before or after the command, which is the first word that is no
 * option; after `--` all are operands; what follows `preflight` begins the command to look at. 0; -DG_E_SYNTAX: err
 * says what is wrong; -DG_E_NOMEM. */
int dg_args_parse(int argc, char **argv, struct dg_args *ret, struct dg_err *err);
void dg_args_release(struct dg_args *a);

/* The command that somebody who typed `word` may have meant; NULL: none is like it. */
const char *dg_cmd_near(const char *word);

bool dg_args_has(const struct dg_args *a, enum dg_opt opt);
/* The last value, or NULL. */
const char *dg_args_value(const struct dg_args *a, enum dg_opt opt);
/* The n-th value of a LIST option, from 0, or NULL past the end. */
const char *dg_args_nth(const struct dg_args *a, enum dg_opt opt, size_t n);

/* Help for the screen: 24 lines of 80 columns at most. */
void dg_help(enum dg_cmd cmd, struct dg_buf *out);
/* The completions of "bash", "zsh" or "fish". False: of no other shell. */
bool dg_completions(const char *shell, struct dg_buf *out);
/* "man:scan", "completions:bash". False: no such part. */
bool dg_generate(const char *what, struct dg_buf *out);

#endif
