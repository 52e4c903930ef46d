/* Completions for shells, from the two tables: options, commands, and what stands for a value. */
#include "cli/options.h"
#include "base/mem.h"

/* What a word of the tables stands for: words, and with @ in front those that --generate words:NAME prints (or, for
 * @files and @commands, what the shell knows). */
static const struct {
    const char *arg, *words;
} VALUES[] = {
    {"FILE", "@files"},
    {"PATH", "@files"},
    {"COMMAND", "@commands"},
    {"CLASS", "@classes"},
    {"RULE", "@rules"},
    {"NAME", "@engines"},
    {"ENGINE", "@engines"},
    {"ID", "@attempts"},
    {"WHEN", "auto always never"},
    {"FORM", "text json jsonl markdown html"},
    {"WHAT", "hosts addresses users paths prompts"},
    {"WORD", "fails started works garbage slow stopped unknown"},
};

static const char *stands_for(struct dg_slice arg) {
    for (size_t i = 0; i < DG_COUNT(VALUES); i++)
        if (dg_slice_is(arg, VALUES[i].arg)) return VALUES[i].words;
    return NULL;
}

/* The words that a text like "works|garbage [ID]" allows; what is written in lower case stands for itself. */
static void add_words(struct dg_buf *out, const char *text) {
    size_t begin = out->len;
    while (*text) {
        size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz"), m = n ? 0 : strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        const char *words = m ? stands_for(dg_slice(text, m)) : NULL;
        if ((n || words) && out->len > begin) dg_buf_addc(out, ' ');
        if (n) dg_buf_add(out, text, n);
        if (words) dg_buf_adds(out, words);
        text += n + m ? n + m : 1;
    }
}

static bool is_shown(int opt, int cmd) {
    return dg_opt_of((enum dg_opt)opt, (enum dg_cmd)cmd) && dg_opts[opt].category != DG_CAT_HIDDEN;
}

/* ---- bash */

/* Rows of one name, for different commands, are of one kind. */
static bool is_first(int opt) {
    int i = 0;
    while (strcmp(dg_opts[i].name, dg_opts[opt].name) != 0) i++;
    return i == opt;
}

/* "--a|--b) ": the options that take a value, of whatever command. */
static void bash_takers(struct dg_buf *out) {
    const char *separator = "";
    for (int i = 0; i < DG_OPT_COUNT; i++) {
        if (!dg_opts[i].arg || !is_first(i)) continue;
        dg_buf_addf(out, "%s--%s", separator, dg_opts[i].name);
        separator = "|";
    }
}

static void bash_values(struct dg_buf *out) {
    for (int i = 0; i < DG_OPT_COUNT; i++) {
        const struct dg_opt_row *o = &dg_opts[i];
        if (!o->arg || !is_first(i) || o->category == DG_CAT_HIDDEN) continue;
        dg_buf_addf(out, "    --%s) words='", o->name);
        add_words(out, o->arg);
        dg_buf_adds(out, "' ;;\n");
    }
}

static void bash_command(struct dg_buf *out, int cmd) {
    dg_buf_addf(out, "        %s) options='", cmd ? dg_cmds[cmd].name : "*");
    for (int i = 0; i < DG_OPT_COUNT; i++)
        if (is_shown(i, cmd)) dg_buf_addf(out, "--%s ", dg_opts[i].name);
    dg_buf_adds(out, "' words='");
    add_words(out, dg_cmds[cmd].operands);
    dg_buf_adds(out, "' ;;\n");
}

static void bash(struct dg_buf *out) {
    dg_buf_adds(out, "# bash completion for diagnose\n"
                     "_diagnose() {\n"
                     "    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                     "    local command='' options='' words='' word i\n"
                     "    if [[ $cur == = ]]; then cur=''\n"
                     "    elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                     "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                     "        case ${COMP_WORDS[i]} in\n        ");
    bash_takers(out);
    dg_buf_adds(out, ") [[ ${COMP_WORDS[++i]} == = ]] && ((i++)) ;;\n"
                     "        -*) ;;\n"
                     "        *) command=${COMP_WORDS[i]}; break ;;\n"
                     "        esac\n"
                     "    done\n"
                     "    case $before in\n");
    bash_values(out);
    dg_buf_adds(out, "    *)\n        case $command in\n");
    for (int c = DG_CMD_COUNT - 1; c >= 0; c--) bash_command(out, c); /* scan last, as the rest */
    dg_buf_adds(out, "        esac\n        [[ $command ]] || words+='");
    for (int c = DG_CMD_SCAN + 1; c < DG_CMD_COUNT; c++) dg_buf_addf(out, " %s", dg_cmds[c].name);
    dg_buf_adds(out,
                "'\n"
                "        [[ $cur == -* ]] && words=$options ;;\n"
                "    esac\n"
                "    COMPREPLY=()\n"
                "    for word in $words; do\n"
                "        case $word in\n"
                "        @files)\n"
                "            compopt -o filenames 2>/dev/null\n"
                "            mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
                "        @commands) mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -c -- \"$cur\") ;;\n"
                "        @*)\n"
                "            word=$(\"${COMP_WORDS[0]}\" --generate \"words:${word#@}\" 2>/dev/null)\n"
                "            mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -W \"$word\" -- \"$cur\") ;;\n"
                "        \"$cur\"*) COMPREPLY+=(\"$word\") ;;\n"
                "        esac\n"
                "    done\n"
                "}\n"
                "complete -F _diagnose diagnose\n");
}

/* ---- zsh */

static void zsh_text(struct dg_buf *out, const char *text) {
    for (; *text; text++) {
        if (strchr("[]:'\\", *text)) dg_buf_addc(out, *text == '\'' ? ' ' : '\\');
        if (*text != '\'') dg_buf_addc(out, *text);
    }
}

/* ":message:action" for what the text allows. */
static void zsh_action(struct dg_buf *out, const char *text) {
    dg_buf_adds(out, ":");
    zsh_text(out, text);
    dg_buf_adds(out, ":{_diagnose_words ");
    add_words(out, text);
    dg_buf_adds(out, "}");
}

static void zsh_options(struct dg_buf *out, int cmd) {
    for (int i = 0; i < DG_OPT_COUNT; i++) {
        const struct dg_opt_row *o = &dg_opts[i];
        if (!is_shown(i, cmd)) continue;
        dg_buf_addf(out, " \\\n        '%s--%s%s[", o->type == DG_OPT_LIST ? "*" : "", o->name, o->arg ? "=" : "");
        zsh_text(out, o->brief);
        dg_buf_addc(out, ']');
        if (o->arg) zsh_action(out, o->arg);
        dg_buf_addc(out, '\'');
    }
}

static void zsh(struct dg_buf *out) {
    dg_buf_adds(out, "#compdef diagnose\n"
                     "_diagnose_words() {\n"
                     "    local word\n"
                     "    for word; do\n"
                     "        case $word in\n"
                     "        @files) _files ;;\n"
                     "        @commands) _command_names -e ;;\n"
                     "        @*) compadd -- ${(f)\"$(diagnose --generate words:${word#@} 2>/dev/null)\"} ;;\n"
                     "        *) compadd -- $word ;;\n"
                     "        esac\n"
                     "    done\n"
                     "}\n"
                     "_diagnose() {\n"
                     "    local state line\n"
                     "    local -a commands\n"
                     "    commands=(\n");
    for (int c = DG_CMD_SCAN + 1; c < DG_CMD_COUNT; c++) {
        dg_buf_addf(out, "        '%s:", dg_cmds[c].name);
        zsh_text(out, dg_cmds[c].brief);
        dg_buf_adds(out, "'\n");
    }
    dg_buf_adds(out, "    )\n    _arguments -C");
    zsh_options(out, DG_CMD_SCAN);
    dg_buf_adds(out, " \\\n        '(-)1:command or file:{_describe command commands; _files}' \\\n"
                     "        '(-)*::operand:->operands'\n"
                     "    [[ $state == operands ]] || return\n"
                     "    case $words[1] in\n");
    for (int c = DG_CMD_SCAN + 1; c < DG_CMD_COUNT; c++) {
        dg_buf_addf(out, "    %s) _arguments", dg_cmds[c].name);
        zsh_options(out, c);
        if (*dg_cmds[c].operands) {
            dg_buf_adds(out, " \\\n        '*");
            zsh_action(out, dg_cmds[c].operands);
            dg_buf_addc(out, '\'');
        }
        dg_buf_adds(out, " ;;\n");
    }
    dg_buf_adds(out, "    *) _arguments");
    zsh_options(out, DG_CMD_SCAN);
    dg_buf_adds(out, " '*:file:_files' ;;\n    esac\n}\n_diagnose \"$@\"\n");
}

/* ---- fish */

static void fish_text(struct dg_buf *out, const char *text) {
    for (; *text; text++) {
        if (strchr("'\\", *text)) dg_buf_addc(out, '\\');
        dg_buf_addc(out, *text);
    }
}

/* " -x -a '…'" for what the text allows; files are what fish offers by itself. */
static void fish_words(struct dg_buf *out, const char *text) {
    struct dg_buf words = DG_BUF_INIT(4096);
    struct dg_slice rest, word;
    add_words(&words, text);
    rest = dg_buf_slice(&words);
    bool files = dg_slice_find(rest, DG_S("@files")) >= 0;
    dg_buf_adds(out, files ? " -F" : " -f");
    dg_buf_adds(out, " -a '");
    while (rest.len && dg_slice_split(&rest, ' ', &word)) {
        if (dg_slice_is(word, "@files")) continue;
        if (dg_slice_is(word, "@commands"))
            dg_buf_adds(out, "(__fish_complete_command) ");
        else if (*word.ptr == '@')
            dg_buf_addf(out, "(diagnose --generate words:%.*s 2>/dev/null) ", DG_FMT(dg_slice_from(word, 1)));
        else
            dg_buf_addf(out, "%.*s ", DG_FMT(word));
    }
    dg_buf_addc(out, '\'');
    dg_buf_release(&words);
}

static void fish_condition(struct dg_buf *out, const struct dg_opt_row *o, int opt) {
    const char *separator = "";
    if (o->commands == ~0u) return;
    dg_buf_adds(out, " -n '");
    for (int c = 0; c < DG_CMD_COUNT; c++) {
        if (!dg_opt_of((enum dg_opt)opt, (enum dg_cmd)c)) continue;
        if (c)
            dg_buf_addf(out, "%s__fish_seen_subcommand_from %s", separator, dg_cmds[c].name);
        else
            dg_buf_addf(out, "%snot __fish_seen_subcommand_from $__diagnose_commands", separator);
        separator = "; or ";
    }
    dg_buf_addc(out, '\'');
}

static void fish(struct dg_buf *out) {
    dg_buf_adds(out, "# fish completion for diagnose\nset -g __diagnose_commands");
    for (int c = DG_CMD_SCAN + 1; c < DG_CMD_COUNT; c++) dg_buf_addf(out, " %s", dg_cmds[c].name);
    dg_buf_addc(out, '\n');
    for (int c = DG_CMD_SCAN + 1; c < DG_CMD_COUNT; c++) {
        dg_buf_addf(out, "complete -c diagnose -n 'not __fish_seen_subcommand_from $__diagnose_commands' -a %s -d '",
                    dg_cmds[c].name);
        fish_text(out, dg_cmds[c].brief);
        dg_buf_addf(out, "'\ncomplete -c diagnose -n '__fish_seen_subcommand_from %s'", dg_cmds[c].name);
        fish_words(out, dg_cmds[c].operands);
        dg_buf_addc(out, '\n');
    }
    for (int i = 0; i < DG_OPT_COUNT; i++) {
        const struct dg_opt_row *o = &dg_opts[i];
        if (o->category == DG_CAT_HIDDEN) continue;
        dg_buf_adds(out, "complete -c diagnose");
        fish_condition(out, o, i);
        if (o->letter) dg_buf_addf(out, " -s %c", o->letter);
        dg_buf_addf(out, " -l %s -d '", o->name);
        fish_text(out, o->brief);
        dg_buf_addc(out, '\'');
        if (o->arg) dg_buf_adds(out, " -r");
        if (o->arg) fish_words(out, o->arg);
        dg_buf_addc(out, '\n');
    }
}

bool dg_completions(const char *shell, struct dg_buf *out) {
    static const struct {
        const char *name;
        void (*make)(struct dg_buf *out);
    } SHELLS[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < DG_COUNT(SHELLS); i++) {
        if (strcmp(shell, SHELLS[i].name) != 0) continue;
        SHELLS[i].make(out);
        return true;
    }
    return false;
}
