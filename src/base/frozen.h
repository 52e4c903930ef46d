/* Frozen data: structs and all they point to as one piece of bytes, used where it lies. Its pointers are right for the
 * address that it was frozen for, and are set anew elsewhere. The bytes are as the compiler laid the structs out and
 * name their layout, so another build refuses them. They are trusted: whoever keeps them keeps a checksum beside
 * them. */
#ifndef DG_BASE_FROZEN_H
#define DG_BASE_FROZEN_H

#include "base/buf.h"
#include "base/err.h"

enum dg_frozen_kind {
    DG_FROZEN_END,
    DG_FROZEN_PLAIN, /* numbers, enums, flags, structs of these */
    DG_FROZEN_TEXT,  /* struct dg_slice */
    DG_FROZEN_LIST,  /* T *, with its count (uint32_t) at `count` */
    DG_FROZEN_ONE,   /* T *, or NULL */
    DG_FROZEN_NOT    /* left out: all zero when it is read again */
};
struct dg_frozen_field {
    enum dg_frozen_kind kind;
    size_t at, size, count;
    const struct dg_frozen_type *of; /* LIST and ONE */
};
/* Every member of the struct is in one of the fields; the last is an END. */
struct dg_frozen_type {
    size_t size;
    const struct dg_frozen_field *fields;
};

#define DG_FROZEN_MEMBER(k, T, m)                                                                                      \
    { .kind = (k), .at = offsetof(struct T, m), .size = sizeof(((struct T *)0)->m) }
#define DG_PLAIN(T, m) DG_FROZEN_MEMBER(DG_FROZEN_PLAIN, T, m)
#define DG_TEXT(T, m) DG_FROZEN_MEMBER(DG_FROZEN_TEXT, T, m)
#define DG_NOT(T, m) DG_FROZEN_MEMBER(DG_FROZEN_NOT, T, m)
#define DG_LIST(T, m, n, type)                                                                                         \
    {                                                                                                                  \
        .kind = DG_FROZEN_LIST, .at = offsetof(struct T, m), .size = sizeof(void *), .count = offsetof(struct T, n),   \
        .of = &(type)                                                                                                  \
    }
#define DG_ONE(T, m, type)                                                                                             \
    { .kind = DG_FROZEN_ONE, .at = offsetof(struct T, m), .size = sizeof(void *), .of = &(type) }
#define DG_FROZEN_LAST                                                                                                 \
    { .kind = DG_FROZEN_END }
#define DG_FROZEN_TYPE(name, T, ...)                                                                                   \
    static const struct dg_frozen_field name##_fields[] = {__VA_ARGS__, DG_FROZEN_LAST};                               \
    static const struct dg_frozen_type name = {sizeof(struct T), name##_fields}

/* A list of texts by itself. */
extern const struct dg_frozen_type dg_frozen_slice;

/* Freeze one struct of `type`, to lie at address `at` (0: not known): added to `out`, which must be empty or hold a
 * multiple of DG_FROZEN_ALIGN bytes. 0, -DG_E_NOMEM; -DG_E_INTERNAL: a member is in no field. */
enum { DG_FROZEN_ALIGN = 16 };
int dg_freeze(const struct dg_frozen_type *type, const void *object, uintptr_t at, struct dg_buf *out,
              struct dg_err *err);
/* What was frozen, which lies aligned to DG_FROZEN_ALIGN; the struct lives in there. Once: its pointers are set, unless
 * it lies where it was to lie; then nothing is written. NULL: of another layout, or cut. */
void *dg_thaw(const struct dg_frozen_type *type, void *bytes, size_t len);
bool dg_frozen_in_place(const void *bytes, size_t len); /* it lies where it was to lie */

#endif
