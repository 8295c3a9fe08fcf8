/* Calls to CloudWatch: where it is, signatures, throttling, what its refusals mean. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/sha256.h"
#include "ingest/cloudwatch.h"

enum {
    ANSWER_MOST_BYTES = 32 << 20,
    TRIES_MOST = 7,
    BACKOFF_MS = 400,
    RENEW_SECONDS = 300,
    SKEW_SECONDS = 240,
    NAME_MOST = 80,
    MESSAGE_MOST = 300,
    LINES = 6,
};

static const char content_type[] = "application/x-amz-json-1.0";

struct call {
    struct cloudwatch *cloudwatch;
    const char *target, *body;
    struct arena arena; /* of headers */
    const char *line[LINES];
};

struct fault {
    char name[NAME_MOST], message[MESSAGE_MOST];
};

/* ---------------------------------------------------------------- settings */

static bool
read_endpoint(struct cloudwatch *cloudwatch, struct error *err)
{
    struct source_run *run = cloudwatch->run;
    const char *endpoint = section_get(run->section, "endpoint"), *host, *path;
    size_t size;

    if (!endpoint || !*endpoint) {
        cloudwatch->host = arena_printf(run->arena, "monitoring.%s.amazonaws.com%s", cloudwatch->region,
                                        strncmp(cloudwatch->region, "cn-", 3) ? "" : ".cn");
        cloudwatch->path = "/";
        cloudwatch->url = arena_printf(run->arena, "https://%s/", cloudwatch->host);
        return true;
    }
    host = strstr(endpoint, "://");
    if (!host || (strncmp(endpoint, "https://", 8) && strncmp(endpoint, "http://", 7)) || strpbrk(endpoint, "@?# \r\n%")) {
        error_set(err, ERR_CONFIG, "%s: endpoint of %s is no address of a server",
                  section_origin(run->settings, run->section, "endpoint"), cloudwatch->where);
        return error_hint(err, "Write it as \"endpoint = https://HOST[:PORT]\".");
    }
    host += 3;
    path = host + strcspn(host, "/");
    size = (size_t)(path - host);
    /* a port that goes without saying is not sent, and so not signed */
    if (size > 4 && endpoint[4] == 's' && !strncmp(path - 4, ":443", 4))
        size -= 4;
    else if (size > 3 && endpoint[4] == ':' && !strncmp(path - 3, ":80", 3))
        size -= 3;
    cloudwatch->host = arena_strndup(run->arena, host, size);
    cloudwatch->path = *path ? path : "/";
    cloudwatch->url = arena_printf(run->arena, "%s%s", endpoint, *path ? "" : "/");
    return true;
}

static bool
read_region(struct cloudwatch *cloudwatch, struct error *err)
{
    const struct source_run *run = cloudwatch->run;
    const char *region = section_get(run->section, "region");

    if (region && strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(region) && *region) {
        cloudwatch->region = region;
        return true;
    }
    error_set(err, ERR_CONFIG, "%s: region of %s is %s", section_origin(run->settings, run->section, "region"),
              cloudwatch->where, region ? "no region" : "missing");
    return error_hint(err, "Write it as \"region = eu-central-1\": CloudWatch keeps each region's metrics there, so every "
                           "region needs a section of its own.");
}

static bool
read_namespaces(struct cloudwatch *cloudwatch, struct error *err)
{
    const struct source_run *run = cloudwatch->run;
    const char *list = section_get(run->section, "namespace");
    size_t count = 0;

    for (list = list ? list : "CWAgent, ContainerInsights"; *list;) {
        size_t size = strcspn(list, ","), blank = strspn(list, " \t");
        const char *name = list + blank;
        size_t length = size > blank ? size - blank : 0;

        while (length && (name[length - 1] == ' ' || name[length - 1] == '\t'))
            length--;
        if (length && count < CLOUDWATCH_NAMESPACES)
            cloudwatch->namespaces[count++] = arena_strndup(run->arena, name, length);
        list += size + (list[size] == ',');
    }
    if (count)
        return true;
    error_set(err, ERR_CONFIG, "%s: namespace of %s names none", section_origin(run->settings, run->section, "namespace"),
              cloudwatch->where);
    return error_hint(err, "Leave the key out for CWAgent and ContainerInsights.");
}

/* A user or a token of the section are none of CloudWatch's. */
static const struct section *
plain_section(const struct source_run *run)
{
    static const char *const keys[] = {"ca-file", "timeout", NULL};
    struct section *plain = arena_alloc(run->arena, sizeof *plain);

    *plain = (struct section){.kind = run->section->kind, .name = run->section->name, .line = run->section->line};
    for (const struct setting *setting = run->section->settings; setting; setting = setting->next)
        for (const char *const *key = keys; *key; key++)
            if (!strcmp(setting->key, *key)) {
                struct setting *copy = arena_alloc(run->arena, sizeof *copy);

                *copy = *setting;
                copy->next = plain->settings;
                plain->settings = copy;
            }
    return plain;
}

bool
cloudwatch_connect(struct cloudwatch *cloudwatch, struct source_run *run, struct error *err)
{
    const char *how = section_get(run->section, "credentials");

    *cloudwatch = (struct cloudwatch){.run = run};
    cloudwatch->where = arena_printf(run->arena, "[%s %s]", run->section->kind, run->section->name);
    return read_region(cloudwatch, err) && read_endpoint(cloudwatch, err) && read_namespaces(cloudwatch, err)
        && s3_credentials_read(run->settings, run->section, how && *how ? how : NULL, &cloudwatch->credentials, err)
        && http_open(&cloudwatch->http, run->settings, plain_section(run), err);
}

void
cloudwatch_disconnect(struct cloudwatch *cloudwatch)
{
    http_close(cloudwatch->http);
    cloudwatch->http = NULL;
}

/* ---------------------------------------------------------------- signatures */

/* A role's credentials end while months are being asked for. */
static bool
renew(struct cloudwatch *cloudwatch)
{
    struct error err = {0};

    if (!cloudwatch->credentials.expires || cloudwatch->credentials.expires - time(NULL) > RENEW_SECONDS)
        return true;
    if (s3_credentials_instance(cloudwatch->run->settings, cloudwatch->run->section, &cloudwatch->credentials, &err))
        return true;
    log_warning("%s: %s", cloudwatch->where, err.text);
    return false;
}

static void
body_hash(const char *body, char ret_hex[65])
{
    struct sha256 hash;

    sha256_begin(&hash);
    sha256_add(&hash, body, strlen(body));
    sha256_hex(&hash, ret_hex);
}

static const char *const *
signed_headers(void *context)
{
    struct call *call = context;
    struct cloudwatch *cloudwatch = call->cloudwatch;
    struct s3_signing signing = {
        .method = "POST",
        .path = cloudwatch->path,
        .query = "",
        .header = {{"content-type", content_type}, {"host", cloudwatch->host}, {"x-amz-date", signing.date}},
        .header_count = 3,
        .region = cloudwatch->region,
        .service = "monitoring",
    };
    struct buf authorization = {0};
    char hex[65];
    size_t lines = 0;

    memset(call->line, 0, sizeof call->line);
    s3_date(time(NULL), signing.date);
    if (renew(cloudwatch) && cloudwatch->credentials.secret) {
        if (cloudwatch->credentials.token) {
            signing.header[signing.header_count][0] = "x-amz-security-token";
            signing.header[signing.header_count++][1] = cloudwatch->credentials.token;
        }
        signing.header[signing.header_count][0] = "x-amz-target";
        signing.header[signing.header_count++][1] = call->target;
        body_hash(call->body, hex);
        signing.payload_sha256 = hex;
        s3_sign(&signing, &cloudwatch->credentials, &authorization);
        for (size_t i = 2; i < signing.header_count; i++)
            call->line[lines++] = arena_printf(&call->arena, "%s: %s", signing.header[i][0], signing.header[i][1]);
        call->line[lines++] = arena_printf(&call->arena, "Authorization: %s", authorization.data);
        buf_free(&authorization);
    } else {
        call->line[lines++] = arena_printf(&call->arena, "x-amz-target: %s", call->target);
    }
    return call->line;
}

/* ---------------------------------------------------------------- refusals */

/* {"__type": "com.amazonaws.monitoring#AccessDenied", "message": …} */
static void
read_fault(const struct http_reply *reply, struct fault *fault)
{
    json_t *root = reply->body.size ? json_loadb(reply->body.data, reply->body.size, 0, NULL) : NULL;
    const char *type = json_string_value(json_object_get(root, "__type")), *hash;
    const char *message = json_string_value(json_object_get(root, "message"));

    message = message ? message : json_string_value(json_object_get(root, "Message"));
    hash = type ? strchr(type, '#') : NULL;
    snprintf(fault->name, sizeof fault->name, "%s", hash ? hash + 1 : type ? type : "");
    snprintf(fault->message, sizeof fault->message, "%s", message ? message : "");
    json_decref(root);
}

static bool
is_throttled(const struct http_reply *reply, const struct fault *fault)
{
    return reply->status == 400
        && (!strncmp(fault->name, "Throttl", 7) || !strncmp(fault->name, "RequestLimitExceeded", 20)
            || !strncmp(fault->name, "TooManyRequests", 15));
}

static bool
is_stale(const struct fault *fault)
{
    return strstr(fault->name, "InvalidNextToken") || (strstr(fault->name, "Invalid") && strstr(fault->message, "NextToken"));
}

struct refusal {
    const char *name, *hint;
};

/* Found by the beginning of the name: some end in Exception and some do not. */
static const struct refusal refusals[] = {
    {"AccessDenied", "They need the rights cloudwatch:ListMetrics and cloudwatch:GetMetricData"},
    {"UnauthorizedOperation", "They need the rights cloudwatch:ListMetrics and cloudwatch:GetMetricData"},
    {"ExpiredToken", "The session is over: get new credentials, then run again; what is loaded stays"},
    {"MissingAuthenticationToken", "The request was not signed: set credentials to env, file:PATH, profile:NAME or instance"},
    {"UnrecognizedClient", "AWS does not know this access key, or its session token is missing"},
    {"InvalidClientTokenId", "AWS does not know this access key, or its session token is missing"},
    {"SignatureDoesNotMatch", "The secret does not belong to the access key, or region is not that of endpoint"},
    {"InvalidSignature", "The secret does not belong to the access key, or region is not that of endpoint"},
    {"IncompleteSignature", "A proxy changes requests on their way"},
    {"OptInRequired", "The account has not switched this region on"},
};

static bool
is_clock(const struct http_reply *reply, const struct fault *fault)
{
    long long apart = reply->date ? llabs((long long)time(NULL) - (long long)reply->date) : 0;

    return !strncmp(fault->name, "RequestExpired", 14) || !strncmp(fault->name, "RequestTimeTooSkewed", 20)
        || (strstr(fault->name, "Signature") && apart > SKEW_SECONDS);
}

static bool
explain_clock(const struct cloudwatch *cloudwatch, const struct http_reply *reply, struct error *err)
{
    long long minutes = reply->date ? ((long long)time(NULL) - (long long)reply->date) / 60 : 0;

    if (minutes)
        error_set(err, ERR_NET, "the clock of this machine is %lld minutes %s that of %s", llabs(minutes),
                  minutes < 0 ? "behind" : "ahead of", cloudwatch->host);
    else
        error_set(err, ERR_NET, "the clock of this machine is far from that of %s", cloudwatch->host);
    return error_hint(err, "Set the clock right (timedatectl set-ntp true): CloudWatch refuses what %s signs with it.",
                      cloudwatch->where);
}

static bool
explain(const struct call *call, const struct http_reply *reply, const struct fault *fault, struct error *err)
{
    const struct cloudwatch *cloudwatch = call->cloudwatch;

    if (err->code != ERR_NET || reply->status < 300 || !*fault->name)
        return false;
    if (is_clock(reply, fault))
        return explain_clock(cloudwatch, reply, err);
    error_set(err, ERR_NET, "POST %s: %s: status %ld (%s)", cloudwatch->url, strrchr(call->target, '.') + 1, reply->status,
              fault->name);
    if (*fault->message)
        error_detail(err, "CloudWatch says: %s", fault->message);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (!strncmp(fault->name, refusals[i].name, strlen(refusals[i].name)))
            return error_hint(err, "%s. The credentials of %s are those of %s.", refusals[i].hint, cloudwatch->where,
                              cloudwatch->credentials.from ? cloudwatch->credentials.from : "nobody: credentials = none");
    if (is_throttled(reply, fault) || reply->status >= 500)
        return error_hint(err, "CloudWatch wants fewer requests: run the command again later, what is loaded stays.");
    return error_hint(err, "Check region, endpoint and credentials in %s.", cloudwatch->where);
}

bool
cloudwatch_fail_answer(const struct cloudwatch *cloudwatch, const char *what, struct error *err)
{
    error_set(err, ERR_NET, "POST %s: %s", cloudwatch->url, what);
    return error_hint(err, "Check endpoint in %s: what answers there does not speak CloudWatch's JSON.", cloudwatch->where);
}

/* ---------------------------------------------------------------- calls */

/* Half to one and a half of a delay that doubles. */
static int64_t
backoff_ms(int tries)
{
    int64_t delay = (int64_t)BACKOFF_MS << tries;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return delay / 2 + now.tv_nsec / 1000 % delay;
}

static bool
parse(const struct call *call, const struct http_reply *reply, json_t **ret_answer, struct error *err)
{
    json_t *root = reply->body.size ? json_loadb(reply->body.data, reply->body.size, 0, NULL) : NULL;

    if (!json_is_object(root)) {
        json_decref(root);
        return cloudwatch_fail_answer(call->cloudwatch, "the answer is no JSON object", err);
    }
    *ret_answer = root;
    return true;
}

enum verdict { ANSWERED, STALE, THROTTLED, FAILED };

static enum verdict
try_once(struct call *call, json_t **ret_answer, struct error *err)
{
    const struct http_request request = {
        .method = "POST",
        .url = call->cloudwatch->url,
        .body = call->body,
        .content_type = content_type,
        .limit_bytes = ANSWER_MOST_BYTES,
        .context = call,
        .headers = signed_headers,
    };
    struct http_reply reply = {0};
    struct fault fault = {0};
    enum verdict verdict = FAILED;

    if (http_send(call->cloudwatch->http, &request, &reply, err)) {
        verdict = parse(call, &reply, ret_answer, err) ? ANSWERED : FAILED;
    } else if (err->code == ERR_NET && reply.status >= 300) {
        read_fault(&reply, &fault);
        verdict = is_throttled(&reply, &fault) ? THROTTLED : is_stale(&fault) ? STALE : FAILED;
        explain(call, &reply, &fault, err);
    }
    buf_free(&reply.body);
    return verdict;
}

static bool
call_text(struct call *call, bool *ret_is_stale, json_t **ret_answer, struct error *err)
{
    for (int tries = 0;; tries++) {
        struct error refused = {0};
        enum verdict verdict = try_once(call, ret_answer, &refused);

        if (verdict == ANSWERED)
            return true;
        if (verdict == STALE && ret_is_stale) {
            *ret_is_stale = true;
            return true;
        }
        if (verdict != THROTTLED || tries + 1 >= TRIES_MOST) {
            *err = refused;
            return false;
        }
        log_info("%s: throttled, trying again", call->target);
        if (!interrupt_sleep(backoff_ms(tries), err))
            return false;
    }
}

bool
cloudwatch_call(struct cloudwatch *cloudwatch, const char *action, json_t *body, bool *ret_is_stale, json_t **ret_answer,
                struct error *err)
{
    struct call call = {.cloudwatch = cloudwatch};
    char *text = json_dumps(body, JSON_COMPACT);
    bool is_good;

    if (!text)
        return error_set(err, ERR_BUG, "a call of %s could not be written", action);
    call.target = arena_printf(&call.arena, "GraniteServiceVersion20100801.%s", action);
    call.body = text;
    if (ret_is_stale)
        *ret_is_stale = false;
    is_good = call_text(&call, ret_is_stale, ret_answer, err);
    free(text);
    arena_free(&call.arena);
    return is_good;
}
