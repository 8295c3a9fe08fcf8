/* One https address whose query may be a secret: pre-signed by S3, SAS of Azure, signed by Google. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/object_private.h"

enum { SECRET_LEAST = 8 };

/* The query as a whole and each of its values, as they stand and decoded: a server's answer may
 * repeat either. */
static void
register_query(struct arena *arena, const char *query)
{
    log_secret(query);
    while (*query) {
        size_t size = strcspn(query, "&");
        const char *value = memchr(query, '=', size);

        if (value && size - (size_t)(value + 1 - query) >= SECRET_LEAST) {
            char *text = arena_strndup(arena, value + 1, size - (size_t)(value + 1 - query)), *to;

            log_secret(text);
            to = text = arena_strdup(arena, text);
            for (const char *at = text; *at; at++)
                if (*at == '%' && at[1] && at[2]) {
                    const char hex[] = {at[1], at[2], '\0'};

                    *to++ = (char)strtol(hex, NULL, 16);
                    at += 2;
                } else {
                    *to++ = *at;
                }
            *to = '\0';
            if (strlen(text) >= SECRET_LEAST)
                log_secret(text);
        }
        query += size + (query[size] == '&');
    }
}

static bool
is_local(const char *host)
{
    size_t size = strcspn(host, ":/?#");

    return (size == 9 && !strncmp(host, "127.0.0.1", 9)) || (size == 9 && !strncmp(host, "localhost", 9));
}

bool
web_open(struct object_store *store, const char *url, struct error *err)
{
    const char *host = strstr(url, "://"), *query = strchr(url, '?');
    const char *problem = NULL;

    if (!host || (strncmp(url, "https://", 8) && strncmp(url, "http://", 7)))
        problem = "does not begin with https://";
    else if (memchr(host + 3, '@', strcspn(host + 3, "/?#")))
        problem = "holds a user or password";
    else if (!strncmp(url, "http://", 7) && !is_local(host + 3))
        problem = "would send a bill, and perhaps a secret, unencrypted over http";
    if (problem) {
        error_set(err, ERR_CONFIG, "the address of %s %s", store->where, problem);
        return error_hint(err, "Write it as https://HOST/PATH; a query that signs it is best kept in the file that url-file names.");
    }
    if (query)
        register_query(store->arena, query + 1);
    url = arena_strndup(store->arena, url, strcspn(url, "#"));
    store->url = url;
    store->name = arena_strndup(store->arena, url, strcspn(url, "?"));
    return http_open(&store->http, store->settings, store->section, err);
}

/* The first byte tells what there is: a signature for GET is none for HEAD. */
static const char *const *
first_byte(void *context)
{
    static const char *const range[] = {"Range: bytes=0-0", NULL};

    (void)context;
    return range;
}

static bool
take_head(void *context, const struct http_reply *reply, const void *data, size_t size)
{
    (void)data;
    (void)size;
    *(struct http_reply *)context = *reply;
    return false;
}

static bool
is_empty(long status, const struct buf *body)
{
    (void)body;
    return status == 416;
}

bool
web_list(struct object_store *store, struct object_list *ret_list, struct error *err)
{
    struct http_reply head = {0}, reply = {0};
    struct http_request request = {
        .method = "GET", .url = store->url, .context = &head, .headers = first_byte, .take = take_head,
        .is_answer = is_empty, .hides_query = true,
    };
    struct object *object = arena_alloc(store->arena, sizeof *object);
    const char *slash = strrchr(store->name, '/');
    bool is_good = http_send(store->http, &request, &reply, err) || head.status;

    *object = (struct object){.name = store->name, .key = slash ? slash + 1 : store->name, .full = store->name};
    if (!is_good)
        web_explain(store, object, &reply, err);
    buf_free(&reply.body);
    if (!is_good)
        return false;
    error_clear(err);
    object->size = head.length > 0 ? (uint64_t)head.length : 0;
    object->modified = head.modified;
    object->etag = arena_strdup(store->arena, head.etag);
    *ret_list = (struct object_list){.object = object, .count = 1, .is_one = true};
    return true;
}

bool
web_explain(const struct object_store *store, const struct object *object, const struct http_reply *reply,
            struct error *err)
{
    if (err->code != ERR_NET || reply->status < 300)
        return false;
    error_set(err, ERR_NET, "%s: status %ld", object->name, reply->status);
    if (reply->status == 403 || reply->status == 401)
        return error_hint(err, "A signed address ends after some hours or days: make a new one and put it where %s looks.",
                          store->where);
    if (reply->status == 404)
        return error_hint(err, "There is nothing at the address of %s: make a new one.", store->where);
    if (reply->status < 400)
        return error_hint(err, "The server points elsewhere: give %s the address it points to.", store->where);
    return error_hint(err, "Run again later; if it stays so, make a new address for %s.", store->where);
}
