/* For doctor: whether Datadog lets us in, and which signals it has at the end of the window. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "common/calendar.h"
#include "ingest/datadog.h"

struct look {
    size_t gpus, nameless;
};

static bool
count_series(void *context, const struct datadog_series *series, struct error *err)
{
    struct look *look = context;
    struct label labels[DATADOG_LABELS];
    struct arena arena = {0};
    size_t count = datadog_labels(series->tags, &arena, labels);
    bool has_uuid = count && !strcmp(labels[0].name, "uuid"), has_value = false;

    (void)err;
    for (size_t i = 0; i < series->count; i++)
        has_value = has_value || !isnan(series->value[i]);
    look->gpus += has_value && has_uuid;
    look->nameless += has_value && !has_uuid;
    arena_free(&arena);
    return true;
}

/* A signal's first query over the last day. */
static bool
look_at(struct datadog *datadog, const struct datadog_query *query, int64_t end, struct look *look, struct error *err)
{
    *look = (struct look){0};
    return datadog_ask(datadog, query, end - DAY_SECONDS, end, count_series, look, err);
}

static bool
say(struct datadog *datadog, int64_t end, struct buf *finding, struct error *err)
{
    enum signal said = SIGNAL_COUNT;
    bool has_util = false, has_nameless = false;
    char day[CALENDAR_TEXT];

    date_format(end - HOUR_SECONDS, day);
    buf_printf(finding, "%s has on %s", datadog->url, day);
    for (const struct datadog_query *query = datadog_queries; query->metric.name; query++) {
        struct look look;

        if (query->metric.signal == said)
            continue;
        if (!look_at(datadog, query, end, &look, err))
            return false;
        buf_printf(finding, "%s %s of %zu GPUs", said == SIGNAL_COUNT ? "" : ",", signal_name(query->metric.signal), look.gpus);
        has_util = has_util || (query->metric.signal == SIGNAL_UTIL && look.gpus);
        has_nameless = has_nameless || look.nameless;
        said = query->metric.signal;
    }
    if (!has_util)
        buf_puts(finding, "; without util nothing tells idle from busy");
    if (has_nameless)
        buf_puts(finding, "; some series have neither a tag uuid nor host and gpu and will be refused");
    buf_puts(finding, "; SM activity is not in Datadog's DCGM integration, so effective GPU-hours stay unknown");
    return true;
}

bool
datadog_examine(struct source_run *run, struct buf *finding, struct error *err)
{
    int64_t now = run->settings->now - run->settings->now % HOUR_SECONDS, end = run->settings->window.to;
    struct datadog datadog;
    bool is_good;

    if (!datadog_connect(&datadog, run, err))
        return false;
    end -= end % HOUR_SECONDS;
    is_good = say(&datadog, end < now ? end : now, finding, err);
    datadog_disconnect(&datadog);
    return is_good;
}
