/* Where a bucket is, from its section; and what S3's refusals mean. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/object_private.h"
#include "common/s3_private.h"

/* ---------------------------------------------------------------- settings */

static bool
read_address(struct object_store *store, const char *url, struct error *err)
{
    struct s3 *s3 = store->s3;
    const char *bucket = url + strlen("s3://"), *slash = strchr(bucket, '/');

    s3->bucket = slash ? arena_strndup(store->arena, bucket, (size_t)(slash - bucket)) : bucket;
    s3->prefix = slash ? slash + 1 : "";
    s3->is_pattern = strpbrk(s3->prefix, "*?[");
    if (*s3->bucket && strlen(s3->bucket) < 256
        && strspn(s3->bucket, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == strlen(s3->bucket)
        && *s3->bucket != '.')
        return true;
    error_set(err, ERR_CONFIG, "%s: path of %s names no bucket", section_origin(store->settings, store->section, "path"),
              store->where);
    return error_hint(err, "Write it as \"path = s3://BUCKET/PREFIX\".");
}

static void
read_region(struct object_store *store)
{
    struct s3 *s3 = store->s3;
    const char *region = section_get(store->section, "region");

    if (!region || !*region)
        region = getenv("AWS_REGION");
    if (!region || !*region)
        region = getenv("AWS_DEFAULT_REGION");
    if (!region || !*region)
        region = s3->credentials.region;
    s3->region = region && *region && strlen(region) < 64 && !strpbrk(region, "/ \r\n:@?#") ? region : "us-east-1";
}

static void
use_amazon(struct object_store *store)
{
    struct s3 *s3 = store->s3;
    const char *suffix = strncmp(s3->region, "cn-", 3) ? "" : ".cn";

    s3->scheme = "https";
    s3->base = "";
    /* a certificate of *.s3.… does not cover a name with dots */
    s3->is_path_style = strpbrk(s3->bucket, "._ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    s3->host = arena_printf(store->arena, "s3.%s.amazonaws.com%s", s3->region, suffix);
}

static bool
use_endpoint(struct object_store *store, const char *endpoint, struct error *err)
{
    struct s3 *s3 = store->s3;
    const char *host = strstr(endpoint, "://"), *path;
    size_t size;

    if (!host || (strncmp(endpoint, "https://", 8) && strncmp(endpoint, "http://", 7)) || strpbrk(endpoint, "@?# \r\n")) {
        error_set(err, ERR_CONFIG, "%s: endpoint of %s is no address of a server",
                  section_origin(store->settings, store->section, "endpoint"), store->where);
        return error_hint(err, "Write it as \"endpoint = https://HOST[:PORT]\", without user, query and bucket.");
    }
    s3->scheme = endpoint[4] == 's' ? "https" : "http";
    host += 3;
    path = host + strcspn(host, "/");
    s3->host = arena_strndup(store->arena, host, (size_t)(path - host));
    size = strlen(s3->host);
    /* a port that goes without saying is not sent, and so not signed */
    if (size > 4 && !strcmp(s3->scheme, "https") && !strcmp(s3->host + size - 4, ":443"))
        s3->host = arena_strndup(store->arena, s3->host, size - 4);
    if (size > 3 && !strcmp(s3->scheme, "http") && !strcmp(s3->host + size - 3, ":80"))
        s3->host = arena_strndup(store->arena, s3->host, size - 3);
    for (size = strlen(path); size && path[size - 1] == '/'; size--)
        ;
    s3->base = arena_strndup(store->arena, path, size);
    s3->is_path_style = true;
    if (!strcmp(s3->scheme, "http") && strncmp(host, "127.0.0.1", 9) && strncmp(host, "localhost", 9))
        log_warning("%s asks for bills over http: who listens can read them", store->where);
    return true;
}

static bool
read_style(struct object_store *store, struct error *err)
{
    struct s3 *s3 = store->s3;
    const char *style = section_get(store->section, "addressing");

    if (style && *style && strcmp(style, "path") && strcmp(style, "virtual")) {
        error_set(err, ERR_CONFIG, "%s: addressing is not path or virtual",
                  section_origin(store->settings, store->section, "addressing"));
        return error_hint(err, "path: https://HOST/BUCKET/KEY; virtual: https://BUCKET.HOST/KEY.");
    }
    if (style && *style)
        s3->is_path_style = !strcmp(style, "path");
    if (!s3->is_path_style)
        s3->host = arena_printf(store->arena, "%s.%s", s3->bucket, s3->host);
    return true;
}

/* Certificates and patience are the section's; a user or a token of it are not S3's. */
static const struct section *
plain_section(struct object_store *store)
{
    static const char *const keys[] = {"ca-file", "cert-file", "key-file", "timeout", NULL};
    struct section *plain = arena_alloc(store->arena, sizeof *plain);

    *plain = (struct section){.kind = store->section->kind, .name = store->section->name, .line = store->section->line};
    for (const struct setting *setting = store->section->settings; setting; setting = setting->next)
        for (const char *const *key = keys; *key; key++)
            if (!strcmp(setting->key, *key)) {
                struct setting *copy = arena_alloc(store->arena, sizeof *copy);

                *copy = *setting;
                copy->next = plain->settings;
                plain->settings = copy;
            }
    return plain;
}

bool
s3_open(struct object_store *store, const char *url, struct error *err)
{
    const char *endpoint = section_get(store->section, "endpoint"), *how = section_get(store->section, "credentials");

    store->s3 = arena_alloc(store->arena, sizeof *store->s3);
    if (!read_address(store, url, err)
        || !s3_credentials_read(store->settings, store->section, how && *how ? how : NULL, &store->s3->credentials, err))
        return false;
    read_region(store);
    if (!endpoint || !*endpoint)
        use_amazon(store);
    else if (!use_endpoint(store, endpoint, err))
        return false;
    return read_style(store, err) && http_open(&store->http, store->settings, plain_section(store), err);
}

/* ---------------------------------------------------------------- refusals */

static bool
wrong_region(const struct object_store *store, const char *region, struct error *err)
{
    error_set(err, ERR_NET, "bucket %s is in region %s, not in %s", store->s3->bucket, *region ? region : "of its own",
              store->s3->region);
    if (*region)
        return error_hint(err, "Set region = %s in %s.", region, store->where);
    return error_hint(err, "Set region in %s to that of the bucket.", store->where);
}

static bool
clock_skew(const struct object_store *store, const struct http_reply *reply, struct error *err)
{
    long long minutes = reply->date ? ((long long)time(NULL) - (long long)reply->date) / 60 : 0;

    if (minutes)
        error_set(err, ERR_NET, "the clock of this machine is %lld minutes %s that of S3", llabs(minutes),
                  minutes < 0 ? "behind" : "ahead of");
    else
        error_set(err, ERR_NET, "the clock of this machine is far from that of S3");
    return error_hint(err, "Set the clock right (timedatectl set-ntp true): S3 refuses what %s signs with it.", store->where);
}

struct refusal {
    const char *code;
    bool is_own; /* concerns this object alone */
    const char *hint;
};

static const struct refusal refusals[] = {
    {"AccessDenied", true, "These credentials may not read it: they need s3:ListBucket on the bucket and s3:GetObject on its objects."},
    {"AllAccessDisabled", false, "The owner of the bucket has closed it."},
    {"ExpiredToken", false, "The session is over: get new credentials, then run again; what is loaded stays."},
    {"InvalidToken", false, "Get new credentials: AWS_SESSION_TOKEN does not belong to the key."},
    {"InvalidAccessKeyId", false, "S3 does not know this access key: check which credentials are taken."},
    {"SignatureDoesNotMatch", false, "The secret does not belong to the access key, or a proxy changes requests."},
    {"NoSuchBucket", false, "There is no such bucket: correct path."},
    {"NoSuchKey", true, "It went away after it was listed: run again."},
    {"InvalidObjectState", true, "It lies in an archive: restore it (aws s3api restore-object), then run again."},
    {"SlowDown", false, "S3 wants fewer requests: run again later; what is loaded stays."},
};

bool
s3_explain(const struct object_store *store, const char *name, const struct http_reply *reply, struct error *err)
{
    struct s3_fault fault;
    const char *region;

    if (err->code != ERR_NET || reply->status < 300)
        return false;
    s3_fault_parse(&reply->body, &fault);
    region = *fault.region ? fault.region : reply->region;
    if (!strcmp(fault.code, "RequestTimeTooSkewed"))
        return clock_skew(store, reply, err);
    if (reply->status == 301 || reply->status == 307 || !strcmp(fault.code, "AuthorizationHeaderMalformed")
        || !strcmp(fault.code, "IllegalLocationConstraintException"))
        return wrong_region(store, region, err);
    error_set(err, ERR_NET, "%s: status %ld%s%s%s", name, reply->status, *fault.code ? " (" : "", fault.code,
              *fault.code ? ")" : "");
    if (*fault.message)
        error_detail(err, "S3 says: %s", fault.message);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (!strcmp(fault.code, refusals[i].code)) {
            if (refusals[i].is_own)
                err->code = ERR_INPUT;
            return error_hint(err, "%s The credentials are those of %s.", refusals[i].hint,
                              store->s3->credentials.from ? store->s3->credentials.from : "nobody: credentials = none");
        }
    if (reply->status == 404)
        err->code = ERR_INPUT;
    return error_hint(err, "Check path, endpoint and credentials in %s.", store->where);
}
