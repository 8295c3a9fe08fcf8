/*
 * Reports of an audit that a test has put into a database, without an analysis:
 *
 *     report_probe [OPTION...] workbook|page|mail CONNINFO AUDIT_ID PATH
 *
 * PATH is what is written; for a mail the workbook it carries (with --dry-run the message goes to
 * PATH.eml).
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "reports/report.h"

static bool
run(struct settings *settings, struct arena *arena, struct error *err)
{
    bool is_mail = settings->command != NULL && strcmp(settings->command, "mail") == 0;
    if (settings->command == NULL || settings->argc != 3)
        return error_set(
            err, ERR_USAGE,
            "report_probe: wants workbook, page or mail, a conninfo, an audit and a path");
    if (!settings_load(settings, is_mail, err))
        return false;
    struct db *db = NULL;
    int audit_id = (int)strtol(settings->argv[1], NULL, 10);
    const char *path = settings->argv[2];
    bool is_done = db_open(&db, settings->argv[0], "report_probe", err);
    if (is_done && is_mail)
        is_done =
            report_mail(settings, db, audit_id, path, arena_printf(arena, "%s.eml", path), err);
    else if (is_done && strcmp(settings->command, "page") == 0)
        is_done = report_page(settings, db, audit_id, path, err);
    else if (is_done)
        is_done = report_workbook(settings, db, audit_id, path, err);
    db_close(db);
    return is_done;
}

int
main(int argc, char **argv)
{
    struct arena arena = {0};
    struct settings settings = {0};
    struct error err = {0};
    if (!settings_parse(&settings, &arena, argc, argv, &err) || !run(&settings, &arena, &err))
        log_error(&err);
    arena_free(&arena);
    return (int)err.code;
}
