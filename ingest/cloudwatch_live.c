/*
 * A quarter of hours, month by month: CloudWatch charges by the metric asked for, whatever the time.
 * Each month is one transaction; killed in between, the next run goes on where this one stopped, and
 * does not ask again for what is complete.
 *
 * CloudWatch does not list who did not report for two weeks, so what it ever listed is kept
 * (audit.cloudwatch_metric) and asked for; a metric that is listed for the first time has the months
 * that are loaded asked for again, since an instance may have stood still for weeks.
 */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/calendar.h"
#include "common/log.h"
#include "ingest/cloudwatch.h"
#include "ingest/telemetry.h"

enum { SECOND_MS = 1000, KEPT_DAYS = 455, FORGET_DAYS = 100, LABELS = 6 };

struct live {
    struct cloudwatch cloudwatch;
    struct cloudwatch_plan plan;
    int64_t last_hour; /* the end of the last whole hour */
};

/* ---------------------------------------------------------------- what is listed */

static bool
note_page(void *context, json_t *metrics, struct error *err)
{
    const struct source_run *run = context;
    char *text = json_dumps(metrics, JSON_COMPACT);
    const char *param[] = {arena_printf(run->arena, "%d", run->source_id), text};
    bool is_good = text && db_run(run->db, "sql/cloudwatch_listed.sql", 2, param, err);

    free(text);
    return is_good;
}

static bool
add_known(struct live *live, const struct rows *rows, struct error *err)
{
    json_t *dimensions = json_loads(rows_text(rows, 2), 0, NULL);

    if (!json_is_object(dimensions)) {
        json_decref(dimensions);
        return error_set(err, ERR_BUG, "dimensions in audit.cloudwatch_metric are no JSON object");
    }
    cloudwatch_plan_add(&live->plan, &live->cloudwatch, rows_text(rows, 0), rows_text(rows, 1), dimensions,
                        strtoll(rows_text(rows, 3), NULL, 10));
    json_decref(dimensions);
    return true;
}

static bool
make_plan(struct live *live, struct error *err)
{
    struct source_run *run = live->cloudwatch.run;
    const char *param[] = {arena_printf(run->arena, "%d", run->source_id)};
    struct error end = {0};
    struct rows *rows = NULL;
    bool is_good = true;

    if (!cloudwatch_list(&live->cloudwatch, note_page, run, err)
        || !rows_stream(&rows, run->db, "sql/cloudwatch_known.sql", 1, param, err))
        return false;
    while (is_good && rows_next(rows, &end))
        is_good = add_known(live, rows, err);
    rows_close(rows);
    if (is_good && end.code) {
        *err = end;
        return false;
    }
    cloudwatch_plan_finish(&live->plan, run->arena);
    if (is_good && !live->plan.count)
        log_warning("%s: CloudWatch lists no GPU in %s: see that the agent collects nvidia_gpu (or Container Insights "
                    "watches the nodes) and that namespace and region are right",
                    live->cloudwatch.where, live->cloudwatch.region);
    return is_good;
}

/* ---------------------------------------------------------------- hours into the rollup */

struct part {
    struct live *live;
    struct telemetry_feed *feed;
    struct cloudwatch_query *queries;
    size_t count, room;
    size_t incomplete, forbidden, unpaired; /* results; hours with a count and no mean */
};

static bool
take_hour(struct part *part, const struct cloudwatch_series *series, enum statistic statistic, int64_t time, double value,
          struct error *err)
{
    struct label labels[LABELS];
    size_t count = 0;

    labels[count++] = (struct label){"uuid", series->uuid};
    labels[count++] = (struct label){"gpu", series->index};
    labels[count++] = (struct label){"dimensions", series->text};
    if (series->instance_id)
        labels[count++] = (struct label){"instance_id", series->instance_id};
    if (series->host)
        labels[count++] = (struct label){"hostname", series->host};
    if (series->model)
        labels[count++] = (struct label){"model_name", series->model};
    /* The hour that begins at T ends at T + 1 h, which is how the feed names it. */
    return telemetry_value(part->feed, labels, count, &series->metric, statistic,
                           (struct matrix_value){(time + HOUR_SECONDS) * SECOND_MS, value}, true, err);
}

static bool
find_hour(const struct cloudwatch_hours *hours, int64_t time, double *ret_value)
{
    size_t low = 0, high = hours->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (hours->time[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == hours->count || hours->time[low] != time)
        return false;
    *ret_value = hours->value[low];
    return true;
}

/* Count, mean and maximum of a series. An hour without its mean is unknown whatever its count says; a
 * mean without a count goes on to be refused and shown. */
static bool
take_summed(struct part *part, const struct cloudwatch_query query[CLOUDWATCH_STATISTICS], struct error *err)
{
    const struct cloudwatch_hours *count = &query[0].hours, *mean = &query[1].hours;
    bool is_good = true;

    for (size_t i = 0; is_good && i < mean->count; i++) {
        int64_t time = mean->time[i];
        double samples, most;
        bool has_count = find_hour(count, time, &samples);

        if (has_count)
            is_good = take_hour(part, query->series, STATISTIC_COUNT, time, samples, err);
        is_good = is_good && take_hour(part, query->series, STATISTIC_AVG, time, mean->value[i], err);
        if (is_good && has_count && find_hour(&query[2].hours, time, &most))
            is_good = take_hour(part, query->series, STATISTIC_MAX, time, most, err);
    }
    for (size_t i = 0; i < count->count; i++) {
        double value;

        part->unpaired += !find_hour(mean, count->time[i], &value);
    }
    return is_good;
}

static bool
take_gauge(struct part *part, const struct cloudwatch_query *query, struct error *err)
{
    bool is_good = true;

    for (size_t i = 0; is_good && i < query->hours.count; i++)
        is_good = take_hour(part, query->series, query->statistic, query->hours.time[i], query->hours.value[i], err);
    return is_good;
}

static bool
take_answers(struct part *part, struct error *err)
{
    bool is_good = true;

    for (size_t i = 0; is_good && i < part->count;) {
        const struct cloudwatch_query *query = &part->queries[i];
        bool is_summed = signal_is_summed(query->series->metric.signal);

        is_good = is_summed ? take_summed(part, query, err) : take_gauge(part, query, err);
        i += is_summed ? CLOUDWATCH_STATISTICS : 1;
    }
    for (size_t i = 0; i < part->count; i++) {
        part->forbidden += part->queries[i].hours.is_forbidden;
        part->incomplete += !part->queries[i].hours.is_complete;
    }
    return is_good;
}

static bool
ask(struct part *part, struct error *err)
{
    const struct telemetry_object *object = part->feed->object;
    bool is_good = !part->count
        || (cloudwatch_ask(&part->live->cloudwatch, part->queries, part->count, object->from, object->to, err)
            && take_answers(part, err));

    cloudwatch_hours_free(part->queries, part->count);
    memset(part->queries, 0, part->room * sizeof *part->queries);
    part->count = 0;
    return is_good;
}

/* The queries of a series into the batch; asked when it is full. */
static bool
add_series(struct part *part, const struct cloudwatch_series *series, struct error *err)
{
    static const enum statistic summed[CLOUDWATCH_STATISTICS] = {STATISTIC_COUNT, STATISTIC_AVG, STATISTIC_MAX};
    enum statistic gauge = signal_statistic(series->metric.signal, series->metric.scale);
    bool is_summed = signal_is_summed(series->metric.signal);
    size_t count = is_summed ? CLOUDWATCH_STATISTICS : 1;

    if (part->count + count > part->room && !ask(part, err))
        return false;
    for (size_t i = 0; i < count; i++)
        part->queries[part->count++]
            = (struct cloudwatch_query){.series = series, .statistic = is_summed ? summed[i] : gauge};
    return true;
}

/* Series come by bucket, so that what does not fit into this pass was mostly not asked for yet. */
static bool
pull_pass(struct part *part, bool *is_begun, struct error *err)
{
    struct live *live = part->live;
    struct telemetry_feed *feed = part->feed;
    int64_t forgotten = feed->object->from - (int64_t)FORGET_DAYS * DAY_SECONDS;

    part->incomplete = part->forbidden = part->unpaired = 0;
    for (size_t i = 0; i < live->plan.count; i++) {
        const struct cloudwatch_series *series = &live->plan.series[i];

        if (series->last_listed >= forgotten && rollup_wants(feed->rollup, series->bucket)
            && !add_series(part, series, err))
            return false;
    }
    if (!ask(part, err))
        return false;
    /* Not before the answers are there: nobody shall wait for a slow server. */
    if (!*is_begun && !telemetry_part_begin(feed->slice, feed->object, err))
        return false;
    *is_begun = true;
    return telemetry_pass_end(feed->slice, feed->rollup, &feed->object, 1, err);
}

/* ---------------------------------------------------------------- months */

static void
note_incomplete(const struct part *part)
{
    struct telemetry_object *object = part->feed->object;
    struct arena *arena = part->live->cloudwatch.run->arena;

    if (part->forbidden)
        object->problem = arena_printf(arena, "CloudWatch forbids %zu results: cloudwatch:GetMetricData is missing for them",
                                       part->forbidden);
    else if (part->incomplete)
        object->problem = arena_printf(arena, "CloudWatch left %zu results incomplete", part->incomplete);
    else if (part->unpaired)
        object->problem = arena_printf(arena, "%zu hours have a count of samples and no mean", part->unpaired);
    else
        return;
    object->is_incomplete = true;
    log_warning("%s: %s; it will be asked again next time", object->name, object->problem);
}

static bool
pull_month(struct live *live, struct telemetry_slice *slice, struct telemetry_object *object, struct error *err)
{
    struct source_run *run = live->cloudwatch.run;
    struct telemetry_feed feed = {
        .slice = slice,
        .rollup = rollup_open(run->arena, object->from, object->to, 0),
        .object = object,
    };
    struct part part = {.live = live, .feed = &feed, .room = cloudwatch_batch_room((object->to - object->from) / HOUR_SECONDS)};
    bool is_begun = false, is_good;

    part.queries = arena_alloc(run->arena, part.room * sizeof *part.queries);
    do {
        size_t incomplete = part.incomplete, forbidden = part.forbidden, unpaired = part.unpaired;

        is_good = pull_pass(&part, &is_begun, err);
        part.incomplete += incomplete;
        part.forbidden += forbidden;
        part.unpaired += unpaired;
    } while (is_good && rollup_next(feed.rollup));
    rollup_close(feed.rollup);
    if (is_good)
        note_incomplete(&part);
    if (is_good && telemetry_part_end(slice, object, err))
        return true;
    telemetry_failed(slice, object->name, err);
    return false;
}

static bool
is_settled(struct telemetry_slice *slice, const struct telemetry_object *object, bool *ret_settled, struct error *err)
{
    struct arena *arena = slice->run->arena;
    const char *news = NULL;
    const char *param[] = {slice->slice_text, arena_printf(arena, "%" PRId64, object->from),
                           arena_printf(arena, "%" PRId64, object->to)};

    if (!telemetry_part_settled(slice, object, ret_settled, err))
        return false;
    if (*ret_settled && !db_text(slice->run->db, arena, "sql/cloudwatch_news.sql", 3, param, &news, err))
        return false;
    *ret_settled = *ret_settled && !news;
    return true;
}

static bool
one_month(struct live *live, int64_t month, struct error *err)
{
    struct source_run *run = live->cloudwatch.run;
    struct telemetry_object object = {.first_ms = -1, .size_bytes = -1, .from = month};
    struct telemetry_slice slice;
    char text[CALENDAR_TEXT];
    bool settled = false, is_good;

    object.to = month_next(month) < live->last_hour ? month_next(month) : live->last_hour;
    month_format(month, text);
    object.name = arena_printf(run->arena, "%s %s", text, live->cloudwatch.url);
    is_good = telemetry_open(&slice, run, month, err) && telemetry_part_open(&slice, err)
        && is_settled(&slice, &object, &settled, err);
    if (is_good && settled) {
        run->counts.objects++;
        run->counts.unchanged++;
    } else if (is_good) {
        is_good = pull_month(live, &slice, &object, err);
    }
    telemetry_close(&slice);
    return is_good;
}

/* The failure of a listing stands with the first month of the window. */
static void
note_failure(struct live *live, const struct error *err)
{
    struct telemetry_slice slice;
    struct error ignored = {0};

    if (err->code == ERR_INTERRUPTED)
        return;
    if (telemetry_open(&slice, live->cloudwatch.run, live->cloudwatch.run->settings->window.from, &ignored)) {
        telemetry_failed(&slice, live->cloudwatch.url, err);
        telemetry_close(&slice);
    }
}

static bool
all_months(struct live *live, struct error *err)
{
    const struct window *window = &live->cloudwatch.run->settings->window;
    int64_t first = month_start(window->from), months = 0, number = 0;

    for (int64_t month = first; month < window->to; month = month_next(month))
        months++;
    if (window->from < live->last_hour - (int64_t)KEPT_DAYS * DAY_SECONDS)
        log_warning("%s: CloudWatch keeps hours for %d days: what GPUs did before is unknown", live->cloudwatch.where,
                    KEPT_DAYS);
    for (int64_t month = first; month < window->to && month < live->last_hour; month = month_next(month)) {
        progress_at(live->cloudwatch.run->progress, (uint64_t)number++, (uint64_t)months, "months");
        if (!one_month(live, month, err))
            return false;
    }
    return true;
}

bool
cloudwatch_live(struct source_run *run, struct error *err)
{
    struct live live = {.last_hour = run->settings->now - run->settings->now % HOUR_SECONDS};
    bool is_good;

    if (!cloudwatch_connect(&live.cloudwatch, run, err))
        return false;
    is_good = make_plan(&live, err);
    if (!is_good)
        note_failure(&live, err);
    is_good = is_good && all_months(&live, err);
    cloudwatch_plan_close(&live.plan);
    cloudwatch_disconnect(&live.cloudwatch);
    return is_good;
}
