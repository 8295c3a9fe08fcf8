#include <config.h>

#include "ingest/prometheus_query.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "common/log.h"

enum { PARALLEL = 3, PARALLEL_MOST = 8, NAMES_LIMIT_BYTES = 4 * 1024 * 1024 };

bool
prometheus_connect(struct prometheus_server *server, struct source_run *run, struct error *err)
{
    const char *url = section_get(run->section, "url");
    size_t size = strlen(url);
    long parallel = PARALLEL;

    memset(server, 0, sizeof(*server));
    server->run = run;
    if (!section_int(run->section, "parallel", 1, PARALLEL_MOST, &parallel, err)) {
        return false;
    }
    server->parallel = (int)parallel;
    while (size && url[size - 1] == '/') {
        size--;
    }
    server->url = arena_strndup(run->arena, url, size);
    server->range_url = arena_printf(run->arena, "%s/api/v1/query_range", server->url);
    return http_open(&server->http, run->settings, run->section, err);
}

void
prometheus_disconnect(struct prometheus_server *server)
{
    http_close(server->http);
    server->http = NULL;
}

/* "data" of an answer that is an array of strings; the caller lets go of *ret_root. */
static bool
parse_names(const struct http_reply *reply, const char *url, json_t **ret_root,
            const json_t **ret_names, struct error *err)
{
    json_error_t reason;
    json_t *root =
        json_loadb(reply->body.data ? reply->body.data : "", reply->body.size, 0, &reason);
    const json_t *names = root ? json_object_get(root, "data") : NULL;

    if (!json_is_array(names)) {
        json_decref(root);
        error_set(err, ERR_NET, "GET %s: the answer is no list of names", url);
        error_detail(err, "content type %s",
                     reply->content_type[0] ? reply->content_type : "unknown");
        return error_hint(err, "Check url: it must be where /api/v1/query_range can be asked, "
                               "without a login page before it.");
    }
    *ret_root = root;
    *ret_names = names;
    return true;
}

/* Names or labels of our metrics in [from, to). */
static bool
ask_names(struct prometheus_server *server, const char *what, int64_t from, int64_t to,
          json_t **ret_root, const json_t **ret_names, struct error *err)
{
    struct arena *arena = server->run->arena;
    struct buf match = {0};
    struct http_reply reply;
    struct http_request request = {.method = "GET", .limit_bytes = NAMES_LIMIT_BYTES};
    bool good;

    for (const struct metric *metric = signal_metrics; metric->name; metric++) {
        buf_printf(&match, "%s%s", match.size ? "|" : "{__name__=~\"", metric->name);
    }
    buf_puts(&match, "\"}");
    request.url = arena_printf(arena, "%s/api/v1/%s?match[]=%s&start=%" PRId64 "&end=%" PRId64,
                               server->url, what, http_escape(arena, match.data), from, to);
    buf_free(&match);
    good = http_send(server->http, &request, &reply, err) &&
           parse_names(&reply, arena_printf(arena, "%s/api/v1/%s", server->url, what), ret_root,
                       ret_names, err);
    buf_free(&reply.body);
    return good;
}

static bool
has_name(const json_t *names, const char *name)
{
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *found = json_string_value(json_array_get(names, i));

        if (found && strcmp(found, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Labels of an identity that occur: "UUID, Hostname, …". */
static bool
find_labels(struct prometheus_server *server, int64_t from, int64_t to, const char **ret_labels,
            struct error *err)
{
    struct buf labels = {0};
    const json_t *names;
    json_t *root;

    if (!ask_names(server, "labels", from, to, &root, &names, err)) {
        return false;
    }
    for (const char *const *label = signal_labels; *label; label++) {
        if (has_name(names, *label)) {
            buf_printf(&labels, "%s%s", labels.size ? ", " : "", *label);
        }
    }
    *ret_labels = arena_strdup(server->run->arena, labels.size ? labels.data : "UUID");
    buf_free(&labels);
    json_decref(root);
    return true;
}

static void
add_query(struct prometheus_server *server, const struct metric *metric, enum statistic statistic,
          int stage, const char *labels, const char *selector)
{
    static const char *const outer[STATISTIC_COUNT_OF] = {
        [STATISTIC_COUNT] = "sum",
        [STATISTIC_SUM] = "sum",
        [STATISTIC_AVG] = "avg",
        [STATISTIC_MAX] = "max",
        [STATISTIC_INCREASE] = "sum",
        [STATISTIC_CHANGES] = "sum",
    };
    static const char *const inner[STATISTIC_COUNT_OF] = {
        [STATISTIC_COUNT] = "count_over_time",
        [STATISTIC_SUM] = "sum_over_time",
        [STATISTIC_AVG] = "avg_over_time",
        [STATISTIC_MAX] = "max_over_time",
        [STATISTIC_INCREASE] = "increase",
        [STATISTIC_CHANGES] = "changes",
    };
    struct prometheus_query *query = &server->queries[server->query_count++];

    query->metric = *metric;
    query->statistic = statistic;
    query->stage = stage;
    query->promql =
        arena_printf(server->run->arena, "%s by (%s) (%s(%s%s[1h]))", outer[statistic],
                     labels, inner[statistic], metric->name, selector);
}

/* Counts before what needs them, maxima (which tell percent from ratio) before sums. */
static void
add_metric(struct prometheus_server *server, const struct metric *metric, const char *labels,
           bool has_driver_util)
{
    /* Where the driver tells utilization, engine activity is asked of MIG slices only. */
    const char *selector = metric->is_engine && has_driver_util ? "{GPU_I_ID!=\"\"}" : "";

    if (signal_is_summed(metric->signal)) {
        add_query(server, metric, STATISTIC_COUNT, 0, labels, selector);
        add_query(server, metric, STATISTIC_MAX, 1, labels, selector);
        add_query(server, metric, STATISTIC_SUM, 2, labels, selector);
    } else {
        add_query(server, metric, signal_statistic(metric->signal, metric->scale), 1, labels, selector);
    }
}

static bool
make_queries(struct prometheus_server *server, const json_t *names, const char *labels,
             struct error *err)
{
    bool has_driver_util = false;
    size_t known = 0;

    for (const struct metric *metric = signal_metrics; metric->name; metric++, known++) {
        if (has_name(names, metric->name) && metric->signal == SIGNAL_UTIL && !metric->is_engine) {
            has_driver_util = true;
        }
    }
    server->queries = arena_alloc(server->run->arena, 3 * known * sizeof(*server->queries));
    for (const struct metric *metric = signal_metrics; metric->name; metric++) {
        if (has_name(names, metric->name)) {
            log_info("%s has %s", server->url, metric->name);
            add_metric(server, metric, labels, has_driver_util);
        }
    }
    if (!server->query_count) {
        error_set(err, ERR_INPUT, "%s has no metrics of GPUs in this window", server->url);
        return error_hint(err,
                          "Looked for %s, %s and %zu others: is dcgm-exporter scraped, and are url "
                          "and org-id right?",
                          signal_metrics[0].name, "DCGM_FI_PROF_SM_ACTIVE", known - 2);
    }
    return true;
}

bool
prometheus_discover(struct prometheus_server *server, int64_t from, int64_t to, struct error *err)
{
    const json_t *names;
    const char *labels;
    json_t *root;
    bool good;

    if (!ask_names(server, "label/__name__/values", from, to, &root, &names, err)) {
        return false;
    }
    good = find_labels(server, from, to, &labels, err) && make_queries(server, names, labels, err);
    json_decref(root);
    return good;
}
