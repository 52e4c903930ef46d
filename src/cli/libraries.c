/* The libraries that the evidence names, looked at on this machine: which architectures they hold. Their paths come
 * from a log, so a child with a deadline does it: a path may lie on a dead network folder. */
#include "cli/job.h"
#include "base/mem.h"
#include "device/child.h"
#include "device/say.h"
#include "image/image.h"

enum { PATHS_MAX = 16, TOLD_MAX = 2 };
static const double SECONDS = 1;

struct request {
    const char *paths[PATHS_MAX];
    size_t n;
    struct dg_cc cc;
    int cuda;
};

static void say_codes(int fd, const struct dg_image_member *m) {
    for (uint32_t i = 0; i < m->n_codes; i++) {
        struct dg_buf name = DG_BUF_INIT(64);
        dg_image_code_add(&name, &m->codes[i]);
        dg_probe_say(fd, "A %.*s", DG_FMT(dg_buf_slice(&name)));
        dg_buf_release(&name);
    }
}

/* In the child. For each library with GPU code: L INDEX, A ARCHITECTURE..., V VERDICT REASON. */
static void look(int fd, const void *ctx) {
    const struct request *q = ctx;
    unsigned told = 0;
    for (size_t i = 0; i < q->n && told < TOLD_MAX; i++) {
        struct dg_buf reason = DG_BUF_INIT(400);
        struct dg_image *image = NULL;
        uint32_t codes = 0;
        if (dg_image_read_strangers(q->paths[i], &image, NULL)) continue;
        for (uint32_t k = 0; k < image->n; k++) codes += image->v[k].n_codes;
        if (codes) { /* what holds none explains nothing */
            enum dg_image_verdict v = DG_IMAGE_UNKNOWN;
            dg_probe_say(fd, "L %zu", i);
            for (uint32_t k = 0; k < image->n; k++) say_codes(fd, &image->v[k]);
            if (dg_cc_known(q->cc)) v = dg_image_judge(image->v, image->n, q->cc, q->cuda, &reason, NULL);
            dg_probe_say(fd, "V %s %s", dg_image_verdict_name(v), reason.len ? reason.ptr : "");
            told++;
        }
        dg_buf_release(&reason);
        dg_image_free(image);
    }
    dg_probe_say(fd, "E");
}

struct answer {
    struct dg_job *job;
    struct dg_library v[TOLD_MAX];
    uint32_t n;
    bool ended, nomem;
};

static struct dg_slice copy(struct answer *a, struct dg_slice s) {
    const char *p = dg_arena_str(a->job->arena, s);
    if (!p) a->nomem = true;
    return p ? dg_slice(p, s.len) : (struct dg_slice){NULL, 0};
}

static void add_architecture(struct answer *a, struct dg_slice name) {
    enum { MAX = 64 };
    struct dg_strs *s = &a->v[a->n - 1].architectures;
    for (uint32_t i = 0; i < s->n; i++)
        if (dg_slice_eq(s->v[i], name)) return;
    if (!s->v) s->v = dg_arena_alloc(a->job->arena, MAX * sizeof(*s->v));
    if (!s->v)
        a->nomem = true;
    else if (s->n < MAX)
        s->v[s->n++] = copy(a, name);
}

static void take_line(struct answer *a, const struct request *q, struct dg_slice line) {
    struct dg_slice word, rest = dg_slice_from(line, 2);
    uint64_t index;
    if (dg_slice_is(line, "E")) {
        a->ended = true;
    } else if (dg_slice_starts(line, DG_S("L ")) && dg_slice_u64(rest, &index) && index < q->n && a->n < TOLD_MAX) {
        a->v[a->n++] = (struct dg_library){.path = dg_cstr(q->paths[index]), .verdict = DG_S("unknown")};
    } else if (a->n && dg_slice_starts(line, DG_S("A "))) {
        add_architecture(a, rest);
    } else if (a->n && dg_slice_starts(line, DG_S("V ")) && dg_slice_split(&rest, ' ', &word)) {
        a->v[a->n - 1].verdict = copy(a, word);
        a->v[a->n - 1].reason = copy(a, rest);
    }
}

static int tell_late(struct dg_job *job, const char *path) {
    struct dg_strs *s = &job->d->not_checked;
    struct dg_buf text = DG_BUF_INIT(8192);
    struct dg_slice *v = dg_arena_alloc(job->arena, (s->n + 1) * sizeof(*v));
    dg_buf_addf(&text, "not all libraries were looked at in time: diagnose inspect %s", path);
    const char *kept = text.failed ? NULL : dg_arena_str(job->arena, dg_buf_slice(&text));
    dg_buf_release(&text);
    if (!v || !kept) return -DG_E_NOMEM;
    if (s->n) memcpy(v, s->v, s->n * sizeof(*v));
    v[s->n] = dg_cstr(kept);
    *s = (struct dg_strs){v, s->n + 1};
    return 0;
}

/* Whatever came in time counts. */
static int take(struct answer *a, const struct request *q, const char *text) {
    struct dg_diagnosis *d = a->job->d;
    struct dg_slice rest = dg_cstr(text), line;
    while (rest.len && dg_slice_split(&rest, '\n', &line)) take_line(a, q, line);
    if (a->n) {
        d->causes[0].libraries = dg_arena_alloc(a->job->arena, sizeof(a->v));
        if (!d->causes[0].libraries) return -DG_E_NOMEM;
        memcpy(d->causes[0].libraries, a->v, sizeof(a->v));
        d->causes[0].n_libraries = a->n;
    }
    if (!a->ended && tell_late(a->job, q->paths[a->n < q->n ? a->n : 0])) return -DG_E_NOMEM;
    return a->nomem ? -DG_E_NOMEM : 0;
}

int dg_job_libraries(struct dg_job *job) {
    const struct dg_args *args = &job->app->args;
    const struct dg_diagnosis *d = job->d;
    struct request q = {0};
    struct answer a = {.job = job};
    if (dg_args_has(args, DG_OPT_DEVICE) || dg_args_has(args, DG_OPT_NO_DEVICE)) return 0;
    q.n = dg_named_libraries(d, job->arena, q.paths, PATHS_MAX);
    if (!q.n) return 0;
    if (d->n_devices) {
        q.cc = d->devices[0].cc;
        q.cuda = d->devices[0].cuda;
    }
    struct dg_child *child = dg_calloc(1, sizeof(*child));
    if (!child) return -DG_E_NOMEM;
    dg_child_start(child, look, &q);
    dg_child_wait(child, SECONDS);
    int r = take(&a, &q, child->text);
    dg_child_release(child);
    free(child);
    return r;
}
