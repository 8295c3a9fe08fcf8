/*
 * Google Cloud's billing exports, detailed and standard, as flat CSV and as JSON lines (bill_gcp.h says
 * how a machine's rows go together and what committed use costs).
 *
 * Money is that of the invoice month, which begins at midnight in California; hours are those of the
 * usage time. A GPU row's quantity is GPU time already. Billed is the cost and every credit; effective
 * is without vouchers, and with the share of commitment fees in place of their credits. TPUs are totals
 * under a service of their own: accelerators, not GPUs.
 */
#include <config.h>

#include <string.h>

#include "common/decimal.h"
#include "ingest/bill_gcp.h"
#include "ingest/bill_product.h"
#include "ingest/ingest.h"

enum { PACIFIC_SECONDS = 8 * HOUR_SECONDS, CHARGE_MOST_SECONDS = 3653 * DAY_SECONDS };

static const struct bill_column columns[GCP_COLUMNS] = {
    [GCP_MONTH] = {{"invoice.month", "invoice_month"}, BILL_VALUE, true},
    [GCP_FROM] = {{"usage_start_time"}, BILL_VALUE, true},
    [GCP_TO] = {{"usage_end_time"}, BILL_VALUE, true},
    [GCP_COST] = {{"cost"}, BILL_VALUE, true},
    [GCP_LIST] = {{"cost_at_list"}, BILL_VALUE, false},
    [GCP_CREDITS] = {{"credits"}, BILL_VALUE, true},
    [GCP_AMOUNT] = {{"usage.amount", "usage_amount"}, BILL_VALUE, false},
    [GCP_PRICED] = {{"usage.amount_in_pricing_units", "usage_amount_in_pricing_units"}, BILL_VALUE, false},
    [GCP_SERVICE] = {{"service.description", "service_description"}, BILL_CLASS, false},
    [GCP_SKU] = {{"sku.description", "sku_description"}, BILL_CLASS, true},
    [GCP_UNIT] = {{"usage.unit", "usage_unit"}, BILL_CLASS, false},
    [GCP_PRICE_UNIT] = {{"usage.pricing_unit", "usage_pricing_unit"}, BILL_CLASS, false},
    [GCP_CURRENCY] = {{"currency"}, BILL_CLASS, true},
    [GCP_RATE] = {{"currency_conversion_rate"}, BILL_CLASS, false},
    [GCP_COST_TYPE] = {{"cost_type"}, BILL_CLASS, false},
    [GCP_SYSTEM_LABELS] = {{"system_labels"}, BILL_CLASS, false},
    [GCP_REGION] = {{"location.region", "location_region"}, BILL_CLASS, false},
    [GCP_BILLING_ACCOUNT] = {{"billing_account_id"}, BILL_ITEM, false},
    [GCP_PROJECT] = {{"project.id", "project_id"}, BILL_ITEM, false},
    [GCP_PROJECT_NAME] = {{"project.name", "project_name"}, BILL_ITEM, false},
    [GCP_RESOURCE] = {{"resource.global_name", "resource_global_name"}, BILL_ITEM, false},
    [GCP_RESOURCE_NAME] = {{"resource.name", "resource_name"}, BILL_ITEM, false},
    [GCP_LOCATION] = {{"location.location", "location_location"}, BILL_ITEM, false},
    [GCP_ZONE] = {{"location.zone", "location_zone"}, BILL_ITEM, false},
    [GCP_SKU_ID] = {{"sku.id", "sku_id"}, BILL_ITEM, false},
    [GCP_LABELS] = {{"labels"}, BILL_ITEM, false},
    [GCP_TAGS] = {{"tags"}, BILL_ITEM, false},
    [GCP_PROJECT_LABELS] = {{"project.labels", "project_labels"}, BILL_ITEM, false},
};

/* What class->own points to. */
struct own {
    enum gcp_share share;
    bool has_hours;          /* quantity is time of GPUs */
    const char *group, *spend;
    const char *family;
};

static const struct gcp_notes *
notes_of(const struct bill_context *context)
{
    return context->state;
}

/* ---------------------------------------------------------------- classify */

/* In its own case, as Google writes keys and types. */
static bool
holds(struct field cell, const char *text)
{
    return cell.size && memmem(cell.text, cell.size, text, strlen(text));
}

/* "C": covered by a commitment to resources, "D": to an amount, "-"; then the resource where its other
 * rows decide what this one is. Read at once by those who called. */
static struct field
hint(const struct field *raw)
{
    static _Thread_local char text[512];
    bool is_unused = holds(raw[GCP_SYSTEM_LABELS], "is_unused_reservation");
    bool is_covered = holds(raw[GCP_CREDITS], "COMMITTED_USAGE_DISCOUNT");
    bool is_general = bill_contains(raw[GCP_SKU], "n1") || bill_contains(raw[GCP_SKU], "custom");
    struct field resource = csv_trim(raw[GCP_RESOURCE]);
    size_t size = 1;

    text[0] = !is_covered ? '-' : holds(raw[GCP_CREDITS], "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE") ? 'D' : 'C';
    if (resource.size >= 2 && resource.text[0] == '"') {
        resource.text++;
        resource.size -= 2;
    }
    if ((is_unused || is_general) && resource.size < sizeof text - 1) {
        memcpy(text + 1, resource.text, resource.size);
        size += resource.size;
    }
    return (struct field){text, size};
}

/* What the row is a part of, and the names it goes by. */
struct evidence {
    struct gcp_sku sku;
    struct field type;       /* machine type with GPUs; empty */
    const char *model;       /* where no type tells */
    bool is_gpu_host, is_unused;
};

static void
find_machine(const struct bill_context *context, const struct field *cell, struct field resource, struct evidence *e)
{
    struct field spec = gcp_label(cell[GCP_SYSTEM_LABELS], "compute.googleapis.com/machine_spec");
    const struct gcp_sku *attached = NULL;

    gcp_sku_read(cell[GCP_SKU], &e->sku);
    e->is_unused = bill_is(gcp_label(cell[GCP_SYSTEM_LABELS], "compute.googleapis.com/is_unused_reservation"), "true");
    if (e->sku.share == GCP_NONE || e->sku.share == GCP_TPU)
        return;
    if (gpu_type_known(context->types, "gcp", spec) || (spec.size && gpu_type_family("gcp", spec)))
        e->type = spec;
    else if (e->sku.attached && e->sku.share == GCP_GPU)
        e->type = (struct field){e->sku.attached, strlen(e->sku.attached)};
    if (e->sku.is_general && !e->type.size)
        attached = gcp_attached(notes_of(context), resource);
    if (attached)
        e->type = (struct field){attached->attached, strlen(attached->attached)};
    if (!e->type.size)
        e->model = e->sku.model;
    e->is_gpu_host = e->sku.share == GCP_HOST && (e->type.size || e->sku.family);
}

static enum bill_role
role_of(const struct field *cell, const struct evidence *e)
{
    bool is_adjusted = bill_is(cell[GCP_COST_TYPE], "adjustment");
    bool has_gpus = e->sku.share == GCP_GPU || e->sku.share == GCP_SLICE;

    if (cell[GCP_COST_TYPE].size && !is_adjusted && !bill_is(cell[GCP_COST_TYPE], "regular"))
        return BILL_OTHER;
    if (e->sku.share == GCP_COMMITMENT)
        return e->sku.model || e->sku.family || !*e->sku.part ? BILL_COMMITMENT_PURCHASE : BILL_OTHER;
    if (!has_gpus && !e->is_gpu_host)
        return BILL_OTHER;
    if (is_adjusted)
        return BILL_CORRECTION;
    if (e->is_unused)
        return BILL_COMMITMENT_UNUSED;
    return has_gpus ? BILL_GPU_USE : BILL_GPU_MONEY;
}

static const char *
category(const struct field *cell, const struct evidence *e)
{
    if (bill_is(cell[GCP_COST_TYPE], "tax"))
        return "Tax";
    if (cell[GCP_COST_TYPE].size && !bill_is(cell[GCP_COST_TYPE], "regular"))
        return "Adjustment";
    return e->sku.share == GCP_COMMITMENT ? "Purchase" : "Usage";
}

/* Time of use, and of commitments to GPUs; of a machine's other parts no time is counted twice. */
static void
set_units(const struct field *cell, const struct evidence *e, struct bill_class *class)
{
    bool has_gpus = e->sku.share == GCP_GPU || e->sku.share == GCP_SLICE;
    bool gpu_time;

    class->counts_gpus = has_gpus ? e->sku.gpus <= 1 : e->sku.share == GCP_COMMITMENT && e->sku.model && !*e->sku.part;
    class->unit_seconds = bill_unit_seconds(cell[GCP_UNIT], &gpu_time);
    class->pricing_unit_seconds = bill_unit_seconds(cell[GCP_PRICE_UNIT], &gpu_time);
    if (class->role == BILL_GPU_USE && !class->unit_seconds && !class->pricing_unit_seconds)
        class->role = BILL_GPU_MONEY;
}

static void
set_commitment(const struct bill_context *context, const struct field *cell, const struct evidence *e, struct field hint,
               struct bill_class *class)
{
    struct arena *arena = context->arena;
    char cover = hint.size ? hint.text[0] : '-';

    if (class->role == BILL_COMMITMENT_UNUSED) {
        const char *name = arena_strndup(arena, hint.text + 1, hint.size - 1);

        class->commitment_id = *name ? resource_key(arena, "gcp", name, strlen(name)) : "unused reservations";
        class->commitment_status = "Unused";
    } else if (e->sku.share == GCP_COMMITMENT) {
        class->commitment_id = gcp_group_name(arena, cell[GCP_REGION], &e->sku);
    } else if (cover != '-') {
        class->commitment_id = cover == 'C' ? gcp_group_name(arena, cell[GCP_REGION], &e->sku) : gcp_spend_name(arena, cell[GCP_REGION]);
        class->commitment_status = "Used";
    }
}

static const char *
pricing(const struct evidence *e, struct field hint)
{
    if (e->sku.is_spot)
        return "spot";
    if (e->sku.is_scheduled)
        return "other";
    return e->sku.share == GCP_COMMITMENT || (hint.size && hint.text[0] != '-') ? "committed" : "on-demand";
}

static void
set_rate(struct arena *arena, const struct field *cell, struct bill_class *class)
{
    if (!cell[GCP_RATE].size || bill_is(cell[GCP_CURRENCY], "USD"))
        return;
    class->fx_from = "USD";
    class->fx_rate = bill_text(arena, cell[GCP_RATE]);
}

static const struct own *
own_class(struct arena *arena, const struct field *cell, const struct evidence *e, const struct bill_class *class)
{
    struct own *own = arena_alloc(arena, sizeof *own);
    bool has_gpus = e->sku.share == GCP_GPU || e->sku.share == GCP_SLICE;

    *own = (struct own){
        .share = e->sku.share,
        .has_hours = has_gpus || class->counts_gpus,
        .group = gcp_group_name(arena, cell[GCP_REGION], &e->sku),
        .spend = gcp_spend_name(arena, cell[GCP_REGION]),
        .family = e->sku.family ? e->sku.family : e->sku.attached ? "n1" : "",
    };
    return own;
}

static const char *
classify(struct bill_context *context, const struct field *cell, struct field hint, struct bill_class *ret)
{
    struct arena *arena = context->arena;
    struct bill_class class = {.provider = "gcp", .charge_class = "", .commitment_id = "", .commitment_status = "", .gpu_count = ""};
    struct evidence e = {.type = {"", 0}};

    if (!cell[GCP_CURRENCY].size)
        return "currency is empty";
    find_machine(context, cell, (struct field){hint.text + 1, hint.size ? hint.size - 1 : 0}, &e);
    class.role = role_of(cell, &e);
    class.service = e.sku.share == GCP_TPU ? e.sku.tpu : bill_text(arena, cell[GCP_SERVICE]);
    class.charge_category = category(cell, &e);
    class.charge_class = bill_is(cell[GCP_COST_TYPE], "adjustment") ? "Correction" : "";
    class.currency = bill_text(arena, cell[GCP_CURRENCY]);
    class.pricing = pricing(&e, hint);
    class.instance_type = class.role == BILL_OTHER ? "" : bill_text(arena, e.type);
    if (class.role != BILL_OTHER && e.model) {
        class.gpu_model = e.model;
        class.gpu_count = arena_printf(arena, "%d", e.sku.gpus > 1 ? e.sku.gpus : 1);
    }
    set_commitment(context, cell, &e, hint, &class);
    set_rate(arena, cell, &class);
    if (class.role != BILL_OTHER)
        set_units(cell, &e, &class);
    class.own = own_class(arena, cell, &e, &class);
    *ret = class;
    return NULL;
}

/* ---------------------------------------------------------------- describe */

static const char *
commitment_type(const struct bill_class *class)
{
    const struct own *own = class->own;

    if (!*class->commitment_id)
        return "";
    if (!strcmp(class->commitment_id, own->spend))
        return "Spend-based committed use";
    return !strcmp(class->commitment_id, own->group) ? "Committed use" : "Reservation";
}

static void
describe(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_item *ret)
{
    struct arena *arena = context->arena;
    const struct own *own = class->own;
    const char *type = commitment_type(class);
    const char *machine = *class->instance_type ? class->instance_type : own->family;

    *ret = (struct bill_item){
        .account_id = bill_text(arena, cell[cell[GCP_PROJECT].size ? GCP_PROJECT : GCP_BILLING_ACCOUNT]),
        .account_name = bill_text(arena, cell[GCP_PROJECT_NAME]),
        .resource_id = bill_text(arena, cell[GCP_RESOURCE]),
        .resource_name = bill_text(arena, cell[GCP_RESOURCE_NAME]),
        .region = bill_text(arena, cell[cell[GCP_REGION].size ? GCP_REGION : GCP_LOCATION]),
        .zone = bill_text(arena, cell[GCP_ZONE]),
        .sku = bill_text(arena, cell[GCP_SKU_ID]),
        .description = bill_text(arena, cell[GCP_SKU]),
        .commitment_name = own->share == GCP_COMMITMENT ? bill_text(arena, cell[GCP_SKU]) : "",
        .commitment_type = type,
        .commitment_category = !strcmp(type, "Spend-based committed use") ? "Spend" : *type ? "Usage" : "",
        .tags = gcp_tags(arena, cell[GCP_LABELS], cell[GCP_TAGS], cell[GCP_PROJECT_LABELS]),
    };
    /* without a resource a machine's rows meet by what the rows of one machine have in common */
    ret->resource_key = *ret->resource_id ? resource_key(arena, "gcp", ret->resource_id, strlen(ret->resource_id))
                                          : arena_printf(arena, "unnamed/%s/%s/%s", ret->account_id, ret->region, machine);
}

/* ---------------------------------------------------------------- charge */

static const char *
period_start(struct bill_context *context, const struct field *cell, int64_t *ret_time)
{
    struct field month = cell[GCP_MONTH];
    char day[] = "0000-00-01";

    if (month.size != 6)
        return "invoice.month is no month";
    memcpy(day, month.text, 4);
    memcpy(day + 5, month.text + 4, 2);
    return bill_time(&context->clock, (struct field){day, 10}, ret_time) ? NULL : "invoice.month is no month";
}

/* The share of the fees in the place of a credit. */
static struct field
with_share(struct arena *arena, const struct bill_context *context, const char *name, struct field month, struct field cost,
           struct field credit)
{
    const struct gcp_group *group = credit.size ? gcp_group(notes_of(context), name, month) : NULL;

    if (!group || !group->share.size)
        return cost;
    return bill_sum(arena, cost, bill_product(arena, gcp_negative(arena, credit), group->share));
}

static void
set_fee(struct bill_context *context, const struct own *own, const struct field *cell, const struct gcp_credits *credits,
        struct bill_charge *charge)
{
    static const struct field nothing = {"0", 1};
    const struct gcp_group *group = gcp_group(notes_of(context), own->group, cell[GCP_MONTH]);

    charge->list = (struct field){"", 0};
    if (credits->offsets_fee) {
        /* what was used is charged at the use: the rest of the fee is what nothing used */
        charge->role = charge->role == BILL_OTHER ? BILL_OTHER : BILL_COMMITMENT_UNUSED;
        return;
    }
    if (group && group->unused.size) {
        charge->unused = bill_product(context->arena, charge->effective, group->unused);
        charge->unused_quantity = own->has_hours ? bill_product(context->arena, charge->quantity, group->unused) : nothing;
    }
    /* a row that is only totalled is its own unused part */
    charge->effective = charge->role == BILL_OTHER && charge->unused.size ? charge->unused : nothing;
}

static const char *
set_money(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_charge *charge)
{
    struct arena *arena = context->arena;
    const struct own *own = class->own;
    struct gcp_credits credits;
    struct field effective;

    if (!decimal_fits(cell[GCP_COST].text, cell[GCP_COST].size))
        return cell[GCP_COST].size ? "cost is no number" : "cost is empty";
    if (cell[GCP_LIST].size && !decimal_fits(cell[GCP_LIST].text, cell[GCP_LIST].size))
        return "cost_at_list is no number";
    if (!gcp_credits_read(arena, cell[GCP_CREDITS], &credits))
        return "credits are no array of amounts";
    charge->list = cell[GCP_LIST];
    charge->billed = bill_sum(arena, cell[GCP_COST], credits.all);
    effective = bill_sum(arena, charge->billed, gcp_negative(arena, credits.promotion));
    effective = with_share(arena, context, own->group, cell[GCP_MONTH], effective, credits.used);
    charge->effective = with_share(arena, context, own->spend, cell[GCP_MONTH], effective, credits.spent);
    if (own->share == GCP_COMMITMENT)
        set_fee(context, own, cell, &credits, charge);
    return decimal_fits(charge->effective.text, charge->effective.size) ? NULL : "the effective cost has too many digits";
}

/* Seconds are exact, hours in pricing units are rounded. */
static const char *
set_quantity(const struct bill_class *class, const struct field *cell, struct bill_charge *charge)
{
    const struct own *own = class->own;
    bool is_priced = !class->unit_seconds || !cell[GCP_AMOUNT].size;
    struct field quantity = cell[is_priced ? GCP_PRICED : GCP_AMOUNT];
    int sign = decimal_sign(quantity.text, quantity.size);

    charge->unit_seconds = is_priced ? class->pricing_unit_seconds : class->unit_seconds;
    if (quantity.size && !decimal_fits(quantity.text, quantity.size))
        return "usage.amount is no number";
    if (!own->has_hours) {
        /* cores and memory: money of hours that the GPU's row counts */
        charge->quantity = class->role == BILL_COMMITMENT_UNUSED ? (struct field){"0", 1} : (struct field){"", 0};
        charge->unit_seconds = charge->quantity.size || own->share == GCP_COMMITMENT ? HOUR_SECONDS : 0;
        return NULL;
    }
    charge->quantity = quantity;
    if (class->role == BILL_GPU_USE && !quantity.size)
        charge->role = BILL_GPU_MONEY;
    else if (class->role == BILL_GPU_USE && sign < 0)
        charge->role = BILL_CORRECTION;
    /* money back for hours that stay */
    if (class->role == BILL_CORRECTION && sign > 0 && decimal_sign(cell[GCP_COST].text, cell[GCP_COST].size) <= 0)
        charge->quantity = (struct field){"", 0};
    return NULL;
}

static const char *
charge(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_charge *ret)
{
    struct bill_charge c = {.role = class->role};
    const char *reason;

    if (!bill_time(&context->clock, cell[GCP_FROM], &c.from))
        return "usage_start_time is no time";
    if (!bill_time(&context->clock, cell[GCP_TO], &c.to))
        return "usage_end_time is no time";
    if (c.to < c.from || c.to - c.from > CHARGE_MOST_SECONDS)
        return c.to < c.from ? "usage_end_time is before usage_start_time" : "the usage time is longer than ten years";
    reason = class->role == BILL_OTHER ? NULL : set_quantity(class, cell, &c);
    if (!reason)
        reason = set_money(context, class, cell, &c);
    if (c.role == BILL_COMMITMENT_PURCHASE)
        c.quantity = (struct field){"", 0};
    c.is_use = !strcmp(class->charge_category, "Usage") && c.to - c.from <= DAY_SECONDS;
    *ret = c;
    return reason;
}

/* ---------------------------------------------------------------- the source */

static const struct bill_format gcp = {
    .suffixes = bill_suffixes,
    .name = "Google Cloud",
    .version_hint = "The standard and the detailed export are read, as JSON lines or as CSV with names such as invoice.month. "
                    "Google's FOCUS export has the format focus.",
    .columns = columns,
    .count = GCP_COLUMNS,
    .period = GCP_MONTH,
    .zone_seconds = PACIFIC_SECONDS,
    .period_start = period_start,
    .hint = hint,
    .classify = classify,
    .describe = describe,
    .charge = charge,
    .survey = gcp_survey,
    .settle = gcp_settle,
};

static bool
ingest(struct source_run *run, struct error *err)
{
    struct bill_format format = gcp;

    format.state = format.notes = gcp_notes_new(run->arena);
    return bill_ingest(run, &format, err);
}

static const char *const keys[] = {"path", NULL};

const struct source source_gcp = {
    .format = "gcp",
    .title = "Google Cloud billing export",
    .kind = SOURCE_BILLING,
    .keys = keys,
    .bill = &gcp,
    .ingest = ingest,
};
