/* Masking for reports that leave the house: host names, addresses, user names, home folders, prompts. */
#include "report/report.h"
#include "report/mask.h"
#include "base/mem.h"
#include <ctype.h>

struct share {
    unsigned unmask;
    const struct dg_strs *hosts;
};

static bool is_hex(char c) { return isxdigit((unsigned char)c) != 0; }
static bool is_host_char(char c) { return isalnum((unsigned char)c) || c == '-' || c == '.' || c == '_'; }

static size_t number_end(struct dg_slice s, size_t at, unsigned *ret) {
    *ret = 0;
    size_t end = at;
    while (end < s.len && end - at < 4 && isdigit((unsigned char)s.ptr[end]))
        *ret = *ret * 10 + (unsigned)(s.ptr[end++] - '0');
    return end;
}

/* Four numbers up to 255. Library versions have four numbers too; they follow a comparison
 * (nvidia-cublas-cu12==12.9.1.4). */
static size_t ipv4_end(struct dg_slice s, size_t at) {
    unsigned part[4];
    size_t end = at;
    if (at >= 2 && s.ptr[at - 1] == '=' && strchr("=<>!~", s.ptr[at - 2])) return 0;
    for (int i = 0; i < 4; i++) {
        size_t from = end;
        end = number_end(s, from, &part[i]);
        if (end == from || part[i] > 255) return 0;
        if (i < 3 && (end >= s.len || s.ptr[end++] != '.')) return 0;
    }
    if (end < s.len && (isalnum((unsigned char)s.ptr[end]) ||
                        (s.ptr[end] == '.' && end + 1 < s.len && isdigit((unsigned char)s.ptr[end + 1]))))
        return 0;
    bool nobody = part[0] == 127 || part[0] == 0 || (part[0] == 255 && part[3] == 255);
    return nobody ? 0 : end;
}

/* Colon-separated hexadecimal groups: six pairs are a MAC; an IPv6 address begins with a group of four digits or has
 * "::" after fe80, fd… or 2…. C++ names (c10::cuda) and times do not look so. */
static size_t colons_end(struct dg_slice s, size_t at) {
    size_t end = at, groups = 1, pairs = 0, run = 0, first = 0;
    bool gap = false;
    for (; end < s.len && (is_hex(s.ptr[end]) || s.ptr[end] == ':'); end++) {
        if (s.ptr[end] != ':') {
            run++;
            continue;
        }
        if (groups == 1) first = run;
        pairs += run == 2;
        gap |= end > at && s.ptr[end - 1] == ':';
        groups++;
        run = 0;
    }
    if (end < s.len && (isalnum((unsigned char)s.ptr[end]) || s.ptr[end] == '_')) return 0;
    if (groups == 6 && !gap && pairs == 5 && run == 2) return end;
    bool ipv6 = first == 4 && (groups == 8 || (gap && groups >= 3));
    return ipv6 ? end : 0;
}

static bool find_address(struct dg_slice s, size_t at, struct dg_mask_hit *ret) {
    size_t end = ipv4_end(s, at);
    if (!end) end = colons_end(s, at);
    if (!end) return false;
    *ret = (struct dg_mask_hit){at, end, "address"};
    return true;
}

/* Places that everybody knows name nobody. */
static bool is_public(struct dg_slice host) {
    static const char *const known[] = {"github.com",     "githubusercontent.com",
                                        "huggingface.co", "hf.co",
                                        "pytorch.org",    "nvidia.com",
                                        "pypi.org",       "vllm.ai",
                                        "sglang.ai",      "kernel.org",
                                        "docker.io",      "ghcr.io",
                                        "quay.io",        "readthedocs.io",
                                        "python.org",     "pythonhosted.org",
                                        "localhost",      "nvcr.io",
                                        "debian.org",     "ubuntu.com",
                                        "github.io",      "modelscope.cn",
                                        "docker.com",     "kubernetes.io"};
    for (size_t i = 0; i < DG_COUNT(known); i++) {
        struct dg_slice k = dg_cstr(known[i]);
        if (dg_slice_ends(host, k) && (host.len == k.len || host.ptr[host.len - k.len - 1] == '.')) return true;
    }
    return false;
}

static bool is_private(struct dg_slice host) {
    static const char *const ends[] = {".local",    ".internal",      ".lan",       ".corp",
                                       ".intranet", ".amazonaws.com", ".home.arpa", ".localdomain"};
    for (size_t i = 0; i < DG_COUNT(ends); i++)
        if (dg_slice_ends(host, dg_cstr(ends[i]))) return true;
    return false;
}

static size_t host_end(struct dg_slice s, size_t at) {
    size_t end = at;
    while (end < s.len && is_host_char(s.ptr[end])) end++;
    while (end > at && s.ptr[end - 1] == '.') end--;
    return end;
}

static bool is_host_value(struct dg_slice v) {
    bool letter = false;
    for (size_t i = 0; i < v.len; i++) {
        if (!is_host_char(v.ptr[i])) return false;
        letter |= isalpha((unsigned char)v.ptr[i]) != 0;
    }
    return letter && !is_public(v) && !dg_slice_is(v, "None") && !dg_slice_is(v, "null");
}

static bool find_host(const struct share *o, struct dg_slice s, size_t at, size_t word_end, struct dg_mask_hit *ret) {
    static const char *const keys[] = {"=host", "hostname", "host_name", "node_name",
                                       "=node", "nodename", "=hosts",    "=nodelist"};
    size_t end = host_end(s, at);
    struct dg_slice name = dg_slice(s.ptr + at, end - at);
    bool known = is_private(name);
    for (uint32_t i = 0; o->hosts && i < o->hosts->n && !known; i++) {
        struct dg_slice h = o->hosts->v[i];
        known = dg_slice_starts(name, h) && (name.len == h.len || name.ptr[h.len] == '.');
    }
    if (known) {
        *ret = (struct dg_mask_hit){at, end, "host"};
        return true;
    }
    if (dg_slice_starts(dg_slice_from(s, word_end), DG_S("://"))) {
        size_t from = word_end + 3, to = host_end(s, from);
        *ret = (struct dg_mask_hit){from, to, "host"};
        return to > from && is_host_value(dg_slice(s.ptr + from, to - from));
    }
    struct dg_slice word = dg_slice(s.ptr + at, word_end - at);
    struct dg_mask_value v;
    if (!dg_mask_key_is(word, keys, DG_COUNT(keys)) ||
        !dg_mask_value(s, word_end, dg_slice_starts(word, DG_S("--")), &v))
        return false;
    *ret = (struct dg_mask_hit){v.from, v.to, "host"};
    return is_host_value(dg_slice(s.ptr + v.from, v.to - v.from));
}

/* alice@example.org, alice@node3, uid=1000(alice), user=alice. */
static bool find_user(struct dg_slice s, size_t at, size_t word_end, struct dg_mask_hit *ret) {
    static const char *const keys[] = {"=user", "username", "user_name", "=login", "=logname"};
    size_t end = host_end(s, at);
    if (end < s.len && s.ptr[end] == '@' && end > at) {
        size_t to = host_end(s, end + 1);
        *ret = (struct dg_mask_hit){at, to, "user"};
        return to > end + 1 && isalpha((unsigned char)s.ptr[end + 1]);
    }
    struct dg_slice word = dg_slice(s.ptr + at, word_end - at);
    if (dg_slice_is(word, "uid") && word_end < s.len && s.ptr[word_end] == '=') {
        size_t open = word_end + 1;
        while (open < s.len && isdigit((unsigned char)s.ptr[open])) open++;
        if (open >= s.len || s.ptr[open] != '(') return false;
        *ret = (struct dg_mask_hit){open + 1, host_end(s, open + 1), "user"};
        return ret->to > ret->from;
    }
    struct dg_mask_value v;
    if (!dg_mask_key_is(word, keys, DG_COUNT(keys)) ||
        !dg_mask_value(s, word_end, dg_slice_starts(word, DG_S("--")), &v))
        return false;
    struct dg_slice value = dg_slice(s.ptr + v.from, v.to - v.from);
    *ret = (struct dg_mask_hit){v.from, v.to, "user"};
    return !v.list && !dg_slice_is(value, "None") && !dg_slice_is(value, "null") && !dg_slice_is(value, "root");
}

static bool find_home(struct dg_slice s, size_t at, struct dg_mask_hit *ret) {
    static const char *const roots[] = {"/home/", "/Users/", "/data/home/", "/export/home/"};
    for (size_t i = 0; i < DG_COUNT(roots); i++) {
        if (!dg_slice_starts(dg_slice_from(s, at), dg_cstr(roots[i]))) continue;
        size_t from = at + strlen(roots[i]);
        *ret = (struct dg_mask_hit){from, host_end(s, from), "user"};
        return ret->to > ret->from;
    }
    return false;
}

static bool find_prompt(struct dg_slice s, size_t at, size_t word_end, struct dg_mask_hit *ret) {
    static const char *const keys[] = {"prompt", "prompts",    "messages",         "=content",
                                       "=text",  "input_text", "prompt_token_ids", "input_ids"};
    struct dg_mask_value v;
    if (!dg_mask_key_is(dg_slice(s.ptr + at, word_end - at), keys, DG_COUNT(keys)) ||
        !dg_mask_value(s, word_end, false, &v))
        return false;
    *ret = (struct dg_mask_hit){v.from, v.to, "prompt"};
    return v.quoted || v.list;
}

static bool find_private(const void *ctx, struct dg_slice s, size_t at, struct dg_mask_hit *ret) {
    const struct share *o = ctx;
    if (s.ptr[at] == '/') return !(o->unmask & DG_UNMASK_PATHS) && find_home(s, at, ret);
    size_t word_end = dg_mask_word_end(s, at);
    return (!(o->unmask & DG_UNMASK_PROMPTS) && find_prompt(s, at, word_end, ret)) ||
           (!(o->unmask & DG_UNMASK_USERS) && find_user(s, at, word_end, ret)) ||
           (!(o->unmask & DG_UNMASK_ADDRESSES) && find_address(s, at, ret)) ||
           (!(o->unmask & DG_UNMASK_HOSTS) && find_host(o, s, at, word_end, ret));
}

int dg_mask_shared(struct dg_buf *out, struct dg_slice s, unsigned unmask, const struct dg_strs *hosts) {
    struct share o = {unmask, hosts};
    return dg_mask_with(out, s, find_private, &o);
}

/* the rule to start from has a key "text" of its own, and its literal ends where a value begins */
static int mask_private(struct dg_buf *out, const char *key, struct dg_slice s, const void *ctx) {
    const struct share *o = ctx;
    return dg_mask_shared(out, s, o->unmask | (strcmp(key, "stub") ? 0 : DG_UNMASK_PROMPTS), o->hosts);
}

json_t *dg_mask_json(const json_t *value, unsigned unmask) {
    struct dg_slice names[32];
    struct dg_strs hosts = {names, 0};
    struct share o = {unmask, &hosts};
    const json_t *inputs = json_object_get(value, "inputs");
    for (size_t i = 0; i < json_array_size(inputs) && hosts.n < DG_COUNT(names); i++) {
        struct dg_slice host = dg_cstr(json_string_value(json_object_get(json_array_get(inputs, i), "host")));
        if (host.len) names[hosts.n++] = host;
    }
    return dg_mask_tree(value, mask_private, &o);
}
