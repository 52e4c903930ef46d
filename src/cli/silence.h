/* A pipe that never ends: workers that outlive their launcher keep it open. When what was read last tells of the
 * launch's end and nothing followed for ten seconds, the report is made without waiting for the end; so it is when a
 * person pressed Ctrl-C. A server that is up and idle is silent, too, and is left alone.
 *
 * A launcher that was killed leaves no word. That the process that wrote first has gone does not tell its death from a
 * script that started the server and is done, and to report would break the pipe of a server that is well: so it is
 * only said, with how to get the report. */
#ifndef DG_CLI_SILENCE_H
#define DG_CLI_SILENCE_H

#include "match/match.h"

enum { DG_SILENCE_TAIL = 32 << 10 };
static const double DG_SILENCE_SECONDS = 10, DG_SILENCE_LONG = 40;

/* Who holds the writing end. */
struct dg_holders {
    uint64_t pids[8];
    unsigned n;
};

struct dg_silence {
    const struct dg_matcher *matcher;
    char tail[DG_SILENCE_TAIL]; /* what was read last */
    size_t n;
    double since;            /* of the last text, on the monotonic clock */
    bool judged;             /* this tail was looked at: it does not tell of an end */
    double asked;            /* when an end was asked for; 0: it was not */
    struct dg_holders first; /* in the first silent second */
    bool looked, told;       /* `first` is known; that they have gone was said */
};

/* `text` was read. */
void dg_silence_note(struct dg_silence *s, struct dg_slice text);
/* A silent second has passed: is it time to stop? `asked`: a person wants the report. Says so, and who holds the pipe.
 */
bool dg_silence_over(struct dg_silence *s, bool asked);

#endif
