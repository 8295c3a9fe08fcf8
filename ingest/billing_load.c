/* What stands on record of a source's bills, and what is noted of this reading. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/billing_private.h"

static const char *
number(struct arena *arena, int64_t value)
{
    return arena_printf(arena, "%lld", (long long)value);
}

/* Which of today's objects a record is of, by name; SIZE_MAX when none. */
static size_t
match(const struct bill_load_run *load, const char *object)
{
    for (size_t i = 0; i < load->object_count; i++)
        if (bill_object_is_of(&load->objects[i], object))
            return i;
    return SIZE_MAX;
}

bool
bill_records_load(struct bill_load_run *load, struct error *err)
{
    const char *const param[] = {number(load->arena, load->run->source_id), PACKAGE_VERSION};
    struct rows *rows;

    if (!rows_open(&rows, load->run->db, "sql/billing_records.sql", 2, param, err))
        return false;
    load->records = arena_alloc(load->arena, (size_t)rows_count(rows) * sizeof *load->records);
    while (rows_next(rows, err)) {
        const char *size = rows_text(rows, 3);
        struct bill_record *record = &load->records[load->record_count++];

        record->slice_id = arena_strdup(load->arena, rows_text(rows, 0));
        record->period = arena_strdup(load->arena, rows_text(rows, 1));
        record->object = arena_strdup(load->arena, rows_text(rows, 2));
        record->size = size ? strtoll(size, NULL, 10) : -1;
        record->sha256 = arena_strdup(load->arena, rows_text(rows, 4));
        record->is_skipped = !strcmp(rows_text(rows, 5), "skipped");
        record->match = match(load, record->object);
    }
    rows_close(rows);
    return !err->code;
}

static bool
write_one(struct bill_load_run *load, const char *slice_id, const struct bill_object *object, const char *status,
          const struct bill_part_load *part, const char *problem, const char **ret_id, struct error *err)
{
    struct arena *arena = load->arena;
    const char *const param[] = {
        slice_id,
        object->path,
        number(arena, (int64_t)object->size),
        object->sha256,
        status,
        number(arena, part ? (int64_t)part->kept : 0),
        number(arena, part ? (int64_t)part->totalled : 0),
        number(arena, part ? (int64_t)part->rejected : 0),
        problem,
        number(arena, load->started),
        PACKAGE_VERSION,
    };

    return db_text(load->run->db, arena, "sql/billing_load.sql", 11, param, ret_id, err);
}

static bool
write_rejects(struct bill_load_run *load, const struct bill_part_load *part, const char *load_id, struct error *err)
{
    struct copy *copy;
    int64_t id = strtoll(load_id, NULL, 10);

    if (!part->first)
        return true;
    if (!copy_begin(&copy, load->run->db, "COPY audit.reject (load_id, line, reason, record) FROM STDIN (FORMAT binary)",
                    4, err))
        return false;
    for (const struct bill_reject *reject = part->first; reject; reject = reject->next) {
        copy_int8(copy, id);
        copy_int8(copy, (int64_t)reject->line);
        copy_cstring(copy, reject->reason);
        copy_text(copy, reject->record, reject->record_size);
        if (!copy_row(copy, err))
            return bill_copy_abandon(copy);
    }
    return copy_end(copy, NULL, err);
}

bool
bill_loads_write(struct bill_load_run *load, struct bill_slice *slice, struct error *err)
{
    struct source_counts *counts = &load->run->counts;

    for (const struct bill_part_load *part = slice->loads; part; part = part->next) {
        const char *id;

        if (!write_one(load, slice->slice_id, &load->objects[part->object], "done", part, NULL, &id, err)
            || !write_rejects(load, part, id, err))
            return false;
        counts->kept += part->kept;
        counts->totalled += part->totalled;
        counts->rejected += part->rejected;
        counts->read += part->kept + part->totalled + part->rejected;
    }
    return true;
}

bool
bill_failure_write(struct bill_load_run *load, const char *slice_id, const struct bill_object *object,
                   struct error *err)
{
    const char *id;

    return write_one(load, slice_id, object, "failed", NULL, object->problem, &id, err);
}

bool
bill_skipped_write(struct bill_load_run *load, struct bill_slice *slice, struct error *err)
{
    for (const struct bill_part_load *part = slice->loads; part; part = part->next) {
        const char *id, *why = arena_printf(load->arena, "%llu rows of a period before the window",
                                            (unsigned long long)(part->kept + part->rejected));

        const char *const param[] = {slice->slice_id, load->objects[part->object].path};

        if (load->objects[part->object].problem)
            continue;
        if (!db_run(load->run->db, "sql/billing_skipped.sql", 2, param, err)
            || !write_one(load, slice->slice_id, &load->objects[part->object], "skipped", NULL, why, &id, err))
            return false;
    }
    return true;
}

void
bill_reject(struct bill_load_run *load, struct bill_part_load *part, uint64_t line, const char *reason,
            struct field record)
{
    struct bill_reject *reject;
    size_t size = record.size < BILL_REJECT_BYTES ? record.size : BILL_REJECT_BYTES;

    if (part->rejected++ >= BILL_REJECTS || load->reject_bytes + size > BILL_REJECTS_MOST)
        return;
    load->reject_bytes += size + sizeof *reject;
    reject = arena_alloc(load->arena, sizeof *reject);
    reject->line = line;
    reject->reason = arena_strdup(load->arena, reason);
    reject->record = arena_strndup(load->arena, record.text, size);
    reject->record_size = size;
    *part->last = reject;
    part->last = &reject->next;
}
