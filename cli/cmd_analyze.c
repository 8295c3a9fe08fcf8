/* Works out and freezes the audit of the window. */
#include <config.h>

#include <stdio.h>

#include "analysis/analysis.h"
#include "cli/command.h"
#include "cli/print.h"

static bool
analyze(struct command_run *run, struct error *err)
{
    struct rows *rows = NULL;
    int id = 0;
    bool is_new = false;

    if (!analysis_run(run->settings, run->db, run->arena, &id, &is_new, err))
        return false;
    const char *audit_id = arena_printf(run->arena, "%d", id);
    const bool ok = rows_open(&rows, run->db, "sql/query_analyze_done.sql", 1, &audit_id, err) && rows_next(rows, err);
    if (ok)
        printf("%s %s%s\n", rows_text(rows, 0), is_new ? "frozen" : "was there already: nothing it reads has changed", rows_text(rows, 1));
    rows_close(rows);
    return ok && analysis_check(run->settings, run->db, id, err);
}

static const char *const options[] = {"fail-on", NULL};

const struct command command_analyze = {
    .name = "analyze",
    .arguments = "",
    .title = "work out and freeze the audit of the window",
    .help = "Computes figures, ledger, verdicts and recommendations from what is loaded and freezes them as a revision.\n"
            "When nothing it reads has changed, the revision that is there stays the newest and nothing is done.\n",
    .options = options,
    .needs = NEEDS_CONFIG | NEEDS_DATABASE,
    .run = analyze,
};
