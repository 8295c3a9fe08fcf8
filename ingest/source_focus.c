/*
 * FOCUS 1.0 to 1.4 and what providers make of it, by the names of the columns; unknown columns are
 * passed over, unless column.tags.NAME of the section carries one as a tag.
 *
 * Hours are carried by compute usage alone: category Usage, a service that computes, a unit of
 * time, and a GPU type or a GPU's own SKU. Where a provider bills a machine in parts (Google,
 * Oracle), the accelerator's row counts GPUs and the core and memory rows are money of the same
 * machine. Disks, addresses, licences and other things that merely name a GPU type are not GPU rows.
 *
 * Corrections come as differences or as a reversal beside a new row; each row of class Correction
 * carries its own part of both money and hours, so their sum is right either way. Parts that a
 * provider allocates (1.3: AllocatedResourceId) and the part left unallocated add up to the charge
 * they stand for, on the resource it was for.
 *
 * With rate-card, costs that the bill leaves out come from the card (rate_card.h).
 */
#include <config.h>

#include <string.h>

#include <jansson.h>

#include "common/decimal.h"
#include "common/sha256.h"
#include "ingest/bill_focus.h"
#include "ingest/ingest.h"

enum { CHARGE_MOST_SECONDS = 3653 * DAY_SECONDS }; /* beyond any term; an hour of it is a row in analysis */

static const struct bill_column columns[FOCUS_COLUMNS] = {
    [FOCUS_PERIOD] = {{"BillingPeriodStart"}, BILL_VALUE, true},
    [FOCUS_FROM] = {{"ChargePeriodStart"}, BILL_VALUE, true},
    [FOCUS_TO] = {{"ChargePeriodEnd"}, BILL_VALUE, true},
    [FOCUS_QUANTITY] = {{"ConsumedQuantity", "UsageQuantity"}, BILL_VALUE, false},
    [FOCUS_PRICED] = {{"PricingQuantity"}, BILL_VALUE, false},
    [FOCUS_BILLED] = {{"BilledCost"}, BILL_VALUE, true},
    [FOCUS_EFFECTIVE] = {{"EffectiveCost"}, BILL_VALUE, true},
    [FOCUS_LIST] = {{"ListCost"}, BILL_VALUE, false},
    [FOCUS_COMMITTED] = {{"CommitmentDiscountQuantity"}, BILL_VALUE, false},
    [FOCUS_PROVIDER] = {{"ProviderName", "ServiceProviderName", "HostProviderName", "Provider"}, BILL_CLASS, true},
    [FOCUS_SERVICE_PROVIDER] = {{"ServiceProviderName"}, BILL_CLASS, false},
    [FOCUS_HOST] = {{"HostProviderName"}, BILL_CLASS, false},
    [FOCUS_ISSUER] = {{"InvoiceIssuerName", "InvoiceIssuer"}, BILL_CLASS, false},
    [FOCUS_PUBLISHER] = {{"PublisherName", "Publisher"}, BILL_CLASS, false},
    [FOCUS_PUBLISHER_CATEGORY] = {{"x_PublisherCategory"}, BILL_CLASS, false},
    [FOCUS_CURRENCY] = {{"BillingCurrency"}, BILL_CLASS, true},
    [FOCUS_CATEGORY] = {{"ChargeCategory"}, BILL_CLASS, true},
    [FOCUS_SUBCATEGORY] = {{"ChargeSubcategory"}, BILL_CLASS, false},
    [FOCUS_CLASS] = {{"ChargeClass"}, BILL_CLASS, false},
    [FOCUS_SERVICE] = {{"ServiceName"}, BILL_CLASS, true},
    [FOCUS_SERVICE_CATEGORY] = {{"ServiceCategory"}, BILL_CLASS, false},
    [FOCUS_UNIT] = {{"ConsumedUnit", "UsageUnit"}, BILL_CLASS, false},
    [FOCUS_PRICE_UNIT] = {{"PricingUnit"}, BILL_CLASS, false},
    [FOCUS_PRICING] = {{"PricingCategory"}, BILL_CLASS, false},
    [FOCUS_COMMITMENT] = {{"CommitmentDiscountId"}, BILL_CLASS, false},
    [FOCUS_STATUS] = {{"CommitmentDiscountStatus"}, BILL_CLASS, false},
    [FOCUS_COMMITMENT_UNIT] = {{"CommitmentDiscountUnit"}, BILL_CLASS, false},
    [FOCUS_CAPACITY] = {{"CapacityReservationId"}, BILL_CLASS, false},
    [FOCUS_CAPACITY_STATUS] = {{"CapacityReservationStatus"}, BILL_CLASS, false},
    [FOCUS_RESOURCE_TYPE] = {{"ResourceType"}, BILL_CLASS, false},
    [FOCUS_METER] = {{"SkuMeter", "x_SkuMeterName"}, BILL_CLASS, false},
    [FOCUS_DETAILS] = {{"SkuPriceDetails"}, BILL_CLASS, false},
    [FOCUS_DESCRIPTION] = {{"ChargeDescription"}, BILL_CLASS, false},
    [FOCUS_USAGE_TYPE] = {{"x_UsageType"}, BILL_CLASS, false},
    [FOCUS_SERVICE_CODE] = {{"x_ServiceCode"}, BILL_CLASS, false},
    [FOCUS_SKU_DETAILS] = {{"x_SkuDetails"}, BILL_CLASS, false},
    [FOCUS_SERVICE_TYPE] = {{"x_ServiceType"}, BILL_CLASS, false},
    [FOCUS_METER_CATEGORY] = {{"x_SkuMeterCategory"}, BILL_CLASS, false},
    [FOCUS_BILLING_ACCOUNT] = {{"BillingAccountId"}, BILL_ITEM, false},
    [FOCUS_BILLING_ACCOUNT_NAME] = {{"BillingAccountName"}, BILL_ITEM, false},
    [FOCUS_ACCOUNT] = {{"SubAccountId"}, BILL_ITEM, false},
    [FOCUS_ACCOUNT_NAME] = {{"SubAccountName"}, BILL_ITEM, false},
    [FOCUS_RESOURCE] = {{"ResourceId"}, BILL_ITEM, false},
    [FOCUS_RESOURCE_NAME] = {{"ResourceName"}, BILL_ITEM, false},
    [FOCUS_REGION] = {{"RegionId", "Region"}, BILL_ITEM, false},
    [FOCUS_REGION_NAME] = {{"RegionName"}, BILL_ITEM, false},
    [FOCUS_ZONE] = {{"AvailabilityZone"}, BILL_ITEM, false},
    [FOCUS_SKU] = {{"SkuId"}, BILL_ITEM, false},
    [FOCUS_FREQUENCY] = {{"ChargeFrequency"}, BILL_ITEM, false},
    [FOCUS_COMMITMENT_NAME] = {{"CommitmentDiscountName"}, BILL_ITEM, false},
    [FOCUS_COMMITMENT_TYPE] = {{"CommitmentDiscountType"}, BILL_ITEM, false},
    [FOCUS_COMMITMENT_CATEGORY] = {{"CommitmentDiscountCategory"}, BILL_ITEM, false},
    [FOCUS_INVOICE] = {{"InvoiceId"}, BILL_ITEM, false},
    [FOCUS_TAGS] = {{"Tags"}, BILL_ITEM, false},
    [FOCUS_ALLOCATED_TO] = {{"AllocatedResourceId"}, BILL_ITEM, false},
    [FOCUS_ALLOCATED_TAGS] = {{"AllocatedTags"}, BILL_ITEM, false},
};

/* Google's machine type stands among the tags; in a raw cell, where quotes may be doubled. */
static struct field
hint(const struct field *raw)
{
    static const char key[] = "machine_spec\"";
    struct field provider = raw[FOCUS_PROVIDER], tags = raw[FOCUS_TAGS], found = {"", 0};
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

/* Labels of what a part of the charge is allocated to, above the tags of the resource. */
static const char *
with_allocated(struct arena *arena, const char *base, const struct field *cell)
{
    const char *over = bill_json_object(arena, cell[FOCUS_ALLOCATED_TAGS]), *ret = base;
    json_t *all = base ? json_loads(base, 0, NULL) : json_object(), *labels = over ? json_loads(over, 0, NULL) : NULL;
    json_t *id = json_stringn(cell[FOCUS_ALLOCATED_TO].text, cell[FOCUS_ALLOCATED_TO].size);
    char *text;

    (void)json_object_update(all, labels);
    if (id && cell[FOCUS_ALLOCATED_TO].size)
        (void)json_object_set(all, "AllocatedResourceId", id);
    text = json_object_size(all) ? json_dumps(all, JSON_COMPACT) : NULL;
    if (text)
        ret = arena_strdup(arena, text);
    mem_free(text);
    json_decref(id);
    json_decref(labels);
    json_decref(all);
    return ret;
}

static const char *
tags_of(struct bill_context *context, const struct field *cell)
{
    const struct focus_state *state = context->state;
    const char *tags = bill_json_object(context->arena, cell[FOCUS_TAGS]);
    struct bill_gathered carried[FOCUS_CARRIED_MOST];
    struct bill_context gathered = {.arena = context->arena, .gathered = carried};

    if (cell[FOCUS_ALLOCATED_TO].size || cell[FOCUS_ALLOCATED_TAGS].size)
        tags = with_allocated(context->arena, tags, cell);
    if (!state || !state->tag_count)
        return tags;
    for (; gathered.gathered_count < state->tag_count; gathered.gathered_count++)
        carried[gathered.gathered_count] = (struct bill_gathered){state->tag[gathered.gathered_count],
                                                                  cell[FOCUS_COLUMNS + gathered.gathered_count]};
    return bill_json_gathered(&gathered, tags);
}

static void
describe(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_item *ret)
{
    struct arena *arena = context->arena;
    struct field resource = cell[FOCUS_RESOURCE];

    *ret = (struct bill_item){
        .account_id = bill_text(arena, first(cell[FOCUS_ACCOUNT], cell[FOCUS_BILLING_ACCOUNT])),
        .account_name = bill_text(arena, first(cell[FOCUS_ACCOUNT_NAME], cell[FOCUS_BILLING_ACCOUNT_NAME])),
        .resource_id = bill_text(arena, resource),
        .resource_name = bill_text(arena, cell[FOCUS_RESOURCE_NAME]),
        .region = bill_text(arena, first(cell[FOCUS_REGION], cell[FOCUS_REGION_NAME])),
        .zone = bill_text(arena, cell[FOCUS_ZONE]),
        .sku = bill_text(arena, cell[FOCUS_SKU]),
        .description = bill_text(arena, cell[FOCUS_DESCRIPTION]),
        .charge_frequency = bill_text(arena, cell[FOCUS_FREQUENCY]),
        .commitment_name = bill_text(arena, cell[FOCUS_COMMITMENT_NAME]),
        .commitment_type = bill_text(arena, cell[FOCUS_COMMITMENT_TYPE]),
        .commitment_category = bill_text(arena, cell[FOCUS_COMMITMENT_CATEGORY]),
        .invoice_id = bill_text(arena, cell[FOCUS_INVOICE]),
        .tags = tags_of(context, cell),
    };
    ret->resource_key = resource.size ? resource_key(arena, class->provider, ret->resource_id, strlen(ret->resource_id))
                                      : made_up_key(arena, class, ret);
}

static const char *
period_start(struct bill_context *context, const struct field *cell, int64_t *ret_time)
{
    return bill_time(&context->clock, cell[FOCUS_PERIOD], ret_time) ? NULL : "BillingPeriodStart is no time";
}

/* Hours of use come from the consumed quantity, else from the priced one; those that a commitment did
 * not use from its own. */
static const char *
set_quantity(const struct bill_class *class, const struct field *cell, struct bill_charge *charge)
{
    const struct focus_class *own = class->own;
    bool is_priced = !cell[FOCUS_QUANTITY].size || !class->unit_seconds;
    struct field quantity = is_priced && class->pricing_unit_seconds ? cell[FOCUS_PRICED] : cell[FOCUS_QUANTITY];

    charge->unit_seconds = is_priced && class->pricing_unit_seconds ? class->pricing_unit_seconds : class->unit_seconds;
    if (own->committed_seconds && cell[FOCUS_COMMITTED].size) {
        quantity = cell[FOCUS_COMMITTED];
        charge->unit_seconds = own->committed_seconds;
    }
    charge->quantity = quantity;
    if (quantity.size && !decimal_fits(quantity.text, quantity.size))
        return "quantity is no number";
    if (class->role != BILL_GPU_USE)
        return NULL;
    if (!quantity.size)
        charge->role = BILL_GPU_MONEY;
    else if (decimal_sign(quantity.text, quantity.size) < 0)
        charge->role = BILL_CORRECTION;
    return NULL;
}

/* The bill has no cost: the rate card's, or, for GPU use, none that anybody knows. */
static const char *
set_price(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_charge *charge)
{
    const struct focus_class *own = class->own;
    struct field quantity = cell[own->by_priced ? FOCUS_PRICED : FOCUS_QUANTITY];
    bool is_use = charge->role == BILL_GPU_USE || charge->role == BILL_CORRECTION;

    if (own->rates && quantity.size
        && rate_price(own->rates, context->arena, charge->from, charge->to, quantity, &charge->billed, &charge->priced_by))
        charge->effective = charge->effective.size ? charge->effective : charge->billed;
    else if (own->rates && !is_use)
        return "it has no cost, and no rate that is valid for all of its time";
    else if (!is_use && strcmp(class->charge_class, FOCUS_UNPRICED))
        return "BilledCost is empty";
    return NULL;
}

static const char *
check_costs(const struct bill_charge *charge, bool has_rates)
{
    if (!decimal_fits(charge->billed.text, charge->billed.size) && (charge->billed.size || !has_rates))
        return charge->billed.size ? "BilledCost is no number" : "BilledCost is empty";
    if (!decimal_fits(charge->effective.text, charge->effective.size) && (charge->effective.size || !has_rates))
        return "EffectiveCost is no number";
    return charge->list.size && !decimal_fits(charge->list.text, charge->list.size) ? "ListCost is no number" : NULL;
}

static const char *
charge(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_charge *ret)
{
    const struct focus_state *state = context->state;
    bool has_rates = state && state->rates;
    struct bill_charge c = {.role = class->role, .billed = cell[FOCUS_BILLED], .list = cell[FOCUS_LIST]};
    const char *reason;

    c.effective = first(cell[FOCUS_EFFECTIVE], cell[FOCUS_BILLED]);
    if (!bill_time(&context->clock, cell[FOCUS_FROM], &c.from))
        return "ChargePeriodStart is no time";
    if (!bill_time(&context->clock, cell[FOCUS_TO], &c.to))
        return "ChargePeriodEnd is no time";
    if (c.to < c.from)
        return "ChargePeriodEnd is before ChargePeriodStart";
    if (c.to - c.from > CHARGE_MOST_SECONDS)
        return "the charge period is longer than ten years";
    reason = check_costs(&c, has_rates);
    if (!reason && class->role != BILL_OTHER)
        reason = set_quantity(class, cell, &c);
    if (!reason && has_rates && !c.billed.size)
        reason = set_price(context, class, cell, &c);
    c.is_use = !strcasecmp(class->charge_category, "Usage") && c.to - c.from <= DAY_SECONDS;
    *ret = c;
    return reason;
}

static const struct bill_format focus = {
    .suffixes = bill_suffixes,
    .name = "FOCUS",
    .version_hint = "FOCUS 1.0 to 1.4 and 1.0-preview are read; earlier drafts have other columns. Export the file in one of "
                    "these versions with all columns, name a rate-card where it has no costs, or say in a section with "
                    "format = csv which column is what.",
    .columns = columns,
    .count = FOCUS_COLUMNS,
    .period = FOCUS_PERIOD,
    .invoice = FOCUS_INVOICE,
    .period_start = period_start,
    .hint = hint,
    .classify = focus_classify,
    .describe = describe,
    .charge = charge,
};

/* ---------------------------------------------------------------- what the section adds */

static bool
read_state(struct source_run *run, struct focus_state *state, char *ret_sha256, struct error *err)
{
    static const char prefix[] = "column.tags.";

    for (const struct setting *setting = run->section->settings; setting; setting = setting->next) {
        if (strncmp(setting->key, prefix, strlen(prefix)) || !*setting->value)
            continue;
        if (state->tag_count == FOCUS_CARRIED_MOST)
            return error_set(err, ERR_CONFIG, "%s: more than %d columns of tags", setting->origin, FOCUS_CARRIED_MOST);
        state->tag[state->tag_count] = setting->key + strlen(prefix);
        state->tag_column[state->tag_count++] = setting->value;
    }
    return rate_card_load(run->settings, run->section, run->arena, &state->rates, ret_sha256, err);
}

/* With a rate card costs may be missing, and prices go by what a row is sold as and where. */
static const struct bill_column *
columns_of(const struct focus_state *state, struct arena *arena)
{
    static const enum focus_column by_class[] = {FOCUS_SKU, FOCUS_REGION, FOCUS_REGION_NAME};
    static const enum focus_column optional[] = {FOCUS_BILLED, FOCUS_EFFECTIVE, FOCUS_CURRENCY};
    struct bill_column *all = arena_alloc(arena, BILL_COLUMNS * sizeof *all);

    memcpy(all, columns, sizeof columns);
    for (size_t i = 0; i < state->tag_count; i++)
        all[FOCUS_COLUMNS + i] = (struct bill_column){{state->tag_column[i]}, BILL_ITEM, true};
    for (size_t i = 0; state->rates && i < 3; i++) {
        all[by_class[i]].part = BILL_CLASS;
        all[optional[i]].is_required = false;
    }
    return all;
}

static const char *
fingerprint(struct arena *arena, const struct focus_state *state, const char *rates_sha256)
{
    char *hash = arena_alloc(arena, 65);
    struct sha256 sha;

    sha256_begin(&sha);
    sha256_add(&sha, rates_sha256, strlen(rates_sha256));
    for (size_t i = 0; i < state->tag_count; i++) {
        sha256_add(&sha, state->tag[i], strlen(state->tag[i]) + 1);
        sha256_add(&sha, state->tag_column[i], strlen(state->tag_column[i]) + 1);
    }
    sha256_hex(&sha, hash);
    return hash;
}

static bool
ingest(struct source_run *run, struct error *err)
{
    struct focus_state *state = arena_alloc(run->arena, sizeof *state);
    struct bill_format format = focus;
    char rates_sha256[65];

    if (!read_state(run, state, rates_sha256, err))
        return false;
    if (!state->rates && !state->tag_count)
        return bill_ingest(run, &focus, err);
    format.state = state;
    format.columns = columns_of(state, run->arena);
    format.count = FOCUS_COLUMNS + state->tag_count;
    format.fingerprint = fingerprint(run->arena, state, rates_sha256);
    return bill_ingest(run, &format, err);
}

static const char *const keys[] = {"path", "rate-card", "column.tags.", NULL};

const struct source source_focus = {
    .format = "focus",
    .title = "FOCUS 1.0 to 1.4",
    .kind = SOURCE_BILLING,
    .keys = keys,
    .bill = &focus,
    .ingest = ingest,
};
