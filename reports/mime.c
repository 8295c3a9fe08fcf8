#include <config.h>

#include "reports/mime.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/utf8.h"

enum { LINE = 76, LINE_BYTES = 57, WORD_BYTES = 39, FOLD = 74 };

static void
add_base64(struct buf *out, const unsigned char *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        unsigned three = (unsigned)data[i] << 16 | (left > 1 ? (unsigned)data[i + 1] << 8 : 0U) |
                         (left > 2 ? data[i + 2] : 0U);
        buf_putc(out, digits[three >> 18]);
        buf_putc(out, digits[three >> 12 & 63]);
        buf_putc(out, left > 1 ? digits[three >> 6 & 63] : '=');
        buf_putc(out, left > 2 ? digits[three & 63] : '=');
    }
}

void
mime_base64(struct buf *out, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t at = 0; at < size; at += LINE_BYTES) {
        add_base64(out, bytes + at, size - at < LINE_BYTES ? size - at : LINE_BYTES);
        buf_puts(out, "\r\n");
    }
}

/* Whether the byte may stand as it is: not at the end of a line a blank, not at its start a dot or
 * "From ". */
static bool
is_plain(const char *text, size_t column)
{
    unsigned char c = (unsigned char)*text;
    if (c == ' ' || c == '\t')
        return text[1] != '\n' && text[1] != '\0';
    if (column == 0 && (c == '.' || strncmp(text, "From ", 5) == 0))
        return false;
    return c > ' ' && c < 0x7F && c != '=';
}

void
mime_quoted_printable(struct buf *out, const char *text)
{
    size_t column = 0;
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            buf_puts(out, "\r\n");
            column = 0;
            continue;
        }
        if (*text == '\r')
            continue;
        if (column > LINE - 4) { /* room for "=XX" and the soft break */
            buf_puts(out, "=\r\n");
            column = 0;
        }
        bool plain = is_plain(text, column);
        if (plain)
            buf_putc(out, *text);
        else
            buf_printf(out, "=%02X", (unsigned)(unsigned char)*text);
        column += plain ? 1 : 3;
    }
    buf_puts(out, "\r\n");
}

/* Control characters as blanks, in arena. */
static char *
cleaned(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);
    for (char *c = copy; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            *c = ' ';
    return copy;
}

static bool
needs_encoding(const char *text)
{
    size_t word = 0;
    for (const char *c = text; *c != '\0'; c++) {
        word = *c == ' ' ? 0 : word + 1;
        if ((unsigned char)*c >= 0x80 || word > LINE - 16)
            return true;
    }
    return strstr(text, "=?") != NULL;
}

/* =?UTF-8?B?...?= words of at most 75 characters, never half a character in one, a line each. */
static void
add_words(struct buf *out, const char *text)
{
    size_t left = strlen(text);
    for (bool is_first = true; left > 0; is_first = false) {
        size_t size = 0, next;
        while (size < left && (next = utf8_size(text + size, left - size)) != 0 &&
               size + next <= WORD_BYTES)
            size += next;
        if (size == 0) /* a byte that is no UTF-8: alone, the reader decides */
            size = 1;
        buf_puts(out, is_first ? "=?UTF-8?B?" : "\r\n =?UTF-8?B?");
        add_base64(out, (const unsigned char *)text, size);
        buf_puts(out, "?=");
        text += size;
        left -= size;
    }
}

/* Plain text, folded at blanks; `column` characters stand on the line already. */
static void
add_folded(struct buf *out, const char *text, size_t column)
{
    while (*text != '\0') {
        size_t blanks = strspn(text, " "), word = strcspn(text + blanks, " ");
        if (column + blanks + word > FOLD && blanks > 0 && word > 0) {
            buf_puts(out, "\r\n");
            column = 0;
        }
        buf_add(out, text, blanks + word);
        column += blanks + word;
        text += blanks + word;
    }
}

void
mime_header(struct buf *out, const char *name, const char *text)
{
    struct arena arena = {0};
    const char *value = cleaned(&arena, text);
    value += strspn(value, " ");
    buf_printf(out, "%s: ", name);
    if (needs_encoding(value))
        add_words(out, value);
    else
        add_folded(out, value, strlen(name) + 2);
    buf_puts(out, "\r\n");
    arena_free(&arena);
}

static void
add_quoted(struct buf *out, const char *name)
{
    buf_putc(out, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"' || *name == '\\')
            buf_putc(out, '\\');
        buf_putc(out, *name);
    }
    buf_putc(out, '"');
}

void
mime_addresses(struct buf *out, const char *name, const struct address *list)
{
    if (list == NULL)
        return;
    buf_printf(out, "%s: ", name);
    for (const struct address *a = list; a != NULL; a = a->next) {
        if (a->name[0] != '\0' && needs_encoding(a->name))
            add_words(out, a->name);
        else if (a->name[0] != '\0')
            add_quoted(out, a->name);
        buf_printf(out, a->name[0] == '\0' ? "%s" : "\r\n <%s>", a->mailbox);
        buf_puts(out, a->next == NULL ? "\r\n" : ",\r\n ");
    }
}

void
mime_date(struct buf *out, int64_t now)
{
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)now;
    struct tm tm;
    gmtime_r(&seconds, &tm); /* strftime would speak the locale's language */
    buf_printf(out, "Date: %s, %02d %s %04d %02d:%02d:%02d +0000\r\n", days[tm.tm_wday], tm.tm_mday,
               months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}
