/* What a load of allocations says of itself: rejects, counts, loads. */
#include <config.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ingest/allocation.h"

struct allocation_reject {
    uint64_t line;
    size_t month;
    const char *reason;
    struct field record;
    struct allocation_reject *next;
};

static const char *const reason_names[ALLOCATION_REASONS] = {
    [ALLOCATION_NO_GPU] = "no GPU",
    [ALLOCATION_NOT_STARTED] = "not started",
    [ALLOCATION_NO_TIME] = "no time",
    [ALLOCATION_REPEATED] = "repeated",
};

static const char *
number(struct arena *arena, int64_t value)
{
    return arena_printf(arena, "%" PRId64, value);
}

/* The month an instant lies in; the first of the load where it lies in none, so that no reject is
 * lost. */
static size_t
month_of(const struct allocation_load *load, int64_t at)
{
    size_t first = load->end;

    for (size_t i = load->first; i < load->end; i++) {
        const struct allocation_month *month = &load->months[i];

        if (month->is_current) {
            continue;
        }
        if (at >= month->from && at < month->to) {
            return i;
        }
        first = first < load->end ? first : i;
    }
    return first;
}

void
allocation_reject(struct allocation_load *load, uint64_t line, struct field record, int64_t at, const char *fmt, ...)
{
    struct allocation_object *object = &load->objects[load->object];
    struct arena *arena = load->run->arena;
    size_t month = month_of(load, at);
    char reason[ALLOCATION_REASON];
    va_list args;

    if (month >= load->end) {
        return;
    }
    object->rejected[month]++;
    if (object->reject_count++ >= ALLOCATION_REJECTS) {
        return;
    }
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);

    struct allocation_reject *reject = arena_alloc(arena, sizeof(*reject));
    size_t size = record.size < ALLOCATION_RECORD_BYTES ? record.size : ALLOCATION_RECORD_BYTES;

    *reject = (struct allocation_reject){line, month, arena_strdup(arena, reason),
                                         {size ? arena_strndup(arena, record.text, size) : "", size}, NULL};
    *object->last_reject = reject;
    object->last_reject = &reject->next;
}

static bool
read_counts(struct allocation_load *load, size_t month_no, struct error *err)
{
    const struct allocation_month *month = &load->months[month_no];
    struct arena *arena = load->run->arena;
    const char *param[] = {number(arena, month->from), number(arena, month->to)};
    struct rows *rows = NULL;
    struct error end = {0};

    if (!rows_open(&rows, load->run->db, "sql/allocation_counts.sql", 2, param, err)) {
        return false;
    }
    while (rows_next(rows, &end)) {
        size_t object = 0;
        uint64_t kept = 0, repeated = 0;

        if (sscanf(rows_text(rows, 0), "%zu", &object) == 1 && object < load->object_count &&
            sscanf(rows_text(rows, 1), "%" SCNu64, &kept) == 1 && sscanf(rows_text(rows, 2), "%" SCNu64, &repeated) == 1) {
            load->objects[object].kept[month_no] = kept;
            load->objects[object].totalled[month_no][ALLOCATION_REPEATED] = repeated;
        }
    }
    rows_close(rows);
    if (end.code) {
        *err = end;
        return false;
    }
    return true;
}

static bool
write_totals(struct allocation_load *load, size_t month, struct error *err)
{
    struct arena *arena = load->run->arena;
    const char *reasons = "", *counts = "";

    for (size_t reason = 0; reason < ALLOCATION_REASONS; reason++) {
        uint64_t count = 0;

        for (size_t i = 0; i < load->object_count; i++) {
            count += load->objects[i].totalled[month][reason];
        }
        if (count) {
            reasons = arena_printf(arena, "%s%s\"%s\"", reasons, *reasons ? "," : "", reason_names[reason]);
            counts = arena_printf(arena, "%s%s%" PRIu64, counts, *counts ? "," : "", count);
        }
    }
    const char *param[] = {load->months[month].slice_id, arena_printf(arena, "{%s}", reasons),
                           arena_printf(arena, "{%s}", counts)};

    return db_run(load->run->db, "sql/allocation_totals.sql", 3, param, err);
}

static bool
write_rejects(struct allocation_load *load, const struct allocation_object *object, size_t month, int64_t load_id,
              struct error *err)
{
    struct copy *copy = NULL;
    struct error ignored = {0};
    bool good = true;

    if (!object->rejected[month]) {
        return true;
    }
    if (!copy_begin(&copy, load->run->db, "COPY audit.reject (load_id, line, reason, record) FROM STDIN (FORMAT binary)", 4,
                    err)) {
        return false;
    }
    for (const struct allocation_reject *reject = object->first_reject; good && reject; reject = reject->next) {
        if (reject->month != month) {
            continue;
        }
        copy_int8(copy, load_id);
        copy_int8(copy, (int64_t)reject->line);
        copy_cstring(copy, reject->reason);
        copy_text(copy, reject->record.text, reject->record.size);
        good = copy_row(copy, err);
    }
    if (good) {
        return copy_end(copy, NULL, err);
    }
    (void)!copy_end(copy, "a reject could not be sent", &ignored);
    return false;
}

static bool
write_load(struct allocation_load *load, const struct allocation_object *object, size_t month_no, struct error *err)
{
    const struct allocation_month *month = &load->months[month_no];
    struct source_run *run = load->run;
    struct arena *arena = run->arena;
    bool is_cut = month->covered_to < month->to;
    uint64_t kept = object->kept[month_no], rejected = object->rejected[month_no], totalled = 0;
    const char *load_id = NULL;
    int64_t load_no = 0;

    for (size_t reason = 0; reason < ALLOCATION_REASONS; reason++) {
        totalled += object->totalled[month_no][reason];
    }
    const char *param[] = {
        month->slice_id,
        object->name,
        object->size_bytes < 0 ? NULL : number(arena, object->size_bytes),
        object->sha256[0] ? object->sha256 : NULL,
        number(arena, (int64_t)kept),
        number(arena, (int64_t)totalled),
        number(arena, (int64_t)rejected),
        is_cut ? number(arena, month->from) : NULL,
        is_cut ? number(arena, month->covered_to) : NULL,
        object->problem,
        number(arena, load->started),
        PACKAGE_VERSION,
    };

    if (!db_text(run->db, arena, "sql/allocation_load.sql", 12, param, &load_id, err)) {
        return false;
    }
    if (!load_id || sscanf(load_id, "%" SCNd64, &load_no) != 1) {
        return error_set(err, ERR_BUG, "a load has no number");
    }
    run->counts.objects++;
    run->counts.read += kept + totalled + rejected;
    run->counts.kept += kept;
    run->counts.totalled += totalled;
    run->counts.rejected += rejected;
    return write_rejects(load, object, month_no, load_no, err);
}

bool
allocation_counts_write(struct allocation_load *load, struct error *err)
{
    for (size_t month = load->first; month < load->end; month++) {
        const char *param[] = {load->months[month].slice_id};

        if (load->months[month].is_current) {
            continue;
        }
        if (!read_counts(load, month, err) || !write_totals(load, month, err) ||
            !db_run(load->run->db, "sql/dimension_replaced.sql", 1, param, err)) {
            return false;
        }
        for (size_t i = 0; i < load->object_count; i++) {
            if (!write_load(load, &load->objects[i], month, err)) {
                return false;
            }
        }
    }
    return true;
}
