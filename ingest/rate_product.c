/* Exact products of decimal text: digits, as by hand. */
#include <config.h>

#include <string.h>

#include "common/decimal.h"
#include "ingest/rate_card.h"

enum { DIGITS_MOST = 400, SCALE_ROUNDED = 18, SCALE_MOST = 30 };

/* digit[0] is the last one; value = digits x 10^-scale. */
struct number {
    uint8_t digit[DIGITS_MOST];
    int count, scale;
    bool is_negative;
};

static int
exponent_of(const char *text, size_t size)
{
    int value = 0;
    bool is_negative = size && text[0] == '-';

    for (size_t i = size && (text[0] == '-' || text[0] == '+'); i < size; i++)
        value = value < 1000 ? value * 10 + (text[i] - '0') : value;
    return is_negative ? -value : value;
}

static bool
read_number(struct field text, struct number *number)
{
    char digits[DIGITS_MOST];
    int count = 0, scale = 0, zeros;
    bool in_fraction = false;

    *number = (struct number){.is_negative = text.size && text.text[0] == '-'};
    if (!decimal_fits(text.text, text.size))
        return false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.text[i];

        if (c == 'e' || c == 'E') {
            scale -= exponent_of(text.text + i + 1, text.size - i - 1);
            break;
        }
        in_fraction |= c == '.';
        if (c < '0' || c > '9' || (!count && c == '0' && !in_fraction))
            continue;
        if (count == DIGITS_MOST / 4)
            return false;
        digits[count++] = c;
        scale += in_fraction;
    }
    zeros = scale < 0 ? -scale : 0; /* 1.5E3: zeros behind it */
    if (count + zeros > DIGITS_MOST / 4)
        return false;
    for (int i = 0; i < count; i++)
        number->digit[zeros + i] = (uint8_t)(digits[count - 1 - i] - '0');
    number->count = count + zeros;
    number->scale = scale < 0 ? 0 : scale;
    return true;
}

static void
multiply(const struct number *a, const struct number *b, struct number *ret)
{
    *ret = (struct number){.scale = a->scale + b->scale, .is_negative = a->is_negative != b->is_negative,
                           .count = a->count + b->count};
    for (int i = 0; i < a->count; i++) {
        int carry = 0;

        for (int k = 0; k < b->count || carry; k++) {
            int sum = ret->digit[i + k] + carry + (k < b->count ? a->digit[i] * b->digit[k] : 0);

            ret->digit[i + k] = (uint8_t)(sum % 10);
            carry = sum / 10;
        }
    }
}

static void
add_one(struct number *number)
{
    int i = 0;

    while (i < DIGITS_MOST - 1 && number->digit[i] == 9)
        number->digit[i++] = 0;
    number->digit[i]++;
    number->count = number->count > i ? number->count : i + 1;
}

/* In place; what is left over. */
static int64_t
divide(struct number *number, int64_t by)
{
    int64_t rest = 0;

    for (int i = number->count - 1; i >= 0; i--) {
        rest = rest * 10 + number->digit[i];
        number->digit[i] = (uint8_t)(rest / by);
        rest %= by;
    }
    return rest;
}

/* Half to even. */
static void
round_up(struct number *number, int64_t rest, int64_t by)
{
    if (rest * 2 > by || (rest * 2 == by && number->digit[0] % 2))
        add_one(number);
}

/* Drops places beyond the scale that sums take. */
static void
cut(struct number *number)
{
    int more = number->scale - SCALE_MOST;
    uint8_t first;
    bool is_beyond = false;

    if (more <= 0)
        return;
    first = number->digit[more - 1];
    for (int i = 0; i < more - 1; i++)
        is_beyond |= number->digit[i] != 0;
    memmove(number->digit, number->digit + more, DIGITS_MOST - (size_t)more);
    number->count = number->count > more ? number->count - more : 0;
    number->scale = SCALE_MOST;
    round_up(number, first * 2 + is_beyond, 20);
}

static void
quotient(struct number *number, int64_t by)
{
    struct number trial = *number;
    int more = SCALE_ROUNDED - number->scale;

    if (!divide(&trial, by)) {
        *number = trial;
        return;
    }
    if (more > 0) {
        memmove(number->digit + more, number->digit, (size_t)number->count);
        memset(number->digit, 0, (size_t)more);
        number->count += more;
        number->scale += more;
    }
    round_up(number, divide(number, by), by);
}

static struct field
write_number(struct arena *arena, struct number *number)
{
    char *text = arena_alloc(arena, DIGITS_MOST + 4), *at = text;

    while (number->scale && !number->digit[0]) { /* zeros at the end say nothing */
        memmove(number->digit, number->digit + 1, DIGITS_MOST - 1);
        number->scale--;
        number->count -= number->count > 0;
    }
    while (number->count > number->scale + 1 && !number->digit[number->count - 1])
        number->count--;
    number->count = number->count > number->scale ? number->count : number->scale + 1;
    if (number->is_negative && (number->count > 1 || number->digit[0]))
        *at++ = '-';
    for (int i = number->count - 1; i >= 0; i--) {
        *at++ = (char)('0' + number->digit[i]);
        if (i == number->scale && i)
            *at++ = '.';
    }
    return (struct field){text, (size_t)(at - text)};
}

bool
rate_product(struct arena *arena, struct field a, struct field b, int multiplier, int divisor, struct field *ret_text)
{
    struct number x, y, product, factor = {0};
    char text[16];
    size_t size = 0;

    if (!read_number(a, &x) || !read_number(b, &y) || multiplier < 1 || divisor < 1)
        return false;
    multiply(&x, &y, &product);
    for (int rest = multiplier; rest; rest /= 10)
        text[size++] = (char)('0' + rest % 10);
    for (size_t i = 0; i < size; i++)
        factor.digit[i] = (uint8_t)(text[i] - '0');
    factor.count = (int)size;
    multiply(&product, &factor, &x);
    if (divisor > 1)
        quotient(&x, divisor);
    cut(&x);
    *ret_text = write_number(arena, &x);
    return decimal_fits(ret_text->text, ret_text->size);
}
