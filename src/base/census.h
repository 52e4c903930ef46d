/* Counting the lines of a text. */
#ifndef DG_BASE_CENSUS_H
#define DG_BASE_CENSUS_H

#include "base/slice.h"

/* Newlines in a text, and whether it holds an ESC byte; one pass. */
struct dg_census {
    uint64_t newlines;
    bool escape;
};
struct dg_census dg_census(struct dg_slice s);
/* The same as processors without AVX-512 do it. */
struct dg_census dg_census_plain(struct dg_slice s);

#endif
