#include <config.h>

#include "reports/canvas.h"

#include <stdio.h>

#include "reports/measure.h"

enum { PADDING_PX = 16, LEAST_PX = 56, WIDEST_PX = 1700, TALLEST_PX = 540, ACROSS_LEAST_PX = 560 };

struct across {
    uint32_t row;
    enum style style;
    const char *text;
    struct across *next;
};

struct tall {
    uint32_t row;
    int column, span;
    bool is_bold;
    const char *text;
    struct tall *next;
};

void
canvas_check(struct canvas *canvas, lxw_error code, const char *what)
{
    if (code == LXW_NO_ERROR || canvas->failure != LXW_NO_ERROR)
        return;
    canvas->failure = code;
    canvas->failed_at = what;
}

static void
begin(struct canvas *canvas, const struct facts *facts)
{
    struct arena *arena = canvas->arena;
    canvas_across(canvas, STYLE_TITLE, canvas->sheet->title);
    canvas_across(
        canvas, STYLE_SUBTITLE,
        arena_printf(arena, "%s: %s to %s, UTC. Revision %s, amounts in %s.",
                     facts_text(facts, arena, "quarter"), facts_text(facts, arena, "first_day"),
                     facts_text(facts, arena, "last_day"), facts_text(facts, arena, "revision"),
                     facts_text(facts, arena, "currency")));
    if (!facts_is(facts, "is_final"))
        canvas_across(canvas, STYLE_DRAFT,
                      arena_printf(arena, "%s. Do not book from it.", facts_text(facts, arena, "state")));
}

bool
canvas_open(struct canvas **ret_canvas, struct workbook *workbook, struct arena *arena,
            const struct sheet *sheet, const struct facts *facts, struct error *err)
{
    struct canvas *canvas = arena_alloc(arena, sizeof *canvas);
    canvas->workbook = workbook;
    canvas->arena = arena;
    canvas->sheet = sheet;
    if (!book_sheet(workbook, sheet->tab, &canvas->worksheet, err))
        return false;
    for (int i = 0; sheet->widths_px != NULL && sheet->widths_px[i] != 0; i++) {
        canvas->width_px[i] = sheet->widths_px[i];
        canvas->columns = i + 1;
    }
    begin(canvas, facts);
    canvas->title_rows = canvas->row;
    *ret_canvas = canvas;
    return true;
}

static bool
is_bold(enum style style)
{
    return style == STYLE_HEAD || style == STYLE_TOTAL || style == STYLE_DEVIATES ||
           style == STYLE_HOLDS;
}

static void
note_tall(struct canvas *canvas, const struct cell *cell, const char *text)
{
    struct tall *tall = arena_alloc(canvas->arena, sizeof *tall);
    *tall = (struct tall){canvas->row,          cell->column, cell->span,
                          is_bold(cell->style), text,         canvas->tall};
    canvas->tall = tall;
}

/* Widens the column for the text as far as it may; true when it must be wrapped. */
static bool
make_room(struct canvas *canvas, const struct cell *cell, const char *shown)
{
    bool bold = is_bold(cell->style);
    double want = measure_px(shown, bold) + PADDING_PX;
    if (cell->style == STYLE_HEAD) { /* headings wrap early, but never within a word */
        double word = measure_longest_word_px(shown, bold) + PADDING_PX;
        want = want * 0.62 > word ? want * 0.62 : word;
    } else if (cell->max_px > 0 && want > cell->max_px) {
        want = cell->max_px;
    }
    want = want < LEAST_PX ? LEAST_PX : want > WIDEST_PX ? WIDEST_PX : want;
    bool is_fixed = canvas->sheet->widths_px != NULL || cell->span > 1;
    if (!is_fixed && canvas->width_px[cell->column] < want)
        canvas->width_px[cell->column] = want;
    return cell->style == STYLE_HEAD || cell->max_px > 0;
}

static lxw_error
write_number(struct canvas *canvas, const struct cell *cell, double number, lxw_format *format)
{
    return worksheet_write_number(canvas->worksheet, canvas->row, (lxw_col_t)cell->column, number,
                                  format);
}

static lxw_error
write_time(struct canvas *canvas, const struct cell *cell, const char *text, lxw_format *format)
{
    lxw_datetime time = {0};
    lxw_col_t column = (lxw_col_t)cell->column;
    if (sscanf(text, "%4d-%2d-%2d %2d:%2d", &time.year, &time.month, &time.day, &time.hour,
               &time.min) < 3)
        return worksheet_write_string(canvas->worksheet, canvas->row, column, text, format);
    return worksheet_write_datetime(canvas->worksheet, canvas->row, column, &time, format);
}

static lxw_error
write_value(struct canvas *canvas, const struct cell *cell, const char *text, lxw_format *format)
{
    double number;
    if (text != NULL && cell->kind == VALUE_TIME)
        return write_time(canvas, cell, text, format);
    if (text != NULL && value_is_number(cell->kind) && value_number(text, &number))
        return write_number(canvas, cell, number, format);
    text = value_cell_text(canvas->arena, text == NULL ? "unknown" : text);
    lxw_col_t column = (lxw_col_t)cell->column;
    if (text[0] == '\0')
        return worksheet_write_blank(canvas->worksheet, canvas->row, column, format);
    return worksheet_write_string(canvas->worksheet, canvas->row, column, text, format);
}

static enum style
shown_style(const struct cell *cell, const char *text)
{
    if (text != NULL)
        return cell->style;
    return cell->style == STYLE_CARD_VALUE ? STYLE_CARD_UNKNOWN
           : cell->style == STYLE_PLAIN    ? STYLE_UNKNOWN
                                           : cell->style;
}

static lxw_format *
format_of(struct canvas *canvas, const struct cell *cell, const char *text, bool is_wrapped)
{
    bool is_left = !value_is_number(cell->kind) && cell->style != STYLE_CARD_LABEL;
    unsigned flags = (is_left ? 0U : FORMAT_RIGHT) | (is_wrapped ? FORMAT_WRAP : 0U) |
                     (is_left && cell->column > 0 ? FORMAT_INDENT : 0U);
    const char *number_format =
        text == NULL || cell->style == STYLE_HEAD ? "@" : value_cell_format(cell->kind, text);
    return book_format(canvas->workbook, shown_style(cell, text), number_format, flags);
}

void
canvas_put(struct canvas *canvas, const struct cell *cell, const char *text)
{
    if (canvas->row >= LXW_ROW_MAX || cell->column + cell->span > CANVAS_COLUMNS) {
        canvas_check(canvas, LXW_ERROR_WORKSHEET_INDEX_OUT_OF_RANGE, "a cell");
        return;
    }
    const char *shown =
        cell->style == STYLE_HEAD ? text : value_text(canvas->arena, cell->kind, text);
    bool is_wrapped = make_room(canvas, cell, shown);
    if (is_wrapped)
        note_tall(canvas, cell, shown);
    lxw_format *format = format_of(canvas, cell, text, is_wrapped);
    lxw_col_t first = (lxw_col_t)cell->column, last = (lxw_col_t)(cell->column + cell->span - 1);
    if (cell->span > 1)
        canvas_check(canvas,
                     worksheet_merge_range(canvas->worksheet, canvas->row, first, canvas->row, last,
                                           "", format),
                     "a merged cell");
    canvas_check(canvas,
                 write_value(canvas, cell, cell->style == STYLE_HEAD ? shown : text, format),
                 "a cell");
    if (canvas->columns < last + 1)
        canvas->columns = last + 1;
}

void
canvas_next(struct canvas *canvas)
{
    canvas->row++;
}

void
canvas_height(struct canvas *canvas, double px)
{
    canvas_check(canvas,
                 worksheet_set_row_pixels(canvas->worksheet, canvas->row, (uint32_t)px, NULL),
                 "a row's height");
}

void
canvas_across(struct canvas *canvas, enum style style, const char *text)
{
    struct across *across = arena_alloc(canvas->arena, sizeof *across);
    *across =
        (struct across){canvas->row++, style, value_cell_text(canvas->arena, text), canvas->across};
    canvas->across = across;
}

void
canvas_section(struct canvas *canvas, const char *heading)
{
    canvas_next(canvas);
    canvas_across(canvas, STYLE_SECTION, heading);
    canvas->has_sections = true;
}

void
canvas_page(struct canvas *canvas)
{
    if (canvas->breaks < CANVAS_BREAKS)
        canvas->break_row[canvas->breaks++] = canvas->row + 1;
}

double
canvas_width(const struct canvas *canvas)
{
    double width = 0;
    for (int i = 0; i < canvas->columns; i++)
        width += canvas->is_hidden[i] ? 0 : canvas->width_px[i];
    return width;
}

void
canvas_chart(struct canvas *canvas, lxw_chart *chart, const struct box *box,
             const char *description)
{
    double room = canvas_width(canvas) - box->x_px, width = box->width_px;
    room = room < ACROSS_LEAST_PX - box->x_px ? ACROSS_LEAST_PX - box->x_px : room;
    width =
        width > room ? room : width; /* within the tables' width, or it would be cut off in print */
    lxw_chart_options options = {
        .x_offset = (int32_t)box->x_px,
        .y_offset = 4,
        .x_scale = width / 480, /* the library's own size of a chart */
        .y_scale = (box->height_px - 8) / 288,
        .object_position = LXW_OBJECT_MOVE_DONT_SIZE,
        .description = arena_strdup(canvas->arena, description),
    };
    canvas_check(canvas,
                 worksheet_insert_chart_opt(canvas->worksheet, canvas->row, 0, chart, &options),
                 "a chart");
}

void
canvas_skip(struct canvas *canvas, double height_px)
{
    canvas->row += (uint32_t)(height_px / ROW_PX) + 1;
}

/* ---- what canvas_finish settles ---- */

static void
set_widths(struct canvas *canvas)
{
    double missing = ACROSS_LEAST_PX - canvas_width(canvas);
    for (int i = 0; i < canvas->columns; i++) {
        lxw_row_col_options hidden = {.hidden = canvas->is_hidden[i]};
        lxw_col_t column = (lxw_col_t)i;
        if (i == 0 && missing > 0) /* texts across a narrow sheet need some room */
            canvas->width_px[0] += missing;
        uint32_t width = (uint32_t)canvas->width_px[i];
        canvas_check(canvas,
                     worksheet_set_column_pixels_opt(canvas->worksheet, column, column, width, NULL,
                                                     &hidden),
                     "a column's width");
    }
}

static void
set_height(struct canvas *canvas, uint32_t row, double px)
{
    px = px > TALLEST_PX ? TALLEST_PX : px;
    canvas_check(canvas, worksheet_set_row_pixels(canvas->worksheet, row, (uint32_t)px, NULL),
                 "a row's height");
}

static int
lines_of(const struct canvas *canvas, const struct tall *tall)
{
    double width = 0;
    for (int i = tall->column; i < tall->column + tall->span; i++)
        width += canvas->width_px[i];
    return measure_lines(tall->text, tall->is_bold, width - PADDING_PX / 2.0);
}

/* The list runs from the last row upwards, and the cells of a row stand together. */
static void
set_heights(struct canvas *canvas)
{
    for (const struct tall *tall = canvas->tall; tall != NULL;) {
        uint32_t row = tall->row;
        int most = 1;
        for (; tall != NULL && tall->row == row; tall = tall->next) {
            int lines = lines_of(canvas, tall);
            most = lines > most ? lines : most;
        }
        if (most > 1)
            set_height(canvas, row, most * LINE_PX + 4);
    }
}

static void
write_across(struct canvas *canvas, const struct across *across)
{
    bool is_heading = across->style == STYLE_TITLE || across->style == STYLE_SECTION;
    lxw_format *format =
        book_format(canvas->workbook, across->style, "@", is_heading ? 0 : FORMAT_WRAP);
    lxw_worksheet *sheet = canvas->worksheet;
    if (is_heading || canvas->columns < 2)
        canvas_check(canvas, worksheet_write_string(sheet, across->row, 0, across->text, format),
                     "a text");
    else
        canvas_check(canvas,
                     worksheet_merge_range(sheet, across->row, 0, across->row,
                                           (lxw_col_t)(canvas->columns - 1), across->text, format),
                     "a text across the sheet");
    double line = across->style == STYLE_TITLE ? 28 : across->style == STYLE_SECTION ? 22 : LINE_PX;
    int lines =
        is_heading ? 1 : measure_lines(across->text, false, canvas_width(canvas) - PADDING_PX);
    set_height(canvas, across->row, lines * line + 3);
}

static void
set_print(struct canvas *canvas, const struct facts *facts)
{
    lxw_worksheet *sheet = canvas->worksheet;
    struct arena *arena = canvas->arena;
    const char *draft = facts_is(facts, "is_final") ? "" : "&C&\"Arial,Bold\"DRAFT";
    if (canvas->sheet->is_wide)
        worksheet_set_landscape(sheet);
    worksheet_set_paper(sheet, 9); /* A4; fitted to the page's width, it prints on Letter as well */
    worksheet_set_margins(sheet, 0.5, 0.5, 0.7, 0.7);
    worksheet_fit_to_pages(sheet, 1, canvas->sheet->is_one_page ? 1 : 0);
    if (canvas->breaks > 0)
        canvas_check(canvas, worksheet_set_h_pagebreaks(sheet, canvas->break_row),
                     "the page breaks");
    worksheet_gridlines(sheet, LXW_HIDE_ALL_GRIDLINES);
    canvas_check(canvas,
                 worksheet_print_area(sheet, 0, 0, canvas->row,
                                      (lxw_col_t)(canvas->columns > 0 ? canvas->columns - 1 : 0)),
                 "the print area");
    canvas_check(
        canvas,
        worksheet_set_header(sheet, arena_printf(arena, "&L&8GPU audit %s%s&R&8&A",
                                                 facts_text(facts, arena, "quarter"), draft)),
        "the page header");
    canvas_check(
        canvas,
        worksheet_set_footer(sheet, arena_printf(arena, "&L&8Revision %s, %s UTC&R&8Page &P of &N",
                                                 facts_text(facts, arena, "revision"),
                                                 facts_text(facts, arena, "created"))),
        "the page footer");
}

static void
set_panes(struct canvas *canvas)
{
    uint32_t head = canvas->freeze_row;
    if (canvas->has_sections) /* the heading of one table must not stand above another */
        worksheet_freeze_panes(canvas->worksheet, canvas->title_rows, 0);
    else if (head > 0) {
        worksheet_freeze_panes(canvas->worksheet, head, 0);
        canvas_check(canvas, worksheet_repeat_rows(canvas->worksheet, head - 1, head - 1),
                     "the repeated rows");
    }
    if (canvas->filter_last > canvas->filter_first)
        canvas_check(canvas,
                     worksheet_autofilter(canvas->worksheet, canvas->filter_first, 0,
                                          canvas->filter_last,
                                          (lxw_col_t)(canvas->filter_columns - 1)),
                     "the filter");
}

bool
canvas_finish(struct canvas *canvas, const struct facts *facts, struct error *err)
{
    set_widths(canvas);
    set_heights(canvas);
    for (const struct across *across = canvas->across; across != NULL; across = across->next)
        write_across(canvas, across);
    set_panes(canvas);
    set_print(canvas, facts);
    if (canvas->failure != LXW_NO_ERROR)
        return error_set(err, ERR_REPORT, "could not write %s of the sheet \"%s\": %s",
                         canvas->failed_at, canvas->sheet->tab, lxw_strerror(canvas->failure));
    return true;
}
