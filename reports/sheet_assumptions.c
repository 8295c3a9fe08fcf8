/* The cost model's assumptions beside what was measured. */
#include <config.h>

#include "reports/table.h"

static const struct table assumptions = {
    .query = "sql/query_sheet_assumptions.sql",
    .columns =
        (const struct column[]){
            {.name = "verdict", .heading = "Verdict", .is_verdict = true},
            {.name = "metric", .heading = "Assumption", .max_px = 240},
            {.name = "scope", .heading = "Scope", .max_px = 200},
            {.name = "assumed", .heading = "Assumed", .kind = VALUE_MIXED},
            {.name = "measured", .heading = "Measured", .kind = VALUE_MIXED},
            {.name = "unit", .heading = "Unit"},
            {.name = "deviation", .heading = "Deviation", .kind = VALUE_MIXED},
            {.name = "deviation_share", .heading = "Deviation, relative", .kind = VALUE_SHARE},
            {.name = "tolerance_share", .heading = "Tolerance", .kind = VALUE_SHARE},
            {.name = "coverage_share", .heading = "Coverage", .kind = VALUE_SHARE},
            {.name = "why", .heading = "Why this verdict", .max_px = 300},
            {.name = "set_by", .heading = "Set by", .max_px = 140},
            {.name = "valid_from", .heading = "Valid from"},
            {.name = "reason", .heading = "Reason given", .max_px = 260},
            {0},
        },
    .empty = "The cost model holds no assumptions for this quarter. Add rows to cost-model.csv to "
             "have them audited.",
    .is_main = true,
};

static bool
fill(struct sheet_run *run, struct error *err)
{
    struct place place;
    return table_write(run, &assumptions, &place, err);
}

const struct sheet sheet_assumptions = {
    .tab = "Assumptions",
    .title = "The cost model against what was measured",
    .is_wide = true,
    .fill = fill,
};
