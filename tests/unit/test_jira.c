/* Jira's answers as JSON: pages, issues, fields of every shape, hostile text. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/calendar.h"
#include "ingest/jira.h"

static const char *
text_of(struct arena *arena, const char *json)
{
    json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);
    const char *text;

    assert_non_null(value);
    text = jira_text(arena, value);
    json_decref(value);
    return text;
}

static void
test_text_shapes(void **state)
{
    static const struct {
        const char *json, *text; /* NULL: unknown */
    } cases[] = {
        {"null", NULL},
        {"\"\"", NULL},
        {"\"  \\t \"", NULL},
        {"\" platform \"", "platform"},
        {"8", "8"},
        {"0", "0"},
        {"0.125", "0.125"},
        {"true", "true"},
        {"{\"id\":\"1\",\"value\":\"platform\"}", "platform"},
        {"{\"name\":\"Platform\"}", "Platform"},
        {"{\"accountId\":\"x\",\"displayName\":\"Ada\"}", "Ada"},
        {"{\"id\":\"7\",\"title\":\"Core\"}", "Core"},
        {"{\"value\":\"Research\",\"child\":{\"value\":\"Vision\"}}", "Research - Vision"},
        {"{\"value\":\"Research\",\"child\":null}", "Research"},
        {"[{\"value\":\"a\"},null,{\"name\":\"b\"},\"c\"]", "a;b;c"},
        {"[]", NULL},
        {"[null,\"\"]", NULL},
        {"{}", NULL},
        {"{\"unknown\":\"shape\"}", NULL},
        {"{\"value\":null,\"name\":\"n\"}", "n"},
        {"{\"type\":\"doc\",\"version\":1,\"content\":[{\"type\":\"paragraph\",\"content\":[{"
         "\"type\":\"text\",\"text\":\"Needs\"},"
         "{\"type\":\"text\",\"text\":\"8 GPUs\"}]}]}",
         "Needs 8 GPUs"},
        {"{\"type\":\"doc\",\"version\":1,\"content\":[]}", NULL},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *text = text_of(&arena, cases[i].json);

        if (!cases[i].text) {
            if (text) {
                fail_msg("%s gave %s", cases[i].json, text);
            }
        } else {
            assert_non_null(text);
            assert_string_equal(text, cases[i].text);
        }
    }
    arena_free(&arena);
}

static void
test_text_is_bounded(void **state)
{
    struct arena arena = {0};
    char json[20010];
    const char *text;

    (void)state;
    memset(json, '[', 60);
    memcpy(json + 60, "\"x\"", 3);
    memset(json + 63, ']', 60);
    json[123] = '\0';
    assert_null(text_of(&arena, json)); /* too deep to be a field */

    json[0] = '"';
    for (size_t i = 0; i < 10000; i++) {
        memcpy(json + 1 + 2 * i, "\xc3\xa9", 2);
    }
    memcpy(json + 20001, "\"", 2);
    text = text_of(&arena, json);
    assert_int_equal(strlen(text), 4096); /* 4096 is even: no half character */
    arena_free(&arena);
}

static bool
open_text(struct jira_page *page, const char *text, struct error *err)
{
    memset(err, 0, sizeof(*err));
    return jira_page_open(page, text, strlen(text), "page.json", err);
}

static void
test_page_ends(void **state)
{
    struct jira_page page;
    struct error err;

    (void)state;
    assert_true(
        open_text(&page, "{\"issues\":[],\"isLast\":false,\"nextPageToken\":\"t1\"}", &err));
    assert_false(page.is_last);
    assert_true(page.says_more);
    assert_string_equal(page.next_token, "t1");
    assert_int_equal(page.total, -1);
    jira_page_close(&page);

    assert_true(open_text(&page, "{\"issues\":[{\"key\":\"A-1\"}],\"nextPageToken\":null}", &err));
    assert_int_equal(page.count, 1);
    assert_null(page.next_token);
    assert_false(page.is_last);
    assert_false(page.says_more);
    jira_page_close(&page);

    assert_true(
        open_text(&page, "{\"issues\":[],\"total\":959,\"warningMessages\":[\"cut\"]}", &err));
    assert_int_equal(page.total, 959);
    assert_string_equal(page.warning, "cut");
    jira_page_close(&page);
}

static void
test_not_pages(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "not JSON"},
        {"  <!DOCTYPE html><html>", "web page"},
        {"{\"issues\":[", "not JSON"},
        {"[]", "no list \"issues\""},
        {"{\"errorMessages\":[\"no right\"]}", "no list \"issues\""},
        {"{\"issues\":{}}", "no list \"issues\""},
        {"{\"issues\":[]} trailing", "not JSON"},
        {"{\"issues\":[\"\xff\"]}", "not JSON"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct jira_page page = {.count = 77};
        struct error err;

        assert_false(open_text(&page, cases[i].text, &err));
        assert_int_equal(err.code, ERR_INPUT);
        assert_non_null(strstr(err.text, "page.json"));
        assert_non_null(strstr(err.text, cases[i].says));
        assert_true(err.hint[0] != '\0');
        assert_int_equal(page.count, 77);
    }
}

static const char one_issue[] =
    "{\"issues\":[{\"id\":\"1\",\"key\":\" ML-12 \",\"fields\":{\"summary\":\"=cmd|' /C calc'!A0\","
    "\"project\":{\"key\":\"ML\",\"name\":\"Machine learning\"},\"issuetype\":{\"name\":\"Task\"},"
    "\"status\":{\"name\":\"Done\",\"statusCategory\":{\"key\":\"done\"}},"
    "\"created\":\"2026-08-22T05:49:48.000+0000\",\"updated\":\"2026-08-22T05:49:48.123+0530\","
    "\"resolutiondate\":null,"
    "\"labels\":[\"gpu\",\"a\\\"b\",7],\"assignee\":null,\"customfield_10050\":{\"value\":"
    "\"platform\"}}},"
    "{\"key\":\"X_2-9\"},{\"id\":\"3\"},\"text\",{\"key\":\"ML-13\",\"fields\":{\"created\":"
    "\"yesterday\",\"status\":null}}]}";

static void
test_issue_whole(void **state)
{
    const struct jira_fields fields = {.project = "project", .team = "customfield_10050"};
    struct arena arena = {0};
    struct jira_page page;
    struct jira_issue issue;
    char reason[JIRA_REASON], when[CALENDAR_TEXT];
    struct error err;

    (void)state;
    assert_true(open_text(&page, one_issue, &err));
    assert_true(jira_issue_read(&page, 0, &fields, &arena, &issue, reason));
    assert_string_equal(issue.key, "ML-12");
    assert_string_equal(issue.project_key, "ML");
    assert_string_equal(issue.project_name, "Machine learning");
    assert_string_equal(issue.project, "ML");
    assert_string_equal(issue.team, "platform");
    assert_null(issue.cost_centre);
    assert_null(issue.assignee);
    assert_string_equal(issue.status_category, "done");
    assert_string_equal(issue.labels, "[\"gpu\",\"a\\\"b\"]");
    assert_true(issue.has_created && issue.has_updated);
    assert_false(issue.has_resolved);
    time_format(issue.created, when);
    assert_string_equal(when, "2026-08-22T05:49:48Z");
    time_format(issue.updated, when);
    assert_string_equal(when, "2026-08-22T00:19:48Z");
    jira_page_close(&page);
    arena_free(&arena);
}

static void
test_issue_sparse(void **state)
{
    const struct jira_fields fields = {.project = "customfield_1"};
    struct arena arena = {0};
    struct jira_page page;
    struct jira_issue issue;
    char reason[JIRA_REASON];
    struct error err;

    (void)state;
    assert_true(open_text(&page, one_issue, &err));
    assert_true(jira_issue_read(&page, 1, &fields, &arena, &issue, reason));
    assert_string_equal(issue.project_key, "X_2");
    assert_null(issue.project); /* the mapped field is not there: unknown, not the project */
    assert_null(issue.team);
    assert_null(issue.labels);
    assert_false(jira_issue_read(&page, 2, &fields, &arena, &issue, reason));
    assert_string_equal(reason, "the issue has no key");
    assert_false(jira_issue_read(&page, 3, &fields, &arena, &issue, reason));
    assert_string_equal(reason, "not an issue");
    assert_true(jira_issue_read(&page, 4, &fields, &arena, &issue, reason));
    assert_false(issue.has_created);
    assert_null(issue.status);
    jira_page_close(&page);
    arena_free(&arena);
}

static void
test_field_ids(void **state)
{
    struct arena arena = {0};
    json_t *list =
        json_loads("[{\"id\":\"customfield_1\",\"name\":\"Team\"},{\"id\":\"customfield_2\","
                   "\"name\":\"Cost center\"},"
                   "{\"id\":\"customfield_3\",\"name\":\"cost Center\"},{\"name\":\"Team\"}]",
                   0, NULL);
    json_t *names = json_loads("{\"summary\":\"Summary\",\"customfield_9\":\"Team\"}", 0, NULL);
    const char *id = NULL;

    (void)state;
    assert_true(jira_is_field_id("customfield_10050"));
    assert_true(jira_is_field_id("labels"));
    assert_false(jira_is_field_id("customfield_"));
    assert_false(jira_is_field_id("customfield_1x"));
    assert_false(jira_is_field_id("Team"));
    assert_int_equal(jira_field_find(list, "team", &arena, &id), 1);
    assert_string_equal(id, "customfield_1");
    assert_int_equal(jira_field_find(list, "Cost center", &arena, &id), 2);
    assert_int_equal(jira_field_find(list, "Budget", &arena, &id), 0);
    assert_int_equal(jira_field_find(names, "TEAM", &arena, &id), 1);
    assert_string_equal(id, "customfield_9");
    assert_int_equal(jira_field_find(NULL, "Team", &arena, &id), 0);
    json_decref(list);
    json_decref(names);
    arena_free(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_shapes), cmocka_unit_test(test_text_is_bounded),
        cmocka_unit_test(test_page_ends),   cmocka_unit_test(test_not_pages),
        cmocka_unit_test(test_issue_whole), cmocka_unit_test(test_issue_sparse),
        cmocka_unit_test(test_field_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
