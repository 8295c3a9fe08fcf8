/* Which objects are a delivery's, and which nobody's. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ingest/delivery_private.h"

bool
delivery_is_beneath(const char *key, const char *folder)
{
    size_t size = strlen(folder);

    return !size || (!strncmp(key, folder, size) && key[size] == '/');
}

static bool
has_suffix(const char *name, const char *suffix)
{
    size_t size = strlen(name), tail = strlen(suffix);

    return size > tail && !strcasecmp(name + size - tail, suffix);
}

static bool
is_data(const struct delivery_query *query, const char *key)
{
    if (delivery_is_manifest(key))
        return false;
    for (const char *const *suffix = query->suffixes; *suffix; suffix++)
        if (has_suffix(key, *suffix))
            return true;
    return query->list->is_one || has_suffix(key, ".zip");
}

/* ---------------------------------------------------------------- its files */

static const char *
tail_of(const char *path, int parts)
{
    const char *at = path + strlen(path);

    while (at > path && !(at[-1] == '/' && !--parts))
        at--;
    return at;
}

/* Whether one path is the end of the other, part by part: a store's root is often not the bucket's. */
static bool
is_end(const char *path, const char *end)
{
    size_t size = strlen(path), tail = strlen(end);

    return tail && size >= tail && !strcmp(path + size - tail, end) && (size == tail || path[size - tail - 1] == '/');
}

/* Where the delivery's file would be if the tree was moved as a whole. */
static const char *
moved_path(struct arena *arena, const struct delivery *delivery, const char *path)
{
    const char *base = tail_of(path, 1), *two = tail_of(path, 2), *data = strstr(path, "/data/");
    const char *folder = tail_of(delivery->folder, 1);
    const char *slash = *delivery->folder ? "/" : "";
    size_t parent = (size_t)(base - two);

    if (delivery->kind == DELIVERY_EXPORT && data)
        return arena_printf(arena, "%s%sdata/%s", delivery->base, *delivery->base ? "/" : "", data + 6);
    if (parent > 1 && strlen(folder) == parent - 1 && !strncmp(folder, two, parent - 1))
        return arena_printf(arena, "%s%s%s", delivery->folder, slash, base);
    return arena_printf(arena, "%s%s%s", delivery->folder, slash, delivery->kind == DELIVERY_AZURE ? base : two);
}

static size_t
find_file(struct choosing *choosing, const struct delivery *delivery, const char *path)
{
    const struct object_list *list = choosing->query->list;
    const char *moved;

    if (!strncmp(path, "s3://", 5))
        path = strchr(path + 5, '/') ? strchr(path + 5, '/') + 1 : path;
    while (*path == '/')
        path++;
    moved = moved_path(choosing->arena, delivery, path);
    for (size_t i = 0; i < list->count; i++)
        if (is_end(path, list->object[i].key) || is_end(list->object[i].full, path))
            return i;
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->object[i].key, moved))
            return i;
    return SIZE_MAX;
}

/* A chunk that is written over while its manifest is still the old one. */
static bool
is_being_written(const struct choosing *choosing, const struct delivery *delivery, const struct object *object)
{
    return choosing->query->times_are_true && delivery->kind != DELIVERY_AZURE && delivery->delivered
        && object->modified > delivery->delivered;
}

static void
check_file(struct choosing *choosing, struct delivery *delivery, const struct delivery_file *file, size_t number)
{
    const struct object *object = number == SIZE_MAX ? NULL : &choosing->query->list->object[number];

    if (!object)
        delivery->problem = arena_printf(choosing->arena, "names \"%s\", which is not there", file->path);
    else if (file->size >= 0 && (uint64_t)file->size != object->size)
        delivery->problem = arena_printf(choosing->arena, "says that \"%s\" has %lld bytes; it has %llu", object->name,
                                         (long long)file->size, (unsigned long long)object->size);
    else if (is_being_written(choosing, delivery, object))
        delivery->problem = arena_printf(choosing->arena, "is older than \"%s\", which it names", object->name);
    else
        return;
    delivery->hint = choosing->query->times_are_true
        ? "The delivery is still being written, or was cut: run again when it is complete."
        : "The delivery was copied in part: copy its folder again, all of it.";
}

static void
add_object(struct choosing *choosing, size_t number, const struct delivery *delivery)
{
    const struct object *object = &choosing->query->list->object[number];

    choosing->is_taken[number] = true;
    choosing->choice->object[choosing->choice->count++] = (struct delivery_object){
        .object = *object,
        .delivery = delivery,
        .origin = delivery ? delivery->base : delivery_origin(choosing->arena, object->key),
    };
}

void
delivery_take(struct choosing *choosing, struct delivery *delivery)
{
    size_t *number = arena_alloc(choosing->arena, (delivery->file_count + 1) * sizeof *number), count = 0;

    for (size_t i = 0; !delivery->problem && i < delivery->file_count; i++) {
        number[i] = find_file(choosing, delivery, delivery->file[i].path);
        check_file(choosing, delivery, &delivery->file[i], number[i]);
    }
    if (delivery->problem) {
        choosing->choice->failed[choosing->choice->failed_count++] = delivery;
        return;
    }
    for (; count < delivery->file_count; count++)
        if (!choosing->is_taken[number[count]])
            add_object(choosing, number[count], delivery);
}

/* ---------------------------------------------------------------- what no manifest names */

/* Old chunks and older deliveries lie beneath a manifest, or in the folder of its export. */
static bool
is_of_export(const struct choosing *choosing, const char *key)
{
    int64_t from, to;
    bool has_period = delivery_path_period(key, &from, &to);

    for (size_t i = 0; i < choosing->all_count; i++) {
        const struct delivery *delivery = choosing->all[i];

        if (delivery_is_beneath(key, delivery->base) && has_period)
            return true;
        if (delivery_is_beneath(key, delivery->folder) && (*delivery->folder || delivery->kind != DELIVERY_AZURE))
            return true;
    }
    return false;
}

/* Data of a period that no manifest speaks of: a delivery that has only begun. */
static void
note_begun(struct choosing *choosing, const struct object *object)
{
    struct delivery_choice *choice = choosing->choice;
    struct delivery *begun;
    int64_t from, to;

    if (!delivery_path_period(object->key, &from, &to) || to <= choosing->query->from)
        return;
    for (size_t i = 0; i < choosing->all_count; i++)
        if (choosing->all[i]->from <= from && from < choosing->all[i]->to && delivery_is_beneath(object->key, choosing->all[i]->base))
            return;
    for (size_t i = 0; i < choice->failed_count; i++)
        if (choice->failed[i]->from == from && choice->failed[i]->to == to)
            return;
    begun = arena_alloc(choosing->arena, sizeof *begun);
    *begun = (struct delivery){
        .manifest = object->name,
        .folder = "",
        .base = "",
        .export_name = "",
        .from = from,
        .to = to,
        .problem = "is of a delivery that has no manifest yet",
        .hint = "The manifest is written last: run again when the delivery is complete.",
    };
    choice->failed[choice->failed_count++] = begun;
}

/* "NAME_2f0a….csv": runs of an export without manifests lie side by side. Where the name ends before it. */
static size_t
run_name_size(const char *key)
{
    for (const char *at = strrchr(key, '/') ? strrchr(key, '/') + 1 : key; *at; at++) {
        size_t i = 0;

        for (; i < 36 && at[i]; i++)
            if (i == 8 || i == 13 || i == 18 || i == 23 ? at[i] != '-' : !strchr("0123456789abcdefABCDEF", at[i]))
                break;
        if (i == 36)
            return (size_t)(at - key);
    }
    return 0;
}

static bool
check_runs(struct choosing *choosing, size_t first)
{
    const struct delivery_choice *choice = choosing->choice;

    for (size_t i = first + 1; i < choice->count; i++) {
        const struct object *a = &choice->object[i - 1].object, *b = &choice->object[i].object;
        size_t size = run_name_size(a->key);

        if (!size || size != run_name_size(b->key) || strncmp(a->key, b->key, size) || !strncmp(a->key, b->key, size + 36))
            continue;
        error_set(choosing->err, ERR_INPUT, "two runs of one export, and no manifest says which is newer: \"%s\", \"%s\"",
                  a->name, b->name);
        return error_hint(choosing->err, "Each repeats the period: keep the newest only.");
    }
    return true;
}

bool
delivery_take_others(struct choosing *choosing)
{
    const struct object_list *list = choosing->query->list;
    size_t first = choosing->choice->count;

    for (size_t i = 0; i < list->count; i++) {
        if (choosing->is_taken[i] || !is_data(choosing->query, list->object[i].key))
            continue;
        if (is_of_export(choosing, list->object[i].key))
            note_begun(choosing, &list->object[i]);
        else
            add_object(choosing, i, NULL);
    }
    return check_runs(choosing, first);
}
