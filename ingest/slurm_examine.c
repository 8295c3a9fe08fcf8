/* For doctor: what a section of Slurm finds. */
#include <config.h>

#include <string.h>

#include "common/calendar.h"
#include "common/stream.h"
#include "ingest/slurm.h"

enum { LOOK_AT_MOST = 20000 };

struct seen {
    unsigned long records, gpu_jobs, bad;
    bool has_wait, has_nodes, has_project, is_local;
};

static bool
read_stream(void *context, void *into, size_t room, size_t *ret_size, struct error *err)
{
    return stream_read(context, into, room, ret_size, err);
}

static void
look_at_job(const struct allocation_job *job, const struct slurm_outcome *outcome, struct seen *seen)
{
    seen->gpu_jobs++;
    seen->has_wait = seen->has_wait || job->queue_wait_seconds >= 0;
    seen->has_nodes = seen->has_nodes || job->hosts;
    seen->has_project = seen->has_project || job->project_hint || job->issue_hint || job->account;
    seen->is_local = seen->is_local || outcome->is_assumed_utc;
}

static bool
look(struct slurm_reader *reader, const struct slurm_rules *rules, struct seen *seen, struct error *err)
{
    struct arena arena = {0};
    enum slurm_status status = SLURM_READ_RECORD;

    while (seen->records < LOOK_AT_MOST && status != SLURM_READ_END) {
        struct slurm_record record;
        struct allocation_job job;
        struct slurm_outcome outcome;
        struct slurm_id id;
        const char *reason = "";

        status = slurm_reader_next(reader, &record, &reason, err);
        if (status == SLURM_READ_ERROR) {
            break;
        }
        seen->records += status != SLURM_READ_END;
        seen->bad += status == SLURM_READ_BAD;
        if (status == SLURM_READ_RECORD && !(slurm_id_parse(record.cell[SLURM_JOB_ID], &id) && id.is_step)) {
            enum slurm_kind kind = slurm_job(&arena, rules, &record, &job, &outcome);

            seen->bad += kind == SLURM_REJECT;
            if (kind == SLURM_JOB) {
                look_at_job(&job, &outcome, seen);
            }
        }
        arena_reset(&arena, (struct arena_mark){0});
    }
    arena_free(&arena);
    return status != SLURM_READ_ERROR;
}

static void
say(const struct source_run *run, const struct seen *seen, struct buf *finding)
{
    buf_printf(finding, "%lu of the %s%lu records are jobs that held GPUs", seen->gpu_jobs,
               seen->records >= LOOK_AT_MOST ? "first " : "", seen->records);
    if (seen->bad) {
        buf_printf(finding, ", %lu cannot be read", seen->bad);
    }
    if (!seen->gpu_jobs) {
        buf_puts(finding, "; are GPUs declared (AccountingStorageTRES=gres/gpu)?");
        return;
    }
    if (!seen->has_wait) {
        buf_puts(finding, "; without Submit and Eligible the wait in the queue stays unknown");
    }
    if (!seen->has_nodes) {
        buf_puts(finding, "; without NodeList it stays unknown which GPUs were held");
    }
    if (!seen->has_project) {
        buf_puts(finding, "; without Account, WCKey and Comment nobody owns the jobs");
    }
    if (seen->is_local && !section_get(run->section, "time-zone")) {
        buf_puts(finding, "; times have no zone and are taken for UTC: set time-zone");
    }
}

static const char *
value_of(const struct source_run *run, const char *key)
{
    const char *value = section_get(run->section, key);

    return value ? value : "";
}

static bool
examine_files(struct source_run *run, const struct slurm_rules *rules, struct buf *finding, struct error *err)
{
    struct path_list list;
    struct seen seen = {0};
    bool good = path_expand(run->arena, section_path(run->settings, run->section, "path"), slurm_suffixes, &list, err);

    for (size_t i = 0; good && i < list.count; i++) {
        struct slurm_reader reader = {0};
        struct stream *stream = NULL;

        good = interrupt_check(err) && stream_open(&stream, list.path[i], err);
        if (!good) {
            break;
        }
        good = slurm_reader_open(&reader, (struct slurm_input){stream, read_stream}, value_of(run, "columns"),
                                 value_of(run, "delimiter"), err) &&
               look(&reader, rules, &seen, err);
        if (!good && !strstr(err->text, list.path[i])) {
            error_context(err, "%s", list.path[i]);
        }
        slurm_reader_close(&reader);
        stream_close(stream);
    }
    if (good) {
        buf_printf(finding, "%zu file%s; ", list.count, list.count == 1 ? "" : "s");
        say(run, &seen, finding);
    }
    return good;
}

/* The last day of the window tells whether sacct answers, and with other people's jobs. */
static bool
examine_command(struct source_run *run, const struct slurm_rules *rules, struct buf *finding, struct error *err)
{
    int64_t to = run->settings->window.to < rules->now ? run->settings->window.to : rules->now;
    struct slurm_reader reader = {0};
    struct slurm_question question;
    struct slurm_child child;
    struct seen seen = {0};
    char day[CALENDAR_TEXT];
    const char *columns;
    bool good;

    if (!slurm_question_begin(run, &columns, err) ||
        !slurm_question_make(run, columns, to - DAY_SECONDS, to, &question, err) ||
        !slurm_child_start(&child, question.argv, question.timeout_seconds, err)) {
        return false;
    }
    good = slurm_reader_open(&reader, (struct slurm_input){&child, slurm_child_read}, "", question.delimiter, err) &&
           look(&reader, rules, &seen, err);
    slurm_reader_close(&reader);
    if (!slurm_child_blame(&child, good && seen.records < LOOK_AT_MOST, err) && (!good || err->code)) {
        return false;
    }
    date_format(to - 1, day);
    buf_printf(finding, "%s answers; on %s ", question.argv[0], day);
    say(run, &seen, finding);
    return true;
}

bool
slurm_examine(struct source_run *run, struct buf *finding, struct error *err)
{
    struct slurm_rules rules = {.now = run->settings->now};

    return section_get(run->section, "command") ? examine_command(run, &rules, finding, err)
                                                : examine_files(run, &rules, finding, err);
}
