/*
 * The order of a run: the shipped catalog, then the small sources one by one, then bills and
 * telemetry, two at a time: one worker takes from the front of the list (bills), one from its end
 * (telemetry). A job has a connection, an arena and a copy of the settings of its own, so that
 * nothing but the log and the progress line, which lock themselves, is shared.
 */
#include <config.h>

#include "ingest/ingest.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/cluster.h"
#include "common/log.h"
#include "ingest/catalog.h"

enum { WORKERS = 2 };

struct job {
    const struct section *section;
    struct settings settings; /* a copy whose arena is the job's */
    struct arena arena;
    struct ingest_result *result;
};

struct queue {
    pthread_mutex_t lock;
    struct job *jobs;
    size_t first, end; /* jobs still to be taken: [first, end) */
};

struct worker {
    struct queue *queue;
    bool takes_last;
};

static pthread_mutex_t connect_lock = PTHREAD_MUTEX_INITIALIZER;

/* Dimensions first; what depends on nothing but them last. */
static const enum source_kind small_kinds[] = {SOURCE_BINDING, SOURCE_INVENTORY, SOURCE_PRICES,
                                               SOURCE_MODEL,   SOURCE_FX,        SOURCE_TRACKER};
static const enum source_kind large_kinds[] = {SOURCE_BILLING, SOURCE_SCHEDULER, SOURCE_TELEMETRY};

/* ---------------------------------------------------------------- one source */

static double
seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool
job_connect(struct job *job, struct db **ret_db, struct error *err)
{
    pthread_mutex_lock(&connect_lock);
    bool good = cluster_connect(&job->settings, ret_db, "gpu-audit ingest", err);

    pthread_mutex_unlock(&connect_lock);
    return good;
}

static bool
job_ingest(struct job *job, struct source_run *run, struct error *err)
{
    const struct source *source = source_find(&job->settings, job->section, err);

    return source && job_connect(job, &run->db, err) &&
           ingest_source_id(&job->settings, run->db, &job->arena, job->section, &run->source_id,
                            err) &&
           source->ingest(run, err);
}

static void
outcome_say(struct progress *step, const struct ingest_result *result)
{
    const struct source_counts *counts = &result->counts;

    if (result->error.code) {
        progress_end(step, result->error.code == ERR_INTERRUPTED ? "interrupted" : "failed");
    } else if (counts->objects > 0 && counts->unchanged == counts->objects) {
        progress_end(step, "unchanged");
    } else {
        progress_end(
            step, "%" PRIu64 " rows: %" PRIu64 " kept, %" PRIu64 " totalled, %" PRIu64 " rejected",
            counts->read, counts->kept, counts->totalled, counts->rejected);
    }
}

static void
job_run(struct job *job)
{
    struct ingest_result *result = job->result;
    struct source_run run = {
        .settings = &job->settings, .section = job->section, .arena = &job->arena};
    double started = seconds_now();

    if (!interrupt_check(&result->error)) {
        return;
    }
    result->was_run = true;
    run.progress = progress_begin("ingest %s %s", job->section->kind, job->section->name);
    if (!job_ingest(job, &run, &result->error)) {
        error_context(&result->error, "[%s %s]", job->section->kind, job->section->name);
    }
    result->counts = run.counts;
    result->source_id = run.source_id;
    result->seconds = seconds_now() - started;
    outcome_say(run.progress, result);
    db_close(run.db);
}

/* ---------------------------------------------------------------- two at a time */

static struct job *
queue_take(struct queue *queue, bool takes_last)
{
    struct job *job = NULL;

    pthread_mutex_lock(&queue->lock);
    if (queue->first < queue->end) {
        job = takes_last ? &queue->jobs[--queue->end] : &queue->jobs[queue->first++];
    }
    pthread_mutex_unlock(&queue->lock);
    return job;
}

static void *
worker_run(void *context)
{
    struct worker *worker = context;
    struct job *job;

    while ((job = queue_take(worker->queue, worker->takes_last))) {
        job_run(job);
    }
    return NULL;
}

static void
jobs_run(struct job *jobs, size_t count)
{
    struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .jobs = jobs, .end = count};
    struct worker workers[WORKERS] = {{&queue, false}, {&queue, true}};
    pthread_t thread;
    bool has_thread = count > 1 && pthread_create(&thread, NULL, worker_run, &workers[1]) == 0;

    worker_run(&workers[0]);
    if (has_thread) {
        pthread_join(thread, NULL);
    }
}

/* ---------------------------------------------------------------- which sources */

static bool
is_wanted(const struct section *section, const char *const *names)
{
    for (; names && *names; names++) {
        if (strcmp(*names, section->name) == 0 || strcmp(*names, section->kind) == 0) {
            return true;
        }
    }
    return false;
}

static bool
name_known(const struct settings *settings, const char *name, struct error *err)
{
    const char *const names[] = {name, NULL};
    char there[300] = "";
    size_t used = 0;

    for (const struct section *section = settings->sections; section; section = section->next) {
        if (!source_is_section(section)) {
            continue;
        }
        if (is_wanted(section, names)) {
            return true;
        }
        if (used < sizeof(there)) {
            used += (size_t)snprintf(there + used, sizeof(there) - used, "%s%s", used ? ", " : "",
                                     section->name);
        }
    }
    error_set(err, ERR_USAGE, "there is no source \"%s\" in %s", name,
              settings->file ? settings->file : "the configuration");
    return error_hint(err, "Its sources are: %s.", there);
}

static void
jobs_add(struct settings *settings, struct arena *arena, const char *const *names,
         enum source_kind kind, struct job *jobs, size_t *count)
{
    for (const struct section *section = settings->sections; section; section = section->next) {
        if (strcmp(section->kind, source_kind_name(kind)) != 0 ||
            (names && !is_wanted(section, names))) {
            continue;
        }
        struct job *job = &jobs[(*count)++];

        job->section = section;
        job->settings = *settings;
        job->result->kind = arena_strdup(arena, section->kind);
        job->result->name = arena_strdup(arena, section->name);
    }
}

static size_t
sections_count(const struct settings *settings)
{
    size_t count = 0;

    for (const struct section *section = settings->sections; section; section = section->next) {
        count += source_is_section(section);
    }
    return count;
}

/* ---------------------------------------------------------------- outcome */

static bool
outcome(const struct ingest_results *results, struct error *err)
{
    const struct ingest_result *first = NULL;
    size_t failed = 0;

    for (size_t i = 0; i < results->count; i++) {
        const struct ingest_result *result = &results->result[i];

        if (result->error.code == ERR_INTERRUPTED) {
            *err = result->error;
            return false;
        }
        failed += result->error.code != ERR_NONE;
        first = first || result->error.code == ERR_NONE ? first : result;
    }
    if (!first) {
        return true;
    }
    if (results->count == 1) {
        *err = first->error;
        return false;
    }
    for (size_t i = 0; i < results->count; i++) {
        if (results->result[i].error.code) {
            log_error(&results->result[i].error);
        }
    }
    error_set(err, failed < results->count ? ERR_PARTIAL : first->error.code,
              "%zu of %zu sources failed", failed, results->count);
    return error_hint(err, "What was loaded of them before stands. Mend what is said above and run "
                           "the same command again.");
}

static bool
jobs_prepare(struct settings *settings, struct arena *arena, const char *const *names,
             struct job **ret_jobs, size_t *ret_small, struct ingest_results *ret_results,
             struct error *err)
{
    size_t room = sections_count(settings), count = 0;
    struct job *jobs = arena_alloc(arena, (room + 1) * sizeof(*jobs));
    struct ingest_result *result = arena_alloc(arena, (room + 1) * sizeof(*result));

    if (room == 0) {
        error_set(err, ERR_CONFIG, "%s has no source to read",
                  settings->file ? settings->file : "the configuration");
        return error_hint(err, "Add a section for each, such as [billing bills] with a path.");
    }
    for (size_t i = 0; names && names[i]; i++) {
        if (!name_known(settings, names[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < room; i++) {
        jobs[i].result = &result[i];
    }
    for (size_t i = 0; i < sizeof(small_kinds) / sizeof(small_kinds[0]); i++) {
        jobs_add(settings, arena, names, small_kinds[i], jobs, &count);
    }
    *ret_small = count;
    for (size_t i = 0; i < sizeof(large_kinds) / sizeof(large_kinds[0]); i++) {
        jobs_add(settings, arena, names, large_kinds[i], jobs, &count);
    }
    *ret_jobs = jobs;
    *ret_results = (struct ingest_results){result, count};
    return true;
}

bool
ingest_run_results(struct settings *settings, struct db *db, struct arena *arena,
                   const char *const *names, struct ingest_results *ret_results, struct error *err)
{
    struct job *jobs = NULL;
    size_t small = 0;

    *ret_results = (struct ingest_results){0};
    if (!jobs_prepare(settings, arena, names, &jobs, &small, ret_results, err)) {
        return false;
    }
    if (!catalog_load(settings, db, arena, err)) {
        ret_results->count = 0;
        return false;
    }
    for (size_t i = 0; i < ret_results->count; i++) {
        jobs[i].settings.arena = &jobs[i].arena;
    }
    for (size_t i = 0; i < small; i++) {
        job_run(&jobs[i]);
    }
    jobs_run(jobs + small, ret_results->count - small);
    for (size_t i = 0; i < ret_results->count; i++) {
        arena_free(&jobs[i].arena);
    }
    return db_exec(db,
                   "ANALYZE audit.host_binding, audit.owned_gpu, audit.issue, audit.instance_type, "
                   "audit.assumption",
                   err) &&
           outcome(ret_results, err);
}

bool
ingest_run(struct settings *settings, struct db *db, struct arena *arena, const char *const *names,
           struct error *err)
{
    struct ingest_results results;

    return ingest_run_results(settings, db, arena, names, &results, err);
}
