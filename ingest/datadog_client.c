/* Calls to Datadog: where it is, its two keys, its rate limits, what its refusals mean. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/calendar.h"
#include "common/log.h"
#include "ingest/datadog.h"

enum { ANSWER_MOST_BYTES = 8 << 20, TRIES_MOST = 6, WAIT_SECONDS = 15, WAIT_MOST_SECONDS = 900, SECOND_MS = 1000 };

/* The integration has no SM activity. */
const struct datadog_query datadog_queries[] = {
    {{"dcgm.gpu_utilization", SIGNAL_UTIL, SCALE_ONE, 0, false}, STATISTIC_COUNT, "sum", "count"},
    {{"dcgm.gpu_utilization", SIGNAL_UTIL, SCALE_ONE, 0, false}, STATISTIC_SUM, "sum", "sum"},
    {{"dcgm.gpu_utilization", SIGNAL_UTIL, SCALE_ONE, 0, false}, STATISTIC_MAX, "max", "max"},
    {{"dcgm.fb_used", SIGNAL_MEMORY, SCALE_ONE, 0, false}, STATISTIC_MAX, "max", "max"},
    {{"dcgm.power_usage", SIGNAL_POWER, SCALE_ONE, 0, false}, STATISTIC_AVG, "avg", "avg"},
    {{"dcgm.temperature", SIGNAL_TEMPERATURE, SCALE_ONE, 0, false}, STATISTIC_MAX, "max", "max"},
    {{NULL, SIGNAL_UTIL, SCALE_ONE, 0, false}, STATISTIC_COUNT, NULL, NULL},
};

const char *const datadog_tags[DATADOG_TAGS + 1]
    = {"host", "hostname", "uuid", "gpu", "modelname", "gpu_i_id", "gpu_i_profile", NULL};

/* ---------------------------------------------------------------- settings */

static bool
read_address(struct datadog *datadog, struct error *err)
{
    struct source_run *run = datadog->run;
    const char *site = section_get(run->section, "site"), *url = section_get(run->section, "url");
    size_t size = url ? strlen(url) : 0;

    if (!site == !url) {
        error_set(err, ERR_CONFIG, "%s: %s has %s", section_origin(run->settings, run->section, site ? "site" : NULL),
                  datadog->where, site ? "both site and url" : "neither site nor url");
        return error_hint(err, "Set site to that of your account, such as datadoghq.eu or us5.datadoghq.com.");
    }
    if (site && (!*site || strspn(site, "abcdefghijklmnopqrstuvwxyz0123456789.-") != strlen(site))) {
        error_set(err, ERR_CONFIG, "%s: site of %s is no site", section_origin(run->settings, run->section, "site"),
                  datadog->where);
        return error_hint(err, "Write it as \"site = datadoghq.eu\", without https:// and app.");
    }
    if (url && !strncmp(url, "http://", 7) && strncmp(url + 7, "127.0.0.1", 9) && strncmp(url + 7, "localhost", 9))
        log_warning("%s sends its keys over http, unencrypted", datadog->where);
    while (size && url[size - 1] == '/')
        size--;
    datadog->url = site ? arena_printf(run->arena, "https://api.%s/api/v2/query/timeseries", site)
                        : arena_printf(run->arena, "%.*s/api/v2/query/timeseries", (int)size, url);
    return true;
}

static bool
read_filter(struct datadog *datadog, struct error *err)
{
    const struct source_run *run = datadog->run;
    const char *tags = section_get(run->section, "tags");

    datadog->filter = tags && *tags ? tags : "*";
    if (!strpbrk(datadog->filter, "{}\"\\\r\n\t"))
        return true;
    error_set(err, ERR_CONFIG, "%s: tags of %s is no list of tags", section_origin(run->settings, run->section, "tags"),
              datadog->where);
    return error_hint(err, "Write it as \"tags = env:prod,cluster:a\", as it stands between the braces of a query.");
}

static bool
read_key(struct datadog *datadog, const char *key, const char *name, const char **ret_header, struct error *err)
{
    struct source_run *run = datadog->run;
    const char *secret = NULL;

    if (!section_secret(run->settings, run->section, key, &secret, err))
        return false;
    if (!secret || !*secret) {
        error_set(err, ERR_CONFIG, "%s: %s has no %s", section_origin(run->settings, run->section, NULL), datadog->where, key);
        return error_hint(err, "Datadog wants two keys: set api-key-file and app-key-file to files that hold them.");
    }
    if (strspn(secret, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != strlen(secret)) {
        error_set(err, ERR_CONFIG, "%s: %s of %s is no key", section_origin(run->settings, run->section, NULL), key,
                  datadog->where);
        return error_hint(err, "A key has letters and digits alone, on one line.");
    }
    *ret_header = arena_printf(run->arena, "%s: %s", name, secret);
    return true;
}

bool
datadog_connect(struct datadog *datadog, struct source_run *run, struct error *err)
{
    *datadog = (struct datadog){.run = run};
    datadog->where = arena_printf(run->arena, "[%s %s]", run->section->kind, run->section->name);
    return read_address(datadog, err) && read_filter(datadog, err)
        && read_key(datadog, "api-key", "DD-API-KEY", &datadog->header[0], err)
        && read_key(datadog, "app-key", "DD-APPLICATION-KEY", &datadog->header[1], err)
        && http_open(&datadog->http, run->settings, run->section, err);
}

void
datadog_disconnect(struct datadog *datadog)
{
    http_close(datadog->http);
    datadog->http = NULL;
}

/* ---------------------------------------------------------------- calls */

static const char *const *
key_headers(void *context)
{
    return ((struct datadog *)context)->header;
}

/* Too large an answer is asked for in halves; a rate limit is waited for here, as long as it says. */
static bool
is_answer(long status, const struct buf *body)
{
    return !body || status == 429;
}

static bool
explain(const struct datadog *datadog, const struct http_reply *reply, struct error *err)
{
    if (err->code != ERR_NET || (reply->status != 401 && reply->status != 403))
        return false;
    error_set(err, ERR_NET, "POST %s: status %ld: the keys of %s may not query", datadog->url, reply->status, datadog->where);
    return error_hint(err, "Check api-key and app-key, and that site is theirs; the application key needs the permission "
                           "timeseries_query.");
}

/* Seconds to wait for the limit: its reset, else its period. */
static bool
wait_for_limit(const struct datadog *datadog, const struct http_reply *reply, int tries, struct error *err)
{
    int64_t seconds = reply->limit_reset >= 0 ? reply->limit_reset : reply->limit_period;
    struct timespec now;

    seconds = seconds >= 0 ? seconds : WAIT_SECONDS;
    if (tries >= TRIES_MOST || seconds > WAIT_MOST_SECONDS) {
        error_set(err, ERR_NET, "POST %s: status 429: the rate limit is used up, and is set anew in %" PRId64 " s",
                  datadog->url, seconds);
        return error_hint(err, "Run the command again later: what is loaded stays.");
    }
    log_note("%s: the rate limit is used up, going on in %" PRId64 " s", datadog->where, seconds);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return interrupt_sleep(seconds * SECOND_MS + now.tv_nsec / 1000000 % 500, err);
}

/* The first try that is not refused for its rate. */
static bool
post(struct datadog *datadog, const char *body, struct http_reply *reply, struct error *err)
{
    const struct http_request request = {
        .method = "POST",
        .url = datadog->url,
        .body = body,
        .content_type = "application/json",
        .limit_bytes = ANSWER_MOST_BYTES,
        .is_answer = is_answer,
        .context = datadog,
        .headers = key_headers,
    };

    for (int tries = 1;; tries++) {
        if (!http_send(datadog->http, &request, reply, err)) {
            explain(datadog, reply, err);
            return false;
        }
        if (reply->status != 429)
            return true;
        if (!wait_for_limit(datadog, reply, tries, err))
            return false;
        buf_free(&reply->body);
    }
}

static char *
query_body(const struct datadog *datadog, const struct datadog_query *query, int64_t from, int64_t to)
{
    struct buf text = {0};
    json_t *body;
    char *dump;

    buf_printf(&text, "%s:%s{%s} by {", query->space, query->metric.name, datadog->filter);
    for (size_t i = 0; datadog_tags[i]; i++)
        buf_printf(&text, "%s%s", i ? "," : "", datadog_tags[i]);
    buf_printf(&text, "}.rollup(%s, %d).fill(null)", query->time, HOUR_SECONDS);
    body = json_pack("{s:{s:s, s:{s:I, s:I, s:I, s:[{s:s, s:s, s:s}], s:[{s:s}]}}}", "data", "type", "timeseries_request",
                     "attributes", "from", (json_int_t)from * SECOND_MS, "to", (json_int_t)to * SECOND_MS - 1, "interval",
                     (json_int_t)HOUR_SECONDS * SECOND_MS, "queries", "data_source", "metrics", "name", "a", "query",
                     text.data, "formulas", "formula", "a");
    buf_free(&text);
    dump = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    return dump;
}

static bool
fail_wider(const struct datadog *datadog, struct error *err)
{
    error_set(err, ERR_NET, "POST %s: the answer is in steps of more than an hour, even for one hour", datadog->url);
    return error_hint(err, "Hours of that time are not kept any more: begin later (--quarter, --days), or ask Datadog for how "
                           "long metrics are kept in %s.",
                      datadog->where);
}

/* One call. *ret_is_too_much: to be asked in halves. */
static bool
ask_once(struct datadog *datadog, const struct datadog_query *query, int64_t from, int64_t to, datadog_take *take,
         void *context, bool *ret_is_too_much, struct error *err)
{
    char *body = query_body(datadog, query, from, to);
    struct http_reply reply = {0};
    bool is_good = body ? post(datadog, body, &reply, err) : error_set(err, ERR_BUG, "a query could not be written");

    free(body);
    *ret_is_too_much = reply.is_too_large;
    if (is_good && !reply.is_too_large) {
        is_good = datadog_answer(reply.body.data ? reply.body.data : "", reply.body.size, from, to, take, context,
                                 ret_is_too_much, err);
        if (!is_good && err->code == ERR_INPUT) {
            err->code = ERR_NET;
            error_context(err, "POST %s", datadog->url);
            error_hint(err, "Check site or url in %s: what answers there is not Datadog's interface v2.", datadog->where);
        }
    }
    buf_free(&reply.body);
    return is_good;
}

bool
datadog_ask(struct datadog *datadog, const struct datadog_query *query, int64_t from, int64_t to, datadog_take *take,
            void *context, struct error *err)
{
    int64_t hours = (to - from) / HOUR_SECONDS, middle = from + hours / 2 * HOUR_SECONDS;
    bool is_too_much = false;

    if (!interrupt_check(err) || !ask_once(datadog, query, from, to, take, context, &is_too_much, err))
        return false;
    if (!is_too_much)
        return true;
    if (hours < 2)
        return fail_wider(datadog, err);
    log_info("%s: asking for %s in halves of %" PRId64 " hours", datadog->where, query->metric.name, hours);
    return datadog_ask(datadog, query, from, middle, take, context, err)
        && datadog_ask(datadog, query, middle, to, take, context, err);
}
