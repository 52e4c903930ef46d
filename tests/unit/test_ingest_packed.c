#include "ingest_fixture.h"
#include <archive.h>
#include <archive_entry.h>
#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

enum { MIB = 1 << 20, SIZE = 3 * MIB };

/* Text that compresses badly enough for a cut stream to hold some of it. */
static struct dg_buf log_text(size_t size) {
    struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    for (unsigned i = 0, seed = 1; b.len < size; i++) {
        seed = seed * 1103515245 + 12345;
        dg_buf_addf(
            &b,
            "[2026-03-07 10:%02u:%02u TP%u] Decode batch. #running-req: %u, token usage: 0.%u, gen throughput: %u.%u\n",
            i / 60 % 60, i % 60, seed >> 29, seed >> 8 & 0xffff, seed >> 4 & 0xfff, seed >> 10 & 0xfff, seed >> 3 & 7);
    }
    return b;
}

/* --- packers, by the libraries --- */

static struct dg_buf gzip(struct dg_slice s) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t size = deflateBound(&z, s.len);
    struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    char *out = malloc(size);
    z.next_in = (Bytef *)(uintptr_t)s.ptr;
    z.avail_in = (uInt)s.len;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)size;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    dg_buf_add(&b, out, z.total_out);
    deflateEnd(&z);
    free(out);
    return b;
}

static struct dg_buf bzip2(struct dg_slice s) {
    unsigned size = (unsigned)(s.len + s.len / 50 + 1000);
    char *out = malloc(size);
    struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    assert_int_equal(BZ2_bzBuffToBuffCompress(out, &size, (char *)(uintptr_t)s.ptr, (unsigned)s.len, 1, 0, 0), BZ_OK);
    dg_buf_add(&b, out, size);
    free(out);
    return b;
}

static struct dg_buf xz(struct dg_slice s) {
    size_t size = lzma_stream_buffer_bound(s.len), n = 0;
    uint8_t *out = malloc(size);
    struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)s.ptr, s.len, out, &n, size),
                     LZMA_OK);
    dg_buf_add(&b, out, n);
    free(out);
    return b;
}

/* `window`: log2 that the frame states, without its size. */
static struct dg_buf zstd_window(struct dg_slice s, int window) {
    size_t size = ZSTD_compressBound(s.len) + 1024;
    char *out = malloc(size);
    struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window);
    ZSTD_inBuffer in = {s.ptr, s.len, 0};
    ZSTD_outBuffer o = {out, size, 0};
    ZSTD_compressStream2(c, &o, &in, ZSTD_e_flush);
    assert_int_equal(ZSTD_compressStream2(c, &o, &in, ZSTD_e_end), 0);
    dg_buf_add(&b, out, o.pos);
    ZSTD_freeCCtx(c);
    free(out);
    return b;
}

static struct dg_buf zstd(struct dg_slice s) { return zstd_window(s, 17); }

static const struct {
    const char *name;
    struct dg_buf (*pack)(struct dg_slice);
    double least; /* of the text in front of the cut that must be had */
} formats[] = {{"gzip", gzip, 0.95}, {"bzip2", bzip2, 0.8}, {"xz", xz, 0.9}, {"zstd", zstd, 0.9}};

static bool starts_with(const struct got *g, struct dg_slice text) {
    return !g->text.len || (g->text.len <= text.len && !memcmp(g->text.ptr, text.ptr, g->text.len));
}

static void assert_whole(const struct got *g, struct dg_slice text, struct dg_ingest *in) {
    assert_int_equal(g->text.len, text.len);
    assert_memory_equal(g->text.ptr, text.ptr, text.len);
    assert_false(source_at(in, 0)->truncated);
    assert_null(source_at(in, 0)->error);
    assert_int_equal(source_at(in, 0)->bytes, text.len);
    assert_int_equal(source_at(in, 0)->kind, DG_KIND_SERVER);
    for (size_t i = 0; i < g->lines.n; i++) assert_int_equal(g->lines.v[i], i + 1);
}

static void reads_each_format(void **state) {
    (void)state;
    struct dg_buf text = log_text(SIZE);
    for (size_t i = 0; i < DG_COUNT(formats); i++) {
        struct dg_buf packed = formats[i].pack(dg_buf_slice(&text));
        struct dg_ingest *in;
        struct got g = read_bytes(dg_buf_slice(&packed), &in);
        assert_whole(&g, dg_buf_slice(&text), in);
        got_release(&g);
        dg_ingest_free(in);
        dg_buf_release(&packed);
    }
    dg_buf_release(&text);
}

static void reads_a_cut_stream_as_far_as_it_goes(void **state) {
    (void)state;
    struct dg_buf text = log_text(SIZE);
    for (size_t i = 0; i < DG_COUNT(formats); i++) {
        struct dg_buf packed = formats[i].pack(dg_buf_slice(&text));
        for (int percent = 50; percent <= 90; percent += 40) {
            struct dg_ingest *in;
            struct got g = read_bytes(dg_slice_upto(dg_buf_slice(&packed), packed.len * (size_t)percent / 100), &in);
            print_message("    %s cut at %d %%: %zu of %zu\n", formats[i].name, percent, g.text.len, text.len);
            assert_true(starts_with(&g, dg_buf_slice(&text)));
            assert_true((double)g.text.len > formats[i].least * percent / 100 * (double)text.len * 0.9);
            assert_true(source_at(in, 0)->truncated);
            assert_null(source_at(in, 0)->error);
            got_release(&g);
            dg_ingest_free(in);
        }
        dg_buf_release(&packed);
    }
    dg_buf_release(&text);
}

/* A cut at every place near the front and the end: never more than the text, never an error that is none. */
static void any_cut_is_a_cut(void **state) {
    (void)state;
    struct dg_buf text = log_text(3000);
    for (size_t i = 0; i < DG_COUNT(formats); i++) {
        struct dg_buf packed = formats[i].pack(dg_buf_slice(&text));
        for (size_t n = 20; n < packed.len; n += n < 100 || n > packed.len - 40 ? 1 : 37) {
            struct dg_ingest *in;
            struct got g = read_text(dg_slice_upto(dg_buf_slice(&packed), n), DG_KIND_UNKNOWN, &in);
            assert_true(starts_with(&g, dg_buf_slice(&text)));
            assert_true(source_at(in, 0)->truncated);
            assert_null(source_at(in, 0)->error);
            got_release(&g);
            dg_ingest_free(in);
        }
        dg_buf_release(&packed);
    }
    dg_buf_release(&text);
}

static void reads_members_one_after_the_other(void **state) {
    (void)state;
    struct dg_buf text = log_text(200000);
    for (size_t i = 0; i < DG_COUNT(formats); i++) {
        _cleanup_(dg_buf_release) struct dg_buf all = DG_BUF_INIT(SIZE_MAX / 4);
        size_t half = text.len / 2;
        struct dg_buf a = formats[i].pack(dg_slice_upto(dg_buf_slice(&text), half)),
                      b = formats[i].pack(dg_slice_from(dg_buf_slice(&text), half));
        dg_buf_add_slice(&all, dg_buf_slice(&a));
        if (formats[i].pack == xz) dg_buf_add(&all, "\0\0\0\0\0\0\0\0", 8);                 /* padding of streams */
        if (formats[i].pack == zstd) dg_buf_add(&all, "\x50\x2a\x4d\x18\x03\0\0\0abc", 11); /* a frame to skip */
        dg_buf_add_slice(&all, dg_buf_slice(&b));
        dg_buf_adds(&all, "what is no member");
        struct dg_ingest *in;
        struct got g = read_bytes(dg_buf_slice(&all), &in);
        assert_whole(&g, dg_buf_slice(&text), in);
        got_release(&g);
        dg_ingest_free(in);
        dg_buf_release(&a);
        dg_buf_release(&b);
    }
    dg_buf_release(&text);
}

static void damage_is_told_after_what_was_whole(void **state) {
    (void)state;
    struct dg_buf text = log_text(SIZE);
    for (size_t i = 0; i < DG_COUNT(formats); i++) {
        struct dg_buf packed = formats[i].pack(dg_buf_slice(&text));
        memset(packed.ptr + packed.len * 3 / 4, 0xa5, 64);
        struct dg_ingest *in;
        struct got g = read_bytes(dg_buf_slice(&packed), &in);
        char want[64];
        snprintf(want, sizeof(want), "the %s data is damaged after ", formats[i].name);
        print_message("    %s\n", source_at(in, 0)->error);
        assert_non_null(strstr(source_at(in, 0)->error, want));
        assert_ptr_equal(strstr(source_at(in, 0)->error, "'ingest-"), source_at(in, 0)->error); /* it names the file */
        assert_true(g.text.len > text.len / 2);
        assert_memory_equal(g.text.ptr, text.ptr, text.len / 2);
        got_release(&g);
        dg_ingest_free(in);
        dg_buf_release(&packed);
    }
    dg_buf_release(&text);
}

static void refuses_large_windows(void **state) {
    (void)state;
    struct dg_ingest *in;
    struct dg_buf fits = zstd_window(DG_S("[2026-03-07 10:00:00] x\n"), 27),
                  large = zstd_window(DG_S("[2026-03-07 10:00:00] x\n"), 28);
    struct got g = read_bytes(dg_buf_slice(&fits), &in);
    assert_whole(&g, DG_S("[2026-03-07 10:00:00] x\n"), in);
    got_release(&g);
    dg_ingest_free(in);
    g = read_bytes(dg_buf_slice(&large), &in);
    assert_int_equal(g.text.len, 0);
    assert_non_null(
        strstr(source_at(in, 0)->error, "needs a window above 128 MiB to unpack: unpack it first (zstd -d --long=31)"));
    got_release(&g);
    dg_ingest_free(in);
    dg_buf_release(&fits);
    dg_buf_release(&large);
}

/* The window of an xz block stands in the properties of its filter: 30 is 128 MiB, 31 is 192 MiB. */
static void refuses_large_dictionaries(void **state) {
    (void)state;
    for (int properties = 30; properties <= 31; properties++) {
        struct dg_buf packed = xz(DG_S("[2026-03-07 10:00:00] x\n"));
        uint8_t *block = (uint8_t *)packed.ptr + 12;
        size_t size = (size_t)(block[0] + 1) * 4;
        uint8_t *filter = block + 2;
        while (filter[0] != 0x21 || filter[1] != 1) filter++; /* LZMA2, one byte of properties; sizes may be in front */
        filter[2] = (uint8_t)properties;
        uint32_t crc = lzma_crc32(block, size - 4, 0);
        for (int i = 0; i < 4; i++) block[size - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
        struct dg_ingest *in;
        struct got g = read_bytes(dg_buf_slice(&packed), &in);
        if (properties == 30)
            assert_whole(&g, DG_S("[2026-03-07 10:00:00] x\n"), in);
        else
            assert_non_null(strstr(source_at(in, 0)->error, "needs a window above 128 MiB"));
        got_release(&g);
        dg_ingest_free(in);
        dg_buf_release(&packed);
    }
}

/* 1.2 GB of one byte in a few KB. */
static void stops_a_bomb(void **state) {
    (void)state;
    _cleanup_(dg_buf_release) struct dg_buf bomb = DG_BUF_INIT(SIZE_MAX / 4);
    char *zeros = calloc(1, 8 * MIB);
    struct dg_buf one = zstd(dg_slice(zeros, 8 * MIB));
    for (int i = 0; i < 150; i++) dg_buf_add_slice(&bomb, dg_buf_slice(&one));
    free(zeros);
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    dg_ingest_add(in, file_with(0, dg_buf_slice(&bomb)), DG_KIND_UNKNOWN);
    struct dg_block *b;
    while (dg_ingest_next(in, &b, NULL) == 1) dg_ingest_release(in, b);
    assert_non_null(strstr(source_at(in, 0)->error, "expands more than 1000-fold"));
    assert_true(source_at(in, 0)->bytes < (uint64_t)1100 * MIB);
    dg_ingest_free(in);
    dg_buf_release(&one);
}

static void names_packed_files_that_it_does_not_read(void **state) {
    (void)state;
    static const struct dg_slice heads[] = {{"7z\xbc\xaf\x27\x1c\0\4", 8},
                                            {"Rar!\x1a\x07\x01\0", 8},
                                            {"\x04\x22\x4d\x18\x64\x40", 6},
                                            {"\x1f\x9d\x90\0", 4}};
    for (size_t i = 0; i < DG_COUNT(heads); i++) {
        struct dg_ingest *in;
        struct got g = read_bytes(heads[i], &in);
        assert_int_equal(g.blocks, 0);
        assert_non_null(strstr(source_at(in, 0)->error, "which is not read: unpack it first"));
        got_release(&g);
        dg_ingest_free(in);
    }
}

/* --- bundles --- */

struct member {
    const char *path;
    struct dg_slice text;
};

/* `format`: of archive_write_set_format_by_name(). */
static struct dg_buf bundle(const char *format, const struct member *v, size_t n) {
    size_t size = 64 * 1024, used = 0;
    for (size_t i = 0; i < n; i++) size += v[i].text.len + 4096;
    char *out = malloc(size);
    struct archive *a = archive_write_new();
    assert_int_equal(archive_write_set_format_by_name(a, format), ARCHIVE_OK);
    assert_int_equal(archive_write_open_memory(a, out, size, &used), ARCHIVE_OK);
    for (size_t i = 0; i < n; i++) {
        struct archive_entry *e = archive_entry_new();
        archive_entry_set_pathname(e, v[i].path);
        bool folder = v[i].path[strlen(v[i].path) - 1] == '/';
        archive_entry_set_filetype(e, folder ? AE_IFDIR : AE_IFREG);
        archive_entry_set_perm(e, 0644);
        archive_entry_set_size(e, (la_int64_t)v[i].text.len);
        assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
        assert_int_equal(archive_write_data(a, v[i].text.ptr, v[i].text.len), (la_ssize_t)v[i].text.len);
        archive_entry_free(e);
    }
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
    struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    dg_buf_add(&b, out, used);
    free(out);
    return b;
}

static const char *const bundle_formats[] = {"ustar", "pax", "gnutar", "v7tar", "zip"};

/* One source for each text, whatever it is wrapped in; folders, empty files and binaries are none. */
static void check_bundle(struct dg_slice packed, const char *what) {
    print_message("    %s\n", what);
    for (uint32_t wanted = 0; wanted < 2; wanted++) {
        struct dg_ingest *in = dg_ingest_new(&plain_opts);
        const char *name = file_with(0, packed);
        char member[128];
        dg_ingest_add(in, name, DG_KIND_UNKNOWN);
        struct got g = read_source(in, wanted);
        assert_int_equal(n_sources(in), 2);
        snprintf(member, sizeof(member), "%s:%s", name, wanted ? "logs/server.log" : "dmesg.txt");
        assert_string_equal(source_at(in, wanted)->name, member);
        assert_int_equal(source_at(in, wanted)->kind, wanted ? DG_KIND_SERVER : DG_KIND_KERNEL);
        assert_null(source_at(in, wanted)->error);
        assert_false(source_at(in, wanted)->truncated);
        assert_slice(dg_slice_upto(dg_buf_slice(&g.text), 23),
                     wanted ? "[2026-03-07 10:00:00 TP" : "[    1.000000] NVRM: Xi");
        got_release(&g);
        dg_ingest_free(in);
    }
}

static void reads_bundles(void **state) {
    (void)state;
    struct dg_buf log = log_text(2 * MIB);
    const struct member members[] = {{"logs/", DG_S("")},
                                     {"dmesg.txt", DG_S("[    1.000000] NVRM: Xid (PCI:0000:41:00): 79\n")},
                                     {"logs/empty.log", DG_S("")},
                                     {"logs/core.bin", DG_S("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0\1\0\0\0")},
                                     {"logs/server.log", dg_buf_slice(&log)}};
    for (size_t i = 0; i < DG_COUNT(bundle_formats); i++) {
        struct dg_buf b = bundle(bundle_formats[i], members, DG_COUNT(members));
        check_bundle(dg_buf_slice(&b), bundle_formats[i]);
        for (size_t k = 0; k < DG_COUNT(formats); k++) {
            struct dg_buf packed = formats[k].pack(dg_buf_slice(&b));
            check_bundle(dg_buf_slice(&packed), formats[k].name);
            dg_buf_release(&packed);
        }
        dg_buf_release(&b);
    }
    dg_buf_release(&log);
}

/* A packed log within a bundle is a text; a bundle within a bundle has its members named through both. */
static void reads_what_is_nested(void **state) {
    (void)state;
    struct dg_buf log = log_text(100000), gz = gzip(dg_buf_slice(&log));
    const struct member inner[] = {{"deep.log", DG_S("[2026-03-07 10:00:00 TP0] deep\n")}};
    struct dg_buf zip = bundle("zip", inner, 1);
    const struct member outer[] = {
        {"a.log.gz", dg_buf_slice(&gz)}, {"in.zip", dg_buf_slice(&zip)}, {"z.txt", DG_S("last\n")}};
    struct dg_buf tar = bundle("ustar", outer, DG_COUNT(outer)), all = xz(dg_buf_slice(&tar));
    struct dg_ingest *in;
    struct got g = read_bytes(dg_buf_slice(&all), &in);
    assert_int_equal(n_sources(in), 3);
    assert_int_equal(g.text.len, log.len);
    assert_memory_equal(g.text.ptr, log.ptr, log.len);
    assert_non_null(strstr(source_at(in, 0)->name, ":a.log.gz"));
    assert_non_null(strstr(source_at(in, 1)->name, ":in.zip:deep.log"));
    assert_non_null(strstr(source_at(in, 2)->name, ":z.txt"));
    got_release(&g);
    dg_ingest_free(in);
    struct dg_buf *const bufs[] = {&log, &gz, &zip, &tar, &all};
    for (size_t i = 0; i < DG_COUNT(bufs); i++) dg_buf_release(bufs[i]);
}

static void nesting_has_an_end(void **state) {
    (void)state;
    struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    dg_buf_adds(&b, "core\n");
    for (int i = 0; i < 6; i++) {
        struct dg_buf more = gzip(dg_buf_slice(&b));
        dg_buf_release(&b);
        b = more;
    }
    struct dg_ingest *in;
    struct got g = read_bytes(dg_buf_slice(&b), &in);
    assert_int_equal(g.blocks, 0);
    assert_non_null(strstr(source_at(in, 0)->error, "packed more than 5 times over"));
    got_release(&g);
    dg_ingest_free(in);
    dg_buf_release(&b);
}

static void a_cut_bundle_gives_what_it_has(void **state) {
    (void)state;
    struct dg_buf log = log_text(MIB);
    const struct member members[] = {
        {"a.log", DG_S("[2026-03-07 10:00:00 TP0] a\n")}, {"b.log", dg_buf_slice(&log)}, {"c.log", DG_S("never\n")}};
    static const char *const kinds[] = {"ustar", "zip"};
    for (size_t i = 0; i < DG_COUNT(kinds); i++) {
        struct dg_buf b = bundle(kinds[i], members, DG_COUNT(members)), gz = gzip(dg_buf_slice(&b));
        struct dg_buf *const cuts[] = {&b, &gz};
        for (size_t k = 0; k < DG_COUNT(cuts); k++) {
            struct dg_ingest *in = dg_ingest_new(&plain_opts);
            dg_ingest_add(in, file_with(0, dg_slice_upto(dg_buf_slice(cuts[k]), cuts[k]->len / 2)), DG_KIND_UNKNOWN);
            struct got g = read_source(in, 1);
            assert_int_equal(n_sources(in), 2);
            assert_false(source_at(in, 0)->truncated);
            assert_true(source_at(in, 1)->truncated);
            assert_true(g.text.len > log.len / 3 && g.text.len < log.len);
            assert_memory_equal(g.text.ptr, log.ptr, g.text.len);
            got_release(&g);
            dg_ingest_free(in);
        }
        dg_buf_release(&b);
        dg_buf_release(&gz);
    }
    dg_buf_release(&log);
}

static void a_damaged_bundle_says_so(void **state) {
    (void)state;
    const struct member members[] = {{"a.log", DG_S("[2026-03-07 10:00:00 TP0] a\n")}, {"b.log", DG_S("b\n")}};
    struct dg_buf b = bundle("ustar", members, DG_COUNT(members));
    memset(b.ptr + 1024, 'x', 200); /* the second header */
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    dg_ingest_add(in, file_with(0, dg_buf_slice(&b)), DG_KIND_UNKNOWN);
    dg_ingest_add_text(in, "t", DG_KIND_UNKNOWN, DG_S("after\n"));
    struct got g = read_source(in, 2);
    assert_int_equal(n_sources(in), 3);
    assert_null(source_at(in, 0)->error);
    assert_non_null(strstr(source_at(in, 1)->error, "damaged bundle: "));
    assert_slice(dg_buf_slice(&g.text), "after\n");
    got_release(&g);
    dg_ingest_free(in);
    dg_buf_release(&b);
}

static void counts_entries(void **state) {
    (void)state;
    enum { MANY = 4100 };
    struct member *members = calloc(MANY, sizeof(*members));
    char(*paths)[16] = calloc(MANY, sizeof(*paths));
    for (int i = 0; i < MANY; i++) {
        snprintf(paths[i], sizeof(paths[i]), "%d.log", i);
        members[i] = (struct member){paths[i], DG_S("x\n")};
    }
    struct dg_buf b = bundle("ustar", members, MANY);
    struct dg_ingest *in;
    struct got g = read_bytes(dg_buf_slice(&b), &in);
    assert_int_equal(n_sources(in), 4097);
    assert_null(source_at(in, 4095)->error);
    assert_non_null(strstr(source_at(in, 4096)->error, "holds more than 4096 entries: the rest was not read"));
    got_release(&g);
    dg_ingest_free(in);
    dg_buf_release(&b);
    free(members);
    free(paths);
}

static void a_bundle_without_text_says_so(void **state) {
    (void)state;
    const struct member members[] = {{"a/", DG_S("")}, {"a/x.bin", DG_S("\0\0\0\0\0\0\0\0\0\0\1\2\3")}};
    struct dg_buf b = bundle("zip", members, DG_COUNT(members));
    struct dg_ingest *in;
    struct got g = read_bytes(dg_buf_slice(&b), &in);
    assert_int_equal(n_sources(in), 1);
    assert_non_null(strstr(source_at(in, 0)->error, "no text in this bundle"));
    got_release(&g);
    dg_ingest_free(in);
    dg_buf_release(&b);
}

/* A tar of one sparse file: what is between the pieces is zero bytes. */
static struct dg_buf sparse_bundle(la_int64_t size, struct dg_slice begin, struct dg_slice end) {
    char *out = malloc(MIB);
    size_t used = 0;
    struct archive *a = archive_write_new();
    archive_write_set_format_pax(a);
    archive_write_open_memory(a, out, MIB, &used);
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, "sparse.log");
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_size(e, size);
    archive_entry_sparse_add_entry(e, 0, (la_int64_t)begin.len);
    archive_entry_sparse_add_entry(e, size - (la_int64_t)end.len, (la_int64_t)end.len);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    char *zeros = calloc(1, MIB);
    archive_write_data(a, begin.ptr, begin.len);
    for (la_int64_t left = size - (la_int64_t)(begin.len + end.len), n; left > 0;
         left -= n) { /* the writer drops what is in holes */
        n = left < MIB ? left : MIB;
        assert_int_equal(archive_write_data(a, zeros, (size_t)n), n);
    }
    archive_write_data(a, end.ptr, end.len);
    free(zeros);
    archive_entry_free(e);
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
    struct dg_buf b = DG_BUF_INIT(SIZE_MAX / 4);
    dg_buf_add(&b, out, used);
    free(out);
    return b;
}

static void fills_holes_with_zeros(void **state) {
    (void)state;
    struct dg_buf log = log_text(5000), b = sparse_bundle(300000, dg_buf_slice(&log), DG_S("the end\n"));
    struct dg_ingest *in;
    struct got g = read_bytes(dg_buf_slice(&b), &in);
    assert_int_equal(g.text.len, 300000);
    assert_memory_equal(g.text.ptr, log.ptr, log.len);
    for (size_t i = log.len; i < 300000 - 8; i++) assert_int_equal(g.text.ptr[i], 0);
    assert_slice(dg_slice_from(dg_buf_slice(&g.text), 300000 - 8), "the end\n");
    got_release(&g);
    dg_ingest_free(in);
    dg_buf_release(&b);
    dg_buf_release(&log);
}

/* Three gigabytes of nothing in a tar of some KB. */
static void stops_a_bomb_in_a_bundle(void **state) {
    (void)state;
    struct dg_buf log = log_text(5000), b = sparse_bundle((la_int64_t)3 << 30, dg_buf_slice(&log), DG_S("the end\n"));
    struct dg_ingest *in = dg_ingest_new(&plain_opts);
    dg_ingest_add(in, file_with(0, dg_buf_slice(&b)), DG_KIND_UNKNOWN);
    struct dg_block *k;
    while (dg_ingest_next(in, &k, NULL) == 1) dg_ingest_release(in, k);
    assert_int_equal(n_sources(in), 1);
    assert_non_null(strstr(source_at(in, 0)->error, "the bundle expands more than 1000-fold: the rest was not read"));
    assert_true(source_at(in, 0)->bytes < (uint64_t)1100 * MIB);
    dg_ingest_free(in);
    dg_buf_release(&b);
    dg_buf_release(&log);
}

/* Damage inside a member, and damage in what the bundle is packed in. */
static void damage_in_a_member_is_told(void **state) {
    (void)state;
    struct dg_buf log = log_text(MIB);
    const struct member members[] = {{"a.log", DG_S("[2026-03-07 10:00:00 TP0] a\n")}, {"b.log", dg_buf_slice(&log)}};
    struct dg_buf zip = bundle("zip", members, 2), tar = bundle("ustar", members, 2), gz = gzip(dg_buf_slice(&tar));
    memset(zip.ptr + zip.len / 2, 0xa5, 64);
    memset(gz.ptr + gz.len / 2, 0xa5, 64);
    struct dg_buf *const bufs[] = {&zip, &gz};
    for (size_t i = 0; i < DG_COUNT(bufs); i++) {
        struct dg_ingest *in = dg_ingest_new(&plain_opts);
        dg_ingest_add(in, file_with(0, dg_buf_slice(bufs[i])), DG_KIND_UNKNOWN);
        struct got g = read_source(in, 1);
        assert_null(source_at(in, 0)->error);
        const char *error = source_at(in, n_sources(in) - 1)->error; /* the bundle's own when only the checksum tells */
        assert_non_null(error);
        assert_non_null(strstr(error, i ? "the gzip data is damaged after" : "damaged member: "));
        assert_false(source_at(in, 1)->truncated);
        assert_true(g.text.len > log.len / 3);
        assert_memory_equal(g.text.ptr, log.ptr, log.len / 3);
        got_release(&g);
        dg_ingest_free(in);
    }
    dg_buf_release(&log);
    dg_buf_release(&zip);
    dg_buf_release(&tar);
    dg_buf_release(&gz);
}

/* --- out of memory --- */

static void survives_lack_of_memory(void **state) {
    (void)state;
    struct dg_buf log = log_text(5000), gz = gzip(dg_buf_slice(&log));
    const struct member members[] = {
        {"a.log.gz", dg_buf_slice(&gz)},
        {"cri.log", DG_S("2026-03-07T11:00:00Z stdout P one \n2026-03-07T11:00:00Z stdout F two\n")},
        {"json.log", DG_S("{\"log\":\"x\\n\",\"stream\":\"stdout\",\"time\":\"2026-03-07T11:00:00Z\"}\n")},
        {"utf16.log", DG_S("\xff\xfex\0\n")}};
    struct dg_buf tar = bundle("ustar", members, DG_COUNT(members)), all = zstd(dg_buf_slice(&tar));
    char name[64];
    snprintf(name, sizeof(name), "%s", file_with(0, dg_buf_slice(&all)));
    assert_true(unit_fail_each(read_all, name) > 20);
    struct dg_buf *const bufs[] = {&log, &gz, &tar, &all};
    for (size_t i = 0; i < DG_COUNT(bufs); i++) dg_buf_release(bufs[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_format),
        cmocka_unit_test(reads_a_cut_stream_as_far_as_it_goes),
        cmocka_unit_test(any_cut_is_a_cut),
        cmocka_unit_test(reads_members_one_after_the_other),
        cmocka_unit_test(damage_is_told_after_what_was_whole),
        cmocka_unit_test(refuses_large_windows),
        cmocka_unit_test(refuses_large_dictionaries),
        cmocka_unit_test(stops_a_bomb),
        cmocka_unit_test(names_packed_files_that_it_does_not_read),
        cmocka_unit_test(reads_bundles),
        cmocka_unit_test(reads_what_is_nested),
        cmocka_unit_test(nesting_has_an_end),
        cmocka_unit_test(a_cut_bundle_gives_what_it_has),
        cmocka_unit_test(a_damaged_bundle_says_so),
        cmocka_unit_test(counts_entries),
        cmocka_unit_test(a_bundle_without_text_says_so),
        cmocka_unit_test(fills_holes_with_zeros),
        cmocka_unit_test(stops_a_bomb_in_a_bundle),
        cmocka_unit_test(damage_in_a_member_is_told),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
