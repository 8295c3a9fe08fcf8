#include <config.h>

#include "analysis/rule.h"

bool
rule_recommend(const struct rule_run *run, const struct rule *rule, const struct recommendation *r, struct error *err)
{
    const char *const param[] = {
        run->audit_id, rule->name,     run->stack,         r->title,       r->provider,         r->pool,
        r->resource,   r->team,        r->project,         r->now,         r->proposed,         r->saving_low,
        r->saving,     r->saving_high, r->cost_acted_on,   r->formula,     r->evidence,         r->evidence_grade,
        r->confidence, r->risk,        r->effort,          r->owner,
    };
    return db_run(run->db, "sql/query_recommend.sql", (int)(sizeof(param) / sizeof(param[0])), param, err);
}
