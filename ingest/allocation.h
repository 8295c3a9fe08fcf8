/*
 * What every scheduler source shares: months (slices) of audit.allocation, a stage that takes the
 * jobs of a load in any order, and the way from there into the months.
 *
 *     allocation_open        the months of the window, registered
 *     allocation_begin       transaction; months locked; the stage
 *     allocation_add, allocation_total, allocation_reject    record by record
 *     allocation_commit      repeated records out, the months replaced, loads, rejects, commit
 *     allocation_failed      rolls back and leaves one failed load that `status` can show
 *
 * Jobs are streamed to the server as they come; only counts and the first rejects stay here. A job
 * counts in each month it touches; what touches none of them is passed over.
 */
#ifndef INGEST_ALLOCATION_H
#define INGEST_ALLOCATION_H

#include "common/csv.h"
#include "ingest/source.h"

enum {
    ALLOCATION_REJECTS = 1000,
    ALLOCATION_RECORD_BYTES = 4096,
    ALLOCATION_REASON = 300,
    ALLOCATION_NODES_MOST = 65536,
};

enum allocation_placement { PLACEMENT_KNOWN, PLACEMENT_EVEN, PLACEMENT_UNKNOWN };
enum allocation_confidence { CONFIDENCE_HIGH, CONFIDENCE_MEDIUM, CONFIDENCE_LOW };

/* Why a record is no allocation. */
enum allocation_reason {
    ALLOCATION_NO_GPU,
    ALLOCATION_NOT_STARTED,
    ALLOCATION_NO_TIME,
    ALLOCATION_REPEATED, /* counted by allocation_commit */
    ALLOCATION_REASONS,
};

/* Text that is NULL is unknown, and so is a number below 0. Times are unix seconds; 0: unknown. */
struct allocation_job {
    uint64_t line;
    const char *cluster, *job_id, *job_key, *array_job_id, *het_job_id;
    int64_t array_task;
    int het_offset;
    const char *hosts; /* parted by commas */
    int host_count;
    const char *node_list;
    int64_t from, to; /* held; to is cut where the record was taken when the end is unknown */
    bool is_ended;
    const char *gpus, *host_gpus; /* decimal */
    const char *gpu_type, *gpu_source;
    enum allocation_placement placement;
    enum allocation_confidence confidence;
    const char *partition, *qos, *account, *user_name, *job_name, *comment, *project_hint, *issue_hint;
    int64_t submit, eligible;
    int64_t queue_wait_seconds, suspended_seconds;
    int restarts;
    const char *end_state;
    double gpu_util_pct, gpu_memory_pct;
    const char *use_source;
};

struct allocation_reject;

/* A file, or the answer of a command. */
struct allocation_object {
    const char *name, *path;
    char sha256[65];     /* "": not hashed */
    int64_t size_bytes;  /* -1: unknown */
    const char *problem; /* not NULL: incomplete, and why */
    uint64_t (*totalled)[ALLOCATION_REASONS]; /* by month */
    uint64_t *rejected, *kept;                /* by month */
    uint64_t outside;                         /* records that touch no month of the load */
    struct allocation_reject *first_reject, **last_reject;
    unsigned reject_count;
};

struct allocation_month {
    int64_t from, to, covered_to; /* covered_to: cut at now */
    const char *slice_id;
    bool is_current; /* is in as it should be: not loaded again */
};

struct allocation_load {
    struct source_run *run;
    struct allocation_month *months;
    size_t month_count;
    size_t first, end; /* months of the transaction */
    struct allocation_object *objects;
    size_t object_count, object; /* object: the one being read */
    int64_t started;
    struct copy *copy;
    uint64_t records;
};

/* Months of the window up to now. */
bool allocation_open(struct allocation_load *load, struct source_run *run, struct error *err) MUST_CHECK;
/* Sets is_current of months that were loaded from these very objects, or, where an object has no
 * hash, from one of its name `settled_seconds` or more after the end of the month. */
bool allocation_compare(struct allocation_load *load, size_t month, struct allocation_object *objects, size_t count,
                        int64_t settled_seconds, struct error *err) MUST_CHECK;
/* The months [first, end) that are not current are replaced by what comes of the objects. */
bool allocation_begin(struct allocation_load *load, size_t first, size_t end, struct allocation_object *objects,
                      size_t count, struct error *err) MUST_CHECK;
bool allocation_add(struct allocation_load *load, const struct allocation_job *job, struct error *err) MUST_CHECK;
/* A record that is no allocation; from and to as far as known, 0 if not. */
void allocation_total(struct allocation_load *load, enum allocation_reason reason, int64_t from, int64_t to);
void allocation_reject(struct allocation_load *load, uint64_t line, struct field record, int64_t at, const char *fmt, ...)
    PRINTF_LIKE(5, 6);
bool allocation_commit(struct allocation_load *load, struct error *err) MUST_CHECK;
void allocation_failed(struct allocation_load *load, const char *object, const struct error *err);

/* allocation_counts.c: what a load says of itself. */
bool allocation_counts_write(struct allocation_load *load, struct error *err) MUST_CHECK;

#endif
