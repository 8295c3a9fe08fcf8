/*
 * UTC time as int64 seconds since 1970, half-open windows, quarters. No time zone of the machine
 * is ever consulted.
 */
#ifndef COMMON_CALENDAR_H
#define COMMON_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum { HOUR_SECONDS = 3600, DAY_SECONDS = 86400, CALENDAR_TEXT = 24 };

struct window {
    int64_t from, to; /* [from, to) */
    char name[32];    /* "2026Q3", or "2026-07-01..2026-09-29" for --days */
};

/* "2026Q3" with fiscal years that begin in month 1..12 (1: calendar quarters). A fiscal year has
 * the name of the calendar year in which it ends. */
bool quarter_parse(const char *text, int fiscal_start_month, struct window *ret_window,
                   struct error *err) MUST_CHECK;
/* The last whole quarter before `now`. */
struct window quarter_before(int64_t now, int fiscal_start_month);
/* ISO 8601 and the dialects of bills: "2026-07-01T00:00:00Z", with fraction, with +hh:mm, a blank
 * for T, "UTC" at the end, no zone (UTC then), a date alone. Strict: trailing text is an error. */
bool time_parse(const char *text, size_t size, int64_t *ret_time);
void time_format(int64_t time, char ret_text[CALENDAR_TEXT]); /* 2026-07-01T00:00:00Z */
int64_t month_start(int64_t time);
int64_t month_next(int64_t time);
void month_format(int64_t time, char ret_text[CALENDAR_TEXT]); /* 2026-07 */
void date_format(int64_t time, char ret_text[CALENDAR_TEXT]);  /* 2026-07-01 */

#endif
