#include "cli/silence.h"
#include "base/timex.h"
#include "cli/msgs.h"
#include "ingest/ingest.h"
#include "match/ruletest.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_ROOM = 64 };

void dg_silence_note(struct dg_silence *s, struct dg_slice text) {
    if (text.len > DG_SILENCE_TAIL) text = dg_slice_from(text, text.len - DG_SILENCE_TAIL);
    size_t keep = DG_SILENCE_TAIL - text.len < s->n ? DG_SILENCE_TAIL - text.len : s->n;
    memmove(s->tail, s->tail + s->n - keep, keep);
    memcpy(s->tail + keep, text.ptr, text.len);
    s->n = keep + text.len;
    s->since = dg_time_mono();
    s->judged = false;
}

static bool tells_of_end(const struct dg_finding *f) {
    return f->rule->ends == DG_ENDS_DEATH || f->rule->role == DG_ROLE_CONSEQUENCE || f->rule->role == DG_ROLE_TEARDOWN;
}

/* The end stands behind the last sign of service. */
static bool ended(const struct dg_silence *s) {
    _cleanup_(dg_arena_freep) struct dg_arena *arena = dg_arena_new(64 << 20);
    struct dg_scan *scan = NULL;
    uint64_t end = 0, service = 0;
    if (!arena ||
        dg_match_text(s->matcher, dg_slice(s->tail, s->n), DG_KIND_SERVER, false, dg_prefix_parse, arena, &scan, NULL))
        return false;
    for (uint32_t i = 0; i < scan->n_findings; i++) {
        const struct dg_finding *f = &scan->findings[i];
        if (f->rule->pulse && f->last.line > service) service = f->last.line;
        if (tells_of_end(f) && f->last.line > end) end = f->last.line;
    }
    return end > service;
}

static bool holds(uint64_t pid, const char *pipe) {
    char path[PATH_ROOM], link[64];
    snprintf(path, sizeof(path), "/proc/%llu/fd", (unsigned long long)pid);
    DIR *dir = opendir(path);
    bool found = false;
    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        ssize_t n = readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);
        if (n > 0) link[n] = '\0';
        found = n > 0 && !strcmp(link, pipe);
    }
    if (dir) closedir(dir);
    return found;
}

static void add_name(struct dg_buf *out, uint64_t pid) {
    char path[PATH_ROOM], name[64] = "?";
    snprintf(path, sizeof(path), "/proc/%llu/comm", (unsigned long long)pid);
    FILE *f = fopen(path, "re");
    if (f && fgets(name, sizeof(name), f)) name[strcspn(name, "\n")] = '\0';
    if (f) fclose(f);
    dg_buf_addf(out, "%s%s (%llu)", out->len ? ", " : "", name, (unsigned long long)pid);
}

static struct dg_holders find_holders(void) {
    struct dg_holders h = {0};
    char pipe[64];
    ssize_t n = readlink("/proc/self/fd/0", pipe, sizeof(pipe) - 1);
    DIR *proc = n > 0 ? opendir("/proc") : NULL;
    if (n > 0) pipe[n] = '\0';
    for (struct dirent *e; proc && h.n < DG_COUNT(h.pids) && (e = readdir(proc));) {
        uint64_t pid;
        if (dg_slice_u64(dg_cstr(e->d_name), &pid) && pid != (uint64_t)getpid() && holds(pid, pipe))
            h.pids[h.n++] = pid;
    }
    if (proc) closedir(proc);
    return h;
}

static void tell(const char *before, const struct dg_holders *h, const char *after) {
    struct dg_buf names = DG_BUF_INIT(4096);
    for (unsigned i = 0; i < h->n; i++) add_name(&names, h->pids[i]);
    dg_msg("%s%s%s%s", before, names.len ? " by " : "", dg_buf_slice(&names).ptr, after);
    dg_buf_release(&names);
}

static bool first_have_gone(const struct dg_silence *s) {
    for (unsigned i = 0; i < s->first.n; i++)
        if (!kill((pid_t)s->first.pids[i], 0) || errno != ESRCH) return false;
    return s->first.n > 0;
}

static void remark(struct dg_silence *s) {
    if (s->told || !first_have_gone(s)) return;
    struct dg_holders now = find_holders();
    if (now.n) tell("what wrote here first has gone, and the output is held open", &now, ": Ctrl-C for the report");
    s->told = true;
}

bool dg_silence_over(struct dg_silence *s, bool asked) {
    double now = dg_time_mono(), quiet = now - s->since;
    if (!s->looked) s->first = find_holders();
    s->looked = true;
    if (asked && !s->asked) s->asked = now;
    bool enough = s->asked > 0 && now - s->asked >= DG_SILENCE_SECONDS && quiet >= DG_SILENCE_SECONDS;
    if (!enough && s->n && quiet >= DG_SILENCE_LONG) remark(s);
    if (!enough && (s->judged || !s->n || quiet < DG_SILENCE_SECONDS)) return false;
    s->judged = true;
    if (!enough && !ended(s)) return false;
    struct dg_holders h = find_holders();
    tell(enough ? "its output is still held open" : "the launch has ended, but its output is held open", &h,
         ": reporting without its end");
    return true;
}
