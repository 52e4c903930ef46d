/* `history --import` of anything. */
#include "fuzz.h"
#include "scratch.h"
#include "cli/app.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct scratch file;
    static char dir[32], db[64];
    if (!dir[0]) {
        strcpy(dir, "/tmp/dg-fuzz-XXXXXX");
        if (!mkdtemp(dir)) abort();
    }
    scratch_fill(&file, data, size);
    snprintf(db, sizeof(db), "%s/history.db", dir);
    static char name[] = "diagnose", command[] = "history", import[] = "--import", where[] = "--db";
    char *words[] = {name, command, import, file.path, where, db, NULL};
    int status = dg_cli_main(6, words, NULL);
    if (status != 0 && status != 2) abort();
    unlink(db);
    return 0;
}
