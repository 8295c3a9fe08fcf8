/* What is loaded, from where, how complete; what is frozen. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/print.h"
#include "common/calendar.h"
#include "ingest/ingest.h"

static bool
print_part(struct command_run *run, const char *asset, const char *ids, const char *format, struct error *err)
{
    struct rows *rows = NULL;
    const bool ok = rows_open(&rows, run->db, asset, 1, &ids, err) && print_rows(rows, format, err);

    rows_close(rows);
    return ok;
}

/* A part that is left out while it has nothing to tell. */
static bool
print_some(struct command_run *run, const char *heading, const char *asset, const char *ids, struct error *err)
{
    struct rows *rows = NULL;
    bool ok = rows_open(&rows, run->db, asset, 1, &ids, err);

    if (ok && rows_count(rows) > 0) {
        printf("\n%s\n", heading);
        ok = print_rows(rows, NULL, err);
    }
    rows_close(rows);
    return ok;
}

/* Completeness goes by the time and the window that are asked about. */
static bool
set_as_of(struct command_run *run, const char *ids, struct error *err)
{
    char now[CALENDAR_TEXT], from[CALENDAR_TEXT], to[CALENDAR_TEXT];
    const char *const as_of[] = {now, from, to, ids};

    time_format(run->settings->now, now);
    time_format(run->settings->window.from, from);
    time_format(run->settings->window.to, to);
    return db_run(run->db, "sql/query_as_of.sql", 4, as_of, err);
}

static bool
status(struct command_run *run, struct error *err)
{
    const char *format = run->settings->format;
    const char *ids = NULL, *document = NULL;

    if (!ingest_source_ids(run->settings, run->db, run->arena, &ids, err) || !set_as_of(run, ids, err))
        return false;
    if (format != NULL && strcmp(format, "json") == 0) {
        if (!db_text(run->db, run->arena, "sql/query_status_json.sql", 1, &ids, &document, err))
            return false;
        puts(document);
        return true;
    }
    if (format != NULL && strcmp(format, "csv") == 0)
        return print_part(run, "sql/query_status_loads.sql", ids, format, err);
    puts("Loaded");
    if (!print_part(run, "sql/query_status_loads.sql", ids, NULL, err))
        return false;
    if (!print_some(run, "Bills", "sql/query_status_bills.sql", ids, err))
        return false;
    puts("\nAudits");
    return print_part(run, "sql/query_status_audits.sql", ids, NULL, err) &&
           print_some(run, "Restated", "sql/query_status_restated.sql", ids, err) &&
           print_some(run, "Unknown instance types", "sql/query_status_unknown.sql", ids, err);
}

static const char *const options[] = {"json", NULL};

const struct command command_status = {
    .name = "status",
    .arguments = "",
    .title = "tell what is loaded and what is frozen",
    .help = "Lists every slice that the configured sources have loaded, with rows, rejects and failures; how complete each bill\n"
            "is and whether its provider has closed it; every audit frozen over them, what the newest revision changed and\n"
            "why, and instance types that no catalog knows. --json prints the same for programs.\n",
    .options = options,
    .needs = NEEDS_CONFIG | NEEDS_DATABASE,
    .run = status,
};
