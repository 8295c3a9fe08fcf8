/*
 * Which GPU a set of dimensions is. CloudWatch's agent tells no UUID, so a GPU is its instance and
 * index. One GPU may be there under several sets: the same samples once more with fewer dimensions
 * (aggregation_dimensions), before and after its host got another name, by the agent and by
 * Container Insights. Sets with other names of dimensions get other ranks, of which the lowest that
 * has an hour wins; sets that differ in values alone add up.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "ingest/cloudwatch.h"
#include "ingest/rollup.h"

enum { RANK_MOST = 200 };

static const char *
dimension(const json_t *dimensions, const char *name)
{
    const char *value = json_string_value(json_object_get(dimensions, name));

    return value && *value ? value : NULL;
}

/* "nvidia0" of Container Insights is index 0 of the agent. */
static const char *
index_of(const json_t *dimensions, bool is_insights)
{
    const char *index = dimension(dimensions, is_insights ? "GpuDevice" : "index");
    const char *number = index && !strncmp(index, "nvidia", 6) ? index + 6 : NULL;

    return is_insights && number && *number && strspn(number, "0123456789") == strlen(number) ? number : index;
}

static int
order_of(const char *name)
{
    for (int i = 0; cloudwatch_metrics[i].metric.name; i++)
        if (!strcmp(cloudwatch_metrics[i].metric.name, name))
            return i;
    return -1;
}

static int
namespace_order(const struct cloudwatch *cloudwatch, const char *namespace)
{
    int order = 0;

    while (cloudwatch->namespaces[order] && strcmp(cloudwatch->namespaces[order], namespace) != 0)
        order++;
    return cloudwatch->namespaces[order] ? order : -1;
}

static int
compare_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The names of the dimensions, in order. */
static const char *
names_of(json_t *dimensions, struct arena *arena)
{
    const char **names = arena_alloc(arena, (json_object_size(dimensions) + 1) * sizeof *names);
    struct buf text = {0};
    size_t count = 0;

    for (void *at = json_object_iter(dimensions); at; at = json_object_iter_next(dimensions, at))
        names[count++] = json_object_iter_key(at);
    qsort(names, count, sizeof *names, compare_text);
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%s", i ? "," : "", names[i]);
    names[0] = arena_strdup(arena, text.data ? text.data : "");
    buf_free(&text);
    return names[0];
}

static void
name_gpu(struct cloudwatch_series *series, struct arena *arena, bool is_insights)
{
    series->instance_id = arena_strdup(arena, dimension(series->dimensions, "InstanceId"));
    series->host = arena_strdup(arena, dimension(series->dimensions, is_insights ? "NodeName" : "host"));
    series->index = arena_strdup(arena, index_of(series->dimensions, is_insights));
    series->model = arena_strdup(arena, is_insights ? NULL : dimension(series->dimensions, "name"));
}

void
cloudwatch_plan_add(struct cloudwatch_plan *plan, struct cloudwatch *cloudwatch, const char *namespace,
                    const char *metric, json_t *dimensions, int64_t last_listed)
{
    struct arena *arena = cloudwatch->run->arena;
    int order = order_of(metric), place = namespace_order(cloudwatch, namespace);
    struct cloudwatch_series series = {.dimensions = dimensions, .last_listed = last_listed, .order = order};
    char *text;

    if (order < 0 || place < 0)
        return;
    name_gpu(&series, arena, cloudwatch_metrics[order].is_insights);
    if (!series.index || (!series.instance_id && !series.host)) {
        plan->nameless++;
        return;
    }
    series.metric = cloudwatch_metrics[order].metric;
    series.namespace = cloudwatch->namespaces[place];
    series.namespace_order = place;
    series.uuid = arena_printf(arena, "%s/%s", series.instance_id ? series.instance_id : series.host, series.index);
    series.bucket = rollup_bucket(series.uuid);
    text = json_dumps(dimensions, JSON_COMPACT | JSON_SORT_KEYS);
    series.text = arena_strdup(arena, text ? text : "");
    free(text);
    if (plan->count == plan->room) {
        plan->room = plan->room ? plan->room * 2 : 64;
        plan->series = mem_resize(plan->series, plan->room, sizeof *plan->series);
    }
    series.names = names_of(dimensions, arena);
    json_incref(dimensions);
    plan->series[plan->count++] = series;
}

/* ---------------------------------------------------------------- order */

static int
compare_names(const struct cloudwatch_series *a, const struct cloudwatch_series *b)
{
    size_t left = json_object_size(a->dimensions), right = json_object_size(b->dimensions);

    if (left != right)
        return left > right ? -1 : 1; /* who says more comes first */
    return strcmp(a->names, b->names);
}

/* Two series of one signal of a GPU that measure the same in the same way. */
static int
compare_kind(const struct cloudwatch_series *a, const struct cloudwatch_series *b)
{
    int order = a->order - b->order;

    order = order ? order : a->namespace_order - b->namespace_order;
    return order ? order : compare_names(a, b);
}

static int
compare_series(const void *left, const void *right)
{
    const struct cloudwatch_series *a = left, *b = right;
    int order = (int)a->bucket - (int)b->bucket;

    order = order ? order : strcmp(a->uuid, b->uuid);
    order = order ? order : (int)a->metric.signal - (int)b->metric.signal;
    order = order ? order : compare_kind(a, b);
    return order ? order : strcmp(a->text, b->text);
}

static bool
is_same_gpu(const struct cloudwatch_series *a, const struct cloudwatch_series *b)
{
    return !strcmp(a->uuid, b->uuid);
}

/* ---------------------------------------------------------------- sets without an instance */

/* "HOST/INDEX" of every set that also says the instance. */
static const char **
known_places(const struct cloudwatch_plan *plan, struct arena *arena, size_t *ret_count)
{
    const char **place = arena_alloc(arena, (plan->count + 1) * sizeof *place);
    size_t count = 0;

    for (size_t i = 0; i < plan->count; i++)
        if (plan->series[i].instance_id && plan->series[i].host)
            place[count++] = arena_printf(arena, "%s/%s", plan->series[i].host, plan->series[i].index);
    qsort(place, count, sizeof *place, compare_text);
    *ret_count = count;
    return place;
}

/* What a host alone says is left out where another set of that host and index says the instance too:
 * it would be the same GPU a second time. */
static void
drop_repeats(struct cloudwatch_plan *plan, struct arena *arena)
{
    size_t places, kept = 0;
    const char **place = known_places(plan, arena, &places);

    for (size_t i = 0; i < plan->count; i++) {
        struct cloudwatch_series series = plan->series[i];

        if (!series.instance_id && bsearch(&series.uuid, place, places, sizeof *place, compare_text)) {
            json_decref(series.dimensions);
            continue;
        }
        plan->series[kept++] = series;
    }
    plan->count = kept;
}

/* ---------------------------------------------------------------- ranks and names */

/* All sets of a GPU get one host and model, so that they are one identity. */
static void
rank_group(struct cloudwatch_series *series, size_t count)
{
    const char *host = NULL, *model = NULL;
    int rank = 0;

    for (size_t i = 0; i < count; i++) {
        if (i && series[i].metric.signal != series[i - 1].metric.signal)
            rank = 0;
        else if (i && compare_kind(&series[i - 1], &series[i]) != 0 && rank < RANK_MOST)
            rank++;
        series[i].metric.rank = rank;
        host = host ? host : series[i].host;
        model = model ? model : series[i].model;
    }
    for (size_t i = 0; i < count; i++) {
        series[i].host = host;
        series[i].model = model;
    }
}

void
cloudwatch_plan_finish(struct cloudwatch_plan *plan, struct arena *arena)
{
    size_t first = 0;

    drop_repeats(plan, arena);
    if (plan->count)
        qsort(plan->series, plan->count, sizeof *plan->series, compare_series);
    for (size_t i = 1; i <= plan->count; i++) {
        if (i < plan->count && is_same_gpu(&plan->series[first], &plan->series[i]))
            continue;
        rank_group(plan->series + first, i - first);
        plan->gpus++;
        first = i;
    }
}

void
cloudwatch_plan_close(struct cloudwatch_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        json_decref(plan->series[i].dimensions);
    mem_free(plan->series);
    *plan = (struct cloudwatch_plan){0};
}
