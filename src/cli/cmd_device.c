/* diagnose device: the machine's GPUs, and who holds them. Nothing is ended, reset or created. */
#include "cli/rows.h"
#include "arch/arch.h"
#include "base/mem.h"
#include "cli/devices.h"
#include "device/state.h"
#include "report/report.h"

/* True, false, or null where it could not be told. */
static json_t *clean_of(const struct dg_device *d) {
    if (d->n_holders) return json_false();
    return dg_device_memory_known(d) ? json_boolean(dg_device_memory_is_free(d)) : json_null();
}

static json_t *number(uint64_t v) { return v == UINT64_MAX ? json_null() : json_integer((json_int_t)v); }

static json_t *holders_of(const struct dg_device *d) {
    json_t *v = json_array();
    for (uint32_t i = 0; i < d->n_holders; i++) {
        json_t *h = json_object();
        json_object_set_new(h, "pid", json_integer(d->holders[i].pid));
        dg_row_str(h, "name", dg_cstr(d->holders[i].name));
        json_object_set_new(h, "memory", number(d->holders[i].memory));
        json_object_set_new(h, "leftover", json_boolean(d->holders[i].server_leftover));
        json_array_append_new(v, h);
    }
    return v;
}

static void set_version(json_t *row, const char *key, struct dg_cc cc) {
    struct dg_buf text = DG_BUF_INIT(16);
    if (dg_cc_known(cc)) dg_cc_add(&text, cc);
    dg_row_str(row, key, dg_buf_slice(&text));
    dg_buf_release(&text);
}

static json_t *pid_or_null(long pid) { return pid ? json_integer(pid) : json_null(); }

static json_t *row_of(const struct dg_device *d, const struct dg_mps *mps) {
    static const char *const modes[] = {"default", "exclusive", "prohibited", "exclusive-process"};
    const struct dg_arch *arch = dg_arch_find(d->cc);
    struct dg_buf cuda = DG_BUF_INIT(16);
    json_t *row = json_object();
    json_object_set_new(row, "index", json_integer(d->index));
    dg_row_str(row, "name", dg_cstr(d->name));
    set_version(row, "compute_capability", d->cc);
    dg_row_str(row, "architecture", dg_cstr(arch ? arch->name : NULL));
    dg_row_str(row, "gfx", dg_cstr(d->gfx));
    json_object_set_new(row, "memory_total", number(d->memory_total));
    json_object_set_new(row, "memory_free", number(d->memory_free));
    dg_row_str(row, "driver", dg_cstr(d->driver));
    if (d->cuda) dg_cuda_add(&cuda, d->cuda);
    dg_row_str(row, "cuda", dg_buf_slice(&cuda));
    dg_row_str(row, "pci", dg_cstr(d->pci));
    dg_row_str(row, "compute_mode",
               dg_cstr(d->compute_mode >= 0 && d->compute_mode < 4 ? modes[d->compute_mode] : NULL));
    json_object_set_new(row, "mig", json_boolean(d->mig));
    json_object_set_new(row, "mps", json_boolean(d->mps));
    json_object_set_new(row, "mps_control", pid_or_null(mps->control));
    json_object_set_new(row, "mps_server", pid_or_null(mps->server));
    dg_row_str(row, "mps_pipes", dg_cstr(mps->pipe));
    dg_row_str(row, "origin", dg_cstr(dg_origin_name(d->origin)));
    json_object_set_new(row, "holders", holders_of(d));
    json_object_set_new(row, "clean", clean_of(d));
    dg_buf_release(&cuda);
    return row;
}

/* ---- text */

static void add_device(struct dg_buf *out, const struct dg_device *d) {
    const struct dg_arch *arch = dg_arch_find(d->cc);
    dg_buf_addf(out, "%u  %s  ", d->index, d->name[0] ? d->name : "(no name)");
    if (dg_cc_known(d->cc)) dg_cc_add(out, d->cc);
    dg_buf_addf(out, "%s%s%s", d->gfx, arch ? " " : "", arch ? arch->name : "");
    dg_buf_adds(out, "  ");
    dg_device_memory_add(out, d);
    dg_buf_addf(out, "%s%s%s%s\n", d->mig ? ", MIG" : "", d->mps ? ", MPS" : "",
                d->compute_mode == 2 ? ", compute prohibited" : "", d->compute_mode == 3 ? ", exclusive process" : "");
    for (uint32_t i = 0; i < d->n_holders; i++) {
        dg_buf_adds(out, "     held by ");
        dg_holder_add_text(out, &d->holders[i]);
        dg_buf_addc(out, '\n');
    }
}

/* "MPS: control daemon 811, server 815, pipes in /tmp/nvidia-mps" */
static void add_mps(struct dg_buf *out, const struct dg_mps *m) {
    if (!m->control && !m->server && !m->pipe[0]) return;
    dg_buf_adds(out, "MPS: ");
    if (m->control)
        dg_buf_addf(out, "control daemon %ld", m->control);
    else
        dg_buf_adds(out, "no control daemon is seen here");
    if (m->server) dg_buf_addf(out, ", server %ld", m->server);
    if (m->pipe[0]) dg_buf_addf(out, ", pipes in %s", m->pipe);
    dg_buf_addc(out, '\n');
}

/* What would free the GPUs: the look first, then the command. Numbers of another pid namespace are never offered to
 * kill. */
static void add_cleaning(struct dg_buf *out, const struct dg_devices *d) {
    struct dg_buf pids = DG_BUF_INIT(4096), leftovers = DG_BUF_INIT(4096);
    dg_devices_add_pids(&pids, d, false);
    dg_devices_add_pids(&leftovers, d, true);
    if (pids.len) dg_buf_addf(out, "Look first:  ps -o pid,user,lstart,cmd -p%s\n", pids.ptr);
    if (leftovers.len) dg_buf_addf(out, "Then:        kill%s    (ends them; kill -9 after 10 s)\n", leftovers.ptr);
    if (dg_devices_held_elsewhere(d))
        dg_buf_adds(out, "Others are in another container or on the host: run diagnose device there\n");
    dg_buf_release(&pids);
    dg_buf_release(&leftovers);
}

static int put_text(const struct dg_app *app, const struct dg_devices *d, int status) {
    struct dg_buf out = DG_BUF_INIT(1 << 20);
    if (d->n && d->v[0].driver[0]) {
        dg_buf_addf(&out, "driver %s", d->v[0].driver);
        if (d->v[0].cuda) {
            dg_buf_adds(&out, ", CUDA up to ");
            dg_cuda_add(&out, d->v[0].cuda);
        }
        dg_buf_addc(&out, '\n');
    }
    for (uint32_t i = 0; i < d->n; i++) add_device(&out, &d->v[i]);
    add_mps(&out, &d->mps);
    if (status == DG_EXIT_FAILURE) add_cleaning(&out, d);
    for (uint32_t i = 0; i < d->n_notes; i++) dg_buf_addf(&out, "%s\n", d->notes[i]);
    int r = out.failed ? DG_EXIT_INTERNAL : dg_app_put(app, dg_buf_slice(&out), status);
    dg_buf_release(&out);
    return r;
}

/* 0 every GPU is clean, 1 one is not, 3 it could not be seen. */
static int check(const struct dg_devices *d) {
    int status = d->n ? DG_EXIT_HEALTHY : DG_EXIT_LOOK;
    for (uint32_t i = 0; i < d->n; i++) {
        const struct dg_device *v = &d->v[i];
        bool known = dg_device_memory_known(v);
        if (v->n_holders || (known && !dg_device_memory_is_free(v))) return DG_EXIT_FAILURE;
        if (!known) status = DG_EXIT_LOOK;
    }
    return status;
}

int dg_cmd_device(struct dg_app *app) {
    struct dg_err err = {0};
    struct dg_devices d = {0};
    struct dg_look *look = NULL;
    int r = app->args.n_operands ? dg_err_set(&err, DG_E_SYNTAX, 0, "'device' takes no operands") : 0;
    if (!r) r = dg_devices_look(app, true, &look, &err);
    if (!r) r = dg_device_join(look, &d, &err);
    if (r) return dg_msg_err(&err);
    int status = dg_args_has(&app->args, DG_OPT_CHECK) ? check(&d) : DG_EXIT_HEALTHY;
    if (app->form == DG_FORM_TEXT) {
        status = put_text(app, &d, status);
    } else {
        json_t *rows = json_array();
        for (uint32_t i = 0; i < d.n; i++) json_array_append_new(rows, row_of(&d.v[i], &d.mps));
        for (uint32_t i = 0; i < d.n_notes; i++) dg_msg("%s", d.notes[i]);
        status = dg_rows_put(app, "device", rows, NULL, 0, status);
    }
    dg_devices_release(&d);
    return status;
}
