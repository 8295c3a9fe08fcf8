/*
 * Small sources (inventory, bindings, cost model, prices, rates, trackers, the shipped catalog) are
 * replaced whole: one slice "all", one transaction, one row of audit.load per object.
 *
 *     dimension_open        which row of audit.slice it is
 *     dimension_files       the objects, hashed
 *     dimension_unchanged   the same objects are in already: nothing to do
 *     dimension_begin       transaction; SQL sees gpu_audit.source_id and gpu_audit.origin
 *     dimension_reject, dimension_refuse
 *     dimension_commit      loads, rejects, commit
 *     dimension_failed      rolls back and leaves one failed load that `status` can show
 *
 * Rejects wait in run->arena until the loads have numbers: the first 1,000 of an object, each cut.
 */
#ifndef INGEST_DIMENSION_H
#define INGEST_DIMENSION_H

#include "common/csv.h"
#include "ingest/source.h"

enum {
    DIMENSION_REJECTS = 1000,
    DIMENSION_RECORD_BYTES = 4096,
    DIMENSION_REASON = 400,
};

struct dimension_reject;

struct dimension_object {
    const char *name;   /* as audit.load.object: the file, the query, the settings */
    const char *path;   /* NULL: not a file */
    char sha256[65];    /* "": cannot be known in advance */
    int64_t size_bytes; /* -1: unknown */
    uint64_t read, rejected;
    const char *problem; /* not NULL: the object is incomplete, and why */
    struct dimension_reject *first_reject, **last_reject;
};

struct dimension {
    struct source_run *run;
    const char *origin; /* "user", "shipped" */
    const char *slice_id;
    struct dimension_object *objects;
    size_t count;
    int64_t started; /* unix seconds */
};

bool dimension_open(struct dimension *dim, struct source_run *run, struct error *err) MUST_CHECK;
/* The files of `path` of the section become objects. */
bool dimension_files(struct dimension *dim, const char *const *suffixes,
                     struct error *err) MUST_CHECK;
/* Adds an object that is no file; sha256 "" means that it is never unchanged. */
struct dimension_object *dimension_object_add(struct dimension *dim, const char *name);
/* Reads the file once for its size and hash. */
bool dimension_hash(struct dimension_object *object, struct error *err) MUST_CHECK;
bool dimension_unchanged(struct dimension *dim, bool *ret_unchanged, struct error *err) MUST_CHECK;
bool dimension_begin(struct dimension *dim, struct error *err) MUST_CHECK;
void dimension_reject(struct dimension *dim, size_t object, uint64_t line, struct field record,
                      const char *fmt, ...) PRINTF_LIKE(5, 6);
/* Rows file_no, line, reason, record of an asset that takes them out of the stage. */
bool dimension_refuse(struct dimension *dim, const char *asset, struct error *err) MUST_CHECK;
bool dimension_commit(struct dimension *dim, struct error *err) MUST_CHECK;
void dimension_failed(struct dimension *dim, const struct error *err);

#endif
