#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/decimal.h"

static void
test_valid(void **state)
{
    static const char *const yes[] = {"0", "1", "-1", "+1", ".5", "5.", "1.50", "1e5", "1E-6", "-2.5e+10", "007",
                                      "1e99999999999999999999"};
    static const char *const no[] = {"", "-", ".", "e5", "1e", "1e+", "1 ", " 1", "1,000", "NaN", "inf", "0x1", "1.2.3",
                                     "--1", "1e5.5", "1-"};

    (void)state;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(decimal_valid(yes[i], strlen(yes[i])));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        assert_false(decimal_valid(no[i], strlen(no[i])));
        assert_false(decimal_fits(no[i], strlen(no[i])));
    }
    assert_int_equal(decimal_sign("-0.01", 5), -1);
    assert_int_equal(decimal_sign("-0.00", 5), 0);
    assert_int_equal(decimal_sign("1e-9", 4), 1);
    assert_int_equal(decimal_sign("-x", 2), 0);
    assert_int_equal(decimal_sign(NULL, 0), 0); /* a field that nobody has set */
}

static void
test_sums(void **state)
{
    static const char *const cases[][5] = {
        {"0"},
        {"0", "0.000"},
        {"0.3", "0.1", "0.2"},
        {"-0.5", "-1", ".5"},
        {"5.9883937432", "8.6020937432", "-2.6137"},
        {"0.000001250000000001", "1.25E-6", "1e-18"},
        {"0.000000000000000000000000000001", "1e-30"},
        {"99999999999999999999999999999999999999", "99999999999999999999999999999999999999"},
        {"100000000000000000000000000000000000000", "99999999999999999999999999999999999999", "1"},
        {"0", "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"},
        {"-0.000000000000000000000000000001", "1", "-1.000000000000000000000000000001"},
        {"340282366920938463463.3", "170141183460469231731.6", "170141183460469231731.7"},
        {"1200", "1.2E+3"},
        {"12", "0.00012e5"},
        {"1", "1.0000000000000000000000000000000000000000000000"},
        {"0", "0e9999", "0E-9999"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct decimal_sum sum = {0};
        char text[DECIMAL_TEXT];
        uint64_t rows = 0;

        for (int k = 1; k < 5 && cases[i][k]; k++, rows++)
            assert_true(decimal_add(&sum, cases[i][k], strlen(cases[i][k])));
        decimal_format(&sum, text);
        assert_string_equal(text, cases[i][0]);
        assert_int_equal(sum.rows, rows);
    }
}

static void
test_refused(void **state)
{
    static const char *const no[] = {"1e-31", "0.0000000000000000000000000000001", "1e38", "x",
                                     "100000000000000000000000000000000000000", "1e99999"};
    struct decimal_sum sum = {0};
    char text[DECIMAL_TEXT];

    (void)state;
    assert_true(decimal_add(&sum, "1.5", 3));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        assert_false(decimal_fits(no[i], strlen(no[i])));
        assert_false(decimal_add(&sum, no[i], strlen(no[i])));
    }
    decimal_format(&sum, text);
    assert_string_equal(text, "1.5");
    assert_int_equal(sum.rows, 1);
}

/* A million of the longest values stays exact and within the text. */
static void
test_many(void **state)
{
    static const char most[] = "-99999999999999999999999999999999999999.999999999999999999999999999999";
    struct decimal_sum sum = {0};
    char text[DECIMAL_TEXT];

    (void)state;
    for (int i = 0; i < 1000000; i++)
        assert_true(decimal_add(&sum, most, strlen(most)));
    decimal_format(&sum, text);
    assert_string_equal(text, "-99999999999999999999999999999999999999999999.999999999999999999999999");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
