/*
 * The one row that says what an audit is and comes to: what headlines, sentences and the mail are
 * made of. Each column of sql/query_report_facts.sql is a fact; the end of its name says how it is
 * shown: _cost and _saving as money, _rate as money per hour, _hours and _count as a whole number,
 * _share as a percentage, everything else as it is.
 */
#ifndef REPORTS_FACTS_H
#define REPORTS_FACTS_H

#include "common/arena.h"
#include "common/db.h"
#include "common/error.h"
#include "reports/value.h"

struct fact {
    const char *name;
    const char *value; /* as SQL gave it; NULL: unknown */
    enum value_kind kind;
};
struct facts {
    struct fact *fact;
    int count;
};

bool facts_read(struct facts *ret_facts, struct db *db, struct arena *arena, const char *audit_id,
                struct error *err) MUST_CHECK;
/* The value as SQL gave it, NULL when unknown or there is no such fact. */
const char *facts_value(const struct facts *facts, const char *name);
bool facts_is(const struct facts *facts, const char *name); /* the value is SQL's true */
const char *facts_text(const struct facts *facts, struct arena *arena,
                       const char *name); /* as people read it */

#endif
