/*
 * End idle stretches: an instance that ran for more than 24 hours on end below 20 % of its GPUs.
 * On demand and spot money ends with the machine. What is committed or owned is paid for either
 * way: there the proposal is to move work onto it, and the saving is 0 until that is done.
 * Never on unknown: a stretch is made of covered hours only.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/rule.h"

enum column {
    PROVIDER, POOL, RESOURCE, TEAM, PROJECT, PRICING, SHAPE, GPUS, STRETCHES, HOURS, GPU_HOURS, IDLE_COST, LOW, SAVING, HIGH,
    ACTED_ON, UTIL, SIGNAL, IS_OPEN, LAST_END, OWNER
};

extern const struct rule rule_end_idle;

static const double WORTH_A_LINE = 1.0; /* a month: less is not worth anybody's minute */

static bool
is_paid_anyway(const char *pricing)
{
    return strcmp(pricing, "committed") == 0 || strcmp(pricing, "owned") == 0;
}

static const char *
proposal(const struct rows *rows)
{
    const bool open = strcmp(rows_text(rows, IS_OPEN), "t") == 0;

    if (is_paid_anyway(rows_text(rows, PRICING)))
        return open ? "move work onto it, or give it back: it is paid for and still idle" : "move work onto it while it is idle";
    if (open)
        return "stop it now, and stop it after 24 idle hours from then on";
    return "stop it after 24 idle hours";
}

static bool
emit(const struct rule_run *run, const struct rows *rows, struct error *err)
{
    const bool measured = strcmp(rows_text(rows, SIGNAL), "sm") == 0;
    const struct recommendation r = {
        .title = is_paid_anyway(rows_text(rows, PRICING)) ? "Use idle GPUs that are paid for" : "End idle stretches",
        .provider = rows_text(rows, PROVIDER),
        .pool = rows_text(rows, POOL),
        .resource = rows_text(rows, RESOURCE),
        .team = rows_text(rows, TEAM),
        .project = rows_text(rows, PROJECT),
        .now = arena_printf(run->arena, "%s, %s GPUs, %s: %s idle stretches, %s hours at %s %% %s; last until %s", rows_text(rows, SHAPE),
                            rows_text(rows, GPUS), rows_text(rows, PRICING), rows_text(rows, STRETCHES), rows_text(rows, HOURS),
                            rows_text(rows, UTIL), measured ? "SM activity" : "utilization", rows_text(rows, LAST_END)),
        .proposed = proposal(rows),
        .saving_low = rows_text(rows, LOW),
        .saving = rows_text(rows, SAVING),
        .saving_high = rows_text(rows, HIGH),
        .cost_acted_on = rows_text(rows, ACTED_ON),
        .formula = is_paid_anyway(rows_text(rows, PRICING))
                       ? "no saving by itself: the money is spent whether it is idle or not"
                       : "cost of the stretches beyond their 24th hour x 730 / hours of the window; low: beyond the 48th; high: all of it",
        .evidence = "SELECT * FROM audit.audit_idle_stretch WHERE audit_id = :audit AND resource_id = :resource",
        .evidence_grade = measured ? "A: SM activity" : "B: GPU utilization",
        .confidence = measured ? "high" : "medium",
        .risk = "low: ask the owner whether something waits there",
        .effort = "low",
        .owner = rows_text(rows, OWNER),
    };
    return rule_recommend(run, &rule_end_idle, &r, err);
}

static bool
end_idle(struct rule_run *run, struct error *err)
{
    const char *const param[] = {run->audit_id};
    struct rows *rows = NULL;
    bool ok = rows_open(&rows, run->db, "sql/query_rule_end_idle.sql", 1, param, err);

    while (ok && rows_next(rows, err)) {
        const bool small = rows_text(rows, HIGH) == NULL || strtod(rows_text(rows, HIGH), NULL) < WORTH_A_LINE;
        if (rows_text(rows, ACTED_ON) != NULL && (!small || is_paid_anyway(rows_text(rows, PRICING))))
            ok = emit(run, rows, err);
    }
    rows_close(rows);
    return ok && err->code == ERR_NONE;
}

const struct rule rule_end_idle = {
    .name = "end-idle",
    .title = "End idle stretches",
    .run = end_idle,
};
