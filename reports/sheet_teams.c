/* What each team and project cost, and what was done with it. */
#include <config.h>

#include "reports/chart.h"
#include "reports/palette.h"
#include "reports/table.h"

enum { CHART_WIDTH_PX = 900 };

#define MONEY_COLUMNS                                                                              \
    {.name = "gpu_cost", .heading = "GPU cost", .kind = VALUE_MONEY},                              \
        {.name = "busy_cost", .heading = "Busy", .kind = VALUE_MONEY},                             \
        {.name = "idle_cost", .heading = "Idle", .kind = VALUE_MONEY},                             \
        {.name = "unknown_cost", .heading = "Unknown", .kind = VALUE_MONEY},                       \
        {.name = "unused_cost", .heading = "Unused commitment", .kind = VALUE_MONEY},              \
        {.name = "corrected_cost", .heading = "Corrected", .kind = VALUE_MONEY},                   \
        {.name = "untagged_cost", .heading = "Untagged", .kind = VALUE_MONEY},                     \
        {.name = "provisioned_gpu_hours",                                                          \
         .heading = "Provisioned GPU-hours",                                                       \
         .kind = VALUE_HOURS},                                                                     \
        {.name = "busy_gpu_hours", .heading = "Busy GPU-hours", .kind = VALUE_HOURS},              \
        {.name = "idle_share", .heading = "Idle, share of covered", .kind = VALUE_SHARE},          \
        {.name = "coverage_share", .heading = "Coverage", .kind = VALUE_SHARE},                    \
        {.name = "util_share", .heading = "Average utilization", .kind = VALUE_SHARE},             \
        {.name = "busy_rate", .heading = "Cost per busy GPU-hour", .kind = VALUE_RATE},            \
    {                                                                                              \
        0                                                                                          \
    }

static const struct table teams = {
    .query = "sql/query_sheet_scope.sql",
    .parameter = "team",
    .columns =
        (const struct column[]){{.name = "name", .heading = "Team", .max_px = 220}, MONEY_COLUMNS},
    .empty = "No cost is attributed to any team.",
    .is_main = true,
};

static const struct table projects = {
    .query = "sql/query_sheet_scope.sql",
    .parameter = "project",
    .columns = (const struct column[]){{.name = "name", .heading = "Project", .max_px = 220},
                                       MONEY_COLUMNS},
    .empty = "No cost is attributed to any project.",
};

static const struct series by_line[] = {
    {2, "busy", COLOUR_BUSY, false},
    {3, "idle", COLOUR_IDLE, false},
    {4, "unknown", COLOUR_UNKNOWN, false},
    {5, "unused commitment", COLOUR_UNUSED, false},
    {0},
};

static bool
put(struct sheet_run *run, const struct table *table, const char *title, struct error *err)
{
    struct place place;
    if (!table_write(run, table, &place, err))
        return false;
    if (place.last < place.first)
        return true;
    struct chart chart = {
        .shape = CHART_STACKED,
        .title = title,
        .unit = run->currency,
        .number_format = "#,##0",
        .description =
            "One bar each: GPU cost split into busy, idle, unknown and unused commitment",
        .series = by_line,
        .has_legend = true,
    };
    struct box box = {.width_px = CHART_WIDTH_PX, .height_px = chart_height(&place)};
    canvas_next(run->canvas);
    if (!chart_columns(run, &chart, &place, &box, err))
        return false;
    canvas_skip(run->canvas, box.height_px);
    return true;
}

static bool
fill(struct sheet_run *run, struct error *err)
{
    if (!put(run, &teams, "Cost by team", err))
        return false;
    canvas_page(run->canvas);
    canvas_section(run->canvas, "Projects");
    return put(run, &projects, "Cost by project", err);
}

const struct sheet sheet_teams = {
    .tab = "Projects and teams",
    .title = "Projects and teams",
    .is_wide = true,
    .fill = fill,
};
