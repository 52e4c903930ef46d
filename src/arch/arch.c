#include "arch/table.h"
#include <strings.h>

const struct dg_arch *dg_arch_at(size_t i) { return i < dg_arch_rows_n ? &dg_arch_rows[i] : NULL; }

const struct dg_arch *dg_arch_find(struct dg_cc cc) {
    for (size_t i = 0; i < dg_arch_rows_n; i++)
        if (!dg_cc_cmp(dg_arch_rows[i].cc, cc)) return &dg_arch_rows[i];
    return NULL;
}

/* ---- product names ---- */

enum { WORDS_MAX = 16 };
struct words {
    struct dg_slice w[WORDS_MAX];
    size_t n;
};

static bool is_name_char(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool same_word(struct dg_slice a, struct dg_slice b) {
    return a.len == b.len && !strncasecmp(a.ptr, b.ptr, a.len);
}

/* Words that tell no product from another. */
static bool is_filler(struct dg_slice w) {
    static const char *const filler[] = {"nvidia", "geforce", "tesla",      "corporation",
                                         "gpu",    "laptop",  "generation", "edition"};
    for (size_t i = 0; i < sizeof(filler) / sizeof(*filler); i++)
        if (same_word(w, dg_cstr(filler[i]))) return true;
    return false;
}

static void split_words(struct words *words, struct dg_slice s) {
    while (s.len && words->n < WORDS_MAX) {
        size_t n = 0;
        while (n < s.len && is_name_char(s.ptr[n])) n++;
        if (n && !is_filler(dg_slice_upto(s, n))) words->w[words->n++] = dg_slice_upto(s, n);
        s = dg_slice_from(s, n ? n : 1);
    }
}

/* All words of `part` occur in `whole`, in order. */
static bool is_part(const struct words *part, const struct words *whole) {
    size_t k = 0;
    for (size_t i = 0; i < whole->n && k < part->n; i++) k += same_word(part->w[k], whole->w[i]);
    return k == part->n;
}

struct hits {
    struct dg_cc cc;
    bool several; /* capabilities */
    size_t n;
    struct dg_buf names;
};

static void add_hit(struct hits *h, const struct dg_arch *row, const char *product) {
    if (h->n && dg_cc_cmp(h->cc, row->cc)) h->several = true;
    h->cc = row->cc;
    dg_buf_addf(&h->names, "%s%s (%u.%u)", h->n++ ? ", " : "", product, row->cc.major, row->cc.minor);
}

/* The products that stand whole in `name`, of those the ones of most words: "NVIDIA GeForce RTX 2080 Ti". */
static void find_inside(struct hits *h, const struct words *name) {
    size_t most = 1;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < dg_arch_rows_n; i++)
            for (const char *const *p = dg_arch_rows[i].products; *p; p++) {
                struct words product = {.n = 0};
                split_words(&product, dg_cstr(*p));
                if (product.n < most || !is_part(&product, name)) continue;
                if (pass)
                    add_hit(h, &dg_arch_rows[i], *p);
                else
                    most = product.n;
            }
}

/* The products (each with the name of its architecture after it) that hold all words of `name`: "RTX 6000". */
static void find_around(struct hits *h, const struct words *name) {
    for (size_t i = 0; i < dg_arch_rows_n; i++)
        for (const char *const *p = dg_arch_rows[i].products; *p; p++) {
            struct words product = {.n = 0};
            split_words(&product, dg_cstr(*p));
            split_words(&product, dg_cstr(dg_arch_rows[i].name));
            if (is_part(name, &product)) add_hit(h, &dg_arch_rows[i], *p);
        }
}

int dg_arch_product(struct dg_slice name, struct dg_cc *ret, struct dg_err *err) {
    char text[400];
    struct words words = {.n = 0};
    struct hits hits = {.names = DG_BUF_INIT(sizeof(text))};
    split_words(&words, name);
    if (words.n) find_inside(&hits, &words);
    if (words.n && !hits.n) find_around(&hits, &words);
    int r = 0;
    if (!hits.n)
        r = dg_err_set(err, DG_E_NOTFOUND, 0, "no GPU is known as '%.*s'; give its capability, such as 12.0",
                       DG_FMT(name));
    else if (hits.several)
        r = dg_err_set(err, DG_E_SYNTAX, 0, "'%.*s' is more than one GPU: %s", DG_FMT(name),
                       dg_buf_slice(&hits.names).ptr);
    else
        *ret = hits.cc;
    dg_buf_release(&hits.names);
    return r;
}

/* ---- versions ---- */

int dg_cuda_parse(struct dg_slice s) {
    struct dg_slice major, minor;
    uint64_t a, b;
    s = dg_slice_trim(s);
    if (!dg_slice_split(&s, '.', &major) || !dg_slice_split(&s, '.', &minor)) return 0;
    if (!dg_slice_u64(major, &a) || !dg_slice_u64(minor, &b) || !a || a > 999 || b > 99) return 0;
    return (int)(1000 * a + 10 * b);
}

int dg_cuda_add(struct dg_buf *out, int cuda) { return dg_buf_addf(out, "%d.%d", cuda / 1000, cuda % 1000 / 10); }

int dg_driver_cuda(struct dg_slice driver) {
    struct dg_slice rest = dg_slice_trim(driver), first;
    uint64_t branch;
    if (!dg_slice_split(&rest, '.', &first) || !dg_slice_u64(first, &branch)) return 0;
    int cuda = 0;
    for (size_t i = 0; i < dg_arch_branches_n && (uint64_t)dg_arch_branches[i].branch <= branch; i++)
        cuda = dg_arch_branches[i].cuda;
    return cuda;
}

const char *dg_cuda_driver(int cuda) {
    for (size_t i = 0; i < dg_arch_branches_n; i++)
        if (dg_arch_branches[i].cuda >= cuda) return dg_arch_branches[i].first;
    return NULL;
}

bool dg_cuda_runs_on(int runtime, int driver) { return !runtime || !driver || runtime / 1000 <= driver / 1000; }

int dg_ptx_cuda(int ptx) {
    for (size_t i = 0; i < dg_arch_ptxs_n; i++)
        if (dg_arch_ptxs[i].ptx >= ptx) return dg_arch_ptxs[i].cuda;
    return 0;
}
