#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/log.h"

static FILE *sink; /* stands in for stderr while a test runs */
static int saved_fd;
static char output[16384];

static int
begin_capture(void **state)
{
    (void)state;
    sink = tmpfile();
    saved_fd = dup(STDERR_FILENO);
    log_open(LOG_NORMAL, false);
    return sink && saved_fd >= 0 && dup2(fileno(sink), STDERR_FILENO) >= 0 ? 0 : -1;
}

static int
end_capture(void **state)
{
    (void)state;
    dup2(saved_fd, STDERR_FILENO);
    close(saved_fd);
    fclose(sink);
    log_close();
    log_before(NULL);
    return 0;
}

/* What was logged since the last call. */
static const char *
captured(void)
{
    ssize_t size;

    fflush(stderr);
    size = pread(fileno(sink), output, sizeof(output) - 1, 0);
    assert_true(size >= 0);
    output[size] = '\0';
    assert_int_equal(ftruncate(fileno(sink), 0), 0);
    assert_int_equal(lseek(STDERR_FILENO, 0, SEEK_SET), 0);
    return output;
}

static void
levels_choose(void **state)
{
    (void)state;
    log_note("note");
    log_info("info");
    log_debug("debug");
    assert_string_equal(captured(), "gpu-audit: note\n");
    log_open(LOG_DEBUG, false);
    log_info("info");
    log_debug("debug");
    assert_string_equal(captured(), "gpu-audit: info\ngpu-audit: debug: debug\n");
    log_open(LOG_QUIET, false);
    log_note("note");
    log_warning("%d rows", 3);
    assert_string_equal(captured(), "gpu-audit: warning: 3 rows\n");
}

static void
error_has_detail_and_hint(void **state)
{
    struct error err = {0};

    (void)state;
    error_set(&err, ERR_NET, "could not reach it");
    log_error(&err);
    assert_string_equal(captured(), "gpu-audit: error: could not reach it\n");
    error_detail(&err, "first\nsecond");
    error_hint(&err, "Try again.");
    log_error(&err);
    assert_string_equal(captured(), "gpu-audit: error: could not reach it\n"
                                    "gpu-audit: detail: first\n    second\n"
                                    "gpu-audit: hint: Try again.\n");
}

static void
secrets_are_masked_everywhere(void **state)
{
    struct error err = {0};

    (void)state;
    log_secret(NULL);
    log_secret("");
    log_secret("hunter2");
    log_secret("hunter2-and-more");
    log_secret("hunter2");
    log_note("hunter2hunter2-and-more, hunter3");
    assert_string_equal(captured(), "gpu-audit: ******, hunter3\n");
    error_set(&err, ERR_NET, "a hunter2");
    error_detail(&err, "b hunter2");
    error_hint(&err, "c hunter2");
    log_error(&err);
    assert_null(strstr(captured(), "hunter2"));
    log_open(LOG_NORMAL, true);
    log_error(&err);
    assert_null(strstr(captured(), "hunter2"));
}

/* A secret that needs escaping in JSON is found before it is escaped. */
static void
secrets_with_quotes_are_masked_in_json(void **state)
{
    (void)state;
    log_open(LOG_NORMAL, true);
    log_secret("pa\"ss\\word");
    log_note("it is pa\"ss\\word.");
    assert_non_null(strstr(captured(), "\"message\": \"it is ***.\""));
}

static void
terminal_is_not_commanded(void **state)
{
    (void)state;
    log_note("a\x1b[31mred\x07 \xC2\x9B tab\there \xFF é");
    assert_string_equal(captured(), "gpu-audit: a\\x1B[31mred\\x07 \\x9B tab\there \\xFF é\n");
}

static void
json_is_an_object_a_line(void **state)
{
    struct error err = {0};
    json_t *object;

    (void)state;
    log_open(LOG_NORMAL, true);
    error_set(&err, ERR_DB, "could not \"insert\"");
    memcpy(err.sqlstate, "23505", 6);
    error_hint(&err, "Look.");
    log_error(&err);
    object = json_loads(captured(), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(object);
    assert_string_equal(json_string_value(json_object_get(object, "level")), "error");
    assert_string_equal(json_string_value(json_object_get(object, "message")),
                        "could not \"insert\"");
    assert_string_equal(json_string_value(json_object_get(object, "hint")), "Look.");
    assert_string_equal(json_string_value(json_object_get(object, "sqlstate")), "23505");
    assert_int_equal(json_integer_value(json_object_get(object, "status")), ERR_DB);
    assert_int_equal(strlen(json_string_value(json_object_get(object, "time"))), 20);
    assert_null(json_object_get(object, "detail"));
    json_decref(object);
}

static int hook_calls;

static void
count_call(void)
{
    hook_calls++;
}

static void
hook_runs_before_each_message(void **state)
{
    (void)state;
    log_before(count_call);
    log_note("a");
    log_info("not shown");
    log_warning("b");
    assert_int_equal(hook_calls, 2);
}

#define CAPTURED(test) cmocka_unit_test_setup_teardown(test, begin_capture, end_capture)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CAPTURED(levels_choose),
        CAPTURED(error_has_detail_and_hint),
        CAPTURED(secrets_are_masked_everywhere),
        CAPTURED(secrets_with_quotes_are_masked_in_json),
        CAPTURED(terminal_is_not_commanded),
        CAPTURED(json_is_an_object_a_line),
        CAPTURED(hook_runs_before_each_message),
    };

    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
