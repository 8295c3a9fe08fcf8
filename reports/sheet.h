/*
 * A sheet is one file reports/sheet_NAME.c that ends in one const struct sheet, and a line in
 * Makefile.am (SHEETS_C); the order there is the order of the tabs. A sheet reads frozen rows of
 * one audit ($1 = audit_id in its query) and fills itself. It adds no money: totals come from SQL.
 */
#ifndef REPORTS_SHEET_H
#define REPORTS_SHEET_H

#include <stdbool.h>

#include "common/arena.h"
#include "common/db.h"
#include "common/error.h"
#include "common/settings.h"

struct workbook; /* reports/workbook.h: file, formats */
struct canvas;   /* reports/canvas.h: what tables, notes and charts are put on */
struct facts;    /* reports/facts.h: the headline figures */

struct sheet_run {
    struct workbook *workbook;
    struct canvas *canvas; /* empty but for the title */
    struct db *db;
    struct arena *arena;
    const struct facts *facts;
    const char *audit_id; /* as text, the $1 of queries */
    const char *currency;
};

struct sheet {
    const char *tab;      /* at most 31 characters, unique without case */
    const char *title;    /* heading on the sheet */
    bool is_wide;         /* printed in landscape */
    bool is_one_page;     /* shrunk to one page, not only to one page's width */
    const char *shown_if; /* query of the audit ($1): without a row there is no such sheet */
    const int *widths_px; /* fixed column widths, 0-ended; NULL: as wide as the content */
    bool (*fill)(struct sheet_run *run, struct error *err);
};

extern const struct sheet *const sheets[]; /* written from SHEETS_C; NULL-ended */

#endif
