/* diagnose preflight: hold a command line against the catalog, the device and history before anything is started. */
#include "cli/devices.h"
#include "cli/job.h"
#include "cli/rows.h"

static const size_t ARENA_LIMIT = 64 << 20;
enum { COMMAND_ROOM = 256 << 10 };

/* ---- the command */

static const struct {
    const char *word, *second, *engine; /* second: the word that must follow, or NULL */
    bool positional_model;              /* the first word after them that is no option names the model */
} LAUNCHERS[] = {
    {"sglang.launch_server", NULL, "sglang", false},
    {"sglang", "serve", "sglang", true},
    {"vllm", "serve", "vllm", true},
    {"vllm.entrypoints.openai.api_server", NULL, "vllm", false},
    {"trtllm-serve", "serve", "tensorrt-llm", true},
    {"trtllm-serve", NULL, "tensorrt-llm", true},
    {"llama-server", NULL, "llama.cpp", false},
    {"lmdeploy", "serve", "lmdeploy", false},
    {"text-generation-launcher", NULL, "tgi", false},
};

static const char *base_name(const char *word) {
    const char *slash = strrchr(word, '/');
    return slash ? slash + 1 : word;
}

/* Which server a command starts, and where its own arguments begin. */
static const char *find_engine(char *const *words, size_t n, size_t *ret_args, bool *ret_model) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < DG_COUNT(LAUNCHERS); k++) {
            bool second = LAUNCHERS[k].second != NULL;
            if (strcmp(base_name(words[i]), LAUNCHERS[k].word) != 0) continue;
            if (second && (i + 1 >= n || strcmp(words[i + 1], LAUNCHERS[k].second) != 0)) continue;
            *ret_args = i + 1 + second;
            *ret_model = LAUNCHERS[k].positional_model;
            return LAUNCHERS[k].engine;
        }
    return NULL;
}

static void join(char *const *words, size_t n, size_t args, bool model, struct dg_buf *out) {
    for (size_t i = 0; i < n; i++) {
        if (model && i == args && words[i][0] != '-') dg_buf_add_word(out, dg_cstr("--model"));
        dg_buf_add_word(out, dg_cstr(words[i]));
    }
}

/* ---- the judgement */

struct flight {
    struct dg_app *app;
    const struct dg_cat_engine *engine;
    struct dg_cat_key key;
    const struct dg_history_view *view;
    json_t *rows;
    bool fails, risky;
};

static void add_row(struct flight *f, bool fails, const char *class, struct dg_slice rule,
                    const struct dg_buf *reason) {
    json_t *row = json_object();
    dg_row_str(row, "verdict", fails ? DG_S("will-fail") : DG_S("risky"));
    dg_row_str(row, "class", dg_cstr(class));
    dg_row_str(row, "rule", rule);
    dg_row_str(row, "reason", dg_buf_slice(reason));
    if (fails)
        json_array_insert_new(f->rows, 0, row);
    else
        json_array_append_new(f->rows, row);
    f->fails |= fails;
    f->risky |= !fails;
}

static void check_faults(struct flight *f, const struct dg_cat_axis *axis, const struct dg_cat_choice *c) {
    static const struct {
        const char *kind, *class;
        bool fails;
    } kinds[] = {{"crash", "arch-mismatch", true},
                 {"hang", "hang", true},
                 {"garbage", "numerics", false},
                 {"slow", NULL, false}};
    const struct dg_cat_bad *b;
    for (uint32_t i = 0; (b = dg_catalog_bad(f->engine, c, &f->key, i)); i++)
        for (size_t k = 0; k < DG_COUNT(kinds); k++) {
            if (!dg_slice_is(b->kind, kinds[k].kind)) continue;
            struct dg_buf why = DG_BUF_INIT(4096);
            dg_buf_addf(&why, "%.*s %.*s: %.*s: %.*s (%.*s)", DG_FMT(axis->name), DG_FMT(c->name), DG_FMT(b->kind),
                        DG_FMT(b->what), DG_FMT(b->source));
            bool sure =
                !b->versions.len || f->key.version.len; /* a fault of some versions is a risk while ours is not known */
            add_row(f, kinds[k].fails && sure, kinds[k].class, (struct dg_slice){NULL, 0}, &why);
            dg_buf_release(&why);
        }
}

static void check_history(struct flight *f, const struct dg_cat_axis *axis, struct dg_slice value) {
    const struct dg_tried *newest = NULL;
    for (uint32_t i = 0; i < f->view->n; i++) {
        const struct dg_tried *t = &f->view->v[i];
        if (t->same_key && dg_slice_eq(t->axis, axis->name) && dg_slice_eq(t->value, value) &&
            (!newest || t->age_days < newest->age_days))
            newest = t;
    }
    bool fails = newest && dg_slice_is(newest->outcome, "fails"),
         garbage = newest && dg_slice_is(newest->outcome, "garbage");
    if (!fails && !garbage) return;
    struct dg_buf why = DG_BUF_INIT(4096);
    dg_buf_addf(&why, "%.*s %.*s: %s here %.0f days ago", DG_FMT(axis->name), DG_FMT(value),
                fails ? "failed" : "gave garbage", newest->age_days);
    add_row(f, fails, garbage ? "numerics" : NULL, (struct dg_slice){NULL, 0}, &why);
    dg_buf_release(&why);
}

static void check_choice(struct flight *f, const struct dg_cat_axis *axis, struct dg_slice value, bool given) {
    const struct dg_cat_choice *c = dg_catalog_choice(axis, value);
    struct dg_buf why = DG_BUF_INIT(4096);
    if (!c) {
        dg_buf_addf(&why, "%.*s %.*s: the catalog does not know this choice", DG_FMT(axis->name), DG_FMT(value));
        if (given) add_row(f, false, "config", (struct dg_slice){NULL, 0}, &why);
    } else if (dg_cc_known(f->key.cc) && !dg_capset_has(&c->archs, f->key.cc)) {
        struct dg_buf on = DG_BUF_INIT(1024);
        dg_capset_add(&on, &c->archs);
        dg_buf_addf(&why, "%.*s %.*s runs on %s, this GPU is %u.%u", DG_FMT(axis->name), DG_FMT(value),
                    dg_buf_slice(&on).ptr, f->key.cc.major, f->key.cc.minor);
        add_row(f, true, "arch-mismatch", (struct dg_slice){NULL, 0}, &why);
        dg_buf_release(&on);
    } else {
        check_faults(f, axis, c);
    }
    dg_buf_release(&why);
    check_history(f, axis, value);
}

static void check_axes(struct flight *f, const struct dg_attempt *a) {
    for (uint32_t i = 0; f->engine && i < f->engine->n_axes; i++) {
        const struct dg_cat_axis *axis = &f->engine->axes[i];
        struct dg_slice value = {NULL, 0}, trap = {NULL, 0};
        for (uint32_t k = 0; k < a->n_choices && !value.len; k++)
            if (dg_slice_eq(a->choices[k].axis, axis->name)) value = a->choices[k].value;
        bool given = value.len > 0;
        if (!given) value = dg_catalog_auto(f->engine, axis, &f->key, &trap);
        if (value.len) check_choice(f, axis, value, given);
    }
}

static void set_ignored(const struct flight *f, const struct dg_attempt *a) {
    json_t *ignored = json_array(), *row;
    for (uint32_t i = 0; i < a->facts.n; i++) {
        struct dg_slice name = a->facts.v[i].name;
        bool known = dg_slice_is(name, "engine") || dg_slice_is(name, "model") || dg_slice_is(name, "model-path") ||
                     dg_slice_is(name, "quantization");
        if (!known && !dg_catalog_axis(f->engine, name))
            json_array_append_new(ignored, json_stringn(name.ptr, name.len));
    }
    size_t i;
    json_array_foreach(f->rows, i, row) json_object_set(row, "ignored", ignored);
    json_decref(ignored);
}

static int judge(struct dg_app *app, const char *engine, const struct dg_buf *command, struct dg_arena *arena,
                 struct dg_devices *devices, struct flight *f, struct dg_err *err) {
    struct dg_scan scan = {0};
    struct dg_diagnosis *d = NULL;
    struct dg_history_view view = {0};
    struct dg_reason_opts opts = {.rules = dg_pack_rules(app->pack),
                                  .catalog = app->catalog,
                                  .scan = &scan,
                                  .devices = devices,
                                  .device_stated = dg_args_has(&app->args, DG_OPT_DEVICE),
                                  .engine = dg_cstr(engine),
                                  .command = dg_buf_slice(command),
                                  .exit_code = -1,
                                  .exit_signal = -1};
    struct dg_buf cc_set = DG_BUF_INIT(1024);
    int r = dg_reason(&opts, arena, &d, err);
    if (!r) dg_history_devices(d->devices, d->n_devices, NULL, &cc_set);
    if (!r) r = dg_history_view(app, NULL, &d->attempt, dg_buf_slice(&cc_set), arena, &view, err);
    if (!r) {
        const struct dg_attempt *a = &d->attempt;
        f->engine = dg_catalog_engine(app->catalog, a->engine);
        f->key = (struct dg_cat_key){a->engine_version, d->n_devices ? d->devices[0].cc : (struct dg_cc){0},
                                     a->quantization, a->model_family, a->model};
        f->view = &view;
        check_axes(f, a);
        if (f->engine) set_ignored(f, a);
        f->view = NULL;
    }
    dg_buf_release(&cc_set);
    return r;
}

static int put(struct dg_app *app, struct flight *f) {
    static const struct dg_column columns[] = {{"verdict", "verdict"}, {"class", "class"}, {"reason", "reason"}};
    int status = f->fails ? DG_EXIT_FAILURE : f->risky ? DG_EXIT_LOOK : DG_EXIT_HEALTHY;
    if (!json_array_size(f->rows)) {
        struct dg_slice reason = !f->engine                ? DG_S("the catalog has no such engine: nothing was checked")
                                 : !dg_cc_known(f->key.cc) ? DG_S("no GPU is known: say --device cc=12.0")
                                                           : DG_S("nothing is known against it");
        json_t *row = json_pack("{s:s,s:n,s:n}", "verdict", "nothing-known", "class", "rule");
        dg_row_str(row, "reason", reason);
        json_object_set_new(row, "ignored", json_array());
        json_array_append_new(f->rows, row);
    }
    return dg_rows_put(app, "preflight", f->rows, columns, DG_COUNT(columns), status);
}

/* Stated, else those of this machine, unless --no-device. */
static int settle_devices(const struct dg_app *app, struct dg_devices *devices, struct dg_err *err) {
    const struct dg_args *a = &app->args;
    struct dg_look *look = NULL;
    const char *spec;
    int r = 0;
    for (size_t i = 0; !r && (spec = dg_args_nth(a, DG_OPT_DEVICE, i)); i++)
        r = dg_devices_state(dg_cstr(spec), devices, err);
    if (r || devices->n || dg_args_has(a, DG_OPT_NO_DEVICE)) return r;
    r = dg_devices_look(app, false, &look, err);
    return r ? r : dg_device_join(look, devices, err);
}

int dg_cmd_preflight(struct dg_app *app) {
    struct dg_err err = {0};
    const struct dg_args *a = &app->args;
    struct flight f = {.app = app, .rows = json_array()};
    struct dg_devices devices = {0};
    struct dg_buf command = DG_BUF_INIT(COMMAND_ROOM);
    struct dg_arena *arena = dg_arena_new(ARENA_LIMIT);
    size_t args = 0;
    bool model = false;
    const char *engine = find_engine(a->operands, a->n_operands, &args, &model);
    int r = arena ? 0 : dg_err_nomem(&err);
    if (!a->n_operands) r = dg_err_set(&err, DG_E_SYNTAX, 0, "say the command that starts the server");
    if (!r) r = settle_devices(app, &devices, &err);
    if (!r) r = dg_app_rules(app, &err);
    join(a->operands, a->n_operands, args, model, &command);
    if (!r) r = judge(app, engine ? engine : "", &command, arena, &devices, &f, &err);
    int status = r ? dg_msg_err(&err) : put(app, &f);
    if (r) json_decref(f.rows);
    dg_arena_free(arena);
    dg_devices_release(&devices);
    dg_buf_release(&command);
    return status;
}
