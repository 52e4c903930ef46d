#include "ingest/text.h"

enum { PLAIN, AFTER_ESC, BETWEEN, CSI, STRING, STRING_ESC };

/* The state after byte `c` of a sequence. */
static int step(int state, unsigned char c) {
    if (c == '\x1b') return state == STRING ? STRING_ESC : AFTER_ESC;
    switch (state) {
    case AFTER_ESC:
        if (c == '[') return CSI;
        if (c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_') return STRING;
        return c >= 0x20 && c < 0x30 ? BETWEEN : PLAIN;
    case BETWEEN: return c >= 0x20 && c < 0x30 ? BETWEEN : PLAIN;
    case CSI: return c >= 0x20 && c < 0x40 ? CSI : PLAIN;
    case STRING: return c == '\a' ? PLAIN : STRING;
    default: return c == '\\' ? PLAIN : STRING;
    }
}

size_t dg_text_strip(struct dg_escapes *e, char *p, size_t n) {
    size_t from = 0, to = 0;
    while (from < n) {
        if (e->state == PLAIN) {
            const char *esc = memchr(p + from, '\x1b', n - from);
            size_t plain = esc ? (size_t)(esc - (p + from)) : n - from;
            memmove(p + to, p + from, plain);
            from += plain;
            to += plain;
            if (esc) e->state = AFTER_ESC;
            from += esc != NULL;
        } else if (p[from] == '\n') {
            e->state = PLAIN;
        } else {
            e->state = step(e->state, (unsigned char)p[from++]);
        }
    }
    return to;
}

bool dg_text_plausible(struct dg_slice head) {
    if (head.len >= 2 && (!memcmp(head.ptr, "\xff\xfe", 2) || !memcmp(head.ptr, "\xfe\xff", 2))) return true;
    head = dg_slice_upto(head, 4096);
    size_t strange = 0;
    for (size_t i = 0; i < head.len; i++) {
        unsigned char c = (unsigned char)head.ptr[i];
        strange += c < 0x20 && !(c >= '\a' && c <= '\r') && c != '\x1b';
    }
    return strange * 10 <= head.len;
}
