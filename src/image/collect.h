/* Gathering the modules of one member while a file is read. For src/image alone. */
#ifndef DG_IMAGE_COLLECT_H
#define DG_IMAGE_COLLECT_H

#include "base/map.h"
#include "image/image.h"
#include "image/source.h"

enum { MODULE_CODES_MAX = 256, MODULES_MAX = 65536, ENTRIES_MAX = 4 << 20, MEMBERS_MAX = 65536, MEMORY_MAX = 48 << 20 };

/* A whole reading. `result` is 0 or -DG_E_NOMEM; then everything stops. */
struct reading {
    struct dg_image *image;
    struct members {
        struct dg_image_member *v;
        size_t n, cap;
    } members;
    uint64_t entries; /* of containers, so far */
    int result;
};

/* One member. Equal modules are counted, not repeated. */
struct collector {
    struct reading *reading;
    struct dg_map *seen;
    struct modules {
        struct dg_image_module *v;
        size_t n, cap;
    } modules;
    uint32_t stubs;
    char fault[200];
};

void collect_begin(struct collector *c, struct reading *r);
/* A module of these codes; they are sorted in place. */
void collect_module(struct collector *c, struct dg_code *codes, size_t n, bool relocatable);
/* Keeps the first one. */
void collect_fault(struct collector *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Make a member of what was gathered, when there is something or `always`; frees the collector. `member` may be NULL.
 */
void collect_end(struct collector *c, const char *path, const char *member, bool always);

/* ---- the formats ---- */

/* Every container in `bytes`. `strict`: the section is made of containers, so what is malformed is a fault; else it is
 * data that looks like one, and passed over. */
void fatbin_scan(struct collector *c, struct source bytes, bool relocatable, bool strict);
/* A bare cubin; a PTX text. False: not one. */
bool cubin_collect(struct collector *c, struct source bytes);
bool ptx_collect(struct collector *c, struct source bytes);
/* A host program, library or object: its sections, or all its bytes when it has none. */
void host_collect(struct collector *c, struct source bytes);

/* A member of an archive, handed out one by one. `name` is valid during the call. */
typedef void archive_member(void *arg, struct source bytes, const char *name);
/* `fault` is told what is damaged (a printable sentence). */
void ar_read(struct source bytes, archive_member *each, void *arg, struct collector *faults);
void zip_read(struct source bytes, archive_member *each, void *arg, struct collector *faults);

#endif
