/* Exchange rates, one per month and pair of currencies. */
#include <config.h>

#include <ctype.h>
#include <stdio.h>

#include "ingest/table.h"

enum { IN_FROM = 1, IN_TO = 2 };

static const struct table_column columns[] = {
    {"month", NULL, CELL_MONTH, true},
    {"from_currency", "from", CELL_TEXT, true},
    {"to_currency", "to", CELL_TEXT, true},
    {"rate", NULL, CELL_COUNT, true},
};

static bool
derive(const struct source_run *run, struct arena *arena, const struct field *cells,
       const char **ret_extra, char ret_reason[TABLE_REASON])
{
    (void)run;
    for (int i = 0; i < 2; i++) {
        struct field code = cells[i ? IN_TO : IN_FROM];

        if (code.size != 3) {
            snprintf(ret_reason, TABLE_REASON, "%s is not a code of three letters such as EUR",
                     columns[i ? IN_TO : IN_FROM].name);
            return false;
        }
        ret_extra[i] = arena_printf(arena, "%c%c%c", toupper((unsigned char)code.text[0]),
                                    toupper((unsigned char)code.text[1]),
                                    toupper((unsigned char)code.text[2]));
    }
    return true;
}

static const struct table table_fx = {
    .title = "the exchange rates",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(columns[0]),
    .extra_count = 2,
    .stage = "sql/fx_stage.sql",
    .copy_sql = "COPY stage_fx (file_no, line, record, month, given_from, given_to, rate, "
                "from_currency, to_currency)"
                " FROM STDIN (FORMAT binary)",
    .refuse = "sql/fx_refuse.sql",
    .replace = "sql/fx_replace.sql",
    .derive = derive,
};

static bool
fx_ingest(struct source_run *run, struct error *err)
{
    static const struct table *const tables[] = {&table_fx};

    return table_ingest(run, tables, 1, err);
}

static const char *const keys[] = {"path", NULL};

const struct source source_fx = {
    .format = "csv",
    .title = "exchange rates by month (CSV)",
    .kind = SOURCE_FX,
    .keys = keys,
    .ingest = fx_ingest,
};
