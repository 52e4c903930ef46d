/* Help on the screen and the option lists of the manual, from the two tables. */
#include "cli/options.h"
#include "base/mem.h"
#include <stdio.h>

enum { COLUMNS = 79, NAME_WIDTH = 24, ROFF_COLUMNS = 74 };

/* Words after `head`, comma-separated, in lines that are indented alike. */
struct flow {
    struct dg_buf *out;
    size_t column, indent;
    bool first;
};

static struct flow flow_begin(struct dg_buf *out, const char *head) {
    dg_buf_adds(out, head);
    return (struct flow){out, strlen(head), strlen(head), true};
}

static void flow_add(struct flow *f, const char *word) {
    if (!f->first) dg_buf_addc(f->out, ',');
    if (!f->first && f->column + strlen(word) + 3 > COLUMNS) {
        dg_buf_addf(f->out, "\n%*s", (int)f->indent, "");
        f->column = f->indent;
    } else if (!f->first) {
        dg_buf_addc(f->out, ' ');
        f->column += 2;
    }
    dg_buf_adds(f->out, word);
    f->column += strlen(word);
    f->first = false;
}

static void spell(const struct dg_opt_row *o, struct dg_buf *out) {
    if (o->letter) dg_buf_addf(out, "-%c ", o->letter);
    dg_buf_addf(out, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
}

static void options_of(enum dg_cmd cmd, struct dg_buf *out) {
    for (int i = 0; i < DG_OPT_COUNT; i++) {
        const struct dg_opt_row *o = &dg_opts[i];
        if (!dg_opt_of((enum dg_opt)i, cmd) || o->category >= DG_CAT_ALWAYS) continue;
        struct dg_buf name = DG_BUF_INIT(256);
        spell(o, &name);
        dg_buf_addf(out, "  %-*s %s\n", NAME_WIDTH, dg_buf_slice(&name).ptr, o->brief);
        dg_buf_release(&name);
    }
}

static void always(enum dg_cmd cmd, struct dg_buf *out) {
    struct flow f = flow_begin(out, "also:     ");
    for (int i = 0; i < DG_OPT_COUNT; i++) {
        if (!dg_opt_of((enum dg_opt)i, cmd) || dg_opts[i].category != DG_CAT_ALWAYS) continue;
        struct dg_buf name = DG_BUF_INIT(256);
        spell(&dg_opts[i], &name);
        flow_add(&f, dg_buf_slice(&name).ptr);
        dg_buf_release(&name);
    }
    dg_buf_addc(out, '\n');
}

void dg_help(enum dg_cmd cmd, struct dg_buf *out) {
    const struct dg_cmd_row *c = &dg_cmds[cmd];
    bool scan = cmd == DG_CMD_SCAN;
    dg_buf_addf(out, "usage: diagnose %s%s[OPTIONS]%s%s\n", scan ? "" : c->name, scan ? "" : " ",
                *c->operands ? " " : "", c->operands);
    dg_buf_addf(out, "%s\n", c->brief);
    options_of(cmd, out);
    always(cmd, out);
    if (scan) {
        struct flow f = flow_begin(out, "commands: ");
        for (int i = DG_CMD_SCAN + 1; i < DG_CMD_COUNT; i++) flow_add(&f, dg_cmds[i].name);
        dg_buf_adds(out, "\nstatus:   0 healthy, 1 failure with its cause, 2 usage or input, 3 look yourself\n");
    }
}

/* At the start of a line a dot or quote would be a request; a backslash is an escape. */
static void roff(struct dg_buf *out, struct dg_slice word, bool line_start) {
    if (line_start && (dg_slice_starts(word, DG_S(".")) || dg_slice_starts(word, DG_S("'")))) dg_buf_adds(out, "\\&");
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '\\')
            dg_buf_adds(out, "\\e");
        else if (word.ptr[i] == '-')
            dg_buf_adds(out, "\\-");
        else
            dg_buf_addc(out, word.ptr[i]);
    }
}

/* As mdoc wants it: each sentence begins a line, no line is longer than a screen. */
static void roff_lines(struct dg_buf *out, const char *text) {
    struct dg_slice rest = dg_cstr(text), word;
    size_t column = 0;
    while (rest.len && dg_slice_split(&rest, ' ', &word)) {
        if (column && column + word.len > ROFF_COLUMNS) {
            dg_buf_addc(out, '\n');
            column = 0;
        }
        if (column) dg_buf_addc(out, ' ');
        roff(out, word, column == 0);
        column += word.len + 1;
        if (dg_slice_ends(word, DG_S("."))) column = ROFF_COLUMNS;
    }
    dg_buf_addc(out, '\n');
}

static void man_options(enum dg_cmd cmd, struct dg_buf *out) {
    dg_buf_adds(out, ".Bl -tag -width Ds\n");
    for (int i = 0; i < DG_OPT_COUNT; i++) {
        const struct dg_opt_row *o = &dg_opts[i];
        if (!dg_opt_of((enum dg_opt)i, cmd) || o->category == DG_CAT_HIDDEN) continue;
        if (o->category == DG_CAT_ALWAYS && cmd != DG_CMD_SCAN) continue; /* told once, under scan */
        dg_buf_adds(out, ".It");
        if (o->letter) dg_buf_addf(out, " Fl %c ,", o->letter);
        dg_buf_addf(out, " Fl \\-%s", o->name);
        if (o->arg) dg_buf_addf(out, " Ar %s", o->arg);
        dg_buf_addc(out, '\n');
        roff_lines(out, o->text);
    }
    dg_buf_adds(out, ".El\n");
}

static void man_commands(struct dg_buf *out) {
    for (int c = DG_CMD_SCAN + 1; c < DG_CMD_COUNT; c++) {
        dg_buf_addf(out, ".Ss diagnose %s\n", dg_cmds[c].name);
        if (*dg_cmds[c].operands) dg_buf_addf(out, ".D1 diagnose %s Ar \"%s\"\n", dg_cmds[c].name, dg_cmds[c].operands);
        roff_lines(out, dg_cmds[c].text);
        bool own = false;
        for (int i = 0; i < DG_OPT_COUNT; i++)
            own |= dg_opt_of((enum dg_opt)i, (enum dg_cmd)c) && dg_opts[i].category < DG_CAT_ALWAYS;
        if (own) man_options((enum dg_cmd)c, out);
    }
}

bool dg_generate(const char *what, struct dg_buf *out) {
    if (!strncmp(what, "completions:", 12)) return dg_completions(what + 12, out);
    if (!strcmp(what, "man:commands")) {
        man_commands(out);
        return true;
    }
    for (int c = 0; c < DG_CMD_COUNT; c++) {
        char name[64];
        snprintf(name, sizeof(name), "man:%s", dg_cmds[c].name);
        if (strcmp(what, name) != 0) continue;
        man_options((enum dg_cmd)c, out);
        return true;
    }
    return false;
}
