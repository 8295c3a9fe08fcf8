/*
 * The spreadsheet file: opened under a temporary name, its formats, closed. Everything is kept in
 * memory until book_close, since rows, merges and column widths come in any order; detail stays in
 * the database, so a workbook is small. (book_, since workbook_ is the library's prefix.)
 */
#ifndef REPORTS_WORKBOOK_H
#define REPORTS_WORKBOOK_H

#include <xlsxwriter.h>

#include "common/arena.h"
#include "common/error.h"
#include "reports/facts.h"

enum style {
    STYLE_PLAIN,
    STYLE_TOTAL,
    STYLE_HEAD,  /* heading of a column */
    STYLE_TITLE, /* heading of the sheet */
    STYLE_SUBTITLE,
    STYLE_SECTION, /* heading of a table */
    STYLE_NOTE,
    STYLE_DRAFT,
    STYLE_UNKNOWN, /* the word "unknown" */
    STYLE_HOLDS,
    STYLE_DEVIATES,
    STYLE_CARD_LABEL,
    STYLE_CARD_VALUE,
    STYLE_CARD_UNKNOWN,
    STYLES
};

enum format_flag {
    FORMAT_RIGHT = 1, /* aligned to the right */
    FORMAT_WRAP = 2,
    FORMAT_INDENT = 4, /* clear of a number to its left */
};

struct workbook;

bool book_open(struct workbook **ret_workbook, struct arena *arena, const char *path,
               const struct facts *facts, struct error *err) MUST_CHECK;
lxw_workbook *book_book(struct workbook *workbook);
/* A new sheet; its name is validated. */
bool book_sheet(struct workbook *workbook, const char *tab, lxw_worksheet **ret_sheet,
                struct error *err) MUST_CHECK;
/* One format per different look; NULL only when memory is out, which book_close reports. */
lxw_format *book_format(struct workbook *workbook, enum style style, const char *number_format,
                        unsigned flags);
/* Writes the file and frees the workbook, also when it fails. */
bool book_close(struct workbook *workbook, struct error *err) MUST_CHECK;
void book_discard(struct workbook *workbook); /* frees it, writes nothing */

#endif
