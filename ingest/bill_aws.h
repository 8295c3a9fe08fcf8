/*
 * AWS cost and usage reports: what the mapper (source_aws_cur.c), the readers of its cells
 * (bill_aws.c, bill_aws_tags.c) and the shares of pods (bill_aws_pod.c) have in common.
 *
 * The legacy report ("lineItem/UsageType"), its spelling by Athena and CUR 2.0 ("line_item_usage_type")
 * are one format under several names of columns. Whichever section a file is given to, it is read.
 *
 * What a row is follows from the type of its line (how it is paid), its usage type (what of a machine
 * it is) and its product. Every dollar of every row is counted once, as the invoice has it:
 *
 *   use that a savings plan covers  is listed at its on-demand price and taken back by a Negation row:
 *                                   the invoice asks nothing for it, its amortized cost is the plan's rate
 *   fees of commitments             are purchases; what of a recurring fee paid for nothing is kept beside
 *                                   it as unused commitment
 *   dedicated hosts                 bill the money, the instances on them (HostBoxUsage) the hours
 *   reserved capacity               Reservation rows only inform; UnusedBox rows are paid for and idle
 *   Capacity Blocks                 one fee, spread over the block when the audit is made (analyze_4_hours.sql)
 *   pods (EKS, ECS)                 repeat their machine's money and hours: neither counts, they say who used it
 */
#ifndef INGEST_BILL_AWS_H
#define INGEST_BILL_AWS_H

#include "ingest/billing.h"

enum aws_column {
    /* values */
    AWS_PERIOD, AWS_FROM, AWS_TO, AWS_INTERVAL, AWS_AMOUNT, AWS_COST, AWS_NET_COST, AWS_LIST,
    AWS_RI_EFFECTIVE, AWS_RI_NET_EFFECTIVE, AWS_RI_UNUSED_HOURS, AWS_RI_UNUSED_UPFRONT, AWS_RI_UNUSED_RECURRING,
    AWS_RI_NET_UNUSED_UPFRONT, AWS_RI_NET_UNUSED_RECURRING, AWS_SP_EFFECTIVE, AWS_SP_NET_EFFECTIVE, AWS_SP_TOTAL,
    AWS_SP_USED, AWS_POD_USAGE, AWS_POD_COST, AWS_POD_UNUSED, AWS_POD_NET_COST, AWS_POD_NET_UNUSED,
    /* classes */
    AWS_LINE_TYPE, AWS_CURRENCY, AWS_PRODUCT_CODE, AWS_USAGE_TYPE, AWS_OPERATION, AWS_DESCRIPTION, AWS_UNIT,
    AWS_ENTITY, AWS_INSTANCE_TYPE, AWS_PRODUCT, AWS_GPU, AWS_RI_ARN, AWS_SP_ARN, AWS_CAPACITY, AWS_POD_PARENT,
    /* items */
    AWS_ACCOUNT, AWS_ACCOUNT_NAME, AWS_PAYER, AWS_PAYER_NAME, AWS_RESOURCE, AWS_REGION, AWS_ZONE, AWS_SKU,
    AWS_INVOICE, AWS_OFFERING, AWS_TAGS, AWS_TAGS_MORE, AWS_CATEGORIES,
    AWS_COLUMNS
};

enum aws_line {
    AWS_LINE_USE, AWS_LINE_RESERVED, AWS_LINE_COVERED, AWS_LINE_NEGATION, AWS_LINE_PLAN_FEE, AWS_LINE_PLAN_UPFRONT,
    AWS_LINE_RI_FEE, AWS_LINE_FEE, AWS_LINE_REFUND, AWS_LINE_OTHER,
};

enum aws_part {
    AWS_NOTHING,       /* no machine's time */
    AWS_MACHINE, AWS_SPOT,
    AWS_HOST,          /* a dedicated host: money; its instances are machines without a price */
    AWS_INFORMATION,   /* hours that were reserved, used or not */
    AWS_IDLE,          /* reserved capacity in which nothing ran */
    AWS_BLOCK,         /* the fee of a Capacity Block */
    AWS_RESERVATION,   /* the monthly row of reserved instances */
    AWS_POD,
};

struct aws_row {
    enum aws_line line;
    enum aws_part part;
    const char *category, *frequency; /* of the charge */
    struct field type;                /* instance type; empty: the row names none */
    struct field gpu_count;           /* as the bill says; empty: it does not, or none */
    bool is_gpu;
    bool is_plan_refund;              /* of the one-time fee of a savings plan */
};

/* What class->own points to. */
struct aws_class {
    enum aws_line line;
    enum aws_part part;
    bool is_discount;           /* as a row of its own */
    bool is_plan_refund;
    bool is_reservation;        /* the fee belongs to a reservation */
    const char *pod, *parent;   /* NULL: no share of a pod */
    bool is_accelerator;        /* the pod's row measures accelerators */
    bool is_gpu;
};

struct aws_pods;

/* What a section's ingest function makes: format->state. */
struct aws_state {
    bool is_gross;             /* cost = unblended */
    struct aws_seen *seen;
    struct aws_pods *pods;
};

/* What was met on the way and is said at the end. */
struct aws_seen {
    bool has_net;              /* a row's net cost differs from its gross one */
    uint64_t discount_rows;    /* discounts with a cost and without a net one */
    uint64_t blind_fees;       /* recurring fees that do not say what of them was unused */
    uint64_t tag_conflicts;
    char tag[64];              /* the first of them */
};

/* ---- bill_aws.c */

void aws_row_read(struct arena *arena, const struct gpu_types *types, const struct field *cell, struct aws_row *ret);
/* For classify(), from raw cells: the resource of rows that need it to be told apart, or "free" for use
 * of reserved capacity that costs nothing. */
struct field aws_hint(const struct field *raw);
/* "arn:aws:ec2:…:capacity-reservation/cr-0a1b" -> "cr-0a1b"; empty when there is none in it. */
struct field aws_capacity_id(struct field text);
struct field aws_unquoted(struct field raw);
bool aws_is_discount(struct field line_type);
bool aws_is_machine(const struct aws_row *row);

/* ---- bill_aws_charge.c */

const char *aws_charge(struct bill_context *context, const struct bill_class *class, const struct field *cell,
                       struct bill_charge *ret);

/* ---- bill_aws_tags.c */

/* Resource tags, the newer map, cost categories, in columns or maps, as one JSON object; NULL: none. */
const char *aws_tags(struct bill_context *context, const struct field *cell);

/* ---- bill_aws_pod.c: audit.pod_share */

struct aws_pods *aws_pods_new(struct source_run *run);
void aws_pods_add(struct aws_pods *pods, const struct aws_class *class, const struct bill_charge *charge, int64_t period,
                  struct field usage, struct field split, struct field unused);
/* format->sealed */
bool aws_pods_seal(const void *state, const char *slice_id, const char *period, struct error *err) MUST_CHECK;
/* What went wrong while rows were added, if anything did: that is why the load failed. */
void aws_pods_end(struct aws_pods *pods, struct error *err);

/* ---- source_aws_cur.c */

extern const struct bill_format bill_aws;
extern const char *const bill_aws_keys[];
bool bill_aws_ingest(struct source_run *run, struct error *err) MUST_CHECK;

#endif
