/* A list of rules in YAML, a NUL, and a log: the fast and the plain way must find the same. */
#include "fuzz.h"
#include "base/buf.h"
#include "ingest/ingest.h"
#include "match/ruletest.h"
#include "pack/pack.h"
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void say_place(struct dg_buf *out, const struct dg_place *p) {
    dg_buf_addf(out, "%llu/%d/%ld/", (unsigned long long)p->line, p->rank, p->pid);
    dg_buf_add_slice(out, p->text);
    dg_buf_addc(out, '\n');
}

static void say(struct dg_buf *out, const struct dg_scan *s) {
    for (uint32_t i = 0; i < s->n_findings; i++) {
        const struct dg_finding *f = &s->findings[i];
        dg_buf_addf(out, "%s %llu %u %u %llu-%llu ", f->rule->id.ptr, (unsigned long long)f->count, f->launch, f->epoch,
                    (unsigned long long)f->record_line, (unsigned long long)f->record_end);
        say_place(out, &f->first);
        say_place(out, &f->last);
        for (uint32_t k = 0; k < f->n_captures; k++) dg_buf_add_slice(out, f->captures[k].text);
    }
    for (uint32_t i = 0; i < s->n_fatals; i++) say_place(out, &s->fatals[i].place);
    for (uint32_t i = 0; i < s->n_launches; i++)
        dg_buf_addf(out, "launch %llu-%llu %u\n", (unsigned long long)s->launches[i].first_line,
                    (unsigned long long)s->launches[i].last_line, s->launches[i].epochs);
    for (uint32_t i = 0; s->n_sources && i < s->tails[0].n; i++) say_place(out, &s->tails[0].v[i]);
}

static void scan(const struct dg_matcher *m, struct dg_slice log, enum dg_kind kind, bool plain, struct dg_buf *out) {
    struct dg_arena *arena = dg_arena_new(0);
    struct dg_scan *s;
    if (!arena || dg_match_text(m, log, kind, plain, dg_prefix_parse, arena, &s, NULL)) abort();
    say(out, s);
    dg_arena_free(arena);
}

static struct dg_pack *load(struct dg_slice yaml) {
    char path[64];
    int fd = memfd_create("pack", MFD_CLOEXEC);
    static const char HEAD[] = "pack: p\nrules:\n";
    struct dg_pack_place place = {.path = path, .required = true};
    struct dg_pack *p = NULL;
    if (fd < 0 || write(fd, HEAD, sizeof(HEAD) - 1) < 0 || write(fd, yaml.ptr, yaml.len) < 0) abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (dg_pack_load(&place, 1, false, NULL, &p, NULL)) abort();
    close(fd);
    return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct dg_slice all = dg_slice((const char *)data, size);
    ptrdiff_t cut = dg_slice_find_ch(all, '\0');
    if (cut < 0) return 0;
    struct dg_slice log = dg_slice_from(all, (size_t)cut + 1);
    enum dg_kind kind = log.len % 3 ? DG_KIND_SERVER : DG_KIND_KERNEL;
    struct dg_pack *p = load(dg_slice_upto(all, (size_t)cut));
    struct dg_matcher *m;
    if (dg_matcher_new(dg_pack_rules(p), &m, NULL)) abort();
    struct dg_buf fast = DG_BUF_INIT(1 << 26), plain = DG_BUF_INIT(1 << 26);
    scan(m, log, kind, false, &fast);
    scan(m, log, kind, true, &plain);
    if (!dg_slice_eq(dg_buf_slice(&fast), dg_buf_slice(&plain))) abort();
    dg_buf_release(&fast);
    dg_buf_release(&plain);
    dg_matcher_free(m);
    dg_pack_free(p);
    return 0;
}
