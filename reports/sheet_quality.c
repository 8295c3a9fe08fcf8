/* How far the figures can be trusted: what is missing, unmatched or rejected, and whether invoices
 * add up. */
#include <config.h>

#include "reports/table.h"

static const struct table findings = {
    .query = "sql/query_sheet_quality.sql",
    .columns =
        (const struct column[]){
            {.name = "check_name", .heading = "Check", .max_px = 180},
            {.name = "finding", .heading = "Finding", .span = 4, .max_px = 500},
            {.name = "items", .heading = "Items", .kind = VALUE_COUNT},
            {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
            {.name = "cost", .heading = "Cost", .kind = VALUE_MONEY},
            {.name = "remedy", .heading = "What to do", .span = 6, .max_px = 500},
            {0},
        },
    .empty = "No check found anything.",
    .is_main = true,
};

static const struct table coverage = {
    .query = "sql/query_sheet_coverage.sql",
    .columns =
        (const struct column[]){
            {.name = "provider", .heading = "Provider"},
            {.name = "coverage_share", .heading = "Coverage", .kind = VALUE_SHARE},
            {.name = "running_gpu_hours", .heading = "Running GPU-hours", .kind = VALUE_HOURS},
            {.name = "covered_gpu_hours", .heading = "Covered GPU-hours", .kind = VALUE_HOURS},
            {.name = "unknown_gpu_hours", .heading = "Unknown GPU-hours", .kind = VALUE_HOURS},
            {.name = "unknown_cost", .heading = "Unknown", .kind = VALUE_MONEY},
            {.name = "untagged_cost", .heading = "Untagged", .kind = VALUE_MONEY},
            {0},
        },
    .empty = "No GPU-hours were billed or owned in this quarter.",
};

static const struct table invoices = {
    .query = "sql/query_sheet_invoices.sql",
    .columns =
        (const struct column[]){
            {.name = "provider", .heading = "Provider"},
            {.name = "month", .heading = "Month"},
            {.name = "currency", .heading = "Currency of the amounts"},
            {.name = "invoice", .heading = "Invoice", .kind = VALUE_MIXED},
            {.name = "kept", .heading = "Kept", .kind = VALUE_MIXED},
            {.name = "totalled", .heading = "Totalled", .kind = VALUE_MIXED},
            {.name = "check", .heading = "Kept + totalled = invoice", .max_px = 200},
            {.name = "gpu_use", .heading = "GPU use", .kind = VALUE_MIXED},
            {.name = "gpu_corrections", .heading = "GPU corrections", .kind = VALUE_MIXED},
            {.name = "commitment_purchases",
             .heading = "Commitment purchases",
             .kind = VALUE_MIXED},
            {.name = "other", .heading = "Everything else", .kind = VALUE_MIXED},
            {.name = "row_count", .heading = "Rows", .kind = VALUE_COUNT},
            {.name = "rows_rejected", .heading = "Rejected", .kind = VALUE_COUNT},
            {.name = "days_present", .heading = "Days with charges", .kind = VALUE_COUNT},
            {.name = "state", .heading = "Period"},
            {.name = "source_name", .heading = "Source", .max_px = 160},
            {0},
        },
    .empty = "No bill was read.",
};

static const struct table unobserved = {
    .query = "sql/query_sheet_unobserved.sql",
    .columns =
        (const struct column[]){
            {.name = "provider", .heading = "Provider"},
            {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
            {.name = "cost", .heading = "Cost", .kind = VALUE_MONEY},
            {.name = "seen", .heading = "Unobserved", .span = 2},
            {.name = "team", .heading = "Team", .span = 2},
            {.name = "project", .heading = "Project", .span = 2},
            {.name = "instance_type", .heading = "Instance type", .span = 2},
            {.name = "instance", .heading = "Instance", .span = 5},
            {0},
        },
    .empty = "Every resource with running hours has samples for all of them.",
};

static const struct table unbilled = {
    .query = "sql/query_sheet_unbilled.sql",
    .columns =
        (const struct column[]){
            {.name = "model_name", .heading = "Model", .span = 2},
            {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
            {.name = "from_time", .heading = "From, UTC", .kind = VALUE_TIME, .span = 2},
            {.name = "to_time", .heading = "To, UTC", .kind = VALUE_TIME, .span = 2},
            {.name = "host", .heading = "Host", .span = 3},
            {.name = "gpu_uuid", .heading = "GPU", .span = 4},
            {0},
        },
    .empty = "Every GPU with samples is known to a bill or the inventory.",
};

static const struct table inputs = {
    .query = "sql/query_sheet_inputs.sql",
    .columns =
        (const struct column[]){
            {.name = "kind", .heading = "Kind"},
            {.name = "name", .heading = "Source"},
            {.name = "period", .heading = "Period"},
            {.name = "rows_read", .heading = "Rows read", .kind = VALUE_COUNT},
            {.name = "rows_kept", .heading = "Kept", .kind = VALUE_COUNT},
            {.name = "rows_totalled", .heading = "Totalled", .kind = VALUE_COUNT},
            {.name = "rows_rejected", .heading = "Rejected", .kind = VALUE_COUNT},
            {.name = "complete", .heading = "Complete"},
            {.name = "object", .heading = "Object", .span = 4},
            {.name = "sha256", .heading = "SHA-256", .span = 4},
            {0},
        },
    .empty = "No delivery was read.",
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
    return table_write(run, &findings, &place, err) &&
           put_section(run, "Coverage", &coverage, err) &&
           put_section(run, "Invoices", &invoices, err) &&
           put_section(run, "Unobserved: paid for, but nobody measured it", &unobserved, err) &&
           put_section(run, "Unbilled: measured, but no bill or inventory knows it", &unbilled,
                       err) &&
           put_section(run, "What was read", &inputs, err);
}

const struct sheet sheet_quality = {
    .tab = "Data quality",
    .title = "Data quality and reconciliation",
    .is_wide = true,
    .fill = fill,
};
