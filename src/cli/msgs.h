/* What is said to the person beside the result: standard error, one line each, "diagnose: " in front, control bytes
 * made visible. Nothing else writes there. */
#ifndef DG_CLI_MSGS_H
#define DG_CLI_MSGS_H

#include "base/buf.h"
#include "base/err.h"

enum dg_exit { /* what each means to a script: the manual, EXIT STATUS */
               DG_EXIT_HEALTHY = 0,
               DG_EXIT_FAILURE = 1,
               DG_EXIT_USAGE = 2,
               DG_EXIT_LOOK = 3,
               DG_EXIT_INTERNAL = 4,
};

void dg_msg(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Say an error; the exit status that it makes: 4 when we are at fault or out of memory, else 2. */
int dg_msg_err(const struct dg_err *err);
/* Faults of packs as text: place, sentence, and the line with a caret under the column. */
void dg_problems_show(const struct dg_problems *probs, struct dg_buf *out);

#endif
