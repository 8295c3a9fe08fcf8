/* Saved answers of sacct: a file or a folder of them, plain or gzip, text or JSON. */
#include <config.h>

#include <string.h>
#include <sys/stat.h>

#include "common/log.h"
#include "common/stream.h"
#include "ingest/slurm.h"

const char *const slurm_suffixes[] = {".txt",    ".log",    ".csv",    ".psv",    ".dat",    ".sacct",    ".json",
                                      ".txt.gz", ".log.gz", ".csv.gz", ".psv.gz", ".dat.gz", ".sacct.gz", ".json.gz", NULL};

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Settings that change what a file says are part of its name: another one, and it is read again. */
static const char *
object_name(struct source_run *run, const char *path)
{
    static const char *const keys[] = {"time-zone", "columns", "delimiter", "shards-per-gpu", "clusters", NULL};
    const char *name = base_name(path);

    for (size_t i = 0; keys[i]; i++) {
        const char *value = section_get(run->section, keys[i]);

        if (value && *value) {
            name = arena_printf(run->arena, "%s, %s %s", name, keys[i], value);
        }
    }
    return name;
}

static bool
list_files(struct source_run *run, struct allocation_object **ret_objects, size_t *ret_count, struct error *err)
{
    struct path_list list;
    struct allocation_object *objects;

    if (!path_expand(run->arena, section_path(run->settings, run->section, "path"), slurm_suffixes, &list, err)) {
        return false;
    }
    objects = arena_alloc(run->arena, list.count * sizeof(*objects));
    for (size_t i = 0; i < list.count; i++) {
        struct stat st;

        objects[i].path = list.path[i];
        objects[i].name = object_name(run, list.path[i]);
        objects[i].size_bytes = stat(list.path[i], &st) == 0 ? (int64_t)st.st_size : -1;
        if (!interrupt_check(err) || !stream_hash_file(list.path[i], objects[i].sha256, err)) {
            return false;
        }
    }
    *ret_objects = objects;
    *ret_count = list.count;
    return true;
}

static bool
read_stream(void *context, void *into, size_t room, size_t *ret_size, struct error *err)
{
    return stream_read(context, into, room, ret_size, err);
}

static const char *
value_of(const struct source_run *run, const char *key)
{
    const char *value = section_get(run->section, key);

    return value ? value : "";
}

static bool
read_file(struct source_run *run, struct slurm_feed *feed, struct allocation_object *object, struct error *err)
{
    struct stream *stream = NULL;
    struct slurm_reader reader = {0};
    bool good;

    if (!stream_open(&stream, object->path, err)) {
        return false;
    }
    good = slurm_reader_open(&reader, (struct slurm_input){stream, read_stream}, value_of(run, "columns"),
                             value_of(run, "delimiter"), err) &&
           slurm_feed_all(feed, &reader, err);
    if (good) {
        stream_sha256(stream, object->sha256); /* of what was read, should it have changed meanwhile */
    } else if (err->code == ERR_INPUT && !strstr(err->text, object->path)) {
        error_context(err, "%s", object->path);
    }
    slurm_reader_close(&reader);
    stream_close(stream);
    return good;
}

static void
warn_rejects(const struct allocation_load *load, const struct allocation_object *object)
{
    unsigned long long rejected = 0;

    for (size_t i = load->first; i < load->end; i++) {
        rejected += object->rejected[i];
    }
    if (rejected) {
        log_warning("%s: %llu records could not be used (status shows examples)", object->path, rejected);
    }
    if (object->outside) {
        log_info("%s: %llu records lie outside the months that were loaded", object->path,
                 (unsigned long long)object->outside);
    }
}

static bool
load_files(struct allocation_load *load, const struct slurm_rules *rules, struct allocation_object *objects, size_t count,
           struct error *err)
{
    const char *at = "";
    bool good = allocation_begin(load, 0, load->month_count, objects, count, err);

    for (size_t i = 0; good && i < count; i++) {
        struct slurm_feed feed = {.load = load, .rules = rules};
        struct error told = {0};

        at = objects[i].name;
        load->object = i;
        good = read_file(load->run, &feed, &objects[i], err);
        if (good) {
            slurm_feed_warn(&feed, objects[i].path);
        }
        good = slurm_feed_end(&feed, good ? err : &told) && good;
    }
    if (good && allocation_commit(load, err)) {
        for (size_t i = 0; i < count; i++) {
            warn_rejects(load, &objects[i]);
        }
        return true;
    }
    allocation_failed(load, at, err);
    return false;
}

bool
slurm_files(struct source_run *run, const struct slurm_rules *rules, struct error *err)
{
    struct allocation_object *objects = NULL;
    struct allocation_load load;
    size_t count = 0;
    bool is_current = true;

    if (!list_files(run, &objects, &count, err) || !allocation_open(&load, run, err)) {
        return false;
    }
    for (size_t i = 0; i < load.month_count; i++) {
        if (!allocation_compare(&load, i, objects, count, 0, err)) {
            return false;
        }
        is_current = is_current && load.months[i].is_current;
    }
    return is_current || load_files(&load, rules, objects, count, err);
}
