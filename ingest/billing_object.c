/*
 * Where the rows of a source come from: which objects there are, whether they are known, and how
 * each is opened by its name. An object elsewhere is fetched when its turn comes and kept until the
 * next one's; a zip file takes part as its members, each an object of its own.
 */
#include <config.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/log.h"
#include "ingest/billing_private.h"

enum { MANIFEST_MOST_BYTES = 16 << 20 };

/* ---------------------------------------------------------------- what there is */

/* ETag and size stand for the hash of what need not be fetched to be known. */
static void
sign_object(struct bill_object *object)
{
    const char *etag = object->about.etag;
    char hex[65];
    struct sha256 hash;

    object->sha256[0] = '\0';
    if (!etag || !*etag)
        return;
    if (strlen(etag) + sizeof "etag:" <= sizeof object->sha256) {
        snprintf(object->sha256, sizeof object->sha256, "etag:%s", etag);
        return;
    }
    sha256_begin(&hash);
    sha256_add(&hash, etag, strlen(etag));
    sha256_hex(&hash, hex);
    snprintf(object->sha256, sizeof object->sha256, "etag:%.59s", hex);
}

static struct bill_object *
add(struct bill_load_run *load)
{
    if (load->object_count == load->object_room) {
        struct bill_object *grown;

        load->object_room = load->object_room ? load->object_room * 2 : 64;
        grown = arena_alloc(load->arena, load->object_room * sizeof *grown);
        if (load->object_count)
            memcpy(grown, load->objects, load->object_count * sizeof *grown);
        load->objects = grown;
    }
    return &load->objects[load->object_count++];
}

/* By its name; a file here that may be opened at once, by its beginning. */
static bool
is_zip(const struct bill_load_run *load, const char *name)
{
    size_t size = strlen(name);
    bool is_named = size > 4 && !strcasecmp(name + size - 4, ".zip");
    int fd = is_named || object_store_is_remote(load->store) ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd >= 0) {
        is_named = zip_is(fd);
        close(fd);
    }
    return is_named;
}

static void
add_chosen(struct bill_load_run *load, const struct delivery_object *chosen)
{
    struct bill_object *object = add(load);

    object->about = chosen->object;
    object->path = chosen->object.name;
    object->size = chosen->object.size;
    object->delivery = chosen->delivery;
    object->origin = chosen->origin;
    object->delivered = chosen->delivery && chosen->delivery->delivered ? chosen->delivery->delivered : chosen->object.modified;
    object->is_zip = is_zip(load, chosen->object.name);
    sign_object(object);
    load->total_bytes += object->size;
}

static bool
read_small(void *context, struct object *object, struct buf *ret_text, struct error *err)
{
    return object_read(context, object, MANIFEST_MOST_BYTES, ret_text, err);
}

bool
bill_objects_choose(struct object_store *store, struct settings *settings, const struct section *section,
                    const struct bill_format *format, struct delivery_choice *ret_choice, struct error *err)
{
    struct object_list list;
    struct delivery_query query = {
        .arena = settings->arena,
        .list = &list,
        .suffixes = format->suffixes,
        .exports = section_get(section, "export"),
        .times_are_true = object_store_is_remote(store),
        .pairs_types = format->survey,
        .from = settings->window.from,
        .read = read_small,
        .context = store,
    };

    return object_store_list(store, delivery_suffixes(settings->arena, format->suffixes), &list, err)
        && delivery_choose(&query, ret_choice, err);
}

bool
bill_objects_list(struct bill_load_run *load, struct error *err)
{
    const struct source_run *run = load->run;
    const char *folders = section_get(run->section, "folders");
    struct delivery_choice choice;

    load->spool.fd = -1;
    load->adds_folders = folders && !strcmp(folders, "all");
    if (folders && *folders && strcmp(folders, "all") && strcmp(folders, "one")) {
        error_set(err, ERR_CONFIG, "%s: folders is not one or all", section_origin(run->settings, run->section, "folders"));
        return error_hint(err, "all: what several folders hold of one month is added up.");
    }
    if (!object_store_open(&load->store, run->settings, run->section, err)
        || !bill_objects_choose(load->store, run->settings, run->section, load->format, &choice, err))
        return false;
    for (size_t i = 0; i < choice.count; i++)
        add_chosen(load, &choice.object[i]);
    load->failed_deliveries = choice.failed;
    load->failed_delivery_count = choice.failed_count;
    if (!choice.count && !choice.failed_count)
        log_note("[%s %s]: no delivery of the window or later", run->section->kind, run->section->name);
    return true;
}

/* ---------------------------------------------------------------- opening */

static void
drop_spool(struct bill_load_run *load)
{
    if (load->spool.fd >= 0)
        close(load->spool.fd);
    load->spool.fd = -1;
}

static void
watch(void *context, uint64_t bytes)
{
    struct bill_load_run *load = context;

    progress_at(load->run->progress, bytes, load->objects[load->spool.object].size, "bytes fetched");
}

/* The file of an object or, for a member, of its zip file. */
static bool
spool(struct bill_load_run *load, size_t number, struct error *err)
{
    struct bill_object *object = &load->objects[number];
    const char *etag = object->about.etag;

    if (load->spool.fd >= 0 && load->spool.object == number)
        return true;
    drop_spool(load);
    load->spool.object = number;
    object_store_watch(load->store, watch, load);
    if (!object_fetch(load->store, &object->about, &load->spool.fd, err)) {
        load->spool.fd = -1;
        return false;
    }
    object->size = object->about.size;
    if (object->is_expanded && etag && strcmp(etag, object->about.etag)) {
        drop_spool(load);
        error_set(err, ERR_INPUT, "\"%s\" changed while it was read", object->path);
        return error_hint(err, "A delivery is being written: run again later.");
    }
    return true;
}

bool
bill_object_begin(struct bill_load_run *load, size_t number, struct error *err)
{
    const struct bill_object *object = &load->objects[number];

    if (!object->member && !object_store_is_remote(load->store))
        return true;
    if (!spool(load, object->member ? object->container : number, err))
        return false;
    if (!object->member && !object->is_zip && zip_is(load->spool.fd)) {
        error_set(err, ERR_INPUT, "\"%s\" is a zip file, and its name does not end in .zip", object->path);
        return error_hint(err, "Give it such a name, or put the file in it there as it is.");
    }
    load->stand_in = (struct stream_stand_in){.name = object->path, .fd = load->spool.fd, .member = object->member};
    stream_stand_in_begin(&load->stand_in);
    return true;
}

/* What was read is known by what it was fetched as. */
void
bill_object_end(struct bill_load_run *load, size_t number)
{
    struct bill_object *object = &load->objects[number];
    const struct bill_object *container = object->member ? &load->objects[object->container] : NULL;

    stream_stand_in_end(&load->stand_in);
    if (container) {
        memcpy(object->sha256, container->sha256, sizeof object->sha256);
        object->size = container->size;
    } else if (object->about.etag && *object->about.etag) {
        sign_object(object);
    }
}

void
bill_objects_close(struct bill_load_run *load)
{
    drop_spool(load);
    object_store_close(load->store);
}

/* ---------------------------------------------------------------- knowing */

bool
bill_object_hash(struct bill_load_run *load, size_t number, struct error *err)
{
    struct bill_object *object = &load->objects[number];
    char hex[65];

    if (object->sha256[0])
        return true;
    if (!bill_object_begin(load, number, err))
        return false;
    if (!stream_hash_file(object->path, hex, err)) {
        bill_object_end(load, number);
        return false;
    }
    bill_object_end(load, number);
    if (!object->sha256[0])
        memcpy(object->sha256, hex, sizeof hex);
    return true;
}

/* A record of "bill.zip/july.csv" is of the object "bill.zip", until that one's members are known. */
bool
bill_object_is_of(const struct bill_object *object, const char *name)
{
    size_t size = strlen(object->path);

    return !strcmp(object->path, name) || (object->is_zip && !strncmp(object->path, name, size) && name[size] == '/');
}

static void
add_member(struct bill_load_run *load, size_t number, const struct zip_member *member)
{
    struct bill_object *object = add(load);
    const struct bill_object *container = &load->objects[number];

    *object = (struct bill_object){
        .path = arena_printf(load->arena, "%s/%s", container->path, member->name),
        .size = container->size,
        .delivered = container->delivered,
        .delivery = container->delivery,
        .origin = container->origin,
        .is_known = container->is_known,
        .member = member,
        .container = number,
    };
    memcpy(object->sha256, container->sha256, sizeof object->sha256);
    for (size_t i = 0; i < load->record_count; i++)
        if (!strcmp(load->records[i].object, object->path))
            load->records[i].match = load->object_count - 1;
}

/* What is packed in what is packed is no bill that anybody delivers. */
static bool
check_members(const char *path, const struct zip_list *list, struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *dot = strrchr(list->member[i].name, '.');

        if (!dot || (strcasecmp(dot, ".gz") && strcasecmp(dot, ".zip") && strcasecmp(dot, ".parquet")))
            continue;
        error_set(err, ERR_INPUT, "zip file \"%s\": member \"%s\" is packed itself", path, list->member[i].name);
        return error_hint(err, "Unpack the zip file into the folder.");
    }
    return true;
}

bool
bill_object_expand(struct bill_load_run *load, size_t number, struct error *err)
{
    struct zip_list list;

    if (!load->objects[number].is_zip || load->objects[number].is_expanded)
        return true;
    if (!bill_object_hash(load, number, err) || !spool(load, number, err)
        || !zip_open(load->arena, load->spool.fd, load->objects[number].path, load->format->suffixes, &list, err)
        || !check_members(load->objects[number].path, &list, err))
        return false;
    load->objects[number].is_expanded = true;
    if (object_store_is_remote(load->store))
        sign_object(&load->objects[number]);
    for (size_t i = 0; i < list.count; i++)
        add_member(load, number, &list.member[i]);
    return true;
}

/* ---------------------------------------------------------------- what cannot be loaded */

/* A delivery that is not whole stands in for its objects: its manifest fails the months it is of. */
bool
bill_deliveries_fail(struct bill_load_run *load, struct error *err)
{
    for (size_t i = 0; i < load->failed_delivery_count; i++) {
        const struct delivery *delivery = load->failed_deliveries[i];
        struct bill_object *object = add(load);
        struct error why = {0};

        *object = (struct bill_object){.path = delivery->manifest, .is_refused = true, .delivery = delivery};
        error_set(&why, ERR_INPUT, "\"%s\" %s", delivery->manifest, delivery->problem);
        error_hint(&why, "%s", delivery->hint);
        object->problem = arena_strdup(load->arena, why.text);
        if (!load->failed++)
            load->first_error = why;
        for (int64_t month = month_start(delivery->from); month < delivery->to; month = month_next(month)) {
            struct bill_slice *slice;

            if (month_next(month) <= load->run->settings->window.from)
                continue;
            if (!bill_slice_find(load, month, &slice, err)
                || !bill_slice_part(slice, load->arena, load->object_count - 1, err))
                return false;
            slice->is_failed = true;
        }
    }
    return true;
}

/* Text without the words that tell two exports of one bill apart, which the format reads together. */
static const char *
without_type(struct arena *arena, const char *origin)
{
    static const char *const words[] = {"actual", "amortized", NULL};
    char *text = arena_strdup(arena, origin), *at;

    for (const char *const *word = words; *word; word++)
        while ((at = strcasestr(text, *word)))
            memmove(at, at + strlen(*word), strlen(at + strlen(*word)) + 1);
    return text;
}

static bool
is_same_origin(const struct bill_load_run *load, const struct bill_object *a, const struct bill_object *b)
{
    if ((a->delivery && b->delivery) || !strcmp(a->origin, b->origin))
        return true;
    return load->format->survey
        && !strcmp(without_type(load->arena, a->origin), without_type(load->arena, b->origin));
}

/* False, for a period that stays as it was. Blamed once, whatever number of periods it is for. */
static bool
blame(struct bill_load_run *load, struct bill_object *object, const struct error *why)
{
    if (object->problem)
        return false;
    object->problem = arena_strdup(load->arena, why->text);
    if (!load->failed++)
        load->first_error = *why;
    return false;
}

/* Two folders that hold the same month are most often two exports of it, or two deliveries. */
static bool
check_slice(struct bill_load_run *load, struct bill_slice *slice)
{
    const struct bill_object *first = NULL;

    for (const struct bill_part_load *part = slice->loads; part; part = part->next) {
        struct bill_object *object = &load->objects[part->object];
        struct error why = {0};

        if (!object->origin)
            continue;
        first = first ? first : object;
        if (is_same_origin(load, first, object))
            continue;
        error_set(&why, ERR_INPUT, "two folders hold bills of %s: \"%s\", \"%s\"", slice->period, first->path, object->path);
        error_hint(&why, "If one repeats the other, take it away; if they are parts of one bill, set \"folders = all\" in "
                         "[%s %s].", load->run->section->kind, load->run->section->name);
        return blame(load, object, &why);
    }
    return true;
}

static int
by_content(const void *a, const void *b)
{
    const struct content *left = &(*(struct bill_object *const *)a)->content;
    const struct content *right = &(*(struct bill_object *const *)b)->content;

    if (left->size != right->size)
        return left->size < right->size ? -1 : 1;
    return left->check < right->check ? -1 : left->check > right->check;
}

static bool
is_amortized(const struct bill_object *object)
{
    const char *type = object->delivery && object->delivery->type ? object->delivery->type : object->path;

    return strcasestr(type, "amortized");
}

/* An actual and an amortized export may well be the same text, where nothing was reserved. */
static bool
is_pair(const struct bill_load_run *load, const struct bill_object *a, const struct bill_object *b)
{
    return load->format->survey && is_amortized(a) != is_amortized(b);
}

/* The same text twice is a file that was copied, packed or fetched again: its money counts once, and
 * who made the copy must say where. */
static bool
check_copies(struct bill_load_run *load, const struct bill_slice *slice)
{
    struct bill_object **object = arena_alloc(load->arena, (slice->load_count + 1) * sizeof(struct bill_object *));
    size_t count = 0;

    for (const struct bill_part_load *part = slice->loads; part; part = part->next)
        if (part->kept + part->totalled)
            object[count++] = &load->objects[part->object];
    qsort(object, count, sizeof(struct bill_object *), by_content);
    for (size_t i = 1; i < count; i++) {
        struct error why = {0};

        if (by_content(&object[i - 1], &object[i]) || is_pair(load, object[i - 1], object[i]))
            continue;
        error_set(&why, ERR_INPUT, "two files hold the same bill: \"%s\", \"%s\"", object[i - 1]->path, object[i]->path);
        error_hint(&why, "Take one of them away, and run again.");
        return blame(load, object[i], &why);
    }
    return true;
}

void
bill_folders_check(struct bill_load_run *load)
{
    for (struct bill_slice *slice = load->slices; slice; slice = slice->next)
        if (slice->is_open && !slice->is_failed
            && !(check_copies(load, slice) && (load->adds_folders || check_slice(load, slice))))
            slice->is_failed = true;
    /* what has rows in a period that stays as it was must be read again next time, whatever else it fills */
    for (const struct bill_slice *slice = load->slices; slice; slice = slice->next)
        for (const struct bill_part_load *part = slice->is_failed ? slice->loads : NULL; part; part = part->next)
            load->objects[part->object].sha256[0] = '\0';
}
