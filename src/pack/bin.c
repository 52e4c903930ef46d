/* packs.bin: the rules and the catalog as they are in memory.
 *
 * Layout: head, then the frozen catalog, the frozen rules, and the matcher's tables of these. The hash covers
 * everything behind the head, and where the parts end: what it does not match is damaged or cut. The file is mapped, at
 * the address that its pointers are right for if that is free: to read it instead takes most of a short log's time. */
#include "pack/pack_internal.h"
#include "base/file.h"
#include "base/frozen.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL /* twice as fast as what the library holds, where it is optimised so (CMakeLists.txt) */
#include <xxhash.h>

#define FORMAT "diagnose packs 9"
#define MAPPED_AT UINT64_C(0x1d0000000000) /* far from where programs, heaps and libraries are laid */
enum { BIN_MAX = 64 << 20 };

struct head {
    char made_by[48]; /* format, architecture */
    uint64_t size, hash;
    struct ends {
        uint64_t catalog, rules;
    } ends; /* of these parts behind the head; the next begins aligned */
};

_Static_assert(sizeof(struct head) % DG_FROZEN_ALIGN == 0, "parts are aligned from here");

static uint64_t aligned(uint64_t at) { return at + -at % DG_FROZEN_ALIGN; }

uintptr_t dg_pack_catalog_at(void) { return (uintptr_t)MAPPED_AT + sizeof(struct head); }

static void made_by(char *out, size_t size) {
#if defined(__x86_64__)
    static const char ARCH[] = "x86_64";
#elif defined(__aarch64__)
    static const char ARCH[] = "aarch64";
#else
    static const char ARCH[] = "other";
#endif
    memset(out, 0, size);
    snprintf(out, size, FORMAT "; %s", ARCH);
}

/* ---- what rules are made of */

#define STRS(T, m) DG_LIST(T, m.v, m.n, dg_frozen_slice)

DG_FROZEN_TYPE(PAIR, dg_set, DG_TEXT(dg_set, name), DG_TEXT(dg_set, value));
DG_FROZEN_TYPE(COND, dg_cond, DG_TEXT(dg_cond, left), DG_TEXT(dg_cond, right), DG_PLAIN(dg_cond, op));
DG_FROZEN_TYPE(FOR, dg_for, DG_TEXT(dg_for, engine), DG_TEXT(dg_for, range));
DG_FROZEN_TYPE(PATTERN, dg_pattern, DG_TEXT(dg_pattern, lit), DG_TEXT(dg_pattern, re),
               DG_PLAIN(dg_pattern, long_window), DG_PLAIN(dg_pattern, garbage), DG_PLAIN(dg_pattern, rare),
               DG_PLAIN(dg_pattern, id), DG_PLAIN(dg_pattern, rule), DG_PLAIN(dg_pattern, part),
               DG_PLAIN(dg_pattern, negative), DG_PLAIN(dg_pattern, opens_end));
DG_FROZEN_TYPE(CAPDEF, dg_capdef, DG_TEXT(dg_capdef, name), DG_PLAIN(dg_capdef, type), DG_PLAIN(dg_capdef, key));
DG_FROZEN_TYPE(REJECT, dg_reject, DG_TEXT(dg_reject, axis), DG_TEXT(dg_reject, value), DG_TEXT(dg_reject, on),
               DG_TEXT(dg_reject, how));
DG_FROZEN_TYPE(ACTION, dg_action, DG_TEXT(dg_action, propose), DG_TEXT(dg_action, text), DG_TEXT(dg_action, kind),
               DG_TEXT(dg_action, flag), DG_TEXT(dg_action, value), DG_TEXT(dg_action, command),
               DG_TEXT(dg_action, because), DG_TEXT(dg_action, evidence), DG_TEXT(dg_action, scope),
               DG_TEXT(dg_action, cost), DG_TEXT(dg_action, undo), DG_TEXT(dg_action, axis), STRS(dg_action, flags),
               STRS(dg_action, packages), STRS(dg_action, cautions), DG_LIST(dg_action, env, n_env, PAIR),
               DG_LIST(dg_action, when.v, when.n, COND), DG_LIST(dg_action, fors.v, fors.n, FOR));
DG_FROZEN_TYPE(AVOID, dg_avoid_def, DG_TEXT(dg_avoid_def, text), DG_TEXT(dg_avoid_def, because));
DG_FROZEN_TYPE(PARSE, dg_parse, DG_TEXT(dg_parse, capture), DG_PLAIN(dg_parse, as));
DG_FROZEN_TYPE(SUBCLASS, dg_subclass, DG_TEXT(dg_subclass, name), DG_TEXT(dg_subclass, title),
               DG_PLAIN(dg_subclass, symptom));
DG_FROZEN_TYPE(CLASS, dg_class, DG_TEXT(dg_class, name), DG_TEXT(dg_class, title), DG_TEXT(dg_class, explain),
               DG_LIST(dg_class, sub, n_sub, SUBCLASS));
DG_FROZEN_TYPE(RULE, dg_rule, DG_TEXT(dg_rule, id), DG_TEXT(dg_rule, pack), DG_TEXT(dg_rule, title),
               DG_TEXT(dg_rule, class), DG_TEXT(dg_rule, subclass), DG_PLAIN(dg_rule, role), DG_PLAIN(dg_rule, symptom),
               DG_PLAIN(dg_rule, kinds), DG_LIST(dg_rule, fors.v, fors.n, FOR), DG_PLAIN(dg_rule, mode),
               DG_PLAIN(dg_rule, at_first), DG_LIST(dg_rule, patterns, n_patterns, PATTERN),
               DG_PLAIN(dg_rule, n_positive), DG_PLAIN(dg_rule, within_lines), DG_PLAIN(dg_rule, within_seconds),
               DG_PLAIN(dg_rule, within_process), DG_LIST(dg_rule, captures, n_captures, CAPDEF),
               DG_PLAIN(dg_rule, has_confirms), DG_PLAIN(dg_rule, has_contradicts), DG_TEXT(dg_rule, confirms.left),
               DG_TEXT(dg_rule, confirms.right), DG_PLAIN(dg_rule, confirms.op), DG_TEXT(dg_rule, contradicts.left),
               DG_TEXT(dg_rule, contradicts.right), DG_PLAIN(dg_rule, contradicts.op),
               DG_LIST(dg_rule, rejects, n_rejects, REJECT), STRS(dg_rule, refines), STRS(dg_rule, explains),
               STRS(dg_rule, recovers), STRS(dg_rule, suggests), STRS(dg_rule, refs), DG_TEXT(dg_rule, but),
               DG_TEXT(dg_rule, summary), DG_TEXT(dg_rule, why), DG_TEXT(dg_rule, checked), DG_TEXT(dg_rule, status),
               DG_LIST(dg_rule, actions, n_actions, ACTION), DG_LIST(dg_rule, avoid, n_avoid, AVOID),
               DG_PLAIN(dg_rule, opens), DG_TEXT(dg_rule, opens_capture), DG_ONE(dg_rule, opens_until, PATTERN),
               DG_PLAIN(dg_rule, opens_lines), DG_PLAIN(dg_rule, begins_episode), DG_PLAIN(dg_rule, pulse),
               DG_PLAIN(dg_rule, ends), DG_LIST(dg_rule, parse, n_parse, PARSE), DG_LIST(dg_rule, set, n_set, PAIR),
               DG_NOT(dg_rule, examples), DG_NOT(dg_rule, n_examples), DG_NOT(dg_rule, near),
               DG_NOT(dg_rule, known_gap), DG_TEXT(dg_rule, file), DG_PLAIN(dg_rule, line));
DG_FROZEN_TYPE(RULESET, dg_ruleset, DG_LIST(dg_ruleset, rules, n_rules, RULE), DG_NOT(dg_ruleset, n_patterns),
               DG_NOT(dg_ruleset, patterns), DG_LIST(dg_ruleset, classes, n_classes, CLASS),
               DG_PLAIN(dg_ruleset, n_packs), DG_PLAIN(dg_ruleset, n_rejected));

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

static void add_aligned(struct dg_buf *body, struct dg_slice part) {
    while (!body->failed && body->len % DG_FROZEN_ALIGN) dg_buf_addc(body, '\0');
    dg_buf_add_slice(body, part);
}

static uint64_t hash_of(const struct head *head, struct dg_slice body) {
    return XXH3_64bits_withSeed(body.ptr, body.len, head->ends.catalog ^ head->ends.rules << 32);
}

int dg_pack_save_bin(const struct dg_pack *p, struct dg_slice catalog, struct dg_slice tables, const char *path,
                     struct dg_err *err) {
    _cleanup_(dg_buf_release) struct dg_buf body = DG_BUF_INIT(BIN_MAX);
    struct head head = {.ends.catalog = catalog.len};
    dg_buf_add_slice(&body, catalog);
    add_aligned(&body, DG_S(""));
    int r = body.failed ? dg_err_nomem(err) : dg_freeze(&RULESET, &p->set, dg_pack_catalog_at() + body.len, &body, err);
    if (r) return r;
    head.ends.rules = body.len;
    add_aligned(&body, tables);
    if (body.failed) return dg_err_nomem(err);
    head.size = body.len;
    head.hash = hash_of(&head, dg_buf_slice(&body));
    made_by(head.made_by, sizeof(head.made_by));
    return write_file(path, dg_slice((const char *)&head, sizeof(head)), dg_buf_slice(&body), err);
}

/* `size` bytes of fd, or none for -1, at the address that pointers are right for, if it is free. MAP_FAILED. */
static void *map(size_t size, int fd) {
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE;
    return mmap((void *)(uintptr_t)MAPPED_AT, size, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static int map_file(const char *path, struct dg_pack *p, struct dg_err *err) {
    struct stat st;
    _cleanup_(dg_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) return dg_err_set(err, DG_E_IO, errno, "cannot open '%s'", path);
    if (st.st_size <= 0 || st.st_size > BIN_MAX) return dg_err_set(err, DG_E_UNSUPPORTED, 0, "'%s' has no packs", path);
    void *bytes = map((size_t)st.st_size, fd);
    if (bytes == MAP_FAILED) return dg_err_set(err, DG_E_IO, errno, "cannot map '%s'", path);
    p->bin = dg_slice(bytes, (size_t)st.st_size);
    p->of_file = true;
    return 0;
}

/* Small pages take longer to get than the copying. */
static void fill(void *to, struct dg_slice from) {
    madvise(to, from.len, MADV_HUGEPAGE); /* a wish */
    memcpy(to, from.ptr, from.len);
}

static bool well_made(struct dg_slice bin, struct head *head) {
    char want[sizeof(head->made_by)];
    if (bin.len < sizeof(*head)) return false;
    memcpy(head, bin.ptr, sizeof(*head));
    made_by(want, sizeof(want));
    return !memcmp(head->made_by, want, sizeof(want)) && head->size == bin.len - sizeof(*head) &&
           head->ends.catalog <= head->ends.rules && head->ends.rules <= head->size &&
           head->hash == hash_of(head, dg_slice_from(bin, sizeof(*head)));
}

/* The parts of p->bin. */
static int take_parts(struct dg_pack *p, const char *name, struct dg_err *err) {
    struct head head;
    if (!well_made(p->bin, &head))
        return dg_err_set(err, DG_E_UNSUPPORTED, 0, "'%s' is absent, damaged or of another build", name);
    struct dg_slice body = dg_slice_from(p->bin, sizeof(head)),
                    rules = dg_slice_from(dg_slice_upto(body, head.ends.rules), aligned(head.ends.catalog));
    const struct dg_ruleset *set = dg_thaw(&RULESET, (char *)(uintptr_t)rules.ptr, rules.len);
    if (!set) return dg_err_set(err, DG_E_UNSUPPORTED, 0, "'%s' is of another build", name);
    p->set = *set;
    p->catalog = dg_slice_upto(body, head.ends.catalog);
    if ((uintptr_t)p->bin.ptr == MAPPED_AT) p->tables = dg_slice_from(body, aligned(head.ends.rules));
    return 0;
}

uintptr_t dg_pack_tables_at(const struct dg_pack *p) {
    bool in_place = (uintptr_t)p->bin.ptr == MAPPED_AT;
    return in_place ? (uintptr_t)MAPPED_AT + aligned(p->bin.len) : 0;
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
        p->tables = (struct dg_slice){NULL, 0}; /* they are of fewer rules */
        r = add_rules(p) ? dg_err_nomem(err) : pack_read_places(p, places, n, 1, false, probs, err);
        if (!r) r = pack_lay_out(p) ? dg_err_nomem(err) : 0;
    }
    return !r && pack_number(p) ? dg_err_nomem(err) : r;
}

/* Rules of packs.bin, which `p` holds or lacks (`r` is why), with the user's on top. Takes `p`. */
static int finish(struct dg_pack *p, int r, const char *name, const struct dg_pack_place *places, size_t n,
                  struct dg_problems *probs, struct dg_pack **ret, struct dg_err *err) {
    if (r != -DG_E_NOMEM) r = take_parts(p, name, err);
    if (!r) r = add_places(p, places, n, probs, err);
    if (r)
        dg_pack_free(p);
    else
        *ret = p;
    return r;
}

int dg_pack_load_bin(const char *bin, const struct dg_pack_place *user_places, size_t n, struct dg_problems *probs,
                     struct dg_pack **ret, struct dg_err *err) {
    struct dg_pack *p = pack_new();
    if (!p) return dg_err_nomem(err);
    return finish(p, map_file(bin, p, err), bin, user_places, n, probs, ret, err);
}

int dg_pack_detach(struct dg_pack *p) {
    if (!p->of_file) return 0;
    void *bin = (void *)(uintptr_t)p->bin.ptr;
    void *copy = mmap(NULL, p->bin.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) return -DG_E_NOMEM;
    fill(copy, p->bin);
    if (mremap(copy, p->bin.len, p->bin.len, MREMAP_MAYMOVE | MREMAP_FIXED, bin) != MAP_FAILED) return 0;
    munmap(copy, p->bin.len);
    return -DG_E_NOMEM;
}

int dg_pack_load_memory(struct dg_slice bin, const struct dg_pack_place *user_places, size_t n,
                        struct dg_problems *probs, struct dg_pack **ret, struct dg_err *err) {
    struct dg_pack *p = pack_new();
    void *bytes = p && bin.len ? map(bin.len, -1) : MAP_FAILED;
    if (p && bytes != MAP_FAILED) {
        fill(bytes, bin);
        p->bin = dg_slice(bytes, bin.len);
    }
    if (p && (p->bin.len || !bin.len)) return finish(p, 0, "packs.bin", user_places, n, probs, ret, err);
    dg_pack_free(p);
    return dg_err_nomem(err);
}
