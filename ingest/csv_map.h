/*
 * The map of a bill with `format = csv`: which column of the file is what, what is the same in every
 * row, and how numbers and times are written. A section says it all:
 *
 *     column.from = Start        column.quantity = Hours     column.cost = Amount
 *     provider = runpod          currency = USD              unit = hours
 *
 * csv_map.c reads the section, csv_value.c reads cells by it, source_csv.c makes a bill of them.
 */
#ifndef INGEST_CSV_MAP_H
#define INGEST_CSV_MAP_H

#include "ingest/billing.h"
#include "ingest/rate_card.h"
#include "ingest/time_zone.h"

/* What a column can be. */
enum csv_column {
    CSV_FROM, CSV_TO, CSV_DURATION, CSV_QUANTITY, CSV_COST, CSV_EFFECTIVE, CSV_LIST, CSV_PERIOD,
    CSV_PROVIDER, CSV_SERVICE, CSV_CURRENCY, CSV_CATEGORY, CSV_GPU_TYPE, CSV_INSTANCE_TYPE, CSV_GPUS, CSV_SKU, CSV_UNIT,
    CSV_PRICING, CSV_COMMITMENT, CSV_REGION,
    CSV_ZONE, CSV_ACCOUNT, CSV_ACCOUNT_NAME, CSV_RESOURCE, CSV_RESOURCE_NAME, CSV_DESCRIPTION, CSV_INVOICE, CSV_TAGS,
    CSV_COLUMNS
};

enum { CSV_TAGS_MOST = BILL_COLUMNS - CSV_COLUMNS };

enum csv_span { SPAN_NONE, SPAN_HOUR, SPAN_DAY, SPAN_MONTH };

struct csv_map {
    const char *column[CSV_COLUMNS];      /* name in the file; NULL: not mapped */
    struct field constant[CSV_COLUMNS];   /* of every row in which the column says nothing */
    const char *tag[CSV_TAGS_MOST], *tag_column[CSV_TAGS_MOST];
    size_t tag_count;
    int unit_seconds, duration_seconds;   /* of quantity (0: column.unit says), of duration */
    bool unit_is_gpu_time, unit_is_milli, duration_is_milli;
    char decimal, thousands, delimiter;   /* thousands: '\0' none; ' ' any blank */
    enum csv_span span;                   /* how long a row is that has no end */
    const char *time_format;              /* NULL: ISO 8601 */
    const struct time_zone *zone;         /* NULL: UTC */
    const struct rate_card *rates;        /* NULL: none */
    char rates_sha256[65];
};

/* What csv_charge must know of a class: bill_class.own. */
struct csv_class {
    const struct rate_choice *rates; /* NULL: none */
    bool by_duration, by_times;      /* there is no quantity: the row's time is one */
    bool is_milli;
};

extern const char *const csv_map_keys[]; /* of the section, "path" first, NULL-ended; one that ends in '.' begins others */

bool csv_map_read(struct source_run *run, struct csv_map *ret_map, struct error *err) MUST_CHECK;

/* ---- cells (csv_value.c) */

/* "1.234,50" -> "1234.50", "$ (12)" -> "-12", as the map writes numbers; false when it is none. */
bool csv_number(const struct csv_map *map, struct arena *arena, struct field text, struct field *ret_number);
/* Clock time as written, as if it were UTC; *ret_is_utc when the text itself names its offset. */
bool csv_time(const struct csv_map *map, struct field text, int64_t *ret_local, bool *ret_is_utc);
/* A format of %Y %y %m %b %d %H %I %M %S %f %p %z %%, or unix or unix-ms; other characters stand for
 * themselves. Strict to the end of the text. */
bool csv_time_parse(const char *format, struct field text, int64_t *ret_time, bool *ret_is_utc);

/* ---- rows (csv_charge.c): period_start and charge of the format */

const char *csv_period_start(struct bill_context *context, const struct field *cell, int64_t *ret_time);
const char *csv_charge(struct bill_context *context, const struct bill_class *class, const struct field *cell,
                       struct bill_charge *ret_charge);

#endif
