/* Which GPU a set of dimensions is, and what fits into a call. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "ingest/cloudwatch.h"

struct listed {
    const char *namespace, *metric, *dimensions;
};

struct trial {
    struct arena arena;
    struct source_run run;
    struct cloudwatch cloudwatch;
    struct cloudwatch_plan plan;
};

static void
make_plan(struct trial *trial, const struct listed *listed, size_t count)
{
    *trial = (struct trial){.cloudwatch = {.namespaces = {"CWAgent", "ContainerInsights"}}};
    trial->run.arena = &trial->arena;
    trial->cloudwatch.run = &trial->run;
    for (size_t i = 0; i < count; i++) {
        json_t *dimensions = json_loads(listed[i].dimensions, 0, NULL);

        assert_non_null(dimensions);
        cloudwatch_plan_add(&trial->plan, &trial->cloudwatch, listed[i].namespace, listed[i].metric, dimensions, 0);
        json_decref(dimensions);
    }
    cloudwatch_plan_finish(&trial->plan, &trial->arena);
}

static void
end_plan(struct trial *trial)
{
    cloudwatch_plan_close(&trial->plan);
    arena_free(&trial->arena);
}

static int
rank_of(const struct trial *trial, const char *text)
{
    for (size_t i = 0; i < trial->plan.count; i++)
        if (strstr(trial->plan.series[i].text, text))
            return trial->plan.series[i].metric.rank;
    return -1;
}

static void
test_ranks(void **state)
{
    static const struct listed listed[] = {
        {"ContainerInsights", "node_gpu_utilization",
         "{\"ClusterName\":\"c\",\"InstanceId\":\"i-1\",\"NodeName\":\"n\",\"GpuDevice\":\"nvidia0\",\"InstanceType\":\"t\"}"},
        {"CWAgent", "nvidia_smi_utilization_gpu", "{\"InstanceId\":\"i-1\",\"index\":\"0\"}"},
        {"CWAgent", "nvidia_smi_utilization_gpu", "{\"InstanceId\":\"i-1\",\"index\":\"0\",\"host\":\"a\",\"name\":\"T4\"}"},
        {"CWAgent", "nvidia_smi_utilization_gpu", "{\"InstanceId\":\"i-1\",\"index\":\"0\",\"host\":\"b\",\"name\":\"T4\"}"},
        {"CWAgent", "nvidia_smi_power_draw", "{\"InstanceId\":\"i-1\",\"index\":\"0\"}"},
    };
    struct trial trial;

    (void)state;
    make_plan(&trial, listed, sizeof listed / sizeof *listed);
    assert_int_equal(trial.plan.count, 5);
    assert_int_equal(trial.plan.gpus, 1);
    /* the fullest set first; those that differ in values alone have one rank and add up */
    assert_int_equal(rank_of(&trial, "\"a\""), 0);
    assert_int_equal(rank_of(&trial, "\"b\""), 0);
    assert_int_equal(rank_of(&trial, "nvidia0"), 2);
    for (size_t i = 0; i < trial.plan.count; i++) {
        const struct cloudwatch_series *series = &trial.plan.series[i];

        assert_string_equal(series->uuid, "i-1/0");
        assert_string_equal(series->host, "a");
        assert_string_equal(series->model, "T4");
        if (series->metric.signal == SIGNAL_POWER)
            assert_int_equal(series->metric.rank, 0);
    }
    end_plan(&trial);
}

static void
test_what_is_no_gpu(void **state)
{
    static const struct listed listed[] = {
        {"CWAgent", "nvidia_smi_utilization_gpu", "{\"InstanceId\":\"i-1\"}"},                     /* all of a machine */
        {"CWAgent", "nvidia_smi_utilization_gpu", "{\"index\":\"0\",\"name\":\"T4\"}"},            /* of nobody */
        {"ContainerInsights", "node_gpu_utilization", "{\"ClusterName\":\"c\",\"InstanceId\":\"i-1\"}"},
        {"Elsewhere", "nvidia_smi_utilization_gpu", "{\"InstanceId\":\"i-1\",\"index\":\"0\"}"},
        {"CWAgent", "cpu_usage_idle", "{\"InstanceId\":\"i-1\",\"index\":\"0\"}"},
        {"CWAgent", "nvidia_smi_utilization_gpu", "{\"InstanceId\":\"\",\"index\":\"0\",\"host\":\"\"}"},
    };
    struct trial trial;

    (void)state;
    make_plan(&trial, listed, sizeof listed / sizeof *listed);
    assert_int_equal(trial.plan.count, 0);
    assert_int_equal(trial.plan.gpus, 0);
    assert_int_equal(trial.plan.nameless, 4);
    end_plan(&trial);
}

static void
test_host_alone(void **state)
{
    static const struct listed listed[] = {
        {"CWAgent", "nvidia_smi_utilization_gpu", "{\"host\":\"a\",\"index\":\"0\"}"},
        {"CWAgent", "nvidia_smi_utilization_gpu", "{\"InstanceId\":\"i-1\",\"host\":\"a\",\"index\":\"0\"}"},
        {"CWAgent", "nvidia_smi_utilization_gpu", "{\"host\":\"a\",\"index\":\"1\"}"},
        {"CWAgent", "nvidia_smi_utilization_gpu", "{\"host\":\"b\",\"index\":\"0\"}"},
    };
    struct trial trial;

    (void)state;
    make_plan(&trial, listed, sizeof listed / sizeof *listed);
    assert_int_equal(trial.plan.gpus, 3);
    for (size_t i = 0; i < trial.plan.count; i++)
        assert_string_not_equal(trial.plan.series[i].uuid, "a/0");
    end_plan(&trial);
}

static void
test_room(void **state)
{
    (void)state;
    assert_int_equal(cloudwatch_batch_room(744), 135);
    assert_int_equal(cloudwatch_batch_room(2160), 46); /* 90 days */
    assert_int_equal(cloudwatch_batch_room(24), 500);
    assert_int_equal(cloudwatch_batch_room(1000000), CLOUDWATCH_STATISTICS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_what_is_no_gpu),
        cmocka_unit_test(test_host_alone),
        cmocka_unit_test(test_room),
    };

    return cmocka_run_group_tests_name("cloudwatch", tests, NULL, NULL);
}
