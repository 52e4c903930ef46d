/* Which bytes of a text logs hold least often. */
#include "base/rare.h"
#include <string.h>

enum { HOLDS_COUNT_LESS = 4 /* bits: a family that grows costs more than a gram that is met */ };

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

/* What stands in these is common, however surprising its letters are. */
const char DG_RARE_COMMON[] =
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

static char alone(unsigned char c) { return c >= ' ' && c <= '~' ? ONE[c - ' '] : 'Z'; }

/* How surprising byte i is after the one before it, in half bits. */
static unsigned surprise(struct dg_slice s, size_t i) {
    unsigned char c = (unsigned char)s.ptr[i];
    int a = i ? letter((unsigned char)s.ptr[i - 1]) : -1, b = letter(c);
    return (unsigned)((a >= 0 && b >= 0 ? AFTER[a][b] : alone(c)) - 'A');
}

/* How often logs hold the gram at `at`, in parts of 2^60. */
static uint64_t often(struct dg_slice lit, size_t at) {
    unsigned bits = 0;
    for (size_t i = at; i < at + DG_RARE_SIZE; i++) bits += surprise(lit, i);
    if (memmem(DG_RARE_COMMON, sizeof(DG_RARE_COMMON) - 1, lit.ptr + at, DG_RARE_SIZE)) bits /= 4;
    return UINT64_C(1) << (bits < 120 ? 60 - bits / 2 : 0);
}

/* What families are made of: the characters of their grams, by place, as bits: ' ' to '_', and '`' to '~'. Printed by
 * tools/families for the shipped rules, 2026-11-30. Others fit well enough, or make a family a little wider. */
static const uint64_t FAMILIES[DG_RARE_FAMILIES][DG_RARE_SIZE][2] = {
    {{0x001920009400d100, 0x040dd1b6},
     {0x0000120a20000001, 0x0128f532},
     {0x0840790a86002000, 0x0884d225},
     {0x0001101886000004, 0x00a02284}},
    {{0x0905907a01000000, 0x00c041a8},
     {0x0081608204002101, 0x03d5be8a},
     {0x8009426850000281, 0x042db3fc},
     {0x086122d434007104, 0x008028ca}},
    {{0x0846d0f200000201, 0x023fe35a},
     {0x8058012400080001, 0x02217184},
     {0x202984a200204000, 0x00fdcb18},
     {0xa029230000101280, 0x00042000}},
    {{0x8029025800014004, 0x021cd358},
     {0x0010120000010001, 0x0018d23a},
     {0x010415a2000d4024, 0x01a0e2d0},
     {0x0000201204108180, 0x10c2110c}},
    {{0xc04c03ca00002400, 0x01c48010},
     {0x8210403820002400, 0x00587b0e},
     {0xa049000a08000580, 0x01521380},
     {0x8048502204002001, 0x023d8a5a}},
    {{0x001f6ab001228100, 0x122c40d9},
     {0x0504320c00110001, 0x026df12e},
     {0x0020d00640980000, 0x0303a880},
     {0x0a44002020010201, 0x025840e6}},
    {{0x8098287600000881, 0x06117994},
     {0x8149800c02000901, 0x00548122},
     {0x0001002206012001, 0x0009121a},
     {0x000404080e001000, 0x03400109}},
    {{0x0040320c0000e102, 0x0359ca1a},
     {0x1024008000004081, 0x000c48d2},
     {0x80a84aa620002080, 0x00676444},
     {0x904022aa20000001, 0x04e160d2}},
    {{0x0095673220006008, 0x02000954},
     {0x0038602a4000c10c, 0x03999b80},
     {0x80c0800000000001, 0x017126ba},
     {0x0809c02a04000120, 0x0361f27e}},
    {{0x0259501b00008101, 0x024d981c},
     {0x8028b00705112204, 0x0001a15c},
     {0x2000008520000001, 0x02b01c04},
     {0x8014280b24002080, 0x05ee2927}},
    {{0x1030c2fe04010004, 0x0040185c},
     {0x00003e8400810800, 0x007960da},
     {0x8050434800010000, 0x002dc156},
     {0x8001a02e00030001, 0x022db87a}},
    {{0x8924352440010902, 0x033c4690},
     {0x8015aa1020800902, 0x0031d20a},
     {0x003532b02510aa06, 0x010c285c},
     {0x2014001206003083, 0x00016855}},
    {{0x003081a480000000, 0x022853a8},
     {0x0004a28a83000000, 0x0265205c},
     {0x201f68d084019200, 0x00117204},
     {0x0019409084018201, 0x03f86212}},
    {{0x00c9405000020001, 0x0191b6a6},
     {0x0009602a01098084, 0x02318ba0},
     {0x8820221000010001, 0x0258035c},
     {0x01053a00013c622a, 0x01c81a40}},
    {{0x08ccaa2800100000, 0x043d40a7},
     {0xa019c24000012000, 0x0075639a},
     {0x880440000001a000, 0x030c9070},
     {0x8148a02000048000, 0x02611508}},
    {{0x203fb15830004000, 0x036120c4},
     {0x0005a0001000c004, 0x0021e20a},
     {0x0000020812006000, 0x02184136},
     {0x8000000c18018002, 0x0339f1c6}},
};

static uint64_t share(unsigned char c) { return UINT64_C(1) << (60 - (alone(c) - 'A') / 2); }

static bool fits(unsigned family, size_t place, unsigned char c) {
    if (c < ' ' || c > '~') return false;
    return FAMILIES[family][place][(c - ' ') / 64] >> (c - ' ') % 64 & 1;
}

/* How much wider the family gets, in parts of 2^60: what it lets through is as common as its characters. */
static uint64_t widens(struct dg_slice lit, size_t at, unsigned family) {
    uint64_t sum = 0;
    for (size_t k = 0; k < DG_RARE_SIZE; k++)
        if (!fits(family, k, (unsigned char)lit.ptr[at + k])) sum += share((unsigned char)lit.ptr[at + k]);
    return sum;
}

struct dg_rare dg_rare_gram(struct dg_slice lit) {
    struct dg_rare best = {0};
    uint64_t best_cost = UINT64_MAX;
    for (size_t at = 0; at + DG_RARE_SIZE <= lit.len && at <= UINT16_MAX; at++) {
        uint64_t holds = often(lit, at) >> HOLDS_COUNT_LESS;
        for (unsigned f = 0; f < DG_RARE_FAMILIES && holds < best_cost; f++) {
            uint64_t cost = holds + widens(lit, at, f);
            if (cost >= best_cost) continue;
            best_cost = cost;
            best = (struct dg_rare){(uint16_t)at, (uint16_t)f};
        }
    }
    return best;
}
