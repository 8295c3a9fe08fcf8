#include <config.h>

#include "ingest/gpu_type.h"

#include <string.h>
#include <strings.h>

enum { TABLE_LEAST = 1024 };

struct entry {
    const char *provider, *type; /* lower case */
};

struct gpu_types {
    struct arena *arena;
    struct entry *entries; /* open addressing, size a power of two, never full */
    size_t size, count;
};

static char
lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool
same(const char *key, struct field type)
{
    return strlen(key) == type.size && !strncasecmp(key, type.text, type.size);
}

static size_t
hash(struct field type)
{
    size_t h = 14695981039346656037ULL;

    for (size_t i = 0; i < type.size; i++)
        h = (h ^ (unsigned char)lower(type.text[i])) * 1099511628211ULL;
    return h ^ h >> 29;
}

struct gpu_types *
gpu_types_new(struct arena *arena)
{
    struct gpu_types *types = arena_alloc(arena, sizeof *types);

    types->arena = arena;
    types->size = TABLE_LEAST;
    types->entries = arena_alloc(arena, types->size * sizeof *types->entries);
    return types;
}

static void
place(struct gpu_types *types, struct entry entry)
{
    size_t at = hash((struct field){entry.type, strlen(entry.type)});

    while (types->entries[at & (types->size - 1)].type)
        at++;
    types->entries[at & (types->size - 1)] = entry;
    types->count++;
}

static void
grow(struct gpu_types *types)
{
    struct entry *old = types->entries;
    size_t size = types->size;

    types->size *= 2;
    types->count = 0;
    types->entries = arena_alloc(types->arena, types->size * sizeof *types->entries);
    for (size_t i = 0; i < size; i++)
        if (old[i].type)
            place(types, old[i]);
}

void
gpu_types_add(struct gpu_types *types, const char *provider, const char *instance_type)
{
    if (types->count * 2 >= types->size)
        grow(types);
    place(types, (struct entry){arena_strdup(types->arena, provider), arena_strdup(types->arena, instance_type)});
}

bool
gpu_types_load(struct gpu_types **ret_types, struct db *db, struct arena *arena, struct error *err)
{
    struct gpu_types *types = gpu_types_new(arena);
    struct rows *rows;

    if (!rows_open(&rows, db, "sql/billing_catalog.sql", 0, NULL, err))
        return false;
    while (rows_next(rows, err))
        gpu_types_add(types, rows_text(rows, 0), rows_text(rows, 1));
    rows_close(rows);
    if (err->code)
        return false;
    *ret_types = types;
    return true;
}

bool
gpu_types_empty(const struct gpu_types *types)
{
    return !types->count;
}

static bool
provider_known(const struct gpu_types *types, const char *provider)
{
    for (size_t i = 0; i < types->size; i++)
        if (types->entries[i].type && !strcmp(types->entries[i].provider, provider))
            return true;
    return false;
}

bool
gpu_type_known(const struct gpu_types *types, const char *provider, struct field type)
{
    bool elsewhere = false;

    if (!type.size)
        return false;
    for (size_t at = hash(type);; at++) {
        const struct entry *entry = &types->entries[at & (types->size - 1)];

        if (!entry->type)
            break;
        if (!same(entry->type, type))
            continue;
        if (!strcmp(entry->provider, provider))
            return true;
        elsewhere = true;
    }
    return elsewhere && !provider_known(types, provider);
}

static bool
begins(struct field type, const char *start)
{
    return type.size >= strlen(start) && !strncasecmp(type.text, start, strlen(start));
}

static bool
digit_at(struct field type, size_t at)
{
    return at < type.size && type.text[at] >= '0' && type.text[at] <= '9';
}

/* p4d.24xlarge, g6e.xlarge, gr6.4xlarge, p6-b200.48xlarge: p, g or gr, a digit, a dot, a size. */
static bool
aws_family(struct field type)
{
    size_t letters = begins(type, "gr") ? 2 : begins(type, "g") || begins(type, "p") ? 1 : 0;
    const char *dot = type.size ? memchr(type.text, '.', type.size) : NULL;
    struct field size;

    if (!letters || !dot || !digit_at(type, letters))
        return false;
    size = (struct field){dot + 1, (size_t)(type.text + type.size - dot - 1)};
    return begins(size, "metal") || (size.size >= 5 && !strncasecmp(size.text + size.size - 5, "large", 5));
}

static bool
azure_family(struct field type)
{
    static const char *const starts[] = {"standard_nc", "standard_nd", "standard_nv", "standard_ng"};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (begins(type, starts[i]) && digit_at(type, strlen(starts[i])))
            return true;
    return false;
}

static bool
google_family(struct field type)
{
    static const char *const starts[] = {"a2-", "a3-", "a4-", "a4x-", "g2-", "g4-"};

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (begins(type, starts[i]))
            return true;
    return false;
}

static bool
begins_any(struct field type, const char *const *starts)
{
    for (; *starts; starts++)
        if (begins(type, *starts))
            return true;
    return false;
}

/* Clouds whose machine types say by their beginning that they have GPUs. */
static bool
other_family(const char *provider, struct field type)
{
    static const char *const oracle[] = {"bm.gpu", "vm.gpu", NULL};
    static const char *const alibaba[] = {"ecs.gn", "ecs.vgn", "ecs.sgn", "ecs.ebmgn", NULL};
    static const char *const tencent[] = {"gn6", "gn7", "gn8", "gn10", "gt4", "pnv4", "pnv5", NULL};

    if (!strncmp(provider, "oracle", 6))
        return begins_any(type, oracle);
    if (!strncmp(provider, "alibaba", 7))
        return begins_any(type, alibaba);
    if (!strncmp(provider, "tencent", 7))
        return begins_any(type, tencent);
    return begins(type, "gpu_") && digit_at(type, 4);
}

bool
gpu_type_family(const char *provider, struct field type)
{
    if (!strcmp(provider, "aws"))
        return aws_family(type);
    if (!strcmp(provider, "azure"))
        return azure_family(type);
    if (!strcmp(provider, "gcp"))
        return google_family(type);
    return other_family(provider, type);
}

static bool
in_word(char c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

/* The next word of *rest, without a dot at its end; empty when there is none. */
static struct field
next_word(struct field *rest)
{
    struct field word;

    while (rest->size && !in_word(*rest->text)) {
        rest->text++;
        rest->size--;
    }
    word = (struct field){rest->text, 0};
    while (rest->size && in_word(*rest->text)) {
        rest->text++;
        rest->size--;
        word.size++;
    }
    while (word.size && word.text[word.size - 1] == '.')
        word.size--;
    return word;
}

struct field
gpu_type_in(const struct gpu_types *types, const char *provider, struct field text)
{
    struct field word, family = {"", 0};

    for (;;) {
        word = next_word(&text);
        if (!word.size && !text.size)
            return family;
        if (gpu_type_known(types, provider, word))
            return word;
        if (!family.size && gpu_type_family(provider, word))
            family = word;
    }
}
