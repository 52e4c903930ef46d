/* Decoders of single records, for records.c. */
#ifndef DG_INGEST_DECODER_H
#define DG_INGEST_DECODER_H

#include "ingest/clock.h"
#include "ingest/kind.h"
#include "base/buf.h"

/* A raw line that is longer than this goes through as it is. */
enum { DG_RECORD_MAX = 512 << 10, DG_FRONTS_MAX = 4096 };

struct dg_decoder {
    struct dg_buf out;  /* decoded lines */
    struct dg_buf text; /* of the record at hand */
    struct {
        uint64_t *v;
        size_t n, cap;
    } lines; /* the raw line of each */
    size_t taken;
    uint64_t newest; /* numbers never decrease */
    bool failed;     /* out of memory */

    struct dg_part { /* a record of stdout or stderr that goes on */
        struct dg_buf text;
        uint64_t line;
        bool open;
    } parts[2];
    bool docker_newlines; /* Docker ends each whole record in a newline; some collectors drop it */

    struct { /* the journal entry at hand (export) */
        struct dg_buf message, host, ident, pid, micro, boot_micro;
        bool kernel;
        uint64_t line;
        uint64_t skip; /* of a field that is too large */
    } entry;

    struct { /* dmesg -H: the last date printed (mon 0: none), and the seconds since */
        int mon, day, min;
        double sec;
    } minute;

    struct dg_clock stamped, exact;

    enum dg_aside side; /* which lines are set aside */
    struct {
        struct dg_buf text;
        struct {
            uint64_t *v;
            size_t n, cap;
        } lines;
        bool last; /* the last line with a tag was: what follows without one goes along */
        bool cut;
    } aside;
};

/* Add <front, text> as one line, or as several when `text` holds newlines. */
void dg_decoder_emit(struct dg_decoder *d, uint64_t line, struct dg_slice front, struct dg_slice text);
/* The same for a record of a stream ("stdout", "stderr") that may be a part of one. */
void dg_decoder_stream(struct dg_decoder *d, uint64_t line, struct dg_slice front, struct dg_slice stream,
                       struct dg_slice text, bool partial);
/* A journal entry. Times are microseconds as text, may be empty. */
struct dg_journal_entry {
    struct dg_slice micro, boot_micro, host, ident, pid, message;
    bool kernel;
};
void dg_decoder_journal(struct dg_decoder *d, uint64_t line, const struct dg_journal_entry *e);

/* Each takes the record that `in` begins with, and adds its lines: the bytes used up, 0 when `in` holds only a part of
 * it. `ended`: no more will come, so what is there is all. */
typedef size_t dg_decode(struct dg_decoder *d, struct dg_slice in, uint64_t line, bool ended);
dg_decode dg_decode_cri, dg_decode_json, dg_decode_export, dg_decode_kernel, dg_decode_lines;
/* What was begun and has no end, when no more will come. */
void dg_decoder_finish(struct dg_decoder *d);

/* Is this line an object that dg_decode_json takes apart? */
bool dg_json_is_record(struct dg_slice line);
/* The line that `in` begins with, without its newline; false when it is not there to its end. *ret_used counts the
 * newline. */
bool dg_first_line(struct dg_slice in, bool ended, struct dg_slice *ret, size_t *ret_used);

#endif
