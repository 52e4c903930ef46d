/* `history --import` of anything. */
#include "fuzz.h"
#include "scratch.h"
#include "base/buf.h"
#include "cli/app.h"
#include "store/store.h"

/* An empty history, made once: making one takes longer than importing. */
static struct dg_slice empty_history(void) {
    static struct dg_buf made = DG_BUF_INIT(1 << 20);
    struct scratch_history h;
    struct dg_store *s = NULL;
    if (made.len) return dg_buf_slice(&made);
    scratch_history_make(&h, "", 0);
    if (dg_store_open(h.db, DG_STORE_WRITE, &s, NULL)) abort();
    dg_store_close(s);
    if (dg_file_read(h.db, &made, NULL)) abort();
    scratch_history_drop(&h);
    return dg_buf_slice(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct scratch file;
    struct scratch_history history;
    scratch_history_make(&history, empty_history().ptr, empty_history().len);
    scratch_fill(&file, data, size);
    char name[] = "diagnose", command[] = "history", import[] = "--import", where[] = "--db";
    char *words[] = {name, command, import, file.path, where, history.db, NULL};
    int status = dg_cli_main(6, words, NULL);
    if (status != 0 && status != 2) abort();
    scratch_history_drop(&history);
    return 0;
}
