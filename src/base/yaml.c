#include "base/yaml.h"
#include "base/utf8.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>

enum { DEPTH_MAX = 32, SIZE_MAX_TEXT = 1 << 20 };

/* One open sequence or map. In a map, scalars are keys and values in turn. */
struct level {
    struct dg_yaml *node, *last;
    bool have_key;
    struct dg_slice key;
    unsigned key_line, key_col;
};

struct builder {
    const char *file;
    struct dg_slice text;
    struct dg_arena *arena;
    struct dg_problems *probs;
    struct dg_err *err;
    struct level stack[DEPTH_MAX];
    int depth, documents;
    struct dg_yaml *root;
    int result; /* the first fault's code */
};

struct dg_slice dg_text_line(struct dg_slice text, unsigned line) {
    struct dg_slice part = {NULL, 0};
    while (line && dg_slice_split(&text, '\n', &part)) line--;
    if (line) return (struct dg_slice){"", 0};
    if (part.len && part.ptr[part.len - 1] == '\r') part.len--;
    return part;
}

__attribute__((format(printf, 5, 6))) static void fault(struct builder *b, int code, unsigned line, unsigned col,
                                                        const char *fmt, ...) {
    char msg[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    struct dg_slice snippet = dg_text_line(b->text, line);
    dg_problems_add(b->probs, b->file, line, col, snippet.ptr, snippet.len, "%s", msg);
    if (!b->result) b->result = dg_err_at(b->err, code, b->file, line, col, "%s", msg);
}

static void no_memory(struct builder *b) {
    if (!b->result) b->result = dg_err_nomem(b->err);
}

static unsigned mark_line(const yaml_mark_t *m) { return (unsigned)m->line + 1; }
static unsigned mark_col(const yaml_mark_t *m) { return (unsigned)m->column + 1; }

static int by_key(const void *a, const void *b) {
    const struct dg_yaml *x = *(struct dg_yaml *const *)a, *y = *(struct dg_yaml *const *)b;
    int c = dg_slice_cmp(x->key, y->key);
    if (!c) c = (x->key_line > y->key_line) - (x->key_line < y->key_line);
    return c ? c : (x->key_col > y->key_col) - (x->key_col < y->key_col);
}

/* Sorted, so that a map of many keys costs no more than n log n. */
static bool check_duplicates(struct builder *b, const struct dg_yaml *map) {
    if (map->n < 2) return true;
    _cleanup_(dg_freep) struct dg_yaml **sorted = dg_realloc_array(NULL, map->n, sizeof(struct dg_yaml *));
    if (!sorted) {
        no_memory(b);
        return false;
    }
    size_t n = 0;
    DG_YAML_EACH(it, map) sorted[n++] = it;
    qsort(sorted, n, sizeof(struct dg_yaml *), by_key);
    for (size_t i = 1; i < n; i++)
        if (dg_slice_eq(sorted[i - 1]->key, sorted[i]->key))
            fault(b, DG_E_SYNTAX, sorted[i]->key_line, sorted[i]->key_col, "duplicate key '%.*s'",
                  DG_FMT(sorted[i]->key));
    return true;
}

/* A node in its place: root, item, or the value of the pending key. False: cannot go on. */
static struct dg_yaml *add_node(struct builder *b, enum dg_yaml_type type, const yaml_event_t *e) {
    struct dg_yaml *n = dg_arena_alloc(b->arena, sizeof(*n));
    if (!n) {
        no_memory(b);
        return NULL;
    }
    n->type = type;
    n->line = mark_line(&e->start_mark);
    n->col = mark_col(&e->start_mark);
    struct level *top = b->depth ? &b->stack[b->depth - 1] : NULL;
    if (!top) {
        b->root = n;
        return n;
    }
    n->key = top->key;
    n->key_line = top->key_line;
    n->key_col = top->key_col;
    top->have_key = false;
    if (top->last)
        top->last->next = n;
    else
        top->node->child = n;
    top->last = n;
    top->node->n++;
    return n;
}

static struct level *awaits_key(struct builder *b) {
    struct level *top = b->depth ? &b->stack[b->depth - 1] : NULL;
    return top && top->node->type == DG_YAML_MAP && !top->have_key ? top : NULL;
}

static bool on_scalar(struct builder *b, const yaml_event_t *e) {
    struct dg_slice raw = dg_slice((const char *)e->data.scalar.value, e->data.scalar.length);
    struct dg_slice text = dg_arena_dup(b->arena, raw);
    struct level *top = awaits_key(b);
    if (!text.ptr) {
        no_memory(b);
        return false;
    }
    if (top) {
        top->have_key = true;
        top->key = text;
        top->key_line = mark_line(&e->start_mark);
        top->key_col = mark_col(&e->start_mark);
        return true;
    }
    struct dg_yaml *n = add_node(b, DG_YAML_SCALAR, e);
    if (!n) return false;
    n->text = text;
    n->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return true;
}

static bool on_start(struct builder *b, enum dg_yaml_type type, const yaml_event_t *e) {
    unsigned line = mark_line(&e->start_mark), col = mark_col(&e->start_mark);
    if (b->depth == DEPTH_MAX) {
        fault(b, DG_E_LIMIT, line, col, "nested deeper than %d levels", DEPTH_MAX);
        return false;
    }
    if (awaits_key(b)) {
        fault(b, DG_E_SYNTAX, line, col, "a key must be a scalar");
        return false;
    }
    struct dg_yaml *n = add_node(b, type, e);
    if (!n) return false;
    b->stack[b->depth++] = (struct level){.node = n};
    return true;
}

/* The list or map that ends here. */
static struct dg_yaml *leave(struct builder *b) {
    assert(b->depth); /* libyaml ends only what it began */
    return b->stack[--b->depth].node;
}

static void refuse_properties(struct builder *b, const yaml_event_t *e, const yaml_char_t *anchor,
                              const yaml_char_t *tag) {
    unsigned line = mark_line(&e->start_mark), col = mark_col(&e->start_mark);
    if (anchor) fault(b, DG_E_SYNTAX, line, col, "anchor '&%s' is not allowed", (const char *)anchor);
    if (tag) fault(b, DG_E_SYNTAX, line, col, "tag '%s' is not allowed", (const char *)tag);
}

static bool on_document(struct builder *b, const yaml_event_t *e) {
    unsigned line = mark_line(&e->start_mark), col = mark_col(&e->start_mark);
    if (++b->documents > 1) {
        fault(b, DG_E_SYNTAX, line, col, "a second document begins here; one is allowed");
        return false;
    }
    if (e->data.document_start.tag_directives.start != e->data.document_start.tag_directives.end)
        fault(b, DG_E_SYNTAX, line, col, "%%TAG directives are not allowed");
    return true;
}

/* False: stop, as nothing sensible can follow. */
static bool on_event(struct builder *b, const yaml_event_t *e) {
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT: return on_document(b, e);
    case YAML_ALIAS_EVENT:
        fault(b, DG_E_SYNTAX, mark_line(&e->start_mark), mark_col(&e->start_mark), "alias '*%s' is not allowed",
              (const char *)e->data.alias.anchor);
        return false;
    case YAML_SCALAR_EVENT: refuse_properties(b, e, e->data.scalar.anchor, e->data.scalar.tag); return on_scalar(b, e);
    case YAML_SEQUENCE_START_EVENT:
        refuse_properties(b, e, e->data.sequence_start.anchor, e->data.sequence_start.tag);
        return on_start(b, DG_YAML_SEQ, e);
    case YAML_MAPPING_START_EVENT:
        refuse_properties(b, e, e->data.mapping_start.anchor, e->data.mapping_start.tag);
        return on_start(b, DG_YAML_MAP, e);
    case YAML_MAPPING_END_EVENT: return check_duplicates(b, leave(b));
    case YAML_SEQUENCE_END_EVENT: return leave(b);
    default: return true;
    }
}

/* Text that libyaml should not see. */
static bool check_text(struct builder *b) {
    if (b->text.len > SIZE_MAX_TEXT) {
        fault(b, DG_E_LIMIT, 0, 0, "larger than %d bytes", SIZE_MAX_TEXT);
        return false;
    }
    unsigned line = 1, col = 1;
    for (struct dg_slice s = b->text; s.len;) {
        int32_t cp;
        struct dg_slice rest = dg_slice_from(s, dg_utf8_next(s, &cp));
        if (cp == DG_UTF8_BAD) {
            fault(b, DG_E_SYNTAX, line, col, "byte 0x%02x is not UTF-8", (unsigned)(unsigned char)*s.ptr);
            return false;
        }
        col = cp == '\n' ? 1 : col + 1;
        line += cp == '\n';
        s = rest;
    }
    return true;
}

static void parser_fault(struct builder *b, const yaml_parser_t *p) {
    if (p->error == YAML_MEMORY_ERROR) {
        no_memory(b);
        return;
    }
    const yaml_mark_t *m = p->error == YAML_READER_ERROR ? &p->mark : &p->problem_mark;
    fault(b, DG_E_SYNTAX, mark_line(m), mark_col(m), "%s%s%s", p->problem ? p->problem : "malformed YAML",
          p->context ? " " : "", p->context ? p->context : "");
}

int dg_yaml_parse(const char *file, struct dg_slice text, struct dg_arena *arena, struct dg_problems *probs,
                  struct dg_yaml **ret, struct dg_err *err) {
    struct builder b = {.file = file, .text = text, .arena = arena, .probs = probs, .err = err};
    if (!check_text(&b)) return b.result;
    _cleanup_(yaml_parser_delete) yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        memset(&parser, 0, sizeof(parser));
        return dg_err_nomem(err);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)(text.ptr ? text.ptr : ""), text.len);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    for (bool more = true; more;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            parser_fault(&b, &parser);
            break;
        }
        more = on_event(&b, &event) && event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    if (b.result) return b.result;
    *ret = b.root;
    return 0;
}

struct dg_yaml *dg_yaml_get(const struct dg_yaml *map, const char *key) {
    if (!map || map->type != DG_YAML_MAP) return NULL;
    DG_YAML_EACH(it, map) if (dg_slice_is(it->key, key)) return it;
    return NULL;
}

static bool is_one_of(const struct dg_yaml *n, const char *const *words) {
    if (!n || n->type != DG_YAML_SCALAR || !n->plain) return false;
    for (; *words; words++)
        if (dg_slice_is(n->text, *words)) return true;
    return false;
}

bool dg_yaml_bool(const struct dg_yaml *n, bool *ret) {
    static const char *const yes[] = {"true", "True", "TRUE", NULL}, *const no[] = {"false", "False", "FALSE", NULL};
    bool is_yes = is_one_of(n, yes);
    if (!is_yes && !is_one_of(n, no)) return false;
    *ret = is_yes;
    return true;
}

bool dg_yaml_is_null(const struct dg_yaml *n) {
    static const char *const words[] = {"null", "Null", "NULL", "~", "", NULL};
    return is_one_of(n, words);
}
