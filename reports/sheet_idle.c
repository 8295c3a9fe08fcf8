/* Instances that ran for more than a day with next to nothing to do. */
#include <config.h>

#include "reports/table.h"

static const struct table stretches = {
    .query = "sql/query_sheet_idle.sql",
    .columns =
        (const struct column[]){
            {.name = "team", .heading = "Team", .max_px = 160},
            {.name = "project", .heading = "Project", .max_px = 160},
            {.name = "cost", .heading = "Cost", .kind = VALUE_MONEY},
            {.name = "hours", .heading = "Hours", .kind = VALUE_COUNT},
            {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
            {.name = "from_time", .heading = "From, UTC", .kind = VALUE_TIME},
            {.name = "to_time", .heading = "To, UTC", .kind = VALUE_TIME},
            {.name = "still_going", .heading = "Idle at the end"},
            {.name = "util_share", .heading = "Mean activity", .kind = VALUE_SHARE},
            {.name = "signal", .heading = "Signal"},
            {.name = "gpus", .heading = "GPUs", .kind = VALUE_MIXED},
            {.name = "model", .heading = "Model", .max_px = 140},
            {.name = "pricing", .heading = "Price class"},
            {.name = "provider", .heading = "Provider"},
            {.name = "region", .heading = "Region"},
            {.name = "instance", .heading = "Instance", .max_px = 280},
            {0},
        },
    .empty = "No instance was idle for more than 24 hours on end.",
    .is_main = true,
};

static const struct table efficiency = {
    .query = "sql/query_sheet_efficiency.sql",
    .columns =
        (const struct column[]){
            {.name = "kind", .heading = "What"},
            {.name = "team", .heading = "Team", .max_px = 160},
            {.name = "cost", .heading = "Cost", .kind = VALUE_MONEY},
            {.name = "hours", .heading = "Hours", .kind = VALUE_COUNT},
            {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
            {.name = "from_time", .heading = "From, UTC", .kind = VALUE_TIME},
            {.name = "to_time", .heading = "To, UTC", .kind = VALUE_TIME},
            {.name = "measured", .heading = "Measured", .max_px = 200, .span = 2},
            {.name = "project", .heading = "Project", .max_px = 160},
            {.name = "gpu_uuid", .heading = "GPU", .max_px = 280, .span = 2},
            {.name = "model", .heading = "Model", .max_px = 140},
            {.name = "host", .heading = "Host", .max_px = 160, .span = 2},
            {.name = "instance", .heading = "Instance", .max_px = 280},
            {0},
        },
    .empty = "No GPU was throttled, parked, hung or in error.",
};

/* Most estates have none, or no signals that tell. */
static bool
put_efficiency(struct sheet_run *run, struct error *err)
{
    struct rows *rows = NULL;
    struct place place;
    bool ok = rows_open(&rows, run->db, efficiency.query, 1, &run->audit_id, err);
    bool any = ok && rows_next(rows, err);
    rows_close(rows);
    if (!ok || (!any && err->code != ERR_NONE))
        return false;
    if (!any)
        return true;
    canvas_section(run->canvas, "Held back, or held for nothing");
    canvas_across(run->canvas, STYLE_NOTE,
                  "GPUs at lower clocks because of power or heat, models parked in memory for a "
                  "day or longer, processes that look busy at a quarter of the rated power, and "
                  "driver errors. These overlap each other and the stretches above: never add them "
                  "up.");
    return table_write(run, &efficiency, &place, err);
}

static bool
fill(struct sheet_run *run, struct error *err)
{
    struct place place;
    canvas_across(run->canvas, STYLE_NOTE,
                  "More than 24 consecutive measured hours in which the mean over an instance's "
                  "GPUs stayed below 20 %: "
                  "of SM activity, or of utilization (util) where SM activity is not measured. "
                  "Hours that nobody measured are never idle.");
    return table_write(run, &stretches, &place, err) && put_efficiency(run, err);
}

const struct sheet sheet_idle = {
    .tab = "Idle stretches",
    .title = "Idle stretches",
    .is_wide = true,
    .fill = fill,
};
