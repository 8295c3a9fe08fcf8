/* Cells of the small sources: what each kind accepts, and what is derived from them. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/calendar.h"
#include "ingest/catalog.h"
#include "ingest/table.h"

static struct field
field_of(const char *text)
{
    return (struct field){text, strlen(text)};
}

static void
test_cells(void **state)
{
    static const struct {
        enum cell_kind kind;
        const char *text;
        bool is_valid;
        const char *time;
    } cases[] = {
        {CELL_TEXT, "", true, NULL},
        {CELL_NUMBER, "12.5", true, NULL},
        {CELL_NUMBER, "-3", true, NULL},
        {CELL_NUMBER, "1,000", false, NULL},
        {CELL_NUMBER, "12 USD", false, NULL},
        {CELL_NUMBER, "NaN", false, NULL},
        {CELL_NUMBER, "35%", false, NULL},
        {CELL_COUNT, "0.125", true, NULL},
        {CELL_COUNT, "8", true, NULL},
        {CELL_COUNT, "0", false, NULL},
        {CELL_COUNT, "0.000", false, NULL},
        {CELL_COUNT, "0e5", false, NULL},
        {CELL_COUNT, "-1", false, NULL},
        {CELL_COUNT, "eight", false, NULL},
        {CELL_TIME, "2026-08-28T23:43:12Z", true, "2026-08-28T23:43:12Z"},
        {CELL_TIME, "28.08.2026", false, NULL},
        {CELL_DATE, "2026-08-28", true, "2026-08-28T00:00:00Z"},
        {CELL_MONTH, "2026-08", true, "2026-08-01T00:00:00Z"},
        {CELL_MONTH, "2026-08-17", true, "2026-08-01T00:00:00Z"},
        {CELL_MONTH, "2026-13", false, NULL},
        {CELL_MONTH, "August", false, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t time = 0;
        char text[CALENDAR_TEXT];

        if (cell_valid(cases[i].kind, field_of(cases[i].text), &time) != cases[i].is_valid) {
            fail_msg("%s as kind %d", cases[i].text, (int)cases[i].kind);
        }
        if (cases[i].time) {
            time_format(time, text);
            assert_string_equal(text, cases[i].time);
        }
    }
}

static void
test_trim(void **state)
{
    struct field field = field_trim(field_of(" \t a b \r\n"));

    (void)state;
    assert_int_equal(field.size, 3);
    assert_memory_equal(field.text, "a b", 3);
    assert_int_equal(field_trim(field_of("  ")).size, 0);
}

/* A table's columns, extra columns and COPY must agree, or every load of it fails. */
static void
test_copy_names_every_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < CATALOG_TABLES; i++) {
        const struct table *table = catalog_tables[i];
        size_t names = 1;

        for (const char *at = table->copy_sql; *at && *at != ')'; at++) {
            names += *at == ',';
        }
        assert_int_equal(names, 3 + table->column_count + table->extra_count);
        assert_true(table->column_count <= TABLE_COLUMNS && table->extra_count <= TABLE_EXTRA);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_copy_names_every_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
