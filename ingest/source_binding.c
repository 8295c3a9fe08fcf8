/* Which billed resource a telemetry host was, and when: the user's mapping file. */
#include <config.h>

#include <stdio.h>

#include "ingest/ingest.h"
#include "ingest/table.h"

enum { IN_PROVIDER = 1, IN_RESOURCE = 2, IN_FROM = 4, IN_TO = 5 };
enum { OUT_PROVIDER, OUT_RESOURCE_KEY, OUT_COUNT };

static const struct table_column columns[] = {
    {"host", NULL, CELL_TEXT, true},           {"provider", NULL, CELL_TEXT, true},
    {"resource_id", "asset", CELL_TEXT, true}, {"instance_type", NULL, CELL_TEXT, false},
    {"valid_from", NULL, CELL_TIME, false},    {"valid_to", NULL, CELL_TIME, false},
};

static bool
derive(const struct source_run *run, struct arena *arena, const struct field *cells,
       const char **ret_extra, char ret_reason[TABLE_REASON])
{
    struct field provider = cells[IN_PROVIDER], resource = cells[IN_RESOURCE];
    int64_t from = 0, to = 0;

    (void)run;
    if (cells[IN_FROM].size > 0 && cells[IN_TO].size > 0 &&
        cell_valid(CELL_TIME, cells[IN_FROM], &from) && cell_valid(CELL_TIME, cells[IN_TO], &to) &&
        to <= from) {
        snprintf(ret_reason, TABLE_REASON, "valid_to is not after valid_from");
        return false;
    }
    ret_extra[OUT_PROVIDER] = provider_key(arena, provider.text, provider.size);
    ret_extra[OUT_RESOURCE_KEY] =
        resource_key(arena, ret_extra[OUT_PROVIDER], resource.text, resource.size);
    return true;
}

static const struct table table_binding = {
    .title = "the mapping of hosts",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(columns[0]),
    .extra_count = OUT_COUNT,
    .stage = "sql/binding_stage.sql",
    .copy_sql = "COPY stage_binding (file_no, line, record, host, given_provider, resource_id, "
                "instance_type, valid_from,"
                " valid_to, provider, resource_key) FROM STDIN (FORMAT binary)",
    .refuse = "sql/binding_refuse.sql",
    .replace = "sql/binding_replace.sql",
    .derive = derive,
};

static bool
binding_ingest(struct source_run *run, struct error *err)
{
    static const struct table *const tables[] = {&table_binding};

    return table_ingest(run, tables, 1, err);
}

static const char *const keys[] = {"path", NULL};

const struct source source_binding = {
    .format = "csv",
    .title = "mapping of telemetry hosts to billed resources (CSV)",
    .kind = SOURCE_BINDING,
    .keys = keys,
    .ingest = binding_ingest,
};
