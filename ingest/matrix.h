/*
 * Reads the answer of /api/v1/query_range and /api/v1/query: a matrix or a vector, streamed. Strict
 * JSON of this one shape: keys in any order, "metric" before "values", unknown keys stepped over,
 * escapes in strings, white space anywhere, times of a series ascending. Memory is bounded whatever
 * the input. Errors name the byte.
 *
 * A series is announced with its labels; the answer says whether its values are wanted, only its
 * first and last time, or nothing: what is not wanted is stepped over at the speed of memory.
 */
#ifndef INGEST_MATRIX_H
#define INGEST_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "ingest/signals.h"

enum {
    MATRIX_LABELS_MOST = 256,       /* of one series */
    MATRIX_LABEL_BYTES = 64 * 1024, /* names and values of one series together */
    MATRIX_NOTE_BYTES = 1000,       /* what is kept of warnings, infos and errors */
    MATRIX_BATCH = 512,
};

struct matrix_value {
    int64_t time_ms;
    double value;
};

enum matrix_want { MATRIX_SKIP, MATRIX_BOUNDS, MATRIX_VALUES };

struct matrix_reader {
    void *context;
    /* Next bytes; *ret_size 0 at the end. */
    bool (*read)(void *context, void *into, size_t room, size_t *ret_size, struct error *err);
    bool (*series)(void *context, const struct label *labels, size_t count,
                   enum matrix_want *ret_want, struct error *err);
    /* Values of the series just announced, in order, in batches. With MATRIX_BOUNDS the first and
     * the last, their values 0. */
    bool (*values)(void *context, const struct matrix_value *values, size_t count,
                   struct error *err);
};

struct matrix_summary {
    bool is_success, is_partial;
    char problem[MATRIX_NOTE_BYTES];  /* "error" of an answer that is none */
    char warnings[MATRIX_NOTE_BYTES]; /* joined by "; " */
    char infos[MATRIX_NOTE_BYTES];
    uint64_t series, bytes;
};

/* ERR_INPUT with the byte offset when the input is not such an answer. An answer with status error
 * is one: the summary says so. */
bool matrix_read(const struct matrix_reader *reader, struct matrix_summary *ret_summary,
                 struct error *err) MUST_CHECK;

/* A decimal number as delivered ("0.7493333333333333", "1e-05", "NaN", "+Inf"): the nearest double,
 * as strtod gives it. False when the text is none. */
bool matrix_number(const char *text, size_t size, double *ret_value);

#endif
