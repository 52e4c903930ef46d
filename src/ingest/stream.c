#include "ingest/stream.h"
#include "base/census.h"
#include "base/mem.h"
#include "ingest/records.h"
#include <unistd.h>

/* CARRY_MAX: an unfinished line up to this long waits for its end; a longer one goes out in pieces. READ_ALIGN: the
 * kernel copies slowly when source and target lie differently within their pages, so reads from files keep to whole
 * ones. NUMBERED_*: where each line has a number of its own, a block holds fewer lines, and is read in smaller steps.
 */
enum {
    CARRY_MAX = DG_BLOCK_SIZE / 2,
    OVERLAP = 4096,
    READ_ALIGN = 4096,
    NUMBERED_MAX = 48 << 10,
    NUMBERED_STEP = 64 << 10
};

/* --- memory --- */

static struct dg_buffer *buffer_free(struct dg_buffer *b) {
    if (b) {
        free(b->memory);
        free(b->map);
        free(b);
    }
    return NULL;
}

static struct dg_buffer *buffer_new(void) {
    struct dg_buffer *b = dg_calloc(1, sizeof(*b));
    if (!b) return NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), front = DG_BLOCK_HEAD + CARRY_MAX;
    b->memory = dg_malloc(front + page + DG_BLOCK_SIZE + DG_BLOCK_TAIL);
    if (!b->memory) return buffer_free(b);
    b->start = (char *)(((uintptr_t)b->memory + front + page - 1) / page * page);
    return b;
}

void dg_pool_release(struct dg_pool *p) {
    for (int i = 0; i < DG_BUFFERS; i++) p->buffers[i] = buffer_free(p->buffers[i]);
}

/* A buffer that nobody holds, other than `not`. */
static int pick(struct dg_pool *p, const struct dg_buffer * not, struct dg_buffer **ret, struct dg_err *err) {
    for (int i = 0; i < DG_BUFFERS; i++) {
        struct dg_buffer **b = &p->buffers[i];
        if (!*b && !(*b = buffer_new())) return dg_err_nomem(err);
        if (*b == not || atomic_load_explicit(&(*b)->held, memory_order_acquire)) continue;
        *ret = *b;
        return 0;
    }
    return dg_err_set(err, DG_E_LIMIT, 0, "more than four blocks are held");
}

/* --- blocks --- */

void dg_stream_start(struct dg_stream *s, struct dg_reader *reader, struct dg_reader *raw, bool records) {
    *s = (struct dg_stream){.reader = reader, .raw = raw, .records = records ? reader : NULL, .next_line = 1};
}

void dg_stream_stop(struct dg_stream *s) { s->reader = dg_reader_free(s->reader); }

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Put what is carried over from the block before in front of b->start, and its headroom in front of that. Returns the
 * bytes carried. */
static size_t carry_over(const struct dg_stream *s, struct dg_buffer *b) {
    b->block.headroom = 0;
    if (!s->before) return 0;
    const struct dg_block *old = &s->before->block;
    size_t repeated = s->inside ? OVERLAP : 0, carried = repeated + s->rest;
    size_t head = smaller(DG_BLOCK_HEAD, old->headroom + old->len - repeated);
    memcpy(b->start - carried - head, old->data + old->len - repeated - head, head + carried);
    if (!s->inside) memcpy(b->start - carried, s->before->hidden, smaller(carried, DG_BLOCK_TAIL));
    b->block.headroom = head;
    return carried;
}

/* Fill <b->start, room> with whole reads until it is nearly full, the stream ends, or a pipe falls silent after a line.
 * Returns the bytes there, and how many newlines are in them. -DG_E_NOMEM. */
static ptrdiff_t fill(struct dg_stream *s, struct dg_buffer *b, size_t room, uint64_t *ret_newlines) {
    size_t filled = 0;
    uint64_t newlines = 0;
    while (!s->ended && filled < room - room / 8 && !(s->records && newlines > NUMBERED_MAX)) {
        size_t step = s->records ? smaller(room - filled, NUMBERED_STEP) : room - filled;
        ptrdiff_t n = dg_reader_read(s->reader, b->start + filled, step, &s->err);
        if (n == -DG_E_NOMEM) return n;
        if (n == -DG_E_BUSY && newlines) break;
        if (n == -DG_E_BUSY) continue;
        s->ended = n <= 0;
        s->failed = n < 0 ? (int)n : 0;
        if (n <= 0) break;
        struct dg_census c = dg_census(dg_slice(b->start + filled, (size_t)n));
        newlines += c.newlines;
        filled += c.escape || s->escapes.state ? dg_text_strip(&s->escapes, b->start + filled, (size_t)n) : (size_t)n;
    }
    *ret_newlines = newlines;
    return (ptrdiff_t)filled;
}

/* Where the block ends: behind its last newline. The whole of it when that is its end, or too much would be carried
 * over. */
static size_t cut(const struct dg_stream *s, const struct dg_slice all, size_t fresh) {
    if (s->ended) return all.len;
    const char *newline = fresh ? memrchr(all.ptr + all.len - fresh, '\n', fresh) : NULL;
    size_t end = newline ? (size_t)(newline - all.ptr) + 1 : 0;
    return all.len - end > CARRY_MAX ? all.len : end;
}

/* Line numbers of a block whose lines are not consecutive. */
static int number_lines(struct dg_stream *s, struct dg_buffer *b, size_t lines, struct dg_err *err) {
    const struct dg_block *k = &b->block;
    const struct dg_buffer *old = s->before;
    size_t known = old ? old->map_head + old->map_lines - old->block.more : 0;
    b->map_head = smaller(known, dg_census(dg_slice(k->data - k->headroom, k->headroom)).newlines);
    b->map_lines = lines;
    if (!dg_vec_reserve(&b->map, &b->map_cap, b->map_head + lines + 1, sizeof(*b->map), SIZE_MAX / 16))
        return dg_err_nomem(err);
    if (b->map_head) memcpy(b->map, old->map + known - b->map_head, b->map_head * sizeof(*b->map));
    uint64_t *map = b->map + b->map_head;
    if (k->continues) map[0] = s->long_line;
    if (lines > k->continues) dg_records_take(s->records, map + k->continues, lines - k->continues);
    if (k->more) s->long_line = map[lines - 1];
    b->block.line_map = map;
    b->block.first_line = lines ? map[0] : dg_records_raw(s->records) + 1;
    return 0;
}

int dg_stream_next(struct dg_stream *s, struct dg_pool *pool, struct dg_buffer **ret, struct dg_err *err) {
    struct dg_buffer *b = NULL;
    if (s->ended) return 0;
    int r = pick(pool, s->before, &b, err);
    if (r) return r;
    size_t carried = carry_over(s, b);
    uint64_t newlines;
    ptrdiff_t fresh = fill(s, b, (DG_BLOCK_SIZE - carried) / READ_ALIGN * READ_ALIGN, &newlines);
    if (fresh < 0) return dg_err_nomem(err);
    struct dg_slice all = dg_slice(b->start - carried, carried + (size_t)fresh);
    if (s->ended && !all.len && !s->before) return 0;
    struct dg_block *k = &b->block;
    k->data = all.ptr;
    k->len = cut(s, all, (size_t)fresh);
    k->continues = s->inside;
    k->overlap = s->inside ? OVERLAP : 0;
    k->last = s->ended;
    k->packed = s->packed;
    bool open = k->len && k->data[k->len - 1] != '\n'; /* the last line has no end here */
    k->more = open && !s->ended;
    k->newlines = (uint32_t)newlines;
    k->first_line = s->next_line;
    k->line_map = NULL;
    memcpy(b->hidden, k->data + k->len, DG_BLOCK_TAIL);
    memset(b->start + (k->data + k->len - b->start), 0, DG_BLOCK_TAIL);
    r = s->records ? number_lines(s, b, (size_t)newlines + open, err) : 0;
    if (r) return r;
    s->next_line += newlines;
    s->unterminated = open && s->ended;
    s->long_lines += k->more && !s->inside;
    s->inside = k->more;
    s->rest = all.len - k->len;
    s->before = b;
    atomic_store_explicit(&b->held, true, memory_order_relaxed);
    *ret = b;
    return 1;
}

uint64_t dg_stream_lines(const struct dg_stream *s) {
    return s->records ? dg_records_raw(s->records) : s->next_line - 1 + s->unterminated;
}
