#include <config.h>

#include <stdint.h>

#include "common/numeric.h"

enum {
    GROUP_DIGITS = 4,        /* decimal digits in one base-10000 digit */
    GROUPS_MAX = 3000,       /* what numeric_recv takes */
    WEIGHT_MAX = 32767,
    SCALE_MAX = 16383,
    EXPONENT_MAX = 1000000,  /* far outside either limit, and safe to add to lengths */
    SIGN_NEGATIVE = 0x4000,
};

/* The parts of a number: digits with perhaps a point among them, and where the point really is. */
struct parts {
    const char *digits, *end;  /* from the first digit that is not 0; a '.' may stand between */
    long before;               /* digits before the point from there on, exponent included; <= 0: zeros follow it */
    long scale;                /* digits after the point, exponent included */
    bool is_negative;
};

static const char *
parse_exponent(const char *at, const char *end, long *ret_exponent)
{
    bool is_negative = false;
    const char *start;

    if (at < end && (*at == '-' || *at == '+')) {
        is_negative = *at++ == '-';
    }
    start = at;
    for (*ret_exponent = 0; at < end && *at >= '0' && *at <= '9'; at++) {
        if (*ret_exponent < EXPONENT_MAX) {
            *ret_exponent = *ret_exponent * 10 + (*at - '0');
        }
    }
    if (is_negative) {
        *ret_exponent = -*ret_exponent;
    }
    return at > start ? at : NULL;
}

/* One pass over the text: finds sign, first significant digit, point and exponent. */
static bool
parse(const char *text, size_t size, struct parts *ret_parts)
{
    const char *at = text, *end = text + size, *point = NULL, *first = NULL;
    long digits = 0, exponent = 0, seen;

    *ret_parts = (struct parts){0};
    if (at < end && (*at == '-' || *at == '+')) {
        ret_parts->is_negative = *at++ == '-';
    }
    for (; at < end; at++) {
        if (*at >= '0' && *at <= '9') {
            digits++;
            first = first || *at == '0' ? first : at;
        } else if (*at == '.' && !point) {
            point = at;
        } else {
            break;
        }
    }
    ret_parts->end = at;
    if (digits == 0 || (at < end && ((*at != 'e' && *at != 'E') || parse_exponent(at + 1, end, &exponent) != end))) {
        return false;
    }
    point = point ? point : ret_parts->end;
    seen = ret_parts->end > point ? ret_parts->end - point - 1 : 0;
    ret_parts->scale = seen > exponent ? seen - exponent : 0;
    ret_parts->digits = first ? first : ret_parts->end;
    ret_parts->before = exponent + (ret_parts->digits < point ? point - ret_parts->digits : point - ret_parts->digits + 1);
    return true;
}

static unsigned char *
put16(unsigned char *at, unsigned value)
{
    at[0] = (unsigned char)(value >> 8);
    at[1] = (unsigned char)value;
    return at + 2;
}

/* Cuts the digits into groups of four that are aligned to the point, the first one holding `lead`
 * of them, and leaves out groups of zeros at the end. Returns the end of what it wrote. */
static unsigned char *
put_groups(const struct parts *parts, int lead, unsigned char *into)
{
    unsigned char *last = into;
    unsigned value = 0;
    int missing = lead;

    for (const char *at = parts->digits; at < parts->end; at++) {
        if (*at == '.') {
            continue;
        }
        value = value * 10 + (unsigned)(*at - '0');
        if (--missing == 0) {
            into = put16(into, value);
            last = value ? into : last;
            value = 0;
            missing = GROUP_DIGITS;
        }
    }
    if (value) {
        for (; missing > 0; missing--) {
            value *= 10;
        }
        last = put16(into, value);
    }
    return last;
}

bool
numeric_encode(const char *text, size_t size, unsigned char *ret_bytes, size_t *ret_size)
{
    struct parts parts;
    long weight = 0;
    unsigned char *end = ret_bytes + 8;

    if (!parse(text, size, &parts) || parts.scale > SCALE_MAX) {
        return false;
    }
    if (parts.digits < parts.end) {
        /* floor((before - 1) / 4), for negative numbers too */
        weight = parts.before > 0 ? (parts.before - 1) / GROUP_DIGITS : -((GROUP_DIGITS - parts.before) / GROUP_DIGITS);
        end = put_groups(&parts, (int)(parts.before - weight * GROUP_DIGITS), end);
    }
    if (weight > WEIGHT_MAX || end - ret_bytes > 8 + 2 * GROUPS_MAX) {
        return false;
    }
    put16(ret_bytes, (unsigned)((end - ret_bytes - 8) / 2));
    put16(ret_bytes + 2, (unsigned)weight);
    put16(ret_bytes + 4, parts.is_negative && end > ret_bytes + 8 ? SIGN_NEGATIVE : 0);
    put16(ret_bytes + 6, (unsigned)parts.scale);
    *ret_size = (size_t)(end - ret_bytes);
    return true;
}
