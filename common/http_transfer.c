#include <config.h>

#include "common/http_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/log.h"

enum {
    BODY_LIMIT_BYTES = 256 * 1024 * 1024,
    CONNECT_TIMEOUT_SECONDS = 15,
    TRIES_MOST = 5,        /* of a server that answers */
    TRIES_UNREACHABLE = 3, /* of one that cannot be reached: the user waits for the error */
    BACKOFF_MS = 500,
    BACKOFF_MOST_MS = 30000,
    RETRY_AFTER_MOST_SECONDS = 60,
    NEAR_TIMEOUT_SECONDS = 5,
    DETAIL_BYTES = 400,
};

int64_t
http_clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static size_t
take_body(char *data, size_t size, size_t count, void *context)
{
    struct http_transfer *transfer = context;
    size_t limit =
        transfer->request->limit_bytes ? transfer->request->limit_bytes : BODY_LIMIT_BYTES;

    size *= count;
    if (transfer->request->take && transfer->reply.status >= 200 && transfer->reply.status < 300) {
        transfer->is_stopped = !transfer->request->take(transfer->request->context, &transfer->reply, data, size);
        transfer->taken += transfer->is_stopped ? 0 : size;
        return transfer->is_stopped ? 0 : size;
    }
    if (size > limit || transfer->reply.body.size > limit - size) {
        transfer->reply.is_too_large = true;
        return 0;
    }
    buf_add(&transfer->reply.body, data, size);
    return transfer->reply.body.overflow ? 0 : size;
}

/* "bytes 10-19/20", "bytes *" "/20" */
static void
take_range(struct http_reply *reply, const char *value)
{
    const char *slash = strchr(value, '/');

    value += strcspn(value, "0123456789*/");
    reply->first = *value == '*' ? 0 : strtoll(value, NULL, 10);
    reply->length = slash && slash[1] >= '0' && slash[1] <= '9' ? strtoll(slash + 1, NULL, 10) : -1;
}

static int64_t
whole_number(const char *value)
{
    size_t size = strspn(value, "0123456789");

    return size && size < 16 && !value[size] ? strtoll(value, NULL, 10) : -1;
}

static void
take_field(struct http_reply *reply, const char *name, const char *value)
{
    if (strcasecmp(name, "etag") == 0)
        snprintf(reply->etag, sizeof(reply->etag), "%s", value);
    else if (strcasecmp(name, "x-amz-bucket-region") == 0)
        snprintf(reply->region, sizeof(reply->region), "%s", value);
    else if (strcasecmp(name, "content-length") == 0 && reply->status != 206 && *value >= '0' && *value <= '9')
        reply->length = strtoll(value, NULL, 10);
    else if (strcasecmp(name, "content-range") == 0)
        take_range(reply, value);
    else if (strcasecmp(name, "last-modified") == 0)
        reply->modified = curl_getdate(value, NULL) > 0 ? curl_getdate(value, NULL) : 0;
    else if (strcasecmp(name, "x-ratelimit-reset") == 0)
        reply->limit_reset = whole_number(value);
    else if (strcasecmp(name, "x-ratelimit-period") == 0)
        reply->limit_period = whole_number(value);
    else if (strcasecmp(name, "date") == 0)
        reply->date = curl_getdate(value, NULL) > 0 ? curl_getdate(value, NULL) : 0;
}

static void
begin_head(struct http_reply *reply)
{
    reply->etag[0] = reply->region[0] = '\0';
    reply->length = reply->limit_reset = reply->limit_period = -1;
    reply->first = reply->modified = reply->date = 0;
}

/* One line of a head; a status line begins it anew, as after "100 Continue". */
static size_t
take_head(char *data, size_t size, size_t count, void *context)
{
    struct http_transfer *transfer = context;
    char line[400], *value;
    size_t length = size * count < sizeof(line) - 1 ? size * count : sizeof(line) - 1;

    memcpy(line, data, length);
    while (length && (unsigned char)line[length - 1] <= ' ')
        length--;
    line[length] = '\0';
    if (strncmp(line, "HTTP/", 5) == 0) {
        begin_head(&transfer->reply);
        curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &transfer->reply.status);
    }
    value = strchr(line, ':');
    if (value) {
        *value++ = '\0';
        take_field(&transfer->reply, line, value + strspn(value, " \t"));
    }
    return size * count;
}

static void
set_credentials(const struct http *http, CURL *easy)
{
    if (http->is_bearer) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, http->secret);
    } else if (http->user) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(easy, CURLOPT_USERNAME, http->user);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, http->secret ? http->secret : "");
    }
    if (http->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, http->ca_file);
    if (http->cert_file)
        curl_easy_setopt(easy, CURLOPT_SSLCERT, http->cert_file);
    if (http->key_file)
        curl_easy_setopt(easy, CURLOPT_SSLKEY, http->key_file);
}

/* curl keeps credentials of its own options to the first host, but sends extra headers along: with
 * those a redirect is not followed. */
static void
set_limits(const struct http *http, const struct http_request *request, CURL *easy)
{
    long seconds = request->is_near ? (long)NEAR_TIMEOUT_SECONDS : http->timeout_seconds;

    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, http->has_own_headers || request->headers ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, 5L);
    curl_easy_setopt(easy, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT,
                     seconds < CONNECT_TIMEOUT_SECONDS ? seconds : (long)CONNECT_TIMEOUT_SECONDS);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    if (request->is_near)
        curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    if (request->take) { /* however long it takes, as long as something comes */
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, seconds);
    } else {
        curl_easy_setopt(easy, CURLOPT_TIMEOUT, seconds);
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    }
    curl_easy_setopt(easy, CURLOPT_USERAGENT, http->agent);
}

static bool
add_headers(struct http_transfer *transfer, const char *const *headers)
{
    for (; *headers; headers++) {
        struct curl_slist *grown = curl_slist_append(transfer->headers, *headers);

        if (!grown)
            return false;
        transfer->headers = grown;
    }
    return true;
}

static bool
set_headers(const struct http *http, struct http_transfer *transfer)
{
    const char *const *own = transfer->request->headers ? transfer->request->headers(transfer->request->context) : NULL;
    const struct curl_slist *header;
    struct curl_slist *grown = curl_slist_append(NULL, "Expect:");
    char type[160];

    for (header = http->headers; grown && header; header = header->next) {
        transfer->headers = grown;
        grown = curl_slist_append(grown, header->data);
    }
    if (grown && transfer->request->content_type) {
        transfer->headers = grown;
        snprintf(type, sizeof(type), "Content-Type: %s", transfer->request->content_type);
        grown = curl_slist_append(grown, type);
    }
    if (grown)
        transfer->headers = grown;
    return grown && (!own || add_headers(transfer, own));
}

static void
set_request(struct http_transfer *transfer)
{
    const struct http_request *request = transfer->request;
    CURL *easy = transfer->easy;

    curl_easy_setopt(easy, CURLOPT_URL, request->url);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, request->headers ? 1L : 0L); /* a signed key may hold ".." */
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_head);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    if (request->body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(request->body));
    }
    if (request->body ? strcmp(request->method, "POST") != 0 : strcmp(request->method, "GET") != 0)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->reason);
}

/* A URL as messages show it: what stands behind "?" is long and of no help. */
static int
shown_size(const struct http_transfer *transfer)
{
    return (int)strcspn(transfer->request->url, "?#");
}

bool
http_transfer_start(struct http *http, struct http_transfer *transfer, struct error *err)
{
    buf_clear(&transfer->reply.body);
    transfer->reply.status = 0;
    transfer->reply.content_type[0] = transfer->reason[0] = '\0';
    transfer->reply.is_too_large = transfer->is_stopped = false;
    transfer->taken = 0;
    begin_head(&transfer->reply);
    transfer->easy = curl_easy_init();
    if (!transfer->easy || !set_headers(http, transfer))
        return error_set(err, ERR_MEMORY, "out of memory");
    set_limits(http, transfer->request, transfer->easy);
    set_credentials(http, transfer->easy);
    set_request(transfer);
    if (curl_multi_add_handle(http->multi, transfer->easy) != CURLM_OK)
        return error_set(err, ERR_NET, "the HTTP client failed");
    transfer->state = TRANSFER_RUNS;
    transfer->tries++;
    log_debug("%s %.*s", transfer->request->method,
              transfer->request->hides_query ? shown_size(transfer) : (int)strlen(transfer->request->url),
              transfer->request->url);
    return true;
}

static void
drop_handle(struct http *http, struct http_transfer *transfer)
{
    if (transfer->easy) {
        curl_multi_remove_handle(http->multi, transfer->easy);
        curl_easy_cleanup(transfer->easy);
    }
    curl_slist_free_all(transfer->headers);
    transfer->easy = NULL;
    transfer->headers = NULL;
}

static bool
is_unreachable(CURLcode code)
{
    return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
           code == CURLE_COULDNT_RESOLVE_PROXY;
}

static bool
is_cut(CURLcode code)
{
    switch (code) {
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_OPERATION_TIMEDOUT:
        return true;
    default:
        return false;
    }
}

/* Half to one and a half of a delay that doubles, so that many clients do not come back at once. */
static int64_t
backoff_ms(int tries)
{
    int64_t delay = (int64_t)BACKOFF_MS << (tries < 8 ? tries - 1 : 7);
    uint32_t random = 0;

    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
        random = (uint32_t)http_clock_ms();
    if (delay > BACKOFF_MOST_MS)
        delay = BACKOFF_MOST_MS;
    return delay / 2 + (int64_t)(random % (uint32_t)delay);
}

static bool
is_2xx(long status)
{
    return status >= 200 && status < 300;
}

static bool
is_answer(const struct http_transfer *transfer)
{
    const struct http_request *request = transfer->request;

    if (transfer->code != CURLE_OK)
        return false;
    return is_2xx(transfer->reply.status) ||
           (request->is_answer &&
            request->is_answer(transfer->reply.status, &transfer->reply.body));
}

/* Whether to try again, and the wait before it. */
static bool
is_worth_another(struct http_transfer *transfer, int64_t *ret_wait_ms)
{
    long status = transfer->reply.status;

    if (transfer->is_stopped)
        return false;
    if (transfer->taken)
        transfer->tries = 1;
    if (transfer->tries >= (is_unreachable(transfer->code) ? TRIES_UNREACHABLE : TRIES_MOST))
        return false;
    *ret_wait_ms = backoff_ms(transfer->tries);
    if (transfer->code != CURLE_OK)
        return is_unreachable(transfer->code) || is_cut(transfer->code);
    if (status != 429 && status != 499 && (status < 500 || status == 501 || status == 505))
        return false;
    if (transfer->retry_after_seconds > 0) {
        long seconds = transfer->retry_after_seconds;

        *ret_wait_ms =
            1000 *
            (int64_t)(seconds < RETRY_AFTER_MOST_SECONDS ? seconds : RETRY_AFTER_MOST_SECONDS);
    }
    return true;
}

bool
http_transfer_finish(struct http *http, struct http_transfer *transfer, CURLcode code)
{
    curl_off_t retry_after = 0;
    const char *type = NULL;
    int64_t wait;

    transfer->code = code;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &transfer->reply.status);
    curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after);
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &type);
    transfer->retry_after_seconds = retry_after < 100000 ? (long)retry_after : 100000;
    snprintf(transfer->reply.content_type, sizeof(transfer->reply.content_type), "%s",
             type ? type : "");
    drop_handle(http, transfer);
    if (!is_answer(transfer) && is_worth_another(transfer, &wait)) {
        log_info("%s %.*s: status %ld (%s), trying again in %.1f s", transfer->request->method,
                 transfer->request->hides_query ? shown_size(transfer) : (int)strlen(transfer->request->url),
                 transfer->request->url, transfer->reply.status, curl_easy_strerror(code),
                 (double)wait / 1000);
        transfer->not_before_ms = http_clock_ms() + wait;
        transfer->state = TRANSFER_WAITS;
        return false;
    }
    transfer->state = TRANSFER_DONE;
    return true;
}

static void
set_detail(const struct http_transfer *transfer, struct error *err)
{
    const struct buf *body = &transfer->reply.body;
    size_t size = body->size < DETAIL_BYTES ? body->size : DETAIL_BYTES;
    char text[DETAIL_BYTES + 1];
    size_t i;

    for (i = 0; i < size; i++)
        text[i] = (unsigned char)body->data[i] < ' ' ? ' ' : body->data[i];
    text[size] = '\0';
    if (size)
        error_detail(err, "the server says: %s", text);
}

static bool
hint_credentials(const struct http *http, long status, struct error *err)
{
    if (!http->secret)
        return error_hint(
            err, "The server wants credentials: set token-file, or user and password-file, in %s.",
            http->where);
    if (status == 401)
        return error_hint(err, "The server refuses the %s: check %s in %s.",
                          http->is_bearer ? "token" : "user or its password or token",
                          http->secret_key, http->where);
    return error_hint(
        err, "The token or user of %s in %s may not read this: ask for the right to query.",
        http->secret_key, http->where);
}

static bool
fail_status(const struct http *http, const struct http_transfer *transfer, struct error *err)
{
    long status = transfer->reply.status;

    error_set(err, ERR_NET, "%s %.*s: status %ld", transfer->request->method, shown_size(transfer),
              transfer->request->url, status);
    set_detail(transfer, err);
    if (status == 401 || status == 403)
        return hint_credentials(http, status, err);
    if (status == 404)
        return error_hint(err, "Check url in %s: a path such as /prometheus may be missing.",
                          http->where);
    if (status >= 300 && status < 400)
        return error_hint(err, "The server points elsewhere: set url in %s to where it points.",
                          http->where);
    if (status == 429 || status >= 499)
        return error_hint(
            err,
            "The server was asked %d times: run the command again later, what is loaded stays.",
            transfer->tries);
    return error_hint(err, "Check url and the other keys of %s.", http->where);
}

static bool
fail_network(const struct http *http, const struct http_transfer *transfer, struct error *err)
{
    error_set(err, ERR_NET, "%s %.*s: %s", transfer->request->method, shown_size(transfer),
              transfer->request->url,
              transfer->reason[0] ? transfer->reason : curl_easy_strerror(transfer->code));
    switch (transfer->code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return error_hint(
            err, "Set ca-file in %s to the certificate of the authority that signed the server's.",
            http->where);
    case CURLE_SSL_CERTPROBLEM:
        return error_hint(err, "Check cert-file and key-file in %s.", http->where);
    case CURLE_OPERATION_TIMEDOUT:
        return error_hint(err, "Raise timeout in %s, or see why the server is slow.", http->where);
    default:
        return error_hint(err,
                          "Check that the server runs and is reached from here: url in %s, and "
                          "https_proxy in the environment.",
                          http->where);
    }
}

bool
http_transfer_verdict(const struct http *http, const struct http_transfer *transfer,
                      struct error *err)
{
    if (is_answer(transfer))
        return true;
    if (transfer->reply.is_too_large) {
        size_t limit =
            transfer->request->limit_bytes ? transfer->request->limit_bytes : BODY_LIMIT_BYTES;

        /* Where the caller can ask for less, too much is an answer. */
        if (transfer->request->is_answer &&
            transfer->request->is_answer(transfer->reply.status, NULL))
            return true;
        error_set(err, ERR_NET, "%s %.*s: the answer is larger than %zu MiB",
                  transfer->request->method, shown_size(transfer), transfer->request->url,
                  limit >> 20);
        return error_hint(err,
                          "Check url in %s: this is not the answer of the interface it should be.",
                          http->where);
    }
    return transfer->code == CURLE_OK ? fail_status(http, transfer, err)
                                      : fail_network(http, transfer, err);
}

void
http_transfer_clear(struct http *http, struct http_transfer *transfer)
{
    drop_handle(http, transfer);
    buf_free(&transfer->reply.body);
    memset(transfer, 0, sizeof(*transfer));
}
