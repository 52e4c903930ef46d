/* diagnose inspect: the GPU architectures inside files, and whether they load. */
#include "cli/rows.h"
#include "base/mem.h"
#include "cli/devices.h"
#include "image/image.h"

static json_t *code_row(const struct dg_code *c) {
    struct dg_buf target = DG_BUF_INIT(32);
    json_t *v = json_object();
    char version[16] = "";
    dg_target_add(&target, c->target);
    dg_row_str(v, "target", dg_buf_slice(&target));
    dg_row_str(v, "kind", dg_cstr(dg_code_kind_name(c->kind)));
    if (c->ptx) snprintf(version, sizeof(version), "%d.%d", c->ptx / 10, c->ptx % 10);
    dg_row_str(v, "ptx_version", dg_cstr(version));
    dg_row_str(v, "compression", dg_cstr(dg_compression_name(c->compression)));
    dg_buf_release(&target);
    return v;
}

/* "sm_80 sm_90a ptx_120": what a table has room for. */
static void add_targets(struct dg_buf *out, const struct dg_image_member *m) {
    for (uint32_t i = 0; i < m->n_codes; i++) {
        dg_buf_adds(out, i ? " " : "");
        dg_image_code_add(out, &m->codes[i]);
    }
}

static json_t *row_of(const struct dg_image_member *m, const struct dg_device *device, enum dg_image_verdict *ret) {
    struct dg_buf reason = DG_BUF_INIT(4096), targets = DG_BUF_INIT(64 << 10);
    json_t *row = json_object(), *codes = json_array();
    int min_cuda = 0;
    *ret = DG_IMAGE_UNKNOWN;
    if (device)
        *ret = dg_image_judge(m, 1, device->cc, device->cuda, &reason, &min_cuda);
    else if (!m->n_codes && !m->fault)
        *ret = DG_IMAGE_NO_GPU_CODE;
    else
        dg_buf_adds(&reason, "no device is known: --device 12.0 states one");
    if (m->fault) dg_buf_addf(&reason, "%s%s", reason.len ? "; " : "", m->fault);
    for (uint32_t i = 0; i < m->n_codes; i++) json_array_append_new(codes, code_row(&m->codes[i]));
    add_targets(&targets, m);
    dg_row_str(row, "path", dg_cstr(m->path));
    dg_row_str(row, "member", dg_cstr(m->member));
    json_object_set_new(row, "architectures", codes);
    dg_row_str(row, "targets", dg_buf_slice(&targets));
    dg_row_str(row, "verdict", dg_cstr(dg_image_verdict_name(*ret)));
    dg_row_str(row, "reason", dg_buf_slice(&reason));
    dg_row_str(row, "min_driver", dg_cstr(min_cuda ? dg_cuda_driver(min_cuda) : NULL));
    dg_buf_release(&reason);
    dg_buf_release(&targets);
    return row;
}

static int add_path(const char *path, const struct dg_device *device, json_t *rows, int *status, struct dg_err *err) {
    struct dg_image *image = NULL;
    int r = dg_image_read(path, &image, err);
    if (r) return r;
    for (uint32_t i = 0; i < image->n; i++) {
        enum dg_image_verdict v;
        json_array_append_new(rows, row_of(&image->v[i], device, &v));
        if (v == DG_IMAGE_DOES_NOT_LOAD) *status = DG_EXIT_FAILURE;
    }
    if (image->cut) dg_msg("'%s' holds more than fits; the rest was left out", path);
    dg_image_free(image);
    return 0;
}

/* Stated, else the first live one. */
static int settle_device(struct dg_app *app, struct dg_devices *d, struct dg_err *err) {
    struct dg_look *look = NULL;
    const char *spec = dg_args_value(&app->args, DG_OPT_DEVICE);
    if (spec) return dg_devices_state(dg_cstr(spec), d, err);
    int r = dg_devices_look(app, false, &look, err);
    return r ? r : dg_device_join(look, d, err);
}

int dg_cmd_inspect(struct dg_app *app) {
    static const struct dg_column columns[] = {
        {"path", "file"}, {"member", "member"}, {"verdict", "verdict"}, {"targets", "holds"}, {"reason", "reason"}};
    struct dg_err err = {0};
    struct dg_devices d = {0};
    json_t *rows = json_array();
    int status = DG_EXIT_HEALTHY;
    int r = app->args.n_operands ? 0 : dg_err_set(&err, DG_E_SYNTAX, 0, "name a file or a folder to inspect");
    if (!r) r = settle_device(app, &d, &err);
    const struct dg_device *device = d.n && dg_cc_known(d.v[0].cc) ? &d.v[0] : NULL;
    for (size_t i = 0; !r && i < app->args.n_operands; i++)
        r = add_path(app->args.operands[i], device, rows, &status, &err);
    dg_devices_release(&d);
    if (!r) return dg_rows_put(app, "inspect", rows, columns, DG_COUNT(columns), status);
    json_decref(rows);
    return dg_msg_err(&err);
}
