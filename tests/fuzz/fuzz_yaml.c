#include "fuzz.h"
#include "base/mem.h"
#include "base/yaml.h"

/* A tree that was given can be walked, and is as deep as promised. */
static size_t walk(const struct dg_yaml *n, int depth) {
    size_t nodes = 1, children = 0;
    if (depth > 33) abort();
    DG_YAML_EACH(it, n) {
        nodes += walk(it, depth + 1);
        children++;
    }
    if (children != n->n) abort();
    return nodes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct dg_arena *arena = dg_arena_new(0);
    struct dg_problems problems = {0};
    struct dg_err err = {0};
    struct dg_yaml *root = NULL;
    if (!arena) abort();
    int r = dg_yaml_parse("x", dg_slice((const char *)data, size), arena, &problems, &root, &err);
    if (!r && root) walk(root, 0);
    if (!r != !problems.n || (r && r != -err.code)) abort(); /* each failure has a problem and an error */
    dg_problems_release(&problems);
    dg_arena_free(arena);
    return 0;
}
