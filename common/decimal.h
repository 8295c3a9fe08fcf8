/*
 * Exact sums of decimal text, for the totals that are taken while a bill streams by. Fixed point:
 * up to 38 digits before and 30 after the point; int128 in the common case, limbs beyond.
 * Everything else about money happens in PostgreSQL's numeric.
 */
#ifndef COMMON_DECIMAL_H
#define COMMON_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DECIMAL_TEXT = 88 };

/* FOCUS numbers: [-]digits[.digits][(e|E)[+-]digits]; no blanks, no NaN, no thousands mark. A
 * leading '+' or a bare ".5" is accepted, since bills hold them. */
bool decimal_valid(const char *text, size_t size);

struct decimal_sum {
    __int128 small;      /* 10^-18 */
    uint64_t rows;
    bool wide;
    uint32_t limb[18];   /* two's complement, 10^-30, used once wide */
};
/* False when the number has more digits than the sum can hold exactly; the sum is unchanged. */
bool decimal_add(struct decimal_sum *sum, const char *text, size_t size);
void decimal_format(const struct decimal_sum *sum, char ret_text[DECIMAL_TEXT]); /* no trailing zeros, "0" */

#endif
