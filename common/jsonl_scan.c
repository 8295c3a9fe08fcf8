/* One object: its grammar is checked whole, what nobody wants is passed over as text. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "common/jsonl_private.h"

struct level {
    const struct jsonl_path *path; /* NULL: nothing in it is wanted */
    struct jsonl_path *owner;      /* whose value it is; NULL: nobody's */
    const char *start;
    bool is_array;
};

struct scan {
    struct jsonl *jsonl;
    const char *at, *end;
    struct field *fields;
    struct jsonl_path *last; /* the key before */
    size_t depth;
    struct level level[JSONL_LEVELS];
};

/* At the end it is not broken, but goes on beyond it. */
static bool
broken(struct scan *scan, const char *what)
{
    if (scan->at < scan->end)
        scan->jsonl->reason = what;
    return false;
}

/* Bad, but one can see where it ends. */
static void
unusable(struct scan *scan, const char *what, const char *name)
{
    struct jsonl *jsonl = scan->jsonl;

    if (jsonl->reason)
        return;
    snprintf(jsonl->reason_text, sizeof jsonl->reason_text, "%s %.80s", what, name);
    jsonl->reason = jsonl->reason_text;
}

static inline void
skip_blanks(struct scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r'))
        scan->at++;
}

/* ---------------------------------------------------------------- values that are wanted */

static void
put(struct scan *scan, const struct jsonl_path *path, struct field value, bool is_object)
{
    for (const struct jsonl_target *target = path->targets; target; target = target->next) {
        struct field *field = &scan->fields[target->slot];
        unsigned char *rank = &scan->jsonl->rank[target->slot];

        if (target->is_gathered && is_object)
            continue;
        if (target->rank < *rank) {
            *rank = target->rank;
            *field = value;
        } else if (target->rank == *rank && (field->size != value.size || memcmp(field->text, value.text, value.size))) {
            unusable(scan, "two values of", path->name);
        }
    }
}

static void
put_string(struct scan *scan, const struct jsonl_path *path, struct field text, bool is_escaped, bool is_ascii)
{
    struct jsonl *jsonl = scan->jsonl;

    if (is_escaped) {
        char *into = jsonl->decoded + jsonl->decoded_size;
        size_t size = jsonl_string_decode(text, into);

        if (size == SIZE_MAX) {
            unusable(scan, "an escape or letter that is no character in", path->name);
            return;
        }
        jsonl->decoded_size += size;
        text = (struct field){into, size};
    } else if (!is_ascii && !jsonl_is_utf8(text)) {
        unusable(scan, "no UTF-8 in", path->name);
        return;
    }
    put(scan, path, text, false);
}

static void
put_slice(struct scan *scan, const struct level *level)
{
    struct field slice = {level->start, (size_t)(scan->at - level->start)};

    if (!level->owner || !level->owner->targets)
        return;
    if (!jsonl_is_utf8(slice))
        unusable(scan, "no UTF-8 in", level->owner->name);
    else
        put(scan, level->owner, slice, !level->is_array);
}

/* ---------------------------------------------------------------- grammar */

static bool
scan_string(struct scan *scan, struct jsonl_path *path)
{
    bool is_escaped, is_ascii;
    const char *start = scan->at + 1;

    scan->at = jsonl_string_end(start, scan->end, &is_escaped, &is_ascii);
    if (scan->at == scan->end || *scan->at != '"')
        return broken(scan, "a control character in a string");
    if (path && path->targets)
        put_string(scan, path, (struct field){start, (size_t)(scan->at - start)}, is_escaped, is_ascii);
    scan->at++;
    return true;
}

static bool
scan_digits(struct scan *scan)
{
    const char *start = scan->at;

    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
        scan->at++;
    return scan->at > start || broken(scan, "no digit where a number needs one");
}

static bool
scan_number(struct scan *scan, const struct jsonl_path *path)
{
    const char *start = scan->at;

    scan->at += *scan->at == '-';
    if (scan->at < scan->end && *scan->at == '0')
        scan->at++;
    else if (!scan_digits(scan))
        return false;
    if (scan->at < scan->end && *scan->at == '.') {
        scan->at++;
        if (!scan_digits(scan))
            return false;
    }
    if (scan->at < scan->end && (*scan->at | 0x20) == 'e') {
        scan->at++;
        scan->at += scan->at < scan->end && (*scan->at == '+' || *scan->at == '-');
        if (!scan_digits(scan))
            return false;
    }
    if (path && path->targets)
        put(scan, path, (struct field){start, (size_t)(scan->at - start)}, false);
    return true;
}

static bool
scan_word(struct scan *scan, const struct jsonl_path *path)
{
    static const char *const words[] = {"true", "false", "null"};
    size_t left = (size_t)(scan->end - scan->at);

    for (int i = 0; i < 3; i++) {
        size_t size = strlen(words[i]), some = size < left ? size : left;

        if (memcmp(scan->at, words[i], some))
            continue;
        scan->at += some;
        if (some < size)
            return false; /* goes on beyond the end */
        if (path && path->targets)
            put(scan, path, (struct field){scan->at - size, i == 2 ? 0 : size}, false);
        return true;
    }
    return broken(scan, "no value where one must stand");
}

static bool
enter(struct scan *scan, struct jsonl_path *path)
{
    struct level *level = &scan->level[scan->depth];

    if (scan->depth == JSONL_LEVELS)
        return broken(scan, "more than 64 levels");
    *level = (struct level){.owner = path, .start = scan->at, .is_array = *scan->at == '['};
    level->path = path && path->is_descended && !level->is_array ? path : NULL;
    scan->depth++;
    scan->at++;
    return true;
}

/* A key and its colon; *ret_path NULL where nobody wants it. */
static inline bool
scan_key(struct scan *scan, const struct jsonl_path *parent, struct jsonl_path **ret_path)
{
    struct jsonl_path *path = parent ? scan->last->follower : NULL;
    const char *start = scan->at;

    if (path && path->parent == parent && (size_t)(scan->end - start) > path->key_size
        && !memcmp(start, path->key, path->key_size)) {
        scan->at += path->key_size;
        scan->last = path;
    } else {
        path = NULL;
        if (*start != '"')
            return broken(scan, "no name where one must stand");
        if (!scan_string(scan, NULL))
            return false;
        if (parent) {
            path = jsonl_path_find(scan->jsonl, parent, (struct field){start, (size_t)(scan->at - start)});
            if (path)
                scan->last = scan->last->follower = path;
            else if (!scan->jsonl->is_surveying)
                unusable(scan, "a name that is no text, or one too many in", parent->name ? parent->name : "the record");
        }
    }
    skip_blanks(scan);
    if (scan->at == scan->end || *scan->at != ':')
        return broken(scan, "no colon after a name");
    scan->at++;
    skip_blanks(scan);
    *ret_path = path;
    return true;
}

static inline bool
scan_value(struct scan *scan, struct jsonl_path *path)
{
    if (scan->at == scan->end)
        return false;
    switch (*scan->at) {
    case '"':
        return scan_string(scan, path);
    case '{':
    case '[':
        return enter(scan, path);
    case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
        return scan_number(scan, path);
    default:
        return scan_word(scan, path);
    }
}

/* What may stand before the next value: a comma or the end of the level, unless one has just been
 * entered. */
static inline bool
scan_next(struct scan *scan, bool is_first, bool *ret_left)
{
    const struct level *level = &scan->level[scan->depth - 1];

    *ret_left = false;
    skip_blanks(scan);
    if (scan->at == scan->end)
        return false;
    if (*scan->at == (level->is_array ? ']' : '}')) {
        scan->at++;
        put_slice(scan, level);
        scan->depth--;
        *ret_left = true;
        return true;
    }
    if (is_first)
        return true;
    if (*scan->at != ',')
        return broken(scan, "no comma and no end after a value");
    scan->at++;
    skip_blanks(scan);
    return scan->at < scan->end;
}

static bool
scan_object(struct scan *scan)
{
    bool is_first = true, has_left;

    while (scan->depth) {
        const struct level *level = &scan->level[scan->depth - 1];
        struct jsonl_path *path = NULL;
        size_t depth = scan->depth;

        if (!scan_next(scan, is_first, &has_left))
            return false;
        is_first = false;
        if (has_left)
            continue;
        if (!level->is_array && !scan_key(scan, level->path, &path))
            return false;
        if (!scan_value(scan, path))
            return false;
        is_first = scan->depth > depth;
    }
    return true;
}

enum jsonl_found
jsonl_scan(struct jsonl *jsonl, const char *text, const char *end, struct field *fields, const char **ret_end)
{
    size_t slots = jsonl->slots;
    struct scan scan;

    scan.jsonl = jsonl;
    scan.at = text;
    scan.end = end;
    scan.fields = fields;
    scan.last = &jsonl->root;
    scan.depth = 0;
    jsonl->reason = NULL;
    jsonl->decoded_size = 0;
    memset(jsonl->rank, JSONL_RANK_NONE, sizeof jsonl->rank);
    for (size_t i = 0; i < slots; i++)
        fields[i] = (struct field){"", 0};
    if (!enter(&scan, &jsonl->root) || !scan_object(&scan)) {
        *ret_end = scan.at;
        return scan.at >= end ? JSONL_SHORT : JSONL_BROKEN;
    }
    *ret_end = scan.at;
    for (; slots < jsonl->slots; slots++) /* gathered on the way */
        if (jsonl->rank[slots] == JSONL_RANK_NONE)
            fields[slots] = (struct field){"", 0};
    return JSONL_WHOLE;
}
