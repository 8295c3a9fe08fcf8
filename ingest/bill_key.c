/* Hashes of 128 bits stand for the cells of a row: with a secret seed, two different rows have the
 * same one about as often as memory fails. */
#include <config.h>

#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "ingest/billing_private.h"

static uint64_t seed[4] = {0x9e3779b97f4a7c15ULL, 0xbf58476d1ce4e5b9ULL, 0x94d049bb133111ebULL, 0xd6e8feb86659fd93ULL};

static void
draw_seed(void)
{
    uint64_t random[4];

    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return; /* the fixed seed serves bills that nobody forged */
    for (int i = 0; i < 4; i++)
        seed[i] = random[i] | 1;
}

void
bill_key_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, draw_seed);
}

static inline uint64_t
mix(uint64_t x, uint64_t y)
{
    unsigned __int128 product = (unsigned __int128)x * y;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t
word(const char *text)
{
    uint64_t value;

    memcpy(&value, text, sizeof value);
    return value;
}

static inline void
step(struct bill_key *key, uint64_t x, uint64_t y)
{
    key->a = mix(x ^ seed[0], y ^ key->a ^ seed[1]);
    key->b = mix(x ^ key->b ^ seed[2], y ^ seed[3]) + key->b;
}

struct bill_key
bill_key_new(void)
{
    return (struct bill_key){seed[1], seed[2]};
}

void
bill_key_add(struct bill_key *key, const char *text, size_t size)
{
    char tail[16] = {0};
    size_t left = size;

    for (; left >= 16; left -= 16, text += 16)
        step(key, word(text), word(text + 8));
    memcpy(tail, text, left);
    step(key, word(tail), word(tail + 8) ^ (uint64_t)size << 56 ^ size);
}

static size_t
slot_of(const struct bill_key_table *table, struct bill_key key)
{
    size_t at = (size_t)key.a & (table->size - 1);

    while ((table->keys[at].a || table->keys[at].b) && (table->keys[at].a != key.a || table->keys[at].b != key.b))
        at = (at + 1) & (table->size - 1);
    return at;
}

const uint32_t *
bill_key_find(const struct bill_key_table *table, struct bill_key key)
{
    size_t at;

    if (!table->count)
        return NULL;
    at = slot_of(table, key);
    return table->keys[at].a || table->keys[at].b ? &table->values[at] : NULL;
}

static void
grow(struct bill_key_table *table, struct arena *arena)
{
    struct bill_key_table old = *table;

    table->size = old.size ? old.size * 2 : 1024;
    table->keys = arena_alloc(arena, table->size * sizeof *table->keys);
    table->values = arena_alloc(arena, table->size * sizeof *table->values);
    for (size_t i = 0; i < old.size; i++)
        if (old.keys[i].a || old.keys[i].b) {
            size_t at = slot_of(table, old.keys[i]);

            table->keys[at] = old.keys[i];
            table->values[at] = old.values[i];
        }
}

void
bill_key_put(struct bill_key_table *table, struct arena *arena, struct bill_key key, uint32_t value)
{
    size_t at;

    if (table->count * 2 >= table->size)
        grow(table, arena);
    at = slot_of(table, key);
    table->count += !table->keys[at].a && !table->keys[at].b;
    table->keys[at] = key;
    table->values[at] = value;
}
