#include "image/collect.h"
#include "image/elf.h"

enum { PARTS_MAX = 65536 };

struct part {
    struct source bytes;
    bool relocatable, strict;
};
struct parts {
    struct part *v;
    size_t n, cap;
};

static int by_place(const void *a, const void *b) {
    uint64_t x = ((const struct part *)a)->bytes.base, y = ((const struct part *)b)->bytes.base;
    return (x > y) - (x < y);
}

/* The sections that are containers, and data that may hold some: libcufft keeps its own in .ldata. */
static bool choose(const struct elf_section *s, struct part *ret) {
    *ret = (struct part){.bytes = s->bytes, .strict = true};
    if (s->type != ELF_PROGBITS || !s->bytes.size) return false;
    if (!strcmp(s->name, ".nv_fatbin")) return true;
    ret->relocatable = !strcmp(s->name, "__nv_relfatbin");
    if (ret->relocatable) return true;
    ret->strict = false;
    return (s->flags & ELF_ALLOC) && !(s->flags & ELF_EXECUTABLE);
}

void host_collect(struct collector *c, struct source bytes) {
    struct elf e;
    struct elf_section s;
    struct part part;
    struct parts parts = {0};
    if (!elf_open(bytes, &e) || !e.n_sections) {
        fatbin_scan(c, bytes, false, false);
        return;
    }
    for (uint32_t i = 0; i < e.n_sections && elf_section(&e, i, &s); i++) {
        if (s.bytes.size < s.size && s.type == ELF_PROGBITS)
            collect_fault(c, "section %s reaches past the end of the file", s.name);
        if (choose(&s, &part) && !DG_VEC_PUSH(&parts, part, PARTS_MAX) && parts.n < PARTS_MAX)
            c->reading->result = -DG_E_NOMEM;
    }
    if (parts.n) qsort(parts.v, parts.n, sizeof(*parts.v), by_place); /* a deflated file is read forwards */
    for (size_t i = 0; i < parts.n; i++) fatbin_scan(c, parts.v[i].bytes, parts.v[i].relocatable, parts.v[i].strict);
    free(parts.v);
}
