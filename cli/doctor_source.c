/* Whether a source's files can be read, or its server lets us in. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "cli/doctor.h"
#include "common/http.h"
#include "common/object.h"
#include "common/stream.h"
#include "ingest/billing.h"
#include "ingest/billing_private.h"
#include "ingest/source.h"

enum { PROBE_MOST_BYTES = 1024 * 1024, START_BYTES = 4096 };

/* The beginning is enough to tell an empty file, one that may not be read, or a broken gzip head.
 */
static bool
read_start(const char *path, uint64_t *ret_bytes, struct error *err)
{
    char start[START_BYTES];
    struct stream *stream = NULL;
    size_t size = 0;
    bool is_good;

    if (!stream_open(&stream, path, err))
        return false;
    is_good = stream_read(stream, start, sizeof(start), &size, err);
    *ret_bytes += stream_size(stream);
    stream_close(stream);
    if (!is_good || size)
        return is_good;
    error_set(err, ERR_INPUT, "\"%s\" is empty", path);
    return error_hint(err, "Fetch the file again, or take it away.");
}

static bool
check_files(struct settings *settings, const struct section *section, struct buf *finding,
            struct error *err)
{
    static const char *const any[] = {"", NULL};
    struct path_list list;
    uint64_t bytes = 0;
    size_t i;

    if (!path_expand(settings->arena, section_path(settings, section, "path"), any, &list, err))
        return false;
    for (i = 0; i < list.count; i++)
        if (!interrupt_check(err) || !read_start(list.path[i], &bytes, err))
            return false;
    buf_printf(finding, "%zu file%s, %.0f KiB", list.count, list.count == 1 ? "" : "s",
               (double)(bytes + 1023) / 1024.0);
    return true;
}

/* Bills: which objects would be loaded, and whether they can be had: the beginning of each file here,
 * some bytes of one object elsewhere. */
static bool
check_objects(struct settings *settings, struct object_store *store, const struct section *section,
              const struct bill_format *format, struct buf *finding, struct error *err)
{
    struct delivery_choice choice;
    uint64_t bytes = 0, read = 0;
    size_t i;

    if (!bill_objects_choose(store, settings, section, format, &choice, err))
        return false;
    if (choice.failed_count) {
        error_set(err, ERR_INPUT, "\"%s\" %s", choice.failed[0]->manifest, choice.failed[0]->problem);
        return error_hint(err, "%s", choice.failed[0]->hint);
    }
    for (i = 0; i < choice.count; i++) {
        bytes += choice.object[i].object.size;
        if (!interrupt_check(err) ||
            (!object_store_is_remote(store) && !read_start(choice.object[i].object.name, &read, err)))
            return false;
    }
    if (choice.count && object_store_is_remote(store) &&
        !object_probe(store, &choice.object[choice.count - 1].object, err))
        return false;
    buf_printf(finding, "%zu file%s, %.0f KiB", choice.count, choice.count == 1 ? "" : "s",
               (double)(bytes + 1023) / 1024.0);
    return true;
}

static bool
check_bills(struct settings *settings, const struct section *section,
            const struct bill_format *format, struct buf *finding, struct error *err)
{
    struct object_store *store;
    bool is_good;

    if (!object_store_open(&store, settings, section, err))
        return false;
    is_good = check_objects(settings, store, section, format, finding, err);
    object_store_close(store);
    return is_good;
}

static bool
check_server(struct settings *settings, const struct section *section, const char *probe,
             struct buf *finding, struct error *err)
{
    const char *url = section_get(section, "url");
    size_t size = strlen(url);
    struct http_request request = {.method = "GET", .limit_bytes = PROBE_MOST_BYTES};
    struct http_reply reply = {0};
    struct http *http = NULL;
    bool is_good;

    while (size && url[size - 1] == '/')
        size--;
    request.url = arena_printf(settings->arena, "%.*s%s", (int)size, url, probe ? probe : "");
    if (!http_open(&http, settings, section, err))
        return false;
    is_good = http_send(http, &request, &reply, err);
    if (is_good)
        buf_printf(finding, "%s answers", url);
    buf_free(&reply.body);
    http_close(http);
    return is_good;
}

/* A service whose address follows from a region or a site lists neither url nor path. */
static bool
names_key(const struct source *source, const char *key)
{
    for (const char *const *at = source->keys; *at; at++)
        if (!strcmp(*at, key))
            return true;
    return false;
}

bool
doctor_source(struct settings *settings, const struct section *section, struct buf *finding,
              struct error *err)
{
    const struct source *source = source_find(settings, section, err);
    const char *path = section_get(section, "path");
    const char *url = section_get(section, "url");
    struct source_run run = {.settings = settings, .section = section, .arena = settings->arena};

    if (!source || !settings_check_source(settings, section, source->keys, err))
        return false;
    if (source->kind == SOURCE_SCHEDULER && source->examine && !url &&
        !path == (section_get(section, "command") != NULL))
        return source->examine(&run, finding, err);
    if (source->kind == SOURCE_BILLING && source->bill)
        return check_bills(settings, section, source->bill, finding, err);
    if (!path && !url && source->examine && !names_key(source, "url") && !names_key(source, "path"))
        return source->examine(&run, finding, err);
    if (!path == !url) {
        error_set(err, ERR_CONFIG, "%s: [%s %s] has %s", section_origin(settings, section, NULL),
                  section->kind, section->name,
                  path ? "both path and url" : "neither path nor url");
        return error_hint(err, "Set path for files, or url for a server.");
    }
    if (path)
        return check_files(settings, section, finding, err);
    if (source->examine)
        return source->examine(&run, finding, err);
    return check_server(settings, section, source->probe, finding, err);
}
