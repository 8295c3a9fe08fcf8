/*
 * AWS cost and usage reports: tags of every scheme under one map, keys as they were delivered. A
 * column or map that names a key again with another value loses to the one before it: resource tags,
 * then the map of account, user and principal tags, then cost categories, then columns of their own.
 */
#include <config.h>

#include <string.h>

#include <jansson.h>

#include "ingest/bill_aws.h"

static void
note_conflict(struct aws_seen *seen, const char *key)
{
    size_t size = strlen(key);

    if (seen->tag_conflicts++)
        return;
    if (size >= sizeof seen->tag)
        for (size = sizeof seen->tag - 1; size && (key[size] & 0xC0) == 0x80;)
            size--;
    memcpy(seen->tag, key, size);
    seen->tag[size] = '\0';
}

/* Adds what is not there yet. */
static void
add_map(json_t *into, const char *text, struct aws_seen *seen)
{
    json_t *map = text ? json_loads(text, JSON_DECODE_INT_AS_REAL, NULL) : NULL, *value;
    const char *key;

    json_object_foreach(map, key, value)
    {
        json_t *there = json_object_get(into, key);

        if (!there)
            (void)json_object_set(into, key, value);
        else if (!json_equal(there, value))
            note_conflict(seen, key);
    }
    json_decref(map);
}

const char *
aws_tags(struct bill_context *context, const struct field *cell)
{
    static const enum aws_column maps[] = {AWS_TAGS, AWS_TAGS_MORE, AWS_CATEGORIES};
    const struct aws_state *state = context->state;
    const char *text[3], *ret = NULL;
    size_t count = 0;
    json_t *all;
    char *dumped;

    for (size_t i = 0; i < 3; i++) {
        const char *map = bill_json_object(context->arena, cell[maps[i]]);

        if (map)
            text[count++] = map;
    }
    if (count < 2 && !context->gathered_count)
        return count ? text[0] : NULL;
    all = json_object();
    for (size_t i = 0; i < count; i++)
        add_map(all, text[i], state->seen);
    dumped = json_dumps(all, JSON_COMPACT);
    if (dumped)
        ret = arena_strdup(context->arena, dumped);
    mem_free(dumped);
    json_decref(all);
    return bill_json_gathered(context, ret);
}
