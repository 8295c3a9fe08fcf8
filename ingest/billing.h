/*
 * Bills: everything but the meaning of a format's columns. Opening, decoding, totalling, rejecting,
 * copying and replacing slices are written once, here; a format only maps.
 *
 * A slice is a source and a billing period. Each file is read once; its rows go where their period
 * says. GPU rows and commitments are kept (audit.billing_item, audit.billing_charge), all others
 * only summed (audit.billing_total), so that kept + totalled = the invoice.
 *
 * Bills repeat themselves: of 50 cells a row, all but times, quantities and money are those of an
 * earlier row. So a format says of each column whether it changes with every row (BILL_VALUE), is
 * what classify() goes by (BILL_CLASS), or else belongs to what describe() writes (BILL_ITEM).
 * classify() runs once for each new set of class cells, describe() once for each new set of class
 * and item cells, charge() for every row.
 */
#ifndef INGEST_BILLING_H
#define INGEST_BILLING_H

#include "common/csv.h"
#include "ingest/gpu_type.h"
#include "ingest/source.h"

enum {
    BILL_COLUMNS = 96,
    BILL_ALIASES = 12,
    BILL_GATHERED = 1024,   /* columns of tags in one file */
    BILL_CLOCK = 4,
    BILL_TEXT_MOST = 1000,  /* bytes of a name */
};

enum bill_role {
    BILL_OTHER, /* only totalled */
    BILL_GPU_USE,
    BILL_GPU_MONEY,
    BILL_CORRECTION,
    BILL_COMMITMENT_UNUSED,
    BILL_COMMITMENT_PURCHASE,
};

enum bill_part { BILL_VALUE, BILL_CLASS, BILL_ITEM };

struct bill_column {
    const char *names[BILL_ALIASES]; /* in order of preference; NULL-ended when fewer */
    enum bill_part part;
    bool is_required;
};

/* What classify() finds out. Text lives in context->arena; "" where the bill has none. */
struct bill_class {
    enum bill_role role;
    const char *provider;          /* provider_key */
    const char *service, *charge_category, *charge_class, *commitment_id, *commitment_status, *currency;
    const char *pricing;           /* on-demand, spot, committed, other */
    const char *instance_type, *gpu_count;
    const char *gpu_model;         /* of the catalog, where no instance type leads to one; NULL or "": none */
    bool counts_gpus;
    int unit_seconds, pricing_unit_seconds; /* of consumed and of priced quantity; 0: no time */
    /* A rate the bill itself carries: one unit of fx_from is fx_rate of currency. NULL: none. */
    const char *fx_from, *fx_rate;
    /* Charge category whose total takes bill_charge.aside; NULL: none. */
    const char *aside_category;
    const void *own;               /* the format's, for charge() */
    uint32_t total_no, aside_no;   /* billing_file.c's own */
};

/* What describe() writes beside it; NULL or "" where the bill has none. */
struct bill_item {
    const char *account_id, *account_name, *resource_id, *resource_key, *resource_name, *region, *zone, *sku,
        *description, *charge_frequency, *commitment_name, *commitment_type, *commitment_category, *invoice_id;
    const char *tags; /* a JSON object */
};

struct bill_charge {
    enum bill_role role;           /* that of the class, or what the values make of it; BILL_OTHER: only totalled */
    int64_t from, to;
    int unit_seconds;
    struct field quantity, billed, effective, list; /* empty: the bill does not say */
    /* Money of this row on the invoice that another row takes back: the on-demand price of use that a
     * savings plan covers. It goes to the total of class->aside_category, so that the invoice adds up. */
    struct field aside;
    /* Of a purchase: the part of its cost that paid for nothing, and its time. Kept beside it as a charge
     * of its own, of role BILL_COMMITMENT_UNUSED and without billed money. Empty: none. */
    struct field unused, unused_quantity;
    const char *priced_by;         /* where the cost comes from when the bill has none; NULL: from the bill */
    bool is_use;                   /* says that the bill covers the days from..to: completeness goes by these */
};

struct bill_clock {
    char text[BILL_CLOCK][40];
    size_t size[BILL_CLOCK];
    int64_t time[BILL_CLOCK];
    unsigned next;
};

/* A cell of a column that format->gather asks for. */
struct bill_gathered {
    const char *name;              /* of the column, without the prefix */
    struct field cell;
};

struct bill_context {
    struct arena *arena;           /* for what a call returns */
    const struct gpu_types *types;
    const void *state;             /* format->state */
    size_t object;                 /* number of the file being read */
    const char *path;              /* its name */
    bool is_plain;                 /* survey()'s cells need no decoding */
    const char *delivery_type;     /* as its manifest says: "ActualCost"; NULL: no manifest, or it says nothing */
    const struct bill_gathered *gathered; /* describe() only */
    size_t gathered_count;
    struct bill_clock clock;
};

extern const char *const bill_suffixes[]; /* of whatever records can be read from */

/* cell[i] belongs to columns[i]: without quotes and blanks around it, empty for the word NULL. A
 * function that returns const char * says NULL or why the row must be rejected. */
struct bill_format {
    const char *const *suffixes;   /* files of a folder: bill_suffixes, most of the time */
    const char *name;              /* "FOCUS", for messages */
    const char *version_hint;      /* a sentence for a file whose required columns are missing */
    const struct bill_column *columns;
    size_t count;
    size_t period;                 /* the column whose text decides the billing period */
    size_t invoice;                /* the column that is empty until the bill is final; 0: none */
    const char *const *gather;     /* NULL, or prefixes of columns (one column a tag) for describe(); NULL-ended */
    const void *state;             /* what the source's ingest function has made of its section */
    char delimiter;                /* between cells; 0: a comma */
    /* What beside the files decides what their rows mean (a map, a rate card): when it is another than
     * at the last load, every file is read again. NULL: nothing does. */
    const char *fingerprint;
    /* A period begins so long after midnight UTC (it is a month of the provider's own zone; 0: of UTC). */
    int zone_seconds;
    /* Optional: where the meaning of a row depends on other rows or files. When any file is new, all are
     * looked through first: survey() gets every row, raw cells of format->columns, quotes and all; when
     * every file has been seen, settle() says of each whether it can be read (an error refuses it).
     * What they write lies in `notes`. */
    void *notes;
    void (*survey)(void *notes, struct bill_context *context, const struct field *raw);
    bool (*settle)(void *notes, size_t object, const char *path, struct error *err);
    const char *(*period_start)(struct bill_context *context, const struct field *cell, int64_t *ret_time);
    /* Optional: more text that classify() goes by, found in raw cells of other parts. */
    struct field (*hint)(const struct field *raw);
    const char *(*classify)(struct bill_context *context, const struct field *cell, struct field hint,
                            struct bill_class *ret);
    void (*describe)(struct bill_context *context, const struct bill_class *class, const struct field *cell,
                     struct bill_item *ret);
    /* Only BILL_VALUE cells are set. */
    const char *(*charge)(struct bill_context *context, const struct bill_class *class, const struct field *cell,
                          struct bill_charge *ret);
    /* Optional: a slice has its new rows, in the load's transaction: what the format keeps of it in tables
     * of its own takes its place now. */
    bool (*sealed)(const void *state, const char *slice_id, const char *period, struct error *err);
};

/* The source's ingest function: loads every billing period that overlaps the window or is later. */
bool bill_ingest(struct source_run *run, const struct bill_format *format, struct error *err) MUST_CHECK;

/* For mappers. */
bool bill_time(struct bill_clock *clock, struct field text, int64_t *ret_time); /* time_parse, remembered */
const char *bill_text(struct arena *arena, struct field field);
bool bill_is(struct field field, const char *word);          /* equal without case */
bool bill_contains(struct field field, const char *lower);   /* without case; lower is lower case */
/* "Hours", "1 Hour", "seconds" -> 3600, 3600, 1; 0 when it is no time. *ret_gpu_time: "GPU hours". */
int bill_unit_seconds(struct field unit, bool *ret_gpu_time);
/* The value of a key of a flat JSON object, trailing commas and missing braces forgiven; empty if absent. */
struct field bill_json_member(struct field json, const char *key);
/* The object as PostgreSQL takes it, missing braces added; NULL when it is no JSON object. */
const char *bill_json_object(struct arena *arena, struct field json);
/* The gathered cells that are not empty as a JSON object, on top of `base` (such an object, or NULL);
 * NULL when there is nothing. */
const char *bill_json_gathered(const struct bill_context *context, const char *base);
/* a + b exactly, as text in arena; an empty one is 0, both empty: empty. Both must fit (decimal_fits). */
struct field bill_sum(struct arena *arena, struct field a, struct field b);

#endif
