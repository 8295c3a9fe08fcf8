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

struct workbook; /* reports/workbook.h: formats, tables, charts */

struct sheet_run {
    struct workbook *workbook;
    struct db *db;
    struct arena *arena;
    const char *audit_id;   /* as text, the $1 of queries */
    const char *currency;
};

struct sheet {
    const char *tab;        /* at most 31 characters, unique without case */
    const char *title;      /* heading on the sheet */
    bool (*fill)(struct sheet_run *run, struct error *err);
};

extern const struct sheet *const sheets[]; /* written from SHEETS_C; NULL-ended */

#endif
