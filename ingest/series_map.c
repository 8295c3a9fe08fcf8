#include <config.h>

#include <string.h>

#include "ingest/telemetry_private.h"

enum { ROOM_LEAST = 1024 };

struct entry {
    uint64_t hash;
    int series_no;
    const char *identity[IDENTITY_COUNT];
};

struct series_map {
    struct arena texts, tables;
    struct entry **table; /* open addressing */
    size_t room, count;
};

struct series_map *
series_map_open(struct arena *arena)
{
    struct series_map *map = arena_alloc(arena, sizeof(*map));

    map->room = ROOM_LEAST;
    map->table = arena_alloc(&map->tables, map->room * sizeof(map->table[0]));
    return map;
}

void
series_map_close(struct series_map *map)
{
    if (map) {
        arena_free(&map->texts);
        arena_free(&map->tables);
    }
}

static uint64_t
hash_identity(const char *const identity[IDENTITY_COUNT])
{
    uint64_t hash = 0xcbf29ce484222325ULL;

    for (int i = 0; i < IDENTITY_COUNT; i++) {
        const char *text = identity[i] ? identity[i] : "\1";

        for (; *text; text++) {
            hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
        }
        hash = (hash ^ 0xFF) * 0x100000001b3ULL;
    }
    return hash;
}

static bool
is_same(const struct entry *entry, const char *const identity[IDENTITY_COUNT])
{
    for (int i = 0; i < IDENTITY_COUNT; i++) {
        const char *a = entry->identity[i], *b = identity[i];

        if (a != b && (!a || !b || strcmp(a, b) != 0)) {
            return false;
        }
    }
    return true;
}

static struct entry **
place_of(const struct series_map *map, const char *const identity[IDENTITY_COUNT], uint64_t hash)
{
    size_t at = hash & (map->room - 1);

    while (map->table[at] && !(map->table[at]->hash == hash && is_same(map->table[at], identity))) {
        at = (at + 1) & (map->room - 1);
    }
    return &map->table[at];
}

int
series_map_find(const struct series_map *map, const char *const identity[IDENTITY_COUNT])
{
    const struct entry *entry = *place_of(map, identity, hash_identity(identity));

    return entry ? entry->series_no : -1;
}

static void
grow(struct series_map *map)
{
    struct arena old_arena = map->tables;
    struct entry **old = map->table;
    size_t old_room = map->room;

    map->tables = (struct arena){0};
    map->room *= 2;
    map->table = arena_alloc(&map->tables, map->room * sizeof(map->table[0]));
    for (size_t i = 0; i < old_room; i++) {
        if (old[i]) {
            *place_of(map, old[i]->identity, old[i]->hash) = old[i];
        }
    }
    arena_free(&old_arena);
}

void
series_map_add(struct series_map *map, const char *const identity[IDENTITY_COUNT], int series_no)
{
    struct entry *entry = arena_alloc(&map->texts, sizeof(*entry));

    entry->hash = hash_identity(identity);
    entry->series_no = series_no;
    for (int i = 0; i < IDENTITY_COUNT; i++) {
        entry->identity[i] = arena_strdup(&map->texts, identity[i]);
    }
    *place_of(map, entry->identity, entry->hash) = entry;
    if (++map->count > map->room / 2) {
        grow(map);
    }
}
