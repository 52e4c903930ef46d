/* Results of all commands but scan: rows, as a table for people or as JSON. */
#ifndef DG_CLI_ROWS_H
#define DG_CLI_ROWS_H

#include "cli/app.h"
#include <jansson.h>

struct dg_column {
    const char *key,
        *heading; /* a member of the row ("/model": of that path its last part), its heading in the table */
};

/* Set a text, masked nowhere, made valid UTF-8; empty is null. */
void dg_row_str(json_t *row, const char *key, struct dg_slice text);
/* Print `rows` (an array of objects; taken over) in the form asked for: {"schema":1,"kind":KIND,"rows":[…]}, one object
 * a line, or a table of these columns. Returns the exit status, as dg_app_put does. */
int dg_rows_put(const struct dg_app *app, const char *kind, json_t *rows, const struct dg_column *columns, size_t n,
                int status);

#endif
