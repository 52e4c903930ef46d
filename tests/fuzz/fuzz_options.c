/* A command line, its words apart by NUL or newline: parsed as ours, and as that of a server. */
#include "fuzz.h"
#include "base/dump.h"
#include "cli/devices.h"
#include "cli/options.h"
#include <stdlib.h>
#include <string.h>

enum { WORDS = 64 };

static void parse_dumps(struct dg_slice text) {
    for (int as = DG_PARSE_PYTHON_KWARGS; as <= DG_PARSE_KEY_VALUE; as++) {
        struct dg_arena *arena = dg_arena_new(0);
        struct dg_pair *pairs = NULL;
        uint32_t n = 0;
        if (!arena || dg_dump_parse(text, (enum dg_parse_as)as, arena, &pairs, &n) || n > DG_DUMP_MAX_PAIRS) abort();
        for (uint32_t i = 0; i < n; i++)
            if (pairs[i].value.len > DG_DUMP_MAX_BYTES) abort();
        dg_arena_free(arena);
    }
}

static void parse_words(char *text) {
    char name[] = "diagnose", *words[WORDS + 1] = {name}, *rest = text, *word;
    int n = 1;
    while (n < WORDS && (word = strsep(&rest, "\n"))) words[n++] = word;
    struct dg_args args = {0};
    struct dg_err err = {0};
    if (!dg_args_parse(n, words, &args, &err)) {
        if (args.cmd >= DG_CMD_COUNT || args.operands[args.n_operands]) abort();
        for (size_t i = 0; i < args.n_given; i++)
            if (!dg_opt_of(args.given[i].opt, args.cmd)) abort();
    } else if (!err.code) {
        abort();
    }
    dg_args_release(&args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    struct dg_devices devices = {0};
    if (!text) abort();
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    parse_dumps(dg_slice(text, size));
    dg_devices_state(dg_slice(text, size), &devices, NULL);
    dg_devices_release(&devices);
    parse_words(text);
    free(text);
    return 0;
}
