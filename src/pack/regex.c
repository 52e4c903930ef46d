/* What may stand in a rule's regex, told from its text alone. */
#include "pack/read.h"
#include <ctype.h>

/* Steps over one item of `re`: an escape, a class, or one character. */
static size_t step(struct dg_slice re, size_t at) {
    if (re.ptr[at] == '\\') return at + 2 <= re.len ? at + 2 : re.len;
    if (re.ptr[at] != '[') return at + 1;
    size_t i = at + 1;
    if (i < re.len && re.ptr[i] == '^') i++;
    if (i < re.len && re.ptr[i] == ']') i++;
    while (i < re.len && re.ptr[i] != ']') {
        if (re.ptr[i] == '\\') {
            i += 2;
        } else if (re.ptr[i] == '[' && i + 1 < re.len && re.ptr[i + 1] == ':') { /* [:alpha:] */
            ptrdiff_t end = dg_slice_find(dg_slice_from(re, i), DG_S(":]"));
            i = end < 0 ? i + 1 : i + (size_t)end + 2;
        } else {
            i++;
        }
    }
    return i < re.len ? i + 1 : re.len;
}

static bool group_name(struct dg_slice re, size_t at, struct dg_slice *ret) {
    struct dg_slice rest = dg_slice_from(re, at);
    size_t open = dg_slice_starts(rest, DG_S("(?<")) ? 3 : dg_slice_starts(rest, DG_S("(?P<")) ? 4 : 0, i = open;
    if (!open) return false;
    while (i < rest.len && (isalnum((unsigned char)rest.ptr[i]) || rest.ptr[i] == '_')) i++;
    if (i == open || i == rest.len || rest.ptr[i] != '>') return false;
    *ret = dg_slice(rest.ptr + open, i - open);
    return true;
}

bool regex_next_group(struct dg_slice re, size_t *at, struct dg_slice *ret_name) {
    while (*at < re.len) {
        size_t here = *at;
        *at = step(re, here);
        if (group_name(re, here, ret_name)) return true;
    }
    return false;
}

bool regex_has_group(struct dg_slice re, struct dg_slice name) {
    struct dg_slice found;
    for (size_t at = 0; regex_next_group(re, &at, &found);)
        if (dg_slice_eq(found, name)) return true;
    return false;
}

static const char *forbidden_group(struct dg_slice rest) {
    static const struct {
        const char *start, *what; /* what NULL: allowed */
    } groups[] = {
        {"=", "look-around"}, {"!", "look-around"}, {"<=", "look-around"}, {"<!", "look-around"},
        {":", NULL},          {">", NULL},          {"|", NULL},           {"R", "recursion"},
        {"&", "recursion"},   {"+", "recursion"},   {"P>", "recursion"},   {"P=", "a back-reference"},
        {"C", "a callout"},   {"(", "a condition"},
    };
    struct dg_slice name, inside = dg_slice_from(rest, 2);
    if (dg_slice_starts(rest, DG_S("(*"))) return "a (*VERB)";
    if (!dg_slice_starts(rest, DG_S("(?")) || !inside.len || group_name(rest, 0, &name)) return NULL;
    for (size_t i = 0; i < DG_COUNT(groups); i++)
        if (dg_slice_starts(inside, dg_cstr(groups[i].start))) return groups[i].what;
    return isdigit((unsigned char)*inside.ptr) ? "recursion" : "an inline flag";
}

static const char *forbidden_escape(struct dg_slice rest) {
    char c = rest.len > 1 ? rest.ptr[1] : '\0';
    if ((c >= '1' && c <= '9') || c == 'k' || c == 'g') return "a back-reference";
    return c == 'C' ? "\\C" : c == 'K' ? "\\K" : NULL;
}

const char *regex_forbidden(struct dg_slice re, size_t *ret_at) {
    int depth = 0;
    for (size_t at = 0; at < re.len; at = step(re, at)) {
        const char *what = NULL;
        struct dg_slice rest = dg_slice_from(re, at);
        if (re.ptr[at] == '(') {
            what = forbidden_group(rest);
            depth++;
        } else if (re.ptr[at] == ')') {
            depth--;
        } else if (re.ptr[at] == '\\') {
            what = forbidden_escape(rest);
        } else if (re.ptr[at] == '|' && depth == 0) {
            what = "a '|' outside of groups (use any)";
        }
        *ret_at = at;
        if (what) return what;
    }
    return NULL;
}
