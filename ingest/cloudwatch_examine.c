/* For doctor: whether CloudWatch lets us in, which GPUs it lists, what it will not have. */
#include <config.h>

#include <string.h>

#include "common/calendar.h"
#include "ingest/cloudwatch.h"

struct look {
    struct cloudwatch cloudwatch;
    struct cloudwatch_plan plan;
};

static bool
add_page(void *context, json_t *metrics, struct error *err)
{
    struct look *look = context;
    json_t *one;
    size_t i;

    (void)err;
    json_array_foreach(metrics, i, one)
        cloudwatch_plan_add(&look->plan, &look->cloudwatch, json_string_value(json_object_get(one, "namespace")),
                            json_string_value(json_object_get(one, "metric")), json_object_get(one, "dimensions"), 0);
    return true;
}

/* Who may list may not always read: an hour of one metric is asked for. */
static bool
try_reading(struct look *look, struct error *err)
{
    int64_t end = look->cloudwatch.run->settings->now - look->cloudwatch.run->settings->now % HOUR_SECONDS;
    struct cloudwatch_query query = {.series = look->plan.series, .statistic = STATISTIC_MAX};
    bool is_good;

    if (!look->plan.count)
        return true;
    is_good = cloudwatch_ask(&look->cloudwatch, &query, 1, end - HOUR_SECONDS, end, err);
    if (is_good && query.hours.is_forbidden) {
        is_good = error_set(err, ERR_NET, "POST %s: GetMetricData is forbidden", look->cloudwatch.url);
        error_hint(err, "Give the credentials of %s the right cloudwatch:GetMetricData.", look->cloudwatch.where);
    }
    cloudwatch_hours_free(&query, 1);
    return is_good;
}

static size_t
count_of(const struct cloudwatch_plan *plan, enum signal signal)
{
    size_t count = 0;

    for (size_t i = 0; i < plan->count; i++)
        count += plan->series[i].metric.signal == signal && plan->series[i].metric.rank == 0
            && (!i || strcmp(plan->series[i - 1].uuid, plan->series[i].uuid) != 0
                || plan->series[i - 1].metric.signal != signal);
    return count;
}

static bool
has_instance(const struct cloudwatch_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (!plan->series[i].instance_id)
            return false;
    return true;
}

static void
say(const struct look *look, struct buf *finding)
{
    static const enum signal asked[] = {SIGNAL_UTIL, SIGNAL_MEMORY, SIGNAL_POWER, SIGNAL_TEMPERATURE};
    const struct cloudwatch_plan *plan = &look->plan;

    buf_printf(finding, "%s lists %zu GPUs", look->cloudwatch.host, plan->gpus);
    for (size_t i = 0; plan->gpus && i < sizeof asked / sizeof *asked; i++)
        buf_printf(finding, "%s %s of %zu", i ? "," : ":", signal_name(asked[i]), count_of(plan, asked[i]));
    if (!plan->gpus) {
        buf_puts(finding, "; see that the agent collects nvidia_gpu, and that namespace and region are right");
        return;
    }
    if (!count_of(plan, SIGNAL_UTIL))
        buf_puts(finding, "; without util nothing tells idle from busy");
    buf_puts(finding, "; SM activity is none of its metrics, so effective GPU-hours stay unknown");
    if (!has_instance(plan))
        buf_puts(finding, "; some do not tell their instance: set append_dimensions InstanceId in the agent");
    buf_puts(finding, "; minutes are kept for 15 days only, so idle minutes stay unknown and an hour is known by its mean, "
                      "maximum and count; instances that ended are listed for two weeks: ingest weekly");
}

bool
cloudwatch_examine(struct source_run *run, struct buf *finding, struct error *err)
{
    struct look look = {0};
    bool is_good;

    if (!cloudwatch_connect(&look.cloudwatch, run, err))
        return false;
    is_good = cloudwatch_list(&look.cloudwatch, add_page, &look, err);
    cloudwatch_plan_finish(&look.plan, run->arena);
    is_good = is_good && try_reading(&look, err);
    if (is_good)
        say(&look, finding);
    cloudwatch_plan_close(&look.plan);
    cloudwatch_disconnect(&look.cloudwatch);
    return is_good;
}
