/* Every GPU-hour and every amount once: the ledger, how it shrinks step by step, and the way from
 * the invoices to it. */
#include <config.h>

#include "reports/chart.h"
#include "reports/palette.h"
#include "reports/table.h"

enum { CHART_WIDTH_PX = 900, SHARES_PX = 230 };

static const struct table ledger = {
    .query = "sql/query_sheet_ledger.sql",
    .columns =
        (const struct column[]){
            {.name = "line", .heading = "Ledger line"},
            {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
            {.name = "cost", .heading = "Cost", .kind = VALUE_MONEY},
            {.name = "hours_share", .heading = "Share of GPU-hours", .kind = VALUE_SHARE},
            {.name = "cost_share", .heading = "Share of cost", .kind = VALUE_SHARE},
            {.name = "note", .heading = "Note", .max_px = 300},
            {0},
        },
    .empty = "No GPU-hours were billed or owned in this quarter.",
    .is_main = true,
};

static const struct chart shares_chart = {
    .shape = CHART_SHARES,
    .title = "The ledger in GPU-hours and in money",
    .number_format = "0%",
    .description = "Two bars of 100 %: GPU-hours and cost, each split into the ledger's lines",
    .has_legend = true,
};

static const struct table beneath = {
    .query = "sql/query_sheet_beneath.sql",
    .columns =
        (const struct column[]){
            {.name = "line", .heading = "Beneath the line, outside the sum"},
            {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
            {.name = "cost", .heading = "Cost", .kind = VALUE_MONEY},
            {0},
        },
    .empty = "Nothing was observed that is not billed or owned.",
};

static const struct table steps = {
    .query = "sql/query_sheet_steps.sql",
    .columns =
        (const struct column[]){
            {.name = "step", .heading = "Step"},
            {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
            {.name = "begins_at", .heading = "Bar begins at", .kind = VALUE_HOURS},
            {.name = "share", .heading = "Share of provisioned", .kind = VALUE_SHARE},
            {.name = "what", .heading = "What it is", .span = 2},
            {0},
        },
    .empty = "No GPU-hours were billed or owned in this quarter.",
};

static const struct chart steps_chart = {
    .shape = CHART_STACKED,
    .title = "From provisioned to useful GPU-hours",
    .unit = "GPU-hours",
    .number_format = "#,##0",
    .description = "A waterfall: provisioned GPU-hours, less unused commitments, unknown and idle "
                   "hours, down to busy and effective ones",
    .series =
        (const struct series[]){
            {2, "begins at", COLOUR_RULE, true},
            {1, "GPU-hours", COLOUR_SUPPLY, false},
            {0},
        },
    .is_coloured_by_name = true,
};

static const struct table bridge = {
    .query = "sql/query_sheet_bridge.sql",
    .columns =
        (const struct column[]){
            {.name = "step", .heading = "From the invoices to GPU cost"},
            {.name = "cost", .heading = "Amount", .kind = VALUE_MONEY},
            {.name = "what", .heading = "What it is", .span = 4},
            {0},
        },
    .empty = "No bill was read.",
};

static bool
put_ledger(struct sheet_run *run, struct error *err)
{
    struct place place;
    if (!table_write(run, &ledger, &place, err))
        return false;
    struct box box = {.width_px = CHART_WIDTH_PX, .height_px = SHARES_PX};
    canvas_next(run->canvas);
    if (!chart_rows(run, &shares_chart, &place, 1, 2, &box, err))
        return false;
    canvas_skip(run->canvas, box.height_px);
    return table_write(run, &beneath, &place, err);
}

static bool
fill(struct sheet_run *run, struct error *err)
{
    struct place place;
    if (!put_ledger(run, err))
        return false;
    canvas_section(run->canvas, "Step by step");
    if (!table_write(run, &steps, &place, err))
        return false;
    struct box box = {.width_px = CHART_WIDTH_PX, .height_px = chart_height(&place)};
    canvas_next(run->canvas);
    if (!chart_columns(run, &steps_chart, &place, &box, err))
        return false;
    canvas_skip(run->canvas, box.height_px);
    canvas_section(run->canvas, "In money");
    return table_write(run, &bridge, &place, err);
}

const struct sheet sheet_ledger = {
    .tab = "Ledger",
    .title = "The GPU-hour ledger",
    .is_one_page = true,
    .fill = fill,
};
