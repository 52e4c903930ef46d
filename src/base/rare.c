/* Which bytes of a text logs hold least often. */
#include "base/rare.h"
#include <string.h>

/* Half bits of information of a printable character, and of a letter or space (27th) after a letter or space, 'A' being
 * none: counted over server logs and English prose. */
static const char ONE[] =
    "GWRQWUWSQQSUNMMNLNNPPPPQQQMUSQSWUQSQRQQRSPVUQSQQQVQQOSUTVTVQVRSQVKOLMINMMKTOLMJJMQKKJLPPROUVUVW";
static const char AFTER[27][28] = {
    "VKIKSNJUJVOHKGVJXGIFMMRQMUI", "GRNQGPQVHLXGQQJSXJMOFVYRIVM", "HTMSGTUGLYIKQXFQUMMIIOXWQWL",
    "IRRNEURSGUTOTRJTZNKQLSTXPZE", "LNJIMNPTPXUKLGSMKGIKNNOLRXF", "KVRUILSWGXYMXVFKYJOJFZWWNZF",
    "NQNTEUNGHVZLOLNOYHLPMUVRVSF", "GYTTDYUZHZWUSSIJWJRINZVZSZI", "KJHKLLKXWXQILEHNYMHGTMZRZNP",
    "HPONFTPSMRRMMNJOPOKRIPMUURL", "HRWUCVPRKUTQUNOKTSKQPPQYUTH", "ISTMFOSWGUTFMVIRZRKLMRTWKWG",
    "GLQPFWVVIXTNKQHGUSKSKUXVRXH", "KVKHHNGVJVNOTKKQZWHHNOWZNTF", "NOKIQINUNSILIFNKZFMKHMLUTVI",
    "HXLRHWRJIYSHPWHJYHKJHWWXHZM", "UVWVUWXSRTUQSWVVVTKSDWRVVWT", "HSKMERLUHZMNLMHQZMJJIMSYLXG",
    "JUMTGSOKIVPQQPJMVLJGKTSYNYF", "JWLQGSXFGYRPSUGNZJLMNYNVMWG", "MKLJGRIXMZTGLGSLZIGGWTZQVVJ",
    "GXQVCULZGYVJNTLTXROURWXVWWM", "FZRRHXVHEYTPTKIVVLMUVVKXXWJ", "JQHQGQROJVTQLVTHVUPGUTTNPSJ",
    "NRTRNURUOVXRMMHJXIJJUSRXWWD", "HTRSDSSPHQSNNTOTROPQOUTRPOK", "JLKMMKMOKVRMMNKLVMKHMPMXPZG"};

/* Words that logs are full of: what stands in them is common, however surprising its letters are. */
static const char COMMON[] =
    " the request requests process processes server client worker memory token tokens output input prompt cache cached "
    "batch prefill decode batch model engine loaded loading finished started starting running waiting generation "
    "throughput timeout default context length stream answer response value block table failed to retry closed open "
    "opened connection received receive after before with from for and that not found file line text user usage used "
    "free total time version weight weights checkpoint shards safetensors tokenizer config device distributed "
    "initialized initializing graph capture attention backend support supported local work queue is full error errors "
    "exit exited code while in of on to be an a this was has been memory pool loading model weights took loading weight "
    "begin end model runner init torch server process failed to load model for application startup complete number of "
    "waiting for the scheduler hit an exception KV cache shared memory size GPU KV cache Loading safetensors checkpoint "
    "INFO:     \"POST /v1/chat/completions HTTP/1.1\" 200 OK cuda graph: True most recent call last ";

static int letter(unsigned char c) { return c >= 'a' && c <= 'z' ? c - 'a' : c == ' ' ? 26 : -1; }

/* How surprising byte i is after the one before it, in half bits. */
static unsigned surprise(struct dg_slice s, size_t i) {
    unsigned char c = (unsigned char)s.ptr[i];
    int a = i ? letter((unsigned char)s.ptr[i - 1]) : -1, b = letter(c);
    return (unsigned)((a >= 0 && b >= 0 ? AFTER[a][b] : c >= ' ' && c <= '~' ? ONE[c - ' '] : 'Z') - 'A');
}

/* How often logs hold lit[at, at + n), in parts of 2^60; with `words`: what common words hold is common, however
 * surprising its letters are. */
static uint64_t often(struct dg_slice lit, size_t at, size_t n, bool words) {
    unsigned bits = 0;
    for (size_t i = at; i < at + n; i++) bits += surprise(lit, i);
    if (words && memmem(COMMON, sizeof(COMMON) - 1, lit.ptr + at, n)) bits /= 4;
    return UINT64_C(1) << (bits < 120 ? 60 - bits / 2 : 0);
}

/* What it costs to seek the grams from `at` on: a place that begins like one of them is looked at again, one that holds
 * all of it costs as much as ten of those. */
static uint64_t cost(struct dg_slice lit, size_t at, size_t size, bool words) {
    uint64_t sum = 0;
    for (size_t g = at; g < at + DG_RARE_STEP && g + size <= lit.len; g++)
        sum += often(lit, g, DG_RARE_SHORT, words) / 16 + often(lit, g, size, words) / 16 * 10;
    return sum;
}

uint16_t dg_rare_run(struct dg_slice lit) {
    size_t size = dg_rare_is_short(lit.len) ? DG_RARE_SHORT : DG_RARE_LONG, best_at = 0;
    uint64_t best = UINT64_MAX;
    for (size_t at = 0; at == 0 || at + size + DG_RARE_STEP - 1 <= lit.len; at++) {
        if (cost(lit, at, size, false) >= best) continue; /* words make it no rarer */
        uint64_t now = cost(lit, at, size, true);
        if (now >= best) continue;
        best = now;
        best_at = at;
    }
    return (uint16_t)best_at;
}
