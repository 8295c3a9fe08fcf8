/* GPU models, providers, price classes and regions: what was paid, and how well each was used. */
#include <config.h>

#include "reports/chart.h"
#include "reports/palette.h"
#include "reports/table.h"

enum { CHART_WIDTH_PX = 900 };

#define SCOPE_COLUMNS                                                                              \
    {.name = "gpus", .heading = "GPUs", .kind = VALUE_MIXED},                                      \
        {.name = "gpu_cost", .heading = "GPU cost", .kind = VALUE_MONEY},                          \
        {.name = "busy_cost", .heading = "Busy", .kind = VALUE_MONEY},                             \
        {.name = "idle_cost", .heading = "Idle", .kind = VALUE_MONEY},                             \
        {.name = "unknown_cost", .heading = "Unknown", .kind = VALUE_MONEY},                       \
        {.name = "unused_cost", .heading = "Unused commitment", .kind = VALUE_MONEY},              \
        {.name = "provisioned_gpu_hours",                                                          \
         .heading = "Provisioned GPU-hours",                                                       \
         .kind = VALUE_HOURS},                                                                     \
        {.name = "paid_rate", .heading = "Price paid per running GPU-hour", .kind = VALUE_RATE},   \
        {.name = "busy_rate", .heading = "Cost per busy GPU-hour", .kind = VALUE_RATE},            \
        {.name = "effective_rate", .heading = "Cost per effective GPU-hour", .kind = VALUE_RATE},  \
        {.name = "util_share", .heading = "Average utilization", .kind = VALUE_SHARE},             \
        {.name = "sm_share", .heading = "Average SM activity", .kind = VALUE_SHARE},               \
        {.name = "peak_busy_gpus", .heading = "Peak busy GPUs", .kind = VALUE_HOURS},              \
        {.name = "peak_running_gpus", .heading = "Peak running GPUs", .kind = VALUE_HOURS},        \
    {                                                                                              \
        0                                                                                          \
    }
#define SCOPE_TABLE(title, dimension)                                                              \
    .query = "sql/query_sheet_scope.sql", .parameter = dimension,                                  \
    .columns =                                                                                     \
        (const struct column[]){{.name = "name", .heading = title, .max_px = 200}, SCOPE_COLUMNS}, \
    .empty = "No GPU-hours were billed or owned in this quarter."

static const struct table models = {SCOPE_TABLE("Model", "model"), .is_main = true};
static const struct table providers = {SCOPE_TABLE("Provider", "provider")};
static const struct table pricings = {SCOPE_TABLE("Price class", "pricing")};
static const struct table regions = {SCOPE_TABLE("Region", "region")};

static const struct table commitments = {
    .query = "sql/query_sheet_commitments.sql",
    .columns =
        (const struct column[]){
            {.name = "commitment", .heading = "Commitment", .max_px = 200},
            {.name = "provider", .heading = "Provider"},
            {.name = "bought", .heading = "Bought", .kind = VALUE_MONEY},
            {.name = "used_cost", .heading = "Used", .kind = VALUE_MONEY},
            {.name = "unused_cost", .heading = "Unused", .kind = VALUE_MONEY},
            {.name = "type", .heading = "Type"},
            {.name = "gpu_share", .heading = "Share of GPUs in its use", .kind = VALUE_SHARE},
            {.name = "used_gpu_hours", .heading = "Used GPU-hours", .kind = VALUE_HOURS},
            {.name = "unused_gpu_hours", .heading = "Unused GPU-hours", .kind = VALUE_HOURS},
            {.name = "discount_share", .heading = "Discount, as measured", .kind = VALUE_SHARE},
            {0},
        },
    .empty = "No commitment covers GPUs in this quarter.",
};

static const struct chart prices_chart = {
    .shape = CHART_BARS,
    .title = "What a GPU-hour costs",
    .number_format = "#,##0.00",
    .description =
        "Bars per model: price paid per running GPU-hour, cost per busy and per effective GPU-hour",
    .series =
        (const struct series[]){
            {8, "paid per running GPU-hour", COLOUR_SUPPLY, false},
            {9, "cost per busy GPU-hour", COLOUR_BUSY, false},
            {10, "cost per effective GPU-hour", COLOUR_EFFECTIVE, false},
            {0},
        },
    .has_legend = true,
};

static const struct chart providers_chart = {
    .shape = CHART_STACKED,
    .title = "Cost by provider",
    .number_format = "#,##0",
    .description =
        "One bar per provider: GPU cost split into busy, idle, unknown and unused commitment",
    .series =
        (const struct series[]){
            {3, "busy", COLOUR_BUSY, false},
            {4, "idle", COLOUR_IDLE, false},
            {5, "unknown", COLOUR_UNKNOWN, false},
            {6, "unused commitment", COLOUR_UNUSED, false},
            {0},
        },
    .has_legend = true,
};

static bool
put(struct sheet_run *run, const struct table *table, const struct chart *chart, double row_factor,
    struct error *err)
{
    struct place place;
    if (!table_write(run, table, &place, err))
        return false;
    if (chart == NULL || place.last < place.first)
        return true;
    struct chart here = *chart;
    here.unit = run->currency;
    struct box box = {.width_px = CHART_WIDTH_PX, .height_px = chart_height(&place) * row_factor};
    canvas_next(run->canvas);
    if (!chart_columns(run, &here, &place, &box, err))
        return false;
    canvas_skip(run->canvas, box.height_px);
    return true;
}

static bool
put_section(struct sheet_run *run, const char *heading, const struct table *table,
            const struct chart *chart, struct error *err)
{
    canvas_section(run->canvas, heading);
    return put(run, table, chart, 1, err);
}

static bool
fill(struct sheet_run *run, struct error *err)
{
    if (!put(run, &models, &prices_chart, 1.4, err) ||
        !put_section(run, "Providers", &providers, &providers_chart, err))
        return false;
    canvas_page(run->canvas);
    return put_section(run, "Price classes", &pricings, NULL, err) &&
           put_section(run, "Regions", &regions, NULL, err) &&
           put_section(run, "Commitments", &commitments, NULL, err);
}

const struct sheet sheet_models = {
    .tab = "Models and providers",
    .title = "Models and providers",
    .is_wide = true,
    .fill = fill,
};
