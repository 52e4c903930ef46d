/* Which bytes of a text logs hold least often: those are worth seeking.
 *
 * A text is sought by one of its grams, runs of four bytes. Each gram belongs to a family, whose grams have much the
 * same characters at the same places: a place of a log where each of four bytes is one that the family has there is
 * likely to hold one of its grams.
 */
#ifndef DG_BASE_RARE_H
#define DG_BASE_RARE_H

#include "base/slice.h"

enum { DG_RARE_SIZE = 4, DG_RARE_FAMILIES = 16 };

struct dg_rare {
    uint16_t at;     /* where in the text the gram begins */
    uint16_t family; /* below DG_RARE_FAMILIES */
};

extern const char DG_RARE_COMMON[]; /* words that logs are full of, with a space before and behind each */

/* The gram by which `lit` is best sought; all zeros where it has fewer bytes than one. Costs microseconds. */
struct dg_rare dg_rare_gram(struct dg_slice lit);

#endif
