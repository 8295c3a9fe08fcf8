/*
 * Hours by GetMetricData: at most 500 queries and 100,800 values a call, pages whose values are put
 * together by Id, parts that the server could not answer asked for again.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/calendar.h"
#include "common/log.h"
#include "ingest/cloudwatch.h"

enum { QUERIES_MOST = 500, VALUES_MOST = 100800, PAGES_MOST = 2000, ROUNDS = 3, RESTARTS = 3, PAUSE_MS = 500 };

size_t
cloudwatch_batch_room(int64_t hours)
{
    size_t room = hours > 0 ? (size_t)(VALUES_MOST / hours) : QUERIES_MOST;

    return room > QUERIES_MOST ? QUERIES_MOST : room < CLOUDWATCH_STATISTICS ? CLOUDWATCH_STATISTICS : room;
}

/* ---------------------------------------------------------------- a batch */

struct batch {
    struct cloudwatch *cloudwatch;
    struct cloudwatch_query **queries;
    size_t count;
    int64_t from, to;
    json_t *body; /* without a page token */
};

static const char *
statistic_name(enum statistic statistic)
{
    switch (statistic) {
    case STATISTIC_COUNT:
        return "SampleCount";
    case STATISTIC_MAX:
        return "Maximum";
    default:
        return "Average";
    }
}

static json_t *
query_json(const struct cloudwatch_query *query, size_t number)
{
    json_t *dimensions = json_array(), *value;
    const char *name;
    char id[24];

    snprintf(id, sizeof id, "q%zu", number);
    json_object_foreach(query->series->dimensions, name, value)
        json_array_append_new(dimensions, json_pack("{s:s, s:O}", "Name", name, "Value", value));
    return json_pack("{s:s, s:{s:{s:s, s:s, s:o}, s:i, s:s}, s:b}", "Id", id, "MetricStat", "Metric", "Namespace",
                     query->series->namespace, "MetricName", query->series->metric.name, "Dimensions", dimensions,
                     "Period", HOUR_SECONDS, "Stat", statistic_name(query->statistic), "ReturnData", 1);
}

static void
write_body(struct batch *batch)
{
    json_t *queries = json_array();

    for (size_t i = 0; i < batch->count; i++)
        json_array_append_new(queries, query_json(batch->queries[i], i));
    batch->body = json_pack("{s:o, s:I, s:I, s:s}", "MetricDataQueries", queries, "StartTime", (json_int_t)batch->from,
                            "EndTime", (json_int_t)batch->to, "ScanBy", "TimestampAscending");
}

/* ---------------------------------------------------------------- answers */

static void
add_hour(struct cloudwatch_hours *hours, int64_t time, double value)
{
    if (hours->count == hours->room) {
        hours->room = hours->room ? hours->room * 2 : 64;
        hours->time = mem_resize(hours->time, hours->room, sizeof *hours->time);
        hours->value = mem_resize(hours->value, hours->room, sizeof *hours->value);
    }
    hours->time[hours->count] = time;
    hours->value[hours->count++] = value;
}

static void
forget(struct cloudwatch_hours *hours)
{
    hours->count = 0;
    hours->is_complete = hours->is_forbidden = false;
}

/* "q12" of this batch. */
static struct cloudwatch_query *
query_of(const struct batch *batch, const json_t *result)
{
    const char *id = json_string_value(json_object_get(result, "Id"));
    size_t size = id && *id == 'q' ? strspn(id + 1, "0123456789") : 0, number;

    if (!size || size > 6 || id[size + 1])
        return NULL;
    number = strtoul(id + 1, NULL, 10);
    return number < batch->count ? batch->queries[number] : NULL;
}

/* Values of the hours that were asked for; ascending, so that those of several pages are in order. */
static bool
take_values(const struct batch *batch, struct cloudwatch_hours *hours, const json_t *result, struct error *err)
{
    const json_t *times = json_object_get(result, "Timestamps"), *values = json_object_get(result, "Values"), *time;
    size_t i;

    if (!json_is_array(times) || !json_is_array(values) || json_array_size(times) != json_array_size(values))
        return cloudwatch_fail_answer(batch->cloudwatch, "GetMetricData: not as many Values as Timestamps", err);
    json_array_foreach(times, i, time) {
        const json_t *value = json_array_get(values, i);
        int64_t at;

        if (!json_is_number(time) || !json_is_number(value) || json_number_value(time) < 0 || json_number_value(time) > 1e11)
            return cloudwatch_fail_answer(batch->cloudwatch, "GetMetricData: a Timestamp or Value is no number", err);
        at = (int64_t)json_number_value(time);
        if (at < batch->from || at >= batch->to)
            continue;
        if (hours->count && at <= hours->time[hours->count - 1])
            return cloudwatch_fail_answer(batch->cloudwatch, "GetMetricData: hours come twice or out of order", err);
        add_hour(hours, at, json_number_value(value));
    }
    return true;
}

static bool
take_result(const struct batch *batch, const json_t *result, struct error *err)
{
    struct cloudwatch_query *query = query_of(batch, result);
    const char *status = json_string_value(json_object_get(result, "StatusCode"));

    if (!query || !status)
        return cloudwatch_fail_answer(batch->cloudwatch, "GetMetricData: a result has an Id that nobody asked for, or no StatusCode",
                                      err);
    query->hours.is_complete = !strcmp(status, "Complete");
    query->hours.is_forbidden = !strcmp(status, "Forbidden");
    return take_values(batch, &query->hours, result, err);
}

/* One page; *token is that of the next one, NULL at the end. */
static bool
take_page(const struct batch *batch, const json_t *answer, json_t **token, struct error *err)
{
    const json_t *results = json_object_get(answer, "MetricDataResults"), *result;
    json_t *next = json_object_get(answer, "NextToken");
    size_t i;

    if (!json_is_array(results))
        return cloudwatch_fail_answer(batch->cloudwatch, "GetMetricData: the answer has no list MetricDataResults", err);
    json_array_foreach(results, i, result)
        if (!take_result(batch, result, err))
            return false;
    next = json_is_string(next) && *json_string_value(next) ? next : NULL;
    if (next && *token && json_equal(next, *token))
        return cloudwatch_fail_answer(batch->cloudwatch, "GetMetricData: the pages go round in circles", err);
    json_decref(*token);
    *token = json_incref(next);
    return true;
}

/* All pages. *ret_is_stale: a token was refused on the way. */
static bool
ask_pages(const struct batch *batch, bool *ret_is_stale, struct error *err)
{
    json_t *token = NULL;
    int pages = 0;
    bool is_good;

    for (size_t i = 0; i < batch->count; i++)
        forget(&batch->queries[i]->hours);
    do {
        json_t *answer = NULL;

        if (token)
            json_object_set(batch->body, "NextToken", token);
        else
            json_object_del(batch->body, "NextToken");
        is_good = interrupt_check(err)
            && cloudwatch_call(batch->cloudwatch, "GetMetricData", batch->body, ret_is_stale, &answer, err);
        if (is_good && !*ret_is_stale)
            is_good = take_page(batch, answer, &token, err);
        json_decref(answer);
        if (is_good && ++pages > PAGES_MOST)
            is_good = cloudwatch_fail_answer(batch->cloudwatch, "GetMetricData: the pages do not come to an end", err);
    } while (is_good && !*ret_is_stale && token);
    json_decref(token);
    return is_good;
}

static bool
ask_batch(struct batch *batch, struct error *err)
{
    bool is_stale = true, is_good = true;

    write_body(batch);
    for (int i = 0; is_good && is_stale && i < RESTARTS; i++)
        is_good = ask_pages(batch, &is_stale, err);
    json_decref(batch->body);
    if (is_good && is_stale)
        return cloudwatch_fail_answer(batch->cloudwatch, "GetMetricData: every page token is refused", err);
    return is_good;
}

bool
cloudwatch_ask(struct cloudwatch *cloudwatch, struct cloudwatch_query *queries, size_t count, int64_t from, int64_t to,
               struct error *err)
{
    struct arena arena = {0};
    struct batch batch = {
        .cloudwatch = cloudwatch,
        .queries = arena_alloc(&arena, (count + 1) * sizeof *batch.queries),
        .from = from,
        .to = to,
    };
    bool is_good = true;

    for (int round = 0; is_good && round < ROUNDS; round++) {
        batch.count = 0;
        for (size_t i = 0; i < count; i++)
            if (!queries[i].hours.is_complete && !queries[i].hours.is_forbidden)
                batch.queries[batch.count++] = &queries[i];
        if (!batch.count)
            break;
        if (round)
            log_info("%s: %zu of %zu results were not complete, asking again", cloudwatch->url, batch.count, count);
        is_good = (!round || interrupt_sleep((int64_t)PAUSE_MS << round, err)) && ask_batch(&batch, err);
    }
    arena_free(&arena);
    return is_good;
}

void
cloudwatch_hours_free(struct cloudwatch_query *queries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mem_free(queries[i].hours.time);
        mem_free(queries[i].hours.value);
        queries[i].hours = (struct cloudwatch_hours){0};
    }
}
