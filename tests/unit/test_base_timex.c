#include "unit.h"
#include "base/timex.h"
#include <time.h>

static void counts_from_the_epoch(void **state) {
    (void)state;
    assert_true(dg_time_utc(1970, 1, 1, 0, 0, 0) == 0);
    assert_true(dg_time_utc(2026, 5, 22, 9, 20, 44.5) == 1779441644.5);
    assert_true(dg_time_utc(2000, 2, 29, 0, 0, 0) == 951782400);
    assert_true(dg_time_utc(1, 1, 1, 0, 0, 0) == -62135596800.0);
    for (int year = 1902; year < 2100; year += 7)
        for (int mon = 1; mon <= 12; mon++) {
            struct tm tm = {.tm_year = year - 1900, .tm_mon = mon - 1, .tm_mday = 28, .tm_hour = 13};
            assert_true(dg_time_utc(year, mon, 28, 13, 0, 0) == (double)timegm(&tm));
        }
}

static void refuses_what_is_no_date(void **state) {
    (void)state;
    static const int bad[][5] = {{0, 1, 1, 0, 0},     {10000, 1, 1, 0, 0}, {2026, 0, 1, 0, 0},  {2026, 13, 1, 0, 0},
                                 {2026, 2, 29, 0, 0}, {1900, 2, 29, 0, 0}, {2026, 4, 31, 0, 0}, {2026, 1, 0, 0, 0},
                                 {2026, 1, 1, 24, 0}, {2026, 1, 1, -1, 0}, {2026, 1, 1, 0, 60}};
    for (size_t i = 0; i < DG_COUNT(bad); i++) {
        assert_false(dg_time_known(dg_time_utc(bad[i][0], bad[i][1], bad[i][2], bad[i][3], bad[i][4], 0)));
        assert_false(dg_time_known(dg_time_local(bad[i][0], bad[i][1], bad[i][2], bad[i][3], bad[i][4], 0)));
    }
    assert_false(dg_time_known(dg_time_utc(2026, 1, 1, 0, 0, 61)));
    assert_false(dg_time_known(dg_time_utc(2026, 1, 1, 0, 0, -0.1)));
    assert_false(dg_time_known(dg_time_utc(2026, 1, 1, 0, 0, DG_TIME_NONE)));
}

static void local_time_follows_tz(void **state) {
    (void)state;
    setenv("TZ", "UTC-5:30", 1); /* POSIX: east is negative */
    tzset();
    assert_true(dg_time_local(2026, 1, 1, 5, 30, 0.25) == dg_time_utc(2026, 1, 1, 0, 0, 0.25));
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    assert_true(dg_time_local(2026, 1, 1, 1, 0, 0) == dg_time_utc(2026, 1, 1, 0, 0, 0));
    assert_true(dg_time_local(2026, 7, 1, 2, 0, 0) == dg_time_utc(2026, 7, 1, 0, 0, 0));
    setenv("TZ", "UTC", 1);
    tzset();
    assert_true(dg_time_local(1969, 12, 31, 23, 59, 59) == -1); /* a time, not a failure */
}

static void formats(void **state) {
    (void)state;
    static const struct {
        double t;
        const char *text;
    } rows[] = {
        {1779441644, "2026-05-22T09:20:44Z"},
        {1779441644.25, "2026-05-22T09:20:44.25Z"},
        {-0.5, "1969-12-31T23:59:59.5Z"},
        {1779441644.9999999, "2026-05-22T09:20:45Z"},
        {-62135596800.0, "0001-01-01T00:00:00Z"},
        {253402300799.0, "9999-12-31T23:59:59Z"},
        {253402300800.0, ""},
        {-62135596801.0, ""},
        {1e300, ""},
        {0.000123, "1970-01-01T00:00:00.000123Z"},
    };
    for (size_t i = 0; i < DG_COUNT(rows); i++) {
        _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(100);
        assert_int_equal(dg_time_add_rfc3339(&b, rows[i].t), 0);
        assert_slice(dg_buf_slice(&b), rows[i].text);
    }
    _cleanup_(dg_buf_release) struct dg_buf b = DG_BUF_INIT(100);
    assert_int_equal(dg_time_add_rfc3339(&b, DG_TIME_NONE), 0);
    assert_int_equal(b.len, 0);
    _cleanup_(dg_buf_release) struct dg_buf small = DG_BUF_INIT(5);
    assert_int_equal(dg_time_add_rfc3339(&small, 0), -DG_E_LIMIT);
}

static void clocks_run(void **state) {
    (void)state;
    double a = dg_time_mono(), now = dg_time_now();
    assert_true(dg_time_mono() >= a);
    assert_true(now > 1.6e9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_from_the_epoch),
        cmocka_unit_test(refuses_what_is_no_date),
        cmocka_unit_test(local_time_follows_tz),
        cmocka_unit_test(formats),
        cmocka_unit_test(clocks_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
