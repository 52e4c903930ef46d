/* Bytes to be read at any place: a file, memory, or a deflated member of a zip file. For src/image alone. */
#ifndef DG_IMAGE_SOURCE_H
#define DG_IMAGE_SOURCE_H

#include "base/mem.h"
#include "base/err.h"

struct store; /* bytes that are elsewhere; has one window of them in memory */

/* A part of a store, or of memory. A plain value; what it points to must outlive it. */
struct source {
    struct store *store;
    const char *memory; /* when there is no store */
    uint64_t base, size;
};

/* 0, -DG_E_IO (errno), -DG_E_NOMEM. The descriptor stays the caller's and must stay open. */
int store_open_fd(int fd, struct store **ret);
/* Deflated bytes (without header) that give `size` bytes. Going back costs inflating from the start again; the total is
 * bounded. `packed` must outlive it. */
int store_open_inflate(struct source packed, uint64_t size, struct store **ret);
void store_close(struct store *store);
static inline void store_closep(struct store **s) { store_close(*s); }

struct source source_all(struct store *store);
static inline struct source source_bytes(struct dg_slice s) { return (struct source){NULL, s.ptr, 0, s.len}; }
/* The part from `at`, at most `size` long; empty when there is nothing. */
struct source source_part(struct source s, uint64_t at, uint64_t size);
/* Exactly `len` bytes from `at`. False: there are not so many, or they cannot be read. */
bool source_get(struct source s, uint64_t at, void *out, size_t len);
/* At most `len` bytes from `at`, as many as there are. */
size_t source_some(struct source s, uint64_t at, void *out, size_t len);

static inline uint16_t le16(const unsigned char *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t le32(const unsigned char *p) { return le16(p) | (uint32_t)le16(p + 2) << 16; }
static inline uint64_t le64(const unsigned char *p) { return le32(p) | (uint64_t)le32(p + 4) << 32; }

#endif
