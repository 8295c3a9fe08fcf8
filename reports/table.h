/*
 * A table declared once, filled by a query: in the workbook (table_write) and in the page and mail
 * (html_table). Columns name those of the query. A query column `row_style` that says "total" sets
 * a row apart; totals are SQL's.
 */
#ifndef REPORTS_TABLE_H
#define REPORTS_TABLE_H

#include <stdint.h>

#include "reports/canvas.h"

/* Rows beyond stay in the database, and the table says so. */
enum { TABLE_ROWS_MAX = 100000 };

struct column {
    const char *name;    /* of the query's column */
    const char *heading; /* with its unit; money gets the currency by itself */
    enum value_kind kind;
    int max_px;      /* text wraps at this width; 0: 320 */
    int span;        /* grid columns it takes; 0: 1 */
    bool is_verdict; /* coloured by what it says */
    bool is_hidden;  /* only for a chart */
};

struct table {
    const char *query;            /* "sql/query_sheet_idle.sql" */
    const char *parameter;        /* its $2, if it has one */
    const struct column *columns; /* ends with a NULL name */
    const char *empty;            /* sentence shown when there is no row */
    bool is_main; /* its heading is frozen and repeated, its columns can be filtered */
};

/* Where it came to stand; first > last when empty. Rows of the total are outside. */
struct place {
    uint32_t head, first, last;
    const char *const *names; /* first column of the rows */
};

bool table_write(struct sheet_run *run, const struct table *table, struct place *ret_place,
                 struct error *err) MUST_CHECK;
/* Runs the query of a table for an audit; all rows at once. */
bool table_rows(struct rows **ret_rows, struct db *db, const struct table *table,
                const char *audit_id, struct error *err) MUST_CHECK;
/* Places of the table's columns in the rows; ret_from has room for CANVAS_COLUMNS. */
bool table_columns(const struct table *table, const struct rows *rows, int *ret_from,
                   struct error *err) MUST_CHECK;
bool table_is_total(const struct rows *rows); /* the current row is a sum of the others */
/* Heading with the currency, in arena. */
const char *table_heading(struct arena *arena, const struct column *column, const char *currency);

#endif
