/*
 * Azure cost details: enterprise agreement, Microsoft customer and partner agreement, pay-as-you-go in
 * its old and new columns; actual and amortized exports (bill_azure.h says how the two go together).
 *
 * Rows are of one day. A machine's quantity is hours whatever its unit says ("100 Hours" is the unit
 * of the price), its size is AdditionalInfo.ServiceType. Purchases of commitments are money, never
 * hours. The time of a capacity reservation in which nothing ran is paid for and unused.
 */
#include <config.h>

#include <string.h>
#include <strings.h>

#include "common/decimal.h"
#include "ingest/bill_azure.h"
#include "ingest/bill_product.h"
#include "ingest/ingest.h"

static const struct bill_column columns[AZURE_COLUMNS] = {
    [AZURE_PERIOD] = {{"BillingPeriodStartDate", "BillingPeriodStart"}, BILL_VALUE, false},
    [AZURE_PERIOD_END] = {{"BillingPeriodEndDate", "BillingPeriodEnd"}, BILL_VALUE, false},
    [AZURE_DATE] = {{"Date", "UsageDateTime", "UsageDate"}, BILL_VALUE, true},
    [AZURE_QUANTITY] = {{"Quantity", "UsageQuantity", "ConsumedQuantity"}, BILL_VALUE, false},
    [AZURE_COST] = {{"CostInBillingCurrency", "Cost", "PreTaxCost", "BillingPreTaxTotal", "ExtendedCost"}, BILL_VALUE, true},
    [AZURE_PRICE] = {{"EffectivePrice", "ResourceRate", "EffectiveUnitPrice"}, BILL_VALUE, false},
    [AZURE_LIST] = {{"PaygCostInBillingCurrency"}, BILL_VALUE, false},
    [AZURE_PAYG_PRICE] = {{"PayGPrice"}, BILL_VALUE, false},
    [AZURE_CURRENCY] = {{"BillingCurrency", "BillingCurrencyCode", "Currency"}, BILL_CLASS, false},
    [AZURE_CHARGE_TYPE] = {{"ChargeType"}, BILL_CLASS, false},
    [AZURE_PRICING] = {{"PricingModel"}, BILL_CLASS, false},
    [AZURE_PUBLISHER_TYPE] = {{"PublisherType"}, BILL_CLASS, false},
    [AZURE_CATEGORY] = {{"MeterCategory"}, BILL_CLASS, false},
    [AZURE_METER] = {{"MeterName"}, BILL_CLASS, false},
    [AZURE_SERVICE] = {{"ServiceName", "PublisherName"}, BILL_CLASS, false},
    [AZURE_CONSUMED_SERVICE] = {{"ConsumedService"}, BILL_CLASS, false},
    [AZURE_UNIT] = {{"UnitOfMeasure", "Unit"}, BILL_CLASS, false},
    [AZURE_ORDER] = {{"ProductOrderId"}, BILL_CLASS, false},
    [AZURE_ORDER_NAME] = {{"ProductOrderName"}, BILL_CLASS, false},
    [AZURE_BENEFIT] = {{"BenefitId"}, BILL_CLASS, false},
    [AZURE_RESERVATION] = {{"ReservationId"}, BILL_CLASS, false},
    [AZURE_INFO] = {{"AdditionalInfo"}, BILL_CLASS, false},
    [AZURE_RESOURCE] = {{"ResourceId", "InstanceId", "InstanceName", "ResourceUri"}, BILL_CLASS, false},
    [AZURE_SUBSCRIPTION] = {{"SubscriptionId", "SubscriptionGuid"}, BILL_CLASS, false},
    [AZURE_FX_CURRENCY] = {{"PricingCurrency", "PricingCurrencyCode"}, BILL_CLASS, false},
    [AZURE_FX_RATE] = {{"ExchangeRatePricingToBilling", "PCToBCExchangeRate"}, BILL_CLASS, false},
    [AZURE_SUBSCRIPTION_NAME] = {{"SubscriptionName"}, BILL_ITEM, false},
    [AZURE_RESOURCE_NAME] = {{"ResourceName"}, BILL_ITEM, false},
    [AZURE_REGION] = {{"ResourceLocation", "ResourceLocationNormalized", "MeterRegion"}, BILL_ITEM, false},
    [AZURE_ZONE] = {{"AvailabilityZone"}, BILL_ITEM, false},
    [AZURE_SKU] = {{"MeterId"}, BILL_ITEM, false},
    [AZURE_PRODUCT] = {{"ProductName", "Product"}, BILL_ITEM, false},
    [AZURE_FREQUENCY] = {{"Frequency"}, BILL_ITEM, false},
    [AZURE_COMMITMENT_NAME] = {{"BenefitName", "ReservationName"}, BILL_ITEM, false},
    [AZURE_INVOICE] = {{"InvoiceId"}, BILL_ITEM, false},
    [AZURE_TAGS] = {{"Tags"}, BILL_ITEM, false},
};

static const struct azure_notes *
notes_of(const struct bill_context *context)
{
    return context->state;
}

/* ---------------------------------------------------------------- classify */

/* Of a reservation whose machine is known to have no GPU, or that is no machine: not ours. */
static bool
may_be_gpu(const struct field *cell, const struct azure_row *row)
{
    if (row->is_plan || row->is_gpu)
        return true;
    return !row->type.size && !cell[AZURE_CATEGORY].size;
}

static enum bill_role
role_of(const struct field *cell, const struct azure_row *row)
{
    bool is_use = !strcmp(row->category, "Usage"), is_refund = !strcmp(row->category, "Refund");

    if (row->is_commitment && (row->is_unused || is_refund || !strcmp(row->category, "Purchase"))) {
        if (!may_be_gpu(cell, row))
            return BILL_OTHER;
        return row->is_unused ? BILL_COMMITMENT_UNUSED : BILL_COMMITMENT_PURCHASE;
    }
    if (!row->is_machine || !row->is_gpu || (!is_use && !is_refund))
        return BILL_OTHER;
    if (is_refund)
        return BILL_CORRECTION;
    return row->is_idle_capacity ? BILL_COMMITMENT_UNUSED : BILL_GPU_USE;
}

static void
set_units(const struct field *cell, const struct azure_row *row, struct bill_class *class)
{
    bool has_hours = class->role == BILL_GPU_USE || class->role == BILL_CORRECTION
        || (class->role == BILL_COMMITMENT_UNUSED && !row->is_plan);

    if (has_hours && azure_unit_is_hours(cell[AZURE_UNIT]))
        class->unit_seconds = HOUR_SECONDS;
    else if (class->role == BILL_GPU_USE)
        class->role = BILL_GPU_MONEY;
}

static const char *
service(struct arena *arena, const struct field *cell)
{
    for (int i = 0; i < 3; i++) {
        struct field name = cell[(const int[]){AZURE_CATEGORY, AZURE_SERVICE, AZURE_CONSUMED_SERVICE}[i]];

        if (name.size)
            return bill_text(arena, name);
    }
    return "";
}

static void
set_rate(struct arena *arena, const struct field *cell, struct bill_class *class)
{
    struct field rate = cell[AZURE_FX_RATE];

    if (!rate.size || !cell[AZURE_FX_CURRENCY].size || bill_is(cell[AZURE_FX_CURRENCY], class->currency)
        || !decimal_fits(rate.text, rate.size))
        return;
    class->fx_from = bill_text(arena, cell[AZURE_FX_CURRENCY]);
    class->fx_rate = bill_text(arena, rate);
}

static const struct azure_class *
own_class(struct arena *arena, const struct field *cell, const struct azure_row *row)
{
    struct azure_class *own = arena_alloc(arena, sizeof *own);
    bool is_use = !strcmp(row->category, "Usage");

    *own = (struct azure_class){
        .is_covered = row->is_commitment && is_use,
        .is_purchase = row->is_commitment && (!strcmp(row->category, "Purchase") || !strcmp(row->category, "Refund")),
        .prices_one_unit = azure_unit_is_one(cell[AZURE_UNIT]) && is_use && !row->is_unused,
        .subscription = bill_text(arena, cell[AZURE_SUBSCRIPTION]),
    };
    return own;
}

static const char *
classify(struct bill_context *context, const struct field *cell, struct field hint, struct bill_class *ret)
{
    struct arena *arena = context->arena;
    struct azure_row row;
    struct bill_class class = {.provider = "azure", .charge_class = "", .commitment_id = "", .commitment_status = "",
                               .gpu_count = "", .pricing = "on-demand"};

    (void)hint;
    azure_row_read(arena, context->types, cell, &row);
    class.role = role_of(cell, &row);
    class.charge_category = row.category;
    class.service = service(arena, cell);
    class.currency = cell[AZURE_CURRENCY].size ? bill_text(arena, cell[AZURE_CURRENCY]) : azure_currency(notes_of(context));
    if (!class.currency)
        return "BillingCurrency is empty";
    if (azure_is_spot(cell))
        class.pricing = "spot";
    if (row.is_commitment) {
        class.pricing = "committed";
        class.commitment_id = azure_commitment(arena, cell);
        class.commitment_status = row.is_unused ? "Unused" : !strcmp(row.category, "Usage") ? "Used" : "";
    } else if (class.role == BILL_COMMITMENT_UNUSED) {
        class.commitment_id = resource_key(arena, "azure", cell[AZURE_RESOURCE].text, cell[AZURE_RESOURCE].size);
        class.commitment_status = "Unused";
    }
    class.instance_type = class.role == BILL_OTHER || !row.is_gpu ? "" : bill_text(arena, row.type);
    set_units(cell, &row, &class);
    set_rate(arena, cell, &class);
    class.own = own_class(arena, cell, &row);
    *ret = class;
    return NULL;
}

/* ---------------------------------------------------------------- describe */

/* "US East 2", "EastUS2": lower case, without blanks. */
static const char *
region(struct arena *arena, struct field name)
{
    char *text = arena_strndup(arena, bill_text(arena, name), name.size), *out = text;

    for (const char *at = text; *at; at++)
        if (*at != ' ')
            *out++ = *at >= 'A' && *at <= 'Z' ? (char)(*at | 0x20) : *at;
    *out = '\0';
    return text;
}

static const char *
commitment_type(const struct bill_class *class, const struct field *cell)
{
    if (!*class->commitment_id)
        return "";
    if (strcmp(class->pricing, "committed"))
        return "Capacity reservation";
    return bill_contains(cell[AZURE_BENEFIT], "billingbenefits") || bill_is(cell[AZURE_PRICING], "SavingsPlan")
            || bill_is(cell[AZURE_CHARGE_TYPE], "UnusedSavingsPlan")
        ? "Savings plan" : "Reservation";
}

static void
describe(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_item *ret)
{
    struct arena *arena = context->arena;
    const char *type = commitment_type(class, cell);

    *ret = (struct bill_item){
        .account_id = bill_text(arena, cell[AZURE_SUBSCRIPTION]),
        .account_name = bill_text(arena, cell[AZURE_SUBSCRIPTION_NAME]),
        .resource_id = bill_text(arena, cell[AZURE_RESOURCE]),
        .resource_name = bill_text(arena, cell[AZURE_RESOURCE_NAME]),
        .region = region(arena, cell[AZURE_REGION]),
        .zone = bill_text(arena, cell[AZURE_ZONE]),
        .sku = bill_text(arena, cell[AZURE_SKU]),
        .description = bill_text(arena, cell[cell[AZURE_PRODUCT].size ? AZURE_PRODUCT : AZURE_METER]),
        .charge_frequency = bill_text(arena, cell[AZURE_FREQUENCY]),
        .commitment_name = bill_text(arena, cell[AZURE_COMMITMENT_NAME]),
        .commitment_type = type,
        .commitment_category = !strcmp(type, "Savings plan") ? "Spend" : *type ? "Usage" : "",
        .invoice_id = bill_text(arena, cell[AZURE_INVOICE]),
        .tags = bill_json_object(arena, cell[AZURE_TAGS]),
    };
    ret->resource_key = *ret->resource_id
        ? resource_key(arena, "azure", ret->resource_id, strlen(ret->resource_id))
        : arena_printf(arena, "unnamed/%s/%s/%s/%s", ret->account_id, ret->region, class->instance_type, ret->sku);
}

/* ---------------------------------------------------------------- charge */

static const char *
month_of(struct bill_context *context, const struct field *cell, int64_t *ret_month)
{
    bool has_period = cell[AZURE_PERIOD].size;
    enum azure_order order = azure_order(notes_of(context), context->object);

    if (!azure_date(&context->clock, order, cell[has_period ? AZURE_PERIOD : AZURE_DATE], ret_month))
        return has_period ? "BillingPeriodStartDate is no date" : "Date is no date";
    return NULL;
}

/* Which of the two costs of a row its export states. */
static void
set_money(const struct bill_context *context, const struct bill_class *class, const struct field *cell,
          struct bill_charge *charge)
{
    static const struct field nothing = {"0", 1};
    const struct azure_class *own = class->own;
    bool is_amortized = azure_dataset(notes_of(context), context->object) == AZURE_AMORTIZED;

    charge->billed = own->is_covered && is_amortized ? nothing : cell[AZURE_COST];
    charge->effective = own->is_purchase ? nothing : cell[AZURE_COST];
    charge->list = cell[AZURE_LIST];
    /* a price in another currency, or of a hundred hours, is not multiplied */
    if (!charge->list.size && own->prices_one_unit && !class->fx_from
        && decimal_sign(cell[AZURE_PAYG_PRICE].text, cell[AZURE_PAYG_PRICE].size) > 0)
        charge->list = bill_product(context->arena, cell[AZURE_PAYG_PRICE], cell[AZURE_QUANTITY]);
    if (own->is_purchase || (charge->list.size && !decimal_fits(charge->list.text, charge->list.size)))
        charge->list = (struct field){"", 0};
}

static const char *
set_quantity(const struct bill_class *class, struct field quantity, struct bill_charge *charge)
{
    int sign = decimal_sign(quantity.text, quantity.size);

    if (quantity.size && !decimal_fits(quantity.text, quantity.size))
        return "Quantity is no number";
    charge->unit_seconds = class->unit_seconds;
    charge->quantity = class->role == BILL_COMMITMENT_PURCHASE ? (struct field){"", 0} : quantity;
    if (class->role == BILL_CORRECTION && sign >= 0)
        charge->quantity = (struct field){"", 0}; /* money back, no hours */
    if (class->role == BILL_GPU_USE && !quantity.size)
        charge->role = BILL_GPU_MONEY;
    else if (class->role == BILL_GPU_USE && sign < 0)
        charge->role = BILL_CORRECTION;
    return NULL;
}

/* The row counts where the other export has it. */
static void
leave_out(struct bill_charge *charge)
{
    static const struct field nothing = {"0", 1};

    charge->role = BILL_OTHER;
    charge->billed = charge->effective = nothing;
    charge->list = (struct field){"", 0};
}

static const char *
charge(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_charge *ret)
{
    struct bill_charge c = {.role = class->role};
    enum azure_order order = azure_order(notes_of(context), context->object);
    int64_t period;
    const char *reason = month_of(context, cell, &period);

    if (reason)
        return reason;
    if (!azure_date(&context->clock, order, cell[AZURE_DATE], &c.from))
        return "Date is no date";
    if (!decimal_fits(cell[AZURE_COST].text, cell[AZURE_COST].size))
        return cell[AZURE_COST].size ? "the cost is no number" : "the cost is empty";
    c.to = c.from + DAY_SECONDS;
    set_money(context, class, cell, &c);
    if (azure_is_twice(notes_of(context), context->object, class->own, month_start(period)))
        leave_out(&c);
    c.is_use = !strcmp(class->charge_category, "Usage");
    reason = c.role == BILL_OTHER ? NULL : set_quantity(class, cell[AZURE_QUANTITY], &c);
    *ret = c;
    return reason;
}

/* ---------------------------------------------------------------- the source */

static const struct bill_format azure = {
    .suffixes = bill_suffixes,
    .name = "Azure",
    .version_hint = "Cost details of enterprise, customer and partner agreements and of pay-as-you-go are read, actual and "
                    "amortized. Files of Azure's FOCUS export have the format focus.",
    .columns = columns,
    .count = AZURE_COLUMNS,
    .period = AZURE_PERIOD,
    .invoice = AZURE_INVOICE,
    .period_start = month_of,
    .classify = classify,
    .describe = describe,
    .charge = charge,
    .survey = azure_survey,
    .settle = azure_settle,
};

/* One of two words of a key; 0 without it. */
static bool
one_of(const struct source_run *run, const char *key, const char *first, const char *second, int *ret_which, struct error *err)
{
    const char *value = section_get(run->section, key);

    *ret_which = 0;
    if (!value || !*value)
        return true;
    *ret_which = !strcasecmp(value, first) ? 1 : !strcasecmp(value, second) ? 2 : 0;
    if (*ret_which)
        return true;
    error_set(err, ERR_CONFIG, "%s: %s is \"%s\"", section_origin(run->settings, run->section, key), key, value);
    return error_hint(err, "It is %s or %s.", first, second);
}

static bool
ingest(struct source_run *run, struct error *err)
{
    struct bill_format format = azure;
    struct azure_notes *notes;
    const char *currency = section_get(run->section, "currency");
    int dataset, order;

    if (!one_of(run, "dataset", "actual", "amortized", &dataset, err)
        || !one_of(run, "date-order", "month-first", "day-first", &order, err))
        return false;
    notes = azure_notes_new(run->arena, (enum azure_dataset)dataset, (enum azure_order)order, currency);
    format.state = format.notes = notes;
    format.fingerprint = arena_printf(run->arena, "%d %d %s", dataset, order, currency ? currency : "");
    return bill_ingest(run, &format, err);
}

static const char *const keys[] = {"path", "currency", "dataset", "date-order", NULL};

const struct source source_azure = {
    .format = "azure",
    .title = "Azure cost details",
    .kind = SOURCE_BILLING,
    .keys = keys,
    .bill = &azure,
    .ingest = ingest,
};
