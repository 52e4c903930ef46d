/* gen healthy|english|hostile MIB: a log of that size on standard output, always the same.
 * gen rules N: a pack of N rules, each with a literal of its own that is in none of the logs.
 *
 * healthy  a server that starts and serves: batches, requests, eight ranks
 * english  log lines of varied English words, hardly one like another
 * hostile  every line matches some rule and differs from the others in pid, rank, address and time */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t any(uint32_t n) { /* xorshift64*: 0..n-1 */
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545f4914f6cdd1du) >> 33) % n;
}

static const char *const SYLLABLES[] = {"al", "ber", "con", "der", "en", "for", "ga",  "hu",  "in", "jo",  "ker", "lo",
                                        "mi", "ner", "or",  "pre", "qu", "re",  "sta", "ter", "un", "ver", "wi",  "y"};
static const char *const WORDS[] = {
    "the",    "of",    "request", "with",    "server",   "and",     "a",      "to",      "queue",
    "worker", "is",    "was",     "client",  "memory",   "token",   "cache",  "batch",   "for",
    "on",     "model", "engine",  "loaded",  "finished", "started", "new",    "process", "time",
    "weight", "after", "before",  "from",    "block",    "table",   "failed", "retry",   "timeout",
    "closed", "open",  "value",   "default", "context",  "length",  "stream", "answer"};

enum { N_WORDS = sizeof(WORDS) / sizeof(*WORDS), N_SYLLABLES = sizeof(SYLLABLES) / sizeof(*SYLLABLES) };

static int word(char *to) { /* mostly common words, often made-up ones */
    if (any(3)) return sprintf(to, "%s", WORDS[any(N_WORDS)]);
    int n = 0;
    for (uint32_t i = 2 + any(3); i; i--) n += sprintf(to + n, "%s", SYLLABLES[any(N_SYLLABLES)]);
    return n;
}

static int stamp(char *to, uint64_t second) {
    return sprintf(to, "2026-05-%02u %02u:%02u:%02u", (unsigned)(second / 86400 % 28 + 1),
                   (unsigned)(second / 3600 % 24), (unsigned)(second / 60 % 60), (unsigned)(second % 60));
}

static int healthy(char *to, uint64_t i) {
    char at[32];
    stamp(at, i / 40);
    switch (any(20)) {
    case 0:
    case 1:
    case 2:
        return sprintf(
            to,
            "[%s TP0] Prefill batch. #new-seq: %u, #new-token: %u, #cached-token: %u, full token usage: 0.%02u, #running-req: %u, #queue-req: %u\n",
            at, any(8) + 1, any(8192), any(4096), any(100), any(64), any(16));
    case 3:
    case 4:
    case 5:
    case 6:
        return sprintf(to, "INFO:     10.12.%u.%u:%u - \"POST /v1/chat/completions HTTP/1.1\" 200 OK\n", any(256),
                       any(256), 1024 + any(60000));
    case 7:
        return sprintf(
            to,
            "INFO 05-22 %02u:%02u:%02u [loggers.py:123] Engine 000: Avg prompt throughput: %u.%u tokens/s, Avg generation throughput: %u.%u tokens/s, Running: %u reqs, Waiting: %u reqs, GPU KV cache usage: %u.%u%%\n",
            any(24), any(60), any(60), any(9000), any(10), any(900), any(10), any(64), any(8), any(100), any(10));
    case 8:
        return sprintf(
            to, "[%s TP%u] Receive: obj=GenerateReqInput(rid='%08x%08x', text=None, input_ids=None, stream=True)\n", at,
            any(8), any(1u << 31), any(1u << 31));
    default:
        return sprintf(
            to,
            "[%s TP%u] Decode batch. #running-req: %u, #full token: %u, full token usage: 0.%02u, cuda graph: True, gen throughput (token/s): %u.%02u, #queue-req: %u\n",
            at, any(8), any(64) + 1, any(400000), any(100), any(4000), any(100), any(8));
    }
}

static int english(char *to, uint64_t i) {
    static const char *const LEVELS[] = {"INFO", "INFO", "INFO", "DEBUG", "WARNING"};
    int n = stamp(to, i / 60);
    n += sprintf(to + n, ",%03u %s %s.%s:%u ", any(1000), LEVELS[any(5)], WORDS[any(N_WORDS)], WORDS[any(N_WORDS)],
                 any(900));
    for (uint32_t k = 5 + any(20); k; k--) {
        n += any(9) ? word(to + n) : sprintf(to + n, "%s=%u", WORDS[any(N_WORDS)], any(100000));
        to[n++] = k == 1 ? '\n' : ' ';
    }
    return n;
}

static int hostile(char *to, uint64_t i) {
    char at[32];
    uint32_t rank = any(8), pid = 1000 + any(60000);
    stamp(at, i / 40);
    switch (any(6)) {
    case 0:
        return sprintf(
            to,
            "[%s TP%u] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %u.00 MiB. GPU %u has a total capacity of %u.%02u GiB of which %u.88 MiB is free.\n",
            at, rank, any(4000), rank, any(90), any(100), any(300));
    case 1:
        return sprintf(
            to,
            "(Worker_TP%u pid=%u) ERROR 05-22 11:42:%02u [core.py:%u] RuntimeError: CUDA error: an illegal memory access was encountered\n",
            rank, pid, any(60), any(900));
    case 2:
        return sprintf(
            to,
            "[rank%u]: [E522 00:20:%02u.%06u ProcessGroupNCCL.cpp:%u] [PG ID 0 PG GUID 0 Rank %u] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%u, OpType=ALLREDUCE, Timeout(ms)=600000) ran for %u milliseconds before timing out.\n",
            rank, any(60), any(1000000), any(900), rank, any(100000), 600000 + any(999));
    case 3:
        return sprintf(to, "Traceback (most recent call last):\n  File \"/app/worker_%u.py\", line %u, in run\n", pid,
                       any(900));
    case 4:
        return sprintf(to, "[%s TP%u] Decode batch. #running-req: %u, #full token: %u, full token usage: 0.%02u\n", at,
                       rank, any(64), any(400000), any(100));
    default:
        return sprintf(
            to,
            "ImportError: libcudart.so.%u: cannot open shared object file: No such file or directory (pid %u, 0x%08x)\n",
            11 + any(3), pid, any(1u << 31));
    }
}

static int rules(unsigned long long n) {
    puts("pack: bench\nrules:");
    for (unsigned long long i = 0; i < n; i++) {
        char text[1024];
        int len = sprintf(text, "cannot ");
        for (uint32_t k = 2 + any(4); k; k--) {
            len += word(text + len);
            text[len++] = ' ';
        }
        sprintf(text + len, "%llx", 0x9e3779b1ull * (i + 1));
        printf("- {id: r%llu, title: Made up, role: noise, match: {lit: '%s'}}\n", i, text);
    }
    return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv) {
    char *end = NULL;
    unsigned long long mib = argc == 3 ? strtoull(argv[2], &end, 10) : 0;
    int (*line)(char *, uint64_t) = argc < 2                      ? NULL
                                    : !strcmp(argv[1], "healthy") ? healthy
                                    : !strcmp(argv[1], "english") ? english
                                    : !strcmp(argv[1], "hostile") ? hostile
                                                                  : NULL;
    if (mib && !*end && !strcmp(argv[1], "rules")) return rules(mib);
    if (!line || !end || *end || !mib) {
        fputs("usage: gen healthy|english|hostile MIB, gen rules N\n", stderr);
        return 2;
    }
    static char buf[1 << 16];
    setvbuf(stdout, buf, _IOFBF, sizeof(buf));
    if (line == healthy)
        puts("[2026-05-01 00:00:00] server_args=ServerArgs(model_path='/models/m', tp_size=8, quantization=None)\n"
             "[2026-05-01 00:01:00] The server is fired up and ready to roll!");
    uint64_t total = mib << 20, done = 0;
    for (uint64_t i = 0; done < total; i++) {
        char text[4096];
        int n = line(text, i);
        if (fwrite(text, 1, (size_t)n, stdout) != (size_t)n) return 1;
        done += (uint64_t)n;
    }
    return fflush(stdout) ? 1 : 0;
}
