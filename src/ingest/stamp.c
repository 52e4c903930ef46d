#include "ingest/stamp.h"
#include "base/mem.h"
#include <time.h>

enum { DAY_SECONDS = 86400 };

const char *dg_stamp_number(const char *p, const char *end, int min, int max, int *ret) {
    int n = 0, v = 0;
    for (; p < end && n < max && dg_is_digit(*p); p++, n++) v = v * 10 + (*p - '0');
    if (n < min || (p < end && dg_is_digit(*p))) return NULL;
    *ret = v;
    return p;
}

static const char *byte(const char *p, const char *end, char c) { return p && p < end && *p == c ? p + 1 : NULL; }

static const char *two_digits(const char *p, const char *end, int *ret) {
    if (!p || end - p < 2 || !dg_is_digit(p[0]) || !dg_is_digit(p[1])) return NULL;
    *ret = (p[0] - '0') * 10 + (p[1] - '0');
    return p + 2;
}

/* ".123", ",123456": adds it to sec. Nothing there: p. */
static const char *fraction(const char *p, const char *end, struct dg_stamp *s) {
    if (end - p < 2 || (*p != '.' && *p != ',') || !dg_is_digit(p[1])) return p;
    s->comma = *p++ == ',';
    uint64_t value = 0, scale = 1;
    for (; p < end && dg_is_digit(*p); p++, s->fraction++) {
        if (s->fraction >= 12) continue; /* a double holds no more of it */
        value = value * 10 + (uint64_t)(*p - '0');
        scale *= 10;
    }
    s->sec += (double)value / (double)scale;
    return p;
}

const char *dg_stamp_clock(const char *p, const char *end, struct dg_stamp *s) {
    int sec = 0;
    p = byte(two_digits(p, end, &s->hour), end, ':');
    p = byte(two_digits(p, end, &s->min), end, ':');
    p = two_digits(p, end, &sec);
    if (!p || (p < end && dg_is_digit(*p))) return NULL;
    s->sec = sec;
    return fraction(p, end, s);
}

const char *dg_stamp_zone(const char *p, const char *end, struct dg_stamp *s) {
    const char *z = byte(p, end, 'Z');
    if (z) {
        s->zoned = true;
        return z;
    }
    int hours = 0, minutes = 0;
    if (p >= end || (*p != '+' && *p != '-')) return p;
    const char *q = two_digits(p + 1, end, &hours);
    if (q && q < end && *q == ':') q++;
    q = two_digits(q, end, &minutes);
    if (!q || (q < end && dg_is_digit(*q)) || hours > 15 || minutes > 59) return p;
    s->zoned = true;
    s->offset = (hours * 3600 + minutes * 60) * (*p == '-' ? -1 : 1);
    return q;
}

const char *dg_stamp_iso(const char *p, const char *end, struct dg_stamp *s) {
    if (end - p < 19 || (p[4] != '-' && p[4] != '/') || p[7] != p[4] || (p[10] != 'T' && p[10] != ' ')) return NULL;
    int century, year;
    if (!two_digits(p, end, &century) || !two_digits(p + 2, end, &year) || !two_digits(p + 5, end, &s->mon) ||
        !two_digits(p + 8, end, &s->day))
        return NULL;
    s->year = century * 100 + year;
    p = dg_stamp_clock(p + 11, end, s);
    return p ? dg_stamp_zone(p, end, s) : NULL;
}

/* Three letters (or what tells them apart) of each month in English, then what German, French, Spanish, Italian,
 * Portuguese, Dutch and Russian have beside that. */
static const struct {
    const char *start;
    int mon;
} months[] = {
    {"jan", 1},
    {"feb", 2},
    {"mar", 3},
    {"apr", 4},
    {"may", 5},
    {"jun", 6},
    {"jul", 7},
    {"aug", 8},
    {"sep", 9},
    {"oct", 10},
    {"nov", 11},
    {"dec", 12},
    {"m\303\244r", 3},
    {"mai", 5},
    {"okt", 10},
    {"dez", 12},
    {"f\303\251v", 2},
    {"avr", 4},
    {"juin", 6},
    {"juil", 7},
    {"ao\303\273", 8},
    {"d\303\251c", 12},
    {"ene", 1},
    {"abr", 4},
    {"ago", 8},
    {"dic", 12},
    {"gen", 1},
    {"mag", 5},
    {"giu", 6},
    {"lug", 7},
    {"set", 9},
    {"ott", 10},
    {"fev", 2},
    {"out", 10},
    {"mei", 5},
    {"mrt", 3},
    {"maa", 3},
    {"\321\217\320\275\320\262", 1},
    {"\321\204\320\265\320\262", 2},
    {"\320\274\320\260\321\200", 3},
    {"\320\260\320\277\321\200", 4},
    {"\320\274\320\260\321\217", 5},
    {"\320\274\320\260\320\271", 5},
    {"\320\270\321\216\320\275", 6},
    {"\320\270\321\216\320\273", 7},
    {"\320\260\320\262\320\263", 8},
    {"\321\201\320\265\320\275", 9},
    {"\320\276\320\272\321\202", 10},
    {"\320\275\320\276\321\217", 11},
    {"\320\264\320\265\320\272", 12},
};

int dg_stamp_month(struct dg_slice word) {
    int number = 0;
    const char *p = word.ptr, *end = p + word.len;
    if (word.len && dg_is_digit(*p)) { /* "3月", "3월" */
        p = dg_stamp_number(p, end, 1, 2, &number);
        struct dg_slice rest = dg_slice(p, p ? (size_t)(end - p) : 0);
        bool named = dg_slice_is(rest, "\346\234\210") || dg_slice_is(rest, "\354\233\224");
        return named && number >= 1 && number <= 12 ? number : 0;
    }
    for (size_t i = 0; i < DG_COUNT(months); i++) {
        const char *start = months[i].start;
        size_t k = 0;
        while (k < word.len && start[k] && (p[k] == start[k] || (dg_is_letter(p[k]) && (p[k] | 0x20) == start[k]))) k++;
        if (!start[k]) return months[i].mon;
    }
    return 0;
}

/* A word of letters (any language), and "3月". */
static const char *word_end(const char *p, const char *end) {
    while (p < end && *p != ' ' && *p != ':' && *p != ']' && *p != '[') p++;
    return p;
}

const char *dg_stamp_syslog(const char *p, const char *end, struct dg_stamp *s) {
    if (end - p > 40) end = p + 40; /* a month, a day and a clock are no longer */
    const char *q = word_end(p, end);
    const char *day = q;
    while (day < end && *day == ' ') day++;
    const char *clock = day > q ? byte(dg_stamp_number(day, end, 1, 2, &s->day), end, ' ') : NULL;
    s->mon = clock ? dg_stamp_month(dg_slice(p, (size_t)(q - p))) : 0;
    return s->mon ? dg_stamp_clock(clock, end, s) : NULL;
}

bool dg_stamp_ctime(struct dg_slice t, struct dg_stamp *s) {
    /* from the end, as the words in front differ by language: " 16:24:18 2025" */
    if (t.len < 20 || t.len > 48) return false;
    const char *end = t.ptr + t.len, *clock = end - 13;
    if (clock[-1] != ' ' || clock[8] != ' ' || !dg_stamp_clock(clock, clock + 8, s) ||
        !dg_stamp_number(clock + 9, end, 4, 4, &s->year))
        return false;
    const char *day = clock - 1;
    while (day > t.ptr && dg_is_digit(day[-1])) day--;
    if (day == t.ptr || !dg_stamp_number(day, clock - 1, 1, 2, &s->day)) return false;
    struct dg_slice words = dg_slice_trim(dg_slice(t.ptr, (size_t)(day - t.ptr)));
    ptrdiff_t blank = dg_slice_rfind_ch(words, ' ');
    s->mon = dg_stamp_month(dg_slice_from(words, (size_t)(blank + 1)));
    return true;
}

/* The full hour of a stamp in local time. Without a year: the last such hour that is not ahead of now by more than a
 * day. */
static double local_hour(const struct dg_stamp *s) {
    if (s->year) return dg_time_local(s->year, s->mon, s->day, s->hour, 0, 0);
    double now = dg_time_now();
    int year = 1971 + (int)(now / (365.2425 * DAY_SECONDS));
    for (int tries = 0; tries < 10; tries++, year--) { /* 29 February: up to eight years back */
        double t = dg_time_local(year, s->mon, s->day, s->hour, 0, 0);
        if (t <= now + DAY_SECONDS) return t;
    }
    return DG_TIME_NONE;
}

/* mktime is slow, and a log asks for the same hours again and again, for those of a few sources in turn; clocks are
 * changed at full hours. */
static double cached_hour(const struct dg_stamp *s) {
    static _Thread_local struct {
        int year, mon, day, hour;
        double time;
        bool known;
    } hours[64];
    size_t i = (unsigned)(s->day * 24 + s->hour) % DG_COUNT(hours);
    if (!hours[i].known || hours[i].year != s->year || hours[i].mon != s->mon || hours[i].day != s->day ||
        hours[i].hour != s->hour) {
        hours[i].time = local_hour(s);
        hours[i].year = s->year;
        hours[i].mon = s->mon;
        hours[i].day = s->day;
        hours[i].hour = s->hour;
        hours[i].known = true;
    }
    return hours[i].time;
}

double dg_stamp_epoch(const struct dg_stamp *s) {
    if (s->min > 59 || s->sec >= 61) return DG_TIME_NONE;
    if (s->zoned && s->year) return dg_time_utc(s->year, s->mon, s->day, s->hour, s->min, s->sec) - s->offset;
    return cached_hour(s) + s->min * 60 + s->sec;
}

double dg_stamp_year_shift(double t, double to) {
    int years = (int)round((to - t) / (365.2425 * DAY_SECONDS));
    time_t seconds = (time_t)t;
    struct tm tm;
    if (!years || !gmtime_r(&seconds, &tm)) return 0;
    int day = tm.tm_mon == 1 && tm.tm_mday == 29 ? 28 : tm.tm_mday;
    double from = dg_time_utc(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, 0, 0, 0);
    double shift = dg_time_utc(tm.tm_year + 1900 + years, tm.tm_mon + 1, day, 0, 0, 0) - from;
    return dg_time_known(shift) ? shift : 0;
}
