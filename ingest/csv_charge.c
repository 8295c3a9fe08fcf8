/* When a row of a mapped bill was used, how much of it, and at what cost. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/calendar.h"
#include "common/decimal.h"
#include "ingest/csv_map.h"

enum { CHARGE_MOST_SECONDS = 3653 * DAY_SECONDS };

/* ---------------------------------------------------------------- when */

/* "2026-07", "202607", a date of the month, or the time format. */
static bool
month_of(const struct csv_map *map, struct field text, int64_t *ret_month)
{
    char iso[12];
    bool ignored, found;

    if (text.size == 6 && decimal_valid(text.text, 6)) {
        snprintf(iso, sizeof iso, "%.4s-%.2s-01", text.text, text.text + 4);
        found = time_parse(iso, 10, ret_month);
    } else {
        found = csv_time(&(struct csv_map){0}, text, ret_month, &ignored)
            || (map->time_format && csv_time(map, text, ret_month, &ignored));
    }
    if (found)
        *ret_month = month_start(*ret_month);
    return found;
}

const char *
csv_period_start(struct bill_context *context, const struct field *cell, int64_t *ret_time)
{
    const struct csv_map *map = context->state;
    int64_t time;
    bool is_utc;

    if (map->column[CSV_PERIOD])
        return month_of(map, cell[CSV_PERIOD], ret_time) ? NULL : "the billing period is no month";
    if (!csv_time(map, cell[CSV_FROM], &time, &is_utc))
        return "its start is no time";
    *ret_time = month_start(is_utc && map->zone ? time_zone_local(map->zone, time) : time);
    return NULL;
}

/* Seconds of a duration, a part of one counted whole. */
static bool
duration_seconds(struct bill_context *context, struct field text, int64_t *ret_seconds)
{
    const struct csv_map *map = context->state;
    struct field number, seconds;
    char whole[32];
    const char *point;

    if (!csv_number(map, context->arena, text, &number)
        || !rate_product(context->arena, number, (struct field){"1", 1}, map->duration_seconds, map->duration_is_milli ? 1000 : 1,
                         &seconds)
        || decimal_sign(seconds.text, seconds.size) < 0 || seconds.size >= sizeof whole)
        return false;
    memcpy(whole, seconds.text, seconds.size);
    whole[seconds.size] = '\0';
    point = strchr(whole, '.');
    *ret_seconds = strtoll(whole, NULL, 10) + (point != NULL);
    return *ret_seconds <= CHARGE_MOST_SECONDS;
}

static const char *
local_span(struct bill_context *context, const struct field *cell, int64_t *from, int64_t *to, bool *is_utc)
{
    const struct csv_map *map = context->state;
    bool to_is_utc = false;

    *is_utc = false;
    if (!map->column[CSV_FROM]) {
        if (!month_of(map, cell[CSV_PERIOD], from))
            return "the billing period is no month";
        *to = month_next(*from);
        return NULL;
    }
    if (!csv_time(map, cell[CSV_FROM], from, is_utc))
        return "its start is no time";
    if (cell[CSV_TO].size) {
        if (!csv_time(map, cell[CSV_TO], to, &to_is_utc))
            return "its end is no time";
        return to_is_utc == *is_utc || !map->zone ? NULL : "only one of its start and end says its offset from UTC";
    }
    if (map->span == SPAN_NONE && !map->column[CSV_DURATION])
        return "its end is empty";
    *to = map->span == SPAN_MONTH ? month_next(*from) : *from + (map->span == SPAN_DAY ? DAY_SECONDS : HOUR_SECONDS);
    return NULL;
}

static const char *
set_times(struct bill_context *context, const struct field *cell, struct bill_charge *charge)
{
    const struct csv_map *map = context->state;
    const char *reason;
    int64_t seconds;
    bool is_utc;

    reason = local_span(context, cell, &charge->from, &charge->to, &is_utc);
    if (!reason && map->zone && !is_utc)
        reason = time_zone_span(map->zone, charge->from, charge->to, &charge->from, &charge->to);
    if (reason)
        return reason;
    if (cell[CSV_DURATION].size && !cell[CSV_TO].size) {
        if (!duration_seconds(context, cell[CSV_DURATION], &seconds))
            return "its duration is no number, or longer than ten years";
        charge->to = charge->from + seconds;
    }
    if (charge->to < charge->from)
        return "its end is before its start";
    return charge->to - charge->from > CHARGE_MOST_SECONDS ? "it is longer than ten years" : NULL;
}

/* ---------------------------------------------------------------- how much */

static const char *
set_quantity(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_charge *charge)
{
    const struct csv_map *map = context->state;
    const struct csv_class *own = class->own;
    struct field text = own->by_duration ? cell[CSV_DURATION] : cell[CSV_QUANTITY];
    struct field number = {"", 0};

    charge->unit_seconds = class->unit_seconds;
    if (own->by_times) {
        const char *seconds = arena_printf(context->arena, "%lld", (long long)(charge->to - charge->from));

        number = (struct field){seconds, strlen(seconds)};
    } else if (text.size && !csv_number(map, context->arena, text, &number)) {
        return own->by_duration ? "its duration is no number" : "its quantity is no number";
    }
    if (number.size && own->is_milli
        && !rate_product(context->arena, number, (struct field){"1", 1}, 1, 1000, &number))
        return "its quantity is no number";
    charge->quantity = number;
    if (class->role != BILL_GPU_USE)
        return NULL;
    if (!number.size)
        charge->role = BILL_GPU_MONEY;
    else if (decimal_sign(number.text, number.size) < 0)
        charge->role = BILL_CORRECTION;
    return NULL;
}

static const char *
amount(struct bill_context *context, struct field text, const char *reason, struct field *ret_amount)
{
    if (!text.size)
        return NULL;
    return csv_number(context->state, context->arena, text, ret_amount) ? NULL : reason;
}

static const char *
set_cost(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_charge *charge)
{
    const struct csv_map *map = context->state;
    const struct csv_class *own = class->own;
    const char *reason = amount(context, cell[CSV_COST], "its cost is no number", &charge->billed);

    if (!reason)
        reason = amount(context, cell[CSV_EFFECTIVE], "its effective cost is no number", &charge->effective);
    if (!reason)
        reason = amount(context, cell[CSV_LIST], "its list cost is no number", &charge->list);
    if (reason)
        return reason;
    if (!charge->billed.size && !map->rates)
        return "its cost is empty";
    if (!charge->billed.size && own->rates && charge->quantity.size)
        (void)rate_price(own->rates, context->arena, charge->from, charge->to, charge->quantity, &charge->billed, &charge->priced_by);
    if (!charge->billed.size && class->role != BILL_GPU_USE && strcmp(class->charge_class, "Unpriced"))
        return "it has no cost, and no rate that is valid for all of its time";
    if (!charge->effective.size)
        charge->effective = charge->billed;
    return NULL;
}

const char *
csv_charge(struct bill_context *context, const struct bill_class *class, const struct field *cell, struct bill_charge *ret)
{
    struct bill_charge c = {.role = class->role, .is_use = !strcmp(class->charge_category, "Usage")};
    const char *reason = set_times(context, cell, &c);

    if (!reason)
        reason = set_quantity(context, class, cell, &c);
    if (!reason)
        reason = set_cost(context, class, cell, &c);
    if (!reason)
        *ret = c;
    return reason;
}
