#include "unit.h"
#include "base/file.h"
#include "image/image.h"
#include "image/unpack.h"
#include <stdio.h>

static const char *sample(const char *name) {
    static char path[4096];
    const char *source = getenv("SOURCE_DIR");
    snprintf(path, sizeof(path), "%s/fixtures/bin/%s", source ? source : "../..", name);
    return path;
}

static struct dg_image *read_sample(const char *name) {
    struct dg_image *image = NULL;
    struct dg_err e = {0};
    if (dg_image_read(sample(name), &image, &e)) fail_msg("%s", e.msg);
    return image;
}

/* "sm_80 sm_90a/zstd sm_80.ptx9.0/zstd", and of modules "2x[…]", relocatable ones "2r[…]". */
static void add_codes(struct dg_buf *out, const struct dg_code *codes, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (i) dg_buf_addc(out, ' ');
        dg_target_add(out, codes[i].target);
        if (codes[i].kind == DG_CODE_PTX) dg_buf_addf(out, ".ptx%d.%d", codes[i].ptx / 10, codes[i].ptx % 10);
        if (codes[i].kind == DG_CODE_LTO) dg_buf_adds(out, ".lto");
        if (codes[i].compression) dg_buf_addf(out, "/%s", dg_compression_name(codes[i].compression));
    }
}

static const char *shown(const struct dg_image_member *m) {
    static char text[4096];
    struct dg_buf out = DG_BUF_INIT(sizeof(text) - 1);
    for (uint32_t i = 0; i < m->n_modules; i++) {
        dg_buf_addf(&out, "%s%u%c[", i ? " " : "", m->modules[i].count, m->modules[i].relocatable ? 'r' : 'x');
        add_codes(&out, m->modules[i].codes, m->modules[i].n_codes);
        dg_buf_addc(&out, ']');
    }
    if (m->stubs) dg_buf_addf(&out, "%s%u stubs", out.len ? " " : "", m->stubs);
    snprintf(text, sizeof(text), "%s", dg_buf_slice(&out).ptr);
    dg_buf_release(&out);
    return text;
}

static void samples_hold_what_was_asked_for(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"units.so", "2x[sm_80 sm_80.ptx9.0/zstd sm_90a] 1 stubs"},
        {"ptx.fatbin", "1x[sm_90.ptx9.0/zstd]"},
        {"none.fatbin", "1x[sm_90 sm_90.ptx9.0]"},
        {"speed.fatbin", "1x[sm_90 sm_90.ptx9.0/lz4]"},
        {"size.fatbin", "1x[sm_90/zstd sm_90.ptx9.0/zstd]"},
        {"sm_120.cubin", "1x[sm_120]"},
        {"sm_90a.cubin", "1x[sm_90a]"},
        {"sm_100f.cubin", "1x[sm_100f]"},
        {"compute_120f.ptx", "1x[sm_120f.ptx9.0]"},
        {"rdc.o", "1r[sm_80/zstd]"},
        {"linked.so", "1x[sm_80] 1r[sm_80/zstd]"},
        {"unlinked.so", "1r[sm_80/zstd] 1 stubs"},
        {"host.so", "2 stubs"},
        {"nosections.so", "1x[sm_90 sm_90.ptx9.0/zstd] 1 stubs"},
        {"build.sh", ""},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        struct dg_image *image = read_sample(rows[i][0]);
        assert_int_equal(image->n, 1);
        assert_null(image->v[0].member);
        assert_null(image->v[0].fault);
        if (strcmp(shown(&image->v[0]), rows[i][1]) != 0) fail_msg("%s: %s", rows[i][0], shown(&image->v[0]));
        dg_image_free(image);
    }
}

static void archives_have_members(void **state) {
    (void)state;
    static const struct {
        const char *file, *members[4][2];
    } rows[] = {
        {"units.a", {{"rdc.o", "1r[sm_80/zstd]"}, {"two.o", "1x[sm_80 sm_80.ptx9.0/zstd]"}}},
        {"sample.whl",
         {{"pkg/lib/_C.abi3.so", "2x[sm_80 sm_80.ptx9.0/zstd sm_90a] 1 stubs"},
          {"pkg/lib/libunits.a(rdc.o)", "1r[sm_80/zstd]"},
          {"pkg/lib/libunits.a(two.o)", "1x[sm_80 sm_80.ptx9.0/zstd]"}}},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        struct dg_image *image = read_sample(rows[i].file);
        uint32_t n = 0;
        for (; rows[i].members[n][0]; n++) {
            assert_true(n < image->n);
            bool found = false; /* a zip file's order is its maker's */
            for (uint32_t k = 0; k < image->n; k++)
                if (!strcmp(image->v[k].member, rows[i].members[n][0])) {
                    found = true;
                    assert_string_equal(shown(&image->v[k]), rows[i].members[n][1]);
                    assert_string_equal(image->v[k].path, sample(rows[i].file));
                }
            assert_true(found);
        }
        assert_int_equal(image->n, n);
        dg_image_free(image);
    }
}

static void codes_are_summed_up(void **state) {
    (void)state;
    struct dg_image *image = read_sample("linked.so");
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(200);
    add_codes(&b, image->v[0].codes, image->v[0].n_codes);
    assert_string_equal(b.ptr, "sm_80 sm_80/zstd");
    dg_image_free(image);
}

static void folders_are_walked(void **state) {
    (void)state;
    struct dg_image *image = read_sample("");
    size_t members = 0, stubs = 0;
    for (uint32_t i = 0; i < image->n; i++) {
        assert_true(image->v[i].n_modules || image->v[i].fault);
        members += image->v[i].n_modules > 0;
        stubs += !!strstr(image->v[i].path, "host.so");
    }
    assert_int_equal(members, 18);
    assert_int_equal(stubs, 0); /* files without GPU code are passed over in a folder */
    dg_image_free(image);
    struct dg_err e;
    assert_int_equal(dg_image_read(sample("absent"), &image, &e), -DG_E_IO);
    assert_int_equal(dg_image_read("/dev/null", &image, &e), -DG_E_IO);
}

/* ---- verdicts ---- */

static void samples_are_judged(void **state) {
    (void)state;
    static const struct {
        const char *file, *device, *verdict, *says;
        int cuda, min;
    } rows[] = {
        {"units.so", "8.0", "loads", "machine code for 8.0", 0, 0},
        {"units.so", "9.0", "loads", "machine code for 9.0", 11080, 0},
        {"units.so", "12.0", "loads-with-jit", "compiles its PTX", 13000, 13000},
        {"units.so", "12.0", "does-not-load", "a driver of CUDA 13.0 (580.65.06) or newer is needed, this one has 12.8",
         12080, 13000},
        {"units.so", "7.5", "does-not-load", "it has sm_80, PTX of sm_80, sm_90a; none of it runs on 7.5", 0, 0},
        {"size.fatbin", "9.0", "loads", "", 12040, 12040},
        {"size.fatbin", "9.0", "does-not-load", "CUDA 12.4 (550.54.14)", 12020, 12040},
        {"speed.fatbin", "9.0", "loads", "", 12000, 0},
        {"sm_90a.cubin", "9.0", "loads", "", 0, 0},
        {"sm_90a.cubin", "10.0", "does-not-load", "it has sm_90a; none of it runs on 10.0", 0, 0},
        {"sm_100f.cubin", "10.3", "loads", "", 0, 0},
        {"sm_100f.cubin", "12.0", "does-not-load", "", 0, 0},
        {"sm_120.cubin", "12.1", "loads", "", 0, 0},
        {"compute_120f.ptx", "12.1", "loads-with-jit", "", 0, 13000},
        {"compute_120f.ptx", "10.0", "does-not-load", "", 0, 0},
        {"rdc.o", "8.6", "loads", "", 0, 12040},
        {"linked.so", "8.0", "loads", "", 0, 0},
        {"linked.so", "9.0", "does-not-load", "", 0, 0},
        {"unlinked.so", "9.0", "does-not-load", "", 0, 0},
        {"unlinked.so", "8.0", "loads-with-jit", "", 0, 12040},
        {"host.so", "9.0", "no-gpu-code", "empty modules", 0, 0},
        {"build.sh", "9.0", "no-gpu-code", "no GPU code", 0, 0},
        {"units.so", "", "unknown", "no device is known", 0, 0},
        {"host.so", "", "no-gpu-code", "", 0, 0},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        struct dg_image *image = read_sample(rows[i].file);
        struct dg_cc device = {0};
        int min = -1;
        if (*rows[i].device) assert_true(dg_cc_parse(dg_cstr(rows[i].device), &device));
        _cleanup_(dg_buf_release) struct dg_buf reason = DG_BUF_INIT(1000);
        const char *verdict =
            dg_image_verdict_name(dg_image_judge(image->v, image->n, device, rows[i].cuda, &reason, &min));
        if (strcmp(verdict, rows[i].verdict) != 0 || min != rows[i].min ||
            !strstr(dg_buf_slice(&reason).ptr, rows[i].says))
            fail_msg("%s on %s: %s, %s (%d)", rows[i].file, rows[i].device, verdict, dg_buf_slice(&reason).ptr, min);
        dg_image_free(image);
    }
}

static enum dg_image_verdict judge_modules(const char *const *modules, size_t n, struct dg_cc device,
                                           struct dg_buf *reason) {
    struct dg_code codes[8];
    struct dg_image_module v[8] = {0};
    for (size_t i = 0; i < n; i++) {
        const char *text = modules[i];
        codes[i] = (struct dg_code){.kind = *text == 'p'   ? DG_CODE_PTX
                                            : *text == 'l' ? DG_CODE_LTO
                                                           : DG_CODE_CUBIN,
                                    .ptx = *text == 'p' ? 80 : 0};
        assert_true(dg_target_parse(dg_cstr(text + 1), &codes[i].target));
        v[i] = (struct dg_image_module){.codes = &codes[i], .n_codes = 1, .count = 1};
    }
    struct dg_image_member m = {.path = "x", .modules = v, .n_modules = (uint32_t)n};
    return dg_image_judge(&m, 1, device, 0, reason, NULL);
}

static void modules_are_judged_together(void **state) {
    (void)state;
    static const struct {
        const char *modules[4];
        enum dg_image_verdict verdict;
    } rows[] = {
        {{"c90", "c90a"}, DG_IMAGE_LOADS},         {{"c90", "p80"}, DG_IMAGE_LOADS_PARTLY_JIT},
        {{"p80", "p90"}, DG_IMAGE_LOADS_WITH_JIT}, {{"c90", "c100"}, DG_IMAGE_LOADS_IN_PART},
        {{"p80", "c100"}, DG_IMAGE_LOADS_IN_PART}, {{"c80", "c100"}, DG_IMAGE_DOES_NOT_LOAD},
        {{"l90"}, DG_IMAGE_DOES_NOT_LOAD},         {{NULL}, DG_IMAGE_NO_GPU_CODE},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        size_t n = 0;
        while (rows[i].modules[n]) n++;
        _cleanup_(dg_buf_release) struct dg_buf reason = DG_BUF_INIT(1000);
        assert_int_equal(judge_modules(rows[i].modules, n, (struct dg_cc){9, 0}, &reason), rows[i].verdict);
        assert_true(reason.len > 0);
    }
    static const char *const thor[] = {"c101"};
    assert_int_equal(judge_modules(thor, 1, (struct dg_cc){11, 0}, NULL), DG_IMAGE_UNKNOWN);
}

/* ---- what is damaged ---- */

static struct dg_buf bytes_of(const char *name) {
    struct dg_buf b = DG_BUF_INIT(1 << 20);
    struct dg_err e;
    assert_int_equal(dg_file_read(sample(name), &b, &e), 0);
    return b;
}

static struct dg_image *read_bytes(const void *ptr, size_t len) {
    struct dg_image *image = NULL;
    assert_int_equal(dg_image_read_bytes("bytes", dg_slice(ptr, len), &image, NULL), 0);
    return image;
}

static const char *const ALL[] = {"units.so",     "ptx.fatbin",    "speed.fatbin",     "size.fatbin",
                                  "sm_120.cubin", "sm_100f.cubin", "compute_120f.ptx", "rdc.o",
                                  "unlinked.so",  "nosections.so", "units.a",          "sample.whl"};

/* The sanitizers judge: no crash, whatever is missing or wrong. Copies have their exact size, so that one byte more is
 * seen. */
static void cut_files_are_survived(void **state) {
    (void)state;
    for (size_t i = 0; i < DG_COUNT(ALL); i++) {
        struct dg_buf b = bytes_of(ALL[i]);
        for (size_t len = 0; len < b.len; len += 1 + b.len / 400) {
            _cleanup_(dg_freep) char *copy = dg_malloc(len);
            memcpy(copy, b.ptr, len);
            struct dg_image *image = read_bytes(copy, len);
            dg_image_judge(image->v, image->n, (struct dg_cc){9, 0}, 0, NULL, NULL);
            dg_image_free(image);
        }
        dg_buf_release(&b);
    }
}

static void wrong_bytes_are_survived(void **state) {
    (void)state;
    static const unsigned char wrong[] = {0, 0xff, 0x80, 1};
    for (size_t i = 0; i < DG_COUNT(ALL); i++) {
        struct dg_buf b = bytes_of(ALL[i]);
        for (size_t at = 0; at < b.len; at += 1 + b.len / 300) {
            char kept[8];
            size_t n = at + 8 <= b.len ? 8 : b.len - at;
            memcpy(kept, b.ptr + at, n);
            memset(b.ptr + at, wrong[at % 4], n);
            struct dg_image *image = read_bytes(b.ptr, b.len);
            dg_image_free(image);
            memcpy(b.ptr + at, kept, n);
        }
        dg_buf_release(&b);
    }
}

static void damage_is_told(void **state) {
    (void)state;
    static const struct {
        const char *file;
        size_t keep; /* bytes; 0: all but the last 10 */
        const char *fault;
    } rows[] = {
        {"none.fatbin", 0, "damaged or cut"},
        {"units.a", 0, "cut"},
        {"sample.whl", 2000, "directory"},
        {"sm_120.cubin", 40, "cannot be read"},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        struct dg_buf b = bytes_of(rows[i].file);
        struct dg_image *image = read_bytes(b.ptr, rows[i].keep ? rows[i].keep : b.len - 10);
        const char *fault = NULL;
        for (uint32_t k = 0; k < image->n; k++)
            if (image->v[k].fault) fault = image->v[k].fault;
        if (!fault || !strstr(fault, rows[i].fault)) fail_msg("%s: %s", rows[i].file, fault ? fault : "no fault");
        dg_image_free(image);
        dg_buf_release(&b);
    }
    struct dg_buf b = bytes_of("none.fatbin");
    struct dg_image *image = read_bytes(b.ptr, 20);
    assert_int_equal(dg_image_judge(image->v, image->n, (struct dg_cc){9, 0}, 0, NULL, NULL), DG_IMAGE_UNKNOWN);
    dg_image_free(image);
    dg_buf_release(&b);
}

/* ---- made by hand: what no tool here writes ---- */

static void put16(unsigned char *p, unsigned v) {
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
}
static void put32(unsigned char *p, uint32_t v) {
    put16(p, v & 0xffff);
    put16(p + 2, v >> 16);
}

static void cubins_of_older_toolkits_are_read(void **state) {
    (void)state;
    static const struct {
        uint32_t flags;
        const char *want;
    } rows[] = {{0x005a055a, "1r[sm_90]"}, {0x005a0d5a, "1r[sm_90a]"}, {0x00500550, "1r[sm_80]"}};
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        unsigned char h[64] = "\177ELF\2\1\1\x33\7";
        put16(h + 16, 1); /* relocatable: without sections it has no kernels */
        put16(h + 18, 190);
        put32(h + 48, rows[i].flags);
        struct dg_image *image = read_bytes(h, sizeof(h));
        assert_string_equal(shown(&image->v[0]), rows[i].want);
        dg_image_free(image);
    }
}

/* A container of one entry of machine code that cannot be unpacked, and so counts as code. */
static size_t put_container(unsigned char *p, unsigned arch, unsigned kind, uint32_t flags) {
    memset(p, 0, 96);
    memcpy(p, "\x50\xed\x55\xba\1\0\20\0", 8);
    put32(p + 8, 80);
    put16(p + 16, kind);
    put32(p + 20, 64);
    put32(p + 24, 16);
    put16(p + 42, 8);
    put32(p + 44, arch);
    put32(p + 56, flags);
    return 96;
}

static void data_that_looks_like_code_is_passed_over(void **state) {
    (void)state;
    unsigned char b[1000] = "MZ";
    memcpy(b + 11, "\x50\xed\x55\xba", 4); /* the constant in somebody's code */
    size_t n = 101 + put_container(b + 101, 90, 2, 0x100000);
    memcpy(b + n, "\x50\xed\x55\xba\1\0\20\0\xff\xff\xff\xff", 12); /* longer than the file */
    n += 40;
    n += put_container(b + n, 120, 8, 0);
    struct dg_image *image = read_bytes(b, n);
    assert_string_equal(shown(&image->v[0]), "1x[sm_90a] 1x[sm_120.lto]");
    assert_null(image->v[0].fault);
    dg_image_free(image);
}

static void containers_across_blocks_are_found(void **state) {
    (void)state;
    size_t size = 200 << 10;
    _cleanup_(dg_freep) unsigned char *b = dg_calloc(1, size);
    memcpy(b, "MZ", 2);
    for (size_t at = (64 << 10) - 4; at < (64 << 10) + 2; at++) {
        memset(b + (64 << 10) - 8, 0, 200);
        put_container(b + at, 90, 2, 0);
        struct dg_image *image = read_bytes(b, size);
        assert_string_equal(shown(&image->v[0]), "1x[sm_90]");
        dg_image_free(image);
    }
}

#define AR_HEADER "%-48s%-10zu`\n"

static void archives_name_members_in_three_ways(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(4000);
    unsigned char code[96];
    put_container(code, 90, 2, 0);
    static const char names[] = "a_long_name_of_a_member.o/\n";
    dg_buf_adds(&b, "!<arch>\n");
    dg_buf_addf(&b, AR_HEADER, "//", sizeof(names) - 1);
    dg_buf_adds(&b, names);
    dg_buf_addc(&b, '\n');
    dg_buf_addf(&b, AR_HEADER, "/0", sizeof(code));
    dg_buf_add(&b, code, sizeof(code));
    dg_buf_addf(&b, AR_HEADER, "short.o/", sizeof(code));
    dg_buf_add(&b, code, sizeof(code));
    dg_buf_addf(&b, AR_HEADER, "#1/4", sizeof(code) + 4);
    dg_buf_adds(&b, "bsd\1");
    dg_buf_add(&b, code, sizeof(code));
    struct dg_image *image = read_bytes(b.ptr, b.len);
    assert_int_equal(image->n, 3);
    assert_string_equal(image->v[0].member, "a_long_name_of_a_member.o");
    assert_string_equal(image->v[1].member, "short.o");
    assert_string_equal(image->v[2].member, "bsd\1");
    for (int i = 0; i < 3; i++) assert_string_equal(shown(&image->v[i]), "1x[sm_90]");
    dg_image_free(image);
}

static void damaged_archives_are_told(void **state) {
    (void)state;
    static const struct {
        const char *text, *fault;
    } rows[] = {
        {"!<arch>\nx/                                              abc       `\n", "damaged at byte 8"},
        {"!<arch>\nx/                                              4         ??data", "damaged at byte 8"},
        {"!<arch>\nx/                                              400       `\ndata", "cut"},
        {"!<arch>\n", NULL},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        struct dg_image *image = read_bytes(rows[i].text, strlen(rows[i].text));
        assert_int_equal(image->n, 1);
        assert_true(rows[i].fault ? strstr(image->v[0].fault, rows[i].fault) != NULL : !image->v[0].fault);
        dg_image_free(image);
    }
}

/* A zip file of one stored member whose sizes and places are in 64-bit fields. */
static size_t put_zip64(unsigned char *b, size_t payload) {
    static const unsigned char member[] = "PK\3\4"; /* the rest is zero: no name, no extra */
    unsigned char *p = b;
    memset(b, 0, 1000);
    memcpy(p, member, 4);
    put_container(p + 30, 90, 2, 0);
    p += 30 + payload;
    unsigned char *central = p;
    memcpy(p, "PK\1\2", 4);
    put32(p + 20, 0xffffffff);
    put32(p + 24, 0xffffffff);
    put16(p + 28, 3);
    put16(p + 30, 4 + 4 + 24 + 4);
    put32(p + 42, 0xffffffff);
    memcpy(p + 46, "x.o", 3);
    put16(p + 49, 7); /* another field first */
    put16(p + 53, 1);
    put16(p + 55, 24);
    put32(p + 57, (uint32_t)payload); /* unpacked, packed, place */
    put32(p + 65, (uint32_t)payload);
    p += 46 + 3 + 36;
    unsigned char *end64 = p;
    memcpy(p, "PK\6\6", 4);
    put32(p + 32, 1);
    put32(p + 48, (uint32_t)(central - b));
    p += 56;
    memcpy(p, "PK\6\7", 4);
    put32(p + 8, (uint32_t)(end64 - b));
    p += 20;
    memcpy(p, "PK\5\6", 4);
    put16(p + 10, 0xffff);
    put32(p + 16, 0xffffffff);
    p += 22;
    return (size_t)(p - b);
}

static void large_zip_files_are_read(void **state) {
    (void)state;
    unsigned char b[1000];
    size_t n = put_zip64(b, 96);
    struct dg_image *image = read_bytes(b, n);
    assert_int_equal(image->n, 1);
    assert_string_equal(image->v[0].member, "x.o");
    assert_string_equal(shown(&image->v[0]), "1x[sm_90]");
    dg_image_free(image);
}

static void compressions_are_undone(void **state) {
    (void)state;
    static const struct {
        struct dg_slice packed;
        const char *text; /* NULL: refused */
        size_t size;
    } rows[] = {
        {DG_S_INIT("\x30"
                   "abc"),
         "abc", 3},
        {DG_S_INIT("\x13"
                   "a\1\0\x10"
                   "b"),
         "aaaaaaaab", 9}, /* overlapping match */
        {DG_S_INIT("\xf0\1"
                   "abcdefghijklmnop"),
         "abcdefghijklmnop", 16}, /* long literals */
        {DG_S_INIT("\x1f"
                   "a\1\0\2\x10"
                   "b"),
         "aaaaaaaaaaaaaaaaaaaaaab", 23}, /* long match */
        {DG_S_INIT("\x13"
                   "a\2\0"),
         NULL, 8}, /* before the start */
        {DG_S_INIT("\x13"
                   "a\0\0"),
         NULL, 8}, /* no distance */
        {DG_S_INIT("\x13"
                   "a\1"),
         NULL, 8}, /* cut */
        {DG_S_INIT("\xf0\xff"), NULL, 300},
        {DG_S_INIT("\x1f"
                   "a\1\0"),
         NULL, 300},
        {DG_S_INIT("\x40"
                   "abc"),
         NULL, 4},
        {DG_S_INIT("\x30"
                   "abc"),
         NULL, 2},
        {DG_S_INIT("\x30"
                   "abc"),
         NULL, 4},
        {DG_S_INIT("\x1f"
                   "a\1\0\2\x10"
                   "b"),
         NULL, 10},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        _cleanup_(dg_freep) unsigned char *out = dg_malloc(rows[i].size);
        assert_int_equal(dg_unpack(DG_COMPRESSION_LZ4, rows[i].packed, out, rows[i].size), rows[i].text != NULL);
        if (rows[i].text) assert_memory_equal(out, rows[i].text, rows[i].size);
    }
    unsigned char three[3];
    assert_true(dg_unpack(DG_COMPRESSION_NONE, DG_S("abc"), three, 3));
    assert_memory_equal(three, "abc", 3);
    assert_false(dg_unpack(DG_COMPRESSION_NONE, DG_S("abcd"), three, 3));
    assert_false(dg_unpack(DG_COMPRESSION_ZSTD, DG_S("abcd"), three, 3));
}

static void texts_that_are_no_ptx_are_passed_over(void **state) {
    (void)state;
    static const char *const none[] = {"// a C++ file\nint main() {}\n", ".version 8.0\n.target gfx90a\n",
                                       ".target sm_90\n.versio", "//"};
    for (size_t i = 0; i < DG_COUNT(none); i++) {
        struct dg_image *image = read_bytes(none[i], strlen(none[i]));
        assert_int_equal(image->v[0].n_modules, 0);
        dg_image_free(image);
    }
    struct dg_image *image = read_bytes(DG_S("//\n// Generated\n.version 8.7\n.target sm_90a, debug\n").ptr, 49);
    assert_string_equal(shown(&image->v[0]), "1x[sm_90a.ptx8.7]");
    dg_image_free(image);
}

static int read_once(void *arg) {
    struct dg_image *image = NULL;
    struct dg_err e = {0};
    int r = dg_image_read(arg, &image, &e);
    assert_true((image != NULL) == !r);
    if (r) assert_int_equal(e.code, DG_E_NOMEM);
    dg_image_free(image);
    return r;
}

static void survives_each_failing_allocation(void **state) {
    (void)state;
    static const char *const files[] = {"sample.whl", "units.a", "units.so", "compute_120f.ptx", "sm_120.cubin"};
    for (size_t i = 0; i < DG_COUNT(files); i++)
        assert_true(unit_fail_each(read_once, (void *)(uintptr_t)sample(files[i])) > 5);
    assert_true(unit_fail_each(read_once, (void *)(uintptr_t)sample("")) > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_hold_what_was_asked_for),
        cmocka_unit_test(archives_have_members),
        cmocka_unit_test(codes_are_summed_up),
        cmocka_unit_test(folders_are_walked),
        cmocka_unit_test(samples_are_judged),
        cmocka_unit_test(modules_are_judged_together),
        cmocka_unit_test(cut_files_are_survived),
        cmocka_unit_test(wrong_bytes_are_survived),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(cubins_of_older_toolkits_are_read),
        cmocka_unit_test(data_that_looks_like_code_is_passed_over),
        cmocka_unit_test(containers_across_blocks_are_found),
        cmocka_unit_test(archives_name_members_in_three_ways),
        cmocka_unit_test(damaged_archives_are_told),
        cmocka_unit_test(large_zip_files_are_read),
        cmocka_unit_test(compressions_are_undone),
        cmocka_unit_test(texts_that_are_no_ptx_are_passed_over),
        cmocka_unit_test(survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
