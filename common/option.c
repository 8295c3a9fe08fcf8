#include <config.h>

#include "common/option.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/calendar.h"

const struct option *
option_find(const char *section, const char *key)
{
    const struct option *option;

    for (option = option_table; option->key; option++)
        if (strcmp(option->key, key) == 0 && strcmp(option->section, section) == 0)
            return option;
    return NULL;
}

const struct option *
option_named(const char *name)
{
    const struct option *option;

    for (option = option_table; option->key; option++)
        if ((option->places & ON_COMMAND_LINE) && strcmp(option->key, name) == 0)
            return option;
    return NULL;
}

const struct option *
option_lettered(char letter)
{
    const struct option *option;

    for (option = option_table; option->key; option++)
        if (option->letter && option->letter == letter)
            return option;
    return NULL;
}

void
option_environment(const struct option *option, char *ret_name, size_t room)
{
    bool has_section = (option->places & IN_FILE) && strcmp(option->section, "audit") != 0;
    char *c;

    snprintf(ret_name, room, "GPU_AUDIT_%s%s%s", has_section ? option->section : "",
             has_section ? "_" : "", option->key);
    for (c = ret_name; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
}

bool
option_is_secret_key(const struct option *option, const char *key)
{
    size_t size = strlen(option->key);

    return option->type == OPTION_SECRET && strncmp(key, option->key, size) == 0 &&
           (strcmp(key + size, "-file") == 0 || strcmp(key + size, "-env") == 0 ||
            strcmp(key + size, "-command") == 0);
}

/* Digits with at most one point: what strtod takes beyond that (hex, inf, a locale's comma, blanks)
 * is nothing that belongs in a setting. */
bool
number_parse(const char *text, double *ret_value)
{
    const char *c = text + (*text == '-');
    size_t digits = 0, points = 0;
    double value = 0, scale = 1;

    for (; *c; c++) {
        if (*c == '.') {
            points++;
        } else if (*c >= '0' && *c <= '9') {
            digits++;
            value = value * 10 + (*c - '0');
            scale *= points ? 10 : 1;
        } else {
            return false;
        }
    }
    if (digits == 0 || digits > 15 || points > 1)
        return false;
    *ret_value = (*text == '-' ? -value : value) / scale;
    return true;
}

bool
integer_parse(const char *text, long *ret_value)
{
    char *end;
    long value;

    if (!isdigit((unsigned char)text[0]) && text[0] != '-')
        return false;
    errno = 0;
    value = strtol(text, &end, 10);
    if (errno || end == text || *end)
        return false;
    *ret_value = value;
    return true;
}

static bool
is_choice(const char *choices, const char *value)
{
    size_t size = strlen(value);

    while (choices) {
        size_t length = strcspn(choices, "|");

        if (length == size && memcmp(choices, value, size) == 0)
            return true;
        choices = choices[length] ? choices + length + 1 : NULL;
    }
    return false;
}

static bool
is_in_range(const struct option *option, const char *value)
{
    double number = 0;
    long integer;

    if (option->type == OPTION_INTEGER && !integer_parse(value, &integer))
        return false;
    return number_parse(value, &number) && number >= option->least && number <= option->most;
}

static bool
is_time(const struct option *option, const char *value)
{
    int64_t time;

    if (option->type == OPTION_DATE && strlen(value) != strlen("2026-07-01"))
        return false;
    return time_parse(value, strlen(value), &time) && time >= 0; /* no GPU was billed before 1970 */
}

bool
option_check(const struct option *option, const char *value, const char *origin,
             enum error_code code, struct error *err)
{
    struct window window;

    switch (option->type) {
    case OPTION_INTEGER:
    case OPTION_NUMBER:
        if (is_in_range(option, value))
            return true;
        return error_set(err, code, "%s: %s must be a %s from %g to %g, not \"%s\"", origin,
                         option->key, option->type == OPTION_INTEGER ? "whole number" : "number",
                         option->least, option->most, value);
    case OPTION_CHOICE:
        if (is_choice(option->choices, value))
            return true;
        error_set(err, code, "%s: \"%s\" is no %s", origin, value, option->key);
        return error_hint(err, "It is one of %s.", option->choices);
    case OPTION_DATE:
    case OPTION_TIME:
        if (is_time(option, value))
            return true;
        error_set(err, code, "%s: \"%s\" is not a %s", origin, value,
                  option->type == OPTION_DATE ? "date" : "time");
        return error_hint(err, "Write it as %s.",
                          option->type == OPTION_DATE ? "2026-10-01" : "2026-10-05T08:00:00Z");
    case OPTION_QUARTER:
        if (quarter_parse(value, 1, &window, err))
            return true;
        err->code = code;
        return error_context(err, "%s", origin);
    case OPTION_FLAG:
    case OPTION_TEXT:
    case OPTION_SECRET:
        break;
    }
    return true;
}

enum { HELP_COLUMN = 24, HELP_WIDTH = 80 };

/* Words of the help from HELP_COLUMN on, wrapped; the first stands there already. */
static void
add_wrapped(struct buf *buf, const char *text)
{
    size_t column = HELP_COLUMN;

    while (*text) {
        size_t size = strcspn(text, " ");

        if (column > HELP_COLUMN && column + 1 + size > HELP_WIDTH) {
            buf_printf(buf, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            buf_putc(buf, ' ');
            column++;
        }
        buf_add(buf, text, size);
        column += size;
        text += size + strspn(text + size, " ");
    }
    buf_putc(buf, '\n');
}

static void
add_option(struct buf *buf, const struct option *option)
{
    size_t start = buf->size, column;

    if (option->letter)
        buf_printf(buf, "  -%c, --%s", option->letter, option->key);
    else
        buf_printf(buf, "      --%s", option->key);
    if (option->argument)
        buf_printf(buf, " %s", option->argument);
    column = buf->size - start;
    if (column + 2 > HELP_COLUMN) {
        buf_putc(buf, '\n');
        column = 0;
    }
    buf_printf(buf, "%*s", (int)(HELP_COLUMN - column), "");
    add_wrapped(buf, option->help);
}

void
option_help(struct buf *buf, const char *const *names)
{
    const struct option *option;

    for (option = option_table; option->key && !names; option++)
        if ((option->places & ON_EVERY_COMMAND) == ON_EVERY_COMMAND)
            add_option(buf, option);
    for (; names && *names; names++) {
        option = option_named(*names);
        if (option)
            add_option(buf, option);
    }
}
