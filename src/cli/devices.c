#include "cli/devices.h"
#include "arch/arch.h"
#include "base/mem.h"
#include <stdio.h>

enum { DEVICES_MAX = 1024 };

static int add(struct dg_devices *devices, const struct dg_device *d, uint64_t count, struct dg_err *err) {
    if (!count || count > DEVICES_MAX || devices->n + count > DEVICES_MAX)
        return dg_err_set(err, DG_E_LIMIT, 0, "--device: count is 1 to %d in all", DEVICES_MAX);
    struct dg_device *v = dg_realloc_array(devices->v, devices->n + count, sizeof(*v));
    if (!v) return dg_err_nomem(err);
    devices->v = v;
    for (uint64_t i = 0; i < count; i++) {
        v[devices->n] = *d;
        v[devices->n].index = devices->n;
        devices->n++;
    }
    return 0;
}

static int set_key(struct dg_device *d, uint64_t *count, struct dg_slice key, struct dg_slice value,
                   struct dg_err *err) {
    if (dg_slice_is(key, "cc")) {
        if (dg_cc_parse(value, &d->cc)) return 0;
    } else if (dg_slice_is(key, "name")) {
        snprintf(d->name, sizeof(d->name), "%.*s", DG_FMT(value));
        return 0;
    } else if (dg_slice_is(key, "memory")) {
        if (dg_slice_bytes(value, true, &d->memory_total)) return 0;
    } else if (dg_slice_is(key, "count")) {
        if (dg_slice_u64(value, count)) return 0;
    } else if (dg_slice_is(key, "driver")) {
        snprintf(d->driver, sizeof(d->driver), "%.*s", DG_FMT(value));
        d->cuda = dg_driver_cuda(value);
        return 0;
    } else {
        return dg_err_set(err, DG_E_SYNTAX, 0, "--device: unknown key '%.*s' (cc, name, memory, count, driver)",
                          DG_FMT(key));
    }
    return dg_err_set(err, DG_E_SYNTAX, 0, "--device: '%.*s' is no %.*s, as in cc=12.0,memory=96GiB,count=8",
                      DG_FMT(value), DG_FMT(key));
}

static int set_keys(struct dg_slice spec, struct dg_device *d, uint64_t *count, struct dg_err *err) {
    struct dg_slice part;
    while (dg_slice_split(&spec, ',', &part)) {
        ptrdiff_t equals = dg_slice_find_ch(part, '=');
        if (equals < 0) return dg_err_set(err, DG_E_SYNTAX, 0, "--device: '%.*s' is no KEY=VALUE", DG_FMT(part));
        int r = set_key(d, count, dg_slice_trim(dg_slice_upto(part, (size_t)equals)),
                        dg_slice_trim(dg_slice_from(part, (size_t)equals + 1)), err);
        if (r) return r;
    }
    return d->cc.major || !d->name[0] ? 0 : dg_arch_product(dg_cstr(d->name), &d->cc, err);
}

int dg_devices_state(struct dg_slice spec, struct dg_devices *devices, struct dg_err *err) {
    struct dg_device d = {
        .memory_total = UINT64_MAX, .memory_free = UINT64_MAX, .compute_mode = -1, .origin = DG_ORIGIN_STATED};
    uint64_t count = 1;
    int r = 0;
    if (dg_slice_find_ch(spec, '=') >= 0) {
        r = set_keys(spec, &d, &count, err);
    } else if (!dg_cc_parse(spec, &d.cc)) {
        r = dg_arch_product(spec, &d.cc, err);
        snprintf(d.name, sizeof(d.name), "%.*s", DG_FMT(spec));
    }
    if (!r && !d.cc.major)
        r = dg_err_set(err, DG_E_SYNTAX, 0, "--device: '%.*s' names no compute capability", DG_FMT(spec));
    return r ? r : add(devices, &d, count, err);
}

int dg_devices_look(const struct dg_app *app, bool patient, struct dg_look **ret, struct dg_err *err) {
    const char *limit = dg_args_value(&app->args, DG_OPT_DEVICE_TIMEOUT);
    struct dg_device_opts opts = {.per_gpu = patient, .root = app->env.device_root, .env = &app->env};
    if (limit && (!dg_slice_double(dg_cstr(limit), &opts.timeout) || !(opts.timeout > 0) || opts.timeout > 3600))
        return dg_err_set(err, DG_E_SYNTAX, 0, "'--device-timeout %s' is no number of seconds", limit);
    return dg_device_start(&opts, ret, err);
}
