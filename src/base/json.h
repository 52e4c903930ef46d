/* JSON: a streaming writer of our own (we decide what happens to bad bytes), and reading through jansson.
 *
 * Writer: strings are written as valid UTF-8, each bad byte as U+FFFD, control and format characters as
 * \uXXXX. Numbers that are not finite are written as null. Nesting is checked by assert. Errors (memory, limit)
 * stick in the buffer (buf->failed). */
#ifndef DG_BASE_JSON_H
#define DG_BASE_JSON_H

#include "base/buf.h"
#include "base/err.h"
#include <jansson.h>

struct dg_json {
    struct dg_buf *out;
    int depth;
    bool pretty; /* two-space indent and newlines */
    bool need_comma, after_key;
    uint64_t array_bits; /* bit d: depth d is an array */
};

void dg_json_init(struct dg_json *j, struct dg_buf *out, bool pretty);
void dg_json_begin_object(struct dg_json *j);
void dg_json_begin_array(struct dg_json *j);
void dg_json_end(struct dg_json *j); /* closes the innermost object or array */
void dg_json_key(struct dg_json *j, const char *key);
void dg_json_key_slice(struct dg_json *j, struct dg_slice key);
void dg_json_slice(struct dg_json *j, struct dg_slice s); /* ptr NULL: null */
void dg_json_str(struct dg_json *j, const char *s);       /* NULL: null */
void dg_json_int(struct dg_json *j, int64_t v);
void dg_json_uint(struct dg_json *j, uint64_t v);
void dg_json_double(struct dg_json *j, double v);
void dg_json_bool(struct dg_json *j, bool v);
void dg_json_null(struct dg_json *j);
/* key + value in one call */
void dg_json_kv_slice(struct dg_json *j, const char *key, struct dg_slice s);
void dg_json_kv_str(struct dg_json *j, const char *key, const char *s);
void dg_json_kv_int(struct dg_json *j, const char *key, int64_t v);
void dg_json_kv_uint(struct dg_json *j, const char *key, uint64_t v);
void dg_json_kv_bool(struct dg_json *j, const char *key, bool v);

/* Parse one JSON text; duplicate keys are refused, depth is jansson's. Bytes that are not UTF-8 are replaced before
 * parsing. The result is the caller's (json_decref). NULL: *err says line and column (file is left to the caller). */
json_t *dg_json_parse(struct dg_slice text, struct dg_err *err);
/* Append a piece of what jansson dumps, which cuts between characters: DEL, C1 and format characters as \uXXXX, which
 * it leaves as they are. */
int dg_json_add_dumped(struct dg_buf *out, struct dg_slice s);
static inline void dg_json_decrefp(json_t **j) { json_decref(*j); }

#endif
