/* Times of sacct: seconds, times with a zone, local times; and durations. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/calendar.h"
#include "ingest/slurm.h"

enum { EPOCH_DIGITS_MOST = 11, STAMP_SIZE = 19, YEARS_BEFORE_DAYS = 400, DAYS_AFTER = 40 };

/* Words of sacct, and of tools around it, for a time that is not there. */
static const char *const no_times[] = {"Unknown", "None", "NA", "N/A", "(null)", "Invalid", "NONE", NULL};

bool
slurm_zone_load(struct db *db, struct arena *arena, const char *name, const struct window *window,
                struct slurm_zone *ret_zone, struct error *err)
{
    const char *param[] = {
        name,
        arena_printf(arena, "%" PRId64, window->from - (int64_t)YEARS_BEFORE_DAYS * DAY_SECONDS),
        arena_printf(arena, "%" PRId64, window->to + (int64_t)DAYS_AFTER * DAY_SECONDS),
    };
    struct rows *rows = NULL;
    struct error end = {0};
    size_t room;

    if (!rows_open(&rows, db, "sql/slurm_zone.sql", 3, param, err)) {
        return false;
    }
    room = (size_t)rows_count(rows);

    int64_t *since = arena_alloc(arena, (room + 1) * sizeof(*since));
    int *offset = arena_alloc(arena, (room + 1) * sizeof(*offset));
    size_t count = 0;

    while (rows_next(rows, &end) && count < room) {
        if (sscanf(rows_text(rows, 0), "%" SCNd64, &since[count]) == 1 &&
            sscanf(rows_text(rows, 1), "%d", &offset[count]) == 1) {
            count++;
        }
    }
    rows_close(rows);
    if (end.code) {
        *err = end;
        return false;
    }
    if (!count) {
        error_set(err, ERR_CONFIG, "there is no time zone \"%s\"", name);
        return error_hint(err, "Name it as the system does, such as Europe/Berlin or UTC.");
    }
    *ret_zone = (struct slurm_zone){since, offset, count};
    return true;
}

static int
offset_at(const struct slurm_zone *zone, int64_t at)
{
    size_t i = 0;

    while (i + 1 < zone->count && zone->since[i + 1] <= at) {
        i++;
    }
    return zone->offset_seconds[i];
}

/* Every instant at which the clocks of the zone showed that time; none in the hour they skip. */
static void
instants(const struct slurm_zone *zone, int64_t shown, struct slurm_when *when)
{
    for (size_t i = 0; i < zone->count && when->count < 2; i++) {
        int64_t at = shown - zone->offset_seconds[i];
        bool is_new = when->count == 0 || when->at[0] != at;

        if (is_new && offset_at(zone, at) == zone->offset_seconds[i]) {
            when->at[when->count++] = at;
        }
    }
    if (when->count == 2 && when->at[1] < when->at[0]) {
        int64_t later = when->at[0];

        when->at[0] = when->at[1];
        when->at[1] = later;
    }
}

static bool
all_digits(struct field text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.text[i] < '0' || text.text[i] > '9') {
            return false;
        }
    }
    return text.size > 0;
}

static int64_t
digits_value(struct field text)
{
    int64_t value = 0;

    for (size_t i = 0; i < text.size; i++) {
        value = value * 10 + (text.text[i] - '0');
    }
    return value;
}

static bool
is_no_time(struct field text)
{
    for (size_t i = 0; no_times[i]; i++) {
        if (strlen(no_times[i]) == text.size && strncasecmp(no_times[i], text.text, text.size) == 0) {
            return true;
        }
    }
    return text.size == 0;
}

bool
slurm_when(const struct slurm_zone *zone, struct field text, struct slurm_when *ret_when)
{
    int64_t at = 0;

    *ret_when = (struct slurm_when){0};
    text = csv_trim(text);
    if (is_no_time(text)) {
        return true;
    }
    if (all_digits(text)) {
        at = text.size <= EPOCH_DIGITS_MOST ? digits_value(text) : -1;
        /* 0 and the top of 32 bits stand for none; before 2001 there was no Slurm. */
        if (at >= 0 && (at == 0 || at >= INT64_C(4294967294))) {
            return true;
        }
        *ret_when = (struct slurm_when){{at, 0}, 1, false};
        return at >= 1000000000;
    }
    if (text.size < STAMP_SIZE || !time_parse(text.text, text.size, &at)) {
        return false;
    }
    ret_when->is_local = text.size == STAMP_SIZE;
    if (ret_when->is_local && zone->since) {
        instants(zone, at, ret_when);
        return ret_when->count > 0;
    }
    ret_when->at[0] = at;
    ret_when->count = 1;
    return true;
}

int64_t
slurm_duration(struct field text)
{
    int64_t days = 0, seconds = 0;
    size_t parts = 0;
    const char *dash, *point;

    text = csv_trim(text);
    dash = memchr(text.text, '-', text.size);
    if (dash) {
        struct field day = {text.text, (size_t)(dash - text.text)};

        if (!all_digits(day) || day.size > 6) {
            return -1;
        }
        days = digits_value(day);
        text = (struct field){dash + 1, text.size - day.size - 1};
    }
    point = memchr(text.text, '.', text.size);
    text.size = point ? (size_t)(point - text.text) : text.size;
    while (text.size > 0) {
        const char *colon = memchr(text.text, ':', text.size);
        struct field part = {text.text, colon ? (size_t)(colon - text.text) : text.size};

        if (!all_digits(part) || part.size > 11 || ++parts > 3) {
            return -1;
        }
        seconds = seconds * 60 + digits_value(part);
        text = (struct field){text.text + part.size + (colon ? 1 : 0), text.size - part.size - (colon ? 1 : 0)};
        if (colon && text.size == 0) {
            return -1;
        }
    }
    if (parts == 0 || (dash && parts != 3)) {
        return -1;
    }
    return days * DAY_SECONDS + seconds;
}
