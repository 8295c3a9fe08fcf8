/*
 * Answers of Jira's issue search as JSON: a page at a time, nothing of the network or the database.
 * Knows the shapes of /rest/api/3/search/jql (isLast, nextPageToken, no total) and, for saved
 * pages, of the older search (startAt, total). Every value is foreign text: a shape that is not
 * known is read as unknown, never guessed.
 */
#ifndef INGEST_JIRA_H
#define INGEST_JIRA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/error.h"

enum { JIRA_REASON = 200 };

struct jira_page {
    json_t *root;
    const json_t *issues;
    size_t count;
    bool is_last;           /* isLast says true */
    bool says_more;         /* isLast says false */
    const char *next_token; /* NULL: none; lives as long as the page */
    int64_t total;          /* -1: not said */
    const char *warning;    /* NULL, or the first of its warnings */
};

/* Which fields mean what: ids such as "customfield_10050" or "labels"; NULL: not mapped. project
 * may be "project", the issue's own. */
struct jira_fields {
    const char *project, *team, *cost_centre;
};

struct jira_issue { /* NULL and absent times are unknown; strings live in the arena */
    const char *key, *project_key, *project_name, *project;
    const char *summary, *issue_type, *status, *status_category, *assignee;
    const char *team, *cost_centre;
    const char *labels; /* a JSON array of strings */
    int64_t created, updated, resolved;
    bool has_created, has_updated, has_resolved;
};

/* `where` names the answer in errors: a file or a URL. Frees nothing on failure but its own. */
bool jira_page_open(struct jira_page *ret_page, const char *text, size_t size, const char *where,
                    struct error *err) MUST_CHECK;
void jira_page_close(struct jira_page *page);
/* False: this issue is unusable, and why. */
bool jira_issue_read(const struct jira_page *page, size_t index, const struct jira_fields *fields,
                     struct arena *arena, struct jira_issue *ret_issue,
                     char ret_reason[JIRA_REASON]);
/* The text of a field of any schema: a string, a number, an option, a user, several of them joined
 * by
 * ";", a cascading choice as "PARENT - CHILD", rich text as its words; NULL when there is none. */
const char *jira_text(struct arena *arena, const json_t *value);

/* What a configured field name stands for. Ids pass as they are. */
bool jira_is_field_id(const char *name);
/* Ids in an answer of /rest/api/3/field, or in the "names" of a page, whose name is `name` without
 * case; the first of them in *ret_id. */
size_t jira_field_find(const json_t *fields, const char *name, struct arena *arena,
                       const char **ret_id);

#endif
