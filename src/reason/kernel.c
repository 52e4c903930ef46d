/* Kernel, container and scheduler evidence: joined to the server's death by time, then by pid, process name, cgroup.
 * What is of another process or another time proves nothing; what has no clock in common is kept apart. */
#include "reason/judge.h"
#include <stdio.h>

#define ZONE_STEP 1800.0
#define ZONE_MAX (14 * 3600.0)
#define DEFAULT_TIMEOUT 600.0
/* A process may load weights for that long without a line; its number says that it is the same, or, where the line that
 * tells of its death has no time, its name. */
#define SILENCE 3600.0
#define COMM_MAX 15

enum identity { ID_CONFLICT, ID_UNKNOWN, ID_NAME, ID_PID };

/* How far the evidence may stand from a moment of the death: evidence - moment in [before, after]. */
struct window {
    double before, after;
};

/* Lines of a traceback carry no time: the nearest one before in the same source counts. */
double dg_place_time(const struct dg_judge *j, const struct dg_place *p) {
    const struct dg_place *best = p;
    if (dg_time_known(p->time)) return p->time;
    for (uint32_t i = 0; i < 2 * j->ep.n_f; i++) {
        const struct dg_finding *f = &j->scan->findings[j->ep.f[i / 2]];
        const struct dg_place *q = i & 1 ? &f->last : &f->first;
        if (q->source == p->source && q->seq <= p->seq && dg_time_known(q->time) && (best == p || q->seq > best->seq))
            best = q;
    }
    return best->time;
}

struct family {
    const char *comm, *engine; /* engine NULL: any */
};
static const struct family FAMILIES[] = {{"sgl", "sglang"},
                                         {"VLLM::", "vllm"},
                                         {"vllm", "vllm"},
                                         {"ollama", "ollama"},
                                         {"llama", NULL},
                                         {"koboldcpp", NULL},
                                         {"local-ai", NULL},
                                         {"mlc_llm", NULL},
                                         {"mistralrs", NULL},
                                         {"aphrodite", NULL},
                                         {"text-generation", "tgi"},
                                         {"text-embeddings", NULL},
                                         {"trtllm", "tensorrt-llm"},
                                         {"tritonserver", NULL},
                                         {"lmdeploy", NULL},
                                         {"dynamo", NULL},
                                         {"torchrun", NULL},
                                         {"deepspeed", NULL},
                                         {"python", NULL},
                                         {"pt_main_thread", NULL},
                                         {"ray::", NULL},
                                         {"mpirun", NULL},
                                         {"mpi_worker", NULL},
                                         {"mpi_rank", NULL},
                                         {"orted", NULL},
                                         {"uvicorn", NULL},
                                         {"gunicorn", NULL},
                                         {"cicc", NULL},
                                         {"nvcc", NULL},
                                         {"ptxas", NULL},
                                         {"cudafe++", NULL},
                                         {"cc1plus", NULL},
                                         {"ninja", NULL},
                                         {"ld", NULL}};

static struct dg_slice capture_text(const struct dg_finding *f, bool last, const char *name) {
    const struct dg_capture *v = last ? f->last_captures : f->captures;
    uint32_t n = last ? f->n_last_captures : f->n_captures;
    for (uint32_t i = 0; i < n; i++)
        if (dg_slice_is(v[i].name, name)) return v[i].text;
    return (struct dg_slice){NULL, 0};
}

/* The kernel cuts names at COMM_MAX bytes, so either may be a prefix of the other. */
static bool same_comm(struct dg_slice comm, struct dg_slice label) {
    return label.len >= 4 && (dg_slice_starts(label, comm) || (comm.len >= 4 && dg_slice_starts(comm, label)));
}

/* In front of a line, or in it: the shell names the process that was killed. */
static bool names_pid(const struct dg_finding *f, long pid) {
    int64_t first, last;
    return f->first.pid == pid || f->last.pid == pid ||
           (dg_slice_i64(capture_text(f, false, "pid"), &first) && first == pid) ||
           (dg_slice_i64(capture_text(f, true, "pid"), &last) && last == pid);
}

static bool pid_seen(const struct dg_judge *j, long pid) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        if (!dg_kernel_side(j, f) && names_pid(f, pid)) return true;
    }
    return false;
}

/* The last element of a path, cut as the kernel cuts it. */
static bool is_program(struct dg_slice word, struct dg_slice comm) {
    struct dg_slice name = dg_slice_from(word, (size_t)(dg_slice_rfind_ch(word, '/') + 1));
    return name.len && dg_slice_eq(dg_slice_upto(name, COMM_MAX), comm);
}

/* A word of the command in front of its options: what a launcher (nice, sudo) starts stands behind its name. */
static bool in_command(struct dg_slice command, struct dg_slice comm) {
    struct dg_slice word;
    while (dg_slice_split(&command, ' ', &word) && !dg_slice_starts(word, DG_S("--")))
        if (is_program(word, comm)) return true;
    return false;
}

/* Does the log name the process: in front of its lines, as its command, or where the shell tells of the death? */
static bool name_seen(const struct dg_judge *j, struct dg_slice comm) {
    if (in_command(j->d->attempt.command, comm)) return true;
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        if (dg_kernel_side(j, f)) continue;
        if (same_comm(comm, f->first.label) || is_program(capture_text(f, false, "program"), comm)) return true;
    }
    return false;
}

static enum identity identity(const struct dg_judge *j, const struct dg_finding *f, bool last) {
    struct dg_slice comm = capture_text(f, last, "comm"), pid_text = capture_text(f, last, "pid");
    int64_t pid;
    if (dg_slice_i64(pid_text, &pid) && pid > 1 && pid_seen(j, (long)pid)) return ID_PID;
    if (!comm.len) return ID_UNKNOWN;
    if (name_seen(j, comm)) return ID_NAME;
    for (size_t i = 0; i < DG_COUNT(FAMILIES); i++)
        if (dg_slice_starts(comm, dg_cstr(FAMILIES[i].comm)))
            return !FAMILIES[i].engine || !j->d->attempt.engine.len ||
                           dg_slice_is(j->d->attempt.engine, FAMILIES[i].engine)
                       ? ID_NAME
                       : ID_CONFLICT;
    return ID_CONFLICT;
}

static bool speaks_of_death(const struct dg_finding *f) {
    enum dg_role r = f->rule->role;
    return r == DG_ROLE_CAUSE || r == DG_ROLE_CONSEQUENCE || r == DG_ROLE_WRAPPER || r == DG_ROLE_TEARDOWN ||
           f->rule->ends != DG_ENDS_NONE;
}

/* Is there a moment t of the server's trouble with k - t in the window? With `zone`, k may be off by whole half hours;
 * *ret_zone says by how much. */
static bool near_moment(double k, double t, struct window w, bool zone, double *ret_zone) {
    double delta = k - t, shift = zone ? floor(delta / ZONE_STEP + 0.5) * ZONE_STEP : 0;
    if (!dg_time_known(delta) || fabs(shift) > ZONE_MAX || delta - shift < w.before || delta - shift > w.after)
        return false;
    *ret_zone = shift;
    return true;
}

static bool near_death(const struct dg_judge *j, double k, struct window w, bool zone, double *ret_zone) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        if (dg_kernel_side(j, f) || f->launch == UINT32_MAX || !speaks_of_death(f)) continue;
        if (near_moment(k, dg_place_time(j, &f->first), w, zone, ret_zone) ||
            near_moment(k, dg_place_time(j, &f->last), w, zone, ret_zone))
            return true;
    }
    DG_EACH_FATAL(j, i) {
        const struct dg_fatal *f = &j->scan->fatals[i];
        if (f->launch != UINT32_MAX && near_moment(k, dg_place_time(j, &f->place), w, zone, ret_zone)) return true;
    }
    struct window end = {w.before, w.after + 60}; /* a log that just stops ended some time before the death */
    return near_moment(k, j->ep.last_time, end, zone, ret_zone);
}

/* A time-out is noticed that much later: look back by the seconds it names, or by the usual 10 minutes. */
static double look_back(const struct dg_judge *j) {
    double most = 0;
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        if (j->fate[i] != DG_FATE_OPEN || !f->rule->symptom || dg_kernel_side(j, f)) continue;
        double seconds, ms;
        if (dg_slice_double(capture_text(f, false, "seconds"), &seconds))
            most = fmax(most, seconds);
        else if (dg_slice_double(capture_text(f, false, "ms"), &ms))
            most = fmax(most, ms / 1000);
        else
            most = fmax(most, DEFAULT_TIMEOUT);
    }
    return most;
}

/* A lost GPU stays lost: it counts, whenever it went, for the trouble that is known to come of it. */
static bool lost_gpu_shows(const struct dg_judge *j, const struct dg_finding *f) {
    if (!dg_slice_is(f->rule->subclass, "gpu-off-bus")) return false;
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *server = &j->scan->findings[i];
        if (j->fate[i] == DG_FATE_OPEN && !dg_kernel_side(j, server) && dg_explains_by_name(f->rule, server->rule))
            return true;
    }
    return false;
}

static struct window window_of(const struct dg_judge *j, const struct dg_finding *f) {
    if (dg_slice_is(f->rule->class, "oom-host")) return (struct window){-10, 1};
    bool lasts = dg_slice_is(f->rule->class, "driver") || lost_gpu_shows(j, f);
    if (lasts) return (struct window){-1e9, 5};
    if (j->scan->sources[f->first.source].kind != DG_KIND_KERNEL) return (struct window){-60, 300};
    return (struct window){-5 - look_back(j), 5};
}

static struct dg_slice zone_text(struct dg_judge *j, double zone) {
    if (zone == 0) return DG_S("");
    return dg_judge_say(j, ", if the clocks are %+.1f h apart (time zones: give the zone)", zone / 3600);
}

static void tell_join(struct dg_judge *j, const struct dg_finding *f, bool last, enum identity id, double zone,
                      bool dated) {
    const struct dg_place *p = last ? &f->last : &f->first;
    struct dg_slice comm = capture_text(f, last, "comm");
    const char *by = id == ID_PID ? " and pid" : id == ID_NAME ? " and name" : "";
    const char *late = dated ? "" : "; the server's last time is long before";
    const char *pids = id == ID_NAME ? "; host pids differ from a container's" : "";
    dg_judge_add_text(j, &j->d->joins,
                      dg_judge_say(j, "%s:%llu joined by time%s%s%.*s%s%s%s%.*s", dg_judge_source(j, p->source),
                                   (unsigned long long)p->line, by, comm.len ? " (" : "", DG_FMT(comm),
                                   comm.len ? ")" : "", pids, late, DG_FMT(zone_text(j, zone))));
}

static bool basis_assumed(const struct dg_judge *j, const struct dg_finding *f) {
    const struct dg_source *s = j->scan->sources;
    return s[f->first.source].time_basis != DG_TIME_BASIS_STATED ||
           s[j->scan->launches[j->ep.main].source].time_basis != DG_TIME_BASIS_STATED;
}

/* Without a common clock the two still agree when the server's log names the same class. */
static bool server_says(const struct dg_judge *j, struct dg_slice class) {
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        if (j->fate[i] == DG_FATE_OPEN && !dg_kernel_side(j, f) && dg_slice_eq(f->rule->class, class)) return true;
    }
    return false;
}

/* Did the log tell of the death without saying when? Its last time may then be far before it. */
static bool death_undated(const struct dg_judge *j) {
    const struct dg_finding *death = dg_death_echo(j);
    return death && !dg_time_known(death->last.time);
}

/* Is the first or last of the finding near the death, by the clocks as they are or (`zoned`) set to one zone? */
static bool joins_by_time(struct dg_judge *j, const struct dg_finding *f, bool last, bool zoned) {
    bool container = j->scan->sources[f->first.source].kind != DG_KIND_KERNEL;
    double k = last ? f->last.time : f->first.time, zone = 0;
    enum identity id = identity(j, f, last);
    if (id == ID_CONFLICT || (zoned && (id < ID_NAME || container || !basis_assumed(j, f)))) return false;
    struct window own = window_of(j, f);
    bool dated = near_death(j, k, own, zoned, &zone);
    if (id == ID_PID || (id == ID_NAME && death_undated(j))) own.after += SILENCE;
    if (!dated && !near_death(j, k, own, zoned, &zone)) return false;
    if (j->telling) tell_join(j, f, last, id, zone, dated);
    j->zoned = j->zoned || zone != 0;
    j->guessed = j->guessed || (!dated && id != ID_PID);
    return true;
}

static enum dg_fate join_one(struct dg_judge *j, const struct dg_finding *f) {
    bool container = j->scan->sources[f->first.source].kind != DG_KIND_KERNEL;
    bool clock = (dg_time_known(f->first.time) || dg_time_known(f->last.time)) && dg_time_known(j->ep.last_time);
    for (int zoned = 0; zoned < 2; zoned++)
        for (int last = 0; last < 2; last++)
            if (joins_by_time(j, f, last, zoned)) return DG_FATE_OPEN;
    if (clock) return DG_FATE_UNRELATED;
    if (server_says(j, f->rule->class) || lost_gpu_shows(j, f)) return DG_FATE_OPEN;
    if (identity(j, f, false) == ID_CONFLICT && identity(j, f, true) == ID_CONFLICT) return DG_FATE_UNRELATED;
    return container ? DG_FATE_OPEN : DG_FATE_UNALIGNED; /* a container's or job's state speaks of its own death */
}

void dg_kernel_join(struct dg_judge *j) {
    if (!j->ep.any) return; /* a kernel log by itself is judged by itself */
    DG_EACH_FINDING(j, i) {
        const struct dg_finding *f = &j->scan->findings[i];
        if (j->fate[i] == DG_FATE_OPEN && dg_kernel_side(j, f)) j->fate[i] = join_one(j, f);
    }
}
