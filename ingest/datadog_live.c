/*
 * A quarter of hours in parts of eight days. Each part is one transaction; killed in between, the next
 * run goes on where this one stopped, and does not ask again for what is complete.
 */
#include <config.h>

#include <math.h>
#include <string.h>

#include "common/calendar.h"
#include "ingest/datadog.h"
#include "ingest/telemetry.h"

enum { SECOND_MS = 1000, PART_DAYS = 8, PARTS = 4 };

struct live {
    struct datadog datadog;
    int64_t last_hour; /* the end of the last whole hour */
};

struct part {
    struct telemetry_feed *feed;
    const struct datadog_query *query;
    struct arena scratch;
};

/* ---------------------------------------------------------------- values */

static bool
take_series(void *context, const struct datadog_series *series, struct error *err)
{
    struct part *part = context;
    struct label labels[DATADOG_LABELS];
    size_t count = datadog_labels(series->tags, &part->scratch, labels);
    bool is_good = true;

    for (size_t i = 0; is_good && i < series->count; i++) {
        if (isnan(series->value[i]))
            continue; /* a gap: unknown */
        /* The hour that begins at T ends at T + 1 h, which is how the feed names it. */
        is_good = telemetry_value(part->feed, labels, count, &part->query->metric, part->query->statistic,
                                  (struct matrix_value){(series->time[i] + HOUR_SECONDS) * SECOND_MS, series->value[i]},
                                  true, err);
    }
    arena_reset(&part->scratch, (struct arena_mark){0});
    return is_good;
}

static bool
pull_pass(struct live *live, struct telemetry_feed *feed, bool *is_begun, struct error *err)
{
    struct part part = {.feed = feed};
    bool is_good = true;

    for (part.query = datadog_queries; is_good && part.query->metric.name; part.query++)
        is_good = datadog_ask(&live->datadog, part.query, feed->object->from, feed->object->to, take_series, &part, err);
    arena_free(&part.scratch);
    /* Not before the answers are there: nobody shall wait for a slow server. */
    if (!is_good || (!*is_begun && !telemetry_part_begin(feed->slice, feed->object, err)))
        return false;
    *is_begun = true;
    return telemetry_pass_end(feed->slice, feed->rollup, &feed->object, 1, err);
}

/* ---------------------------------------------------------------- parts */

static bool
pull_part(struct live *live, struct telemetry_slice *slice, struct telemetry_object *object, struct error *err)
{
    struct telemetry_feed feed = {
        .slice = slice,
        .rollup = rollup_open(live->datadog.run->arena, object->from, object->to, 0),
        .object = object,
    };
    bool is_begun = false, is_good;

    do {
        is_good = pull_pass(live, &feed, &is_begun, err);
    } while (is_good && rollup_next(feed.rollup));
    rollup_close(feed.rollup);
    if (is_good && telemetry_part_end(slice, object, err))
        return true;
    telemetry_failed(slice, object->name, err);
    return false;
}

static bool
one_part(struct live *live, struct telemetry_slice *slice, int64_t from, int64_t to, struct error *err)
{
    struct source_run *run = live->datadog.run;
    struct telemetry_object object = {.first_ms = -1, .size_bytes = -1, .from = from};
    char text[CALENDAR_TEXT];
    bool is_settled;

    object.to = to < live->last_hour ? to : live->last_hour;
    date_format(from, text);
    object.name = arena_printf(run->arena, "%s %s", text, live->datadog.url);
    if (!telemetry_part_settled(slice, &object, &is_settled, err))
        return false;
    if (!is_settled)
        return pull_part(live, slice, &object, err);
    run->counts.objects++;
    run->counts.unchanged++;
    return true;
}

/* The parts of a month that the window touches, each whole: the last takes the rest of the month. */
static bool
one_month(struct live *live, int64_t month, struct error *err)
{
    const struct window *window = &live->datadog.run->settings->window;
    struct telemetry_slice slice;
    bool is_good = telemetry_open(&slice, live->datadog.run, month, err) && telemetry_part_open(&slice, err);

    for (int i = 0; is_good && i < PARTS; i++) {
        int64_t from = month + (int64_t)i * PART_DAYS * DAY_SECONDS;
        int64_t to = i + 1 < PARTS ? from + (int64_t)PART_DAYS * DAY_SECONDS : month_next(month);

        if (to > window->from && from < window->to && from < live->last_hour)
            is_good = one_part(live, &slice, from, to, err);
    }
    telemetry_close(&slice);
    return is_good;
}

bool
datadog_live(struct source_run *run, struct error *err)
{
    const struct window *window = &run->settings->window;
    struct live live = {.last_hour = run->settings->now - run->settings->now % HOUR_SECONDS};
    int64_t first = month_start(window->from), number = 0;
    bool is_good = true;

    if (!datadog_connect(&live.datadog, run, err))
        return false;
    for (int64_t month = first; is_good && month < window->to && month < live.last_hour; month = month_next(month)) {
        progress_at(run->progress, (uint64_t)number++, 0, "months");
        is_good = one_month(&live, month, err);
    }
    datadog_disconnect(&live.datadog);
    return is_good;
}
