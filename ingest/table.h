/*
 * Small sources that come as CSV: a header that names columns, cells of a kind, a stage, and SQL
 * that refuses what cannot stand and replaces the rows of the source.
 *
 * The stage is a temporary table: file_no int, line bigint, record text, then one column per
 * declared column (text, numeric, timestamptz or date by its kind; NULL where the cell is empty),
 * then `extra_count` text columns that `derive` fills. A cell that is not of its kind rejects its
 * record; a needed column that is absent refuses the file.
 */
#ifndef INGEST_TABLE_H
#define INGEST_TABLE_H

#include "common/csv.h"
#include "ingest/dimension.h"

enum {
    TABLE_COLUMNS = 32,
    TABLE_EXTRA = 4,
    TABLE_REASON = 300,
};

enum cell_kind {
    CELL_TEXT,
    CELL_NUMBER, /* exact decimal */
    CELL_COUNT,  /* decimal above 0 */
    CELL_TIME,
    CELL_DATE,
    CELL_MONTH, /* 2026-07 or a date in it; staged as its first day */
};

struct table_column {
    const char *name, *other; /* header name; another one it may have, or NULL */
    enum cell_kind kind;
    bool is_needed; /* the column must be there and no cell of it empty */
};

struct table {
    const char *title; /* "inventory": for messages */
    const struct table_column *columns;
    size_t column_count, extra_count;
    const char *stage;    /* asset: creates the stage */
    const char *copy_sql; /* COPY stage_x (…) FROM STDIN (FORMAT binary) */
    const char *refuse;  /* asset: takes bad rows out of the stage, see dimension_refuse; or NULL */
    const char *replace; /* asset: stage to table; sees the settings of dimension_begin */
    /* cells are trimmed and in the order of columns; extra entries live in arena, NULL is NULL.
     * False rejects the record, with the reason. */
    bool (*derive)(const struct source_run *run, struct arena *arena, const struct field *cells,
                   const char **ret_extra, char ret_reason[TABLE_REASON]);
};

/* True and *ret_time for what `kind` accepts; for CELL_TEXT and numbers ret_time stays. */
bool cell_valid(enum cell_kind kind, struct field cell, int64_t *ret_time);
struct field field_trim(struct field field);

/* Loads the CSV files of `path`, each into the one of `tables` whose needed columns it has. */
bool table_ingest(struct source_run *run, const struct table *const *tables, size_t table_count,
                  struct error *err) MUST_CHECK;
/* The same for objects that dim holds already; dim was opened. */
bool table_load(struct dimension *dim, const struct table *const *tables, size_t table_count,
                struct error *err) MUST_CHECK;

#endif
