/*
 * Datadog's DCGM integration, by POST /api/v2/query/timeseries: hours as sums, counts and maxima
 * grouped by the tags that make an identity.
 *
 * A bucket stands under its beginning: the value at T is of [T, T + 1 h). The sum over all series of
 * a GPU divided by their count is its mean, however many pods shared the hour; an average of
 * averages would not be. fill(null) keeps Datadog from inventing values in gaps.
 */
#ifndef INGEST_DATADOG_H
#define INGEST_DATADOG_H

#include <jansson.h>

#include "common/http.h"
#include "ingest/signals.h"
#include "ingest/source.h"

struct datadog {
    struct source_run *run;
    struct http *http;
    const char *where; /* "[telemetry fleet]", for hints */
    const char *url;   /* …/api/v2/query/timeseries */
    const char *filter; /* "*", or the tags of the section */
    const char *header[3]; /* the keys; NULL-ended */
};

struct datadog_query {
    struct metric metric;
    enum statistic statistic;
    const char *space, *time; /* aggregators: between series, and in an hour */
};
extern const struct datadog_query datadog_queries[]; /* counts before sums; NULL-ended by metric name */

enum { DATADOG_TAGS = 7 };
extern const char *const datadog_tags[DATADOG_TAGS + 1]; /* what queries group by; NULL-ended */

bool datadog_connect(struct datadog *datadog, struct source_run *run, struct error *err) MUST_CHECK;
void datadog_disconnect(struct datadog *datadog);

/* One series of an answer: value[i], NaN where there is none, is of the hour that begins at time[i]. */
struct datadog_series {
    const json_t *tags; /* ["host:…", …] */
    const int64_t *time;
    const double *value;
    size_t count;
};
typedef bool datadog_take(void *context, const struct datadog_series *series, struct error *err);
/* Whole hours [from, to) of a query; what is too much for one answer, or comes in wider steps, is asked
 * for in halves. */
bool datadog_ask(struct datadog *datadog, const struct datadog_query *query, int64_t from, int64_t to,
                 datadog_take *take, void *context, struct error *err) MUST_CHECK;
/* The text of an answer; *ret_is_wider: it is in steps of more than an hour, and nothing was taken. */
bool datadog_answer(const char *text, size_t size, int64_t from, int64_t to, datadog_take *take, void *context,
                    bool *ret_is_wider, struct error *err) MUST_CHECK;

/* Labels of an identity from the tags of a series; texts in arena. */
enum { DATADOG_LABELS = DATADOG_TAGS + 1 };
size_t datadog_labels(const json_t *tags, struct arena *arena, struct label labels[DATADOG_LABELS]);

bool datadog_live(struct source_run *run, struct error *err) MUST_CHECK;
bool datadog_examine(struct source_run *run, struct buf *finding, struct error *err) MUST_CHECK;

#endif
