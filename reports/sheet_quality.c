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

static const struct table completeness = {
    .query = "sql/query_sheet_completeness.sql",
    .columns =
        (const struct column[]){
            {.name = "source_name", .heading = "Source", .max_px = 160},
            {.name = "period", .heading = "Period"},
            {.name = "state", .heading = "State"},
            {.name = "is_trusted", .heading = "Can be trusted"},
            {.name = "days", .heading = "Days with use"},
            {.name = "rows_invoiced", .heading = "Rows invoiced", .kind = VALUE_COUNT},
            {.name = "rows_uninvoiced", .heading = "Not invoiced", .kind = VALUE_COUNT},
            {.name = "delivered", .heading = "Delivered, UTC", .kind = VALUE_TIME},
            {.name = "reason", .heading = "Why", .span = 4, .max_px = 420},
            {.name = "doubt", .heading = "What speaks against it", .span = 2, .max_px = 320},
            {.name = "days_missing", .heading = "Days without use", .span = 2, .max_px = 320},
            {0},
        },
    .empty = "No bill was read.",
};

static const struct table rates = {
    .query = "sql/query_sheet_rates.sql",
    .columns =
        (const struct column[]){
            {.name = "source_name", .heading = "Source", .max_px = 160},
            {.name = "month", .heading = "Month"},
            {.name = "currency", .heading = "Currency"},
            {.name = "rate", .heading = "Rate", .kind = VALUE_MIXED},
            {.name = "billed", .heading = "Billed, in its currency", .kind = VALUE_MIXED},
            {.name = "converted", .heading = "Billed", .kind = VALUE_MONEY},
            {.name = "how", .heading = "Where the rate comes from", .span = 5, .max_px = 420},
            {.name = "remedy", .heading = "Line for an [fx] file", .span = 3},
            {0},
        },
    .empty = "All money was billed in the audit's own currency.",
};

static const struct table unknown_types = {
    .query = "sql/query_sheet_unknown_types.sql",
    .columns =
        (const struct column[]){
            {.name = "provider", .heading = "Provider"},
            {.name = "instance_type", .heading = "Instance type", .span = 2},
            {.name = "resources", .heading = "Machines", .kind = VALUE_COUNT},
            {.name = "instance_hours", .heading = "Instance-hours", .kind = VALUE_HOURS},
            {.name = "gpu_count", .heading = "GPUs, as billed", .kind = VALUE_MIXED},
            {.name = "gpu_hours", .heading = "GPU-hours", .kind = VALUE_HOURS},
            {.name = "effective_cost", .heading = "Cost", .kind = VALUE_MONEY},
            {.name = "catalog_line",
             .heading = "Line for a [prices] file: provider,instance_type,gpu_model,gpu_count",
             .span = 5},
            {0},
        },
    .empty = "The catalog knows every instance type.",
};

static const struct table tags = {
    .query = "sql/query_sheet_tags.sql",
    .columns =
        (const struct column[]){
            {.name = "provider", .heading = "Provider"},
            {.name = "tag", .heading = "Tag"},
            {.name = "cost", .heading = "Cost", .kind = VALUE_MONEY},
            {.name = "taken", .heading = "Taken", .span = 2},
            {.name = "spellings", .heading = "As delivered", .span = 4, .max_px = 420},
            {.name = "why", .heading = "Why it was taken", .span = 3, .max_px = 320},
            {.name = "resource_id", .heading = "Resource", .span = 4},
            {0},
        },
    .empty = "No resource has tags that are one and say different things.",
};

static const struct table restated = {
    .query = "sql/query_sheet_restated.sql",
    .columns =
        (const struct column[]){
            {.name = "figure", .heading = "Figure", .span = 2},
            {.name = "unit", .heading = "Unit"},
            {.name = "before", .heading = "Before", .kind = VALUE_MIXED},
            {.name = "after", .heading = "Now", .kind = VALUE_MIXED},
            {.name = "change", .heading = "Change", .kind = VALUE_MIXED},
            {.name = "revision_before", .heading = "Revision before", .kind = VALUE_COUNT},
            {.name = "state_before", .heading = "It was"},
            {0},
        },
    .empty = "No figure of the whole differs from the revision before, or there is none before.",
};

static const struct table restated_why = {
    .query = "sql/query_sheet_restated_why.sql",
    .columns =
        (const struct column[]){
            {.name = "what", .heading = "Because"},
            {.name = "source", .heading = "Source", .span = 2},
            {.name = "period", .heading = "Period"},
            {.name = "rows", .heading = "Rows", .kind = VALUE_COUNT},
            {.name = "rows_before", .heading = "Rows before", .kind = VALUE_COUNT},
            {.name = "object", .heading = "Object", .span = 6},
            {0},
        },
    .empty = "Nothing that was read differs.",
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
           put_section(run, "Completeness of the bills", &completeness, err) &&
           put_section(run, "Invoices", &invoices, err) &&
           put_section(run, "Exchange rates", &rates, err) &&
           put_section(run, "Instance types that no catalog knows", &unknown_types, err) &&
           put_section(run, "Tags that contradict each other", &tags, err) &&
           put_section(run, "Restated: what differs from the revision before", &restated, err) &&
           put_section(run, "Restated: why", &restated_why, err) &&
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
