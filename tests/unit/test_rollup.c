#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/calendar.h"
#include "ingest/rollup.h"

enum { HOUR_MS = 3600 * 1000 };

static const int64_t JULY = 1782864000; /* 2026-07-01 */
static const int64_t DAYS_31 = 31 * DAY_SECONDS;

/* What was emitted, as text, and its totals. */
struct sink {
    struct buf text;
    int series;
    uint64_t rows, samples;
    int64_t util_sum;
};

static bool
take_identity(void *context, const char *const identity[IDENTITY_COUNT], int *ret_series_no,
              struct error *err)
{
    struct sink *sink = context;

    (void)err;
    *ret_series_no = sink->series++;
    buf_printf(&sink->text, "%s %s\n", identity[IDENTITY_UUID],
               identity[IDENTITY_POD] ? identity[IDENTITY_POD] : "-");
    return true;
}

static bool
take_row(void *context, int series_no, const struct rollup_row *row, struct error *err)
{
    struct sink *sink = context;

    (void)err;
    sink->rows++;
    sink->samples += row->samples;
    sink->util_sum += row->util_sum;
    buf_printf(&sink->text, "%d h%d", series_no, (int)((row->hour - JULY) / HOUR_SECONDS));
    if (row->has_util) {
        buf_printf(&sink->text, " util %u %lld", row->util_samples, (long long)row->util_sum);
    }
    if (row->has_sm) {
        buf_printf(&sink->text, " sm %u %lld", row->sm_samples, (long long)row->sm_sum);
    }
    buf_printf(&sink->text, " max %g %g mem %g power %g of %u\n", (double)row->util_max_pct,
               (double)row->sm_max_pct, (double)row->gauge[SIGNAL_MEMORY - SIGNAL_SUMMED],
               (double)row->gauge[SIGNAL_POWER - SIGNAL_SUMMED],
               row->samples);
    return true;
}

static void
emit(struct rollup *rollup, struct sink *sink)
{
    const struct rollup_sink to = {sink, take_identity, take_row};
    struct error err = {0};

    assert_true(rollup_emit(rollup, &to, &err));
}

static void
check_emitted(struct rollup *rollup, const char *wanted)
{
    struct sink sink = {0};

    buf_puts(&sink.text, "");
    emit(rollup, &sink);
    assert_string_equal(sink.text.data, wanted);
    buf_free(&sink.text);
}

static struct rollup_series *
series_of(struct rollup *rollup, const char *uuid, const char *pod, const char *instance, int rank)
{
    const struct label labels[] = {
        {"__name__", "x"}, {"UUID", uuid}, {"pod", pod}, {"instance", instance}, {"Hostname", "n"}};
    struct gpu_identity identity;

    assert_true(signal_identity(labels, 5, &identity));
    return rollup_series(rollup, labels, 5, &identity, rank);
}

/* A value of hour `hour` of July. */
static enum rollup_verdict
add(struct rollup *rollup, struct rollup_series *series, enum signal signal,
    enum statistic statistic, int hour, double value)
{
    enum scale scale = signal == SIGNAL_SM ? SCALE_RATIO : SCALE_ONE;

    return rollup_add(rollup, series, signal, scale, statistic,
                      (JULY + (int64_t)(hour + 1) * HOUR_SECONDS) * 1000, value);
}

static void
test_product(void **state)
{
    struct arena arena = {0};
    struct rollup *rollup = rollup_open(&arena, JULY, JULY + DAYS_31, 0);
    struct rollup_series *a = series_of(rollup, "GPU-a", "p", "i1", 0);

    (void)state;
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_AVG, 0, 50), ROLLUP_NO_COUNT);
    assert_int_equal(add(rollup, a, SIGNAL_SM, STATISTIC_COUNT, 0, 60), ROLLUP_KEPT);
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_AVG, 0, 12.473333333333333),
                     ROLLUP_KEPT); /* snaps back to the sum of integers */
    assert_int_equal(add(rollup, a, SIGNAL_SM, STATISTIC_AVG, 0, 0.7493333333333333), ROLLUP_KEPT);
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_MAX, 0, 99), ROLLUP_KEPT);
    assert_int_equal(add(rollup, a, SIGNAL_SM, STATISTIC_MAX, 0, 0.9), ROLLUP_KEPT);
    assert_int_equal(add(rollup, a, SIGNAL_MEMORY, STATISTIC_MAX, 0, 1024), ROLLUP_KEPT);
    assert_int_equal(add(rollup, a, SIGNAL_POWER, STATISTIC_AVG, 0, 300.5), ROLLUP_KEPT);
    /* the last hour of the month, with nothing but its count */
    assert_int_equal(add(rollup, a, SIGNAL_SM, STATISTIC_COUNT, 743, 3), ROLLUP_KEPT);
    assert_int_equal(add(rollup, a, SIGNAL_SM, STATISTIC_COUNT, 744, 3), ROLLUP_OUTSIDE);
    assert_int_equal(add(rollup, a, SIGNAL_SM, STATISTIC_COUNT, -1, 3), ROLLUP_OUTSIDE);
    check_emitted(rollup,
                  "GPU-a p\n"
                  "0 h0 util 60 748400000 sm 60 4496000000 max 99 90 mem 1024 power 300.5 of 60\n"
                  "0 h743 max nan nan mem nan power nan of 3\n");
    rollup_close(rollup);
    arena_free(&arena);
}

static void
test_refused(void **state)
{
    struct arena arena = {0};
    struct rollup *rollup = rollup_open(&arena, JULY, JULY + DAYS_31, 0);
    struct rollup_series *a = series_of(rollup, "GPU-a", "p", "i1", 0);
    int64_t end = (JULY + HOUR_SECONDS) * 1000;

    (void)state;
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_COUNT, 0, 60), ROLLUP_KEPT);
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_COUNT, 0, 60),
                     ROLLUP_KEPT); /* the same again */
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_COUNT, 0, 61), ROLLUP_SECOND);
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_COUNT, 0, 60.5), ROLLUP_RANGE);
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_COUNT, 0, -1), ROLLUP_RANGE);
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_COUNT, 0, NAN), ROLLUP_RANGE);
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_AVG, 0, 101), ROLLUP_RANGE);
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_AVG, 0, NAN), ROLLUP_RANGE);
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_SUM, 0, 6100), ROLLUP_RANGE);
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_SUM, 0, 6000), ROLLUP_KEPT);
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_AVG, 0, 100), ROLLUP_KEPT);
    assert_int_equal(add(rollup, a, SIGNAL_UTIL, STATISTIC_AVG, 0, 99), ROLLUP_SECOND);
    assert_int_equal(add(rollup, a, SIGNAL_SM, STATISTIC_MAX, 0, 1.29), ROLLUP_RANGE);
    assert_int_equal(add(rollup, a, SIGNAL_MEMORY, STATISTIC_MAX, 0, 9223372036854775794.0),
                     ROLLUP_RANGE);
    assert_int_equal(rollup_add(rollup, a, SIGNAL_UTIL, SCALE_ONE, STATISTIC_MAX, end - 1000, 5),
                     ROLLUP_OFF_HOUR);
    assert_string_equal(rollup_reason(ROLLUP_OFF_HOUR), "does not end on a full hour");
    check_emitted(rollup, "GPU-a p\n0 h0 util 60 6000000000 max nan nan mem nan power nan of 60\n");
    rollup_close(rollup);
    arena_free(&arena);
}

/* One identity under two exporters and two names of one metric: the exporters add, the metric of
 * the lower rank has the hour. The product is each series' own: 10 x 10 + 90 x 50, not 60 x 50. */
static void
test_merge(void **state)
{
    struct arena arena = {0};
    struct rollup *rollup = rollup_open(&arena, JULY, JULY + DAYS_31, 0);
    struct rollup_series *one = series_of(rollup, "GPU-a", "p", "i1", 0);
    struct rollup_series *two = series_of(rollup, "GPU-a", "p", "i2", 0);
    struct rollup_series *engine = series_of(rollup, "GPU-a", "p", "i1", 5);
    struct rollup_series *other_pod = series_of(rollup, "GPU-a", "q", "i1", 0);

    (void)state;
    assert_ptr_not_equal(one, two);
    assert_ptr_not_equal(one, engine);
    assert_ptr_equal(one, series_of(rollup, "GPU-a", "p", "i1", 0));
    assert_int_equal(add(rollup, one, SIGNAL_UTIL, STATISTIC_COUNT, 5, 10), ROLLUP_KEPT);
    assert_int_equal(add(rollup, two, SIGNAL_UTIL, STATISTIC_COUNT, 5, 50), ROLLUP_KEPT);
    assert_int_equal(add(rollup, engine, SIGNAL_UTIL, STATISTIC_COUNT, 5, 60), ROLLUP_KEPT);
    assert_int_equal(add(rollup, engine, SIGNAL_UTIL, STATISTIC_COUNT, 6, 60), ROLLUP_KEPT);
    assert_int_equal(add(rollup, other_pod, SIGNAL_UTIL, STATISTIC_COUNT, 5, 7), ROLLUP_KEPT);
    assert_int_equal(add(rollup, one, SIGNAL_UTIL, STATISTIC_AVG, 5, 10), ROLLUP_KEPT);
    assert_int_equal(add(rollup, two, SIGNAL_UTIL, STATISTIC_AVG, 5, 90), ROLLUP_KEPT);
    assert_int_equal(add(rollup, engine, SIGNAL_UTIL, STATISTIC_AVG, 5, 33), ROLLUP_KEPT);
    assert_int_equal(add(rollup, engine, SIGNAL_UTIL, STATISTIC_AVG, 6, 33), ROLLUP_KEPT);
    assert_int_equal(add(rollup, other_pod, SIGNAL_UTIL, STATISTIC_AVG, 5, 1), ROLLUP_KEPT);
    assert_int_equal(add(rollup, one, SIGNAL_POWER, STATISTIC_AVG, 5, 100), ROLLUP_KEPT);
    assert_int_equal(add(rollup, two, SIGNAL_POWER, STATISTIC_AVG, 5, 160), ROLLUP_KEPT);
    check_emitted(rollup, "GPU-a p\n"
                          "0 h5 util 60 4600000000 max nan nan mem nan power 150 of 60\n"
                          "0 h6 util 60 1980000000 max nan nan mem nan power nan of 60\n"
                          "GPU-a q\n"
                          "1 h5 util 7 7000000 max nan nan mem nan power nan of 7\n");
    rollup_close(rollup);
    arena_free(&arena);
}

static void
test_samples(void **state)
{
    struct arena arena = {0};
    struct rollup *rollup = rollup_open(&arena, JULY, JULY + DAYS_31, 0);
    struct rollup_series *a = series_of(rollup, "GPU-a", "p", "i1", 0);
    int64_t start = JULY * 1000;

    (void)state;
    /* T on the full hour belongs to the hour before: this one is June's */
    assert_int_equal(rollup_add(rollup, a, SIGNAL_UTIL, SCALE_ONE, STATISTIC_SAMPLE, start, 7),
                     ROLLUP_OUTSIDE);
    assert_int_equal(
        rollup_add(rollup, a, SIGNAL_UTIL, SCALE_ONE, STATISTIC_SAMPLE, start + 1, 10.5),
        ROLLUP_KEPT);
    assert_int_equal(
        rollup_add(rollup, a, SIGNAL_UTIL, SCALE_ONE, STATISTIC_SAMPLE, start + 1, 10.5),
        ROLLUP_BACKWARDS);
    assert_int_equal(
        rollup_add(rollup, a, SIGNAL_UTIL, SCALE_ONE, STATISTIC_SAMPLE, start + HOUR_MS, 20),
        ROLLUP_KEPT);
    assert_int_equal(
        rollup_add(rollup, a, SIGNAL_UTIL, SCALE_ONE, STATISTIC_SAMPLE, start + HOUR_MS + 1, 30),
        ROLLUP_KEPT);
    assert_int_equal(
        rollup_add(rollup, a, SIGNAL_MEMORY, SCALE_BYTES, STATISTIC_SAMPLE, start + 5, 2097152),
        ROLLUP_KEPT);
    assert_int_equal(
        rollup_add(rollup, a, SIGNAL_POWER, SCALE_ONE, STATISTIC_SAMPLE, start + 5, 100),
        ROLLUP_KEPT);
    assert_int_equal(
        rollup_add(rollup, a, SIGNAL_POWER, SCALE_ONE, STATISTIC_SAMPLE, start + 6, 200),
        ROLLUP_KEPT);
    check_emitted(rollup, "GPU-a p\n"
                          "0 h0 util 2 30500000 max 20 nan mem 2 power 150 of 2\n"
                          "0 h1 util 1 30000000 max 30 nan mem nan power nan of 1\n");
    rollup_close(rollup);
    arena_free(&arena);
}

/* The gauges of a row, by signal. */
static bool
take_gauges(void *context, int series_no, const struct rollup_row *row, struct error *err)
{
    struct sink *sink = context;

    (void)err;
    buf_printf(&sink->text, "%d h%d", series_no, (int)((row->hour - JULY) / HOUR_SECONDS));
    for (int signal = SIGNAL_SUMMED; signal < SIGNAL_COUNT; signal++) {
        float value = row->gauge[signal - SIGNAL_SUMMED];

        if (!isnan(value)) {
            buf_printf(&sink->text, " %s %g", signal_name((enum signal)signal), (double)value);
        }
    }
    buf_puts(&sink->text, "\n");
    return true;
}

static enum rollup_verdict
sample(struct rollup *rollup, struct rollup_series *series, const char *metric, int minute, double value)
{
    const struct metric *of = signal_metric(metric);

    return rollup_add(rollup, series, of->signal, of->scale, STATISTIC_SAMPLE, (JULY + (int64_t)minute * 60) * 1000,
                      value);
}

/* Counters by what they grew, a restart included; errors by their changes; shares of the hour as
 * seconds; of two names of a signal the lower rank has the hour. */
static void
test_gauges(void **state)
{
    static const char *const wanted = "GPU-a p\n"
                                      "0 h0 fb 3 tensor 25 pcietx 1.5e+10 powercap 30 thermal 900 xid 2\n"
                                      "0 h1 dram 40 powercap 7\n"
                                      "0 h2 powercap 12 xid 3\n";
    struct arena arena = {0};
    struct rollup *rollup = rollup_open(&arena, JULY, JULY + DAYS_31, 0);
    struct rollup_series *a = series_of(rollup, "GPU-a", "p", "i1", 0);
    struct rollup_series *second = series_of(rollup, "GPU-a", "p", "i1", 1);
    struct rollup_series *third = series_of(rollup, "GPU-a", "p", "i1", 2);
    struct sink sink = {0};
    const struct rollup_sink to = {&sink, take_identity, take_gauges};
    struct error err = {0};

    (void)state;
    assert_int_equal(sample(rollup, a, "DCGM_FI_DEV_POWER_VIOLATION", 1, 5e15), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, a, "DCGM_FI_DEV_POWER_VIOLATION", 30, 5e15 + 20e9), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, a, "DCGM_FI_DEV_POWER_VIOLATION", 40, 10e9), ROLLUP_KEPT); /* restarted */
    assert_int_equal(sample(rollup, a, "DCGM_FI_DEV_POWER_VIOLATION", 70, 17e9), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, a, "DCGM_FI_DEV_POWER_VIOLATION", 71, -1), ROLLUP_RANGE);
    assert_int_equal(sample(rollup, a, "DCGM_FI_DEV_XID_ERRORS", 1, 0), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, a, "DCGM_FI_DEV_XID_ERRORS", 2, 79), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, a, "DCGM_FI_DEV_XID_ERRORS", 3, 79), ROLLUP_KEPT); /* sticks */
    assert_int_equal(sample(rollup, a, "DCGM_FI_DEV_XID_ERRORS", 4, 0), ROLLUP_KEPT);  /* cleared */
    assert_int_equal(sample(rollup, a, "DCGM_FI_DEV_XID_ERRORS", 5, 48), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, third, "nvidia_smi_clocks_event_reasons_sw_thermal_slowdown", 1, 1), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, third, "nvidia_smi_clocks_event_reasons_sw_thermal_slowdown", 2, 0), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, third, "nvidia_smi_clocks_event_reasons_sw_thermal_slowdown", 3, 0), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, third, "nvidia_smi_clocks_event_reasons_sw_thermal_slowdown", 4, 0), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, a, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 1, 0.1), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, a, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 2, 0.4), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, a, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 3, 1.2), ROLLUP_RANGE);
    assert_int_equal(sample(rollup, a, "DCGM_FI_PROF_PCIE_TX_BYTES", 1, 1.5e10), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, a, "DCGM_FI_DEV_FB_USED", 1, 3), ROLLUP_KEPT);
    assert_int_equal(sample(rollup, second, "DCGM_FI_DEV_FB_USED_BYTES", 1, 7 * 1048576.0), ROLLUP_KEPT);
    assert_int_equal(add(rollup, a, SIGNAL_DRAM, STATISTIC_AVG, 1, 40), ROLLUP_KEPT);
    assert_int_equal(rollup_add(rollup, a, SIGNAL_THROTTLE_POWER, SCALE_NANO, STATISTIC_INCREASE,
                                (JULY + 3 * HOUR_SECONDS) * 1000, 12e9), ROLLUP_KEPT);
    assert_int_equal(rollup_add(rollup, a, SIGNAL_THROTTLE_POWER, SCALE_NANO, STATISTIC_INCREASE,
                                (JULY + 4 * HOUR_SECONDS) * 1000, 9000e9), ROLLUP_RANGE); /* 2.5 h in an hour */
    assert_int_equal(rollup_add(rollup, a, SIGNAL_XID, SCALE_LAST, STATISTIC_CHANGES, (JULY + 3 * HOUR_SECONDS) * 1000,
                                3), ROLLUP_KEPT);
    buf_puts(&sink.text, "");
    assert_true(rollup_emit(rollup, &to, &err));
    assert_string_equal(sink.text.data, wanted);
    buf_free(&sink.text);
    rollup_close(rollup);
    arena_free(&arena);
    assert_false(rollup_takes(SIGNAL_MEMORY, STATISTIC_AVG));
    assert_false(rollup_takes(SIGNAL_UTIL, STATISTIC_INCREASE));
    assert_true(rollup_takes(SIGNAL_THROTTLE_POWER, STATISTIC_INCREASE));
}

/* One pass over `gpus` GPUs of 31 days. */
static void
feed(struct rollup *rollup, int gpus)
{
    for (int statistic = STATISTIC_COUNT; statistic <= STATISTIC_AVG;
         statistic += STATISTIC_AVG - STATISTIC_COUNT) {
        for (int gpu = 0; gpu < gpus; gpu++) {
            struct rollup_series *series;
            char uuid[32];

            snprintf(uuid, sizeof(uuid), "GPU-%d", gpu);
            if (!rollup_wants(rollup, rollup_bucket(uuid)) ||
                !(series = series_of(rollup, uuid, "p", "i", 0))) {
                continue;
            }
            for (int hour = 0; hour < 744; hour++) {
                assert_int_equal(add(rollup, series, SIGNAL_UTIL, (enum statistic)statistic, hour,
                                     statistic == STATISTIC_COUNT ? 60 : gpu % 100),
                                 ROLLUP_KEPT);
            }
        }
    }
}

static int
run_passes(size_t budget_bytes, int gpus, struct sink *sink)
{
    struct arena arena = {0};
    struct rollup *rollup = rollup_open(&arena, JULY, JULY + DAYS_31, budget_bytes);
    unsigned first = 0, end = 0, before = 0;
    int passes = 0;

    do {
        feed(rollup, gpus);
        rollup_range(rollup, &first, &end);
        assert_int_equal(first, before);
        assert_true(end > first);
        before = end;
        emit(rollup, sink);
        passes++;
    } while (rollup_next(rollup));
    assert_int_equal(end, ROLLUP_BUCKETS);
    assert_true(budget_bytes == 1 || !rollup_is_full(rollup));
    rollup_close(rollup);
    arena_free(&arena);
    return passes;
}

/* However little memory there is, the same rows come out, once each. */
static void
test_passes(void **state)
{
    static const size_t budgets[] = {4 << 20, 1 << 20, 300 << 10, 1};
    struct sink whole = {0};

    (void)state;
    assert_int_equal(run_passes(0, 200, &whole), 1);
    assert_int_equal(whole.series, 200);
    assert_int_equal(whole.rows, 200 * 744);
    for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
        struct sink parts = {0};

        assert_true(run_passes(budgets[i], 200, &parts) > 1);
        assert_int_equal(parts.series, whole.series);
        assert_int_equal(parts.rows, whole.rows);
        assert_int_equal(parts.samples, whole.samples);
        assert_int_equal(parts.util_sum, whole.util_sum);
        buf_free(&parts.text);
    }
    buf_free(&whole.text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_merge),   cmocka_unit_test(test_samples),
        cmocka_unit_test(test_gauges),  cmocka_unit_test(test_passes),
    };

    return cmocka_run_group_tests_name("rollup", tests, NULL, NULL);
}
