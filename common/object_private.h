/* What the files of objects and of S3 share. */
#ifndef COMMON_OBJECT_PRIVATE_H
#define COMMON_OBJECT_PRIVATE_H

#include "common/http.h"
#include "common/object.h"

struct s3;

struct object_store {
    struct settings *settings;
    const struct section *section;
    struct arena *arena;
    enum { OBJECT_HERE, OBJECT_S3, OBJECT_WEB } kind;
    const char *where;    /* "[billing aws]", for messages */
    const char *path;     /* OBJECT_HERE */
    const char *url;      /* OBJECT_WEB: secret behind "?" */
    const char *name;     /* OBJECT_WEB: the same without */
    struct http *http;
    struct s3 *s3;
    void (*watch)(void *context, uint64_t bytes);
    void *watch_context;
};

bool object_has_suffix(const char *name, const char *const *suffixes);

/* object_fetch.c: into fd; whole, or only its beginning when most is not 0. */
bool object_download(struct object_store *store, struct object *object, int fd, uint64_t most, struct error *err)
    MUST_CHECK;

/* object_web.c */
bool web_open(struct object_store *store, const char *url, struct error *err) MUST_CHECK;
bool web_list(struct object_store *store, struct object_list *ret_list, struct error *err) MUST_CHECK;
bool web_explain(const struct object_store *store, const struct object *object, const struct http_reply *reply,
                 struct error *err);

/* s3.c */
bool s3_open(struct object_store *store, const char *url, struct error *err) MUST_CHECK;
bool s3_list(struct object_store *store, const char *const *suffixes, struct object_list *ret_list, struct error *err)
    MUST_CHECK;
/* The path of a key as it stands in the URL. */
const char *s3_path(const struct object_store *store, const char *key);
const char *s3_url(const struct object_store *store, const char *path, const char *query);
/* Signed headers of one try, and two more (NULL: none) that are not; NULL when credentials ran out and
 * there are no new ones. */
const char *const *s3_headers(struct object_store *store, const char *path, const char *query, const char *more,
                              const char *last);
/* Says in err why S3 refused; name is what was asked for. False. */
bool s3_explain(const struct object_store *store, const char *name, const struct http_reply *reply, struct error *err);

#endif
