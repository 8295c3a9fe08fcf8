/*
 * AWS cost and usage reports, legacy and CUR 2.0: bill_aws.h says what a row means.
 *
 * cost = net (what is asked after discounts, where the report has such columns) or unblended. Both add
 * up to an invoice: reports whose discounts are rows of their own have them in the unblended sum,
 * reports whose discounts are columns have them in the net costs only.
 */
#include <config.h>

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "common/calendar.h"
#include "common/log.h"
#include "ingest/bill_aws.h"
#include "ingest/ingest.h"

static const struct bill_column columns[AWS_COLUMNS] = {
    [AWS_PERIOD] = {{"bill/BillingPeriodStartDate", "bill_billing_period_start_date"}, BILL_VALUE, true},
    [AWS_FROM] = {{"lineItem/UsageStartDate", "line_item_usage_start_date"}, BILL_VALUE, true},
    [AWS_TO] = {{"lineItem/UsageEndDate", "line_item_usage_end_date"}, BILL_VALUE, true},
    [AWS_INTERVAL] = {{"identity/TimeInterval", "identity_time_interval"}, BILL_VALUE, false},
    [AWS_AMOUNT] = {{"lineItem/UsageAmount", "line_item_usage_amount"}, BILL_VALUE, true},
    [AWS_COST] = {{"lineItem/UnblendedCost", "line_item_unblended_cost"}, BILL_VALUE, true},
    [AWS_NET_COST] = {{"lineItem/NetUnblendedCost", "line_item_net_unblended_cost"}, BILL_VALUE, false},
    [AWS_LIST] = {{"pricing/publicOnDemandCost", "pricing_public_on_demand_cost"}, BILL_VALUE, false},
    [AWS_RI_EFFECTIVE] = {{"reservation/EffectiveCost", "reservation_effective_cost"}, BILL_VALUE, false},
    [AWS_RI_NET_EFFECTIVE] = {{"reservation/NetEffectiveCost", "reservation_net_effective_cost"}, BILL_VALUE, false},
    [AWS_RI_UNUSED_HOURS] = {{"reservation/UnusedQuantity", "reservation_unused_quantity"}, BILL_VALUE, false},
    [AWS_RI_UNUSED_UPFRONT] = {{"reservation/UnusedAmortizedUpfrontFeeForBillingPeriod",
                                "reservation_unused_amortized_upfront_fee_for_billing_period"}, BILL_VALUE, false},
    [AWS_RI_UNUSED_RECURRING] = {{"reservation/UnusedRecurringFee", "reservation_unused_recurring_fee"}, BILL_VALUE, false},
    [AWS_RI_NET_UNUSED_UPFRONT] = {{"reservation/NetUnusedAmortizedUpfrontFeeForBillingPeriod",
                                    "reservation_net_unused_amortized_upfront_fee_for_billing_period"}, BILL_VALUE, false},
    [AWS_RI_NET_UNUSED_RECURRING] = {{"reservation/NetUnusedRecurringFee", "reservation_net_unused_recurring_fee"},
                                     BILL_VALUE, false},
    [AWS_SP_EFFECTIVE] = {{"savingsPlan/SavingsPlanEffectiveCost", "savings_plan_savings_plan_effective_cost"}, BILL_VALUE, false},
    [AWS_SP_NET_EFFECTIVE] = {{"savingsPlan/NetSavingsPlanEffectiveCost", "savings_plan_net_savings_plan_effective_cost"},
                              BILL_VALUE, false},
    [AWS_SP_TOTAL] = {{"savingsPlan/TotalCommitmentToDate", "savings_plan_total_commitment_to_date"}, BILL_VALUE, false},
    [AWS_SP_USED] = {{"savingsPlan/UsedCommitment", "savings_plan_used_commitment"}, BILL_VALUE, false},
    [AWS_POD_USAGE] = {{"splitLineItem/SplitUsage", "split_line_item_split_usage"}, BILL_VALUE, false},
    [AWS_POD_COST] = {{"splitLineItem/SplitCost", "split_line_item_split_cost"}, BILL_VALUE, false},
    [AWS_POD_UNUSED] = {{"splitLineItem/UnusedCost", "split_line_item_unused_cost"}, BILL_VALUE, false},
    [AWS_POD_NET_COST] = {{"splitLineItem/NetSplitCost", "split_line_item_net_split_cost"}, BILL_VALUE, false},
    [AWS_POD_NET_UNUSED] = {{"splitLineItem/NetUnusedCost", "split_line_item_net_unused_cost"}, BILL_VALUE, false},
    [AWS_LINE_TYPE] = {{"lineItem/LineItemType", "line_item_line_item_type"}, BILL_CLASS, true},
    [AWS_CURRENCY] = {{"lineItem/CurrencyCode", "line_item_currency_code"}, BILL_CLASS, true},
    [AWS_PRODUCT_CODE] = {{"lineItem/ProductCode", "line_item_product_code"}, BILL_CLASS, true},
    [AWS_USAGE_TYPE] = {{"lineItem/UsageType", "line_item_usage_type"}, BILL_CLASS, true},
    [AWS_OPERATION] = {{"lineItem/Operation", "line_item_operation"}, BILL_CLASS, false},
    [AWS_DESCRIPTION] = {{"lineItem/LineItemDescription", "line_item_line_item_description"}, BILL_CLASS, false},
    [AWS_UNIT] = {{"pricing/unit", "pricing_unit"}, BILL_CLASS, false},
    [AWS_ENTITY] = {{"bill/BillingEntity", "bill_billing_entity"}, BILL_CLASS, false},
    [AWS_INSTANCE_TYPE] = {{"product/instanceType", "product_instance_type"}, BILL_CLASS, false},
    [AWS_PRODUCT] = {{"product"}, BILL_CLASS, false},
    [AWS_GPU] = {{"product/gpu", "product_gpu"}, BILL_CLASS, false},
    [AWS_RI_ARN] = {{"reservation/ReservationARN", "reservation_reservation_a_r_n"}, BILL_CLASS, false},
    [AWS_SP_ARN] = {{"savingsPlan/SavingsPlanArn", "savings_plan_savings_plan_a_r_n"}, BILL_CLASS, false},
    [AWS_CAPACITY] = {{"capacityReservation/CapacityReservationArn", "capacity_reservation_capacity_reservation_arn",
                       "capacity_reservation_capacity_reservation_a_r_n"}, BILL_CLASS, false},
    [AWS_POD_PARENT] = {{"splitLineItem/ParentResourceId", "split_line_item_parent_resource_id"}, BILL_CLASS, false},
    [AWS_ACCOUNT] = {{"lineItem/UsageAccountId", "line_item_usage_account_id"}, BILL_ITEM, false},
    [AWS_ACCOUNT_NAME] = {{"lineItem/UsageAccountName", "line_item_usage_account_name"}, BILL_ITEM, false},
    [AWS_PAYER] = {{"bill/PayerAccountId", "bill_payer_account_id"}, BILL_ITEM, false},
    [AWS_PAYER_NAME] = {{"bill/PayerAccountName", "bill_payer_account_name"}, BILL_ITEM, false},
    [AWS_RESOURCE] = {{"lineItem/ResourceId", "line_item_resource_id"}, BILL_ITEM, false},
    [AWS_REGION] = {{"product/regionCode", "product_region_code", "product/region", "product_region"}, BILL_ITEM, false},
    [AWS_ZONE] = {{"lineItem/AvailabilityZone", "line_item_availability_zone"}, BILL_ITEM, false},
    [AWS_SKU] = {{"product/sku", "product_sku"}, BILL_ITEM, false},
    [AWS_INVOICE] = {{"bill/InvoiceId", "bill_invoice_id"}, BILL_ITEM, false},
    [AWS_OFFERING] = {{"savingsPlan/OfferingType", "savings_plan_offering_type"}, BILL_ITEM, false},
    [AWS_TAGS] = {{"resource_tags"}, BILL_ITEM, false},
    [AWS_TAGS_MORE] = {{"tags"}, BILL_ITEM, false},
    [AWS_CATEGORIES] = {{"cost_category"}, BILL_ITEM, false},
};

static const char *const gathered[] = {"resourceTags/", "resource_tags_", "costCategory/", "cost_category_", NULL};

/* ---------------------------------------------------------------- classify */

/* Reservations of databases and caches, and of machines without a GPU, are none of ours. */
static bool
may_be_gpu(const struct field *cell, const struct aws_row *row)
{
    if (row->type.size)
        return row->is_gpu;
    return bill_is(cell[AWS_PRODUCT_CODE], "AmazonEC2") || bill_is(cell[AWS_PRODUCT_CODE], "AmazonSageMaker");
}

static enum bill_role
use_role(const struct aws_row *row)
{
    if (!row->is_gpu)
        return BILL_OTHER;
    if (row->part == AWS_BLOCK)
        return BILL_COMMITMENT_PURCHASE;
    if (row->part == AWS_IDLE)
        return BILL_COMMITMENT_UNUSED;
    return aws_is_machine(row) ? BILL_GPU_USE : BILL_OTHER;
}

static enum bill_role
role_of(const struct field *cell, const struct aws_row *row)
{
    switch (row->line) {
    case AWS_LINE_USE:
    case AWS_LINE_RESERVED:
    case AWS_LINE_COVERED:
        return use_role(row);
    case AWS_LINE_PLAN_FEE:
    case AWS_LINE_PLAN_UPFRONT:
        return BILL_COMMITMENT_PURCHASE;
    case AWS_LINE_RI_FEE:
        return may_be_gpu(cell, row) ? BILL_COMMITMENT_PURCHASE : BILL_OTHER;
    case AWS_LINE_FEE:
        if (row->part == AWS_BLOCK)
            return row->is_gpu ? BILL_COMMITMENT_PURCHASE : BILL_OTHER;
        return cell[AWS_RI_ARN].size && may_be_gpu(cell, row) ? BILL_COMMITMENT_PURCHASE : BILL_OTHER;
    case AWS_LINE_REFUND:
        if (row->is_plan_refund)
            return BILL_COMMITMENT_PURCHASE;
        return use_role(row) == BILL_GPU_USE ? BILL_CORRECTION : use_role(row);
    default:
        return BILL_OTHER;
    }
}

/* Which commitment the row belongs to, and whether it was used. */
static void
set_commitment(struct arena *arena, const struct field *cell, const struct aws_row *row, struct field hint,
               struct bill_class *class)
{
    struct field capacity = aws_capacity_id(cell[AWS_CAPACITY]).size ? cell[AWS_CAPACITY] : hint;
    bool is_capacity = row->part == AWS_IDLE || row->part == AWS_BLOCK
        || (row->line == AWS_LINE_USE && aws_is_machine(row) && aws_capacity_id(cell[AWS_CAPACITY]).size);
    bool is_plan = row->line == AWS_LINE_COVERED || row->line == AWS_LINE_NEGATION || row->line == AWS_LINE_PLAN_FEE
        || row->line == AWS_LINE_PLAN_UPFRONT;
    struct field reserved = aws_capacity_id(capacity).size ? aws_capacity_id(capacity) : capacity;
    struct field id = is_capacity ? reserved : is_plan ? cell[AWS_SP_ARN] : cell[AWS_RI_ARN];

    if (row->line > AWS_LINE_FEE && !is_capacity)
        return;
    class->commitment_id = bill_text(arena, id);
    if (!id.size)
        return;
    if (row->part == AWS_IDLE)
        class->commitment_status = "Unused";
    else if (row->line <= AWS_LINE_NEGATION && row->part != AWS_BLOCK)
        class->commitment_status = "Used";
}

static const char *
pricing(const struct aws_row *row, struct field hint)
{
    if (row->part == AWS_SPOT)
        return "spot";
    if (row->line == AWS_LINE_RESERVED || row->line == AWS_LINE_COVERED || row->part == AWS_BLOCK)
        return "committed";
    if ((row->line >= AWS_LINE_NEGATION && row->line <= AWS_LINE_FEE) || row->is_plan_refund)
        return "committed";
    return aws_is_machine(row) && bill_is(hint, "free") ? "committed" : "on-demand"; /* in a Capacity Block */
}

/* EC2 counts hours, also where the report leaves the unit out; a reservation's unused quantity is hours. */
static void
set_units(const struct field *cell, const struct aws_row *row, struct bill_class *class)
{
    bool gpu_time = false;

    if (row->line == AWS_LINE_PLAN_FEE || row->line == AWS_LINE_PLAN_UPFRONT || row->is_plan_refund)
        return;
    class->unit_seconds = !cell[AWS_UNIT].size || row->line == AWS_LINE_RI_FEE || row->part == AWS_BLOCK
        ? HOUR_SECONDS : bill_unit_seconds(cell[AWS_UNIT], &gpu_time);
    class->counts_gpus = row->part == AWS_HOST || gpu_time; /* no hours, so no GPUs to multiply them by */
    if (class->role == BILL_GPU_USE && !class->unit_seconds)
        class->role = BILL_GPU_MONEY;
}

static const char *
pod_parent(struct arena *arena, struct field parent)
{
    return parent.size ? resource_key(arena, "aws", parent.text, parent.size) : "";
}

static const struct aws_class *
own_class(struct arena *arena, const struct field *cell, const struct aws_row *row, struct field hint)
{
    struct aws_class *own = arena_alloc(arena, sizeof *own);

    *own = (struct aws_class){
        .line = row->line,
        .part = row->part,
        .is_discount = aws_is_discount(cell[AWS_LINE_TYPE]),
        .is_plan_refund = row->is_plan_refund,
        .is_reservation = cell[AWS_RI_ARN].size,
        .is_accelerator = bill_contains(cell[AWS_USAGE_TYPE], "accelerator"),
        .is_gpu = row->is_gpu,
    };
    if (row->part == AWS_POD && row->line <= AWS_LINE_COVERED && hint.size) {
        own->pod = bill_text(arena, hint);
        own->parent = pod_parent(arena, cell[AWS_POD_PARENT]);
    }
    return own;
}

static const char *
classify(struct bill_context *context, const struct field *cell, struct field hint, struct bill_class *ret)
{
    struct arena *arena = context->arena;
    struct aws_row row;
    struct bill_class class = {.provider = "aws", .charge_class = "", .commitment_id = "", .commitment_status = ""};

    if (!cell[AWS_LINE_TYPE].size || !cell[AWS_CURRENCY].size)
        return !cell[AWS_LINE_TYPE].size ? "LineItemType is empty" : "CurrencyCode is empty";
    aws_row_read(arena, context->types, cell, &row);
    class.role = role_of(cell, &row);
    class.service = bill_text(arena, cell[AWS_PRODUCT_CODE]);
    class.charge_category = row.category;
    class.currency = bill_text(arena, cell[AWS_CURRENCY]);
    class.pricing = pricing(&row, hint);
    set_commitment(arena, cell, &row, hint, &class);
    class.instance_type = row.is_gpu ? bill_text(arena, row.type) : "";
    class.gpu_count = row.is_gpu ? bill_text(arena, row.gpu_count) : "";
    class.aside_category = row.line == AWS_LINE_COVERED ? "SavingsPlanNegation" : NULL;
    if (class.role != BILL_OTHER)
        set_units(cell, &row, &class);
    class.own = own_class(arena, cell, &row, hint);
    *ret = class;
    return NULL;
}

/* ---------------------------------------------------------------- describe */

static const char *
commitment_type(const struct bill_class *class)
{
    const struct aws_class *own = class->own;
    bool is_free = own->line == AWS_LINE_USE && !strcmp(class->pricing, "committed");

    if (own->part == AWS_BLOCK || is_free)
        return "Capacity Block";
    if (!*class->commitment_id)
        return own->is_plan_refund ? "Savings Plan" : "";
    if (own->line == AWS_LINE_RESERVED || own->line == AWS_LINE_RI_FEE || own->line == AWS_LINE_FEE)
        return own->part == AWS_IDLE ? "Capacity Reservation" : "Reserved Instance";
    if (own->part == AWS_IDLE || own->line == AWS_LINE_USE || own->line == AWS_LINE_REFUND)
        return "Capacity Reservation";
    return "Savings Plan";
}

static const char *
frequency(const struct aws_class *own)
{
    switch (own->line) {
    case AWS_LINE_PLAN_FEE:
    case AWS_LINE_RI_FEE:
        return "Recurring";
    case AWS_LINE_PLAN_UPFRONT:
    case AWS_LINE_FEE:
    case AWS_LINE_REFUND:
        return "One-Time";
    default:
        return own->part == AWS_BLOCK ? "One-Time" : "Usage-Based";
    }
}

static struct field
first(struct field a, struct field b)
{
    return a.size ? a : b;
}

static void
describe(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_item *ret)
{
    struct arena *arena = context->arena;
    struct field region = first(cell[AWS_REGION], bill_json_member(cell[AWS_PRODUCT], "region"));
    const char *type = commitment_type(class);

    *ret = (struct bill_item){
        .account_id = bill_text(arena, first(cell[AWS_ACCOUNT], cell[AWS_PAYER])),
        .account_name = bill_text(arena, first(cell[AWS_ACCOUNT_NAME], cell[AWS_PAYER_NAME])),
        .resource_id = bill_text(arena, cell[AWS_RESOURCE]),
        .resource_name = "",
        .region = bill_text(arena, region),
        .zone = bill_text(arena, cell[AWS_ZONE]),
        .sku = bill_text(arena, cell[AWS_SKU]),
        .description = bill_text(arena, cell[AWS_DESCRIPTION]),
        .charge_frequency = frequency(class->own),
        .commitment_name = bill_text(arena, cell[AWS_OFFERING]),
        .commitment_type = type,
        .commitment_category = !strcmp(type, "Savings Plan") ? "Spend" : *type ? "Usage" : "",
        .invoice_id = bill_text(arena, cell[AWS_INVOICE]),
        .tags = aws_tags(context, cell),
    };
    ret->resource_key = *ret->resource_id
        ? resource_key(arena, "aws", ret->resource_id, strlen(ret->resource_id))
        : arena_printf(arena, "unnamed/%s/%s/%s/%s", ret->account_id, ret->region, class->instance_type, ret->sku);
}

static const char *
period_start(struct bill_context *context, const struct field *cell, int64_t *ret_time)
{
    return bill_time(&context->clock, cell[AWS_PERIOD], ret_time) ? NULL : "BillingPeriodStartDate is no time";
}

/* ---------------------------------------------------------------- the source */

const struct bill_format bill_aws = {
    .suffixes = bill_suffixes,
    .name = "AWS",
    .version_hint = "Cost and usage reports are read in their legacy columns, in Athena's spelling of them and as CUR 2.0. A "
                    "CUR 2.0 export needs these columns in its query; AWS files of FOCUS have the format focus.",
    .columns = columns,
    .count = AWS_COLUMNS,
    .period = AWS_PERIOD,
    .invoice = AWS_INVOICE,
    .gather = gathered,
    .period_start = period_start,
    .hint = aws_hint,
    .classify = classify,
    .describe = describe,
    .charge = aws_charge,
    .sealed = aws_pods_seal,
};

static bool
read_cost(const struct source_run *run, bool *ret_is_gross, struct error *err)
{
    const char *value = section_get(run->section, "cost");

    *ret_is_gross = value && !strcasecmp(value, "unblended");
    if (!value || !*value || *ret_is_gross || !strcasecmp(value, "net"))
        return true;
    error_set(err, ERR_CONFIG, "%s: cost is \"%s\"", section_origin(run->settings, run->section, "cost"), value);
    return error_hint(err, "It is net or unblended.");
}

/* What savings plans cover is taken back by Negation rows; where some are missing, the bill's sum is
 * more than was paid. */
static bool
check_negations(struct source_run *run, struct error *err)
{
    const char *const param[] = {arena_printf(run->arena, "%d", run->source_id)};
    struct rows *rows;

    if (!rows_open(&rows, run->db, "sql/billing_negation.sql", 1, param, err))
        return false;
    while (rows_next(rows, err))
        log_warning("%s: of what savings plans cover, %s %s are not taken back by SavingsPlanNegation rows: the bill of "
                    "%s asks for more than was paid", run->section->name, rows_text(rows, 1), rows_text(rows, 2),
                    rows_text(rows, 0));
    rows_close(rows);
    return err->code == ERR_NONE;
}

static void
say(const struct source_run *run, const struct aws_state *state)
{
    const struct aws_seen *seen = state->seen;

    if (seen->discount_rows && seen->has_net && !state->is_gross)
        log_warning("%s: %" PRIu64 " rows of discounts have no net cost beside rows whose net cost has a discount in it: it "
                    "may be counted twice; \"cost = unblended\" counts it once", run->section->name, seen->discount_rows);
    if (seen->blind_fees)
        log_warning("%s: %" PRIu64 " recurring fees do not say what of them was unused (%s): unused commitments are not "
                    "complete", run->section->name, seen->blind_fees,
                    "UnusedRecurringFee and UnusedAmortizedUpfrontFeeForBillingPeriod, or TotalCommitmentToDate and "
                    "UsedCommitment");
    if (seen->tag_conflicts)
        log_note("%s: %" PRIu64 " times a tag (\"%s\" first) has one value as a resource tag and another elsewhere: the "
                 "resource tag is taken", run->section->name, seen->tag_conflicts, seen->tag);
}

bool
bill_aws_ingest(struct source_run *run, struct error *err)
{
    struct bill_format format = bill_aws;
    struct aws_seen seen = {0};
    struct aws_state state = {.seen = &seen, .pods = aws_pods_new(run)};
    bool is_good;

    if (!read_cost(run, &state.is_gross, err))
        return false;
    format.state = &state;
    format.fingerprint = state.is_gross ? "cost=unblended" : NULL;
    is_good = bill_ingest(run, &format, err);
    aws_pods_end(state.pods, err);
    say(run, &state);
    return is_good && check_negations(run, err);
}

const char *const bill_aws_keys[] = {"path", "cost", NULL};

const struct source source_aws_cur = {
    .format = "aws-cur",
    .title = "AWS cost and usage report (legacy)",
    .kind = SOURCE_BILLING,
    .keys = bill_aws_keys,
    .bill = &bill_aws,
    .ingest = bill_aws_ingest,
};
