#include <config.h>

#include "ingest/rollup.h"

#include <string.h>
#include <sys/random.h>

#include "common/calendar.h"
#include "ingest/rollup_private.h"

enum { TABLE_LEAST = 256, ROLLUP_FULL = 3 };

const char *
rollup_reason(enum rollup_verdict verdict)
{
    switch (verdict) {
    case ROLLUP_RANGE:
        return "not a number, or outside the physical range";
    case ROLLUP_NO_COUNT:
        return "no count of samples for this series and hour";
    case ROLLUP_OFF_HOUR:
        return "does not end on a full hour";
    case ROLLUP_SECOND:
        return "another value for the same series and hour";
    case ROLLUP_BACKWARDS:
        return "not after the sample before it";
    case ROLLUP_NO_UUID:
        return "no label holds the UUID of the GPU";
    default:
        return "kept";
    }
}

/* A pass begins: an empty table, everything of the one before is freed. */
static void
begin(struct rollup *rollup)
{
    arena_free(&rollup->arena);
    rollup->free_blocks = NULL;
    rollup->free_planes = NULL;
    rollup->used_bytes = rollup->count = 0;
    arena_free(&rollup->table_arena);
    rollup->room = TABLE_LEAST;
    rollup->table = arena_alloc(&rollup->table_arena, rollup->room * sizeof(rollup->table[0]));
}

struct rollup *
rollup_open(struct arena *arena, int64_t from, int64_t to, size_t budget_bytes)
{
    struct rollup *rollup = arena_alloc(arena, sizeof(*rollup));

    rollup->from = from;
    rollup->to = to;
    rollup->days = (size_t)((to - from + DAY_SECONDS - 1) / DAY_SECONDS);
    rollup->budget_bytes = budget_bytes ? budget_bytes : ROLLUP_BUDGET_BYTES;
    rollup->end = rollup->width = ROLLUP_BUCKETS;
    /* Labels come from outside: nobody shall be able to make two series look like one. */
    if (getrandom(rollup->seed, sizeof(rollup->seed), 0) != (ssize_t)sizeof(rollup->seed)) {
        rollup->seed[0] = (uintptr_t)rollup;
    }
    begin(rollup);
    return rollup;
}

void
rollup_close(struct rollup *rollup)
{
    if (!rollup) {
        return;
    }
    arena_free(&rollup->arena);
    arena_free(&rollup->table_arena);
}

static uint64_t
hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
    }
    return hash;
}

static uint64_t
mix(uint64_t hash)
{
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdULL;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53ULL;
    return hash ^ hash >> 33;
}

unsigned
rollup_bucket(const char *uuid)
{
    return (unsigned)(mix(hash_text(0xcbf29ce484222325ULL, uuid)) % ROLLUP_BUCKETS);
}

bool
rollup_wants(const struct rollup *rollup, unsigned bucket)
{
    return bucket >= rollup->first && bucket < rollup->end;
}

/* Labels added up, so that their order does not matter; 128 bits, so that two series do not meet.
 */
static void
series_key(const struct rollup *rollup, const struct label *labels, size_t count, int rank,
           uint64_t ret_key[2])
{
    ret_key[0] = mix((uint64_t)rank + 1);
    ret_key[1] = mix((uint64_t)rank + 1001);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(labels[i].name, "__name__") == 0 || !labels[i].value[0]) {
            continue;
        }
        for (int half = 0; half < 2; half++) {
            uint64_t hash = hash_text(rollup->seed[half] + (uint64_t)half, labels[i].name);

            ret_key[half] += mix(hash_text(mix(hash), labels[i].value));
        }
    }
}

/* Where a key stands, or would. */
static struct rollup_series **
find(const struct rollup *rollup, const uint64_t key[2])
{
    size_t at = key[0] & (rollup->room - 1);

    while (rollup->table[at] &&
           memcmp(rollup->table[at]->key, key, sizeof(rollup->table[at]->key)) != 0) {
        at = (at + 1) & (rollup->room - 1);
    }
    return &rollup->table[at];
}

static void
rebuild(struct rollup *rollup, size_t room)
{
    struct rollup_series **old = rollup->table;
    struct arena old_arena = rollup->table_arena;
    size_t old_room = rollup->room;

    rollup->table_arena = (struct arena){0};
    rollup->table = arena_alloc(&rollup->table_arena, room * sizeof(old[0]));
    rollup->room = room;
    for (size_t i = 0; i < old_room; i++) {
        if (old[i] && rollup_wants(rollup, old[i]->bucket)) {
            *find(rollup, old[i]->key) = old[i];
        }
    }
    arena_free(&old_arena);
}

static void
drop_block(struct rollup *rollup, struct rollup_block *block)
{
    for (int i = 0; i < GAUGE_COUNT; i++) {
        if (block->gauge[i]) {
            block->gauge[i]->next_free = rollup->free_planes;
            rollup->free_planes = block->gauge[i];
            rollup->used_bytes -= sizeof(struct rollup_plane);
            block->gauge[i] = NULL;
        }
    }
    block->next_free = rollup->free_blocks;
    rollup->free_blocks = block;
    rollup->used_bytes -= sizeof(struct rollup_block);
}

/* Leaves the upper quarter of the buckets to a later pass. */
static void
narrow(struct rollup *rollup)
{
    unsigned width = rollup->end - rollup->first;

    rollup->end = rollup->first + width - (width + 3) / 4;
    for (size_t i = 0; i < rollup->room; i++) {
        struct rollup_series *series = rollup->table[i];

        if (!series || rollup_wants(rollup, series->bucket)) {
            continue;
        }
        for (size_t day = 0; day < rollup->days; day++) {
            if (series->day[day]) {
                drop_block(rollup, series->day[day]);
            }
        }
        rollup->count--;
    }
    rebuild(rollup, rollup->room);
}

struct rollup_series *
rollup_series(struct rollup *rollup, const struct label *labels, size_t count,
              const struct gpu_identity *identity, int rank)
{
    size_t size = sizeof(struct rollup_series) + rollup->days * sizeof(struct rollup_block *);
    unsigned bucket = rollup_bucket(identity->text[IDENTITY_UUID]);
    struct rollup_series **place, *series;
    uint64_t key[2];

    /* One bucket is held whatever its size: it cannot be parted. */
    while (rollup->used_bytes > rollup->budget_bytes && rollup->end - rollup->first > 1) {
        narrow(rollup);
    }
    if (!rollup_wants(rollup, bucket)) {
        return NULL;
    }
    series_key(rollup, labels, count, rank, key);
    place = find(rollup, key);
    if (*place) {
        return *place;
    }
    series = arena_alloc(&rollup->arena, size);
    memcpy(series->key, key, sizeof(key));
    series->bucket = (uint8_t)bucket;
    series->rank = (uint8_t)rank;
    series->order = rollup->made++;
    for (int i = 0; i < IDENTITY_COUNT; i++) {
        series->identity[i] = arena_strdup(&rollup->arena, identity->text[i]);
        rollup->used_bytes += identity->text[i] ? strlen(identity->text[i]) + 1 : 0;
    }
    rollup->used_bytes += size + 2 * sizeof(series);
    *place = series;
    if (++rollup->count > rollup->room / 2) {
        rebuild(rollup, rollup->room * 2);
    }
    return series;
}

bool
rollup_is_full(const struct rollup *rollup)
{
    return rollup->used_bytes > ROLLUP_FULL * rollup->budget_bytes;
}

void
rollup_range(const struct rollup *rollup, unsigned *ret_first, unsigned *ret_end)
{
    *ret_first = rollup->first;
    *ret_end = rollup->end;
}

bool
rollup_next(struct rollup *rollup)
{
    if (rollup->end == ROLLUP_BUCKETS) {
        return false;
    }
    rollup->width = rollup->end - rollup->first;
    rollup->first = rollup->end;
    rollup->end = rollup->first + rollup->width < ROLLUP_BUCKETS ? rollup->first + rollup->width
                                                                 : ROLLUP_BUCKETS;
    begin(rollup);
    return true;
}
