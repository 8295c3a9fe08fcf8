/*
 * One HTTP client for all sources, on libcurl: timeouts, retries with backoff and jitter on
 * network failures, 429, 5xx and 499, Retry-After (bounded), TLS verified, no credentials across
 * redirects, a limit on the decoded size, gzip, proxies from the environment.
 * Basic, bearer, client certificates, extra headers. Secrets are never in an error; what stands behind
 * "?" of a URL is shown in no message when hides_query says that it is one.
 */
#ifndef COMMON_HTTP_H
#define COMMON_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/error.h"
#include "common/settings.h"

struct http_reply;
struct http_reply;
struct http; /* a client: connections, credentials, limits */

struct http_request {
    const char *method; /* "GET", "POST" */
    const char *url;    /* absolute, without credentials */
    const char *body;   /* NULL: none */
    const char *content_type;
    size_t limit_bytes; /* 0: 256 MiB of decoded body */
    /* NULL, or says of a status beside 2xx that it is an answer as well: not tried again, given to
     * http_done, http_send returns true (a 422 that asks for smaller steps). Asked with a NULL body
     * when the answer passed limit_bytes. */
    bool (*is_answer)(long status, const struct buf *body);

    /* For who fetches large things, signs, or asks for a part. */
    void *context; /* of the two below */
    /* NULL, or headers of one try ("Name: value", NULL-ended), asked for anew each time: a signature
     * ages, and what is to come gets less. Redirects are not followed then. */
    const char *const *(*headers)(void *context);
    /* NULL, or takes the body of a 2xx as it comes, undecoded and without limit; reply tells the head.
     * False stops the transfer. A try that took something does not count. */
    bool (*take)(void *context, const struct http_reply *reply, const void *data, size_t size);
    bool hides_query; /* a secret stands behind "?" */
    bool is_near;     /* on this machine's own link: no proxy, and few seconds to wait */
};
struct http_reply {
    long status;
    struct buf body; /* the caller frees (buf_free) */
    char content_type[128];
    bool is_too_large; /* the body passed limit_bytes and is cut */
    char etag[200];    /* as sent, with its quotes; "" without */
    char region[40];   /* x-amz-bucket-region */
    int64_t length;    /* of the whole thing, where the head tells; -1: unknown */
    int64_t first;     /* of a 206: where its part begins */
    int64_t modified;  /* unix seconds; 0: unknown */
    int64_t date;      /* the server's clock; 0: unknown */
    int64_t limit_reset, limit_period; /* X-RateLimit-Reset and -Period where they are numbers; -1: unknown */
};

/* Reads url, user, token, password, token-file …, ca-file, cert-file, key-file, header (any number,
 * "Name: value"), org-id, timeout of a section. A user goes with password, else with token; a token
 * alone is a bearer token. */
bool http_open(struct http **ret_http, struct settings *settings, const struct section *section,
               struct error *err) MUST_CHECK;
/* True on any 2xx. Otherwise ERR_NET with URL, status, the start of the body as detail and a hint.
 * After a failure ret_reply->status tells the last status (0: no answer) and the body is kept. */
bool http_send(struct http *http, const struct http_request *request, struct http_reply *ret_reply,
               struct error *err) MUST_CHECK;
/* Several at once, at most `parallel` in flight, replies in order of requests; stops at the first
 * failure. The body is freed after `done`, which may take it away by zeroing the buf. */
typedef bool http_done(void *context, size_t index, struct http_reply *reply, struct error *err);
bool http_send_all(struct http *http, const struct http_request *requests, size_t count,
                   int parallel, http_done *done, void *context, struct error *err) MUST_CHECK;
char *http_escape(struct arena *arena, const char *text); /* percent-encoding for a query or form */
void http_close(struct http *http);

#endif
