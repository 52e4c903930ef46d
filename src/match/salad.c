#include "match/salad.h"
#include "base/mem.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_MAX = 8 }; /* longer than the longest of the small words */

/* The commonest small words of languages that are written in Latin letters; where they have accents, some without. */
static const char *const SMALL[] = {
    "a",     "aan",    "adalah", "al",    "alla", "als",    "an",     "and",   "ang",  "ao",    "are",  "as",   "at",
    "att",   "au",     "auch",   "auf",   "av",   "ay",     "az",     "be",    "bir",  "bu",    "but",  "by",   "can",
    "ce",    "che",    "cho",    "com",   "come", "como",   "con",    "cu",    "da",   "dan",   "dans", "dari", "das",
    "dat",   "de",     "del",    "della", "dem",  "den",    "dengan", "der",   "des",  "det",   "di",   "die",  "do",
    "dos",   "du",     "e",      "een",   "egy",  "ei",     "ein",    "eine",  "el",   "em",    "en",   "er",   "es",
    "est",   "este",   "et",     "ez",    "for",  "from",   "gli",    "has",   "have", "he",    "het",  "hogy", "i",
    "ich",   "if",     "ikke",   "il",    "ile",  "im",     "in",     "ini",   "inte", "is",    "ist",  "it",   "its",
    "ja",    "jak",    "je",     "jest",  "kao",  "katika", "kun",    "kwa",   "la",   "las",   "le",   "les",  "lo",
    "los",   "maar",   "mais",   "med",   "met",  "mga",    "mit",    "mutta", "na",   "ne",    "nem",  "ng",   "ni",
    "nicht", "nie",    "niet",   "no",    "non",  "not",    "nous",   "nu",    "o",    "och",   "od",   "oder", "of",
    "og",    "olarak", "oli",    "on",    "ook",  "op",     "or",     "oraz",  "os",   "our",   "pada", "par",  "para",
    "pas",   "pe",     "per",    "plus",  "po",   "por",    "pour",   "que",   "qui",  "s",     "sa",   "se",   "si",
    "sich",  "sie",    "som",    "sono",  "su",   "sur",    "te",     "that",  "the",  "their", "they", "this", "til",
    "to",    "trong",  "u",      "um",    "uma",  "un",     "una",    "und",   "une",  "untuk", "v",    "van",  "ve",
    "von",   "voor",   "vous",   "w",     "wa",   "was",    "we",     "which", "wie",  "will",  "wir",  "with", "y",
    "ya",    "yang",   "you",    "your",  "z",    "za",     "zijn",   "zu"};

static int compare(const void *word, const void *entry) { return strcmp(word, *(const char *const *)entry); }

/* `low` gets the word in small letters; "" when it is longer than any small word. */
static void lower(struct dg_slice w, char low[SMALL_MAX + 1]) {
    size_t n = w.len > SMALL_MAX ? 0 : w.len;
    for (size_t i = 0; i < n; i++) low[i] = (char)tolower((unsigned char)w.ptr[i]);
    low[n] = 0;
}

static bool is_small(const char *low) { return bsearch(low, SMALL, DG_COUNT(SMALL), sizeof(*SMALL), compare); }

/* An English article, and behind it a word that no noun phrase begins with. */
static bool is_torn(const char *article, const char *low) {
    static const char *const AFTER_A[] = {"a", "an", "of", "the", NULL};
    static const char *const AFTER_THE[] = {"a", "an", "at", "be", "i", "may", "of", "on", "the", "to", NULL};
    bool the = !strcmp(article, "the");
    if (!the && strcmp(article, "a") && strcmp(article, "an")) return false;
    for (const char *const *p = the ? AFTER_THE : AFTER_A; *p; p++)
        if (!strcmp(low, *p)) return true;
    return false;
}

struct words {
    size_t n, code, listed;          /* all; of code; at the end of a line, or of a part of a sentence */
    size_t small, odd, twice, other; /* of those that are said; other: not of plain Latin letters */
    size_t torn;                     /* articles that nothing follows */
};

static bool is_letter(char c) { return isalpha((unsigned char)c) || (unsigned char)c >= 0x80; }

/* A name in a program, a path, an option, a number with its unit: said on purpose. */
static bool of_code(struct dg_slice w) {
    static const char MARKS[] = "_/\\=<>{}[]()|$#@+*~`^%&;";
    for (size_t i = 0; i < w.len; i++)
        if (memchr(MARKS, w.ptr[i], sizeof(MARKS) - 1)) return true;
    return *w.ptr == '-' || !is_letter(*w.ptr);
}

/* Pieces of several words in one: "MethodInfoyage", "StatINCTamr", or one without an end. */
static bool is_odd(struct dg_slice w) {
    size_t turns = 0, letters = 0;
    for (size_t i = 0; i < w.len; i++) {
        letters += is_letter(w.ptr[i]);
        turns += i > 1 && isupper((unsigned char)w.ptr[i]) && islower((unsigned char)w.ptr[i - 1]) &&
                 islower((unsigned char)w.ptr[i - 2]);
    }
    return turns > 1 || letters > 40 || (turns && letters > 14);
}

static bool is_plain(struct dg_slice w) {
    for (size_t i = 0; i < w.len; i++)
        if ((unsigned char)w.ptr[i] >= 0x80) return false;
    return true;
}

/* Without the quotes and stops around it. */
static struct dg_slice core(struct dg_slice w) {
    while (w.len && ispunct((unsigned char)*w.ptr) && *w.ptr != '-') w = dg_slice_from(w, 1);
    while (w.len && ispunct((unsigned char)w.ptr[w.len - 1])) w.len--;
    return w;
}

static struct words count(struct dg_slice t) {
    struct words k = {0};
    struct dg_slice last = {NULL, 0};
    char before[SMALL_MAX + 1] = "", low[SMALL_MAX + 1];
    for (size_t i = 0; i < t.len;) {
        while (i < t.len && isspace((unsigned char)t.ptr[i])) i++;
        size_t from = i;
        while (i < t.len && !isspace((unsigned char)t.ptr[i])) i++;
        if (i == from) break;
        struct dg_slice whole = dg_slice(t.ptr + from, i - from), w = core(whole);
        bool line_ends = i == t.len || t.ptr[i] == '\n';
        k.n++;
        k.listed += line_ends || strchr(",:.", whole.ptr[whole.len - 1]);
        if (!w.len || of_code(whole)) {
            k.code++;
            *before = 0;
            continue;
        }
        lower(w, low);
        k.small += is_small(low);
        k.torn += is_torn(before, low);
        if (ispunct((unsigned char)whole.ptr[whole.len - 1]))
            *before = 0;
        else
            memcpy(before, low, sizeof(low));
        k.odd += is_odd(w);
        k.other += !is_plain(w);
        k.twice += w.len > 1 && dg_slice_eq(w, last) && !line_ends;
        last = w;
    }
    return k;
}

const char *dg_salad(struct dg_slice t) {
    enum { A_FEW = 8, MANY = 24 };
    struct words k = count(t);
    size_t said = k.n - k.code;
    if (k.torn >= 3 && k.torn * 16 >= said) return "its articles stand before no noun";
    if (said < A_FEW || k.code * 4 > k.n || k.listed * 3 > k.n) return NULL;
    if (k.odd >= 2 && k.odd * 10 >= said && k.small * 8 < said) return "words are glued to one another";
    if (said < MANY || k.other * 5 > said) return NULL; /* of a language whose small words are not known here */
    if (k.small * 25 < said) return "its words make no sentence";
    if (k.small * 5 > said * 4) return "it has hardly anything but small words";
    if (k.twice * 10 >= said) return "words are said twice";
    return NULL;
}
