/* The engine's parts and how they hang together. Private to this folder.
 *
 *   matcher.c   the literals of all rules and the built-in ones
 *   frozen.c    the same as packs.bin has them
 *   pick.c      where in a block one may stand
 *   sieve.c     where they do
 *   hits.c      stage 1: a block -> lines that hold literals, in order; pure, any thread
 *   regex.c     one pattern on one message
 *   needs.c     what it must hold at least
 *   scan.c      blocks through the two stages, on one or two threads
 *   engine.c    the state of a scan, and what is handed out of it
 *   trial.c     stage 1: which of those hits match
 *   lines.c     stage 2: lines with hits, in file order, and the lines of open records
 *   service.c   stage 2: signs of service, of which only the first and the last count
 *   rules.c     any, all, sequence, not, within
 *   found.c     findings, launches, epochs, spans of wrappers
 *   record.c    tracebacks and other fatal records
 *   opened.c    escaped text inside text */
#ifndef DG_MATCH_ENGINE_H
#define DG_MATCH_ENGINE_H

#include "match/match.h"
#include "base/map.h"
#define PCRE2_CODE_UNIT_WIDTH 8
#include <endian.h>
#include <pcre2.h>
#include <stdatomic.h>

#define DG_NONE UINT32_MAX

enum limits {
    HITS_MAX = 32768,       /* lines of one pass; then the rest of the block gets a pass of its own, by one thread */
    SIGHTS_MAX = 524288,    /* hits of one pass, before its last line */
    MURMURS_MAX = 65536,    /* the same of murmurs; what does not fit is taken as lines */
    SAID_MAX = 32,          /* different grams among them */
    CAPS_MAX = 32,          /* captures of one match */
    CAPTURE_MAX = 64 << 10, /* bytes of one capture */
    TEXT_MAX = 2048,        /* bytes of a place's text */
    TUPLES_MAX = 64,        /* findings of one rule in one launch */
    FOUND_MAX = 4096,       /* findings of one launch */
    FATALS_MAX = 32,        /* first and last fatal records that are kept of an epoch, each */
    TAIL_MAX = 40,          /* last messages of a source */
    SPANS_MAX = 16,         /* wrappers that are open at once */
    DEPTH_MAX = 2,          /* opened text within opened text */
    RECORDS_MAX = 256       /* records that are open at once */
};

/* What a built-in literal may mean. */
enum sign { SIGN_NONE, SIGN_TRACEBACK, SIGN_LEVEL, SIGN_EXCEPTION, SIGN_TERMINATE, SIGN_ABORT, SIGN_OTHER };

/* Which needles of a literal are one sight of a line: later steps, as most are out of turn, those of guesses apart;
 * what a `not` forbids, where it has no regex; and guesses, until it is clear that no rule knows the line. */
enum chain { CHAIN_NONE, CHAIN_STEPS, CHAIN_GUESS_STEPS, CHAIN_NOTS, CHAIN_GUESSES, CHAINS };

/* A literal that is sought, of a pattern or built in. Numbered in the order in which the hits of one line are handled.
 */
struct needle {
    const struct dg_pattern *pattern; /* NULL: built in */
    const struct dg_rule *rule;
    uint32_t literal;    /* its literal */
    uint32_t same;       /* the next needle of the same literal and chain, or DG_NONE */
    struct dg_rare rare; /* by what it is sought */
    uint8_t chain, sign; /* enum chain, enum sign */
    /* What the rule says, close at hand: */
    bool later;             /* a later step of a sequence: whether it is sought depends on what was read before */
    bool once;              /* one match on a line is enough */
    bool guess;             /* a guess, made where no rule knows the line */
    bool knows;             /* a match leaves nothing to guess. Rules on trial, guesses among them, do not count */
    bool harmless;          /* the line is no failure */
    bool alone;             /* has a say by a part alone: who says that a line is no failure, or opens its text */
    uint32_t kinds, number; /* the rule's */
    struct dg_slice lit;
};

struct literal { /* a text that is sought, once, for all its needles */
    struct dg_slice text;
    uint32_t needles[CHAINS]; /* the first of each chain, or DG_NONE; needle.same leads on */
    struct dg_rare rare;      /* by what it is sought */
    bool murmurs;             /* its needles are signs of service, and what a `not` forbids */
};
/* A set of numbers from 0. */
static inline bool bit_of(const uint64_t *bits, uint32_t i) { return bits[i / 64] >> i % 64 & 1; }
static inline void bit_set(uint64_t *bits, uint32_t i) { bits[i / 64] |= UINT64_C(1) << i % 64; }
static inline void bit_clear(uint64_t *bits, uint32_t i) { bits[i / 64] &= ~(UINT64_C(1) << i % 64); }
/* The characters that the grams of each family (base/rare.h) have at each place. Of bytes seven bits count. */
struct families {
    uint64_t lacks[128]; /* by byte: bit 16 * place + family: it has none such */
    /* The same in eights of families, for processors that look up 64 bytes at once: bit family % 8: it has one such. */
    uint8_t has[DG_RARE_FAMILIES / 8][DG_RARE_SIZE][128];
    bool wide; /* this is one of those */
};
/* What stands around grams of one hash: the marks of the bytes behind, of the literals that tell it, and before, of
 * the others. */
struct flanks {
    uint32_t before, behind;
};
struct sieve {
    void *memory; /* that holds all tables: a large page is had sooner than hundreds of small ones; NULL: another's */
    struct needle *needles;
    struct literal *literals;
    struct families families;
    struct flanks *flanks; /* by gram_index(), as are: */
    uint32_t *lists;       /* their grams begin here, and end where the next begin */
    uint32_t *texts;       /* while it is made: by hash of the text, its literal + 1 */
    struct gram {
        uint64_t far; /* bytes of the literal far from the gram: they tell at a glance that most are not meant */
        uint32_t text, literal;
        uint16_t at, far_at; /* places in the literal */
        uint16_t len;        /* of the literal */
        uint8_t far_shift;   /* what eight bytes are too many, in bits */
        bool murmurs;        /* the literal does */
    } * grams;
    uint32_t n_literals;
    unsigned shift; /* for gram_index() */
};
static inline uint32_t lists_of(const struct sieve *s) { return UINT32_C(1) << (32 - s->shift); }
static inline uint32_t gram_load(const char *p) {
    uint32_t x;
    memcpy(&x, p, sizeof(x));
    return le32toh(x);
}
/* A hash of the gram at p, of 32 - shift bits. */
#define GRAM_FACTOR UINT32_C(0x85ebca6b)
static inline uint32_t gram_index(const char *p, unsigned shift) { return gram_load(p) * GRAM_FACTOR >> shift; }

/* Machine code pays from a few dozen matches on; most patterns of a short log are met once. */
enum { JIT_NOT_YET, JIT_COMPILING, JIT_READY, JIT_AFTER = 24 };

struct regex { /* a compiled pattern */
    pcre2_code *code;
    atomic_int jit;   /* a JIT_ state */
    atomic_bool slow; /* it takes its time, which is counted where its lines come in order */
    uint32_t n_groups;
    struct regex_group {
        uint32_t number;
        struct dg_slice name;
        enum dg_cap_type type;
    } groups[CAPS_MAX];
};

/* A text must hold, of each of some lists, one text, of which three grams are known, by their hashes. */
enum { NEEDS_MAX = 128, GRAMS_BITS = 11 };
struct need {
    uint16_t grams[3];
    bool last; /* of its list */
};
struct needs {
    unsigned n;
    struct need v[];
};
struct grams { /* of three bytes: the text at hand holds one of this hash where that is `now` */
    uint8_t held[1 << GRAMS_BITS], now;
};

/* Where each sort of needles begins and ends: they are in that order. */
struct bounds {
    uint32_t not_from, not_to;   /* needles of what a rule must *not* have beside it */
    uint32_t guess_from;         /* needles of guesses, but for a few before those; up to lazy_from */
    uint32_t lazy_from, lazy_to; /* needles of rules that are signs of service and nothing else; then built-in ones */
};

struct dg_matcher {
    const struct dg_ruleset *rules;
    struct needle *needles; /* the sieve's */
    uint32_t n_needles;
    struct bounds bounds;
    struct sieve sieve;
    _Atomic(struct needs *) *needs;   /* by needle: what its regex needs; made when first asked for */
    _Atomic(struct regex *) *regexes; /* by pattern id; compiled when first needed; REGEX_BAD: does not compile */
    pcre2_compile_context *context;   /* of regex_context() */
};
extern struct regex REGEX_BAD;
/* For compiling: with memory enough for the JIT compiler. NULL: out of memory. */
pcre2_compile_context *regex_context(void);
/* A sign of service that says nothing else: it may be looked at late, and not each time. */
bool is_lazy(const struct dg_rule *r);
/* Of rules, as yet without tables. NULL: out of memory. */
struct dg_matcher *matcher_of(const struct dg_ruleset *rules);
bool matcher_ready(struct dg_matcher *m); /* when its needles are counted. False: out of memory */

/* ---- pick.c */
void families_init(struct families *f);
void families_see(struct families *f); /* which processor this is */
void families_add(struct families *f, unsigned family, const char *gram);
/* The places in data[at, at + n) where each byte of four is one that the same family has there, in order. Three bytes
 * more are read; `out` has room for PICK_SLACK more than n. */
enum { PICK_SLACK = 64 };
uint32_t families_pick(const struct families *f, const char *data, size_t at, size_t n, uint32_t *out);
/* Add the flanks of a literal whose gram begins at text[at]. */
void flanks_add(struct flanks *f, struct dg_slice text, size_t at);
/* Those of n places, in their order, whose gram has one of its flanks there; room for PICK_SLACK more. data[from, place
 * + 8) is read. */
uint32_t flanks_sift(const struct sieve *s, const char *data, size_t from, uint32_t *places, uint32_t n);

/* ---- sieve.c */
/* A whole literal stands at data[start]. False: stop. */
typedef bool (*sieve_fn)(void *ctx, const struct literal *l, size_t start);
/* Room for n needles, which the caller fills; the sieve owns them. NULL: out of memory. */
struct needle *sieve_room(struct sieve *s, uint32_t n);
void sieve_make(struct sieve *s, uint32_t n); /* of those n, or fewer */
void sieve_release(struct sieve *s);
/* None but literals that murmur seem to stand around data[at], by their grams. True: which do need not be known. */
typedef bool (*sieve_quiet_fn)(void *ctx, size_t at, uint32_t list);
/* To be told when `murmurs` of each literal has been set. */
void sieve_quieten(struct sieve *s);
/* All literals in data[from, len), each where it stands, lines in order. 32 bytes behind data[len) are read. `quiet`
 * may be NULL. */
void sieve_seek(const struct sieve *s, const char *data, size_t from, size_t len, sieve_fn fn, sieve_quiet_fn quiet,
                void *ctx);
/* Those of them whose gram stands at data[at]. False: stopped. */
bool sieve_prove(const struct sieve *s, const char *data, size_t from, size_t len, size_t at, sieve_fn fn, void *ctx);

/* ---- hits.c */
struct hit_line { /* a line that holds literals: bytes [start, end) of the block, its number from 0, its hits */
    uint32_t start, end, index, first, n;
    uint32_t murmurs; /* there are before it */
    bool tried;       /* hits.msgs holds its message */
};
/* Not tried yet: stage 2 does; it matches; it does not and is left out. */
enum trial { TRIAL_NONE, TRIAL_MATCHES, TRIAL_FAILED };
struct sight { /* a needle, and where its literal begins in the block: the first time on its line */
    uint32_t needle, at;
    uint32_t caps; /* hits.caps[caps, caps + n_caps) of what matches */
    uint16_t n_caps;
    uint16_t trial; /* enum trial */
};
struct msg;
struct hits {
    struct hit_line *lines; /* room for HITS_MAX */
    struct msg *msgs;       /* of lines that were tried; room for HITS_MAX, made when needed */
    struct {
        struct dg_capture *v;
        size_t n, cap;
    } caps;
    struct sight *sights; /* room for SIGHTS_MAX, for one line more, and behind those for two lines that murmur */
    uint32_t n_lines, n_hits;
    /* Where literals that murmur may stand, by their grams, on lines that hold nothing else: a healthy log is full of
     * them, and hardly any is looked at. In order of lines; room for MURMURS_MAX. */
    uint32_t *murmurs;
    uint32_t n_murmurs;
    uint32_t said[SAID_MAX]; /* their lists */
    uint32_t n_said;
    size_t to;           /* searched up to here; less than the block's length: search again from here */
    uint32_t line_at_to; /* then: number of the line that begins there */
};
struct pcre { /* what running a regex takes */
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};
struct scanner { /* one thread's means */
    const struct dg_matcher *m;
    const struct dg_match_opts *opts;
    struct pcre pcre;
    struct on_line {    /* the needles of the line at hand */
        uint64_t *bits; /* by needle */
        uint64_t *top;  /* by word of those: is it not 0? */
        uint32_t *at;   /* by needle: where its literal begins, the first time */
        uint32_t n, n_top;
    } on_line;
    struct grams grams; /* of the message at hand */
    uint64_t *said;     /* bits: the lists in hits.said */
    uint64_t *matched;  /* per rule: the line it was last found to match on */
    uint32_t *tried;    /* per pattern: how often its regex ran */
    uint64_t serial;    /* of lines */
};
int scanner_init(struct scanner *s, const struct dg_matcher *m, const struct dg_match_opts *opts);
void scanner_release(struct scanner *s);
int hits_init(struct hits *h, const struct dg_matcher *m);
void hits_release(struct hits *h);
/* The guesses among n sights of the line at hand, which were not tried, each by itself. Returns how many there are now.
 */
uint32_t spread_guesses(struct scanner *s, struct sight *v, uint32_t n);
/* Search data[from, len); `line` is the number of the line that begins at `from`, `kind` that of the source; -1: no hit
 * is tried, and none murmurs. */
void hits_find(struct scanner *s, const char *data, size_t len, size_t from, uint32_t line, int kind, struct hits *h);
/* The line of murmur i, which begins at `start`, as a line with hits, if any, but for its number; they are put into
 * h->sights from `first` on. Returns the murmur behind it. */
uint32_t murmurs_to_line(struct scanner *s, const char *data, size_t len, struct hits *h, uint32_t i, uint32_t first,
                         struct hit_line *ret);

/* ---- messages and matches */
struct caps {
    struct dg_capture v[CAPS_MAX];
    uint32_t n;
};
struct msg { /* one message: a line without its prefix, or one carriage-return part of it */
    struct dg_slice body;
    struct dg_prefix pre;
    bool bol, eol; /* the body's ends are true ends of the message */
};
struct line {
    struct dg_slice text;
    uint64_t raw, seq;
    bool bol, eol;
    bool parts; /* holds carriage returns */
    bool whole_ready;
    const struct dg_rule *inside; /* virtual: the wrapper whose text this is */
    int depth;                    /* 0: of the file; up to DEPTH_MAX: of opened text */
    bool harmless;                /* a rule says that this is no failure */
    bool known;                   /* a rule says what it means: nothing is to be guessed */
};

/* ---- trial.c */
/* Try the hits of line `line` of the pass over the block of `len` bytes, whose needles are in order, and drop those
 * that do not match. What was read before plays no part: what depends on it is left to stage 2, and so is what is rare:
 * long lines, those with carriage returns, the first and the last of a block. */
void trial_line(struct scanner *s, const char *data, size_t len, enum dg_kind kind, struct hits *h, uint32_t line);

/* A place and its captures, copied. Reuses its memory. */
struct engine;
struct kept {
    struct dg_place place;
    struct dg_capture *caps;
    uint32_t n_caps;
    char *mem;
    size_t cap;
};
bool keep(struct kept *k, const struct dg_place *place, const struct dg_capture *caps, uint32_t n_caps);
/* The same in the arena, for good. */
struct dg_place place_in_arena(struct engine *e, const struct kept *k);
struct dg_capture *caps_in_arena(struct engine *e, const struct kept *k);
void kept_release(struct kept *k);

/* A running instance of an all or sequence rule: chain[k] holds the places of parts 0..k (sequence), or parts[k] the
 * latest place of part k (all). */
struct inst {
    struct kept *kept; /* sequence: n*(n+1)/2; all: n */
    uint32_t n_kept;
    bool *have; /* per chain (sequence) or part (all) */
    long pid;
    int rank;
    uint64_t used; /* seq of its latest hit */
};
struct pending { /* a match of an any rule that waits for its `not` window to close */
    struct kept hit;
    uint32_t launch, epoch;
    bool opened;
    const struct dg_rule *inside;
};
struct rule_state {
    uint64_t last_seq; /* seq + 1 of the line it was last counted on */
    uint64_t not_seq;  /* seq + 1 of the line a `not` last matched on */
    double spent;      /* seconds in its regexes */
    uint64_t tried;
    uint32_t errors; /* matches that ran into PCRE2's limits */
    bool off;
    struct inst *insts;
    uint32_t n_insts;
    struct pending *pending;
    uint32_t n_pending;
    uint32_t tuples, tuples_launch;
};

/* When a needle's sign of service was found: first of this epoch, last of this look (serials). Close together, as they
 * are looked at for each line of a healthy log. */
struct service {
    uint64_t first, last;
};

struct record;
struct found {
    struct dg_finding f; /* without texts until the end */
    struct kept first, last, parts[4];
    uint64_t hash, record; /* record: serial of the open record that holds the first hit; 0: none */
    struct found *old;     /* the same tuple in earlier epochs */
};
struct fatal {
    struct dg_fatal f;
    struct kept at;
};
struct fatals { /* of one epoch */
    struct fatal first[FATALS_MAX], last[FATALS_MAX];
    uint64_t n;
};
struct span {
    const struct dg_rule *rule;
    uint64_t from, to; /* seq */
    long pid;
    int rank;
};

struct cursor { /* a place in the block at hand: there are `index` newlines before it */
    size_t at;
    uint32_t index;
};

struct engine {
    const struct dg_matcher *m;
    const struct dg_match_opts *opts;
    struct dg_arena *arena;
    struct dg_err *err;
    const struct dg_rule *only; /* match this rule alone; NULL: all */
    bool nomem;

    struct scanner scanner; /* for opened text */
    struct rule_state *rules;
    uint64_t *begun;          /* bits: rules of which a step or part was seen, or a match waits */
    struct service *services; /* by needle - lazy_from */
    struct msg whole[DEPTH_MAX + 1],
        part; /* of the line at hand at each depth; the carriage-return part looked at last */

    /* the source that is read */
    uint32_t source;
    enum dg_kind kind;
    bool in_source;
    uint64_t seq_base;               /* seq of the block's first line */
    uint64_t last_raw;               /* raw number of the latest line */
    uint32_t launch;                 /* open launch, or DG_NONE */
    bool launch_ended, launch_broke; /* it said its end; a traceback or abort stands in it */
    uint64_t begin_hash;             /* of the message that opened it */
    struct dg_place begin;           /* of it: time and line */
    struct kept pulse;
    uint64_t first_seq, last_seq; /* of the lines that gave it its times */
    bool trouble;                 /* an error since the epoch began */
    uint64_t epoch_serial;        /* grows with each epoch of each launch */
    struct quiet {                /* murmurs of the block at hand that were put off */
        const struct dg_block *block;
        struct hits *hits;
        uint32_t from, to;   /* those between on lines that could not wait were looked at */
        struct cursor known; /* near them */
        uint64_t serial;
    } quiet;
    uint64_t *worth; /* bits: their lists that are worth looking at */
    uint32_t launch_found;
    struct span spans[SPANS_MAX];
    uint32_t n_spans;
    struct record *records; /* RECORDS_MAX; those in use first */
    uint32_t n_records;
    uint64_t record_serial;
    struct record *record; /* that holds the line at hand, or NULL */
    struct kept tail[TAIL_MAX];
    uint64_t n_tail;

    struct {
        struct dg_launch *v;
        size_t n, cap;
    } launches;
    struct {
        struct found **v;
        size_t n, cap;
    } found;
    uint32_t *table; /* open addressing: index into found + 1 */
    size_t table_size;
    struct fatals *now, *before; /* of this epoch and the one before */
    struct {
        struct fatal *v;
        size_t n, cap;
    } fatals;
    struct {
        struct dg_tail *v;
        size_t n, cap;
    } tails;
    struct {
        struct dg_limit_hit *v;
        size_t n, cap;
    } limits;
    uint64_t dropped;
};

/* ---- regex.c */
enum {
    WINDOW = 4096,         /* bytes that a regex sees around its literal */
    TIMED = 64,            /* one of so many runs is timed: the clock costs as much as a short match */
    SLOW_MICROSECONDS = 50 /* what a run may take on average */
};
int pcre_init(struct pcre *p);
void pcre_release(struct pcre *p);
/* Compiled when the literal is first met: most of the rules never are. &REGEX_BAD: it does not compile; NULL: out of
 * memory. */
struct regex *regex_of(const struct dg_matcher *m, const struct dg_pattern *p);
/* As pcre2_match(). `tried`: how often it ran. */
int regex_run(struct pcre *p, struct regex *r, uint64_t tried, struct dg_slice subject, size_t start, uint32_t options);
/* After a match: may it count? Not where the pattern wants garbage and the answer is language. */
bool regex_counts(const struct pcre *p, const struct regex *r, const struct dg_pattern *of, struct dg_slice subject);
/* What its groups hold after a match: `out` has room for CAPS_MAX. */
uint32_t regex_captures(const struct pcre *p, const struct regex *r, struct dg_slice subject, struct dg_capture *out);
/* Where in the message the literal stands that was seen at `hint`, which may lie in the prefix; -1: nowhere. */
ptrdiff_t lit_in(const struct dg_pattern *p, const struct msg *m, const char *hint);
void msg_split(const struct dg_match_opts *opts, enum dg_kind kind, struct dg_slice text, struct msg *m);
/* Does the pattern, whose literal stands at lit_at, match the line? The message that it matches, with the captures
 * (texts point into the line), or NULL. The message of a carriage-return part is good until the next call. */
const struct msg *pattern_match(struct engine *e, const struct dg_pattern *p, struct line *line, size_t lit_at,
                                struct caps *caps);
const struct msg *line_whole(struct engine *e, struct line *line);
void regex_free(struct regex *r);

/* ---- needs.c */
/* Of `re`, or no regex, for texts that hold `lit`: returns how many; room for NEEDS_MAX. */
unsigned needs_of(struct dg_slice re, struct dg_slice lit, struct need *ret);
void grams_of(struct dg_slice text, struct grams *ret);
bool needs_met(const struct need *v, unsigned n, const struct grams *g); /* false: the regex does not match */

/* ---- engine.c */
int engine_init(struct engine *e, const struct dg_matcher *m, const struct dg_match_opts *opts, struct dg_arena *arena);
void engine_release(struct engine *e);
int engine_finish(struct engine *e, struct dg_scan **ret);

/* ---- lines.c */
bool has_parts(struct dg_slice line); /* carriage returns, but for one at its end */
void engine_begin_source(struct engine *e, uint32_t source, enum dg_kind kind);
void engine_block(struct engine *e, struct scanner *s, const struct dg_block *b, struct hits *h);
void engine_end_source(struct engine *e);
struct line line_of(struct engine *e, const struct dg_block *b, size_t start, size_t end, uint32_t index);

/* ---- scan.c */
struct dg_block block_of(const char *data, size_t len); /* a whole text; DG_BLOCK_TAIL zeros stand behind it */

/* ---- service.c */
bool is_service(const struct dg_matcher *m, uint32_t needle);
/* Do the sights of the line say nothing but signs of service, and what a `not` forbids? */
bool only_murmurs(const struct dg_matcher *m, const struct sight *v, uint32_t n);
bool murmurs(const struct dg_matcher *m, const struct literal *l); /* literal.murmurs */
size_t line_begin(const struct dg_block *b, size_t at);
uint32_t line_index(struct cursor *known, const struct dg_block *b, size_t start); /* known: becomes this place */
/* Put murmurs [from, to) off. False: they cannot wait. */
bool quiet_put_off(struct engine *e, const struct hits *h, uint32_t from, uint32_t to);
void quiet_settle(struct engine *e); /* look at the signs of service that were put off */
/* An error: signs of service before it are settled, those after it make an epoch. */
void trouble_begins(struct engine *e);

/* ---- rules.c */
/* The place of a message. The launch takes note of its time. */
struct dg_place place_of(struct engine *e, const struct line *line, const struct msg *msg);
bool same_process(long pid_a, int rank_a, long pid_b, int rank_b);
/* Is it a later step of a sequence of which no step before it was seen? Whether it matches then changes nothing. */
bool out_of_turn(const struct engine *e, const struct needle *n);
/* What it must not have beside it stands there. */
void rule_forbid(struct engine *e, const struct dg_rule *rule, const struct dg_place *place);
/* Has it nothing begun or waiting? Then what it must not have beside it changes nothing. */
bool rule_idle(const struct engine *e, const struct dg_rule *rule);
/* The pattern matched on this line: advance its rule. */
void rule_hit(struct engine *e, const struct dg_pattern *p, const struct line *line, const struct msg *msg,
              const struct caps *caps);
void rules_flush(struct engine *e); /* the source ends: what waits is decided */
void rule_state_release(struct rule_state *s);

/* ---- found.c */
struct hit { /* a whole match of a rule */
    const struct dg_rule *rule;
    const struct dg_place *place;
    const struct caps *caps;
    const struct kept *parts; /* places of all/sequence, or NULL */
    uint32_t n_parts;
    struct record *record; /* that holds the line, or NULL */
    uint32_t launch, epoch;
    bool opened;                  /* found in opened text */
    const struct dg_rule *inside; /* the wrapper it was opened from, or NULL */
};
void found_add(struct engine *e, const struct hit *hit);
void launch_open(struct engine *e, uint64_t raw);
void launch_time(struct engine *e, const struct dg_place *place); /* it is one of its lines */
void launch_close(struct engine *e);
void launch_begin(struct engine *e, const struct dg_place *place);
void launch_pulse(struct engine *e, const struct dg_place *place);
uint32_t launch_epoch(const struct engine *e);
void span_open(struct engine *e, const struct dg_rule *rule, const struct dg_place *place);
void span_close(struct engine *e, const struct dg_rule *rule, const struct dg_place *place);
void found_free(struct found *f);

/* ---- record.c */
/* Give the line to the open records, or open one (`head`: SIGN_TRACEBACK, SIGN_TERMINATE). The record that holds it, or
 * NULL. */
struct record *record_feed(struct engine *e, struct line *line, enum sign head);
struct record *record_nth(const struct engine *e, uint32_t i);
void record_holds(struct record *r, struct found *f);
void record_harmless(struct record *r);
uint64_t record_line(const struct record *r);
void records_close(struct engine *e);
void records_end_before(struct engine *e);
void record_free(struct record *r);
/* A line that looks fatal by itself. */
bool fatal_line(struct engine *e, struct line *line, enum sign sign);
void fatals_turn(struct engine *e);  /* a new epoch begins */
void fatals_flush(struct engine *e); /* the launch or source ends */

/* ---- opened.c */
struct dg_slice unescape(struct dg_slice text, enum dg_opens_as as, struct dg_buf *out);

#endif
