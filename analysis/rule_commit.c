/*
 * Commit the steady rest: for each pool the commitment level that costs least, which is the
 * d-quantile of its hourly residual demand at discount d. Demand is what is billed on demand,
 * so what existing commitments cover is out of it, and so are the idle stretches ended before.
 * Silent where no discount is known: neither assumed in the cost model nor seen in the bills.
 */
#include <config.h>

#include <stdlib.h>

#include "analysis/rule.h"

enum column { PROVIDER, POOL, GPUS, DISCOUNT, SOURCE, HOURS, DEMAND, PRICE, LOW, SAVING, HIGH, ACTED_ON, USE };

extern const struct rule rule_commit;

static const double WORTH_A_LINE = 1.0;  /* a month */
static const double QUARTER_HOURS = 1440; /* 60 days: less says little about what is steady */

static bool
emit(const struct rule_run *run, const struct rows *rows, struct error *err)
{
    const bool is_long = strtod(rows_text(rows, HOURS), NULL) >= QUARTER_HOURS;
    const bool is_robust = strtod(rows_text(rows, LOW), NULL) > 0;
    const struct recommendation r = {
        .title = arena_printf(run->arena, "Commit %s GPUs", rows_text(rows, GPUS)),
        .provider = rows_text(rows, PROVIDER),
        .pool = rows_text(rows, POOL),
        .team = "",
        .project = "",
        .now = arena_printf(run->arena, "%s GPU-hours on demand at %s per GPU-hour, without the idle stretches", rows_text(rows, DEMAND),
                            rows_text(rows, PRICE)),
        .proposed = arena_printf(run->arena, "commit %s GPUs at %s %% discount (%s); it would have been used %s %%", rows_text(rows, GPUS),
                                 rows_text(rows, DISCOUNT), rows_text(rows, SOURCE), rows_text(rows, USE)),
        .saving_low = rows_text(rows, LOW),
        .saving = rows_text(rows, SAVING),
        .saving_high = rows_text(rows, HIGH),
        .cost_acted_on = rows_text(rows, ACTED_ON),
        .formula = "price x demand - price x ((1 - discount) x level x hours + demand above the level), x 730 / hours; level: the "
                   "discount-quantile of hourly demand; low and high: demand 10 % lower and higher",
        .evidence = "SELECT * FROM audit.commitment_demand WHERE audit_id = :audit AND pool = :pool ORDER BY hour",
        .evidence_grade = "A: billed hours",
        .confidence = is_long && is_robust ? "high" : "medium",
        .risk = is_robust ? "medium: binds for the term; prices of GPUs have been falling"
                          : "high: binds for the term, and loses money if demand falls by a tenth",
        .effort = "low",
        .owner = "FinOps",
    };
    return rule_recommend(run, &rule_commit, &r, err);
}

static bool
commit(struct rule_run *run, struct error *err)
{
    const char *const param[] = {run->audit_id};
    struct rows *rows = NULL;
    bool ok = rows_open(&rows, run->db, "sql/query_rule_commit.sql", 1, param, err);

    while (ok && rows_next(rows, err)) {
        if (strtod(rows_text(rows, SAVING), NULL) >= WORTH_A_LINE)
            ok = emit(run, rows, err);
    }
    rows_close(rows);
    return ok && err->code == ERR_NONE;
}

const struct rule rule_commit = {
    .name = "commit",
    .title = "Commit the steady rest",
    .run = commit,
};
