/* Names: keys and the keys they stand in, and who wants them. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/jsonl_private.h"

enum {
    TABLE = 2 * JSONL_NAMES, /* never full */
    NAME_MOST = 2048,        /* bytes */
};

static size_t
hash(const struct jsonl_path *parent, struct field key)
{
    uint64_t h = 14695981039346656037ULL ^ (uint64_t)(uintptr_t)parent;

    for (size_t i = 0; i < key.size; i++)
        h = (h ^ (unsigned char)key.text[i]) * 1099511628211ULL;
    return (size_t)(h ^ h >> 29) % TABLE;
}

/* ---------------------------------------------------------------- what is wanted */

static void
add_target(struct jsonl *jsonl, struct jsonl_path *path, size_t slot, unsigned rank, bool is_gathered)
{
    struct jsonl_target *target = arena_alloc(&jsonl->arena, sizeof *target);

    *target = (struct jsonl_target){slot, (unsigned char)rank, is_gathered, path->targets};
    path->targets = target;
}

/* Whether name stands in the object `outer`. */
static bool
is_within(const char *name, const char *outer)
{
    size_t size = strlen(outer);

    return !strncasecmp(name, outer, size) && name[size] == '.';
}

/* The slot of a gathered name, a new one where there is room; JSONL_SLOTS where there is none. */
static size_t
gathered_slot(struct jsonl *jsonl, const char *name)
{
    for (size_t i = 0; i < jsonl->gathered; i++)
        if (!strcmp(jsonl->gathered_names[i], name))
            return jsonl->gather_first + i;
    if (jsonl->gathered == jsonl->gather_most) {
        jsonl->has_ungathered = true;
        return JSONL_SLOTS;
    }
    jsonl->gathered_names[jsonl->gathered++] = name;
    jsonl->slots = jsonl->gather_first + jsonl->gathered;
    return jsonl->slots - 1;
}

static void
gather(struct jsonl *jsonl, struct jsonl_path *path)
{
    for (const char *const *prefix = jsonl->prefixes; *prefix; prefix++) {
        size_t size = strlen(*prefix), slot;

        path->is_descended |= is_within(*prefix, path->name);
        if (strncasecmp(path->name, *prefix, size))
            continue;
        path->is_descended = true;
        slot = path->targets ? JSONL_SLOTS : gathered_slot(jsonl, path->name);
        if (slot < JSONL_SLOTS)
            add_target(jsonl, path, slot, 0, true);
    }
}

static void
resolve(struct jsonl *jsonl, struct jsonl_path *path)
{
    for (size_t i = 0; i < jsonl->wish_count; i++) {
        const struct jsonl_wish *wish = &jsonl->wishes[i];

        if (!strcasecmp(wish->name, path->name))
            add_target(jsonl, path, wish->slot, 2 * wish->rank + (strcmp(wish->name, path->name) != 0), false);
        path->is_descended |= is_within(wish->name, path->name);
    }
    if (jsonl->prefixes)
        gather(jsonl, path);
}

static void
note_name(struct jsonl *jsonl, struct jsonl_path *path)
{
    path->is_descended = true;
    for (size_t i = 0; i < jsonl->name_count; i++)
        if (!strcmp(jsonl->names[i], path->name))
            return;
    jsonl->names[jsonl->name_count++] = path->name;
}

/* ---------------------------------------------------------------- paths */

/* "PARENT.KEY"; NULL when the key is no text. */
static const char *
make_name(struct jsonl *jsonl, const struct jsonl_path *parent, struct field key)
{
    size_t prefix = parent->name ? strlen(parent->name) + 1 : 0, size;
    struct arena_mark mark = arena_mark(&jsonl->arena);
    char *name;

    if (prefix + key.size > NAME_MOST)
        return NULL;
    name = arena_alloc(&jsonl->arena, prefix + key.size);
    if (prefix) {
        memcpy(name, parent->name, prefix - 1);
        name[prefix - 1] = '.';
    }
    size = jsonl_string_decode((struct field){key.text + 1, key.size - 2}, name + prefix);
    if (size == SIZE_MAX) {
        arena_reset(&jsonl->arena, mark);
        return NULL;
    }
    name[prefix + size] = '\0';
    return name;
}

static struct jsonl_path *
make(struct jsonl *jsonl, const struct jsonl_path *parent, struct field key)
{
    const char *name = make_name(jsonl, parent, key);
    struct jsonl_path *path;

    if (!name)
        return NULL;
    path = arena_alloc(&jsonl->arena, sizeof *path);
    *path = (struct jsonl_path){.parent = parent, .name = name, .key_size = key.size};
    path->key = arena_strndup(&jsonl->arena, key.text, key.size);
    if (jsonl->is_surveying)
        note_name(jsonl, path);
    else
        resolve(jsonl, path);
    jsonl->path_count++;
    return path;
}

struct jsonl_path *
jsonl_path_find(struct jsonl *jsonl, const struct jsonl_path *parent, struct field key)
{
    size_t at = hash(parent, key);

    for (; jsonl->paths[at]; at = (at + 1) % TABLE) {
        struct jsonl_path *path = jsonl->paths[at];

        if (path->parent == parent && path->key_size == key.size && !memcmp(path->key, key.text, key.size))
            return path;
    }
    if (jsonl->path_count == JSONL_NAMES)
        return NULL;
    jsonl->paths[at] = make(jsonl, parent, key);
    return jsonl->paths[at];
}

void
jsonl_path_forget(struct jsonl *jsonl)
{
    jsonl->paths = mem_resize(jsonl->paths, TABLE, sizeof(struct jsonl_path *));
    memset(jsonl->paths, 0, TABLE * sizeof(struct jsonl_path *));
    jsonl->path_count = 0;
    jsonl->root = (struct jsonl_path){.is_descended = true};
}

/* ---------------------------------------------------------------- for the caller */

size_t
jsonl_columns(const struct jsonl *jsonl)
{
    return jsonl->name_count;
}

const char *
jsonl_name(const struct jsonl *jsonl, size_t column)
{
    return jsonl->names[column];
}

int
jsonl_find(const struct jsonl *jsonl, const char *name)
{
    for (size_t i = 0; i < jsonl->name_count; i++)
        if (!strcmp(jsonl->names[i], name))
            return (int)i;
    for (size_t i = 0; i < jsonl->name_count; i++)
        if (!strcasecmp(jsonl->names[i], name))
            return (int)i;
    return -1;
}

void
jsonl_want(struct jsonl *jsonl, size_t slot, const char *name, unsigned rank)
{
    if (slot >= JSONL_SLOTS)
        return;
    if (jsonl->slots <= slot)
        jsonl->slots = slot + 1;
    if (!name)
        return;
    jsonl->wishes = mem_resize(jsonl->wishes, jsonl->wish_count + 1, sizeof *jsonl->wishes);
    jsonl->wishes[jsonl->wish_count++] = (struct jsonl_wish){slot, name, rank < 100 ? rank : 100};
    jsonl->has_new_wishes = true;
}

void
jsonl_gather(struct jsonl *jsonl, const char *const *prefixes, size_t first, size_t most)
{
    jsonl->prefixes = prefixes;
    jsonl->gather_first = first < JSONL_SLOTS ? first : JSONL_SLOTS;
    jsonl->slots = jsonl->gather_first;
    jsonl->gather_most = most < JSONL_SLOTS - jsonl->gather_first ? most : JSONL_SLOTS - jsonl->gather_first;
    jsonl->gathered = 0;
    jsonl->gathered_names = arena_alloc(&jsonl->arena, (most + 1) * sizeof *jsonl->gathered_names);
    jsonl->has_new_wishes = true;
}

size_t
jsonl_gathered(const struct jsonl *jsonl)
{
    return jsonl->gathered;
}

const char *
jsonl_gathered_name(const struct jsonl *jsonl, size_t number)
{
    return jsonl->gathered_names[number];
}

const char *
jsonl_note(const struct jsonl *jsonl)
{
    return jsonl->has_ungathered ? "there are more names of tags than are taken: of the last ones nothing is known" : "";
}
