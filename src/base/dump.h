/* Argument dumps that programs print (Python keyword arguments, JSON, a command line, key=value lists) as pairs. */
#ifndef DG_BASE_DUMP_H
#define DG_BASE_DUMP_H

#include "base/err.h"
#include "base/mem.h"

enum dg_parse_as { DG_PARSE_PYTHON_KWARGS, DG_PARSE_JSON, DG_PARSE_ARGV, DG_PARSE_KEY_VALUE };

struct dg_pair {
    struct dg_slice name, value;
};

#define DG_DUMP_MAX_PAIRS 512u
#define DG_DUMP_MAX_BYTES (64u << 10)

/* Pairs of `text` in order, in `arena`. Names keep their spelling (argv: without the dashes; positional words are named
 * "0", "1", …; a flag without a value has "true"). Values of strings come without quotes and with escapes undone;
 * nested lists, objects and calls stay text; words (None, True, null, 1.5) stay words. Never fails on bad or cut text:
 * takes what parses. 0 or -DG_E_NOMEM. */
int dg_dump_parse(struct dg_slice text, enum dg_parse_as as, struct dg_arena *arena, struct dg_pair **ret,
                  uint32_t *ret_n);

#endif
