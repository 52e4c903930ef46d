/* The rows that archgen writes from rules/arch.yaml. For src/arch alone. */
#ifndef DG_ARCH_TABLE_H
#define DG_ARCH_TABLE_H

#include "arch/arch.h"

struct dg_arch_branch {
    int branch, cuda;
    const char *first; /* the first driver known, or the branch */
};
struct dg_arch_ptx {
    int ptx, cuda;
};

/* Each in rising order. */
extern const struct dg_arch dg_arch_rows[];
extern const size_t dg_arch_rows_n;
extern const struct dg_arch_branch dg_arch_branches[];
extern const size_t dg_arch_branches_n;
extern const struct dg_arch_ptx dg_arch_ptxs[];
extern const size_t dg_arch_ptxs_n;

#endif
