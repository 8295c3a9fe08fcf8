#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/billing.h"

static struct field
of(const char *text)
{
    return (struct field){text, strlen(text)};
}

static void
test_units(void **state)
{
    static const struct {
        const char *unit;
        int seconds;
        bool gpu_time;
    } cases[] = {
        {"Hours", 3600, false},    {"1 Hour", 3600, false}, {"hrs", 3600, false},  {"100 Hours", 360000, false},
        {"seconds", 1, false},     {" Minutes ", 60, false}, {"days", 86400, false}, {"GPU Hours", 3600, true},
        {"gpu-seconds", 1, true},  {"OCPU Hours", 0, false}, {"GB-Hours", 0, false}, {"LCU-Hours", 0, false},
        {"1 GB/Month", 0, false},  {"", 0, false},           {"1", 0, false},        {"99999999999 Hours", 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool gpu_time = !cases[i].gpu_time;

        assert_int_equal(bill_unit_seconds(of(cases[i].unit), &gpu_time), cases[i].seconds);
        assert_int_equal(gpu_time, cases[i].gpu_time);
    }
}

static void
test_json(void **state)
{
    static const char *const members[][3] = {
        {"{\"InstanceType\": \"p5.48xlarge\", \"GpuCount\": 8}", "InstanceType", "p5.48xlarge"},
        {"{\"InstanceType\": \"p5.48xlarge\", \"GpuCount\": 8}", "GpuCount", "8"},
        {"{\"a\":\"GpuCount\",\"GpuCount\":0.5,}", "GpuCount", "0.5"},
        {"\"ServiceType\":\"Standard_D2\",\"x\":1", "ServiceType", "Standard_D2"},
        {"{\"a\": \"quote \\\" inside\", \"b\": \"2\"}", "b", "2"},
        {"{\"a\": 1}", "b", ""},
        {"{\"a", "a", ""},
        {"{\"a\\", "a", ""},
        {"{\"a\":", "a", ""},
        {"", "a", ""},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct field value = bill_json_member(of(members[i][0]), members[i][1]);

        assert_int_equal(value.size, strlen(members[i][2]));
        assert_memory_equal(value.text, members[i][2], value.size);
    }
    assert_string_equal(bill_json_object(&arena, of("{\"a\": 1e400000}")) ? "kept" : "refused", "refused");
    assert_string_equal(bill_json_object(&arena, of("{\"a\": true}")), "{\"a\": true}");
    assert_string_equal(bill_json_object(&arena, of("\"a\": \"b\"")), "{\"a\": \"b\"}");
    assert_null(bill_json_object(&arena, of("{}")));
    assert_null(bill_json_object(&arena, of("[1]")));
    assert_null(bill_json_object(&arena, of("{\"a\": \"\\u0000\"}")));
    assert_null(bill_json_object(&arena, of("{\"a\": \"\xff\"}")));
    assert_null(bill_json_object(&arena, of("team=a")));
    arena_free(&arena);
}

static void
test_types(void **state)
{
    static const char *const families[][2] = {
        {"aws", "p4d.24xlarge"},     {"aws", "p6-b200.48xlarge"},          {"aws", "gr6.4xlarge"},
        {"aws", "g4dn.metal"},       {"azure", "Standard_NC24ads_A100_v4"}, {"azure", "standard_nd96isr_h100_v5"},
        {"gcp", "a3-megagpu-8g"},    {"gcp", "a4x-highgpu-4g"},            {"lambda", "gpu_1x_a10"},
    };
    static const char *const others[][2] = {
        {"aws", "m6g.large"},  {"aws", "trn1.32xlarge"},       {"aws", "inf2.xlarge"}, {"aws", "g"},
        {"aws", "p4d"},        {"azure", "Standard_D4s_v3"},   {"gcp", "n2-standard-4"}, {"gcp", "a2"},
        {"lambda", "cpu_4x"},  {"aws", "Standard_NC6"},        {"aws", ""},
    };
    struct arena arena = {0};
    struct gpu_types *types = gpu_types_new(&arena);

    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        assert_true(gpu_type_family(families[i][0], of(families[i][1])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(gpu_type_family(others[i][0], of(others[i][1])));
    assert_true(gpu_types_empty(types));
    for (int i = 0; i < 3000; i++)
        gpu_types_add(types, "aws", arena_printf(&arena, "x%d.large", i));
    gpu_types_add(types, "coreweave", "gd-8xh100ib-i128");
    assert_true(gpu_type_known(types, "aws", of("X2999.LARGE")));
    assert_false(gpu_type_known(types, "aws", of("x3000.large")));
    assert_false(gpu_type_known(types, "aws", of("gd-8xh100ib-i128")));
    assert_false(gpu_type_known(types, "coreweave", of("x1.large")));
    assert_true(gpu_type_known(types, "reseller", of("x1.large")));
    arena_free(&arena);
}

static void
test_words(void **state)
{
    static const char *const cases[][2] = {
        {"$1.624 per On Demand Linux g5.4xlarge Instance Hour", "g5.4xlarge"},
        {"p99.24xlarge, then (x1.large).", "x1.large"},
        {"nothing here...", ""},
        {"", ""},
    };
    struct arena arena = {0};
    struct gpu_types *types = gpu_types_new(&arena);

    (void)state;
    gpu_types_add(types, "aws", "x1.large");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct field word = gpu_type_in(types, "aws", of(cases[i][0]));

        assert_int_equal(word.size, strlen(cases[i][1]));
        assert_memory_equal(word.text, cases[i][1], word.size);
    }
    arena_free(&arena);
}

static void
test_times(void **state)
{
    static const char *const same[] = {"2026-07-01T05:00:00Z", "2026-07-01 05:00:00", "2026-07-01 05:00:00 UTC",
                                       "2026-07-01T05:00:00.000Z", "2026-07-01T05:00:00+00:00", "2026-07-01T07:00:00+02:00"};
    struct bill_clock clock = {0};
    int64_t time = 0;

    (void)state;
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
            assert_true(bill_time(&clock, of(same[i]), &time));
            assert_int_equal(time, 1782882000);
        }
    assert_false(bill_time(&clock, of(""), &time));
    assert_false(bill_time(&clock, of("soon"), &time));
    assert_false(bill_time(&clock, of("2026-07-01T05:00:00Z and more of it, more than is remembered"), &time));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units), cmocka_unit_test(test_json),  cmocka_unit_test(test_types),
        cmocka_unit_test(test_words), cmocka_unit_test(test_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
