/*
 * Saved answers: QUERY-….json(.gz). Every file is looked through once for its hash, its times and
 * its units; then each month that overlaps the window and whose files changed is loaded whole, in
 * as many passes over its files as memory asks for.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/calendar.h"
#include "common/log.h"
#include "common/stream.h"
#include "ingest/prometheus.h"
#include "ingest/telemetry.h"

struct saved_file {
    struct telemetry_object object;
    struct metric metric;
    enum statistic statistic;
    bool is_named; /* the file's name says metric and statistic; else each series does */
};

struct saved {
    struct source_run *run;
    struct saved_file *files;
    size_t count;
    struct telemetry_shares shares;
    struct telemetry_object **chosen; /* of the month being loaded, in order of reading */
    struct saved_file **chosen_file;
    size_t chosen_count;
    uint64_t bytes_done; /* over all passes */
};

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

struct saved_input {
    struct telemetry_feed feed; /* first: the matrix functions take it for their context */
    struct stream *stream;
};

static bool
read_input(void *context, void *into, size_t room, size_t *ret_size, struct error *err)
{
    struct saved_input *input = context;

    return stream_read(input->stream, into, room, ret_size, err);
}

static bool
check_summary(const struct saved_file *file, const struct matrix_summary *summary,
              struct error *err)
{
    if (!summary->is_success) {
        error_set(err, ERR_INPUT, "%s: the server answered with an error", file->object.path);
        error_detail(err, "%s", summary->problem);
        return error_hint(
            err, "Ask the server again and save its answer, or take the file out of the folder.");
    }
    return true;
}

static void
note_warnings(struct saved *saved, struct saved_file *file, const struct matrix_summary *summary)
{
    struct telemetry_object *object = &file->object;

    object->is_incomplete = summary->is_partial || summary->warnings[0];
    if (summary->warnings[0]) {
        object->problem = arena_printf(saved->run->arena, "warnings: %s", summary->warnings);
    } else if (summary->is_partial) {
        object->problem = "the answer is partial";
    }
    if (object->problem) {
        log_warning("%s: %s", object->path, object->problem);
    }
}

/* One file through the scanner; is_taking: into the rollup, else only looked at. */
static bool
read_file(struct saved *saved, struct saved_file *file, struct saved_input *input, bool is_taking,
          struct error *err)
{
    const struct matrix_reader reader = {
        input,
        read_input,
        is_taking ? telemetry_take_series : telemetry_look_series,
        is_taking ? telemetry_take_values : telemetry_look_values,
    };
    struct matrix_summary summary;
    bool good;

    input->feed.object = &file->object;
    input->feed.shares = &saved->shares;
    input->feed.metric = file->is_named ? &file->metric : NULL;
    input->feed.statistic = file->statistic;
    if (!stream_open(&input->stream, file->object.path, err)) {
        return false;
    }
    if (is_taking) {
        stream_unhash(input->stream);
    }
    good = matrix_read(&reader, &summary, err);
    if (!good && err->code == ERR_INPUT && !strstr(err->text, file->object.path)) {
        error_context(err, "%s", file->object.path);
        error_hint(
            err,
            "Save the answer again, or take the file out of the folder; nothing of it was loaded.");
    }
    good = good && check_summary(file, &summary, err);
    if (good && !is_taking) {
        stream_sha256(input->stream, file->object.sha256);
        file->object.size_bytes = (int64_t)stream_size(input->stream);
        note_warnings(saved, file, &summary);
    }
    stream_close(input->stream);
    input->stream = NULL;
    saved->bytes_done += (uint64_t)file->object.size_bytes;
    progress_at(saved->run->progress, saved->bytes_done >> 20, 0, "MiB");
    return good;
}

static bool
list_files(struct saved *saved, struct error *err)
{
    static const char *const suffixes[] = {".json", ".json.gz", NULL};
    struct source_run *run = saved->run;
    struct path_list list;

    if (!path_expand(run->arena, section_path(run->settings, run->section, "path"), suffixes, &list,
                     err)) {
        return false;
    }
    saved->files = arena_alloc(run->arena, list.count * sizeof(*saved->files));
    saved->chosen = arena_alloc(run->arena, list.count * sizeof(struct telemetry_object *));
    saved->chosen_file = arena_alloc(run->arena, list.count * sizeof(struct saved_file *));
    for (size_t i = 0; i < list.count; i++) {
        struct saved_file *file = &saved->files[saved->count++];

        file->object.path = list.path[i];
        file->object.name = base_name(list.path[i]);
        file->object.first_ms = -1;
        file->is_named = signal_of_file(file->object.name, &file->metric, &file->statistic);
        if (file->is_named && !rollup_takes(file->metric.signal, file->statistic)) {
            log_info("%s: not used, no figure needs it", file->object.path);
            saved->count--;
        }
    }
    return true;
}

/* The failure belongs to the first month of the window that the file was seen to touch. */
static void
note_failure(struct saved *saved, const struct saved_file *file, const struct error *err)
{
    const struct window *window = &saved->run->settings->window;
    int64_t at =
        file->object.first_ms >= 0 ? file->object.first_ms / 1000 - HOUR_SECONDS : window->from;
    struct telemetry_slice slice;
    struct error ignored = {0};

    if (at < month_start(window->from) || at >= window->to) {
        at = window->from;
    }
    if (err->code != ERR_INTERRUPTED && telemetry_open(&slice, saved->run, at, &ignored)) {
        telemetry_failed(&slice, file->object.name, err);
        telemetry_close(&slice);
    }
}

static bool
look_at_files(struct saved *saved, struct error *err)
{
    struct telemetry_slice none = {.run = saved->run};

    for (size_t i = 0; i < saved->count; i++) {
        struct saved_input input = {.feed = {.slice = &none}};

        if (!read_file(saved, &saved->files[i], &input, false, err)) {
            note_failure(saved, &saved->files[i], err);
            return false;
        }
    }
    return true;
}

static bool
overlaps(const struct telemetry_object *object, int64_t from, int64_t to)
{
    return object->first_ms >= 0 && object->last_ms > from * 1000 && object->first_ms <= to * 1000;
}

/* Counts first: a mean is nothing without them. */
static void
choose(struct saved *saved, int64_t from, int64_t to)
{
    saved->chosen_count = 0;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < saved->count; i++) {
            struct saved_file *file = &saved->files[i];

            if ((file->statistic == STATISTIC_COUNT) == (round == 0) &&
                overlaps(&file->object, from, to)) {
                file->object.read = file->object.rejected = 0;
                saved->chosen[saved->chosen_count] = &file->object;
                saved->chosen_file[saved->chosen_count++] = file;
            }
        }
    }
}

static bool
one_pass(struct saved *saved, struct telemetry_slice *slice, struct rollup *rollup,
         struct saved_file **ret_file, struct error *err)
{
    for (size_t i = 0; i < saved->chosen_count; i++) {
        struct saved_input input = {.feed = {.slice = slice, .rollup = rollup}};

        *ret_file = saved->chosen_file[i];
        if (!read_file(saved, saved->chosen_file[i], &input, true, err)) {
            return false;
        }
    }
    *ret_file = NULL;
    return telemetry_pass_end(slice, rollup, saved->chosen, saved->chosen_count, err);
}

static bool
load_passes(struct saved *saved, struct telemetry_slice *slice, struct saved_file **ret_file,
            struct error *err)
{
    struct rollup *rollup = rollup_open(saved->run->arena, slice->from, slice->to, 0);
    bool good;

    do {
        good = one_pass(saved, slice, rollup, ret_file, err);
    } while (good && rollup_next(rollup));
    rollup_close(rollup);
    return good;
}

/* Means that have no count at all were saved without the query that makes them usable. */
static void
warn_rejected(const struct saved *saved)
{
    for (size_t i = 0; i < saved->chosen_count; i++) {
        const struct telemetry_object *object = saved->chosen[i];

        if (object->rejected) {
            log_warning("%s: %llu of %llu values could not be used (%s)", object->path,
                        (unsigned long long)object->rejected, (unsigned long long)object->read,
                        "status shows examples");
        }
    }
}

static bool
load_month(struct saved *saved, struct telemetry_slice *slice, struct error *err)
{
    struct saved_file *file = NULL;
    bool unchanged = false;

    if (!telemetry_is_unchanged(slice, saved->chosen, saved->chosen_count, &unchanged, err)) {
        return false;
    }
    if (unchanged) {
        return true;
    }
    if (telemetry_replace_begin(slice, err) && load_passes(saved, slice, &file, err) &&
        telemetry_replace_end(slice, saved->chosen, saved->chosen_count, err)) {
        warn_rejected(saved);
        return true;
    }
    telemetry_failed(slice, file ? file->object.name : "", err);
    return false;
}

static bool
load_months(struct saved *saved, size_t *ret_months, struct error *err)
{
    const struct window *window = &saved->run->settings->window;

    for (int64_t month = month_start(window->from); month < window->to; month = month_next(month)) {
        struct telemetry_slice slice;
        bool good;

        choose(saved, month, month_next(month));
        if (!saved->chosen_count) {
            continue;
        }
        good = telemetry_open(&slice, saved->run, month, err) && load_month(saved, &slice, err);
        telemetry_close(&slice);
        if (!good) {
            return false;
        }
        ++*ret_months;
    }
    return true;
}

bool
prometheus_saved(struct source_run *run, struct error *err)
{
    const struct window *window = &run->settings->window;
    struct saved saved = {.run = run};
    size_t months = 0;

    telemetry_shares_open(&saved.shares, run->arena, month_start(window->from),
                          month_next(window->to - 1));
    if (!list_files(&saved, err) || !look_at_files(&saved, err) ||
        !load_months(&saved, &months, err)) {
        return false;
    }
    if (!months) {
        log_warning("[%s %s] has no samples of GPUs between %s's first and last day",
                    run->section->kind, run->section->name, window->name);
    }
    return true;
}
