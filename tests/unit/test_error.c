#include <config.h>

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/error.h"
#include "common/utf8.h"

static void
set_starts_anew(void **state)
{
    struct error err = {.sqlstate = "42P01", .detail = "old", .hint = "old"};

    (void)state;
    assert_false(error_set(&err, ERR_DB, "could not %s", "connect"));
    assert_int_equal(err.code, ERR_DB);
    assert_string_equal(err.text, "could not connect");
    assert_string_equal(err.detail, "");
    assert_string_equal(err.hint, "");
    assert_string_equal(err.sqlstate, "");
}

static void
detail_hint_and_context_add(void **state)
{
    struct error err = {0};

    (void)state;
    error_set(&err, ERR_INPUT, "column \"%s\" is missing", "BilledCost");
    assert_false(error_detail(&err, "there are %d", 3));
    assert_false(error_hint(&err, "Export it again."));
    assert_false(error_context(&err, "%s line %d", "a.csv", 1));
    assert_string_equal(err.text, "a.csv line 1: column \"BilledCost\" is missing");
    assert_string_equal(err.detail, "there are 3");
    assert_string_equal(err.hint, "Export it again.");
    assert_int_equal(err.code, ERR_INPUT);
}

static void
arguments_may_be_the_error_itself(void **state)
{
    struct error err = {0};

    (void)state;
    error_set(&err, ERR_NET, "timed out");
    error_set(&err, ERR_PARTIAL, "bills: %s", err.text);
    assert_string_equal(err.text, "bills: timed out");
    error_context(&err, "%s", err.text);
    assert_string_equal(err.text, "bills: timed out: bills: timed out");
}

static void
assert_is_utf8(const char *text)
{
    size_t left = strlen(text);

    while (left) {
        size_t size = utf8_size(text, left);

        assert_true(size > 0);
        text += size;
        left -= size;
    }
}

/* Whatever the offset at which a long text is cut, no character is cut in two. */
static void
long_text_is_cut_between_characters(void **state)
{
    char text[4096];
    size_t shift;

    (void)state;
    for (shift = 0; shift < 4; shift++) {
        struct error err = {0};
        size_t size = shift;

        memset(text, 'x', shift);
        for (; size + 4 < sizeof(text); size += 4)
            memcpy(text + size, "\xF0\x9F\x98\x80", 4);
        text[size] = '\0';
        error_set(&err, ERR_INPUT, "%s", text);
        assert_in_range(strlen(err.text), sizeof(err.text) - 5, sizeof(err.text) - 1);
        assert_is_utf8(err.text);
        error_context(&err, "%s", text);
        assert_is_utf8(err.text);
        error_hint(&err, "%s", text);
        assert_in_range(strlen(err.hint), sizeof(err.hint) - 5, sizeof(err.hint) - 1);
        assert_is_utf8(err.hint);
    }
}

static void
clear_empties(void **state)
{
    struct error err = {0};

    (void)state;
    error_set(&err, ERR_BUG, "x");
    error_clear(&err);
    assert_int_equal(err.code, ERR_NONE);
    assert_string_equal(err.text, "");
}

static void
signal_is_an_error_until_the_end(void **state)
{
    struct error err = {0};
    struct sigaction action;

    (void)state;
    interrupt_install();
    assert_true(interrupt_check(&err));
    assert_int_equal(err.code, ERR_NONE);
    raise(SIGINT);
    assert_false(interrupt_check(&err));
    assert_int_equal(err.code, ERR_INTERRUPTED);
    assert_false(interrupt_check(&err));
    /* the second one kills */
    assert_int_equal(sigaction(SIGINT, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_DFL);
    assert_int_equal(sigaction(SIGPIPE, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_IGN);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_starts_anew),
        cmocka_unit_test(detail_hint_and_context_add),
        cmocka_unit_test(arguments_may_be_the_error_itself),
        cmocka_unit_test(long_text_is_cut_between_characters),
        cmocka_unit_test(clear_empties),
        cmocka_unit_test(signal_is_an_error_until_the_end),
    };

    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
