/* What Datadog answers: times, series with their tags, values with null in gaps. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/calendar.h"
#include "ingest/datadog.h"

enum { SECOND_MS = 1000, HOUR_MS = HOUR_SECONDS * SECOND_MS };

/* ---------------------------------------------------------------- times */

static bool
read_times(const json_t *times, int64_t *ret_ms, struct error *err)
{
    const json_t *one;
    size_t i;

    json_array_foreach(times, i, one) {
        if (!json_is_number(one) || !(json_number_value(one) >= 0 && json_number_value(one) < 1e14))
            return error_set(err, ERR_INPUT, "a time is no number");
        ret_ms[i] = (int64_t)json_number_value(one);
        if (i && ret_ms[i] <= ret_ms[i - 1])
            return error_set(err, ERR_INPUT, "times are not in order");
    }
    return true;
}

/*
 * The server widens the steps when it wants to, without a word. Steps of an hour show as two times an
 * hour apart; where no two are, a GPU may have run now and then, or each value may be of many hours:
 * smaller pieces tell, down to one hour, of which there can be one value alone, at its beginning.
 */
static bool
is_wider(const int64_t *ms, size_t count, int64_t from, int64_t to)
{
    if (to - from <= HOUR_SECONDS)
        return count > 1 || (count == 1 && ms[0] != from * SECOND_MS);
    if (!count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (ms[i] % HOUR_MS || ms[i] < from * SECOND_MS || ms[i] >= to * SECOND_MS)
            return true;
    for (size_t i = 1; i < count; i++)
        if (ms[i] - ms[i - 1] == HOUR_MS)
            return false;
    return true;
}

/* ---------------------------------------------------------------- series */

static bool
read_values(const json_t *values, size_t count, double *ret_value, struct error *err)
{
    const json_t *one;
    size_t i;

    if (!json_is_array(values) || json_array_size(values) != count)
        return error_set(err, ERR_INPUT, "a series has not as many values as there are times");
    json_array_foreach(values, i, one) {
        if (!json_is_number(one) && !json_is_null(one))
            return error_set(err, ERR_INPUT, "a value is neither a number nor null");
        ret_value[i] = json_is_null(one) ? (double)NAN : json_number_value(one);
    }
    return true;
}

static bool
take_series(const json_t *attributes, struct datadog_series *series, double *value, datadog_take *take, void *context,
            struct error *err)
{
    const json_t *list = json_object_get(attributes, "series"), *values = json_object_get(attributes, "values"), *one;
    size_t i;

    if (!json_is_array(list) || !json_is_array(values) || json_array_size(list) != json_array_size(values))
        return error_set(err, ERR_INPUT, "not as many values as series");
    series->value = value;
    json_array_foreach(list, i, one) {
        series->tags = json_object_get(one, "group_tags");
        if (!json_is_array(series->tags))
            return error_set(err, ERR_INPUT, "a series has no group_tags");
        if (!read_values(json_array_get(values, i), series->count, value, err) || !take(context, series, err))
            return false;
    }
    return true;
}

static bool
take_answer(const json_t *root, int64_t from, int64_t to, datadog_take *take, void *context, bool *ret_is_wider,
            struct error *err)
{
    const json_t *attributes = json_object_get(json_object_get(root, "data"), "attributes");
    const json_t *times = json_object_get(attributes, "times"), *errors = json_object_get(root, "errors");
    struct datadog_series series = {.count = json_array_size(times)};
    struct arena arena = {0};
    int64_t *ms = arena_alloc(&arena, (series.count + 1) * sizeof *ms);
    double *value = arena_alloc(&arena, (series.count + 1) * sizeof *value);
    bool is_good;

    if (errors && !attributes)
        is_good = error_set(err, ERR_INPUT, "the answer is an error: %.200s",
                            json_is_string(errors) ? json_string_value(errors)
                                : json_is_string(json_array_get(errors, 0)) ? json_string_value(json_array_get(errors, 0)) : "");
    else if (!json_is_array(times))
        is_good = error_set(err, ERR_INPUT, "the answer has no times");
    else
        is_good = read_times(times, ms, err);
    if (is_good && !(*ret_is_wider = is_wider(ms, series.count, from, to))) {
        for (size_t i = 0; i < series.count; i++)
            ms[i] /= SECOND_MS;
        series.time = ms;
        is_good = take_series(attributes, &series, value, take, context, err);
    }
    arena_free(&arena);
    return is_good;
}

bool
datadog_answer(const char *text, size_t size, int64_t from, int64_t to, datadog_take *take, void *context,
               bool *ret_is_wider, struct error *err)
{
    json_t *root = json_loadb(text, size, 0, NULL);
    bool is_good = json_is_object(root) ? take_answer(root, from, to, take, context, ret_is_wider, err)
                                        : error_set(err, ERR_INPUT, "the answer is no JSON object");

    json_decref(root);
    return is_good;
}

/* ---------------------------------------------------------------- tags */

/* Of "host:i-0abc" the part after the first colon; NULL where the group has no such tag. */
static const char *
tag_value(const json_t *tags, const char *name)
{
    size_t size = strlen(name), i;
    const json_t *one;

    json_array_foreach(tags, i, one) {
        const char *text = json_string_value(one);

        if (!text || strncmp(text, name, size) != 0 || text[size] != ':')
            continue;
        text += size + 1;
        return *text && strcasecmp(text, "n/a") != 0 && strcmp(text, "*") != 0 ? text : NULL;
    }
    return NULL;
}

/* Datadog writes tags in small letters: "gpu-6ab1…" is GPU-6ab1… everywhere else. */
static const char *
uuid_of(const char *text, struct arena *arena)
{
    char *uuid = arena_strdup(arena, text);

    if (!strncmp(uuid, "gpu-", 4) || !strncmp(uuid, "mig-", 4))
        for (int i = 0; i < 3; i++)
            uuid[i] = (char)(uuid[i] - 'a' + 'A');
    return uuid;
}

static bool
is_instance(const char *host)
{
    size_t size = strlen(host);

    return !strncmp(host, "i-", 2) && size >= 10 && size <= 19 && strspn(host + 2, "0123456789abcdef") == size - 2;
}

static void
add(struct label *labels, size_t *count, const char *name, const char *value)
{
    if (value)
        labels[(*count)++] = (struct label){name, value};
}

size_t
datadog_labels(const json_t *tags, struct arena *arena, struct label labels[DATADOG_LABELS])
{
    const char *host = tag_value(tags, "host"), *hostname = tag_value(tags, "hostname"), *uuid = tag_value(tags, "uuid");
    const char *index = tag_value(tags, "gpu");
    size_t count = 0;

    hostname = hostname ? hostname : host;
    if (uuid)
        uuid = uuid_of(uuid, arena);
    else if ((host || hostname) && index)
        uuid = arena_printf(arena, "%s/%s", host ? host : hostname, index);
    add(labels, &count, "uuid", uuid);
    add(labels, &count, "hostname", hostname);
    add(labels, &count, "instance_id", host && is_instance(host) ? host : NULL);
    add(labels, &count, "gpu", index);
    add(labels, &count, "model_name", tag_value(tags, "modelname"));
    add(labels, &count, "GPU_I_ID", tag_value(tags, "gpu_i_id"));
    add(labels, &count, "GPU_I_PROFILE", tag_value(tags, "gpu_i_profile"));
    return count;
}
