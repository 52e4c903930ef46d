/* The matcher: the literal database made, loaded, proved and saved. */
#include "match/engine.h"
#include <stdio.h>

struct regex REGEX_BAD;

/* A serialized database: this, the window of each needle, the needles by window, the texts of the windows (a byte of
 * length each), and what libhs made of them. */
struct header {
    char magic[8];
    uint64_t literals; /* hash of the literals it was made for */
    uint64_t needles, windows, texts, size;
};
struct saved_window {
    uint16_t at, len; /* of needle i */
    uint32_t member;  /* the i-th needle by window */
};
static const char MAGIC[8] = "DGLITS2";

/* A literal that never occurs and is shorter than all others: it makes libhs step by two bytes at most, which with a
 * few hundred literals is 2 x faster than the longer steps with their many false candidates. */
static const char DUMMY[] = "\x01\x02\x03";

static int compile(struct dg_matcher *m, struct dg_err *err) {
    uint32_t n = m->n_windows + 1;
    _cleanup_(dg_freep) const char **texts = dg_calloc(n, sizeof(*texts));
    _cleanup_(dg_freep) size_t *lens = dg_calloc(n, sizeof(*lens));
    _cleanup_(dg_freep) unsigned *ids = dg_calloc(n, sizeof(*ids)), *flags = dg_calloc(n, sizeof(*flags));
    if (!texts || !lens || !ids || !flags) return dg_err_nomem(err);
    for (uint32_t i = 0; i < n; i++) {
        texts[i] = i < m->n_windows ? m->windows[i].text.ptr : DUMMY;
        lens[i] = i < m->n_windows ? m->windows[i].text.len : sizeof(DUMMY) - 1;
        ids[i] = i;
    }
    static const hs_platform_info_t ANY_CPU = {0}; /* as fast as the native one in literal mode, and portable */
    hs_compile_error_t *why = NULL;
    hs_error_t r = hs_compile_lit_multi(texts, flags, ids, lens, n, HS_MODE_BLOCK, &ANY_CPU, &m->db, &why);
    if (r != HS_SUCCESS)
        dg_err_set(err, DG_E_UNSUPPORTED, 0, "libhs: %s", why && why->message ? why->message : "no database");
    if (why) hs_free_compile_error(why);
    return r == HS_SUCCESS ? 0 : r == HS_NOMEM ? dg_err_nomem(err) : -DG_E_UNSUPPORTED;
}

/* The windows that were chosen when the database was made. */
static bool load_windows(struct dg_matcher *m, const char *at) {
    for (uint32_t i = 0; i < m->n_needles; i++) {
        struct saved_window w;
        memcpy(&w, at + i * sizeof(w), sizeof(w));
        if (!w.len || w.at + w.len > m->needles[i].lit.len) return false;
        m->needles[i].win_at = w.at;
        m->needles[i].win_len = w.len;
        m->members[i].needle = w.member;
    }
    return true;
}

/* The parts of a serialized database. */
struct parts {
    struct header h;
    struct dg_slice windows, texts, db;
};

static bool take_apart(struct dg_slice blob, struct parts *p) {
    if (blob.len < sizeof(p->h)) return false;
    memcpy(&p->h, blob.ptr, sizeof(p->h));
    struct dg_slice rest = dg_slice_from(blob, sizeof(p->h));
    if (memcmp(p->h.magic, MAGIC, sizeof(MAGIC)) || p->h.needles > rest.len / sizeof(struct saved_window)) return false;
    p->windows = dg_slice_upto(rest, p->h.needles * sizeof(struct saved_window));
    rest = dg_slice_from(rest, p->windows.len);
    if (p->h.texts > rest.len || p->h.windows > p->h.texts || p->h.size != rest.len - p->h.texts) return false;
    p->texts = dg_slice_upto(rest, p->h.texts);
    p->db = dg_slice_from(rest, p->h.texts);
    return true;
}

static bool load(struct dg_matcher *m, const struct parts *p) {
    if (p->h.literals != literals_hash(m) || p->h.needles != m->n_needles || !load_windows(m, p->windows.ptr))
        return false;
    return literals_group(m) && hs_deserialize_database(p->db.ptr, p->db.len, &m->db) == HS_SUCCESS;
}

/* A database that was made for some of these literals: the others are sought beside it. */
static int load_partly(struct dg_matcher *m, const struct parts *p, struct dg_err *err) {
    _cleanup_(dg_freep) struct dg_slice *texts = dg_calloc(p->h.windows, sizeof(*texts));
    struct dg_slice rest = p->texts;
    if (!texts) return dg_err_nomem(err);
    for (uint64_t i = 0; i < p->h.windows; i++) {
        size_t len = rest.len ? (unsigned char)*rest.ptr : 0;
        if (!len || len >= rest.len) return dg_err_set(err, DG_E_UNSUPPORTED, 0, "the literals are damaged");
        texts[i] = dg_slice(rest.ptr + 1, len);
        rest = dg_slice_from(rest, len + 1);
    }
    if (hs_deserialize_database(p->db.ptr, p->db.len, &m->db) != HS_SUCCESS)
        return dg_err_set(err, DG_E_UNSUPPORTED, 0, "the literals cannot be loaded");
    return literals_adopt(m, texts, (uint32_t)p->h.windows, err);
}

static int count_report(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *ctx) {
    (void)from, (void)to, (void)flags;
    uint32_t *wanted = ctx;
    if (id == wanted[0]) wanted[1]++;
    return 0;
}

/* One known text for every 50 literals must be found: a broken library shows itself here and not as a lost cause. */
static bool proves_itself(const struct dg_matcher *m) {
    hs_scratch_t *scratch = NULL;
    bool good = hs_alloc_scratch(m->db, &scratch) == HS_SUCCESS;
    _cleanup_(dg_buf_release) struct dg_buf text = DG_BUF_INIT(4096);
    for (uint32_t i = 0; good && i < m->n_windows; i += 50) {
        uint32_t wanted[2] = {i, 0};
        struct dg_slice w = m->windows[i].text;
        if (!w.len) continue; /* of a rule that was replaced */
        char pad[DG_BLOCK_TAIL] = {0};
        dg_buf_clear(&text);
        dg_buf_adds(&text, "xyz ");
        dg_buf_add_slice(&text, w);
        dg_buf_adds(&text, "\n");
        size_t len = text.len;
        dg_buf_add(&text, pad, sizeof(pad));
        good = !text.failed &&
               hs_scan(m->db, text.ptr, (unsigned)len, 0, scratch, count_report, wanted) == HS_SUCCESS && wanted[1];
    }
    hs_free_scratch(scratch);
    return good;
}

static int make(struct dg_matcher *m, struct dg_err *err) {
    for (uint32_t i = 0; i < m->n_needles; i++) m->needles[i].win_len = 0;
    return windows_choose(m) && literals_sort(m) ? compile(m, err) : dg_err_nomem(err);
}

static void give_up(struct dg_matcher *m, const char *why) {
    hs_free_database(m->db);
    m->db = NULL;
    snprintf(m->warning, sizeof(m->warning), "%.100s: rules are sought one by one, slowly", why);
}

static int prepare(struct dg_matcher *m, struct dg_slice db, struct dg_err *err) {
    struct dg_err why = {0};
    struct parts p;
    if (hs_valid_platform() != HS_SUCCESS) {
        give_up(m, "this processor is too old for libhs");
        return 0;
    }
    bool whole = take_apart(db, &p);
    if (!whole || !load(m, &p)) {
        int r = make(m, &why);
        if (r == -DG_E_UNSUPPORTED && whole) r = load_partly(m, &p, &why);
        if (r == -DG_E_NOMEM) return dg_err_nomem(err);
        if (r == -DG_E_LIMIT) return dg_err_set(err, DG_E_LIMIT, 0, "%s", why.msg);
        if (r) {
            give_up(m, why.msg);
            return 0;
        }
    }
    if (!proves_itself(m)) give_up(m, "libhs does not find what it should");
    return 0;
}

int dg_matcher_new(const struct dg_ruleset *rules, struct dg_slice db, struct dg_matcher **ret, struct dg_err *err) {
    struct dg_matcher *m = dg_calloc(1, sizeof(*m));
    if (!m) return dg_err_nomem(err);
    m->rules = rules;
    m->regexes = dg_calloc(rules->n_patterns, sizeof(*m->regexes));
    int r = m->regexes && literals_collect(m) ? prepare(m, db, err) : dg_err_nomem(err);
    if (r)
        dg_matcher_free(m);
    else
        *ret = m;
    return r;
}

void dg_matcher_free(struct dg_matcher *m) {
    if (!m) return;
    for (uint32_t i = 0; m->regexes && i < m->rules->n_patterns; i++) regex_free(atomic_load(&m->regexes[i]));
    free(m->regexes);
    free(m->needles);
    free(m->windows);
    free(m->members);
    free(m->loose);
    hs_free_database(m->db);
    free(m);
}

const char *dg_matcher_warning(const struct dg_matcher *m) { return *m->warning ? m->warning : NULL; }

int dg_matcher_serialize(const struct dg_matcher *m, char **ret, size_t *ret_len, struct dg_err *err) {
    char *bytes = NULL;
    size_t len = 0;
    if (!m->db || m->loose) return dg_err_set(err, DG_E_UNSUPPORTED, 0, "not all literals could be compiled");
    hs_error_t r = hs_serialize_database(m->db, &bytes, &len);
    if (r == HS_NOMEM) return dg_err_nomem(err);
    if (r != HS_SUCCESS) return dg_err_set(err, DG_E_UNSUPPORTED, 0, "libhs cannot serialize (%d)", r);
    struct header h = {.literals = literals_hash(m),
                       .needles = m->n_needles,
                       .windows = m->n_windows,
                       .texts = m->n_windows,
                       .size = len};
    for (uint32_t i = 0; i < m->n_windows; i++) h.texts += m->windows[i].text.len;
    memcpy(h.magic, MAGIC, sizeof(MAGIC));
    _cleanup_(dg_buf_release) struct dg_buf blob = DG_BUF_INIT(SIZE_MAX);
    dg_buf_add(&blob, &h, sizeof(h));
    for (uint32_t i = 0; i < m->n_needles; i++)
        dg_buf_add(&blob, &(struct saved_window){m->needles[i].win_at, m->needles[i].win_len, m->members[i].needle},
                   sizeof(struct saved_window));
    for (uint32_t i = 0; i < m->n_windows; i++) {
        dg_buf_addc(&blob, (char)m->windows[i].text.len);
        dg_buf_add_slice(&blob, m->windows[i].text);
    }
    dg_buf_add(&blob, bytes, len);
    free(bytes);
    if (blob.failed) return dg_err_nomem(err);
    *ret_len = blob.len;
    *ret = dg_buf_take(&blob);
    return 0;
}
