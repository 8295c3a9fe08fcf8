/* Every headline figure of the window: a page for people, CSV, or the JSON document. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "cli/command.h"
#include "cli/print.h"

static bool
print_query(struct command_run *run, const char *asset, const char *audit_id, const char *format, struct error *err)
{
    struct rows *rows = NULL;
    const bool ok = rows_open(&rows, run->db, asset, 1, &audit_id, err) && print_rows(rows, format, err);

    rows_close(rows);
    return ok;
}

static bool
print_document(struct command_run *run, const char *audit_id, struct error *err)
{
    const char *document = NULL;

    if (!db_text(run->db, run->arena, "sql/query_figures_json.sql", 1, &audit_id, &document, err))
        return false;
    puts(document);
    return true;
}

static bool
print_page(struct command_run *run, const char *audit_id, struct error *err)
{
    static const struct {
        const char *title, *asset;
    } parts[] = {
        {NULL, "sql/query_figures_head.sql"},
        {"Where the GPU-hours went", "sql/query_figures_ledger.sql"},
        {"By provider, model and team", "sql/query_figures_groups.sql"},
        {"Assumptions", "sql/query_figures_verdicts.sql"},
        {"Recommendations, per month", "sql/query_figures_savings.sql"},
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].title != NULL)
            printf("\n%s\n", parts[i].title);
        if (!print_query(run, parts[i].asset, audit_id, NULL, err))
            return false;
    }
    return true;
}

static bool
figures(struct command_run *run, struct error *err)
{
    const char *format = run->settings->format;
    int id = 0;
    bool is_new = false;

    if (!analysis_run(run->settings, run->db, run->arena, &id, &is_new, err))
        return false;
    const char *audit_id = arena_printf(run->arena, "%d", id);
    bool ok;
    if (format != NULL && strcmp(format, "json") == 0)
        ok = print_document(run, audit_id, err);
    else if (format != NULL && strcmp(format, "csv") == 0)
        ok = print_query(run, "sql/query_figures_all.sql", audit_id, format, err);
    else
        ok = print_page(run, audit_id, err);
    return ok && analysis_check(run->settings, run->db, id, err);
}

static const char *const options[] = {"fail-on", NULL};

const struct command command_figures = {
    .name = "figures",
    .arguments = "",
    .title = "print every headline figure",
    .help = "Prints the figures of the window's newest audit, and makes that audit first when what is loaded has\n"
            "changed since. --format table is a page for people, csv every figure of every scope, json the whole\n"
            "document: money and GPU-hours as exact decimal strings, ratios as numbers, unknown as null.\n",
    .options = options,
    .needs = NEEDS_CONFIG | NEEDS_DATABASE,
    .run = figures,
};
