#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/csv.h"

static char path[] = "test_csv.XXXXXX";

static void
write_file(const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* The whole file as text: cells between brackets, records on lines, bad ones as "LINE: reason". */
static void
read_all(const char *text, size_t size, struct buf *out)
{
    struct stream *stream;
    struct error err = {0};
    struct csv *csv;
    int want[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct field cell[8];
    enum csv_status status;
    size_t columns;

    write_file(text, size);
    assert_true(stream_open(&stream, path, &err));
    assert_true(csv_open(&csv, stream, &err));
    columns = csv_columns(csv) < 8 ? csv_columns(csv) : 8;
    csv_want(csv, want, columns);
    buf_puts(out, "");
    while ((status = csv_next(csv, cell, &err)) != CSV_END) {
        assert_int_not_equal(status, CSV_ERROR);
        buf_printf(out, "%llu", (unsigned long long)csv_line(csv));
        if (status == CSV_BAD)
            buf_printf(out, ": %s", csv_reason(csv));
        for (size_t i = 0; status == CSV_RECORD && i < columns; i++)
            buf_printf(out, "[%.*s]", (int)cell[i].size, cell[i].text);
        buf_puts(out, "\n");
    }
    assert_int_equal(csv_next(csv, cell, &err), CSV_END);
    csv_close(csv);
    stream_close(stream);
}

struct table_case {
    const char *text, *expected;
};

static void
test_records(void **state)
{
    static const struct table_case cases[] = {
        {"", ""},
        {"a,b\n", ""},
        {"a,b", ""},
        {"a,b\n1,2\n", "2[1][2]\n"},
        {"a,b\n1,2", "2[1][2]\n"},
        {"a,b\r\n1,2\r\n3,4", "2[1][2]\n3[3][4]\n"},
        {"\xef\xbb\xbf" "a,b\n1,2\n", "2[1][2]\n"},
        {"a,b\n\"x,y\",\"say \"\"hi\"\"\"\n", "2[x,y][say \"hi\"]\n"},
        {"a,b\n\"two\nlines\",2\n3,4\n", "2[two\nlines][2]\n4[3][4]\n"},
        {"a,b\n,\n\"\",\"\"\"\"\n", "2[][]\n3[][\"]\n"},
        {"a,b\n\n1,2\n\r\n3,4\n\n", "3[1][2]\n5[3][4]\n"},
        {"a\n1\n\n2\n", "2[1]\n3[]\n4[2]\n"},
        {"a,b\n1,2,3\n4\n5,6\n", "2: 3 columns where the header has 2\n3: 1 columns where the header has 2\n4[5][6]\n"},
        {"a,b\n1,5\" disk\n3,4\n\"5\",6\n", "2: quotes are not closed\n3[3][4]\n4[5][6]\n"},
        {"a,b\n1,\"open\n3,4\n", "2: quotes are not closed\n3[3][4]\n"},
        {"a,b\n1,\"x\"y\"\"\n3,4\n", "2: stray quote in column 2\n3[3][4]\n"},
        {"a,b\n1,\"x\" \n3,4\n", "2: stray quote in column 2\n3[3][4]\n"},
        {"a,b\n1,2 \" x \" 3\n", "2[1][2 \" x \" 3]\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = {0};

        read_all(cases[i].text, strlen(cases[i].text), &out);
        assert_string_equal(out.data, cases[i].expected);
        buf_free(&out);
    }
}

/* Every place of a line end, quote and comma against the 64-byte blocks, and a window's edge. */
static void
test_blocks(void **state)
{
    (void)state;
    for (size_t pad = 0; pad < 140; pad++) {
        struct buf text = {0}, expected = {0}, out = {0};

        buf_puts(&text, "a,b\n");
        for (size_t row = 0; row < 3; row++) {
            buf_putc(&text, '"');
            for (size_t i = 0; i < pad; i++)
                buf_putc(&text, i % 7 ? 'x' : ',');
            buf_puts(&text, "\"\"\",2\r\n");
            buf_printf(&expected, "%zu[", row + 2);
            for (size_t i = 0; i < pad; i++)
                buf_putc(&expected, i % 7 ? 'x' : ',');
            buf_puts(&expected, "\"][2]\n");
        }
        read_all(text.data, text.size, &out);
        assert_string_equal(out.data, expected.data);
        buf_free(&text);
        buf_free(&expected);
        buf_free(&out);
    }
}

static void
add_many(struct buf *buf, char c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_putc(buf, c);
}

static void
test_long_records(void **state)
{
    struct buf text = {0}, out = {0};

    (void)state;
    buf_puts(&text, "a,b\n1,\"");
    add_many(&text, 'x', 900 << 10);
    buf_puts(&text, "\"\n2,");
    add_many(&text, 'y', 3 << 20);
    buf_puts(&text, "\n3,4\n5,\"");
    add_many(&text, '\n', 2 << 20);
    read_all(text.data, text.size, &out);
    assert_non_null(strstr(out.data, "\n3: record is longer than 1 MiB\n4[3][4]\n5: record is longer than 1 MiB\n"));
    assert_int_equal(strlen(out.data) - (900 << 10), strlen("2[1][]\n3: record is longer than 1 MiB\n4[3][4]\n"
                                                           "5: record is longer than 1 MiB\n"));
    buf_free(&text);
    buf_free(&out);
}

static void
test_limits(void **state)
{
    struct buf text = {0}, out = {0};
    struct stream *stream;
    struct error err = {0};
    struct csv *csv;

    (void)state;
    add_many(&text, ',', 5000);
    write_file(text.data, text.size);
    assert_true(stream_open(&stream, path, &err));
    assert_false(csv_open(&csv, stream, &err));
    assert_int_equal(err.code, ERR_INPUT);
    stream_close(stream);
    buf_clear(&text);
    buf_puts(&text, "a,b\n");
    add_many(&text, ',', 5000);
    buf_puts(&text, "\n1,2\n");
    read_all(text.data, text.size, &out);
    assert_non_null(strstr(out.data, "\n3[1][2]\n"));
    buf_free(&text);
    buf_free(&out);
}

static void
test_names(void **state)
{
    static const char text[] = "\xef\xbb\xbf\" Cost\", ResourceId ,TAGS,tags\r\n1,2,3,4\r\n";
    struct stream *stream;
    struct error err = {0};
    struct csv *csv;

    (void)state;
    write_file(text, strlen(text));
    assert_true(stream_open(&stream, path, &err));
    assert_true(csv_open(&csv, stream, &err));
    assert_int_equal(csv_columns(csv), 4);
    assert_string_equal(csv_name(csv, 0), "Cost");
    assert_int_equal(csv_find(csv, "cost"), 0);
    assert_int_equal(csv_find(csv, "resourceid"), 1);
    assert_int_equal(csv_find(csv, "tags"), 3);
    assert_int_equal(csv_find(csv, "TAGS"), 2);
    assert_int_equal(csv_find(csv, "absent"), -1);
    csv_close(csv);
    stream_close(stream);
}

/* Rows that all lack the same last cells; a file cut short is none of them. */
static void
test_short_rows(void **state)
{
    static const struct table_case cases[] = {
        {"a,b,c\n1,2\n3,4\n", "2[1][2]\n3[3][4]\n"},
        {"a,b,c\r\n1,2\r\n\r\n3,\"x\ny\"\r\n", "2[1][2]\n4[3][x\ny]\n"},
        {"a,b,c\n1,2\n3,4", "2[1][2]\n3[3][4]\n"},
        {"a,b,c\n1,2\n3,4\n5,6,7\n8", "2: 2 columns where the header has 3\n3: 2 columns where the header has 3\n4[5][6][7]\n"
                                       "5: 1 columns where the header has 3\n"},
        {"a,b,c\n1,2\n3,4,5\n", "2: 2 columns where the header has 3\n3[3][4][5]\n"},
        {"a,b,c\n1,2,3\n3,4\n", "2[1][2][3]\n3: 2 columns where the header has 3\n"},
        {"a,b,c\n1,2", "2: 2 columns where the header has 3\n"},
        {"a,b,c\n1,2\n3", "2[1][2]\n3: 1 columns where the header has 2\n"},
        {"a,b\n1,2,3\n4,5,6\n", "2: 3 columns where the header has 2\n3: 3 columns where the header has 2\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = {0};

        read_all(cases[i].text, strlen(cases[i].text), &out);
        assert_string_equal(out.data, cases[i].expected);
        buf_free(&out);
    }
}

/* Names found in any of three ways; one that stands twice. */
static void
test_repeated_names(void **state)
{
    static const char text[] = "Cost,x,Cost,Ma\xc3\x9f (UnitOfMeasure),Preis (cost),last\n1,a,1,h,9\n1,a,2,h,9\n";
    const int want[] = {0, 1};
    struct error err = {0};
    struct field cell[2];
    struct stream *stream;
    struct csv *csv;

    (void)state;
    write_file(text, strlen(text));
    assert_true(stream_open(&stream, path, &err));
    assert_true(csv_open(&csv, stream, &err));
    assert_int_equal(csv_columns(csv), 5);
    assert_int_equal(csv_find_translated(csv, "cost"), 0);
    assert_int_equal(csv_find_translated(csv, "UnitOfMeasure"), 3);
    assert_int_equal(csv_find_translated(csv, "OfMeasure"), -1);
    assert_int_equal(csv_find(csv, "UnitOfMeasure"), -1);
    csv_want(csv, want, 2);
    assert_non_null(strstr(csv_note(csv), "not there: last"));
    assert_non_null(strstr(csv_note(csv), "taken: Cost"));
    assert_int_equal(csv_next(csv, cell, &err), CSV_RECORD);
    assert_int_equal(csv_next(csv, cell, &err), CSV_BAD);
    assert_string_equal(csv_reason(csv), "two columns Cost that differ");
    assert_int_equal(csv_next(csv, cell, &err), CSV_END);
    csv_close(csv);
    stream_close(stream);
}

static int
make_path(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 || close(fd);
}

static int
remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records), cmocka_unit_test(test_blocks), cmocka_unit_test(test_long_records),
        cmocka_unit_test(test_limits),  cmocka_unit_test(test_names),   cmocka_unit_test(test_short_rows),
        cmocka_unit_test(test_repeated_names),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
