/* --fail-on: an audit that holds findings of the kinds the user asked about ends with status 1. */
#include <config.h>

#include <stdio.h>

#include "analysis/analysis.h"

bool
analysis_check(const struct settings *settings, struct db *db, int audit_id, struct error *err)
{
    char id[16];
    const char *const param[] = {id, settings->fail_on};
    struct rows *rows = NULL;

    if (settings->fail_on == NULL || *settings->fail_on == '\0')
        return true;
    snprintf(id, sizeof(id), "%d", audit_id);
    bool ok = rows_open(&rows, db, "sql/query_audit_findings.sql", 2, param, err);
    if (ok && rows_next(rows, err)) {
        if (rows_text(rows, 1) == NULL) {
            error_set(err, ERR_USAGE, "--fail-on: there is no kind of finding \"%s\"", rows_text(rows, 0));
            error_hint(err, "The kinds are %s.", rows_text(rows, 2));
        } else {
            error_set(err, ERR_FINDINGS, "the audit has findings of the kind \"%s\": %s", rows_text(rows, 0), rows_text(rows, 1));
            error_hint(err, "Everything else was done. \"gpu-audit figures\" and the workbook show them.");
        }
        ok = false;
    }
    rows_close(rows);
    return ok && err->code == ERR_NONE;
}
