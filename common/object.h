/*
 * Objects: files of a folder here, of an S3 bucket, or behind one https address, listed and opened
 * the same way. A section says where: path is a file, a folder with what is beneath it, a pattern,
 * s3://BUCKET/PREFIX or https://…; or url, url-file, url-env, url-command hold one address whose
 * query is a secret.
 *
 * What is elsewhere is fetched whole into a file without a name (in TMPDIR) and read from there:
 * memory does not grow with it, and a connection that breaks is taken up where it broke. ETag and
 * size say that an object is the one that was read before. No name holds a secret.
 */
#ifndef COMMON_OBJECT_H
#define COMMON_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/error.h"
#include "common/settings.h"

struct object {
    const char *name;  /* in records and messages: path, s3://BUCKET/KEY, https://HOST/PATH */
    const char *key;   /* beneath the root: "2026/bill.csv.gz" */
    const char *full;  /* as its own store has it: the key in the bucket, the path here */
    uint64_t size;
    int64_t modified;  /* unix seconds; 0: unknown */
    const char *etag;  /* NULL: a file here */
};

struct object_list {
    struct object *object; /* sorted by name */
    size_t count;
    bool is_one;           /* the path names one object: it is wanted whatever its name ends in */
};

struct object_store;

/* Everything is allocated in the settings' arena. Nothing is asked of a server yet. */
bool object_store_open(struct object_store **ret_store, struct settings *settings, const struct section *section,
                       struct error *err) MUST_CHECK;
bool object_store_is_remote(const struct object_store *store);
/* What is there whose name ends in one of `suffixes` (NULL-ended), hidden files left out. Nothing: ERR_CONFIG. */
bool object_store_list(struct object_store *store, const char *const *suffixes, struct object_list *ret_list,
                       struct error *err) MUST_CHECK;
/* A small object whole; the caller frees. */
bool object_read(struct object_store *store, struct object *object, size_t limit, struct buf *ret_text,
                 struct error *err) MUST_CHECK;
/* An open file with all of it, which the caller closes. One that changes meanwhile is fetched again,
 * and size and etag become those of what was fetched. ERR_INPUT concerns this object alone. */
bool object_fetch(struct object_store *store, struct object *object, int *ret_fd, struct error *err) MUST_CHECK;
/* Whether its beginning can be had, for doctor. */
bool object_probe(struct object_store *store, struct object *object, struct error *err) MUST_CHECK;
/* Called with the bytes of the object fetched so far. */
void object_store_watch(struct object_store *store, void (*watch)(void *context, uint64_t bytes), void *context);
void object_store_close(struct object_store *store);

#endif
