#include <config.h>

#include "common/calendar.h"

#include <string.h>

/* Days since 1970-01-01 of a date of the proleptic Gregorian calendar. The year begins in March
 * here, so that the leap day is the last of it. */
static int64_t
days_of(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

struct date {
    int year, month, day;
};

static struct date
date_of(int64_t time)
{
    int64_t days = time / DAY_SECONDS - (time % DAY_SECONDS < 0) + 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    struct date date;

    date.day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    date.month = (int)(month < 10 ? month + 3 : month - 9);
    date.year = (int)(year_of_era + era * 400 + (date.month <= 2));
    return date;
}

static int
days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && is_leap);
}

/* The first second of a month; month may be any number, counted on from the year. */
static int64_t
month_time(int year, int month)
{
    int months = year * 12 + month - 1;

    return days_of(months / 12, months % 12 + 1, 1) * DAY_SECONDS;
}

int64_t
month_start(int64_t time)
{
    struct date date = date_of(time);

    return month_time(date.year, date.month);
}

int64_t
month_next(int64_t time)
{
    struct date date = date_of(time);

    return month_time(date.year, date.month + 1);
}

/* A place in text that is read once from left to right. */
struct cursor {
    const char *at, *end;
};

static bool
take_char(struct cursor *cursor, char c)
{
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

/* Exactly `digits` digits. */
static bool
take_number(struct cursor *cursor, int digits, int least, int most, int *ret_value)
{
    int value = 0, i;

    if (cursor->end - cursor->at < digits)
        return false;
    for (i = 0; i < digits; i++) {
        if (cursor->at[i] < '0' || cursor->at[i] > '9')
            return false;
        value = value * 10 + (cursor->at[i] - '0');
    }
    if (value < least || value > most)
        return false;
    cursor->at += digits;
    *ret_value = value;
    return true;
}

static bool
take_date(struct cursor *cursor, int64_t *ret_time)
{
    int year, month, day;

    if (!take_number(cursor, 4, 1, 9999, &year) || !take_char(cursor, '-') ||
        !take_number(cursor, 2, 1, 12, &month) || !take_char(cursor, '-') ||
        !take_number(cursor, 2, 1, days_in_month(year, month), &day))
        return false;
    *ret_time = days_of(year, month, day) * DAY_SECONDS;
    return true;
}

/* hh:mm[:ss[.fraction]]; the fraction is dropped, since an hour is the finest grain there is. */
static bool
take_clock(struct cursor *cursor, int64_t *ret_seconds)
{
    int hour, minute, second = 0;

    if (!take_number(cursor, 2, 0, 23, &hour) || !take_char(cursor, ':') ||
        !take_number(cursor, 2, 0, 59, &minute))
        return false;
    if (take_char(cursor, ':')) {
        if (!take_number(cursor, 2, 0, 59, &second))
            return false;
        if (take_char(cursor, '.')) {
            const char *from = cursor->at;

            while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9')
                cursor->at++;
            if (cursor->at == from)
                return false;
        }
    }
    *ret_seconds = hour * HOUR_SECONDS + minute * 60 + second;
    return true;
}

/* Z, UTC, GMT, +hh:mm, +hhmm, +hh, or nothing; a blank may precede. False when it is anything else.
 */
static bool
take_zone(struct cursor *cursor, int64_t *ret_offset)
{
    int sign, hour, minute = 0;

    *ret_offset = 0;
    if (cursor->at == cursor->end)
        return true;
    take_char(cursor, ' ');
    if (cursor->end - cursor->at == 3 &&
        (memcmp(cursor->at, "UTC", 3) == 0 || memcmp(cursor->at, "GMT", 3) == 0)) {
        cursor->at += 3;
        return true;
    }
    if (take_char(cursor, 'Z'))
        return true;
    if (take_char(cursor, '+'))
        sign = 1;
    else if (take_char(cursor, '-'))
        sign = -1;
    else
        return false;
    if (!take_number(cursor, 2, 0, 15, &hour))
        return false;
    if (cursor->at < cursor->end &&
        (take_char(cursor, ':'), !take_number(cursor, 2, 0, 59, &minute)))
        return false;
    *ret_offset = sign * (hour * HOUR_SECONDS + minute * 60);
    return true;
}

bool
time_parse(const char *text, size_t size, int64_t *ret_time)
{
    struct cursor cursor = {text, text + size};
    int64_t date, clock = 0, offset = 0;

    if (!take_date(&cursor, &date))
        return false;
    if (cursor.at < cursor.end) {
        if (!take_char(&cursor, 'T') && !take_char(&cursor, ' '))
            return false;
        if (!take_clock(&cursor, &clock) || !take_zone(&cursor, &offset))
            return false;
    }
    if (cursor.at != cursor.end)
        return false;
    *ret_time = date + clock - offset;
    return true;
}

static char *
put_number(char *text, int value, int digits)
{
    int i;

    for (i = digits - 1; i >= 0; i--) {
        text[i] = (char)('0' + value % 10);
        value /= 10;
    }
    return text + digits;
}

static char *
put_month(char *text, struct date date)
{
    text = put_number(text, date.year, 4);
    *text++ = '-';
    return put_number(text, date.month, 2);
}

/* Years of four digits are what the text has room for. */
static int64_t
printable_time(int64_t time)
{
    const int64_t least = days_of(0, 1, 1) * DAY_SECONDS;
    const int64_t most = days_of(10000, 1, 1) * DAY_SECONDS - 1;

    return time < least ? least : time > most ? most : time;
}

static char *
put_date(char *text, int64_t time)
{
    struct date date = date_of(time);

    text = put_month(text, date);
    *text++ = '-';
    return put_number(text, date.day, 2);
}

void
time_format(int64_t time, char ret_text[CALENDAR_TEXT])
{
    int64_t shown = printable_time(time);
    int second = (int)(((shown % DAY_SECONDS) + DAY_SECONDS) % DAY_SECONDS);
    char *text = put_date(ret_text, shown);

    *text++ = 'T';
    text = put_number(text, second / HOUR_SECONDS, 2);
    *text++ = ':';
    text = put_number(text, second / 60 % 60, 2);
    *text++ = ':';
    text = put_number(text, second % 60, 2);
    *text++ = 'Z';
    *text = '\0';
}

void
date_format(int64_t time, char ret_text[CALENDAR_TEXT])
{
    *put_date(ret_text, printable_time(time)) = '\0';
}

void
month_format(int64_t time, char ret_text[CALENDAR_TEXT])
{
    *put_month(ret_text, date_of(printable_time(time))) = '\0';
}

/* A fiscal year has the name of the calendar year in which it ends. */
static struct window
quarter_window(int year, int quarter, int fiscal_start_month)
{
    int first_month = fiscal_start_month + 3 * (quarter - 1);
    int first_year = fiscal_start_month == 1 ? year : year - 1;
    struct window window = {0};
    char *text = put_number(window.name, year, 4);

    window.from = month_time(first_year, first_month);
    window.to = month_time(first_year, first_month + 3);
    *text++ = 'Q';
    *put_number(text, quarter, 1) = '\0';
    return window;
}

bool
quarter_parse(const char *text, int fiscal_start_month, struct window *ret_window,
              struct error *err)
{
    struct cursor cursor = {text, text + strlen(text)};
    int year, quarter;
    bool is_good = take_number(&cursor, 4, 1970, 9998, &year);

    if (is_good) {
        take_char(&cursor, '-');
        is_good = (take_char(&cursor, 'Q') || take_char(&cursor, 'q')) &&
                  take_number(&cursor, 1, 1, 4, &quarter) && cursor.at == cursor.end;
    }
    if (!is_good) {
        error_set(err, ERR_USAGE, "\"%s\" is not a quarter", text);
        return error_hint(err, "Write a quarter as year, Q and 1 to 4, such as 2026Q3.");
    }
    *ret_window = quarter_window(year, quarter, fiscal_start_month);
    return true;
}

struct window
quarter_before(int64_t now, int fiscal_start_month)
{
    struct date date = date_of(now);
    int year = date.year + 1, quarter = 4;
    struct window window = quarter_window(year, quarter, fiscal_start_month);

    while (window.to > now) {
        if (--quarter == 0) {
            quarter = 4;
            year--;
        }
        window = quarter_window(year, quarter, fiscal_start_month);
    }
    return window;
}
