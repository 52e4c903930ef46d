/* Catalog files: what is read, what is refused, how a later file replaces an axis; and the shipped data. */
#include "catalog/catalog.h"
#include "base/file.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

static const char GOOD[] = "# a comment first\n"
                           "engine: toy\n"
                           "title: Toy\n"
                           "checked: 2026-11-29\n"
                           "quants: {nvfp4: ['nvfp4*', modelopt_fp4]}\n"
                           "models: {mla: ['Deep*']}\n"
                           "axes:\n"
                           "- axis: moe-backend\n"
                           "  args: [moe-runner]\n"
                           "  spellings:\n"
                           "  - {flag: --moe-backend, versions: '>=2.0'}\n"
                           "  - {env: TOY_MOE, versions: '<2.0'}\n"
                           "  choices:\n"
                           "  - {name: fast, archs: '10.x', build: cubin, evidence: verified}\n"
                           "  - name: wide\n"
                           "    archs: '>=8.0'\n"
                           "    evidence: documented\n"
                           "    quants: [nvfp4]\n"
                           "    known_bad:\n"
                           "    - {kind: garbage, on: '12.0', versions: '<2.1', what: zeros, source: toy#1}\n"
                           "  orders:\n"
                           "  - {on: '10.x', order: [fast, wide]}\n"
                           "  - {on: '12.x', model: mla, order: [wide], never: [fast]}\n"
                           "  autos:\n"
                           "  - {on: '10.x', gives: fast, trap: beware}\n";

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fputs(text, f) >= 0 && !fclose(f), 1);
}

static struct dg_catalog *load(const char *path, struct dg_problems *probs) {
    const char *paths[] = {path};
    struct dg_catalog *c = dg_catalog_load(paths, 1, probs);
    assert_non_null(c);
    assert_int_equal(dg_catalog_all(c), 0);
    return c;
}

static void test_reads_all_keys(void **state) {
    (void)state;
    char dir[] = "/tmp/dg-catalog-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/toy.yaml", dir);
    write_file(path, GOOD);
    struct dg_problems probs = {0};
    _cleanup_(dg_catalog_freep) struct dg_catalog *c = load(dir, &probs);
    assert_int_equal(probs.n, 0);
    assert_int_equal(c->n_engines, 1);
    const struct dg_cat_engine *e = dg_catalog_engine(c, DG_S("toy"));
    const struct dg_cat_axis *a = dg_catalog_axis(e, DG_S("moe_runner"));
    assert_non_null(a);
    assert_ptr_equal(a, dg_catalog_axis(e, DG_S("moe-backend")));
    assert_int_equal(a->n_choices, 2);
    assert_true(dg_slice_is(dg_catalog_spelling(a, DG_S("1.9"))->env, "TOY_MOE"));
    assert_true(dg_slice_is(dg_catalog_spelling(a, (struct dg_slice){NULL, 0})->flag, "--moe-backend"));
    unlink(path);
    rmdir(dir);
}

static void refused(const char *text, const char *because) {
    char path[] = "/tmp/dg-catalog-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    dg_closep(&fd);
    write_file(path, text);
    struct dg_problems probs = {0};
    _cleanup_(dg_catalog_freep) struct dg_catalog *c = load(path, &probs);
    assert_int_equal(c->n_engines, 0);
    assert_true(probs.n > 0);
    if (!strstr(probs.v[0].msg, because)) fail_msg("'%s' is not in '%s'", because, probs.v[0].msg);
    assert_true(probs.v[0].line > 0);
    dg_problems_release(&probs);
    unlink(path);
}

#define HEAD "engine: toy\ntitle: Toy\nchecked: 2026-11-29\naxes:\n- axis: a\n"
static void test_refuses(void **state) {
    (void)state;
    refused("engine: toy\ntitle: Toy\nchecked: x\nfoo: 1\n", "unknown key 'foo'");
    refused("engine: toy\ntitle: Toy\n", "'checked' is missing");
    refused(HEAD "  choices: [{name: x, archs: 'twelve', evidence: verified}]\n", "'twelve' is no capability");
    refused(HEAD "  choices: [{name: x, archs: '12.x', evidence: sworn}]\n", "'sworn' is not one of");
    refused(HEAD "  choices: [{name: x, archs: '12.x', evidence: verified, versions: 'new'}]\n",
            "no range of versions");
    refused(HEAD "  choices: [{name: x, archs: '12.x', evidence: verified, weight_shuffle: yes}]\n", "true or false");
    refused(HEAD "  choices: {name: x}\n", "a list is wanted");
    refused(HEAD "  orders: [{order: [ghost]}]\n", "no choice 'ghost'");
    refused(HEAD
            "  choices: [{name: x, archs: none, evidence: verified}, {name: x, archs: none, evidence: verified}]\n",
            "twice");
}

static void test_other_files_are_passed_over(void **state) {
    (void)state;
    char path[] = "/tmp/dg-catalog-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    dg_closep(&fd);
    write_file(path, "pack: mine\nrules: []\n");
    struct dg_problems probs = {0};
    _cleanup_(dg_catalog_freep) struct dg_catalog *c = load(path, &probs);
    assert_int_equal(c->n_engines, 0);
    assert_int_equal(probs.n, 0);
    unlink(path);
}

static void test_later_file_replaces_an_axis(void **state) {
    (void)state;
    char first[] = "/tmp/dg-catalog-XXXXXX.yaml", second[] = "/tmp/dg-catalog-XXXXXX.yaml";
    int fd = mkstemps(first, 5);
    dg_closep(&fd);
    fd = mkstemps(second, 5);
    dg_closep(&fd);
    write_file(first, GOOD);
    write_file(second, "engine: toy\ntitle: Toy\nchecked: 2026-12-01\naxes:\n- axis: moe-backend\n  choices: [{name: "
                       "only, archs: '*', "
                       "evidence: expected}]\n- axis: other\n");
    const char *paths[] = {first, second};
    _cleanup_(dg_catalog_freep) struct dg_catalog *c = dg_catalog_load(paths, 2, NULL);
    const struct dg_cat_engine *e = dg_catalog_engine(c, DG_S("toy"));
    assert_int_equal(e->n_axes, 2);
    assert_int_equal(dg_catalog_axis(e, DG_S("moe-backend"))->n_choices, 1);
    assert_int_equal(e->n_models, 1); /* kept from the first */
    unlink(first);
    unlink(second);
}

/* GOOD, frozen and thawed. The bytes outlive the catalog. */
static struct dg_catalog *thaw(struct dg_buf *bytes) {
    char path[] = "/tmp/dg-catalog-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    dg_closep(&fd);
    write_file(path, GOOD);
    const char *paths[] = {path};
    _cleanup_(dg_catalog_freep) struct dg_catalog *yaml = dg_catalog_load(paths, 1, NULL);
    assert_int_equal(dg_catalog_freeze(yaml, 0, bytes, NULL), 0);
    unlink(path);
    struct dg_catalog *c = dg_catalog_load(NULL, 0, NULL);
    assert_int_equal(dg_catalog_add_frozen(c, dg_buf_slice(bytes), NULL), 0);
    return c;
}

static void test_frozen_is_as_read(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf bytes = DG_BUF_INIT(1 << 20), again = DG_BUF_INIT(1 << 20);
    _cleanup_(dg_catalog_freep) struct dg_catalog *c = thaw(&bytes);
    assert_int_equal(c->n_files, 1);
    const struct dg_cat_engine *e = dg_catalog_engine(c, DG_S("toy"));
    assert_int_equal(e->n_quants, 1);
    assert_string_equal(e->quants[0].globs.v[1].ptr, "modelopt_fp4");
    const struct dg_cat_axis *a = dg_catalog_axis(e, DG_S("moe_runner"));
    const struct dg_cat_key key = {.version = DG_S("2.0"), .cc = {12, 0}, .quant = DG_S("nvfp4")};
    assert_string_equal(dg_catalog_bad(e, dg_catalog_choice(a, DG_S("WIDE")), &key, 0)->what.ptr, "zeros");
    assert_string_equal(dg_catalog_spelling(a, DG_S("1.0"))->env.ptr, "TOY_MOE");
    assert_int_equal(dg_catalog_freeze(c, 0, &again, NULL), 0); /* the whole of it */
    _cleanup_(dg_catalog_freep) struct dg_catalog *second = dg_catalog_load(NULL, 0, NULL);
    assert_int_equal(dg_catalog_add_frozen(second, dg_buf_slice(&again), NULL), 0);
    assert_true(bytes.len == again.len);
    struct dg_err err = {0};
    char other[256] = {0};
    assert_int_equal(dg_catalog_add_frozen(second, dg_slice(other, sizeof(other)), &err), -DG_E_UNSUPPORTED);
}

static void test_a_file_wins_over_the_frozen(void **state) {
    (void)state;
    char path[] = "/tmp/dg-catalog-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    dg_closep(&fd);
    write_file(path, "engine: toy\ntitle: Mine\nchecked: 2026-12-01\naxes:\n- axis: moe-backend\n  choices: [{name: "
                     "only, archs: '*', evidence: expected}]\n");
    _cleanup_(dg_buf_release) struct dg_buf bytes = DG_BUF_INIT(1 << 20);
    _cleanup_(dg_catalog_freep) struct dg_catalog *c = thaw(&bytes);
    assert_int_equal(dg_catalog_add(c, path, false), 0);
    const struct dg_cat_engine *e = dg_catalog_engine(c, DG_S("toy"));
    assert_int_equal(dg_catalog_axis(e, DG_S("moe-backend"))->n_choices, 1);
    assert_int_equal(e->n_models, 1);
    assert_string_equal(e->title.ptr, "Mine");
    unlink(path);
}

static void test_out_of_memory(void **state) {
    (void)state;
    char path[] = "/tmp/dg-catalog-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    dg_closep(&fd);
    write_file(path, GOOD);
    const char *paths[] = {path};
    struct dg_catalog *c = NULL;
    for (uint64_t n = 1; !c && n < 10000; n++) {
        dg_mem_fail_after(n);
        c = dg_catalog_load(paths, 1, NULL);
        if (c && dg_catalog_all(c)) {
            dg_catalog_free(c);
            c = NULL;
        }
        dg_mem_fail_after(0);
    }
    assert_non_null(c); /* and every failure before it ended in NULL, leak-free under the sanitizers */
    dg_catalog_free(c);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads_all_keys),
                                       cmocka_unit_test(test_refuses),
                                       cmocka_unit_test(test_other_files_are_passed_over),
                                       cmocka_unit_test(test_later_file_replaces_an_axis),
                                       cmocka_unit_test(test_frozen_is_as_read),
                                       cmocka_unit_test(test_a_file_wins_over_the_frozen),
                                       cmocka_unit_test(test_out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
