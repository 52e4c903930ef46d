/* The two compressions of code in containers. For src/image alone. */
#ifndef DG_IMAGE_UNPACK_H
#define DG_IMAGE_UNPACK_H

#include "arch/arch.h"

/* Unpack `in` into exactly `size` bytes at `out`; false when it gives less, more, or is malformed. */
bool dg_unpack(enum dg_compression how, struct dg_slice in, unsigned char *out, size_t size);

#endif
