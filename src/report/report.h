/* Reports: pure functions of a diagnosis (or of a stored report's JSON). */
#ifndef DG_REPORT_H
#define DG_REPORT_H

#include "base/buf.h"
#include "model/diagnosis.h"
#include <jansson.h>

enum dg_unmask {
    DG_UNMASK_HOSTS = 1u << 0,
    DG_UNMASK_ADDRESSES = 1u << 1,
    DG_UNMASK_USERS = 1u << 2,
    DG_UNMASK_PATHS = 1u << 3,
    DG_UNMASK_PROMPTS = 1u << 4,
};

struct dg_report_opts {
    bool color, verbose;
    unsigned width; /* columns; 80 when unknown */
};

/* The report as one JSON object on one line: the form that history stores and all others are made from. Valid UTF-8
 * (bad bytes and NUL become U+FFFD), secrets masked. `version` is the tool's. 0, -DG_E_NOMEM, -DG_E_LIMIT. */
int dg_report_json(const struct dg_diagnosis *d, const char *version, struct dg_buf *out);

/* Append a parsed report. Text is escaped for a terminal and fits 24 lines of 80 columns unless `verbose`; control
 * bytes never get through in any form. 0, -DG_E_NOMEM, -DG_E_LIMIT. A report that lacks members is shown as far as it
 * goes. */
int dg_report_text(const json_t *report, const struct dg_report_opts *o, struct dg_buf *out);
int dg_report_markdown(const json_t *report, struct dg_buf *out);
int dg_report_html(const json_t *report, struct dg_buf *out);
/* Any JSON, indented by two or on one line, with a newline at its end. */
int dg_report_dump(const json_t *value, bool indent, struct dg_buf *out);

/* Append `s` with secrets masked: tokens, keys, passwords and credentials in URLs become <secret:xxxx>, equal ones
 * equal. Masking what is masked changes nothing. */
int dg_mask_secrets(struct dg_buf *out, struct dg_slice s);
/* Append `s` with host names, addresses, user names, home folders and prompts masked, but for those that `unmask`
 * (DG_UNMASK bits) names. `hosts`: names known from elsewhere. Secrets are not looked for. */
int dg_mask_shared(struct dg_buf *out, struct dg_slice s, unsigned unmask, const struct dg_strs *hosts);
/* A copy of a JSON value with the secrets masked in every text and name in it, and what stands under a secret's name.
 * NULL: no memory. */
json_t *dg_mask_json_secrets(const json_t *value);
/* A copy of a JSON value with dg_mask_shared applied to every text in it. Host names are taken from inputs[].host.
 * NULL: no memory. */
json_t *dg_mask_json(const json_t *value, unsigned unmask);

#endif
