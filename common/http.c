#include <config.h>

#include "common/http.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/http_private.h"
#include "common/log.h"

enum { PARALLEL_MOST = 16, WAIT_MS = 200, TIMEOUT_SECONDS = 150 };

static void
global_init(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* The key under which a secret was configured ("token-file"), for hints. */
static const char *
secret_key_name(struct arena *arena, const struct section *section, const char *key)
{
    static const char *const suffixes[] = {"-file", "-env", "-command", NULL};
    size_t i;

    for (i = 0; suffixes[i]; i++) {
        const char *name = arena_printf(arena, "%s%s", key, suffixes[i]);

        if (section_get(section, name))
            return name;
    }
    return key;
}

static bool
read_credentials(struct http *http, struct settings *settings, const struct section *section,
                 struct error *err)
{
    static const char *const keys[] = {"password", "token", NULL};
    size_t i;

    http->user = section_get(section, "user");
    for (i = 0; keys[i] && !http->secret; i++) {
        if (!section_secret(settings, section, keys[i], &http->secret, err))
            return false;
        if (http->secret)
            http->secret_key = secret_key_name(settings->arena, section, keys[i]);
    }
    http->is_bearer = http->secret && !http->user;
    if (http->is_bearer && strcmp(keys[i - 1], "password") == 0) {
        error_set(err, ERR_CONFIG, "%s has a password but no user", http->where);
        return error_hint(err, "Add \"user = NAME\", or give a bearer token with token-file.");
    }
    return true;
}

static bool
add_header(struct http *http, const char *line, struct error *err)
{
    const char *colon = strchr(line, ':');
    struct curl_slist *grown;

    if (!colon || colon == line || strpbrk(line, "\r\n")) {
        error_set(err, ERR_CONFIG, "header of %s is not \"Name: value\"", http->where);
        return error_hint(err, "Write it as \"header = Name: value\", one key for each header.");
    }
    grown = curl_slist_append(http->headers, line);
    if (!grown)
        return error_set(err, ERR_MEMORY, "out of memory");
    http->headers = grown;
    http->has_own_headers = true;
    return true;
}

/* A header's value is often a key, so it never comes to the log either. */
static bool
read_headers(struct http *http, struct arena *arena, const struct section *section,
             struct error *err)
{
    const struct setting *setting;
    const char *org = section_get(section, "org-id");

    for (setting = section->settings; setting; setting = setting->next) {
        const char *value;

        if (strcmp(setting->key, "header") != 0)
            continue;
        if (!add_header(http, setting->value, err))
            return false;
        value = strchr(setting->value, ':') + 1;
        value += strspn(value, " \t");
        if (strlen(value) >= 8)
            log_secret(value);
    }
    return !org || add_header(http, arena_printf(arena, "X-Scope-OrgID: %s", org), err);
}

static bool
check_url(const struct http *http, const struct section *section, struct error *err)
{
    const char *url = section_get(section, "url");
    const char *host, *at;

    if (!url)
        return true;
    host = strstr(url, "://");
    if (!host || (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)) {
        error_set(err, ERR_CONFIG, "url of %s does not begin with http:// or https://",
                  http->where);
        return error_hint(err, "Write it as \"url = https://HOST[:PORT][/PATH]\".");
    }
    host += 3;
    at = strchr(host, '@');
    if (at && at < host + strcspn(host, "/?#")) {
        error_set(err, ERR_CONFIG, "url of %s holds a user or password", http->where);
        return error_hint(err, "Move them to the keys user and password-file.");
    }
    if (http->secret && strncmp(url, "http://", 7) == 0 && strncmp(host, "127.0.0.1", 9) != 0 &&
        strncmp(host, "localhost", 9) != 0)
        log_warning("%s sends its %s over http, unencrypted", http->where,
                    http->is_bearer ? "token" : "password");
    return true;
}

static bool
read_section(struct http *http, struct settings *settings, const struct section *section,
             struct error *err)
{
    http->where = arena_printf(settings->arena, "[%s%s%s]", section->kind,
                               section->name[0] ? " " : "", section->name);
    http->agent = "gpu-audit/" PACKAGE_VERSION;
    http->timeout_seconds = TIMEOUT_SECONDS;
    http->ca_file = section_path(settings, section, "ca-file");
    http->cert_file = section_path(settings, section, "cert-file");
    http->key_file = section_path(settings, section, "key-file");
    return section_int(section, "timeout", 1, 3600, &http->timeout_seconds, err) &&
           read_credentials(http, settings, section, err) &&
           read_headers(http, settings->arena, section, err) && check_url(http, section, err);
}

bool
http_open(struct http **ret_http, struct settings *settings, const struct section *section,
          struct error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct http *http = mem_resize(NULL, 1, sizeof(*http));

    pthread_once(&once, global_init);
    memset(http, 0, sizeof(*http));
    http->multi = curl_multi_init();
    if (!http->multi) {
        http_close(http);
        return error_set(err, ERR_MEMORY, "could not start the HTTP client");
    }
    if (!read_section(http, settings, section, err)) {
        http_close(http);
        return false;
    }
    *ret_http = http;
    return true;
}

void
http_close(struct http *http)
{
    if (!http)
        return;
    curl_slist_free_all(http->headers);
    if (http->multi)
        curl_multi_cleanup(http->multi);
    free(http);
}

/* Takes in what curl has finished; false when a transfer has failed for good. */
static bool
take_finished(struct http *http, struct error *err)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(http->multi, &left))) {
        struct http_transfer *transfer = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        if (http_transfer_finish(http, transfer, message->data.result) &&
            !http_transfer_verdict(http, transfer, err))
            return false;
    }
    return true;
}

/* Milliseconds until a waiting transfer is due, at most WAIT_MS. */
static int
wait_ms(const struct http_transfer *slots, int count)
{
    int64_t now = http_clock_ms();
    int64_t wait = WAIT_MS;
    int i;

    for (i = 0; i < count; i++) {
        if (slots[i].state == TRANSFER_WAITS && slots[i].not_before_ms - now < wait)
            wait = slots[i].not_before_ms > now ? slots[i].not_before_ms - now : 0;
    }
    return (int)wait;
}

static bool
start_due(struct http *http, struct http_transfer *slots, int count, struct error *err)
{
    int i;

    for (i = 0; i < count; i++) {
        if (slots[i].state == TRANSFER_WAITS && slots[i].not_before_ms <= http_clock_ms() &&
            !http_transfer_start(http, &slots[i], err))
            return false;
    }
    return true;
}

static bool
run_once(struct http *http, struct http_transfer *slots, int count, struct error *err)
{
    int running;

    if (!start_due(http, slots, count, err))
        return false;
    if (curl_multi_perform(http->multi, &running) != CURLM_OK)
        return error_set(err, ERR_NET, "the HTTP client failed");
    if (!take_finished(http, err) || !interrupt_check(err))
        return false;
    return true;
}

/* Request i lives in slot i mod parallel, so no more than `parallel` replies are ever held. */
static bool
run_all(struct http *http, struct http_transfer *slots, const struct http_request *requests,
        size_t count, size_t parallel, http_done *done, void *context, struct error *err)
{
    size_t delivered = 0, queued = 0;

    while (delivered < count) {
        struct http_transfer *next = &slots[delivered % parallel];

        for (; queued < count && queued < delivered + parallel; queued++) {
            slots[queued % parallel].request = &requests[queued];
            slots[queued % parallel].state = TRANSFER_WAITS;
        }
        if (!run_once(http, slots, (int)parallel, err))
            return false;
        if (next->state == TRANSFER_DONE) {
            bool ok = done(context, delivered, &next->reply, err);

            http_transfer_clear(http, next);
            if (!ok)
                return false;
            delivered++;
        } else {
            curl_multi_poll(http->multi, NULL, 0, wait_ms(slots, (int)parallel), NULL);
        }
    }
    return true;
}

bool
http_send_all(struct http *http, const struct http_request *requests, size_t count, int parallel,
              http_done *done, void *context, struct error *err)
{
    struct http_transfer slots[PARALLEL_MOST];
    bool ok;
    int i;

    if (parallel < 1)
        parallel = 1;
    if (parallel > PARALLEL_MOST)
        parallel = PARALLEL_MOST;
    memset(slots, 0, sizeof(slots));
    ok = run_all(http, slots, requests, count, (size_t)parallel, done, context, err);
    for (i = 0; i < parallel; i++)
        http_transfer_clear(http, &slots[i]);
    return ok;
}

bool
http_send(struct http *http, const struct http_request *request, struct http_reply *ret_reply,
          struct error *err)
{
    struct http_transfer slot;
    bool ok = true;

    memset(&slot, 0, sizeof(slot));
    slot.request = request;
    slot.state = TRANSFER_WAITS;
    while (ok && slot.state != TRANSFER_DONE) {
        ok = run_once(http, &slot, 1, err);
        if (ok && slot.state != TRANSFER_DONE)
            curl_multi_poll(http->multi, NULL, 0, wait_ms(&slot, 1), NULL);
    }
    *ret_reply = slot.reply;
    memset(&slot.reply, 0, sizeof(slot.reply));
    http_transfer_clear(http, &slot);
    return ok;
}

char *
http_escape(struct arena *arena, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";
    char *escaped = arena_alloc(arena, 3 * strlen(text) + 1);
    char *to = escaped;

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            strchr("-._~", c)) {
            *to++ = (char)c;
        } else {
            *to++ = '%';
            *to++ = hex[c >> 4];
            *to++ = hex[c & 15];
        }
    }
    *to = '\0';
    return escaped;
}
