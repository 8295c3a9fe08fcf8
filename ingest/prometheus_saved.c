/* Saved answers of query_range or query: QUERY-….json(.gz). */
#include <config.h>

#include <string.h>

#include "common/stream.h"
#include "ingest/prometheus.h"
#include "ingest/telemetry_files.h"

/* What the name of a file says; NULL in its place: each series says it itself. */
struct saved_query {
    struct metric metric;
    enum statistic statistic;
};

struct saved_input {
    struct telemetry_feed feed; /* first: the matrix functions take it for their context */
    struct stream *stream;
};

static bool
prepare(const struct telemetry_files *files, struct telemetry_file *file)
{
    struct saved_query query;

    if (!signal_of_file(file->object.name, &query.metric, &query.statistic))
        return true;
    file->own = arena_alloc(files->run->arena, sizeof query);
    memcpy(file->own, &query, sizeof query);
    /* counts first: a mean is nothing without them */
    file->is_first = query.statistic == STATISTIC_COUNT;
    return rollup_takes(query.metric.signal, query.statistic);
}

static bool
read_input(void *context, void *into, size_t room, size_t *ret_size, struct error *err)
{
    struct saved_input *input = context;

    return stream_read(input->stream, into, room, ret_size, err);
}

static bool
check_summary(const struct telemetry_file *file, const struct matrix_summary *summary, struct error *err)
{
    if (summary->is_success)
        return true;
    error_set(err, ERR_INPUT, "%s: the server answered with an error", file->object.path);
    error_detail(err, "%s", summary->problem);
    return error_hint(err, "Ask the server again and save its answer, or take the file out of the folder.");
}

static void
note_warnings(const struct telemetry_files *files, struct telemetry_object *object, const struct matrix_summary *summary)
{
    object->is_incomplete = summary->is_partial || summary->warnings[0];
    if (summary->warnings[0])
        object->problem = arena_printf(files->run->arena, "warnings: %s", summary->warnings);
    else if (summary->is_partial)
        object->problem = "the answer is partial";
}

static bool
read_saved(const struct telemetry_files *files, struct telemetry_file *file, struct stream *stream,
           struct telemetry_feed *feed, bool is_taking, struct error *err)
{
    const struct saved_query *query = file->own;
    struct saved_input input = {.feed = *feed, .stream = stream};
    const struct matrix_reader reader = {
        &input,
        read_input,
        is_taking ? telemetry_take_series : telemetry_look_series,
        is_taking ? telemetry_take_values : telemetry_look_values,
    };
    struct matrix_summary summary;

    input.feed.metric = query ? &query->metric : NULL;
    input.feed.statistic = query ? query->statistic : STATISTIC_SAMPLE;
    if (!matrix_read(&reader, &summary, err) || !check_summary(file, &summary, err))
        return false;
    if (!is_taking)
        note_warnings(files, &file->object, &summary);
    return true;
}

bool
prometheus_saved(struct source_run *run, struct error *err)
{
    static const char *const suffixes[] = {".json", ".json.gz", NULL};
    static const struct telemetry_files_format format = {
        .suffixes = suffixes,
        .unusable_hint = "Save the answer again, or take the file out of the folder; nothing of it was loaded.",
        .prepare = prepare,
        .read = read_saved,
    };

    return telemetry_files_load(run, &format, NULL, err);
}
