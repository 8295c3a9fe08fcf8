/* Owned GPUs: one row is a span of service of a machine. */
#include <config.h>

#include <ctype.h>
#include <stdio.h>

#include "ingest/table.h"

enum { IN_FROM = 10, IN_TO, IN_CURRENCY = 13 };

static const struct table_column columns[] = {
    {"asset", NULL, CELL_TEXT, true},
    {"host", NULL, CELL_TEXT, false},
    {"gpu_model", "model", CELL_TEXT, true},
    {"gpu_count", "gpus", CELL_COUNT, true},
    {"gpu_uuids", NULL, CELL_TEXT, false},
    {"site", NULL, CELL_TEXT, false},
    {"pool", NULL, CELL_TEXT, false},
    {"team", NULL, CELL_TEXT, false},
    {"project", NULL, CELL_TEXT, false},
    {"jira", "issue", CELL_TEXT, false},
    {"in_service_from", NULL, CELL_TIME, true},
    {"in_service_to", NULL, CELL_TIME, false},
    {"cost_per_hour", NULL, CELL_NUMBER, false},
    {"currency", NULL, CELL_TEXT, false},
    {"capex", NULL, CELL_NUMBER, false},
    {"life_years", NULL, CELL_COUNT, false},
    {"power_w", NULL, CELL_NUMBER, false},
    {"power_price_per_kwh", NULL, CELL_NUMBER, false},
    {"staff_per_year", NULL, CELL_NUMBER, false},
    {"other_per_year", NULL, CELL_NUMBER, false},
};

/* The one extra column: the currency, the report's where the cell is empty. */
static bool
derive(const struct source_run *run, struct arena *arena, const struct field *cells,
       const char **ret_extra, char ret_reason[TABLE_REASON])
{
    struct field currency = cells[IN_CURRENCY];
    int64_t from = 0, to = 0;

    if (cells[IN_TO].size > 0 && cell_valid(CELL_TIME, cells[IN_FROM], &from) &&
        cell_valid(CELL_TIME, cells[IN_TO], &to) && to <= from) {
        snprintf(ret_reason, TABLE_REASON, "in_service_to is not after in_service_from");
        return false;
    }
    if (currency.size == 0) {
        ret_extra[0] = run->settings->currency;
        return true;
    }
    if (currency.size != 3) {
        snprintf(ret_reason, TABLE_REASON, "currency is not a code of three letters such as USD");
        return false;
    }
    ret_extra[0] = arena_printf(arena, "%c%c%c", toupper((unsigned char)currency.text[0]),
                                toupper((unsigned char)currency.text[1]),
                                toupper((unsigned char)currency.text[2]));
    return true;
}

static const struct table table_inventory = {
    .title = "the inventory",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(columns[0]),
    .extra_count = 1,
    .stage = "sql/inventory_stage.sql",
    .copy_sql = "COPY stage_inventory (file_no, line, record, asset, host, gpu_model, gpu_count, "
                "gpu_uuids, site, pool, team,"
                " project, issue, in_service_from, in_service_to, cost_per_hour, given_currency, "
                "capex, life_years, power_w,"
                " power_price_per_kwh, staff_per_year, other_per_year, currency) FROM STDIN "
                "(FORMAT binary)",
    .refuse = "sql/inventory_refuse.sql",
    .replace = "sql/inventory_replace.sql",
    .derive = derive,
};

static bool
inventory_ingest(struct source_run *run, struct error *err)
{
    static const struct table *const tables[] = {&table_inventory};

    return table_ingest(run, tables, 1, err);
}

static const char *const keys[] = {"path", NULL};

const struct source source_inventory = {
    .format = "csv",
    .title = "inventory of owned GPUs (CSV)",
    .kind = SOURCE_INVENTORY,
    .keys = keys,
    .ingest = inventory_ingest,
};
