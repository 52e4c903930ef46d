/* Prefixes: what the parser saw, for those who judge lines by it. */
#ifndef DG_INGEST_PREFIX_H
#define DG_INGEST_PREFIX_H

#include "ingest/ingest.h"

enum dg_forms {
    DG_FORM_KERNEL = 1u << 0, /* only kernel messages are printed so */
    DG_FORM_SYSLOG = 1u << 1, /* journald, syslog */
    DG_FORM_ENGINE = 1u << 2, /* a serving program, its launcher or its libraries */
    DG_FORM_LOADER = 1u << 3, /* LD_DEBUG */
};
struct dg_prefix_seen {
    unsigned forms; /* of enum dg_forms */
    double dated;   /* epoch of a time with a year that stands behind one without; NaN */
};
/* Of the kernel: what a journal's tag says counts. */
static inline bool dg_prefix_kernel(const struct dg_prefix *p, unsigned forms) {
    return p->unit.len ? dg_slice_is(p->unit, "kernel") : (forms & DG_FORM_KERNEL) != 0;
}
/* dg_prefix_parse(), telling more. */
struct dg_prefix_seen dg_prefix_scan(struct dg_slice line, enum dg_kind kind, struct dg_prefix *ret);

/* A line as a container runtime writes it: "2026-03-07T11:00:00.123456789Z stdout F text". */
struct dg_cri {
    struct dg_slice front;  /* time and a blank */
    struct dg_slice stream; /* stdout or stderr */
    bool partial;           /* P: the next record of the stream goes on */
    struct dg_slice text;
};
bool dg_cri_parse(struct dg_slice line, struct dg_cri *ret);

#endif
