#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "reports/measure.h"
#include "reports/value.h"

static struct arena arena;

static void
figures_are_shown_as_people_read_them(void **state)
{
    static const struct {
        enum value_kind kind;
        const char *text, *wanted;
    } cases[] = {
        {VALUE_MONEY, "1234567.5", "1,234,567.50"},
        {VALUE_MONEY, "-1000", "-1,000.00"},
        {VALUE_MONEY, "-0.001", "0.00"},
        {VALUE_MONEY, NULL, "unknown"},
        {VALUE_ROUND_MONEY, "999.6", "1,000"},
        {VALUE_RATE, "2.5", "2.5000"},
        {VALUE_HOURS, "358040", "358,040.0"},
        {VALUE_COUNT, "1000000", "1,000,000"},
        {VALUE_SHARE, "0.1234", "12.3%"},
        {VALUE_SHARE, "-0.0001", "0.0%"},
        {VALUE_SHARE, "12.5", "1,250.0%"},
        {VALUE_MIXED, "60000", "60,000"},
        {VALUE_MIXED, "2.1104", "2.1104"},
        {VALUE_COUNT, "", ""},
        {VALUE_TEXT, "=1+1", "=1+1"},
        {VALUE_TEXT, NULL, "unknown"},
        {VALUE_TIME, "2026-07-01 00:00:00+00", "2026-07-01 00:00"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(value_text(&arena, cases[i].kind, cases[i].text), cases[i].wanted);
}

static void
only_whole_finite_numbers_are_numbers(void **state)
{
    static const char *const wrong[] = {"", "1x", "nan", "inf", "-infinity", "1e999", "=1"};
    double number = 7;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(value_number(wrong[i], &number));
    assert_true(number > 6.9 && number < 7.1);
    assert_true(value_number("-12.50", &number));
    assert_true(number < -12.4 && number > -12.6);
}

static size_t
units(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xC0) == 0x80 ? 0 : (unsigned char)*text >= 0xF0 ? 2 : 1;
    return count;
}

static void
a_cell_holds_what_it_can(void **state)
{
    struct buf text = {0};

    (void)state;
    assert_string_equal(value_cell_text(&arena, "a\tb\nc"), "a\tb\nc");
    assert_string_equal(value_cell_text(&arena, "\x01\r\x1b\x7f"),
                        "\xE2\x90\x81\xE2\x90\x8D\xE2\x90\x9B\xEF\xBF\xBD");
    assert_string_equal(value_cell_text(&arena, "\xEF\xBF\xBE\xEF\xBF\xBF\xEF\xBF\xBD"),
                        "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_string_equal(value_cell_text(&arena, "_x0041_ _x41_"), "_x005F_x0041_ _x41_");
    for (int i = 0; i < CELL_TEXT_MAX; i++)
        buf_putc(&text, 'x');
    assert_int_equal(units(value_cell_text(&arena, text.data)), CELL_TEXT_MAX);
    buf_putc(&text, 'x');
    assert_non_null(strstr(value_cell_text(&arena, text.data), "cut here"));
    assert_true(units(value_cell_text(&arena, text.data)) <= CELL_TEXT_MAX);
    buf_clear(&text);
    for (int i = 0; i < 20000; i++)
        buf_puts(&text, "\xF0\x9F\x9A\x80"); /* two units each */
    const char *cut = value_cell_text(&arena, text.data);
    assert_true(units(cut) <= CELL_TEXT_MAX && units(cut) > CELL_TEXT_MAX - 100);
    buf_free(&text);
}

static void
texts_are_measured(void **state)
{
    (void)state;
    assert_true(measure_px("iiii", false) < measure_px("MMMM", false));
    assert_true(measure_px("abc", true) > measure_px("abc", false));
    assert_true(measure_px("ab\nabcdef", false) <
                measure_px("ababcdef", false)); /* the widest line */
    assert_true(measure_longest_word_px("a abc", false) < measure_px("a abc", false));
    assert_int_equal(measure_lines("one two", false, 500), 1);
    assert_int_equal(measure_lines("one\ntwo", false, 500), 2);
    assert_int_equal(
        measure_lines("wwwwwwwwww wwwwwwwwww", false, measure_px("wwwwwwwwww", false) + 5), 2);
    assert_true(measure_lines("wwwwwwwwwwwwwwwwwwwwwwwwwwwwww", false,
                              measure_px("wwwwwwwwww", false)) >= 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_shown_as_people_read_them),
        cmocka_unit_test(only_whole_finite_numbers_are_numbers),
        cmocka_unit_test(a_cell_holds_what_it_can),
        cmocka_unit_test(texts_are_measured),
    };
    int failed = cmocka_run_group_tests_name("value", tests, NULL, NULL);

    arena_free(&arena);
    return failed;
}
