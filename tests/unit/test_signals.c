#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "ingest/signals.h"

static void
test_names(void **state)
{
    (void)state;
    assert_int_equal(signal_metric("DCGM_FI_DEV_GPU_UTIL")->signal, SIGNAL_UTIL);
    assert_int_equal(signal_metric("DCGM_FI_DEV_GPU_UTIL_RATIO")->scale, SCALE_AUTO);
    assert_int_equal(signal_metric("DCGM_FI_PROF_SM_UTIL_RATIO")->signal, SIGNAL_SM);
    assert_int_equal(signal_metric("DCGM_FI_DEV_FB_USED_BYTES")->scale, SCALE_BYTES);
    assert_true(signal_metric("DCGM_FI_PROF_GR_ENGINE_ACTIVE")->is_engine);
    assert_null(signal_metric("DCGM_FI_DEV_MEM_COPY_UTIL")); /* not how full the memory is */
    assert_null(signal_metric(""));
    /* ranks of a signal differ, or two names could not be told apart */
    for (const struct metric *a = signal_metrics; a->name; a++) {
        for (const struct metric *b = a + 1; b->name; b++) {
            assert_false(a->signal == b->signal && a->rank == b->rank);
        }
    }
}

static void
test_files(void **state)
{
    struct metric metric;
    enum statistic statistic;

    (void)state;
    assert_true(signal_of_file("util_avg-2026-07-000.json", &metric, &statistic));
    assert_int_equal(metric.signal, SIGNAL_UTIL);
    assert_int_equal(metric.scale, SCALE_ONE);
    assert_int_equal(statistic, STATISTIC_AVG);
    assert_true(signal_of_file("sm_count-x.json.gz", &metric, &statistic));
    assert_int_equal(metric.scale, SCALE_AUTO);
    assert_int_equal(statistic, STATISTIC_COUNT);
    assert_true(signal_of_file("fb_max.json", &metric, &statistic));
    assert_int_equal(metric.signal, SIGNAL_MEMORY);
    assert_true(signal_of_file("power_avg_1.json", &metric, &statistic));
    assert_int_equal(metric.signal, SIGNAL_POWER);
    assert_false(signal_of_file("util.json", &metric, &statistic));
    assert_false(signal_of_file("utilization_avg.json", &metric, &statistic));
    assert_false(signal_of_file("util_average.json", &metric, &statistic));
    assert_false(signal_of_file("DERIVED_prom_query_range_step57s.json.gz", &metric, &statistic));
}

static void
test_ranges(void **state)
{
    (void)state;
    assert_true(signal_in_range(SIGNAL_UTIL, SCALE_ONE, 0));
    assert_true(signal_in_range(SIGNAL_UTIL, SCALE_ONE, 100));
    assert_false(signal_in_range(SIGNAL_UTIL, SCALE_ONE, 101));
    assert_false(signal_in_range(SIGNAL_UTIL, SCALE_ONE, -1));
    assert_false(signal_in_range(SIGNAL_UTIL, SCALE_ONE, NAN));
    assert_false(signal_in_range(SIGNAL_UTIL, SCALE_ONE, INFINITY));
    assert_false(signal_in_range(SIGNAL_UTIL, SCALE_ONE, 2147483632.0));
    assert_false(signal_in_range(SIGNAL_MEMORY, SCALE_ONE, 9223372036854775794.0));
    assert_false(signal_in_range(SIGNAL_MEMORY, SCALE_BYTES, 9223372036854775794.0));
    assert_false(signal_in_range(SIGNAL_POWER, SCALE_ONE, 140737488355328.0));
    assert_true(signal_in_range(SIGNAL_SM, SCALE_RATIO, 1.04));
    assert_false(signal_in_range(SIGNAL_SM, SCALE_RATIO, 1.29));
    assert_true(signal_in_range(SIGNAL_SM, SCALE_ONE, 29));
    assert_true(signal_in_range(SIGNAL_MEMORY, SCALE_BYTES, 85899345920.0));
}

static void
check(const struct label *labels, size_t count, const char *const wanted[IDENTITY_COUNT])
{
    struct gpu_identity identity;

    assert_int_equal(signal_identity(labels, count, &identity), wanted[IDENTITY_UUID] != NULL);
    for (int i = 0; i < IDENTITY_COUNT; i++) {
        if (!wanted[i]) {
            assert_null(identity.text[i]);
        } else {
            assert_non_null(identity.text[i]);
            assert_string_equal(identity.text[i], wanted[i]);
        }
    }
}

#define CHECK(labels, ...)                                                                         \
    check(labels, sizeof(labels) / sizeof(labels[0]),                                              \
          (const char *const[IDENTITY_COUNT]){__VA_ARGS__})

static void
test_identity(void **state)
{
    static const struct label plain[] = {{"UUID", "GPU-1"},
                                         {"gpu", "3"},
                                         {"Hostname", "node-7"},
                                         {"pod", "train-0"},
                                         {"namespace", "vision"},
                                         {"modelName", "H"},
                                         {"instance", "10.0.0.1:9400"}};
    static const struct label mig[] = {
        {"hostname", "node-7"}, {"GPU_I_ID", "5"}, {"GPU_I_PROFILE", "3g.40gb"}, {"UUID", "GPU-1"}};
    static const struct label exported[] = {
        {"UUID", "GPU-1"},           {"pod", "dcgm-exporter-x2x"},     {"namespace", "monitoring"},
        {"exported_pod", "train-0"}, {"exported_namespace", "vision"}, {"container", "exporter"}};
    static const struct label exporter[] = {
        {"UUID", "GPU-1"}, {"pod", "nvidia-dcgm-exporter-z6"}, {"namespace", "gpu-operator"}};
    static const struct label old[] = {
        {"uuid", "GPU-1"}, {"pod_name", "train-0"}, {"pod_namespace", "vision"}, {"gpu", "0"}};
    static const struct label loopback[] = {
        {"UUID", "GPU-1"}, {"Hostname", "localhost"}, {"instance", "10.0.0.7:9400"}};
    static const struct label empty[] = {
        {"UUID", "GPU-1"}, {"GPU_I_ID", ""}, {"pod", ""}, {"instance", "node-3"}};
    static const struct label none[] = {{"gpu", "0"}};

    (void)state;
    CHECK(plain, [IDENTITY_UUID] = "GPU-1", [IDENTITY_HOST] = "node-7", [IDENTITY_GPU_INDEX] = "3",
          [IDENTITY_MODEL] = "H", [IDENTITY_NAMESPACE] = "vision", [IDENTITY_POD] = "train-0");
    CHECK(mig, [IDENTITY_UUID] = "GPU-1", [IDENTITY_HOST] = "node-7", [IDENTITY_MIG_ID] = "5",
          [IDENTITY_MIG_PROFILE] = "3g.40gb");
    CHECK(exported, [IDENTITY_UUID] = "GPU-1", [IDENTITY_NAMESPACE] = "vision",
          [IDENTITY_POD] = "train-0");
    CHECK(exporter, [IDENTITY_UUID] = "GPU-1");
    CHECK(old, [IDENTITY_UUID] = "GPU-1", [IDENTITY_NAMESPACE] = "vision",
          [IDENTITY_POD] = "train-0", [IDENTITY_GPU_INDEX] = "0");
    CHECK(loopback, [IDENTITY_UUID] = "GPU-1", [IDENTITY_HOST] = "10.0.0.7");
    CHECK(empty, [IDENTITY_UUID] = "GPU-1", [IDENTITY_HOST] = "node-3");
    CHECK(none, [IDENTITY_GPU_INDEX] = "0");
}

/* What the queries group by holds every label that the identity may need. */
static void
test_labels(void **state)
{
    static const char *const needed[] = {"UUID",     "uuid",      "hostname",
                                         "Hostname", "instance",  "exported_pod",
                                         "pod",      "container", "gpu"};

    (void)state;
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        bool found = false;

        for (const char *const *label = signal_labels; *label; label++) {
            found = found || strcmp(*label, needed[i]) == 0;
        }
        assert_true(found);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),  cmocka_unit_test(test_files),
        cmocka_unit_test(test_ranges), cmocka_unit_test(test_identity),
        cmocka_unit_test(test_labels),
    };

    return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
