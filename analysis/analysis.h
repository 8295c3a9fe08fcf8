/*
 * An analysis works out one audit: subjects and hours (set-based SQL), figures, ledger, verdicts
 * (views), then the rules in the order of the stack, and freezes them under a revision.
 * Equal inputs (loads with their hashes, settings, program version) give the audit that is there.
 */
#ifndef ANALYSIS_ANALYSIS_H
#define ANALYSIS_ANALYSIS_H

#include "common/arena.h"
#include "common/db.h"
#include "common/settings.h"

/* Finds or makes the newest audit of the settings' window and sources. ret_is_new tells which. */
bool analysis_run(struct settings *settings, struct db *db, struct arena *arena, int *ret_audit_id, bool *ret_is_new,
                  struct error *err) MUST_CHECK;

/* False with ERR_FINDINGS when the audit holds findings of a kind that --fail-on names; true when none was asked about. */
bool analysis_check(const struct settings *settings, struct db *db, int audit_id, struct error *err) MUST_CHECK;

#endif
