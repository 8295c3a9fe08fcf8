#include <config.h>

#include "ingest/bill_product.h"

#include <string.h>

#include "common/decimal.h"

enum { DIGITS = 40 };

struct digits {
    unsigned char digit[DIGITS]; /* the last first */
    size_t count, places;
    bool is_negative;
};

static bool
take_digits(struct field text, struct digits *ret)
{
    bool has_point = false;

    *ret = (struct digits){0};
    if (!decimal_valid(text.text, text.size) || text.size > DIGITS)
        return false;
    for (size_t i = text.size; i--;) {
        char c = text.text[i];

        if (c == 'e' || c == 'E')
            return false;
        if (c == '.') {
            has_point = true;
            ret->places = ret->count;
        } else if (c == '-') {
            ret->is_negative = true;
        } else if (c != '+') {
            ret->digit[ret->count++] = (unsigned char)(c - '0');
        }
    }
    if (!has_point)
        ret->places = 0;
    return true;
}

struct field
bill_product(struct arena *arena, struct field a, struct field b)
{
    struct digits x, y;
    unsigned sum[2 * DIGITS] = {0};
    char text[2 * DIGITS + 3];
    size_t places, size, at = 0;

    if (!a.size || !b.size || !take_digits(a, &x) || !take_digits(b, &y))
        return (struct field){"", 0};
    for (size_t i = 0; i < x.count; i++)
        for (size_t k = 0; k < y.count; k++)
            sum[i + k] += (unsigned)x.digit[i] * y.digit[k];
    for (size_t i = 0; i + 1 < 2 * DIGITS; i++) {
        sum[i + 1] += sum[i] / 10;
        sum[i] %= 10;
    }
    places = x.places + y.places;
    size = x.count + y.count > places + 1 ? x.count + y.count : places + 1;
    while (size > places + 1 && !sum[size - 1])
        size--;
    if (x.is_negative != y.is_negative)
        text[at++] = '-';
    for (size_t i = size; i--;) {
        text[at++] = (char)('0' + sum[i]);
        if (i == places && places)
            text[at++] = '.';
    }
    return (struct field){arena_strndup(arena, text, at), at};
}

/* ---------------------------------------------------------------- ratios */

enum { WIDE = 3 * DIGITS, RATIO_PLACES = 30 };

struct wide {
    unsigned char digit[WIDE]; /* the last first */
};

/* The digits with as many places as wanted, a whole number then. */
static struct wide
whole(const struct digits *digits, size_t places)
{
    struct wide wide = {0};

    memcpy(wide.digit + (places - digits->places), digits->digit, digits->count);
    return wide;
}

static bool
is_less(const struct wide *a, const struct wide *b)
{
    for (size_t i = WIDE; i--;)
        if (a->digit[i] != b->digit[i])
            return a->digit[i] < b->digit[i];
    return false;
}

static void
subtract(struct wide *a, const struct wide *b)
{
    int borrow = 0;

    for (size_t i = 0; i < WIDE; i++) {
        int digit = a->digit[i] - b->digit[i] - borrow;

        borrow = digit < 0;
        a->digit[i] = (unsigned char)(digit + (borrow ? 10 : 0));
    }
}

/* Puts a digit behind the rest of a division and takes the divisor off as often as it goes. */
static char
next_digit(struct wide *rest, unsigned char digit, const struct wide *divisor)
{
    char times = '0';

    memmove(rest->digit + 1, rest->digit, WIDE - 1);
    rest->digit[0] = digit;
    while (!is_less(rest, divisor)) {
        subtract(rest, divisor);
        times++;
    }
    return times;
}

struct field
bill_ratio(struct arena *arena, struct field a, struct field b)
{
    struct digits x, y;
    struct wide dividend, divisor, rest = {0};
    char text[WIDE + RATIO_PLACES + 3];
    size_t places, at = 0;

    if (!a.size || !b.size || !take_digits(a, &x) || !take_digits(b, &y) || !decimal_sign(b.text, b.size))
        return (struct field){"", 0};
    places = x.places > y.places ? x.places : y.places;
    dividend = whole(&x, places);
    divisor = whole(&y, places);
    if (x.is_negative != y.is_negative)
        text[at++] = '-';
    for (size_t i = WIDE; i--;) {
        text[at] = next_digit(&rest, dividend.digit[i], &divisor);
        at += text[at] != '0' || (at && text[at - 1] != '-') || !i;
    }
    text[at++] = '.';
    for (int i = 0; i < RATIO_PLACES; i++)
        text[at++] = next_digit(&rest, 0, &divisor);
    while (text[at - 1] == '0')
        at--;
    at -= text[at - 1] == '.';
    return (struct field){arena_strndup(arena, text, at), at};
}
