/* AWS Signature Version 4. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/s3.h"
#include "common/sha256.h"

void
s3_date(int64_t time, char ret_date[S3_DATE])
{
    time_t seconds = (time_t)time;
    struct tm tm;

    gmtime_r(&seconds, &tm);
    strftime(ret_date, S3_DATE, "%Y%m%dT%H%M%SZ", &tm);
}

char *
s3_escape(struct arena *arena, const char *key)
{
    static const char hex[] = "0123456789ABCDEF";
    char *escaped = arena_alloc(arena, 3 * strlen(key) + 1), *to = escaped;

    for (; *key; key++) {
        unsigned char c = (unsigned char)*key;

        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || strchr("-._~/", c)) {
            *to++ = (char)c;
        } else {
            *to++ = '%';
            *to++ = hex[c >> 4];
            *to++ = hex[c & 15];
        }
    }
    return escaped;
}

static void
add_names(const struct s3_signing *signing, struct buf *into)
{
    for (size_t i = 0; i < signing->header_count; i++)
        buf_printf(into, "%s%s", i ? ";" : "", signing->header[i][0]);
}

static void
canonical_hash(const struct s3_signing *signing, char ret_hex[65])
{
    struct sha256 hash;
    struct buf text = {0};

    buf_printf(&text, "%s\n%s\n%s\n", signing->method, signing->path, signing->query);
    for (size_t i = 0; i < signing->header_count; i++)
        buf_printf(&text, "%s:%s\n", signing->header[i][0], signing->header[i][1]);
    buf_putc(&text, '\n');
    add_names(signing, &text);
    buf_printf(&text, "\n%s", signing->payload_sha256);
    sha256_begin(&hash);
    sha256_add(&hash, text.data, text.size);
    sha256_hex(&hash, ret_hex);
    buf_free(&text);
}

/* The secret, bound to day, region and service, one after the other. */
static void
signing_key(const struct s3_signing *signing, const char *secret, unsigned char ret_key[32])
{
    struct buf first = {0};

    buf_printf(&first, "AWS4%s", secret);
    sha256_hmac(first.data, first.size, signing->date, 8, ret_key);
    sha256_hmac(ret_key, 32, signing->region, strlen(signing->region), ret_key);
    sha256_hmac(ret_key, 32, signing->service, strlen(signing->service), ret_key);
    sha256_hmac(ret_key, 32, "aws4_request", 12, ret_key);
    explicit_bzero(first.data, first.size);
    buf_free(&first);
}

void
s3_sign(const struct s3_signing *signing, const struct s3_credentials *credentials, struct buf *into)
{
    unsigned char key[32], signature[32];
    char hex[65];
    struct buf scope = {0}, text = {0};

    canonical_hash(signing, hex);
    buf_printf(&scope, "%.8s/%s/%s/aws4_request", signing->date, signing->region, signing->service);
    buf_printf(&text, "AWS4-HMAC-SHA256\n%s\n%s\n%s", signing->date, scope.data, hex);
    signing_key(signing, credentials->secret, key);
    sha256_hmac(key, sizeof key, text.data, text.size, signature);
    buf_printf(into, "AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=", credentials->key_id, scope.data);
    add_names(signing, into);
    buf_puts(into, ",Signature=");
    for (size_t i = 0; i < sizeof signature; i++)
        buf_printf(into, "%02x", signature[i]);
    explicit_bzero(key, sizeof key);
    buf_free(&scope);
    buf_free(&text);
}
