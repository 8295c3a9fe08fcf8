#include <config.h>

#include "reports/table.h"

#include <string.h>

enum { TEXT_MAX_PX = 320 };

const char *
table_heading(struct arena *arena, const struct column *column, const char *currency)
{
    bool is_money = column->kind == VALUE_MONEY || column->kind == VALUE_ROUND_MONEY ||
                    column->kind == VALUE_RATE;
    return is_money ? arena_printf(arena, "%s, %s", column->heading, currency) : column->heading;
}

static int
span_of(const struct column *column)
{
    return column->span == 0 ? 1 : column->span;
}

static void
write_head(struct sheet_run *run, const struct table *table)
{
    struct canvas *canvas = run->canvas;
    int at = 0;
    for (const struct column *column = table->columns; column->name != NULL; column++) {
        struct cell cell = {
            .column = at, .span = span_of(column), .kind = column->kind, .style = STYLE_HEAD};
        canvas_put(canvas, &cell, table_heading(run->arena, column, run->currency));
        canvas->is_hidden[at] = column->is_hidden;
        at += cell.span;
    }
    canvas_next(canvas);
}

static enum style
style_of(const struct column *column, const char *text, bool is_total)
{
    if (is_total)
        return STYLE_TOTAL;
    if (!column->is_verdict || text == NULL)
        return STYLE_PLAIN;
    return strcmp(text, "holds") == 0      ? STYLE_HOLDS
           : strcmp(text, "deviates") == 0 ? STYLE_DEVIATES
                                           : STYLE_UNKNOWN;
}

static void
write_row(struct sheet_run *run, const struct table *table, const struct rows *rows,
          const int *from, bool is_total)
{
    int at = 0;
    for (int i = 0; table->columns[i].name != NULL; i++) {
        const struct column *column = &table->columns[i];
        const char *text = rows_text(rows, from[i]);
        double limit = column->max_px == 0 ? TEXT_MAX_PX : column->max_px;
        struct cell cell = {
            .column = at,
            .span = span_of(column),
            .kind = column->kind,
            .style = style_of(column, text, is_total),
            .max_px = column->kind == VALUE_TEXT ? limit : 0,
        };
        canvas_put(run->canvas, &cell, text);
        at += cell.span;
    }
    canvas_next(run->canvas);
}

bool
table_rows(struct rows **ret_rows, struct db *db, const struct table *table, const char *audit_id,
           struct error *err)
{
    const char *const parameters[] = {audit_id, table->parameter};
    return rows_open(ret_rows, db, table->query, table->parameter == NULL ? 1 : 2, parameters, err);
}

bool
table_columns(const struct table *table, const struct rows *rows, int *ret_from, struct error *err)
{
    for (int i = 0; table->columns[i].name != NULL; i++) {
        ret_from[i] = rows_column(rows, table->columns[i].name);
        if (ret_from[i] < 0)
            return error_set(err, ERR_BUG, "%s has no column \"%s\"", table->query,
                             table->columns[i].name);
    }
    return true;
}

bool
table_is_total(const struct rows *rows)
{
    int column = rows_column(rows, "row_style");
    const char *style = column < 0 ? NULL : rows_text(rows, column);
    return style != NULL && strcmp(style, "total") == 0;
}

static void
say_what_is_missing(struct sheet_run *run, const struct table *table, const struct rows *rows)
{
    int count = rows_count(rows);
    if (count == 0)
        canvas_across(run->canvas, STYLE_NOTE, table->empty);
    if (count > TABLE_ROWS_MAX)
        canvas_across(run->canvas, STYLE_NOTE,
                      arena_printf(run->arena,
                                   "%d more rows stand in the database: %s shows them all.",
                                   count - TABLE_ROWS_MAX, table->query));
}

static void
mark_main(struct sheet_run *run, const struct place *place)
{
    run->canvas->freeze_row = place->head + 1;
    run->canvas->filter_first = place->head;
    run->canvas->filter_last = place->last;
    run->canvas->filter_columns = run->canvas->columns;
}

static bool
write_rows(struct sheet_run *run, const struct table *table, struct rows *rows,
           struct place *ret_place, struct error *err)
{
    int from[CANVAS_COLUMNS];
    if (!table_columns(table, rows, from, err))
        return false;
    struct place place = {.head = run->canvas->row};
    if (rows_count(rows) > 0)
        write_head(run, table);
    place.first = run->canvas->row;
    place.last = place.first - 1;
    const char **names = arena_alloc(run->arena, sizeof *names * (size_t)(rows_count(rows) + 1));
    place.names = names;
    for (int n = 0; n < TABLE_ROWS_MAX && rows_next(rows, err); n++) {
        bool is_total = table_is_total(rows);
        write_row(run, table, rows, from, is_total);
        if (is_total)
            continue;
        place.last = run->canvas->row - 1;
        const char *name = rows_text(rows, from[0]);
        names[place.last - place.first] = arena_strdup(run->arena, name == NULL ? "unknown" : name);
    }
    say_what_is_missing(run, table, rows);
    if (table->is_main && place.last >= place.first)
        mark_main(run, &place);
    *ret_place = place;
    return err->code == ERR_NONE;
}

bool
table_write(struct sheet_run *run, const struct table *table, struct place *ret_place,
            struct error *err)
{
    struct rows *rows = NULL;
    if (!table_rows(&rows, run->db, table, run->audit_id, err))
        return false;
    bool is_done = write_rows(run, table, rows, ret_place, err);
    rows_close(rows);
    return is_done || error_context(err, "sheet \"%s\"", run->canvas->sheet->tab);
}
