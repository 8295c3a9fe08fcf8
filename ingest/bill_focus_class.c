/* What kind of charge a row of FOCUS is. */
#include <config.h>

#include <string.h>

#include "ingest/bill_focus.h"
#include "ingest/ingest.h"

static enum bill_role
gpu_role(const struct field *cell, enum focus_share part)
{
    if (part == SHARE_NONE)
        return BILL_OTHER;
    if (bill_is(cell[FOCUS_CLASS], "Correction"))
        return BILL_CORRECTION;
    if (!bill_is(cell[FOCUS_CATEGORY], "Usage"))
        return BILL_OTHER;
    if (bill_is(cell[FOCUS_CAPACITY_STATUS], "Unused") || bill_contains(cell[FOCUS_USAGE_TYPE], "unusedbox")
        || bill_contains(cell[FOCUS_USAGE_TYPE], "unusedded"))
        return BILL_COMMITMENT_UNUSED;
    return part == SHARE_REST ? BILL_GPU_MONEY : BILL_GPU_USE;
}

static enum bill_role
role(const struct field *cell, enum focus_share part)
{
    bool is_block = bill_contains(cell[FOCUS_USAGE_TYPE], "capacityblockfee:");

    if (bill_is(cell[FOCUS_CATEGORY], "Purchase"))
        return cell[FOCUS_COMMITMENT].size || is_block ? BILL_COMMITMENT_PURCHASE : BILL_OTHER;
    if (bill_is(cell[FOCUS_CATEGORY], "Usage")
        && (bill_is(cell[FOCUS_STATUS], "Unused") || bill_is(cell[FOCUS_SUBCATEGORY], "Unused Commitment")))
        return BILL_COMMITMENT_UNUSED;
    return gpu_role(cell, part);
}

static const char *
pricing(const struct field *cell)
{
    if (bill_is(cell[FOCUS_PRICING], "Dynamic") || bill_contains(cell[FOCUS_USAGE_TYPE], "spotusage"))
        return "spot";
    if (cell[FOCUS_COMMITMENT].size || bill_is(cell[FOCUS_PRICING], "Committed") || bill_is(cell[FOCUS_PRICING], "Commitment-Based"))
        return "committed";
    return !cell[FOCUS_PRICING].size || bill_is(cell[FOCUS_PRICING], "Standard") || bill_is(cell[FOCUS_PRICING], "On-Demand")
               ? "on-demand" : "other";
}

/* A machine by the month, by the hour of its cores, or without a unit is money; gigabytes and requests
 * are other things. */
static enum bill_role
without_time(struct field unit)
{
    bool is_money = !unit.size || (bill_contains(unit, "month") && !bill_contains(unit, "b")) || bill_contains(unit, "ocpu");

    return is_money ? BILL_GPU_MONEY : BILL_OTHER;
}

/* Google's accelerator rows count GPUs whatever their unit; others say so in the unit. */
static void
set_units(const struct field *cell, enum focus_share part, struct bill_class *class)
{
    bool gpu_time = false, priced_gpu_time = false;

    class->counts_gpus = part == SHARE_ACCELERATOR && !strcmp(class->provider, "gcp");
    if (part != SHARE_MACHINE && part != SHARE_ACCELERATOR)
        return;
    class->unit_seconds = bill_unit_seconds(cell[FOCUS_UNIT], &gpu_time);
    class->pricing_unit_seconds = bill_unit_seconds(cell[FOCUS_PRICE_UNIT], &priced_gpu_time);
    if (class->unit_seconds && gpu_time != priced_gpu_time)
        class->pricing_unit_seconds = 0; /* one of them would be counted wrong */
    class->counts_gpus |= class->unit_seconds ? gpu_time : priced_gpu_time;
    if (class->role == BILL_GPU_USE && !class->unit_seconds && !class->pricing_unit_seconds)
        class->role = without_time(cell[FOCUS_UNIT].size ? cell[FOCUS_UNIT] : cell[FOCUS_PRICE_UNIT]);
}

static struct field
provider_cell(const struct field *cell)
{
    static const enum focus_column places[] = {FOCUS_PROVIDER, FOCUS_SERVICE_PROVIDER, FOCUS_HOST, FOCUS_ISSUER, FOCUS_PUBLISHER};
    size_t i = 0;

    while (i + 1 < sizeof places / sizeof *places && !cell[places[i]].size)
        i++;
    return cell[places[i]];
}

/* Azure writes the id of one commitment, a path, in several cases. */
static const char *
commitment_id(struct arena *arena, const char *provider, struct field id)
{
    char *text = arena_strdup(arena, bill_text(arena, id));
    bool is_path = *text == '/' && !strcmp(provider, "azure");

    for (char *at = text; *at && is_path; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at |= 0x20;
    return text;
}

static void
set_gpu(struct arena *arena, const struct focus_gpu *gpu, struct bill_class *class)
{
    class->instance_type = bill_text(arena, gpu->type);
    class->gpu_model = gpu->model;
    class->gpu_count = bill_text(arena, gpu->gpu_count);
    if (!*class->gpu_count && gpu->model_count)
        class->gpu_count = arena_printf(arena, "%d", gpu->model_count);
    else if (!*class->gpu_count && class->counts_gpus && !gpu->type.size)
        class->gpu_count = "1";
}

/* Costs that the bill does not have. What no rate fits says so, where it is only totalled. */
static void
set_rates(struct bill_context *context, const struct field *cell, struct bill_class *class, struct focus_class *own)
{
    const struct focus_state *state = context->state;
    struct rate_ask ask = {
        .provider = class->provider,
        .region = cell[FOCUS_REGION].size ? cell[FOCUS_REGION] : cell[FOCUS_REGION_NAME],
        .currency = cell[FOCUS_CURRENCY],
        .names = {cell[FOCUS_SKU], {class->instance_type, strlen(class->instance_type)}, cell[FOCUS_METER],
                  {class->gpu_model, strlen(class->gpu_model)}, cell[FOCUS_SERVICE]},
        .unit = cell[FOCUS_UNIT].size ? cell[FOCUS_UNIT] : cell[FOCUS_PRICE_UNIT],
        .unit_seconds = class->unit_seconds ? class->unit_seconds : class->pricing_unit_seconds,
        .gpus = {class->gpu_count, strlen(class->gpu_count)},
    };

    bool gpu_time = class->counts_gpus;

    if (!ask.unit_seconds)
        ask.unit_seconds = bill_unit_seconds(ask.unit, &gpu_time);
    ask.counts_gpus = gpu_time;
    own->by_priced = class->role == BILL_OTHER ? !cell[FOCUS_UNIT].size : !class->unit_seconds;
    own->rates = rate_choose(state->rates, context->arena, &ask);
    if (!*class->currency && own->rates)
        class->currency = rate_currency(own->rates);
    if (!own->rates && class->role == BILL_OTHER && !cell[FOCUS_BILLED].size && bill_is(cell[FOCUS_CATEGORY], "Usage"))
        class->charge_class = FOCUS_UNPRICED;
}

static const char *
check_class(const struct field *cell, struct field provider, const struct focus_state *state)
{
    if (!provider.size)
        return "ProviderName is empty";
    if (!cell[FOCUS_CATEGORY].size)
        return "ChargeCategory is empty";
    return cell[FOCUS_CURRENCY].size || (state && state->rates) ? NULL : "BillingCurrency is empty";
}

const char *
focus_classify(struct bill_context *context, const struct field *cell, struct field hint, struct bill_class *ret)
{
    const struct focus_state *state = context->state;
    struct arena *arena = context->arena;
    struct field provider = provider_cell(cell);
    struct focus_class *own = arena_alloc(arena, sizeof *own);
    struct bill_class class = {.own = own};
    struct focus_gpu gpu;
    const char *reason = check_class(cell, provider, state);
    bool capacity; /* an unused capacity reservation */
    bool ignored;

    if (reason)
        return reason;
    class.provider = provider_key(arena, provider.text, provider.size);
    gpu = focus_gpu_find(context->types, arena, cell, class.provider, hint, state && state->rates);
    class.role = role(cell, gpu.share);
    class.service = bill_text(arena, cell[FOCUS_SERVICE].size ? cell[FOCUS_SERVICE] : cell[FOCUS_SERVICE_CATEGORY]);
    class.charge_category = bill_text(arena, cell[FOCUS_CATEGORY]);
    class.charge_class = bill_text(arena, cell[FOCUS_CLASS]);
    capacity = class.role == BILL_COMMITMENT_UNUSED && !cell[FOCUS_COMMITMENT].size;
    class.commitment_id = commitment_id(arena, class.provider, cell[capacity ? FOCUS_CAPACITY : FOCUS_COMMITMENT]);
    class.commitment_status = bill_text(arena, cell[capacity ? FOCUS_CAPACITY_STATUS : FOCUS_STATUS]);
    class.currency = bill_text(arena, cell[FOCUS_CURRENCY]);
    class.pricing = pricing(cell);
    if (class.role != BILL_OTHER)
        set_units(cell, gpu.share, &class);
    set_gpu(arena, &gpu, &class);
    if (class.role == BILL_COMMITMENT_UNUSED && !class.unit_seconds && !class.pricing_unit_seconds)
        own->committed_seconds = bill_unit_seconds(cell[FOCUS_COMMITMENT_UNIT], &ignored);
    if (state && state->rates)
        set_rates(context, cell, &class, own);
    if (!*class.currency)
        return "BillingCurrency is empty, and no rate of the card fits";
    *ret = class;
    return NULL;
}
