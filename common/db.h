/*
 * The only user of libpq. A session fixes search_path, encoding, UTC, timeouts and
 * application_name ("gpu-audit COMMAND"). Queries are assets ("sql/query_x.sql") with $1..$n;
 * no SQL is built with a format except identifiers through db_identifier.
 * Results come as text. Large reads use single-row mode (rows_stream).
 */
#ifndef COMMON_DB_H
#define COMMON_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/error.h"

struct db;
struct rows;

bool db_open(struct db **ret_db, const char *conninfo, const char *application, struct error *err) MUST_CHECK;
/* For psql and pg_dump: the same without its passwords (one is in *ret_password, else NULL), with
 * command-line options for the session added (NULL: none). In arena. */
bool db_conninfo_public(struct arena *arena, const char *conninfo, const char *options, const char **ret_conninfo,
                        const char **ret_password, struct error *err) MUST_CHECK;
void db_close(struct db *db); /* NULL is fine; an open transaction is rolled back by the server */

/* Runs an asset (several statements when nparam is 0). NULL parameters are SQL NULL. */
bool db_run(struct db *db, const char *asset, int nparam, const char *const *param, struct error *err) MUST_CHECK;
/* Runs SQL text: migrations, BEGIN, DDL of a slice. Never with foreign text in it. */
bool db_exec(struct db *db, const char *sql, struct error *err) MUST_CHECK;
bool db_begin(struct db *db, struct error *err) MUST_CHECK;
bool db_commit(struct db *db, struct error *err) MUST_CHECK;
void db_rollback(struct db *db); /* safe after any failure, also inside COPY or when not in a transaction */
/* First column of the first row as text in arena; NULL value when there is no row or it is NULL. */
bool db_text(struct db *db, struct arena *arena, const char *asset, int nparam, const char *const *param,
             const char **ret_text, struct error *err) MUST_CHECK;
char *db_identifier(struct db *db, struct arena *arena, const char *name); /* quoted */

/* Rows of an asset's last statement. rows_open reads all, rows_stream row by row. */
bool rows_open(struct rows **ret_rows, struct db *db, const char *asset, int nparam, const char *const *param,
               struct error *err) MUST_CHECK;
bool rows_stream(struct rows **ret_rows, struct db *db, const char *asset, int nparam, const char *const *param,
                 struct error *err) MUST_CHECK;
bool rows_next(struct rows *rows, struct error *err); /* false at the end too: tell by err->code */
int rows_count(const struct rows *rows); /* rows_open only */
int rows_columns(const struct rows *rows);
const char *rows_name(const struct rows *rows, int column);
int rows_column(const struct rows *rows, const char *name); /* -1 if absent */
const char *rows_text(const struct rows *rows, int column); /* NULL is NULL; lives until rows_next */
void rows_close(struct rows *rows); /* NULL is fine; drains a stream */

/*
 * Binary COPY. `sql` names its columns: "COPY audit.x (a, b) FROM STDIN (FORMAT binary)".
 * One copy_ call per column and copy_row at the end of each row; errors are kept and told there.
 * copy_numeric takes decimal text (sign, digits, point, exponent) exactly, whatever its length;
 * copy_text cleans what PostgreSQL refuses (NUL, broken UTF-8) to U+FFFD.
 */
struct copy;
bool copy_begin(struct copy **ret_copy, struct db *db, const char *sql, int columns, struct error *err) MUST_CHECK;
void copy_null(struct copy *copy);
void copy_text(struct copy *copy, const char *text, size_t size);
void copy_cstring(struct copy *copy, const char *text); /* NULL is SQL NULL */
void copy_bool(struct copy *copy, bool value);
void copy_int2(struct copy *copy, int16_t value);
void copy_int4(struct copy *copy, int32_t value);
void copy_int8(struct copy *copy, int64_t value);
void copy_float4(struct copy *copy, float value);
void copy_float8(struct copy *copy, double value);
void copy_time(struct copy *copy, int64_t unix_seconds); /* timestamptz */
void copy_date(struct copy *copy, int64_t unix_seconds);
void copy_numeric(struct copy *copy, const char *text, size_t size); /* text must have passed decimal_valid */
void copy_jsonb(struct copy *copy, const char *text, size_t size);   /* must be valid JSON */
bool copy_row(struct copy *copy, struct error *err) MUST_CHECK;
uint64_t copy_rows(const struct copy *copy);
/* abort_reason NULL ends the COPY; else the server is told why and the COPY is undone. Frees. */
bool copy_end(struct copy *copy, const char *abort_reason, struct error *err) MUST_CHECK;

#endif
