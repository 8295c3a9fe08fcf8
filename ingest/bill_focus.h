/*
 * FOCUS: its columns, and what finds the GPU in a row (bill_focus_gpu.c) for the mapper
 * (source_focus.c).
 */
#ifndef INGEST_BILL_FOCUS_H
#define INGEST_BILL_FOCUS_H

#include "ingest/billing.h"
#include "ingest/rate_card.h"

enum focus_column {
    FOCUS_PERIOD, FOCUS_FROM, FOCUS_TO, FOCUS_QUANTITY, FOCUS_PRICED, FOCUS_BILLED, FOCUS_EFFECTIVE, FOCUS_LIST, FOCUS_COMMITTED,
    FOCUS_PROVIDER, FOCUS_SERVICE_PROVIDER, FOCUS_HOST, FOCUS_ISSUER, FOCUS_PUBLISHER, FOCUS_PUBLISHER_CATEGORY, FOCUS_CURRENCY,
    FOCUS_CATEGORY, FOCUS_SUBCATEGORY, FOCUS_CLASS, FOCUS_SERVICE, FOCUS_SERVICE_CATEGORY, FOCUS_UNIT, FOCUS_PRICE_UNIT,
    FOCUS_PRICING, FOCUS_COMMITMENT, FOCUS_STATUS, FOCUS_COMMITMENT_UNIT, FOCUS_CAPACITY, FOCUS_CAPACITY_STATUS,
    FOCUS_RESOURCE_TYPE, FOCUS_METER, FOCUS_DETAILS, FOCUS_DESCRIPTION, FOCUS_USAGE_TYPE, FOCUS_SERVICE_CODE, FOCUS_SKU_DETAILS,
    FOCUS_SERVICE_TYPE, FOCUS_METER_CATEGORY,
    FOCUS_BILLING_ACCOUNT, FOCUS_BILLING_ACCOUNT_NAME, FOCUS_ACCOUNT, FOCUS_ACCOUNT_NAME, FOCUS_RESOURCE, FOCUS_RESOURCE_NAME,
    FOCUS_REGION, FOCUS_REGION_NAME, FOCUS_ZONE, FOCUS_SKU, FOCUS_FREQUENCY, FOCUS_COMMITMENT_NAME, FOCUS_COMMITMENT_TYPE,
    FOCUS_COMMITMENT_CATEGORY, FOCUS_INVOICE, FOCUS_TAGS, FOCUS_ALLOCATED_TO, FOCUS_ALLOCATED_TAGS,
    FOCUS_COLUMNS
};

#define FOCUS_UNPRICED "Unpriced" /* charge class of totals whose cost nobody knows */

enum { FOCUS_CARRIED_MOST = BILL_COLUMNS - FOCUS_COLUMNS };

/* What the section adds; NULL as state: nothing. */
struct focus_state {
    const struct rate_card *rates;
    const char *tag[FOCUS_CARRIED_MOST], *tag_column[FOCUS_CARRIED_MOST];
    size_t tag_count;
};

/* What charge() must know of a class. */
struct focus_class {
    const struct rate_choice *rates;
    bool by_priced;        /* rates ask for PricingQuantity */
    int committed_seconds; /* unit of CommitmentDiscountQuantity; 0: no time */
};

/* Which part of a machine a row bills. */
enum focus_share { SHARE_NONE, SHARE_MACHINE, SHARE_ACCELERATOR, SHARE_REST };

struct focus_gpu {
    enum focus_share share;
    struct field type;       /* instance type; empty: none found */
    struct field gpu_count;  /* as the bill says */
    const char *model;       /* of the catalog, where the row names the chip; "": no */
    int model_count;         /* "8x" in its name; 0: not said */
};

/* hint: a machine type among the tags. by_sku: SkuId is a cell that classes go by, and may be asked too. */
struct focus_gpu focus_gpu_find(const struct gpu_types *types, struct arena *arena, const struct field *cell,
                                const char *provider, struct field hint, bool by_sku);
/* "USE1-BoxUsage:p5.48xlarge" -> p5.48xlarge; empty where no instance runs or stands idle. */
struct field focus_usage_instance(struct field usage);

/* classify() of the format (bill_focus_class.c). */
const char *focus_classify(struct bill_context *context, const struct field *cell, struct field hint,
                           struct bill_class *ret_class);

#endif
