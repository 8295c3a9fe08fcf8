#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/calendar.h"
#include "ingest/bill_azure.h"
#include "ingest/bill_product.h"

static struct field
of(const char *text)
{
    return (struct field){text, strlen(text)};
}

static void
test_dates(void **state)
{
    static const struct {
        const char *date;
        enum azure_order order;
        const char *day; /* "": no date */
    } cases[] = {
        {"08/03/2026", AZURE_ORDER_UNKNOWN, "2026-08-03"}, {"08/03/2026", AZURE_MONTH_FIRST, "2026-08-03"},
        {"08/03/2026", AZURE_DAY_FIRST, "2026-03-08"},     {"8/3/2026", AZURE_ORDER_UNKNOWN, "2026-08-03"},
        {"08/03/2026 00:00:00", AZURE_MONTH_FIRST, "2026-08-03"}, {"31.08.2026", AZURE_MONTH_FIRST, "2026-08-31"},
        {"2026-08-03", AZURE_DAY_FIRST, "2026-08-03"},     {"2026-08-03T07:30:00Z", AZURE_ORDER_UNKNOWN, "2026-08-03"},
        {"2019-07-29 00:00:00", AZURE_ORDER_UNKNOWN, "2019-07-29"},
        {"31/08/2026", AZURE_MONTH_FIRST, ""},             {"02/30/2026", AZURE_MONTH_FIRST, ""},
        {"112/03/2026", AZURE_MONTH_FIRST, ""},            {"08/03/26", AZURE_MONTH_FIRST, ""},
        {"08/03/2026x", AZURE_MONTH_FIRST, ""},            {"08/03", AZURE_MONTH_FIRST, ""},
        {"/", AZURE_MONTH_FIRST, ""},                      {"", AZURE_MONTH_FIRST, ""},
        {"08/03/20260", AZURE_MONTH_FIRST, ""},
    };
    struct bill_clock clock = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[CALENDAR_TEXT] = "";
        int64_t day;

        if (azure_date(&clock, cases[i].order, of(cases[i].date), &day))
            date_format(day, text);
        assert_string_equal(text, cases[i].day);
    }
    assert_int_equal(azure_order_of(of("31/08/2026")), AZURE_DAY_FIRST);
    assert_int_equal(azure_order_of(of("08/31/2026")), AZURE_MONTH_FIRST);
    assert_int_equal(azure_order_of(of("08/09/2026")), AZURE_ORDER_UNKNOWN);
    assert_int_equal(azure_order_of(of("2026-08-31")), AZURE_ORDER_UNKNOWN);
    assert_int_equal(azure_order_of(of("31/31/2026")), AZURE_ORDER_UNKNOWN);
}

static void
test_units(void **state)
{
    static const char *const hours[] = {"1 Hour", "10 Hours", "100 Hours", "Hours", "", "1 hora", "1 Stunde", "1 小时", "1 Hrs"};
    static const char *const others[] = {"1/Month", "1 GB", "10K", "1", "100000000", "1 Day", "0 Unassigned"};

    (void)state;
    for (size_t i = 0; i < sizeof hours / sizeof *hours; i++)
        assert_true(azure_unit_is_hours(of(hours[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(azure_unit_is_hours(of(others[i])));
    assert_true(azure_unit_is_one(of("1 Hour")));
    assert_true(azure_unit_is_one(of("Hours")));
    assert_false(azure_unit_is_one(of("10 Hours")));
}

static void
test_products(void **state)
{
    static const char *const cases[][3] = {
        {"3.673", "24", "88.152"}, {"-2", "3.673", "-7.346"},  {"0.25", "0.4", "0.100"},        {".5", "5", "2.5"},
        {"0", "12", "0"},         {"1.25E-6", "8", ""},       {"", "8", ""},                   {"x", "8", ""},
        {"99999999999999999999", "99999999999999999999", "9999999999999999999800000000000000000001"},
        {"123456789012345678901234567890123456789012345678901234567890", "1", ""},
    };
    static const char *const ratios[][3] = {
        {"3.6", "6", "0.6"},      {"6", "3", "2"},        {"-1", "8", "-0.125"},   {"0", "7", "0"},
        {"12.5", "0.025", "500"}, {"1", "0", ""},         {"", "1", ""},           {"1", "1E2", ""},
        {"2", "3", "0.666666666666666666666666666666"},   {"1000", "0.0001", "10000000"},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct field product = bill_product(&arena, of(cases[i][0]), of(cases[i][1]));

        assert_string_equal(arena_strndup(&arena, product.text, product.size), cases[i][2]);
    }
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        struct field ratio = bill_ratio(&arena, of(ratios[i][0]), of(ratios[i][1]));

        assert_string_equal(arena_strndup(&arena, ratio.text, ratio.size), ratios[i][2]);
    }
    arena_free(&arena);
}

static void
test_commitments(void **state)
{
    static const char *const order = "11111111-aaaa-4000-8000-000000000001";
    struct arena arena = {0};
    struct field cell[AZURE_COLUMNS];

    (void)state;
    for (int i = 0; i < AZURE_COLUMNS; i++)
        cell[i] = of("");
    assert_string_equal(azure_commitment(&arena, cell), "");
    cell[AZURE_RESERVATION] = of("22222222-AAAA-4000-8000-000000000002");
    assert_string_equal(azure_commitment(&arena, cell), "22222222-aaaa-4000-8000-000000000002");
    cell[AZURE_ORDER] = of(order);
    assert_string_equal(azure_commitment(&arena, cell), order);
    cell[AZURE_ORDER] = of("99999999-aaaa-4000-8000-000000000009");
    cell[AZURE_INFO] = of("\"ReservationOrderId\": \"11111111-AAAA-4000-8000-000000000001\"");
    assert_string_equal(azure_commitment(&arena, cell), order);
    cell[AZURE_BENEFIT] = of("/providers/microsoft.capacity/reservationOrders/11111111-AAAA-4000-8000-000000000001/reservations/2");
    assert_string_equal(azure_commitment(&arena, cell), order);
    cell[AZURE_BENEFIT] = of("/providers/Microsoft.BillingBenefits/savingsPlanOrders/33333333-aaaa-4000-8000-000000000003");
    assert_string_equal(azure_commitment(&arena, cell), "33333333-aaaa-4000-8000-000000000003");
    arena_free(&arena);
}

static void
test_rows(void **state)
{
    static const struct {
        const char *category, *meter, *info, *publisher, *type;
        bool is_machine, is_gpu;
    } cases[] = {
        {"Virtual Machines", "NC24ads A100 v4", "{\"ServiceType\":\"Standard_NC96ads_A100_v4\",\"UsageType\":\"ComputeHR\"}", "Azure",
         "Standard_NC96ads_A100_v4", true, true},
        {"Virtual Machines", "NC24ads A100 v4 Spot", "", "", "Standard_NC24ads_A100_v4", true, true},
        {"Virtual Machines", "D4 v3/NC6s v3 Low Priority", "", "", "Standard_NC6s_v3", true, true},
        {"Virtual Machines", "D4 v3/D4s v3", "", "", "Standard_D4_v3", true, false},
        {"Virtual Machines", "x", "\"ServiceType\": null, \"UsageType\": null", "", "Standard_x", true, false},
        {"Virtual Machines Licenses", "4 vCPU", "{\"ServiceType\":\"Standard_NC6s_v3\"}", "", "Standard_NC6s_v3", false, true},
        {"Virtual Machines", "Vendor OS", "{\"ServiceType\":\"Standard_NC6s_v3\"}", "Marketplace", "Standard_NC6s_v3", false, true},
        {"Virtual Machines", "Outbound", "{\"ServiceType\":\"Standard_NC6s_v3\",\"UsageType\":\"DataTrOut\"}", "", "Standard_NC6s_v3", false, true},
        {"Virtuelle Computer", "x", "{\"ServiceType\":\"Standard_NC6s_v3\",\"UsageType\":\"ComputeHR\"}", "", "Standard_NC6s_v3", true, true},
        {"Azure Machine Learning", "x", "{\"ServiceType\":\"Standard_NC6s_v3\"}", "", "Standard_NC6s_v3", false, true},
    };
    struct arena arena = {0};
    struct gpu_types *types = gpu_types_new(&arena);
    struct field cell[AZURE_COLUMNS];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct azure_row row;

        for (int k = 0; k < AZURE_COLUMNS; k++)
            cell[k] = of("");
        cell[AZURE_CATEGORY] = of(cases[i].category);
        cell[AZURE_METER] = of(cases[i].meter);
        cell[AZURE_INFO] = of(cases[i].info);
        cell[AZURE_PUBLISHER_TYPE] = of(cases[i].publisher);
        cell[AZURE_CONSUMED_SERVICE] = of("microsoft.compute");
        azure_row_read(&arena, types, cell, &row);
        assert_string_equal(arena_strndup(&arena, row.type.text, row.type.size), cases[i].type);
        assert_int_equal(row.is_machine, cases[i].is_machine);
        assert_int_equal(row.is_gpu, cases[i].is_gpu);
        assert_string_equal(row.category, "Usage");
    }
    arena_free(&arena);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dates),       cmocka_unit_test(test_units), cmocka_unit_test(test_products),
        cmocka_unit_test(test_commitments), cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
