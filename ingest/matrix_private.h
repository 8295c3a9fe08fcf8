/* What matrix.c (the answer), matrix_json.c (its tokens) and matrix_values.c (the numbers) share.
 */
#ifndef INGEST_MATRIX_PRIVATE_H
#define INGEST_MATRIX_PRIVATE_H

#include "ingest/matrix.h"

enum {
    MATRIX_WINDOW = 256 * 1024,
    MATRIX_VALUE_MOST =
        128, /* a pair of time and value with its punctuation and no odd white space */
    MATRIX_DEPTH_MOST = 32,
};

struct matrix {
    const struct matrix_reader *reader;
    struct error *err;
    char *window;
    size_t at, end; /* in window */
    uint64_t base;  /* offset of window[0] in the input */
    bool is_at_end; /* nothing left to read */
    struct label labels[MATRIX_LABELS_MOST];
    size_t label_count;
    char *text; /* MATRIX_LABEL_BYTES: the labels' text */
    size_t text_size;
    struct matrix_value batch[MATRIX_BATCH];
    size_t batch_size;
    int64_t last_ms;
};

/* All return false after setting err. */
bool matrix_fail(struct matrix *m, const char *what); /* "expected …" at this byte */
bool matrix_fill(struct matrix *m);              /* moves what is left to the front and reads on */
bool matrix_peek(struct matrix *m, char *ret_c); /* next byte that is no white space */
bool matrix_expect(struct matrix *m, char c);
bool matrix_end(struct matrix *m); /* only white space is left */
/* A string into `into`, cut (not failed) at room - 1 bytes, NUL-terminated; NULL to step over it.
 */
bool matrix_string(struct matrix *m, char *into, size_t room, size_t *ret_size);
bool matrix_bool(struct matrix *m, bool *ret_value);
bool matrix_skip(struct matrix *m, int depth); /* any value */
/* Goes on in an object or array that was opened: *ret_more false once it closes with `close`.
 * is_first: nothing has been read of it. */
bool matrix_more(struct matrix *m, bool is_first, char close, bool *ret_more);

bool matrix_values(struct matrix *m, enum matrix_want want); /* [[t,"v"],…] */
bool matrix_value(struct matrix *m, enum matrix_want want);  /* [t,"v"] */

#endif
