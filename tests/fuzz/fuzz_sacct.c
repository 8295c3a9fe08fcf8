/*
 * Fuzzes accounting of Slurm: the first byte says how the section is (columns, delimiter, size of the
 * pieces), the rest is what sacct said, text or JSON. Reading whole and in pieces must agree; jobs end
 * after they begin, hold GPUs that are numbers, and rejects say why.
 */
#include <config.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/decimal.h"
#include "ingest/slurm.h"

enum { RECORDS_MOST = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size, at, step;
};

struct result {
    bool is_opened, is_ended;
    uint64_t records, bad, jobs, others, rejects, sum;
};

static bool
read_input(void *context, void *into, size_t room, size_t *ret_size, struct error *err)
{
    struct input *input = context;
    size_t size = input->size - input->at;

    (void)err;
    size = size < input->step ? size : input->step;
    size = size < room ? size : room;
    if (size)
        memcpy(into, input->data + input->at, size);
    input->at += size;
    *ret_size = size;
    return true;
}

static void
fail(const char *what, int64_t value)
{
    fprintf(stderr, "%s: %lld\n", what, (long long)value);
    abort();
}

static void
check_job(const struct allocation_job *job)
{
    const char *const numbers[] = {job->gpus, job->host_gpus};

    if (!job->job_id || !job->job_key)
        abort();
    if (job->to < job->from)
        fail("it ends before it begins, by seconds", job->from - job->to);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] && (!decimal_fits(numbers[i], strlen(numbers[i])) || decimal_sign(numbers[i], strlen(numbers[i])) < 0))
            abort();
}

static void
take(const struct slurm_record *record, struct result *result)
{
    static const int64_t since[] = {INT64_MIN, 1774746000, 1792890000};
    static const int offset[] = {3600, 7200, 3600};
    const struct slurm_rules rules = {.zone = {since, offset, 3}, .now = 1790812800, .shards_per_gpu = 8, .cluster = "c"};
    struct arena arena = {0};
    struct allocation_job job;
    struct slurm_outcome outcome = {0};

    for (int i = 0; i < SLURM_COLUMNS; i++)
        for (size_t at = 0; at < record->cell[i].size; at++)
            result->sum += (unsigned char)record->cell[i].text[at];
    switch (slurm_job(&arena, &rules, record, &job, &outcome)) {
    case SLURM_JOB:
        check_job(&job);
        result->jobs++;
        break;
    case SLURM_OTHER:
        result->others++;
        break;
    default:
        if (!outcome.reason || !*outcome.reason)
            abort();
        result->rejects++;
    }
    arena_free(&arena);
}

static struct result
run(const uint8_t *data, size_t size, size_t step, unsigned options)
{
    static const char *const columns[] = {"", "JobID|State|Start|End|AllocTRES|JobName|Comment"};
    static const char *const delimiters[] = {"", ";"};
    struct input input = {data, size, 0, step};
    struct slurm_reader reader = {.is_json = false};
    struct result result = {0};
    struct error err = {0};
    enum slurm_status status = SLURM_READ_RECORD;

    result.is_opened = slurm_reader_open(&reader, (struct slurm_input){&input, read_input}, columns[options & 1],
                                         delimiters[options >> 1 & 1], &err);
    for (int i = 0; result.is_opened && i < RECORDS_MOST && status <= SLURM_READ_BAD; i++) {
        struct slurm_record record;
        const char *reason = "";

        status = slurm_reader_next(&reader, &record, &reason, &err);
        if (status == SLURM_READ_BAD && (!reason || !*reason))
            abort();
        result.bad += status == SLURM_READ_BAD;
        if (status == SLURM_READ_RECORD) {
            result.records++;
            take(&record, &result);
        }
    }
    result.is_ended = status == SLURM_READ_END;
    if ((!result.is_opened || status == SLURM_READ_ERROR) && (err.code == ERR_NONE || !err.text[0]))
        abort();
    slurm_reader_close(&reader);
    return result;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct result whole, parts;

    if (size < 1)
        return 0;
    whole = run(data + 1, size - 1, SIZE_MAX, data[0]);
    parts = run(data + 1, size - 1, 1 + data[0] / 4, data[0]);
    if (memcmp(&whole, &parts, sizeof whole))
        abort();
    return 0;
}
