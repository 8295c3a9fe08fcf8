/* Months of allocations: found, staged, replaced. */
#include <config.h>

#include "ingest/allocation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/calendar.h"
#include "common/log.h"

enum { STAGE_COLUMNS = 38, PROGRESS_EVERY = 4096 };

static const char *const placement_names[] = {"known", "even", "unknown"};
static const char *const confidence_names[] = {"high", "medium", "low"};

/* ---------------------------------------------------------------- months */

static const char *
number(struct arena *arena, int64_t value)
{
    return arena_printf(arena, "%" PRId64, value);
}

static bool
open_month(struct allocation_load *load, struct allocation_month *month, struct error *err)
{
    struct source_run *run = load->run;
    char period[CALENDAR_TEXT];

    month_format(month->from, period);
    const char *param[] = {number(run->arena, run->source_id), period, number(run->arena, month->from),
                           number(run->arena, month->to)};

    if (!db_text(run->db, run->arena, "sql/slice.sql", 4, param, &month->slice_id, err)) {
        return false;
    }
    return month->slice_id || error_set(err, ERR_BUG, "allocations of %s have no slice", period);
}

bool
allocation_open(struct allocation_load *load, struct source_run *run, struct error *err)
{
    const struct window *window = &run->settings->window;
    int64_t now = run->settings->now;
    size_t count = 0;

    *load = (struct allocation_load){.run = run, .started = (int64_t)time(NULL)};
    for (int64_t at = month_start(window->from); at < window->to; at = month_next(at)) {
        count++;
    }
    load->months = arena_alloc(run->arena, count * sizeof(*load->months));
    for (int64_t at = month_start(window->from); at < window->to && at < now; at = month_next(at)) {
        struct allocation_month *month = &load->months[load->month_count++];

        month->from = at;
        month->to = month_next(at);
        month->covered_to = month->to < now ? month->to : now;
        if (!open_month(load, month, err)) {
            return false;
        }
    }
    return true;
}

static bool
matches(const struct allocation_object *objects, size_t count, const char *name, const char *sha256)
{
    for (size_t i = 0; name && sha256 && i < count; i++) {
        if (strcmp(objects[i].name, name) == 0 && strcmp(objects[i].sha256, sha256) == 0) {
            return true;
        }
    }
    return false;
}

bool
allocation_compare(struct allocation_load *load, size_t month_no, struct allocation_object *objects, size_t count,
                   int64_t settled_seconds, struct error *err)
{
    struct allocation_month *month = &load->months[month_no];
    struct source_run *run = load->run;
    const char *param[] = {month->slice_id, PACKAGE_VERSION,
                           month->covered_to < month->to ? number(run->arena, month->covered_to) : NULL};
    struct rows *rows = NULL;
    bool equal;

    if (!rows_open(&rows, run->db, "sql/allocation_loads.sql", 3, param, err)) {
        return false;
    }
    equal = (size_t)rows_count(rows) == count && count > 0;
    while (equal && rows_next(rows, err)) {
        const char *sha256 = rows_text(rows, 1), *after = rows_text(rows, 2);

        equal = matches(objects, count, rows_text(rows, 0), sha256) &&
                (sha256[0] || (after && strtoll(after, NULL, 10) >= settled_seconds));
    }
    rows_close(rows);
    month->is_current = equal;
    if (equal) {
        run->counts.objects += count;
        run->counts.unchanged += count;
        return db_run(run->db, "sql/dimension_settled.sql", 1, param, err);
    }
    return true;
}

/* ---------------------------------------------------------------- the stage */

static bool
lock_months(struct allocation_load *load, struct error *err)
{
    for (size_t i = load->first; i < load->end; i++) {
        const char *param[] = {load->months[i].slice_id};

        if (!load->months[i].is_current && !db_run(load->run->db, "sql/telemetry_lock.sql", 1, param, err)) {
            return false;
        }
    }
    return true;
}

static void
open_objects(struct allocation_load *load)
{
    struct arena *arena = load->run->arena;

    for (size_t i = 0; i < load->object_count; i++) {
        struct allocation_object *object = &load->objects[i];

        object->totalled = arena_alloc(arena, load->month_count * sizeof(*object->totalled));
        object->rejected = arena_alloc(arena, load->month_count * sizeof(*object->rejected));
        object->kept = arena_alloc(arena, load->month_count * sizeof(*object->kept));
        object->last_reject = &object->first_reject;
    }
}

bool
allocation_begin(struct allocation_load *load, size_t first, size_t end, struct allocation_object *objects, size_t count,
                 struct error *err)
{
    load->first = first;
    load->end = end;
    load->objects = objects;
    load->object_count = count;
    load->object = 0;
    open_objects(load);
    return db_begin(load->run->db, err) && lock_months(load, err) &&
           db_run(load->run->db, "sql/allocation_stage.sql", 0, NULL, err) &&
           copy_begin(&load->copy, load->run->db,
                      "COPY stage_allocation (object_no, line, cluster, job_id, job_key, array_job_id, array_task, het_job_id, "
                      "het_offset, hosts, host_count, node_list, from_time, to_time, job_to, gpus, host_gpus, gpu_type, "
                      "gpu_source, placement, confidence, partition, qos, account, user_name, job_name, comment, "
                      "project_hint, issue_hint, submit_time, eligible_time, queue_wait_seconds, suspended_seconds, "
                      "restarts, end_state, gpu_util_pct, gpu_memory_pct, use_source) FROM STDIN (FORMAT binary)",
                      STAGE_COLUMNS, err);
}

static void
copy_whole(struct copy *copy, int64_t value, bool is_long)
{
    if (value < 0) {
        copy_null(copy);
    } else if (is_long) {
        copy_int8(copy, value);
    } else {
        copy_int4(copy, (int32_t)value);
    }
}

static void
copy_moment(struct copy *copy, int64_t at)
{
    if (at) {
        copy_time(copy, at);
    } else {
        copy_null(copy);
    }
}

static void
copy_decimal(struct copy *copy, const char *text)
{
    if (text) {
        copy_numeric(copy, text, strlen(text));
    } else {
        copy_null(copy);
    }
}

static void
copy_percent(struct copy *copy, double value)
{
    if (isfinite(value) && value >= 0) {
        copy_float4(copy, (float)value);
    } else {
        copy_null(copy);
    }
}

static void
copy_head(struct copy *copy, const struct allocation_job *job)
{
    copy_cstring(copy, job->cluster);
    copy_cstring(copy, job->job_id);
    copy_cstring(copy, job->job_key);
    copy_cstring(copy, job->array_job_id);
    copy_whole(copy, job->array_task, true);
    copy_cstring(copy, job->het_job_id);
    copy_whole(copy, job->het_offset, false);
    copy_cstring(copy, job->hosts);
    copy_whole(copy, job->host_count, false);
    copy_cstring(copy, job->node_list);
    copy_time(copy, job->from);
    copy_time(copy, job->to);
    copy_moment(copy, job->is_ended ? job->to : 0);
    copy_decimal(copy, job->gpus);
    copy_decimal(copy, job->host_gpus);
}

static void
copy_tail(struct copy *copy, const struct allocation_job *job)
{
    const char *const texts[] = {
        job->gpu_type,  job->gpu_source, placement_names[job->placement], confidence_names[job->confidence],
        job->partition, job->qos,        job->account,                    job->user_name,
        job->job_name,  job->comment,    job->project_hint,               job->issue_hint,
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        copy_cstring(copy, texts[i]);
    }
    copy_moment(copy, job->submit);
    copy_moment(copy, job->eligible);
    copy_whole(copy, job->queue_wait_seconds, true);
    copy_whole(copy, job->suspended_seconds, true);
    copy_whole(copy, job->restarts, false);
    copy_cstring(copy, job->end_state);
    copy_percent(copy, job->gpu_util_pct);
    copy_percent(copy, job->gpu_memory_pct);
    copy_cstring(copy, job->use_source);
}

/* Is a month of this load touched? An instant touches the month it lies in. */
static bool
touches(const struct allocation_load *load, size_t month, int64_t from, int64_t to)
{
    const struct allocation_month *m = &load->months[month];

    return !m->is_current && from < m->to && (to > m->from || (from == to && from >= m->from));
}

bool
allocation_add(struct allocation_load *load, const struct allocation_job *job, struct error *err)
{
    bool is_wanted = false;

    for (size_t i = load->first; i < load->end && !is_wanted; i++) {
        is_wanted = touches(load, i, job->from, job->to);
    }
    if (++load->records % PROGRESS_EVERY == 0) {
        progress_at(load->run->progress, load->records, 0, "jobs");
    }
    if (!is_wanted) {
        load->objects[load->object].outside++;
        return true;
    }
    copy_int4(load->copy, (int32_t)load->object);
    copy_int8(load->copy, (int64_t)job->line);
    copy_head(load->copy, job);
    copy_tail(load->copy, job);
    return copy_row(load->copy, err);
}

/* ---------------------------------------------------------------- what is no allocation */

void
allocation_total(struct allocation_load *load, enum allocation_reason reason, int64_t from, int64_t to)
{
    struct allocation_object *object = &load->objects[load->object];
    bool is_counted = false;

    to = to ? to : from;
    for (size_t i = load->first; from && i < load->end; i++) {
        if (touches(load, i, from, to)) {
            object->totalled[i][reason]++;
            is_counted = true;
        }
    }
    object->outside += !is_counted;
}

/* ---------------------------------------------------------------- the end */

static bool
end_copy(struct allocation_load *load, const char *reason, struct error *err)
{
    struct copy *copy = load->copy;

    load->copy = NULL;
    return !copy || copy_end(copy, reason, err);
}

/* The partition stays and is emptied: only its first making locks the table above it. */
static bool
replace_month(struct allocation_load *load, const struct allocation_month *month, struct error *err)
{
    struct arena *arena = load->run->arena;
    const char *param[] = {month->slice_id, number(arena, month->from), number(arena, month->to)};
    long id = strtol(month->slice_id, NULL, 10);
    char sql[300];

    snprintf(sql, sizeof(sql),
             "CREATE TABLE IF NOT EXISTS audit.allocation_s%ld PARTITION OF audit.allocation FOR VALUES IN (%ld);"
             "TRUNCATE audit.allocation_s%ld",
             id, id, id);
    if (!db_exec(load->run->db, sql, err) || !db_run(load->run->db, "sql/allocation_fill.sql", 3, param, err)) {
        return false;
    }
    snprintf(sql, sizeof(sql), "ANALYZE audit.allocation_s%ld", id);
    return db_exec(load->run->db, sql, err);
}

bool
allocation_commit(struct allocation_load *load, struct error *err)
{
    struct db *db = load->run->db;

    if (!end_copy(load, NULL, err) || !db_run(db, "sql/allocation_repeated.sql", 0, NULL, err)) {
        return false;
    }
    for (size_t i = load->first; i < load->end; i++) {
        if (!load->months[i].is_current && !replace_month(load, &load->months[i], err)) {
            return false;
        }
    }
    return allocation_counts_write(load, err) && db_commit(db, err);
}

void
allocation_failed(struct allocation_load *load, const char *object, const struct error *err)
{
    struct source_run *run = load->run;
    struct error ignored = {0};

    (void)!end_copy(load, "the load failed", &ignored);
    db_rollback(run->db);
    for (size_t i = load->first; i < load->end && err->code != ERR_INTERRUPTED; i++) {
        const char *param[] = {load->months[i].slice_id, object, err->text, number(run->arena, load->started),
                               PACKAGE_VERSION};

        if (!load->months[i].is_current && !db_run(run->db, "sql/dimension_failed.sql", 5, param, &ignored)) {
            log_debug("the failed load could not be noted: %s", ignored.text);
        }
    }
}
