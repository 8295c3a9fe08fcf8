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

enum { DECIMAL_TEXT = 96, DECIMAL_LIMBS = 10 };

/* FOCUS numbers: [-]digits[.digits][(e|E)[+-]digits]; no blanks, no NaN, no thousands mark. A
 * leading '+' or a bare ".5" is accepted, since bills hold them. */
bool decimal_valid(const char *text, size_t size);
/* Valid, and short enough for decimal_add to take it exactly. */
bool decimal_fits(const char *text, size_t size);
/* -1, 0 or 1; 0 too when it is not valid. */
int decimal_sign(const char *text, size_t size);

struct decimal_sum {
    __int128 small;                /* 10^-18 */
    uint64_t rows;
    bool wide;
    uint32_t limb[DECIMAL_LIMBS];  /* two's complement, 10^-30, least first; used once wide */
};
/* False when decimal_fits says no; the sum is unchanged then. */
bool decimal_add(struct decimal_sum *sum, const char *text, size_t size);
void decimal_format(const struct decimal_sum *sum, char ret_text[DECIMAL_TEXT]); /* no trailing zeros, "0" */

#endif
