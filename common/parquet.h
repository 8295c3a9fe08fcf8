/*
 * Parquet, read by DuckDB's library where there is one (libduckdb.so, loaded at run time). It runs in
 * a process of its own: this program again, in a mode that --help does not show, with three open
 * files, an empty environment, one thread and bounded memory. What it reads comes back through a
 * pipe as CSV with a header: decimals digit by digit, times as 2026-07-01T00:00:00 (with Z where the
 * file says that they are UTC), NULL as nothing, lists, maps and structs as JSON text; the parts of a
 * struct once more as columns "service.id". So nobody else knows of Parquet. The reader first tells
 * the names of all columns and is told which are wanted: only those are read, the cells of the others
 * are empty.
 *
 * A file that cannot be read is ERR_INPUT, a library that is not there or is another is ERR_CONFIG.
 */
#ifndef COMMON_PARQUET_H
#define COMMON_PARQUET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct parquet;

/* Whether a column of that name is wanted. */
struct column_filter {
    bool (*wants)(const void *context, const char *name);
    const void *context;
};

/* The library to load from now on; NULL or "": the one that the system finds. The text stays the caller's. */
void parquet_use(const char *library);
/* Whether a file that begins so is Parquet. */
bool parquet_is(const void *head, size_t size);
/* Whether it is one that is encrypted as a whole. */
bool parquet_is_encrypted(const void *head, size_t size);

/* Starts reading the file that fd is; name is for messages. fd stays the caller's, its position says
 * how far the reader is. Without filter->wants every column is read. */
bool parquet_open(struct parquet **ret_parquet, int fd, const char *name, const struct column_filter *filter,
                  struct error *err) MUST_CHECK;
/* As stream_read. */
bool parquet_read(struct parquet *parquet, void *into, size_t room, size_t *ret_size, struct error *err) MUST_CHECK;
void parquet_close(struct parquet *parquet); /* ends the reader; NULL is fine */

/* The other side: true when the program was started as the reader. Then main returns what
 * parquet_child_run returns, before it does anything else. A program that never asks reads no Parquet. */
bool parquet_child_wanted(int argc, char **argv);
int parquet_child_run(char **argv);

#endif
