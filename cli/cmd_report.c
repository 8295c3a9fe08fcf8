/* Writes the workbook and the page of the newest audit of the window. */
#include <config.h>

#include <stdio.h>

#include "analysis/analysis.h"
#include "cli/command.h"
#include "reports/report.h"

static bool
write_report(struct command_run *run, struct error *err)
{
    struct settings *settings = run->settings;
    const char *quarter = settings->window.name;
    const char *workbook = report_path(settings, run->arena, quarter, ".xlsx");
    const char *page = report_path(settings, run->arena, quarter, ".html");
    int audit_id = 0;
    bool is_new = false;

    if (!analysis_run(settings, run->db, run->arena, &audit_id, &is_new, err) ||
        !report_workbook(settings, run->db, audit_id, workbook, err) ||
        !report_page(settings, run->db, audit_id, page, err))
        return false;
    printf("%s\n%s\n", workbook, page);
    return true;
}

static const char *const options[] = {"out", NULL};

const struct command command_report = {
    .name = "report",
    .arguments = "",
    .title = "write the workbook and the page",
    .help = "Writes gpu-audit-QUARTER.xlsx and .html of the newest audit of the window into the "
            "folder that --out or\n"
            "[report] folder names, and prints their paths. What was loaded since is audited "
            "first. Each file\n"
            "appears whole or not at all, and equal audits give equal bytes.\n",
    .options = options,
    .needs = NEEDS_CONFIG | NEEDS_DATABASE,
    .run = write_report,
};
