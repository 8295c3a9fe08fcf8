/*
 * Google's billing exports: what the mapper (source_gcp.c), the readers of its cells (bill_gcp.c,
 * bill_gcp_cells.c) and the look through all files (bill_gcp_survey.c) share.
 *
 * A machine is several rows: cores, memory, GPUs. The GPU's row counts GPU time, the others are
 * money of the same machine: known by the machine type among the system labels, by the family in the
 * SKU's text, or, where GPUs are attached to a general machine (N1), by a GPU row of the same
 * resource anywhere in the files.
 *
 * Committed use of resources is billed as a fee of its own, while the use it covers gets a credit of
 * its whole price. What covered use costs is its share of the fees of its kind, region and invoice
 * month: fees × used share ÷ credits. What is left of the fees was paid for and not used.
 */
#ifndef INGEST_BILL_GCP_H
#define INGEST_BILL_GCP_H

#include "ingest/billing.h"

enum gcp_column {
    GCP_MONTH, GCP_FROM, GCP_TO, GCP_COST, GCP_LIST, GCP_CREDITS, GCP_AMOUNT, GCP_PRICED,
    GCP_SERVICE, GCP_SKU, GCP_UNIT, GCP_PRICE_UNIT, GCP_CURRENCY, GCP_RATE, GCP_COST_TYPE, GCP_SYSTEM_LABELS, GCP_REGION,
    GCP_BILLING_ACCOUNT, GCP_PROJECT, GCP_PROJECT_NAME, GCP_RESOURCE, GCP_RESOURCE_NAME, GCP_LOCATION, GCP_ZONE, GCP_SKU_ID,
    GCP_LABELS, GCP_TAGS, GCP_PROJECT_LABELS,
    GCP_COLUMNS
};

enum gcp_share {
    GCP_NONE,
    GCP_GPU,        /* GPUs by themselves */
    GCP_SLICE,      /* a GPU with its part of the machine */
    GCP_HOST,       /* cores or memory */
    GCP_COMMITMENT, /* its fee */
    GCP_TPU,
};

struct gcp_sku {
    enum gcp_share share;
    const char *model;       /* of the catalog; NULL: not said, or no GPU */
    const char *attached;    /* instance type of the catalog for GPUs attached to general machines; NULL: none */
    const char *family;      /* "a2", where it always has GPUs; NULL */
    const char *series;      /* "n2", of machines without GPUs; NULL */
    const char *part;        /* of a host or its commitment: "cpu", "ram"; "" */
    const char *tpu;         /* "TPU v5e" */
    int gpus;                /* of a slice */
    bool is_spot, is_scheduled, is_general; /* general: cores of a machine that may have GPUs attached */
};

void gcp_sku_read(struct field text, struct gcp_sku *ret);

/* ---- bill_gcp_cells.c */

struct gcp_credits {
    struct field all;        /* every one; empty: none */
    struct field promotion;  /* vouchers: the invoice is less, the price is not */
    struct field used, spent; /* of commitments to resources, to an amount */
    bool offsets_fee;        /* of a fee: what was used of it is charged at the use */
};

/* False when they cannot be read. In arena. */
bool gcp_credits_read(struct arena *arena, struct field cell, struct gcp_credits *ret);
/* The value of a key in an array of keys and values, or in a map. */
struct field gcp_label(struct field labels, const char *key);
/* Labels, then tags, then the project's labels, as one object; the first of a key counts. NULL: none. */
const char *gcp_tags(struct arena *arena, struct field labels, struct field tags, struct field project_labels);
struct field gcp_negative(struct arena *arena, struct field number);

/* ---- bill_gcp_survey.c */

struct gcp_notes;

struct gcp_group {           /* fees of a kind, region and month, against what they covered */
    struct field share;      /* fee for one unit of credit; empty: nothing was covered, or nothing bought */
    struct field unused;     /* part of the fee that paid for nothing; empty: none */
};

struct gcp_notes *gcp_notes_new(struct arena *arena);
void gcp_survey(void *notes, struct bill_context *context, const struct field *raw);
bool gcp_settle(void *notes, size_t object, const char *path, struct error *err);
/* "us-central1 A100-40GB" */
const char *gcp_group_name(struct arena *arena, struct field region, const struct gcp_sku *sku);
const char *gcp_spend_name(struct arena *arena, struct field region);
/* NULL: no fee and no credit of that name in that month. */
const struct gcp_group *gcp_group(const struct gcp_notes *notes, const char *name, struct field month);
/* The GPUs a general machine has attached, as a SKU tells them; NULL: none. */
const struct gcp_sku *gcp_attached(const struct gcp_notes *notes, struct field resource);

#endif
