/*
 * Within billing: a load (struct bill_load_run) reads files (billing_file.c) into slices
 * (billing_slice.c) and notes what it read (billing_load.c). One connection, one transaction: the
 * new partitions are made in it, so that nothing is seen and nothing stays unless all of it does,
 * and a server with wal_level = minimal writes no WAL for them.
 */
#ifndef INGEST_BILLING_PRIVATE_H
#define INGEST_BILLING_PRIVATE_H

#include "common/buf.h"
#include "common/calendar.h"
#include "common/decimal.h"
#include "common/object.h"
#include "common/record.h"
#include "common/sha256.h"
#include "common/stream.h"
#include "common/zip.h"
#include "ingest/billing.h"
#include "ingest/delivery.h"

enum {
    BILL_REJECTS = 1000,           /* kept of a load */
    BILL_REJECT_BYTES = 4096,      /* kept of a record */
    BILL_REJECTS_MOST = 32 << 20,  /* bytes kept of a run */
    BILL_CLASSES_MOST = 20000,     /* remembered; then begun anew */
    BILL_ITEMS_MOST = 200000,      /* numbered apart in a slice; then begun anew */
    BILL_ITEMS_FLUSH = 2048,
    BILL_CHARGES_FLUSH = 8192,
    BILL_TOTALS_MOST = 65536,
    BILL_FX_MOST = 1000,           /* different rates in a slice; more are not told apart */
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
    const char *path;   /* as stream_open takes it between bill_object_begin and _end */
    uint64_t size;
    int64_t delivered;  /* unix seconds; 0: unknown */
    char sha256[65];    /* or "etag:…" of one that is elsewhere; "": unknown */
    struct object about; /* not of a member */
    const struct delivery *delivery; /* NULL: no manifest names it; else what the manifest says */
    const char *origin; /* see struct delivery_object */
    bool is_zip, is_expanded; /* expanded: its members stand for it */
    const struct zip_member *member; /* NULL: an object of its own */
    size_t container;   /* of a member: the zip file */
    bool is_known;      /* loaded before, as it is */
    bool is_read;
    bool is_refused;    /* by format->settle */
    uint64_t rows;      /* of this reading */
    struct content content; /* of this reading */
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
    uint64_t days;              /* bit n: use on day n of the period */
    uint64_t invoiced, not_invoiced; /* rows with and without an invoice, where the format can tell */
    struct bill_fx *fx;         /* rates the bill carries */
    struct arena period_arena;
    struct bill_slice *next;
};

struct bill_fx {
    const char *from, *to, *rate;
    uint64_t rows;
    struct bill_fx *next;
};

struct bill_total_key {
    const char *text[7]; /* provider … currency, in the order of the table */
};

struct bill_load_run {
    struct source_run *run;
    const struct bill_format *format;
    struct arena *arena;
    struct gpu_types *types;
    struct object_store *store;
    struct bill_object *objects;
    size_t object_count, object_room;
    struct {
        size_t object;
        int fd;
    } spool;            /* the file of an object that was fetched last; -1: none */
    struct stream_stand_in stand_in;
    struct delivery **failed_deliveries;
    size_t failed_delivery_count;
    bool adds_folders;
    struct bill_record *records;
    size_t record_count;
    struct bill_slice *slices;
    bool only_open;        /* second pass: rows of other slices are in already */
    bool is_remapped;      /* format->fingerprint is another than last time */
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

/* ---- objects (billing_object.c) */

/* The objects of the deliveries that count; also for doctor. */
bool bill_objects_choose(struct object_store *store, struct settings *settings, const struct section *section,
                         const struct bill_format *format, struct delivery_choice *ret_choice, struct error *err) MUST_CHECK;
bool bill_objects_list(struct bill_load_run *load, struct error *err) MUST_CHECK;
/* Sees to it that the object can be opened by its name until end; one at a time. */
bool bill_object_begin(struct bill_load_run *load, size_t number, struct error *err) MUST_CHECK;
void bill_object_end(struct bill_load_run *load, size_t number);
/* Sets sha256 where it is unknown. */
bool bill_object_hash(struct bill_load_run *load, size_t number, struct error *err) MUST_CHECK;
bool bill_object_is_of(const struct bill_object *object, const char *name);
/* Puts the members of a zip file beside it, as objects of their own; nothing for other objects. */
bool bill_object_expand(struct bill_load_run *load, size_t number, struct error *err) MUST_CHECK;
bool bill_deliveries_fail(struct bill_load_run *load, struct error *err) MUST_CHECK;
/* Fails the slices that two folders fill. Before the slices are finished. */
void bill_folders_check(struct bill_load_run *load);
void bill_objects_close(struct bill_load_run *load);

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
/* Money of a row that stands elsewhere: added to a total, not counted as a row of it. */
void bill_slice_aside(struct bill_load_run *load, struct bill_slice *slice, uint32_t total_no, struct field billed);
/* Writes what is left and puts the new partitions in the place of the old ones. */
bool bill_slice_seal(struct bill_load_run *load, struct bill_slice *slice, struct error *err) MUST_CHECK;
bool bill_slice_drop(struct bill_load_run *load, struct bill_slice *slice, struct error *err) MUST_CHECK;
void bill_slice_free(struct bill_slice *slice);

/* ---- how complete a period is, and the rates it carries (billing_period.c) */

void bill_period_note(struct bill_slice *slice, const struct bill_class *class, const struct bill_charge *charge);
/* A row of audit.billing_period and the slice's rows of audit.billing_fx, in the place of the old ones. */
bool bill_period_write(struct bill_load_run *load, const struct bill_slice *slice, struct error *err) MUST_CHECK;

/* ---- files (billing_header.c, billing_file.c) */

enum { BILL_SLOTS = BILL_COLUMNS + BILL_GATHERED };

/* Cells that stand side by side in the file and are of one part, hashed as one text. */
struct bill_range {
    size_t first, last; /* slots */
};

/* One file being read. */
struct bill_reader {
    struct bill_load_run *load;
    const struct bill_format *format;
    size_t object;
    struct stream *stream;
    struct record record;
    struct field raw[BILL_SLOTS], value[BILL_COLUMNS]; /* raw: the format's columns, then gathered ones */
    struct bill_gathered gathered[BILL_GATHERED];
    size_t slots;
    int want[BILL_SLOTS];                /* column of the file */
    bool has_invoice;
    struct bill_range ranges[2][BILL_SLOTS]; /* of BILL_CLASS, BILL_ITEM */
    size_t range_count[2];
    struct bill_slice *slice;       /* of the last row whose period could be read */
    char period[64];                /* the text it was read from */
    size_t period_size;
    struct bill_context context;
    struct arena class_arena, scratch;
    struct bill_key_table classes;
    struct bill_class *class;
    uint32_t class_count;
    struct bill_part_load early;    /* rejects before the first readable period */
};

/* Finds the columns of the header; a missing one that must be there is ERR_INPUT. */
bool bill_header_read(struct bill_reader *reader, struct error *err) MUST_CHECK;
/* Whether a column of that name is any of the format (`context`): struct column_filter. */
bool bill_header_wants(const void *context, const char *name);
/* Takes in the columns of tags that a record of JSON has brought. */
void bill_header_grow(struct bill_reader *reader);

/* Reads one object into the slices of its rows. An error of code ERR_INPUT concerns this file alone. */
bool bill_file_read(struct bill_load_run *load, size_t object, struct error *err) MUST_CHECK;
/* Shows every row of it to format->survey. */
bool bill_file_survey(struct bill_load_run *load, size_t object, struct error *err) MUST_CHECK;

#endif
