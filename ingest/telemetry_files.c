#include <config.h>

#include "ingest/telemetry_files.h"

#include <string.h>

#include "common/calendar.h"
#include "common/log.h"

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* One file through its format; is_taking: into the rollup, else only looked at. */
static bool
read_file(struct telemetry_files *all, struct telemetry_file *file, struct telemetry_feed *feed, bool is_taking,
          struct error *err)
{
    struct stream *stream;
    bool good;

    feed->object = &file->object;
    feed->shares = &all->shares;
    if (!stream_open(&stream, file->object.path, err))
        return false;
    if (is_taking)
        stream_unhash(stream);
    good = all->format->read(all, file, stream, feed, is_taking, err);
    if (!good && err->code == ERR_INPUT && !strstr(err->text, file->object.path)) {
        error_context(err, "%s", file->object.path);
        error_hint(err, "%s", all->format->unusable_hint);
    }
    if (good && !is_taking) {
        stream_sha256(stream, file->object.sha256);
        file->object.size_bytes = (int64_t)stream_size(stream);
        if (file->object.problem)
            log_warning("%s: %s", file->object.path, file->object.problem);
    }
    stream_close(stream);
    all->bytes_done += (uint64_t)file->object.size_bytes;
    progress_at(all->run->progress, all->bytes_done >> 20, 0, "MiB");
    return good;
}

static bool
list_files(struct telemetry_files *all, struct error *err)
{
    struct source_run *run = all->run;
    struct path_list list;

    if (!path_expand(run->arena, section_path(run->settings, run->section, "path"), all->format->suffixes, &list, err))
        return false;
    all->files = arena_alloc(run->arena, list.count * sizeof *all->files);
    all->chosen = arena_alloc(run->arena, list.count * sizeof(struct telemetry_file *));
    for (size_t i = 0; i < list.count; i++) {
        struct telemetry_file *file = &all->files[all->count];

        *file = (struct telemetry_file){
            .object = {.path = list.path[i], .name = base_name(list.path[i]), .first_ms = -1},
        };
        if (all->format->prepare && !all->format->prepare(all, file))
            log_info("%s: not used, no figure needs it", list.path[i]);
        else
            all->count++;
    }
    return true;
}

/* The failure belongs to the first month of the window that the file was seen to touch. */
static void
note_failure(struct telemetry_files *all, const struct telemetry_file *file, const struct error *err)
{
    const struct window *window = &all->run->settings->window;
    int64_t at = file->object.first_ms >= 0 ? file->object.first_ms / 1000 - HOUR_SECONDS : window->from;
    struct telemetry_slice slice;
    struct error ignored = {0};

    if (at < month_start(window->from) || at >= window->to)
        at = window->from;
    if (err->code != ERR_INTERRUPTED && telemetry_open(&slice, all->run, at, &ignored)) {
        telemetry_failed(&slice, file->object.name, err);
        telemetry_close(&slice);
    }
}

static bool
look_at_files(struct telemetry_files *all, struct error *err)
{
    struct telemetry_slice none = {.run = all->run};

    for (size_t i = 0; i < all->count; i++) {
        struct telemetry_feed feed = {.slice = &none};

        if (!read_file(all, &all->files[i], &feed, false, err)) {
            note_failure(all, &all->files[i], err);
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

static void
choose(struct telemetry_files *all, int64_t from, int64_t to)
{
    all->chosen_count = 0;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < all->count; i++) {
            struct telemetry_file *file = &all->files[i];

            if (file->is_first == (round == 0) && overlaps(&file->object, from, to)) {
                file->object.read = file->object.rejected = 0;
                all->chosen[all->chosen_count++] = file;
            }
        }
    }
}

static bool
one_pass(struct telemetry_files *all, struct telemetry_slice *slice, struct rollup *rollup,
         struct telemetry_object *const *objects, struct telemetry_file **ret_file, struct error *err)
{
    for (size_t i = 0; i < all->chosen_count; i++) {
        struct telemetry_feed feed = {.slice = slice, .rollup = rollup};

        *ret_file = all->chosen[i];
        if (!read_file(all, all->chosen[i], &feed, true, err))
            return false;
    }
    *ret_file = NULL;
    return telemetry_pass_end(slice, rollup, objects, all->chosen_count, err);
}

static bool
load_passes(struct telemetry_files *all, struct telemetry_slice *slice, struct telemetry_object *const *objects,
            struct telemetry_file **ret_file, struct error *err)
{
    struct rollup *rollup = rollup_open(all->run->arena, slice->from, slice->to, 0);
    bool good;

    do {
        good = one_pass(all, slice, rollup, objects, ret_file, err);
    } while (good && rollup_next(rollup));
    rollup_close(rollup);
    return good;
}

static void
warn_rejected(const struct telemetry_files *all)
{
    for (size_t i = 0; i < all->chosen_count; i++) {
        const struct telemetry_object *object = &all->chosen[i]->object;

        if (object->rejected)
            log_warning("%s: %llu of %llu values could not be used (%s)", object->path,
                        (unsigned long long)object->rejected, (unsigned long long)object->read,
                        "status shows examples");
    }
}

static bool
load_month(struct telemetry_files *all, struct telemetry_slice *slice, struct error *err)
{
    struct telemetry_object **objects = arena_alloc(all->run->arena, all->chosen_count * sizeof(struct telemetry_object *));
    struct telemetry_file *file = NULL;
    bool unchanged = false;

    for (size_t i = 0; i < all->chosen_count; i++)
        objects[i] = &all->chosen[i]->object;
    if (!telemetry_is_unchanged(slice, objects, all->chosen_count, &unchanged, err))
        return false;
    if (unchanged)
        return true;
    if (telemetry_replace_begin(slice, err) && load_passes(all, slice, objects, &file, err)
        && telemetry_replace_end(slice, objects, all->chosen_count, err)) {
        warn_rejected(all);
        return true;
    }
    telemetry_failed(slice, file ? file->object.name : "", err);
    return false;
}

static bool
load_months(struct telemetry_files *all, size_t *ret_months, struct error *err)
{
    const struct window *window = &all->run->settings->window;

    for (int64_t month = month_start(window->from); month < window->to; month = month_next(month)) {
        struct telemetry_slice slice;
        bool good;

        choose(all, month, month_next(month));
        if (!all->chosen_count)
            continue;
        good = telemetry_open(&slice, all->run, month, err) && load_month(all, &slice, err);
        telemetry_close(&slice);
        if (!good)
            return false;
        ++*ret_months;
    }
    return true;
}

bool
telemetry_files_load(struct source_run *run, const struct telemetry_files_format *format, const void *state,
                     struct error *err)
{
    const struct window *window = &run->settings->window;
    struct telemetry_files all = {.run = run, .format = format, .state = state};
    size_t months = 0;

    telemetry_shares_open(&all.shares, run->arena, month_start(window->from), month_next(window->to - 1));
    if (!list_files(&all, err) || !look_at_files(&all, err) || !load_months(&all, &months, err))
        return false;
    if (!months)
        log_warning("[%s %s] has no samples of GPUs between %s's first and last day", run->section->kind,
                    run->section->name, window->name);
    return true;
}
