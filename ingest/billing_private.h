/*
 * Within billing: a load (struct bill_load_run) reads files (billing_file.c) into slices
 * (billing_slice.c) and notes what it read (billing_load.c). One connection, one transaction: the
 * new partitions are made in it, so that nothing is seen and nothing stays unless all of it does,
 * and a server with wal_level = minimal writes no WAL for them.
 */
#ifndef INGEST_BILLING_PRIVATE_H
#define INGEST_BILLING_PRIVATE_H

#include "common/buf.h"
#include "common/decimal.h"
#include "ingest/billing.h"

enum {
    BILL_REJECTS = 1000,           /* kept of a load */
    BILL_REJECT_BYTES = 4096,      /* kept of a record */
    BILL_REJECTS_MOST = 32 << 20,  /* bytes kept of a run */
    BILL_CLASSES_MOST = 20000,     /* remembered; then begun anew */
    BILL_ITEMS_MOST = 200000,      /* numbered apart in a slice; then begun anew */
    BILL_ITEMS_FLUSH = 2048,
    BILL_CHARGES_FLUSH = 8192,
    BILL_TOTALS_MOST = 65536,
    BILL_LOADS_MOST = 32767,       /* objects in a slice: billing_charge.load_no */
};

/* ---- 128-bit hashes of cells (bill_key.c) */

struct bill_key {
    uint64_t a, b;
};
struct bill_key_table {
    struct bill_key *keys;
    uint32_t *values;
    size_t size, count;
};

void bill_key_begin(void); /* once: a seed nobody can know */
struct bill_key bill_key_new(void);
void bill_key_add(struct bill_key *key, const char *text, size_t size);
const uint32_t *bill_key_find(const struct bill_key_table *table, struct bill_key key);
void bill_key_put(struct bill_key_table *table, struct arena *arena, struct bill_key key, uint32_t value);

/* ---- what was read (billing_load.c) */

struct bill_reject {
    uint64_t line;
    const char *reason, *record;
    size_t record_size;
    struct bill_reject *next;
};

/* One object's part in one slice. */
struct bill_part_load {
    size_t object;
    uint64_t kept, totalled, rejected;
    struct bill_reject *first, **last;
    struct bill_part_load *next;
};

struct bill_object {
    const char *path;
    uint64_t size;
    char sha256[65];
    bool is_known;      /* loaded before, as it is */
    bool is_read;
    uint64_t rows;      /* of this reading */
    const char *problem; /* not NULL: could not be read */
};

/* A load on record. */
struct bill_record {
    const char *slice_id, *period, *object, *sha256;
    int64_t size;
    bool is_skipped;
    size_t match;       /* the object it is of; SIZE_MAX: none of today's */
};

struct bill_slice {
    int64_t from, to;
    const char *period, *slice_id;
    bool is_open;       /* its new tables are there */
    bool is_skipped;    /* before the window */
    bool is_failed;
    struct bill_part_load *loads, **last_load, *load; /* load: of the object being read */
    size_t load_count;
    struct arena arena; /* items not written yet */
    struct bill_key_table items;
    struct arena items_arena;
    int next_item;
    struct bill_pending_item *pending;
    size_t pending_count;
    struct buf charges, charge_text;
    struct bill_total **totals; /* by total number; NULL: none */
    size_t total_room;
    struct bill_slice *next;
};

struct bill_total_key {
    const char *text[7]; /* provider … currency, in the order of the table */
};

struct bill_load_run {
    struct source_run *run;
    const struct bill_format *format;
    struct arena *arena;
    struct gpu_types *types;
    struct bill_object *objects;
    size_t object_count;
    struct bill_record *records;
    size_t record_count;
    struct bill_slice *slices;
    bool only_open;        /* second pass: rows of other slices are in already */
    struct bill_key_table total_keys;
    struct bill_total_key *totals;
    uint32_t total_count, total_room;
    uint64_t reject_bytes, done_bytes, total_bytes, without_hours;
    int64_t started;
    struct error first_error;
    size_t failed;
};

bool bill_records_load(struct bill_load_run *load, struct error *err) MUST_CHECK;
bool bill_loads_write(struct bill_load_run *load, struct bill_slice *slice, struct error *err) MUST_CHECK;
bool bill_failure_write(struct bill_load_run *load, const char *slice_id, const struct bill_object *object,
                        struct error *err) MUST_CHECK;
bool bill_skipped_write(struct bill_load_run *load, struct bill_slice *slice, struct error *err) MUST_CHECK;
void bill_reject(struct bill_load_run *load, struct bill_part_load *part, uint64_t line, const char *reason,
                 struct field record);

/* Ends a COPY whose row failed; the error stays the row's. Always false. */
bool bill_copy_abandon(struct copy *copy);

/* ---- slices (billing_slice.c) */

/* The slice of a period that begins then, made if new; not open yet. */
bool bill_slice_find(struct bill_load_run *load, int64_t start, struct bill_slice **ret_slice, struct error *err)
    MUST_CHECK;
bool bill_slice_named(struct bill_load_run *load, const char *period, const char **ret_slice_id, struct error *err)
    MUST_CHECK;
bool bill_slice_open(struct bill_load_run *load, struct bill_slice *slice, struct error *err) MUST_CHECK;
/* The part of the object being read, made at its first row. */
bool bill_slice_part(struct bill_slice *slice, struct arena *arena, size_t object, struct error *err) MUST_CHECK;
/* One item of its own number; copies all text. */
bool bill_slice_item(struct bill_load_run *load, struct bill_slice *slice, const struct bill_class *class,
                     const struct bill_charge *charge, const struct bill_item *item, uint32_t *ret_no,
                     struct error *err) MUST_CHECK;
bool bill_slice_charge(struct bill_load_run *load, struct bill_slice *slice, uint32_t item_no, uint64_t line,
                       const struct bill_charge *charge, struct error *err) MUST_CHECK;
void bill_slice_total(struct bill_load_run *load, struct bill_slice *slice, uint32_t total_no,
                      const struct bill_charge *charge);
/* Writes what is left and puts the new partitions in the place of the old ones. */
bool bill_slice_seal(struct bill_load_run *load, struct bill_slice *slice, struct error *err) MUST_CHECK;
bool bill_slice_drop(struct bill_load_run *load, struct bill_slice *slice, struct error *err) MUST_CHECK;
void bill_slice_free(struct bill_slice *slice);

/* ---- files (billing_file.c) */

/* Reads one object into the slices of its rows. An error of code ERR_INPUT concerns this file alone. */
bool bill_file_read(struct bill_load_run *load, size_t object, struct error *err) MUST_CHECK;

#endif
