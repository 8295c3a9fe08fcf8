/* UTF-8 by the letter: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stddef.h>

#define UTF8_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* Bytes of the character at text, of which `left` bytes may be read; 0 when it is not UTF-8. */
static inline size_t
utf8_size(const char *text, size_t left)
{
    const unsigned char *c = (const unsigned char *)text;
    unsigned low = 0x80, high = 0xBF;
    size_t size, i;

    if (left == 0)
        return 0;
    if (c[0] < 0x80)
        return 1;
    if (c[0] < 0xC2 || c[0] > 0xF4)
        return 0;
    size = c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
    if (c[0] == 0xE0)
        low = 0xA0;
    else if (c[0] == 0xED)
        high = 0x9F;
    else if (c[0] == 0xF0)
        low = 0x90;
    else if (c[0] == 0xF4)
        high = 0x8F;
    if (left < size || c[1] < low || c[1] > high)
        return 0;
    for (i = 2; i < size; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    return size;
}

#endif
