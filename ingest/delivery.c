/* Which deliveries count, and which objects are theirs. */
#include <config.h>

#include "ingest/delivery.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/calendar.h"
#include "ingest/delivery_private.h"

enum { MANIFEST_MOST_BYTES = 16 << 20 };

const char *const *
delivery_suffixes(struct arena *arena, const char *const *suffixes)
{
    static const char *const more[] = {".zip", "manifest.json"};
    const char **all;
    size_t count = 0;

    while (suffixes[count])
        count++;
    all = arena_alloc(arena, (count + 3) * sizeof(const char *));
    memcpy(all, suffixes, count * sizeof(const char *));
    memcpy(all + count, more, sizeof more);
    return all;
}

/* ---------------------------------------------------------------- reading */

static bool
read_one(struct choosing *choosing, size_t number)
{
    const struct delivery_query *query = choosing->query;
    struct object *object = &query->list->object[number];
    struct delivery *delivery;
    struct buf text = {0};

    if (object->size > MANIFEST_MOST_BYTES) {
        error_set(choosing->err, ERR_INPUT, "manifest \"%s\" is larger than %d MiB", object->name, MANIFEST_MOST_BYTES >> 20);
        return error_hint(choosing->err, "Check that it is what its name says.");
    }
    if (!query->read(query->context, object, &text, choosing->err))
        return false;
    delivery_parse(choosing->arena, object, &text, &delivery);
    buf_free(&text);
    if (delivery)
        choosing->all[choosing->all_count++] = delivery;
    return true;
}

/* One of a period before the window is not even read, but what lies in its folder is its own. */
static void
note_old(struct choosing *choosing, const struct object *object, int64_t from, int64_t to)
{
    struct delivery *old;
    struct buf nothing = {0};

    delivery_parse(choosing->arena, object, &nothing, &old);
    old->from = from;
    old->to = to;
    old->problem = NULL;
    choosing->all[choosing->all_count++] = old;
}

static bool
read_manifests(struct choosing *choosing)
{
    const struct object_list *list = choosing->query->list;

    choosing->all = arena_alloc(choosing->arena, (list->count + 1) * sizeof(struct delivery *));
    for (size_t i = 0; i < list->count; i++) {
        int64_t from, to;

        if (!delivery_is_manifest(list->object[i].key))
            continue;
        choosing->is_taken[i] = true;
        if (delivery_path_period(list->object[i].key, &from, &to) && to <= choosing->query->from)
            note_old(choosing, &list->object[i], from, to);
        else if (!read_one(choosing, i))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- choosing */

/* Whether a list with commas between holds the name; a slash at the end of one is nothing. */
static bool
is_listed(const char *list, const char *name)
{
    while (*list) {
        size_t size = strcspn(list, ","), first = strspn(list, " \t"), end = size;

        while (end > first && strchr(" \t/", list[end - 1]))
            end--;
        if (end > first && strlen(name) == end - first && !strncmp(list + first, name, end - first))
            return true;
        list += size + (list[size] == ',');
    }
    return false;
}

static bool
is_wanted(const struct delivery_query *query, const struct delivery *delivery)
{
    return !query->exports || !*query->exports || is_listed(query->exports, delivery->export_name)
        || is_listed(query->exports, delivery->base);
}

static bool
is_same_export(const struct delivery *a, const struct delivery *b)
{
    return a->kind == b->kind && !strcmp(a->base, b->base) && !strcmp(a->export_name, b->export_name)
        && !strcmp(a->scope ? a->scope : "", b->scope ? b->scope : "");
}

static bool
is_same_content(const struct delivery *a, const struct delivery *b)
{
    bool same = a->file_count == b->file_count;

    for (size_t i = 0; same && i < a->file_count; i++)
        same = !strcmp(a->file[i].path, b->file[i].path);
    return same;
}

/* "20260801T123456Z-…": what names a run by its time; 0 for others. */
static size_t
time_size(const char *text)
{
    size_t size = strspn(text, "0123456789");

    return size >= 8 ? strspn(text, "0123456789T:-Z") : 0;
}

/* Which of two deliveries of one export and period is the newer: 1 a, -1 b, 0 nobody can tell. */
static int
newer(const struct choosing *choosing, const struct delivery *a, const struct delivery *b)
{
    const char *run_a = strrchr(a->folder, '/'), *run_b = strrchr(b->folder, '/');

    run_a = run_a ? run_a + 1 : a->folder;
    run_b = run_b ? run_b + 1 : b->folder;
    if (a->kind != DELIVERY_AZURE && strcmp(a->folder, b->folder)) {
        /* the copy one level up is of the newest */
        if (delivery_is_beneath(b->folder, a->folder))
            return 1;
        if (delivery_is_beneath(a->folder, b->folder))
            return -1;
        if (time_size(run_a) && time_size(run_b) && strcmp(run_a, run_b))
            return strcmp(run_a, run_b) > 0 ? 1 : -1;
    }
    if (a->kind != DELIVERY_AZURE && !choosing->query->times_are_true)
        return 0;
    return (a->delivered > b->delivered) - (a->delivered < b->delivered);
}

static bool
cannot_tell(struct choosing *choosing, const struct delivery *a, const struct delivery *b)
{
    error_set(choosing->err, ERR_INPUT, "two deliveries of one period, and nothing says which is newer: \"%s\", \"%s\"",
              a->manifest, b->manifest);
    return error_hint(choosing->err, "Fetch the manifest one level up too, which is of the newest, or keep the newest only.");
}

/* Puts it among the chosen, in the place of an older one. */
static bool
offer(struct choosing *choosing, struct delivery *delivery)
{
    for (size_t i = 0; i < choosing->chosen_count; i++) {
        struct delivery *other = choosing->chosen[i];
        int which;

        if (!is_same_export(other, delivery) || other->from != delivery->from)
            continue;
        which = newer(choosing, delivery, other);
        if (!which && !is_same_content(delivery, other))
            return cannot_tell(choosing, delivery, other);
        if (which > 0)
            choosing->chosen[i] = delivery;
        return true;
    }
    choosing->chosen[choosing->chosen_count++] = delivery;
    return true;
}

static bool
two_exports(struct choosing *choosing, const struct delivery *a, const struct delivery *b)
{
    char month[CALENDAR_TEXT];
    bool are_types = a->type && b->type && strcmp(a->type, b->type);

    month_format(a->from > b->from ? a->from : b->from, month);
    error_set(choosing->err, ERR_CONFIG, "two exports of %s: \"%s\"%s%s and \"%s\"%s%s", month, a->manifest,
              are_types ? " of " : "", are_types ? a->type : "", b->manifest, are_types ? " of " : "", are_types ? b->type : "");
    if (!strcmp(a->export_name, b->export_name))
        return error_hint(choosing->err, "Both would count twice: point path at one of them, or choose with \"export = %s\".",
                          *a->base ? a->base : b->base);
    return error_hint(choosing->err, "Both would count twice: choose with \"export = %s\" or \"export = %s\".", a->export_name,
                      b->export_name);
}

/* The format reads the one beside the other. */
static bool
is_pair(const struct choosing *choosing, const struct delivery *a, const struct delivery *b)
{
    return choosing->query->pairs_types && a->type && b->type && strcmp(a->type, b->type) && a->scope && b->scope
        && !strcasecmp(a->scope, b->scope);
}

/* Exports that are named may be added up, but the same scope as actual and as amortized cost never. */
static bool
check_exports(struct choosing *choosing)
{
    bool are_named = choosing->query->exports && *choosing->query->exports;

    for (size_t i = 0; i < choosing->chosen_count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct delivery *a = choosing->chosen[k], *b = choosing->chosen[i];
            bool is_scope = a->scope && b->scope && !strcasecmp(a->scope, b->scope);

            if (a->from >= b->to || b->from >= a->to || is_pair(choosing, a, b))
                continue;
            if (is_same_export(a, b) ? a->from != b->from : !are_named || is_scope)
                return two_exports(choosing, a, b);
            if (!is_same_export(a, b) && !strcmp(a->export_name, b->export_name)
                && is_listed(choosing->query->exports, a->export_name))
                return two_exports(choosing, a, b);
        }
    return true;
}

/* The copy one level up comes before those it is a copy of. */
static int
by_depth(const void *a, const void *b)
{
    const struct delivery *const *left = a, *const *right = b;
    size_t depth_a = strlen((*left)->folder), depth_b = strlen((*right)->folder);

    return depth_a != depth_b ? (depth_a < depth_b ? -1 : 1) : strcmp((*left)->manifest, (*right)->manifest);
}

static bool
choose(struct choosing *choosing)
{
    bool is_any = !choosing->query->exports || !*choosing->query->exports || !choosing->all_count;

    choosing->chosen = arena_alloc(choosing->arena, (choosing->all_count + 1) * sizeof(struct delivery *));
    qsort(choosing->all, choosing->all_count, sizeof(struct delivery *), by_depth);
    for (size_t i = 0; i < choosing->all_count; i++) {
        struct delivery *delivery = choosing->all[i];

        is_any |= is_wanted(choosing->query, delivery) || !delivery->file_count;
        if (delivery->to && delivery->to <= choosing->query->from)
            continue;
        if (delivery->problem && !delivery->from) {
            error_set(choosing->err, ERR_INPUT, "manifest \"%s\" %s", delivery->manifest, delivery->problem);
            return error_hint(choosing->err, "%s", delivery->hint);
        }
        if (is_wanted(choosing->query, delivery) && !offer(choosing, delivery))
            return false;
    }
    if (is_any)
        return check_exports(choosing);
    error_set(choosing->err, ERR_CONFIG, "there is no export \"%s\"", choosing->query->exports);
    return error_hint(choosing->err, "There is \"%s\".", choosing->all[0]->export_name);
}

bool
delivery_choose(const struct delivery_query *query, struct delivery_choice *ret_choice, struct error *err)
{
    size_t count = query->list->count;
    struct delivery_choice choice = {
        .object = arena_alloc(query->arena, (count + 1) * sizeof *choice.object),
        .failed = arena_alloc(query->arena, (count + 1) * sizeof(struct delivery *)),
    };
    struct choosing choosing = {
        .query = query,
        .arena = query->arena,
        .is_taken = arena_alloc(query->arena, count + 1),
        .choice = &choice,
        .err = err,
    };

    if (!read_manifests(&choosing) || !choose(&choosing))
        return false;
    for (size_t i = 0; i < choosing.chosen_count; i++)
        delivery_take(&choosing, choosing.chosen[i]);
    if (!delivery_take_others(&choosing))
        return false;
    *ret_choice = choice;
    return true;
}
