#include "base/timex.h"
#include "base/err.h"
#include <time.h>

static double clock_seconds(clockid_t id) {
    struct timespec ts;
    if (clock_gettime(id, &ts)) return DG_TIME_NONE;
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

double dg_time_now(void) { return clock_seconds(CLOCK_REALTIME); }
double dg_time_mono(void) { return clock_seconds(CLOCK_MONOTONIC); }
double dg_time_cpu(void) { return clock_seconds(CLOCK_THREAD_CPUTIME_ID); }

static bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

static bool in_range(int year, int mon, int day, int hour, int min, double sec) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (year < 1 || year > 9999 || mon < 1 || mon > 12 || hour < 0 || hour > 23 || min < 0 || min > 59) return false;
    return day >= 1 && day <= days[mon - 1] + (mon == 2 && is_leap(year)) && sec >= 0 && sec < 61;
}

/* Days from 1970-01-01 to a date; years are counted from March, so that the leap day is the last one. */
static int64_t days_from_civil(int year, int mon, int day) {
    int64_t y = mon <= 2 ? year - 1 : year, from_march = (mon + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * from_march + 2) / 5 + day - 1 - 719468;
}

double dg_time_utc(int year, int mon, int day, int hour, int min, double sec) {
    if (!in_range(year, mon, day, hour, min, sec)) return DG_TIME_NONE;
    return (double)(days_from_civil(year, mon, day) * 86400 + hour * 3600 + min * 60) + sec;
}

double dg_time_local(int year, int mon, int day, int hour, int min, double sec) {
    if (!in_range(year, mon, day, hour, min, sec)) return DG_TIME_NONE;
    struct tm tm = {.tm_year = year - 1900,
                    .tm_mon = mon - 1,
                    .tm_mday = day,
                    .tm_hour = hour,
                    .tm_min = min,
                    .tm_wday = -1, /* mktime sets it, unless it fails: -1 is a time as well */
                    .tm_isdst = -1};
    time_t t = mktime(&tm);
    return tm.tm_wday < 0 ? DG_TIME_NONE : (double)t + sec;
}

int dg_time_add_rfc3339(struct dg_buf *out, double t) {
    if (!(t >= dg_time_utc(1, 1, 1, 0, 0, 0) && t <= dg_time_utc(9999, 12, 31, 23, 59, 59))) return 0;
    double whole = floor(t);
    long micro = lround((t - whole) * 1e6);
    if (micro == 1000000) {
        whole += 1;
        micro = 0;
    }
    time_t seconds = (time_t)whole;
    struct tm tm;
    if (!gmtime_r(&seconds, &tm)) return 0;
    dg_buf_addf(out, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                tm.tm_min, tm.tm_sec);
    if (micro) {
        int digits = 6;
        for (; micro % 10 == 0; digits--) micro /= 10;
        dg_buf_addf(out, ".%0*ld", digits, micro);
    }
    return dg_buf_addc(out, 'Z');
}
