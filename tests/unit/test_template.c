#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reports/template.h"

static struct arena arena;

static void
expect(enum template_kind kind, const char *text, const char *wanted)
{
    struct template_values values = {.arena = &arena};
    struct buf out = {0};
    struct error err = {0};

    template_set(&values, "team", "a<b> & \"c\"");
    template_set(&values, "hostile", "x\r\nBcc: y\x07\t{{team}}");
    template_set_markup(&values, "table", "<b>bold</b>");
    assert_true(template_fill_text(&out, "t.txt", text, kind, &values, &err));
    assert_string_equal(out.data, wanted);
    buf_free(&out);
}

static void
plain_text_keeps_lines_only(void **state)
{
    (void)state;
    expect(TEMPLATE_TEXT, "hello {{team}}\n", "hello a<b> & \"c\"\n");
    expect(TEMPLATE_TEXT, "{{hostile}}", "x \nBcc: y \t{{team}}"); /* values are not templates */
    expect(TEMPLATE_TEXT, "{{table}} {x} }} {", "<b>bold</b> {x} }} {");
}

static void
html_is_escaped_but_for_markup(void **state)
{
    (void)state;
    expect(TEMPLATE_HTML, "<p>{{team}}</p>{{table}}",
           "<p>a&lt;b&gt; &amp; &quot;c&quot;</p><b>bold</b>");
}

static void
a_header_stays_one_line(void **state)
{
    (void)state;
    expect(TEMPLATE_HEADER, "about\n{{hostile}}\n\n", "about x  Bcc: y  {{team}}");
}

static void
expect_error(const char *text, const char *wanted)
{
    struct template_values values = {.arena = &arena};
    struct buf out = {0};
    struct error err = {0};

    template_set(&values, "team", "x");
    assert_false(template_fill_text(&out, "t.txt", text, TEMPLATE_TEXT, &values, &err));
    assert_int_equal(err.code, ERR_REPORT);
    assert_string_equal(err.text, wanted);
    buf_free(&out);
}

static void
a_wrong_template_names_its_line(void **state)
{
    (void)state;
    expect_error("a\n{{team}}\n{{teams}}", "t.txt line 3: no value is called \"teams\"");
    expect_error("{{team}} {{team\nrest", "t.txt line 1: no }} after \"{{team\"");
    expect_error("{{ team }}", "t.txt line 1: no value is called \" team \"");
}

static void
a_later_value_wins(void **state)
{
    struct template_values values = {.arena = &arena};
    struct buf out = {0};
    struct error err = {0};

    (void)state;
    template_set(&values, "a", "old");
    template_set(&values, "a", "new");
    assert_true(template_fill_text(&out, "t", "{{a}}", TEMPLATE_TEXT, &values, &err));
    assert_string_equal(out.data, "new");
    buf_free(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_keeps_lines_only),
        cmocka_unit_test(html_is_escaped_but_for_markup),
        cmocka_unit_test(a_header_stays_one_line),
        cmocka_unit_test(a_wrong_template_names_its_line),
        cmocka_unit_test(a_later_value_wins),
    };
    int failed = cmocka_run_group_tests_name("template", tests, NULL, NULL);

    arena_free(&arena);
    return failed;
}
