/* Secrets and private names: what is hidden, what must stay readable, and that masking twice is masking once. */
#include "unit.h"
#include "report/report.h"

/* Assembled at run time: the text of this file must not look like a leaked key itself. */
#define HF                                                                                                             \
    "hf_"                                                                                                              \
    "AbCdEfGhIjKlMnOpQrStUvWxYz0123"
#define SK                                                                                                             \
    "sk-"                                                                                                              \
    "proj-0123456789abcdefABCDEF"
#define GHP                                                                                                            \
    "ghp_"                                                                                                             \
    "0123456789abcdefghijABCDEFGHIJ"
#define AWS                                                                                                            \
    "AKIA"                                                                                                             \
    "IOSFODNN7EXAMPLE"
#define JWT                                                                                                            \
    "eyJhbGciOiJIUzI1NiJ9"                                                                                             \
    ".eyJzdWIiOiIxMjM0NTY3ODkwIn0"                                                                                     \
    ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"

static struct dg_buf masked(const char *s) {
    struct dg_buf out = DG_BUF_INIT(1 << 16);
    assert_int_equal(dg_mask_secrets(&out, dg_cstr(s)), 0);
    return out;
}

static void assert_hidden(const char *text, const char *secret) {
    struct dg_buf once = masked(text), twice = masked(dg_buf_slice(&once).ptr);
    if (strstr(once.ptr, secret) || !strstr(once.ptr, "<secret:")) fail_msg("not hidden: %s", once.ptr);
    assert_string_equal(once.ptr, twice.ptr);
    dg_buf_release(&once);
    dg_buf_release(&twice);
}

static void assert_kept(const char *text) {
    struct dg_buf out = masked(text);
    assert_string_equal(out.ptr, text);
    dg_buf_release(&out);
}

static void test_secrets(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"token " HF " was used", HF},
        {"HF_TOKEN=" HF, HF},
        {"HF_TOKEN=shorty1", "shorty1"},
        {"(" SK ")", SK},
        {"git clone https://x:" GHP "@github.com/a/b", GHP},
        {"key " AWS " denied", AWS},
        {"cookie=" JWT "; path=/", JWT},
        {"Authorization: Bearer abcdef123456", "abcdef123456"},
        {"Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"},
        {"'Authorization': 'Bearer abcdef123456'", "abcdef123456"},
        {"ServerArgs(model='m', api_key='s3cr3t', port=30000)", "s3cr3t"},
        {"{\"api_key\": \"s3cr3t\", \"port\": 1}", "s3cr3t"},
        {"{\\\"api_key\\\": \\\"s3cr3t\\\", \\\"port\\\": 1}", "s3cr3t"},
        {"'api_key': ['one-key', 'two-key']", "two-key"},
        {"vllm serve m --api-key hunter --port 1", "hunter"},
        {"vllm serve m --api-key=hunter --port 1", "hunter"},
        {"['vllm', '--api-key', 'hunter']", "hunter"},
        {"password=hunter", "hunter"},
        {"DB_PASSWORD: hunter", "hunter"},
        {"PGPASSWORD=12345", "12345"},
        {"postgres://bob:tr0ub4dor@db/x", "tr0ub4dor"},
        {"redis://:tr0ub4dor@10.0.0.1:6379/0", "tr0ub4dor"},
        {"GET /v1?token=abc123def456&x=1", "abc123def456"},
        {"X-Amz-Signature=0a1b2c3d4e&x=1", "0a1b2c3d4e"},
        {"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI"},
        {"-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"},
        {"-----BEGIN PRIVATE KEY----- MIIEow (cut", "MIIEow"},
        {"line\\n" HF "\\nline", HF},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) assert_hidden(cases[i][0], cases[i][1]);
}

static void test_readable(void **state) {
    (void)state;
    static const char *const texts[] = {
        "max_total_num_tokens=211904, chunked_prefill_size=8192",
        "token: 128 eos_token='<s>' pad_token: \"[PAD]\"",
        "KV Cache is allocated. #tokens: 211904",
        "error: argument --api-key: expected one argument",
        "api_key=None, admin_api_key=null, password=''",
        "use --api-key to protect it",
        "pass {'HF_TOKEN': '<your-token>'}",
        "Bearer token missing",
        "ServerArgs(tokenizer_path='/models/x', tokenizer_mode='auto')",
        "https://github.com/sgl-project/sglang/issues/1",
        "user@host: not a URL",
        "sk-learn and hf_hub",
        "secretary=alice",
        "RuntimeError: No supported CUDA architectures found for major versions [10].",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) assert_kept(texts[i]);
}

static void test_equal_masks(void **state) {
    (void)state;
    struct dg_buf out = masked("a=1 password=one password=one password=two");
    char *first = strstr(out.ptr, "<secret:"), *second = strstr(first + 1, "<secret:"),
         *third = strstr(second + 1, "<secret:");
    assert_memory_equal(first, second, 13);
    assert_memory_not_equal(first, third, 13);
    dg_buf_release(&out);
}

static struct dg_buf shared(const char *s, unsigned unmask) {
    struct dg_slice names[] = {DG_S("node-7")};
    struct dg_strs hosts = {names, 1};
    struct dg_buf out = DG_BUF_INIT(1 << 16);
    assert_int_equal(dg_mask_shared(&out, dg_cstr(s), unmask, &hosts), 0);
    return out;
}

static void test_shared(void **state) {
    (void)state;
    static const struct {
        const char *text, *hidden;
        unsigned bit;
    } cases[] = {
        {"connect to 10.1.2.3:30000 failed", "10.1.2.3", DG_UNMASK_ADDRESSES},
        {"peer fe80::1ff:fe23:4567:890a gone", "fe80::1ff", DG_UNMASK_ADDRESSES},
        {"mac 02:42:ac:11:00:02 up", "02:42:ac", DG_UNMASK_ADDRESSES},
        {"kernel of node-7 said", "node-7", DG_UNMASK_HOSTS},
        {"http://gpu-12:8000/v1", "gpu-12", DG_UNMASK_HOSTS},
        {"ip-10-0-0-1.ec2.internal", "ip-10", DG_UNMASK_HOSTS},
        {"ServerArgs(host='llm-frontend', port=1)", "llm-frontend", DG_UNMASK_HOSTS},
        {"--model=/home/alice/models/x", "alice", DG_UNMASK_PATHS},
        {"mail alice@example.org now", "alice", DG_UNMASK_USERS},
        {"uid=1000(alice) gid=1000", "alice", DG_UNMASK_USERS},
        {"Received request cmpl-1: prompt: 'Tell me a secret', params: x", "Tell me", DG_UNMASK_PROMPTS},
        {"{\"messages\": [{\"role\": \"user\", \"content\": \"hi there\"}]}", "hi there", DG_UNMASK_PROMPTS},
        {"GenerateReqInput(text='hi there', input_ids=[1, 2, 3])", "1, 2", DG_UNMASK_PROMPTS},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct dg_buf hidden = shared(cases[i].text, 0), open = shared(cases[i].text, cases[i].bit);
        struct dg_buf twice = shared(dg_buf_slice(&hidden).ptr, 0);
        if (strstr(hidden.ptr, cases[i].hidden)) fail_msg("not hidden: %s", hidden.ptr);
        if (!strstr(open.ptr, cases[i].hidden)) fail_msg("hidden although allowed: %s", open.ptr);
        assert_string_equal(hidden.ptr, twice.ptr);
        dg_buf_release(&hidden);
        dg_buf_release(&open);
        dg_buf_release(&twice);
    }
}

static void test_shared_readable(void **state) {
    (void)state;
    static const char *const texts[] = {
        "nvidia-cublas-cu12==12.9.1.4 torch 2.9.1",
        "[2026-05-22 09:20:44 TP0] c10::cuda::CUDAException",
        "NVRM: Xid (PCI:0000:9b:00): 79, pid=1",
        "listening on 0.0.0.0:30000 and 127.0.0.1",
        "https://huggingface.co/meta-llama/x see https://github.com/a/b",
        "File \"/usr/lib/python3/dist-packages/x.py\", line 3",
        "host memory: 512 GB",
        "2026-05-22T09:20:44Z",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct dg_buf out = shared(texts[i], 0);
        assert_string_equal(out.ptr, texts[i]);
        dg_buf_release(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secrets), cmocka_unit_test(test_readable),        cmocka_unit_test(test_equal_masks),
        cmocka_unit_test(test_shared),  cmocka_unit_test(test_shared_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
