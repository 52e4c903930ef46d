/* diagnose device: the machine's GPUs, and who holds them. Nothing is ended, reset or created. */
#include "cli/rows.h"
#include "arch/arch.h"
#include "base/mem.h"
#include "cli/devices.h"
#include "report/report.h"

/* A GPU with nobody on it still shows what the driver keeps for itself. */
static bool memory_is_free(const struct dg_device *d) {
    return d->memory_total - d->memory_free <= d->memory_total / 16;
}

/* True, false, or null where it could not be told. */
static json_t *clean_of(const struct dg_device *d) {
    if (d->n_holders) return json_false();
    if (d->memory_free == UINT64_MAX || d->memory_total == UINT64_MAX) return json_null();
    return json_boolean(memory_is_free(d));
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

static json_t *row_of(const struct dg_device *d) {
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
    dg_row_str(row, "origin", dg_cstr(dg_origin_name(d->origin)));
    json_object_set_new(row, "holders", holders_of(d));
    json_object_set_new(row, "clean", clean_of(d));
    dg_buf_release(&cuda);
    return row;
}

/* ---- text */

static void add_memory(struct dg_buf *out, uint64_t bytes) {
    if (bytes == UINT64_MAX)
        dg_buf_adds(out, "?");
    else
        dg_buf_addf(out, "%.1f", (double)bytes / (1 << 30));
}

static void add_device(struct dg_buf *out, const struct dg_device *d) {
    const struct dg_arch *arch = dg_arch_find(d->cc);
    dg_buf_addf(out, "%u  %s  ", d->index, d->name[0] ? d->name : "(no name)");
    if (dg_cc_known(d->cc)) dg_cc_add(out, d->cc);
    dg_buf_addf(out, "%s%s%s", d->gfx, arch ? " " : "", arch ? arch->name : "");
    dg_buf_adds(out, "  ");
    add_memory(out, d->memory_free);
    dg_buf_adds(out, " of ");
    add_memory(out, d->memory_total);
    dg_buf_addf(out, " GiB free%s%s%s\n", d->mig ? ", MIG" : "", d->compute_mode == 2 ? ", compute prohibited" : "",
                d->compute_mode == 3 ? ", exclusive process" : "");
    for (uint32_t i = 0; i < d->n_holders; i++) {
        const struct dg_holder *h = &d->holders[i];
        dg_buf_addf(out, "     held by %ld %s", h->pid, h->name[0] ? h->name : "(not in this pid namespace)");
        if (h->memory != UINT64_MAX) dg_buf_addf(out, ", %.1f GiB", (double)h->memory / (1 << 30));
        dg_buf_adds(out, h->server_leftover ? ", looks like part of an LLM server\n" : "\n");
    }
}

/* What would free the GPUs: the look first, then the command. Numbers of another pid namespace are never offered to
 * kill. */
static void add_cleaning(struct dg_buf *out, const struct dg_devices *d) {
    struct dg_buf pids = DG_BUF_INIT(4096);
    bool elsewhere = false;
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->v[i].n_holders; k++) {
            char word[24];
            snprintf(word, sizeof(word), " %ld", d->v[i].holders[k].pid);
            if (!d->v[i].holders[k].name[0])
                elsewhere = true;
            else if (dg_slice_find(dg_buf_slice(&pids), dg_cstr(word)) < 0)
                dg_buf_adds(&pids, word);
        }
    if (pids.len)
        dg_buf_addf(
            out,
            "Look first:  ps -o pid,user,lstart,cmd -p%s\nThen:        kill%s    (ends them; kill -9 after 10 s)\n",
            pids.ptr, pids.ptr);
    if (elsewhere) dg_buf_adds(out, "Others are in another container or on the host: run diagnose device there\n");
    dg_buf_release(&pids);
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
        bool known = v->memory_free != UINT64_MAX && v->memory_total != UINT64_MAX;
        if (v->n_holders || (known && !memory_is_free(v))) return DG_EXIT_FAILURE;
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
        for (uint32_t i = 0; i < d.n; i++) json_array_append_new(rows, row_of(&d.v[i]));
        for (uint32_t i = 0; i < d.n_notes; i++) dg_msg("%s", d.notes[i]);
        status = dg_rows_put(app, "device", rows, NULL, 0, status);
    }
    dg_devices_release(&d);
    return status;
}
