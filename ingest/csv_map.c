#include <config.h>

#include "ingest/csv_map.h"

#include <string.h>
#include <strings.h>

#include "common/decimal.h"

static const char column_prefix[] = "column.";
static const char tag_prefix[] = "column.tags.";

/* The key of each column behind "column."; those that may also be constants stand in `constants`. */
static const char *const column_keys[CSV_COLUMNS] = {
    [CSV_FROM] = "from",
    [CSV_TO] = "to",
    [CSV_DURATION] = "duration",
    [CSV_QUANTITY] = "quantity",
    [CSV_COST] = "cost",
    [CSV_EFFECTIVE] = "effective-cost",
    [CSV_LIST] = "list-cost",
    [CSV_PERIOD] = "period",
    [CSV_PROVIDER] = "provider",
    [CSV_SERVICE] = "service",
    [CSV_CURRENCY] = "currency",
    [CSV_CATEGORY] = "category",
    [CSV_GPU_TYPE] = "gpu-type",
    [CSV_INSTANCE_TYPE] = "instance-type",
    [CSV_GPUS] = "gpus",
    [CSV_SKU] = "sku",
    [CSV_UNIT] = "unit",
    [CSV_PRICING] = "pricing",
    [CSV_COMMITMENT] = "commitment",
    [CSV_REGION] = "region",
    [CSV_ZONE] = "zone",
    [CSV_ACCOUNT] = "account",
    [CSV_ACCOUNT_NAME] = "account-name",
    [CSV_RESOURCE] = "resource",
    [CSV_RESOURCE_NAME] = "resource-name",
    [CSV_DESCRIPTION] = "description",
    [CSV_INVOICE] = "invoice",
    [CSV_TAGS] = "tags",
};

static const enum csv_column constants[] = {CSV_PROVIDER, CSV_SERVICE, CSV_CURRENCY, CSV_GPU_TYPE, CSV_INSTANCE_TYPE,
                                            CSV_GPUS,     CSV_SKU,     CSV_PRICING,  CSV_REGION,   CSV_ACCOUNT};

const char *const csv_map_keys[] = {
    "path", "provider", "service", "currency", "gpu-type", "instance-type", "gpus", "sku", "pricing", "location", "account",
    "unit", "duration-unit", "time-zone", "time-format", "decimal", "thousands", "delimiter", "span", "rate-card",
    "column.from", "column.to", "column.duration", "column.quantity", "column.cost", "column.effective-cost",
    "column.list-cost", "column.period", "column.provider", "column.service", "column.currency", "column.category",
    "column.gpu-type", "column.instance-type", "column.gpus", "column.sku", "column.unit", "column.pricing",
    "column.commitment", "column.region", "column.zone", "column.account", "column.account-name", "column.resource",
    "column.resource-name", "column.description", "column.invoice", "column.tags", "column.tags.", NULL,
};

struct reading {
    struct source_run *run;
    struct csv_map *map;
    struct error *err;
};

static const char *
get(const struct reading *reading, const char *key)
{
    const char *value = section_get(reading->run->section, key);

    return value && *value ? value : NULL;
}

static bool
wrong(const struct reading *reading, const char *key, const char *what, const char *hint)
{
    error_set(reading->err, ERR_CONFIG, "%s: %s", section_origin(reading->run->settings, reading->run->section, key), what);
    return error_hint(reading->err, "%s", hint);
}

/* ---------------------------------------------------------------- columns and constants */

static bool
read_tags(const struct reading *reading)
{
    struct csv_map *map = reading->map;

    for (const struct setting *setting = reading->run->section->settings; setting; setting = setting->next) {
        if (strncmp(setting->key, tag_prefix, strlen(tag_prefix)) || !*setting->value)
            continue;
        if (map->tag_count == CSV_TAGS_MOST)
            return wrong(reading, setting->key, "too many columns of tags", "Leave out those that nobody needs.");
        map->tag[map->tag_count] = setting->key + strlen(tag_prefix);
        map->tag_column[map->tag_count++] = setting->value;
    }
    return true;
}

static bool
read_columns(const struct reading *reading)
{
    struct csv_map *map = reading->map;

    for (int i = 0; i < CSV_COLUMNS; i++)
        map->column[i] = get(reading, arena_printf(reading->run->arena, "%s%s", column_prefix, column_keys[i]));
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        /* "region" is that of a bucket already */
        const char *key = constants[i] == CSV_REGION ? "location" : column_keys[constants[i]];
        const char *value = get(reading, key);

        map->constant[constants[i]] = value ? (struct field){value, strlen(value)} : (struct field){"", 0};
    }
    return read_tags(reading);
}

/* ---------------------------------------------------------------- units, numbers, times */

/* 0 seconds: no unit of time. */
static int
time_unit(const char *unit, bool *ret_gpu_time, bool *ret_is_milli)
{
    static const char milli[] = "milliseconds";
    size_t size = strlen(unit), tail = strlen(milli);

    *ret_is_milli = size >= tail && !strcasecmp(unit + size - tail, milli);
    *ret_gpu_time = *ret_is_milli && !strncasecmp(unit, "gpu", 3);
    return *ret_is_milli ? 1 : bill_unit_seconds((struct field){unit, size}, ret_gpu_time);
}

static bool
read_units(const struct reading *reading)
{
    static const char hint[] = "Units of time are hours, minutes, seconds, milliseconds and days, each with gpu- in front of it "
                               "where it counts GPUs.";
    struct csv_map *map = reading->map;
    const char *unit = get(reading, "unit"), *duration = get(reading, "duration-unit");
    bool ignored;

    if (unit) {
        map->unit_seconds = time_unit(unit, &map->unit_is_gpu_time, &map->unit_is_milli);
        map->duration_seconds = map->unit_seconds;
        map->duration_is_milli = map->unit_is_milli;
    }
    if (unit && !map->unit_seconds)
        return wrong(reading, "unit", arena_printf(reading->run->arena, "unit is no unit of time: \"%s\"", unit), hint);
    if (duration)
        map->duration_seconds = time_unit(duration, &ignored, &map->duration_is_milli);
    return !duration || map->duration_seconds
        || wrong(reading, "duration-unit",
                 arena_printf(reading->run->arena, "duration-unit is no unit of time: \"%s\"", duration), hint);
}

static bool
read_marks(const struct reading *reading)
{
    struct csv_map *map = reading->map;
    const char *decimal = get(reading, "decimal"), *thousands = get(reading, "thousands");
    const char *delimiter = get(reading, "delimiter");

    map->decimal = decimal ? decimal[0] : '.';
    map->thousands = !thousands || !strcmp(thousands, "none") ? '\0' : !strcmp(thousands, "blank") ? ' ' : thousands[0];
    map->delimiter = !delimiter ? ',' : !strcmp(delimiter, "tab") ? '\t' : !strcmp(delimiter, "semicolon") ? ';'
                   : !strcmp(delimiter, "comma") ? ',' : delimiter[0];
    if ((map->decimal != '.' && map->decimal != ',') || (decimal && decimal[1]))
        return wrong(reading, "decimal", "decimal is neither a point nor a comma", "Write decimal = , for amounts such as 1,50.");
    if (!strchr(".,' ", map->thousands) || map->thousands == map->decimal
        || (thousands && thousands[1] && map->thousands != ' ' && strcmp(thousands, "none")))
        return wrong(reading, "thousands", "thousands is no mark, or that of the decimal",
                     "Marks are a point, a comma, an apostrophe, blank or none.");
    if (!strchr(",;|\t", map->delimiter)
        || (delimiter && delimiter[1] && strcmp(delimiter, "tab") && strcmp(delimiter, "semicolon") && strcmp(delimiter, "comma")))
        return wrong(reading, "delimiter", "delimiter is none of comma, semicolon, tab and |", "Write delimiter = semicolon.");
    return true;
}

static bool
read_span(const struct reading *reading)
{
    static const char *const spans[] = {[SPAN_HOUR] = "hour", [SPAN_DAY] = "day", [SPAN_MONTH] = "month"};
    const char *span = get(reading, "span");

    reading->map->span = SPAN_NONE;
    for (int i = SPAN_HOUR; span && i <= SPAN_MONTH; i++)
        if (!strcmp(span, spans[i]))
            reading->map->span = (enum csv_span)i;
    return !span || reading->map->span != SPAN_NONE
        || wrong(reading, "span", "span is none of hour, day and month", "It says how long a row is that has no end.");
}

static bool
read_times(const struct reading *reading)
{
    const struct source_run *run = reading->run;
    const char *zone = get(reading, "time-zone");
    struct time_zone *loaded;

    reading->map->time_format = get(reading, "time-format");
    if (!zone || !strcasecmp(zone, "UTC"))
        return true;
    if (!time_zone_load(run->db, run->arena, zone, &loaded, reading->err))
        return error_context(reading->err, "%s", section_origin(run->settings, run->section, "time-zone"));
    reading->map->zone = loaded;
    return true;
}

/* ---------------------------------------------------------------- what must be there */

static bool
check(const struct reading *reading)
{
    const struct csv_map *map = reading->map;
    struct field gpus = map->constant[CSV_GPUS];

    if (!map->column[CSV_FROM] && !map->column[CSV_PERIOD])
        return wrong(reading, "format", "nothing says when a row was used",
                     "Set column.from to the column with the start, or column.period to the one with the month.");
    if (!map->column[CSV_COST] && !map->rates)
        return wrong(reading, "format", "nothing says what a row cost",
                     "Set column.cost to the column with the amount, or rate-card to a file of prices.");
    if (!map->column[CSV_PROVIDER] && !map->constant[CSV_PROVIDER].size)
        return wrong(reading, "format", "nothing says whose bill it is", "Set provider, such as provider = runpod.");
    if (!map->column[CSV_CURRENCY] && !map->constant[CSV_CURRENCY].size && !map->rates)
        return wrong(reading, "format", "nothing says in which currency the amounts are", "Set currency, such as currency = USD.");
    if (map->column[CSV_FROM] && !map->column[CSV_TO] && !map->column[CSV_DURATION] && !map->span)
        return wrong(reading, "format", "nothing says how long a row is",
                     "Set column.to, column.duration, or span = hour, day or month.");
    if (map->column[CSV_QUANTITY] && !map->column[CSV_UNIT] && !map->unit_seconds)
        return wrong(reading, "column.quantity", "nothing says in which unit the quantity is",
                     "Set unit to hours, gpu-hours, minutes, seconds or days, or column.unit to the column that says it.");
    if (map->column[CSV_DURATION] && !map->duration_seconds)
        return wrong(reading, "column.duration", "nothing says in which unit the duration is", "Set duration-unit.");
    if (gpus.size && (!decimal_fits(gpus.text, gpus.size) || decimal_sign(gpus.text, gpus.size) < 1))
        return wrong(reading, "gpus", "gpus is no number above 0", "It says how many GPUs a row's machine has.");
    return true;
}

bool
csv_map_read(struct source_run *run, struct csv_map *ret_map, struct error *err)
{
    struct reading reading = {run, ret_map, err};

    *ret_map = (struct csv_map){0};
    return read_columns(&reading) && read_units(&reading) && read_marks(&reading) && read_span(&reading)
        && rate_card_load(run->settings, run->section, run->arena, &ret_map->rates, ret_map->rates_sha256, err)
        && check(&reading) && read_times(&reading);
}
