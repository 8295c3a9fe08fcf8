/* What to do, in order, and what it saves a month. */
#include <config.h>

#include "reports/chart.h"
#include "reports/palette.h"
#include "reports/table.h"

enum { CHART_WIDTH_PX = 900 };

static const struct table recommendations = {
    .query = "sql/query_sheet_recommendations.sql",
    .columns =
        (const struct column[]){
            {.name = "no", .heading = "No."},
            {.name = "title", .heading = "What to do", .max_px = 230},
            {.name = "scope", .heading = "Where", .max_px = 170},
            {.name = "owner", .heading = "Owner", .max_px = 120},
            {.name = "low_saving", .heading = "Saving a month, low", .kind = VALUE_MONEY},
            {.name = "saving", .heading = "Saving a month, expected", .kind = VALUE_MONEY},
            {.name = "high_saving", .heading = "Saving a month, high", .kind = VALUE_MONEY},
            {.name = "cost_acted_on", .heading = "Cost a month it acts on", .kind = VALUE_MONEY},
            {.name = "now", .heading = "Now", .max_px = 190},
            {.name = "proposed", .heading = "Proposed", .max_px = 190},
            {.name = "effort", .heading = "Effort", .max_px = 90},
            {0},
        },
    .empty = "Nothing to recommend: no rule found a saving with enough evidence.",
    .is_main = true,
};

static const struct table evidence = {
    .query = "sql/query_sheet_evidence.sql",
    .columns =
        (const struct column[]){
            {.name = "no", .heading = "Recommendations", .span = 2},
            {.name = "formula", .heading = "How the saving was worked out", .span = 2},
            {.name = "evidence_grade", .heading = "Evidence"},
            {.name = "confidence", .heading = "Confidence"},
            {.name = "risk", .heading = "Risk", .span = 2},
            {.name = "evidence", .heading = "Query that shows the rows behind it", .span = 2},
            {0},
        },
    .empty = "",
};

static const struct table savings = {
    .query = "sql/query_sheet_savings.sql",
    .columns =
        (const struct column[]){
            {.name = "kind", .heading = "Kind"},
            {.name = "recommendations", .heading = "Recommendations", .kind = VALUE_COUNT},
            {.name = "low_saving", .heading = "Saving a month, low", .kind = VALUE_MONEY},
            {.name = "saving", .heading = "Saving a month, expected", .kind = VALUE_MONEY},
            {.name = "high_saving", .heading = "Saving a month, high", .kind = VALUE_MONEY},
            {0},
        },
    .empty = "No savings.",
};

static bool
put_savings(struct sheet_run *run, struct error *err)
{
    struct place place;
    canvas_section(run->canvas, "By kind, in the order of the stack");
    if (!table_write(run, &savings, &place, err))
        return false;
    struct chart chart = {
        .shape = CHART_BARS,
        .title = "Expected saving a month by kind",
        .unit = run->currency,
        .number_format = "#,##0",
        .description = "One bar per kind of recommendation: its expected saving a month",
        .series =
            (const struct series[]){{3, "expected saving a month", COLOUR_SAVING, false}, {0}},
    };
    struct box box = {.width_px = CHART_WIDTH_PX, .height_px = chart_height(&place)};
    canvas_next(run->canvas);
    if (!chart_columns(run, &chart, &place, &box, err))
        return false;
    canvas_skip(run->canvas, place.last < place.first ? 0 : box.height_px);
    return true;
}

static bool
fill(struct sheet_run *run, struct error *err)
{
    struct place place;
    canvas_across(run->canvas, STYLE_NOTE,
                  "Recommendations are stacked: each acts on what the ones before it left, so that "
                  "a saving is counted once and the "
                  "total never exceeds the cost acted on. Only what was measured counts.");
    if (!table_write(run, &recommendations, &place, err))
        return false;
    if (place.last < place.first)
        return true;
    if (!put_savings(run, err))
        return false;
    canvas_section(run->canvas, "Why, and how sure");
    return table_write(run, &evidence, &place, err);
}

const struct sheet sheet_recommendations = {
    .tab = "Recommendations",
    .title = "Recommendations",
    .is_wide = true,
    .fill = fill,
};
