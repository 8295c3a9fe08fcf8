#include <config.h>

#include "reports/value.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"

static const struct {
    const char *format;
    int places; /* decimals of the text; -1: as many as there are */
} kinds[VALUE_KINDS] = {
    [VALUE_TEXT] = {"@", -1},
    [VALUE_MONEY] = {"#,##0.00", 2},
    [VALUE_ROUND_MONEY] = {"#,##0", 0},
    [VALUE_RATE] = {"#,##0.0000", 4},
    [VALUE_HOURS] = {"#,##0.0", 1},
    [VALUE_COUNT] = {"#,##0", 0},
    [VALUE_SHARE] = {"0.0%", 1},
    [VALUE_MIXED] = {"#,##0", -1},
    [VALUE_TIME] = {"yyyy-mm-dd hh:mm", -1},
};

bool
value_is_number(enum value_kind kind)
{
    return kind != VALUE_TEXT;
}

const char *
value_cell_format(enum value_kind kind, const char *text)
{
    static const char *const mixed[] = {"#,##0", "#,##0.0", "#,##0.00", "#,##0.000", "#,##0.0000"};
    if (kind != VALUE_MIXED || text == NULL)
        return kinds[kind].format;
    const char *point = strchr(text, '.');
    size_t places = point == NULL ? 0 : strlen(point + 1);
    return mixed[places < 4 ? places : 4];
}

bool
value_number(const char *text, double *ret_number)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number))
        return false;
    *ret_number = number;
    return true;
}

/* "-1234567.5" as "-1,234,567.5"; anything that is not a plain decimal as it is. */
static const char *
separate(struct arena *arena, const char *text)
{
    size_t sign = text[0] == '-';
    size_t digits = strspn(text + sign, "0123456789");
    if (digits <= 3)
        return arena_strdup(arena, text);
    char *out = arena_alloc(arena, strlen(text) + digits / 3 + 1);
    size_t used = 0;
    for (size_t i = 0; i < sign + digits; i++) {
        if (i > sign && (sign + digits - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = text[i];
    }
    memcpy(out + used, text + sign + digits, strlen(text + sign + digits) + 1);
    return out;
}

/* printf's "-0.0" as spreadsheets show it. */
static const char *
unsigned_zero(const char *text)
{
    return text[0] == '-' && text[1 + strspn(text + 1, "0.")] == '\0' ? text + 1 : text;
}

static const char *
number_text(struct arena *arena, enum value_kind kind, const char *text)
{
    int places = kinds[kind].places;
    double number;
    if (kind == VALUE_MIXED || !value_number(text, &number))
        return separate(arena, text);
    if (kind == VALUE_SHARE)
        return arena_printf(
            arena, "%s%%",
            separate(arena, unsigned_zero(arena_printf(arena, "%.*f", places, number * 100))));
    return separate(arena, unsigned_zero(arena_printf(arena, "%.*f", places, number)));
}

const char *
value_text(struct arena *arena, enum value_kind kind, const char *text)
{
    if (text == NULL)
        return "unknown";
    if (kind == VALUE_TEXT)
        return arena_strdup(arena, text);
    if (kind == VALUE_TIME)
        return arena_printf(arena, "%.16s", text);
    return number_text(arena, kind, text);
}

/* Bytes of the character at text; the database holds nothing but valid UTF-8. */
static size_t
character_size(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return strnlen(text, size);
}

static bool
is_escape(const char *text)
{
    return text[0] == '_' && text[1] == 'x' && strspn(text + 2, "0123456789abcdefABCDEF") >= 4 &&
           text[6] == '_';
}

/* Adds one character and returns how many UTF-16 units of the cell it takes. */
static size_t
add_character(struct buf *buf, const char *text, size_t size)
{
    unsigned char first = (unsigned char)text[0];
    if (first < 0x20 && first != '\t' &&
        first != '\n') { /* U+2400 and on: pictures of control characters */
        char picture[3] = {(char)0xE2, (char)0x90, (char)(0x80 + first)};
        buf_add(buf, picture, sizeof picture);
        return 1;
    }
    if (first == 0x7F || (first == 0xEF && size == 3 && memcmp(text, "\xEF\xBF\xBE", 2) == 0 &&
                          (unsigned char)text[2] > 0xBD)) {
        buf_puts(buf, "\xEF\xBF\xBD"); /* U+FFFE and U+FFFF are no XML characters */
        return 1;
    }
    if (is_escape(text)) {
        buf_puts(buf, "_x005F_");
        return 7;
    }
    buf_add(buf, text, size);
    return size == 4 ? 2 : 1;
}

const char *
value_cell_text(struct arena *arena, const char *text)
{
    static const char note[] = " \xE2\x80\xA6 (cut here: too long for a cell)";
    enum { ROOM = CELL_TEXT_MAX - sizeof note };
    struct buf buf = {0};
    size_t units = 0, cut = 0;
    for (size_t at = 0, size; text[at] != '\0' && units <= CELL_TEXT_MAX; at += size) {
        size = character_size(text + at);
        if (units <= ROOM)
            cut = buf.size;
        units += add_character(&buf, text + at, size);
    }
    char *out;
    if (units > CELL_TEXT_MAX)
        out = arena_printf(arena, "%.*s%s", (int)cut, buf.data, note);
    else
        out = arena_strndup(arena, buf.size > 0 ? buf.data : "", buf.size);
    buf_free(&buf);
    return out;
}
