/* Python package versions (PEP 440, https://peps.python.org/pep-0440/): epochs, releases of any length, pre, post and
 * dev parts; a leading v and the local part (+cu130) are ignored. */
#ifndef DG_BASE_PEP440_H
#define DG_BASE_PEP440_H

#include "base/slice.h"

/* <0, 0, >0. A text that is no version sorts by its leading numbers; two that have none are equal. */
int dg_pep440_cmp(struct dg_slice a, struct dg_slice b);
/* Is `version` in `range`: comma-separated comparisons ('>=0.5.2,<0.6', '==0.9.*', '!=1.0', '~=1.4.2', '0.5.16' meaning
 * ==), or
 * '*'. The order is total, so a nightly is on one side: '<0.6' holds 0.6rc1, which lacks what 0.6 has, and '>1.0'
 * holds 1.0.post1. An empty version (unknown) is in every range. A range that does not parse holds nothing. */
bool dg_pep440_in(struct dg_slice version, struct dg_slice range);
bool dg_pep440_range_valid(struct dg_slice range);

#endif
