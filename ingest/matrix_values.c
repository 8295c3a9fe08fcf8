#include <config.h>

#include "ingest/matrix_private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { NUMBER_MOST = 64, MANTISSA_DIGITS = 19, FRACTION_DIGITS = 27, STEP_BACK = 4096 };

static const long double powers_of_ten[FRACTION_DIGITS + 1] = {
    1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
    1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
    1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L,
};

/* Digits over a power of ten, both exact in 64 bits: the quotient is right to half a unit of its 64
 * bits, and so is its double, but where the 11 bits to be rounded off are about one half. Then, and
 * where long double has another form, strtod decides. */
static bool
divide(uint64_t digits, int fraction, double *ret_value)
{
#if LDBL_MANT_DIG == 64
    long double quotient = (long double)digits / powers_of_ten[fraction];
    uint64_t mantissa;

    memcpy(&mantissa, &quotient, sizeof(mantissa));
    mantissa &= 0x7FF;
    if (mantissa >= 0x3FF && mantissa <= 0x401)
        return false;
    *ret_value = (double)quotient;
    return true;
#else
    if (digits >> DBL_MANT_DIG || fraction > 22)
        return false;
    *ret_value = (double)digits / (double)powers_of_ten[fraction];
    return true;
#endif
}

/* [-]digits[.digits] of at most 19 digits, the common form. */
static bool
short_decimal(const char *text, const char *end, double *ret_value)
{
    const char *at = text + (text < end && *text == '-');
    const char *first = at;
    const char *point = NULL;
    uint64_t digits = 0;
    double value;

    for (; at < end; at++) {
        unsigned digit = (unsigned)(*at - '0');

        if (digit <= 9)
            digits = digits * 10 + digit;
        else if (*at == '.' && !point && at > first)
            point = at;
        else
            return false;
    }
    if (end - first - (point != NULL) > MANTISSA_DIGITS || end == first ||
        (point && point + 1 == end))
        return false;
    if (!divide(digits, point ? (int)(end - point - 1) : 0, &value))
        return false;
    *ret_value = *text == '-' ? -value : value;
    return true;
}

bool
matrix_number(const char *text, size_t size, double *ret_value)
{
    char copy[NUMBER_MOST + 1];
    char *end;
    double value;

    if (short_decimal(text, text + size, ret_value))
        return true;
    if (size == 0 || size > NUMBER_MOST || memchr(text, '\0', size))
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    /* strtod also takes white space, hexadecimal and "infinity": leave it what Prometheus writes.
     */
    if (strcmp(copy, "NaN") == 0)
        value = NAN;
    else if (strcmp(copy, "+Inf") == 0 || strcmp(copy, "Inf") == 0)
        value = INFINITY;
    else if (strcmp(copy, "-Inf") == 0)
        value = -INFINITY;
    else if (strspn(copy, "0123456789+-.eE") != size || (value = strtod(copy, &end), *end))
        return false;
    *ret_value = value;
    return true;
}

static bool
flush(struct matrix *m)
{
    size_t count = m->batch_size;

    m->batch_size = 0;
    return count == 0 || m->reader->values(m->reader->context, m->batch, count, m->err);
}

static bool
add(struct matrix *m, int64_t time_ms, double value)
{
    if (time_ms <= m->last_ms)
        return matrix_fail(m, "times of a series do not ascend");
    m->last_ms = time_ms;
    m->batch[m->batch_size].time_ms = time_ms;
    m->batch[m->batch_size].value = value;
    m->batch_size++;
    return m->batch_size < MATRIX_BATCH || flush(m);
}

/* Seconds with or without a fraction, as milliseconds; the text ends before `end`. */
static bool
time_number(const char *text, size_t size, int64_t *ret_ms)
{
    double seconds;

    if (!matrix_number(text, size, &seconds) || !(seconds >= 0 && seconds < 1e11))
        return false;
    *ret_ms = llround(seconds * 1000);
    return true;
}

/* [t,"v"] in the compact form at m->at. False: not that form, or not wholly in the window; m is as
 * it was. Every loop ends at a ']': one stands behind the window's end. */
static bool
compact_value(struct matrix *m, int64_t *ret_ms, double *ret_value)
{
    const char *at = m->window + m->at;
    const char *from;
    int64_t seconds = 0;

    if (*at++ != '[')
        return false;
    for (from = at; (unsigned)(*at - '0') <= 9 && at - from < 12; at++)
        seconds = seconds * 10 + (*at - '0');
    if (at == from || at - from > 11)
        return false;
    *ret_ms = seconds * 1000;
    if (*at == '.') {
        while ((unsigned)(*++at - '0') <= 9)
            ;
        if (!time_number(from, (size_t)(at - from), ret_ms))
            return false;
    }
    if (at[0] != ',' || at[1] != '"')
        return false;
    from = at += 2;
    while (*at != '"' && *at != ']')
        at++;
    if (*at != '"' || at + 1 >= m->window + m->end || at[1] != ']' ||
        !matrix_number(from, (size_t)(at - from), ret_value))
        return false;
    m->at = (size_t)(at + 2 - m->window);
    return true;
}

/* The same in any form JSON allows. */
static bool
loose_value(struct matrix *m, int64_t *ret_ms, double *ret_value)
{
    char text[NUMBER_MOST + 1];
    size_t size = 0;
    char c;

    if (!matrix_expect(m, '[') || !matrix_peek(m, &c))
        return false;
    for (; size < NUMBER_MOST; m->at++) {
        if (m->at == m->end && !matrix_fill(m))
            return false;
        if (m->at == m->end || !memchr("0123456789+-.eE", m->window[m->at], 15))
            break;
        text[size++] = m->window[m->at];
    }
    if (!time_number(text, size, ret_ms))
        return matrix_fail(m, "expected a time");
    if (!matrix_expect(m, ',') || !matrix_string(m, text, sizeof(text), &size))
        return false;
    if (size >= sizeof(text) || !matrix_number(text, size, ret_value))
        return matrix_fail(m, "expected a number in quotes");
    return matrix_expect(m, ']');
}

static bool
one_value(struct matrix *m, int64_t *ret_ms, double *ret_value)
{
    if (m->end - m->at < MATRIX_VALUE_MOST && !matrix_fill(m))
        return false;
    return compact_value(m, ret_ms, ret_value) || loose_value(m, ret_ms, ret_value);
}

/* The next ']' before end - 1 that no ',' follows at once; NULL: none. */
static const char *
last_bracket(const char *at, const char *end)
{
#if defined(__SSE2__)
    const __m128i bracket = _mm_set1_epi8(']'), comma = _mm_set1_epi8(',');

    for (; end - at > 16; at += 16) {
        __m128i here, next;
        int found;

        memcpy(&here, at, 16);
        memcpy(&next, at + 1, 16);
        found = _mm_movemask_epi8(
            _mm_andnot_si128(_mm_cmpeq_epi8(next, comma), _mm_cmpeq_epi8(here, bracket)));
        if (found)
            return at + __builtin_ctz((unsigned)found);
    }
#endif
    for (; end - at > 1; at++) {
        if (at[0] == ']' && at[1] != ',')
            return at;
    }
    return NULL;
}

/* From behind a pair to the beginning of the last pair. What lies between is not looked at now: it
 * is when its values are wanted. */
static bool
step_to_last(struct matrix *m)
{
    const char *bracket, *open;

    while (!(bracket = last_bracket(m->window + m->at, m->window + m->end))) {
        if (m->end - m->at > STEP_BACK)
            m->at = m->end - STEP_BACK;
        if (m->is_at_end) {
            m->at = m->end;
            return matrix_fail(m, "expected ']'");
        }
        if (!matrix_fill(m))
            return false;
    }
    open = memrchr(m->window + m->at, '[', (size_t)(bracket - m->window) - m->at);
    if (!open)
        return matrix_fail(m, "expected '['");
    m->at = (size_t)(open - m->window);
    return true;
}

/* The first pair and the last of a series. */
static bool
bounds(struct matrix *m)
{
    int64_t time_ms;
    double value;
    char c;

    if (!one_value(m, &time_ms, &value) || !add(m, time_ms, 0))
        return false;
    for (;;) {
        if (!matrix_peek(m, &c))
            return false;
        if (c == ']')
            break;
        if (c != ',')
            return matrix_fail(m, "expected ',' or ']'");
        if (!step_to_last(m) || !one_value(m, &time_ms, &value))
            return false;
    }
    return time_ms == m->last_ms || add(m, time_ms, 0);
}

static bool
all_values(struct matrix *m)
{
    int64_t time_ms;
    double value;

    for (;;) {
        if (!one_value(m, &time_ms, &value) || !add(m, time_ms, value))
            return false;
        if (m->end - m->at > 1 && m->window[m->at] == ',' && m->window[m->at + 1] == '[') {
            m->at++;
        } else {
            bool more;

            if (!matrix_more(m, false, ']', &more))
                return false;
            if (!more)
                return true;
        }
    }
}

bool
matrix_values(struct matrix *m, enum matrix_want want)
{
    char c;

    m->last_ms = -1;
    if (!matrix_expect(m, '[') || !matrix_peek(m, &c))
        return false;
    if (c == ']') {
        m->at++;
        return true;
    }
    if (want == MATRIX_VALUES)
        return all_values(m) && flush(m);
    if (!bounds(m))
        return false;
    if (want == MATRIX_SKIP)
        m->batch_size = 0;
    return matrix_expect(m, ']') && flush(m);
}

bool
matrix_value(struct matrix *m, enum matrix_want want)
{
    int64_t time_ms;
    double value;

    m->last_ms = -1;
    if (!one_value(m, &time_ms, &value))
        return false;
    return want == MATRIX_SKIP || (add(m, time_ms, value) && flush(m));
}
