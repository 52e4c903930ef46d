/* diagnose rules test: each rule against its own examples. */
#ifndef DG_CLI_PROVE_H
#define DG_CLI_PROVE_H

#include "cli/app.h"

/* Add to app->problems: examples that do not match or match otherwise than they say (in the literal pass, and without
 * it), near misses that match, gaps that are closed, device conditions that come out otherwise, rules that no example
 * fires. Rules were loaded with their examples. */
int dg_rules_prove(struct dg_app *app, struct dg_err *err);

#endif
