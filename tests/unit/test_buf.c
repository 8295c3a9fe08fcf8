#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/buf.h"

static void
text_is_added(void **state)
{
    struct buf buf = {0};
    char long_text[1000];

    (void)state;
    memset(long_text, 'z', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    buf_puts(&buf, "a");
    buf_putc(&buf, 'b');
    buf_add(&buf, "cde", 2);
    buf_printf(&buf, "%03d", 7);
    assert_string_equal(buf.data, "abcd007");
    assert_int_equal(buf.size, 7);
    buf_clear(&buf);
    assert_string_equal(buf.data, "");
    buf_printf(&buf, "<%s>", long_text);
    assert_int_equal(buf.size, 1001);
    assert_int_equal(buf.data[1000], '>');
    assert_false(buf.overflow);
    buf_free(&buf);
    assert_null(buf.data);
}

static void
nothing_passes_the_cap(void **state)
{
    struct buf buf = {.cap = 10};

    (void)state;
    buf_puts(&buf, "0123456789");
    assert_false(buf.overflow);
    buf_putc(&buf, 'x');
    assert_true(buf.overflow);
    assert_string_equal(buf.data, "0123456789");
    buf_clear(&buf);
    assert_false(buf.overflow);
    buf_puts(&buf, "12345");
    buf_printf(&buf, "%s", "123456");
    assert_true(buf.overflow);
    buf_putc(&buf, '6'); /* no text with a hole in it */
    assert_string_equal(buf.data, "12345");
    buf_free(&buf);
}

static void
html_is_escaped(void **state)
{
    struct buf buf = {0};

    (void)state;
    buf_html(&buf, "<a href=\"x\">R&D's</a>");
    assert_string_equal(buf.data, "&lt;a href=&quot;x&quot;&gt;R&amp;D&#39;s&lt;/a&gt;");
    buf_free(&buf);
}

static void
json_is_escaped(void **state)
{
    struct buf buf = {0};

    (void)state;
    buf_json(&buf, NULL);
    buf_putc(&buf, ' ');
    buf_json(&buf, "a\"b\\c\n\t\x01\x7f é");
    assert_string_equal(buf.data, "null \"a\\\"b\\\\c\\n\\t\\u0001\\u007f é\"");
    buf_free(&buf);
}

/* Every byte after every lead byte: the result is always JSON that a strict parser takes. */
static void
any_bytes_give_json(void **state)
{
    static const char *const leads[] = {"",         "\xC3", "\xE0", "\xED\xA0", "\xF0\x9F\x98",
                                        "\xF4\x90", "\xC0"};
    size_t i;
    int byte;

    (void)state;
    for (i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        for (byte = 1; byte < 256; byte++) {
            struct buf buf = {0};
            char text[8] = {0};
            size_t size = strlen(leads[i]);
            json_t *value;

            memcpy(text, leads[i], size);
            text[size] = (char)byte;
            buf_json(&buf, text);
            value = json_loads(buf.data, JSON_DECODE_ANY, NULL);
            assert_true(json_is_string(value));
            if (size == 0 && byte < 0x80)
                assert_string_equal(json_string_value(value), text);
            json_decref(value);
            buf_free(&buf);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_added),       cmocka_unit_test(nothing_passes_the_cap),
        cmocka_unit_test(html_is_escaped),     cmocka_unit_test(json_is_escaped),
        cmocka_unit_test(any_bytes_give_json),
    };

    return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
