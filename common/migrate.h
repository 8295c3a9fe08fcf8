/*
 * Brings the schema up to this program: the assets sql/NNNN_*.sql that are not in audit.migration
 * yet, then all views if any view file changed. One transaction under an advisory lock; one query
 * when there is nothing to do. A migration that changed after it was applied, or one that this
 * program does not know, is an error.
 */
#ifndef COMMON_MIGRATE_H
#define COMMON_MIGRATE_H

#include <stdbool.h>

#include "common/db.h"
#include "common/error.h"

bool migrate_run(struct db *db, struct error *err) MUST_CHECK;

#endif
