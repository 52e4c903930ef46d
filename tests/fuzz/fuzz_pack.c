/* A pack of rules: loaded, looked over, written as packs.bin and loaded again. */
#include "fuzz.h"
#include "scratch.h"
#include "pack/pack.h"

static void check_rule(const struct dg_rule *r) {
    if (!r->id.len || r->role > DG_ROLE_FACT) abort();
    if (r->class.len && r->role == DG_ROLE_CAUSE && !r->subclass.ptr) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct scratch pack_file, bin_file;
    struct dg_problems problems = {0};
    struct dg_pack *pack = NULL, *again = NULL;
    scratch_fill(&pack_file, data, size);
    struct dg_pack_place place = {.path = pack_file.path, .required = true, .user = true, .named = true};
    if (dg_pack_load(&place, 1, true, &problems, &pack, NULL)) abort();
    const struct dg_ruleset *rules = dg_pack_rules(pack);
    for (uint32_t i = 0; i < rules->n_rules; i++) check_rule(&rules->rules[i]);
    dg_pack_lint(pack, &problems);
    scratch_fill(&bin_file, "", 0);
    if (!dg_pack_save_bin(pack, DG_S("catalog"), DG_S("tables"), bin_file.path, NULL)) {
        if (dg_pack_load_bin(bin_file.path, NULL, 0, NULL, &again, NULL)) abort();
        if (dg_pack_rules(again)->n_rules != rules->n_rules) abort();
    }
    dg_pack_free(again);
    dg_pack_free(pack);
    dg_problems_release(&problems);
    return 0;
}
