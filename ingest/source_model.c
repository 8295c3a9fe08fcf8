/* The cost model: what somebody expects of a metric in a scope. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ingest/ingest.h"
#include "ingest/table.h"

enum { IN_METRIC = 0, IN_SCOPE = 1 };
enum { OUT_METRIC, OUT_SCOPE_KIND, OUT_SCOPE_KEY, OUT_COUNT };

static const char *const metrics[] = {
    "util_pct",
    "sm_pct",
    "idle_pct",
    "coverage_pct",
    "gpu_hours",
    "peak_busy_gpus",
    "peak_running_gpus",
    "price_per_gpu_hour",
    "cost",
    "effective_cost",
    "commitment_discount_pct",
    NULL,
};
static const char *const scope_kinds[] = {"provider", "pool",   "model",   "team",
                                          "project",  "region", "pricing", NULL};

static const struct table_column columns[] = {
    {"metric", NULL, CELL_TEXT, true},      {"scope", NULL, CELL_TEXT, true},
    {"value", NULL, CELL_NUMBER, true},     {"tolerance_pct", NULL, CELL_NUMBER, false},
    {"valid_from", NULL, CELL_DATE, false}, {"set_by", NULL, CELL_TEXT, false},
    {"reason", NULL, CELL_TEXT, false},
};

/* The word of the list that the text is, without case; NULL if none. */
static const char *
word_of(const char *const *list, struct field text)
{
    for (; *list; list++) {
        if (strlen(*list) == text.size && strncasecmp(*list, text.text, text.size) == 0) {
            return *list;
        }
    }
    return NULL;
}

static void
words_say(const char *const *list, const char *between, char *into, size_t room)
{
    size_t used = strlen(into);

    for (size_t i = 0; list[i] && used < room; i++) {
        used += (size_t)snprintf(into + used, room - used, "%s%s", i ? between : "", list[i]);
    }
}

static bool
scope_split(struct arena *arena, struct field scope, const char **ret_extra,
            char reason[TABLE_REASON])
{
    const char *colon = memchr(scope.text, ':', scope.size);

    if (!colon && scope.size == 3 && strncasecmp(scope.text, "all", 3) == 0) {
        ret_extra[OUT_SCOPE_KIND] = "all";
        ret_extra[OUT_SCOPE_KEY] = "";
        return true;
    }
    struct field kind = {scope.text, colon ? (size_t)(colon - scope.text) : scope.size};
    struct field key = {colon ? colon + 1 : "", colon ? scope.size - kind.size - 1 : 0};

    key = field_trim(key);
    ret_extra[OUT_SCOPE_KIND] = word_of(scope_kinds, field_trim(kind));
    if (!ret_extra[OUT_SCOPE_KIND] || key.size == 0) {
        snprintf(reason, TABLE_REASON,
                 "scope \"%.*s\" is neither all nor KIND:NAME with KIND one of ",
                 (int)(scope.size < 60 ? scope.size : 60), scope.text);
        words_say(scope_kinds, ", ", reason, TABLE_REASON);
        return false;
    }
    ret_extra[OUT_SCOPE_KEY] = arena_strndup(arena, key.text, key.size);
    if (strcmp(ret_extra[OUT_SCOPE_KIND], "provider") == 0 &&
        strcmp(ret_extra[OUT_SCOPE_KEY], "on-prem") != 0) {
        ret_extra[OUT_SCOPE_KEY] = provider_key(arena, key.text, key.size);
    }
    return true;
}

static bool
derive(const struct source_run *run, struct arena *arena, const struct field *cells,
       const char **ret_extra, char ret_reason[TABLE_REASON])
{
    struct field metric = cells[IN_METRIC];

    (void)run;
    ret_extra[OUT_METRIC] = word_of(metrics, metric);
    if (!ret_extra[OUT_METRIC]) {
        snprintf(ret_reason, TABLE_REASON, "metric \"%.*s\" is unknown; known are ",
                 (int)(metric.size < 40 ? metric.size : 40), metric.text);
        words_say(metrics, ", ", ret_reason, TABLE_REASON);
        return false;
    }
    return scope_split(arena, cells[IN_SCOPE], ret_extra, ret_reason);
}

static const struct table table_model = {
    .title = "the cost model",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(columns[0]),
    .extra_count = OUT_COUNT,
    .stage = "sql/model_stage.sql",
    .copy_sql = "COPY stage_model (file_no, line, record, given_metric, given_scope, value, "
                "tolerance_pct, valid_from, set_by,"
                " reason, metric, scope_kind, scope_key) FROM STDIN (FORMAT binary)",
    .refuse = "sql/model_refuse.sql",
    .replace = "sql/model_replace.sql",
    .derive = derive,
};

static bool
model_ingest(struct source_run *run, struct error *err)
{
    static const struct table *const tables[] = {&table_model};

    return table_ingest(run, tables, 1, err);
}

static const char *const keys[] = {"path", NULL};

const struct source source_model = {
    .format = "csv",
    .title = "cost model: assumptions with scope and tolerance (CSV)",
    .kind = SOURCE_MODEL,
    .keys = keys,
    .ingest = model_ingest,
};
