#include <config.h>

#include "ingest/time_zone.h"

#include <stdlib.h>

enum { CHANGES_MOST = 1000 };

struct time_zone {
    size_t count;
    int64_t from[CHANGES_MOST];
    int offset_seconds[CHANGES_MOST];
};

struct time_zone *
time_zone_new(struct arena *arena, const int64_t *from, const int *offset_seconds, size_t count)
{
    struct time_zone *zone = arena_alloc(arena, sizeof *zone);

    for (; zone->count < count && zone->count < CHANGES_MOST; zone->count++) {
        zone->from[zone->count] = from[zone->count];
        zone->offset_seconds[zone->count] = offset_seconds[zone->count];
    }
    return zone;
}

bool
time_zone_load(struct db *db, struct arena *arena, const char *name, struct time_zone **ret_zone, struct error *err)
{
    struct time_zone *zone = arena_alloc(arena, sizeof *zone);
    struct rows *rows;

    if (!rows_open(&rows, db, "sql/time_zone.sql", 1, (const char *const[]){name}, err))
        return false;
    while (rows_next(rows, err)) {
        const char *from = rows_text(rows, 0);

        if (zone->count == CHANGES_MOST)
            continue;
        zone->from[zone->count] = from ? strtoll(from, NULL, 10) : INT64_MIN;
        zone->offset_seconds[zone->count++] = (int)strtol(rows_text(rows, 1), NULL, 10);
    }
    rows_close(rows);
    if (err->code)
        return false;
    if (!zone->count) {
        error_set(err, ERR_CONFIG, "there is no time zone \"%s\"", name);
        return error_hint(err, "Name it as America/Los_Angeles or Europe/Berlin, or leave time-zone out for UTC.");
    }
    *ret_zone = zone;
    return true;
}

/* The moment is in the stretch of time for which offset n holds. */
static bool
holds(const struct time_zone *zone, size_t n, int64_t time)
{
    return time >= zone->from[n] && (n + 1 == zone->count || time < zone->from[n + 1]);
}

int64_t
time_zone_local(const struct time_zone *zone, int64_t time)
{
    size_t n = 0;

    while (n + 1 < zone->count && !holds(zone, n, time))
        n++;
    return time + zone->offset_seconds[n];
}

enum time_zone_found
time_zone_find(const struct time_zone *zone, int64_t local, int64_t ret_times[2])
{
    int found = TIME_NONE;

    for (size_t n = 0; n < zone->count && found < TIME_TWICE; n++)
        if (holds(zone, n, local - zone->offset_seconds[n]))
            ret_times[found++] = local - zone->offset_seconds[n];
    /* The first moment of the gap is the one at which the clocks go. */
    for (size_t n = 1; n < zone->count && !found; n++)
        if (local - zone->offset_seconds[n - 1] == zone->from[n])
            ret_times[found++] = zone->from[n];
    return (enum time_zone_found)found;
}

const char *
time_zone_span(const struct time_zone *zone, int64_t local_from, int64_t local_to, int64_t *ret_from, int64_t *ret_to)
{
    int64_t from[2], to[2], length = local_to - local_from;
    int froms = time_zone_find(zone, local_from, from), tos = time_zone_find(zone, local_to, to);
    int best_from = 0, best_to = 0;

    if (!froms || !tos)
        return !froms ? "its start is a local time that the clocks pass over" : "its end is a local time that the clocks pass over";
    if (local_to > local_from) {
        for (int i = froms * tos - 1; i >= 0; i--) /* the first of those that are as long as they say */
            if (to[i % tos] - from[i / tos] == length) {
                best_from = i / tos;
                best_to = i % tos;
            }
    } else if (tos == TIME_TWICE) {
        best_to = 1; /* 01:30 to 01:00: the clocks went back in between */
    }
    *ret_from = from[best_from];
    *ret_to = to[best_to];
    return *ret_to < *ret_from ? "its end is before its start" : NULL;
}
