/* What is loaded, from where, how complete; what is frozen. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/print.h"
#include "ingest/ingest.h"

static bool
print_part(struct command_run *run, const char *asset, const char *ids, const char *format, struct error *err)
{
    struct rows *rows = NULL;
    const bool ok = rows_open(&rows, run->db, asset, 1, &ids, err) && print_rows(rows, format, err);

    rows_close(rows);
    return ok;
}

static bool
status(struct command_run *run, struct error *err)
{
    const char *format = run->settings->format;
    const char *ids = NULL, *document = NULL;

    if (!ingest_source_ids(run->settings, run->db, run->arena, &ids, err))
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
    puts("\nAudits");
    return print_part(run, "sql/query_status_audits.sql", ids, NULL, err);
}

static const char *const options[] = {"json", NULL};

const struct command command_status = {
    .name = "status",
    .arguments = "",
    .title = "tell what is loaded and what is frozen",
    .help = "Lists every slice that the configured sources have loaded, with rows, rejects and failures, and every audit\n"
            "frozen over them. --json prints the same for programs.\n",
    .options = options,
    .needs = NEEDS_CONFIG | NEEDS_DATABASE,
    .run = status,
};
