/*
 * Azure cost details: what its files share, between the mapper (source_azure.c), the readers of its
 * cells (bill_azure.c), and the look through all files that comes first (bill_azure_survey.c).
 *
 * Two exports tell of the same use. The actual one asks for money: purchases of reservations and
 * savings plans cost, what they cover is free. The amortized one has no purchases: what they cover
 * costs its share, and what they did not cover is a row of its own. Given both of a month, use is
 * the amortized export's and purchases are the actual one's; every row counts once. What covered GPU
 * use costs stands in the amortized export alone: without it such a month is refused.
 */
#ifndef INGEST_BILL_AZURE_H
#define INGEST_BILL_AZURE_H

#include "ingest/billing.h"

enum azure_column {
    AZURE_PERIOD, AZURE_PERIOD_END, AZURE_DATE, AZURE_QUANTITY, AZURE_COST, AZURE_PRICE, AZURE_LIST, AZURE_PAYG_PRICE,
    AZURE_CURRENCY, AZURE_CHARGE_TYPE, AZURE_PRICING, AZURE_PUBLISHER_TYPE, AZURE_CATEGORY, AZURE_METER, AZURE_SERVICE,
    AZURE_CONSUMED_SERVICE, AZURE_UNIT, AZURE_ORDER, AZURE_ORDER_NAME, AZURE_BENEFIT, AZURE_RESERVATION, AZURE_INFO,
    AZURE_RESOURCE, AZURE_SUBSCRIPTION, AZURE_FX_CURRENCY, AZURE_FX_RATE,
    AZURE_SUBSCRIPTION_NAME, AZURE_RESOURCE_NAME, AZURE_REGION, AZURE_ZONE, AZURE_SKU, AZURE_PRODUCT, AZURE_FREQUENCY,
    AZURE_COMMITMENT_NAME, AZURE_INVOICE, AZURE_TAGS,
    AZURE_COLUMNS
};

enum azure_dataset { AZURE_UNKNOWN, AZURE_ACTUAL, AZURE_AMORTIZED, AZURE_BOTH };
enum azure_order { AZURE_ORDER_UNKNOWN, AZURE_MONTH_FIRST, AZURE_DAY_FIRST, AZURE_ORDER_BOTH };

/* What a row is, whatever it costs. Text lies in an arena. */
struct azure_row {
    const char *category;      /* Usage, Purchase, Refund, Tax, Credit, Adjustment, or the bill's own word */
    bool is_unused;            /* of a reservation or savings plan */
    bool is_commitment;        /* belongs to one */
    bool is_plan;              /* a savings plan */
    bool is_machine;           /* the price of a virtual machine, or its place in a capacity reservation */
    bool is_idle_capacity;     /* a capacity reservation in which nothing ran */
    bool is_gpu;               /* type has GPUs */
    struct field type;         /* Standard_NC24ads_A100_v4; empty: none found */
};

/* What class->own points to. */
struct azure_class {
    bool is_covered;           /* use that a commitment pays for, or what it left unused */
    bool is_purchase;          /* of a commitment, or its refund */
    bool prices_one_unit;      /* the price is that of one unit of the quantity */
    const char *subscription;
};

struct azure_notes;

/* ---- bill_azure.c */

void azure_row_read(struct arena *arena, const struct gpu_types *types, const struct field *cell, struct azure_row *ret);
/* The order's id where one is found, so that purchase and use meet; "" when there is none. */
const char *azure_commitment(struct arena *arena, const struct field *cell);
bool azure_is_spot(const struct field *cell);
/* "1 Hour", "100 Hours", "1 hora", nothing at all: a machine's quantity is hours, never blocks of them. */
bool azure_unit_is_hours(struct field unit);
bool azure_unit_is_one(struct field unit);
struct field azure_block(struct field unit); /* "10" of "10 Hours" */
double azure_number(struct field number);    /* for comparisons; 0 when it is none */
/* What a date itself proves about the order of day and month. */
enum azure_order azure_order_of(struct field date);
bool azure_date(struct bill_clock *clock, enum azure_order order, struct field date, int64_t *ret_day);

/* By the last part of the path that says so. */
enum azure_dataset azure_dataset_of_name(const char *path);

/* ---- bill_azure_survey.c */

struct azure_notes *azure_notes_new(struct arena *arena, enum azure_dataset dataset, enum azure_order order,
                                    const char *currency);
void azure_survey(void *notes, struct bill_context *context, const struct field *raw);
bool azure_settle(void *notes, size_t object, const char *path, struct error *err);
const char *azure_currency(const struct azure_notes *notes);
enum azure_order azure_order(const struct azure_notes *notes, size_t object);
enum azure_dataset azure_dataset(const struct azure_notes *notes, size_t object);
/* The row stands in another file too, which tells more of it. */
bool azure_is_twice(const struct azure_notes *notes, size_t object, const struct azure_class *class, int64_t month);

#endif
