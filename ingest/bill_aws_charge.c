/*
 * AWS cost and usage reports: when a row was, how much, what the invoice asks for it, and what it cost
 * amortized. The sum of what is billed, kept, totalled and set aside, is the sum of the cost column.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/calendar.h"
#include "common/decimal.h"
#include "ingest/bill_aws.h"

enum { CHARGE_MOST_SECONDS = 3653 * DAY_SECONDS };

static const struct field zero = {"0", 1}, unknown = {"", 0};

static struct field
first(struct field a, struct field b)
{
    return a.size ? a : b;
}

static struct field
net_or_gross(const struct aws_state *state, struct field net, struct field gross)
{
    return state->is_gross ? gross : first(net, gross);
}

/* ---------------------------------------------------------------- money */

static struct field
negative(struct arena *arena, struct field number)
{
    if (number.size && number.text[0] == '-')
        return (struct field){number.text + 1, number.size - 1};
    if (number.size && number.text[0] == '+')
        number = (struct field){number.text + 1, number.size - 1};
    return (struct field){arena_printf(arena, "-%.*s", (int)number.size, number.text), number.size + 1};
}

/* What was committed and not used; unknown where the report lacks either. */
static struct field
plan_unused(struct arena *arena, const struct field *cell)
{
    if (!cell[AWS_SP_TOTAL].size || !cell[AWS_SP_USED].size)
        return unknown;
    return bill_sum(arena, cell[AWS_SP_TOTAL], negative(arena, cell[AWS_SP_USED]));
}

static struct field
reservation_unused(struct arena *arena, const struct aws_state *state, const struct field *cell)
{
    return bill_sum(arena,
                    net_or_gross(state, cell[AWS_RI_NET_UNUSED_UPFRONT], cell[AWS_RI_UNUSED_UPFRONT]),
                    net_or_gross(state, cell[AWS_RI_NET_UNUSED_RECURRING], cell[AWS_RI_UNUSED_RECURRING]));
}

/* Of a recurring fee, what paid for nothing. */
static struct field
fee_unused(struct arena *arena, const struct aws_state *state, const struct aws_class *own, const struct field *cell)
{
    struct field unused = own->line == AWS_LINE_PLAN_FEE ? plan_unused(arena, cell) : reservation_unused(arena, state, cell);

    state->seen->blind_fees += !unused.size;
    return unused;
}

static struct field
amortized(struct arena *arena, const struct aws_state *state, const struct aws_class *own, const struct field *cell,
          struct field cost)
{
    switch (own->line) {
    case AWS_LINE_RESERVED:
        return net_or_gross(state, cell[AWS_RI_NET_EFFECTIVE], cell[AWS_RI_EFFECTIVE]);
    case AWS_LINE_COVERED:
        return net_or_gross(state, cell[AWS_SP_NET_EFFECTIVE], cell[AWS_SP_EFFECTIVE]);
    case AWS_LINE_NEGATION:
    case AWS_LINE_PLAN_UPFRONT:
        return zero;
    case AWS_LINE_PLAN_FEE:
    case AWS_LINE_RI_FEE:
        return first(fee_unused(arena, state, own, cell), zero);
    case AWS_LINE_FEE:
    case AWS_LINE_USE:
        return own->is_reservation || (own->part == AWS_BLOCK && own->is_gpu) ? zero : cost;
    case AWS_LINE_REFUND:
        return own->is_plan_refund || (own->part == AWS_BLOCK && own->is_gpu) ? zero : cost;
    default:
        return cost;
    }
}

static const char *
bad_number(const struct field *cell)
{
    static const struct {
        enum aws_column column;
        const char *reason;
    } numbers[] = {
        {AWS_COST, "UnblendedCost is no number"},
        {AWS_NET_COST, "NetUnblendedCost is no number"},
        {AWS_LIST, "publicOnDemandCost is no number"},
        {AWS_RI_EFFECTIVE, "reservation EffectiveCost is no number"},
        {AWS_RI_NET_EFFECTIVE, "reservation NetEffectiveCost is no number"},
        {AWS_RI_UNUSED_HOURS, "UnusedQuantity is no number"},
        {AWS_RI_UNUSED_UPFRONT, "UnusedAmortizedUpfrontFeeForBillingPeriod is no number"},
        {AWS_RI_UNUSED_RECURRING, "UnusedRecurringFee is no number"},
        {AWS_RI_NET_UNUSED_UPFRONT, "NetUnusedAmortizedUpfrontFeeForBillingPeriod is no number"},
        {AWS_RI_NET_UNUSED_RECURRING, "NetUnusedRecurringFee is no number"},
        {AWS_SP_EFFECTIVE, "SavingsPlanEffectiveCost is no number"},
        {AWS_SP_NET_EFFECTIVE, "NetSavingsPlanEffectiveCost is no number"},
        {AWS_SP_TOTAL, "TotalCommitmentToDate is no number"},
        {AWS_SP_USED, "UsedCommitment is no number"},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (cell[numbers[i].column].size && !decimal_fits(cell[numbers[i].column].text, cell[numbers[i].column].size))
            return numbers[i].reason;
    return NULL;
}

static bool
differ(struct field a, struct field b)
{
    struct decimal_sum sum_a = {0}, sum_b = {0};
    char text_a[DECIMAL_TEXT], text_b[DECIMAL_TEXT];

    if (a.size == b.size && !memcmp(a.text, b.text, a.size))
        return false;
    (void)decimal_add(&sum_a, a.text, a.size);
    (void)decimal_add(&sum_b, b.text, b.size);
    decimal_format(&sum_a, text_a);
    decimal_format(&sum_b, text_b);
    return strcmp(text_a, text_b);
}

/* Discounts that are rows of their own stand in the net costs of other rows too, or they do not: a
 * report with both is asked about at the end. */
static void
look_at_discounts(const struct aws_state *state, const struct aws_class *own, const struct field *cell)
{
    struct field gross = cell[AWS_COST], net = cell[AWS_NET_COST];

    if (own->is_discount)
        state->seen->discount_rows += !net.size && decimal_sign(gross.text, gross.size);
    else if (net.size && !state->seen->has_net)
        state->seen->has_net = differ(net, gross);
}

static const char *
set_money(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_charge *c)
{
    const struct aws_state *state = context->state;
    const struct aws_class *own = class->own;
    struct field cost = net_or_gross(state, cell[AWS_NET_COST], cell[AWS_COST]);
    const char *reason = bad_number(cell);

    if (reason)
        return reason;
    if (!cost.size && own->part == AWS_POD)
        cost = zero; /* a share of a machine that is billed elsewhere */
    if (!cost.size)
        return "UnblendedCost is empty";
    look_at_discounts(state, own, cell);
    c->billed = own->line == AWS_LINE_COVERED ? zero : cost;
    c->aside = own->line == AWS_LINE_COVERED ? cost : unknown;
    c->effective = amortized(context->arena, state, own, cell, cost);
    c->list = own->line <= AWS_LINE_COVERED ? cell[AWS_LIST] : unknown;
    if (class->role == BILL_COMMITMENT_PURCHASE) {
        c->unused = c->effective;
        c->effective = zero;
    }
    return NULL;
}

/* ---------------------------------------------------------------- time */

/* The hour or day the row is of, where its dates are those of the month. */
static void
set_interval(struct bill_context *context, struct field interval, struct bill_charge *c)
{
    const char *slash = interval.size ? memchr(interval.text, '/', interval.size) : NULL;
    struct field from, to;
    int64_t begin, end;

    if (!slash)
        return;
    from = (struct field){interval.text, (size_t)(slash - interval.text)};
    to = (struct field){slash + 1, interval.size - from.size - 1};
    if (!bill_time(&context->clock, from, &begin) || !bill_time(&context->clock, to, &end))
        return;
    if (begin >= c->from && end <= c->to && begin < end) {
        c->from = begin;
        c->to = end;
    }
}

static const char *
set_time(struct bill_context *context, const struct aws_class *own, const struct field *cell, struct bill_charge *c)
{
    if (!bill_time(&context->clock, cell[AWS_FROM], &c->from))
        return "UsageStartDate is no time";
    if (!bill_time(&context->clock, cell[AWS_TO], &c->to))
        return "UsageEndDate is no time";
    if (c->to < c->from)
        return "UsageEndDate is before UsageStartDate";
    if (c->to - c->from > CHARGE_MOST_SECONDS)
        return "the charge period is longer than ten years";
    if (own->line <= AWS_LINE_COVERED && own->part != AWS_BLOCK && c->to - c->from > HOUR_SECONDS)
        set_interval(context, cell[AWS_INTERVAL], c);
    return NULL;
}

/* ---------------------------------------------------------------- quantity */

/* No row is of so many machines: what comes after it counts them. */
static bool
is_absurd(struct field amount)
{
    enum { HOURS_MOST = 10000000 };
    char text[64];
    double hours;

    if (amount.size >= sizeof text)
        return true;
    if (amount.size) /* else its text may be NULL */
        memcpy(text, amount.text, amount.size);
    text[amount.size] = '\0';
    hours = strtod(text, NULL);
    return hours > HOURS_MOST || hours < -HOURS_MOST;
}

static const char *
set_quantity(const struct bill_class *class, const struct field *cell, struct bill_charge *c)
{
    const struct aws_class *own = class->own;
    struct field amount = cell[AWS_AMOUNT];
    int sign = decimal_sign(amount.text, amount.size);

    if (amount.size && !decimal_fits(amount.text, amount.size))
        return "UsageAmount is no number";
    c->unit_seconds = class->unit_seconds;
    c->quantity = own->part == AWS_HOST ? zero : amount; /* its hours are those of the instances on it */
    if (class->role == BILL_COMMITMENT_PURCHASE && own->part != AWS_BLOCK)
        c->quantity = unknown;
    if (own->line == AWS_LINE_RI_FEE)
        c->unused_quantity = cell[AWS_RI_UNUSED_HOURS];
    if (class->role == BILL_COMMITMENT_PURCHASE && !decimal_sign(c->unused.text, c->unused.size)
        && decimal_sign(c->unused_quantity.text, c->unused_quantity.size) <= 0)
        c->unused = unknown; /* all of it was used */
    if (is_absurd(c->quantity) || is_absurd(c->unused_quantity))
        return "UsageAmount or UnusedQuantity is more than ten million hours";
    if (own->line == AWS_LINE_REFUND && sign >= 0)
        c->quantity = own->part == AWS_IDLE ? zero : unknown; /* money back, no hours */
    if (class->role == BILL_GPU_USE && !c->quantity.size)
        c->role = BILL_GPU_MONEY;
    else if (class->role == BILL_GPU_USE && sign < 0 && own->part != AWS_HOST)
        c->role = BILL_CORRECTION;
    return NULL;
}

static void
add_pod(struct bill_context *context, const struct bill_class *class, const struct field *cell,
        const struct bill_charge *c)
{
    const struct aws_state *state = context->state;
    struct field usage = cell[AWS_POD_USAGE],
                 split = net_or_gross(state, cell[AWS_POD_NET_COST], cell[AWS_POD_COST]),
                 unused = net_or_gross(state, cell[AWS_POD_NET_UNUSED], cell[AWS_POD_UNUSED]);
    int64_t period;

    if (bill_time(&context->clock, cell[AWS_PERIOD], &period))
        aws_pods_add(state->pods, class->own, c, period, usage, split, unused);
}

const char *
aws_charge(struct bill_context *context, const struct bill_class *class, const struct field *cell,
           struct bill_charge *ret)
{
    const struct aws_class *own = class->own;
    struct bill_charge c = {.role = class->role};
    const char *reason = set_time(context, own, cell, &c);

    if (!reason)
        reason = set_money(context, class, cell, &c);
    if (!reason && class->role != BILL_OTHER)
        reason = set_quantity(class, cell, &c);
    if (reason)
        return reason;
    c.is_use = own->line <= AWS_LINE_COVERED && c.to - c.from <= DAY_SECONDS;
    if (own->pod)
        add_pod(context, class, cell, &c);
    *ret = c;
    return NULL;
}
