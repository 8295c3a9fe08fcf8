/*
 * How a value that came from SQL as text is shown: the same in workbook, page and mail. SQL has
 * rounded it and added it up; here it only gets its thousands separators, its percent sign, and
 * the word "unknown" where it is NULL.
 */
#ifndef REPORTS_VALUE_H
#define REPORTS_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"

enum value_kind {
    VALUE_TEXT,
    VALUE_MONEY,       /* 1,234.50 */
    VALUE_ROUND_MONEY, /* 1,235: headlines */
    VALUE_RATE,        /* 2.1104: money per hour */
    VALUE_HOURS,       /* 1,234.5 */
    VALUE_COUNT,       /* 1,234 */
    VALUE_SHARE,       /* 0.123 shown as 12.3% */
    VALUE_MIXED,       /* a number whose unit stands beside it: 48, 2.1104 */
    VALUE_TIME,        /* 2026-07-01 00:00 */
    VALUE_KINDS
};

/* Cells hold at most this many UTF-16 units; longer text is cut with a note. */
enum { CELL_TEXT_MAX = 32767 };

bool value_is_number(enum value_kind kind); /* time included: shown to the right */
/* Number format of a cell; the text decides for VALUE_MIXED. */
const char *value_cell_format(enum value_kind kind, const char *text);
/* What people read, in arena; "unknown" for NULL. */
const char *value_text(struct arena *arena, enum value_kind kind, const char *text);
/* Text as a cell can hold it: control characters made visible, cut at CELL_TEXT_MAX, "_x0041_" kept
 * from being read as an escape. Tabs and line feeds stay. */
const char *value_cell_text(struct arena *arena, const char *text);
/* Parses all of text as a finite number. */
bool value_number(const char *text, double *ret_number);

#endif
