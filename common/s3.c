/* A bucket: where it is, how requests to it are made, what it holds. */
#include <config.h>

#include "common/s3.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/object_private.h"
#include "common/s3_private.h"

enum { OBJECTS_MOST = 1000000, PAGE_MOST_BYTES = 16 << 20, RENEW_SECONDS = 300 };

static const char empty_sha256[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/* ---------------------------------------------------------------- requests */

const char *
s3_path(const struct object_store *store, const char *key)
{
    const struct s3 *s3 = store->s3;
    const char *bucket = s3->is_path_style ? arena_printf(store->arena, "/%s", s3->bucket) : "";

    return arena_printf(store->arena, "%s%s/%s", s3->base, bucket, s3_escape(store->arena, key));
}

const char *
s3_url(const struct object_store *store, const char *path, const char *query)
{
    return arena_printf(store->arena, "%s://%s%s%s%s", store->s3->scheme, store->s3->host, path, *query ? "?" : "", query);
}

/* A role's credentials end while a large bill is being fetched. */
static bool
renew(struct object_store *store)
{
    struct s3 *s3 = store->s3;
    struct error err = {0};

    if (!s3->credentials.expires || s3->credentials.expires - time(NULL) > RENEW_SECONDS)
        return true;
    if (s3_credentials_instance(store->settings, store->section, &s3->credentials, &err))
        return true;
    log_warning("%s: %s", store->where, err.text);
    return false;
}

const char *const *
s3_headers(struct object_store *store, const char *path, const char *query, const char *more, const char *last)
{
    struct s3 *s3 = store->s3;
    const char **line = s3->line;
    struct s3_signing signing = {
        .method = "GET",
        .path = path,
        .query = query,
        .header = {{"host", s3->host}, {"x-amz-content-sha256", empty_sha256}, {"x-amz-date", signing.date}},
        .header_count = 3,
        .payload_sha256 = empty_sha256,
        .region = s3->region,
        .service = "s3",
    };
    struct buf authorization = {0};

    if (!renew(store))
        return NULL;
    memset(s3->line, 0, sizeof s3->line);
    if (s3->credentials.secret) {
        s3_date(time(NULL), signing.date);
        if (s3->credentials.token) {
            signing.header[3][0] = "x-amz-security-token";
            signing.header[signing.header_count++][1] = s3->credentials.token;
        }
        s3_sign(&signing, &s3->credentials, &authorization);
        for (size_t i = 1; i < signing.header_count; i++)
            *line++ = arena_printf(store->arena, "%s: %s", signing.header[i][0], signing.header[i][1]);
        *line++ = arena_printf(store->arena, "Authorization: %s", authorization.data);
    }
    if (more)
        *line++ = more;
    if (last)
        *line++ = last;
    buf_free(&authorization);
    return s3->line;
}

/* ---------------------------------------------------------------- listing */

struct page_call {
    struct object_store *store;
    const char *path, *query;
};

static const char *const *
page_headers(void *context)
{
    struct page_call *call = context;

    return s3_headers(call->store, call->path, call->query, NULL, NULL);
}

static bool
ask_page(struct object_store *store, const char *prefix, const char *token, struct s3_page *ret_page, struct error *err)
{
    const struct s3 *s3 = store->s3;
    struct arena *arena = store->arena;
    struct page_call call = {.store = store};
    struct http_request request = {.method = "GET", .limit_bytes = PAGE_MOST_BYTES, .context = &call, .headers = page_headers};
    struct http_reply reply = {0};
    bool is_good;

    /* in the order of their names, as they are signed */
    call.query = arena_printf(arena, "%s%s%sencoding-type=url&list-type=2&prefix=%s", token ? "continuation-token=" : "",
                              token ? http_escape(arena, token) : "", token ? "&" : "", http_escape(arena, prefix));
    call.path = s3_path(store, "");
    request.url = s3_url(store, call.path, call.query);
    is_good = http_send(store->http, &request, &reply, err);
    if (!is_good)
        s3_explain(store, arena_printf(arena, "s3://%s/%s", s3->bucket, prefix), &reply, err);
    else if (!(is_good = s3_page_parse(arena, &reply.body, ret_page, err))) {
        error_context(err, "s3://%s/%s", s3->bucket, prefix);
        error_hint(err, "Check endpoint in %s: what answers there does not speak S3.", store->where);
    }
    buf_free(&reply.body);
    return is_good;
}

/* Of the keys that begin with the prefix, those that are it, lie in it as in a folder, or match. */
static bool
is_within(const struct s3 *s3, const char *key)
{
    size_t size = strlen(s3->prefix);

    if (s3->is_pattern)
        return !fnmatch(s3->prefix, key, FNM_PATHNAME);
    return !size || s3->prefix[size - 1] == '/' || !key[size] || key[size] == '/';
}

static bool
is_hidden(const char *key)
{
    const char *base = strrchr(key, '/');

    return *(base ? base + 1 : key) == '.';
}

static void
add(struct object_list *list, size_t *room, const struct object *object)
{
    if (list->count == *room) {
        *room = *room ? *room * 2 : 64;
        list->object = mem_resize(list->object, *room, sizeof *list->object);
    }
    list->object[list->count++] = *object;
}

static void
take_page(struct object_store *store, const struct s3_page *page, const char *const *suffixes, size_t root,
          struct object_list *list, size_t *room)
{
    const struct s3 *s3 = store->s3;

    for (size_t i = 0; i < page->count; i++) {
        struct object object = page->object[i];
        bool is_one = !s3->is_pattern && !strcmp(object.key, s3->prefix);

        if (!is_within(s3, object.key) || object.key[strlen(object.key) - 1] == '/'
            || (!is_one && (is_hidden(object.key) || !object_has_suffix(object.key, suffixes))))
            continue;
        object.full = object.key;
        object.name = arena_printf(store->arena, "s3://%s/%s", s3->bucket, object.key);
        object.key += root < strlen(object.key) ? root : 0;
        add(list, room, &object);
        list->is_one |= is_one;
    }
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct object *)a)->name, ((const struct object *)b)->name);
}

static bool
nothing_there(const struct object_store *store, const char *other, struct error *err)
{
    const struct s3 *s3 = store->s3;

    error_set(err, ERR_CONFIG, "s3://%s/%s holds no bill", s3->bucket, s3->prefix);
    if (other)
        return error_hint(err, "There is s3://%s/%s: correct path in %s.", s3->bucket, other, store->where);
    return error_hint(err, "Correct path in %s, or wait for the first delivery.", store->where);
}

/* What lies in front of the folder or the pattern is no part of a key's own name. */
static size_t
root_size(const struct s3 *s3, size_t asked)
{
    size_t size = asked;

    if (!s3->is_pattern && size && s3->prefix[size - 1] != '/')
        return size + 1; /* a folder; the object of that very name keeps all of it */
    while (size && s3->prefix[size - 1] != '/')
        size--;
    return size;
}

bool
s3_list(struct object_store *store, const char *const *suffixes, struct object_list *ret_list, struct error *err)
{
    const struct s3 *s3 = store->s3;
    size_t asked = s3->is_pattern ? strcspn(s3->prefix, "*?[") : strlen(s3->prefix), room = 0, seen = 0;
    const char *prefix = arena_strndup(store->arena, s3->prefix, asked), *other = NULL;
    struct object_list list = {0};
    struct s3_page page = {0};
    bool is_good;

    do {
        const char *token = page.next;

        is_good = ask_page(store, prefix, token, &page, err);
        if (is_good && token && page.next && !strcmp(token, page.next))
            is_good = error_set(err, ERR_NET, "s3://%s/%s: the listing goes round in circles", s3->bucket, prefix);
        if (!is_good)
            break;
        other = other || !page.count ? other : page.object[0].key;
        seen += page.count;
        take_page(store, &page, suffixes, root_size(s3, asked), &list, &room);
    } while (page.next && seen < OBJECTS_MOST);
    if (is_good && page.next)
        is_good = error_set(err, ERR_CONFIG, "s3://%s/%s holds more than %d objects", s3->bucket, prefix, OBJECTS_MOST);
    if (is_good && !list.count)
        is_good = nothing_there(store, other, err);
    if (is_good) {
        *ret_list = list;
        ret_list->object = arena_alloc(store->arena, list.count * sizeof *list.object);
        memcpy(ret_list->object, list.object, list.count * sizeof *list.object);
        qsort(ret_list->object, list.count, sizeof *list.object, by_name);
    }
    mem_free(list.object);
    return is_good;
}
