/* From an answer of a server, live or saved, into a rollup. */
#include <config.h>

#include <string.h>

#include "common/buf.h"
#include "common/calendar.h"
#include "ingest/telemetry.h"

enum { HOUR_MS = 3600 * 1000 };

/* Start of the hour that a value at T belongs to: (T - 1 h, T]. */
static int64_t
hour_of(int64_t time_ms)
{
    return (time_ms + HOUR_MS - 1) / HOUR_MS * HOUR_SECONDS - HOUR_SECONDS;
}

void
telemetry_shares_open(struct telemetry_shares *shares, struct arena *arena, int64_t from,
                      int64_t to)
{
    shares->from = from;
    shares->days = to > from ? (size_t)((to - from + DAY_SECONDS - 1) / DAY_SECONDS) : 0;
    shares->most = arena_alloc(arena, (shares->days + 1) * sizeof(*shares->most));
}

static float *
share_at(const struct telemetry_shares *shares, const struct metric *metric, int64_t time_ms)
{
    int64_t hour = hour_of(time_ms);
    size_t day = (size_t)((hour - shares->from) / DAY_SECONDS);

    if (hour < shares->from || day >= shares->days || !signal_is_summed(metric->signal) ||
        metric->rank >= SHARE_RANKS) {
        return NULL;
    }
    return &shares->most[day][metric->signal][metric->rank];
}

static enum scale
scale_of(const struct telemetry_shares *shares, const struct metric *metric, int64_t time_ms)
{
    const float *most;

    if (metric->scale != SCALE_AUTO) {
        return metric->scale;
    }
    most = share_at(shares, metric, time_ms);
    return most && (double)*most > SHARE_RATIO_MOST ? SCALE_ONE : SCALE_RATIO;
}

static const char *
metric_name(const struct label *labels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(labels[i].name, "__name__") == 0) {
            return labels[i].value;
        }
    }
    return "";
}

/* Whose values the next ones are; of is NULL where they are none of ours. */
static void
begin_series(struct telemetry_feed *feed, const struct label *labels, size_t count)
{
    feed->of = feed->metric ? feed->metric : signal_metric(metric_name(labels, count));
    if (feed->of && !rollup_takes(feed->of->signal, feed->statistic)) {
        feed->of = NULL;
    }
    feed->labels = labels;
    feed->label_count = count;
    feed->series = NULL;
}

bool
telemetry_look_series(void *context, const struct label *labels, size_t count,
                      enum matrix_want *ret_want, struct error *err)
{
    struct telemetry_feed *feed = context;

    begin_series(feed, labels, count);
    if (!feed->of) {
        *ret_want = MATRIX_SKIP;
    } else if (feed->of->scale == SCALE_AUTO && feed->statistic != STATISTIC_COUNT &&
               feed->statistic != STATISTIC_SUM) {
        *ret_want = MATRIX_VALUES;
    } else {
        *ret_want = MATRIX_BOUNDS;
    }
    return interrupt_check(err);
}

bool
telemetry_look_values(void *context, const struct matrix_value *values, size_t count,
                      struct error *err)
{
    struct telemetry_feed *feed = context;
    struct telemetry_object *object = feed->object;

    (void)err;
    if (object->first_ms < 0 || values[0].time_ms < object->first_ms) {
        object->first_ms = values[0].time_ms;
    }
    if (values[count - 1].time_ms > object->last_ms) {
        object->last_ms = values[count - 1].time_ms;
    }
    if (feed->of->scale != SCALE_AUTO) {
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        float *most = share_at(feed->shares, feed->of, values[i].time_ms);

        if (most && (float)values[i].value > *most &&
            signal_in_range(feed->of->signal, SCALE_AUTO, values[i].value)) {
            *most = (float)values[i].value;
        }
    }
    return true;
}

bool
telemetry_take_series(void *context, const struct label *labels, size_t count,
                      enum matrix_want *ret_want, struct error *err)
{
    struct telemetry_feed *feed = context;

    *ret_want = MATRIX_SKIP;
    begin_series(feed, labels, count);
    if (!feed->of) {
        return true;
    }
    feed->has_identity = signal_identity(labels, count, &feed->identity);
    feed->bucket = rollup_bucket(feed->has_identity ? feed->identity.text[IDENTITY_UUID] : "");
    if (rollup_wants(feed->rollup, feed->bucket)) {
        *ret_want = MATRIX_VALUES;
    }
    return interrupt_check(err);
}

static void
count_value(struct telemetry_feed *feed, bool is_rejected)
{
    struct telemetry_object *object = feed->object;

    if (!object->pass) {
        object->pass = arena_alloc(feed->slice->run->arena, sizeof(*object->pass));
    }
    (*object->pass)[feed->bucket][0]++;
    (*object->pass)[feed->bucket][1] += is_rejected;
}

/* reason and record must live as long as the run. */
static void
add_reject(struct telemetry_feed *feed, unsigned bucket, uint64_t line, const char *reason, const char *record)
{
    struct telemetry_slice *slice = feed->slice;
    struct telemetry_reject *reject = arena_alloc(slice->run->arena, sizeof(*reject));

    *reject = (struct telemetry_reject){
        .object = feed->object, .reason = reason, .record = record, .bucket = bucket, .line = line};
    *slice->last_reject = reject;
    slice->last_reject = &reject->next;
    slice->reject_count++;
}

static void
note_reject(struct telemetry_feed *feed, enum rollup_verdict verdict,
            const struct matrix_value *value)
{
    struct arena *arena = feed->slice->run->arena;
    struct buf record = {.cap = TELEMETRY_RECORD_BYTES};
    char when[CALENDAR_TEXT];

    if (feed->slice->reject_count >= TELEMETRY_REJECTS) {
        return;
    }
    time_format(value->time_ms / 1000, when);
    buf_printf(&record, "%s %.17g {", when, value->value);
    for (size_t i = 0; i < feed->label_count; i++) {
        buf_printf(&record, "%s%s=", i ? "," : "", feed->labels[i].name);
        buf_json(&record, feed->labels[i].value);
    }
    buf_puts(&record, "}");
    add_reject(feed, feed->bucket, feed->line, arena_printf(arena, "%s: %s", feed->of->name, rollup_reason(verdict)),
               arena_strdup(arena, record.data));
    buf_free(&record);
}

static bool
is_outside(const struct telemetry_feed *feed, int64_t time_ms)
{
    int64_t hour = hour_of(time_ms);

    return hour < feed->slice->from || hour >= feed->slice->to ||
           (feed->object->to && (hour < feed->object->from || hour >= feed->object->to));
}

/* The series is made when its first value falls into the slice. False: its bucket was dropped. */
static bool
needs_series(struct telemetry_feed *feed)
{
    if (feed->has_identity && !feed->series) {
        feed->series = rollup_series(feed->rollup, feed->labels, feed->label_count, &feed->identity,
                                     feed->of->rank);
    }
    return rollup_wants(feed->rollup, feed->bucket);
}

bool
telemetry_take_values(void *context, const struct matrix_value *values, size_t count,
                      struct error *err)
{
    struct telemetry_feed *feed = context;

    for (size_t i = 0; i < count; i++) {
        enum rollup_verdict verdict = ROLLUP_NO_UUID;

        if (is_outside(feed, values[i].time_ms)) {
            continue;
        }
        if (!needs_series(feed)) {
            return true;
        }
        if (feed->series) {
            verdict = rollup_add(feed->rollup, feed->series, feed->of->signal,
                                 scale_of(feed->shares, feed->of, values[i].time_ms),
                                 feed->statistic, values[i].time_ms, values[i].value);
        }
        count_value(feed, verdict != ROLLUP_KEPT);
        if (verdict != ROLLUP_KEPT) {
            note_reject(feed, verdict, &values[i]);
        }
    }
    if (rollup_is_full(feed->rollup)) {
        error_set(err, ERR_INPUT, "GPU %s has more series than memory holds",
                  feed->identity.text[IDENTITY_UUID]);
        return error_hint(
            err, "Drop labels that change all the time from the query that made this answer.");
    }
    return true;
}

bool
telemetry_value(struct telemetry_feed *feed, const struct label *labels, size_t count, const struct metric *metric,
                enum statistic statistic, struct matrix_value value, bool is_taking, struct error *err)
{
    enum matrix_want want;

    feed->metric = metric;
    feed->statistic = statistic;
    if (!(is_taking ? telemetry_take_series : telemetry_look_series)(feed, labels, count, &want, err)) {
        return false;
    }
    if (want == MATRIX_SKIP) {
        return true;
    }
    return (is_taking ? telemetry_take_values : telemetry_look_values)(feed, &value, 1, err);
}

/* Such lines belong to the first bucket, so that one pass counts them. */
void
telemetry_reject_line(struct telemetry_feed *feed, int64_t near_ms, uint64_t line, const char *reason,
                      const char *text, size_t size)
{
    struct arena *arena = feed->slice->run->arena;

    if (!rollup_wants(feed->rollup, 0) || is_outside(feed, near_ms)) {
        return;
    }
    feed->bucket = 0;
    count_value(feed, true);
    if (feed->slice->reject_count < TELEMETRY_REJECTS) {
        add_reject(feed, 0, line, arena_strdup(arena, reason),
                   arena_strndup(arena, text, size < TELEMETRY_RECORD_BYTES ? size : TELEMETRY_RECORD_BYTES));
    }
}
