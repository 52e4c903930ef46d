/* The command that was given, with a proposal's flags and variables in it. Every word is quoted; what needs a shell to
 * be understood (pipes, redirections, expansions) is left alone. */
#include "reason/propose.h"
#include "base/buf.h"
#include <ctype.h>

#define MAX_WORDS 512u

static bool shell_char(char c) { return strchr("|&;<>()$`*?[]#~!{}\n\\", c) != NULL; }

static bool blank(char c) { return c == ' ' || c == '\t'; }

/* The word at `*at`, quotes undone, into `out`, which has room for the rest of the command. False: it needs a shell. */
static bool take_word(struct dg_slice command, size_t *at, char *out, size_t *ret_len) {
    char quote = 0;
    for (; *at < command.len; (*at)++) {
        char c = command.ptr[*at];
        if (quote && c == quote) {
            quote = 0;
        } else if (!quote && (c == '\'' || c == '"')) {
            quote = c;
        } else if (!quote && blank(c)) {
            break;
        } else {
            bool special = quote == '"' ? strchr("$`\\", c) != NULL : !quote && shell_char(c);
            if (!c || special) return false;
            out[(*ret_len)++] = c;
        }
    }
    return !quote;
}

/* Split into words as a shell does. False: more than words stand there. */
static bool split(struct dg_judge *j, struct dg_slice command, struct dg_strs *words) {
    for (size_t i = 0; i < command.len;) {
        if (blank(command.ptr[i])) {
            i++;
            continue;
        }
        char *out = dg_judge_alloc(j, command.len - i + 1);
        size_t n = 0;
        if (!out || words->n >= MAX_WORDS || !take_word(command, &i, out, &n)) return false;
        struct dg_slice word = {out, n};
        DG_LIST_ADD(j, words->v, words->n, word);
    }
    return words->n > 0;
}

/* Is words[i] the flag, alone or as --flag=value? */
static bool is_flag(struct dg_slice word, struct dg_slice flag) {
    return dg_slice_starts(word, flag) && (word.len == flag.len || word.ptr[flag.len] == '=');
}

/* Take the flag and its value out; they are added again at the end. */
static void drop(struct dg_strs *words, struct dg_slice flag) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < words->n; i++) {
        if (!is_flag(words->v[i], flag)) {
            words->v[n++] = words->v[i];
            continue;
        }
        bool value_follows = words->v[i].len == flag.len && i + 1 < words->n && *words->v[i + 1].ptr != '-';
        i += value_follows;
    }
    words->n = n;
}

struct dg_slice dg_relaunch(struct dg_judge *j, struct dg_slice command, const struct dg_proposal *p) {
    struct dg_strs words = {0}, added = {0};
    struct dg_buf out = DG_BUF_INIT(64u << 10);
    struct dg_slice ret = {NULL, 0};
    bool elsewhere = p->scope.len && !dg_slice_is(p->scope, "launch"); /* flags of docker, say, are not the server's */
    if (!command.len || (p->flags.n && elsewhere)) return ret;
    if ((!p->flags.n && !p->n_environment) || !split(j, command, &words)) return ret;
    for (uint32_t i = 0; i < p->flags.n; i++) {
        uint32_t first = added.n;
        if (*p->flags.v[i].ptr != '-' || !split(j, p->flags.v[i], &added) || added.n == first) return ret;
        drop(&words, added.v[first]);
    }
    if (p->n_environment) dg_buf_add_word(&out, DG_S("env"));
    for (uint32_t i = 0; i < p->n_environment; i++)
        dg_buf_add_word(&out,
                        dg_judge_say(j, "%.*s=%.*s", DG_FMT(p->environment[i].name), DG_FMT(p->environment[i].value)));
    for (uint32_t i = 0; i < words.n; i++) dg_buf_add_word(&out, words.v[i]);
    for (uint32_t i = 0; i < added.n; i++) dg_buf_add_word(&out, added.v[i]);
    if (!out.failed) ret = dg_arena_dup(j->arena, dg_buf_slice(&out));
    if (!ret.ptr) j->failed = true;
    dg_buf_release(&out);
    return ret;
}
