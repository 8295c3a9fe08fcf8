#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/rule.h"
#include "common/buf.h"
#include "common/log.h"
#include "common/progress.h"
#include "ingest/ingest.h"

/* What decides whether an audit is there already, and what opens a new one: $1 to $8 of both queries. */
enum { IDS, FROM, TO, NAME, SETTINGS, PROGRAM, CURRENCY, NOW, ESTATE, REVISION, INPUTS, THRESHOLD, IS_FINAL, PARAMS };

static const struct {
    const char *asset, *title;
} steps[] = {
    {"sql/analyze_0_begin.sql", "make room"},
    {"sql/analyze_1_inputs.sql", "inputs"},
    {"sql/analyze_1_rates.sql", "exchange rates"},
    {"sql/analyze_2_subjects.sql", "resources and owners"},
    {"sql/analyze_3_samples.sql", "telemetry"},
    {"sql/analyze_3_blocks.sql", "capacity blocks"},
    {"sql/analyze_4_hours.sql", "hours and money"},
    {"sql/analyze_4_held.sql", "who held GPUs"},
    {"sql/analyze_5_findings.sql", "commitments, invoices, idle stretches"},
    {"sql/analyze_5_bills.sql", "completeness, gaps, tags"},
    {"sql/analyze_5_queue.sql", "waits for GPUs"},
    {"sql/analyze_5_efficiency.sql", "throttled, parked and hung GPUs"},
    {"sql/analyze_6_freeze.sql", "figures, ledger, verdicts"},
};

static const char *
value_or(const struct section *section, const char *key, const char *otherwise)
{
    const char *value = section_get(section, key);
    return value != NULL && *value != '\0' ? value : otherwise;
}

static void
add_setting(struct buf *json, const char *key, const char *value)
{
    buf_puts(json, json->size > 1 ? ", " : "");
    buf_json(json, key);
    buf_puts(json, ": ");
    buf_json(json, value);
}

/* The settings that figures follow from, as a JSON object; they are frozen with the audit. */
static const char *
settings_json(const struct settings *settings, struct arena *arena)
{
    const struct section *tags = settings_section(settings, "tags");
    struct buf json = {0};

    buf_puts(&json, "{");
    add_setting(&json, "tag_team", value_or(tags, "team", "team"));
    add_setting(&json, "tag_project", value_or(tags, "project", "project"));
    add_setting(&json, "tag_issue", value_or(tags, "issue", "issue"));
    add_setting(&json, "tag_pool", value_or(tags, "pool", "pool"));
    add_setting(&json, "idle_threshold_pct", value_or(settings_section(settings, "audit"), "idle-threshold", "5"));
    for (const struct section *s = settings->sections; s != NULL; s = s->next) {
        const char *seconds = strcmp(s->kind, "telemetry") == 0 ? section_get(s, "sample-interval") : NULL;
        const char *covers = strcmp(s->kind, "scheduler") == 0 ? section_get(s, "covers") : NULL;
        if (seconds != NULL)
            add_setting(&json, arena_printf(arena, "sample_interval_seconds/%s", s->name), seconds);
        if (covers != NULL && *covers != '\0')
            add_setting(&json, arena_printf(arena, "covers/%s", s->name), covers);
    }
    buf_puts(&json, "}");
    const char *text = arena_strndup(arena, json.data, json.size);
    buf_free(&json);
    return text;
}

static bool
run_steps(struct db *db, struct progress *progress, struct error *err)
{
    const size_t count = sizeof(steps) / sizeof(steps[0]);

    for (size_t i = 0; i < count; i++) {
        progress_note(progress, "%s", steps[i].title);
        progress_at(progress, i, count, "steps");
        if (!db_run(db, steps[i].asset, 0, NULL, err))
            return error_context(err, "analysis, %s", steps[i].title);
        if (!interrupt_check(err))
            return false;
    }
    return true;
}

static bool
run_rules(struct settings *settings, struct db *db, struct arena *arena, const char *audit_id, struct error *err)
{
    for (int i = 0; rules[i] != NULL; i++) {
        struct rule_run run = {
            .settings = settings,
            .db = db,
            .arena = arena,
            .audit_id = audit_id,
            .stack = arena_printf(arena, "%d", i + 1),
        };
        if (!rules[i]->run(&run, err))
            return error_context(err, "rule %s", rules[i]->name);
    }
    return true;
}

/* Fills ESTATE, REVISION, INPUTS and IS_FINAL of param; ret_same is the audit that has these very inputs, or 0. */
static bool
find_audit(struct db *db, struct arena *arena, const char **param, int *ret_same, struct error *err)
{
    struct rows *rows = NULL;
    bool ok = rows_open(&rows, db, "sql/query_audit_find.sql", NOW + 1, param, err) && rows_next(rows, err);

    if (ok) {
        const char *supply = rows_text(rows, rows_column(rows, "supply_loads"));
        const char *same = rows_text(rows, rows_column(rows, "same_audit"));
        param[INPUTS] = arena_strdup(arena, rows_text(rows, rows_column(rows, "inputs")));
        param[ESTATE] = arena_strdup(arena, rows_text(rows, rows_column(rows, "estate")));
        param[REVISION] = arena_strdup(arena, rows_text(rows, rows_column(rows, "next_revision")));
        param[IS_FINAL] = arena_strdup(arena, rows_text(rows, rows_column(rows, "is_final")));
        *ret_same = same != NULL ? (int)strtol(same, NULL, 10) : 0;
        if (strcmp(supply, "0") == 0) {
            ok = error_set(err, ERR_INPUT, "no bill and no inventory is loaded for %s", param[NAME]);
            error_hint(err, "Run \"gpu-audit ingest\" first; \"gpu-audit status\" shows what is loaded.");
        }
    }
    rows_close(rows);
    return ok;
}

static bool
make_audit(struct settings *settings, struct db *db, struct arena *arena, const char **param, int *ret_audit_id, struct error *err)
{
    struct progress *progress = progress_begin("analyze %s", settings->window.name);
    const char *id = NULL;
    bool ok = db_text(db, arena, "sql/query_audit_open.sql", PARAMS, param, &id, err) &&
              db_run(db, "sql/query_audit_set.sql", 1, &id, err) && run_steps(db, progress, err) &&
              run_rules(settings, db, arena, id, err);

    if (ok)
        *ret_audit_id = (int)strtol(id, NULL, 10);
    progress_end(progress, ok ? "revision %s" : "failed", param[REVISION]);
    return ok;
}

static bool
find_or_make(struct settings *settings, struct db *db, struct arena *arena, const char **param, int *ret_audit_id, bool *ret_is_new,
             struct error *err)
{
    const char *const as_of[] = {param[NOW], param[FROM], param[TO], param[IDS]};
    int audit_id = 0;

    if (!db_run(db, "sql/query_audit_lock.sql", 0, NULL, err) || !db_run(db, "sql/query_as_of.sql", 4, as_of, err) ||
        !find_audit(db, arena, param, &audit_id, err))
        return false;
    *ret_is_new = audit_id == 0;
    if (audit_id == 0 && !make_audit(settings, db, arena, param, &audit_id, err))
        return false;
    *ret_audit_id = audit_id;
    return true;
}

bool
analysis_run(struct settings *settings, struct db *db, struct arena *arena, int *ret_audit_id, bool *ret_is_new, struct error *err)
{
    char from[CALENDAR_TEXT], to[CALENDAR_TEXT], now[CALENDAR_TEXT];
    const char *param[PARAMS] = {
        [FROM] = from,
        [TO] = to,
        [NAME] = settings->window.name,
        [SETTINGS] = settings_json(settings, arena),
        [PROGRAM] = PACKAGE_VERSION,
        [CURRENCY] = settings->currency,
        [NOW] = now,
        [THRESHOLD] = value_or(settings_section(settings, "audit"), "idle-threshold", "5"),
    };
    int audit_id = 0;
    bool is_new = false;

    time_format(settings->window.from, from);
    time_format(settings->window.to, to);
    time_format(settings->now, now);
    if (!ingest_source_ids(settings, db, arena, &param[IDS], err) || !db_begin(db, err))
        return false;
    if (!find_or_make(settings, db, arena, param, &audit_id, &is_new, err) || !db_commit(db, err)) {
        db_rollback(db);
        return false;
    }
    *ret_audit_id = audit_id;
    *ret_is_new = is_new;
    return true;
}
