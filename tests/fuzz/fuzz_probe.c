/* What a child that looks at the driver may say. */
#include "fuzz.h"
#include "scratch.h"
#include "device/child.h"
#include <limits.h>

static bool ends(const char *text, size_t size) { return memchr(text, 0, size) != NULL; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct scratch file;
    scratch_fill(&file, data, size);
    /* no process: what is read is all there is */
    struct dg_child said = {.pid = INT_MAX, .fd = dup(file.fd)}, silent = {.fd = -1};
    if (said.fd < 0) abort();
    dg_child_join2(&said, &silent, 3600);
    const struct dg_answer *a = &said.answer;
    if (a->n > DG_PROBE_GPUS || a->n_processes > 512 || said.fd >= 0) abort();
    if (!ends(a->driver, sizeof(a->driver)) || !ends(a->failure, sizeof(a->failure))) abort();
    if (!ends(said.marker, sizeof(said.marker))) abort();
    for (unsigned i = 0; i < a->n; i++)
        if (!ends(a->v[i].name, sizeof(a->v[i].name)) || !ends(a->v[i].uuid, sizeof(a->v[i].uuid))) abort();
    dg_child_release(&said);
    return 0;
}
