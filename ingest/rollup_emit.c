#include <config.h>

#include "ingest/rollup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/calendar.h"
#include "ingest/rollup_private.h"

enum { RANK_NONE = 1 << 16 };

/* One hour of an identity while its series are added up. */
struct merged {
    bool is_there;
    int rank[SIGNAL_SUMMED]; /* whose metric it is: the lowest rank has the hour */
    bool has_sum[SIGNAL_SUMMED];
    int64_t sum[SIGNAL_SUMMED];
    uint64_t sum_count[SIGNAL_SUMMED]; /* samples behind sum */
    uint64_t seen[SIGNAL_SUMMED];      /* samples, with or without sum */
    float max[SIGNAL_SUMMED];
    int gauge_rank[GAUGE_COUNT];
    double gauge[GAUGE_COUNT], weight[GAUGE_COUNT]; /* weight 0: none yet */
};

static int
compare_text(const char *a, const char *b)
{
    if (!a || !b) {
        return (a != NULL) - (b != NULL);
    }
    return strcmp(a, b);
}

static int
compare_identity(const struct rollup_series *a, const struct rollup_series *b)
{
    int order = 0;

    for (int i = 0; i < IDENTITY_COUNT && order == 0; i++) {
        order = compare_text(a->identity[i], b->identity[i]);
    }
    return order;
}

static int
compare_series(const void *left, const void *right)
{
    const struct rollup_series *a = *(const struct rollup_series *const *)left;
    const struct rollup_series *b = *(const struct rollup_series *const *)right;
    int order = compare_identity(a, b);

    if (order == 0) {
        order = (int)a->rank - (int)b->rank;
    }
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

static void
raise(float *into, float value)
{
    if (!(*into >= value) && !isnan(value)) {
        *into = value;
    }
}

/* Series come by rank, so the first that has the signal decides. */
static void
merge_summed(struct merged *into, const struct rollup_cell *cell, int rank, int signal)
{
    bool has_count = cell->flags & (uint32_t)CELL_COUNT << signal;
    bool has_sum = cell->flags & (uint32_t)CELL_SUM << signal;

    if (!has_count && !has_sum && isnan(cell->max[signal])) {
        return;
    }
    if (into->rank[signal] == RANK_NONE) {
        into->rank[signal] = rank;
    }
    if (into->rank[signal] != rank) {
        return;
    }
    if (has_count) {
        into->seen[signal] += cell->count[signal];
    }
    if (has_sum) {
        into->has_sum[signal] = true;
        into->sum[signal] += cell->sum[signal];
        into->sum_count[signal] += cell->count[has_count ? signal : 1 - signal];
    }
    raise(&into->max[signal], cell->max[signal]);
}

/* Of two names of one signal the lower rank has the hour, as with sums. */
static void
merge_gauge(struct merged *into, int gauge, int rank, double value, double weight)
{
    if (into->weight[gauge] > 0 && into->gauge_rank[gauge] != rank) {
        return;
    }
    into->gauge_rank[gauge] = rank;
    switch (signal_gauge((enum signal)(gauge + SIGNAL_SUMMED))) {
    case GAUGE_MAX:
        into->gauge[gauge] = into->weight[gauge] > 0 ? fmax(into->gauge[gauge], value) : value;
        into->weight[gauge] = 1;
        break;
    case GAUGE_MEAN:
        into->gauge[gauge] += value * weight;
        into->weight[gauge] += weight;
        break;
    default:
        into->gauge[gauge] += value;
        into->weight[gauge] = 1;
        break;
    }
}

static bool
merge_gauges(struct merged *into, const struct rollup_block *block, int hour, int rank, uint32_t count)
{
    bool is_there = false;

    for (int i = 0; i < GAUGE_COUNT; i++) {
        const struct rollup_gauge *gauge = block->gauge[i] ? &block->gauge[i]->hour[hour] : NULL;
        double weight = count ? count : 1;

        if (!gauge || isnan(gauge->value)) {
            continue;
        }
        is_there = true;
        merge_gauge(into, i, rank, (double)gauge->value, gauge->samples ? gauge->samples : weight);
    }
    return is_there;
}

static void
merge_hour(struct merged *into, const struct rollup_block *block, int hour, int rank)
{
    const struct rollup_cell *cell = &block->cell[hour];
    uint32_t count = cell->count[0] > cell->count[1] ? cell->count[0] : cell->count[1];
    bool has_gauge = merge_gauges(into, block, hour, rank, count);

    if (!has_gauge && !cell->flags && isnan(cell->max[0]) && isnan(cell->max[1])) {
        return;
    }
    into->is_there = true;
    merge_summed(into, cell, rank, SIGNAL_UTIL);
    merge_summed(into, cell, rank, SIGNAL_SM);
}

static uint32_t
clamp(uint64_t count)
{
    return count < INT32_MAX ? (uint32_t)count : INT32_MAX;
}

static double
gauge_of(const struct merged *from, int gauge)
{
    bool is_mean = signal_gauge((enum signal)(gauge + SIGNAL_SUMMED)) == GAUGE_MEAN;

    return is_mean ? from->gauge[gauge] / from->weight[gauge] : from->gauge[gauge];
}

static void
to_row(const struct merged *from, int64_t hour, struct rollup_row *row)
{
    uint64_t samples = from->seen[0] > from->seen[1] ? from->seen[0] : from->seen[1];

    *row = (struct rollup_row){
        .hour = hour,
        .has_util = from->has_sum[SIGNAL_UTIL],
        .has_sm = from->has_sum[SIGNAL_SM],
        .util_sum = from->sum[SIGNAL_UTIL],
        .sm_sum = from->sum[SIGNAL_SM],
        .util_samples = clamp(from->sum_count[SIGNAL_UTIL]),
        .sm_samples = clamp(from->sum_count[SIGNAL_SM]),
        .samples = clamp(samples),
        .util_max_pct = from->max[SIGNAL_UTIL],
        .sm_max_pct = from->max[SIGNAL_SM],
    };
    for (int i = 0; i < GAUGE_COUNT; i++) {
        row->gauge[i] = from->weight[i] > 0 ? (float)gauge_of(from, i) : NAN;
    }
}

/* A day of an identity: `count` series that have it under one name. */
static bool
emit_day(const struct rollup *rollup, struct rollup_series *const *group, size_t count, size_t day,
         int series_no, const struct rollup_sink *sink, struct error *err)
{
    struct rollup_row row;

    for (int i = 0; i < DAY_HOURS; i++) {
        struct merged merged = {
            .rank = {RANK_NONE, RANK_NONE},
            .max = {NAN, NAN},
        };

        for (size_t j = 0; j < count; j++) {
            if (group[j]->day[day]) {
                merge_hour(&merged, group[j]->day[day], i, group[j]->rank);
            }
        }
        if (!merged.is_there) {
            continue;
        }
        to_row(&merged, rollup->from + (int64_t)(day * DAY_HOURS + (size_t)i) * HOUR_SECONDS, &row);
        if (!sink->row(sink->context, series_no, &row, err)) {
            return false;
        }
    }
    return true;
}

static bool
has_day(struct rollup_series *const *group, size_t count, size_t day)
{
    for (size_t i = 0; i < count; i++) {
        if (group[i]->day[day]) {
            return true;
        }
    }
    return false;
}

/* An identity without any hour is not named. */
static bool
emit_group(const struct rollup *rollup, struct rollup_series *const *group, size_t count,
           const struct rollup_sink *sink, struct error *err)
{
    bool is_named = false;
    int series_no = 0;

    for (size_t day = 0; day < rollup->days; day++) {
        if (!has_day(group, count, day)) {
            continue;
        }
        if (!is_named && !sink->identity(sink->context, group[0]->identity, &series_no, err)) {
            return false;
        }
        is_named = true;
        if (!emit_day(rollup, group, count, day, series_no, sink, err)) {
            return false;
        }
    }
    return true;
}

/* Series to the front of the table, in order. The table is no table any more after that. */
static size_t
sort_series(struct rollup *rollup)
{
    size_t count = 0;

    for (size_t i = 0; i < rollup->room; i++) {
        if (rollup->table[i]) {
            rollup->table[count++] = rollup->table[i];
        }
    }
    memset(rollup->table + count, 0, (rollup->room - count) * sizeof(rollup->table[0]));
    qsort(rollup->table, count, sizeof(rollup->table[0]), compare_series);
    return count;
}

bool
rollup_emit(struct rollup *rollup, const struct rollup_sink *sink, struct error *err)
{
    size_t count = sort_series(rollup);
    size_t group = 0;

    for (size_t i = 1; i <= count; i++) {
        if (i < count && compare_identity(rollup->table[group], rollup->table[i]) == 0) {
            continue;
        }
        if (!emit_group(rollup, &rollup->table[group], i - group, sink, err) ||
            !interrupt_check(err)) {
            return false;
        }
        group = i;
    }
    return true;
}
