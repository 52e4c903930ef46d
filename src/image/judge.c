#include "image/image.h"

static const char *const NAMES[] = {"loads",         "loads-with-jit", "loads-partly-jit", "loads-in-part",
                                    "does-not-load", "no-gpu-code",    "unknown"};

const char *dg_image_verdict_name(enum dg_image_verdict v) { return NAMES[v]; }

void dg_image_code_add(struct dg_buf *out, const struct dg_code *code) {
    struct dg_buf target = DG_BUF_INIT(64);
    dg_target_add(&target, code->target);
    struct dg_slice t = dg_buf_slice(&target);
    if (code->kind == DG_CODE_CUBIN)
        dg_buf_add_slice(out, t);
    else
        dg_buf_addf(out, "%s:%.*s", dg_code_kind_name(code->kind), DG_FMT(dg_slice_from(t, 3)));
    out->failed = out->failed || target.failed;
    dg_buf_release(&target);
}

/* How many modules load how. `cuda`: the driver that is needed for what loads, or would load on a newer driver. */
struct tally {
    uint64_t by_load[DG_LOAD_YES + 1];
    uint64_t old_driver; /* of those that do not load: a newer driver would */
    int cuda;
};

static uint64_t total(const struct tally *t) {
    uint64_t n = 0;
    for (size_t i = 0; i <= DG_LOAD_YES; i++) n += t->by_load[i];
    return n;
}

/* The driver takes the best of a module. Of what it is too old for, the least demanding counts. */
static void add_module(struct tally *t, const struct dg_image_module *m, struct dg_cc device, int cuda) {
    enum dg_load best = DG_LOAD_NO;
    int best_cuda = 0, next_cuda = 0;
    for (uint32_t i = 0; i < m->n_codes; i++) {
        int needs;
        enum dg_load load = dg_arch_loads(&m->codes[i], device, cuda, &needs);
        if (load > best) {
            best = load;
            best_cuda = needs;
        }
        if (load == DG_LOAD_NO && dg_arch_fits(&m->codes[i], device) && (!next_cuda || needs < next_cuda))
            next_cuda = needs;
    }
    t->by_load[best] += m->count;
    if (best == DG_LOAD_NO && next_cuda) t->old_driver += m->count;
    if (best == DG_LOAD_NO) best_cuda = next_cuda;
    if (best_cuda > t->cuda) t->cuda = best_cuda;
}

static struct tally tally_kind(const struct dg_image_member *m, bool relocatable, struct dg_cc device, int cuda) {
    struct tally t = {0};
    for (uint32_t i = 0; i < m->n_modules; i++)
        if (m->modules[i].relocatable == relocatable) add_module(&t, &m->modules[i], device, cuda);
    return t;
}

/* Objects for the device linker count where nothing was linked yet. Beside a link they are what the driver may compile
 * and link by itself when nothing linked fits; that takes a piece for the device in each. */
static struct tally tally_member(const struct dg_image_member *m, struct dg_cc device, int cuda) {
    struct tally linked = tally_kind(m, false, device, cuda), loose = tally_kind(m, true, device, cuda);
    uint64_t n_linked = total(&linked), n_loose = total(&loose);
    if (!n_loose || (!n_linked && !m->stubs)) return n_linked ? linked : loose;
    if (n_linked > linked.by_load[DG_LOAD_NO]) return linked;
    bool all = loose.by_load[DG_LOAD_YES] + loose.by_load[DG_LOAD_JIT] == n_loose;
    if (!all) return n_linked ? linked : (struct tally){.by_load = {[DG_LOAD_NO] = n_loose}};
    return (struct tally){.by_load = {[DG_LOAD_JIT] = n_loose}, .cuda = loose.cuda};
}

static void add_tally(struct tally *sum, const struct tally *t) {
    for (size_t i = 0; i <= DG_LOAD_YES; i++) sum->by_load[i] += t->by_load[i];
    sum->old_driver += t->old_driver;
    if (t->cuda > sum->cuda) sum->cuda = t->cuda;
}

static enum dg_image_verdict judge_tally(const struct tally *t) {
    uint64_t yes = t->by_load[DG_LOAD_YES], jit = t->by_load[DG_LOAD_JIT], no = t->by_load[DG_LOAD_NO];
    if (!total(t)) return DG_IMAGE_NO_GPU_CODE;
    if (!yes && !jit) return t->by_load[DG_LOAD_UNKNOWN] ? DG_IMAGE_UNKNOWN : DG_IMAGE_DOES_NOT_LOAD;
    if (no || t->by_load[DG_LOAD_UNKNOWN]) return DG_IMAGE_LOADS_IN_PART;
    return !jit ? DG_IMAGE_LOADS : !yes ? DG_IMAGE_LOADS_WITH_JIT : DG_IMAGE_LOADS_PARTLY_JIT;
}

/* ---- reasons ---- */

enum { SHOWN_MAX = 12 };

static bool shown_before(const struct dg_code *codes, uint32_t i) {
    for (uint32_t k = 0; k < i; k++)
        if (codes[k].kind == codes[i].kind && codes[k].target.suffix == codes[i].target.suffix &&
            !dg_cc_cmp(codes[k].target.cc, codes[i].target.cc))
            return true;
    return false;
}

/* "sm_80, sm_90a, PTX 9.0" of one member. */
static void add_targets(struct dg_buf *out, const struct dg_image_member *m) {
    unsigned shown = 0;
    for (uint32_t i = 0; i < m->n_codes; i++) {
        const struct dg_code *c = &m->codes[i];
        if (shown_before(m->codes, i)) continue;
        if (shown++ == SHOWN_MAX) {
            dg_buf_adds(out, ", …");
            return;
        }
        if (shown > 1) dg_buf_adds(out, ", ");
        if (c->kind != DG_CODE_CUBIN) dg_buf_adds(out, c->kind == DG_CODE_PTX ? "PTX of " : "link-time code of ");
        dg_target_add(out, c->target);
    }
}

static void add_driver(struct dg_buf *out, int needs, int has) {
    const char *driver = dg_cuda_driver(needs);
    dg_buf_adds(out, "a driver of CUDA ");
    dg_cuda_add(out, needs);
    if (driver) dg_buf_addf(out, " (%s)", driver);
    dg_buf_adds(out, " or newer is needed");
    if (has) {
        dg_buf_adds(out, ", this one has ");
        dg_cuda_add(out, has);
    }
}

static void explain_refusal(struct dg_buf *out, const struct dg_image_member *members, size_t n, const struct tally *t,
                            struct dg_cc device, int cuda) {
    if (t->old_driver) {
        add_driver(out, t->cuda, cuda);
    } else if (n == 1 && members->n_codes) {
        dg_buf_adds(out, "it has ");
        add_targets(out, members);
        dg_buf_addf(out, "; none of it runs on %u.%u", device.major, device.minor);
    } else {
        dg_buf_addf(out, "none of its code runs on %u.%u", device.major, device.minor);
    }
}

static void explain(struct dg_buf *out, const struct dg_image_member *members, size_t n, const struct tally *t,
                    enum dg_image_verdict verdict, struct dg_cc device, int cuda) {
    unsigned long long yes = t->by_load[DG_LOAD_YES], jit = t->by_load[DG_LOAD_JIT], all = total(t);
    switch (verdict) {
    case DG_IMAGE_LOADS: dg_buf_addf(out, "it has machine code for %u.%u", device.major, device.minor); break;
    case DG_IMAGE_LOADS_WITH_JIT:
        dg_buf_addf(
            out, "it has no machine code for %u.%u; the driver compiles its PTX, which takes time at the first start",
            device.major, device.minor);
        break;
    case DG_IMAGE_LOADS_PARTLY_JIT:
        dg_buf_addf(out, "%llu of %llu modules have machine code for %u.%u, the driver compiles the others from PTX",
                    yes, all, device.major, device.minor);
        break;
    case DG_IMAGE_LOADS_IN_PART:
        dg_buf_addf(out, "%llu of %llu modules load on %u.%u, as in libraries that choose by architecture", yes + jit,
                    all, device.major, device.minor);
        break;
    case DG_IMAGE_DOES_NOT_LOAD: explain_refusal(out, members, n, t, device, cuda); break;
    case DG_IMAGE_NO_GPU_CODE:
        dg_buf_adds(out,
                    n == 1 && members->stubs ? "the device link left nothing but empty modules" : "it has no GPU code");
        break;
    case DG_IMAGE_UNKNOWN:
        dg_buf_addf(out, "whether its code runs on %u.%u is not documented", device.major, device.minor);
        break;
    }
}

static const char *first_fault(const struct dg_image_member *members, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (members[i].fault) return members[i].fault;
    return NULL;
}

enum dg_image_verdict dg_image_judge(const struct dg_image_member *members, size_t n, struct dg_cc device, int cuda,
                                     struct dg_buf *reason, int *ret_min_cuda) {
    struct tally sum = {0};
    for (size_t i = 0; i < n; i++) {
        struct tally t = tally_member(&members[i], device, cuda);
        add_tally(&sum, &t);
    }
    enum dg_image_verdict verdict = judge_tally(&sum);
    const char *fault = verdict == DG_IMAGE_NO_GPU_CODE ? first_fault(members, n) : NULL, *known = "no device is known";
    bool blind = verdict != DG_IMAGE_NO_GPU_CODE && !dg_cc_known(device);
    if (ret_min_cuda) *ret_min_cuda = blind ? 0 : sum.cuda;
    if (fault || blind) {
        if (reason) dg_buf_adds(reason, fault ? fault : known);
        return DG_IMAGE_UNKNOWN;
    }
    if (reason) explain(reason, members, n, &sum, verdict, device, cuda);
    return verdict;
}
