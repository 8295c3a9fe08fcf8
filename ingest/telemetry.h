/*
 * What every telemetry source shares: slices (source, month), their partitions, load rows, and the
 * way from an answer into a rollup and from there into audit.gpu_series and audit.gpu_hour.
 *
 * A slice is replaced whole (telemetry_replace_…: saved answers, new tables that are swapped in) or
 * a part of it by hours (telemetry_part_…: a live server, day by day). Both are one transaction,
 * the load rows included.
 */
#ifndef INGEST_TELEMETRY_H
#define INGEST_TELEMETRY_H

#include "ingest/matrix.h"
#include "ingest/rollup.h"
#include "ingest/source.h"

enum { TELEMETRY_REJECTS = 1000, TELEMETRY_RECORD_BYTES = 1024, SHARE_RANKS = 5 };

/* A file, or the queries of a day. */
struct telemetry_object {
    const char *name, *path;
    char sha256[65];                     /* "": not hashed */
    int64_t size_bytes;                  /* -1: unknown */
    int64_t first_ms, last_ms;           /* times within; first_ms < 0: no value at all */
    int64_t from, to;                    /* the part of the slice it covers; 0: all of it */
    const char *problem;                 /* NULL, or what there is to say */
    bool is_incomplete;                  /* the other side said that its answer was partial */
    uint64_t read, rejected;             /* of the slice being loaded */
    uint32_t (*pass)[ROLLUP_BUCKETS][2]; /* read and rejected in this pass; NULL: none yet */
};

struct telemetry_reject {
    struct telemetry_object *object;
    const char *reason, *record;
    unsigned bucket;
    uint64_t line; /* of the file; 0: it has none */
    struct telemetry_reject *next;
};

/* The highest share of each day, by which SCALE_AUTO is told. */
struct telemetry_shares {
    int64_t from;
    size_t days;
    float (*most)[SIGNAL_SUMMED][SHARE_RANKS];
};

struct telemetry_slice {
    struct source_run *run;
    int64_t from, to; /* the month */
    int slice_id;
    const char *slice_text; /* the same, as a parameter */
    int64_t started;
    int series_next;          /* series_no of the next new series */
    struct series_map *known; /* of a live slice: identities that have a number */
    struct copy *copy;        /* open while rows are sent */
    struct arena scratch;     /* of a pass */
    struct telemetry_series *fresh, **last_fresh;
    struct telemetry_reject *rejects, **last_reject;
    size_t reject_count;
};

/* From an answer into a rollup. */
struct telemetry_feed {
    struct telemetry_slice *slice;
    struct rollup *rollup;
    struct telemetry_shares *shares;
    struct telemetry_object *object;
    const struct metric *metric; /* NULL: each series says it itself (__name__) */
    enum statistic statistic;
    uint64_t line; /* of a file that has lines; 0 */
    /* the series being read */
    const struct metric *of;
    const struct label *labels;
    size_t label_count;
    struct gpu_identity identity;
    struct rollup_series *series;
    unsigned bucket;
    bool has_identity;
};

void telemetry_shares_open(struct telemetry_shares *shares, struct arena *arena, int64_t from,
                           int64_t to);
/* matrix_reader functions; context is a struct telemetry_feed. The first pair only looks: times of
 * the object, shares. The second fills the rollup. */
bool telemetry_look_series(void *context, const struct label *labels, size_t count,
                           enum matrix_want *ret_want, struct error *err);
bool telemetry_look_values(void *context, const struct matrix_value *values, size_t count,
                           struct error *err);
bool telemetry_take_series(void *context, const struct label *labels, size_t count,
                           enum matrix_want *ret_want, struct error *err);
bool telemetry_take_values(void *context, const struct matrix_value *values, size_t count,
                           struct error *err);

/* The same for those who have one value at a time: looked at or taken. */
bool telemetry_value(struct telemetry_feed *feed, const struct label *labels, size_t count, const struct metric *metric,
                     enum statistic statistic, struct matrix_value value, bool is_taking, struct error *err) MUST_CHECK;
/* A line that holds no value at all; near_ms: about when it was. Taking only. */
void telemetry_reject_line(struct telemetry_feed *feed, int64_t near_ms, uint64_t line, const char *reason,
                           const char *text, size_t size);

/* The slice of the month that holds `month`, registered if new. */
bool telemetry_open(struct telemetry_slice *slice, struct source_run *run, int64_t month,
                    struct error *err) MUST_CHECK;
void telemetry_close(struct telemetry_slice *slice);
/* The same objects, by hash, are in already: nothing to do. */
bool telemetry_is_unchanged(struct telemetry_slice *slice, struct telemetry_object *const *objects,
                            size_t count, bool *ret_unchanged, struct error *err) MUST_CHECK;

bool telemetry_replace_begin(struct telemetry_slice *slice, struct error *err) MUST_CHECK;
bool telemetry_replace_end(struct telemetry_slice *slice, struct telemetry_object *const *objects,
                           size_t count, struct error *err) MUST_CHECK;
/* Rows of the pass into the tables of this transaction, its counts into the objects. */
bool telemetry_pass_end(struct telemetry_slice *slice, struct rollup *rollup,
                        struct telemetry_object *const *objects, size_t count,
                        struct error *err) MUST_CHECK;

/* Live: makes the partitions. Once a slice. */
bool telemetry_part_open(struct telemetry_slice *slice, struct error *err) MUST_CHECK;
/* Is [object->from, to) loaded, complete, and was it so three hours after its end? */
bool telemetry_part_settled(struct telemetry_slice *slice, const struct telemetry_object *object,
                            bool *ret_settled, struct error *err) MUST_CHECK;
bool telemetry_part_begin(struct telemetry_slice *slice, const struct telemetry_object *object,
                          struct error *err) MUST_CHECK;
bool telemetry_part_end(struct telemetry_slice *slice, struct telemetry_object *object,
                        struct error *err) MUST_CHECK;

/* Rolls back and leaves one failed load that `status` can show. */
void telemetry_failed(struct telemetry_slice *slice, const char *object, const struct error *err);

#endif
