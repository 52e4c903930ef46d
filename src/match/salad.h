/* Words that make no sentence: what a model says whose numbers are wrong, though each word is one. A judgement of text
 * in languages that are written with spaces. LIMITATIONS: nonsense in good grammar passes, and so does what is short.
 */
#ifndef DG_MATCH_SALAD_H
#define DG_MATCH_SALAD_H

#include "base/slice.h"

/* NULL, or what is wrong with its words. */
const char *dg_salad(struct dg_slice text);

#endif
