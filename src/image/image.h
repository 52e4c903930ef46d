/* GPU code in files: what architectures a library, program, object, archive, wheel, fatbin, cubin or PTX text carries,
 * and whether that loads on a device. No toolkit and no driver are asked. Files are hostile input: every offset and
 * size is checked against what there is, and memory is bounded.
 *
 * LIMITATIONS: 32-bit and big-endian host files are searched as plain bytes; Windows files likewise. Wheels may be
 * stored or deflated. What a driver really does was not tried on every device; the rules are the documented ones
 * (arch/arch.h). */
#ifndef DG_IMAGE_H
#define DG_IMAGE_H

#include "arch/arch.h"
#include "base/buf.h"
#include "base/err.h"

/* One module as the driver sees it: the versions of one translation unit, of which it takes the best. */
struct dg_image_module {
    struct dg_code *codes;
    uint32_t n_codes;
    uint32_t count;   /* modules with just these codes */
    bool relocatable; /* made for the device linker, not for the driver */
};

/* A file, or a file inside an archive. */
struct dg_image_member {
    const char *path;   /* as given, or below the folder given */
    const char *member; /* "torch/lib/libtorch_cuda.so", "matmul.o", "lib.a(matmul.o)"; NULL: the file itself */
    struct dg_image_module *modules;
    uint32_t n_modules;
    struct dg_code *codes; /* of all modules: sorted, each once */
    uint32_t n_codes;
    uint32_t stubs;    /* modules without a kernel, as the device link leaves them; not in `modules` */
    const char *fault; /* what could not be read of it, or NULL */
};

/* Owns every member and all that they point to. */
struct dg_image {
    struct dg_arena *arena;
    struct dg_image_member *v; /* with GPU code or a fault; a file named itself always has one */
    uint32_t n;
    bool cut; /* there was more than fits */
};

/* Read a file, or all files below a folder (links are not followed). 0: *ret is set, free with dg_image_free().
 * -DG_E_IO: cannot be opened; -DG_E_NOMEM. What is damaged inside is told by member.fault, not by an error. */
int dg_image_read(const char *path, struct dg_image **ret, struct dg_err *err);
/* The same for a path that a stranger may have written: nothing but a regular file is opened (a link is followed to one
 * and judged before), and nothing but an ELF file, an archive or a wheel is read. -DG_E_UNSUPPORTED: it is another. */
int dg_image_read_strangers(const char *path, struct dg_image **ret, struct dg_err *err);
/* The same of bytes in memory, under a name. */
int dg_image_read_bytes(const char *name, struct dg_slice bytes, struct dg_image **ret, struct dg_err *err);
void dg_image_free(struct dg_image *image);

/* "sm_90a", "ptx:90" */
void dg_image_code_add(struct dg_buf *out, const struct dg_code *code);

enum dg_image_verdict {
    DG_IMAGE_LOADS,
    DG_IMAGE_LOADS_WITH_JIT,   /* all of it from PTX */
    DG_IMAGE_LOADS_PARTLY_JIT, /* some of it from PTX */
    DG_IMAGE_LOADS_IN_PART,    /* some modules do not: normal for libraries that choose by architecture */
    DG_IMAGE_DOES_NOT_LOAD,
    DG_IMAGE_NO_GPU_CODE,
    DG_IMAGE_UNKNOWN
};
const char *dg_image_verdict_name(enum dg_image_verdict v); /* loads, loads-with-jit, … */

/* Do these members (one, or all of a file) load on `device` with a driver of CUDA version `cuda` (0: not known)?
 * `reason` (may be NULL) gets one sentence. *ret_min_cuda (may be NULL): the driver's CUDA version that is needed, 0
 * when none in particular. */
enum dg_image_verdict dg_image_judge(const struct dg_image_member *members, size_t n, struct dg_cc device, int cuda,
                                     struct dg_buf *reason, int *ret_min_cuda);

#endif
