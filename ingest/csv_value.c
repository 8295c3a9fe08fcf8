#include <config.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/calendar.h"
#include "common/decimal.h"
#include "ingest/csv_map.h"

enum { NUMBER_MOST = 120 };

/* ---------------------------------------------------------------- numbers */

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes money signs, blanks and the brackets of a negative amount off; true when it is negative. */
static bool
bare(struct field *text)
{
    static const char *const signs[] = {"$", "\xE2\x82\xAC", "\xC2\xA3", "\xC2\xA5", "\xC2\xA0"};
    bool is_negative = false, more = true;

    while (more && text->size) {
        more = false;
        *text = csv_trim(*text);
        bool has_brackets = text->size > 2 && text->text[0] == '(' && text->text[text->size - 1] == ')';
        bool has_minus = text->size > 1 && text->text[0] == '-';

        if (has_brackets || has_minus) {
            *text = (struct field){text->text + 1, text->size - (has_brackets ? 2 : 1)};
            if (is_negative)
                *text = (struct field){"", 0}; /* twice is no number */
            is_negative = more = true;
        }
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
            size_t size = strlen(signs[i]);
            bool begins = text->size > size && !memcmp(text->text, signs[i], size);
            bool ends = text->size > size && !memcmp(text->text + text->size - size, signs[i], size);

            if (begins || ends)
                *text = (struct field){text->text + (begins ? size : 0), text->size - size};
            more |= begins || ends;
        }
    }
    return is_negative;
}

/* Length of a thousands mark at `at`; 0 when there is none. Groups have three digits, and no mark
 * stands behind the point. */
static size_t
mark_at(const struct csv_map *map, struct field text, size_t at)
{
    static const char narrow[] = "\xE2\x80\xAF", wide[] = "\xC2\xA0";
    size_t size = 0, digits = 0, left = text.size - at;

    if (map->thousands && text.text[at] == map->thousands)
        size = 1;
    else if (map->thousands == ' ' && left > 3 && !memcmp(text.text + at, narrow, 3))
        size = 3;
    else if (map->thousands == ' ' && left > 2 && !memcmp(text.text + at, wide, 2))
        size = 2;
    while (size && at + size + digits < text.size && is_digit(text.text[at + size + digits]))
        digits++;
    return digits == 3 ? size : 0;
}

bool
csv_number(const struct csv_map *map, struct arena *arena, struct field text, struct field *ret_number)
{
    bool is_negative, in_fraction = false, is_grouped = false;
    size_t used = 0, leading = 0;
    char *number;

    if (map->decimal == '.' && !map->thousands && decimal_fits(text.text, text.size)) {
        *ret_number = text;
        return true;
    }
    is_negative = bare(&text);
    if (!text.size || text.size > NUMBER_MOST || text.text[0] == '-')
        return false;
    number = arena_alloc(arena, text.size + 2);
    if (is_negative)
        number[used++] = '-';
    for (size_t at = 0; at < text.size;) {
        size_t mark = !in_fraction && at ? mark_at(map, text, at) : 0;

        if (mark && leading > 3)
            return false; /* 1234,567: no grouping at all */
        if (!mark && is_grouped && !in_fraction && is_digit(text.text[at]) && leading == 3)
            return false;
        leading = mark ? 0 : leading + 1;
        is_grouped |= mark > 0;
        at += mark;
        if (mark)
            continue;
        if (text.text[at] == map->decimal)
            in_fraction = true;
        else if (text.text[at] == '.' || text.text[at] == ',')
            return false;
        number[used++] = text.text[at] == map->decimal ? '.' : text.text[at];
        at++;
    }
    *ret_number = (struct field){number, used};
    return decimal_fits(number, used);
}

/* ---------------------------------------------------------------- times */

struct clock {
    long year, month, day, hour, minute, second, offset_seconds, ticks;
    bool is_afternoon, is_half_day, has_offset;
};

static bool
take_digits(struct field *text, size_t least, size_t most, long *ret_number)
{
    long number = 0;
    size_t size = 0;

    for (; size < most && size < text->size && is_digit(text->text[size]); size++)
        number = number * 10 + (text->text[size] - '0');
    *text = (struct field){text->text + size, text->size - size};
    *ret_number = number;
    return size >= least;
}

/* "Jan", "January". */
static bool
take_month(struct field *text, long *ret_month)
{
    static const char *const months[] = {"january", "february", "march", "april", "may", "june", "july", "august",
                                         "september", "october", "november", "december"};

    for (long i = 0; i < 12; i++) {
        size_t whole = strlen(months[i]), size = text->size >= whole && !strncasecmp(text->text, months[i], whole) ? whole : 3;

        if (text->size < size || strncasecmp(text->text, months[i], size))
            continue;
        *text = (struct field){text->text + size, text->size - size};
        *ret_month = i + 1;
        return true;
    }
    return false;
}

/* "Z", "UTC", "+02:00", "-0700". */
static bool
take_offset(struct field *text, struct clock *clock)
{
    long hours, minutes = 0;
    bool is_west = text->size && text->text[0] == '-';

    clock->has_offset = true;
    for (int i = 0; i < 2; i++) {
        const char *utc = (const char *const[]){"UTC", "Z"}[i];

        if (text->size >= strlen(utc) && !strncasecmp(text->text, utc, strlen(utc))) {
            *text = (struct field){text->text + strlen(utc), text->size - strlen(utc)};
            return true;
        }
    }
    if (!text->size || (text->text[0] != '+' && !is_west))
        return false;
    *text = (struct field){text->text + 1, text->size - 1};
    if (!take_digits(text, 2, 2, &hours))
        return false;
    if (text->size && text->text[0] == ':')
        *text = (struct field){text->text + 1, text->size - 1};
    if (text->size && is_digit(text->text[0]) && !take_digits(text, 2, 2, &minutes))
        return false;
    clock->offset_seconds = (is_west ? -1 : 1) * (hours * 3600 + minutes * 60);
    return hours < 15 && minutes < 60;
}

static bool
take(char what, struct field *text, struct clock *clock)
{
    long ignored;

    switch (what) {
    case 'Y': return take_digits(text, 4, 4, &clock->year);
    case 'y': return take_digits(text, 2, 2, &clock->year) && (clock->year += 2000);
    case 'm': return take_digits(text, 1, 2, &clock->month);
    case 'b': return take_month(text, &clock->month);
    case 'd': return take_digits(text, 1, 2, &clock->day);
    case 'H': return take_digits(text, 1, 2, &clock->hour);
    case 'I': clock->is_half_day = true; return take_digits(text, 1, 2, &clock->hour);
    case 'M': return take_digits(text, 2, 2, &clock->minute);
    case 'S': return take_digits(text, 2, 2, &clock->second);
    case 'f': return take_digits(text, 1, 9, &ignored);
    case 'z': return take_offset(text, clock);
    case 'p':
        clock->is_afternoon = text->size && (text->text[0] | 0x20) == 'p';
        if (text->size < 2 || (!clock->is_afternoon && (text->text[0] | 0x20) != 'a') || (text->text[1] | 0x20) != 'm')
            return false;
        *text = (struct field){text->text + 2, text->size - 2};
        return true;
    default: return false;
    }
}

static bool
unix_time(struct field text, size_t places, int64_t *ret_time)
{
    long number;

    if (text.size <= places || !take_digits(&(struct field){text.text, text.size - places}, 1, 12, &number))
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (!is_digit(text.text[i]))
            return false;
    *ret_time = number;
    return text.size - places <= 12;
}

/* By way of ISO text, so that there is one check of what days there are. */
static bool
clock_time(struct clock *clock, int64_t *ret_time)
{
    char iso[CALENDAR_TEXT];
    int size;

    if (clock->is_half_day && (clock->hour < 1 || clock->hour > 12))
        return false;
    if (clock->is_half_day)
        clock->hour = clock->hour % 12 + (clock->is_afternoon ? 12 : 0);
    if (clock->month > 12 || clock->day > 31 || clock->hour > 24 || clock->minute > 59 || clock->second > 60)
        return false;
    size = snprintf(iso, sizeof iso, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)clock->year % 10000, (int)clock->month,
                    (int)clock->day, (int)clock->hour, (int)clock->minute, (int)clock->second);
    if (!time_parse(iso, (size_t)size, ret_time))
        return false;
    *ret_time -= clock->offset_seconds;
    return true;
}

bool
csv_time_parse(const char *format, struct field text, int64_t *ret_time, bool *ret_is_utc)
{
    struct clock clock = {.day = 1};

    *ret_is_utc = true;
    if (!strcmp(format, "unix"))
        return unix_time(text, 0, ret_time);
    if (!strcmp(format, "unix-ms"))
        return unix_time(text, 3, ret_time);
    for (; *format; format++) {
        if (*format == '%' && format[1] && format[1] != '%') {
            if (!take(*++format, &text, &clock))
                return false;
            continue;
        }
        format += *format == '%' && format[1] == '%';
        if (!text.size || text.text[0] != *format)
            return false;
        text = (struct field){text.text + 1, text.size - 1};
    }
    *ret_is_utc = clock.has_offset;
    return !text.size && clock_time(&clock, ret_time);
}

/* ISO text that names its offset: a Z, UTC, or + or - behind the time of day. */
static bool
names_offset(struct field text)
{
    if (text.size < 11)
        return false;
    for (size_t i = 11; i < text.size; i++)
        if (strchr("Z+-zU", text.text[i]))
            return true;
    return false;
}

/* "2026-07": the first of a month. */
static bool
month_time(struct field text, int64_t *ret_time)
{
    char day[12];

    if (text.size != 7)
        return false;
    memcpy(day, text.text, 7);
    memcpy(day + 7, "-01", 4);
    return time_parse(day, 10, ret_time);
}

bool
csv_time(const struct csv_map *map, struct field text, int64_t *ret_local, bool *ret_is_utc)
{
    if (map->time_format)
        return csv_time_parse(map->time_format, text, ret_local, ret_is_utc);
    *ret_is_utc = names_offset(text);
    return time_parse(text.text, text.size, ret_local) || month_time(text, ret_local);
}
