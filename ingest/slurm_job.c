/* A record of sacct to an allocation. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/slurm.h"

enum { ID_MOST = 60, NAME_MOST = 1000, RESTARTS_MOST = 1000000 };

struct spans {
    struct slurm_when start, end, submit, eligible;
    int64_t elapsed, suspended; /* -1: unknown */
};

/* ---------------------------------------------------------------- numbers of jobs */

static size_t
digits_at(struct field text)
{
    size_t size = 0;

    while (size < text.size && text.text[size] >= '0' && text.text[size] <= '9') {
        size++;
    }
    return size;
}

static struct field
after(struct field text, size_t size)
{
    return (struct field){text.text + size, text.size - size};
}

/* What follows the number: _4, _[5-9%2], +1. */
static bool
parse_part(struct field job, struct field *rest, struct slurm_id *id)
{
    char sign = rest->text[0];
    struct field inside = after(*rest, 1);
    size_t size = digits_at(inside);

    if (sign == '_' && inside.size > 0 && inside.text[0] == '[') {
        const char *close = memchr(inside.text, ']', inside.size);

        id->array_job = job;
        *rest = close ? after(*rest, (size_t)(close - rest->text) + 1) : *rest;
        return close != NULL;
    }
    if (size == 0 || size > 10) {
        return false;
    }
    if (sign == '_') {
        id->array_job = job;
        id->array_task = strtoll(inside.text, NULL, 10);
    } else {
        id->het_job = job;
        id->het_offset = (int)(size > 6 ? 0 : strtol(inside.text, NULL, 10));
    }
    *rest = after(*rest, size + 1);
    return true;
}

bool
slurm_id_parse(struct field text, struct slurm_id *ret_id)
{
    struct slurm_id id = {.array_job = {"", 0}, .het_job = {"", 0}, .array_task = -1, .het_offset = -1};
    struct field rest = csv_trim(text);
    const char *start = rest.text;
    size_t size = digits_at(rest);
    struct field job = {rest.text, size};

    if (size == 0 || size > 20) {
        return false;
    }
    rest = after(rest, size);
    while (rest.size > 0 && (rest.text[0] == '_' || rest.text[0] == '+')) {
        if (!parse_part(job, &rest, &id)) {
            return false;
        }
    }
    id.job = (struct field){start, (size_t)(rest.text - start)};
    id.is_step = rest.size > 1 && rest.text[0] == '.';
    if (rest.size > 0 && !id.is_step) {
        return false;
    }
    *ret_id = id;
    return true;
}

/* ---------------------------------------------------------------- times */

static int64_t
distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/* Of the instants a local time may be, those between which the job ran as long as it says. */
static void
choose(const struct spans *spans, int64_t *ret_start, int64_t *ret_end)
{
    int64_t span = spans->elapsed < 0 ? -1 : spans->elapsed + (spans->suspended > 0 ? spans->suspended : 0);
    int64_t best = -1;

    *ret_start = spans->start.at[0];
    *ret_end = spans->end.count ? spans->end.at[0] : 0;
    for (int s = 0; s < spans->start.count; s++) {
        for (int e = 0; e < spans->end.count && span >= 0; e++) {
            int64_t from = spans->start.at[s], to = spans->end.at[e];

            if (to >= from && (best < 0 || distance(to - from, span) < best)) {
                best = distance(to - from, span);
                *ret_start = from;
                *ret_end = to;
            }
        }
    }
    /* Still ambiguous, and no duration to tell: ends are not before starts. */
    if (best < 0 && spans->end.count == 2 && *ret_end < *ret_start) {
        *ret_end = spans->end.at[1];
    }
}

/* The latest instant not after the start: nobody waited an hour because clocks were put back. */
static int64_t
choose_before(const struct slurm_when *when, int64_t start)
{
    if (!when->count) {
        return 0;
    }
    return when->count == 2 && when->at[1] <= start ? when->at[1] : when->at[0];
}

static const char *
read_times(const struct slurm_rules *rules, const struct field *cell, struct spans *ret_spans)
{
    struct spans spans = {0};

    spans.elapsed = cell[SLURM_ELAPSED_RAW].size ? slurm_duration(cell[SLURM_ELAPSED_RAW]) : -1;
    if (spans.elapsed < 0 && cell[SLURM_ELAPSED].size) {
        spans.elapsed = slurm_duration(cell[SLURM_ELAPSED]);
    }
    spans.suspended = cell[SLURM_SUSPENDED].size ? slurm_duration(cell[SLURM_SUSPENDED]) : -1;
    if (!slurm_when(&rules->zone, cell[SLURM_START], &spans.start)) {
        return "Start is no time of this zone";
    }
    if (!slurm_when(&rules->zone, cell[SLURM_END], &spans.end)) {
        return "End is no time of this zone";
    }
    /* Only the wait hangs on these: one that is no time is unknown. */
    if (!slurm_when(&rules->zone, cell[SLURM_SUBMIT], &spans.submit)) {
        spans.submit.count = 0;
    }
    if (!slurm_when(&rules->zone, cell[SLURM_ELIGIBLE], &spans.eligible)) {
        spans.eligible.count = 0;
    }
    *ret_spans = spans;
    return NULL;
}

/* A record whose end is unknown was taken while the job ran: it vouches for what it says was elapsed,
 * and for nothing after that. */
static const char *
held(const struct slurm_rules *rules, const struct spans *spans, struct allocation_job *job, struct slurm_outcome *outcome)
{
    int64_t known_seconds = spans->elapsed < 0 ? -1 : spans->elapsed + (spans->suspended > 0 ? spans->suspended : 0);

    choose(spans, &job->from, &job->to);
    job->is_ended = job->to != 0;
    if (job->is_ended && job->to < job->from) {
        return "it ends before it starts";
    }
    if (!job->is_ended) {
        job->to = known_seconds >= 0 ? job->from + known_seconds : rules->now;
    }
    if (job->is_ended && spans->elapsed > job->to - job->from + 1) {
        outcome->is_shorter = true;
    }
    job->suspended_seconds = spans->suspended;
    if (spans->suspended < 0 && job->is_ended && spans->elapsed >= 0 && spans->elapsed <= job->to - job->from) {
        job->suspended_seconds = job->to - job->from - spans->elapsed;
    }
    if (job->to > rules->now) {
        job->to = rules->now;
        job->is_ended = false;
    }
    outcome->is_assumed_utc = spans->start.is_local && !rules->zone.since;
    return NULL;
}

static void
waited(const struct spans *spans, struct allocation_job *job)
{
    int64_t ready;

    job->submit = choose_before(&spans->submit, job->from);
    job->eligible = choose_before(&spans->eligible, job->from);
    ready = job->submit > job->eligible ? job->submit : job->eligible;
    /* A start before the submission happens (clocks, requeues): no wait can be told of it. */
    job->queue_wait_seconds = ready && ready <= job->from ? job->from - ready : -1;
}

/* ---------------------------------------------------------------- GPUs */

struct count {
    struct slurm_gpus gpus;
    const char *source;
    enum allocation_confidence confidence;
    bool is_per_node;
};

/* What was allocated; where that names no GPU, what older versions kept; then what was asked for. */
static bool
count_gpus(const struct slurm_rules *rules, const struct field *cell, struct count *ret_count)
{
    static const struct {
        enum slurm_column column;
        bool is_per_node;
        enum allocation_confidence confidence;
        const char *source;
    } ways[] = {
        {SLURM_ALLOC_TRES, false, CONFIDENCE_HIGH, "AllocTRES"},
        {SLURM_ALLOC_GRES, true, CONFIDENCE_MEDIUM, "AllocGRES"},
        {SLURM_REQ_TRES, false, CONFIDENCE_LOW, "ReqTRES"},
        {SLURM_REQ_GRES, true, CONFIDENCE_LOW, "ReqGRES"},
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct count count = {.source = ways[i].source, .confidence = ways[i].confidence, .is_per_node = ways[i].is_per_node};
        bool good = ways[i].is_per_node ? slurm_gres_gpus(cell[ways[i].column], rules->shards_per_gpu, &count.gpus)
                                        : slurm_tres_gpus(cell[ways[i].column], rules->shards_per_gpu, &count.gpus);

        if (!good) {
            return false;
        }
        if (count.gpus.is_named) {
            if (i == 0 && count.gpus.is_by_type) {
                count.source = "AllocTRES typed";
                count.confidence = CONFIDENCE_MEDIUM;
            }
            *ret_count = count;
            return true;
        }
    }
    *ret_count = (struct count){0};
    return true;
}

/* Nodes of the job: those listed, else the number of them. */
static int
nodes_of(const struct field *cell, const struct allocation_job *job)
{
    double told = slurm_tres_value(cell[SLURM_ALLOC_TRES], "node");
    size_t size = digits_at(csv_trim(cell[SLURM_NODES]));

    if (job->host_count > 0) {
        return job->host_count;
    }
    if (told >= 1 && told <= ALLOCATION_NODES_MOST) {
        return (int)told;
    }
    return size > 0 && size < 7 ? (int)strtol(csv_trim(cell[SLURM_NODES]).text, NULL, 10) : 0;
}

static const char *
place(struct arena *arena, const struct field *cell, const struct count *count, struct allocation_job *job)
{
    int nodes = nodes_of(cell, job);
    int64_t total = count->gpus.trillionths;

    job->gpu_source = count->source;
    job->confidence = count->confidence;
    job->gpu_type = count->gpus.type[0] ? arena_strdup(arena, count->gpus.type) : NULL;
    job->placement = PLACEMENT_UNKNOWN;
    if (count->is_per_node && nodes < 1) {
        return "GPUs are told by node, and no node is named";
    }
    total *= count->is_per_node ? nodes : 1;
    if (job->host_count == 1 || (job->host_count > 1 && count->is_per_node)) {
        job->placement = PLACEMENT_KNOWN;
    } else if (job->host_count > 1 && count->gpus.devices % job->host_count == 0) {
        job->placement = PLACEMENT_EVEN;
    }
    if (!job->host_count) {
        job->host_count = nodes > 0 ? nodes : -1;
    }
    if (count->gpus.is_sized && total > 0) {
        job->gpus = slurm_gpus_text(arena, total);
        job->host_gpus = job->placement == PLACEMENT_UNKNOWN ? NULL : slurm_gpus_text(arena, total / job->host_count);
    }
    return NULL;
}

/* ---------------------------------------------------------------- the rest */

static const char *
short_text(struct arena *arena, struct field cell)
{
    cell.size = cell.size > NAME_MOST ? NAME_MOST : cell.size;
    return slurm_text_of(arena, cell);
}

/* "CANCELLED by 380693", "CANCELLED+": the first word. */
static const char *
state_of(struct arena *arena, struct field cell)
{
    size_t size = 0;

    cell = csv_trim(cell);
    while (size < cell.size && size < ID_MOST &&
           ((cell.text[size] >= 'A' && cell.text[size] <= 'Z') || cell.text[size] == '_')) {
        size++;
    }
    return size ? arena_strndup(arena, cell.text, size) : NULL;
}

static void
describe(struct arena *arena, const struct slurm_rules *rules, const struct slurm_record *record, struct allocation_job *job)
{
    const struct field *cell = record->cell;
    struct field restarts = csv_trim(cell[SLURM_RESTARTS]);
    size_t size = digits_at(restarts);
    double util = slurm_tres_value(cell[SLURM_USAGE], "gres/gpuutil");

    job->line = record->line;
    job->cluster = short_text(arena, cell[SLURM_CLUSTER]);
    job->cluster = job->cluster ? job->cluster : rules->cluster;
    job->partition = short_text(arena, cell[SLURM_PARTITION]);
    job->qos = short_text(arena, cell[SLURM_QOS]);
    job->account = short_text(arena, cell[SLURM_ACCOUNT]);
    job->user_name = short_text(arena, cell[SLURM_USER]);
    job->job_name = short_text(arena, cell[SLURM_JOB_NAME]);
    job->comment = short_text(arena, cell[SLURM_COMMENT]);
    job->end_state = state_of(arena, cell[SLURM_STATE]);
    job->restarts = size > 0 && size < 7 ? (int)strtol(restarts.text, NULL, 10) : -1;
    job->gpu_util_pct = util;
    job->gpu_memory_pct = -1;
    job->use_source = util >= 0 ? "gpuutil" : NULL;
    if (slurm_jobstats(cell[SLURM_ADMIN_COMMENT], &job->gpu_util_pct, &job->gpu_memory_pct)) {
        job->use_source = "jobstats";
    }
    slurm_hints(arena, cell[SLURM_WCKEY], cell[SLURM_COMMENT], cell[SLURM_JOB_NAME], job);
}

static bool
identify(struct arena *arena, const struct field *cell, struct allocation_job *job)
{
    struct field shown = cell[SLURM_JOB_ID].size ? cell[SLURM_JOB_ID] : cell[SLURM_JOB_ID_RAW];
    struct field raw = cell[SLURM_JOB_ID_RAW].size ? cell[SLURM_JOB_ID_RAW] : cell[SLURM_JOB_ID];
    struct slurm_id id, key;

    if (!slurm_id_parse(shown, &id) || !slurm_id_parse(raw, &key)) {
        return false;
    }
    job->job_id = arena_strndup(arena, id.job.text, id.job.size);
    job->job_key = arena_strndup(arena, key.job.text, key.job.size);
    job->array_job_id = slurm_text_of(arena, id.array_job);
    job->array_task = id.array_task;
    job->het_job_id = slurm_text_of(arena, id.het_job);
    job->het_offset = id.het_offset;
    return true;
}

static enum slurm_kind
reject(struct slurm_outcome *outcome, const char *reason)
{
    outcome->reason = reason;
    return SLURM_REJECT;
}

static enum slurm_kind
other(struct slurm_outcome *outcome, enum allocation_reason why)
{
    outcome->why = why;
    return SLURM_OTHER;
}

enum slurm_kind
slurm_job(struct arena *arena, const struct slurm_rules *rules, const struct slurm_record *record,
          struct allocation_job *ret_job, struct slurm_outcome *ret_outcome)
{
    const struct field *cell = record->cell;
    struct allocation_job job = {.gpu_util_pct = -1};
    struct spans spans = {0};
    struct count count;
    const char *reason, *times;

    *ret_outcome = (struct slurm_outcome){0};
    if (!identify(arena, cell, &job)) {
        return reject(ret_outcome, "JobID is no number of a job");
    }
    times = read_times(rules, cell, &spans);
    ret_outcome->from = !times && spans.start.count ? spans.start.at[0] : !times ? choose_before(&spans.submit, 0) : 0;
    if (!count_gpus(rules, cell, &count)) {
        return reject(ret_outcome, "a count of GPUs that cannot be");
    }
    if (!times && spans.start.count) {
        times = held(rules, &spans, &job, ret_outcome);
        ret_outcome->from = times ? ret_outcome->from : job.from;
        ret_outcome->to = times ? 0 : job.to;
    }
    if (!count.gpus.is_named) {
        return other(ret_outcome, ALLOCATION_NO_GPU);
    }
    if (times) {
        return reject(ret_outcome, times);
    }
    if (!spans.start.count || job.from >= rules->now) {
        return other(ret_outcome, ALLOCATION_NOT_STARTED);
    }
    if (!slurm_nodes_expand(arena, cell[SLURM_NODE_LIST], &job.hosts, &job.host_count)) {
        return reject(ret_outcome, "NodeList is no list of nodes");
    }
    reason = place(arena, cell, &count, &job);
    if (reason) {
        return reject(ret_outcome, reason);
    }
    if (job.to <= job.from) {
        return other(ret_outcome, ALLOCATION_NO_TIME);
    }
    waited(&spans, &job);
    job.node_list = slurm_text_of(arena, cell[SLURM_NODE_LIST]);
    describe(arena, rules, record, &job);
    *ret_job = job;
    return SLURM_JOB;
}
