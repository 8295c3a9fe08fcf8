/*
 * S3 and what speaks like it: requests signed by Signature Version 4, listings of any length,
 * credentials from where AWS's own tools find them.
 *
 * The signature is made here and not by libcurl (CURLOPT_AWS_SIGV4): what that signs differs between
 * the versions in use. 7.88 for one takes a query as it comes, and S3 refuses it when it is not in
 * order; tests/integration/0361_s3.t shows what the installed one does.
 */
#ifndef COMMON_S3_H
#define COMMON_S3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/error.h"
#include "common/http.h"
#include "common/object.h"

enum { S3_DATE = 17, S3_HEADERS = 8 };

struct s3_credentials {
    const char *key_id, *secret; /* NULL: requests are not signed */
    const char *token;           /* NULL: none */
    const char *region;          /* of the profile; NULL: it names none */
    const char *from;            /* "the environment", for messages */
    int64_t expires;             /* unix seconds; 0: never */
};

/* What is signed. Path and query are escaped, the query sorted; headers have lower-case names, sorted. */
struct s3_signing {
    const char *method, *path, *query;
    const char *header[S3_HEADERS][2];
    size_t header_count;
    const char *payload_sha256; /* hex */
    const char *region, *service;
    char date[S3_DATE];         /* 20130524T000000Z */
};

void s3_date(int64_t time, char ret_date[S3_DATE]);
/* The value of the Authorization header. */
void s3_sign(const struct s3_signing *signing, const struct s3_credentials *credentials, struct buf *into);
/* A key as it stands in a URL: "/" stays. */
char *s3_escape(struct arena *arena, const char *key);

/* One page of ListObjectsV2. *ret_next is the token of the next page; NULL at the end. */
struct s3_page {
    struct object *object; /* key, size, modified, etag */
    size_t count;
    const char *next;
};
bool s3_page_parse(struct arena *arena, const struct buf *body, struct s3_page *ret_page, struct error *err) MUST_CHECK;

/* What an error says about itself; "" where it does not. */
struct s3_fault {
    char code[64], message[300], region[40];
};
void s3_fault_parse(const struct buf *body, struct s3_fault *ret_fault);

/* `how` is the value of credentials: env, file:PATH, profile:NAME, instance, none; NULL: the first of
 * env and the default profile that is there. Secrets are registered with the log. */
bool s3_credentials_read(struct settings *settings, const struct section *section, const char *how,
                         struct s3_credentials *ret_credentials, struct error *err) MUST_CHECK;
/* Those of the machine's role, from the metadata service. */
bool s3_credentials_instance(struct settings *settings, const struct section *section,
                             struct s3_credentials *ret_credentials, struct error *err) MUST_CHECK;

#endif
