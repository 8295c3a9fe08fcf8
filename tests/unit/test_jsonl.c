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
#include "common/record.h"

static char path[] = "test_jsonl.XXXXXX";

static const char *const prefixes[] = {"tag.", NULL};

static void
write_file(const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Slots: cost (or price), text, a.b, list; then what begins with "tag.". Records as lines of text,
 * bad ones as "LINE: reason", an error as "error: text". */
static void
read_all(const char *text, size_t size, struct buf *out)
{
    static const char *const names[] = {"cost", "text", "a.b", "list"};
    struct error err = {0};
    struct record record;
    struct stream *stream;
    struct field cell[8];
    enum csv_status status = CSV_END;
    int want[4];

    write_file(text, size);
    assert_true(stream_open(&stream, path, &err));
    buf_puts(out, "");
    if (record_open(&record, stream, 0, &err)) {
        for (int i = 0; i < 4; i++)
            want[i] = record_find(&record, names[i]);
        record_want(&record, want, 4);
        for (size_t i = 0; i < 4; i++)
            record_alias(&record, i, names[i], 0);
        record_alias(&record, 0, "price", 1);
        record_gather(&record, prefixes, 4, 4);
        while ((status = record_next(&record, cell, &err)) <= CSV_BAD) {
            buf_printf(out, "%llu", (unsigned long long)record_line(&record));
            if (status == CSV_BAD)
                buf_printf(out, ": %s", record_reason(&record));
            for (size_t i = 0; status == CSV_RECORD && i < 4 + record_gathered(&record); i++)
                buf_printf(out, "[%.*s]", (int)cell[i].size, cell[i].text);
            buf_puts(out, "\n");
        }
        record_close(&record);
    }
    if (err.code) {
        assert_int_equal(err.code, ERR_INPUT);
        buf_printf(out, "error: %s", err.text);
    }
    stream_close(stream);
}

struct table_case {
    const char *text, *expected;
};

static void
run(const struct table_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct buf out = {0};

        read_all(cases[i].text, strlen(cases[i].text), &out);
        assert_string_equal(out.data, cases[i].expected);
        buf_free(&out);
    }
}

#define RUN(cases) run(cases, sizeof cases / sizeof *(cases))

static void
test_values(void **state)
{
    static const struct table_case cases[] = {
        {"{}", "1[][][][]\n"},
        {"{\"cost\":1.50,\"text\":\"x\"}\n", "1[1.50][x][][]\n"},
        {"\xef\xbb\xbf\n \n{\"text\" : \"x\" , \"cost\" : -0.123456789012345678901234567891E-7 }\r\n",
         "3[-0.123456789012345678901234567891E-7][x][][]\n"},
        {"{\"cost\":null,\"text\":true}\n{\"text\":false}\n", "1[][true][][]\n2[][false][][]\n"},
        {"{\"a\":{\"b\":7,\"c\":{\"b\":8}},\"list\":[{\"k\":\"]\\\"\"}, 2]}\n", "1[][][7][[{\"k\":\"]\\\"\"}, 2]]\n"},
        {"{\"a\":{\"b\":{\"x\":1}}, \"list\":{}}", "1[][][{\"x\":1}][{}]\n"},
        {"{\"a.b\":7}", "1[][][7][]\n"},
        {"{\"text\":\"\\u00e9\\ud83d\\ude00\\n\\\"\\\\\\/\",\"cost\":\"2\"}", "1[2][\xc3\xa9\xf0\x9f\x98\x80\n\"\\/][][]\n"},
        {"{\"c\\u006fst\":3}", "1[3][][][]\n"},
    };

    (void)state;
    RUN(cases);
}

/* Keys in any order, other case, other names, late ones, repeated ones. */
static void
test_names(void **state)
{
    static const struct table_case cases[] = {
        {"{\"text\":\"x\",\"cost\":1}\n{\"cost\":2,\"text\":\"y\"}\n{\"text\":\"z\"}\n",
         "1[1][x][][]\n2[2][y][][]\n3[][z][][]\n"},
        {"{\"COST\":1}\n{\"cost\":2,\"COST\":3}\n{\"Cost\":4,\"cost\":5}\n", "1[1][][][]\n2[2][][][]\n3[5][][][]\n"},
        {"{\"price\":1}\n{\"price\":2,\"cost\":3}\n{\"cost\":4,\"price\":5}\n", "1[1][][][]\n2[3][][][]\n3[4][][][]\n"},
        {"{\"cost\":1,\"cost\":1}\n{\"cost\":1,\"cost\":2}\n{\"COST\":1,\"Cost\":2}\n",
         "1[1][][][]\n2: two values of cost\n3: two values of Cost\n"},
        {"{\"cost\":1}\n{\"cost\":2,\"tag\":{\"t\":\"u\",\"v\":{\"w\":1}}}\n{\"tag.t\":3,\"tag\":{\"x\":4}}\n",
         "1[1][][][]\n2[2][][][][u][][1]\n3[][][][][3][][][4]\n"},
    };
    struct buf text = {0}, out = {0};

    (void)state;
    RUN(cases);
    for (int i = 0; i < 3000; i++)
        buf_printf(&text, "{\"text\":\"%d\"}\n", i);
    buf_puts(&text, "{\"a\":{\"b\":\"late\"}}\n");
    read_all(text.data, text.size, &out);
    assert_non_null(strstr(out.data, "\n3001[][][late][]\n"));
    buf_free(&text);
    buf_free(&out);
}

static void
test_broken_lines(void **state)
{
    static const struct table_case cases[] = {
        {"{\"cost\":1}\n{\"cost\":2\n{\"cost\":3}\n{\"co", "1[1][][][]\n2: the object does not end on its line\n3[3][][][]\n"
                                                           "4: the object does not end on its line\n"},
        {"{\"cost\":1}\nx\n{\"cost\":01}\n{\"cost\":1.}\n{\"cost\":NaN}\n{\"cost\":1,}\n{\"cost\" 1}\n{cost:1}\n",
         "1[1][][][]\n2: the line is no object\n3: no comma and no end after a value\n4: no digit where a number needs one\n"
         "5: no value where one must stand\n6: no name where one must stand\n7: no colon after a name\n"
         "8: no name where one must stand\n"},
        {"{\"cost\":1}\n{\"cost\":1}{\"cost\":2}\n{\"x\":[1 2]}\n{\"x\":[1}\n{\"x\":\"\t\"}\n",
         "1[1][][][]\n2: more follows the object on its line\n3: no comma and no end after a value\n"
         "4: no comma and no end after a value\n5: a control character in a string\n"},
        {"{\"cost\":1}\n{\"text\":\"\\ud83d\"}\n{\"text\":\"\\ude00\"}\n{\"text\":\"\\u0000\"}\n{\"text\":\"\\x\"}\n{\"text\":\"\xff\"}\n"
         "{\"list\":[\"\xc0\xaf\"]}\n{\"text\":\"\\u12\"}\n",
         "1[1][][][]\n2: an escape or letter that is no character in text\n3: an escape or letter that is no character in text\n"
         "4: an escape or letter that is no character in text\n5: an escape or letter that is no character in text\n"
         "6: no UTF-8 in text\n7: no UTF-8 in list\n8: an escape or letter that is no character in text\n"},
        {"{\"cost\":}\n{\n", "error: line 1: no value where one must stand"},
        {"{", "error: line 1: the object does not end on its line"},
        {"\xff\xfe{\0", "error: the file is UTF-16"},
    };

    (void)state;
    RUN(cases);
}

static void
test_array(void **state)
{
    static const struct table_case cases[] = {
        {"[]", ""},
        {" [ {\"cost\":1},{\"cost\":2}\n,\n {\n\"cost\":3\n} ] \n", "1[1][][][]\n1[2][][][]\n3[3][][][]\n"},
        {"[\n{\"cost\":1},\n{\"cost\":2\n{\"cost\":3},\n{\"cost\":x},\n{\"cost\":4}\n]",
         "2[1][][][]\n3: no comma and no end after a value\n4[3][][][]\n5: no value where one must stand\n6[4][][][]\n"},
        {"[{\"cost\":1},{\"cost\":2", "1[1][][][]\nerror: line 1: the array is cut short"},
        {"[{\"cost\":1}", "1[1][][][]\nerror: line 1: the array is cut short"},
        {"[{\"cost\":1}]\n[", "1[1][][][]\nerror: line 2: something follows the array"},
        {"[{\"cost\":1} {\"cost\":2}]", "1[1][][][]\nerror: line 1: no object where one must stand"},
        {"[{\"cost\":1},{\"cost\":x}]", "1[1][][][]\nerror: line 1: no value where one must stand"},
        {"[1,2]", "error: line 1: no object where one must stand"},
        {"[{\"text\":\"\xff\"},{\"cost\":2}]", "1: no UTF-8 in text\n1[2][][][]\n"},
    };

    (void)state;
    RUN(cases);
}

/* Records of every size around the edges of the window, and beyond what is taken. */
static void
test_sizes(void **state)
{
    (void)state;
    for (int size = 1; size < 1200000; size = size * 3 + 1)
        for (int array = 0; array < 2; array++) {
            struct buf text = {0}, out = {0}, expected = {0};

            buf_puts(&text, array ? "[" : "");
            for (int i = 0; i < 3; i++)
                buf_printf(&text, "{\"x\":\"%0*d\",\"cost\":%d}%s", size, 0, i, i == 2 ? "" : array ? "," : "\n");
            buf_puts(&text, array ? "]" : "");
            read_all(text.data, text.size, &out);
            for (int i = 0; i < 3; i++)
                buf_printf(&expected, "%d[%d][][][]\n", array ? 1 : i + 1, i);
            if (size < 1 << 20)
                assert_string_equal(out.data, expected.data);
            else
                assert_non_null(strstr(out.data, "longer than 1 MiB"));
            buf_free(&text);
            buf_free(&out);
            buf_free(&expected);
        }
}

static void
test_long_line(void **state)
{
    struct buf text = {0}, out = {0};

    (void)state;
    buf_puts(&text, "{\"cost\":1}\n{\"x\":\"");
    for (int i = 0; i < 3 << 20; i += 8)
        buf_puts(&text, "01234567");
    buf_puts(&text, "\"}\n{\"cost\":2}\n");
    read_all(text.data, text.size, &out);
    assert_string_equal(out.data, "1[1][][][]\n2: record is longer than 1 MiB\n3[2][][][]\n");
    buf_clear(&text);
    buf_clear(&out);
    buf_puts(&text, "{\"cost\":1}\n{\"x\":");
    for (int i = 0; i < 70; i++)
        buf_puts(&text, "[");
    buf_puts(&text, "\n{\"cost\":2}\n");
    read_all(text.data, text.size, &out);
    assert_string_equal(out.data, "1[1][][][]\n2: more than 64 levels\n3[2][][][]\n");
    buf_free(&text);
    buf_free(&out);
}

/* PostgreSQL takes no NUL, and text of ours would end there: "i-1" and "i-1\0x" are not one machine. */
static void
test_nul(void **state)
{
    static const char text[] = "cost,text\n1,\"a\0b\"\n2,a\0b\n3,ab\n";
    struct error err = {0};
    struct record record;
    struct stream *stream;
    struct field cell[2], decoded;
    char into[16];

    (void)state;
    write_file(text, sizeof text - 1);
    assert_true(stream_open(&stream, path, &err));
    assert_true(record_open(&record, stream, 0, &err));
    record_want(&record, (const int[]){0, 1}, 2);
    for (int row = 1; row <= 3; row++) {
        assert_int_equal(record_next(&record, cell, &err), CSV_RECORD);
        assert_true(record_cell(&record, cell[0], into, &decoded));
        assert_int_equal(record_cell(&record, cell[1], into, &decoded), row == 3);
    }
    record_close(&record);
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
        cmocka_unit_test(test_values), cmocka_unit_test(test_names), cmocka_unit_test(test_broken_lines),
        cmocka_unit_test(test_array),  cmocka_unit_test(test_sizes), cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_nul),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
