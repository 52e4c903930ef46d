#include "device/state.h"
#include "base/mem.h"
#include <stdio.h>

bool dg_device_memory_known(const struct dg_device *d) {
    return d->memory_free != UINT64_MAX && d->memory_total != UINT64_MAX;
}

bool dg_device_memory_is_free(const struct dg_device *d) {
    return dg_device_memory_known(d) && d->memory_total - d->memory_free <= d->memory_total / 16;
}

static void add_gib(struct dg_buf *out, uint64_t bytes) {
    if (bytes == UINT64_MAX)
        dg_buf_adds(out, "?");
    else
        dg_buf_addf(out, "%.1f", (double)bytes / (1 << 30));
}

void dg_device_memory_add(struct dg_buf *out, const struct dg_device *d) {
    add_gib(out, d->memory_free);
    dg_buf_adds(out, " of ");
    add_gib(out, d->memory_total);
    dg_buf_adds(out, " GiB free");
}

void dg_holder_add_text(struct dg_buf *out, const struct dg_holder *h) {
    dg_buf_addf(out, "%ld %s", h->pid, h->name[0] ? h->name : "(not in this pid namespace)");
    if (h->memory != UINT64_MAX) dg_buf_addf(out, ", %.1f GiB", (double)h->memory / (1 << 30));
    if (h->server_leftover) dg_buf_adds(out, ", looks like part of an LLM server");
}

static bool listed(struct dg_slice pids, long pid) {
    struct dg_slice word;
    int64_t n;
    while (dg_slice_split(&pids, ' ', &word))
        if (dg_slice_i64(word, &n) && n == pid) return true;
    return false;
}

void dg_devices_add_pids(struct dg_buf *out, const struct dg_devices *d, bool leftovers) {
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->v[i].n_holders; k++) {
            const struct dg_holder *h = &d->v[i].holders[k];
            if (h->mps || !h->name[0] || (leftovers && !h->server_leftover)) continue;
            if (!listed(dg_buf_slice(out), h->pid)) dg_buf_addf(out, " %ld", h->pid);
        }
}

bool dg_devices_held_elsewhere(const struct dg_devices *d) {
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->v[i].n_holders; k++)
            if (!d->v[i].holders[k].name[0]) return true;
    return false;
}
