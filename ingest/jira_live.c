/*
 * Jira Cloud's issue search: POST /rest/api/3/search/jql, a page at a time. The answer has no
 * total; a short or even an empty page is not the last one; the end is isLast or the absence of
 * nextPageToken. A server that hands out a token again would be asked for ever: that is an error.
 */
#include <config.h>

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "common/http.h"
#include "common/log.h"
#include "ingest/jira_cloud.h"

enum { PAGE_SIZE = 100, EMPTY_PAGES = 1000 };

struct live {
    struct source_run *run;
    struct http *http;
    const char *site; /* url without a slash at its end */
    const char *jql;
    long page_size;
    struct jira_fields fields;
    struct arena tokens;
    const char *token;   /* of the page to ask for; NULL: the first */
    const char *watched; /* an earlier token: seen again, the pages go in a circle (Brent) */
    uint64_t pages, watch_until;
    uint64_t empty_pages; /* in a row */
};

/* ---------------------------------------------------------------- asking */

static bool
answer_refused(const struct live *live, const char *url, long status, struct error *err)
{
    const char *name = live->run->section->name;

    if (status == 401) {
        error_set(err, ERR_NET, "%s: the user or token of [tracker %s] is refused (HTTP 401)", url,
                  name);
        return error_hint(err,
                          "Make a new API token and put it in its token-file, with user the "
                          "account's e-mail address. A token "
                          "with scopes wants url = https://api.atlassian.com/ex/jira/CLOUD-ID.");
    }
    if (status == 410) {
        error_set(err, ERR_NET, "%s: this interface was switched off by the site (HTTP 410)", url);
        return error_hint(
            err,
            "Set url of [tracker %s] to the site alone, such as https://example.atlassian.net.",
            name);
    }
    if (status == 400) {
        return error_hint(err,
                          "Check jql of [tracker %s]: it must be valid and restrict something, "
                          "such as updated >= -400d.",
                          name);
    }
    return false;
}

/* True on an answer in JSON; the body is the caller's to free in any case. */
static bool
ask(struct live *live, const char *method, const char *path, const char *body,
    struct http_reply *ret_reply, struct error *err)
{
    const char *url = arena_printf(live->run->arena, "%s%s", live->site, path);
    struct http_request request = {.method = method,
                                   .url = url,
                                   .body = body,
                                   .limit_bytes = JIRA_PAGE_BYTES,
                                   .content_type = body ? "application/json" : NULL};

    if (!http_send(live->http, &request, ret_reply, err)) {
        return answer_refused(live, url, ret_reply->status, err);
    }
    if (!strcasestr(ret_reply->content_type, "json")) {
        error_set(err, ERR_NET, "%s answered with %s, not JSON", url,
                  *ret_reply->content_type ? ret_reply->content_type : "an unnamed type");
        return error_hint(err,
                          "A login page or a proxy answered in place of Jira: check url, user and "
                          "token of [tracker %s].",
                          live->run->section->name);
    }
    return true;
}

static void
field_add(json_t *fields, const char *field)
{
    if (field) {
        json_array_append_new(fields, json_string(field));
    }
}

/* The body of the next request, in a buf of the caller. */
static void
search_body(const struct live *live, struct buf *buf)
{
    static const char *const wanted[] = {"summary",        "project", "issuetype", "status",
                                         "created",        "updated", "labels",    "assignee",
                                         "resolutiondate", NULL};
    json_t *fields = json_array();
    json_t *body = json_object();
    char *text;

    for (size_t i = 0; wanted[i]; i++) {
        field_add(fields, wanted[i]);
    }
    field_add(fields, strcmp(live->fields.project, "project") != 0 ? live->fields.project : NULL);
    field_add(fields, live->fields.team);
    field_add(fields, live->fields.cost_centre);
    json_object_set_new(body, "jql", json_string(live->jql));
    json_object_set_new(body, "fields", fields);
    json_object_set_new(body, "maxResults", json_integer(live->page_size));
    if (live->token) {
        json_object_set_new(body, "nextPageToken", json_string(live->token));
    }
    text = json_dumps(body, JSON_COMPACT);
    buf_puts(buf, text ? text : "");
    free(text);
    json_decref(body);
}

/* ---------------------------------------------------------------- fields by name */

static bool
field_resolve(const struct live *live, const json_t *list, const char *key, const char **field,
              struct error *err)
{
    const char *id = NULL;

    if (!*field || jira_is_field_id(*field)) {
        return true;
    }
    size_t found = jira_field_find(list, *field, live->run->arena, &id);

    if (found == 1) {
        *field = id;
        return true;
    }
    error_set(err, ERR_CONFIG, "%s: %s field of it is called \"%s\"", live->site,
              found ? "more than one" : "no", *field);
    return error_hint(err, "Set %s of [tracker %s] to the field's id, such as customfield_10050.",
                      key, live->run->section->name);
}

static bool
fields_resolve(struct live *live, struct error *err)
{
    struct jira_fields *fields = &live->fields;
    struct http_reply reply = {0};
    json_t *list = NULL;

    if (jira_is_field_id(fields->project) && (!fields->team || jira_is_field_id(fields->team)) &&
        (!fields->cost_centre || jira_is_field_id(fields->cost_centre))) {
        return true;
    }
    bool good = ask(live, "GET", "/rest/api/3/field", NULL, &reply, err);

    if (good) {
        list = json_loadb(reply.body.data, reply.body.size, 0, NULL);
        good =
            json_is_array(list) ||
            error_set(err, ERR_NET, "%s/rest/api/3/field did not answer with a list", live->site);
    }
    good = good && field_resolve(live, list, "project-field", &fields->project, err) &&
           field_resolve(live, list, "team-field", &fields->team, err) &&
           field_resolve(live, list, "cost-centre-field", &fields->cost_centre, err);
    json_decref(list);
    buf_free(&reply.body);
    return good;
}

/* ---------------------------------------------------------------- paging */

static bool
circle(const struct live *live, const char *what, struct error *err)
{
    error_set(err, ERR_NET, "%s: the search does not come to an end: %s", live->site, what);
    return error_hint(
        err,
        "Nothing was taken in. Run the command again; if it stays, narrow jql of [tracker %s].",
        live->run->section->name);
}

/* Remembers where to go on; false when the pages go in a circle. */
static bool
token_take(struct live *live, const char *token, struct error *err)
{
    if ((live->token && strcmp(live->token, token) == 0) ||
        (live->watched && strcmp(live->watched, token) == 0)) {
        return circle(live, "nextPageToken came again", err);
    }
    live->token = arena_strdup(&live->tokens, token);
    live->pages++;
    if (live->pages >= live->watch_until) {
        live->watch_until = 2 * live->pages;
        live->watched = arena_strdup(live->run->arena, token);
        arena_free(&live->tokens);
        live->token = live->watched;
    }
    return true;
}

static bool
page_next(struct live *live, const struct jira_page *page, struct dimension_object *object,
          bool *ret_more, struct error *err)
{
    *ret_more = false;
    if (page->warning) {
        object->problem = arena_strdup(live->run->arena, page->warning);
        log_warning("[tracker %s]: Jira warns: %s", live->run->section->name, page->warning);
    }
    if (page->is_last) {
        return true;
    }
    if (!page->next_token) {
        if (page->says_more) {
            object->problem = "the site said that there is more, but not how to get it";
            log_warning("[tracker %s]: %s", live->run->section->name, object->problem);
        }
        return true;
    }
    live->empty_pages = page->count > 0 ? 0 : live->empty_pages + 1;
    if (live->empty_pages > EMPTY_PAGES) {
        return circle(live, "page after page is empty", err);
    }
    *ret_more = true;
    return token_take(live, page->next_token, err);
}

static bool
page_load(struct live *live, struct jira_stage *stage, bool *ret_more, struct error *err)
{
    static const char path[] = "/rest/api/3/search/jql";
    struct http_reply reply = {0};
    struct jira_page page = {.total = -1};
    struct buf body = {0};

    search_body(live, &body);
    bool good = ask(live, "POST", path, body.data, &reply, err) &&
                jira_page_open(&page, reply.body.data ? reply.body.data : "", reply.body.size,
                               arena_printf(live->run->arena, "%s%s", live->site, path), err);

    buf_free(&body);
    buf_free(&reply.body);
    good = good && jira_stage_page(stage, 0, &page, err) &&
           page_next(live, &page, &stage->dim->objects[0], ret_more, err);
    if (page.root) {
        jira_page_close(&page);
    }
    return good;
}

/* No issue at all may mean a token that counts as nobody: the site knows. */
static bool
nobody_check(struct live *live, struct error *err)
{
    struct http_reply reply = {0};
    struct error answer = {0};
    bool good = ask(live, "GET", "/rest/api/3/myself", NULL, &reply, &answer);

    buf_free(&reply.body);
    if (!good && reply.status == 401) {
        *err = answer;
        return false;
    }
    log_warning("[tracker %s]: no issue matches its jql", live->run->section->name);
    return true;
}

static bool
pages_load(struct live *live, struct dimension *dim, struct error *err)
{
    struct jira_stage stage = {.fields = live->fields};
    bool has_more = true;
    bool good = jira_stage_begin(&stage, dim, err);

    while (good && has_more) {
        good = page_load(live, &stage, &has_more, err);
    }
    return good && (stage.issues > 0 || nobody_check(live, err)) && jira_stage_finish(&stage, err);
}

/* ---------------------------------------------------------------- set-up */

/* Pages must come in an order that edits do not change. */
static const char *
ordered_jql(struct arena *arena, const char *jql)
{
    return strcasestr(jql, "order by") ? jql : arena_printf(arena, "%s ORDER BY key ASC", jql);
}

static bool
live_open(struct live *live, struct source_run *run, struct error *err)
{
    const char *url = section_get(run->section, "url");
    const char *jql = section_get(run->section, "jql");
    size_t size = strlen(url);

    while (size > 0 && url[size - 1] == '/') {
        size--;
    }
    *live = (struct live){.run = run, .page_size = PAGE_SIZE, .watch_until = 1};
    live->site = arena_strndup(run->arena, url, size);
    live->fields = jira_fields_configured(run->section);
    if (!jql || !*jql) {
        error_set(err, ERR_CONFIG, "jql is not set");
        return error_hint(
            err,
            "Add which issues to read, such as \"jql = labels in (gpu) and updated >= -400d\".");
    }
    live->jql = ordered_jql(run->arena, jql);
    return section_int(run->section, "page-size", 1, 5000, &live->page_size, err) &&
           http_open(&live->http, run->settings, run->section, err);
}

bool
jira_live_ingest(struct source_run *run, struct error *err)
{
    struct live live = {0};
    struct dimension dim;

    if (!dimension_open(&dim, run, err)) {
        return false;
    }
    bool good = live_open(&live, run, err);

    if (good) {
        dimension_object_add(
            &dim, arena_printf(run->arena, "%s/rest/api/3/search/jql: %s", live.site, live.jql));
        good = fields_resolve(&live, err) && pages_load(&live, &dim, err);
    }
    if (!good) {
        dimension_failed(&dim, err);
    }
    http_close(live.http);
    arena_free(&live.tokens);
    return good;
}
