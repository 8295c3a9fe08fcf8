#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "ingest/matrix.h"

/* What a reading came to, as text: "{a=b}[t=v,…]". */
struct trace {
    const char *text;
    size_t size, at, step; /* step: bytes a read gives at most */
    enum matrix_want want;
    struct buf out;
};

static bool
read_text(void *context, void *into, size_t room, size_t *ret_size, struct error *err)
{
    struct trace *trace = context;
    size_t size = trace->size - trace->at;

    (void)err;
    size = size < trace->step ? size : trace->step;
    size = size < room ? size : room;
    memcpy(into, trace->text + trace->at, size);
    trace->at += size;
    *ret_size = size;
    return true;
}

static bool
series(void *context, const struct label *labels, size_t count, enum matrix_want *ret_want,
       struct error *err)
{
    struct trace *trace = context;

    (void)err;
    buf_puts(&trace->out, "{");
    for (size_t i = 0; i < count; i++) {
        buf_printf(&trace->out, "%s%s=%s", i ? "," : "", labels[i].name, labels[i].value);
    }
    buf_puts(&trace->out, "}");
    *ret_want = trace->want;
    return true;
}

static bool
values(void *context, const struct matrix_value *value, size_t count, struct error *err)
{
    struct trace *trace = context;

    (void)err;
    for (size_t i = 0; i < count; i++) {
        buf_printf(&trace->out, "[%lld=%.17g]", (long long)value[i].time_ms, value[i].value);
    }
    return true;
}

static bool
run(struct trace *trace, struct matrix_summary *summary, struct error *err)
{
    const struct matrix_reader reader = {trace, read_text, series, values};

    buf_clear(&trace->out);
    buf_puts(&trace->out, "");
    trace->at = 0;
    return matrix_read(&reader, summary, err);
}

/* The same whatever the size of the pieces it comes in. */
static void
check(const char *text, enum matrix_want want, const char *wanted)
{
    static const size_t steps[] = {1, 2, 3, 7, 64, 1 << 20};

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct trace trace = {.text = text, .size = strlen(text), .step = steps[i], .want = want};
        struct matrix_summary summary;
        struct error err = {0};

        if (!run(&trace, &summary, &err)) {
            fail_msg("%s: %s", text, err.text);
        }
        assert_string_equal(trace.out.data, wanted);
        assert_int_equal(summary.bytes, strlen(text));
        buf_free(&trace.out);
    }
}

#define ANSWER(result)                                                                             \
    "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[" result "]}}"

static void
test_shapes(void **state)
{
    (void)state;
    check(ANSWER(""), MATRIX_VALUES, "");
    check(ANSWER("{\"metric\":{},\"values\":[]}"), MATRIX_VALUES, "{}");
    check(ANSWER("{\"metric\":{\"UUID\":\"GPU-1\",\"gpu\":\"0\"},\"values\":[[3600,\"0.5\"],[7200,"
                 "\"1\"]]}"),
          MATRIX_VALUES, "{UUID=GPU-1,gpu=0}[3600000=0.5][7200000=1]");
    check(ANSWER("{\"metric\":{\"a\":\"b\"},\"values\":[[1.5,\"NaN\"],[2.25,\"+Inf\"],[3,\"-Inf\"],"
                 "[4.0,\"1e-05\"]]}"),
          MATRIX_VALUES, "{a=b}[1500=nan][2250=inf][3000=-inf][4000=1.0000000000000001e-05]");
    check("\n{ \"data\" : { \"result\" : [ { \"metric\" : { \"a\" : \"b\" } , \"values\" : [ [ 1 , "
          "\"2\" ] , [ 3 , \"4\" ] ] } ] ,"
          " \"resultType\" : \"matrix\" } , \"status\" : \"success\" }\n",
          MATRIX_VALUES, "{a=b}[1000=2][3000=4]");
    check("{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[{\"metric\":{"
          "\"a\":\"b\"},\"value\":[1773114089.184,"
          "\"7\"]}]}}",
          MATRIX_VALUES, "{a=b}[1773114089184=7]");
    check("{\"status\":\"success\",\"stats\":{\"x\":[1,-2.5e3,true,null,{}]},\"data\":{"
          "\"resultType\":\"matrix\",\"result\":null}}",
          MATRIX_VALUES, "");
    check(ANSWER("{\"metric\":{\"a\":\"b\"},\"histograms\":[[1,{\"count\":\"3\"}]]},{\"metric\":{"
                 "\"a\":\"c\"},\"values\":[[1,\"2\"]]}"),
          MATRIX_VALUES, "{a=b}{a=c}[1000=2]");
}

static void
test_escapes(void **state)
{
    (void)state;
    check(ANSWER("{\"metric\":{\"a\\\"b\":\"c\\\\d\\/"
                 "\\n\\u00e9\\u20ac\\ud83d\\ude00\"},\"values\":[[1,\"2\"]]}"),
          MATRIX_VALUES, "{a\"b=c\\d/\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80}[1000=2]");
    check(ANSWER("{\"metric\":{\"a\":\"\\ud83dx\\u0000\\ude00\"},\"values\":[[1,\"\\u0032\"]]}"),
          MATRIX_VALUES, "{a=\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd}[1000=2]");
}

static void
test_bounds(void **state)
{
    (void)state;
    check(ANSWER("{\"metric\":{},\"values\":[[1,\"2\"]]},{\"metric\":{},\"values\":[[1,\"2\"],[5,"
                 "\"x\"],[9,\"4\"]]}"),
          MATRIX_BOUNDS, "{}[1000=0]{}[1000=0][9000=0]");
    check(ANSWER("{\"metric\":{},\"values\":[ [1,\"2\"] , [5,\"3\"] , [9,\"4\"] ]}"), MATRIX_BOUNDS,
          "{}[1000=0][9000=0]");
    check(ANSWER("{\"metric\":{},\"values\":[[1,\"2\"],[5,\"3\"]]},{\"metric\":{\"a\":\"]]\"},"
                 "\"values\":[[7,\"2\"],[8,\"3\"]]}"),
          MATRIX_SKIP, "{}{a=]]}");
}

/* Longer than the scanner's window: what it steps over and what it reads must not depend on where
 * the window ends. */
static void
test_long(void **state)
{
    struct buf text = {0};
    struct trace trace = {.step = 4096};
    struct matrix_summary summary;
    struct error err = {0};

    (void)state;
    buf_puts(&text, "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[");
    for (int i = 0; i < 40; i++) {
        buf_printf(&text, "%s{\"metric\":{\"n\":\"%d\"},\"values\":[", i ? "," : "", i);
        for (int j = 0; j < 1000 + 37 * i; j++) {
            buf_printf(&text, "%s[%d,\"%d.%d\"]", j ? "," : "", 3600 * (j + 1), i, j);
        }
        buf_puts(&text, "]}");
    }
    buf_puts(&text, "]}}");
    trace.text = text.data;
    trace.size = text.size;
    for (trace.want = MATRIX_SKIP; trace.want <= MATRIX_VALUES; trace.want++) {
        size_t count = 0;

        assert_true(run(&trace, &summary, &err));
        assert_int_equal(summary.series, 40);
        for (const char *at = trace.out.data; (at = strchr(at, '[')); at++) {
            count++;
        }
        assert_int_equal(count, trace.want == MATRIX_SKIP     ? 0
                                : trace.want == MATRIX_BOUNDS ? 80
                                                              : 40 * 1000 + 37 * 780);
    }
    buf_free(&trace.out);
    buf_free(&text);
}

static void
test_notes(void **state)
{
    struct trace trace = {.step = 100, .want = MATRIX_VALUES};
    struct matrix_summary summary;
    struct error err = {0};

    (void)state;
    trace.text = "{\"status\":\"success\",\"isPartial\":true,\"data\":{\"resultType\":\"matrix\","
                 "\"result\":[]},"
                 "\"warnings\":[\"one\",\"two\"],\"infos\":[\"three\"]}";
    trace.size = strlen(trace.text);
    assert_true(run(&trace, &summary, &err));
    assert_true(summary.is_success && summary.is_partial);
    assert_string_equal(summary.warnings, "one; two");
    assert_string_equal(summary.infos, "three");

    trace.text = "{\"status\":\"error\",\"errorType\":\"execution\",\"error\":\"query timed out\"}";
    trace.size = strlen(trace.text);
    assert_true(run(&trace, &summary, &err));
    assert_false(summary.is_success);
    assert_string_equal(summary.problem, "query timed out");
    buf_free(&trace.out);
}

static void
test_refused(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "byte 0: ends too early"},
        {"<html>", "byte 0: expected '{'"},
        {ANSWER("{\"metric\":{},\"values\":[[1,\"2\"]") "x", "expected"},
        {"{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{},\"values\":[[1,\"2\"],[2,"
         "\"3",
         "ends too early"},
        {ANSWER("{\"metric\":{},\"values\":[[1,\"2\"],[1,\"2\"]]}"), "do not ascend"},
        {ANSWER("{\"metric\":{},\"values\":[[1,\"2\"],[2,\"0x10\"]]}"),
         "expected a number in quotes"},
        {ANSWER("{\"metric\":{},\"values\":[[1,2]]}"), "expected '\"'"},
        {ANSWER("{\"metric\":{},\"values\":[[\"1\",\"2\"]]}"), "expected a time"},
        {ANSWER("{\"metric\":{},\"values\":[[-1,\"2\"]]}"), "expected a time"},
        {ANSWER("{\"values\":[[1,\"2\"]],\"metric\":{}}"), "values before \"metric\""},
        {ANSWER("{}"), "a series without \"metric\""},
        {ANSWER("[1,\"2\"]"), "neither a matrix nor a vector"},
        {ANSWER("{\"metric\":{\"a\":\"b\nc\"}}"), "a control character"},
        {ANSWER("{\"metric\":{\"a\":\"\\x\"}}"), "no such escape"},
        {ANSWER("{\"metric\":{}},"), "expected"},
        {ANSWER("") " {}", "expected the end"},
        {"{\"status\":\"success\"}", "without \"data\""},
        {"{\"data\":{\"result\":[]}}", "without \"status\""},
        {"{\"status\":\"success\",\"data\":{\"resultType\":\"scalar\",\"result\":[1,\"2\"]}}",
         "neither matrix nor vector"},
        {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "expected '{'"},
        {"{\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "nested too deeply"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct trace trace = {
            .text = cases[i].text, .size = strlen(cases[i].text), .step = 5, .want = MATRIX_VALUES};
        struct matrix_summary summary;
        struct error err = {0};

        if (run(&trace, &summary, &err) || err.code != ERR_INPUT ||
            !strstr(err.text, cases[i].error)) {
            fail_msg("%s: \"%s\" instead of \"%s\"", cases[i].text, err.text, cases[i].error);
        }
        buf_free(&trace.out);
    }
}

/* Every beginning of an answer is refused, and says so. */
static void
test_cut(void **state)
{
    static const char text[] = ANSWER(
        "{\"metric\":{\"UUID\":\"GPU-1\"},\"values\":[[3600,\"0.5\"],[7200,\"1\"],[10800,\"2\"]]}");

    (void)state;
    for (size_t size = 0; size < sizeof(text) - 1; size++) {
        for (int want = MATRIX_SKIP; want <= MATRIX_VALUES; want++) {
            struct trace trace = {
                .text = text, .size = size, .step = 1 << 20, .want = (enum matrix_want)want};
            struct matrix_summary summary;
            struct error err = {0};

            assert_false(run(&trace, &summary, &err));
            assert_int_equal(err.code, ERR_INPUT);
            assert_non_null(strstr(err.text, "ends too early"));
            buf_free(&trace.out);
        }
    }
}

static void
check_number(const char *text)
{
    double value = -1;

    if (!matrix_number(text, strlen(text), &value)) {
        fail_msg("%s is not taken", text);
    }
    if (value != strtod(text, NULL)) {
        fail_msg("%s is read as %.17g", text, value);
    }
}

/* By hand and by strtod, the same double: means of integers, all of their shortest forms, and
 * digits at random. */
static void
test_numbers(void **state)
{
    static const char *const fixed[] = {"0",
                                        "-0",
                                        "1",
                                        "100",
                                        "0.1",
                                        "0.7493333333333333",
                                        "12.473333333333333",
                                        "1e-05",
                                        "2.5e+21",
                                        "9007199254740993",
                                        "9007199254740992.5",
                                        "0.30000000000000004",
                                        "18446744073709551615",
                                        "99999999999999999999",
                                        "123456789012345678901234567890",
                                        "4.35",
                                        "0.000001",
                                        "9223372036854775794",
                                        "1.00000000000000011102230246251565404236316680908203125"};
    unsigned seed = 7;
    double value;

    (void)state;
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        check_number(fixed[i]);
    }
    for (int i = 0; i < 300000; i++) {
        char text[64];

        seed = seed * 1103515245u + 12345u;
        snprintf(text, sizeof(text), "%.*g", 6 + (int)(seed >> 8 & 15),
                 (double)(seed >> 4) / (double)(1 + (seed >> 20 & 4095)));
        check_number(text);
        snprintf(text, sizeof(text), "%u.%09u%u", seed >> 28, seed >> 2, seed % 1000);
        check_number(text);
    }
    assert_true(matrix_number("NaN", 3, &value) && isnan(value));
    assert_true(matrix_number("+Inf", 4, &value) && isinf(value));
    for (size_t i = 0; i < 12; i++) {
        static const char *const bad[] = {"",      "-",   ".",   ".5", "1.", "1.2.3",
                                          "0x1p3", "inf", "nan", " 1", "1 ", "1e"};

        /* ".5" and "1." are not JSON numbers, but strtod's: Prometheus writes neither; both are the
         * number meant */
        if (strcmp(bad[i], ".5") != 0 && strcmp(bad[i], "1.") != 0) {
            assert_false(matrix_number(bad[i], strlen(bad[i]), &value));
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes), cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_bounds), cmocka_unit_test(test_long),
        cmocka_unit_test(test_notes),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cut),    cmocka_unit_test(test_numbers),
    };

    return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}
