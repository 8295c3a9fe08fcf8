/* Mails the workbook of the newest audit of the window. */
#include <config.h>

#include <stdio.h>

#include "analysis/analysis.h"
#include "cli/command.h"
#include "common/log.h"
#include "reports/report.h"

static bool
mail_report(struct command_run *run, struct error *err)
{
    struct settings *settings = run->settings;
    const char *workbook = report_path(settings, run->arena, settings->window.name, ".xlsx");
    const char *message = report_path(settings, run->arena, settings->window.name, ".eml");
    int audit_id = 0;
    bool is_new = false;

    /* The workbook is written again, so that what is mailed is the audit and not what lies around.
     */
    if (!analysis_run(settings, run->db, run->arena, &audit_id, &is_new, err) ||
        !report_workbook(settings, run->db, audit_id, workbook, err) ||
        !report_mail(settings, run->db, audit_id, workbook, message, err))
        return false;
    if (settings->dry_run)
        printf("%s\n", message);
    else
        log_note("mailed %s", workbook);
    return true;
}

static const char *const options[] = {"out", "draft", "dry-run", NULL};

const struct command command_mail = {
    .name = "mail",
    .arguments = "",
    .title = "mail the workbook",
    .help = "Mails the workbook of the newest audit of the window as the section [mail] says: "
            "server, from, to, cc, bcc.\n"
            "With --dry-run the message is written to gpu-audit-QUARTER.eml beside the workbook "
            "instead, and\n"
            "nothing is sent.\n",
    .options = options,
    .needs = NEEDS_CONFIG | NEEDS_DATABASE,
    .run = mail_report,
};
