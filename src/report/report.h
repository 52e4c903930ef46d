/* Reports: pure functions of a diagnosis (or of a stored report's JSON). */
#ifndef DG_REPORT_H
#define DG_REPORT_H

#include "base/buf.h"
#include "model/diagnosis.h"
#include <jansson.h>

struct dg_report_opts {
    bool color, verbose;
    unsigned width;  /* columns; 80 when unknown */
    const char *version;
    unsigned unmask; /* DG_UNMASK bits, for shared formats */
};
enum dg_unmask { DG_UNMASK_HOSTS = 1, DG_UNMASK_ADDRESSES = 2, DG_UNMASK_USERS = 4, DG_UNMASK_PATHS = 8, DG_UNMASK_PROMPTS = 16 };

/* The JSON of engineering.md 2.3 / design.md section 4, one object. This is what history stores; secrets are masked in it. */
int dg_report_json(const struct dg_diagnosis *d, const char *version, bool pretty, struct dg_buf *out);
/* Text, markdown and html are made from that JSON, so that --last prints what was printed. `report`: the parsed object. */
int dg_report_text(json_t *report, const struct dg_report_opts *o, struct dg_buf *out);
int dg_report_markdown(json_t *report, const struct dg_report_opts *o, struct dg_buf *out);
int dg_report_html(json_t *report, const struct dg_report_opts *o, struct dg_buf *out);
/* Append `s` with secrets masked: tokens, keys, passwords, URLs with credentials become <secret:xxxx>, equal ones equal. */
int dg_mask_secrets(struct dg_buf *out, struct dg_slice s);

#endif
