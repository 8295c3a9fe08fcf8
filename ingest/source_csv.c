/*
 * Any table of charges as CSV, by a map in its section (csv_map.h): the bills of GPU clouds that
 * have a form of their own, and invoices written down by hand.
 *
 * A row is GPU use when it names a GPU, a number of GPUs or a machine that has some, and its
 * quantity is time. All else is only totalled. Without a cost of its own a row is priced by the rate
 * card; GPU use that no rate fits keeps its hours, with an unknown cost.
 */
#include <config.h>

#include <string.h>

#include "common/decimal.h"
#include "common/sha256.h"
#include "ingest/csv_map.h"
#include "ingest/gpu_name.h"
#include "ingest/ingest.h"

/* The cell, or what the map says of every row. */
static struct field
cell_of(const struct csv_map *map, const struct field *cell, enum csv_column column)
{
    return cell[column].size ? cell[column] : map->constant[column];
}

/* ---------------------------------------------------------------- what a row is */

static bool
any_of(struct field text, const char *const *words)
{
    for (; *words; words++)
        if (bill_contains(text, *words))
            return true;
    return false;
}

/* A word of FOCUS for what the bill calls a kind of charge. */
static const char *
category(struct field text)
{
    static const char *const taxes[] = {"tax", "vat", "mwst", NULL};
    static const char *const credits[] = {"credit", "refund", "discount", "promo", "voucher", NULL};
    static const char *const purchases[] = {"purchase", "commit", "prepay", "prepaid", "upfront", "subscription", NULL};
    static const char *const adjustments[] = {"adjust", "correct", "round", NULL};

    if (!text.size || bill_is(text, "usage"))
        return "Usage";
    return any_of(text, taxes)         ? "Tax"
           : any_of(text, credits)     ? "Credit"
           : any_of(text, purchases)   ? "Purchase"
           : any_of(text, adjustments) ? "Adjustment"
                                       : "Usage";
}

static const char *
pricing(struct field text)
{
    static const char *const spot[] = {"spot", "preempt", "interrupt", "dynamic", "bid", NULL};
    static const char *const committed[] = {"reserv", "commit", "contract", "saving", NULL};
    static const char *const on_demand[] = {"demand", "standard", "pay as you go", "payg", NULL};

    if (any_of(text, spot))
        return "spot";
    if (any_of(text, committed))
        return "committed";
    return !text.size || any_of(text, on_demand) ? "on-demand" : "other";
}

/* Words in a column of GPU types for rows that have none. */
static bool
is_no_gpu(struct field text)
{
    static const char *const words[] = {"none", "n/a", "na", "-", "cpu", "null", "0", "no gpu"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bill_is(text, words[i]))
            return true;
    return !text.size;
}

/* Sets model, count and instance type. */
static const char *
find_gpu(struct bill_context *context, const struct field *cell, struct bill_class *class, bool *ret_is_gpu)
{
    const struct csv_map *map = context->state;
    struct field type = cell_of(map, cell, CSV_GPU_TYPE), instance = cell_of(map, cell, CSV_INSTANCE_TYPE);
    struct field gpus = cell_of(map, cell, CSV_GPUS), number = {"", 0};
    struct gpu_name name = {NULL, 0};
    bool has_type = !is_no_gpu(type);
    bool is_named = (has_type && gpu_name_find(type, &name)) || gpu_name_find(instance, &name);
    bool is_known = gpu_type_known(context->types, class->provider, instance)
        || gpu_type_known(context->types, class->provider, type) || gpu_type_family(class->provider, instance);

    if (gpus.size && !csv_number(map, context->arena, gpus, &number))
        return "the number of GPUs is no number";
    *ret_is_gpu = has_type || is_named || is_known;
    if (cell[CSV_GPUS].size)
        *ret_is_gpu = decimal_sign(number.text, number.size) > 0;
    else if (number.size && !map->column[CSV_GPU_TYPE] && !map->column[CSV_INSTANCE_TYPE])
        *ret_is_gpu = true; /* of every row, by the map */
    class->instance_type = class->gpu_count = class->gpu_model = "";
    if (!*ret_is_gpu)
        return NULL;
    class->instance_type = bill_text(context->arena, instance.size ? instance : has_type ? type : (struct field){"", 0});
    class->gpu_model = name.model ? name.model : "";
    if (number.size)
        class->gpu_count = bill_text(context->arena, number);
    else if (name.count)
        class->gpu_count = arena_printf(context->arena, "%d", name.count);
    return NULL;
}

/* The unit of the quantity, and what is one where there is none. */
static void
find_unit(const struct bill_context *context, const struct field *cell, struct bill_class *class, struct csv_class *own)
{
    const struct csv_map *map = context->state;
    struct field type = {class->instance_type, strlen(class->instance_type)};
    bool gpu_time = false;

    if (map->column[CSV_QUANTITY]) {
        own->is_milli = map->unit_is_milli && !cell[CSV_UNIT].size;
        class->unit_seconds = cell[CSV_UNIT].size ? bill_unit_seconds(cell[CSV_UNIT], &gpu_time) : map->unit_seconds;
        class->counts_gpus = cell[CSV_UNIT].size ? gpu_time : map->unit_is_gpu_time;
    } else if (map->column[CSV_DURATION]) {
        own->by_duration = true;
        own->is_milli = map->duration_is_milli;
        class->unit_seconds = map->duration_seconds;
    } else if (map->column[CSV_FROM] && map->column[CSV_TO]) {
        own->by_times = true;
        class->unit_seconds = 1;
    }
    if (class->counts_gpus && !*class->gpu_count && !gpu_type_known(context->types, class->provider, type))
        class->gpu_count = "1";
}

static enum bill_role
role(const struct csv_map *map, const struct bill_class *class, const struct field *cell, bool is_gpu)
{
    bool is_time = class->unit_seconds || !map->column[CSV_QUANTITY];

    if (!strcmp(class->charge_category, "Purchase"))
        return cell[CSV_COMMITMENT].size ? BILL_COMMITMENT_PURCHASE : BILL_OTHER;
    if (!is_gpu)
        return BILL_OTHER;
    if (!strcmp(class->charge_category, "Adjustment"))
        return BILL_CORRECTION;
    return !strcmp(class->charge_category, "Usage") && is_time ? BILL_GPU_USE : BILL_OTHER;
}

static void
find_rates(struct bill_context *context, const struct field *cell, struct bill_class *class, struct csv_class *own)
{
    const struct csv_map *map = context->state;
    struct rate_ask ask = {
        .provider = class->provider,
        .region = cell_of(map, cell, CSV_REGION),
        .currency = cell_of(map, cell, CSV_CURRENCY),
        .names = {cell_of(map, cell, CSV_SKU), cell_of(map, cell, CSV_INSTANCE_TYPE), cell_of(map, cell, CSV_GPU_TYPE),
                  {class->gpu_model, strlen(class->gpu_model)}, cell_of(map, cell, CSV_SERVICE)},
        .unit = cell[CSV_UNIT],
        .unit_seconds = class->unit_seconds,
        .counts_gpus = class->counts_gpus,
        .gpus = {class->gpu_count, strlen(class->gpu_count)},
    };

    if (map->rates)
        own->rates = rate_choose(map->rates, context->arena, &ask);
    if (!ask.currency.size && own->rates)
        class->currency = rate_currency(own->rates);
}

static const char *
classify(struct bill_context *context, const struct field *cell, struct field hint, struct bill_class *ret)
{
    const struct csv_map *map = context->state;
    struct arena *arena = context->arena;
    struct csv_class *own = arena_alloc(arena, sizeof *own);
    struct bill_class class = {.own = own, .commitment_status = "", .charge_class = ""};
    struct field provider = cell_of(map, cell, CSV_PROVIDER);
    const char *reason;
    bool is_gpu = false;

    (void)hint;
    if (!provider.size)
        return "provider is empty";
    class.provider = provider_key(arena, provider.text, provider.size);
    class.service = bill_text(arena, cell_of(map, cell, CSV_SERVICE));
    class.charge_category = category(cell[CSV_CATEGORY]);
    class.commitment_id = bill_text(arena, cell[CSV_COMMITMENT]);
    class.currency = bill_text(arena, cell_of(map, cell, CSV_CURRENCY));
    class.pricing = pricing(cell_of(map, cell, CSV_PRICING));
    reason = find_gpu(context, cell, &class, &is_gpu);
    if (reason)
        return reason;
    find_unit(context, cell, &class, own);
    class.role = role(map, &class, cell, is_gpu);
    find_rates(context, cell, &class, own);
    if (!*class.currency)
        return map->rates ? "no currency: neither the row nor a rate for it says one" : "currency is empty";
    if (class.role == BILL_OTHER && !map->column[CSV_COST] && !own->rates)
        class.charge_class = "Unpriced";
    *ret = class;
    return NULL;
}

/* ---------------------------------------------------------------- whose */

static const char *
tags_of(struct bill_context *context, const struct field *cell)
{
    const struct csv_map *map = context->state;
    struct bill_gathered tags[CSV_TAGS_MOST];
    struct bill_context gathered = {.arena = context->arena, .gathered = tags, .gathered_count = map->tag_count};

    for (size_t i = 0; i < map->tag_count; i++)
        tags[i] = (struct bill_gathered){map->tag[i], cell[CSV_COLUMNS + i]};
    return bill_json_gathered(&gathered, bill_json_object(context->arena, cell[CSV_TAGS]));
}

static void
describe(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_item *ret)
{
    const struct csv_map *map = context->state;
    struct arena *arena = context->arena;
    struct field resource = cell[CSV_RESOURCE];

    *ret = (struct bill_item){
        .account_id = bill_text(arena, cell_of(map, cell, CSV_ACCOUNT)),
        .account_name = bill_text(arena, cell[CSV_ACCOUNT_NAME]),
        .resource_id = bill_text(arena, resource),
        .resource_name = bill_text(arena, cell[CSV_RESOURCE_NAME]),
        .region = bill_text(arena, cell_of(map, cell, CSV_REGION)),
        .zone = bill_text(arena, cell[CSV_ZONE]),
        .sku = bill_text(arena, cell_of(map, cell, CSV_SKU)),
        .description = bill_text(arena, cell[CSV_DESCRIPTION]),
        .invoice_id = bill_text(arena, cell[CSV_INVOICE]),
        .tags = tags_of(context, cell),
    };
    ret->resource_key = resource.size ? resource_key(arena, class->provider, ret->resource_id, strlen(ret->resource_id))
                                      : arena_printf(arena, "unnamed/%s/%s/%s/%s", ret->account_id, ret->region,
                                                     class->instance_type, ret->sku);
}

/* ---------------------------------------------------------------- the source */

static enum bill_part
part_of(int column)
{
    return column < CSV_PROVIDER ? BILL_VALUE : column < CSV_ZONE ? BILL_CLASS : BILL_ITEM;
}

static const struct bill_column *
columns_of(const struct csv_map *map, struct arena *arena)
{
    struct bill_column *columns = arena_alloc(arena, BILL_COLUMNS * sizeof *columns);

    for (int i = 0; i < CSV_COLUMNS; i++)
        columns[i] = (struct bill_column){{map->column[i]}, part_of(i), map->column[i] != NULL};
    for (size_t i = 0; i < map->tag_count; i++)
        columns[CSV_COLUMNS + i] = (struct bill_column){{map->tag_column[i]}, BILL_ITEM, true};
    return columns;
}

static bool
is_of_the_map(const char *key)
{
    const char *const *known = csv_map_keys + 1; /* path comes first, and says nothing of what rows mean */

    while (*known && strcmp(*known, key))
        known++;
    return *known || !strncmp(key, "column.", 7);
}

/* What the section says of the meaning of rows, and the rate card's bytes. */
static const char *
fingerprint(const struct source_run *run, const struct csv_map *map)
{
    char *hash = arena_alloc(run->arena, 65);
    struct sha256 sha;

    sha256_begin(&sha);
    for (const struct setting *setting = run->section->settings; setting; setting = setting->next)
        if (is_of_the_map(setting->key)) {
            sha256_add(&sha, setting->key, strlen(setting->key) + 1);
            sha256_add(&sha, setting->value, strlen(setting->value) + 1);
        }
    sha256_add(&sha, map->rates_sha256, strlen(map->rates_sha256));
    sha256_hex(&sha, hash);
    return hash;
}

static const char *const suffixes[] = {".csv", ".csv.gz", ".tsv", ".txt", NULL};

static const struct bill_format csv = {
    .suffixes = suffixes,
    .name = "CSV",
    .version_hint = "The map of the section names columns as the header of the file writes them.",
    .period_start = csv_period_start,
    .classify = classify,
    .describe = describe,
    .charge = csv_charge,
};

static bool
ingest(struct source_run *run, struct error *err)
{
    struct csv_map *map = arena_alloc(run->arena, sizeof *map);
    struct bill_format format = csv;

    if (!csv_map_read(run, map, err))
        return false;
    format.columns = columns_of(map, run->arena);
    format.count = CSV_COLUMNS + map->tag_count;
    format.period = map->column[CSV_PERIOD] ? CSV_PERIOD : CSV_FROM;
    format.invoice = map->column[CSV_INVOICE] ? CSV_INVOICE : 0;
    format.state = map;
    format.delimiter = map->delimiter;
    format.fingerprint = fingerprint(run, map);
    return bill_ingest(run, &format, err);
}

const struct source source_csv = {
    .format = "csv",
    .title = "any table of charges, by a map (CSV)",
    .kind = SOURCE_BILLING,
    .keys = csv_map_keys,
    .bill = &csv,
    .ingest = ingest,
};
