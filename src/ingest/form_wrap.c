#include "base/mem.h"
#include "ingest/form.h"
#include "ingest/prefix.h"

bool dg_cri_parse(struct dg_slice line, struct dg_cri *ret) {
    struct scan s = {.end = line.ptr + line.len};
    struct dg_stamp st = {0};
    if (line.len < 20 || !dg_is_digit(*line.ptr) || line.ptr[10] != 'T') return false;
    const char *stream = byte(&s, dg_stamp_iso(line.ptr, s.end, &st), ' ');
    const char *q = text(&s, stream, DG_S("stdout "));
    if (!q) q = text(&s, stream, DG_S("stderr "));
    if (!q || q == s.end || (*q != 'F' && *q != 'P')) return false;
    const char *tag = q + 1;
    if (tag < s.end && *tag == ':') tag = memchr(tag, ' ', (size_t)(s.end - tag)); /* more tags may follow the first */
    const char *body = tag == s.end ? tag : byte(&s, tag, ' ');
    if (!body) return false;
    *ret = (struct dg_cri){between(line.ptr, stream), dg_slice(stream, 6), *q == 'P', between(body, s.end)};
    return true;
}

/* "vllm-1  | msg", "[sglang]     | msg" of docker compose. */
const char *dg_form_compose(struct scan *s, const char *p) {
    bool bracket = *p == '[';
    const char *from = p + bracket, *to = name(s, from, "@");
    const char *q = to && bracket ? byte(s, to, ']') : to;
    if (!q || !byte(s, q, ' ') || (!bracket && !text(s, q, DG_S("  ")))) return NULL;
    q = byte(s, blanks(s, q), '|');
    if (!q || (q < s->end && *q != ' ')) return NULL;
    s->out->label = between(from, to);
    return one_blank(s, q);
}

/* "3: msg" of srun -l. */
const char *dg_form_task_number(struct scan *s, const char *p) {
    int task;
    const char *q = byte(s, number(s, p, 1, 5, &task), ':');
    if (!q || (q < s->end && *q != ' ') || s->kind == DG_KIND_KERNEL || s->kind == DG_KIND_ENVIRONMENT) return NULL;
    s->out->rank = task;
    return one_blank(s, q);
}

/* "[1,0]<stdout>:msg" of mpirun. */
const char *dg_form_mpi_rank(struct scan *s, const char *p) {
    int job, rank;
    const char *q = byte(s, number(s, byte(s, number(s, p + 1, 1, 9, &job), ','), 1, 6, &rank), ']');
    const char *r = text(s, q, DG_S("<stdout>:"));
    if (!r) r = text(s, q, DG_S("<stderr>:"));
    if (!r) return NULL;
    s->out->rank = rank;
    s->forms |= DG_FORM_ENGINE;
    return text(s, r, DG_S("  ")) ? r : one_blank(s, r); /* more than one blank is the message's own */
}

/* "[rank3]: msg", "[rank3]:[E312 …", "[default0]:msg", "[trainer0]:msg" of torchrun. */
const char *dg_form_torch_rank(struct scan *s, const char *p) {
    static const struct dg_slice words[] = {{"rank", 4}, {"default", 7}, {"trainer", 7}};
    int rank;
    for (size_t i = 0; i < DG_COUNT(words); i++) {
        const char *q = byte(s, byte(s, number(s, text(s, p + 1, words[i]), 1, 6, &rank), ']'), ':');
        if (!q) continue;
        s->out->rank = rank;
        s->forms |= DG_FORM_ENGINE;
        return i ? q : one_blank(s, q); /* only torch's own hook adds a blank */
    }
    return NULL;
}

struct process {
    struct dg_slice label, ip;
    int pid, rank; /* -1: none */
};

/* "RayWorkerWrapper pid=123, ip=10.0.0.1". */
static struct process process_fields(const char *p, const char *end) {
    struct process r = {.pid = -1, .rank = -1};
    for (const char *at = p, *to; at < end; at = to) {
        while (at < end && (*at == ' ' || *at == ',')) at++;
        for (to = at; to < end && *to != ' ' && *to != ',';) to++;
        struct dg_slice field = between(at, to);
        if (dg_slice_starts(field, DG_S("pid=")))
            dg_stamp_number(at + 4, to, 1, 9, &r.pid);
        else if (dg_slice_starts(field, DG_S("rank=")))
            dg_stamp_number(at + 5, to, 1, 6, &r.rank);
        else if (dg_slice_starts(field, DG_S("ip=")))
            r.ip = dg_slice_from(field, 3);
        else if (at == p)
            r.label = field;
    }
    return r;
}

/* "(RayWorkerWrapper pid=123, ip=10.0.0.1) ", "(EngineCore_DP0 pid=339) ", "(VllmWorker rank=0 pid=625) ", "(raylet) ".
 */
const char *dg_form_process(struct scan *s, const char *p) {
    const char *close = find(s, p, DG_BRACKET_MAX, ')'), *q = close ? close + 1 : NULL;
    if (!q || (q < s->end && *q != ' ' && *q != '[')) return NULL;
    struct process r = process_fields(p + 1, close);
    if (r.pid < 0 && !dg_slice_is(r.label, "raylet") && !dg_slice_is(r.label, "autoscaler")) return NULL;
    dg_scan_process(s, r.label, r.pid);
    dg_scan_rank(s, r.label);
    if (r.rank >= 0) s->out->rank = r.rank;
    if (r.ip.len) s->out->host = r.ip;
    s->forms |= DG_FORM_ENGINE;
    return one_blank(s, q);
}

/* "[pod/vllm-0/vllm] msg" of kubectl logs --prefix. */
const char *dg_form_pod(struct scan *s, const char *p) {
    const char *q = text(s, p, DG_S("[pod/"));
    const char *to = q ? name(s, q, "/") : NULL;
    q = to ? blank_or_end(s, byte(s, to, ']')) : NULL;
    if (q) s->out->label = between(p + 1, to);
    return q;
}

/* "[Stage-0] ERROR 01-30 18:03:36 [worker.py:344] msg" of vLLM-Omni. */
const char *dg_form_stage(struct scan *s, const char *p) {
    int stage;
    const char *to = number(s, text(s, p + 1, DG_S("Stage-")), 1, 4, &stage), *q = blank_or_end(s, byte(s, to, ']'));
    if (q) s->out->label = between(p + 1, to);
    return q;
}

/* "     48211:\tfind library=…" of LD_DEBUG. */
const char *dg_form_loader_pid(struct scan *s, const char *p) {
    int pid;
    const char *q = byte(s, byte(s, number(s, blanks(s, p), 1, 9, &pid), ':'), '\t');
    if (!q) return NULL;
    s->out->pid = pid;
    s->forms |= DG_FORM_LOADER;
    return q;
}

/* "[0;36m", an escape whose ESC was lost on copying. */
const char *dg_form_lost_escape(struct scan *s, const char *p) {
    const char *q = p + 1;
    while (q < s->end && q - p < 16 && (dg_is_digit(*q) || *q == ';')) q++;
    q = byte(s, q, 'm');
    return q ? one_blank(s, q) : NULL;
}
