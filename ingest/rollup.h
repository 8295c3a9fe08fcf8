/*
 * Hours of GPUs in memory: for every series an hour's sums, counts and maxima, 40 bytes a cell, and
 * 8 for each gauge that it has.
 *
 * A product of mean and count is taken for a series with all its labels; only what rollup_emit
 * hands out is merged by identity (two exporters, a changed label that is no part of it). Counts
 * come first: a mean or sum without its count is refused.
 *
 * Memory is bounded by going over the input several times: series belong to one of 256 buckets by
 * their GPU's UUID, a pass holds a range of buckets, and when the cells outgrow the budget the
 * upper part of the range is dropped and left to a later pass:
 *
 *     rollup_open
 *     do {
 *         for each series: if (rollup_wants(bucket) && (series = rollup_series(…))) rollup_add(…)
 *         rollup_emit
 *     } while (rollup_next);
 */
#ifndef INGEST_ROLLUP_H
#define INGEST_ROLLUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/error.h"
#include "ingest/signals.h"

enum { ROLLUP_BUCKETS = 256, ROLLUP_BUDGET_BYTES = 64 * 1024 * 1024, ROLLUP_DAYS_MOST = 32 };

struct rollup;
struct rollup_series;

enum rollup_verdict {
    ROLLUP_KEPT,
    ROLLUP_OUTSIDE, /* of the time this rollup is for: not a row of this load */
    ROLLUP_RANGE,   /* the rest: rejected, see rollup_reason */
    ROLLUP_NO_COUNT,
    ROLLUP_OFF_HOUR,
    ROLLUP_SECOND,
    ROLLUP_BACKWARDS,
    ROLLUP_NO_UUID,
};
const char *rollup_reason(enum rollup_verdict verdict);

/* [from, to) are whole hours, at most ROLLUP_DAYS_MOST days. budget_bytes 0: ROLLUP_BUDGET_BYTES.
 */
struct rollup *rollup_open(struct arena *arena, int64_t from, int64_t to, size_t budget_bytes);
void rollup_close(struct rollup *rollup); /* NULL is fine */

unsigned rollup_bucket(const char *uuid);
bool rollup_wants(const struct rollup *rollup, unsigned bucket);

/* The series of exactly these labels (but __name__) and rank. NULL when its bucket was just
 * dropped. */
struct rollup_series *rollup_series(struct rollup *rollup, const struct label *labels, size_t count,
                                    const struct gpu_identity *identity, int rank);
/* A value as delivered: a function of the samples of (T - 1 h, T], or a sample at T. scale is not
 * SCALE_AUTO any more. */
enum rollup_verdict rollup_add(struct rollup *rollup, struct rollup_series *series,
                               enum signal signal, enum scale scale, enum statistic statistic,
                               int64_t time_ms, double value);
/* False for what gpu_hour has no column for (the maximum of power, the mean of memory). */
bool rollup_takes(enum signal signal, enum statistic statistic);

struct rollup_row {
    int64_t hour;
    bool has_util, has_sm;
    int64_t util_sum, sm_sum;                   /* millionths of a percent */
    uint32_t util_samples, sm_samples, samples; /* samples 0: unknown */
    float util_max_pct, sm_max_pct; /* NaN: unknown */
    float gauge[GAUGE_COUNT];       /* by signal - SIGNAL_SUMMED, in the unit of the signal; NaN: unknown */
};

struct rollup_sink {
    void *context;
    bool (*identity)(void *context, const char *const identity[IDENTITY_COUNT], int *ret_series_no,
                     struct error *err);
    bool (*row)(void *context, int series_no, const struct rollup_row *row, struct error *err);
};
/* Identities in order of their text, hours ascending. */
bool rollup_emit(struct rollup *rollup, const struct rollup_sink *sink,
                 struct error *err) MUST_CHECK;

/* One GPU has so many series that they outgrow the budget by far: the input cannot be right. */
bool rollup_is_full(const struct rollup *rollup);
/* The buckets this pass has whole: [*ret_first, *ret_end). */
void rollup_range(const struct rollup *rollup, unsigned *ret_first, unsigned *ret_end);
/* On to the buckets left over. False when there are none: all is done. */
bool rollup_next(struct rollup *rollup);

#endif
