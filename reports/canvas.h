/*
 * A sheet while it is written. Cells go in at once; column widths, row heights, texts across the
 * sheet, print set-up, frozen rows and filters are settled by canvas_finish, when everything that
 * must fit is known. The first failure of the library is kept and told by canvas_finish, so that
 * a sheet does not check each cell. Rows and columns count from 0.
 */
#ifndef REPORTS_CANVAS_H
#define REPORTS_CANVAS_H

#include <stdint.h>

#include "reports/sheet.h"
#include "reports/workbook.h"

enum { CANVAS_COLUMNS = 40, ROW_PX = 20, LINE_PX = 17, CANVAS_BREAKS = 15 };

struct canvas {
    struct workbook *workbook;
    struct arena *arena;
    const struct sheet *sheet;
    lxw_worksheet *worksheet;
    uint32_t row; /* next free row */
    int columns;  /* columns in use */
    double width_px[CANVAS_COLUMNS];
    bool is_hidden[CANVAS_COLUMNS];
    struct across *across;              /* texts over the whole width, last first */
    struct tall *tall;                  /* cells that may need several lines, last first */
    uint32_t title_rows;                /* heading of the sheet */
    uint32_t freeze_row;                /* row below the main table's heading; 0: there is none */
    bool has_sections;                  /* several tables */
    uint32_t filter_first, filter_last; /* rows of the table with the filter; equal: none */
    int filter_columns;
    lxw_row_t break_row[CANVAS_BREAKS + 1]; /* 0-ended */
    int breaks;
    lxw_error failure;
    const char *failed_at;
};

/* A cell of `span` columns. max_px: widest the column may become for it (0: no limit, no wrapping).
 */
struct cell {
    int column, span;
    enum value_kind kind;
    enum style style;
    double max_px;
};

/* Place of a chart: from the left edge of the sheet and the top of the current row. */
struct box {
    double x_px, width_px, height_px;
};

bool canvas_open(struct canvas **ret_canvas, struct workbook *workbook, struct arena *arena,
                 const struct sheet *sheet, const struct facts *facts,
                 struct error *err) MUST_CHECK;
/* Puts a value as SQL gave it (NULL: unknown) into the current row. Text is a string cell, whatever
 * it begins with. */
void canvas_put(struct canvas *canvas, const struct cell *cell, const char *text);
void canvas_across(struct canvas *canvas, enum style style,
                   const char *text);                            /* a row of its own, wrapped */
void canvas_section(struct canvas *canvas, const char *heading); /* with a blank row before it */
void canvas_height(struct canvas *canvas, double px);            /* of the current row */
void canvas_page(struct canvas *canvas); /* the next section begins a page when printed */
void canvas_next(struct canvas *canvas);
double canvas_width(const struct canvas *canvas); /* all columns so far, in pixels */
/* Inserts a chart at the current row; the caller moves on with canvas_skip. */
void canvas_chart(struct canvas *canvas, lxw_chart *chart, const struct box *box,
                  const char *description);
void canvas_skip(struct canvas *canvas, double height_px);
void canvas_check(struct canvas *canvas, lxw_error code, const char *what);
bool canvas_finish(struct canvas *canvas, const struct facts *facts, struct error *err) MUST_CHECK;

#endif
