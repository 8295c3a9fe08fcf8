/* What CloudWatch lists of GPUs, page by page. */
#include <config.h>

#include <string.h>

#include "ingest/cloudwatch.h"

enum { PAGES_MOST = 20000 };

/* Percent, MiB and W of the agent; Container Insights tells memory in bytes. Node level only: rows of
 * pods and containers vanish while nobody holds the GPU. Neither has SM activity. */
const struct cloudwatch_metric cloudwatch_metrics[] = {
    {{"nvidia_smi_utilization_gpu", SIGNAL_UTIL, SCALE_ONE, 0, false}, false},
    {{"nvidia_smi_memory_used", SIGNAL_MEMORY, SCALE_ONE, 0, false}, false},
    {{"nvidia_smi_memory_total", SIGNAL_MEMORY_TOTAL, SCALE_ONE, 0, false}, false},
    {{"nvidia_smi_power_draw", SIGNAL_POWER, SCALE_ONE, 0, false}, false},
    {{"nvidia_smi_temperature_gpu", SIGNAL_TEMPERATURE, SCALE_ONE, 0, false}, false},
    {{"node_gpu_utilization", SIGNAL_UTIL, SCALE_ONE, 0, false}, true},
    {{"node_gpu_memory_used", SIGNAL_MEMORY, SCALE_BYTES, 0, false}, true},
    {{"node_gpu_memory_total", SIGNAL_MEMORY_TOTAL, SCALE_BYTES, 0, false}, true},
    {{"node_gpu_power_draw", SIGNAL_POWER, SCALE_ONE, 0, false}, true},
    {{"node_gpu_temperature", SIGNAL_TEMPERATURE, SCALE_ONE, 0, false}, true},
    {{"node_gpu_tensor_core_utilization", SIGNAL_TENSOR, SCALE_ONE, 0, false}, true},
    {{NULL, SIGNAL_UTIL, SCALE_ONE, 0, false}, false},
};

/* [{Name, Value}, …] as one object; NULL where it is not that. */
static json_t *
dimensions_of(const json_t *listed)
{
    json_t *dimensions = json_object();
    const json_t *one;
    size_t i;

    if (!json_is_array(listed)) {
        json_decref(dimensions);
        return NULL;
    }
    json_array_foreach(listed, i, one) {
        const char *name = json_string_value(json_object_get(one, "Name"));
        json_t *value = json_object_get(one, "Value");

        if (!name || !json_is_string(value) || json_object_get(dimensions, name)) {
            json_decref(dimensions);
            return NULL;
        }
        json_object_set(dimensions, name, value);
    }
    return dimensions;
}

/* A page in our own form; what was not asked for is left out. */
static bool
take_page(struct cloudwatch *cloudwatch, const json_t *answer, const char *namespace, const char *metric,
          cloudwatch_page *page, void *context, struct error *err)
{
    const json_t *listed = json_object_get(answer, "Metrics"), *one;
    json_t *metrics;
    bool is_good = true;
    size_t i;

    if (!json_is_array(listed))
        return cloudwatch_fail_answer(cloudwatch, "ListMetrics: the answer has no list Metrics", err);
    metrics = json_array();
    json_array_foreach(listed, i, one) {
        const char *its_namespace = json_string_value(json_object_get(one, "Namespace"));
        const char *its_metric = json_string_value(json_object_get(one, "MetricName"));
        json_t *dimensions = dimensions_of(json_object_get(one, "Dimensions"));

        if (!dimensions)
            is_good = cloudwatch_fail_answer(cloudwatch, "ListMetrics: Dimensions are no names and values", err);
        else if (its_namespace && its_metric && !strcmp(its_namespace, namespace) && !strcmp(its_metric, metric))
            json_array_append_new(metrics, json_pack("{s:s, s:s, s:O}", "namespace", namespace, "metric", metric,
                                                     "dimensions", dimensions));
        json_decref(dimensions);
        if (!is_good)
            break;
    }
    is_good = is_good && (!json_array_size(metrics) || page(context, metrics, err));
    json_decref(metrics);
    return is_good;
}

/* One page; *token is that of the next one, NULL at the end. */
static bool
ask_page(struct cloudwatch *cloudwatch, const char *namespace, const char *metric, json_t **token, bool *ret_is_stale,
         cloudwatch_page *page, void *context, struct error *err)
{
    json_t *body = json_pack("{s:s, s:s}", "Namespace", namespace, "MetricName", metric), *answer = NULL, *next;
    bool is_good;

    if (*token)
        json_object_set(body, "NextToken", *token);
    is_good = cloudwatch_call(cloudwatch, "ListMetrics", body, ret_is_stale, &answer, err);
    json_decref(body);
    if (!is_good || *ret_is_stale)
        return is_good;
    is_good = take_page(cloudwatch, answer, namespace, metric, page, context, err);
    next = json_object_get(answer, "NextToken");
    next = json_is_string(next) && *json_string_value(next) ? json_incref(next) : NULL;
    json_decref(answer);
    if (is_good && next && *token && json_equal(next, *token))
        is_good = cloudwatch_fail_answer(cloudwatch, "ListMetrics: the pages go round in circles", err);
    json_decref(*token);
    *token = next;
    return is_good;
}

/* A token that has become stale begins the list anew: what comes twice is noted once. */
static bool
list_metric(struct cloudwatch *cloudwatch, const char *namespace, const char *metric, cloudwatch_page *page,
            void *context, struct error *err)
{
    json_t *token = NULL;
    int pages = 0, restarts = 0;
    bool is_good;

    do {
        bool is_stale = false;

        is_good = interrupt_check(err)
            && ask_page(cloudwatch, namespace, metric, &token, &is_stale, page, context, err);
        if (is_good && is_stale) {
            json_decref(token);
            token = NULL;
            if (restarts++ < 3)
                continue;
            is_good = cloudwatch_fail_answer(cloudwatch, "ListMetrics: every page token is refused", err);
        }
        if (is_good && ++pages > PAGES_MOST)
            is_good = cloudwatch_fail_answer(cloudwatch, "ListMetrics: the pages do not come to an end", err);
        if (!token)
            break;
    } while (is_good);
    json_decref(token);
    return is_good;
}

bool
cloudwatch_list(struct cloudwatch *cloudwatch, cloudwatch_page *page, void *context, struct error *err)
{
    for (const char *const *namespace = cloudwatch->namespaces; *namespace; namespace++)
        for (const struct cloudwatch_metric *metric = cloudwatch_metrics; metric->metric.name; metric++)
            if (!list_metric(cloudwatch, *namespace, metric->metric.name, page, context, err))
                return false;
    return true;
}
