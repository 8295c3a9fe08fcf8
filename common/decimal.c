#include <config.h>

#include "common/decimal.h"

#include <string.h>

enum {
    WHOLE_DIGITS = 38,
    FRACTION_DIGITS = 30,
    SMALL_FRACTION = 18,
    EXPONENT_MOST = 9999, /* beyond, a number is either zero or does not fit */
    TEXT_ROOM = 104,
};

/* Where the digits of a number stand: text[0..digits) without its sign, exponent apart. */
struct number {
    const char *text;
    size_t size;       /* digits and point */
    size_t whole;      /* digits before the point */
    size_t fraction;   /* digits after it */
    long exponent;
    bool negative;
};

static const uint64_t POWER[] = {
    1ULL, 10ULL, 100ULL, 1000ULL, 10000ULL, 100000ULL, 1000000ULL, 10000000ULL, 100000000ULL, 1000000000ULL,
    10000000000ULL, 100000000000ULL, 1000000000000ULL, 10000000000000ULL, 100000000000000ULL,
    1000000000000000ULL, 10000000000000000ULL, 100000000000000000ULL, 1000000000000000000ULL,
};

static size_t
count_digits(const char *text, size_t size)
{
    size_t n = 0;

    while (n < size && (unsigned char)(text[n] - '0') <= 9)
        n++;
    return n;
}

/* [+-]digits after an e; false unless all of text is it. Large exponents are clamped. */
static bool
parse_exponent(const char *text, size_t size, long *ret_exponent)
{
    size_t at = size && (text[0] == '-' || text[0] == '+');
    long value = 0;

    if (at == size || count_digits(text + at, size - at) != size - at)
        return false;
    for (size_t i = at; i < size; i++)
        if (value <= EXPONENT_MOST)
            value = value * 10 + (text[i] - '0');
    *ret_exponent = at && text[0] == '-' ? -value : value;
    return true;
}

static bool
parse(const char *text, size_t size, struct number *ret)
{
    size_t at = size && (text[0] == '-' || text[0] == '+');
    struct number n = {.negative = at && text[0] == '-'};

    if (!size)
        return false; /* text may be NULL then */
    n.text = text + at;
    n.whole = count_digits(n.text, size - at);
    at += n.whole;
    if (at < size && text[at] == '.') {
        n.fraction = count_digits(text + at + 1, size - at - 1);
        at += 1 + n.fraction;
    }
    n.size = (size_t)(text + at - n.text);
    if (!n.whole && !n.fraction)
        return false;
    if (at < size && ((text[at] | 0x20) != 'e' || !parse_exponent(text + at + 1, size - at - 1, &n.exponent)))
        return false;
    *ret = n;
    return true;
}

bool
decimal_valid(const char *text, size_t size)
{
    struct number n;

    return parse(text, size, &n);
}

int
decimal_sign(const char *text, size_t size)
{
    struct number n;

    if (!parse(text, size, &n))
        return 0;
    for (size_t i = 0; i < n.size; i++)
        if (n.text[i] >= '1' && n.text[i] <= '9')
            return n.negative ? -1 : 1;
    return 0;
}

/* The digits without leading and trailing zeros; *ret_point is where the point stands, counted from
 * the first of them, and may lie outside. False when they do not fit the fixed point. */
static bool
significant(const struct number *n, char *digits, size_t *ret_count, long *ret_point)
{
    size_t count = 0, leading = 0;
    long point;

    for (size_t i = 0; i < n->size; i++) {
        if (n->text[i] == '.')
            continue;
        if (!count && n->text[i] == '0') {
            leading++;
            continue;
        }
        if (count < WHOLE_DIGITS + FRACTION_DIGITS)
            digits[count] = n->text[i];
        else if (n->text[i] != '0')
            return false;
        count++;
    }
    point = (long)n->whole - (long)leading + n->exponent;
    count = count < WHOLE_DIGITS + FRACTION_DIGITS ? count : WHOLE_DIGITS + FRACTION_DIGITS;
    while (count && digits[count - 1] == '0')
        count--;
    if (count && (point > WHOLE_DIGITS || (long)count - point > FRACTION_DIGITS))
        return false;
    *ret_count = count;
    *ret_point = point;
    return true;
}

bool
decimal_fits(const char *text, size_t size)
{
    char digits[WHOLE_DIGITS + FRACTION_DIGITS];
    struct number n;
    size_t count;
    long point;

    if (!parse(text, size, &n))
        return false;
    if (!n.exponent && n.whole <= WHOLE_DIGITS && n.fraction <= FRACTION_DIGITS)
        return true;
    return significant(&n, digits, &count, &point);
}

static void
limbs_multiply_add(uint32_t *limb, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;

    for (int i = 0; i < DECIMAL_LIMBS; i++) {
        carry += (uint64_t)limb[i] * factor;
        limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void
limbs_add(uint32_t *limb, const uint32_t *other)
{
    uint64_t carry = 0;

    for (int i = 0; i < DECIMAL_LIMBS; i++) {
        carry += (uint64_t)limb[i] + other[i];
        limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void
limbs_negate(uint32_t *limb)
{
    static const uint32_t one[DECIMAL_LIMBS] = {1};

    for (int i = 0; i < DECIMAL_LIMBS; i++)
        limb[i] = ~limb[i];
    limbs_add(limb, one);
}

static uint32_t
limbs_divide(uint32_t *limb, uint32_t divisor)
{
    uint64_t rest = 0;

    for (int i = DECIMAL_LIMBS - 1; i >= 0; i--) {
        rest = rest << 32 | limb[i];
        limb[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    return (uint32_t)rest;
}

/* From int128 at 10^-18 to limbs at 10^-30. */
static void
limbs_from_small(uint32_t *limb, __int128 small)
{
    unsigned __int128 value = small < 0 ? -(unsigned __int128)small : (unsigned __int128)small;

    memset(limb, 0, DECIMAL_LIMBS * sizeof *limb);
    for (int i = 0; i < 4; i++)
        limb[i] = (uint32_t)(value >> (32 * i));
    limbs_multiply_add(limb, 1000000, 0);
    limbs_multiply_add(limb, 1000000, 0);
    if (small < 0)
        limbs_negate(limb);
}

static bool
add_wide(struct decimal_sum *sum, const struct number *n)
{
    char digits[WHOLE_DIGITS + FRACTION_DIGITS];
    uint32_t value[DECIMAL_LIMBS] = {0};
    size_t count;
    long point;

    if (!significant(n, digits, &count, &point))
        return false;
    for (size_t i = 0; i < count; i++)
        limbs_multiply_add(value, 10, (uint32_t)(digits[i] - '0'));
    if (count)
        for (long zeros = FRACTION_DIGITS - ((long)count - point); zeros > 0; zeros--)
            limbs_multiply_add(value, 10, 0);
    if (n->negative)
        limbs_negate(value);
    if (!sum->wide)
        limbs_from_small(sum->limb, sum->small);
    sum->wide = true;
    limbs_add(sum->limb, value);
    return true;
}

/* At most 18 digits and no exponent: the common case. */
static bool
add_small(struct decimal_sum *sum, const struct number *n)
{
    uint64_t value = 0;
    __int128 scaled, result;

    for (size_t i = 0; i < n->size; i++)
        if (n->text[i] != '.')
            value = value * 10 + (uint64_t)(n->text[i] - '0');
    scaled = (__int128)value * (__int128)POWER[SMALL_FRACTION - n->fraction];
    if (__builtin_add_overflow(sum->small, n->negative ? -scaled : scaled, &result))
        return false;
    sum->small = result;
    return true;
}

bool
decimal_add(struct decimal_sum *sum, const char *text, size_t size)
{
    struct number n;
    bool is_short;

    if (!parse(text, size, &n))
        return false;
    is_short = !sum->wide && !n.exponent && n.whole + n.fraction <= SMALL_FRACTION;
    if (!(is_short && add_small(sum, &n)) && !add_wide(sum, &n))
        return false;
    sum->rows++;
    return true;
}

void
decimal_format(const struct decimal_sum *sum, char ret_text[DECIMAL_TEXT])
{
    uint32_t limb[DECIMAL_LIMBS];
    char digits[TEXT_ROOM];
    size_t start = TEXT_ROOM, end = TEXT_ROOM, out = 0;
    bool negative;

    if (sum->wide)
        memcpy(limb, sum->limb, sizeof limb);
    else
        limbs_from_small(limb, sum->small);
    negative = limb[DECIMAL_LIMBS - 1] >> 31;
    if (negative)
        limbs_negate(limb);
    while (start)
        digits[--start] = (char)('0' + limbs_divide(limb, 10));
    while (start < TEXT_ROOM - FRACTION_DIGITS - 1 && digits[start] == '0')
        start++;
    while (end > TEXT_ROOM - FRACTION_DIGITS && digits[end - 1] == '0')
        end--;
    if (negative)
        ret_text[out++] = '-';
    for (size_t i = start; i < end; i++) {
        if (i == TEXT_ROOM - FRACTION_DIGITS)
            ret_text[out++] = '.';
        ret_text[out++] = digits[i];
    }
    ret_text[out] = '\0';
}
