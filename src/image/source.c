#include "image/source.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* A window slides over the bytes; an inflating store keeps the older half of it when it moves on, as the tables at the
 * end of a file are read backwards. */
enum { WINDOW = 512 << 10, PACKED = 64 << 10 };

struct store {
    uint64_t size;
    int fd; /* of a file, or -1 */
    unsigned char *window;
    uint64_t at; /* of the window */
    size_t len;
    /* inflating */
    bool inflating, ended;
    struct source packed;
    uint64_t packed_at, budget;
    z_stream z;
    unsigned char *input;
};

static struct store *new_store(int fd, uint64_t size) {
    struct store *s = dg_calloc(1, sizeof(*s));
    if (!s) return NULL;
    s->fd = fd;
    s->size = size;
    s->window = dg_malloc(WINDOW);
    if (s->window) return s;
    free(s);
    return NULL;
}

int store_open_fd(int fd, struct store **ret) {
    struct stat st;
    if (fstat(fd, &st)) return -DG_E_IO;
    struct store *s = new_store(fd, st.st_size > 0 ? (uint64_t)st.st_size : 0);
    if (!s) return -DG_E_NOMEM;
    *ret = s;
    return 0;
}

int store_open_inflate(struct source packed, uint64_t size, struct store **ret) {
    struct store *s = new_store(-1, size);
    if (!s) return -DG_E_NOMEM;
    s->input = dg_malloc(PACKED);
    if (!s->input || inflateInit2(&s->z, -MAX_WBITS) != Z_OK) {
        store_close(s);
        return -DG_E_NOMEM;
    }
    s->inflating = true;
    s->packed = packed;
    s->budget = 4 * size + (64 << 20);
    *ret = s;
    return 0;
}

void store_close(struct store *s) {
    if (!s) return;
    if (s->inflating) inflateEnd(&s->z);
    free(s->input);
    free(s->window);
    free(s);
}

static void fill_from_file(struct store *s, uint64_t at) {
    s->at = at;
    s->len = 0;
    while (s->len < WINDOW) {
        ssize_t n = pread(s->fd, s->window + s->len, WINDOW - s->len, (off_t)(at + s->len));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        s->len += (size_t)n;
    }
}

/* Some more output at the end of the window, which has room. */
static void inflate_some(struct store *s) {
    if (!s->z.avail_in) {
        s->z.avail_in = (unsigned)source_some(s->packed, s->packed_at, s->input, PACKED);
        s->z.next_in = s->input;
        s->packed_at += s->z.avail_in;
    }
    size_t room = WINDOW - s->len;
    s->z.next_out = s->window + s->len;
    s->z.avail_out = (unsigned)room;
    int r = inflate(&s->z, Z_NO_FLUSH);
    size_t made = room - s->z.avail_out;
    s->len += made;
    s->budget -= made < s->budget ? made : s->budget;
    if (r != Z_OK || !s->budget || (!made && !s->z.avail_in && s->packed_at >= s->packed.size)) s->ended = true;
}

static void fill_by_inflating(struct store *s, uint64_t at) {
    if (at < s->at) { /* from the start again */
        inflateReset(&s->z);
        s->z.avail_in = 0;
        s->packed_at = s->at = 0;
        s->len = 0;
        s->ended = !s->budget;
    }
    while (at >= s->at + s->len && !s->ended) {
        if (s->len == WINDOW) {
            s->len = WINDOW / 2;
            s->at += WINDOW - s->len;
            memcpy(s->window, s->window + WINDOW - s->len, s->len);
        }
        inflate_some(s);
    }
}

/* As many of the bytes at `at` as one window gives. */
static struct dg_slice look(struct store *s, uint64_t at) {
    if (at < s->at || at >= s->at + s->len) {
        if (s->inflating)
            fill_by_inflating(s, at);
        else
            fill_from_file(s, at);
    }
    if (at < s->at || at >= s->at + s->len) return (struct dg_slice){"", 0};
    size_t skip = (size_t)(at - s->at);
    return dg_slice((const char *)s->window + skip, s->len - skip);
}

struct source source_all(struct store *store) {
    return (struct source){store, NULL, 0, store->size};
}

struct source source_part(struct source s, uint64_t at, uint64_t size) {
    if (at > s.size) at = s.size;
    if (size > s.size - at) size = s.size - at;
    return (struct source){s.store, s.memory, s.base + at, size};
}

size_t source_some(struct source s, uint64_t at, void *out, size_t len) {
    size_t done = 0;
    if (at >= s.size) return 0;
    if (len > s.size - at) len = (size_t)(s.size - at);
    if (!s.store) {
        memcpy(out, s.memory + s.base + at, len);
        return len;
    }
    while (done < len) {
        struct dg_slice part = dg_slice_upto(look(s.store, s.base + at + done), len - done);
        if (!part.len) break;
        memcpy((char *)out + done, part.ptr, part.len);
        done += part.len;
    }
    return done;
}

bool source_get(struct source s, uint64_t at, void *out, size_t len) {
    return at <= s.size && len <= s.size - at && source_some(s, at, out, len) == len;
}
