/* GPU architectures: compute capabilities, sets of them, product names, driver and CUDA versions, and which code loads
 * where. The table behind it is made from rules/arch.yaml when the program is built. CUDA and driver API versions are
 * 1000*major + 10*minor, as cuDriverGetVersion gives them. */
#ifndef DG_ARCH_H
#define DG_ARCH_H

#include "base/buf.h"
#include "base/err.h"
#include "model/device.h"

/* ---- one capability or target ---- */

static inline bool dg_cc_known(struct dg_cc c) { return c.major != 0; }
static inline int dg_cc_cmp(struct dg_cc a, struct dg_cc b) {
    return a.major != b.major ? (a.major > b.major) - (a.major < b.major) : (a.minor > b.minor) - (a.minor < b.minor);
}

/* What a compiler was told to build for: sm_90a is {{9, 0}, 'a'}. */
struct dg_target {
    struct dg_cc cc;
    char suffix; /* 0, 'a' (this capability only) or 'f' (this family) */
};

/* The whole of `s`: "12.0", "120", "sm_120", "SM120", "compute_90a", "121a", "12.0f". False: something else. */
bool dg_target_parse(struct dg_slice s, struct dg_target *ret);
/* The same without the suffix. */
bool dg_cc_parse(struct dg_slice s, struct dg_cc *ret);
int dg_cc_add(struct dg_buf *out, struct dg_cc cc);             /* "12.0" */
int dg_target_add(struct dg_buf *out, struct dg_target target); /* "sm_120a" */

/* ---- sets of capabilities ---- */

#define DG_CAPSET_RANGES 16
/* Sorted ranges, both ends in the set, that do not touch. A plain value; all zero is the empty set. */
struct dg_capset {
    struct dg_cc_range {
        struct dg_cc lo, hi;
    } r[DG_CAPSET_RANGES];
    uint8_t n;
};

/* A comma list of "9.0", "sm_90", "12.x", "8.0-8.9", ">=8.0", ">8.0", "<=9.0", "<9.0", "*" (all), "none". A suffix
 * (121a) is dropped. -DG_E_SYNTAX: not that; -DG_E_LIMIT: more than 16 ranges. */
int dg_capset_parse(struct dg_slice text, struct dg_capset *ret, struct dg_err *err);
/* The capabilities that stand in a program's message ("sm_80 sm_90", "[8.0, 9.0a]", "10.x or 12.0", "(8.0) - (12.0)" is
 * a range), other words passed over. False: none. */
bool dg_capset_scan(struct dg_slice text, struct dg_capset *ret);
bool dg_capset_has(const struct dg_capset *set, struct dg_cc cc);
static inline bool dg_capset_empty(const struct dg_capset *set) { return set->n == 0; }
/* As dg_capset_parse reads it, shortest form: "8.0-8.9, 12.x"; "none" when empty, "*" when all. */
int dg_capset_add(struct dg_buf *out, const struct dg_capset *set);

/* ---- the table ---- */

/* One row. Versions are 0 where the row has none. Texts live for ever. */
struct dg_arch {
    struct dg_cc cc;
    const char *name;                           /* "Hopper" */
    bool tegra;                                 /* integrated GPU: only its own machine code counts */
    bool unified;                               /* shares one memory with the host: all integrated ones, and GB10 */
    struct dg_cc renamed;                       /* 10.1 became 11.0; else 0.0 */
    int first_cuda, first_cuda_a, first_cuda_f; /* first toolkit that compiles for it, for its a and f targets */
    int last_cuda;                              /* last toolkit that does; 0: still does */
    int ptx, ptx_a, ptx_f;                      /* PTX ISA version that has the target, 10*major + minor */
    int last_branch;                            /* last driver branch that runs it; 0: current */
    const char *const *products;                /* ends in NULL */
};
const struct dg_arch *dg_arch_find(struct dg_cc cc); /* NULL: not in the table */
const struct dg_arch *dg_arch_at(size_t i);          /* in order of capability; NULL past the end */

/* The capability of a product name, as people ("RTX PRO 6000", "h100") or drivers ("NVIDIA A100-SXM4-80GB") write it.
 * -DG_E_NOTFOUND: no product; -DG_E_SYNTAX: several with different capabilities, err lists them. */
int dg_arch_product(struct dg_slice name, struct dg_cc *ret, struct dg_err *err);

/* ---- versions ---- */

/* "13.0" or "13.0.88" -> 13000; 0: not a version. */
int dg_cuda_parse(struct dg_slice s);
int dg_cuda_add(struct dg_buf *out, int cuda); /* "13.0" */
/* The CUDA version that a driver ("580.95.05") supports; a branch newer than the table counts as the newest known. 0:
 * older than the table, or no version. */
int dg_driver_cuda(struct dg_slice driver);
/* The first driver that supports a CUDA version, as "580.65.06" or a branch "615"; NULL: none known. Lives for ever. */
const char *dg_cuda_driver(int cuda);
/* May a program built with the toolkit `runtime` run on a driver of CUDA version `driver` (minor-version and backward
 * compatibility)? False is error 35. An unknown version (0) may. */
bool dg_cuda_runs_on(int runtime, int driver);
/* The first CUDA version whose driver compiles this PTX ISA version (10*major + minor); 0: newer than the table. */
int dg_ptx_cuda(int ptx);

/* ---- does it load? ---- */

enum dg_code_kind { DG_CODE_CUBIN, DG_CODE_PTX, DG_CODE_LTO };
enum dg_compression { DG_COMPRESSION_NONE, DG_COMPRESSION_LZ4, DG_COMPRESSION_ZSTD };
const char *dg_code_kind_name(enum dg_code_kind k);     /* cubin ptx lto */
const char *dg_compression_name(enum dg_compression c); /* none lz4 zstd */

struct dg_code {
    enum dg_code_kind kind;
    struct dg_target target;
    int ptx; /* PTX ISA version of a PTX text; 0: unknown or not PTX */
    enum dg_compression compression;
};

enum dg_load { DG_LOAD_NO, DG_LOAD_UNKNOWN, DG_LOAD_JIT, DG_LOAD_YES }; /* in rising order of welcome */

/* One piece of code on one device. `cuda` is what the driver supports (0: not known, taken as new enough).
 * *ret_min_cuda (may be NULL): the driver's CUDA version that this code demands, 0 when none. */
enum dg_load dg_arch_loads(const struct dg_code *code, struct dg_cc device, int cuda, int *ret_min_cuda);
/* By architecture alone: could a driver, however new, take this code to this device? */
bool dg_arch_fits(const struct dg_code *code, struct dg_cc device);

#endif
