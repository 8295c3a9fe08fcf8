/*
 * GPUs in CloudWatch, from its agent (namespace CWAgent, nvidia_smi_…) and from Container Insights
 * (node_gpu_…): what is listed, which GPU a set of dimensions is, hours by GetMetricData.
 *
 * JSON protocol 1.0: POST / with X-Amz-Target, Signature Version 4 for the service "monitoring".
 * An hour stands under its beginning: a value at T is of [T, T + 1 h).
 */
#ifndef INGEST_CLOUDWATCH_H
#define INGEST_CLOUDWATCH_H

#include <jansson.h>

#include "common/http.h"
#include "common/s3.h"
#include "ingest/signals.h"
#include "ingest/source.h"

enum { CLOUDWATCH_NAMESPACES = 16, CLOUDWATCH_STATISTICS = 3 };

struct cloudwatch {
    struct source_run *run;
    struct http *http;
    const char *where; /* "[telemetry fleet]", for hints */
    const char *region, *host, *path, *url;
    const char *namespaces[CLOUDWATCH_NAMESPACES + 1]; /* NULL-ended */
    struct s3_credentials credentials;
};

bool cloudwatch_connect(struct cloudwatch *cloudwatch, struct source_run *run, struct error *err) MUST_CHECK;
void cloudwatch_disconnect(struct cloudwatch *cloudwatch);
/* One call of an action ("ListMetrics"), with patience for throttling. *ret_answer is the caller's
 * (json_decref). *ret_is_stale, where it is not NULL: the page token was refused, and there is no answer. */
bool cloudwatch_call(struct cloudwatch *cloudwatch, const char *action, json_t *body, bool *ret_is_stale,
                     json_t **ret_answer, struct error *err) MUST_CHECK;
bool cloudwatch_fail_answer(const struct cloudwatch *cloudwatch, const char *what, struct error *err);

/* What the metrics are that somebody measures with; NULL-ended by name. */
struct cloudwatch_metric {
    struct metric metric;
    bool is_insights; /* of Container Insights */
};
extern const struct cloudwatch_metric cloudwatch_metrics[];

/* Lists every metric of ours. `page` gets [{namespace, metric, dimensions}, …] of each page. */
typedef bool cloudwatch_page(void *context, json_t *metrics, struct error *err);
bool cloudwatch_list(struct cloudwatch *cloudwatch, cloudwatch_page *page, void *context, struct error *err) MUST_CHECK;

/* A set of dimensions that is one GPU, and what is asked of it. */
struct cloudwatch_series {
    struct metric metric; /* with the rank it has among the sets of its GPU */
    const char *namespace;
    json_t *dimensions;
    const char *text;     /* the same, in a fixed order */
    const char *names;    /* their names alone */
    const char *uuid;     /* INSTANCE/INDEX, or HOST/INDEX: the agent tells no UUID */
    const char *instance_id, *host, *index, *model; /* NULL: unknown */
    int64_t last_listed;
    unsigned bucket;
    int order;            /* of its metric in cloudwatch_metrics */
    int namespace_order;
};

struct cloudwatch_plan {
    struct cloudwatch_series *series; /* by bucket, GPU and signal */
    size_t count, room;
    size_t gpus, nameless; /* sets that name no GPU */
};

/* A metric that was listed into the plan; what names no single GPU is only counted. */
void cloudwatch_plan_add(struct cloudwatch_plan *plan, struct cloudwatch *cloudwatch, const char *namespace,
                         const char *metric, json_t *dimensions, int64_t last_listed);
/* Once all are there: order, ranks, sets that say less than others of the same GPU. */
void cloudwatch_plan_finish(struct cloudwatch_plan *plan, struct arena *arena);
void cloudwatch_plan_close(struct cloudwatch_plan *plan);

/* Hours of one statistic of one series. */
struct cloudwatch_hours {
    int64_t *time;
    double *value;
    size_t count, room;
    bool is_complete, is_forbidden;
};
struct cloudwatch_query {
    const struct cloudwatch_series *series;
    enum statistic statistic;
    struct cloudwatch_hours hours;
};
/* How many queries one call may hold for so many hours. */
size_t cloudwatch_batch_room(int64_t hours);
/* Fills the queries; those left incomplete after some tries say so. */
bool cloudwatch_ask(struct cloudwatch *cloudwatch, struct cloudwatch_query *queries, size_t count, int64_t from,
                    int64_t to, struct error *err) MUST_CHECK;
void cloudwatch_hours_free(struct cloudwatch_query *queries, size_t count);

bool cloudwatch_live(struct source_run *run, struct error *err) MUST_CHECK;
bool cloudwatch_examine(struct source_run *run, struct buf *finding, struct error *err) MUST_CHECK;

#endif
