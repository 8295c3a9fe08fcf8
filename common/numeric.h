/*
 * Decimal text to the bytes that PostgreSQL sends and takes for numeric: exact, at any length and
 * exponent the type holds, with the scale (trailing zeros) that `text::numeric` would keep.
 * PostgreSQL 15 takes up to 131072 digits before and 16383 after the point, and in binary at most
 * 3000 groups of four digits.
 */
#ifndef COMMON_NUMERIC_H
#define COMMON_NUMERIC_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that numeric_encode may write for a text of that size. */
#define NUMERIC_ROOM(size) (8 + 2 * ((size) / 4 + 3))

/* False, with nothing of use written, when it is no decimal number or numeric cannot hold it. */
bool numeric_encode(const char *text, size_t size, unsigned char *ret_bytes, size_t *ret_size);

#endif
