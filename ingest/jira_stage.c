#include <config.h>

#include "ingest/jira_stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"

enum { STAGE_COLUMNS = 17 };

static const char stage_copy[] =
    "COPY stage_issue (file_no, seq, key, project_key, project_name, project, summary, issue_type, "
    "status, status_category,"
    " team, cost_centre, assignee, labels, created, updated, resolved) FROM STDIN (FORMAT binary)";

static const char *
configured(const struct section *section, const char *key)
{
    const char *value = section_get(section, key);

    return value && *value ? value : NULL;
}

struct jira_fields
jira_fields_configured(const struct section *section)
{
    struct jira_fields fields = {
        .project = configured(section, "project-field"),
        .team = configured(section, "team-field"),
        .cost_centre = configured(section, "cost-centre-field"),
    };

    if (!fields.project) {
        fields.project = "project";
    }
    return fields;
}

bool
jira_stage_begin(struct jira_stage *stage, struct dimension *dim, struct error *err)
{
    stage->dim = dim;
    return dimension_begin(dim, err) && db_run(dim->run->db, "sql/jira_stage.sql", 0, NULL, err);
}

static void
time_copy(struct copy *copy, bool has_time, int64_t time)
{
    if (has_time) {
        copy_time(copy, time);
    } else {
        copy_null(copy);
    }
}

static bool
issue_copy(struct copy *copy, size_t object, uint64_t seq, const struct jira_issue *issue,
           struct error *err)
{
    const char *const texts[] = {issue->key,         issue->project_key,     issue->project_name,
                                 issue->project,     issue->summary,         issue->issue_type,
                                 issue->status,      issue->status_category, issue->team,
                                 issue->cost_centre, issue->assignee};

    copy_int4(copy, (int32_t)object);
    copy_int8(copy, (int64_t)seq);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        copy_cstring(copy, texts[i]);
    }
    if (issue->labels) {
        copy_jsonb(copy, issue->labels, strlen(issue->labels));
    } else {
        copy_null(copy);
    }
    time_copy(copy, issue->has_created, issue->created);
    time_copy(copy, issue->has_updated, issue->updated);
    time_copy(copy, issue->has_resolved, issue->resolved);
    return copy_row(copy, err);
}

static void
issue_reject(struct jira_stage *stage, size_t object, const struct jira_page *page, size_t index,
             const char *reason)
{
    char *text = json_dumps(json_array_get(page->issues, index), JSON_COMPACT | JSON_ENCODE_ANY);
    struct field record = {text ? text : "", text ? strlen(text) : 0};

    dimension_reject(stage->dim, object, stage->dim->objects[object].read, record, "%s", reason);
    free(text);
}

static bool
issues_copy(struct jira_stage *stage, size_t object, const struct jira_page *page,
            struct copy *copy, struct error *err)
{
    struct arena scratch = {0};
    bool good = true;

    for (size_t i = 0; good && i < page->count; i++) {
        struct arena_mark mark = arena_mark(&scratch);
        struct jira_issue issue;
        char reason[JIRA_REASON];

        stage->dim->objects[object].read++;
        if (jira_issue_read(page, i, &stage->fields, &scratch, &issue, reason)) {
            good = issue_copy(copy, object, stage->issues++, &issue, err);
            stage->with_project += issue.project != NULL;
            stage->with_team += issue.team != NULL;
            stage->with_cost_centre += issue.cost_centre != NULL;
        } else {
            issue_reject(stage, object, page, i, reason);
        }
        arena_reset(&scratch, mark);
    }
    arena_free(&scratch);
    return good;
}

bool
jira_stage_page(struct jira_stage *stage, size_t object, const struct jira_page *page,
                struct error *err)
{
    struct source_run *run = stage->dim->run;
    struct error ignored = {0};
    struct copy *copy = NULL;

    if (!copy_begin(&copy, run->db, stage_copy, STAGE_COLUMNS, err)) {
        return false;
    }
    if (!issues_copy(stage, object, page, copy, err)) {
        (void)!copy_end(copy, err->text, &ignored);
        return false;
    }
    progress_at(run->progress, stage->issues, 0, "issues");
    return copy_end(copy, NULL, err) && interrupt_check(err);
}

static void
field_warn(const struct jira_stage *stage, const char *key, const char *field, uint64_t with)
{
    if (field && stage->issues > 0 && with == 0) {
        log_warning("[%s %s]: %s = %s: none of its %" PRIu64 " issues has a value there",
                    stage->dim->run->section->kind, stage->dim->run->section->name, key, field,
                    stage->issues);
    }
}

/* An issue that came on two pages stands once, in its later state; it was read once then. */
static bool
repeats_remove(struct jira_stage *stage, struct error *err)
{
    struct rows *rows = NULL;
    struct error end = {0};

    if (!rows_open(&rows, stage->dim->run->db, "sql/jira_repeats.sql", 0, NULL, err)) {
        return false;
    }
    while (rows_next(rows, &end)) {
        size_t object = 0;
        uint64_t count = 0;

        if (sscanf(rows_text(rows, 0), "%zu", &object) == 1 &&
            sscanf(rows_text(rows, 1), "%" SCNu64, &count) == 1 && object < stage->dim->count) {
            stage->dim->objects[object].read -= count;
        }
    }
    rows_close(rows);
    if (end.code) {
        *err = end;
    }
    return !end.code;
}

bool
jira_stage_finish(struct jira_stage *stage, struct error *err)
{
    field_warn(stage, "project-field", stage->fields.project, stage->with_project);
    field_warn(stage, "team-field", stage->fields.team, stage->with_team);
    field_warn(stage, "cost-centre-field", stage->fields.cost_centre, stage->with_cost_centre);
    return repeats_remove(stage, err) &&
           db_run(stage->dim->run->db, "sql/jira_replace.sql", 0, NULL, err) &&
           dimension_commit(stage->dim, err);
}
