/* Records to a load: a job waits until its steps have told what it used. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "common/log.h"
#include "ingest/slurm.h"

enum { INTERRUPT_EVERY = 4096 };

static bool
flush(struct slurm_feed *feed, struct error *err)
{
    bool good = true;

    if (feed->has_job) {
        feed->low += feed->job.confidence == CONFIDENCE_LOW;
        good = allocation_add(feed->load, &feed->job, err);
    }
    feed->has_job = false;
    arena_reset(&feed->arena, (struct arena_mark){0});
    return good;
}

/* The job a record belongs to, and whether it is a step of it. */
static bool
key_of(const struct slurm_record *record, char ret_key[64], bool *ret_is_step)
{
    struct field id = record->cell[SLURM_JOB_ID_RAW].size ? record->cell[SLURM_JOB_ID_RAW] : record->cell[SLURM_JOB_ID];
    struct field shown = record->cell[SLURM_JOB_ID];
    struct slurm_id parsed, parsed_shown = {.is_step = false};

    if (!slurm_id_parse(id, &parsed) || parsed.job.size >= 64) {
        return false;
    }
    memcpy(ret_key, parsed.job.text, parsed.job.size);
    ret_key[parsed.job.size] = '\0';
    *ret_is_step = parsed.is_step || (slurm_id_parse(shown, &parsed_shown) && parsed_shown.is_step);
    return true;
}

static void
take_step(struct slurm_feed *feed, const struct slurm_record *record, const char *key)
{
    double util = slurm_tres_value(record->cell[SLURM_USAGE], "gres/gpuutil");
    bool is_jobstats = feed->job.use_source && strcmp(feed->job.use_source, "jobstats") == 0;

    feed->steps++;
    if (feed->has_job && strcmp(feed->key, key) == 0 && !is_jobstats && util > feed->job.gpu_util_pct) {
        feed->job.gpu_util_pct = util;
        feed->job.use_source = "gpuutil";
    }
}

bool
slurm_feed_record(struct slurm_feed *feed, const struct slurm_record *record, struct error *err)
{
    struct slurm_outcome outcome;
    char key[64] = "";
    bool is_step = false;

    if (key_of(record, key, &is_step) && is_step) {
        take_step(feed, record, key);
        return true;
    }
    if (!flush(feed, err)) {
        return false;
    }
    switch (slurm_job(&feed->arena, feed->rules, record, &feed->job, &outcome)) {
    case SLURM_JOB:
        feed->has_job = true;
        memcpy(feed->key, key, sizeof(key));
        feed->assumed_utc += outcome.is_assumed_utc;
        feed->shorter += outcome.is_shorter;
        return true;
    case SLURM_OTHER:
        allocation_total(feed->load, outcome.why, outcome.from, outcome.to);
        return true;
    default:
        allocation_reject(feed->load, record->line, record->raw, outcome.from, "%s", outcome.reason);
        return true;
    }
}

bool
slurm_feed_end(struct slurm_feed *feed, struct error *err)
{
    bool good = flush(feed, err);

    arena_free(&feed->arena);
    return good;
}

bool
slurm_feed_all(struct slurm_feed *feed, struct slurm_reader *reader, struct error *err)
{
    for (uint64_t records = 0;; records++) {
        struct slurm_record record;
        const char *reason = "";

        if (records % INTERRUPT_EVERY == 0 && !interrupt_check(err)) {
            return false;
        }
        switch (slurm_reader_next(reader, &record, &reason, err)) {
        case SLURM_READ_RECORD:
            if (!slurm_feed_record(feed, &record, err)) {
                return false;
            }
            break;
        case SLURM_READ_BAD:
            allocation_reject(feed->load, record.line, record.raw, 0, "%s", reason);
            break;
        case SLURM_READ_END:
            return flush(feed, err);
        default:
            return false;
        }
    }
}

void
slurm_feed_warn(const struct slurm_feed *feed, const char *what)
{
    if (feed->steps) {
        log_info("%s: %" PRIu64 " steps were passed over: their jobs count", what, feed->steps);
    }
    if (feed->assumed_utc) {
        log_warning("%s: times without a zone are taken for UTC; set time-zone to the zone of the machine that ran sacct, "
                    "or make it with SLURM_TIME_FORMAT=%%s",
                    what);
    }
    if (feed->shorter) {
        log_warning("%s: %" PRIu64 " jobs ran longer than the time between their start and end: time-zone may be wrong", what,
                    feed->shorter);
    }
    if (feed->low) {
        log_warning("%s: of %" PRIu64 " jobs only what was requested is known (confidence low)", what, feed->low);
    }
}
