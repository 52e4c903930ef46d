/* The forms of prefixes: what the functions that take them share. Between prefix.c and form_*.c only. */
#ifndef DG_INGEST_FORM_H
#define DG_INGEST_FORM_H

#include "ingest/ingest.h"
#include "ingest/stamp.h"

enum { DG_NAME_MAX = 64, DG_BRACKET_MAX = 128 };

/* What stands directly in front of the place in hand: a level word or bracketed fields belong to the prefix only behind
 * a time that the same program printed. Behind a container's or the journal's front the message begins anew, so that it
 * reads the same in any clothes. */
enum dg_behind { DG_BEHIND_NOTHING, DG_BEHIND_DATE_T, DG_BEHIND_DATE, DG_BEHIND_FIELD };

/* One line while it is taken apart. */
struct scan {
    const char *end;
    struct dg_prefix *out;
    enum dg_kind kind;
    unsigned forms;
    double dated;                  /* epoch of a time with a year behind one without */
    enum dg_behind behind, leaves; /* what is in front; what the form taken will be for the next */
};

/* Take the form that begins at `p` (not at the end): note what it says, and return the place behind it. NULL, and
 * nothing noted, when the form is another. */
typedef const char *dg_form(struct scan *s, const char *p);
dg_form dg_form_boot_seconds, dg_form_kernel_delta, dg_form_kernel_date, dg_form_priority, dg_form_kmsg,
    dg_form_facility, dg_form_talos, dg_form_bare_kernel;          /* form_kernel.c */
dg_form dg_form_syslog_line, dg_form_full_line, dg_form_unix_line; /* form_syslog.c */
dg_form dg_form_compose, dg_form_task_number, dg_form_mpi_rank, dg_form_torch_rank, dg_form_process, dg_form_pod,
    dg_form_stage, dg_form_loader_pid, dg_form_lost_escape; /* form_wrap.c */
dg_form dg_form_level, dg_form_glog, dg_form_bracket_glog, dg_form_iso, dg_form_bracket_time, dg_form_field,
    dg_form_nccl, dg_form_key_values, dg_form_llama; /* form_server.c */

/* " host ident[pid]: ", " host kernel: ", " ident[pid]: ", at the blank behind a time. `strict`: the host must be
 * there, and a pid unless it is the kernel. */
const char *dg_scan_syslog_tag(struct scan *s, const char *p, bool strict);

/* What a form says. The outermost time is kept: so the lines of one source share one clock. The innermost process is.
 */
void dg_scan_time(struct scan *s, const struct dg_stamp *st);
void dg_scan_process(struct scan *s, struct dg_slice label, long pid);
/* The number of "TP3" within a label. */
void dg_scan_rank(struct scan *s, struct dg_slice label);

/* "ERROR" -> 'E', and the place behind the word; NULL: no level. */
const char *dg_scan_level_word(const struct scan *s, const char *p, char *ret);
/* Of a single letter as glog prints it; 0: none. */
char dg_scan_level_letter(char c);

/* Letters, digits, '.', '_', '-'. */
extern const bool dg_name_bytes[256];

/* --- steps: from `p` (NULL: NULL) to the place behind what is asked for, or NULL --- */

static inline const char *byte(const struct scan *s, const char *p, char c) {
    return p && p < s->end && *p == c ? p + 1 : NULL;
}

static inline const char *text(const struct scan *s, const char *p, struct dg_slice t) {
    return p && (size_t)(s->end - p) >= t.len && *p == *t.ptr && !memcmp(p, t.ptr, t.len) ? p + t.len : NULL;
}

static inline const char *number(const struct scan *s, const char *p, int min, int max, int *ret) {
    return p ? dg_stamp_number(p, s->end, min, max, ret) : NULL;
}

/* All blanks; never NULL. */
static inline const char *blanks(const struct scan *s, const char *p) {
    while (p < s->end && *p == ' ') p++;
    return p;
}

/* A blank or tab, or the end of the line. */
static inline const char *blank_or_end(const struct scan *s, const char *p) {
    if (!p || p == s->end) return p;
    return *p == ' ' || *p == '\t' ? p + 1 : NULL;
}

/* A blank, if it is there; never NULL. */
static inline const char *one_blank(const struct scan *s, const char *p) { return p < s->end && *p == ' ' ? p + 1 : p; }

/* The bytes of a name and those of `also`; NULL when there are none, or more than DG_NAME_MAX. */
static inline const char *name(const struct scan *s, const char *p, const char *also) {
    const char *q = p, *stop = s->end - p > DG_NAME_MAX ? p + DG_NAME_MAX + 1 : s->end;
    while (q < stop && (dg_name_bytes[(unsigned char)*q] || (*also && *q && strchr(also, *q)))) q++;
    return q > p && q - p <= DG_NAME_MAX ? q : NULL;
}

static inline struct dg_slice between(const char *from, const char *to) { return dg_slice(from, (size_t)(to - from)); }

/* The first `c` within `max` bytes of `p`, or NULL. */
static inline const char *find(const struct scan *s, const char *p, size_t max, char c) {
    return memchr(p, c, (size_t)(s->end - p) < max ? (size_t)(s->end - p) : max);
}

#endif
