/* The look: passive stage, two children under deadlines, their answers put together. */
#include "device/device.h"
#include "base/mem.h"
#include "base/timex.h"
#include "device/child.h"
#include "device/holders.h"
#include "device/kfd.h"
#include "device/probe.h"
#include "device/why.h"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

struct dg_look {
    struct dg_device_opts opts;
    char *root;
    struct dg_passive passive;
    struct dg_child cuda, nvml;
};

static const char *root_of(const struct dg_look *l) { return l->root ? l->root : ""; }

int dg_device_start(const struct dg_device_opts *opts, struct dg_look **ret, struct dg_err *err) {
    struct dg_look *l = dg_calloc(1, sizeof(*l));
    if (!l) return dg_err_nomem(err);
    l->opts = *opts;
    l->opts.root = NULL; /* the caller's text may go before we look at it again */
    if (opts->root && *opts->root && !(l->root = strdup(opts->root))) {
        free(l);
        return dg_err_nomem(err);
    }
    l->cuda.fd = l->nvml.fd = -1;
    dg_device_passive(root_of(l), &l->passive);
    if (l->passive.state == DG_DRIVER_LOADED) {
        dg_child_start(&l->cuda, dg_probe_cuda, NULL);
        dg_child_start(&l->nvml, dg_probe_nvml, NULL);
    }
    *ret = l;
    return 0;
}

static bool note(struct dg_devices *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool note(struct dg_devices *d, const char *fmt, ...) {
    char text[640];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    char **v = dg_realloc_array(d->notes, d->n_notes + 1, sizeof(*v));
    if (!v) return false;
    d->notes = v;
    if (!(v[d->n_notes] = strdup(text))) return false;
    d->n_notes++;
    return true;
}

static bool same_gpu(const struct dg_device *a, const struct dg_device *b) {
    if (a->uuid[0] && b->uuid[0]) return !strcmp(a->uuid, b->uuid);
    /* NVML writes 00000000:65:00.0 where the driver API writes 0000:65:00.0 */
    size_t la = strlen(a->pci), lb = strlen(b->pci);
    return la >= 12 && lb >= 12 && !strcasecmp(a->pci + la - 12, b->pci + lb - 12);
}

static const struct dg_device *partner(const struct dg_answer *a, const struct dg_device *d) {
    for (unsigned i = 0; i < a->n; i++)
        if (same_gpu(&a->v[i], d)) return &a->v[i];
    return NULL;
}

static void complete(struct dg_device *d, const struct dg_device *other) {
    if (other->memory_free != UINT64_MAX) d->memory_free = other->memory_free;
    if (other->memory_total != UINT64_MAX) d->memory_total = other->memory_total;
    if (!d->cc.major) d->cc = other->cc;
    if (!d->name[0]) snprintf(d->name, sizeof(d->name), "%s", other->name);
    d->mig = other->mig; /* the driver API does not tell */
}

/* The driver API's list is what programs see; without it NVML's. */
static bool merge(struct dg_look *l, struct dg_devices *d) {
    const struct dg_answer *list = l->cuda.answer.n ? &l->cuda.answer : &l->nvml.answer;
    const struct dg_answer *nvml = &l->nvml.answer;
    const char *driver = nvml->driver[0] ? nvml->driver : l->passive.driver;
    if (!list->n) return true;
    d->v = dg_calloc(list->n, sizeof(*d->v));
    if (!d->v) return false;
    for (unsigned i = 0; i < list->n; i++) {
        struct dg_device *dev = &d->v[d->n++];
        *dev = list->v[i];
        dev->origin = DG_ORIGIN_LIVE;
        const struct dg_device *other = list == nvml ? dev : partner(nvml, dev);
        if (other && other != dev) complete(dev, other);
        snprintf(dev->driver, sizeof(dev->driver), "%s", driver);
        dev->cuda = l->cuda.answer.cuda ? l->cuda.answer.cuda : nvml->cuda;
        for (unsigned p = 0; p < nvml->n_processes; p++) {
            struct dg_holder h = {.pid = nvml->process[p].pid, .memory = nvml->process[p].memory};
            if (!other || nvml->process[p].index != (list == nvml ? list->v[i].index : other->index)) continue;
            dg_holder_describe(root_of(l), &h);
            if (!dg_holder_add(dev, &h)) return false;
        }
    }
    return true;
}

static bool notes_of(struct dg_look *l, struct dg_devices *d) {
    char text[512];
    const struct dg_env *env = l->opts.env;
    if (l->passive.state != DG_DRIVER_LOADED) {
        if (l->passive.state == DG_DRIVER_NO_GPU && l->passive.amd) return true;
        dg_why_passive(&l->passive, text, sizeof(text));
        return note(d, "%s", text);
    }
    if (dg_why_cuda(&l->cuda, &l->nvml, &l->passive, l->opts.per_gpu, text, sizeof(text)) && !note(d, "%s", text))
        return false;
    if (dg_why_nvml(&l->cuda, &l->nvml, l->opts.per_gpu, text, sizeof(text)) && !note(d, "%s", text)) return false;
    unsigned hidden = l->nvml.answer.n > l->cuda.answer.n ? l->nvml.answer.n - l->cuda.answer.n : 0;
    if (hidden && l->cuda.answer.complete && env && env->cuda_visible_devices &&
        !note(d, "CUDA_VISIBLE_DEVICES=%.100s hides %u of %u GPUs", env->cuda_visible_devices, hidden,
              l->nvml.answer.n))
        return false;
    if (d->n > 1 && !(env && env->cuda_device_order && !strcmp(env->cuda_device_order, "PCI_BUS_ID")))
        return note(d, "CUDA numbers the GPUs fastest first; nvidia-smi by PCI address (CUDA_DEVICE_ORDER=PCI_BUS_ID "
                       "makes them agree)");
    return true;
}

static void mark_mps(struct dg_devices *d) {
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->v[i].n_holders; k++) d->v[i].mps = d->v[i].mps || d->v[i].holders[k].mps;
}

/* Without persistence mode the first open initialises each GPU, 1 to 5 s each, and cuInit has no markers inside. */
static double patience_of(const struct dg_look *l) {
    if (l->opts.timeout > 0) return l->opts.timeout;
    unsigned gpus = l->passive.pci_gpus > l->passive.nodes ? l->passive.pci_gpus : l->passive.nodes;
    return l->opts.per_gpu ? 10.0 + 5.0 * gpus : 2.0;
}

int dg_device_join(struct dg_look *l, struct dg_devices *ret, struct dg_err *err) {
    struct dg_devices d = {.looked = true};
    dg_child_join2(&l->cuda, &l->nvml, patience_of(l));
    bool ok = merge(l, &d);
    if (ok && l->passive.amd) ok = dg_kfd_read(root_of(l), &d);
    if (ok && d.n) {
        const char *unseen = dg_holders_from_proc(root_of(l), &d);
        d.holders_complete = !unseen;
        if (unseen) ok = note(&d, "%s", unseen);
        dg_mps_find(root_of(l), l->opts.env, &d.mps);
        mark_mps(&d);
    }
    if (ok) ok = notes_of(l, &d);
    if (gethostname(d.hostname, sizeof(d.hostname) - 1)) d.hostname[0] = 0;
    dg_child_release(&l->cuda);
    dg_child_release(&l->nvml);
    free(l->root);
    free(l);
    if (!ok) {
        dg_devices_release(&d);
        return dg_err_nomem(err);
    }
    *ret = d;
    return 0;
}
