/* Within the reader of Parquet: what both processes know, and what is used of DuckDB's C interface. */
#ifndef COMMON_PARQUET_PRIVATE_H
#define COMMON_PARQUET_PRIVATE_H

#include "common/buf.h"
#include "common/parquet.h"

#define PARQUET_MODE "--read-parquet"

/*
 * The child writes into its pipe of rows: how many columns there are (uint32_t), the bytes of their names
 * (uint32_t), the names, each with a NUL behind it. It reads from its standard input a byte for each
 * column: 1, it is wanted. Then come the rows.
 */
enum {
    PARQUET_FILE = 3, /* the file in the child; 0 is wanted columns, 1 the pipe of rows, 2 that of an error's text */
    PARQUET_COLUMNS_MOST = 4000,
    PARQUET_NAMES_MOST = 4 << 20, /* bytes */
    PARQUET_ERROR_BYTES = 900,
    PARQUET_EXIT_LIBRARY = 3, /* statuses of the child */
    PARQUET_EXIT_FILE = 4,
};

/* Handles are pointers to us; the result is a struct of the size that the library documents. */
struct duckdb_result {
    uint64_t counts[3];
    void *columns;
    char *message;
    void *internal;
};

/* Up to 12 bytes stand in itself, from start on. */
struct duckdb_string {
    uint32_t size;
    char start[4];
    const char *text;
};

enum duckdb_type {
    DUCKDB_TIMESTAMP = 12,
    DUCKDB_TIMESTAMP_S = 20,
    DUCKDB_TIMESTAMP_MS = 21,
    DUCKDB_TIMESTAMP_NS = 22,
    DUCKDB_LIST = 24,
    DUCKDB_STRUCT = 25,
    DUCKDB_MAP = 26,
    DUCKDB_UNION = 28,
    DUCKDB_TIMESTAMP_TZ = 31,
    DUCKDB_ARRAY = 33,
};

struct duckdb {
    int (*create_config)(void **config);
    int (*set_config)(void *config, const char *name, const char *value);
    int (*open_ext)(const char *path, void **database, void *config, char **message);
    int (*connect)(void *database, void **connection);
    int (*query)(void *connection, const char *sql, struct duckdb_result *result);
    const char *(*result_error)(struct duckdb_result *result);
    void (*destroy_result)(struct duckdb_result *result);
    int (*prepare)(void *connection, const char *sql, void **statement);
    const char *(*prepare_error)(void *statement);
    int (*execute_prepared_streaming)(void *statement, struct duckdb_result *result);
    void *(*fetch_chunk)(struct duckdb_result result);
    void (*destroy_data_chunk)(void **chunk);
    uint64_t (*data_chunk_get_size)(void *chunk);
    void *(*data_chunk_get_vector)(void *chunk, uint64_t column);
    void *(*vector_get_data)(void *vector);
    uint64_t *(*vector_get_validity)(void *vector);
    uint64_t (*column_count)(struct duckdb_result *result);
    const char *(*column_name)(struct duckdb_result *result, uint64_t column);
    void *(*column_logical_type)(struct duckdb_result *result, uint64_t column);
    int (*get_type_id)(void *type);
    uint64_t (*struct_type_child_count)(void *type);
    char *(*struct_type_child_name)(void *type, uint64_t index);
    void *(*struct_type_child_type)(void *type, uint64_t index);
    void (*destroy_logical_type)(void **type);
    void (*free)(void *memory);
};

/* Loads the library ("": the one the system finds); NULL, or why not. */
const char *parquet_library_load(struct duckdb *duckdb, const char *path);

/* The columns of the file: names, each with a NUL behind it, and what gives each of them as text. */
struct parquet_columns {
    struct buf names, selects;
    uint32_t count;
};
/* NULL, or why they cannot be told. */
const char *parquet_columns_read(const struct duckdb *duckdb, void *connection, struct parquet_columns *ret_columns);
/* The header line of all of them, and the SELECT of those that are wanted, or of nothing. */
void parquet_columns_header(const struct parquet_columns *columns, struct buf *header);
void parquet_columns_sql(const struct parquet_columns *columns, const char *wanted, struct buf *sql);
/* One cell as CSV, into at most twice its size and two bytes; how many it took. */
size_t parquet_put_cell(char *into, const char *text, size_t size);

#endif
