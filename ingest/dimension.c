#include <config.h>

#include "ingest/dimension.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/log.h"
#include "common/stream.h"

struct dimension_reject {
    uint64_t line;
    const char *reason;
    struct field record;
    struct dimension_reject *next;
};

enum { READ_BYTES = 65536 };

bool
dimension_open(struct dimension *dim, struct source_run *run, struct error *err)
{
    const char *param[] = {arena_printf(run->arena, "%d", run->source_id), "all", NULL, NULL};

    *dim = (struct dimension){.run = run, .origin = "user", .started = (int64_t)time(NULL)};
    if (!db_text(run->db, run->arena, "sql/slice.sql", 4, param, &dim->slice_id, err)) {
        return false;
    }
    return dim->slice_id || error_set(err, ERR_BUG, "source %d has no slice", run->source_id);
}

struct dimension_object *
dimension_object_add(struct dimension *dim, const char *name)
{
    struct arena *arena = dim->run->arena;
    struct dimension_object *grown = arena_alloc(arena, (dim->count + 1) * sizeof(*grown));
    struct dimension_object *object = &grown[dim->count];

    if (dim->count > 0) {
        memcpy(grown, dim->objects, dim->count * sizeof(*grown));
    }
    object->name = arena_strdup(arena, name);
    object->size_bytes = -1;
    dim->objects = grown;
    dim->count++;
    return object;
}

bool
dimension_hash(struct dimension_object *object, struct error *err)
{
    struct stream *stream = NULL;
    char block[READ_BYTES];
    size_t size = 1;
    bool good = stream_open(&stream, object->path, err);

    while (good && size > 0) {
        good = stream_read(stream, block, sizeof(block), &size, err) && interrupt_check(err);
    }
    if (good) {
        stream_sha256(stream, object->sha256);
        object->size_bytes = (int64_t)stream_size(stream);
    }
    stream_close(stream);
    return good;
}

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool
dimension_files(struct dimension *dim, const char *const *suffixes, struct error *err)
{
    struct source_run *run = dim->run;
    const char *path = section_path(run->settings, run->section, "path");
    struct path_list list = {0};

    if (!path) {
        error_set(err, ERR_CONFIG, "[%s %s] has no path", run->section->kind, run->section->name);
        return error_hint(err, "Add \"path = FILE\" to that section of the configuration.");
    }
    if (!path_expand(run->arena, path, suffixes, &list, err)) {
        return false;
    }
    dim->objects = arena_alloc(run->arena, list.count * sizeof(*dim->objects));
    for (size_t i = 0; i < list.count; i++) {
        struct dimension_object *object = &dim->objects[i];

        object->name = base_name(list.path[i]);
        object->path = list.path[i];
        if (!dimension_hash(object, err)) {
            return false;
        }
    }
    dim->count = list.count;
    return true;
}

/* Names and hashes of what is in, in the order they were read, against what is there now. */
bool
dimension_unchanged(struct dimension *dim, bool *ret_unchanged, struct error *err)
{
    const char *param[] = {dim->slice_id, PACKAGE_VERSION};
    struct rows *rows = NULL;
    size_t same = 0;

    if (!rows_open(&rows, dim->run->db, "sql/dimension_loads.sql", 2, param, err)) {
        return false;
    }
    bool equal = (size_t)rows_count(rows) == dim->count && dim->count > 0;

    while (equal && rows_next(rows, err)) {
        const struct dimension_object *object = &dim->objects[same++];
        const char *sha256 = rows_text(rows, 1);

        equal = sha256 && *object->sha256 && strcmp(sha256, object->sha256) == 0 &&
                strcmp(rows_text(rows, 0), object->name) == 0;
    }
    rows_close(rows);
    *ret_unchanged = equal;
    if (equal) {
        dim->run->counts.objects = dim->run->counts.unchanged = dim->count;
        return db_run(dim->run->db, "sql/dimension_settled.sql", 1, param, err);
    }
    return true;
}

bool
dimension_begin(struct dimension *dim, struct error *err)
{
    struct source_run *run = dim->run;
    const char *param[] = {arena_printf(run->arena, "%d", run->source_id), dim->origin,
                           dim->slice_id};

    return db_begin(run->db, err) && db_run(run->db, "sql/dimension_begin.sql", 3, param, err);
}

void
dimension_reject(struct dimension *dim, size_t object_no, uint64_t line, struct field record,
                 const char *fmt, ...)
{
    struct dimension_object *object = &dim->objects[object_no];
    struct arena *arena = dim->run->arena;
    char reason[DIMENSION_REASON];
    va_list args;

    if (object->rejected++ >= DIMENSION_REJECTS) {
        return;
    }
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);

    struct dimension_reject *reject = arena_alloc(arena, sizeof(*reject));

    reject->line = line;
    reject->reason = arena_strdup(arena, reason);
    reject->record.size =
        record.size < DIMENSION_RECORD_BYTES ? record.size : DIMENSION_RECORD_BYTES;
    reject->record.text =
        record.size > 0 ? arena_strndup(arena, record.text, reject->record.size) : "";
    if (!object->first_reject) {
        object->last_reject = &object->first_reject;
    }
    *object->last_reject = reject;
    object->last_reject = &reject->next;
}

bool
dimension_refuse(struct dimension *dim, const char *asset, struct error *err)
{
    struct rows *rows = NULL;
    struct error end = {0};

    if (!rows_open(&rows, dim->run->db, asset, 0, NULL, err)) {
        return false;
    }
    while (rows_next(rows, &end)) {
        unsigned long object = 0;
        uint64_t line = 0;
        const char *record = rows_text(rows, 3);

        if (sscanf(rows_text(rows, 0), "%lu", &object) != 1 || object >= dim->count ||
            sscanf(rows_text(rows, 1), "%" SCNu64, &line) != 1) {
            rows_close(rows);
            return error_set(err, ERR_BUG, "%s gave a row that names no file and line", asset);
        }
        dimension_reject(dim, object, line,
                         (struct field){record ? record : "", record ? strlen(record) : 0}, "%s",
                         rows_text(rows, 2));
    }
    rows_close(rows);
    if (end.code) {
        *err = end;
        return false;
    }
    return true;
}

static bool
load_insert(struct dimension *dim, const struct dimension_object *object, const char **ret_load_id,
            struct error *err)
{
    struct arena *arena = dim->run->arena;
    const char *param[] = {
        dim->slice_id,
        object->name,
        object->size_bytes < 0 ? NULL : arena_printf(arena, "%" PRId64, object->size_bytes),
        *object->sha256 ? object->sha256 : NULL,
        arena_printf(arena, "%" PRIu64, object->read),
        arena_printf(arena, "%" PRIu64, object->rejected),
        object->problem,
        arena_printf(arena, "%" PRId64, dim->started),
        PACKAGE_VERSION,
    };

    return db_text(dim->run->db, arena, "sql/dimension_load.sql", 9, param, ret_load_id, err);
}

static bool
rejects_copy(struct dimension *dim, const struct dimension_object *object, int64_t load_id,
             struct error *err)
{
    struct copy *copy = NULL;
    bool good = true;

    if (!object->first_reject) {
        return true;
    }
    if (!copy_begin(&copy, dim->run->db,
                    "COPY audit.reject (load_id, line, reason, record) FROM STDIN (FORMAT binary)",
                    4, err)) {
        return false;
    }
    for (const struct dimension_reject *reject = object->first_reject; good && reject;
         reject = reject->next) {
        copy_int8(copy, load_id);
        copy_int8(copy, (int64_t)reject->line);
        copy_cstring(copy, reject->reason);
        copy_text(copy, reject->record.text, reject->record.size);
        good = copy_row(copy, err);
    }
    if (!good) {
        struct error ignored = {0};

        (void)!copy_end(copy, "a reject could not be sent", &ignored);
        return false;
    }
    return copy_end(copy, NULL, err);
}

static bool
object_record(struct dimension *dim, const struct dimension_object *object, struct error *err)
{
    const char *load_id = NULL;
    int64_t number = 0;

    if (!load_insert(dim, object, &load_id, err)) {
        return false;
    }
    if (!load_id || sscanf(load_id, "%" SCNd64, &number) != 1) {
        return error_set(err, ERR_BUG, "a load has no number");
    }
    dim->run->counts.read += object->read;
    dim->run->counts.rejected += object->rejected;
    dim->run->counts.kept += object->read - object->rejected;
    dim->run->counts.objects++;
    return rejects_copy(dim, object, number, err);
}

bool
dimension_commit(struct dimension *dim, struct error *err)
{
    const char *param[] = {dim->slice_id};

    if (!db_run(dim->run->db, "sql/dimension_replaced.sql", 1, param, err)) {
        return false;
    }
    for (size_t i = 0; i < dim->count; i++) {
        if (!object_record(dim, &dim->objects[i], err)) {
            return false;
        }
    }
    return db_commit(dim->run->db, err);
}

void
dimension_failed(struct dimension *dim, const struct error *err)
{
    struct arena *arena = dim->run->arena;
    struct error ignored = {0};

    db_rollback(dim->run->db);
    dim->run->counts = (struct source_counts){0};
    if (!dim->slice_id || err->code == ERR_INTERRUPTED) {
        return;
    }
    const char *location = section_get(dim->run->section, "path");
    const char *param[] = {dim->slice_id,
                           location ? location : section_get(dim->run->section, "url"), err->text,
                           arena_printf(arena, "%" PRId64, dim->started), PACKAGE_VERSION};

    if (!db_run(dim->run->db, "sql/dimension_failed.sql", 5, param, &ignored)) {
        log_debug("the failed load could not be noted: %s", ignored.text);
    }
}
