#include "fuzz.h"
#include "image/image.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct dg_cc devices[] = {{0, 0}, {9, 0}, {11, 0}, {12, 1}};
    struct dg_image *image = NULL;
    if (dg_image_read_bytes("x", dg_slice((const char *)data, size), &image, NULL))
        abort(); /* only memory can fail it */
    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
        struct dg_buf reason = DG_BUF_INIT(1 << 16);
        dg_image_judge(image->v, image->n, devices[i], 12040, &reason, NULL);
        if (!reason.len) abort();
        dg_buf_release(&reason);
    }
    dg_image_free(image);
    return 0;
}
