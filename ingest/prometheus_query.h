/*
 * What is asked of a live server: which metrics exist, and the queries of a day. Queries group by
 * the labels that make an identity, so that everything else merges in the server.
 */
#ifndef INGEST_PROMETHEUS_QUERY_H
#define INGEST_PROMETHEUS_QUERY_H

#include "common/http.h"
#include "ingest/signals.h"
#include "ingest/source.h"

struct prometheus_query {
    struct metric metric;
    enum statistic statistic;
    int stage; /* answers of a stage are taken before the next is asked */
    const char *promql;
};

enum { PROMETHEUS_STAGES = 3 };

struct prometheus_server {
    struct source_run *run;
    struct http *http;
    const char *url;       /* without a slash at its end */
    const char *range_url; /* …/api/v1/query_range */
    struct prometheus_query *queries;
    size_t query_count;
    int parallel;
};

bool prometheus_connect(struct prometheus_server *server, struct source_run *run,
                        struct error *err) MUST_CHECK;
void prometheus_disconnect(struct prometheus_server *server);
/* Finds the metrics that exist in [from, to) and makes the queries. */
bool prometheus_discover(struct prometheus_server *server, int64_t from, int64_t to,
                         struct error *err) MUST_CHECK;

#endif
