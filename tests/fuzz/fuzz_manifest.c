/*
 * Fuzzes the choice of deliveries: the bytes are a folder, objects parted by a byte 0x1e, each a key, a
 * line break and its text, which manifests are read from; the first byte says how the store is. What is
 * chosen must be among what is there, and each object once: two times would count money twice. What
 * is failed or refused says why.
 */
#include <config.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/calendar.h"
#include "ingest/delivery.h"

enum { OBJECTS_MOST = 24, KEY_MOST = 400 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct folder {
    struct object object[OBJECTS_MOST];
    struct field_of {
        const char *text;
        size_t size;
    } text[OBJECTS_MOST];
    size_t count;
};

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct object *)a)->name, ((const struct object *)b)->name);
}

/* etag carries where the text lies, since sorting moves objects. */
static void
add_object(struct arena *arena, struct folder *folder, const char *part, size_t size)
{
    const char *end = memchr(part, '\n', size);
    size_t key_size = end ? (size_t)(end - part) : size;
    struct object *object = &folder->object[folder->count];
    const char *key = arena_strndup(arena, part, key_size < KEY_MOST ? key_size : KEY_MOST);

    if (!*key || strlen(key) != key_size || folder->count == OBJECTS_MOST)
        return;
    for (size_t i = 0; i < folder->count; i++)
        if (!strcmp(folder->object[i].key, key))
            return;
    folder->text[folder->count].text = end ? end + 1 : "";
    folder->text[folder->count].size = end ? size - key_size - 1 : 0;
    *object = (struct object){
        .key = key,
        .name = arena_printf(arena, "s3://bucket/%s", key),
        .full = arena_printf(arena, "prefix/%s", key),
        .size = folder->text[folder->count].size,
        .modified = size % 7 ? 1785542400 + (int64_t)size % 5 : 0,
        .etag = arena_printf(arena, "%zu", folder->count),
    };
    folder->count++;
}

static bool
read_object(void *context, struct object *object, struct buf *ret_text, struct error *err)
{
    const struct folder *folder = context;
    size_t number = strtoul(object->etag, NULL, 10);

    (void)err;
    buf_add(ret_text, folder->text[number].text, folder->text[number].size);
    return true;
}

static void
check_choice(const struct object_list *list, const struct delivery_choice *choice)
{
    for (size_t i = 0; i < choice->count; i++) {
        size_t found = 0;

        for (size_t k = 0; k < list->count; k++)
            found += !strcmp(list->object[k].name, choice->object[i].object.name);
        if (found != 1 || !choice->object[i].origin)
            abort();
        for (size_t k = 0; k < i; k++)
            if (!strcmp(choice->object[k].object.name, choice->object[i].object.name))
                abort();
    }
    for (size_t i = 0; i < choice->failed_count; i++)
        if (!choice->failed[i]->problem || !choice->failed[i]->hint || choice->failed[i]->to <= choice->failed[i]->from)
            abort();
}

static void
run(struct arena *arena, struct folder *folder, unsigned options)
{
    static const char *const suffixes[] = {".csv", ".csv.gz", ".parquet", NULL};
    struct object_list list = {.object = folder->object, .count = folder->count};
    struct delivery_query query = {
        .arena = arena,
        .list = &list,
        .suffixes = delivery_suffixes(arena, suffixes),
        .exports = options & 1 ? "cur, focus/" : NULL,
        .times_are_true = options & 2,
        .pairs_types = options & 4,
        .from = options & 8 ? 1782864000 : 0,
        .read = read_object,
        .context = folder,
    };
    struct delivery_choice choice;
    struct error err = {0};

    if (delivery_choose(&query, &choice, &err))
        check_choice(&list, &choice);
    else if (err.code == ERR_NONE || !err.text[0])
        abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct folder folder;
    const char *at = (const char *)data + 1, *end = (const char *)data + size;

    if (size < 2)
        return 0;
    folder.count = 0;
    while (at && at < end) {
        const char *next = memchr(at, 0x1e, (size_t)(end - at));

        add_object(&arena, &folder, at, (size_t)((next ? next : end) - at));
        at = next ? next + 1 : NULL;
    }
    qsort(folder.object, folder.count, sizeof *folder.object, by_name);
    run(&arena, &folder, data[0]);
    arena_free(&arena);
    return 0;
}
