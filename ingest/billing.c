/*
 * A source's bills, from its files to its slices.
 *
 * First the files nobody knows are read: those that are new, changed, or were loaded by another
 * version of the program; each opens the slices of its rows. A slice is replaced whole, so then the
 * known files are read again that hold rows of a slice that was opened, and only for those. When
 * nothing is new, nothing is read but hashed. A file that cannot be read fails its slices, which
 * stay as they were; the others load.
 */
#include <config.h>

#include "ingest/billing.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "ingest/billing_private.h"

/* ---------------------------------------------------------------- what is new */

static bool
in_window(const struct bill_load_run *load, const char *period)
{
    int64_t start;
    char day[16];
    size_t size = strlen(period);

    if (size != 7)
        return false;
    memcpy(day, period, 7);
    memcpy(day + 7, "-01", 4);
    return time_parse(day, 10, &start)
        && month_next(start) + load->format->zone_seconds > load->run->settings->window.from;
}

/* Known: on record with this size and hash, and no part of it was passed over that is wanted now. */
static bool
recognise(struct bill_load_run *load, size_t number, struct error *err)
{
    struct bill_object *object = &load->objects[number];
    bool has_record = false;

    for (size_t i = 0; i < load->record_count && !load->is_remapped; i++) {
        const struct bill_record *record = &load->records[i];

        if (record->match != number || record->size != (int64_t)object->size || !record->sha256)
            continue;
        if (!bill_object_hash(load, number, err))
            return false;
        if (strcmp(record->sha256, object->sha256))
            continue;
        if (record->is_skipped && in_window(load, record->period))
            return true; /* not known then: read it */
        has_record = true;
    }
    object->is_known = has_record;
    return true;
}

/* ---------------------------------------------------------------- reading */

/* A file that cannot be read fails the slices it was seen in, now or before. */
static bool
fail_object(struct bill_load_run *load, size_t number, const struct error *why, struct error *err)
{
    struct bill_object *object = &load->objects[number];
    int64_t start;

    object->problem = arena_strdup(load->arena, why->text);
    if (!load->failed++)
        load->first_error = *why;
    for (struct bill_slice *slice = load->slices; slice; slice = slice->next)
        slice->is_failed |= slice->load && slice->load->object == number && !slice->is_skipped;
    for (size_t i = 0; i < load->record_count; i++) {
        struct bill_slice *slice;
        char day[16];

        if (load->records[i].match != number || load->records[i].is_skipped || !in_window(load, load->records[i].period))
            continue;
        memcpy(day, load->records[i].period, 7);
        memcpy(day + 7, "-01", 4);
        if (!time_parse(day, 10, &start))
            continue;
        if (!bill_slice_find(load, start, &slice, err) || !bill_slice_part(slice, load->arena, number, err))
            return false;
        slice->is_failed = true;
    }
    return true;
}

static void
say_rejects(const struct bill_load_run *load, size_t number)
{
    uint64_t count = 0;
    const struct bill_reject *first = NULL;

    for (const struct bill_slice *slice = load->slices; slice; slice = slice->next)
        if (slice->is_open && slice->load && slice->load->object == number) {
            count += slice->load->rejected;
            first = first ? first : slice->load->first;
        }
    if (count && first)
        log_warning("%s: %llu rows rejected, the first on line %llu: %s", load->objects[number].path,
                    (unsigned long long)count, (unsigned long long)first->line, first->reason);
}

static bool
read_object(struct bill_load_run *load, size_t number, struct error *err)
{
    struct error problem = {0};
    bool is_good = bill_object_begin(load, number, &problem) && bill_file_read(load, number, &problem);

    bill_object_end(load, number);
    if (!is_good) {
        if (problem.code == ERR_INPUT)
            return fail_object(load, number, &problem, err);
        *err = problem;
        return false;
    }
    say_rejects(load, number);
    return true;
}

/* True when a record of the object is of a slice that is open. */
static bool
holds_open_slice(const struct bill_load_run *load, size_t number)
{
    for (size_t i = 0; i < load->record_count; i++)
        for (const struct bill_slice *slice = load->slices; slice; slice = slice->next)
            if (load->records[i].match == number && slice->is_open && !strcmp(slice->period, load->records[i].period))
                return true;
    return false;
}

/* Opens the slices that lost an object: one that is on record and is not there as it was, where
 * others of the slice are. */
static bool
open_changed(struct bill_load_run *load, struct error *err)
{
    for (size_t i = 0; i < load->record_count; i++) {
        const struct bill_record *record = &load->records[i];
        bool is_there = record->match != SIZE_MAX && load->objects[record->match].is_known;

        if (is_there || record->is_skipped || !in_window(load, record->period))
            continue;
        for (size_t k = 0; k < load->record_count; k++) {
            const struct bill_record *other = &load->records[k];
            struct bill_slice *slice;
            char day[16];
            int64_t start;

            if (strcmp(other->period, record->period) || other->is_skipped || other->match == SIZE_MAX
                || !load->objects[other->match].is_known)
                continue;
            memcpy(day, record->period, 7);
            memcpy(day + 7, "-01", 4);
            if (time_parse(day, 10, &start)
                && (!bill_slice_find(load, start, &slice, err) || (!slice->is_failed && !bill_slice_open(load, slice, err))))
                return false;
        }
    }
    return true;
}

/* By another map a file may have nothing for a period that it filled before: that one is emptied. */
static bool
open_remapped(struct bill_load_run *load, struct error *err)
{
    for (size_t i = 0; load->is_remapped && i < load->record_count; i++) {
        const struct bill_record *record = &load->records[i];
        const struct bill_object *object = record->match == SIZE_MAX ? NULL : &load->objects[record->match];
        struct bill_slice *slice;
        char day[16];
        int64_t start;

        if (!object || !object->is_read || object->problem || !record->sha256 || strcmp(record->sha256, object->sha256)
            || record->is_skipped || !in_window(load, record->period))
            continue;
        memcpy(day, record->period, 7);
        memcpy(day + 7, "-01", 4);
        if (!time_parse(day, 10, &start))
            continue;
        if (!bill_slice_find(load, start, &slice, err) || (!slice->is_failed && !bill_slice_open(load, slice, err)))
            return false;
    }
    return true;
}

enum bill_expand { EXPAND_NEW, EXPAND_ALL, EXPAND_OPEN };

/* Zip files become their members: those that are new, or all, or those of open slices. */
static bool
expand_all(struct bill_load_run *load, enum bill_expand which, struct error *err)
{
    size_t count = load->object_count;

    for (size_t i = 0; i < count; i++) {
        struct error problem = {0};

        if (load->objects[i].is_refused || (which == EXPAND_NEW && load->objects[i].is_known)
            || (which == EXPAND_OPEN && !holds_open_slice(load, i)))
            continue;
        if (bill_object_expand(load, i, &problem))
            continue;
        if (problem.code != ERR_INPUT) {
            *err = problem;
            return false;
        }
        load->objects[i].is_refused = true;
        if (!fail_object(load, i, &problem, err))
            return false;
    }
    return true;
}

/* A delivery without a row empties its period: what was there is not there any more. */
static bool
open_delivered(struct bill_load_run *load, struct error *err)
{
    for (size_t i = 0; i < load->object_count; i++) {
        const struct bill_object *object = &load->objects[i];
        struct bill_slice *slice;

        if (!object->delivery || object->delivery->kind == DELIVERY_AZURE || !object->is_read || object->problem
            || month_next(object->delivery->from) < object->delivery->to)
            continue;
        if (!bill_slice_find(load, object->delivery->from, &slice, err)
            || (!slice->is_failed && !slice->is_skipped && !bill_slice_open(load, slice, err)))
            return false;
    }
    return true;
}

/* A file that cannot be looked through says why when it is read. */
static bool
survey_all(struct bill_load_run *load, struct error *err)
{
    const struct bill_format *format = load->format;
    bool is_new = false;

    for (size_t i = 0; i < load->object_count; i++)
        is_new |= !load->objects[i].is_known;
    if (!format->survey || !is_new)
        return true;
    if (!expand_all(load, EXPAND_ALL, err))
        return false;
    for (size_t i = 0; i < load->object_count; i++) {
        struct error problem = {0};
        bool is_good;

        if (load->objects[i].is_expanded || load->objects[i].is_refused)
            continue;
        is_good = bill_object_begin(load, i, &problem) && bill_file_survey(load, i, &problem);
        bill_object_end(load, i);
        if (!is_good && problem.code != ERR_INPUT) {
            *err = problem;
            return false;
        }
    }
    for (size_t i = 0; i < load->object_count; i++) {
        struct error problem = {0};

        if (load->objects[i].is_expanded || load->objects[i].is_refused)
            continue;
        if (format->settle(format->notes, i, load->objects[i].path, &problem))
            continue;
        load->objects[i].is_refused = true;
        if (!fail_object(load, i, &problem, err))
            return false;
    }
    return true;
}

static bool
read_all(struct bill_load_run *load, struct error *err)
{
    for (size_t i = 0; i < load->object_count; i++)
        if (!recognise(load, i, err))
            return false;
    if (!bill_deliveries_fail(load, err) || !expand_all(load, EXPAND_NEW, err) || !survey_all(load, err))
        return false;
    for (size_t i = 0; i < load->object_count; i++)
        if (!load->objects[i].is_known && !load->objects[i].is_refused && !load->objects[i].is_expanded
            && !read_object(load, i, err))
            return false;
    if (!open_delivered(load, err) || !open_changed(load, err) || !expand_all(load, EXPAND_OPEN, err))
        return false;
    load->only_open = true;
    for (size_t i = 0; i < load->object_count; i++)
        if (load->objects[i].is_known && !load->objects[i].is_expanded && !load->objects[i].is_refused && holds_open_slice(load, i) && !read_object(load, i, err))
            return false;
    return true;
}

/* ---------------------------------------------------------------- finishing */

static bool
finish_slice(struct bill_load_run *load, struct bill_slice *slice, struct error *err)
{
    if (slice->is_skipped)
        return bill_skipped_write(load, slice, err);
    if (slice->is_failed)
        return !slice->is_open || bill_slice_drop(load, slice, err);
    return !slice->is_open || bill_slice_seal(load, slice, err);
}

static bool
note_failure(struct bill_load_run *load, const char *slice_id, const struct bill_object *object, struct error *err)
{
    const char *const param[] = {slice_id, object->path};

    return db_run(load->run->db, "sql/billing_failed.sql", 2, param, err)
        && bill_failure_write(load, slice_id, object, err);
}

/* Notes the failure of an object with each slice it was to go to; with the slice "unknown" where
 * nobody can tell. */
static bool
note_failures(struct bill_load_run *load, size_t number, struct error *err)
{
    const struct bill_object *object = &load->objects[number];
    bool noted = false;
    const char *unknown;

    for (const struct bill_slice *slice = load->slices; slice; slice = slice->next)
        for (const struct bill_part_load *part = slice->loads; part; part = part->next)
            if (part->object == number && slice->is_failed) {
                if (!note_failure(load, slice->slice_id, object, err))
                    return false;
                noted = true;
            }
    return noted || (bill_slice_named(load, "unknown", &unknown, err) && note_failure(load, unknown, object, err));
}

static bool
finish_object(struct bill_load_run *load, size_t number, struct error *err)
{
    struct bill_object *object = &load->objects[number];
    const char *const param[] = {arena_printf(load->arena, "%d", load->run->source_id), object->path};

    if (object->is_expanded)
        return db_run(load->run->db, "sql/billing_settled.sql", 2, param, err);
    load->run->counts.objects++;
    load->run->counts.unchanged += !object->is_read && !object->problem;
    if (object->problem)
        return note_failures(load, number, err);
    if (!db_run(load->run->db, "sql/billing_settled.sql", 2, param, err) || !object->delivery)
        return !err->code;
    const char *const manifest[] = {param[0], object->delivery->manifest};

    return db_run(load->run->db, "sql/billing_settled.sql", 2, manifest, err);
}

static bool
finish(struct bill_load_run *load, struct error *err)
{
    bill_folders_check(load);
    for (struct bill_slice *slice = load->slices; slice; slice = slice->next)
        if (!finish_slice(load, slice, err))
            return false;
    for (size_t i = 0; i < load->object_count; i++)
        if (!finish_object(load, i, err))
            return false;
    if (load->without_hours)
        log_note("%llu rows of GPU use without a quantity: their money counts, hours they have none",
                 (unsigned long long)load->without_hours);
    return db_commit(load->run->db, err);
}

static bool
outcome(const struct bill_load_run *load, struct error *err)
{
    if (!load->failed)
        return true;
    *err = load->first_error;
    if (load->failed < load->object_count) {
        err->code = ERR_PARTIAL;
        return error_context(err, "%zu of %zu files could not be read, their billing periods stay as they were; first",
                             load->failed, load->object_count);
    }
    return false;
}

static bool
note_map(struct bill_load_run *load, struct error *err)
{
    const char *const param[] = {arena_printf(load->arena, "%d", load->run->source_id),
                                 load->format->fingerprint ? load->format->fingerprint : ""};
    const char *is_remapped;

    if (!db_text(load->run->db, load->arena, "sql/billing_map.sql", 2, param, &is_remapped, err))
        return false;
    load->is_remapped = is_remapped[0] == 't';
    return true;
}

static bool
load_all(struct bill_load_run *load, struct error *err)
{
    const char *const param[] = {arena_printf(load->arena, "%d", load->run->source_id)};

    return db_run(load->run->db, "sql/billing_lock.sql", 1, param, err) && note_map(load, err)
        && bill_records_load(load, err) && read_all(load, err) && open_remapped(load, err) && finish(load, err);
}

bool
bill_ingest(struct source_run *run, const struct bill_format *format, struct error *err)
{
    struct bill_load_run load = {.run = run, .format = format, .arena = run->arena, .started = time(NULL)};
    bool done;

    bill_key_begin();
    if (!bill_objects_list(&load, err) || !gpu_types_load(&load.types, run->db, run->arena, err) || !db_begin(run->db, err)) {
        bill_objects_close(&load);
        return false;
    }
    if (gpu_types_empty(load.types))
        log_warning("the catalog of instance types is empty: GPUs are known by family names only");
    done = load_all(&load, err);
    if (!done)
        db_rollback(run->db);
    for (struct bill_slice *slice = load.slices; slice; slice = slice->next)
        bill_slice_free(slice);
    bill_objects_close(&load);
    return done && outcome(&load, err);
}
