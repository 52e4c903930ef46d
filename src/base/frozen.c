/* A head, then the structs in the order they were met, then the texts, then where in the structs a pointer stands
 * (uint32_t each). */
#include "base/frozen.h"
#include "base/map.h"
#include "base/mem.h"

enum { REFS_MAX = 1 << 26, FROZEN_MAX = 1 << 30, STRUCT_MAX = 4096, UNSEEN_MAX = 7 };

struct head {
    uint64_t layout, structs, texts, refs;
    uint64_t base; /* address of the first struct that the pointers are right for */
    uint64_t zero; /* to a multiple of DG_FROZEN_ALIGN */
};

static const struct dg_frozen_field slice_fields[] = {{.kind = DG_FROZEN_TEXT, .size = sizeof(struct dg_slice)},
                                                      DG_FROZEN_LAST};
const struct dg_frozen_type dg_frozen_slice = {sizeof(struct dg_slice), slice_fields};

static uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15u; }

static uint64_t layout_of(const struct dg_frozen_type *type) {
    uint64_t h = mix(type->size, sizeof(void *));
    for (const struct dg_frozen_field *f = type->fields; f->kind; f++) {
        h = mix(mix(mix(mix(h, f->kind), f->at), f->size), f->count);
        if (f->of) h = mix(h, layout_of(f->of));
    }
    return h;
}

/* ---- writing */

struct refs {
    uint32_t *v;
    size_t n, cap;
};
struct freezer {
    struct dg_buf structs, texts;
    struct refs to_structs, to_texts;
    struct dg_map *known; /* text -> its offset + 1: equal texts are kept once */
    uintptr_t base;
    bool failed, unseen;
};

static void add_zeros(struct dg_buf *b, size_t n) {
    static const char ZEROS[64];
    for (; n > sizeof(ZEROS); n -= sizeof(ZEROS)) dg_buf_add(b, ZEROS, sizeof(ZEROS));
    dg_buf_add(b, ZEROS, n);
}

static size_t padding(size_t len) { return -len % DG_FROZEN_ALIGN; }

static void put(struct freezer *f, size_t at, const void *from, size_t n) {
    if (!f->structs.failed) memcpy(f->structs.ptr + at, from, n);
}

static void put_pointer(struct freezer *f, size_t at, uintptr_t to, struct refs *refs) {
    put(f, at, &to, sizeof(to));
    if (!DG_VEC_PUSH(refs, (uint32_t)at, REFS_MAX)) f->failed = true;
}

static void put_text(struct freezer *f, size_t at, const char *from) {
    struct dg_slice s;
    memcpy(&s, from, sizeof(s));
    if (!s.ptr) return;
    uintptr_t known = (uintptr_t)dg_map_get(f->known, s);
    if (!known) {
        known = f->texts.len + 1;
        dg_buf_add_slice(&f->texts, s);
        dg_buf_addc(&f->texts, '\0');
        if (dg_map_set(f->known, s, (void *)known)) f->failed = true;
    }
    put(f, at + offsetof(struct dg_slice, len), &s.len, sizeof(s.len));
    put_pointer(f, at + offsetof(struct dg_slice, ptr), f->base + known - 1, &f->to_texts);
}

/* Is each byte of the struct in a field, but for padding? */
static bool covered(const struct dg_frozen_type *type) {
    bool seen[STRUCT_MAX] = {0};
    size_t unseen = 0;
    for (const struct dg_frozen_field *f = type->fields; f->kind; f++) {
        memset(seen + f->at, 1, f->size);
        if (f->kind == DG_FROZEN_LIST) memset(seen + f->count, 1, sizeof(uint32_t));
    }
    for (size_t i = 0; i < type->size && unseen <= UNSEEN_MAX; i++) unseen = seen[i] ? 0 : unseen + 1;
    return unseen <= UNSEEN_MAX;
}

static void freeze(struct freezer *f, const struct dg_frozen_type *type, const char *items, uint32_t n) {
    size_t first = f->structs.len;
    add_zeros(&f->structs, n * type->size + padding(n * type->size));
    if (!covered(type)) f->unseen = true;
    for (uint32_t i = 0; i < n && !f->structs.failed; i++) {
        const char *item = items + i * type->size;
        for (const struct dg_frozen_field *m = type->fields; m->kind; m++) {
            const char *from = item + m->at, *inner = NULL;
            size_t at = first + i * type->size + m->at;
            uint32_t count = 1;
            if (m->kind == DG_FROZEN_PLAIN) put(f, at, from, m->size);
            if (m->kind == DG_FROZEN_TEXT) put_text(f, at, from);
            if (m->kind == DG_FROZEN_LIST) {
                memcpy(&count, item + m->count, sizeof(count));
                put(f, at - m->at + m->count, &count, sizeof(count));
            }
            if (m->of) memcpy(&inner, from, sizeof(inner));
            if (!inner || !count) continue;
            put_pointer(f, at, f->base + f->structs.len, &f->to_structs);
            freeze(f, m->of, inner, count);
        }
    }
}

static void write_out(struct freezer *f, const struct dg_frozen_type *type, struct dg_buf *out) {
    add_zeros(&f->texts, padding(f->texts.len));
    for (size_t i = 0; i < f->to_texts.n; i++) {
        uintptr_t to;
        memcpy(&to, f->structs.ptr + f->to_texts.v[i], sizeof(to));
        to += f->structs.len;
        put(f, f->to_texts.v[i], &to, sizeof(to));
    }
    struct head head = {layout_of(type), f->structs.len, f->texts.len, f->to_structs.n + f->to_texts.n, f->base, 0};
    dg_buf_add(out, &head, sizeof(head));
    dg_buf_add_slice(out, dg_buf_slice(&f->structs));
    dg_buf_add_slice(out, dg_buf_slice(&f->texts));
    dg_buf_add(out, f->to_structs.v, f->to_structs.n * sizeof(uint32_t));
    dg_buf_add(out, f->to_texts.v, f->to_texts.n * sizeof(uint32_t));
    add_zeros(out, padding(out->len));
}

int dg_freeze(const struct dg_frozen_type *type, const void *object, uintptr_t at, struct dg_buf *out,
              struct dg_err *err) {
    struct freezer f = {.structs = DG_BUF_INIT(FROZEN_MAX), .texts = DG_BUF_INIT(FROZEN_MAX)};
    f.base = at + sizeof(struct head);
    f.known = dg_map_new(NULL);
    if (f.known) freeze(&f, type, object, 1);
    bool failed = !f.known || f.failed || f.structs.failed || f.texts.failed;
    if (!failed && !f.unseen) write_out(&f, type, out);
    dg_buf_release(&f.structs);
    dg_buf_release(&f.texts);
    free(f.to_structs.v);
    free(f.to_texts.v);
    dg_map_free(f.known);
    if (failed || out->failed) return dg_err_nomem(err);
    return f.unseen ? dg_err_set(err, DG_E_INTERNAL, 0, "a struct has a member that is in no field") : 0;
}

/* ---- reading */

bool dg_frozen_in_place(const void *bytes, size_t len) {
    struct head h;
    if (len < sizeof(h)) return false;
    memcpy(&h, bytes, sizeof(h));
    return h.base == (uintptr_t)bytes + sizeof(h);
}

void *dg_thaw(const struct dg_frozen_type *type, void *bytes, size_t len) {
    struct head h;
    if (len < sizeof(h)) return NULL;
    memcpy(&h, bytes, sizeof(h));
    len -= sizeof(h);
    if (h.layout != layout_of(type) || h.structs > len || h.structs < type->size || h.texts > len - h.structs ||
        h.refs > (len - h.structs - h.texts) / sizeof(uint32_t))
        return NULL;
    char *base = (char *)bytes + sizeof(h), *refs = base + h.structs + h.texts;
    for (uint64_t i = 0; i < h.refs && (uintptr_t)base != h.base; i++) {
        uint32_t at;
        uintptr_t to;
        memcpy(&at, refs + i * sizeof(at), sizeof(at));
        if (at > h.structs - sizeof(to)) return NULL;
        memcpy(&to, base + at, sizeof(to));
        to -= h.base;
        if (to > h.structs + h.texts) return NULL;
        to += (uintptr_t)base;
        memcpy(base + at, &to, sizeof(to));
    }
    return base;
}
