#include <config.h>

#include "ingest/jira.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/buf.h"
#include "common/calendar.h"

enum {
    TEXT_BYTES =
        4096, /* a field longer than this is cut: it names a thing, it does not tell a story */
    DEPTH_MOST = 8,
    ID_DIGITS = 12,
};

/* ---------------------------------------------------------------- values */

static void value_add(struct buf *buf, const json_t *value, int depth);

/* Rich text: a tree of nodes with text at its leaves. */
static void
document_add(struct buf *buf, const json_t *node, int depth)
{
    const char *text = json_string_value(json_object_get(node, "text"));
    const json_t *content = json_object_get(node, "content");

    if (text) {
        if (buf->size > 0 && !isspace((unsigned char)buf->data[buf->size - 1])) {
            buf_putc(buf, ' ');
        }
        buf_puts(buf, text);
    }
    for (size_t i = 0; depth < 4 * DEPTH_MOST && i < json_array_size(content); i++) {
        document_add(buf, json_array_get(content, i), depth + 1);
    }
}

static void
array_add(struct buf *buf, const json_t *array, int depth)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct buf one = {.cap = TEXT_BYTES};

        value_add(&one, json_array_get(array, i), depth + 1);
        if (one.size > 0) {
            if (buf->size > 0) {
                buf_putc(buf, ';');
            }
            buf_add(buf, one.data, one.size);
        }
        buf_free(&one);
    }
}

static void
object_add(struct buf *buf, const json_t *object, int depth)
{
    static const char *const names[] = {"value", "name",  "displayName", "key",
                                        "title", "label", NULL};
    const char *type = json_string_value(json_object_get(object, "type"));
    const json_t *child = json_object_get(object, "child");
    size_t start = buf->size;

    if (type && strcmp(type, "doc") == 0) {
        document_add(buf, object, 0);
        return;
    }
    for (size_t i = 0; names[i] && buf->size == start; i++) {
        value_add(buf, json_object_get(object, names[i]), depth + 1);
    }
    if (buf->size > start && json_is_object(child)) {
        buf_puts(buf, " - ");
        value_add(buf, child, depth + 1);
    }
}

static void
value_add(struct buf *buf, const json_t *value, int depth)
{
    if (depth > DEPTH_MOST) {
        return;
    }
    switch (json_typeof(value ? value : json_null())) {
    case JSON_STRING:
        buf_add(buf, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        buf_printf(buf, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        buf_printf(buf, "%.15g", json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        buf_puts(buf, json_is_true(value) ? "true" : "false");
        break;
    case JSON_ARRAY:
        array_add(buf, value, depth);
        break;
    case JSON_OBJECT:
        object_add(buf, value, depth);
        break;
    case JSON_NULL:
        break;
    }
}

/* Cuts at the beginning of a character. */
static size_t
cut_size(const char *text, size_t size, size_t most)
{
    if (size <= most) {
        return size;
    }
    while (most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80) {
        most--;
    }
    return most;
}

const char *
jira_text(struct arena *arena, const json_t *value)
{
    struct buf buf = {.cap = 16 * TEXT_BYTES};
    const char *text = NULL;
    size_t first = 0, end;

    value_add(&buf, value, 0);
    end = cut_size(buf.data, buf.size, TEXT_BYTES);
    while (first < end && isspace((unsigned char)buf.data[first])) {
        first++;
    }
    while (end > first && isspace((unsigned char)buf.data[end - 1])) {
        end--;
    }
    if (end > first) {
        text = arena_strndup(arena, buf.data + first, end - first);
    }
    buf_free(&buf);
    return text;
}

/* ---------------------------------------------------------------- pages */

static bool
not_a_page(const char *text, size_t size, const char *where, const json_error_t *problem,
           struct error *err)
{
    size_t start = 0;

    while (start < size && isspace((unsigned char)text[start])) {
        start++;
    }
    if (start < size && text[start] == '<') {
        error_set(err, ERR_INPUT, "%s is a web page, not an answer of Jira's search", where);
        return error_hint(err, "A login page or a proxy answered: check url, user and token.");
    }
    error_set(err, ERR_INPUT, "%s line %d: not JSON: %s", where, problem->line, problem->text);
    return error_hint(err, "A page must hold one answer of /rest/api/3/search/jql, whole.");
}

static const char *
first_message(const json_t *messages)
{
    const json_t *message = json_array_get(messages, 0);
    const char *text = json_string_value(message);

    return text ? text : json_string_value(json_object_get(message, "message"));
}

/* An answer that says what is wrong, saved in place of a page. */
static bool
no_issues(const json_t *root, const char *where, struct error *err)
{
    const char *message = first_message(json_object_get(root, "errorMessages"));

    error_set(err, ERR_INPUT, "%s has no list \"issues\"", where);
    if (message) {
        error_detail(err, "it says: %s", message);
    }
    return error_hint(err, "A page must hold one answer of /rest/api/3/search/jql.");
}

bool
jira_page_open(struct jira_page *ret_page, const char *text, size_t size, const char *where,
               struct error *err)
{
    json_error_t problem;
    json_t *root = json_loadb(text, size, 0, &problem);
    struct jira_page page = {.root = root, .total = -1};

    if (!root) {
        return not_a_page(text, size, where, &problem, err);
    }
    page.issues = json_object_get(root, "issues");
    if (!json_is_array(page.issues)) {
        no_issues(root, where, err);
        json_decref(root);
        return false;
    }
    page.count = json_array_size(page.issues);
    page.is_last = json_is_true(json_object_get(root, "isLast"));
    page.says_more = json_is_false(json_object_get(root, "isLast"));
    page.next_token = json_string_value(json_object_get(root, "nextPageToken"));
    if (page.next_token && !*page.next_token) {
        page.next_token = NULL;
    }
    if (json_is_integer(json_object_get(root, "total"))) {
        page.total = json_integer_value(json_object_get(root, "total"));
    }
    page.warning = first_message(json_object_get(root, "warnings"));
    if (!page.warning) {
        page.warning = first_message(json_object_get(root, "warningMessages"));
    }
    *ret_page = page;
    return true;
}

void
jira_page_close(struct jira_page *page)
{
    json_decref(page->root);
    *page = (struct jira_page){.total = -1};
}

/* ---------------------------------------------------------------- issues */

static bool
time_of(const json_t *fields, const char *name, int64_t *ret_time)
{
    const char *text = json_string_value(json_object_get(fields, name));

    return text && time_parse(text, strlen(text), ret_time);
}

static const char *
member_text(struct arena *arena, const json_t *fields, const char *name, const char *member)
{
    return jira_text(arena, json_object_get(json_object_get(fields, name), member));
}

static const char *
labels_json(struct arena *arena, const json_t *labels)
{
    struct buf buf = {0};
    const char *text;
    size_t count = 0;

    if (!json_is_array(labels)) {
        return NULL;
    }
    buf_putc(&buf, '[');
    for (size_t i = 0; i < json_array_size(labels); i++) {
        const char *label = json_string_value(json_array_get(labels, i));

        if (label) {
            buf_puts(&buf, count++ ? "," : "");
            buf_json(&buf, label);
        }
    }
    buf_putc(&buf, ']');
    text = arena_strndup(arena, buf.data, buf.size);
    buf_free(&buf);
    return text;
}

/* What stands before the last "-" of a key such as ML-12. */
static const char *
project_of_key(struct arena *arena, const char *key)
{
    const char *dash = strrchr(key, '-');

    return dash && dash > key ? arena_strndup(arena, key, (size_t)(dash - key)) : key;
}

static const char *
mapped_text(struct arena *arena, const json_t *fields, const char *id)
{
    return id ? jira_text(arena, json_object_get(fields, id)) : NULL;
}

static void
names_read(const json_t *fields, struct arena *arena, struct jira_issue *issue)
{
    issue->project_key = member_text(arena, fields, "project", "key");
    if (!issue->project_key) {
        issue->project_key = project_of_key(arena, issue->key);
    }
    issue->project_name = member_text(arena, fields, "project", "name");
    issue->summary = jira_text(arena, json_object_get(fields, "summary"));
    issue->issue_type = member_text(arena, fields, "issuetype", "name");
    issue->status = member_text(arena, fields, "status", "name");
    issue->status_category = jira_text(
        arena, json_object_get(json_object_get(json_object_get(fields, "status"), "statusCategory"),
                               "key"));
    issue->assignee = member_text(arena, fields, "assignee", "displayName");
    issue->labels = labels_json(arena, json_object_get(fields, "labels"));
}

bool
jira_issue_read(const struct jira_page *page, size_t index, const struct jira_fields *mapping,
                struct arena *arena, struct jira_issue *ret_issue, char ret_reason[JIRA_REASON])
{
    const json_t *entry = json_array_get(page->issues, index);
    const json_t *fields = json_object_get(entry, "fields");
    struct jira_issue issue = {.key = jira_text(arena, json_object_get(entry, "key"))};

    if (!issue.key) {
        snprintf(ret_reason, JIRA_REASON, "%s",
                 json_is_object(entry) ? "the issue has no key" : "not an issue");
        return false;
    }
    names_read(fields, arena, &issue);
    issue.project = mapping->project && strcmp(mapping->project, "project") != 0
                        ? mapped_text(arena, fields, mapping->project)
                        : issue.project_key;
    issue.team = mapped_text(arena, fields, mapping->team);
    issue.cost_centre = mapped_text(arena, fields, mapping->cost_centre);
    issue.has_created = time_of(fields, "created", &issue.created);
    issue.has_updated = time_of(fields, "updated", &issue.updated);
    issue.has_resolved = time_of(fields, "resolutiondate", &issue.resolved);
    *ret_issue = issue;
    return true;
}

/* ---------------------------------------------------------------- fields by name */

bool
jira_is_field_id(const char *name)
{
    static const char *const system[] = {
        "project",  "labels",     "components",  "issuetype", "status",  "assignee",
        "reporter", "creator",    "priority",    "parent",    "summary", "fixVersions",
        "versions", "resolution", "environment", "duedate",   NULL};
    static const char prefix[] = "customfield_";

    if (strncmp(name, prefix, sizeof(prefix) - 1) == 0) {
        const char *digits = name + sizeof(prefix) - 1;
        size_t size = strspn(digits, "0123456789");

        return size > 0 && size <= ID_DIGITS && !digits[size];
    }
    for (size_t i = 0; system[i]; i++) {
        if (strcmp(system[i], name) == 0) {
            return true;
        }
    }
    return false;
}

size_t
jira_field_find(const json_t *fields, const char *name, struct arena *arena, const char **ret_id)
{
    const char *key;
    size_t index, count = 0;
    json_t *entry;

    if (json_is_array(fields)) {
        json_array_foreach((json_t *)(uintptr_t)fields, index, entry)
        {
            const char *id = json_string_value(json_object_get(entry, "id"));
            const char *title = json_string_value(json_object_get(entry, "name"));

            if (id && title && strcasecmp(title, name) == 0 && count++ == 0) {
                *ret_id = arena_strdup(arena, id);
            }
        }
        return count;
    }
    json_object_foreach((json_t *)(uintptr_t)fields, key, entry)
    {
        const char *title = json_string_value(entry);

        if (title && strcasecmp(title, name) == 0 && count++ == 0) {
            *ret_id = arena_strdup(arena, key);
        }
    }
    return count;
}
