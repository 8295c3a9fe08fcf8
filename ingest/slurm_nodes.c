/* Lists of nodes: rack[1-2]n[01-03],gpu7. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "ingest/slurm.h"

enum { DIGITS_MOST = 9, NAME_MOST = 255, LIST_MOST = 4 << 20 };

struct expansion {
    struct buf hosts;
    char name[NAME_MOST + 1]; /* what of a name is settled */
    size_t size;
    int count;
};

static bool expand(struct expansion *expansion, struct field rest);

static bool
put_name(struct expansion *expansion)
{
    if (!expansion->size || expansion->count >= ALLOCATION_NODES_MOST) {
        return false;
    }
    if (expansion->count++) {
        buf_putc(&expansion->hosts, ',');
    }
    buf_add(&expansion->hosts, expansion->name, expansion->size);
    return !expansion->hosts.overflow;
}

static bool
append(struct expansion *expansion, const char *text, size_t size)
{
    if (expansion->size + size > NAME_MOST || memchr(text, '\0', size)) {
        return false;
    }
    memcpy(expansion->name + expansion->size, text, size);
    expansion->size += size;
    return true;
}

static bool
digits(struct field text, unsigned long *ret_value)
{
    unsigned long value = 0;

    for (size_t i = 0; i < text.size; i++) {
        if (text.text[i] < '0' || text.text[i] > '9') {
            return false;
        }
        value = value * 10 + (unsigned long)(text.text[i] - '0');
    }
    *ret_value = value;
    return text.size > 0 && text.size <= DIGITS_MOST;
}

/* "01-04" or "07": each number as wide as the first is written, with what follows the bracket. */
static bool
expand_range(struct expansion *expansion, struct field range, struct field rest)
{
    const char *dash = memchr(range.text, '-', range.size);
    struct field low = {range.text, dash ? (size_t)(dash - range.text) : range.size};
    struct field high = dash ? (struct field){dash + 1, range.size - low.size - 1} : low;
    unsigned long first, last;
    size_t mark = expansion->size;

    if (!digits(low, &first) || !digits(high, &last) || last < first || last - first >= ALLOCATION_NODES_MOST) {
        return false;
    }
    for (unsigned long at = first; at <= last; at++) {
        char number[DIGITS_MOST + 2];
        int size = snprintf(number, sizeof(number), "%0*lu", (int)low.size, at);

        if (!append(expansion, number, (size_t)size) || !expand(expansion, rest)) {
            return false;
        }
        expansion->size = mark;
    }
    return true;
}

/* The rest of one name: text, then perhaps brackets and more. */
static bool
expand(struct expansion *expansion, struct field rest)
{
    const char *open = memchr(rest.text, '[', rest.size);
    size_t mark = expansion->size, before = open ? (size_t)(open - rest.text) : rest.size;
    const char *close = open ? memchr(open, ']', rest.size - before) : NULL;
    bool good = true;

    if (memchr(rest.text, ']', before) || !append(expansion, rest.text, before)) {
        return false;
    }
    if (!open) {
        good = put_name(expansion);
        expansion->size = mark;
        return good;
    }
    if (!close || close == open + 1) {
        return false;
    }
    struct field inside = {open + 1, (size_t)(close - open - 1)};
    struct field after = {close + 1, (size_t)(rest.text + rest.size - close - 1)};

    while (good && inside.size > 0) {
        const char *comma = memchr(inside.text, ',', inside.size);
        struct field range = {inside.text, comma ? (size_t)(comma - inside.text) : inside.size};

        good = expand_range(expansion, range, after);
        inside.text += range.size + (comma ? 1 : 0);
        inside.size -= range.size + (comma ? 1 : 0);
        good = good && !(comma && inside.size == 0);
    }
    expansion->size = mark;
    return good;
}

/* Up to a comma outside brackets. */
static struct field
first_name(struct field list)
{
    int depth = 0;

    for (size_t i = 0; i < list.size; i++) {
        depth += list.text[i] == '[' ? 1 : list.text[i] == ']' ? -1 : 0;
        if (list.text[i] == ',' && depth <= 0) {
            return (struct field){list.text, i};
        }
    }
    return list;
}

bool
slurm_nodes_expand(struct arena *arena, struct field list, const char **ret_hosts, int *ret_count)
{
    static const char *const none[] = {"None assigned", "None", "(null)", "Unknown", NULL};
    struct expansion expansion = {.hosts = {.cap = LIST_MOST}};
    bool good = true;

    list = csv_trim(list);
    for (size_t i = 0; none[i]; i++) {
        list.size = list.size == strlen(none[i]) && memcmp(list.text, none[i], list.size) == 0 ? 0 : list.size;
    }
    while (good && list.size > 0) {
        struct field name = first_name(list);

        good = expand(&expansion, name) && name.size + 1 != list.size;
        list.text += name.size + (name.size < list.size);
        list.size -= name.size + (name.size < list.size);
    }
    if (good) {
        *ret_count = expansion.count;
        *ret_hosts = expansion.count ? arena_strndup(arena, expansion.hosts.data, expansion.hosts.size) : NULL;
    }
    buf_free(&expansion.hosts);
    return good;
}
