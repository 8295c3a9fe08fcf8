/* What manifests say, and what the names of folders do. */
#include <config.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/calendar.h"
#include "ingest/delivery.h"

enum { FILES_MOST = 100000, COLUMNS_MOST = 10000 };

/* ---------------------------------------------------------------- names */

static const char *
base_of(const char *key)
{
    const char *slash = strrchr(key, '/');

    return slash ? slash + 1 : key;
}

static const char *
folder_of(struct arena *arena, const char *key)
{
    const char *slash = strrchr(key, '/');

    return slash ? arena_strndup(arena, key, (size_t)(slash - key)) : "";
}

/* "NAME-Manifest.json", "manifest.json", and what AWS writes for others: "NAME-RedshiftManifest.json". */
bool
delivery_is_manifest(const char *key)
{
    static const char tail[] = "manifest.json";
    size_t size = strlen(key);

    return size >= sizeof tail - 1 && !strcasecmp(key + size - (sizeof tail - 1), tail);
}

static bool
is_digits(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return size;
}

static bool
parse_day(const char *digits, int64_t *ret_time)
{
    const char day[] = {digits[0], digits[1], digits[2], digits[3], '-', digits[4], digits[5], '-', digits[6], digits[7], '\0'};

    return is_digits(digits, 8) && time_parse(day, 10, ret_time);
}

/* "20260701-20260801" (AWS: the day after), "20260701-20260731" (Azure: the last day), "BILLING_PERIOD=2026-07". */
static bool
part_period(const char *part, size_t size, int64_t *ret_from, int64_t *ret_to)
{
    static const char name[] = "BILLING_PERIOD=";
    char day[11] = "0000-00-01";

    if (size == 17 && part[8] == '-' && parse_day(part, ret_from) && parse_day(part + 9, ret_to)) {
        if (*ret_to != month_start(*ret_to) || *ret_to == *ret_from)
            *ret_to += DAY_SECONDS;
        return *ret_to > *ret_from;
    }
    if (size != sizeof name - 1 + 7 || strncasecmp(part, name, sizeof name - 1))
        return false;
    memcpy(day, part + sizeof name - 1, 7);
    if (!time_parse(day, 10, ret_from))
        return false;
    *ret_to = month_next(*ret_from);
    return true;
}

/* The part of the path that names a period; NULL: none does. */
static const char *
find_period(const char *key, int64_t *ret_from, int64_t *ret_to)
{
    const char *slash;

    for (const char *part = key; (slash = strchr(part, '/')); part = slash + 1)
        if (part_period(part, (size_t)(slash - part), ret_from, ret_to))
            return part;
    return NULL;
}

bool
delivery_path_period(const char *key, int64_t *ret_from, int64_t *ret_to)
{
    return find_period(key, ret_from, ret_to);
}

/* A year, a month, a billing period: corrections and late rows of one bill lie in several of them. A
 * day may as well be that of a delivery that repeats the month. */
static bool
is_month(const char *part, size_t size)
{
    int64_t from, to;

    if (part_period(part, size, &from, &to))
        return true;
    if (size == 2 && is_digits(part, 2))
        return strncmp(part, "01", 2) >= 0 && strncmp(part, "12", 2) <= 0;
    if (size < 4 || (strncmp(part, "20", 2) && strncmp(part, "19", 2)) || !is_digits(part, 4))
        return false;
    return size == 4 || (size == 6 && is_digits(part + 4, 2)) || (size == 7 && part[4] == '-' && is_digits(part + 5, 2));
}

/* "day=2026-07-01", "account=1": a part of something; "run=7": all of it, once more. */
static bool
is_partition(const char *part, size_t size)
{
    static const char *const whole[] = {"run", "exec", "export", "snapshot", "version", "deliver", "assembl", "load", NULL};
    const char *equals = memchr(part, '=', size);

    if (!equals || equals == part)
        return false;
    for (size_t i = 0; whole[i]; i++)
        for (const char *at = part; at + strlen(whole[i]) <= equals; at++)
            if (!strncasecmp(at, whole[i], strlen(whole[i])))
                return false;
    return true;
}

const char *
delivery_origin(struct arena *arena, const char *key)
{
    struct buf origin = {0};
    const char *slash, *text;

    for (const char *part = key; (slash = strchr(part, '/')); part = slash + 1)
        if (!is_month(part, (size_t)(slash - part)) && !is_partition(part, (size_t)(slash - part))) {
            if (origin.size)
                buf_putc(&origin, '/');
            buf_add(&origin, part, (size_t)(slash - part));
        }
    text = arena_strndup(arena, origin.size ? origin.data : "", origin.size);
    buf_free(&origin);
    return text;
}

/* ---------------------------------------------------------------- values */

static const char *
text_of(struct arena *arena, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? arena_strdup(arena, text) : NULL;
}

/* "20260701T000000.000Z" of CUR, ISO 8601 of others. */
static int64_t
time_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    int64_t time;

    if (!text)
        return 0;
    if (strlen(text) >= 9 && text[8] == 'T' && parse_day(text, &time))
        return time;
    return time_parse(text, strlen(text), &time) ? time : 0;
}

static void
take_columns(struct arena *arena, const json_t *columns, struct delivery *delivery)
{
    size_t count = json_array_size(columns);

    if (!count || count > COLUMNS_MOST)
        return;
    delivery->columns = arena_alloc(arena, count * sizeof(const char *));
    delivery->column_count = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *column = json_array_get(columns, i);
        const char *category = json_string_value(json_object_get(column, "category"));
        const char *name = json_string_value(json_object_get(column, "name"));

        delivery->columns[i] = arena_printf(arena, "%s%s%s", category ? category : "", category ? "/" : "", name ? name : "");
    }
}

/* Texts, or objects with a name and a size. */
static void
take_files(struct arena *arena, const json_t *files, struct delivery *delivery)
{
    size_t count = json_array_size(files);

    if (!count || count > FILES_MOST) {
        delivery->problem = count ? "names more files than can be" : "names no file";
        delivery->hint = "The delivery is not complete: wait for the next, or make the provider deliver the period again.";
        return;
    }
    delivery->file = arena_alloc(arena, count * sizeof *delivery->file);
    delivery->file_count = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *file = json_array_get(files, i);
        const char *path = json_is_object(file) ? text_of(arena, file, "blobName") : json_string_value(file);
        const json_t *size = json_object_get(file, "byteCount");

        delivery->file[i].path = path ? arena_strdup(arena, path) : "";
        delivery->file[i].size = json_is_integer(size) ? (int64_t)json_integer_value(size) : -1;
        if (!path || !*base_of(path)) {
            delivery->problem = "names a file without a name";
            delivery->hint = "The manifest is damaged: fetch it again.";
        }
    }
}

/* "EXPORT-Manifest.json"; NULL for "manifest.json". */
static const char *
file_export(struct arena *arena, const char *key)
{
    static const char tail[] = "-Manifest.json";
    const char *base = base_of(key);
    size_t size = strlen(base);

    return size > sizeof tail - 1 ? arena_strndup(arena, base, size - (sizeof tail - 1)) : NULL;
}

/* The folder in front of the one that is named for the period, and of "metadata"; without such a one
 * the manifest's own. */
static const char *
export_folder(struct arena *arena, const char *key, const char *folder)
{
    static const char between[] = "/metadata/";
    const char *at = strstr(key, between), *part;
    int64_t from, to;

    if (at)
        return arena_strndup(arena, key, (size_t)(at - key));
    if (!strncmp(key, between + 1, sizeof between - 2))
        return "";
    part = find_period(key, &from, &to);
    if (!part)
        return folder;
    return part == key ? "" : arena_strndup(arena, key, (size_t)(part - key - 1));
}

/* ---------------------------------------------------------------- formats */

static void
parse_cur(struct arena *arena, const json_t *root, struct delivery *delivery)
{
    const json_t *period = json_object_get(root, "billingPeriod");

    delivery->kind = DELIVERY_CUR;
    delivery->export_name = text_of(arena, root, "reportName");
    delivery->id = text_of(arena, root, "assemblyId");
    delivery->from = time_of(period, "start");
    delivery->to = time_of(period, "end");
    take_columns(arena, json_object_get(root, "columns"), delivery);
    take_files(arena, json_object_get(root, "reportKeys"), delivery);
}

static void
parse_export(struct arena *arena, const json_t *root, const char *key, struct delivery *delivery)
{
    delivery->kind = DELIVERY_EXPORT;
    delivery->id = text_of(arena, root, "executionId");
    delivery->export_name = file_export(arena, key);
    take_columns(arena, json_object_get(root, "columns"), delivery);
    take_files(arena, json_object_get(root, "dataFiles"), delivery);
}

static void
parse_azure(struct arena *arena, const json_t *root, struct delivery *delivery)
{
    const json_t *config = json_object_get(root, "exportConfig"), *run = json_object_get(root, "runInfo");
    int64_t submitted = time_of(run, "submittedTime");

    delivery->kind = DELIVERY_AZURE;
    delivery->export_name = text_of(arena, config, "exportName");
    delivery->scope = text_of(arena, config, "resourceId");
    delivery->type = text_of(arena, config, "type");
    delivery->id = text_of(arena, run, "runId");
    delivery->from = time_of(run, "startDate");
    delivery->to = time_of(run, "endDate");
    if (delivery->to && delivery->to % DAY_SECONDS == 0
        && (delivery->to != month_start(delivery->to) || delivery->to == delivery->from))
        delivery->to += DAY_SECONDS; /* the last day, not the one after */
    if (submitted)
        delivery->delivered = submitted;
    take_files(arena, json_object_get(root, "blobs"), delivery);
}

static void
check(struct delivery *delivery, const char *key)
{
    int64_t from, to;

    if (delivery_path_period(key, &from, &to) && (!delivery->from || delivery->to <= delivery->from)) {
        delivery->from = from;
        delivery->to = to;
    }
    if (!delivery->from || delivery->to <= delivery->from) {
        delivery->from = delivery->to = 0; /* with a beginning alone it would fail no month */
        if (!delivery->problem) {
            delivery->problem = "does not say which period it is of";
            delivery->hint = "The manifest is damaged: fetch it again.";
        }
    }
    if (!delivery->export_name)
        delivery->export_name = "";
    if (!delivery->id)
        delivery->id = "";
}

void
delivery_parse(struct arena *arena, const struct object *object, const struct buf *text, struct delivery **ret_delivery)
{
    json_error_t why;
    json_t *root = json_loadb(text->data ? text->data : "", text->size, 0, &why);
    struct delivery *delivery = arena_alloc(arena, sizeof *delivery);

    *ret_delivery = delivery;
    delivery->manifest = object->name;
    delivery->folder = folder_of(arena, object->key);
    delivery->base = export_folder(arena, object->key, delivery->folder);
    delivery->delivered = object->modified;
    if (!root) {
        delivery->problem = arena_printf(arena, "is no JSON (line %d)", why.line);
        delivery->hint = "The manifest was cut on its way: fetch it again, or wait for the next delivery.";
        delivery->export_name = file_export(arena, object->key);
        if (!delivery->export_name)
            delivery->export_name = base_of(delivery->base);
    } else if (json_object_get(root, "reportKeys")) {
        parse_cur(arena, root, delivery);
    } else if (json_object_get(root, "dataFiles")) {
        parse_export(arena, root, object->key, delivery);
    } else if (json_object_get(root, "blobs") && json_object_get(root, "runInfo")) {
        parse_azure(arena, root, delivery);
    } else {
        *ret_delivery = NULL;
    }
    json_decref(root);
    check(delivery, object->key);
}
