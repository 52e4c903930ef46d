#include "arch/arch.h"

enum { ZSTD_CUDA = 12040 }; /* the first driver that reads zstd-compressed code */

static const char *const KINDS[] = {"cubin", "ptx", "lto"};
static const char *const COMPRESSIONS[] = {"none", "lz4", "zstd"};

const char *dg_code_kind_name(enum dg_code_kind k) { return KINDS[k]; }
const char *dg_compression_name(enum dg_compression c) { return COMPRESSIONS[c]; }

static bool is_tegra(struct dg_cc cc) {
    const struct dg_arch *row = dg_arch_find(cc);
    return row && row->tegra;
}

/* A capability under the name that it has now. */
static struct dg_cc renamed(struct dg_cc cc) {
    const struct dg_arch *row = dg_arch_find(cc);
    return row && dg_cc_known(row->renamed) ? row->renamed : cc;
}

static bool fits_cubin(struct dg_target t, struct dg_cc device) {
    if (t.suffix == 'a' || is_tegra(t.cc) || is_tegra(device)) return !dg_cc_cmp(t.cc, device);
    return t.cc.major == device.major && t.cc.minor <= device.minor;
}

static bool fits_ptx(struct dg_target t, struct dg_cc device) {
    if (!t.suffix) return dg_cc_cmp(t.cc, device) <= 0;
    if (!dg_cc_cmp(t.cc, device)) return true;
    if (dg_cc_cmp(renamed(device), device)) return false; /* the old name is alone in its family */
    t.cc = renamed(t.cc);
    if (t.suffix == 'a') return !dg_cc_cmp(t.cc, device);
    return t.cc.major == device.major && t.cc.minor <= device.minor;
}

bool dg_arch_fits(const struct dg_code *code, struct dg_cc device) {
    switch (code->kind) {
    case DG_CODE_CUBIN: return fits_cubin(code->target, device);
    case DG_CODE_PTX: return fits_ptx(code->target, device);
    case DG_CODE_LTO: return false; /* for the linker, never for the driver */
    }
    return false;
}

/* Nobody has said whether machine code made under the old name loads under the new one. */
static bool is_open_question(const struct dg_code *code, struct dg_cc device) {
    return code->kind == DG_CODE_CUBIN && dg_cc_cmp(code->target.cc, device) &&
           !dg_cc_cmp(renamed(code->target.cc), device);
}

enum dg_load dg_arch_loads(const struct dg_code *code, struct dg_cc device, int cuda, int *ret_min_cuda) {
    int min = code->compression == DG_COMPRESSION_ZSTD ? ZSTD_CUDA : 0;
    int jit = code->kind == DG_CODE_PTX && code->ptx ? dg_ptx_cuda(code->ptx) : 0;
    if (jit > min) min = jit;
    if (ret_min_cuda) *ret_min_cuda = min;
    if (is_open_question(code, device)) return DG_LOAD_UNKNOWN;
    if (!dg_arch_fits(code, device) || (cuda && cuda < min)) return DG_LOAD_NO;
    if (code->kind == DG_CODE_CUBIN) return DG_LOAD_YES;
    return code->ptx && !jit ? DG_LOAD_UNKNOWN : DG_LOAD_JIT; /* newer PTX than we know */
}
