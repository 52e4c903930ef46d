/* One name for one kind of failure: what varies between two runs is left out. */
#include "reason/judge.h"
#include "base/buf.h"
#include <ctype.h>
#include <stdio.h>
#include <xxhash.h>

/* Digits, hexadecimal words, paths and quoted strings become one character each. */
static void add_template(struct dg_buf *out, struct dg_slice s) {
    for (size_t i = 0; i < s.len;) {
        char c = s.ptr[i];
        size_t n = 1;
        if (c == '\'' || c == '"') {
            ptrdiff_t end = dg_slice_find_ch(dg_slice_from(s, i + 1), c);
            n = end < 0 ? 1 : (size_t)end + 2;
            c = 'q';
        } else if (isdigit((unsigned char)c)) {
            while (i + n < s.len &&
                   (isxdigit((unsigned char)s.ptr[i + n]) || s.ptr[i + n] == 'x' || s.ptr[i + n] == '.'))
                n++;
            c = '0';
        } else if (c == '/') {
            while (i + n < s.len && s.ptr[i + n] > ' ' && !strchr(",;:)'\"", s.ptr[i + n])) n++;
        }
        dg_buf_addc(out, c);
        i += n;
    }
}

void dg_fingerprint(struct dg_judge *j) {
    struct dg_buf text = DG_BUF_INIT(8u << 10);
    const struct dg_cause *c = j->d->n_causes ? &j->d->causes[0] : NULL;
    dg_buf_add_slice(&text, j->d->attempt.engine);
    dg_buf_addc(&text, 0);
    if (c && c->rule_id.len) {
        dg_buf_add_slice(&text, c->class);
        dg_buf_addc(&text, 0);
        dg_buf_add_slice(&text, c->subclass);
        dg_buf_addc(&text, 0);
        dg_buf_add_slice(&text, c->rule_id);
    } else if (c && c->n_evidence) {
        add_template(&text, c->evidence[0].text);
    } else {
        dg_buf_adds(&text, dg_status_name(j->d->status));
    }
    if (text.failed) j->failed = true;
    XXH128_hash_t h = XXH3_128bits(text.ptr ? text.ptr : "", text.len);
    snprintf(j->d->fingerprint, sizeof(j->d->fingerprint), "%016llx%016llx", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
    dg_buf_release(&text);
}
