/* Which bytes of each literal libhs seeks. Its speed hangs on two things: how many texts there are, and how rare they
 * are in healthy logs. So a few 8-byte windows are chosen that together stand in all literals and are rare; what a
 * window's hit means is then proved by comparing the whole literal. A part of a literal that must be there must be
 * there too, so nothing is lost. */
#include "match/engine.h"

enum { WINDOW = 8, LONE_WINDOW = 12, BITS_MIN = 32 };

/* Half bits of information of a printable character, and of a letter or space (27th) after a letter or space, 'A' being
 * none: counted over server logs and English prose. */
static const char ONE[] =
    "GWRQWUWSQQSUNMMNLNNPPPPQQQMUSQSWUQSQRQQRSPVUQSQQQVQQOSUTVTVQVRSQVKOLMINMMKTOLMJJMQKKJLPPROUVUVW";
static const char AFTER[27][28] = {
    "VKIKSNJUJVOHKGVJXGIFMMRQMUI", "GRNQGPQVHLXGQQJSXJMOFVYRIVM", "HTMSGTUGLYIKQXFQUMMIIOXWQWL",
    "IRRNEURSGUTOTRJTZNKQLSTXPZE", "LNJIMNPTPXUKLGSMKGIKNNOLRXF", "KVRUILSWGXYMXVFKYJOJFZWWNZF",
    "NQNTEUNGHVZLOLNOYHLPMUVRVSF", "GYTTDYUZHZWUSSIJWJRINZVZSZI", "KJHKLLKXWXQILEHNYMHGTMZRZNP",
    "HPONFTPSMRRMMNJOPOKRIPMUURL", "HRWUCVPRKUTQUNOKTSKQPPQYUTH", "ISTMFOSWGUTFMVIRZRKLMRTWKWG",
    "GLQPFWVVIXTNKQHGUSKSKUXVRXH", "KVKHHNGVJVNOTKKQZWHHNOWZNTF", "NOKIQINUNSILIFNKZFMKHMLUTVI",
    "HXLRHWRJIYSHPWHJYHKJHWWXHZM", "UVWVUWXSRTUQSWVVVTKSDWRVVWT", "HSKMERLUHZMNLMHQZMJJIMSYLXG",
    "JUMTGSOKIVPQQPJMVLJGKTSYNYF", "JWLQGSXFGYRPSUGNZJLMNYNVMWG", "MKLJGRIXMZTGLGSLZIGGWTZQVVJ",
    "GXQVCULZGYVJNTLTXROURWXVWWM", "FZRRHXVHEYTPTKIVVLMUVVKXXWJ", "JQHQGQROJVTQLVTHVUPGUTTNPSJ",
    "NRTRNURUOVXRMMHJXIJJUSRXWWD", "HTRSDSSPHQSNNTOTROPQOUTRPOK", "JLKMMKMOKVRMMNKLVMKHMPMXPZG"};

static int letter(unsigned char c) { return c >= 'a' && c <= 'z' ? c - 'a' : c == ' ' ? 26 : -1; }

/* How surprising a text is in a log, in half bits. */
static unsigned half_bits(struct dg_slice s) {
    unsigned sum = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i], before = i ? (unsigned char)s.ptr[i - 1] : '\0';
        int a = letter(before), b = letter(c);
        sum += (unsigned)((i && a >= 0 && b >= 0 ? AFTER[a][b] : c >= ' ' && c <= '~' ? ONE[c - ' '] : 'Z') - 'A');
    }
    return sum;
}

struct gram { /* a window of a literal */
    char text[WINDOW];
    uint32_t needle;
    uint16_t at;
};
struct group { /* equal windows: grams[first], … of n literals that have none yet */
    uint32_t first, all, n;
};

static int by_text(const void *a, const void *b) {
    const struct gram *x = a, *y = b;
    int d = memcmp(x->text, y->text, WINDOW);
    return d ? d : x->needle != y->needle ? (x->needle < y->needle ? -1 : 1) : x->at - y->at;
}

static size_t collect(const struct dg_matcher *m, struct gram *grams) {
    size_t n = 0;
    for (uint32_t i = 0; i < m->n_needles; i++)
        for (size_t at = 0; at + WINDOW <= m->needles[i].lit.len; at++) {
            const char *text = m->needles[i].lit.ptr + at;
            if (half_bits(dg_slice(text, WINDOW)) < 2 * BITS_MIN) continue;
            if (grams) {
                grams[n] = (struct gram){.needle = i, .at = (uint16_t)at};
                memcpy(grams[n].text, text, WINDOW);
            }
            n++;
        }
    return n;
}

static size_t make_groups(const struct gram *grams, size_t n, struct group *groups) {
    size_t n_groups = 0;
    for (size_t i = 0; i < n; i++) {
        if (!i || memcmp(grams[i].text, grams[i - 1].text, WINDOW))
            groups[n_groups++] = (struct group){.first = (uint32_t)i};
        groups[n_groups - 1].all++;
        groups[n_groups - 1].n++;
    }
    return n_groups;
}

/* A heap with the group that serves most literals on top; of equals the first in order, so that the outcome is always
 * the same. */
static bool below(const struct group *a, const struct group *b) {
    return a->n != b->n ? a->n < b->n : a->first > b->first;
}

static void sift(struct group *v, size_t n, size_t i) {
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && below(&v[child], &v[child + 1])) child++;
        if (!below(&v[i], &v[child])) return;
        struct group t = v[i];
        v[i] = v[child];
        v[child] = t;
    }
}

static uint32_t unserved(const struct dg_matcher *m, const struct gram *grams, const struct group *g) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->all; i++) n += !m->needles[grams[g->first + i].needle].win_len;
    return n;
}

/* Greedy: take the window that stands in most literals that have none yet, until no window serves any. */
static void choose_shared(struct dg_matcher *m, const struct gram *grams, struct group *heap, size_t n) {
    for (size_t i = n / 2; i-- > 0;) sift(heap, n, i);
    while (n) {
        uint32_t now = unserved(m, grams, &heap[0]);
        if (now && now == heap[0].n) {
            for (uint32_t i = 0; i < heap[0].all; i++) {
                const struct gram *g = &grams[heap[0].first + i];
                struct needle *needle = &m->needles[g->needle];
                if (needle->win_len) continue;
                needle->win_at = g->at;
                needle->win_len = WINDOW;
            }
            now = 0;
        }
        heap[0].n = now;
        if (!now) heap[0] = heap[--n];
        sift(heap, n, 0);
    }
}

/* Without a rare window: the rarest longer one. */
static void choose_lone(struct needle *n) {
    size_t len = n->lit.len < LONE_WINDOW ? n->lit.len : LONE_WINDOW;
    unsigned best = 0;
    n->win_len = (uint16_t)len;
    for (size_t at = 0; at + len <= n->lit.len; at++) {
        unsigned bits = half_bits(dg_slice(n->lit.ptr + at, len));
        if (bits <= best) continue;
        best = bits;
        n->win_at = (uint16_t)at;
    }
}

bool windows_choose(struct dg_matcher *m) {
    size_t n = collect(m, NULL);
    _cleanup_(dg_freep) struct gram *grams = dg_calloc(n, sizeof(*grams));
    _cleanup_(dg_freep) struct group *groups = dg_calloc(n, sizeof(*groups));
    if (!grams || !groups) return false;
    collect(m, grams);
    qsort(grams, n, sizeof(*grams), by_text);
    choose_shared(m, grams, groups, make_groups(grams, n, groups));
    for (uint32_t i = 0; i < m->n_needles; i++)
        if (!m->needles[i].win_len) choose_lone(&m->needles[i]);
    return true;
}
