/* packs.bin: the rules as they are in memory, in one order that writing and reading share.
 *
 * Layout: head, then the rules. Numbers are of this machine's byte order and texts end in NUL, so reading makes no
 * copies. The hash covers everything behind the head: what it does not match is damaged or cut. */
#include "pack/pack_internal.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define FORMAT "diagnose packs 2"
enum { BIN_MAX = 64 << 20 };

struct head {
    char made_by[48]; /* format, architecture */
    uint64_t size, hash;
};

static void made_by(char *out, size_t size) {
#if defined(__x86_64__)
    static const char ARCH[] = "x86_64";
#elif defined(__aarch64__)
    static const char ARCH[] = "aarch64";
#else
    static const char ARCH[] = "other";
#endif
    memset(out, 0, size);
    snprintf(out, size, FORMAT "; %s; %zu", ARCH, sizeof(struct dg_rule));
}

/* One description of every struct serves both ways. */
struct codec {
    struct dg_buf *out;     /* writing; NULL: reading */
    struct dg_slice in;     /* reading: the rest */
    struct dg_arena *arena; /* reading: lists live here */
    bool bad, nomem;
};

static void raw(struct codec *c, void *p, size_t n) {
    if (c->out) {
        dg_buf_add(c->out, p, n);
    } else if (c->in.len < n) {
        c->bad = true;
        memset(p, 0, n);
    } else {
        memcpy(p, c->in.ptr, n);
        c->in = dg_slice_from(c->in, n);
    }
}

static void count(struct codec *c, uint32_t *n) {
    raw(c, n, sizeof(*n));
    if (!c->out && *n > c->in.len) c->bad = true; /* each item has a byte at least */
    if (c->bad) *n = 0;
}

static void flag(struct codec *c, bool *b) {
    uint8_t v = *b;
    raw(c, &v, 1);
    *b = v != 0;
}

static void text(struct codec *c, struct dg_slice *s) {
    uint32_t n = (uint32_t)s->len;
    raw(c, &n, sizeof(n));
    if (c->out) {
        dg_buf_add_slice(c->out, *s);
        dg_buf_addc(c->out, '\0');
    } else if (c->bad || c->in.len <= n || c->in.ptr[n]) {
        c->bad = true;
        *s = (struct dg_slice){"", 0};
    } else {
        *s = dg_slice_upto(c->in, n);
        c->in = dg_slice_from(c->in, (size_t)n + 1);
    }
}

/* An enum as one byte below `limit`. */
#define CHOICE(c, e, limit)                                                                                            \
    do {                                                                                                               \
        uint8_t v_ = (uint8_t)(e);                                                                                     \
        raw((c), &v_, 1);                                                                                              \
        if (v_ >= (limit)) (c)->bad = true;                                                                            \
        (e) = (c)->bad ? 0 : v_;                                                                                       \
    } while (0)

/* A list: its count, then each item by `fn`. */
static void *room(struct codec *c, void *old, uint32_t n, size_t size) {
    if (c->out) return old;
    void *v = dg_arena_alloc(c->arena, n * size);
    if (!v) c->bad = c->nomem = true;
    return v;
}
#define LIST(c, v, n, fn)                                                                                              \
    do {                                                                                                               \
        count((c), &(n));                                                                                              \
        (v) = room((c), (v), (n), sizeof(*(v)));                                                                       \
        for (uint32_t i_ = 0; (v) && i_ < (n); i_++) fn((c), &(v)[i_]);                                                \
    } while (0)

static void strs(struct codec *c, struct dg_strs *s) { LIST(c, s->v, s->n, text); }

static void pair(struct codec *c, struct dg_set *s) {
    text(c, &s->name);
    text(c, &s->value);
}

static void cond(struct codec *c, struct dg_cond *k) {
    text(c, &k->left);
    text(c, &k->right);
    CHOICE(c, k->op, DG_OP_LOADS_ON + 1);
}

static void one_for(struct codec *c, struct dg_for *f) {
    text(c, &f->engine);
    text(c, &f->range);
}

static void pattern(struct codec *c, struct dg_pattern *p) {
    text(c, &p->lit);
    text(c, &p->re);
    raw(c, &p->part, 1);
    flag(c, &p->long_window);
    flag(c, &p->negative);
    flag(c, &p->opens_end);
}

static void capdef(struct codec *c, struct dg_capdef *d) {
    text(c, &d->name);
    CHOICE(c, d->type, DG_CAP_COUNT);
    flag(c, &d->key);
}

static void reject(struct codec *c, struct dg_reject *r) {
    text(c, &r->axis);
    text(c, &r->value);
    text(c, &r->on);
    text(c, &r->how);
}

static void action(struct codec *c, struct dg_action *a) {
    struct dg_slice *const TEXTS[] = {&a->propose, &a->text,     &a->kind,  &a->flag, &a->value, &a->command,
                                      &a->because, &a->evidence, &a->scope, &a->cost, &a->undo,  &a->axis};
    for (size_t i = 0; i < DG_COUNT(TEXTS); i++) text(c, TEXTS[i]);
    strs(c, &a->flags);
    strs(c, &a->packages);
    strs(c, &a->cautions);
    LIST(c, a->env, a->n_env, pair);
    LIST(c, a->when.v, a->when.n, cond);
    LIST(c, a->fors.v, a->fors.n, one_for);
}

static void avoid(struct codec *c, struct dg_avoid_def *a) {
    text(c, &a->text);
    text(c, &a->because);
}

static void parse(struct codec *c, struct dg_parse *p) {
    text(c, &p->capture);
    CHOICE(c, p->as, DG_PARSE_KEY_VALUE + 1);
}

static void subclass(struct codec *c, struct dg_subclass *s) {
    text(c, &s->name);
    text(c, &s->title);
    flag(c, &s->symptom);
}

static void class(struct codec *c, struct dg_class *k) {
    text(c, &k->name);
    text(c, &k->title);
    text(c, &k->explain);
    LIST(c, k->sub, k->n_sub, subclass);
}

static void until(struct codec *c, struct dg_pattern **p) {
    uint32_t n = *p != NULL;
    LIST(c, *p, n, pattern);
    if (!n) *p = NULL;
}

static void rule(struct codec *c, struct dg_rule *r) {
    struct dg_slice *const TEXTS[] = {&r->id,      &r->pack, &r->title,   &r->class,  &r->subclass,      &r->but,
                                      &r->summary, &r->why,  &r->checked, &r->status, &r->opens_capture, &r->file};
    struct dg_strs *const LISTS[] = {&r->refines, &r->explains, &r->recovers, &r->suggests, &r->refs};
    for (size_t i = 0; i < DG_COUNT(TEXTS); i++) text(c, TEXTS[i]);
    for (size_t i = 0; i < DG_COUNT(LISTS); i++) strs(c, LISTS[i]);
    CHOICE(c, r->role, DG_ROLE_COUNT);
    CHOICE(c, r->mode, DG_MATCH_SEQUENCE + 1);
    CHOICE(c, r->opens, DG_OPENS_JSON_STR + 1);
    CHOICE(c, r->ends, DG_ENDS_DEATH + 1);
    bool *const FLAGS[] = {&r->symptom,         &r->at_first,       &r->within_process, &r->has_confirms,
                           &r->has_contradicts, &r->begins_episode, &r->pulse};
    for (size_t i = 0; i < DG_COUNT(FLAGS); i++) flag(c, FLAGS[i]);
    raw(c, &r->kinds, sizeof(r->kinds));
    raw(c, &r->within_lines, sizeof(r->within_lines));
    raw(c, &r->within_seconds, sizeof(r->within_seconds));
    raw(c, &r->opens_lines, sizeof(r->opens_lines));
    raw(c, &r->line, sizeof(r->line));
    raw(c, &r->n_positive, sizeof(r->n_positive));
    LIST(c, r->patterns, r->n_patterns, pattern);
    if (r->n_positive > r->n_patterns || !r->n_positive) c->bad = true;
    until(c, &r->opens_until);
    LIST(c, r->fors.v, r->fors.n, one_for);
    LIST(c, r->captures, r->n_captures, capdef);
    cond(c, &r->confirms);
    cond(c, &r->contradicts);
    LIST(c, r->rejects, r->n_rejects, reject);
    LIST(c, r->actions, r->n_actions, action);
    LIST(c, r->avoid, r->n_avoid, avoid);
    LIST(c, r->parse, r->n_parse, parse);
    LIST(c, r->set, r->n_set, pair);
}

static void ruleset(struct codec *c, struct dg_ruleset *s) {
    raw(c, &s->n_packs, sizeof(s->n_packs));
    raw(c, &s->n_rejected, sizeof(s->n_rejected));
    LIST(c, s->classes, s->n_classes, class);
    LIST(c, s->rules, s->n_rules, rule);
}

/* ---- the file */

static int write_file(const char *path, struct dg_slice head, struct dg_slice body, struct dg_err *err) {
    _cleanup_(dg_buf_release) struct dg_buf temp = DG_BUF_INIT(1 << 16);
    if (dg_buf_addf(&temp, "%s.new", path)) return dg_err_nomem(err);
    _cleanup_(dg_closep) int fd = open(temp.ptr, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return dg_err_set(err, DG_E_IO, errno, "cannot open '%s'", temp.ptr);
    if (!dg_fd_write(fd, head.ptr, head.len) && !dg_fd_write(fd, body.ptr, body.len) && !rename(temp.ptr, path))
        return 0;
    int why = errno;
    unlink(temp.ptr);
    return dg_err_set(err, DG_E_IO, why, "cannot write '%s'", path);
}

int dg_pack_save_bin(const struct dg_pack *p, const char *path, struct dg_err *err) {
    _cleanup_(dg_buf_release) struct dg_buf body = DG_BUF_INIT(BIN_MAX);
    struct codec c = {.out = &body};
    struct dg_ruleset set = p->set; /* writing changes nothing, but shares its code with reading */
    ruleset(&c, &set);
    if (body.failed) return dg_err_nomem(err);
    struct head head = {.size = body.len, .hash = XXH3_64bits(body.ptr, body.len)};
    made_by(head.made_by, sizeof(head.made_by));
    return write_file(path, dg_slice((const char *)&head, sizeof(head)), dg_buf_slice(&body), err);
}

/* In one read: this is on the way of every start. */
static int read_file(const char *path, struct dg_pack *p, struct dg_err *err) {
    struct stat st;
    _cleanup_(dg_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) return dg_err_set(err, DG_E_IO, errno, "cannot open '%s'", path);
    if (st.st_size <= 0 || st.st_size > BIN_MAX) return dg_err_set(err, DG_E_UNSUPPORTED, 0, "'%s' has no packs", path);
    char *bytes = dg_malloc((size_t)st.st_size);
    if (!bytes) return dg_err_nomem(err);
    ssize_t n = read(fd, bytes, (size_t)st.st_size);
    p->bin = dg_slice(bytes, n < 0 ? 0 : (size_t)n);
    return n < 0 ? dg_err_set(err, DG_E_IO, errno, "cannot read '%s'", path) : 0;
}

static bool well_made(struct dg_slice bin, struct head *head) {
    char want[sizeof(head->made_by)];
    if (bin.len < sizeof(*head)) return false;
    memcpy(head, bin.ptr, sizeof(*head));
    made_by(want, sizeof(want));
    return !memcmp(head->made_by, want, sizeof(want)) && head->size == bin.len - sizeof(*head) &&
           head->hash == XXH3_64bits(bin.ptr + sizeof(*head), head->size);
}

static int decode(struct dg_pack *p, struct dg_slice bin, const char *name, struct dg_err *err) {
    struct head head;
    if (!well_made(bin, &head))
        return dg_err_set(err, DG_E_UNSUPPORTED, 0, "'%s' is absent, damaged or of another build", name);
    struct codec c = {.in = dg_slice_from(bin, sizeof(head)), .arena = p->arena};
    ruleset(&c, &p->set);
    if (c.nomem) return dg_err_nomem(err);
    return c.bad ? dg_err_set(err, DG_E_UNSUPPORTED, 0, "'%s' is damaged", name) : 0;
}

/* The rules go into the growing set only when others may come on top of them. */
static int add_rules(struct dg_pack *p) {
    for (uint32_t i = 0; i < p->set.n_rules; i++)
        if (pack_add(p, &p->set.rules[i], 0)) return -DG_E_NOMEM;
    return 0;
}

static int add_places(struct dg_pack *p, const struct dg_pack_place *places, size_t n, struct dg_problems *probs,
                      struct dg_err *err) {
    int r = 0;
    if (n) {
        r = add_rules(p) ? dg_err_nomem(err) : pack_read_places(p, places, n, 1, false, probs, err);
        if (!r) r = pack_lay_out(p) ? dg_err_nomem(err) : 0;
    }
    return !r && pack_number(p) ? dg_err_nomem(err) : r;
}

int dg_pack_load_bin(const char *bin, const struct dg_pack_place *user_places, size_t n, struct dg_problems *probs,
                     struct dg_pack **ret, struct dg_err *err) {
    _cleanup_(dg_pack_freep) struct dg_pack *p = pack_new();
    if (!p) return dg_err_nomem(err);
    int r = read_file(bin, p, err);
    if (r == -DG_E_NOMEM) return r;
    r = decode(p, r ? (struct dg_slice){NULL, 0} : p->bin, bin, err);
    if (!r) r = add_places(p, user_places, n, probs, err);
    if (!r) *ret = DG_TAKE(p);
    return r;
}

int dg_pack_load_memory(struct dg_slice bin, const struct dg_pack_place *user_places, size_t n,
                        struct dg_problems *probs, struct dg_pack **ret, struct dg_err *err) {
    _cleanup_(dg_pack_freep) struct dg_pack *p = pack_new();
    if (!p) return dg_err_nomem(err);
    int r = decode(p, bin, "packs.bin", err);
    if (!r) r = add_places(p, user_places, n, probs, err);
    if (!r) *ret = DG_TAKE(p);
    return r;
}
