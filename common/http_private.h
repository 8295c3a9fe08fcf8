/* What http.c (the client) and http_transfer.c (the transfers) share. */
#ifndef COMMON_HTTP_PRIVATE_H
#define COMMON_HTTP_PRIVATE_H

#include <curl/curl.h>

#include "common/http.h"

struct http {
    CURLM *multi; /* keeps connections between requests */
    struct curl_slist *headers;
    const char *where;      /* "[telemetry cluster-a]", for hints */
    const char *secret_key; /* "token-file": the key that named the secret; NULL: none */
    const char *user, *secret;
    const char *ca_file, *cert_file, *key_file;
    const char *agent;
    long timeout_seconds;
    bool is_bearer;
    bool has_own_headers; /* they may be secret: no redirects to other hosts then */
};

struct http_transfer {
    CURL *easy;
    const struct http_request *request;
    struct http_reply reply;
    struct curl_slist *headers; /* of this request alone */
    char reason[CURL_ERROR_SIZE];
    CURLcode code;
    int tries;
    uint64_t taken; /* bytes given to request->take in this try */
    bool is_stopped; /* it would take no more */
    long retry_after_seconds;
    int64_t not_before_ms;
    enum { TRANSFER_FREE, TRANSFER_WAITS, TRANSFER_RUNS, TRANSFER_DONE } state;
};

bool http_transfer_start(struct http *http, struct http_transfer *transfer,
                         struct error *err) MUST_CHECK;
/* Takes the handle off. True: finished; reply and code tell how. False: it is to be tried again. */
bool http_transfer_finish(struct http *http, struct http_transfer *transfer, CURLcode code);
bool http_transfer_verdict(const struct http *http, const struct http_transfer *transfer,
                           struct error *err) MUST_CHECK;
void http_transfer_clear(struct http *http, struct http_transfer *transfer);
int64_t http_clock_ms(void);

#endif
