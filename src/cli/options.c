#include "cli/options.h"
#include "base/mem.h"

const struct dg_cmd_row dg_cmds[DG_CMD_COUNT] = {
#define CMD(id, name, operands, brief, text) {#name, operands, brief, text},
#include "cli/commands.def"
#undef CMD
};

#define ON(c) (1u << DG_CMD_##c)
#define EVERY (~0u)
const struct dg_opt_row dg_opts[DG_OPT_COUNT] = {
#define OPT(id, letter, name, arg, type, commands, category, brief, text)                                              \
    {letter, name, arg, DG_OPT_##type, commands, DG_CAT_##category, brief, text},
#include "cli/options.def"
#undef OPT
};

static bool find_command(const char *word, enum dg_cmd *ret) {
    for (int c = DG_CMD_SCAN + 1; c < DG_CMD_COUNT; c++)
        if (!strcmp(word, dg_cmds[c].name)) {
            *ret = (enum dg_cmd)c;
            return true;
        }
    return false;
}

static bool find_option(struct dg_slice name, enum dg_cmd cmd, enum dg_opt *ret) {
    for (int o = 0; o < DG_OPT_COUNT; o++)
        if (dg_opt_of((enum dg_opt)o, cmd) && dg_slice_is(name, dg_opts[o].name)) {
            *ret = (enum dg_opt)o;
            return true;
        }
    return false;
}

static bool find_letter(char letter, enum dg_cmd cmd, enum dg_opt *ret) {
    for (int o = 0; o < DG_OPT_COUNT; o++)
        if (dg_opt_of((enum dg_opt)o, cmd) && dg_opts[o].letter == letter) {
            *ret = (enum dg_opt)o;
            return true;
        }
    return false;
}

/* At most two letters apart, or the beginning of it. */
static bool near(struct dg_slice typed, const char *name) {
    enum { LENGTH = 32, APART = 2 };
    size_t n = strlen(name), row[LENGTH];
    if (typed.len < 3 || typed.len >= LENGTH || n >= LENGTH) return false;
    if (dg_slice_starts(dg_cstr(name), typed)) return true;
    for (size_t k = 0; k <= n; k++) row[k] = k;
    for (size_t i = 0; i < typed.len; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < n; k++) {
            size_t change = diagonal + (typed.ptr[i] != name[k]), other = row[k] < row[k + 1] ? row[k] : row[k + 1];
            diagonal = row[k + 1];
            row[k + 1] = change < other + 1 ? change : other + 1;
        }
    }
    return row[n] <= APART && row[n] < typed.len / 2;
}

const char *dg_cmd_near(const char *word) {
    for (int c = DG_CMD_SCAN + 1; c < DG_CMD_COUNT; c++)
        if (near(dg_cstr(word), dg_cmds[c].name)) return dg_cmds[c].name;
    return NULL;
}

struct parser {
    int argc;
    char **argv;
    int at;
    bool operands_only, command_known;
    struct dg_args *a;
    struct dg_err *err;
};

static int refuse(struct parser *p, const char *fmt, const char *word) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return dg_err_set(p->err, DG_E_SYNTAX, 0, fmt, word);
#pragma GCC diagnostic pop
}

static void give(struct parser *p, enum dg_opt opt, const char *value) {
    p->a->given[p->a->n_given++] = (struct dg_given){opt, value};
}

/* Tell where the option does exist: a likely slip is one typed at the wrong command. */
static int unknown_option(struct parser *p, struct dg_slice name) {
    for (int c = 0; c < DG_CMD_COUNT; c++) {
        enum dg_opt opt;
        if (find_option(name, (enum dg_cmd)c, &opt) && dg_opts[opt].category != DG_CAT_HIDDEN)
            return dg_err_set(p->err, DG_E_SYNTAX, 0, "'%s' has no option '--%.*s'; '%s' has", dg_cmds[p->a->cmd].name,
                              DG_FMT(name), dg_cmds[c].name);
    }
    for (int o = 0; o < DG_OPT_COUNT; o++)
        if (dg_opt_of((enum dg_opt)o, p->a->cmd) && dg_opts[o].category != DG_CAT_HIDDEN && near(name, dg_opts[o].name))
            return dg_err_set(p->err, DG_E_SYNTAX, 0, "unknown option '--%.*s'; is it '--%s'?", DG_FMT(name),
                              dg_opts[o].name);
    return dg_err_set(p->err, DG_E_SYNTAX, 0, "unknown option '--%.*s'", DG_FMT(name));
}

static int take_long(struct parser *p, const char *word) {
    struct dg_slice name = dg_cstr(word + 2);
    ptrdiff_t equals = dg_slice_find_ch(name, '=');
    const char *value = equals >= 0 ? name.ptr + equals + 1 : NULL;
    if (equals >= 0) name.len = (size_t)equals;
    enum dg_opt opt;
    if (!find_option(name, p->a->cmd, &opt)) return unknown_option(p, name);
    if (!dg_opts[opt].arg) {
        if (value) return refuse(p, "option '--%s' takes no value", dg_opts[opt].name);
        give(p, opt, NULL);
        return 0;
    }
    if (!value && ++p->at >= p->argc) return refuse(p, "option '--%s' needs a value", dg_opts[opt].name);
    give(p, opt, value ? value : p->argv[p->at]);
    return 0;
}

static int take_letters(struct parser *p, const char *word) {
    for (const char *c = word + 1; *c; c++) {
        enum dg_opt opt;
        if (!find_letter(*c, p->a->cmd, &opt)) return refuse(p, "unknown option '%s'", word);
        give(p, opt, NULL); /* letters are flags only */
    }
    return 0;
}

/* Options typed before the command's name were read as a scan's; the command must have them too. */
static int take_command(struct parser *p, enum dg_cmd cmd) {
    p->a->cmd = cmd;
    p->command_known = true;
    for (size_t i = 0; i < p->a->n_given; i++) {
        struct dg_given *g = &p->a->given[i];
        if (!find_option(dg_cstr(dg_opts[g->opt].name), cmd, &g->opt))
            return unknown_option(p, dg_cstr(dg_opts[g->opt].name));
    }
    return 0;
}

static int take_operand(struct parser *p, char *word) {
    enum dg_cmd cmd;
    if (!p->operands_only && !p->command_known && !p->a->n_operands && find_command(word, &cmd))
        return take_command(p, cmd);
    p->a->operands[p->a->n_operands++] = word;
    if (p->a->cmd == DG_CMD_PREFLIGHT || p->a->cmd == DG_CMD_RUN) p->operands_only = true;
    return 0;
}

int dg_args_parse(int argc, char **argv, struct dg_args *ret, struct dg_err *err) {
    size_t room = (size_t)argc + 1, letters = 0;
    for (int i = 1; i < argc; i++) letters += strlen(argv[i]); /* -qqq gives three */
    struct dg_args a = {.given = dg_calloc(room + letters, sizeof(*a.given)),
                        .operands = dg_calloc(room, sizeof(*a.operands))};
    struct parser p = {.argc = argc, .argv = argv, .at = 1, .a = &a, .err = err};
    int r = a.given && a.operands ? 0 : dg_err_nomem(err);
    for (; !r && p.at < argc; p.at++) {
        char *word = argv[p.at];
        if (p.operands_only || word[0] != '-' || !word[1])
            r = take_operand(&p, word);
        else if (!strcmp(word, "--"))
            p.operands_only = true;
        else
            r = word[1] == '-' ? take_long(&p, word) : take_letters(&p, word);
    }
    if (r)
        dg_args_release(&a);
    else
        *ret = a;
    return r;
}

void dg_args_release(struct dg_args *a) {
    free(a->given);
    free(a->operands);
    *a = (struct dg_args){0};
}

bool dg_args_has(const struct dg_args *a, enum dg_opt opt) {
    for (size_t i = 0; i < a->n_given; i++)
        if (a->given[i].opt == opt) return true;
    return false;
}

const char *dg_args_value(const struct dg_args *a, enum dg_opt opt) {
    for (size_t i = a->n_given; i-- > 0;)
        if (a->given[i].opt == opt) return a->given[i].value;
    return NULL;
}

const char *dg_args_nth(const struct dg_args *a, enum dg_opt opt, size_t n) {
    for (size_t i = 0; i < a->n_given; i++)
        if (a->given[i].opt == opt && !n--) return a->given[i].value;
    return NULL;
}
