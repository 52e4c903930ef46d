/* Which bytes of a text logs hold least often: those are worth seeking.
 *
 * A text is sought by its grams, runs of four bytes (of six, where it is long enough). Whatever its place, one of
 * DG_RARE_STEP grams that follow one another begins at a multiple of DG_RARE_STEP; so only such places are looked at.
 */
#ifndef DG_BASE_RARE_H
#define DG_BASE_RARE_H

#include "base/slice.h"

enum { DG_RARE_STEP = 3, DG_RARE_SHORT = 4, DG_RARE_LONG = 6 };

/* Is a text of so many bytes sought by the short grams? */
static inline bool dg_rare_is_short(size_t len) { return len < DG_RARE_LONG + DG_RARE_STEP - 1; }
/* The place in `lit` (64 KiB at most) of the first of the DG_RARE_STEP grams that logs hold least often. Costs
 * microseconds. */
uint16_t dg_rare_run(struct dg_slice lit);

#endif
