#include "arch/arch.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }
static bool is_word(char c) { return is_digit(c) || c == '_' || (lower(c) >= 'a' && lower(c) <= 'z'); }

static size_t count_digits(struct dg_slice s) {
    size_t n = 0;
    while (n < s.len && is_digit(s.ptr[n])) n++;
    return n;
}

/* "sm_", "SM ", "compute", … in front of a number. */
static struct dg_slice skip_prefix(struct dg_slice s) {
    static const char *const words[] = {"sm", "compute"};
    for (size_t w = 0; w < 2; w++) {
        size_t n = 0;
        while (n < s.len && words[w][n] && lower(s.ptr[n]) == words[w][n]) n++;
        if (words[w][n]) continue;
        s = dg_slice_from(s, n);
        return s.len && (*s.ptr == '_' || *s.ptr == ' ' || *s.ptr == '-') ? dg_slice_from(s, 1) : s;
    }
    return s;
}

/* "12.0" or "120" at the start of `s`; its length, or 0. */
static size_t number(struct dg_slice s, struct dg_cc *ret) {
    size_t n = count_digits(s);
    uint64_t major, minor;
    if (n && n + 1 < s.len && s.ptr[n] == '.' && is_digit(s.ptr[n + 1])) {
        struct dg_slice after = dg_slice_from(s, n + 1);
        size_t m = count_digits(after);
        if (n > 2 || m > 2 || !dg_slice_u64(dg_slice_upto(s, n), &major)) return 0;
        dg_slice_u64(dg_slice_upto(after, m), &minor);
        n += 1 + m;
    } else {
        if (n < 2 || n > 3 || !dg_slice_u64(dg_slice_upto(s, n - 1), &major)) return 0;
        minor = (uint64_t)(s.ptr[n - 1] - '0');
    }
    if (!major) return 0;
    *ret = (struct dg_cc){(uint8_t)major, (uint8_t)minor};
    return n;
}

bool dg_target_parse(struct dg_slice s, struct dg_target *ret) {
    struct dg_target t = {0};
    s = skip_prefix(dg_slice_trim(s));
    size_t n = number(s, &t.cc);
    s = dg_slice_from(s, n);
    if (n && s.len == 1 && (lower(*s.ptr) == 'a' || lower(*s.ptr) == 'f'))
        t.suffix = lower(*s.ptr);
    else if (!n || s.len)
        return false;
    *ret = t;
    return true;
}

bool dg_cc_parse(struct dg_slice s, struct dg_cc *ret) {
    struct dg_target t;
    if (!dg_target_parse(s, &t)) return false;
    *ret = t.cc;
    return true;
}

int dg_cc_add(struct dg_buf *out, struct dg_cc cc) { return dg_buf_addf(out, "%u.%u", cc.major, cc.minor); }

int dg_target_add(struct dg_buf *out, struct dg_target t) {
    return dg_buf_addf(out, t.suffix ? "sm_%u%u%c" : "sm_%u%u", t.cc.major, t.cc.minor, t.suffix);
}

/* Capabilities as numbers in order, for arithmetic at the ends of ranges. */
enum { LOWEST = 0x0100, HIGHEST = 0xffff };
static unsigned rank(struct dg_cc c) { return (unsigned)c.major << 8 | c.minor; }
static struct dg_cc unrank(unsigned v) { return (struct dg_cc){(uint8_t)(v >> 8), (uint8_t)v}; }

/* Union with [lo, hi]. False: no room. */
static bool add_range(struct dg_capset *set, unsigned lo, unsigned hi) {
    struct dg_capset out = {0};
    if (lo > hi) return true;
    for (unsigned i = 0; i < set->n; i++) { /* swallow what touches; keep the others */
        unsigned l = rank(set->r[i].lo), h = rank(set->r[i].hi);
        if (l <= hi + 1 && lo <= h + 1) {
            lo = l < lo ? l : lo;
            hi = h > hi ? h : hi;
        } else {
            out.r[out.n++] = set->r[i];
        }
    }
    if (out.n == DG_CAPSET_RANGES) return false;
    unsigned at = out.n++;
    for (; at && rank(out.r[at - 1].lo) > lo; at--) out.r[at] = out.r[at - 1];
    out.r[at] = (struct dg_cc_range){unrank(lo), unrank(hi)};
    *set = out;
    return true;
}

/* "12.x": all minors of a major. */
static bool parse_major(struct dg_slice s, unsigned *ret_lo, unsigned *ret_hi) {
    uint64_t major;
    s = skip_prefix(s);
    if (!dg_slice_ends(s, DG_S(".x")) || !dg_slice_u64(dg_slice_upto(s, s.len - 2), &major) || !major || major > 255)
        return false;
    *ret_lo = (unsigned)major << 8;
    *ret_hi = *ret_lo | 0xff;
    return true;
}

static bool parse_bound(struct dg_slice s, unsigned *ret_lo, unsigned *ret_hi) {
    static const char *const ops[] = {">=", "<=", ">", "<"};
    struct dg_cc cc;
    size_t op = 0;
    while (op < 4 && !dg_slice_starts(s, dg_cstr(ops[op]))) op++;
    if (op == 4 || !dg_cc_parse(dg_slice_from(s, strlen(ops[op])), &cc)) return false;
    *ret_lo = op == 0 ? rank(cc) : op == 2 ? rank(cc) + 1 : LOWEST;
    *ret_hi = op == 1 ? rank(cc) : op == 3 ? rank(cc) - 1 : HIGHEST;
    return true;
}

static bool parse_item(struct dg_slice s, unsigned *ret_lo, unsigned *ret_hi) {
    struct dg_cc lo, hi;
    if (dg_slice_is(s, "*")) {
        *ret_lo = LOWEST;
        *ret_hi = HIGHEST;
        return true;
    }
    if (parse_major(s, ret_lo, ret_hi) || parse_bound(s, ret_lo, ret_hi)) return true;
    if (dg_cc_parse(s, &lo)) {
        *ret_lo = *ret_hi = rank(lo);
        return true;
    }
    ptrdiff_t dash = dg_slice_rfind_ch(s, '-');
    if (dash < 0 || !dg_cc_parse(dg_slice_upto(s, (size_t)dash), &lo)) return false;
    struct dg_slice right = dg_slice_from(s, (size_t)dash + 1);
    *ret_lo = rank(lo);
    unsigned ignored;
    if (!parse_major(dg_slice_trim(right), &ignored, ret_hi)) {
        if (!dg_cc_parse(right, &hi)) return false;
        *ret_hi = rank(hi);
    }
    return *ret_lo <= *ret_hi;
}

int dg_capset_parse(struct dg_slice text, struct dg_capset *ret, struct dg_err *err) {
    struct dg_capset set = {0};
    struct dg_slice rest = dg_slice_trim(text), item;
    if (!rest.len) return dg_err_set(err, DG_E_SYNTAX, 0, "empty set of capabilities; write none");
    if (dg_slice_is(rest, "none")) rest.ptr = NULL;
    while (dg_slice_split(&rest, ',', &item)) {
        unsigned lo = 0, hi = 0;
        item = dg_slice_trim(item);
        if (!parse_item(item, &lo, &hi))
            return dg_err_set(err, DG_E_SYNTAX, 0, "'%.*s' is no capability; write 9.0, 12.x, 8.0-8.9 or >=8.0",
                              DG_FMT(item));
        if (!add_range(&set, lo, hi))
            return dg_err_set(err, DG_E_LIMIT, 0, "more than %d ranges of capabilities", DG_CAPSET_RANGES);
    }
    *ret = set;
    return 0;
}

/* One capability at the start of `s`, "sm_90a", "8.0" or "10.x"; its length, or 0. */
static size_t scan_one(struct dg_slice s, unsigned *ret_lo, unsigned *ret_hi) {
    struct dg_slice bare = skip_prefix(s);
    struct dg_cc cc;
    size_t before = s.len - bare.len, digits = count_digits(bare), n;
    bool wild = digits + 1 < bare.len && bare.ptr[digits] == '.' && bare.ptr[digits + 1] == 'x';
    if (wild && parse_major(dg_slice_upto(bare, digits + 2), ret_lo, ret_hi)) return before + digits + 2;
    n = number(bare, &cc);
    if (!n) return 0;
    *ret_lo = *ret_hi = rank(cc);
    if (n < bare.len && (lower(bare.ptr[n]) == 'a' || lower(bare.ptr[n]) == 'f')) n++;
    return n < bare.len && is_word(bare.ptr[n]) ? 0 : before + n;
}

bool dg_capset_scan(struct dg_slice text, struct dg_capset *ret) {
    struct dg_capset set = {0};
    unsigned lo = 0, hi, left = 0;
    bool dash = false; /* a range is open: "8.0 -" */
    for (size_t i = 0; i < text.len;) {
        size_t n = i && is_word(text.ptr[i - 1]) ? 0 : scan_one(dg_slice_from(text, i), &lo, &hi);
        if (n) {
            if (!add_range(&set, dash && left && left <= lo ? left : lo, hi)) break;
            left = dash ? 0 : lo;
            dash = false;
        } else {
            char c = text.ptr[i];
            if (c == '-')
                dash = true;
            else if (c != ' ' && c != '(' && c != ')')
                left = 0;
        }
        i += n ? n : 1;
    }
    if (!set.n) return false;
    *ret = set;
    return true;
}

bool dg_capset_has(const struct dg_capset *set, struct dg_cc cc) {
    for (unsigned i = 0; i < set->n; i++)
        if (dg_cc_cmp(set->r[i].lo, cc) <= 0 && dg_cc_cmp(cc, set->r[i].hi) <= 0) return true;
    return false;
}

static void add_one(struct dg_buf *out, unsigned lo, unsigned hi) {
    struct dg_cc l = unrank(lo), h = unrank(hi);
    if (lo == LOWEST && hi == HIGHEST) {
        dg_buf_addc(out, '*');
    } else if (hi == HIGHEST) {
        dg_buf_addf(out, ">=%u.%u", l.major, l.minor);
    } else if (lo == LOWEST) {
        if (h.minor == 0xff)
            dg_buf_addf(out, "<%u.0", h.major + 1u);
        else
            dg_buf_addf(out, "<=%u.%u", h.major, h.minor);
    } else if (!l.minor && h.minor == 0xff && l.major == h.major) {
        dg_buf_addf(out, "%u.x", l.major);
    } else if (lo == hi) {
        dg_cc_add(out, l);
    } else {
        dg_buf_addf(out, "%u.%u-%u.", l.major, l.minor, h.major);
        if (h.minor == 0xff)
            dg_buf_addc(out, 'x');
        else
            dg_buf_addf(out, "%u", h.minor);
    }
}

int dg_capset_add(struct dg_buf *out, const struct dg_capset *set) {
    if (!set->n) dg_buf_adds(out, "none");
    for (unsigned i = 0; i < set->n; i++) {
        if (i) dg_buf_adds(out, ", ");
        add_one(out, rank(set->r[i].lo), rank(set->r[i].hi));
    }
    return out->failed ? -DG_E_NOMEM : 0;
}
