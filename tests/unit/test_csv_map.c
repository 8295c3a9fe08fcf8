/* Bills by a map: numbers and times as people write them, clocks that go forward and back, names of
 * GPUs, prices to the last digit. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/csv_map.h"
#include "ingest/gpu_name.h"

static struct field
of(const char *text)
{
    return (struct field){text, strlen(text)};
}

static void
assert_field(struct field field, const char *text)
{
    assert_int_equal(field.size, strlen(text));
    assert_memory_equal(field.text, text, field.size);
}

static void
test_numbers(void **state)
{
    static const struct {
        char decimal, thousands;
        const char *text, *number; /* NULL: none */
    } cases[] = {
        {'.', '\0', "12.50", "12.50"},        {'.', '\0', "1.5E-3", "1.5E-3"},      {'.', '\0', "1,234.5", NULL},
        {'.', '\0', "$ 12.50", "12.50"},      {'.', '\0', "(12.50)", "-12.50"},     {'.', '\0', "-$12.50", "-12.50"},
        {'.', '\0', "12.50 \xE2\x82\xAC", "12.50"}, {'.', '\0', "-(3)", NULL},      {'.', '\0', "", NULL},
        {'.', ',', "1,234,567.89", "1234567.89"}, {'.', ',', "1,23", NULL},         {'.', ',', "12345,678", NULL},
        {'.', ',', "1,234567", NULL},         {'.', ',', "0.123,456", NULL},        {',', '.', "1.234.567,89", "1234567.89"},
        {',', '.', "1.234", "1234"},          {',', '.', "1,234", "1.234"},         {',', '\0', "1.234,5", NULL},
        {',', '\0', "100,5", "100.5"},        {',', ' ', "1 234,5", "1234.5"},      {',', ' ', "1\xE2\x80\xAF" "234,5", "1234.5"},
        {'.', '\'', "1'234.50", "1234.50"},   {'.', '\0', "NaN", NULL},             {'.', '\0', "1 2", NULL},
        {',', '.', "1,2,3", NULL},            {'.', '\0', "twelve", NULL},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct csv_map map = {.decimal = cases[i].decimal, .thousands = cases[i].thousands};
        struct field number;
        bool found = csv_number(&map, &arena, of(cases[i].text), &number);

        if (found != (cases[i].number != NULL))
            fail_msg("%s", cases[i].text);
        if (found)
            assert_field(number, cases[i].number);
    }
    arena_free(&arena);
}

static void
test_times(void **state)
{
    static const struct {
        const char *format, *text;
        int64_t time; /* -1: none */
        bool is_utc;
    } cases[] = {
        {"%d/%m/%Y %H:%M", "31/07/2026 17:05", 1785517500, false},
        {"%m/%d/%y %I:%M %p", "7/31/26 5:05 PM", 1785517500, false},
        {"%m/%d/%y %I:%M %p", "7/31/26 12:05 am", 1785456300, false},
        {"%d %b %Y", "31 July 2026", 1785456000, false},
        {"%d %b %Y", "31 Jul 2026", 1785456000, false},
        {"%Y-%m-%d %H:%M:%S.%f %z", "2026-07-31 17:05:00.123 +0200", 1785510300, true},
        {"unix", "1785517500", 1785517500, true},
        {"unix-ms", "1785517500123", 1785517500, true},
        {"unix", "17855x7500", -1, true},
        {"%d/%m/%Y", "31/02/2026", -1, false},
        {"%d/%m/%Y", "31/07/2026 ", -1, false},
        {"%d/%m/%Y", "07/31/2026", -1, false},
        {"%I:%M", "13:00", -1, false},
        {"%Q", "x", -1, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t time = -1;
        bool is_utc = false, found = csv_time_parse(cases[i].format, of(cases[i].text), &time, &is_utc);

        if (found != (cases[i].time >= 0))
            fail_msg("%s by %s", cases[i].text, cases[i].format);
        if (!found)
            continue;
        assert_int_equal(time, cases[i].time);
        assert_int_equal(is_utc, cases[i].is_utc);
    }
}

/* Los Angeles in 2026: forward on 8 March 10:00 UTC, back on 1 November 09:00 UTC. */
static void
test_clocks(void **state)
{
    enum { FORWARD = 1772964000, BACK = 1793523600, HOUR = 3600 };
    static const int64_t from[] = {INT64_MIN, FORWARD, BACK};
    static const int offset[] = {-8 * HOUR, -7 * HOUR, -8 * HOUR};
    static const struct {
        int64_t local_from, local_to, from, to; /* from -1: refused */
    } cases[] = {
        {FORWARD - 8 * HOUR - HOUR, FORWARD - 8 * HOUR, FORWARD - HOUR, FORWARD},           /* 01:00 to 02:00 */
        {FORWARD - 8 * HOUR - HOUR, FORWARD - 7 * HOUR, FORWARD - HOUR, FORWARD},           /* 01:00 to 03:00 */
        {FORWARD - 8 * HOUR + 1800, FORWARD - 6 * HOUR, -1, 0},                             /* 02:30 is not */
        {FORWARD - 9 * HOUR, FORWARD - 8 * HOUR + 1800, -1, 0},
    };
    struct arena arena = {0};
    const struct time_zone *zone = time_zone_new(&arena, from, offset, 3);
    int64_t start, end, both[2];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *reason = time_zone_span(zone, cases[i].local_from, cases[i].local_to, &start, &end);

        assert_int_equal(reason == NULL, cases[i].from >= 0);
        if (!reason)
            assert_int_equal(start, cases[i].from);
        if (!reason)
            assert_int_equal(end, cases[i].to);
    }
    /* Back: 01:00 comes twice, first an hour before the change. */
    assert_int_equal(time_zone_find(zone, BACK - 8 * HOUR, both), TIME_TWICE);
    assert_int_equal(both[0], BACK - HOUR);
    assert_int_equal(both[1], BACK);
    assert_null(time_zone_span(zone, BACK - 8 * HOUR, BACK - 7 * HOUR, &start, &end)); /* 01:00 to 02:00: the second */
    assert_int_equal(start, BACK);
    assert_int_equal(end, BACK + HOUR);
    assert_null(time_zone_span(zone, BACK - 8 * HOUR, BACK - 8 * HOUR, &start, &end)); /* 01:00 to 01:00 */
    assert_int_equal(start, BACK - HOUR);
    assert_int_equal(end, BACK);
    assert_null(time_zone_span(zone, BACK - 8 * HOUR + 1800, BACK - 8 * HOUR, &start, &end)); /* 01:30 to 01:00 */
    assert_int_equal(start, BACK - 1800);
    assert_int_equal(end, BACK);
    assert_null(time_zone_span(zone, BACK - 9 * HOUR, BACK - 7 * HOUR, &start, &end)); /* 00:00 to 02:00: three hours */
    assert_int_equal(end - start, 3 * HOUR);
    assert_int_equal(time_zone_local(zone, BACK - 1), BACK - 1 - 7 * HOUR);
    assert_int_equal(time_zone_local(zone, BACK), BACK - 8 * HOUR);
    arena_free(&arena);
}

static void
test_names(void **state)
{
    static const struct {
        const char *text, *model; /* NULL: none */
        int count;
    } cases[] = {
        {"NVIDIA A100 80GB PCIe", "A100-PCIe-80GB", 0},    {"NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB", 0},
        {"NVIDIA_A100_80GB", "A100-80GB", 0},              {"A100-SXM4-40GB", "A100-SXM4-40GB", 0},
        {"1x A100", "A100", 1},                            {"H100_SXM", "H100-SXM5-80GB", 0},
        {"NVIDIA H100 80GB HBM3", "H100-80GB", 0},         {"NVIDIA H100 NVL", "H100-NVL-94GB", 0},
        {"8x H200", "H200", 8},                            {"gpu_8x_h100_sxm5", "H100-SXM5-80GB", 8},
        {"gd-8xh100ib-i128", "H100-80GB", 8},              {"n3-H100x8", "H100-80GB", 8},
        {"4 x NVIDIA L40S", "L40S", 4},                    {"NVIDIA GeForce RTX 4090", "RTX4090", 0},
        {"NVIDIA RTX A6000", "A6000", 0},                  {"Quadro RTX 6000", "RTX6000", 0},
        {"NVIDIA RTX 6000 Ada Generation", "RTX6000-Ada", 0}, {"RTX PRO 6000 Blackwell", "RTX-PRO-6000-BSE", 0},
        {"GH200 480GB", "GH200-96GB", 0},                  {"AMD Instinct MI300X", "MI300X", 0},
        {"H200 NVLink", "H200", 0},                        {"BM.GPU.L40S.4", "L40S", 0},                      {"Tesla V100 32 GB", "V100-32GB", 0},
        {"Nvidia Tesla T4 GPU attached to Spot Preemptible VMs", "T4", 0},
        {"A1000 laptop", NULL, 0},                         {"m6i.2xlarge", NULL, 0},
        {"g4dn.xlarge", NULL, 0},                          {"", NULL, 0},
        {"a very long name of nothing that anybody ever sold as a processor for graphics in any cloud at all, ever", NULL, 0},
        {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 8x", NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gpu_name name = {NULL, 0};

        if (gpu_name_find(of(cases[i].text), &name) != (cases[i].model != NULL))
            fail_msg("%s", cases[i].text);
        if (!cases[i].model)
            continue;
        assert_string_equal(name.model, cases[i].model);
        assert_int_equal(name.count, cases[i].count);
    }
}

static void
test_products(void **state)
{
    static const struct {
        const char *a, *b;
        int multiplier, divisor;
        const char *product; /* NULL: none */
    } cases[] = {
        {"4.5", "6.155", 1, 1, "27.6975"},
        {"1000", "0.0000959", 1, 1, "0.0959"},
        {"7200", "4.00", 1, 3600, "8"},
        {"1", "1", 1, 3, "0.333333333333333333"},
        {"2", "1", 1, 3, "0.666666666666666667"},
        {"0.000000000000000001", "1", 1, 2, "0"},                  /* half to even */
        {"0.000000000000000003", "1", 1, 2, "0.000000000000000002"},
        {"1", "1", 1, 8, "0.125"},
        {"-3", "0.5", 3600, 1800, "-3"},
        {"1.5E3", "2e-2", 1, 1, "30"},
        {"0", "99.9", 1, 7, "0"},
        {"-0", "5", 1, 1, "0"},
        {"99999999999999999999", "99999999999999999", 1, 1, "9999999999999999899900000000000000001"},
        {"0.123456789012345678901234567891", "0.5", 1, 1, "0.061728394506172839450617283946"}, /* 30 places, half to even */
        {"abc", "1", 1, 1, NULL},
        {"", "1", 1, 1, NULL},
        {"1", "NaN", 1, 1, NULL},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct field product;
        bool found = rate_product(&arena, of(cases[i].a), of(cases[i].b), cases[i].multiplier, cases[i].divisor, &product);

        if (found != (cases[i].product != NULL))
            fail_msg("%s x %s", cases[i].a, cases[i].b);
        if (found)
            assert_field(product, cases[i].product);
    }
    arena_free(&arena);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_times),    cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_products),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
