#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/calendar.h"

enum { JULY_2026 = 1782864000 }; /* date -u -d 2026-07-01 +%s */

static const struct {
    const char *text;
    int64_t time;
} good[] = {
    {"2026-07-01T00:00:00Z", JULY_2026},
    {"2026-07-01T00:00:00.000Z", JULY_2026},
    {"2026-07-01T00:00:00.999999999Z", JULY_2026},
    {"2026-07-01 00:00:00", JULY_2026},
    {"2026-07-01 00:00:00 UTC", JULY_2026},
    {"2026-07-01 00:00:00.5 UTC", JULY_2026},
    {"2026-07-01T00:00:00+00:00", JULY_2026},
    {"2026-07-01T02:00:00+02:00", JULY_2026},
    {"2026-06-30T19:00:00-0500", JULY_2026},
    {"2026-07-01T05:30+05:30", JULY_2026},
    {"2026-07-01 02:00:00+02", JULY_2026},
    {"2026-07-01T00:00Z", JULY_2026},
    {"2026-07-01", JULY_2026},
    {"1970-01-01T00:00:01Z", 1},
    {"1969-12-31T23:59:59Z", -1},
    {"2024-02-29", 1709164800},
    {"2000-02-29", 951782400},
    {"0001-01-01T00:00:00Z", -62135596800},
    {"9999-12-31T23:59:59Z", 253402300799},
};

static const char *const bad[] = {
    "",
    "2026",
    "2026-07",
    "2026-7-1",
    "2026-13-01",
    "2026-02-29",
    "2100-02-29",
    "2026-06-31",
    "2026-00-10",
    "2026-07-00",
    "0000-07-01",
    " 2026-07-01",
    "2026-07-01 ",
    "2026-07-01T",
    "2026-07-01T00",
    "2026-07-01T24:00:00Z",
    "2026-07-01T00:60:00Z",
    "2026-07-01T00:00:60Z",
    "2026-07-01T00:00:00.Z",
    "2026-07-01T00:00:00ZZ",
    "2026-07-01T00:00:00Zx",
    "2026-07-01T00:00:00+2",
    "2026-07-01T00:00:00+02:",
    "2026-07-01T00:00:00+02:0",
    "2026-07-01T00:00:00 CET",
    "2026-07-01T00:00:00 UTC ",
    "20260701",
    "+026-07-01",
    "07/01/2026",
};

static void
dialects_are_read(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        int64_t time = 42;

        if (!time_parse(good[i].text, strlen(good[i].text), &time))
            fail_msg("refused: %s", good[i].text);
        if (time != good[i].time)
            fail_msg("%s: %lld", good[i].text, (long long)time);
    }
}

static void
anything_else_is_refused(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t time = 42;

        if (time_parse(bad[i], strlen(bad[i]), &time))
            fail_msg("taken: \"%s\"", bad[i]);
        assert_int_equal(time, 42);
    }
}

/* A field of a CSV file goes on after its end. */
static void
text_ends_at_its_size(void **state)
{
    int64_t time;

    (void)state;
    assert_true(time_parse("2026-07-01,2026-08-01", 10, &time));
    assert_int_equal(time, JULY_2026);
    assert_false(time_parse("2026-07-01T00:00:00Z", 18, &time));
}

/* Every day of five centuries, against the C library. */
static void
days_agree_with_the_library(void **state)
{
    int64_t time;

    (void)state;
    for (time = -6857222400 + 12345; time < 9214646400; time += DAY_SECONDS) {
        char ours[CALENDAR_TEXT], theirs[64];
        time_t then = (time_t)time;
        struct tm parts;
        int64_t back;

        time_format(time, ours);
        assert_non_null(gmtime_r(&then, &parts));
        strftime(theirs, sizeof(theirs), "%Y-%m-%dT%H:%M:%SZ", &parts);
        assert_string_equal(ours, theirs);
        assert_true(time_parse(ours, strlen(ours), &back));
        assert_true(back == time);
    }
}

static void
months_begin_and_follow(void **state)
{
    char text[CALENDAR_TEXT];

    (void)state;
    assert_int_equal(month_start(JULY_2026), JULY_2026);
    assert_int_equal(month_start(JULY_2026 + 31 * DAY_SECONDS - 1), JULY_2026);
    assert_int_equal(month_start(JULY_2026 - 1), JULY_2026 - 30 * DAY_SECONDS);
    assert_int_equal(month_next(JULY_2026 + 5), JULY_2026 + 31 * DAY_SECONDS);
    month_format(month_next(1796083200), text); /* December 2026 */
    assert_string_equal(text, "2027-01");
    date_format(JULY_2026 - 1, text);
    assert_string_equal(text, "2026-06-30");
}

static void
assert_quarter(const char *text, int first_month, const char *from, const char *to)
{
    struct window window;
    struct error err = {0};
    char found[CALENDAR_TEXT];

    assert_true(quarter_parse(text, first_month, &window, &err));
    date_format(window.from, found);
    assert_string_equal(found, from);
    date_format(window.to, found);
    assert_string_equal(found, to);
    assert_int_equal(strlen(window.name), 6);
}

static void
quarters_are_read(void **state)
{
    struct window window;
    struct error err = {0};
    static const char *const wrong[] = {"",   "2026", "2026Q0",  "2026Q5", "2026Q33",
                                        "Q3", "26Q3", "2026Q3 ", "2026q"};
    size_t i;

    (void)state;
    assert_quarter("2026Q3", 1, "2026-07-01", "2026-10-01");
    assert_quarter("2026q4", 1, "2026-10-01", "2027-01-01");
    assert_quarter("2026-Q1", 1, "2026-01-01", "2026-04-01");
    /* a fiscal year has the name of the year in which it ends */
    assert_quarter("2026Q1", 2, "2025-02-01", "2025-05-01");
    assert_quarter("2026Q4", 2, "2025-11-01", "2026-02-01");
    assert_quarter("2026Q1", 10, "2025-10-01", "2026-01-01");
    for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        error_clear(&err);
        assert_false(quarter_parse(wrong[i], 1, &window, &err));
        assert_int_equal(err.code, ERR_USAGE);
        assert_true(err.hint[0] != '\0');
    }
}

static void
last_whole_quarter_is_found(void **state)
{
    int month;

    (void)state;
    assert_string_equal(quarter_before(JULY_2026, 1).name, "2026Q2");
    assert_string_equal(quarter_before(JULY_2026 - 1, 1).name, "2026Q1");
    assert_string_equal(quarter_before(1790812800, 1).name, "2026Q3"); /* 2026-10-01 */
    assert_string_equal(quarter_before(1790812799, 1).name, "2026Q2");
    assert_string_equal(quarter_before(1767225600, 1).name, "2025Q4"); /* 2026-01-01 */
    for (month = 1; month <= 12; month++) {
        int64_t now;

        for (now = JULY_2026; now < JULY_2026 + 800LL * DAY_SECONDS; now += 11 * DAY_SECONDS) {
            struct window window = quarter_before(now, month);

            assert_true(window.to <= now);
            assert_true(month_next(month_next(month_next(window.to))) > now);
        }
    }
}

/* No time zone of the machine is ever consulted. */
static void
time_zone_does_not_matter(void **state)
{
    char text[CALENDAR_TEXT];

    (void)state;
    assert_int_equal(setenv("TZ", "America/St_Johns", 1), 0);
    tzset();
    time_format(JULY_2026, text);
    assert_string_equal(text, "2026-07-01T00:00:00Z");
    assert_int_equal(unsetenv("TZ"), 0);
    tzset();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dialects_are_read),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(text_ends_at_its_size),
        cmocka_unit_test(days_agree_with_the_library),
        cmocka_unit_test(months_begin_and_follow),
        cmocka_unit_test(quarters_are_read),
        cmocka_unit_test(last_whole_quarter_is_found),
        cmocka_unit_test(time_zone_does_not_matter),
    };

    return cmocka_run_group_tests_name("calendar", tests, NULL, NULL);
}
