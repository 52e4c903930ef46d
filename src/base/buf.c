#include "base/buf.h"
#include <ctype.h>
#include "base/err.h"
#include "base/mem.h"
#include <stdarg.h>
#include <stdio.h>

void dg_buf_init(struct dg_buf *b, size_t max) { *b = (struct dg_buf)DG_BUF_INIT(max); }

void dg_buf_release(struct dg_buf *b) {
    free(b->ptr);
    dg_buf_init(b, b->max);
}

void dg_buf_clear(struct dg_buf *b) {
    b->len = 0;
    b->failed = false;
    if (b->ptr) *b->ptr = '\0';
}

/* Room for `len` more bytes and the NUL. */
static int make_room(struct dg_buf *b, size_t len) {
    if (b->failed) return -DG_E_LIMIT;
    if (len > b->max - b->len) {
        b->failed = true;
        return -DG_E_LIMIT;
    }
    size_t limit = b->max == SIZE_MAX ? SIZE_MAX : b->max + 1;
    if (len == SIZE_MAX - b->len || !dg_vec_reserve(&b->ptr, &b->cap, b->len + len + 1, 1, limit)) {
        b->failed = true;
        return -DG_E_NOMEM;
    }
    return 0;
}

int dg_buf_add(struct dg_buf *b, const void *ptr, size_t len) {
    int r = make_room(b, len);
    if (r) return r;
    if (len) memcpy(b->ptr + b->len, ptr, len);
    b->len += len;
    b->ptr[b->len] = '\0';
    return 0;
}

int dg_buf_adds(struct dg_buf *b, const char *s) { return dg_buf_add(b, s, strlen(s)); }
int dg_buf_add_slice(struct dg_buf *b, struct dg_slice s) { return dg_buf_add(b, s.ptr, s.len); }
int dg_buf_addc(struct dg_buf *b, char c) { return dg_buf_add(b, &c, 1); }

int dg_buf_addf(struct dg_buf *b, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap), r = -DG_E_INTERNAL;
    va_end(ap);
    if (n < 0)
        b->failed = true;
    else
        r = make_room(b, (size_t)n);
    if (!r) {
        vsnprintf(b->ptr + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
    return r;
}

char *dg_buf_take(struct dg_buf *b) {
    if (!b->ptr && !b->failed) dg_buf_add(b, "", 0);
    char *s = b->failed ? NULL : DG_TAKE(b->ptr);
    dg_buf_release(b);
    return s;
}

int dg_buf_add_word(struct dg_buf *b, struct dg_slice word) {
    bool plain = word.len > 0;
    for (size_t i = 0; i < word.len && plain; i++)
        plain = isalnum((unsigned char)word.ptr[i]) || memchr("-_./:=,@%+", word.ptr[i], 10);
    if (b->len) dg_buf_addc(b, ' ');
    if (plain) return dg_buf_add_slice(b, word);
    dg_buf_addc(b, '\'');
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '\'')
            dg_buf_adds(b, "'\\''");
        else
            dg_buf_addc(b, word.ptr[i]);
    }
    return dg_buf_addc(b, '\'');
}
