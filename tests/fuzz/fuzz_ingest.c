#include "fuzz.h"
#include "base/mem.h"
#include "ingest/ingest.h"
#include <stdlib.h>

/* What a small input unpacks to may be large: enough is enough. */
enum { READ_MAX = 32 << 20 };

static uint64_t check_block(const struct dg_block *b, uint64_t newest) {
    for (size_t i = 0; i < DG_BLOCK_TAIL; i++)
        if (b->data[b->len + i]) abort();
    if (b->len > DG_BLOCK_SIZE || b->headroom > DG_BLOCK_HEAD || b->overlap > b->len) abort();
    if (memchr(b->data, '\x1b', b->len)) abort();
    volatile char first = b->data[-(ptrdiff_t)b->headroom]; /* can be read */
    (void)first;
    struct dg_slice text = dg_slice(b->data, b->len), line;
    for (size_t i = 0; dg_slice_split(&text, '\n', &line) && (text.ptr || line.len); i++) {
        uint64_t number = b->line_map ? b->line_map[i] : b->first_line + i;
        if (!number || number < newest) abort();
        newest = number;
    }
    return newest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct dg_ingest_opts opts = {.tee_fd = -1};
    struct dg_ingest *in = dg_ingest_new(&opts);
    enum dg_kind kind = size ? (enum dg_kind)(data[0] % 3) : DG_KIND_UNKNOWN; /* unknown, server, kernel */
    if (!in || (size && dg_ingest_add_text(in, "x", kind, dg_slice((const char *)data + 1, size - 1)))) abort();
    struct dg_block *b;
    struct dg_err err;
    uint64_t read = 0, newest = 0;
    uint32_t n, source = 0;
    int r = 0;
    while (read < READ_MAX && (r = dg_ingest_next(in, &b, &err)) == 1) {
        if (b->source < source) abort();
        newest = check_block(b, b->source == source ? newest : 0);
        source = b->source;
        read += b->len;
        dg_ingest_release(in, b);
    }
    if (r < 0 && r != -DG_E_NOMEM) abort();
    const struct dg_source *s = dg_ingest_sources(in, &n);
    for (uint32_t i = 0; i < n; i++)
        if (!s[i].name || s[i].kind >= DG_KIND_COUNT || isinf(s[i].first_time) || isinf(s[i].boot_epoch)) abort();
    dg_ingest_free(in);
    return 0;
}
