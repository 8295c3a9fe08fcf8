/*
 * Native charts over tables of the same sheet. Bars lie on their side, so that names can be read;
 * the first row of the table is the topmost bar. Series get their colour from the palette.
 */
#ifndef REPORTS_CHART_H
#define REPORTS_CHART_H

#include "reports/canvas.h"
#include "reports/table.h"

enum chart_shape {
    CHART_BARS,    /* one series beside another */
    CHART_STACKED, /* on top of one another */
    CHART_SHARES,  /* stacked to 100 % */
};

/* A series is a column of the table. */
struct series {
    int column;
    const char *name;
    unsigned colour;
    bool is_blank; /* room before the visible part of a waterfall */
};

struct chart {
    enum chart_shape shape;
    const char *title;
    const char *unit;            /* name of the value axis */
    const char *number_format;   /* of the value axis */
    const char *description;     /* what it shows, for those who cannot see it */
    const struct series *series; /* ends with a NULL name */
    bool has_legend;
    bool is_coloured_by_name; /* bars of the last series as the ledger line of their name */
};

enum { CHART_ROWS_MAX = 12 }; /* more bars cannot be read */

/* Bars are the table's first rows, named by column 0. */
bool chart_columns(struct sheet_run *run, const struct chart *chart, const struct place *place,
                   const struct box *box, struct error *err) MUST_CHECK;
/* Bars are the table's columns first..last; each row is a series, coloured as the ledger line of
 * its name. */
bool chart_rows(struct sheet_run *run, const struct chart *chart, const struct place *place,
                int first, int last, const struct box *box, struct error *err) MUST_CHECK;
double chart_height(const struct place *place); /* fits the number of bars */

#endif
