/* Writes the workbook and the page of a frozen audit, and the mail that carries them. */
#ifndef REPORTS_REPORT_H
#define REPORTS_REPORT_H

#include "common/arena.h"
#include "common/db.h"
#include "common/settings.h"

/* The files are written beside their place and renamed when whole. Byte-identical for equal audits
 * and --as-of. */
bool report_workbook(struct settings *settings, struct db *db, int audit_id, const char *path,
                     struct error *err) MUST_CHECK;
bool report_page(struct settings *settings, struct db *db, int audit_id, const char *path,
                 struct error *err) MUST_CHECK;
/* out/gpu-audit-2026Q3.xlsx and .html, in arena; the folder comes from --out, else [report] folder,
 * else "out". */
const char *report_path(struct settings *settings, struct arena *arena, const char *quarter,
                        const char *suffix);
/* Sends the workbook by SMTP as [mail] says, a draft only with settings->draft (ERR_REPORT); with settings->dry_run writes the message to dry_path
 * instead. */
bool report_mail(struct settings *settings, struct db *db, int audit_id, const char *workbook_path,
                 const char *dry_path, struct error *err) MUST_CHECK;

#endif
