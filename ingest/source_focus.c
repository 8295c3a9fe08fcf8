/*
 * FOCUS 1.0, 1.1 and 1.2, by the names of the columns; unknown columns are passed over.
 *
 * Hours are carried by compute usage alone: category Usage, a service that computes, a unit of
 * time, and a GPU type or a GPU's own SKU. Where a provider bills a machine in parts (Google), the
 * accelerator's row counts GPUs and the core and memory rows are money of the same machine.
 * Disks, addresses, licences and other things that merely name a GPU type are not GPU rows.
 */
#include <config.h>

#include <string.h>

#include "common/decimal.h"
#include "ingest/billing.h"
#include "ingest/ingest.h"

enum { CHARGE_MOST_SECONDS = 3653 * DAY_SECONDS }; /* beyond any term; an hour of it is a row in analysis */

enum column {
    PERIOD, FROM, TO, QUANTITY, PRICED, BILLED, EFFECTIVE, LIST,
    PROVIDER, ISSUER, PUBLISHER, CURRENCY, CATEGORY, CLASS, SERVICE, SERVICE_CATEGORY, UNIT, PRICE_UNIT,
    PRICING, COMMITMENT, STATUS, CAPACITY, CAPACITY_STATUS, RESOURCE_TYPE, METER, DETAILS, DESCRIPTION,
    USAGE_TYPE, SERVICE_CODE, SKU_DETAILS, SERVICE_TYPE, METER_CATEGORY,
    BILLING_ACCOUNT, BILLING_ACCOUNT_NAME, ACCOUNT, ACCOUNT_NAME, RESOURCE, RESOURCE_NAME, REGION, REGION_NAME,
    ZONE, SKU, FREQUENCY, COMMITMENT_NAME, COMMITMENT_TYPE, COMMITMENT_CATEGORY, INVOICE, TAGS,
    COLUMN_COUNT
};

static const struct bill_column columns[COLUMN_COUNT] = {
    [PERIOD] = {{"BillingPeriodStart"}, BILL_VALUE, true},
    [FROM] = {{"ChargePeriodStart"}, BILL_VALUE, true},
    [TO] = {{"ChargePeriodEnd"}, BILL_VALUE, true},
    [QUANTITY] = {{"ConsumedQuantity", "UsageQuantity"}, BILL_VALUE, false},
    [PRICED] = {{"PricingQuantity"}, BILL_VALUE, false},
    [BILLED] = {{"BilledCost"}, BILL_VALUE, true},
    [EFFECTIVE] = {{"EffectiveCost"}, BILL_VALUE, true},
    [LIST] = {{"ListCost"}, BILL_VALUE, false},
    [PROVIDER] = {{"ProviderName", "ServiceProviderName", "HostProviderName", "Provider"}, BILL_CLASS, true},
    [ISSUER] = {{"InvoiceIssuerName", "InvoiceIssuer"}, BILL_CLASS, false},
    [PUBLISHER] = {{"PublisherName", "Publisher"}, BILL_CLASS, false},
    [CURRENCY] = {{"BillingCurrency"}, BILL_CLASS, true},
    [CATEGORY] = {{"ChargeCategory"}, BILL_CLASS, true},
    [CLASS] = {{"ChargeClass"}, BILL_CLASS, false},
    [SERVICE] = {{"ServiceName"}, BILL_CLASS, true},
    [SERVICE_CATEGORY] = {{"ServiceCategory"}, BILL_CLASS, false},
    [UNIT] = {{"ConsumedUnit", "UsageUnit"}, BILL_CLASS, false},
    [PRICE_UNIT] = {{"PricingUnit"}, BILL_CLASS, false},
    [PRICING] = {{"PricingCategory"}, BILL_CLASS, false},
    [COMMITMENT] = {{"CommitmentDiscountId"}, BILL_CLASS, false},
    [STATUS] = {{"CommitmentDiscountStatus"}, BILL_CLASS, false},
    [CAPACITY] = {{"CapacityReservationId"}, BILL_CLASS, false},
    [CAPACITY_STATUS] = {{"CapacityReservationStatus"}, BILL_CLASS, false},
    [RESOURCE_TYPE] = {{"ResourceType"}, BILL_CLASS, false},
    [METER] = {{"SkuMeter", "x_SkuMeterName"}, BILL_CLASS, false},
    [DETAILS] = {{"SkuPriceDetails"}, BILL_CLASS, false},
    [DESCRIPTION] = {{"ChargeDescription"}, BILL_CLASS, false},
    [USAGE_TYPE] = {{"x_UsageType"}, BILL_CLASS, false},
    [SERVICE_CODE] = {{"x_ServiceCode"}, BILL_CLASS, false},
    [SKU_DETAILS] = {{"x_SkuDetails"}, BILL_CLASS, false},
    [SERVICE_TYPE] = {{"x_ServiceType"}, BILL_CLASS, false},
    [METER_CATEGORY] = {{"x_SkuMeterCategory"}, BILL_CLASS, false},
    [BILLING_ACCOUNT] = {{"BillingAccountId"}, BILL_ITEM, false},
    [BILLING_ACCOUNT_NAME] = {{"BillingAccountName"}, BILL_ITEM, false},
    [ACCOUNT] = {{"SubAccountId"}, BILL_ITEM, false},
    [ACCOUNT_NAME] = {{"SubAccountName"}, BILL_ITEM, false},
    [RESOURCE] = {{"ResourceId"}, BILL_ITEM, false},
    [RESOURCE_NAME] = {{"ResourceName"}, BILL_ITEM, false},
    [REGION] = {{"RegionId", "Region"}, BILL_ITEM, false},
    [REGION_NAME] = {{"RegionName"}, BILL_ITEM, false},
    [ZONE] = {{"AvailabilityZone"}, BILL_ITEM, false},
    [SKU] = {{"SkuId"}, BILL_ITEM, false},
    [FREQUENCY] = {{"ChargeFrequency"}, BILL_ITEM, false},
    [COMMITMENT_NAME] = {{"CommitmentDiscountName"}, BILL_ITEM, false},
    [COMMITMENT_TYPE] = {{"CommitmentDiscountType"}, BILL_ITEM, false},
    [COMMITMENT_CATEGORY] = {{"CommitmentDiscountCategory"}, BILL_ITEM, false},
    [INVOICE] = {{"InvoiceId"}, BILL_ITEM, false},
    [TAGS] = {{"Tags"}, BILL_ITEM, false},
};

/* ---------------------------------------------------------------- what is billed */

struct evidence {
    const struct gpu_types *types;
    const struct field *cell;
    const char *provider;
    struct field hint;       /* machine type among the tags */
    struct field type;       /* GPU instance type; empty: none found */
    struct field gpu_count;  /* as the bill says */
};

static bool
is_gpu_type(const struct evidence *e, struct field type)
{
    return gpu_type_known(e->types, e->provider, type) || (type.size && gpu_type_family(e->provider, type));
}

static struct field
without_prefix(struct field text, const char *prefix)
{
    size_t size = strlen(prefix);

    if (text.size > size && !strncmp(text.text, prefix, size))
        return (struct field){text.text + size, text.size - size};
    return text;
}

/* "USE1-BoxUsage:p5.48xlarge" -> the part behind the colon, where the part before it is one of an
 * instance that runs or stands reserved and idle. */
static struct field
usage_instance(struct field usage)
{
    static const char *const running[] = {"boxusage", "spotusage", "dedicatedusage", "unusedbox", "unusedded"};
    const char *colon = usage.size ? memchr(usage.text, ':', usage.size) : NULL;
    struct field kind = {usage.text, colon ? (size_t)(colon - usage.text) : usage.size};
    struct field rest = {colon ? colon + 1 : "", colon ? usage.size - kind.size - 1 : 0};

    for (size_t i = 0; i < sizeof running / sizeof *running; i++)
        if (bill_contains(kind, running[i]))
            return rest;
    if (!strncmp(rest.text, "ml.", rest.size < 3 ? rest.size : 3) && rest.size > 3)
        return without_prefix(rest, "ml."); /* SageMaker names its machines so */
    return (struct field){"", 0};
}

/* "NC24ads A100 v4 Spot" -> Standard_NC24ads_A100_v4. */
static struct field
azure_meter(struct arena *arena, struct field meter)
{
    static const char *const tails[] = {" spot", " low priority"};
    char *type;

    for (int i = 0; i < 2; i++) {
        size_t size = strlen(tails[i]);

        if (meter.size > size && bill_is((struct field){meter.text + meter.size - size, size}, tails[i]))
            meter.size -= size;
    }
    type = arena_printf(arena, "Standard_%.*s", (int)(meter.size < 100 ? meter.size : 0), meter.text);
    for (char *at = type; *at; at++)
        if (*at == ' ')
            *at = '_';
    return (struct field){type, strlen(type)};
}

/* The first column that names a GPU type, most reliable first. */
static void
find_type(struct arena *arena, struct evidence *e)
{
    const struct field *cell = e->cell;
    enum { EXACT_GUESSED = 6 };
    struct field exact[] = {
        without_prefix(bill_json_member(cell[DETAILS], "InstanceType"), "ml."),
        bill_json_member(cell[SKU_DETAILS], "ServiceType"),
        cell[SERVICE_TYPE],
        usage_instance(cell[USAGE_TYPE]),
        e->hint,
        cell[RESOURCE_TYPE],
        strcmp(e->provider, "azure") ? (struct field){"", 0} : azure_meter(arena, cell[METER]),
    };

    for (size_t i = 0; i < sizeof exact / sizeof *exact && !e->type.size; i++)
        if (is_gpu_type(e, exact[i]))
            e->type = exact[i];
    if (!e->type.size)
        e->type = gpu_type_in(e->types, e->provider, cell[METER]);
    if (!e->type.size)
        e->type = gpu_type_in(e->types, e->provider, cell[DESCRIPTION]);
    e->gpu_count = bill_json_member(cell[DETAILS], "GpuCount");
    if (decimal_sign(e->gpu_count.text, e->gpu_count.size) <= 0)
        e->gpu_count = (struct field){"", 0};
    for (size_t i = 0; i < sizeof exact / sizeof *exact && e->gpu_count.size && !e->type.size; i++)
        if (i != EXACT_GUESSED)
            e->type = exact[i]; /* a type nobody knows yet, with GPUs by the bill's own word */
}

/* ---------------------------------------------------------------- which part of it */

enum share { SHARE_NONE, SHARE_MACHINE, SHARE_ACCELERATOR, SHARE_REST };

static bool
any_of(struct field text, const char *const *words)
{
    for (; *words; words++)
        if (bill_contains(text, *words))
            return true;
    return false;
}

/* Google's SKU texts. */
static enum share
google_share(const struct evidence *e)
{
    static const char *const not_running[] = {"sole tenancy", "reserved", "premium", "suspended", "commitment", NULL};
    static const char *const parts[] = {"instance core", "instance ram", "core running", "ram running", NULL};
    static const char *const families[] = {"a2 instance", "a3 instance", "a4 instance", "a4x instance", "g2 instance",
                                           "g4 instance", "a3plus instance", "a3ultra instance", NULL};
    struct field text = e->cell[METER].size ? e->cell[METER] : e->cell[DESCRIPTION];

    if (any_of(text, not_running))
        return SHARE_NONE;
    if (bill_contains(text, "gpu"))
        return SHARE_ACCELERATOR;
    if (any_of(text, parts))
        return e->type.size || any_of(text, families) ? SHARE_REST : SHARE_NONE;
    return gpu_type_in(e->types, e->provider, text).size ? SHARE_MACHINE : SHARE_NONE;
}

static enum share
aws_share(const struct evidence *e)
{
    static const char *const hours[] = {"instance hour", "instance-hour", "instance usage", NULL};
    static const char *const machines[] = {"elastic compute cloud", "amazonec2", "sagemaker", NULL};

    if (!any_of(e->cell[SERVICE], machines) && !any_of(e->cell[SERVICE_CODE], machines))
        return SHARE_NONE;
    if (e->cell[USAGE_TYPE].size)
        return usage_instance(e->cell[USAGE_TYPE]).size ? SHARE_MACHINE : SHARE_NONE;
    if (any_of(e->cell[DESCRIPTION], hours) || bill_json_member(e->cell[DETAILS], "InstanceType").size)
        return SHARE_MACHINE;
    return SHARE_NONE;
}

static bool
is_compute(const struct field *cell)
{
    static const char *const licences[] = {"licen", "software", NULL};

    for (int i = 0; i < 4; i++)
        if (any_of(cell[(const int[]){SERVICE, METER_CATEGORY, METER, DESCRIPTION}[i]], licences))
            return false;
    return !cell[SERVICE_CATEGORY].size || bill_is(cell[SERVICE_CATEGORY], "Compute")
        || bill_is(cell[SERVICE_CATEGORY], "AI and Machine Learning");
}

static enum share
share(const struct evidence *e)
{
    if (!is_compute(e->cell))
        return SHARE_NONE;
    if (!strcmp(e->provider, "gcp"))
        return google_share(e);
    if (!e->type.size)
        return SHARE_NONE;
    return strcmp(e->provider, "aws") ? SHARE_MACHINE : aws_share(e);
}

/* ---------------------------------------------------------------- classify */

static enum bill_role
gpu_role(const struct field *cell, enum share part)
{
    if (part == SHARE_NONE)
        return BILL_OTHER;
    if (bill_is(cell[CLASS], "Correction"))
        return BILL_CORRECTION;
    if (!bill_is(cell[CATEGORY], "Usage"))
        return BILL_OTHER;
    if (bill_is(cell[CAPACITY_STATUS], "Unused") || bill_contains(cell[USAGE_TYPE], "unusedbox")
        || bill_contains(cell[USAGE_TYPE], "unusedded"))
        return BILL_COMMITMENT_UNUSED;
    return part == SHARE_REST ? BILL_GPU_MONEY : BILL_GPU_USE;
}

static enum bill_role
role(const struct field *cell, enum share part)
{
    bool is_block = bill_contains(cell[USAGE_TYPE], "capacityblockfee:");

    if (bill_is(cell[CATEGORY], "Purchase"))
        return cell[COMMITMENT].size || is_block ? BILL_COMMITMENT_PURCHASE : BILL_OTHER;
    if (bill_is(cell[CATEGORY], "Usage") && bill_is(cell[STATUS], "Unused"))
        return BILL_COMMITMENT_UNUSED;
    return gpu_role(cell, part);
}

static const char *
pricing(const struct field *cell)
{
    if (bill_is(cell[PRICING], "Dynamic") || bill_contains(cell[USAGE_TYPE], "spotusage"))
        return "spot";
    if (cell[COMMITMENT].size || bill_is(cell[PRICING], "Committed"))
        return "committed";
    return !cell[PRICING].size || bill_is(cell[PRICING], "Standard") ? "on-demand" : "other";
}

/* A machine by the month, or without a unit, is money; gigabytes and requests are other things. */
static enum bill_role
without_time(struct field unit)
{
    bool is_money = !unit.size || (bill_contains(unit, "month") && !bill_contains(unit, "b"));

    return is_money ? BILL_GPU_MONEY : BILL_OTHER;
}

static void
set_units(const struct field *cell, enum share part, struct bill_class *class)
{
    bool gpu_time = false, priced_gpu_time = false;

    class->counts_gpus = part == SHARE_ACCELERATOR;
    if (part != SHARE_MACHINE && part != SHARE_ACCELERATOR)
        return;
    class->unit_seconds = bill_unit_seconds(cell[UNIT], &gpu_time);
    class->pricing_unit_seconds = bill_unit_seconds(cell[PRICE_UNIT], &priced_gpu_time);
    if (class->unit_seconds && gpu_time != priced_gpu_time)
        class->pricing_unit_seconds = 0; /* one of them would be counted wrong */
    class->counts_gpus |= class->unit_seconds ? gpu_time : priced_gpu_time;
    if (class->role == BILL_GPU_USE && !class->unit_seconds && !class->pricing_unit_seconds)
        class->role = without_time(cell[UNIT].size ? cell[UNIT] : cell[PRICE_UNIT]);
}

static struct field
provider_cell(const struct field *cell)
{
    return cell[PROVIDER].size ? cell[PROVIDER] : cell[ISSUER].size ? cell[ISSUER] : cell[PUBLISHER];
}

static const char *
classify(struct bill_context *context, const struct field *cell, struct field hint, struct bill_class *ret)
{
    struct arena *arena = context->arena;
    struct field provider = provider_cell(cell);
    struct evidence e = {.types = context->types, .cell = cell, .hint = hint};
    struct bill_class class = {0};
    enum share part;
    bool capacity; /* an unused capacity reservation */

    if (!provider.size || !cell[CATEGORY].size || !cell[CURRENCY].size)
        return !provider.size ? "ProviderName is empty"
                              : !cell[CATEGORY].size ? "ChargeCategory is empty" : "BillingCurrency is empty";
    e.provider = class.provider = provider_key(arena, provider.text, provider.size);
    find_type(arena, &e);
    part = share(&e);
    class.role = role(cell, part);
    class.service = bill_text(arena, cell[SERVICE].size ? cell[SERVICE] : cell[SERVICE_CATEGORY]);
    class.charge_category = bill_text(arena, cell[CATEGORY]);
    class.charge_class = bill_text(arena, cell[CLASS]);
    capacity = class.role == BILL_COMMITMENT_UNUSED && !cell[COMMITMENT].size;
    class.commitment_id = bill_text(arena, cell[capacity ? CAPACITY : COMMITMENT]);
    class.commitment_status = bill_text(arena, cell[capacity ? CAPACITY_STATUS : STATUS]);
    class.currency = bill_text(arena, cell[CURRENCY]);
    class.pricing = pricing(cell);
    class.instance_type = bill_text(arena, e.type);
    class.gpu_count = bill_text(arena, e.gpu_count);
    if (class.role != BILL_OTHER)
        set_units(cell, part, &class);
    *ret = class;
    return NULL;
}

/* Google's machine type stands among the tags; in a raw cell, where quotes are doubled. */
static struct field
hint(const struct field *raw)
{
    static const char key[] = "machine_spec\"\"";
    struct field provider = raw[PROVIDER], tags = raw[TAGS], found = {"", 0};
    size_t quote = provider.size && provider.text[0] == '"';
    const char *at, *end = tags.text + tags.size;

    if (provider.size <= quote || (provider.text[quote] | 0x20) != 'g')
        return found;
    at = memmem(tags.text, tags.size, key, sizeof key - 1);
    if (!at)
        return found;
    at += sizeof key - 1;
    while (at < end && (*at == ':' || *at == ' ' || *at == '"'))
        at++;
    found.text = at;
    while (at + found.size < end && at[found.size] != '"')
        found.size++;
    return found;
}

/* ---------------------------------------------------------------- describe, charge */

static struct field
first(struct field a, struct field b)
{
    return a.size ? a : b;
}

/* Where a bill names no resource: what can be told apart is one. */
static const char *
made_up_key(struct arena *arena, const struct bill_class *class, const struct bill_item *item)
{
    return arena_printf(arena, "unnamed/%s/%s/%s/%s", item->account_id, item->region,
                        class->instance_type, item->sku);
}

static void
describe(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_item *ret)
{
    struct arena *arena = context->arena;
    struct field resource = cell[RESOURCE];

    *ret = (struct bill_item){
        .account_id = bill_text(arena, first(cell[ACCOUNT], cell[BILLING_ACCOUNT])),
        .account_name = bill_text(arena, first(cell[ACCOUNT_NAME], cell[BILLING_ACCOUNT_NAME])),
        .resource_id = bill_text(arena, resource),
        .resource_name = bill_text(arena, cell[RESOURCE_NAME]),
        .region = bill_text(arena, first(cell[REGION], cell[REGION_NAME])),
        .zone = bill_text(arena, cell[ZONE]),
        .sku = bill_text(arena, cell[SKU]),
        .description = bill_text(arena, cell[DESCRIPTION]),
        .charge_frequency = bill_text(arena, cell[FREQUENCY]),
        .commitment_name = bill_text(arena, cell[COMMITMENT_NAME]),
        .commitment_type = bill_text(arena, cell[COMMITMENT_TYPE]),
        .commitment_category = bill_text(arena, cell[COMMITMENT_CATEGORY]),
        .invoice_id = bill_text(arena, cell[INVOICE]),
        .tags = bill_json_object(arena, cell[TAGS]),
    };
    ret->resource_key = resource.size ? resource_key(arena, class->provider, ret->resource_id, strlen(ret->resource_id))
                                      : made_up_key(arena, class, ret);
}

static const char *
period_start(struct bill_context *context, const struct field *cell, int64_t *ret_time)
{
    return bill_time(&context->clock, cell[PERIOD], ret_time) ? NULL : "BillingPeriodStart is no time";
}

/* Hours of use come from the consumed quantity, else from the priced one. */
static const char *
set_quantity(const struct bill_class *class, const struct field *cell, struct bill_charge *charge)
{
    bool is_priced = !cell[QUANTITY].size || !class->unit_seconds;
    struct field quantity = is_priced && class->pricing_unit_seconds ? cell[PRICED] : cell[QUANTITY];

    charge->unit_seconds = is_priced && class->pricing_unit_seconds ? class->pricing_unit_seconds : class->unit_seconds;
    charge->quantity = quantity;
    if (quantity.size && !decimal_valid(quantity.text, quantity.size))
        return "quantity is no number";
    if (class->role != BILL_GPU_USE)
        return NULL;
    if (!quantity.size)
        charge->role = BILL_GPU_MONEY;
    else if (decimal_sign(quantity.text, quantity.size) < 0)
        charge->role = BILL_CORRECTION;
    return NULL;
}

static const char *
charge(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_charge *ret)
{
    struct bill_charge c = {.role = class->role, .billed = cell[BILLED], .list = cell[LIST]};

    c.effective = first(cell[EFFECTIVE], cell[BILLED]);
    if (!bill_time(&context->clock, cell[FROM], &c.from))
        return "ChargePeriodStart is no time";
    if (!bill_time(&context->clock, cell[TO], &c.to))
        return "ChargePeriodEnd is no time";
    if (c.to < c.from)
        return "ChargePeriodEnd is before ChargePeriodStart";
    if (c.to - c.from > CHARGE_MOST_SECONDS)
        return "the charge period is longer than ten years";
    if (!decimal_fits(c.billed.text, c.billed.size))
        return c.billed.size ? "BilledCost is no number" : "BilledCost is empty";
    if (!decimal_fits(c.effective.text, c.effective.size))
        return "EffectiveCost is no number";
    if (c.list.size && !decimal_fits(c.list.text, c.list.size))
        return "ListCost is no number";
    c.is_use = !strcasecmp(class->charge_category, "Usage") && c.to - c.from <= DAY_SECONDS;
    *ret = c;
    return class->role == BILL_OTHER ? NULL : set_quantity(class, cell, ret);
}

static const char *const suffixes[] = {".csv", ".csv.gz", NULL};

static const struct bill_format focus = {
    .suffixes = suffixes,
    .name = "FOCUS",
    .version_hint = "FOCUS 1.0, 1.1 and 1.2 are read; drafts before 1.0 have other columns. Export the file in one of these "
                    "versions, with all columns.",
    .columns = columns,
    .count = COLUMN_COUNT,
    .period = PERIOD,
    .invoice = INVOICE,
    .period_start = period_start,
    .hint = hint,
    .classify = classify,
    .describe = describe,
    .charge = charge,
};

static bool
ingest(struct source_run *run, struct error *err)
{
    return bill_ingest(run, &focus, err);
}

static const char *const keys[] = {"path", NULL};

const struct source source_focus = {
    .format = "focus",
    .title = "FOCUS 1.0 to 1.2",
    .kind = SOURCE_BILLING,
    .keys = keys,
    .bill = &focus,
    .ingest = ingest,
};
