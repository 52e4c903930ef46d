/* The matcher as packs.bin has it: its tables, made by the build of the rules that lie before them. */
#include "base/frozen.h"
#include "match/engine.h"
#include "match/tables_id.h" /* made by the build: a hash of the code that makes and reads them */

struct frozen {
    uint64_t made_by;
    const struct dg_rule *rules; /* where the first one lies */
    struct needle *needles;
    struct literal *literals;
    struct gram *grams;
    struct flanks *flanks;
    uint32_t *lists;
    uint32_t n_needles, n_literals, n_flanks, n_lists; /* of grams there are as many as of literals */
    uint32_t n_patterns, shift;
    struct bounds bounds;
    struct families families;
};

/* Pointers to rules are kept as they are. */
DG_FROZEN_TYPE(NEEDLE, needle, DG_PLAIN(needle, pattern), DG_PLAIN(needle, rule), DG_PLAIN(needle, literal),
               DG_PLAIN(needle, same), DG_PLAIN(needle, rare), DG_PLAIN(needle, chain), DG_PLAIN(needle, sign),
               DG_PLAIN(needle, later), DG_PLAIN(needle, once), DG_PLAIN(needle, guess), DG_PLAIN(needle, knows),
               DG_PLAIN(needle, harmless), DG_PLAIN(needle, alone), DG_PLAIN(needle, kinds), DG_PLAIN(needle, number),
               DG_TEXT(needle, lit));
DG_FROZEN_TYPE(LITERAL, literal, DG_TEXT(literal, text), DG_PLAIN(literal, needles), DG_PLAIN(literal, rare),
               DG_PLAIN(literal, murmurs));
DG_FROZEN_TYPE(GRAM_OF, gram, DG_PLAIN(gram, far), DG_PLAIN(gram, text), DG_PLAIN(gram, literal), DG_PLAIN(gram, at),
               DG_PLAIN(gram, far_at), DG_PLAIN(gram, len), DG_PLAIN(gram, far_shift), DG_PLAIN(gram, murmurs));
DG_FROZEN_TYPE(FLANKS, flanks, DG_PLAIN(flanks, before), DG_PLAIN(flanks, behind));
static const struct dg_frozen_field number_fields[] = {{.kind = DG_FROZEN_PLAIN, .size = sizeof(uint32_t)},
                                                       DG_FROZEN_LAST};
static const struct dg_frozen_type NUMBER = {sizeof(uint32_t), number_fields};
DG_FROZEN_TYPE(TABLES, frozen, DG_PLAIN(frozen, made_by), DG_PLAIN(frozen, rules),
               DG_LIST(frozen, needles, n_needles, NEEDLE), DG_LIST(frozen, literals, n_literals, LITERAL),
               DG_LIST(frozen, grams, n_literals, GRAM_OF), DG_LIST(frozen, flanks, n_flanks, FLANKS),
               DG_LIST(frozen, lists, n_lists, NUMBER), DG_PLAIN(frozen, n_patterns), DG_PLAIN(frozen, shift),
               DG_PLAIN(frozen, bounds), DG_PLAIN(frozen, families));

int dg_matcher_freeze(const struct dg_matcher *m, uintptr_t at, struct dg_buf *out, struct dg_err *err) {
    const struct sieve *s = &m->sieve;
    struct frozen f = {.made_by = DG_TABLES_ID,
                       .rules = m->rules->rules,
                       .needles = s->needles,
                       .literals = s->literals,
                       .grams = s->grams,
                       .flanks = s->flanks,
                       .lists = s->lists,
                       .n_needles = m->n_needles,
                       .n_literals = s->n_literals,
                       .n_flanks = lists_of(s),
                       .n_lists = lists_of(s) + 1,
                       .bounds = m->bounds,
                       .n_patterns = m->rules->n_patterns,
                       .shift = s->shift,
                       .families = s->families};
    f.families.wide = false; /* another processor may thaw it */
    return dg_freeze(&TABLES, &f, at, out, err);
}

int dg_matcher_thaw(const struct dg_ruleset *rules, struct dg_slice bytes, struct dg_matcher **ret,
                    struct dg_err *err) {
    bool in_place = dg_frozen_in_place(bytes.ptr, bytes.len); /* then thawing writes nothing */
    const struct frozen *f = in_place ? dg_thaw(&TABLES, (char *)(uintptr_t)bytes.ptr, bytes.len) : NULL;
    if (!f || f->made_by != DG_TABLES_ID || f->rules != rules->rules || f->n_patterns != rules->n_patterns)
        return dg_err_set(err, DG_E_UNSUPPORTED, 0, "the tables are of other rules or another build");
    struct dg_matcher *m = matcher_of(rules);
    if (!m) return dg_err_nomem(err);
    m->needles = f->needles;
    m->n_needles = f->n_needles;
    m->bounds = f->bounds;
    m->sieve = (struct sieve){.needles = f->needles,
                              .literals = f->literals,
                              .grams = f->grams,
                              .flanks = f->flanks,
                              .lists = f->lists,
                              .n_literals = f->n_literals,
                              .shift = f->shift,
                              .families = f->families};
    families_see(&m->sieve.families);
    if (!matcher_ready(m)) {
        dg_matcher_free(m);
        return dg_err_nomem(err);
    }
    *ret = m;
    return 0;
}
