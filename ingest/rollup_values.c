/* One value into its hour. */
#include <config.h>

#include <math.h>

#include "common/calendar.h"
#include "ingest/rollup_private.h"

enum { HOUR_MS = 3600 * 1000 };

static const double MILLIONTHS = 1e6;

static struct rollup_block *
new_block(struct rollup *rollup)
{
    struct rollup_block *block = rollup->free_blocks;

    if (block) {
        rollup->free_blocks = block->next_free;
    } else {
        block = arena_alloc(&rollup->arena, sizeof(*block));
    }
    rollup->used_bytes += sizeof(*block);
    for (int i = 0; i < DAY_HOURS; i++) {
        block->cell[i] = (struct rollup_cell){.max = {NAN, NAN}};
    }
    return block;
}

static struct rollup_plane *
new_plane(struct rollup *rollup)
{
    struct rollup_plane *plane = rollup->free_planes;

    if (plane) {
        rollup->free_planes = plane->next_free;
    } else {
        plane = arena_alloc(&rollup->arena, sizeof(*plane));
    }
    rollup->used_bytes += sizeof(*plane);
    for (int i = 0; i < DAY_HOURS; i++) {
        plane->hour[i] = (struct rollup_gauge){.value = NAN};
    }
    return plane;
}

static struct rollup_block *
block_at(struct rollup *rollup, struct rollup_series *series, int64_t hour)
{
    size_t day = (size_t)((hour - rollup->from) / DAY_SECONDS);

    if (!series->day[day]) {
        series->day[day] = new_block(rollup);
    }
    return series->day[day];
}

static size_t
hour_of_day(const struct rollup *rollup, int64_t hour)
{
    return (size_t)((hour - rollup->from) / HOUR_SECONDS) % DAY_HOURS;
}

static struct rollup_cell *
cell_at(struct rollup *rollup, struct rollup_series *series, int64_t hour)
{
    return &block_at(rollup, series, hour)->cell[hour_of_day(rollup, hour)];
}

static struct rollup_gauge *
gauge_at(struct rollup *rollup, struct rollup_series *series, enum signal signal, int64_t hour)
{
    struct rollup_plane **plane = &block_at(rollup, series, hour)->gauge[signal - SIGNAL_SUMMED];

    if (!*plane) {
        *plane = new_plane(rollup);
    }
    return &(*plane)->hour[hour_of_day(rollup, hour)];
}

/* What is set stays; to be told the same again is no fault. */
static enum rollup_verdict
set_float(float *into, double value)
{
    if (isnan(*into)) {
        *into = (float)value;
    }
    return *into == (float)value ? ROLLUP_KEPT : ROLLUP_SECOND;
}

static enum rollup_verdict
set_count(struct rollup_cell *cell, enum signal signal, double value)
{
    uint32_t flag = (uint32_t)CELL_COUNT << signal;

    if (!(value >= 0 && value <= UINT32_MAX) || value != floor(value)) {
        return ROLLUP_RANGE;
    }
    if (cell->flags & flag) {
        return cell->count[signal] == (uint32_t)value ? ROLLUP_KEPT : ROLLUP_SECOND;
    }
    cell->flags |= flag;
    cell->count[signal] = (uint32_t)value;
    return ROLLUP_KEPT;
}

/* A sum in delivered units; its mean must be in range. Of the two signals' counts the other's
 * serves where only that was asked for. */
static enum rollup_verdict
set_sum(struct rollup_cell *cell, enum signal signal, enum scale scale, double value, bool is_mean)
{
    uint32_t flag = (uint32_t)CELL_SUM << signal;
    int counted = cell->flags & (uint32_t)CELL_COUNT << signal ? (int)signal : 1 - (int)signal;
    uint32_t count = cell->flags & (uint32_t)CELL_COUNT << counted ? cell->count[counted] : 0;
    int64_t sum;

    if (!isfinite(value)) {
        return ROLLUP_RANGE;
    }
    if (!count) {
        return ROLLUP_NO_COUNT;
    }
    if (!signal_in_range(signal, scale, is_mean ? value : value / count)) {
        return ROLLUP_RANGE;
    }
    sum = llround(signal_value(scale, value) * (is_mean ? count : 1) * MILLIONTHS);
    if (cell->flags & flag) {
        return cell->sum[signal] == sum ? ROLLUP_KEPT : ROLLUP_SECOND;
    }
    cell->flags |= flag;
    cell->sum[signal] = sum;
    return ROLLUP_KEPT;
}

static void
raise_float(float *into, double value)
{
    if (!(*into >= (float)value)) {
        *into = (float)value;
    }
}

static void
add_summed_sample(struct rollup_cell *cell, enum signal signal, enum scale scale, double value)
{
    cell->flags |= (uint32_t)(CELL_COUNT | CELL_SUM) << signal;
    cell->count[signal]++;
    cell->sum[signal] += llround(signal_value(scale, value) * MILLIONTHS);
    raise_float(&cell->max[signal], signal_value(scale, value));
}

static void
add_mean(struct rollup_gauge *gauge, double value)
{
    gauge->value = gauge->samples++ ? (float)((double)gauge->value + (value - (double)gauge->value) / gauge->samples)
                                    : (float)value;
}

static void
add_amount(struct rollup_gauge *gauge, double amount)
{
    gauge->value = (float)((isnan(gauge->value) ? 0 : (double)gauge->value) + amount);
    gauge->samples++;
}

/* What a counter's sample adds to the one before; a counter that fell was begun anew. A last error
 * that is another one, and is one, is one more. */
static double
amount_since(enum scale scale, bool has_last, double last, double value)
{
    if (!has_last) {
        return 0;
    }
    if (scale == SCALE_LAST) {
        return value != last && value != 0;
    }
    return signal_value(scale, value >= last ? value - last : value);
}

static void
add_gauge_sample(struct rollup *rollup, struct rollup_series *series, enum signal signal, enum scale scale,
                 int64_t hour, double value)
{
    struct rollup_gauge *gauge = gauge_at(rollup, series, signal, hour);
    double *last = &series->last_total[signal - SIGNAL_SUMMED];

    switch (signal_statistic(signal, scale)) {
    case STATISTIC_MAX:
        raise_float(&gauge->value, signal_value(scale, value));
        break;
    case STATISTIC_AVG:
        add_mean(gauge, signal_value(scale, value));
        break;
    default:
        add_amount(gauge, amount_since(scale, series->last_sample_ms[signal] > 0, *last, value));
        *last = value;
        break;
    }
}

static enum rollup_verdict
set_statistic(struct rollup_cell *cell, enum signal signal, enum scale scale,
              enum statistic statistic, double value)
{
    if (statistic == STATISTIC_COUNT) {
        return set_count(cell, signal, value);
    }
    if (statistic != STATISTIC_MAX) {
        return set_sum(cell, signal, scale, value, statistic == STATISTIC_AVG);
    }
    return set_float(&cell->max[signal], signal_value(scale, value));
}

/* A function of an hour is in the unit of the signal but for its scale; changes are counted already. */
static double
gauge_value(enum scale scale, enum statistic statistic, double value)
{
    return statistic == STATISTIC_CHANGES ? value : signal_value(scale, value);
}

bool
rollup_takes(enum signal signal, enum statistic statistic)
{
    bool is_amount = statistic == STATISTIC_INCREASE || statistic == STATISTIC_CHANGES;

    if (statistic == STATISTIC_SAMPLE) {
        return true;
    }
    if (signal_is_summed(signal)) {
        return !is_amount;
    }
    switch (signal_gauge(signal)) {
    case GAUGE_MAX:
        return statistic == STATISTIC_MAX;
    case GAUGE_MEAN:
        return statistic == STATISTIC_AVG;
    default:
        return is_amount || statistic == STATISTIC_AVG;
    }
}

/* Sums and counts are judged where they are set; a counter's value says nothing by itself. */
static bool
in_range(enum signal signal, enum scale scale, enum statistic statistic, double value)
{
    bool is_counter = statistic == STATISTIC_SAMPLE && signal_is_counter(scale);

    if (statistic == STATISTIC_COUNT || statistic == STATISTIC_SUM) {
        return true;
    }
    return is_counter ? isfinite(value) && value >= 0 : signal_in_range(signal, scale, value);
}

static enum rollup_verdict
add_raw(struct rollup *rollup, struct rollup_series *series, enum signal signal, enum scale scale, int64_t hour,
        int64_t time_ms, double value)
{
    if (time_ms <= series->last_sample_ms[signal]) {
        return ROLLUP_BACKWARDS;
    }
    if (signal_is_summed(signal)) {
        add_summed_sample(cell_at(rollup, series, hour), signal, scale, value);
    } else {
        add_gauge_sample(rollup, series, signal, scale, hour, value);
    }
    series->last_sample_ms[signal] = time_ms;
    return ROLLUP_KEPT;
}

enum rollup_verdict
rollup_add(struct rollup *rollup, struct rollup_series *series, enum signal signal,
           enum scale scale, enum statistic statistic, int64_t time_ms, double value)
{
    int64_t hour = (time_ms + HOUR_MS - 1) / HOUR_MS * HOUR_SECONDS - HOUR_SECONDS;

    if (hour < rollup->from || hour >= rollup->to) {
        return ROLLUP_OUTSIDE;
    }
    if (!in_range(signal, scale, statistic, value)) {
        return ROLLUP_RANGE;
    }
    if (statistic == STATISTIC_SAMPLE) {
        return add_raw(rollup, series, signal, scale, hour, time_ms, value);
    }
    if (time_ms % HOUR_MS != 0) {
        return ROLLUP_OFF_HOUR;
    }
    if (signal_is_summed(signal)) {
        return set_statistic(cell_at(rollup, series, hour), signal, scale, statistic, value);
    }
    return set_float(&gauge_at(rollup, series, signal, hour)->value, gauge_value(scale, statistic, value));
}
