/* A history that is anything: read, asked, written to. */
#include "fuzz.h"
#include "scratch.h"
#include "base/timex.h"
#include "store/store.h"

static bool look(void *ctx, const struct dg_history_row *row) {
    size_t *n = ctx;
    if (!row->outcome.ptr && row->outcome.len) abort();
    return ++*n < 10000;
}

static void ask(const char *path, enum dg_store_mode mode) {
    struct dg_store *s = NULL;
    struct dg_err err = {0};
    if (dg_store_open(path, mode, &s, &err)) {
        if (!err.code || !err.msg[0]) abort();
        return;
    }
    struct dg_history_filter all = {.since = DG_TIME_NONE, .limit = -1, .reports = true, .text = "a"};
    struct dg_store_like like = {DG_S("12.0"), DG_S("sglang"), DG_S("x"), DG_S("")};
    struct dg_buf report = DG_BUF_INIT(1 << 20);
    struct dg_store_entry e = {.key = DG_S("k"),
                               .time = 1,
                               .recorded = 2e9,
                               .status = DG_S("failure"),
                               .version = DG_S("1"),
                               .report = DG_S("{}")};
    size_t n = 0;
    int64_t id;
    dg_store_history(s, &all, look, &n, NULL);
    dg_store_tried(s, &like, look, &n, NULL);
    dg_store_report(s, 0, &report, &id, NULL);
    if (mode == DG_STORE_WRITE) {
        dg_store_outcome(s, 0, DG_S("works"), DG_S("note"), &id, NULL);
        dg_store_record(s, &e, &id, NULL);
    }
    dg_buf_release(&report);
    dg_store_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct scratch_history history;
    scratch_history_make(&history, data, size);
    ask(history.db, DG_STORE_READ);
    ask(history.db, DG_STORE_WRITE);
    scratch_history_drop(&history);
    return 0;
}
