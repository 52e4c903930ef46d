#include "image/collect.h"

/* Directives stand at the start of a line; comments may come before. */
static bool directive(struct dg_slice line, const char *name, struct dg_slice *ret_value) {
    line = dg_slice_trim(line);
    struct dg_slice word = dg_cstr(name);
    if (!dg_slice_starts(line, word) || line.len <= word.len) return false;
    struct dg_slice value = dg_slice_trim(dg_slice_from(line, word.len));
    size_t n = 0;
    while (n < value.len && value.ptr[n] != ',' && value.ptr[n] != ' ' && value.ptr[n] != '/') n++;
    *ret_value = dg_slice_upto(value, n);
    return true;
}

bool ptx_collect(struct collector *c, struct source bytes) {
    char text[16 << 10];
    struct dg_slice rest = dg_slice(text, source_some(bytes, 0, text, sizeof(text))), line, value;
    struct dg_code code = {.kind = DG_CODE_PTX};
    bool has_target = false;
    while (!has_target && dg_slice_split(&rest, '\n', &line)) {
        if (directive(line, ".version", &value))
            code.ptx = dg_cuda_parse(value) / 100 + dg_cuda_parse(value) % 1000 / 10;
        if (directive(line, ".target", &value)) has_target = dg_target_parse(value, &code.target);
    }
    if (!has_target || !code.ptx) return false;
    collect_module(c, &code, 1, false);
    return true;
}
