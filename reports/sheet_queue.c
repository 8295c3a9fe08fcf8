/* What schedulers say: how long jobs waited for GPUs, and who held them at what cost. */
#include <config.h>

#include "reports/table.h"

#define WAITS                                                                                      \
    {.name = "p50_minutes", .heading = "Median wait, minutes", .kind = VALUE_HOURS},               \
        {.name = "p95_minutes", .heading = "95 % waited at most, minutes", .kind = VALUE_HOURS},   \
        {.name = "gpu_hours_waiting", .heading = "GPU-hours waited for", .kind = VALUE_HOURS}

static const struct table pools = {
    .query = "sql/query_sheet_shortage.sql",
    .columns =
        (const struct column[]){
            {.name = "pool", .heading = "Pool", .max_px = 200},
            {.name = "verdict", .heading = "In its busy hours"},
            {.name = "jobs", .heading = "Jobs", .kind = VALUE_COUNT},
            WAITS,
            {.name = "running_gpus", .heading = "GPUs running, mean", .kind = VALUE_HOURS},
            {.name = "busy_gpus", .heading = "GPUs busy, mean", .kind = VALUE_HOURS},
            {.name = "peak_busy_gpus", .heading = "GPUs busy, peak", .kind = VALUE_HOURS},
            {.name = "idle_share", .heading = "Idle share", .kind = VALUE_SHARE},
            {.name = "coverage_share", .heading = "Coverage", .kind = VALUE_SHARE},
            {.name = "busy_hours", .heading = "Busy hours of the week", .kind = VALUE_COUNT},
            {.name = "busy_hours_busy_gpus", .heading = "GPUs busy then", .kind = VALUE_HOURS},
            {.name = "busy_hours_waiting_gpus",
             .heading = "GPUs waited for then",
             .kind = VALUE_HOURS},
            {0},
        },
    .empty = "No job of this quarter ran on GPUs that a bill or the inventory knows.",
    .is_main = true,
};

static const struct table holders = {
    .query = "sql/query_sheet_held_by.sql",
    .columns =
        (const struct column[]){
            {.name = "pool", .heading = "Pool", .max_px = 200},
            {.name = "state", .heading = "State"},
            {.name = "account", .heading = "Account", .max_px = 160},
            {.name = "user_name", .heading = "User", .max_px = 160},
            {.name = "team", .heading = "Team", .max_px = 160},
            {.name = "project", .heading = "Project", .max_px = 160},
            {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
            {.name = "cost", .heading = "Cost", .kind = VALUE_MONEY},
            {.name = "rate", .heading = "Cost per GPU-hour", .kind = VALUE_RATE},
            {0},
        },
    .empty = "No GPU-hours were billed or owned in this quarter.",
};

static const struct table partitions = {
    .query = "sql/query_sheet_queue.sql",
    .columns =
        (const struct column[]){
            {.name = "partition", .heading = "Partition", .max_px = 200},
            {.name = "pool", .heading = "Pool", .max_px = 200},
            {.name = "jobs", .heading = "Jobs", .kind = VALUE_COUNT},
            {.name = "jobs_wait_unknown", .heading = "Wait unknown", .kind = VALUE_COUNT},
            WAITS,
            {0},
        },
    .empty = "No job with GPUs started in this quarter.",
};

static const struct table week = {
    .query = "sql/query_sheet_queue_week.sql",
    .columns =
        (const struct column[]){
            {.name = "partition", .heading = "Partition", .max_px = 200},
            {.name = "pool", .heading = "Pool", .max_px = 200},
            {.name = "weekday", .heading = "Day"},
            {.name = "hour", .heading = "From, UTC"},
            {.name = "jobs", .heading = "Jobs", .kind = VALUE_COUNT},
            WAITS,
            {0},
        },
    .empty = "No job with GPUs started in this quarter.",
};

static bool
put_section(struct sheet_run *run, const char *heading, const struct table *table,
            struct error *err)
{
    struct place place;
    canvas_section(run->canvas, heading);
    return table_write(run, table, &place, err);
}

static bool
fill(struct sheet_run *run, struct error *err)
{
    struct place place;
    canvas_across(run->canvas, STYLE_NOTE,
                  "A pool is short of GPUs when at least 20 % of it is idle over the quarter, and "
                  "yet jobs wait for one GPU or more, on average, in its busy hours: those hours of "
                  "the week in which more GPUs are busy than on average. Below 80 % of coverage "
                  "nothing is said. Jobs count that started in the quarter.");
    if (!table_write(run, &pools, &place, err) ||
        !put_section(run, "Who held GPUs, and what they cost meanwhile", &holders, err) ||
        !put_section(run, "Waits by partition", &partitions, err))
        return false;
    canvas_page(run->canvas);
    return put_section(run, "Waits by hour of the week", &week, err);
}

const struct sheet sheet_queue = {
    .tab = "Queue",
    .title = "Waits for GPUs, and who held them",
    .is_wide = true,
    .shown_if = "sql/query_sheet_has_scheduler.sql",
    .fill = fill,
};
