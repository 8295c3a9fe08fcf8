/*
 * A rule is one file analysis/rule_NAME.c that ends in one const struct rule, and a line in
 * Makefile.am (RULES_C); the order there is its place in the stack: end idle, shape, share, spot,
 * move, commit. It reads rows of one query, decides, and emits recommendations. Amounts come from
 * SQL as exact decimals and go back as text: C compares and chooses, SQL adds and multiplies.
 */
#ifndef ANALYSIS_RULE_H
#define ANALYSIS_RULE_H

#include <stdbool.h>

#include "common/arena.h"
#include "common/db.h"
#include "common/error.h"
#include "common/settings.h"

struct rule_run {
    struct settings *settings;
    struct db *db;
    struct arena *arena;
    const char *audit_id; /* as text, the $1 of queries */
    const char *stack;    /* place in the stack, from "1", the $2 of queries */
};

struct rule {
    const char *name;  /* "end-idle" */
    const char *title; /* "End idle stretches" */
    bool (*run)(struct rule_run *run, struct error *err);
};

/* What a rule proposes. Every text is needed but resource; savings are decimals per month. */
struct recommendation {
    const char *title, *provider, *pool, *resource, *team, *project;
    const char *now, *proposed;
    const char *saving_low, *saving, *saving_high, *cost_acted_on;
    const char *formula, *evidence, *evidence_grade, *confidence, *risk, *effort, *owner;
};

bool rule_recommend(const struct rule_run *run, const struct rule *rule, const struct recommendation *recommendation,
                    struct error *err) MUST_CHECK;

extern const struct rule *const rules[]; /* written from RULES_C; NULL-ended */

#endif
