/* Time stamps as logs print them. The parsers take <p,end> and return the place behind what they took, or NULL; they
 * never read past `end`. */
#ifndef DG_INGEST_STAMP_H
#define DG_INGEST_STAMP_H

#include "base/slice.h"
#include "base/timex.h"

struct dg_stamp {
    int year; /* 0: not printed */
    int mon, day, hour, min;
    double sec;
    int fraction; /* digits of it; 0: none */
    bool comma;   /* the fraction stands behind a comma */
    bool zoned;   /* an offset is printed: `offset` seconds east of UTC */
    int offset;
};

static inline bool dg_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool dg_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* min..max digits that no other digit follows. */
const char *dg_stamp_number(const char *p, const char *end, int min, int max, int *ret);
/* "11:42:02", "11:42:02.123", "11:42:02,123456": sets hour, min, sec. */
const char *dg_stamp_clock(const char *p, const char *end, struct dg_stamp *s);
/* "Z", "+0100", "+01:00", or nothing (returns p). */
const char *dg_stamp_zone(const char *p, const char *end, struct dg_stamp *s);
/* "2026-03-07T11:42:02.5Z", "2026/03/07 11:42:02": date, T or blank, clock, zone. */
const char *dg_stamp_iso(const char *p, const char *end, struct dg_stamp *s);
/* "Mar 07 11:42:02", "Dec  2 11:38:27.5", "april 24 16:22:15": no year. */
const char *dg_stamp_syslog(const char *p, const char *end, struct dg_stamp *s);
/* Inside of "[Sun Feb 23 16:24:18 2025]", in any language: the whole of `s` or false. */
bool dg_stamp_ctime(struct dg_slice text, struct dg_stamp *s);
/* A month as a word in a European language or as "3月"; 0: unknown. */
int dg_stamp_month(struct dg_slice word);

/* Epoch seconds; NaN when no such time exists. Without a zone: local time of TZ. Without a year: the last such time
 * that is not ahead of now by more than a day. */
double dg_stamp_epoch(const struct dg_stamp *s);
/* Whole years to add to `t` (an epoch whose year was assumed) to come near `to`, in seconds. */
double dg_stamp_year_shift(double t, double to);

#endif
