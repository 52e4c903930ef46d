/* What a scan found. Made by match, judged by reason. Everything lives in the scan's arena. */
#ifndef DG_MODEL_FINDING_H
#define DG_MODEL_FINDING_H

#include "model/rule.h"

struct dg_capture {
    struct dg_slice name, text; /* text as printed */
    enum dg_cap_type type;
};

/* A place in a source and the message there. `text` is the message with ANSI and carriage-return parts removed, at most
 * 2 KiB (cut: ends in U+2026). */
struct dg_place {
    uint32_t source;
    uint64_t line, end_line; /* raw, 1-based; end_line >= line: end of the record (traceback) that holds it */
    uint64_t seq;            /* order of appearance over the whole scan */
    double time;             /* epoch; boot clocks are turned into epoch when the source has an anchor; NaN */
    double boot;             /* seconds since boot, or NaN */
    bool year_missing;       /* the line itself has no year */
    char level;              /* as in dg_prefix */
    int rank;                /* -1: none */
    long pid;                /* of the prefix; -1 */
    struct dg_slice label;   /* process name of the prefix */
    struct dg_slice unit;    /* identifier in a journal or syslog; or empty */
    struct dg_slice text;
};

/* Equal matches collapsed: same rule, same key captures, same launch, same epoch. */
struct dg_finding {
    const struct dg_rule *rule;
    struct dg_place first, last;
    struct dg_place decisive[4]; /* for all/sequence: places of the parts, in order; n_decisive 0 for plain rules */
    uint32_t n_decisive;
    uint64_t count;
    uint64_t ranks;  /* bit r: rank r (0..63) printed it */
    uint32_t launch; /* index into launches; UINT32_MAX: in no launch (kernel, container, … sources) */
    uint32_t epoch;  /* grows at each pulse that follows an error; smaller than the launch's last: a sign of service
                        followed */
    struct dg_capture *captures; /* of the first */
    uint32_t n_captures;
    struct dg_capture *last_captures; /* of the last; may equal captures */
    uint32_t n_last_captures;
    uint64_t record_line, record_end; /* record (traceback, block) around the first hit */
    bool virtual_record;              /* found inside an opened wrapper's text */
    const struct dg_rule *inside;     /* the wrapper whose span or text holds it, or NULL */
};

/* A record that looks fatal by itself (traceback, ERROR, terminate called, …), whether or not a rule knows it. */
enum dg_fatal_kind { DG_FATAL_TRACEBACK, DG_FATAL_ERROR_LEVEL, DG_FATAL_EXCEPTION, DG_FATAL_ABORT, DG_FATAL_OTHER };
struct dg_fatal {
    enum dg_fatal_kind kind;
    struct dg_place place;     /* innermost exception line of a traceback, else the line */
    struct dg_slice exception; /* "RuntimeError", or empty */
    uint32_t launch, epoch;
    uint64_t record_line, record_end;
    uint64_t chained; /* the line after which other exceptions follow that were raised over this one; 0: none */
};

/* One start of a server within a server source. Sources with no begin mark have one launch that covers them. */
struct dg_launch {
    uint32_t source;
    uint64_t first_line, last_line;
    double first_time, last_time;
    bool first_year_missing, last_year_missing; /* while scanning: the year is not known yet */
    uint32_t epochs;                            /* epochs seen; the last is epochs - 1 */
    uint64_t pulses;                            /* signs of service */
    struct dg_place last_pulse;                 /* valid when pulses > 0 */
    bool begun;                                 /* a begins-rule opened it (else: implicit) */
    uint64_t fatal_after_pulse;
};

struct dg_tail { /* the last messages of a source, for inconclusive and unrecognised reports */
    struct dg_place *v;
    uint32_t n;
};

struct dg_limit_hit { /* a rule that ran over its budget and was switched off */
    const struct dg_rule *rule;
    struct dg_slice why;
};

struct dg_scan {
    struct dg_source *sources; /* borrowed from the caller of the scan */
    uint32_t n_sources;
    struct dg_launch *launches;
    uint32_t n_launches;
    struct dg_finding *findings; /* by seq of their first place */
    uint32_t n_findings;
    struct dg_fatal *fatals; /* by seq */
    uint32_t n_fatals;
    struct dg_tail *tails; /* per source */
    struct dg_limit_hit *limits;
    uint32_t n_limits;
    uint64_t dropped_findings; /* over the caps */
};

/* Capture by name, or NULL. */
const struct dg_capture *dg_finding_capture(const struct dg_finding *f, const char *name);

#endif
