/* Slices of telemetry: found, replaced whole, replaced in part. */
#include <config.h>

#include "ingest/telemetry.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/calendar.h"
#include "common/log.h"
#include "ingest/telemetry_private.h"

/* In the order in which an analysis reads them, so that the two wait for each other and never in a
 * ring. */
static const char *const tables[] = {"gpu_series", "gpu_hour", NULL};

bool
telemetry_open(struct telemetry_slice *slice, struct source_run *run, int64_t month,
               struct error *err)
{
    char period[CALENDAR_TEXT];

    memset(slice, 0, sizeof(*slice));
    slice->run = run;
    slice->from = month_start(month);
    slice->to = month_next(month);
    slice->started = (int64_t)time(NULL);
    slice->last_reject = &slice->rejects;
    month_format(slice->from, period);

    const char *param[] = {arena_printf(run->arena, "%d", run->source_id), period,
                           arena_printf(run->arena, "%" PRId64, slice->from),
                           arena_printf(run->arena, "%" PRId64, slice->to)};

    if (!db_text(run->db, run->arena, "sql/slice.sql", 4, param, &slice->slice_text,
                 err)) {
        return false;
    }
    if (!slice->slice_text || sscanf(slice->slice_text, "%d", &slice->slice_id) != 1) {
        return error_set(err, ERR_BUG, "telemetry of %s has no slice", period);
    }
    return true;
}

void
telemetry_close(struct telemetry_slice *slice)
{
    series_map_close(slice->known);
    slice->known = NULL;
    arena_free(&slice->scratch);
}

static int
compare_hash(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool
telemetry_is_unchanged(struct telemetry_slice *slice, struct telemetry_object *const *objects,
                       size_t count, bool *ret_unchanged, struct error *err)
{
    const char *param[] = {slice->slice_text, PACKAGE_VERSION};
    const char **hashes = arena_alloc(&slice->scratch, (count + 1) * sizeof(*hashes));
    struct rows *rows = NULL;
    bool equal;

    for (size_t i = 0; i < count; i++) {
        hashes[i] = objects[i]->sha256;
    }
    qsort(hashes, count, sizeof(*hashes), compare_hash);
    if (!rows_open(&rows, slice->run->db, "sql/telemetry_hashes.sql", 2, param, err)) {
        return false;
    }
    equal = (size_t)rows_count(rows) == count;
    for (size_t i = 0; equal && rows_next(rows, err); i++) {
        const char *hash = rows_text(rows, 0);

        equal = hash && strcmp(hash, hashes[i]) == 0;
    }
    rows_close(rows);
    arena_free(&slice->scratch);
    *ret_unchanged = equal;
    if (equal) {
        slice->run->counts.objects += count;
        slice->run->counts.unchanged += count;
        return db_run(slice->run->db, "sql/dimension_settled.sql", 1, param, err);
    }
    return true;
}

/* DDL with the number of the slice in the place of each %1$d. */
PRINTF_LIKE(3, 4)
static bool
slice_ddl(struct telemetry_slice *slice, struct error *err, const char *fmt, ...)
{
    char sql[600];
    va_list args;

    va_start(args, fmt);
    vsnprintf(sql, sizeof(sql), fmt, args);
    va_end(args);
    return db_exec(slice->run->db, sql, err);
}

static bool
begin(struct telemetry_slice *slice, struct error *err)
{
    const char *param[] = {slice->slice_text};

    return db_begin(slice->run->db, err) &&
           db_run(slice->run->db, "sql/telemetry_lock.sql", 1, param, err);
}

bool
telemetry_replace_begin(struct telemetry_slice *slice, struct error *err)
{
    slice->series_next = 0;
    if (!begin(slice, err)) {
        return false;
    }
    for (int i = 0; tables[i]; i++) {
        if (!slice_ddl(slice, err,
                       "CREATE TABLE audit.%s_s%d_new (LIKE audit.%s INCLUDING DEFAULTS)",
                       tables[i], slice->slice_id, tables[i])) {
            return false;
        }
    }
    return true;
}

/* The CHECK spares the parent the scan that ATTACH would make under its lock. A small sample tells
 * the planner enough: rows are alike. */
static bool
swap_in(struct telemetry_slice *slice, const char *table, struct error *err)
{
    int id = slice->slice_id;

    return slice_ddl(
               slice, err,
               "ALTER TABLE audit.%s_s%d_new ADD CONSTRAINT %s_s%d_slice CHECK (slice_id = %d)",
               table, id, table, id, id) &&
           db_exec(slice->run->db, "SET LOCAL default_statistics_target = 10", err) &&
           slice_ddl(slice, err, "ANALYZE audit.%s_s%d_new", table, id) &&
           slice_ddl(slice, err, "DROP TABLE IF EXISTS audit.%s_s%d", table, id) &&
           slice_ddl(slice, err, "ALTER TABLE audit.%s_s%d_new RENAME TO %s_s%d", table, id, table,
                     id) &&
           slice_ddl(slice, err,
                     "ALTER TABLE audit.%s ATTACH PARTITION audit.%s_s%d FOR VALUES IN (%d)", table,
                     table, id, id);
}

bool
telemetry_replace_end(struct telemetry_slice *slice, struct telemetry_object *const *objects,
                      size_t count, struct error *err)
{
    const char *param[] = {slice->slice_text};

    for (int i = 0; tables[i]; i++) {
        if (!swap_in(slice, tables[i], err)) {
            return false;
        }
    }
    return db_run(slice->run->db, "sql/dimension_replaced.sql", 1, param, err) &&
           telemetry_loads_write(slice, objects, count, err) && db_commit(slice->run->db, err);
}

/* Numbers that were given since the map was read, by an earlier command or by one that runs beside
 * this one. Under the lock of the slice. */
static bool
read_known(struct telemetry_slice *slice, struct error *err)
{
    const char *param[] = {slice->slice_text,
                           arena_printf(slice->run->arena, "%d", slice->series_next)};
    struct error end = {0};
    struct rows *rows = NULL;

    if (!rows_stream(&rows, slice->run->db, "sql/telemetry_series.sql", 2, param, err)) {
        return false;
    }
    while (rows_next(rows, &end)) {
        const char *identity[IDENTITY_COUNT];
        int series_no = 0;

        for (int i = 0; i < IDENTITY_COUNT; i++) {
            identity[i] = rows_text(rows, i + 1);
        }
        if (sscanf(rows_text(rows, 0), "%d", &series_no) == 1) {
            series_map_add(slice->known, identity, series_no);
            slice->series_next =
                series_no >= slice->series_next ? series_no + 1 : slice->series_next;
        }
    }
    rows_close(rows);
    if (end.code) {
        *err = end;
        return false;
    }
    return true;
}

bool
telemetry_part_open(struct telemetry_slice *slice, struct error *err)
{
    int id = slice->slice_id;

    slice->known = series_map_open(slice->run->arena);
    if (!begin(slice, err)) {
        return false;
    }
    for (int i = 0; tables[i]; i++) {
        if (!slice_ddl(
                slice, err,
                "CREATE TABLE IF NOT EXISTS audit.%s_s%d PARTITION OF audit.%s FOR VALUES IN (%d)",
                tables[i], id, tables[i], id)) {
            return false;
        }
    }
    return db_commit(slice->run->db, err);
}

struct part_params {
    const char *param[3];
};

static struct part_params
part_params(const struct telemetry_slice *slice, const struct telemetry_object *object)
{
    struct arena *arena = slice->run->arena;

    return (struct part_params){{
        slice->slice_text,
        arena_printf(arena, "%" PRId64, object->from),
        arena_printf(arena, "%" PRId64, object->to),
    }};
}

bool
telemetry_part_settled(struct telemetry_slice *slice, const struct telemetry_object *object,
                       bool *ret_settled, struct error *err)
{
    struct part_params part = part_params(slice, object);
    const char *load_id = NULL;

    if (!db_text(slice->run->db, slice->run->arena, "sql/telemetry_settled.sql", 3, part.param,
                 &load_id, err)) {
        return false;
    }
    *ret_settled = load_id != NULL;
    return true;
}

/* Most parts are new: only then is nothing looked for in the partition. */
bool
telemetry_part_begin(struct telemetry_slice *slice, const struct telemetry_object *object,
                     struct error *err)
{
    struct part_params part = part_params(slice, object);
    const char *load_id = NULL;

    if (!begin(slice, err) || !read_known(slice, err) ||
        !db_text(slice->run->db, slice->run->arena, "sql/telemetry_part_loaded.sql", 3, part.param,
                 &load_id, err)) {
        return false;
    }
    return !load_id || db_run(slice->run->db, "sql/telemetry_part_delete.sql", 3, part.param, err);
}

bool
telemetry_part_end(struct telemetry_slice *slice, struct telemetry_object *object,
                   struct error *err)
{
    struct part_params part = part_params(slice, object);

    if (!db_run(slice->run->db, "sql/telemetry_part_replaced.sql", 3, part.param, err) ||
        !telemetry_loads_write(slice, &object, 1, err) || !db_commit(slice->run->db, err)) {
        return false;
    }
    slice->rejects = NULL;
    slice->last_reject = &slice->rejects;
    slice->reject_count = 0;
    return true;
}

void
telemetry_failed(struct telemetry_slice *slice, const char *object, const struct error *err)
{
    struct arena *arena = slice->run->arena;
    struct error ignored = {0};

    db_rollback(slice->run->db);
    if (!slice->slice_id || err->code == ERR_INTERRUPTED) {
        return;
    }
    const char *param[] = {slice->slice_text, object, err->text,
                           arena_printf(arena, "%" PRId64, slice->started), PACKAGE_VERSION};

    if (!db_run(slice->run->db, "sql/dimension_failed.sql", 5, param, &ignored)) {
        log_debug("the failed load could not be noted: %s", ignored.text);
    }
}
