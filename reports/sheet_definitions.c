/* What every figure means. */
#include <config.h>

#include "reports/table.h"

static const struct table definitions = {
    .query = "sql/query_sheet_definitions.sql",
    .columns =
        (const struct column[]){
            {.name = "topic", .heading = "Topic"},
            {.name = "term", .heading = "Term", .max_px = 200},
            {.name = "unit", .heading = "Unit", .max_px = 140},
            {.name = "meaning", .heading = "Meaning", .max_px = 460},
            {.name = "place", .heading = "In the database", .max_px = 240},
            {0},
        },
    .empty = "There is no such audit.",
    .is_main = true,
};

static bool
fill(struct sheet_run *run, struct error *err)
{
    struct place place;
    return table_write(run, &definitions, &place, err);
}

const struct sheet sheet_definitions = {
    .tab = "Definitions",
    .title = "What the figures mean",
    .is_wide = true,
    .fill = fill,
};
