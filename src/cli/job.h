/* One diagnosis, from inputs to a recorded report. */
#ifndef DG_CLI_JOB_H
#define DG_CLI_JOB_H

#include "cli/app.h"
#include "device/device.h"
#include "ingest/ingest.h"
#include "reason/reason.h"
#include <jansson.h>

struct dg_job {
    struct dg_app *app;
    struct dg_arena *arena;
    struct dg_ingest *ingest;
    struct dg_scan *scan;
    char *const *files; /* inputs; those of the command line unless set anew after dg_job_init() */
    size_t n_files;
    struct dg_slice command; /* how the server was started, when that is known; else empty */
    struct dg_look *look;    /* at this machine's GPUs, until it is joined */
    struct dg_devices devices;
    struct dg_job_text {
        const char *name;
        enum dg_kind kind;
        struct dg_slice text;
    } texts[3];
    size_t n_texts;
    struct dg_diagnosis *d;
    json_t *report; /* after dg_job_report() */
    struct dg_job_history {
        struct dg_store *store; /* open for writing, or NULL */
        struct dg_err why;      /* it could not be opened */
    } history;
    uint64_t *heads; /* per source: hash of its first 64 KiB */
    size_t n_heads, cap_heads;
    struct dg_head *head;       /* the source that is read now */
    struct dg_silence *silence; /* of a pipe */
    bool any_text;              /* a byte that is not blank was read */
    int exit_code, exit_signal; /* of the server, known from `run`; -1 */
    double started;             /* of the server, known from `run`; 0 */
    bool was_ready;             /* the server, seen by `run` */
};

/* Rules are loaded, nothing is read yet. */
int dg_job_init(struct dg_job *job, struct dg_app *app, struct dg_err *err);
void dg_job_release(struct dg_job *job);
/* One more input, from memory; its text and name must last until dg_job_scan(). */
int dg_job_add_text(struct dg_job *job, const char *name, enum dg_kind kind, struct dg_slice text);
/* Read the inputs of the command line and find what the rules know. -DG_E_NOTFOUND: nothing could be read, or nothing
 * is in it; it was said already, err is not filled. */
int dg_job_scan(struct dg_job *job, struct dg_err *err);
/* Judge and propose. -DG_E_NOTFOUND: no launch of the number asked for. */
int dg_job_judge(struct dg_job *job, struct dg_err *err);
/* Make the report and record it, unless --no-record: a history that cannot be written is a warning. */
int dg_job_report(struct dg_job *job, struct dg_err *err);

/* libraries.c: what the libraries hold that the first cause names, unless --device or --no-device was said. 0 or
 * -DG_E_NOMEM. */
int dg_job_libraries(struct dg_job *job);

/* history.c: what is recorded of a diagnosis, and what was tried before it. The history is opened once for both. */
struct dg_store *dg_history_open(struct dg_job *job); /* for writing; NULL: job->history.why */
int dg_history_record(struct dg_job *job, struct dg_slice report, int64_t *ret_id, struct dg_err *err);
/* What counts for an attempt on devices of these capabilities ("8.6,12.0"). `store`: NULL: opened for it. An empty view
 * where there is no history; a history that cannot be read is a warning. */
int dg_history_view(struct dg_app *app, struct dg_store *store, const struct dg_attempt *a, struct dg_slice cc_set,
                    struct dg_arena *arena, struct dg_history_view *ret, struct dg_err *err);
/* "8 x 12.0 NVIDIA RTX PRO 6000", and the capabilities, each once. Either may be NULL. */
void dg_history_devices(const struct dg_device *v, uint32_t n, struct dg_buf *line, struct dg_buf *cc_set);

/* A stored or new report in the form asked for. -DG_E_NOMEM. */
int dg_job_render(const struct dg_app *app, enum dg_form form, const json_t *report, struct dg_buf *out);
/* Print a report where the command line wants it: standard output, --report FILE, under --tee and run standard error.
 * Returns the exit status. */
int dg_put_report(const struct dg_app *app, const json_t *report);
/* The exit status that a report stands for: 0, 1 or 3. */
int dg_job_status(const json_t *report);

#endif
