/* Answers of Datadog: gaps, steps that are too wide, what is no answer; who a series is. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/calendar.h"
#include "ingest/datadog.h"

enum { FROM = 3600 * 1000 };

struct seen {
    size_t series, values, gaps;
    int64_t last;
};

static bool
see(void *context, const struct datadog_series *series, struct error *err)
{
    struct seen *seen = context;

    (void)err;
    seen->series++;
    for (size_t i = 0; i < series->count; i++) {
        seen->gaps += isnan(series->value[i]);
        seen->values += !isnan(series->value[i]);
        seen->last = series->time[i];
    }
    return true;
}

/* times and values as JSON; hours: of the part asked for. */
static bool
answer(const char *times, const char *values, int hours, struct seen *seen, bool *is_wider, struct error *err)
{
    char text[1000];

    *seen = (struct seen){0};
    *is_wider = false;
    snprintf(text, sizeof text, "{\"data\":{\"attributes\":{\"times\":%s,\"series\":[{\"group_tags\":[\"host:a\"]}],\"values\":[%s]}}}",
             times, values);
    return datadog_answer(text, strlen(text), FROM, FROM + hours * HOUR_SECONDS, see, seen, is_wider, err);
}

static void
test_steps(void **state)
{
    struct seen seen;
    struct error err = {0};
    bool is_wider;

    (void)state;
    assert_true(answer("[3600000000,3603600000,3607200000]", "[1,null,0]", 24, &seen, &is_wider, &err));
    assert_false(is_wider);
    assert_int_equal(seen.values, 2);
    assert_int_equal(seen.gaps, 1);
    assert_int_equal(seen.last, FROM + 2 * HOUR_SECONDS);
    assert_true(answer("[]", "[]", 24, &seen, &is_wider, &err));
    assert_false(is_wider);
    /* two hours apart, alone, in mid-hour, before the part: nothing is taken */
    assert_true(answer("[3600000000,3607200000]", "[1,1]", 24, &seen, &is_wider, &err));
    assert_true(is_wider);
    assert_int_equal(seen.series, 0);
    assert_true(answer("[3607200000]", "[1]", 24, &seen, &is_wider, &err));
    assert_true(is_wider);
    assert_true(answer("[3600000000,3601800000]", "[1,1]", 24, &seen, &is_wider, &err));
    assert_true(is_wider);
    assert_true(answer("[3596400000,3600000000]", "[1,1]", 24, &seen, &is_wider, &err));
    assert_true(is_wider);
    /* of one hour there is one value, at its beginning */
    assert_true(answer("[3600000000]", "[1]", 1, &seen, &is_wider, &err));
    assert_false(is_wider);
    assert_true(answer("[3596400000]", "[1]", 1, &seen, &is_wider, &err));
    assert_true(is_wider);
}

static void
test_no_answers(void **state)
{
    static const char *const texts[] = {
        "", "null", "[]", "{}", "{\"errors\":[\"Forbidden\"]}", "{\"data\":{\"attributes\":{\"times\":{}}}}",
        "{\"data\":{\"attributes\":{\"times\":[3600000000]}}}",
        "{\"data\":{\"attributes\":{\"times\":[],\"series\":[{}],\"values\":[[]]}}}",
        "{\"data\":{\"attributes\":{\"times\":[],\"series\":[{\"group_tags\":[]}],\"values\":[]}}}", NULL,
    };
    struct seen seen;
    bool is_wider;

    (void)state;
    for (size_t i = 0; texts[i]; i++) {
        struct error err = {0};

        assert_false(datadog_answer(texts[i], strlen(texts[i]), FROM, FROM + HOUR_SECONDS, see, &seen, &is_wider, &err));
        assert_int_equal(err.code, ERR_INPUT);
    }
    struct error err = {0};

    assert_false(answer("[3600000000]", "[1,2]", 1, &seen, &is_wider, &err));
    assert_false(answer("[3600000000]", "[\"1\"]", 1, &seen, &is_wider, &err));
    assert_false(answer("[3603600000,3600000000]", "[1,2]", 24, &seen, &is_wider, &err));
    assert_false(answer("[true]", "[1]", 1, &seen, &is_wider, &err));
}

static const char *
label(const char *tags, const char *name, struct arena *arena)
{
    json_t *list = json_loads(tags, 0, NULL);
    struct label labels[DATADOG_LABELS];
    size_t count = datadog_labels(list, arena, labels);
    const char *value = NULL;

    for (size_t i = 0; i < count; i++)
        if (!strcmp(labels[i].name, name))
            value = arena_strdup(arena, labels[i].value);
    json_decref(list);
    return value;
}

static void
test_labels(void **state)
{
    struct arena arena = {0};

    (void)state;
    assert_string_equal(label("[\"host:i-0123456789abcdef0\",\"uuid:gpu-1a\",\"gpu:0\"]", "uuid", &arena), "GPU-1a");
    assert_string_equal(label("[\"host:i-0123456789abcdef0\",\"uuid:gpu-1a\"]", "instance_id", &arena), "i-0123456789abcdef0");
    assert_string_equal(label("[\"host:a\",\"hostname:b\",\"uuid:N/A\",\"gpu:2\"]", "uuid", &arena), "a/2");
    assert_string_equal(label("[\"host:a\",\"hostname:b\"]", "hostname", &arena), "b");
    assert_null(label("[\"host:a\",\"uuid:N/A\"]", "uuid", &arena));
    assert_null(label("[\"host:i-node\"]", "instance_id", &arena));
    assert_null(label("[\"hostname:x\",7,null]", "host", &arena));
    arena_free(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_no_answers),
        cmocka_unit_test(test_labels),
    };

    return cmocka_run_group_tests_name("datadog", tests, NULL, NULL);
}
