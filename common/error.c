#include <config.h>

#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Cuts at a character's beginning: an error may end in a database or a JSON log, which refuse half
 * a UTF-8 character. */
static void
trim_broken_end(char *text, size_t room)
{
    size_t size = strlen(text);
    size_t start = size;

    if (size + 1 < room)
        return;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0xC0)
        text[start - 1] = '\0';
}

/* Formats by way of a copy, since arguments may point into the field that is written. */
PRINTF_LIKE(3, 0)
static void
format_into(char *field, size_t room, const char *fmt, va_list args)
{
    char text[sizeof(((struct error *)0)->text)];

    if (vsnprintf(text, room, fmt, args) < 0)
        text[0] = '\0';
    trim_broken_end(text, room);
    memcpy(field, text, strlen(text) + 1);
}

bool
error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    format_into(err->text, sizeof(err->text), fmt, args);
    va_end(args);
    err->code = code;
    err->sqlstate[0] = '\0';
    err->detail[0] = '\0';
    err->hint[0] = '\0';
    return false;
}

bool
error_detail(struct error *err, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    format_into(err->detail, sizeof(err->detail), fmt, args);
    va_end(args);
    return false;
}

bool
error_hint(struct error *err, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    format_into(err->hint, sizeof(err->hint), fmt, args);
    va_end(args);
    return false;
}

bool
error_context(struct error *err, const char *fmt, ...)
{
    char text[2 * sizeof(err->text)];
    va_list args;
    size_t size;

    va_start(args, fmt);
    format_into(text, sizeof(err->text), fmt, args);
    va_end(args);
    size = strlen(text);
    memcpy(text + size, ": ", 2);
    memcpy(text + size + 2, err->text, strlen(err->text) + 1);
    text[sizeof(err->text) - 1] = '\0';
    trim_broken_end(text, sizeof(err->text));
    memcpy(err->text, text, strlen(text) + 1);
    return false;
}

void
error_clear(struct error *err)
{
    memset(err, 0, sizeof(*err));
}
