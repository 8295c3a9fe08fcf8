/* Strings of JSON: where they end, and what they say. */
#include <config.h>

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "common/jsonl_private.h"
#include "common/utf8.h"

/* The first quote, backslash or control character; the padding behind the window is one. */
static inline const char *
find_special(const char *text, bool *ret_ascii)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);

    for (;; text += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
        __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                                       _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
        unsigned found = (unsigned)_mm_movemask_epi8(special), high = (unsigned)_mm_movemask_epi8(bytes);

        if (found) {
            unsigned bit = (unsigned)__builtin_ctz(found);

            *ret_ascii &= !(high & ((1U << bit) - 1));
            return text + bit;
        }
        *ret_ascii &= !high;
    }
#else
    for (;; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\' || c < 0x20)
            return text;
        *ret_ascii &= c < 0x80;
    }
#endif
}

const char *
jsonl_string_end(const char *text, const char *end, bool *ret_escaped, bool *ret_ascii)
{
    *ret_escaped = false;
    *ret_ascii = true;
    for (;;) {
        text = find_special(text, ret_ascii);
        if (text >= end)
            return end;
        if (*text != '\\')
            return text;
        *ret_escaped = true;
        if (end - text < 2)
            return end;
        text += 2;
    }
}

/* Four hexadecimal digits; -1 when they are not. */
static long
hex4(const char *text, const char *end)
{
    long value = 0;

    if (end - text < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)text[i], letter = c | 0x20;

        if (c >= '0' && c <= '9')
            value = value * 16 + c - '0';
        else if (letter >= 'a' && letter <= 'f')
            value = value * 16 + letter - 'a' + 10;
        else
            return -1;
    }
    return value;
}

static size_t
put_utf8(char *into, long code)
{
    unsigned char *byte = (unsigned char *)into;

    if (code < 0x80) {
        byte[0] = (unsigned char)code;
        return 1;
    }
    if (code < 0x800) {
        byte[0] = (unsigned char)(0xC0 | code >> 6);
        byte[1] = (unsigned char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        byte[0] = (unsigned char)(0xE0 | code >> 12);
        byte[1] = (unsigned char)(0x80 | (code >> 6 & 0x3F));
        byte[2] = (unsigned char)(0x80 | (code & 0x3F));
        return 3;
    }
    byte[0] = (unsigned char)(0xF0 | code >> 18);
    byte[1] = (unsigned char)(0x80 | (code >> 12 & 0x3F));
    byte[2] = (unsigned char)(0x80 | (code >> 6 & 0x3F));
    byte[3] = (unsigned char)(0x80 | (code & 0x3F));
    return 4;
}

/* What follows "\u", one half of a pair or both; NULL when it is no character. PostgreSQL takes no
 * NUL in a text, and no bill has one. */
static const char *
decode_unicode(const char *text, const char *end, char *into, size_t *size)
{
    long code = hex4(text, end), low;

    if (code <= 0 || (code >= 0xDC00 && code <= 0xDFFF))
        return NULL;
    text += 4;
    if (code >= 0xD800 && code <= 0xDBFF) {
        if (end - text < 6 || text[0] != '\\' || text[1] != 'u')
            return NULL;
        low = hex4(text + 2, end);
        if (low < 0xDC00 || low > 0xDFFF)
            return NULL;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        text += 6;
    }
    *size += put_utf8(into + *size, code);
    return text;
}

static const char *
decode_escape(const char *text, const char *end, char *into, size_t *size)
{
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *found;

    if (text == end)
        return NULL;
    if (*text == 'u')
        return decode_unicode(text + 1, end, into, size);
    found = *text ? strchr(escapes, *text) : NULL;
    if (!found)
        return NULL;
    into[(*size)++] = meanings[found - escapes];
    return text + 1;
}

size_t
jsonl_string_decode(struct field field, char *into)
{
    const char *text = field.text, *end = field.text + field.size;
    size_t size = 0;

    while (text < end) {
        const char *backslash = memchr(text, '\\', (size_t)(end - text));
        size_t plain = (size_t)((backslash ? backslash : end) - text);

        memcpy(into + size, text, plain);
        size += plain;
        text += plain;
        if (backslash)
            text = decode_escape(text + 1, end, into, &size);
        if (!text)
            return SIZE_MAX;
    }
    return jsonl_is_utf8((struct field){into, size}) ? size : SIZE_MAX;
}

bool
jsonl_is_utf8(struct field text)
{
    for (size_t at = 0; at < text.size;) {
        size_t size = utf8_size(text.text + at, text.size - at);

        if (!size)
            return false;
        at += size;
    }
    return true;
}
