/* Inside of report: a parsed report's members, and the sentences that all forms share. Texts are unescaped. */
#ifndef DG_REPORT_VIEW_H
#define DG_REPORT_VIEW_H

#include "base/buf.h"
#include <jansson.h>

/* Empty or release a text that was built as a part of something; what it lacks, that lacks. */
static inline void dg_view_again(bool *failed, struct dg_buf *part) {
    *failed |= part->failed;
    dg_buf_clear(part);
}
static inline void dg_view_drop(bool *failed, struct dg_buf *part) {
    dg_view_again(failed, part);
    dg_buf_release(part);
}

/* Members that are absent or of another type read as "", 0, an empty array. */
const char *dg_view_str(const json_t *object, const char *key);
int64_t dg_view_int(const json_t *object, const char *key);
const char *dg_view_text(const json_t *text);
const json_t *dg_view_get(const json_t *object, const char *key);
#define DG_VIEW_EACH(i, item, array)                                                                                   \
    for (size_t i = 0; (i < json_array_size(array)) && ((item) = json_array_get((array), i), true); i++)

bool dg_view_is(const json_t *report, const char *status);
const json_t *dg_view_cause(const json_t *report, size_t rank); /* 0: the verdict. NULL: none */
const char *dg_view_summary(const json_t *report);              /* the sentence of the verdict */
/* "arch-mismatch/sm-guard (certain)", "healthy" */
void dg_view_label(const json_t *report, struct dg_buf *out);
/* Both: "arch-mismatch/sm-guard (certain): …" */
void dg_view_verdict(const json_t *report, struct dg_buf *out);
/* "SGLang 0.5.9, GLM-5, TP8, launch 3 of 3; died at CUDA graph capture"; nothing when nothing is known. */
void dg_view_context(const json_t *report, struct dg_buf *out);
/* "server.log:72", "stdin:3-5"; nothing when the evidence is in no source. */
void dg_view_place(const json_t *evidence, struct dg_buf *out);
/* Of an input: "server, 540 lines". */
void dg_view_size(const json_t *input, struct dg_buf *out);
/* "common_ops.abi3.so here: sm_80 sm_90a; GPU 12.0: does-not-load", one a line: the libraries that the evidence names.
 */
void dg_view_libraries(const json_t *report, struct dg_buf *out);
/* What comes before all proposals, "sentence:  command" where there is one; one a line. */
void dg_view_first(const json_t *report, struct dg_buf *out);
/* What a proposal sets that its action does not say already: flags, NAME=value, packages, a command; one a line. */
void dg_view_settings(const json_t *proposal, struct dg_buf *out);
/* "documented; cost: 3 min; undo: mv back" */
void dg_view_tag(const json_t *proposal, struct dg_buf *out);
/* Sentences on what could not be looked at: rules that are off, then not_checked. One a line. */
void dg_view_unchecked(const json_t *report, struct dg_buf *out);

#endif
