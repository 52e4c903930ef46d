/* Records: sources whose lines are packaged (container JSON, CRI, journal, kernel) become plain lines, each with the
 * raw line it stands on. What a package says about a line is put in front of it in the form that dg_prefix_parse()
 * takes: Docker's JSON becomes CRI's "TIME stdout F ", a journal entry "TIME host ident[pid]: ". A record that was cut
 * in pieces is one line again; a message of several lines is several, each with the front. Lines that are no record
 * stay as they are. Of the journal of a whole host, the kernel's lines or all others are set aside. */
#ifndef DG_INGEST_RECORDS_H
#define DG_INGEST_RECORDS_H

#include "ingest/clock.h"
#include "ingest/kind.h"
#include "ingest/reader.h"

enum dg_records {
    DG_RECORDS_NONE,
    DG_RECORDS_CRI,    /* joins P records */
    DG_RECORDS_JSON,   /* Docker json-file, journalctl -o json, and loggers that print an object a line */
    DG_RECORDS_EXPORT, /* journalctl -o export */
    DG_RECORDS_KERNEL, /* /dev/kmsg, "#012" of syslog, the time distances of dmesg -H */
    DG_RECORDS_LINES   /* lines as they are */
};
/* By content: a quarter of the lines of the head. Never the last two, which follow from the kind. */
enum dg_records dg_records_detect(struct dg_slice head);

/* Takes `inner`. NULL: out of memory. */
struct dg_reader *dg_reader_records(struct dg_reader *inner, enum dg_records records, enum dg_aside aside);
/* Of the above, at its end: the lines that were set aside, handed over. Over 16 MiB the older ones are gone. */
struct dg_set_aside {
    char *text;
    size_t len;
    uint64_t *numbers; /* raw line of each */
    bool cut;
};
void dg_records_aside(struct dg_reader *base, struct dg_set_aside *ret);
/* A reader of these (borrowed), as the kernel's or as plain lines. NULL: out of memory. */
struct dg_reader *dg_reader_aside(const struct dg_set_aside *lines, enum dg_records records);
/* Of the above: raw line numbers of the next `n` lines that come out of it (as far as their beginning was read). */
void dg_records_take(struct dg_reader *base, uint64_t *to, size_t n);
/* Raw lines read so far. */
uint64_t dg_records_raw(const struct dg_reader *base);
/* When the machine booted, by the lines so far; the outputs are untouched for DG_ANCHOR_NONE. */
enum dg_anchor dg_records_boot(const struct dg_reader *base, double *ret_boot, double *ret_spread);

#endif
