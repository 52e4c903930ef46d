/* What nvcc was told to build is what is read, for every target and compression. Passes without a look where there is
 * no nvcc. */
#include "unit.h"
#include "image/image.h"
#include <stdio.h>

static char dir[] = "/tmp/test_image_nvcc.XXXXXX";
static const char *nvcc;

static const char *const TARGETS[] = {"75",   "80",   "86",   "87",   "88",   "89",   "90",  "90a",
                                      "100",  "100a", "100f", "103",  "103a", "103f", "110", "110a",
                                      "110f", "120",  "120a", "120f", "121",  "121a", "121f"};

__attribute__((format(printf, 1, 2))) static int shell(const char *fmt, ...) {
    char command[8192];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command, sizeof(command), fmt, ap);
    va_end(ap);
    return system(command);
}

static int setup(void **state) {
    (void)state;
    static const char *const places[] = {"nvcc", "/usr/local/cuda/bin/nvcc"};
    for (size_t i = 0; i < DG_COUNT(places) && !nvcc; i++)
        if (!shell("%s --version 2>/dev/null | grep -q 'release 13.0'", places[i])) nvcc = places[i];
    if (!mkdtemp(dir)) return -1;
    return shell("echo '__global__ void scale(float *x) { x[threadIdx.x] *= 2; }' >%s/k.cu", dir);
}

static int teardown(void **state) {
    (void)state;
    return shell("rm -r %s", dir);
}

static void need_nvcc(void) {
    if (!nvcc) skip();
}

static struct dg_image *read_built(const char *name) {
    char path[300];
    struct dg_image *image = NULL;
    struct dg_err e = {0};
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (dg_image_read(path, &image, &e)) fail_msg("%s", e.msg);
    assert_int_equal(image->n, 1);
    assert_null(image->v[0].fault);
    return image;
}

static bool holds(const struct dg_image_member *m, enum dg_code_kind kind, const char *target) {
    struct dg_target t;
    assert_true(dg_target_parse(dg_cstr(target), &t));
    for (uint32_t i = 0; i < m->n_codes; i++)
        if (m->codes[i].kind == kind && m->codes[i].target.suffix == t.suffix &&
            !dg_cc_cmp(m->codes[i].target.cc, t.cc))
            return true;
    return false;
}

enum { FILES = 3 };

static bool is_family(const char *target) { return strchr(target, 'f') != NULL; }

/* Is a target in the file of this number? All are in the last one, half of them in each of the others, which is
 * enough to see the compression. nvcc takes no `f` targets beside others, so each file is two. */
static bool wanted(size_t i, size_t file, bool family) {
    return is_family(TARGETS[i]) == family && (file == FILES - 1 || i % 2 == file);
}

/* Machine code and PTX of the wanted targets. Returns how many. */
static size_t build(const char *options, const char *name, size_t file, bool family) {
    struct dg_buf args = DG_BUF_INIT(8000);
    size_t n = 0;
    for (size_t i = 0; i < DG_COUNT(TARGETS); i++) {
        if (!wanted(i, file, family)) continue;
        n++;
        dg_buf_addf(&args, " -gencode arch=compute_%s,code=[sm_%s,compute_%s]", TARGETS[i], TARGETS[i], TARGETS[i]);
    }
    int r = shell("cd %s && %s %s %s -o %s k.cu", dir, nvcc, options, args.ptr, name);
    dg_buf_release(&args);
    assert_int_equal(r, 0);
    return n;
}

static void every_target_in_every_compression(void **state) {
    (void)state;
    static const struct {
        const char *options, *name;
        enum dg_compression cubin, ptx;
    } rows[FILES] = {
        {"-fatbin --compress-mode=size", "size.fatbin", DG_COMPRESSION_ZSTD, DG_COMPRESSION_ZSTD},
        {"-fatbin --compress-mode=speed -Xfatbin -compress-all", "speed.fatbin", DG_COMPRESSION_LZ4,
         DG_COMPRESSION_LZ4},
        {"-shared -cudart shared -Xcompiler -fPIC", "lib.so", DG_COMPRESSION_NONE, DG_COMPRESSION_ZSTD},
    };
    need_nvcc();
    for (size_t k = 0; k < 2 * FILES; k++) {
        size_t r = k / 2;
        bool family = k % 2;
        size_t n = build(rows[r].options, rows[r].name, r, family);
        struct dg_image *image = read_built(rows[r].name);
        const struct dg_image_member *m = &image->v[0];
        assert_int_equal(m->n_codes, 2 * n);
        for (size_t i = 0; i < DG_COUNT(TARGETS); i++) {
            if (!wanted(i, r, family)) continue;
            assert_true(holds(m, DG_CODE_CUBIN, TARGETS[i]));
            assert_true(holds(m, DG_CODE_PTX, TARGETS[i]));
        }
        for (uint32_t i = 0; i < m->n_codes; i++)
            assert_int_equal(m->codes[i].compression, m->codes[i].kind == DG_CODE_PTX ? rows[r].ptx : rows[r].cubin);
        dg_image_free(image);
    }
}

static void every_target_bare(void **state) {
    (void)state;
    need_nvcc();
    for (size_t i = 0; i < DG_COUNT(TARGETS); i++) {
        assert_int_equal(shell("cd %s && %s -cubin -arch=sm_%s -o k.cubin k.cu", dir, nvcc, TARGETS[i]), 0);
        struct dg_image *image = read_built("k.cubin");
        assert_int_equal(image->v[0].n_codes, 1);
        if (!holds(&image->v[0], DG_CODE_CUBIN, TARGETS[i])) fail_msg("sm_%s is read as another", TARGETS[i]);
        dg_image_free(image);
        if (i % 4) continue;
        assert_int_equal(shell("cd %s && %s -ptx -arch=compute_%s -o k.ptx k.cu", dir, nvcc, TARGETS[i]), 0);
        image = read_built("k.ptx");
        assert_true(holds(&image->v[0], DG_CODE_PTX, TARGETS[i]));
        assert_int_equal(image->v[0].codes[0].ptx, 90);
        dg_image_free(image);
    }
}

static void link_time_code_and_objects(void **state) {
    (void)state;
    need_nvcc();
    assert_int_equal(shell("cd %s && %s -dc -gencode arch=compute_90,code=lto_90 -o lto.o k.cu", dir, nvcc), 0);
    struct dg_image *image = read_built("lto.o");
    assert_int_equal(image->v[0].n_codes, 1);
    assert_true(holds(&image->v[0], DG_CODE_LTO, "90"));
    assert_true(image->v[0].modules[0].relocatable);
    dg_image_free(image);
    assert_int_equal(
        shell("cd %s && %s -dc -gencode arch=compute_90a,code=[sm_90a,compute_90a] -o rdc.o k.cu", dir, nvcc), 0);
    image = read_built("rdc.o");
    assert_int_equal(image->v[0].n_codes, 2);
    assert_true(image->v[0].modules[0].relocatable);
    dg_image_free(image);
    assert_int_equal(shell("cd %s && %s -cubin -dc -arch=sm_90a -o rdc.cubin k.cu", dir, nvcc), 0);
    image = read_built("rdc.cubin");
    assert_true(holds(&image->v[0], DG_CODE_CUBIN, "90a"));
    assert_true(image->v[0].modules[0].relocatable);
    dg_image_free(image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_target_in_every_compression),
        cmocka_unit_test(every_target_bare),
        cmocka_unit_test(link_time_code_and_objects),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
