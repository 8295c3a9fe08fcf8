#include <config.h>

#include "reports/chart.h"

#include "reports/palette.h"

enum { BAR_PX = 26, FRAME_PX = 120 };

static char font_name[] = "Arial"; /* the library's structs want writable text */
static lxw_chart_font small_font = {.name = font_name, .size = 9, .color = COLOUR_INK};
static lxw_chart_font title_font = {
    .name = font_name, .size = 11, .bold = LXW_TRUE, .color = COLOUR_INK};

static uint8_t
type_of(enum chart_shape shape)
{
    return shape == CHART_BARS      ? LXW_CHART_BAR
           : shape == CHART_STACKED ? LXW_CHART_BAR_STACKED
                                    : LXW_CHART_BAR_STACKED_PERCENT;
}

/* Of a bar chart the library calls the axis of the bars y and that of the values x. */
static void
set_axes(lxw_chart *chart, const struct chart *spec)
{
    lxw_chart_line rule = {.color = COLOUR_RULE, .width = 0.75};
    lxw_chart_axis *bars = chart->y_axis, *values = chart->x_axis;
    chart_axis_set_reverse(bars);      /* first row on top, ... */
    chart_axis_set_crossing_max(bars); /* ... and the scale still below */
    chart_axis_set_num_font(bars, &small_font);
    chart_axis_set_interval_unit(bars, 1); /* every bar has its name */
    chart_axis_set_line(bars, &rule);
    chart_axis_set_label_position(bars,
                                  LXW_CHART_AXIS_LABEL_POSITION_LOW); /* clear of negative bars */
    chart_axis_major_gridlines_set_visible(bars, LXW_FALSE);
    chart_axis_set_num_font(values, &small_font);
    chart_axis_set_name_font(values, &small_font);
    chart_axis_set_name(values, spec->unit);
    chart_axis_set_num_format(values, spec->number_format);
    chart_axis_set_line(values, &rule);
    chart_axis_major_gridlines_set_visible(values, LXW_TRUE);
    chart_axis_major_gridlines_set_line(values, &rule);
}

static lxw_chart *
make_chart(struct sheet_run *run, const struct chart *spec, struct error *err)
{
    lxw_chart *chart = workbook_add_chart(book_book(run->workbook), type_of(spec->shape));
    if (chart == NULL) {
        error_set(err, ERR_REPORT, "could not add the chart \"%s\"", spec->title);
        return NULL;
    }
    lxw_chart_line none = {.none = LXW_TRUE};
    chart_title_set_name(chart, spec->title);
    chart_title_set_name_font(chart, &title_font);
    chart_chartarea_set_line(chart, &none);
    chart_set_series_gap(chart, 45);
    set_axes(chart, spec);
    chart_legend_set_position(chart,
                              spec->has_legend ? LXW_CHART_LEGEND_BOTTOM : LXW_CHART_LEGEND_NONE);
    chart_legend_set_font(chart, &small_font);
    return chart;
}

static lxw_chart_series *
add_series(lxw_chart *chart, struct error *err)
{
    lxw_chart_series *series = chart_add_series(chart, NULL, NULL);
    if (series == NULL)
        error_set(err, ERR_REPORT, "could not add a series to a chart");
    return series;
}

static void
set_colour(lxw_chart_series *series, unsigned colour, bool is_blank)
{
    lxw_chart_fill fill = {.color = colour, .none = is_blank};
    lxw_chart_line edge = {.color = 0xFFFFFF, .width = 0.5, .none = is_blank};
    chart_series_set_fill(series, &fill);
    chart_series_set_line(series, &edge);
}

static uint32_t
last_bar(const struct place *place)
{
    uint32_t limit = place->first + CHART_ROWS_MAX - 1;
    return place->last < limit ? place->last : limit;
}

/* Each bar of the series in the colour of the ledger line it is named after. */
static void
set_points(struct sheet_run *run, lxw_chart_series *series, const struct place *place)
{
    size_t count = last_bar(place) - place->first + 1;
    lxw_chart_fill *fill = arena_alloc(run->arena, sizeof *fill * count);
    lxw_chart_point *point = arena_alloc(run->arena, sizeof *point * count);
    lxw_chart_point **list = arena_alloc(run->arena, sizeof(lxw_chart_point *) * (count + 1));
    for (size_t i = 0; i < count; i++) {
        fill[i].color = palette_line(place->names[i]);
        point[i].fill = &fill[i];
        list[i] = &point[i];
    }
    canvas_check(run->canvas, chart_series_set_points(series, list), "the colours of a chart");
}

bool
chart_columns(struct sheet_run *run, const struct chart *spec, const struct place *place,
              const struct box *box, struct error *err)
{
    if (place->last < place->first)
        return true;
    lxw_chart *chart = make_chart(run, spec, err);
    if (chart == NULL)
        return false;
    const char *tab = run->canvas->sheet->tab;
    uint32_t last = last_bar(place);
    lxw_chart_series *series = NULL;
    for (const struct series *s = spec->series; s->name != NULL; s++) {
        series = add_series(chart, err);
        if (series == NULL)
            return false;
        lxw_col_t column = (lxw_col_t)s->column;
        chart_series_set_categories(series, tab, place->first, 0, last, 0);
        chart_series_set_values(series, tab, place->first, column, last, column);
        chart_series_set_name(series, s->name);
        set_colour(series, s->colour, s->is_blank);
    }
    if (spec->is_coloured_by_name)
        set_points(run, series, place);
    if (spec->shape == CHART_STACKED)
        chart_set_series_overlap(chart, 100);
    chart_show_hidden_data(chart);
    canvas_chart(run->canvas, chart, box, spec->description);
    return true;
}

bool
chart_rows(struct sheet_run *run, const struct chart *spec, const struct place *place, int first,
           int last, const struct box *box, struct error *err)
{
    if (place->last < place->first)
        return true;
    lxw_chart *chart = make_chart(run, spec, err);
    if (chart == NULL)
        return false;
    const char *tab = run->canvas->sheet->tab;
    lxw_col_t from = (lxw_col_t)first, to = (lxw_col_t)last;
    for (uint32_t row = place->first; row <= place->last; row++) {
        lxw_chart_series *series = add_series(chart, err);
        if (series == NULL)
            return false;
        chart_series_set_categories(series, tab, place->head, from, place->head, to);
        chart_series_set_values(series, tab, row, from, row, to);
        chart_series_set_name_range(series, tab, row, 0);
        set_colour(series, palette_line(place->names[row - place->first]), false);
    }
    chart_set_series_overlap(chart, 100);
    canvas_chart(run->canvas, chart, box, spec->description);
    return true;
}

double
chart_height(const struct place *place)
{
    return FRAME_PX + BAR_PX * (double)(last_bar(place) - place->first + 1);
}
