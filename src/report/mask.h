/* Inside of report: the pass that masking of secrets and masking for sharing have in common. */
#ifndef DG_REPORT_MASK_H
#define DG_REPORT_MASK_H

#include "base/buf.h"
#include <jansson.h>

struct dg_mask_hit {
    size_t from, to;  /* the part to hide */
    const char *kind; /* "secret" "host" "address" "user" "prompt" */
};
/* Is there something to hide in the word (or path) that starts at `at`? */
typedef bool dg_mask_finder(const void *ctx, struct dg_slice s, size_t at, struct dg_mask_hit *ret);
int dg_mask_with(struct dg_buf *out, struct dg_slice s, dg_mask_finder *find, const void *ctx);

/* A copy of a JSON value with each text in it, which stands under the name `key` ("": it is a name, or has none), as
 * `mask` appends it. What does not change is shared between both. NULL: no memory. */
typedef int dg_mask_text(struct dg_buf *out, const char *key, struct dg_slice s, const void *ctx);
json_t *dg_mask_tree(const json_t *value, dg_mask_text *mask, const void *ctx);

size_t dg_mask_word_end(struct dg_slice s, size_t at);
/* Is `word` (as a key: any case, - as _, dashes in front dropped) one of `names`, or does it end in _NAME? A name with
 * `=` in front must be the whole word. */
bool dg_mask_key_is(struct dg_slice word, const char *const *names, size_t n);

/* The value after a key that ends at `at`: key=V, key: V, "key": "V", \"key\": \"V\", and for an option --key V or
 * '--key', 'V'. */
struct dg_mask_value {
    size_t from, to; /* without quotes */
    bool quoted, list;
};
bool dg_mask_value(struct dg_slice s, size_t at, bool option, struct dg_mask_value *ret);

#endif
