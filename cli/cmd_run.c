/*
 * The quarter in one go: ingest, analyze, report, mail. A step that is done is not done again, so
 * the same command may follow any interruption. A source that fails does not stop the others:
 * the audit is made of what there is, says so, and the exit status is 8.
 */
#include <config.h>

#include <string.h>

#include "analysis/analysis.h"
#include "cli/command.h"
#include "common/log.h"
#include "common/progress.h"
#include "ingest/ingest.h"
#include "reports/report.h"

static bool
write_reports(struct command_run *run, int audit_id, const char **ret_workbook, struct error *err)
{
    const char *quarter = run->settings->window.name;
    const char *workbook = report_path(run->settings, run->arena, quarter, ".xlsx");
    const char *page = report_path(run->settings, run->arena, quarter, ".html");
    struct progress *progress = progress_begin("report");
    const bool ok = report_workbook(run->settings, run->db, audit_id, workbook, err) &&
                    report_page(run->settings, run->db, audit_id, page, err);

    progress_end(progress, ok ? "%s, %s" : "failed", workbook, page);
    if (ok)
        *ret_workbook = workbook;
    return ok;
}

/* Why the mail stays at home, or NULL; "" when that could not be found out. */
static const char *
reason_not_to_mail(struct command_run *run, int audit_id, struct error *err)
{
    const struct settings *settings = run->settings;
    const char *id = arena_printf(run->arena, "%d", audit_id), *is_final = NULL;

    if (settings->no_mail)
        return "--no-mail";
    if (section_get(settings_section(settings, "mail"), "server") == NULL)
        return "no server in [mail]";
    if (!db_text(run->db, run->arena, "sql/query_audit_is_final.sql", 1, &id, &is_final, err))
        return "";
    if (is_final[0] != 't' && !settings->draft && !settings->dry_run)
        return "the audit is a draft, a bill of the window may still change; --draft mails it all the same";
    return NULL;
}

static bool
send_mail(struct command_run *run, int audit_id, const char *workbook, struct error *err)
{
    const char *reason = reason_not_to_mail(run, audit_id, err);

    if (reason != NULL && err->code == ERR_NONE)
        log_note("not mailed: %s", reason);
    if (reason != NULL)
        return err->code == ERR_NONE;
    struct progress *progress = progress_begin("mail");
    const bool ok = report_mail(run->settings, run->db, audit_id, workbook,
                                report_path(run->settings, run->arena, run->settings->window.name, ".eml"), err);
    progress_end(progress, "%s", ok ? "sent" : "failed");
    return ok;
}

static bool
run_all(struct command_run *run, struct error *err)
{
    struct error partial = {0};
    const char *workbook = NULL;
    int audit_id = 0;
    bool is_new = false;

    if (!ingest_run(run->settings, run->db, run->arena, NULL, err)) {
        if (err->code != ERR_PARTIAL)
            return false;
        partial = *err;
        error_clear(err);
    }
    const bool ok = analysis_run(run->settings, run->db, run->arena, &audit_id, &is_new, err) &&
                    write_reports(run, audit_id, &workbook, err) && send_mail(run, audit_id, workbook, err);
    progress_summary();
    if (ok && partial.code != ERR_NONE)
        *err = partial;
    return ok && err->code == ERR_NONE && analysis_check(run->settings, run->db, audit_id, err);
}

static const char *const options[] = {"out", "no-mail", "draft", "dry-run", "fail-on", NULL};

const struct command command_run = {
    .name = "run",
    .arguments = "",
    .title = "ingest, analyze, report and mail in one go",
    .help = "Loads what the sources have for the window, freezes the audit, writes the workbook and the page, and mails\n"
            "them as [mail] says. What is done is not done again: after an interruption run the same command.\n",
    .options = options,
    .needs = NEEDS_CONFIG | NEEDS_DATABASE,
    .run = run_all,
};
