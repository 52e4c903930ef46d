/* A pipe that never ends: workers that outlive their launcher keep it open. When what was read last tells of the
 * launch's end and nothing followed for ten seconds, the report is made without waiting for the end. A server that is
 * up and idle is silent, too, and is left alone. */
#ifndef DG_CLI_SILENCE_H
#define DG_CLI_SILENCE_H

#include "match/match.h"

enum { DG_SILENCE_TAIL = 32 << 10 };
static const double DG_SILENCE_SECONDS = 10;

struct dg_silence {
    const struct dg_matcher *matcher;
    char tail[DG_SILENCE_TAIL]; /* what was read last */
    size_t n;
    double since; /* of the last text, on the monotonic clock */
    bool judged;  /* this tail was looked at: it does not tell of an end */
};

/* `text` was read. */
void dg_silence_note(struct dg_silence *s, struct dg_slice text);
/* A silent second has passed: is it time to stop? Says so, and who holds the pipe open. */
bool dg_silence_over(struct dg_silence *s);

#endif
