/* How the process ended, when somebody saw it end (`run`), and no rule names a cause. */
#include "reason/judge.h"
#include <signal.h>

static const struct {
    int signal;
    const char *name, *subclass; /* subclass of stopped; NULL: the process crashed by itself */
} SIGNALS[] = {{SIGTERM, "SIGTERM", "sigterm"}, {SIGHUP, "SIGHUP", "sighup"}, {SIGINT, "SIGINT", "interrupt"},
               {SIGSEGV, "SIGSEGV", NULL},      {SIGABRT, "SIGABRT", NULL},   {SIGBUS, "SIGBUS", NULL},
               {SIGILL, "SIGILL", NULL},        {SIGFPE, "SIGFPE", NULL},     {SIGTRAP, "SIGTRAP", NULL}};

/* A shell or launcher that stood above the server passes its signal on as a status. */
static int signal_of(const struct dg_judge *j) {
    int code = j->opts->exit_code;
    return j->opts->exit_signal > 0 ? j->opts->exit_signal : code > 128 && code <= 192 ? code - 128 : 0;
}

static size_t index_of(const struct dg_judge *j) {
    size_t i = 0;
    while (i < DG_COUNT(SIGNALS) && SIGNALS[i].signal != signal_of(j)) i++;
    return i;
}

bool dg_ending_seen(const struct dg_judge *j) { return j->opts->exit_code >= 0 || j->opts->exit_signal >= 0; }

bool dg_ending_bad(const struct dg_judge *j) {
    size_t i = index_of(j);
    bool asked = i < DG_COUNT(SIGNALS) && SIGNALS[i].subclass;
    return !asked && (j->opts->exit_code > 0 || j->opts->exit_signal > 0);
}

bool dg_ending_status(const struct dg_judge *j, bool served, enum dg_status *ret) {
    size_t i = index_of(j);
    if (i == DG_COUNT(SIGNALS)) return false;
    if (SIGNALS[i].subclass && served) return false; /* a stop on request after service is no failure */
    *ret = SIGNALS[i].subclass ? DG_STATUS_FAILURE : DG_STATUS_UNRECOGNISED;
    return true;
}

bool dg_ending_cause(struct dg_judge *j, struct dg_cause *c) {
    size_t i = index_of(j);
    if (signal_of(j) == SIGKILL) {
        c->title = DG_S("killed, and nothing shows by whom");
        c->summary = dg_judge_has_kind(j, DG_KIND_KERNEL)
                         ? DG_S("ended by SIGKILL; neither the cgroup nor the kernel log shows an OOM kill")
                         : DG_S("ended by SIGKILL; the kernel log, which would tell of an OOM kill, is missing");
        return true;
    }
    if (i == DG_COUNT(SIGNALS)) return false;
    if (SIGNALS[i].subclass) {
        c->class = DG_S("stopped");
        c->subclass = dg_cstr(SIGNALS[i].subclass);
        c->confidence = DG_LIKELY; /* the signal was seen, its sender was not */
        c->title = DG_S("ended from outside before it was ready");
        c->summary = dg_judge_say(j, "ended by %s before it was ready; it did not fail by itself", SIGNALS[i].name);
    } else {
        c->title = DG_S("the process crashed");
        c->summary = dg_judge_say(j, "crashed with %s, and no rule knows why", SIGNALS[i].name);
    }
    return true;
}
