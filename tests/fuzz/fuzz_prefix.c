#include "fuzz.h"
#include "ingest/clock.h"
#include "ingest/ingest.h"
#include "ingest/kind.h"
#include <stdlib.h>

static void check_inside(struct dg_slice part, struct dg_slice line) {
    if (part.len && (part.ptr < line.ptr || part.ptr + part.len > line.ptr + line.len)) abort();
}

/* Whatever a line holds, its parts are parts of it, and its numbers are numbers. */
static void check_line(struct dg_slice line, enum dg_kind kind) {
    struct dg_prefix p;
    double boot = 0;
    dg_prefix_parse(line, kind, &p);
    check_inside(p.body, line);
    check_inside(p.label, line);
    check_inside(p.host, line);
    if (isinf(p.time) || isinf(p.boot) || p.rank < -1 || p.pid < -1) abort();
    if (p.level && !strchr("DIWEF", p.level)) abort();
    if (dg_clock_anchor(line, &boot) != DG_ANCHOR_NONE && !isfinite(boot)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct dg_slice text = dg_slice((const char *)data, size), rest = text, line;
    enum dg_aside side;
    if (dg_kind_detect(text, &side) >= DG_KIND_COUNT || side > DG_ASIDE_OTHERS) abort();
    for (int i = 0; dg_slice_split(&rest, '\n', &line); i++) check_line(line, (enum dg_kind)(i % DG_KIND_COUNT));
    return 0;
}
