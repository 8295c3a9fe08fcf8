#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reports/mime.h"

static struct arena arena;

static void
base64_is_that_of_rfc_4648(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {{"f", "Zg==\r\n"},        {"fo", "Zm8=\r\n"},        {"foo", "Zm9v\r\n"},
                 {"foob", "Zm9vYg==\r\n"}, {"fooba", "Zm9vYmE=\r\n"}, {"foobar", "Zm9vYmFy\r\n"}};
    struct buf out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buf_clear(&out);
        mime_base64(&out, cases[i].text, strlen(cases[i].text));
        assert_string_equal(out.data, cases[i].wanted);
    }
    unsigned char all[256];
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (unsigned char)i;
    buf_clear(&out);
    mime_base64(&out, all, sizeof all);
    for (const char *line = out.data, *end; (end = strstr(line, "\r\n")) != NULL; line = end + 2)
        assert_true(end - line <= 76);
    assert_memory_equal(out.data + out.size - 6, "/w==\r\n", 6);
    buf_free(&out);
}

static void
quoted_printable_is_short_and_safe(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"a=b", "a=3Db\r\n"},
        {"Zürich", "Z=C3=BCrich\r\n"},
        {"end \nnext\t\n", "end=20\r\nnext=09\r\n\r\n"},
        {".\n..\nFrom me\nTo you", "=2E\r\n=2E.\r\n=46rom me\r\nTo you\r\n"},
        {"a\r\nb\x07", "a\r\nb=07\r\n"},
        {"", "\r\n"},
    };
    struct buf out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buf_clear(&out);
        mime_quoted_printable(&out, cases[i].text);
        assert_string_equal(out.data, cases[i].wanted);
    }
    char text[501] = {0};
    memset(text, '.', 500);
    buf_clear(&out);
    mime_quoted_printable(&out, text);
    for (const char *line = out.data, *end; (end = strstr(line, "\r\n")) != NULL; line = end + 2) {
        assert_true(end - line <= 76);
        assert_int_not_equal(line[0], '.'); /* also after a soft break */
    }
    buf_free(&out);
}

static void
expect_header(const char *text, const char *wanted)
{
    struct buf out = {0};

    mime_header(&out, "Subject", text);
    assert_string_equal(out.data, wanted);
    buf_free(&out);
}

static void
a_header_cannot_be_left(void **state)
{
    (void)state;
    expect_header("plain", "Subject: plain\r\n");
    expect_header("  a\r\nBcc: x@example.com", "Subject: a  Bcc: x@example.com\r\n");
    expect_header("Prüfung", "Subject: =?UTF-8?B?UHLDvGZ1bmc=?=\r\n");
    expect_header("=?UTF-8?B?QQ==?=", "Subject: =?UTF-8?B?PT9VVEYtOD9CP1FRPT0/PQ==?=\r\n");
    expect_header("word word word word word word word word word word word word word word word",
                  "Subject: word word word word word word word word word word word word word\r\n "
                  "word word\r\n");
}

static void
a_long_header_is_cut_between_characters(void **state)
{
    struct buf text = {0}, out = {0};

    (void)state;
    for (int i = 0; i < 60; i++)
        buf_puts(&text, "\xE6\xBC\xA2");
    mime_header(&out, "Subject", text.data);
    for (const char *line = out.data, *end; (end = strstr(line, "\r\n")) != NULL; line = end + 2) {
        assert_true(end - line <= 76);
        assert_non_null(strstr(line, "=?UTF-8?B?")); /* 39 bytes are 13 whole characters: */
        assert_memory_equal(end - 2, "?=", 2);
    }
    assert_null(strstr(out.data, "=?UTF-8?B?\xE6"));
    assert_null(strstr(out.data, "==?=")); /* every word but the last ends on a third byte */
    buf_free(&text);
    buf_free(&out);
}

static void
addresses_are_read_as_people_write_them(void **state)
{
    struct address *list = NULL;
    struct error err = {0};
    struct buf out = {0};

    (void)state;
    assert_true(address_parse(&arena,
                              " a@x.example ,, Jane Doe <j@x.example>, \"Doe, \\\"JD\\\" Joe\" "
                              "<d@x.example>, Zoë <z@x.example>",
                              &list, &err));
    mime_addresses(&out, "To", list);
    assert_string_equal(out.data, "To: a@x.example,\r\n \"Jane Doe\"\r\n <j@x.example>,\r\n \"Doe, "
                                  "\\\"JD\\\" Joe\"\r\n <d@x.example>,\r\n"
                                  " =?UTF-8?B?Wm/Dqw==?=\r\n <z@x.example>\r\n");
    buf_free(&out);
    assert_true(address_parse(&arena, NULL, &list, &err));
    assert_null(list);
    assert_true(address_parse(&arena, " , ", &list, &err));
    assert_null(list);
}

static void
addresses_that_are_none_are_refused(void **state)
{
    static const char *const wrong[] = {
        "nobody",
        "@x.example",
        "a@",
        "a@b@c",
        "a b@x.example",
        "a@x.example\r\nBcc: c@x.example",
        "A <a@x.example> b",
        "A <a@x.example>b",
        "a\x07@x.example",
        "\xC3\xBC@x.example",
        "Jane\r\nBcc: b@x.example <a@x.example>",
        "Jane \xFF <a@x.example>",
        "<a@x.example",
        "a;b@x.example",
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct address *list = NULL;
        struct error err = {0};
        assert_false(address_parse(&arena, wrong[i], &list, &err));
        assert_int_equal(err.code, ERR_CONFIG);
        assert_null(list);
    }
}

static void
dates_are_english(void **state)
{
    struct buf out = {0};

    (void)state;
    mime_date(&out, 1791187200);
    assert_string_equal(out.data, "Date: Mon, 05 Oct 2026 08:00:00 +0000\r\n");
    buf_free(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_is_that_of_rfc_4648),
        cmocka_unit_test(quoted_printable_is_short_and_safe),
        cmocka_unit_test(a_header_cannot_be_left),
        cmocka_unit_test(a_long_header_is_cut_between_characters),
        cmocka_unit_test(addresses_are_read_as_people_write_them),
        cmocka_unit_test(addresses_that_are_none_are_refused),
        cmocka_unit_test(dates_are_english),
    };
    int failed = cmocka_run_group_tests_name("mime", tests, NULL, NULL);

    arena_free(&arena);
    return failed;
}
