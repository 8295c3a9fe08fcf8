/*
 * Slurm accounting, as sacct tells it: text (sacct -P) in any order of columns, or JSON (sacct
 * --json). Both become a struct slurm_record, one cell for each column that is used; slurm_job
 * makes an allocation of it. Steps are no allocations: they only tell what their job used.
 *
 *     slurm_text.c      lines to records: free text with bars and line breaks in it
 *     slurm_header.c    which column is what
 *     slurm_json.c      objects to records
 *     slurm_job.c       a record to a job
 *     slurm_hint.c      whose project it was
 *     slurm_tres.c      how many GPUs
 *     slurm_nodes.c     which nodes
 *     slurm_time.c      when: zones, folds, durations
 *     slurm_jobstats.c  what jobstats left in AdminComment
 *     slurm_reader.c    text or JSON
 *     slurm_feed.c      records to a load
 *     slurm_files.c     saved answers
 *     slurm_child.c     sacct as a child process
 *     slurm_command.c   what is asked of it
 *
 * Text is hostile throughout: a job's name and comment are its owner's.
 */
#ifndef INGEST_SLURM_H
#define INGEST_SLURM_H

#include "common/csv.h"
#include "ingest/allocation.h"

/* ---------------------------------------------------------------- records */

enum slurm_column {
    SLURM_JOB_ID,
    SLURM_JOB_ID_RAW,
    SLURM_CLUSTER,
    SLURM_USER,
    SLURM_ACCOUNT,
    SLURM_PARTITION,
    SLURM_QOS,
    SLURM_WCKEY,
    SLURM_STATE,
    SLURM_SUBMIT,
    SLURM_ELIGIBLE,
    SLURM_START,
    SLURM_END,
    SLURM_ELAPSED_RAW,
    SLURM_ELAPSED,
    SLURM_SUSPENDED,
    SLURM_RESTARTS,
    SLURM_ALLOC_TRES,
    SLURM_REQ_TRES,
    SLURM_ALLOC_GRES,
    SLURM_REQ_GRES,
    SLURM_NODES,
    SLURM_NODE_LIST,
    SLURM_USAGE,
    SLURM_COMMENT,
    SLURM_ADMIN_COMMENT,
    SLURM_JOB_NAME,
    SLURM_COLUMNS,
};

struct slurm_record {
    struct field cell[SLURM_COLUMNS]; /* size 0: empty, or no such column */
    struct field raw;
    uint64_t line;
};

struct slurm_record slurm_record_empty(void); /* every cell is "" */

/* SLURM_READ_BAD: this record is unusable, *ret_reason says why; go on. */
enum slurm_status { SLURM_READ_RECORD, SLURM_READ_BAD, SLURM_READ_END, SLURM_READ_ERROR };

/* Where bytes come from: a stream, or a command. */
struct slurm_input {
    void *context;
    bool (*read)(void *context, void *into, size_t room, size_t *ret_size, struct error *err);
};

/* ---------------------------------------------------------------- text */

enum { SLURM_FIELDS_MOST = 256, SLURM_DELIMITER_MOST = 8, SLURM_RECORD_MOST = 1 << 20 };

struct slurm_layout {
    char delimiter[SLURM_DELIMITER_MOST + 1];
    size_t delimiter_size;
    size_t count;                              /* columns */
    int column[SLURM_FIELDS_MOST];             /* enum slurm_column; -1: not used */
    bool is_free[SLURM_FIELDS_MOST];           /* may hold the delimiter and line breaks */
    bool has[SLURM_COLUMNS];
};

/* names: a header line, or the value of columns =. A delimiter "" is told from the text. False and
 * a reason when that is no header of sacct. */
bool slurm_layout_parse(struct field names, const char *delimiter, struct slurm_layout *ret_layout,
                        char ret_reason[ALLOCATION_REASON]);
/* NULL, or the name of a column without which nothing can be told. */
const char *slurm_layout_missing(const struct slurm_layout *layout);
/* "JobID,Start,…": what to ask of sacct, of the columns that `known` (sacct --helpformat) lists. */
const char *slurm_layout_ask(struct arena *arena, const char *known);

struct slurm_text {
    struct slurm_input input;
    struct slurm_layout layout;
    struct field header; /* to know it again in files put together; size 0: none */
    char *data;
    size_t used, at, room;
    bool is_at_end;
    uint64_t line; /* of the line at `at`, from 1 */
    struct arena scratch;
};

/* columns, delimiter: of the section, or "". Reads the header. */
bool slurm_text_open(struct slurm_text *text, struct slurm_input input, const char *columns, const char *delimiter,
                     struct error *err) MUST_CHECK;
enum slurm_status slurm_text_next(struct slurm_text *text, struct slurm_record *ret_record, const char **ret_reason,
                                  struct error *err);
void slurm_text_close(struct slurm_text *text);

/* ---------------------------------------------------------------- JSON */

struct slurm_json {
    struct slurm_input input;
    char *data;
    size_t used, at, room;
    bool is_at_end, is_inside; /* inside: of the list of jobs */
    uint64_t job;              /* jobs so far: what stands for a line */
    uint64_t offset;           /* bytes before data */
    struct arena scratch;
};

bool slurm_json_open(struct slurm_json *json, struct slurm_input input, struct error *err) MUST_CHECK;
enum slurm_status slurm_json_next(struct slurm_json *json, struct slurm_record *ret_record, const char **ret_reason,
                                  struct error *err);
void slurm_json_close(struct slurm_json *json);
/* A job's object to cells, in arena. False: it is no job. */
bool slurm_json_record(struct arena *arena, const char *text, size_t size, struct slurm_record *ret_record,
                       const char **ret_reason);

/* ---------------------------------------------------------------- either */

/* Told apart by the first byte that is no blank. */
struct slurm_reader {
    struct slurm_input from;
    char peeked[64];
    size_t peeked_size, peeked_at;
    bool is_json;
    struct slurm_text text;
    struct slurm_json json;
};

bool slurm_reader_open(struct slurm_reader *reader, struct slurm_input input, const char *columns, const char *delimiter,
                       struct error *err) MUST_CHECK;
enum slurm_status slurm_reader_next(struct slurm_reader *reader, struct slurm_record *ret_record, const char **ret_reason,
                                    struct error *err);
void slurm_reader_close(struct slurm_reader *reader);

/* ---------------------------------------------------------------- times */

struct slurm_zone {
    const int64_t *since; /* first instant of each offset; NULL: UTC */
    const int *offset_seconds;
    size_t count;
};

/* A local time that comes twice is two instants; none: unknown. */
struct slurm_when {
    int64_t at[2];
    int count;
    bool is_local; /* it came without a zone */
};

bool slurm_zone_load(struct db *db, struct arena *arena, const char *name, const struct window *window,
                     struct slurm_zone *ret_zone, struct error *err) MUST_CHECK;
/* False: neither a time nor a word for none. */
bool slurm_when(const struct slurm_zone *zone, struct field text, struct slurm_when *ret_when);
/* [days-]hours:minutes:seconds[.fraction], minutes:seconds, or seconds; -1 when it is none of them. */
int64_t slurm_duration(struct field text);

/* ---------------------------------------------------------------- GPUs */

enum { SLURM_TYPE_MOST = 120 };

struct slurm_gpus {
    bool is_named;       /* GPUs are named at all */
    bool is_sized;       /* false: shares of GPUs whose size nobody told */
    bool is_by_type;     /* only types were told */
    int64_t devices;     /* GPUs, slices and shares, each counted as one */
    int64_t trillionths; /* of a GPU */
    char type[SLURM_TYPE_MOST];
};

/* shards_per_gpu 0: unknown. False: a count that cannot be. */
bool slurm_tres_gpus(struct field tres, int shards_per_gpu, struct slurm_gpus *ret_gpus);
/* AllocGRES, ReqGRES: of one node. */
bool slurm_gres_gpus(struct field gres, int shards_per_gpu, struct slurm_gpus *ret_gpus);
/* Number after "NAME=" in a TRES list; -1: absent. */
double slurm_tres_value(struct field tres, const char *name);
/* "0.142857142857", in arena. */
const char *slurm_gpus_text(struct arena *arena, int64_t trillionths);

/* ---------------------------------------------------------------- nodes */

/* "gpu[01-03],x1" as "gpu01,gpu02,gpu03,x1", in arena; NULL and 0 when it names none. False: brackets
 * that do not pair, ranges that run backwards, more than ALLOCATION_NODES_MOST. */
bool slurm_nodes_expand(struct arena *arena, struct field list, const char **ret_hosts, int *ret_count);

/* ---------------------------------------------------------------- jobs */

struct slurm_rules {
    struct slurm_zone zone;
    int64_t now;
    int shards_per_gpu;
    const char *cluster; /* NULL, or of records that name none */
};

struct slurm_id {
    struct field job, array_job, het_job;
    int64_t array_task; /* -1: none */
    int het_offset;     /* -1: none */
    bool is_step;
};

enum slurm_kind {
    SLURM_JOB,    /* an allocation */
    SLURM_OTHER,  /* *ret_why says why it is none */
    SLURM_REJECT, /* *ret_reason */
};

struct slurm_outcome {
    enum allocation_reason why;
    int64_t from, to;    /* as far as known, else 0 */
    const char *reason;  /* of a reject */
    bool is_assumed_utc; /* times had no zone, and none was configured */
    bool is_shorter;     /* it ran longer than the time between start and end: a wrong zone */
};

/* 123, 123_4, 123_[5-9], 123+0, each with .step or not. */
bool slurm_id_parse(struct field text, struct slurm_id *ret_id);
/* Strings of the job are in arena. */
enum slurm_kind slurm_job(struct arena *arena, const struct slurm_rules *rules, const struct slurm_record *record,
                          struct allocation_job *ret_job, struct slurm_outcome *ret_outcome);
/* Sets project_hint and issue_hint from comment, WCKey and name. */
void slurm_hints(struct arena *arena, struct field wckey, struct field comment, struct field name,
                 struct allocation_job *job);
const char *slurm_text_of(struct arena *arena, struct field cell); /* NULL when empty or "(null)" */
/* The summary that jobstats leaves: JS1: and gzip in base64. Means over the GPUs of the job; false
 * when it is none. */
bool slurm_jobstats(struct field admin_comment, double *ret_util_pct, double *ret_memory_pct);

/* ---------------------------------------------------------------- a load */

struct slurm_feed {
    struct allocation_load *load;
    const struct slurm_rules *rules;
    struct arena arena; /* of the job that waits for its steps */
    struct allocation_job job;
    char key[64];
    bool has_job;
    uint64_t assumed_utc, shorter, steps, low;
};

bool slurm_feed_record(struct slurm_feed *feed, const struct slurm_record *record, struct error *err) MUST_CHECK;
bool slurm_feed_end(struct slurm_feed *feed, struct error *err) MUST_CHECK;

/* Everything a reader has, into the object of the load. */
bool slurm_feed_all(struct slurm_feed *feed, struct slurm_reader *reader, struct error *err) MUST_CHECK;
void slurm_feed_warn(const struct slurm_feed *feed, const char *what);

/* ---------------------------------------------------------------- sacct as a command */

struct slurm_child {
    int pid, out, complaints;
    int64_t timeout_seconds; /* of silence */
    uint64_t bytes;
    char said[2048]; /* on stderr */
    size_t said_size;
};

/* No shell; found through PATH; its own process group. It is told to give times in UTC, as seconds. */
bool slurm_child_start(struct slurm_child *child, const char *const *argv, int64_t timeout_seconds,
                       struct error *err) MUST_CHECK;
bool slurm_child_read(void *child, void *into, size_t room, size_t *ret_size, struct error *err);
/* is_good: it was read to its end, now its status counts. Else it is ended. */
bool slurm_child_end(struct slurm_child *child, bool is_good, struct error *err) MUST_CHECK;

struct slurm_question {
    const char **argv; /* NULL-ended */
    const char *name;  /* without what differs from run to run */
    const char *delimiter;
    int64_t timeout_seconds;
};

/* What to ask of sacct for the jobs of a span; asks it first which columns it knows. */
bool slurm_question_begin(struct source_run *run, const char **ret_columns, struct error *err) MUST_CHECK;
bool slurm_question_make(struct source_run *run, const char *columns, int64_t from, int64_t to,
                         struct slurm_question *ret_question, struct error *err) MUST_CHECK;
/* The failure of a child behind that of its reader, where there is one. */
bool slurm_child_blame(struct slurm_child *child, bool is_good, struct error *err) MUST_CHECK;

/* ---------------------------------------------------------------- the source */

bool slurm_rules_read(struct source_run *run, struct slurm_rules *ret_rules, struct error *err) MUST_CHECK;
bool slurm_files(struct source_run *run, const struct slurm_rules *rules, struct error *err) MUST_CHECK;
bool slurm_command(struct source_run *run, const struct slurm_rules *rules, struct error *err) MUST_CHECK;
bool slurm_examine(struct source_run *run, struct buf *finding, struct error *err);
extern const char *const slurm_suffixes[];

#endif
