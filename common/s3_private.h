/* What the files of S3 share. */
#ifndef COMMON_S3_PRIVATE_H
#define COMMON_S3_PRIVATE_H

#include "common/s3.h"

struct s3 {
    const char *bucket, *prefix; /* prefix: a folder, a key or a pattern */
    bool is_pattern, is_path_style;
    const char *scheme, *host, *base; /* base: path in front of the bucket, "" or "/s3" */
    const char *region;
    struct s3_credentials credentials;
    const char *line[S3_HEADERS + 3]; /* of the last s3_headers */
};

#endif
